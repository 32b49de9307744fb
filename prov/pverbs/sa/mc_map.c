/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include <string.h>
#include <cairn/bytes.h>
#include "mc_map.h"

#define MGID_SIZE 16
#define SIGNATURE_V4 0x401b
#define SIGNATURE_V6 0x601b
/* Flags of an MGID: of the four bits only T, a group that is not permanent (draft 4). */
#define FLAG_T 0x10
#define SCOPE_MAX 14
#define PKEY_FULL 0x8000
#define V4_BITS 0x0fffffffu
#define V4_MULTICAST 0xe0000000u
/* Where the part of the IPv6 address begins, in the address and in the MGID. */
#define V6_AT 6

const uint8_t pvb_mc_scopes[PVB_MC_SCOPES] = {2, 5, 8, 14};

/* 0 and 15 are reserved. */
static bool scope_valid(uint8_t scope)
{
	return scope && scope <= SCOPE_MAX;
}

/* InfiniBand specification 10.9.1: the lower 15 bits say which partition; 0 is none. */
static bool pkey_valid(uint16_t pkey)
{
	return pkey & ~PKEY_FULL;
}

static int begin(const struct pvb_mc_link *link, uint16_t signature, uint8_t *mgid)
{
	const uint16_t full = link->profile == PVB_MC_RFC ? PKEY_FULL : 0;

	if (!scope_valid(link->scope) || !pkey_valid(link->pkey))
		return -FI_EINVAL;
	memset(mgid, 0, MGID_SIZE);
	mgid[0] = 0xff;
	mgid[1] = FLAG_T | link->scope;
	crn_put_be16(mgid + 2, signature);
	crn_put_be16(mgid + 4, link->pkey | full);
	return 0;
}

int pvb_mc_map4(const struct pvb_mc_link *link, struct in_addr addr, uint8_t mgid[16])
{
	const uint32_t ip = ntohl(addr.s_addr);
	int ret;

	if (ip != INADDR_BROADCAST && (ip & ~V4_BITS) != V4_MULTICAST)
		return -FI_EINVAL;
	ret = begin(link, SIGNATURE_V4, mgid);
	if (!ret)
		crn_put_be32(mgid + 12, ip == INADDR_BROADCAST ? ip : ip & V4_BITS);
	return ret;
}

int pvb_mc_map6(const struct pvb_mc_link *link, const struct in6_addr *addr,
		uint8_t mgid[16])
{
	int ret;

	if (!IN6_IS_ADDR_MULTICAST(addr))
		return -FI_EINVAL;
	ret = begin(link, SIGNATURE_V6, mgid);
	if (!ret)
		memcpy(mgid + V6_AT, addr->s6_addr + V6_AT, MGID_SIZE - V6_AT);
	return ret;
}

static int unmap4(const uint8_t *mgid, struct pvb_mc_addr *addr)
{
	static const uint8_t zeros[6];
	const uint32_t ip = crn_get_be32(mgid + 12);

	if (memcmp(mgid + 6, zeros, sizeof(zeros)) != 0 ||
	    (ip != INADDR_BROADCAST && ip & ~V4_BITS))
		return -FI_EINVAL;
	addr->family = AF_INET;
	addr->ip.v4.s_addr = htonl(ip | V4_MULTICAST);
	return 0;
}

static int unmap6(const uint8_t *mgid, struct pvb_mc_addr *addr)
{
	addr->family = AF_INET6;
	addr->ip.v6.s6_addr[0] = 0xff;
	addr->ip.v6.s6_addr[1] = addr->scope;
	memcpy(addr->ip.v6.s6_addr + V6_AT, mgid + V6_AT, MGID_SIZE - V6_AT);
	return 0;
}

int pvb_mc_unmap(const uint8_t mgid[16], struct pvb_mc_addr *addr)
{
	*addr = (struct pvb_mc_addr){.pkey = crn_get_be16(mgid + 4),
				     .scope = mgid[1] & 0xf};
	if (mgid[0] != 0xff || (mgid[1] & 0xf0) != FLAG_T || !scope_valid(addr->scope) ||
	    !pkey_valid(addr->pkey))
		return -FI_EINVAL;
	switch (crn_get_be16(mgid + 2)) {
	case SIGNATURE_V4:
		return unmap4(mgid, addr);
	case SIGNATURE_V6:
		return unmap6(mgid, addr);
	default:
		return -FI_EINVAL;
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/av.h>
#include "ud_addr.h"

#define UD_QPN_MAX 0xffffffu
#define UD_SL_MAX 15u
/* IB specification 1.7, section 4.1.3: 0x0001 to 0xBFFF are unicast LIDs. */
#define UD_LID_MAX 0xbfffu
/* Section 4.1.1: multicast GIDs begin with it. */
#define UD_GID_MULTICAST 0xff

_Static_assert(sizeof(struct pvb_ud_addr) == 32, "as the stock provider has it");
_Static_assert(offsetof(struct pvb_ud_addr, sl) == 26, "as the stock provider has it");
_Static_assert(offsetof(struct pvb_ud_addr, qkey) == 28, "in what that has zeros in");

bool pvb_ud_no_gid(const struct pvb_ud_addr *addr)
{
	static const uint8_t none[sizeof(addr->gid)];

	return !memcmp(addr->gid, none, sizeof(none));
}

bool pvb_ud_group_gid(const uint8_t gid[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};

	return gid[0] == UD_GID_MULTICAST ||
	       (!memcmp(gid, mapped, sizeof(mapped)) && gid[12] >> 4 == 0xe);
}

bool pvb_ud_valid(const struct pvb_ud_addr *addr)
{
	if (!addr->qpn || addr->qpn > UD_QPN_MAX || addr->sl > UD_SL_MAX ||
	    addr->lid > UD_LID_MAX || pvb_ud_group_gid(addr->gid))
		return false;
	return addr->lid || !pvb_ud_no_gid(addr);
}

bool pvb_ud_reachable(const struct pvb_ud_addr *addr, bool ethernet)
{
	if (addr->lid > UD_LID_MAX || pvb_ud_group_gid(addr->gid))
		return false;
	return ethernet ? !pvb_ud_no_gid(addr) : addr->lid != 0;
}

uint32_t pvb_ud_hash(const struct pvb_ud_addr *addr)
{
	const uint32_t hash = crn_av_hash(CRN_AV_HASH, &addr->qpn, sizeof(addr->qpn));

	return addr->lid ? crn_av_hash(hash, &addr->lid, sizeof(addr->lid))
			 : crn_av_hash(hash, addr->gid, sizeof(addr->gid));
}

bool pvb_ud_same(const struct pvb_ud_addr *a, const struct pvb_ud_addr *b)
{
	return a->qpn == b->qpn && a->lid == b->lid &&
	       (a->lid || !memcmp(a->gid, b->gid, sizeof(a->gid)));
}

int pvb_ud_text(const struct pvb_ud_addr *addr, char *buf, size_t size)
{
	char gid[INET6_ADDRSTRLEN], qkey[10] = "";

	inet_ntop(AF_INET6, addr->gid, gid, sizeof(gid));
	if (addr->qkey)
		snprintf(qkey, sizeof(qkey), "/%x", addr->qkey);
	return snprintf(buf, size, PVB_UD_PREFIX "%s:%x/%x/%x/%x%s", gid, addr->qpn,
			addr->lid, addr->pkey, addr->sl, qkey);
}

/* A number of 1 to 8 hexadecimal digits, and the character behind it, of which *at is
 * then past. */
static bool ud_number(const char **at, char end, uint32_t most, uint32_t *value)
{
	const size_t digits = strspn(*at, "0123456789abcdefABCDEF");
	unsigned int number;

	if (!digits || digits > 8 || (*at)[digits] != end)
		return false;
	sscanf(*at, "%x", &number);
	*at += digits + (end != '\0');
	*value = number;
	return number <= most;
}

int pvb_ud_parse(const char *text, struct pvb_ud_addr *addr)
{
	const size_t prefix = strlen(PVB_UD_PREFIX);
	uint32_t qpn, lid, pkey, sl, qkey = 0;
	char gid[INET6_ADDRSTRLEN];
	const char *colon, *at;

	if (strncmp(text, PVB_UD_PREFIX, prefix) != 0)
		return -FI_EINVAL;
	text += prefix;
	colon = strrchr(text, ':');
	if (!colon || (size_t)(colon - text) >= sizeof(gid))
		return -FI_EINVAL;
	memcpy(gid, text, (size_t)(colon - text));
	gid[colon - text] = '\0';
	at = colon + 1;
	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET6, gid, addr->gid) != 1 ||
	    !ud_number(&at, '/', UD_QPN_MAX, &qpn) ||
	    !ud_number(&at, '/', UINT16_MAX, &lid) ||
	    !ud_number(&at, '/', UINT16_MAX, &pkey))
		return -FI_EINVAL;
	if (!ud_number(&at, '\0', UD_SL_MAX, &sl) &&
	    (!ud_number(&at, '/', UD_SL_MAX, &sl) ||
	     !ud_number(&at, '\0', UINT32_MAX, &qkey)))
		return -FI_EINVAL;
	addr->qpn = qpn;
	addr->lid = (uint16_t)lid;
	addr->pkey = (uint16_t)pkey;
	addr->sl = (uint8_t)sl;
	addr->qkey = qkey;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IP multicast addresses as multicast GIDs (MGIDs) of an IPoIB link, and back
 * (draft-ietf-ipoib-link-multicast section 8, RFC 4391 section 4): pure functions.
 *
 *	 0  1   2  4       6                       16
 *	FF 1S  401B P_Key  0 ... 0, 28 bits of the IPv4 address
 *	FF 1S  601B P_Key  80 bits of the IPv6 address
 *
 * S is the scope of the link, which is that of its broadcast and all-node group, whatever
 * the scope of the IP address.
 */
#ifndef PVB_SA_MC_MAP_H
#define PVB_SA_MC_MAP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pvb_mc_profile {
	PVB_MC_RFC,   /* the P_Key with the bit of full members, as Linux has it */
	PVB_MC_DRAFT, /* the P_Key as it is given */
};

struct pvb_mc_link {
	enum pvb_mc_profile profile;
	uint16_t pkey;
	uint8_t scope; /* 1 to 14 */
};

/* What an MGID stands for. */
struct pvb_mc_addr {
	int family;    /* AF_INET or AF_INET6 */
	uint16_t pkey; /* as the MGID has it */
	uint8_t scope;
	union {
		struct in_addr v4;
		struct in6_addr v6;
	} ip;
};

/* Scopes in the order in which a node looks for its link (draft section 7). */
#define PVB_MC_SCOPES 4
extern const uint8_t pvb_mc_scopes[PVB_MC_SCOPES];

/*
 * Fills mgid. 255.255.255.255 is the broadcast group. -FI_EINVAL: the address is not
 * multicast, the scope is reserved, or the P_Key is no partition's.
 */
int pvb_mc_map4(const struct pvb_mc_link *link, struct in_addr addr, uint8_t mgid[16]);
int pvb_mc_map6(const struct pvb_mc_link *link, const struct in6_addr *addr,
		uint8_t mgid[16]);

/*
 * The address of an MGID. Of an IPv6 address the 32 bits after the first two bytes are
 * not in it: they are 0, and the scope is the link's. -FI_EINVAL: not the MGID of a link.
 */
int pvb_mc_unmap(const uint8_t mgid[16], struct pvb_mc_addr *addr);

#endif

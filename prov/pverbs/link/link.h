/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The IPoIB link of a port and a P_Key (draft-ietf-ipoib-link-multicast section 7): which
 * scope it has, and the attributes that all its groups share. Without a thread, a clock
 * and a device, as the client that asks for it. Not thread safe.
 */
#ifndef PVB_LINK_LINK_H
#define PVB_LINK_LINK_H

#include "sa/sa.h"

struct pvb_link;

/* IBV_MTU_256 to IBV_MTU_4096, and their bytes. */
static inline bool pvb_link_mtu_valid(uint8_t code)
{
	return code >= 1 && code <= 5;
}

static inline uint32_t pvb_link_mtu_bytes(uint8_t code)
{
	return 128u << code;
}

/* Of the smallest one that has so many bytes. */
static inline uint8_t pvb_link_mtu_code(uint32_t bytes)
{
	uint8_t code = 0;

	while (pvb_link_mtu_bytes(code) < bytes)
		code++;
	return code;
}

struct pvb_link_config {
	enum pvb_mc_profile profile;
	int family;	  /* AF_INET or AF_INET6 */
	uint16_t pkey;	  /* that the port has, with the bit of full members or not */
	uint8_t port_mtu; /* active MTU of the port, IBV_MTU_* */
	uint32_t wait_ms; /* for an answer, before it is asked for again */
	uint32_t tries;	  /* at least 1 */
	/* Called once after pvb_link_open has returned 0. err: 0: the link is found;
	 * -FI_EADDRNOTAVAIL: it has no group of any scope; -FI_EMSGSIZE: its MTU is above
	 * the port's, or too small for IPv6; -FI_EINVAL: the record is not of this link;
	 * -FI_EAGAIN: too much was outstanding; and what pvb_link_error says. status: of
	 * the last answer, enum pvb_sa_status.
	 */
	void (*done)(void *arg, struct pvb_link *link, int err, uint16_t status);
	void *arg;
};

struct pvb_link {
	struct pvb_sa_client *client;
	struct pvb_link_config config;
	struct pvb_mc_link map; /* of addresses to MGIDs; its scope once it is found */
	unsigned int scopes;	/* that were asked for */
	uint8_t mgid[16];	/* of the broadcast or all-node group that is asked for */
	struct pvb_mcm group;	/* its record: attributes of all groups of the link */
	uint32_t mtu;		/* bytes of a datagram; 0: not found */
};

/*
 * Looks for the link, link-local first. Which group has its attributes: for IPv4 the
 * broadcast group, for IPv6 the all-node group; with PVB_MC_RFC the broadcast group for
 * both (RFC 4391 section 5). Nothing is joined. The client and link are the caller's, and
 * stay until done was called. -FI_EINVAL: no partition, family or MTU; -FI_EAGAIN: the
 * client has too much outstanding.
 */
int pvb_link_open(struct pvb_link *link, struct pvb_sa_client *client,
		  const struct pvb_link_config *config, uint64_t now_ms);

/*
 * A router says what the MTU is (draft section 7): a smaller one, in bytes, is accepted.
 * -FI_EMSGSIZE: larger than that of the group's record; -FI_EINVAL: less than what IP
 * needs, or the link is not found.
 */
int pvb_link_set_mtu(struct pvb_link *link, uint32_t mtu);

/*
 * What an answer means: 0; -FI_EADDRNOTAVAIL: there is no such group; -FI_ENOSPC: no
 * MLID is left; -FI_EINVAL: refused, or attributes that the group has not; -FI_EBUSY; its
 * err (-FI_ETIMEDOUT, ...) where there was none; -FI_EIO: another status.
 */
int pvb_link_error(const struct pvb_sa_answer *answer);

#endif

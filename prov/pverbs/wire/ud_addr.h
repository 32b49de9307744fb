/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FI_ADDR_IB_UD: the address of a datagram endpoint, as the stock verbs provider has it
 * (measured: fi_getname and fi_av_straddr of libfabric 1.17). Numbers are in host byte
 * order, so hosts of different ones have to convert what they exchange.
 *
 *   0   16  GID, as it is in a GRH
 *   16   4  queue pair number
 *   20   2  LID; 0 on RoCE
 *   22   2  P_Key
 *   24   2  service, of the program that asked fi_getinfo for it
 *   26   1  service level
 *   27   1  zero
 *   28   4  Q_Key; 0: PVB_UD_QKEY. The stock provider has zeros there, and looks at none
 */
#ifndef PVB_WIRE_UD_ADDR_H
#define PVB_WIRE_UD_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pvb_ud_addr {
	uint8_t gid[16];
	uint32_t qpn;
	uint16_t lid;
	uint16_t pkey;
	uint16_t service;
	uint8_t sl;
	uint8_t padding;
	uint32_t qkey;
};

/* Text of an address with its end: prefix, GID, and five numbers in hexadecimal. */
#define PVB_UD_STRLEN 96
#define PVB_UD_PREFIX "fi_addr_ib_ud://"

/* The Q_Key of datagram endpoints without multicast, and of the stock provider's
 * (measured: what the one sends arrives at the other). */
#define PVB_UD_QKEY 0x11111111u
/* That of rdma_cm, RDMA_UDP_QKEY: of its groups, and of endpoints that may join them. */
#define PVB_UD_QKEY_GROUPS 0x01234567u
/* That of IPoIB links as opensm makes them (OSM_IPOIB_BROADCAST_MGRP_QKEY). */
#define PVB_UD_QKEY_LINK 0x00000b1bu

/* Can a datagram be sent to it? Of a unicast GID or LID, with a queue pair number of 24
 * bits and a service level of 4. Any bytes may be given. */
bool pvb_ud_valid(const struct pvb_ud_addr *addr);

/* Does it have what a unicast datagram from such a port needs: a unicast LID on
 * InfiniBand, a unicast GID on RoCE? Any bytes may be given. */
bool pvb_ud_reachable(const struct pvb_ud_addr *addr, bool ethernet);

/* Is it the GID of a multicast group: one that begins with 0xff, or on RoCE that of an
 * IPv4 group, ::ffff:224.0.0.0/100? */
bool pvb_ud_group_gid(const uint8_t gid[16]);

/* Is its GID all zeros, which is none? */
bool pvb_ud_no_gid(const struct pvb_ud_addr *addr);

/* The Q_Key that reaches it; and in an address. */
static inline uint32_t pvb_ud_qkey(const struct pvb_ud_addr *addr)
{
	return addr->qkey ? addr->qkey : PVB_UD_QKEY;
}

static inline uint32_t pvb_ud_qkey_field(uint32_t qkey)
{
	return qkey == PVB_UD_QKEY ? 0 : qkey;
}

/*
 * Who is it? A receiver knows the queue pair number and, on InfiniBand, the LID, on RoCE,
 * where there is none, the GID; that is what counts.
 */
uint32_t pvb_ud_hash(const struct pvb_ud_addr *addr);
bool pvb_ud_same(const struct pvb_ud_addr *a, const struct pvb_ud_addr *b);

/* As snprintf(3): "fi_addr_ib_ud://GID:QPN/LID/PKEY/SL", and "/QKEY" where it is not
 * PVB_UD_QKEY. */
int pvb_ud_text(const struct pvb_ud_addr *addr, char *buf, size_t size);
/* What pvb_ud_text wrote: 0, or -FI_EINVAL. */
int pvb_ud_parse(const char *text, struct pvb_ud_addr *addr);

#endif

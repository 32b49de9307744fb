/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The 40 bytes before a datagram's payload: the GRH, of RoCE version 2 the IP header in
 * its place (IBA annex A17.4.5.2), one of IPv4 in the last 20 bytes. Pure.
 */
#ifndef SVB_ENGINE_GRH_H
#define SVB_ENGINE_GRH_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#define SVB_GRH 40

/* Which header it is, in the numbers of mlx5 adapters. */
enum svb_l3 { SVB_L3_GRH, SVB_L3_IPV6, SVB_L3_IPV4 };

/* to: the route of the address handle. length: of the payload. */
enum svb_l3 svb_grh_make(struct ibv_grh *grh, const struct ibv_global_route *to,
			 const union ibv_gid *sgid, enum ibv_gid_type type,
			 uint32_t length);

/*
 * What a receiver learns of one, as libibverbs' ibv_init_ah_from_wc tells them apart:
 * where it came from, where it went, and what an answer has of it. type: of the GIDs.
 */
struct svb_grh_route {
	union ibv_gid sgid, dgid;
	enum ibv_gid_type type;
	uint32_t flow_label;
	uint8_t traffic_class;
};
/* roce: on Ethernet. False: it is no header. */
bool svb_grh_read(struct svb_grh_route *route, const struct ibv_grh *grh, bool roce);

#endif

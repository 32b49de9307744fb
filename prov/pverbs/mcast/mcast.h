/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast (FI_MULTICAST, fi_cm(3)): groups that datagram endpoints join by rdma_cm.
 *
 * A membership is an rdma_cm id on the channel of an event queue. It is counted: all
 * fid_mc of one event queue, domain and group share it, those that only send apart from
 * the others. Its events arrive where the event queue is read, which makes all progress.
 * A membership that is lost is joined again until nobody wants it.
 *
 * Which queue pairs receive is ours, not rdma_cm's: each is attached to a group once.
 */
#ifndef PVB_MCAST_MCAST_H
#define PVB_MCAST_MCAST_H

#include "objects/objects.h"

/* join.c */

/*
 * fi_join(3): of pvb_cm_calls, so the endpoint has an event queue. 0: FI_JOIN_COMPLETE or
 * an error entry follows. -FI_EOPBADSTATE: not enabled; -FI_EBADFLAGS; -FI_EOPNOTSUPP:
 * without FI_MULTICAST; -FI_EINVAL: no group, or a direction that the endpoint has not;
 * -FI_ENOSYS: IPv6 on RoCE; or why rdma_cm refuses. Any thread.
 */
int pvb_mcast_join(struct pvb_ep *ep, const void *addr, uint64_t flags,
		   struct fid_mc **mc, void *context);

/* port.c */

/* An endpoint closes, all of whose fid_mc are. Without cm_lock. */
void pvb_mcast_part(struct pvb_ep *ep);

/* group.c */

/* Of every event queue, first and last: no fid_mc is there. */
void pvb_mcast_open(struct pvb_eq *eq);
void pvb_mcast_close(struct pvb_eq *eq);
/* What has come for a group, by the fid that its id has as context. With cm_lock. */
void pvb_mcast_event(struct fid *fid, const struct pvb_cm_event *event);
/* Joins that are due, and reports for which there was no room. With cm_lock. */
void pvb_mcast_progress(struct pvb_eq *eq);

/* address.c */

/* What a group is called. Compared as bytes. */
struct pvb_mc_name {
	sa_family_t family; /* AF_INET, AF_INET6; AF_IB: a GID */
	uint8_t zero[2];
	uint8_t bytes[16]; /* IPv4: the first 4; network byte order */
};

/* Text of a name with its end. */
#define PVB_MC_STRLEN INET6_ADDRSTRLEN

/*
 * The group that addr stands for on such a link. addr is a struct sockaddr_in,
 * sockaddr_in6 or sockaddr_ib, whose first two bytes are its family, or an FI_ADDR_IB_UD
 * address, of which they are those of the GID: 0xff, or zeros of ::ffff:224.0.0.0/100.
 * Needs no alignment; no more is read than the form has. -FI_EINVAL: it is none;
 * -FI_ENOSYS: on Ethernet, another than those of IPv4.
 */
int pvb_mc_name(const void *addr, bool ethernet, struct pvb_mc_name *name);
/*
 * On an IPoIB link the name of an IP address' group is its MGID (draft section 8,
 * RFC 4391 section 4); others stay as they are. -FI_EINVAL: the link has none for it.
 */
int pvb_mc_name_on(const struct pvb_ud_link *link, struct pvb_mc_name *name);
const char *pvb_mc_text(const struct pvb_mc_name *name, char text[PVB_MC_STRLEN]);
/* For rdma_cm. */
union pvb_mc_sockaddr {
	struct sockaddr sa;
	struct sockaddr_storage storage;
};
void pvb_mc_sockaddr(const struct pvb_mc_name *name, union pvb_mc_sockaddr *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Datagram endpoints (FI_EP_DGRAM): an unreliable datagram (UD) queue pair and no
 * connection. An endpoint can send to every address of its vector from fi_enable on. What
 * it shares with connections is in qp/, xfer/ and cq/; connection management is not
 * needed.
 */
#ifndef PVB_DGRAM_DGRAM_H
#define PVB_DGRAM_DGRAM_H

#include "objects/objects.h"

struct pvb_device_addr;

/* info.c */

/* The addresses that the caller of fi_getinfo gave. */
struct pvb_ud_query {
	struct pvb_ud_addr src, dest; /* a source without a GID: any */
	bool have_src, have_dest;
	union crn_addr host; /* the source's IP address; family 0: none asked for */
	union crn_addr peer; /* the destination's, with dest_host */
	bool dest_host;
	bool dest_group; /* dest is the address of a multicast group */
};

/* By the rules of fi_getinfo(3): 0, or -FI_ENODATA, -FI_ENOMEM. */
int pvb_ud_query_init(struct pvb_ud_query *query, const char *node, const char *service,
		      uint64_t flags, const struct fi_info *hints);
/* Has a receive of the device room for the program's data, the GRH, and what is longer
 * than the data's buffer? Else a log line of that level says so. */
bool pvb_ud_device_fits(const char *device, int max_sge, enum fi_log_level level);
/* May datagrams leave from there, and is it meant? */
bool pvb_ud_query_match(const struct pvb_ud_query *query,
			const struct pvb_device_addr *entry);
/* Do datagrams leave both addresses by the same GID? */
bool pvb_ud_same_source(const struct pvb_device_addr *a, const struct pvb_device_addr *b);
/*
 * FI_MULTICAST is a primary capability (fi_getinfo(3)): only who asks for it gets it, and
 * who asks for nothing particular gets both offers. Is one with it, or without, wanted?
 * rdma_cm joins on Ethernet from an IP address only.
 */
bool pvb_ud_wants(const struct fi_info *hints, const struct pvb_device_addr *entry,
		  bool multicast);
/* Turns an offer for connections at this address into one for datagrams. */
void pvb_ud_offer(struct fi_info *info, const struct pvb_device_addr *entry,
		  const struct fi_info *hints, bool multicast);
/* The addresses of an answer: 0 or -FI_ENOMEM. */
int pvb_ud_query_addrs(const struct pvb_ud_query *query,
		       const struct pvb_device_addr *entry, struct fi_info *info);

/* port.c */

/*
 * Appends to the addresses of pvb_device_addrs the ports that none of them is of, as
 * entries without an IP address: of each wanted device, the active ports, with the GID
 * and partition that pvb_ud_path_find gives a domain without a source. *list (NULL: none
 * yet) is to be freed. 0, or a shortage (pvb_is_shortage) that makes the list incomplete.
 * A device that cannot be opened or asked for another reason is left out.
 */
int pvb_ud_add_ports(struct pvb_device_addr **list, size_t *count);

/* path.c */

/*
 * The path that datagrams of a domain leave from: the port and GID table entry that src
 * names by its GID (all zeros: the first port that is up). Where several entries have the
 * GID, as RoCE v1 and v2 do, FI_PVERBS_ROCE_VERSION decides, else v2. 0, or
 * -FI_EADDRNOTAVAIL: no port has that GID; -FI_ENETDOWN: its port is down;
 * -FI_EMFILE and the like: pvb_is_shortage.
 */
int pvb_ud_path_find(struct ibv_context *verbs, const struct pvb_ud_addr *src,
		     struct pvb_ud_path *path);

/* domain.c */

/* Of a domain that has its protection domain and whose info is one of datagrams:
 * domain->ud. 0 or a negative code. */
int pvb_ud_domain_open(struct pvb_domain *domain);
/* domain->ud may be NULL. */
void pvb_ud_domain_close(struct pvb_domain *domain);

/* av.c */

/* fi_av_open: -FI_ENOSYS for a domain that is not for datagrams. */
int pvb_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
		void *context);
/* fi_ep_bind of a vector. */
int pvb_dgram_bind_av(struct pvb_ep *ep, struct pvb_av *av);

/* ah.c */

/* As pvb_ah_get of internal.h, with all that a handle has and the two numbers beside it
 * in a work request. The attributes are not changed. */
int pvb_ah_get_attr(struct pvb_domain *domain, struct ibv_ah_attr *attr, uint32_t qpn,
		    uint32_t qkey, struct pvb_ud_peer *peer);
/* Sends that were posted to it may still be outstanding: the handle lives until they have
 * completed, and then until pvb_ahs_sweep. Any thread; no lock is taken behind the
 * cache's, so that completion queues and address vectors may be locked. */
void pvb_ah_put(struct pvb_domain *domain, struct pvb_ud_peer *peer);
/* Frees the handles that nobody uses and no send can name any more. Takes qps_lock and
 * the locks of posting. */
void pvb_ahs_sweep(struct pvb_domain *domain);

/* ep.c */

/* Makes ep->dgram of an endpoint whose attributes are known: 0 or a negative code. */
int pvb_dgram_open(struct pvb_ep *ep, const struct fi_info *info);
/* After the queue pair has gone; ep->dgram may be NULL. */
void pvb_dgram_close(struct pvb_ep *ep);
/* The queue pair, in RESET, goes to RTS: datagrams may be sent and received. 0 or a
 * negative code. */
int pvb_dgram_start(struct pvb_ep *ep);
/* It has no name any more: its queue pair goes, or was never made. */
void pvb_dgram_stop(struct pvb_ep *ep);
/* fi_cm(3): fi_getname gives the FI_ADDR_IB_UD address from fi_enable on. */
extern struct fi_ops_cm pvb_dgram_cm_ops;

/* msg.c */

extern struct fi_ops_msg pvb_dgram_msg_ops;

#endif

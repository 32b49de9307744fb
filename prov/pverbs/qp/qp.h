/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue pair of a connection, its path, and shared receive contexts. */
#ifndef PVB_QP_QP_H
#define PVB_QP_QP_H

#include "objects.h"

/* srx.c */

int pvb_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **ep,
		 void *context);
/* The queue pair is in ERR: takes what it received out of the device, until it is sure
 * that nothing more comes or the deadline (crn_now_ms) has passed. */
void pvb_srx_drain(struct pvb_ep *ep, uint64_t deadline_ms);

/* path.c */

/* Before a requester resolves: what the kernel needs to know. */
void pvb_path_option(const struct pvb_ep *ep, struct rdma_cm_id *id);
/* Into what rdma_cm would have for a transition, whose fields mask names. */
void pvb_path_attr(struct ibv_qp_attr *attr, int mask);

/* qp.c */

/* The queue pair of a connection. */
int pvb_ep_create_qp(struct pvb_ep *ep);
void pvb_ep_destroy_qp(struct pvb_ep *ep);
int pvb_qp_rtr_rts(struct pvb_ep *ep, uint8_t responder_resources,
		   uint8_t initiator_depth);
/* Operations may be posted to one of its queues. */
void pvb_qp_open_ring(struct pvb_wq *wq);
/* To ERR: everything posted flushes; posting is refused from here on. */
void pvb_qp_error(struct pvb_ep *ep);

#endif

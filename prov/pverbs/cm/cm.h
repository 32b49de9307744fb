/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection management: the state of connections, passive endpoints, requests and
 * keep-alive, over rdma_cm.
 */
#ifndef PVB_CM_CM_H
#define PVB_CM_CM_H

#include "objects.h"
#include "request.h"

/* Bytes of an event in the queue, at most. */
#define PVB_CM_EVENT_MAX (sizeof(struct fi_eq_cm_entry) + UINT8_MAX)

/* What is kept of an event after its acknowledgement. */
struct pvb_cm_event {
	enum rdma_cm_event_type type;
	int status;
	struct rdma_cm_id *id;
	struct rdma_cm_id *listen_id;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t len;
	uint8_t bytes[UINT8_MAX];
};

/* channel.c */

/* The application's part of an event's private data: all of it with raw. Points into the
 * event. */
void pvb_cm_app_data(bool raw, const struct pvb_cm_event *event,
		     struct pvb_cm_data *data);

/* Handles every waiting rdma_cm event; takes cm_lock. */
int pvb_cm_progress(struct crn_eq *eq);
/* The same on behalf of a program that reads another queue; not while somebody else does.
 */
void pvb_cm_look(struct pvb_eq *eq);
/* Ends the request (the peer sees a refusal) and its id. With cm_lock held. */
void pvb_connreq_destroy(struct pvb_connreq *req);

/* state.c */

/* The connection need not wait for its second one any more: for
 * persist/control/control_conn.c. */
void pvb_cm_second_over(struct pvb_ep *ep);
/* The peer has gone. */
void pvb_cm_disconnected(struct pvb_ep *ep);

/* pep.c */

int pvb_passive_ep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
		   void *context);

/* keepalive.c */

/* All but open and close with cm_lock held. */
int pvb_keepalive_open(struct pvb_eq *eq);
void pvb_keepalive_close(struct pvb_eq *eq);
void pvb_keepalive_del(struct pvb_ep *ep);

/* opt.c */

int pvb_cm_getopt(bool raw, int level, int optname, void *optval, size_t *optlen);
int pvb_cm_setopt(bool *raw, int level, int optname, const void *optval, size_t optlen);
/* fi_setname: 0, -FI_EINVAL for no address of the info's format, -FI_ENOMEM. */
int pvb_set_src(struct fi_info *info, const void *addr, size_t len);

/* ep_ops.c */

/* fi_ops_cm of endpoints. */
extern struct fi_ops_cm pvb_ep_cm_ops;

#endif

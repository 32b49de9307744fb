/* SPDX-License-Identifier: BSD-2-Clause */
/* Between channel.c, which takes events from rdma_cm, and state.c, which acts on
 * them. */
#ifndef PVB_CM_INTERNAL_H
#define PVB_CM_INTERNAL_H

#include "wire/wire.h"
#include "objects/objects.h"

struct pvb_cm_event;

/* channel.c */

/* Handles the rdma_cm events that wait, as far as the queue has room. With cm_lock held.
 * 0 or a negative code. */
int pvb_cm_take(struct pvb_eq *eq);
/* FI_CONNREQ, FI_CONNECTED or FI_SHUTDOWN with the peer's connection data. 0 or a
 * negative code. */
int pvb_cm_report(struct pvb_eq *eq, uint32_t type, fid_t fid, struct fi_info *info,
		  const void *data, size_t len);
/* err: positive FI_E*. data: what came with a refusal. */
void pvb_cm_report_error(struct pvb_eq *eq, fid_t fid, int err, int prov_errno,
			 const void *data, size_t len);
/*
 * Fills buf with the application's data in the layout of wire/private_data.h, or byte for
 * byte with raw; word: ours, or NULL; *out: bytes to send. -FI_EINVAL when len exceeds
 * pvb_cm_data_size.
 */
int pvb_cm_message(bool raw, uint8_t buf[PVB_CM_REQ_SIZE], const void *param, size_t len,
		   const struct pvb_cm_offer *offer, size_t *out);

/* state.c */

/* Applies an event to the endpoint's connection. */
void pvb_cm_ep_event(struct pvb_ep *ep, const struct pvb_cm_event *event);

/* With cm_lock held. */
int pvb_cm_connect(struct pvb_ep *ep, const struct sockaddr *dest, const void *param,
		   size_t len);
/* With cm_lock held. */
int pvb_cm_accept(struct pvb_ep *ep, const void *param, size_t len);
/* With cm_lock held. */
int pvb_cm_shutdown(struct pvb_ep *ep);

/* transition.c */

/* INIT, RTR and RTS on the path of the id, with what peers agreed on; 0: rdma_cm's own
 * choice. 0 or a negative code. */
int pvb_conn_rtr_rts(struct pvb_ep *ep, uint8_t responder_resources,
		     uint8_t initiator_depth);

/* keepalive.c */

/* With cm_lock held. */
void pvb_keepalive_add(struct pvb_ep *ep);
/* With cm_lock held. */
void pvb_keepalive_progress(struct pvb_eq *eq);

/* opt.c */

/* Bytes of connection data that an application may give: FI_OPT_CM_DATA_SIZE. */
size_t pvb_cm_data_size(bool raw);

/* state.c: of pvb_cm_calls. */
void pvb_cm_control_conn_over(struct pvb_ep *ep);
void pvb_cm_disconnected(struct pvb_ep *ep);

#endif

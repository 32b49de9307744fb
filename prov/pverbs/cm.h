/* SPDX-License-Identifier: BSD-2-Clause */
/* Between cm_channel.c, which takes events from rdma_cm, and cm_state.c, which acts on
 * them. */
#ifndef PVB_CM_H
#define PVB_CM_H

#include "pverbs.h"

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

/* FI_CONNREQ, FI_CONNECTED or FI_SHUTDOWN with the peer's connection data. 0 or a
 * negative code. */
int pvb_cm_report(struct pvb_eq *eq, uint32_t type, fid_t fid, struct fi_info *info,
		  const void *data, size_t len);
/* err: positive FI_E*. data: what came with a refusal. */
void pvb_cm_report_error(struct pvb_eq *eq, fid_t fid, int err, int prov_errno,
			 const void *data, size_t len);

/* The application's part of an event's private data: all of it with raw. Points into the
 * event. */
void pvb_cm_app_data(bool raw, const struct pvb_cm_event *event,
		     struct pvb_cm_data *data);
/*
 * Fills buf with the application's data in the layout of cm_data.h, or byte for byte with
 * raw; word: ours, or NULL; *out: bytes to send. -FI_EINVAL when len exceeds
 * pvb_cm_data_size.
 */
int pvb_cm_message(bool raw, uint8_t buf[PVB_CM_REQ_SIZE], const void *param, size_t len,
		   const struct pvb_cm_offer *offer, size_t *out);

/* cm_state.c: what an event does to the endpoint's connection. */
void pvb_cm_ep_event(struct pvb_ep *ep, const struct pvb_cm_event *event);
/* The connection need not wait for its second one any more: for persist/second.c. */
void pvb_cm_second_over(struct pvb_ep *ep);
/* The peer has gone. */
void pvb_cm_disconnected(struct pvb_ep *ep);

#endif

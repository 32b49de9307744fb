/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections of iWARP on fake devices, whose control connection is being made. */
#ifndef PVB_TEST_CONTROL_CONN_H
#define PVB_TEST_CONTROL_CONN_H

#include "../../world_cm.h"
#include "../durable.h"

#define COOKIE 0x123456abcdefu
#define PATIENCE 2000 /* FI_PVERBS_RESOLVE_TIMEOUT, ms */

struct control_conn_world {
	struct world w;
	struct fid_pep *pep; /* of a responder */
	struct fid_ep *ep;
	struct pvb_qp *qp;
	struct pvb_control_conn *control_conn;
	struct rdma_cm_id *id; /* the first connection's */
};

/* A world on an iWARP device, whose endpoints have control queue pairs; time stands
 * still. */
bool control_conn_world(struct control_conn_world *s);
/* Closes what there is. */
void control_conn_end(struct control_conn_world *s);
/* Fills in what s has of its endpoint. */
void control_conn_of_ep(struct control_conn_world *s);
/* What a responder's answer says, "abc" for the program; cookie 0, that there will be no
 * second one. */
void control_conn_answer(uint8_t out[PVB_CM_REQ_SIZE], uint64_t cookie);
/* What a requester with a control queue pair sends. */
void control_conn_offer(uint8_t out[PVB_CM_REQ_SIZE]);
/* A requester whose first connection is about to be reported as standing. */
bool control_conn_requester(struct control_conn_world *s, uint64_t cookie);
/* A request that offers one is there; NULL: a failure. */
struct fi_info *control_conn_requested(struct control_conn_world *s);
/* A responder that has answered. */
bool control_conn_responder(struct control_conn_world *s);
/* The cookie that the newest answer gave; 0: none. */
uint64_t cookie_given(void);
/* Somebody comes to the listener with that cookie. */
struct rdma_cm_id *cookie_shown(struct fid_pep *pep, uint64_t cookie);
/* Leads to a state; the first connection stands. */
bool control_conn_open(struct control_conn_world *s, enum pvb_control_conn_state wanted);
/* Nothing is reported. */
void control_conn_progress(struct control_conn_world *s);
void expect_connected(struct control_conn_world *s);
/* Connected, and without a control queue pair. */
void expect_without(struct control_conn_world *s);

#endif

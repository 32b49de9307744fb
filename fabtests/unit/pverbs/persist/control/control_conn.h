/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections of iWARP on fake devices, whose second connection is being made. */
#ifndef PVB_TEST_SECOND_H
#define PVB_TEST_SECOND_H

#include "../../world_cm.h"
#include "../durable.h"

#define TICKET 0x123456abcdefu
#define PATIENCE 2000 /* FI_PVERBS_RESOLVE_TIMEOUT, ms */

struct second_world {
	struct world w;
	struct fid_pep *pep; /* of a responder */
	struct fid_ep *ep;
	struct pvb_conn *conn;
	struct pvb_second *second;
	struct rdma_cm_id *id; /* the first connection's */
};

/* A world on an iWARP device, whose endpoints have lanes; time stands still. */
bool second_world(struct second_world *s);
/* Closes what there is. */
void second_end(struct second_world *s);
/* Fills in what s has of its endpoint. */
void second_of_ep(struct second_world *s);
/* What a responder's answer says, "abc" for the program; ticket 0, that there will be no
 * second one. */
void second_answer(uint8_t out[PVB_CM_REQ_SIZE], uint64_t ticket);
/* What a requester with a lane sends. */
void second_offer(uint8_t out[PVB_CM_REQ_SIZE]);
/* A requester whose first connection is about to be reported as standing. */
bool second_requester(struct second_world *s, uint64_t ticket);
/* A request that offers one is there; NULL: a failure. */
struct fi_info *second_requested(struct second_world *s);
/* A responder that has answered. */
bool second_responder(struct second_world *s);
/* The ticket that the newest answer gave; 0: none. */
uint64_t second_given(void);
/* Somebody comes to the listener with that ticket. */
struct rdma_cm_id *second_shown(struct fid_pep *pep, uint64_t ticket);
/* Leads to a state; the first connection stands. */
bool second_open(struct second_world *s, enum pvb_second_state wanted);
/* Nothing is reported. */
void second_progress(struct second_world *s);
void expect_connected(struct second_world *s);
/* Connected, and without a lane. */
void expect_without(struct second_world *s);

#endif

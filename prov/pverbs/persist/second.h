/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The second connection, which the control queue pair of a lane needs on iWARP: there,
 * only rdma_cm connects queue pairs.
 *
 *   requester                               responder
 *   offers it in its request     ------->
 *                                <-------   a ticket, in its answer: EXPECTED
 *   ADDR, ROUTE: the same way again
 *   REQUESTED: shows the ticket  ------->   the listener finds the lane: ACCEPTED
 *   UP                           <------>   UP
 *
 * The listener never shows such a request to its program; one with a ticket that nobody
 * is waiting for is refused at once. So there are no more of them half open than there
 * are connections that wait for one. Each side waits for FI_PVERBS_RESOLVE_TIMEOUT at
 * most, from when the first connection stands, and reports FI_CONNECTED after that:
 * without the lane when it did not come up, of which the log says why.
 *
 * A listener and the endpoints it gave rise to may have different event queues, read by
 * different threads. What the one has for the other goes through lists of the fabric;
 * everything else runs with the cm_lock of the endpoint's event queue held.
 */
#ifndef PVB_SECOND_H
#define PVB_SECOND_H

#include "../objects.h"

struct pvb_cm_event;
struct pvb_lane;

enum pvb_second_state {
	PVB_SECOND_NONE, /* not begun, or over without success */
	PVB_SECOND_EXPECTED,
	PVB_SECOND_ADDR,
	PVB_SECOND_ROUTE,
	PVB_SECOND_REQUESTED,
	PVB_SECOND_ACCEPTED,
	PVB_SECOND_UP,
	PVB_SECOND_GONE, /* over: FI_SHUTDOWN is to be reported */
};

struct pvb_second {
	struct fid fid; /* PVB_CLASS_LANE: context of the id */
	enum pvb_second_state state;
	struct rdma_cm_id *id; /* NULL: none */
	struct crn_list entry; /* of pvb_eq.lanes, but for NONE and UP */
	uint64_t due;	       /* crn_now_ms; ~0: the first does not stand yet */
	/* With pvb_fabric.second_lock. */
	struct crn_list expected; /* of pvb_fabric.expected, until somebody comes */
	uint64_t ticket;
	const struct pvb_pep *pep; /* whose port the requester will come to */
	struct rdma_cm_id *came;   /* not accepted yet */
	bool lost;		   /* pep was closed */
};

/* second.c */

/* Of objects. */
void pvb_second_init(struct pvb_second *second);
void pvb_second_open(struct pvb_eq *eq);
void pvb_second_close(struct pvb_eq *eq);

/* The rest is called with cm_lock held. */

/* The first connection stands: does FI_CONNECTED have to wait? Then begin is called,
 * which ends in pvb_cm_second_over. */
bool pvb_second_wanted(const struct pvb_ep *ep);
void pvb_second_begin(struct pvb_ep *ep);
void pvb_second_event(struct pvb_lane *lane, const struct pvb_cm_event *event);
/* Handles what other threads had for lanes of the queue, and whose time is over. */
void pvb_second_progress(struct pvb_eq *eq);
/* The peer disconnected the first one: pvb_cm_disconnected follows, from progress. */
void pvb_second_gone(struct pvb_ep *ep);
/* There will be none any more; any state. */
void pvb_second_end(struct pvb_ep *ep);

/* ticket.c */

void pvb_second_listen(struct pvb_pep *pep);
void pvb_second_unlisten(struct pvb_pep *pep);
/* Is that a passive endpoint of the fabric? The handle is not followed. */
bool pvb_pep_is(struct pvb_fabric *fabric, const struct fid *handle);
/* A responder with a lane is about to answer: the ticket, or 0: there will be none. */
uint64_t pvb_second_expect(struct pvb_ep *ep);
/* A connection request: false when it is an ordinary one. */
bool pvb_second_request(struct pvb_pep *pep, const struct pvb_cm_event *event);

#endif

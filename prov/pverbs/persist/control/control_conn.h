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
#ifndef PVB_PERSIST_CONTROL_CONTROL_CONN_H
#define PVB_PERSIST_CONTROL_CONTROL_CONN_H

#include "objects.h"

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

#endif

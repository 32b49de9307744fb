/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control connection, which the control queue pair needs on iWARP: there,
 * only rdma_cm connects queue pairs.
 *
 *   requester                               responder
 *   offers it in its request     ------->
 *                                <-------   a cookie, in its answer: EXPECTED
 *   ADDR, ROUTE: the same way again
 *   REQUESTED: sends the cookie  ------->   the listener finds it: ACCEPTED
 *   UP                           <------>   UP
 *
 * The listener never shows such a request to its program; one with a cookie that nobody
 * is waiting for is refused at once. So there are no more of them half open than there
 * are connections that wait for one. Each side waits for FI_PVERBS_RESOLVE_TIMEOUT at
 * most, from when the first connection stands, and reports FI_CONNECTED after that:
 * without the control queue pair when it did not come up, of which the log says why.
 *
 * A listener and the endpoints it gave rise to may have different event queues, read by
 * different threads. What the one has for the other goes through lists of the fabric;
 * everything else runs with the cm_lock of the endpoint's event queue held.
 */
#ifndef PVB_PERSIST_CONTROL_CONTROL_CONN_H
#define PVB_PERSIST_CONTROL_CONTROL_CONN_H

#include "objects/objects.h"

enum pvb_control_conn_state {
	PVB_CONTROL_CONN_NONE, /* not begun, or over without success */
	PVB_CONTROL_CONN_EXPECTED,
	PVB_CONTROL_CONN_ADDR,
	PVB_CONTROL_CONN_ROUTE,
	PVB_CONTROL_CONN_REQUESTED,
	PVB_CONTROL_CONN_ACCEPTED,
	PVB_CONTROL_CONN_UP,
	PVB_CONTROL_CONN_GONE, /* over: FI_SHUTDOWN is to be reported */
};

struct pvb_control_conn {
	struct fid fid; /* PVB_CLASS_CONTROL_QP: context of the id */
	enum pvb_control_conn_state state;
	struct rdma_cm_id *id; /* NULL: none */
	struct crn_list entry; /* of pvb_eq.control_conns, but for NONE and UP */
	uint64_t due;	       /* crn_now_ms; ~0: the first does not stand yet */
	/* With pvb_fabric.control_conn_lock. */
	struct crn_list expected; /* of pvb_fabric.expected, until its request arrives */
	uint64_t cookie;
	const struct pvb_pep *pep; /* the listener that will receive the request */
	struct rdma_cm_id *came;   /* not accepted yet */
	bool lost;		   /* pep was closed */
};

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two ends of rpcrdma over the scripted provider, to the search over all states: whatever
 * was posted arrives, completes and is reported at any time, in the orders that
 * fi_endpoint(3) allows. Steps are calls of the two programs.
 *
 *	Sends of an end arrive in their order, behind RDMA Writes that were posted before
 *	(FI_ORDER_SAS, FI_ORDER_SAW). Reads, and writes behind one another, arrive in any
 *	order.
 *	Receives complete in the order of arrival; all else in any order.
 *	An event comes at any time after its cause.
 *	The network loses the connection at any time, once, where the scenario says so.
 */
#ifndef XRP_MODEL_H
#define XRP_MODEL_H

#include "search.h"

void xrp_model_open(void);

#endif

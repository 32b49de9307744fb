/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections: fi_cm(3), and the messages that make and end them. Of the end that
 * connects
 *
 *	CONNECTING  a peer to the target itself, or to a router, comes about
 *	ASKING	    CONN_REQ has gone, CONN_REP comes
 *	UP	    and CONN_ACK has gone
 *
 * and of the one that accepts
 *
 *	struct rte_incoming	a peer that asks, then its CONN_REQ, then FI_CONNREQ
 *	ACCEPTING		CONN_REP has gone, CONN_ACK comes
 *	UP
 *
 * Everything but the calls of fi_ops_cm is called with the device's lock.
 */
#ifndef RTE_CM_H
#define RTE_CM_H

#include "objects.h"

/* ---- calls.c ---- */

extern struct fi_ops_cm rte_ep_cm;
extern struct fi_ops_cm rte_pep_cm;

/* ---- incoming.c: from a connection of the lower provider to fi_accept or fi_reject ----
 */

/* rte_listen's; context: the passive endpoint. */
void rte_incoming_request(struct rte_request *request, void *context);
/* The request with that handle, not answered yet; NULL: there is none. Nothing is read
 * through the handle. */
struct rte_incoming *rte_incoming_find(struct rte_device *device, fid_t handle);
/* Answers, and frees it: by the program (RTE_REJECTED), or not. */
void rte_incoming_refuse(struct rte_incoming *incoming, enum rte_verdict verdict,
			 int status, const void *param, size_t len);
/* Frees it; the peer is the caller's. */
void rte_incoming_taken(struct rte_incoming *incoming);
/* A passive endpoint closes: what the program has not read is refused. */
void rte_incoming_unlisten(struct rte_pep *pep);
void rte_incoming_drop_all(struct rte_device *device);

/* ---- trust.c: who is believed ---- */

/* May who connects say who the source is? If not, the log says so. */
bool rte_trusts(struct rte_device *device, const struct rte_request *request);

/* ---- hop.c: whom to ask ---- */

/* Where the next attempt goes. -FI_EHOSTUNREACH: there is none left. */
int rte_hop_next(struct rte_ep *ep, union crn_addr *addr);
/* That one says nothing, or something: later connections take note of both. */
void rte_hop_silent(struct rte_ep *ep);
void rte_hop_heard(struct rte_ep *ep);
/* That one cannot reach the target's subnet, or can: the same, for that subnet alone. */
void rte_hop_unreached(struct rte_ep *ep);
void rte_hop_reached(struct rte_ep *ep);
/* Is there time to ask another router? */
bool rte_hop_time(const struct rte_ep *ep);
/* The id of the router that is asked, if it has ever told it; 0: no router is. */
uint64_t rte_hop_router(const struct rte_ep *ep);
/* ms: how long it is waited for, so that there is time left for those that were not
 * asked. */
uint64_t rte_hop_due(const struct rte_ep *ep);
/* A router has named another one, for this target. */
int rte_hop_redirect(struct rte_ep *ep, const char *uri);

/* ---- say.c: messages. False: there is no room now, peer_ops.ready follows ---- */

bool rte_say_conn_req(struct rte_ep *ep);
bool rte_say_conn_rep(struct rte_ep *ep);
bool rte_say_conn_ack(struct rte_ep *ep);
/* What an answer that is no connection is. */
struct rte_refusal {
	enum rte_verdict verdict;
	int status;
	const void *param;
	size_t param_len;
};
/* These are said if they can be. */
void rte_say_refusal(struct rte_peer *peer, const uint8_t id[RTE_CONN_ID_LEN],
		     const struct rte_refusal *refusal);
void rte_say_shutdown(struct rte_ep *ep, int status);

/* ---- conn.c: a connection that there is, or is to be ---- */

extern const struct rte_peer_ops rte_conn_ops;

/* crn_deadline.expired and callbacks of the data path. */
void rte_conn_over(struct crn_deadline *deadline);
void rte_conn_broken(struct rte_vc *vc, int err);
void rte_conn_drained(struct rte_vc *vc);
/* Of ep->path, by what the other end has said: a router says it of itself, which nobody
 * asks. */
void rte_conn_bypass(struct rte_ep *ep, uint64_t features);
/* Says what is to be said, as far as the peer has room. */
void rte_conn_speak(struct rte_ep *ep);
/* Waits for what comes next, ms. */
void rte_conn_wait(struct rte_ep *ep, uint64_t at);
/* The connection did not come about. */
void rte_conn_fail(struct rte_ep *ep, const struct rte_failure *failure);
/* This end is done with it: fi_close. */
void rte_conn_end(struct rte_ep *ep);
/* fi_shutdown. */
int rte_conn_shutdown(struct rte_ep *ep);
/* The next attempt, or the end of them with that failure. */
void rte_conn_try(struct rte_ep *ep, const struct rte_failure *failure);

/* ---- news.c: events of endpoints ---- */

/* Tells the program now, or as soon as its event queue has room. */
void rte_news(struct rte_ep *ep, enum rte_ep_news news);
void rte_news_again(struct rte_device *device);
/* Is there any for that queue, which would have room? There was no memory for it. */
bool rte_news_kept(const struct rte_device *device, const struct crn_eq *eq);

#endif

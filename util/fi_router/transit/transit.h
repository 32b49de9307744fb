/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections that the router passes on. Each has two peers: in, who asked for it, and
 * out, who leads to the target or is it. CONN_REQ goes out, CONN_REP comes back, CONN_ACK
 * goes out; then messages of both go on (forward.h) until SHUTDOWN, or until a lower
 * connection ends.
 *
 * What ends a connection ends that one alone. What a router says of its own:
 *
 *	FI_ECONNREFUSED	 the target's host refused the lower connection: nobody listens
 *			 there. (The application's own refusal is RTE_REJECTED.)
 *	FI_EHOSTUNREACH	 the next router, whose id it tells, cannot be reached or was lost
 *			 before it answered; or the target's host cannot
 *	FI_ETIMEDOUT	 no answer within the request's time
 *	FI_ENOBUFS	 too many connections, or no memory
 *	EPROTO	 a neighbour has broken the protocol
 *	and what frt_route and ends of lower connections say
 */
#ifndef FRT_TRANSIT_H
#define FRT_TRANSIT_H

#include <cairn/deadline.h>
#include "forward.h"
#include "lasthop.h"
#include "node.h"
#include "worker/worker.h"

/* Connections of all clients at most. */
#define FRT_TRANSITS_MAX 65536u
/* ms: how long messages that were queued have when their sender has ended. */
#define FRT_DRAIN_MS 5000u
/* ms: to tell both ends that it is over, when there is no memory to do so. */
#define FRT_END_MS 1000u

/* How to call it: node->transit. */
extern const struct frt_transit_ops frt_transit_ops;

enum frt_transit_state {
	FRT_REACHING, /* out connects, and HELLOs are exchanged */
	FRT_ASKING,   /* CONN_REQ goes on; CONN_REP is awaited */
	FRT_ANSWERED, /* accepted: CONN_ACK is awaited */
	FRT_OPEN,
	FRT_DRAINING, /* one end is over; what it has sent goes on first */
	FRT_ENDING,   /* what is left to say is said, then both are closed */
	FRT_CLOSED,   /* the lower provider still has messages of it */
	FRT_TRANSIT_STATES,
};

/* Messages that are to be sent to a peer as soon as there is memory, in this order. */
enum frt_word {
	FRT_SAY_REQ = 1 << 0,
	FRT_SAY_REP = 1 << 1,
	FRT_SAY_ACK = 1 << 2,
	FRT_SAY_SHUTDOWN = 1 << 3,
};

struct frt_side {
	struct frt_transit *transit;
	struct frt_device *device;
	struct rte_peer *peer;	  /* NULL: closed, or none yet */
	struct rte_peer *closing; /* is closed when nothing works on the transit */
	int status;		  /* for its BYE */
	char text[RTE_PEER_TEXT];
	bool end;     /* a program's: this is its first or last router */
	uint32_t say; /* enum frt_word: to it */
	struct frt_lane lane[RTE_LANES]; /* from it */
	struct frt_ack ack;		 /* of its requests: of messages, ... */
	struct frt_ack wrote;		 /* ... and writes that are executed here */
	struct frt_lasthop hop;		 /* of its regions */
};

/* Why it ends, for CONN_REP, CONN_ACK and SHUTDOWN. */
struct frt_reason {
	uint32_t status; /* FI_E*; 0: in order */
	uint64_t router; /* where; 0: at an end */
	char why[FRT_TEXT_SIZE];
};

struct frt_transit {
	struct crn_list entry; /* of all, or of those that are closed */
	struct frt_node *node;
	struct frt_worker *worker; /* all of it is there */
	enum frt_transit_state state;
	struct frt_side side[FRT_SIDES];
	struct frt_client *client; /* NULL: a router asked */
	uint64_t began;		   /* ms */
	uint64_t opened;	   /* ms; 0: it was not */
	/* When somebody has asked last how busy it is: control's. ns; and payload. */
	uint64_t looked, looked_bytes;
	struct crn_deadline deadline;
	uint32_t sends; /* messages that the lower providers have */
	uint32_t uses;	/* functions that work on it */

	/* The request; what this router changes in it has been changed. */
	struct rte_conn_req req;
	struct rte_rx *rx; /* CONN_REQ or CONN_REP until it goes on; NULL: none */
	uint8_t verdict;   /* enum rte_verdict of a CONN_REP of our own; 0: none */
	uint64_t next;	   /* the next router's id; 0: out is the target */
	uint32_t hops;
	struct rte_hop path[RTE_TTL_MAX];
	char uri[RTE_URI_SIZE]; /* of the better router; "": none */
	struct frt_reason reason;
	enum frt_from over; /* DRAINING: whose end is over */
	bool late;	    /* what it had sent has had its time, here or before */
};

/* --- Probes (probe.c): what would become of a connection --- */

struct frt_probe;

struct frt_probed {
	/* 0: the last router has answered, which would connect to the target. ETIME: the
	 * one that the ttl ends at. Another FI_E*: as of a connection. */
	int status;
	uint64_t router; /* who answers, or cannot be reached */
	const char *why;
	uint64_t ns; /* from the request to the answer, between routers */
	uint32_t hops;
	const struct rte_hop *path;
	bool has_probe;
	struct rte_probe probe; /* how that router is */
};

struct frt_probe_attr {
	struct rte_uri target; /* routed, an IPv4 or IPv6 address */
	uint32_t ttl;	       /* routers behind this one: 0 to RTE_TTL_MAX */
	uint32_t timeout;      /* ms */
	/* Once. What probed points to is valid in it. */
	void (*done)(void *context, const struct frt_probed *probed);
	void *context;
};

/* Outside of callbacks. NULL: it is over already, and done has been called. */
struct frt_probe *frt_probe_begin(struct frt_node *node,
				  const struct frt_probe_attr *attr);
/* done is not called any more. NULL is allowed. */
void frt_probe_cancel(struct frt_probe *probe);

/* Messages that wait to be sent on, of all connections. */
uint32_t frt_transits_queued(const struct frt_node *node);

const char *frt_transit_state_name(enum frt_transit_state state);

/* Every connection but closed ones, for show and counters. each may not end any. The main
 * thread; so are these and probes. */
void frt_transit_each(const struct frt_node *node,
		      void (*each)(const struct frt_transit *transit, void *context),
		      void *context);
uint32_t frt_transit_count(const struct frt_node *node);
/* Of them those that are passed on, or come about: not those that are refused, or end. */
uint32_t frt_transits_passed(const struct frt_node *node);

#endif

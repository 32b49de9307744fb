/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model of flow control: connections round a ring of routers, over the real credits
 * (prov/route/flow) and lanes (prov/route/wire).
 *
 * Each connection goes over three routers of the ring, from an end at the first to an end
 * at the last; both ends post requests, and may do what a right program may: post
 * receives only when the reads and writes that it began with are over. What happens in
 * which order is the search's: parts of requests are sent, what is at the head of a lane
 * goes on, answers and acknowledgements are sent, landing slots are granted.
 *
 *	end 0 -> router 0 -> router 1 -> router 2 (last) -> end 1
 *	end 0 <- router 2 (last) <- router 1 <- router 0 <- end 1
 *
 * Receives of a lane become more and fewer, at any moment and for no reason, as often as
 * a run allows: nothing may depend on either, so a state in which a connection could only
 * go on by that is a deadlock as well.
 *
 * In a final state nothing is left: otherwise it is a deadlock. Connections share nothing
 * but landing slots: what one does that wants none is tried against nothing that others
 * do (choices). Buffers to send from are no part of it, although all connections share
 * them: with a credit the lower provider sends what is in one, and it is free again.
 */
#ifndef XRT_CREDIT_H
#define XRT_CREDIT_H

#include "run.h"
#include "flow/flow.h"
#include "wire/wire.h"

#define CREDIT_RING 4u
#define CREDIT_CONNS 8u
#define CREDIT_POSITIONS 4u /* routers, and the end */
#define CREDIT_LAST 2u
#define CREDIT_END 3u
#define CREDIT_RECEIVES 4u /* of a lane at a node, at most */
#define CREDIT_READS 1u	   /* of the other end, in service */

/* What waits for what, beside credits. The model has these rules as the code has them,
 * and a fault leaves one out. */
enum credit_rule {
	/* What has no landing slot goes in Sends (transit/forward.c, xfer/send.c). */
	CREDIT_SENDS,
	/* Responses leave their receives at the end at once (xfer/read.c). */
	CREDIT_ANSWERS,
	/* No ACK rides on a request, which may have to wait (frt_ack_rides, rte_vc_head).
	 * It does between the last router and the end, which the model has no need of. */
	CREDIT_APART,
	/* An ACK is of all requests up to one, so that one place is enough for those that
	 * are due (struct frt_ack, rte_vc.ack_due). */
	CREDIT_UP_TO,
	/* A read waits in its receive for a place among those in service
	 * (rte_vc_serve_take). */
	CREDIT_SERVICE,
	/* Who waits for a credit is told of more receives (elastic_take). */
	CREDIT_WAKES,
	/* Of fewer receives, those that are due may be too many to wait (lane_given). */
	CREDIT_LOOKS,
};

enum credit_wrong {
	CREDIT_STUCK = 1 << 0,
	CREDIT_OVERRUN = 1 << 1,
	CREDIT_SUM = 1 << 2,
};

enum credit_kind { CREDIT_MSG, CREDIT_DELIVER, CREDIT_WRITE, CREDIT_READ, CREDIT_KINDS };

struct credit_run {
	unsigned int conns;	  /* 0 to 3 go one way round, 4 to 7 the other */
	unsigned int first;	  /* of them */
	unsigned int requests[2]; /* of each end */
	unsigned int kinds;	  /* 1 << enum credit_kind: any of them */
	unsigned int receives;	  /* of each lane at each node */
	unsigned int parts;  /* of a message, a write, the data of a read: Sends for it */
	unsigned int pool;   /* landing slots of each router, for all parts at once */
	unsigned int begins; /* receives that a lane begins with; 0: all of them */
	unsigned int changes; /* of each connection: receives become more or fewer */
};

extern const struct xpl_model credit_model;

/* credit_mutants.c */
bool credit_holds(enum credit_rule rule);
const char *credit_mutant(unsigned int number);
bool credit_mutant_fits(unsigned int number, const void *run);
void credit_mutant_use(unsigned int number);

#endif

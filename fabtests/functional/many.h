/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases of fi_cairn_many. A connection has a number, which its request carries: so both
 * sides know which is which, and agree on what is to become of it.
 */
#ifndef FCT_MANY_H
#define FCT_MANY_H

#include "fct_fabric.h"

#define MANY_LEN 64u   /* bytes of a message */
#define MANY_BURST 3u  /* messages each way */
#define MANY_QUEUE 16u /* of an endpoint, each way */

enum many_fate {
	MANY_STAYS,    /* accepted, and used */
	MANY_REJECTED, /* by fi_reject */
	MANY_LEFT,     /* who asked closes before the answer */
	MANY_EITHER,   /* accepted, unless the request found no room */
};

struct many;

/* One end of one connection, and what the event queue said of it. */
struct many_conn {
	struct fct_conn c;
	struct many *m;
	uint32_t number;
	bool asked; /* it connects; otherwise it accepts */
	bool connected;
	bool shut;
	int err;   /* FI_E* of its error entry; 0: none came */
	bool over; /* this side has closed it */
	unsigned int sent, received;
	struct fct_ctx tx, rx[MANY_BURST];
};

struct many {
	struct fct_link l;
	uint32_t count;
	enum many_fate (*fate)(uint32_t number);
	struct many_conn *asking;    /* count, NULL on a side that only accepts */
	struct many_conn *answering; /* count, NULL on a side that only asks */
	struct fct_mem mem;	     /* of each end: MANY_BURST receives and a send */
	struct sockaddr_storage where;
	/* Ends for which that has happened. */
	uint32_t requests, connected, failed, shut;
	unsigned int sent, received;
};

/* -n */
extern uint32_t fct_many_count;

/* many.c */

/* Which ends this side has. fate: NULL for MANY_STAYS. */
struct many_side {
	bool asks, answers;
	enum many_fate (*fate)(uint32_t number);
};

int fct_many_open(struct many *m, uint32_t count, const struct many_side *side);
/* Closes what is left. As fct_link_down. */
void fct_many_end(struct many *m);
/* Every connection is asked for, one after the other, and no answer awaited. */
int fct_many_ask(struct many *m);
/* Takes the next event, if there is one: 1, 0 or < 0. */
int fct_many_event(struct many *m);
/* Takes events until so many ends are connected, failed and shut down. */
int fct_many_await(struct many *m, uint32_t connected, uint32_t failed, uint32_t shut,
		   const char *what);
/* No event is left to be read but requests of connections that were left. */
int fct_many_quiet(struct many *m);
/* Messages each way on every connection that stands, all of them verified. */
int fct_many_traffic(struct many *m);
int fct_many_close(struct many *m, struct many_conn *c);
static inline bool many_stands(const struct many_conn *c)
{
	return c->connected && !c->shut && !c->over;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flow control of routed connections, hop by hop: credits. Pure: no I/O, no memory, no
 * threads; the caller's lock guards all of it.
 *
 * A connection has two lanes in each direction. Requests go in order and wait for the
 * receives of the application; responses never do, and go where they are going whatever
 * the requests wait for. At each hop a lane has receives that nobody else uses, and a
 * message needs one: the sender has a credit for each that is free. Whoever has received
 * a message tells of its receive, in the header of whatever goes the other way, once the
 * message has gone on. Landing slots, of memory that all connections share, only make it
 * faster: what has none goes in more messages.
 *
 * So what one connection, direction or lane waits for never depends on what another one
 * holds. fabtests/explore/route/credit.h searches all states for deadlocks, with the
 * rules of who waits for what. (The document keeps one fragment for each peer router in
 * reserve, section VII.C.3: connections then wait for each other.)
 *
 * What tells of credits, receives and slots alone (KEEPALIVE, RECEIVES, GRANT) needs no
 * credit.
 *
 * A lane begins with one receive, which it never loses, and has more while it uses them
 * and there is memory. A receive that is posted cannot be taken back, nor a credit that
 * was told: who wants fewer asks the sender, who gives credits back as it has them to
 * spare, each in a message that takes its receive.
 *
 * A quota is the bound of what several connections have together, whose callers may have
 * different locks. Nobody waits for it: what it does not give is done without.
 */
#ifndef RTE_FLOW_H
#define RTE_FLOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- Quotas: any thread --- */

struct rte_quota {
	_Atomic uint32_t limit, used;
	_Atomic uint64_t reached; /* times that one more was wanted */
};

/* False: all of it is in use. NULL: there is no bound. */
static inline bool rte_quota_take(struct rte_quota *quota)
{
	if (!quota || atomic_fetch_add(&quota->used, 1) < atomic_load(&quota->limit))
		return true;
	atomic_fetch_sub(&quota->used, 1);
	atomic_fetch_add(&quota->reached, 1);
	return false;
}

/* What is in use already counts, also beyond the limit. */
static inline void rte_quota_add(struct rte_quota *quota, uint32_t count)
{
	if (quota)
		atomic_fetch_add(&quota->used, count);
}

static inline void rte_quota_put(struct rte_quota *quota, uint32_t count)
{
	if (quota)
		atomic_fetch_sub(&quota->used, count);
}

/* --- The receiving end of a lane --- */

struct rte_inlet {
	uint32_t receives;
	uint32_t due;	  /* that are free again, which the sender has not been told */
	uint32_t credits; /* messages that the sender may still send */
	uint32_t asked;	  /* credits that it is to give back */
};

void rte_inlet_open(struct rte_inlet *inlet, uint32_t receives);
/* A message has come. False: the sender had no credit for it. */
bool rte_inlet_fill(struct rte_inlet *inlet);
/* What was in one of them has gone on. */
void rte_inlet_empty(struct rte_inlet *inlet);
/* For the header of a message to the sender: credits that it is told of. */
uint8_t rte_inlet_tell(struct rte_inlet *inlet);
/* So many more receives are posted, of which the sender is told. */
void rte_inlet_more(struct rte_inlet *inlet, uint32_t receives);
/* How many of `fewer` the sender can be asked for, so that it keeps one at least: it is
 * told of them. */
uint32_t rte_inlet_ask(struct rte_inlet *inlet, uint32_t fewer);
/* It has given one back. rte_inlet_overdue may have become true. False: it had none, or
 * was not asked. */
bool rte_inlet_given(struct rte_inlet *inlet);
/* So many are due that a message has to tell of them, if no other does. */
bool rte_inlet_overdue(const struct rte_inlet *inlet);

/* --- The sending end --- */

struct rte_outlet {
	uint32_t receives; /* of the other end */
	uint32_t credits;  /* those that are free */
	uint32_t asked;	   /* of them, that the other end wants back */
};

void rte_outlet_open(struct rte_outlet *outlet, uint32_t receives);
/* For a message. False: it has to wait. */
bool rte_outlet_take(struct rte_outlet *outlet);
/* It was not sent. */
void rte_outlet_undo(struct rte_outlet *outlet);
/* A header has told of so many. False: there are not as many receives. */
bool rte_outlet_told(struct rte_outlet *outlet, uint8_t credits);
/* The other end has posted so many more. False: nobody has as many. */
bool rte_outlet_more(struct rte_outlet *outlet, uint32_t receives);
/* It asks for so many. False: the sender would have none left. */
bool rte_outlet_asked(struct rte_outlet *outlet, uint32_t credits);
/* One is given back, of which the other end is told. False: none now. */
bool rte_outlet_give(struct rte_outlet *outlet);

#endif

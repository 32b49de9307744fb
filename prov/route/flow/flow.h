/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flow control of routed connections, hop by hop: who may send what when. Pure: no I/O,
 * no memory, no threads; the caller's lock guards all of it.
 *
 * A connection has two lanes in each direction. Requests go in order and wait for the
 * receives of the application; responses never do, and go where they are going whatever
 * the requests wait for. At each hop the receiver grants slots: a sender sends what it
 * has a slot for. Each lane has an escape slot with each receiver that nobody else uses,
 * and as many slots of the node's pool as there are, up to a share. So what one
 * connection, direction or lane waits for never depends on what another one holds: that
 * there is no deadlock, whatever the pool, is what fabtests/explore/route/credit searches
 * for in all states. (The document keeps one fragment for each peer router in reserve,
 * section VII.C.3: connections then wait for each other.)
 *
 * Grants go from one node to the next and need no slot.
 */
#ifndef RTE_FLOW_H
#define RTE_FLOW_H

#include "wire/wire.h"

/* --- The receiving end of a lane (credit.c) --- */

/* Slots of a node that lanes share. */
struct rte_pool {
	uint32_t size;
	uint32_t free;
};

/* Whose slot it is. */
enum rte_room { RTE_ROOM_NONE, RTE_ROOM_ESCAPE, RTE_ROOM_POOL };

/* Slots that are granted may be filled by the sender, and then are until what was in them
 * has gone on. Of the pool at most share. */
struct rte_inlet {
	bool escape_granted, escape_filled;
	uint32_t granted, filled; /* of the pool */
	uint32_t share;
};

void rte_inlet_open(struct rte_inlet *inlet, uint32_t share);
/* The slots of the pool are there again. */
void rte_inlet_close(struct rte_inlet *inlet, struct rte_pool *pool);
/*
 * A slot that the sender is to be granted: the escape slot whenever it is free. NONE:
 * there is none now. Call it again after rte_inlet_empty, and for lanes that could go
 * faster when the pool has free slots.
 */
enum rte_room rte_inlet_grant(struct rte_inlet *inlet, struct rte_pool *pool);
/* Something has come into it. -FI_EOVERRUN: it was not granted. */
int rte_inlet_fill(struct rte_inlet *inlet, enum rte_room room);
/* It has gone on. */
void rte_inlet_empty(struct rte_inlet *inlet, enum rte_room room, struct rte_pool *pool);

/* --- The sending end --- */

struct rte_outlet {
	bool escape;
	uint32_t pool;
	uint32_t share; /* what the receiver said at most */
};

void rte_outlet_open(struct rte_outlet *outlet, uint32_t share);
/* -FI_EOVERRUN: more than there can be. */
int rte_outlet_granted(struct rte_outlet *outlet, enum rte_room room);
/* A slot to send into, the pool's first: they are larger. NONE: it has to wait. */
enum rte_room rte_outlet_take(struct rte_outlet *outlet);

/* --- What waits for what (rules.c); in which lane: rte_message_lane --- */

enum rte_flow_place {
	RTE_FLOW_ROUTER, /* not the last one */
	RTE_FLOW_LAST,	 /* the last router, which does RMA in the target's name */
	RTE_FLOW_END,	 /* to whom it goes */
	RTE_FLOW_PLACES,
};

/* Before it leaves its slot. */
enum rte_flow_need {
	RTE_FLOW_SLOT = 1 << 0,	   /* of its lane, granted by the next node */
	RTE_FLOW_RECEIVE = 1 << 1, /* of the application */
	RTE_FLOW_ANSWER = 1 << 2,  /* the node's own place for its answer, empty */
	RTE_FLOW_KEY = 1 << 3,	   /* of the target's region */
};

/* enum rte_flow_need, of a message of that type (enum rte_type). 0: it leaves at once. */
unsigned int rte_flow_needs(uint8_t type, enum rte_flow_place place);

/*
 * Places for answers. What is answered leaves its slot first, so each answer has a place
 * that is not the lane's: at the last router one for each direction, for an ACK or
 * READ_FRAG; at the end one for an MR_INFO, since a last router asks for one key at a
 * time. Without the latter, MR_RESOLVEs at both ends may wait for slots that only their
 * answers would free.
 */
#define RTE_FLOW_ANSWERS 1u
#define RTE_FLOW_RESOLVES 1u

#endif

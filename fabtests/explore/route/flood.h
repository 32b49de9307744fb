/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model of the link-state exchange: three or four routers, which are the real state
 * machine (prov/route/sync), and links between them, which are queues.
 *
 * A run begins when all know all. Then, in every order: the first message of a queue
 * arrives, is lost, or arrives twice; a router says something new, starts again, ends, or
 * is killed; and, once nothing is on its way, a second passes. Heartbeats arrive at once
 * when they are the first: they change what is known by digests alone.
 */
#ifndef XRT_FLOOD_H
#define XRT_FLOOD_H

#include "run.h"
#include "sync/sync.h"

#define FLOOD_ROUTERS 4u
#define FLOOD_LINKS 3u
#define FLOOD_QUEUE 12u
#define FLOOD_ENTRIES 4u
#define FLOOD_SECONDS 9u /* that pass in the end */

enum flood_wrong {
	FLOOD_APART = 1 << 0, /* in the end, they do not know the same */
	FLOOD_OLDER = 1 << 1, /* what is older has replaced what is newer */
	FLOOD_CROSSINGS = 1 << 2,
	FLOOD_QUEUE_FULL = 1 << 3,
	FLOOD_EDGE = 1 << 4,  /* a way through the graph that is none */
	FLOOD_LEAK = 1 << 5,  /* of another AS */
	FLOOD_NOISE = 1 << 6, /* in the end, there are more than heartbeats */
};

enum flood_act {
	FLOOD_DELIVER,
	FLOOD_LOSE,
	FLOOD_DOUBLE,
	FLOOD_CHANGE,
	FLOOD_REACH,
	FLOOD_RESTART,
	FLOOD_KILL,
	FLOOD_BYE,
	FLOOD_SECOND,
};

struct flood_run {
	unsigned int routers, links;
	uint8_t end[FLOOD_LINKS][2];
	uint32_t as[FLOOD_ROUTERS];
	/* How often what may happen; to which router. */
	uint8_t losses, doubles, changes, reaches, restarts, kills, byes;
	uint8_t changes_at, restarts_at;
	int8_t epoch_step; /* of a restart; 0: 1 */
};

/* A message, with what of it there is in these networks. */
struct flood_note {
	uint8_t type, count, more, pad;
	uint32_t flags, load, lifetime;
	struct {
		uint32_t as, router, epoch, seq;
	} entry[FLOOD_ENTRIES]; /* or the key of an LSA or AS_REACH */
	struct {
		uint32_t scope_as, subnet, neighbour;
	} link[FLOOD_LINKS];
	uint64_t hash;
};

struct flood_queue {
	uint32_t count;
	struct flood_note note[FLOOD_QUEUE];
};

/* Of a router's latest LSA over a link, or in all. */
struct flood_crossings {
	uint32_t epoch, seq, count;
};

struct flood_link {
	struct rte_adjacency *adjacency[2];
	uint8_t lost[2]; /* it goes down */
	uint8_t pad[6];
	struct flood_crossings crossings[2][FLOOD_ROUTERS];
};

struct flood_router {
	struct rte_sync *sync; /* NULL: it has ended, or was killed */
	uint32_t epoch, load;
	uint32_t highest[FLOOD_ROUTERS][2]; /* epoch and seq that it has known */
	uint8_t withdrawn, pad[7];
};

/* All of a state but the heap. */
struct flood_world {
	uint64_t now;
	struct flood_router router[FLOOD_ROUTERS];
	struct flood_link link[FLOOD_LINKS];
	struct flood_crossings all[FLOOD_ROUTERS];
	struct flood_queue queue[FLOOD_LINKS][2]; /* what end 0, 1 has sent */
	uint8_t losses, doubles, changes, reaches, restarts, kills, byes;
	uint8_t seconds; /* since something else happened */
	uint8_t noise;	 /* in the last one there were more than heartbeats */
	uint8_t pad[7];
	uint32_t wrong;
};
extern struct flood_world flood;
extern const struct flood_run *flood_running;

#define FLOOD_AS 3u
static inline uint64_t flood_id(uint32_t router)
{
	return 10 + router;
}
/* Behind each router. */
static inline uint32_t flood_stub(uint32_t router)
{
	return 1 + router;
}

/* flood_world.c */
void flood_begin(const struct flood_run *run);
void flood_deliver(uint32_t link, uint32_t from, bool stays);
void flood_drop(uint32_t link, uint32_t from);
void flood_change(uint32_t router);
void flood_reach(uint32_t router);
void flood_restart(uint32_t router, int step);
void flood_kill(uint32_t router);
void flood_bye(uint32_t router);
void flood_second(void);
bool flood_is_quiet(void);

/* flood_check.c */
unsigned int flood_check(void (*each)(const void *outcome));
unsigned int flood_check_end(void);
/* Makes one state of those that nobody can tell apart. */
void flood_tidy(void);

/* flood_mutants.c */
const char *flood_mutant(unsigned int number);
bool flood_mutant_fits(unsigned int number, const void *run);
void flood_mutant_use(unsigned int number);

extern const struct xpl_model flood_model;
/* After xpl_open. */
void flood_model_open(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who does the work. The main thread is the network's: it listens, keeps adjacencies,
 * link states and routes, answers fi_routectl(1), and reads the file again. Workers pass
 * connections on. Each has memory of its own, and of each device a port of its own, with
 *a domain and queues of the lower provider; a connection lives in one worker with both of
 * its lower connections, from the moment at which somebody asks to connect. With one
 * worker there is no other thread: the main one passes connections on as well.
 *
 * Who may touch what:
 *
 *	A worker works in turns. What belongs to it (ports and their peers, memory,
 *	transits, deadlines) is touched in its turns, and by the main thread between two
 *	of them.
 *	The main thread holds all workers, but while it sleeps. So it changes the node,
 *	devices, configuration, link states and routes while nobody works, and workers
 *read them in their turns without a lock; what it does to a worker's ports (it accepts a
 *	connection there, closes a device, shows all connections) takes nothing else.
 *	What several workers write is guarded by node->shared, which is taken when a
 *	connection begins and ends, and for no message.
 *
 * Somebody waits for a turn (turnstile.h) in the order in which they came, so neither a
 * busy worker nor a busy main thread keeps the other waiting for longer than one turn.
 */
#ifndef FRT_WORKER_H
#define FRT_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include "node.h"
#include "turnstile.h"

struct frt_worker {
	struct frt_node *node;
	uint32_t index; /* 0: the main thread's */
	struct rte_arena *arena;
	struct crn_deadlines *deadlines; /* of the main thread's: the node's */
	void *transits;			 /* transit's; NULL: it is not open */
	uint32_t connections;		 /* whose in-going peer is here; to choose by */
	int epfd;			 /* what it sleeps on */
	uint64_t busy;			 /* ns of looking for work before it sleeps */
	uint64_t last; /* ns: when there was something to do; while it looks for work */
	uint32_t turns;
	/* Of one with a thread. */
	pthread_t thread;
	bool runs;
	struct frt_turnstile turnstile;
	struct crn_deadlines own;
	int wake;   /* an eventfd */
	bool woken; /* the main thread has done something here */
	bool quits; /* it ends after this turn */
};

/* How many: as the file says, or one for each device, as far as there are processors
 * beside one for everything else. */
uint32_t frt_workers_wanted(const struct rte_config *config, uint32_t processors);
/* That this process may use; at least 1. */
uint32_t frt_processors(void);

/* After node->epfd and node->deadlines. 1: the main thread alone; else so many beside it.
 * 0 or -FI_E*; frt_workers_close follows in any case. */
int frt_workers_open(struct frt_node *node, uint32_t count);
/* They have been joined, and there are no devices any more; arenas are the caller's. */
void frt_workers_close(struct frt_node *node);
/* The main thread holds them from now on. busy: as in struct frt_worker. */
int frt_workers_start(struct frt_node *node, uint64_t busy);
/* Ends the threads; nobody holds them any more. */
void frt_workers_join(struct frt_node *node);

/* Waits for the end of all turns; none begins until frt_workers_release. The main thread,
 * around whatever it does; nothing without threads. */
void frt_workers_hold(struct frt_node *node);
void frt_workers_release(struct frt_node *node);

/* Held: something was done to the worker's ports, of which nothing tells it. */
void frt_worker_wake(struct frt_worker *worker);
void frt_workers_wake(struct frt_node *node);
/* Held: the one with the fewest connections. */
struct frt_worker *frt_worker_choose(const struct frt_node *node);
/* Their number, as people count them: without the main thread if there are others. */
uint32_t frt_workers_count(const struct frt_node *node);

/* --- Ports in its epoll (port.c) --- */

/* 0 or -errno. */
int frt_port_watch(struct frt_port *port);
void frt_port_unwatch(struct frt_port *port);

/* --- What was done there (past.c) --- */

/* Ends a peer of it, and keeps what it has done. */
void frt_port_part(struct frt_port *port, struct rte_peer *peer, int status);
/* What a peer has done until now, added. */
void frt_past_peer(struct frt_past *past, const struct rte_peer *peer);
void frt_past_add(struct frt_past *past, const struct frt_past *more);

/* --- One turn (turn.c): what the main thread and the threads have in common --- */

/* What there is to do at ports that have fired, and deadlines. How much there was. */
size_t frt_worker_turn(struct frt_worker *worker);
/* Is there to be another turn at once? Those whose ports were quiet are looked at less
 * often. */
bool frt_worker_goes_on(struct frt_worker *worker, size_t work);
/* May it sleep? Ports with something to do count as fired, all others can be waited for.
 */
bool frt_worker_may_sleep(struct frt_worker *worker);
/* Something has happened there. */
void frt_port_fired(struct frt_port *port);

uint64_t frt_worker_now(void); /* ns */

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine model under real requests: what ibv_post_send posts to a process on a
 * modelled machine is handed to svb_machine instead of being executed, and completes when
 * the machine says so.
 *
 * By chance or from a list, choices are made when the process that posted posts more or
 * polls an empty completion queue, and when a processor flushes: a program that waits for
 * each answer before it goes on makes the same choices each time. When nothing happened
 * for long (nobody polls: someone watches memory) everything under way is placed.
 *
 * An explorer in one process sets drain to "explore" and makes the choices itself:
 *
 *	setenv("SIMVERBS_PERSISTENT_FILE", file, 1);	of the size wanted, zero bytes
 *	setenv("SIMVERBS_DRAIN", "explore", 1);
 *	setenv("SIMVERBS_THREADS", "off", 1);
 *	... endpoints, connections, registered memory: the persistent file, mapped ...
 *	real code posts
 *	count = svb_model_enabled(choices, max);
 *	size = svb_model_save(NULL, 0); svb_model_save(state, size);
 *	svb_model_apply(&choices[i]);		queues advance, completions appear
 *	hash = svb_machine_hash(next, svb_model_save(next, room));
 *	svb_model_restore(state);
 *	svb_model_fail(); compare svb_model_medium(); svb_model_restore(state);
 *
 * What svb_model_save holds is all that the device changes: queues and completions that
 * are not consumed, registered memory, the machine and the medium. Objects created since
 * are not taken back; variables of the real code are not the device's. The processor's
 * stores are those to the mapping; its flushes are svb_medium_flush.
 */
#ifndef SVB_MODEL_MODEL_H
#define SVB_MODEL_MODEL_H

#include "engine/engine.h"
#include "medium.h"

/* Exit status of processes on a machine when its power fails; of the launcher, too. */
#define SVB_POWER_STATUS 86

/*
 * How long nothing may happen while requests are under way, ns: while the process runs
 * all the time (it watches memory), and while it sleeps. One that polls and is kept off
 * the processor is neither.
 */
#define SVB_MODEL_PATIENCE 5000000ull
#define SVB_MODEL_PATIENCE_RUN 3000000ull
#define SVB_MODEL_PATIENCE_ASLEEP 60000000ull

/* medium.c: gives a machine the functions it calls. */
void svb_model_bind(struct svb_medium *medium);
/* The process dies when the power of its machine fails. */
void svb_model_arm(void);
/* Lock held: what is under way is placed, and everything drains. */
void svb_model_stop(struct svb_medium *medium);

/* What the engine calls in a process that is on a modelled machine, or talks to one. */
extern const struct svb_detour svb_model_detour;
/* Requests of a queue pair, or 0: of all, are placed, executed, delivered: for who takes
 * away what they need. No lock held but a send queue's. */
void svb_model_settle(uint32_t qpn);
/* Polling found nothing. No lock held. */
void svb_model_poll(void);
/* The program is about to sleep until a completion comes. No lock held. */
void svb_model_rest(void);
/* A deadline has passed. No lock held. */
void svb_model_tick(void);

/* For an explorer: the process' own machine. No lock held, no thread. */
uint32_t svb_model_enabled(struct svb_choice *choices, uint32_t max);
void svb_model_apply(const struct svb_choice *choice);
/* As svb_machine_unseen; false where a queue pair's next request waits for something. Not
 * where one may end: it then forgets what has not arrived. */
bool svb_model_unseen(const struct svb_choice *choice);
/* As svb_machine_save, svb_machine_restore and svb_machine_fail. */
size_t svb_model_save(void *to, size_t size);
void svb_model_restore(const void *from);
void svb_model_fail(void);
/* Registered memory that is not persistent is the caller's to save. At first it is not.
 */
void svb_model_leave_memory(bool leave);
/* May words move by themselves? At first not: it multiplies the states. */
void svb_model_tear(bool tear);
const uint8_t *svb_model_medium(void);
/* Do lines drain by choice (NULL, as at first), or is the medium all that it may be
 * (machine/machine.h)? For the caller to keep until it is changed. No request is under
 * way, and all that is visible is in the medium. */
void svb_model_maybes(struct svb_maybes *maybes);
/* As svb_machine_fail_next. */
bool svb_model_fail_next(void);

/* turn.c, for model.c and medium.c: one or more choices, the lock held. qp: only
 * this queue pair's requests, 0: all. Sets what changed in *touched. */
#define SVB_TOUCHED 64u
struct svb_touched {
	uint32_t count;
	uint32_t qpn[SVB_TOUCHED];
};
void svb_model_turn(struct svb_medium *medium, uint32_t qpn, struct svb_touched *touched);
/* Runs the queues whose requests moved. No lock held. */
void svb_model_advance(const struct svb_touched *touched);
/* May this process work on requests of that one? */
bool svb_model_reaches(const struct svb_request *request);
/* Lock held: whose requests may move from now on. 0: all that this process reaches. */
void svb_model_only(struct svb_medium *medium, uint32_t qpn);

#endif

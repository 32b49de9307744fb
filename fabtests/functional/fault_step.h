/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps that scenes consist of: fault_scene.c for fault_dgram.c. */
#ifndef FCT_FAULT_STEP_H
#define FCT_FAULT_STEP_H

#include "fault.h"

#define SCENE_WAIT_MS 20000

/* The operations of a scene: what their contexts are, and their places in s->op. */
enum {
	OP_RECV,
	OP_SEND,
	OP_RECV_INJECT,
	OP_WRITE,
	OP_READ,
	OP_SUM,
	OP_CHAINED,
	OP_PROVED
};

/* The first error counts. Returns s->err. */
int fct_scene_fails(struct scene *s, const char *doing, int err);
/* Takes what the queues have. */
void fct_scene_look(struct scene *s);
/* Waits for what completes the sentence "waiting for". Returns s->err. */
int fct_scene_until(struct scene *s, const char *what,
		    bool (*there)(const struct scene *s));
/* Has all ended that was posted? */

/* A call that belongs to the scene: nothing is called once an error was told. */
#define STEP(s, call)                                                      \
	do {                                                               \
		if (fct_scene_fails(s, #call, (s)->err ? 0 : (int)(call))) \
			return (s)->err;                                   \
	} while (0)

/* Posts an operation; a full queue is no failure. */
#define POST(s, which, call)                                         \
	do {                                                         \
		const uint64_t end_ = fct_now_ms() + SCENE_WAIT_MS;  \
		ssize_t ret_ = -FI_EAGAIN;                           \
                                                                     \
		while (!(s)->err && (ret_ = (call)) == -FI_EAGAIN && \
		       fct_now_ms() < end_)                          \
			fct_scene_look(s);                           \
		if (!(s)->err)                                       \
			fct_scene_fails(s, #call, (int)ret_);        \
		if ((s)->err)                                        \
			return (s)->err;                             \
		(s)->op[which].posted++;                             \
	} while (0)

#endif

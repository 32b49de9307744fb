/* SPDX-License-Identifier: BSD-2-Clause */
/* The process, and what each room does when it joins, leaves or forks. */
#ifndef SVB_SHARED_SELF_H
#define SVB_SHARED_SELF_H

#include <pthread.h>
#include <cairn/list.h>
#include "segment.h"
#include "settings/settings.h"

struct svb_cq;
struct svb_detour;
struct svb_qp;
struct svb_srq;

/* How this process sees another. */
struct svb_peer {
	struct svb_seg *seg;
	uint32_t generation; /* whose segment that is */
	uint32_t pid;	     /* svb_registry_pid */
	bool relayed;	     /* its memory is out of reach: engine/relay.h */
	/* Of the segment, what valgrind was last told is in use. */
	uint32_t shown[SVB_TABLES];
	uint64_t shown_heap;
};

/* The process. */
struct svb_self {
	pthread_mutex_t mutex; /* of everything here but seg, peer and settings */
	struct svb_seg *seg;
	uint32_t index;
	uint32_t generation;
	bool joined;
	/* Something is set that the fast path does not do: latency, loss, model. */
	bool slow;
	bool unreliable; /* datagrams have fates: engine/ud.h */
	bool iwarp;	 /* the link layer is: engine/iwarp.c */
	bool valgrind;	 /* runs under it: vg.h */
	/* The address space has no room for whole segments: under valgrind, and where it
	 * is limited (RLIMIT_AS). */
	bool narrow;
	/* A machine is modelled, ours or a peer's: what runs queues in the engine's
	 * place. NULL: none is. */
	const struct svb_detour *model;
	int dir_fd;
	int seg_fd;
	int ring_fd;	 /* rings bells */
	int life_fd;	 /* svb_life_open */
	int registry_fd; /* holds the lock of this process: registry.h */
	char dir[80];
	struct svb_registry *registry;
	struct svb_peer peer[SVB_PROC_MAX];
	struct svb_settings settings;
	struct crn_list contexts;
	/* What the connection manager does when the process ends; NULL: it never began.
	 */
	void (*leave)(void);
	/* Private halves by slot: NULL where free. */
	struct svb_qp *qp[SVB_MAX_QP];
	struct svb_cq *cq[SVB_MAX_CQ];
	struct svb_srq *srq[SVB_MAX_SRQ];
	uint32_t next_pd;
};
extern struct svb_self svb_self;

/*
 * Makes this process one of those that share the devices, once (and again in the child of
 * a fork). Everything that opens something calls it first. Returns 0 or an errno.
 */
int svb_join(void);

/* What a room above does when the process joins, leaves or forks. Each may be NULL. */
struct svb_part {
	/* The settings are known and the own segment is there. Mutex held. Returns 0 or
	 * an errno; of those before it only the segment is then taken back. */
	int (*join)(void);
	void (*leave)(void);
	/* Around a fork nothing of it is half done; the child then forgets what it has.
	 */
	void (*hold)(void);
	void (*let_go)(void);
	void (*forget)(void);
	/* The segment of another process was mapped. */
	void (*mapped)(struct svb_seg *seg);
};

/* parts.c: in the order in which they join, leave and forget. */
#define SVB_PARTS 9
extern const struct svb_part svb_parts[SVB_PARTS];

/* Tells each that a segment was mapped. */
void svb_parts_mapped(struct svb_seg *seg);

#endif

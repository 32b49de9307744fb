/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a responder's machine does with data between the wire and persistent memory, and
 * what of it a power failure spares.
 *
 *	NET -> RNIC -> visible -> persistence domain
 *
 *	NET      handed over by the requester, not at the responder: always lost
 *	RNIC     buffers of the adapter, and of the I/O controller up to where the
 *	         processor sees them; a FIFO for each queue pair, except that iWARP and
 *	         relaxed ordering place its data in any order. Survives under WSP
 *	visible  what processor and reads find: a processor cache, where DDIO puts data
 *	         and where stores go, or on the way from the I/O controller to the memory
 *	         controller. Drains in any order. Survives under MHP and WSP
 *	medium   the memory controller and what is behind it. Survives always
 *
 * An I/O controller that is not part of MHP therefore counts to RNIC: it keeps order.
 *
 * Nothing happens by itself. Each move of a cache line (or, torn, of eight bytes of it),
 * each arrival, execution and delivery is a choice; svb_machine_enabled lists those that
 * are possible and svb_machine_apply makes one. The rules:
 *
 * - Requests of a queue pair arrive in order. IBV_SEND_FENCE holds a request back until
 *   earlier reads and atomics were executed; it does not wait for a FLUSH.
 * - Writes and sends (posted) are placed in order among themselves and may pass anything
 *   else. A request's own lines are placed in any order. Where order is relaxed only
 *   bytes that overlap keep it. A message is delivered when everything posted before it
 *   is placed and delivered.
 * - Reads, atomics, ATOMIC WRITE and FLUSH wait for everything before them on the queue
 *   pair; a FLUSH only for what lies in its range.
 * - A read, and a FLUSH with global placement, leaves what it waited for visible. With
 *   DDIO off it also drains what that queue pair wrote through the same region. A FLUSH
 *   with persistent placement drains what that queue pair wrote in its range.
 * - The requester sees a posted request complete when it arrived; on iWARP when it was
 *   handed over. Others complete when they were executed.
 *
 * How an explorer uses it, alone or under real code (model/model.h):
 *
 *	count = svb_machine_enabled(m, choices, SVB_MACHINE_CHOICES);
 *	for (i = 0; i < count; i++) {
 *		svb_machine_restore(m, state);
 *		svb_machine_apply(m, &choices[i]);
 *		size = svb_machine_save(m, next, sizeof(next));
 *		if (new(svb_machine_hash(next, size))) ...
 *	}
 *	svb_machine_restore(m, state);
 *	svb_machine_fail(m);		and look at m->medium: what recovery finds
 *
 * Every order of draining is reached by choices, so svb_machine_fail has nothing to
 * choose. Source: the taxonomy of remote persistence; IBA 9.5, 10.8.3.3 and A19; RFC 5040
 * sections 4 and 5. Not thread safe; the functions allocate nothing and cannot fail where
 * they return nothing.
 */
#ifndef SVB_MACHINE_MACHINE_H
#define SVB_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "settings/settings.h"

#define SVB_CACHE_LINE 64u
#define SVB_WORD 8u
#define SVB_WORDS_ALL 0xffu /* a bit for each eight bytes of a line */

/* Memory is named by space and address: SVB_SPACE_PM counts from its first byte, other
 * spaces are the caller's. */
#define SVB_SPACE_PM 0u

enum svb_request_kind {
	SVB_REQ_POSTED, /* write, write with immediate, send */
	SVB_REQ_READ,
	SVB_REQ_ATOMIC,
	SVB_REQ_ATOMIC_WRITE,
	SVB_REQ_FLUSH,
};

#define SVB_REQ_DELIVER 1u    /* posted: the responder is told when it is complete */
#define SVB_REQ_FENCE 2u      /* IBV_SEND_FENCE */
#define SVB_REQ_PERSISTENT 4u /* FLUSH: with persistent placement */

/* A request under way. (qp, seq) names it; seq grows within a queue pair, modulo 2^32. */
struct svb_request {
	uint32_t qp; /* not 0 */
	uint32_t seq;
	uint32_t kind;	  /* enum svb_request_kind */
	uint32_t flags;	  /* SVB_REQ_* */
	uint32_t arrived; /* 0: still in NET */
	uint32_t pieces;  /* posted: lines not placed yet */
	uint32_t region;  /* what the responder's key names; any number */
	uint32_t unused;
	/* What a FLUSH covers and where an atomic's eight bytes are. */
	uint64_t space, at, len;
	uint64_t note[16]; /* the caller's; part of the state */
};

/* Bytes of a posted request in one cache line. */
struct svb_piece {
	uint32_t qp, seq;
	uint64_t space;
	uint64_t line; /* address of its first byte */
	uint32_t region;
	uint8_t from, to; /* bytes of the line */
	uint8_t words;	  /* which eight bytes are still to be placed */
	uint8_t unused;
	uint8_t data[SVB_CACHE_LINE];
};

/* Words of a line of persistent memory that are visible and may not be in the medium. */
struct svb_dirty {
	uint64_t line;
	uint32_t qp; /* who wrote them; 0: the processor */
	uint32_t region;
	uint32_t words;
	uint32_t unused;
};

#define SVB_MACHINE_REQUESTS 512u
#define SVB_MACHINE_PIECES 4096u
#define SVB_MACHINE_DIRTY 8192u

/* Everything but the bytes. No pointers: processes may share it. Tables are sorted. */
struct svb_machine_state {
	uint32_t requests, pieces, dirties, unused;
	struct svb_request request[SVB_MACHINE_REQUESTS];
	struct svb_piece piece[SVB_MACHINE_PIECES];
	struct svb_dirty dirty[SVB_MACHINE_DIRTY];
};

struct svb_machine_config {
	enum svb_domain domain;
	bool ddio;
	bool weak;  /* posted requests complete before they arrive: iWARP */
	bool loose; /* data is placed in any order: iWARP, relaxed ordering */
	bool tear;  /* single words may move by themselves */
};

/* What the machine asks of its user. ctx is svb_machine.ctx. */
struct svb_machine_ops {
	/* Bytes become visible in another space than persistent memory. */
	void (*place)(void *ctx, uint64_t space, uint64_t at, const void *data,
		      size_t len);
	/* Not posted: everything it waits for is visible. An atomic changes memory now.
	 */
	void (*execute)(void *ctx, const struct svb_request *request);
	void (*deliver)(void *ctx, const struct svb_request *request);
	/* May this be listed now? NULL: always. */
	bool (*may)(void *ctx, const struct svb_request *request);
};

/*
 * What the medium may hold of a line, and which of its words are visible and not in the
 * medium then: maybe.c.
 */
#define SVB_MAYBES 2048u
#define SVB_MAYBE_WRITERS 8u
struct svb_maybe {
	uint64_t line;
	uint8_t data[SVB_CACHE_LINE];
	uint8_t words[SVB_MAYBE_WRITERS]; /* by svb_maybes.writer */
	uint64_t shown; /* after svb_machine_fail: the medium has it; else 0 */
};

/* Sorted. Who wrote is found once for all states: the table of writers only grows. */
struct svb_maybes {
	uint32_t count, writers;
	bool full; /* some were left out: what is found from then on means nothing */
	struct {
		uint32_t qp, region;
	} writer[SVB_MAYBE_WRITERS];
	struct svb_maybe at[SVB_MAYBES];
};

struct svb_machine {
	struct svb_machine_config config;
	const struct svb_machine_ops *ops;
	void *ctx;
	struct svb_machine_state *state;
	/* Persistent memory as the processor sees it, and what is in the medium: both
	 * size bytes, a multiple of SVB_CACHE_LINE. Not owned. */
	uint8_t *visible;
	uint8_t *medium;
	size_t size;
	/* NULL: lines drain by choice. Else svb_machine_enabled lists no draining, a
	 * state is with everything that could have drained until then, and after
	 * svb_machine_fail the medium is one of all that it may be. Not owned; at first
	 * zero bytes. */
	struct svb_maybes *maybes;
};

enum svb_choice_kind {
	SVB_CHOICE_ARRIVE,
	SVB_CHOICE_PLACE,
	SVB_CHOICE_EXECUTE,
	SVB_CHOICE_DELIVER,
	SVB_CHOICE_DRAIN, /* spontaneous: a line reaches the medium */
};

struct svb_choice {
	uint32_t kind;	  /* enum svb_choice_kind */
	uint32_t qp, seq; /* of the request; 0 for SVB_CHOICE_DRAIN */
	uint32_t words;	  /* which move: place and drain */
	uint64_t space, line;
};

/* More than there can ever be: each piece and each line by itself and by its words. */
#define SVB_MACHINE_CHOICES \
	(SVB_MACHINE_REQUESTS + 9u * (SVB_MACHINE_PIECES + SVB_MACHINE_DIRTY))

/* Bytes in a row of the memory a posted request writes to. */
struct svb_target {
	uint64_t space, at, len;
};

/*
 * Hands a request over. targets, data: what a posted one writes, in order (NULL, 0: no
 * bytes). arrived and pieces are set here. False, and nothing changed, when a table has
 * no room: settle and try again. A request of more than SVB_MACHINE_PIECES lines never
 * fits. Requests of a queue pair are handed over in the order of seq.
 */
bool svb_machine_post(struct svb_machine *m, const struct svb_request *request,
		      const struct svb_target *targets, uint32_t count, const void *data);

/* Makes what a posted request writes visible at once, past all queues: for data larger
 * than the machine's buffers. */
void svb_machine_write(struct svb_machine *m, const struct svb_request *request,
		       const struct svb_target *targets, uint32_t count,
		       const void *data);

/* Does the requester see it complete, as far as it alone is concerned? It reports
 * completions of a queue pair in order. */
bool svb_machine_answered(const struct svb_machine *m, uint32_t qp, uint32_t seq);

/* Lists what can happen now, at most max, in an order that depends on the state alone.
 * Returns how many it listed. */
uint32_t svb_machine_enabled(struct svb_machine *m, struct svb_choice *choices,
			     uint32_t max);
void svb_machine_apply(struct svb_machine *m, const struct svb_choice *choice);
/* Does it make no difference when this happens, so that nothing else need be tried in
 * this state? silent: the requester is not told of its end. unseen.c says why. */
bool svb_machine_unseen(const struct svb_machine *m, const struct svb_choice *choice,
			bool silent);

/* Makes every choice but draining, first first, for one queue pair (0: all). What waits
 * for something else stays. */
void svb_machine_settle(struct svb_machine *m, uint32_t qp);
/* Forgets a queue pair's requests: those in NET, and with all everything of it. */
void svb_machine_forget(struct svb_machine *m, uint32_t qp, bool all);
/* Everything visible reaches the medium. */
void svb_machine_drain(struct svb_machine *m);

/* The processor's steps. A store is visible at once. A flush (cache line write-back and
 * fence) drains the lines that a range touches. */
void svb_machine_store(struct svb_machine *m, uint64_t at, const void *data, size_t len);
void svb_machine_flush(struct svb_machine *m, uint64_t at, size_t len);
/* Finds what a program stored through a pointer into visible: after its steps, before
 * svb_machine_enabled. Reads all of both images. */
void svb_machine_scan(struct svb_machine *m);
/*
 * Drains some lines and words of all that differs, found as by svb_machine_scan, picked
 * by seed and address: the same for the same images.
 */
void svb_machine_sweep(struct svb_machine *m, uint64_t seed);

/* The power fails: medium is what recovery finds, visible becomes the same, and nothing
 * is under way. */
void svb_machine_fail(struct svb_machine *m);
/* With maybes: another one of the media that recovery may find, each once. False: there
 * is none any more. */
bool svb_machine_fail_next(struct svb_machine *m);

/*
 * The state, images included, as bytes: equal bytes are equal states. Other spaces are
 * the caller's to save. Returns how many there are; writes nothing when size is less.
 */
size_t svb_machine_save(struct svb_machine *m, void *to, size_t size);
/* What svb_machine_save wrote, into a machine of the same size and configuration. */
void svb_machine_restore(struct svb_machine *m, const void *from);
uint64_t svb_machine_hash(const void *saved, size_t size);

#endif

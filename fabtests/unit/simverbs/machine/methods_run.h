/* SPDX-License-Identifier: BSD-2-Clause */
/* What methods.c and methods_words.c share: a run of a method on a machine. */
#ifndef METHODS_RUN_H
#define METHODS_RUN_H

#include "methods.h"

#define MEMORY 1024u
#define AT_B 256u	 /* unless it shares a's last line */
#define AT_MESSAGES 320u /* where the receive buffers are, two of them */
#define MESSAGE 320u
#define B_SIZE 8u
#define SPACE_DRAM 1u
#define DOORBELL 4096u
#define SLOTS 8192u
#define REGION_DATA 1u
#define REGION_MESSAGES 2u
#define REGION_CONTROL 3u
#define QP_DATA 1u
#define QP_CONTROL 2u
#define WORDS 24

enum { LANE_DATA, LANE_CONTROL, LANES };
enum { ACK, ACK_A, ACK_B, ACKS };

/* Where all scripts stand. Part of the state. */
struct progress {
	uint32_t at;		   /* next word of the requester */
	uint32_t step[LANES];	   /* and of the responder */
	uint32_t delivered[LANES]; /* messages, to the responder */
	uint32_t posted, marked;   /* on the data queue pair */
	uint32_t sent, controls;   /* messages on each queue pair */
	uint32_t acks[ACKS], taken[ACKS];
	uint32_t rung, slots;
	uint32_t reported[2];			 /* by the responder: a, b */
	uint32_t last_at, last_len, last_region; /* of what was written last */
};

struct run {
	const struct machine_kind *kind;
	bool compound, lanes;
	char text[2][192];
	char *requester[WORDS], *responder[LANES][WORDS];
	uint32_t reports_a; /* behind this word of the requester */
	struct svb_machine machine;
	struct progress now;
	uint8_t visible[MEMORY], medium[MEMORY];
	uint8_t a[256], b[B_SIZE], c[B_SIZE];
	uint32_t at_b;
	bool overwritten; /* c follows b */
	bool both;	  /* a message holds a and b */
	uint64_t *seen;
	uint64_t mask;
	struct verdict verdict;
};

/* methods_words.c: may the requester, or a script of the responder, take its next step?
 * What it does then. */
bool may_request(struct run *run);
void step_requester(struct run *run);
bool may_respond(struct run *run, uint32_t lane);
void step_responder(struct run *run, uint32_t lane);

#endif

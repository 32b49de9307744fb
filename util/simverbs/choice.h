/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the choices of a machine model (machine/machine.h) and records them: with the
 * same seed, or from a recorded list, a run makes the same choices again.
 *
 * A list is text, its items separated by commas, "*N" repeating one:
 *
 *	0	nothing happens now
 *	5	the fifth of what is possible happens
 *	s7	some of what is visible drains, picked by 7 (svb_machine_sweep)
 *	t	time passes: everything under way arrives and is placed
 *	f7	some drains as with s7, and the power fails
 */
#ifndef SVB_CHOICE_H
#define SVB_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pick: its kind in the upper four bits, a number in the lower ones. */
enum svb_pick_kind {
	SVB_PICK_NONE, /* go on */
	SVB_PICK_ONE,  /* number: counted from 1 */
	SVB_PICK_SWEEP,
	SVB_PICK_TICK,
	SVB_PICK_FAIL,
};
#define SVB_PICK(kind, number) ((uint32_t)(kind) << 28 | (number))
#define SVB_PICK_KIND(pick) ((enum svb_pick_kind)((pick) >> 28))
#define SVB_PICK_NUMBER(pick) ((pick)&0xfffffffu)

#define SVB_PICKS 65536u

/* Picks made, and a random number generator. No pointers: processes may share it. */
struct svb_picks {
	uint64_t random;    /* state; never 0 */
	uint32_t fail_at;   /* the power fails at this pick, counted from 1; 0: never */
	uint32_t made;	    /* how many; only the first SVB_PICKS are kept */
	uint32_t listed;    /* list: how many there are to replay */
	uint32_t replaying; /* a list is */
	uint32_t pick[SVB_PICKS];
};

/*
 * What picks, given how many things are possible: first the moves of requests, then lines
 * that may drain. ctx is its own. svb_picks_random and svb_picks_replay are two of them,
 * with a struct svb_picks.
 */
struct svb_chooser {
	uint32_t (*pick)(void *ctx, uint32_t moves, uint32_t drains);
	void *ctx;
};

/*
 * Picks at random. within: the power fails at one of the first `within` picks, 0:
 * never.
 */
void svb_picks_seed(struct svb_picks *picks, uint64_t seed, uint32_t within);
uint32_t svb_picks_random(void *picks, uint32_t moves, uint32_t drains);

/* From a list. False: text is none, or longer than SVB_PICKS. */
bool svb_picks_parse(struct svb_picks *picks, const char *text);
/* After the end of the list everything happens at once. */
uint32_t svb_picks_replay(void *picks, uint32_t moves, uint32_t drains);
/* Is a tick next in the list? Only this function looks for ticks. */
bool svb_picks_tick(const struct svb_picks *picks);

/* Everything happens, first first, until the machine is idle. */
uint32_t svb_pick_at_once(void *ctx, uint32_t moves, uint32_t drains);

/* Notes a pick. */
void svb_picks_note(struct svb_picks *picks, uint32_t pick);
/* The list of those made, as text: to be freed. NULL: no memory, or too many to keep. */
char *svb_picks_text(const struct svb_picks *picks);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A search over all states: real code is run in every order in which what happens around
 * it may happen, and in each state a model checks what has to hold. The code lies in this
 * process and runs without threads, on a clock that stands still.
 *
 * In each state one of these happens next:
 *
 *	- a choice of the model: a request arrives, a line drains, a connection breaks
 *	- a step of the real code, from its call to its return
 *
 * The state is what the model saves, and the heap of the real code: the linker puts
 * wrap.c where it allocates (XPL_WRAP in local.mk), and its variables have to lie there.
 * So every state can be taken back, and one that was met before is not looked at again.
 * Before each choice and each step the stack below is zero: bytes that code leaves as
 * they are tell no states apart, and a search finds the same each time. A place inside a
 * step where the code can be stopped is searched too (xpl_stop): every way that the
 * model's choices may go from there.
 *
 * Bits of what is wrong are the model's, but for the highest.
 */
#ifndef XPL_SEARCH_H
#define XPL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The search itself is at its end: too many states, choices or steps. */
#define XPL_WRONG_SEARCH (1u << 31)
/* Choices in a state: fewer than this. */
#define XPL_CHOICES 256u

/* One of those that a model has in a state: its own, and bytes to the search. */
struct xpl_choice {
	uint64_t word[4];
};

/* The model that is searched. Functions that may be NULL say so. */
struct xpl_model {
	/* Its state as bytes, of which equal ones are equal states. Returns how many
	 * there are; writes nothing when size is less. */
	size_t (*save)(void *to, size_t size);
	void (*restore)(const void *from);
	/* Before a state is saved: sets to one value what tells no states apart. NULL. */
	void (*tidy)(void);
	/* Goes to where that run begins. Returns what is wrong already. */
	unsigned int (*begin)(const void *run);

	/* The choices there are, at most max. */
	uint32_t (*choices)(struct xpl_choice *choices, uint32_t max);
	void (*apply)(const struct xpl_choice *choice);
	/* A choice that commutes with everything and is noticed by nobody, if there is
	 * one: it happens at once, and is tried against no other. NULL. */
	bool (*unseen)(struct xpl_choice *choice);

	/* Steps of the real code, by number, and their names. False: not possible now.
	 * One may change nothing. *wrong: what was wrong since the run began. */
	unsigned int steps;
	const char *const *step_name;
	bool (*step)(unsigned int number, unsigned int *wrong);

	/* What is wrong in this state. May change it: it is taken back afterwards. Each
	 * sees all that may come out of it: media that recovery may find. */
	unsigned int (*check)(void (*each)(const void *outcome));
	/* Errors in a final state, in which nothing more can happen. */
	unsigned int (*check_end)(void);
	/* Equal for equal outcomes (xpl_compare). */
	uint64_t (*outcome_hash)(const void *outcome);

	/* Prints a choice in a line. */
	void (*tell)(const struct xpl_choice *choice);
};

/* Results of a search. */
struct xpl_found {
	unsigned int wrong;
	uint64_t states, runs; /* of everything; of the real code */
	uint64_t unseen;       /* choices that were tried against no other */
	uint64_t outcomes;     /* that were checked */
	/* After xpl_compare: different ones, and a sum of them, whatever their order. */
	uint64_t ends, ends_sum;
	bool cut; /* there were too many states */
};

/* From now on states can be saved; all of the code's is in the heap. Once in a process,
 * which it ends when there is no memory. */
void xpl_open(const struct xpl_model *model);
/* From now on xpl_found.ends is counted: it is the same with and without pruning. */
void xpl_compare(void);

/* Every way. */
void xpl_search(const void *run, struct xpl_found *found);
/* The same until the first thing is wrong that is not expected. */
void xpl_search_first(const void *run, unsigned int expected, struct xpl_found *found);
/* The same, up to so many states. */
void xpl_search_most(const void *run, uint64_t states, struct xpl_found *found);
/* So many ways, picked by chance. */
void xpl_search_some(const void *run, uint32_t ways, uint64_t seed,
		     struct xpl_found *found);
/* Of the first thing that was wrong: how to get there, to stdout. The run is begun again:
 * it and found are still there. */
void xpl_tell(void);
/* The names of the bits of wrong, those of the model; "nothing" if it has none. */
const char *xpl_words(const char *const names[31], unsigned int wrong, char *text,
		      size_t size);
/* Of a clock that does not stand still, whatever the linker puts in its place. */
double xpl_seconds(void);

/* For a model, inside a step: a place to stop at. Elsewhere it does nothing. */
void xpl_stop(void);
/* Allocations come from the heap that is taken back, or no longer. Freeing always works.
 */
void xpl_heap_use(bool on);
/* For a model whose linker puts nothing there: zero bytes, or NULL. */
void *xpl_heap_take(size_t size, size_t alignment);
void xpl_heap_give(void *at);
/*
 * What is taken belongs to that room from here on, 0, 1 or 2; what is given back goes to
 * the room that it was taken for. In room 0 what was given back last is taken first; in
 * the others the lowest place is, so that the order of giving back tells no states apart.
 */
void xpl_heap_room(unsigned int room);

/* A state that is kept, to begin runs with. SIZE_MAX: there is no room. */
size_t xpl_state_push(void);
void xpl_state_back_to(size_t at);
/* Of the present state. */
uint64_t xpl_state_hash_now(void);

/* Below most; *state, which is not 0, is another one then. */
uint32_t xpl_chance(uint64_t *state, uint32_t most);

#endif

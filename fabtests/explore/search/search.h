/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files that search: search.c (every way), wander.c (ways by chance). */
#ifndef SEARCH_H
#define SEARCH_H

#include "explore.h"
#include "model/model.h"
#include "states.h"

#define CHOICES 256u
#define DEPTH 4096u

/* A way to a state. */
struct way {
	uint32_t length;
	struct svb_choice step[DEPTH]; /* kind: a choice of the device, or WAY_STEP + */
};
#define WAY_STEP 100u

struct search {
	struct seen seen, stopped;
	struct way way, bad;
	unsigned int bad_wrong;
	bool drains; /* nothing is pruned */
	bool media;  /* found.ends is counted: */
	struct seen ends;
	const struct scenario *scenario;
	struct found *found;
	/* Where the states lie that searches begin with: as it is after connecting, and
	 * when the initiator has heard of all that the target has to say. */
	size_t start, told;
	bool in_step;
	uint64_t *chance; /* ways are picked by it; NULL: every way */
	/* WRONG_*: the search ends with the first that is wrong in such a way. */
	unsigned int ends_with;
	uint64_t most; /* states; 0: any number */
};
extern struct search now;

void search_prepare(const struct scenario *scenario, struct found *found);
/* Back to the first call. */
void search_begin(void);
/* What is wrong in this state; the first time the way to it is kept. */
void search_note(unsigned int wrong);
/* The power fails: what is wrong then. The state has to be taken back. */
void search_power(void);
/* One step further. False: too far. */
bool search_go(const struct svb_choice *choice);
/* The state is saved. False: there is no room. */
bool search_push(size_t *state);
/* wander.c: the real code has stopped, and the device goes on in some way. */
void wander_stop(void);
/* Was a state not there? */
bool search_new(struct seen *seen, uint64_t hash);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The explorer: every order of a method's steps and the machine's, and what is found. */
#include <stdlib.h>
#include <string.h>
#include "methods_run.h"

static void on_place(void *ctx, uint64_t space, uint64_t at, const void *data, size_t len)
{
	struct run *run = ctx;

	run->now.rung += at == DOORBELL;
	run->now.slots += at == SLOTS;
}

/* Something that was posted behind b looks at it. */
static void find_b(struct run *run)
{
	run->verdict.stale |= memcmp(run->visible + run->at_b, run->b, B_SIZE) != 0;
}

static void on_execute(void *ctx, const struct svb_request *request)
{
	struct run *run = ctx;

	if (request->note[0])
		find_b(run);
	if (request->kind != SVB_REQ_ATOMIC && request->kind != SVB_REQ_ATOMIC_WRITE)
		return;
	if (request->space == SPACE_DRAM)
		run->now.rung++;
	else
		memcpy(run->visible + request->at, request->at ? run->b : run->a, B_SIZE);
}

static void on_deliver(void *ctx, const struct svb_request *request)
{
	struct run *run = ctx;

	if (request->note[0])
		find_b(run);
	else
		run->now.delivered[run->lanes && request->qp == QP_CONTROL]++;
}

static const struct svb_machine_ops ops = {.place = on_place,
					   .execute = on_execute,
					   .deliver = on_deliver};

/* The last word is NULL. */
static void split(char *text, char **words, const char *script)
{
	char *save = NULL;
	int count = 0;

	strcpy(text, script);
	words[0] = strtok_r(text, " ", &save);
	while (words[count] && count < WORDS - 1)
		words[++count] = strtok_r(NULL, " ", &save);
}

struct saved {
	struct progress now;
	size_t size;
	uint8_t bytes[];
};

static struct saved *save(struct run *run)
{
	size_t size = svb_machine_save(&run->machine, NULL, 0);
	struct saved *saved = malloc(sizeof(*saved) + size);

	if (!saved)
		abort();
	saved->now = run->now;
	saved->size = svb_machine_save(&run->machine, saved->bytes, size);
	return saved;
}

static void restore(struct run *run, const struct saved *saved)
{
	run->now = saved->now;
	svb_machine_restore(&run->machine, saved->bytes);
}

static void grow(struct run *run)
{
	uint64_t *old = run->seen, size = run->mask + 1, i, at;

	run->mask = size * 2 - 1;
	run->seen = calloc(size * 2, sizeof(*run->seen));
	if (!run->seen)
		abort();
	for (i = 0; i < size; i++) {
		for (at = old[i]; old[i] && run->seen[at & run->mask]; at++)
			;
		if (old[i])
			run->seen[at & run->mask] = old[i];
	}
	free(old);
}

static bool is_new(struct run *run, const struct saved *saved)
{
	uint64_t hash = svb_machine_hash(saved->bytes, saved->size) * 31 +
			svb_machine_hash(&saved->now, sizeof(saved->now));
	uint64_t at;

	hash += !hash;
	if (run->verdict.states * 2 > run->mask)
		grow(run);
	for (at = hash; run->seen[at & run->mask]; at++)
		if (run->seen[at & run->mask] == hash)
			return false;
	run->seen[at & run->mask] = hash;
	run->verdict.states++;
	return true;
}

/* A message is replayed when all of it is there. */
static void recover(const struct run *run, bool *a, bool *b)
{
	const uint8_t *at;
	bool has_a, has_b;

	*a = !memcmp(run->medium, run->a, run->kind->a_size);
	*b = !memcmp(run->medium + run->at_b, run->b, B_SIZE);
	for (uint32_t message = 0; run->kind->rq_pm && message < 2; message++) {
		at = run->medium + AT_MESSAGES + message * MESSAGE;
		has_b = !memcmp(at + 8, run->b, B_SIZE);
		has_a = !memcmp(at + 16, run->a, run->kind->a_size);
		if (!at[0] || (run->both && !(has_a && has_b)))
			continue;
		*a |= has_a;
		*b |= has_b;
	}
}

static void fail(struct run *run)
{
	bool reported = !run->requester[run->now.at], a, b;

	svb_machine_fail(&run->machine);
	recover(run, &a, &b);
	run->verdict.too_early |= reported && (!a || (run->compound && !b));
	run->verdict.too_early |= run->now.at > run->reports_a && !a;
	run->verdict.too_early |= run->now.reported[0] && !a;
	run->verdict.too_early |= run->now.reported[1] && !b;
	run->verdict.disorder |= run->compound && b && !a;
}

static void explore(struct run *run)
{
	struct svb_choice choices[128];
	struct saved *here = save(run);
	uint32_t count;
	bool acts;

	if (!is_new(run, here)) {
		free(here);
		return;
	}
	fail(run);
	restore(run, here);
	count = svb_machine_enabled(&run->machine, choices, 128);
	acts = may_request(run) || may_respond(run, LANE_DATA) ||
	       may_respond(run, LANE_CONTROL);
	if (!count && !acts) {
		run->verdict.runs++;
		run->verdict.stuck |= run->requester[run->now.at] != NULL;
		run->verdict.stale |= run->overwritten && memcmp(run->visible + run->at_b,
								 run->c, B_SIZE) != 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		svb_machine_apply(&run->machine, &choices[i]);
		explore(run);
		restore(run, here);
	}
	if (may_request(run)) {
		step_requester(run);
		explore(run);
		restore(run, here);
	}
	for (uint32_t lane = 0; lane < LANES; lane++)
		if (may_respond(run, lane)) {
			step_responder(run, lane);
			explore(run);
			restore(run, here);
		}
	free(here);
}

/* Where a script has this word; UINT32_MAX: nowhere. */
static uint32_t find_word(char *const *words, const char *word)
{
	for (uint32_t i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return UINT32_MAX;
}

/* "||" parts the responder's scripts. */
static void split_lanes(struct run *run)
{
	char **words = run->responder[LANE_DATA];
	uint32_t at = find_word(words, "||");

	if (at == UINT32_MAX)
		return;
	run->lanes = true;
	words[at] = NULL;
	memcpy(run->responder[LANE_CONTROL], words + at + 1,
	       (WORDS - at - 1) * sizeof(*words));
}

struct verdict method_explore(const struct method *method,
			      const struct machine_kind *kind)
{
	struct run *run = calloc(1, sizeof(*run));
	struct verdict verdict;

	run->machine =
		(struct svb_machine){.config = kind->config,
				     .ops = &ops,
				     .ctx = run,
				     .state = calloc(1, sizeof(struct svb_machine_state)),
				     .visible = run->visible,
				     .medium = run->medium,
				     .size = MEMORY};
	run->kind = kind;
	run->compound = method->compound;
	run->overwritten = strstr(method->requester, "Wc");
	run->both = strstr(method->requester, "Sab");
	run->at_b = kind->shared ? kind->a_size : AT_B;
	memset(run->a, 0xaa, sizeof(run->a));
	memset(run->b, 0xbb, sizeof(run->b));
	memset(run->c, 0xcc, sizeof(run->c));
	split(run->text[0], run->requester, method->requester);
	split(run->text[1], run->responder[LANE_DATA], method->responder);
	split_lanes(run);
	run->reports_a = find_word(run->requester, ".");
	run->mask = 1023;
	run->seen = calloc(run->mask + 1, sizeof(*run->seen));
	explore(run);
	verdict = run->verdict;
	free(run->seen);
	free(run->machine.state);
	free(run);
	return verdict;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "image.h"
#include "model.h"
#include "model/model.h"
#include "plans.h"
#include "program.h"
#include "state.h"
#include "target.h"
#include "world.h"
#include "wrap.h"

/* To make the first calls of a scenario. */
#define TRIES 1000u

_Static_assert(sizeof(struct xpl_choice) == sizeof(struct svb_choice), "choices");

static struct svb_maybes maybes;
static bool prunes;
static const struct scenario *running;
/* Where the states lie that runs begin with: as it is after connecting, and when the
 * initiator has heard of all that the target has to say. */
static size_t start, told;

static size_t save(void *to, size_t size)
{
	if (size < sizeof(xpv_program))
		return sizeof(xpv_program) + svb_model_save(NULL, 0);
	memcpy(to, &xpv_program, sizeof(xpv_program));
	return sizeof(xpv_program) + svb_model_save((char *)to + sizeof(xpv_program),
						    size - sizeof(xpv_program));
}

static void restore(const void *from)
{
	memcpy(&xpv_program, from, sizeof(xpv_program));
	svb_model_restore((const char *)from + sizeof(xpv_program));
}

static uint32_t choices(struct xpl_choice *to, uint32_t max)
{
	struct svb_choice choice[XPL_CHOICES];
	uint32_t count = svb_model_enabled(choice, max);

	memcpy(to, choice, count * sizeof(choice[0]));
	return count;
}

static void apply(const struct xpl_choice *from)
{
	struct svb_choice choice;

	memcpy(&choice, from, sizeof(choice));
	svb_model_apply(&choice);
}

/* Not where time passes: queue pairs end then (machine/unseen.c). */
static bool unseen(struct xpl_choice *to)
{
	struct svb_choice choice[XPL_CHOICES];
	uint32_t count, i;

	if (!prunes || running->seconds)
		return false;
	count = svb_model_enabled(choice, XPL_CHOICES);
	for (i = 0; i < count && !svb_model_unseen(&choice[i]); i++)
		;
	if (i < count)
		memcpy(to, &choice[i], sizeof(*to));
	return i < count;
}

static bool step(unsigned int number, unsigned int *wrong)
{
	bool possible = xpv_program_step((enum step)number);

	*wrong = xpv_program.wrong;
	return possible;
}

/* The linker puts it where the processor's flushes end up. */
WRAP(bool, svb_medium_flush, const void *addr, size_t len)
{
	xpl_stop();
	return __real_svb_medium_flush(addr, len);
}

static unsigned int check(void (*each)(const void *outcome))
{
	return xpv_check_power(each) | (maybes.full ? WRONG_EXPLORER : 0);
}

static unsigned int end(void)
{
	return xpv_program_done() ? xpv_check_end() : WRONG_STUCK;
}

/* The medium, with what programs know then. */
static uint64_t outcome_hash(const void *medium)
{
	return svb_machine_hash(medium, xpv_world.pm_size) * 3 +
	       svb_machine_hash(&xpv_program, sizeof(xpv_program));
}

static void tell(const struct xpl_choice *of)
{
	static const char *const kinds[] = {
		[SVB_CHOICE_ARRIVE] = "arrives",
		[SVB_CHOICE_PLACE] = "is placed",
		[SVB_CHOICE_EXECUTE] = "is executed",
		[SVB_CHOICE_DELIVER] = "is delivered",
		[SVB_CHOICE_DRAIN] = "drains",
	};
	struct svb_choice choice;

	memcpy(&choice, of, sizeof(choice));
	if (choice.kind == SVB_CHOICE_DRAIN)
		printf("    line %llu (words %02x) drains\n",
		       (unsigned long long)choice.line, choice.words);
	else if (choice.kind == SVB_CHOICE_PLACE)
		printf("    queue pair %x, request %u: line %llx (words %02x) is "
		       "placed\n",
		       choice.qp, choice.seq, (unsigned long long)choice.line,
		       choice.words);
	else
		printf("    queue pair %x, request %u %s\n", choice.qp, choice.seq,
		       kinds[choice.kind]);
}

/* All that can happen happens. */
static void let_all_happen(void)
{
	struct svb_choice choice[XPL_CHOICES];

	while (svb_model_enabled(choice, XPL_CHOICES))
		svb_model_apply(&choice[0]);
}

/* The first calls, in one way: all that can happen happens, and everybody looks. False:
 * they come to no end. */
static bool make_first(uint32_t count)
{
	uint32_t tries;

	xpv_program_until(count);
	for (tries = 0; count && tries < TRIES && !xpv_program_made(count); tries++) {
		while (xpv_program.called < count && xpv_program_step(STEP_CALL))
			if (++tries == TRIES)
				break;
		let_all_happen();
		xpv_program_step(STEP_READ);
		xpv_program_step(STEP_TARGET);
	}
	xpv_program_until(CALLS);
	return tries != TRIES;
}

static unsigned int begin(const void *run)
{
	bool good = true;

	running = run;
	for (unsigned int i = 0; i < CALLS; i++)
		good &= xpv_plans_force(i, running->plan[i]);
	xpl_state_back_to(running->untold ? start : told);
	svb_model_tear(running->tear);
	xpv_program_begin(running);
	xpv_target_begin(running);
	xpv_image_begin(running);
	good &= make_first(running->first);
	return good ? 0 : WRONG_EXPLORER;
}

/* All that is outstanding arrives, and the initiator looks at it. */
static void settle(void)
{
	struct fi_cq_data_entry entry;
	uint64_t before;

	do {
		before = xpl_state_hash_now();
		let_all_happen();
		xpl_heap_use(true);
		fi_cq_read(xpv_world.cq[INITIATOR], &entry, 1);
		fi_cq_read(xpv_world.cq[TARGET], &entry, 1);
		xpl_heap_use(false);
	} while (xpl_state_hash_now() != before);
}

void xpv_model_open(const struct machine *machine, bool drains)
{
	static const char *const steps[STEPS] = {"the initiator calls",
						 "the initiator reads completions",
						 "the target reads completions",
						 "time passes"};
	static const struct xpl_model model = {.save = save,
					       .restore = restore,
					       .tidy = xpv_world_forget_idle,
					       .begin = begin,
					       .choices = choices,
					       .apply = apply,
					       .unseen = unseen,
					       .steps = STEPS,
					       .step_name = steps,
					       .step = step,
					       .check = check,
					       .check_end = end,
					       .outcome_hash = outcome_hash,
					       .tell = tell};

	xpv_world_open(machine);
	xpl_heap_use(true);
	xpv_omit_open();
	xpl_heap_use(false);
	svb_model_leave_memory(true);
	xpl_open(&model);
	prunes = !drains;
	svb_model_maybes(drains ? NULL : &maybes);
	start = xpl_state_push();
	settle();
	told = xpl_state_push();
	if (start == SIZE_MAX || told == SIZE_MAX)
		abort();
}

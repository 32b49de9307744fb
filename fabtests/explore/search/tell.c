/* SPDX-License-Identifier: BSD-2-Clause */
/* How to get to what is wrong, for people. */
#include <stdio.h>
#include "search.h"

static void tell(const struct svb_choice *step)
{
	static const char *const steps[STEPS] = {"the initiator calls",
						 "the initiator reads completions",
						 "the target reads completions",
						 "time passes"};
	static const char *const kinds[] = {
		[SVB_CHOICE_ARRIVE] = "arrives",
		[SVB_CHOICE_PLACE] = "is placed",
		[SVB_CHOICE_EXECUTE] = "is executed",
		[SVB_CHOICE_DELIVER] = "is delivered",
		[SVB_CHOICE_DRAIN] = "drains",
	};

	if (step->kind >= WAY_STEP)
		printf("    %s\n", steps[step->kind - WAY_STEP]);
	else if (step->kind == SVB_CHOICE_DRAIN)
		printf("    line %llu (words %02x) drains\n",
		       (unsigned long long)step->line, step->words);
	else if (step->kind == SVB_CHOICE_PLACE)
		printf("    queue pair %x, request %u: line %llx (words %02x) is "
		       "placed\n",
		       step->qp, step->seq, (unsigned long long)step->line, step->words);
	else
		printf("    queue pair %x, request %u %s\n", step->qp, step->seq,
		       kinds[step->kind]);
}

static void no_medium(const uint8_t *medium)
{
}

/* The same steps from the beginning: what is wrong then? Something else if a state was
 * not taken back as it was. */
static unsigned int again(void)
{
	const struct svb_choice *step;
	unsigned int wrong = 0;
	uint32_t i;

	search_begin();
	for (i = 0; i < now.bad.length; i++) {
		step = &now.bad.step[i];
		if (step->kind < WAY_STEP)
			svb_model_apply(step);
		else
			program_step((enum step)(step->kind - WAY_STEP));
		wrong |= program.wrong;
	}
	return wrong | check_end() | check_power(no_medium);
}

void search_tell(void)
{
	uint32_t i;

	for (i = 0; i < now.bad.length; i++)
		tell(&now.bad.step[i]);
	if (!(again() & now.bad_wrong))
		printf("    and the second time nothing is wrong: the explorer is\n");
}

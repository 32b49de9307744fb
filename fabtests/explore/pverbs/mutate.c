/* SPDX-License-Identifier: BSD-2-Clause */
/* Each part of each plan is left out: is that noticed? */
#include <stdio.h>
#include <string.h>
#include "check.h"
#include "machine.h"
#include "runs.h"

#define PARTS_MAX 512u
/* Enough to meet every plan. */
#define WAYS 24u
/* Lines "machine wrong text" of all processes. */
#define PARTS_FILE "parts"

/* A part of a plan, whatever the call, on machines that the provider cannot tell apart.
 */
static struct part {
	char group[64];
	char text[PLAN_TEXT];
	struct machine machine;
	unsigned int wrong; /* WRONG_* it was caught by; 0: it was not */
} parts[PARTS_MAX];
static size_t part_count;

static bool is(const struct part *part, const char *domain)
{
	return !strcmp(part->machine.domain, domain);
}

static bool is_what(const struct part *part, const char *what)
{
	return !strcmp(strstr(part->text, "without "), what);
}

static bool begins(const struct part *part, const char *plan)
{
	return !strncmp(part->text, plan, strlen(plan));
}

static bool replays(const struct part *part)
{
	return part->machine.receives == RECEIVES_REPLAY;
}

static bool is_atomics_read(const struct part *part)
{
	return begins(part, "AT") && is(part, "mhp") && is_what(part, "without F");
}

static bool is_atomics_order(const struct part *part)
{
	return (begins(part, "AT!") && is_what(part, "without the fence")) ||
	       (begins(part, "after AT FP") && is_what(part, "without after"));
}

/* What goes without saying there: an entry of the send queue has completed. */
static bool is_by_wish(const struct part *part)
{
	const bool wsp = is(part, "wsp"), by_seq_word = strstr(part->text, "D M A");
	const bool read = strstr(part->text, "F C M A");

	if (part->machine.special != SPECIAL_MESSAGE || is(part, "dmp"))
		return false;
	if (is_what(part, "without M") || is_what(part, "without A"))
		return by_seq_word || read ||
		       (wsp && (begins(part, "SLOT WI A") ||
				(replays(part) && begins(part, "SLOT S A"))));
	if (is_what(part, "without D"))
		return by_seq_word && (wsp || !begins(part, "W "));
	/* Requests arrive in the order of posting. */
	if (is_what(part, "without after"))
		return wsp && read;
	if (is_what(part, "without F"))
		return wsp && begins(part, "upgrade F C M A");
	return wsp && is_what(part, "without SLOT");
}

static bool is_messages_turn(const struct part *part)
{
	const bool turn =
		begins(part, "after SLOT S A") ||
		(replays(part) && (begins(part, "after S ") || begins(part, "after W ")));

	return turn && !is(part, "dmp") && is_what(part, "without after");
}

static bool is_untold(const struct part *part)
{
	return replays(part) && part->machine.special == SPECIAL_NONE &&
	       is(part, "wsp") && begins(part, "SLOT S A") &&
	       (is_what(part, "without SLOT") || is_what(part, "without A"));
}

static bool is_recoverys_order(const struct part *part)
{
	return replays(part) && begins(part, "S! F C") &&
	       is_what(part, "without the fence");
}

/* What nothing notices, and why the plan has it. */
static const struct {
	bool (*applies)(const struct part *part);
	const char *reason;
} redundant[] = {
	{is_atomics_read,
	 "the read behind an atomic where visible is durable: the machine's atomics are "
	 "visible when they complete, which IBA 9.5 does not promise"},
	{is_atomics_order,
	 "what keeps an atomic back: the machine executes it behind all before it, which "
	 "IBA 10.8.3.3 promises with a fence only"},
	{is_by_wish, "a message by the user's wish: the completion of the write in WSP, "
		     "of an atomic or a read behind it in MHP says as much"},
	{is_messages_turn,
	 "what keeps a message and a write apart: what was written before is visible "
	 "when "
	 "the message is, but neither's plan knows of the memory of the other"},
	{is_recoverys_order, "what keeps a message behind a message: recovery applies "
			     "none behind one that is "
			     "missing"},
	{is_untold,
	 "a message before the initiator has heard that recovery looks for it: "
	 "in WSP its completion says as much"},
};
#define REDUNDANT (sizeof(redundant) / sizeof(redundant[0]))

/* What the provider plans by: not what its peer's receives are, nor how many
 * connections there are, nor what a liar hides. */
static void group_of(const struct machine *machine, char *text, size_t size)
{
	struct machine like = *machine;

	if (like.receives == RECEIVES_PM)
		like.receives = RECEIVES_VOLATILE;
	like.pairs = 1;
	if (like.special == SPECIAL_LIAR)
		like.ddio = false;
	if (like.special != SPECIAL_MESSAGE && like.special != SPECIAL_RELAXED)
		like.special = SPECIAL_NONE;
	xpv_machine_text(&like, text, size);
}

static struct part *part_of(const struct machine *machine, const char *text)
{
	char group[64];

	group_of(machine, group, sizeof(group));
	for (size_t i = 0; i < part_count; i++)
		if (!strcmp(parts[i].text, text) && !strcmp(parts[i].group, group))
			return &parts[i];
	if (part_count == PARTS_MAX)
		return NULL;
	parts[part_count].machine = *machine;
	memcpy(parts[part_count].group, group, sizeof(group));
	snprintf(parts[part_count].text, PLAN_TEXT, "%s", text);
	return &parts[part_count++];
}

static void mutate(const struct machine *machine, const struct scenario *scenario,
		   struct total *total)
{
	const unsigned int expected = xpv_scenario_expects(scenario, machine);
	const struct plan_change *changes;
	struct xpl_found found;
	struct part *part;
	size_t count;

	xpv_plans_forget();
	xpl_search_some(scenario, WAYS, 1, &found);
	xpv_add_found(&found, total);
	changes = xpv_plans_changes(&count);
	for (size_t i = 0; i < count; i++) {
		part = part_of(machine, changes[i].text);
		if (!part || part->wrong)
			continue;
		xpv_plans_change(&changes[i]);
		xpl_search_first(scenario, expected, &found);
		xpv_plans_change(NULL);
		xpv_add_found(&found, total);
		part->wrong = found.wrong & ~expected;
	}
}

static FILE *parts_file(const char *mode)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/" PARTS_FILE, xpv_options.dir);
	return fopen(path, mode);
}

bool xpv_run_mutated(const struct machine *machine, unsigned int number,
		     struct total *total)
{
	const struct scenario *scenario;
	FILE *file;

	/* A region that is declared less safe than it is needs less than its plan. */
	for (unsigned int n = 0;
	     machine->special != SPECIAL_MIXED && (scenario = xpv_scenario_at(n)); n++)
		if (xpv_is_chosen(machine, scenario) && xpv_is_durable(scenario) &&
		    !scenario->plan[0] && scenario->habit <= HABIT_APPLIES &&
		    !(xpv_scenario_expects(scenario, machine) & WRONG_REFUSED))
			mutate(machine, scenario, total);
	file = parts_file("a");
	if (!file)
		return false;
	for (size_t i = 0; i < part_count; i++)
		fprintf(file, "%u %u %s\n", number, parts[i].wrong, parts[i].text);
	return !fclose(file);
}

static bool read_parts(void)
{
	unsigned int number, wrong;
	char text[PLAN_TEXT];
	struct machine machine;
	struct part *part;
	FILE *file = parts_file("r");

	if (!file)
		return false;
	while (fscanf(file, "%u %u %63[^\n]", &number, &wrong, text) == 3) {
		part = xpv_machine_at(number, &machine) ? part_of(&machine, text) : NULL;
		if (part)
			part->wrong |= wrong;
	}
	return !fclose(file) && part_count < PARTS_MAX;
}

static size_t why_redundant(const struct part *part)
{
	size_t i;

	for (i = 0; i < REDUNDANT && !redundant[i].applies(part); i++)
		;
	return i;
}

static void judge(const struct part *part, struct total *total, uint64_t *excused)
{
	char what[192];
	size_t why = REDUNDANT;

	if (!part->wrong)
		why = why_redundant(part);
	if (part->wrong)
		xpv_wrong_text(part->wrong, what, sizeof(what));
	else
		snprintf(what, sizeof(what), "%s",
			 why < REDUNDANT ? "redundant" : "SURVIVES");
	if (why < REDUNDANT)
		excused[why]++;
	else
		total->survivors += !part->wrong;
	if (!strcmp(what, "SURVIVES") || xpv_options.verbose)
		printf("%-36s %-40s %s\n", part->group, part->text, what);
}

bool xpv_judge_mutated(struct total *total)
{
	uint64_t excused[REDUNDANT] = {0};

	if (!read_parts())
		return false;
	total->changes = part_count;
	for (size_t i = 0; i < part_count; i++)
		judge(&parts[i], total, excused);
	for (size_t i = 0; i < REDUNDANT; i++) {
		printf("%llu not noticed: %s\n", (unsigned long long)excused[i],
		       redundant[i].reason);
		/* A reason that excuses nothing is wrong. */
		total->survivors += !excused[i] && !xpv_options.only;
	}
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every plan without one of its steps, or with a step that is not fenced: it must make a
 * wrong promise or wait for ever, on one of the machines it is for. Steps that can go
 * unnoticed are listed with the reason why the plan has them.
 */
#include <stdio.h>
#include <string.h>
#include "cairn_test.h"
#include "scripts.h"

/* What was left out. */
struct step {
	char word[16];		     /* "!": the fence of a word */
	char of[16];		     /* that word */
	char before[16], behind[16]; /* its neighbours */
};

/*
 * The model's atomics change visible memory when they execute, and execute behind all
 * that was posted before. Of an adapter's, IBA 9.5 and 10.8.3.3 promise neither that the
 * answer means visible, nor order behind a read or an atomic without a fence.
 */
static bool is_atomics_read(const struct plan_script *script, const struct step *step)
{
	return *step->word == 'F' && (*step->before == 'X' || *step->behind == 'X') &&
	       (script->domain != CRN_DMP || strstr(script->requester, "C M"));
}

static bool is_atomics_fence(const struct plan_script *script, const struct step *step)
{
	return *step->word == '!' && *step->of == 'X';
}

/* The message was forced: what it waited for had made the data durable. */
static bool is_forced(const struct plan_script *script, const struct step *step)
{
	return strstr(script->requester, "FP C M") ||
	       (strstr(script->requester, "F C M") &&
		(script->domain != CRN_DMP || !script->ddio));
}

static const struct {
	bool (*applies)(const struct plan_script *script, const struct step *step);
	const char *reason;
} redundant[] = {
	{is_atomics_read, "the read or flush beside an atomic"},
	{is_atomics_fence, "the fence of an atomic"},
	{is_forced, "a message forced where waiting for the read or flush is enough"},
};

#define REDUNDANT (sizeof(redundant) / sizeof(redundant[0]))

static uint32_t why_redundant(const struct plan_script *script, const struct step *step)
{
	uint32_t i;

	for (i = 0; i < REDUNDANT; i++)
		if (redundant[i].applies(script, step))
			break;
	return i;
}

/* Marks, and what the responder's program does anyway, are no steps. */
static bool is_step(const char *word, bool unfence)
{
	return !strchr("=.|lr", *word) && (!unfence || strchr(word, '!'));
}

/*
 * A script without its word number skip, or with that word not fenced. False: there is no
 * such word. step->word "": there is nothing to leave out.
 */
static bool change(char *to, const char *script, int skip, bool unfence,
		   struct step *step)
{
	char text[160], *word, *save = NULL;
	int at = 0;

	memset(step, 0, sizeof(*step));
	strcpy(text, script);
	*to = '\0';
	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (at < skip)
			strcpy(step->before, word);
		else if (at == skip + 1)
			strcpy(step->behind, word);
		if (at++ == skip && is_step(word, unfence)) {
			strcpy(step->of, word);
			strcpy(step->word, unfence ? "!" : word);
			word[unfence ? strlen(word) - 1 : 0] = '\0';
		}
		strcat(strcat(to, word), *word ? " " : "");
	}
	return skip < at;
}

static bool is_caught(const struct plan_script *script, const char *requester,
		      const char *responder)
{
	struct method method = {requester, responder, script->compound};
	struct machine_kind machines[3];
	struct verdict verdict;

	for (uint32_t machine = plan_script_machines(script, machines); machine--;) {
		verdict = method_explore(&method, &machines[machine]);
		if (!verdict_safe(&verdict) || verdict.stuck)
			return true;
	}
	return false;
}

struct tally {
	uint32_t steps, caught, excused[REDUNDANT];
};

static void judge(struct tally *tally, const struct plan_script *script,
		  const char *requester, const char *responder, const struct step *step)
{
	uint32_t why;

	if (!*step->word)
		return;
	tally->steps++;
	if (is_caught(script, requester, responder)) {
		tally->caught++;
		return;
	}
	why = why_redundant(script, step);
	if (why < REDUNDANT) {
		tally->excused[why]++;
		return;
	}
	CT_NOTE("domain %d, ddio %d, weak %d: %s, %s without %s", script->domain,
		script->ddio, script->weak, script->requester, script->responder,
		step->word);
	CT_EXPECT_TRUE(!"caught");
}

static void check_steps(struct tally *tally, const struct plan_script *script)
{
	struct step step;
	char text[192];

	for (int unfence = 0; unfence < 2; unfence++)
		for (int skip = 0; change(text, script->requester, skip, unfence, &step);
		     skip++)
			judge(tally, script, text, script->responder, &step);
	for (int skip = 0; change(text, script->responder, skip, false, &step); skip++)
		judge(tally, script, script->requester, text, &step);
}

CT_TEST(plans, need_every_step)
{
	const struct plan_script *script, *scripts;
	struct tally tally = {0};
	uint32_t count;

	scripts = plan_scripts(&count);
	for (script = scripts; script < scripts + count; script += plan_stride())
		check_steps(&tally, script);
	printf("%u plans, %u steps left out, %u caught\n", count, tally.steps,
	       tally.caught);
	for (uint32_t i = 0; i < REDUNDANT; i++) {
		printf("%u not caught: %s\n", tally.excused[i], redundant[i].reason);
		CT_EXPECT_TRUE(tally.excused[i] || plan_stride() > 1);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every plan that pvb_plan makes, of one operation and of two, on every machine it is
 * made for, in every order of events, the power failing in every state.
 */
#include <stdio.h>
#include <string.h>
#include "cairn_test.h"
#include "scripts.h"

/* What differs from the usual. */
static const struct machine_kind shapes[] = {
	{.a_size = 128},
	{.a_size = 64},
	{.a_size = 192},
	{.a_size = 16, .config.tear = true},
	{.a_size = 16, .config.tear = true, .shared = true},
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static struct machine_kind shaped(const struct machine_kind *machine,
				  const struct machine_kind *shape)
{
	struct machine_kind kind = *machine;

	kind.config.tear = shape->config.tear;
	kind.shared = shape->shared;
	if (kind.a_size != 8)
		kind.a_size = shape->a_size;
	return kind;
}

static void note(const struct plan_script *script, const char *requester)
{
	CT_NOTE("domain %d, ddio %d, weak %d: %s, %s", script->domain, script->ddio,
		script->weak, requester, script->responder);
}

/* In MHP and WSP DDIO makes no difference; what is seldom different is tried once. */
static bool is_seldom(const struct plan_script *script)
{
	return script->domain != CRN_DMP && !script->ddio;
}

static void check_safe(const struct plan_script *script, const struct machine_kind *kind,
		       uint64_t *states)
{
	struct method method = {script->requester, script->responder, script->compound};
	struct verdict verdict = method_explore(&method, kind);

	*states += verdict.states;
	note(script, script->requester);
	CT_EXPECT_FALSE(verdict.too_early);
	CT_EXPECT_FALSE(verdict.disorder);
	CT_EXPECT_FALSE(verdict.blind);
	CT_EXPECT_FALSE(verdict.stuck);
	CT_EXPECT_NE(verdict.runs, 0);
}

CT_TEST(plans, are_safe)
{
	const struct plan_script *script, *scripts;
	struct machine_kind machines[3], kind;
	uint32_t count, machine, shape, runs = 0;
	uint64_t states = 0;

	scripts = plan_scripts(&count);
	for (script = scripts; script < scripts + count; script += plan_stride())
		for (machine = plan_script_machines(script, machines); machine--;)
			for (shape = 0; shape < (is_seldom(script) ? 1 : SHAPES);
			     shape++) {
				kind = shaped(&machines[machine], &shapes[shape]);
				check_safe(script, &kind, &states);
				runs++;
			}
	printf("%u plans, %u runs, %llu states\n", count, runs,
	       (unsigned long long)states);
	CT_EXPECT_GT(count, 100);
}

/* Does this, put into a script, find b or its last bytes wrong? */
static bool goes_wrong(const struct plan_script *script, const char *template,
		       const char *word, const struct machine_kind *kind)
{
	char requester[176];
	struct method method = {requester, script->responder, true};
	const char *gap = strstr(template, "%s");

	snprintf(requester, sizeof(requester), "%.*s%s%s", (int)(gap - template),
		 template, word, gap + 2);
	note(script, requester);
	return method_explore(&method, kind).stale;
}

/* hold: a later write to the same bytes, or a message that promises them, must wait. */
CT_TEST(plans, no_overtake_is_set_exactly_where_later_operations_could_overtake)
{
	static const char *const later[] = {"Wc", "N"};
	const struct plan_script *script, *scripts;
	struct machine_kind machines[3];
	uint32_t count, machine, i, alone = 0, others = 0;

	scripts = plan_scripts(&count);
	for (script = scripts; script < scripts + count; script += plan_stride()) {
		if (!script->at_b || is_seldom(script))
			continue;
		alone += script->no_overtake;
		others += !script->no_overtake;
		for (machine = plan_script_machines(script, machines); machine--;)
			for (i = 0; i < 2; i++) {
				CT_EXPECT_EQ(goes_wrong(script, script->early, later[i],
							&machines[machine]),
					     script->no_overtake);
				CT_EXPECT_FALSE(goes_wrong(script, script->late, later[i],
							   &machines[machine]));
			}
	}
	printf("no_overtake in %u plans, not in %u\n", alone, others);
	CT_EXPECT_NE(alone, 0);
	CT_EXPECT_NE(others, 0);
}

/* What waits and need not on this model. Text is of the plan that does not wait. */
static const struct {
	const char *a, *b, *reason;
	bool ddio_off;
} careful[] = {
	{"FP = ", "= Xb", "IBA A19 orders an ATOMIC WRITE behind a FLUSH, not an atomic",
	 false},
	{"FP C M = ", "= ", "a message was forced, a is durable without", false},
	{" F C M = ", "= ", "a message was forced, a is durable without", true},
};

#define CAREFUL (sizeof(careful) / sizeof(careful[0]))

/* Which of these; CAREFUL: none. */
static uint32_t why_careful(const struct plan_script *script)
{
	uint32_t i;

	for (i = 0; i < CAREFUL; i++)
		if (strstr(script->hasty, careful[i].a) &&
		    strstr(script->hasty, careful[i].b) &&
		    !(careful[i].ddio_off && script->ddio))
			break;
	return i;
}

static bool breaks_order(const struct plan_script *script)
{
	struct method method = {script->hasty, script->responder, true};
	struct machine_kind machines[3];

	for (uint32_t machine = plan_script_machines(script, machines); machine--;)
		if (method_explore(&method, &machines[machine]).disorder)
			return true;
	return false;
}

/* A plan that waits has a reason: not waiting lets b be durable without a. */
CT_TEST(plans, wait_only_where_b_could_come_first)
{
	uint32_t count, i, waits = 0, excused[CAREFUL + 1] = {0};
	const struct plan_script *script, *scripts;

	scripts = plan_scripts(&count);
	for (script = scripts; script < scripts + count; script += plan_stride()) {
		if (!script->after)
			continue;
		waits++;
		note(script, script->hasty);
		if (!breaks_order(script))
			excused[why_careful(script)]++;
	}
	for (i = 0; i < CAREFUL; i++) {
		printf("%u wait: %s\n", excused[i], careful[i].reason);
		CT_EXPECT_TRUE(excused[i] || plan_stride() > 1);
	}
	CT_EXPECT_EQ(excused[CAREFUL], 0);
	printf("%u plans wait\n", waits);
}

/* --- and what would not be */

static struct verdict explore_one(const char *requester, const char *responder,
				  enum svb_domain domain, bool ddio, bool rq_pm)
{
	struct method method = {requester, responder, false};
	struct machine_kind kind = {.config = {.domain = domain, .ddio = ddio},
				    .rq_pm = rq_pm,
				    .a_size = 128};

	return method_explore(&method, &kind);
}

/* rdma_rxe and its like: the processor places the data, into its cache. */
CT_TEST(plans, a_software_device_taken_for_ddio_off_loses_data)
{
	CT_EXPECT_FALSE(
		explore_one("Wa F C", "", SVB_DOMAIN_DMP, false, false).too_early);
	CT_EXPECT_TRUE(explore_one("Wa F C", "", SVB_DOMAIN_DMP, true, false).too_early);
}

/* fi_cq(3): no completion at the peer before durability. */
CT_TEST(plans, without_a_slot_the_target_reports_too_early)
{
	CT_EXPECT_TRUE(
		explore_one("Ia F C", "ra", SVB_DOMAIN_DMP, false, false).too_early);
	CT_EXPECT_FALSE(
		explore_one("Ia F C", "ra", SVB_DOMAIN_MHP, true, false).too_early);
	CT_EXPECT_FALSE(explore_one("L Ia A", "l fa ra ack", SVB_DOMAIN_DMP, true, false)
				.too_early);
	CT_EXPECT_TRUE(
		explore_one("Ia L A", "l fa ra ack", SVB_DOMAIN_DMP, true, false).blind);
}

/* Erratum 6: a message is written back before it is reported. */
CT_TEST(plans, a_replayed_message_is_reported_too_early_unless_it_is_written_back)
{
	CT_EXPECT_TRUE(
		explore_one("Sa F C", "ra", SVB_DOMAIN_DMP, false, true).too_early);
	CT_EXPECT_FALSE(
		explore_one("Sa F C", "fm ra", SVB_DOMAIN_DMP, false, true).too_early);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which method of making remote writes durable is safe on which machine: the published
 * tables, their corrections, the cheaper methods that are not safe, and what can go wrong
 * with the safe ones. Every order of events, the power failing in every state.
 */
#include <stdio.h>
#include "cairn_test.h"
#include "methods.h"

/* Sets of configurations: bit domain * 4 + (DDIO off) * 2 + (receive buffers in PM). */
#define NONE 0x000u
#define ALL 0xfffu
#define DMP_N 0x00cu
#define MHP 0x0f0u
#define WSP 0xf00u
#define DR 0x555u
#define PM 0xaaau
/* Not looked at: the operation does not exist there. */
#define ABSENT 0x1000u

static const struct {
	struct method method;
	uint32_t ib, iwarp; /* where it is safe */
} table[] = {
	/* Singleton: a write, with immediate or not. */
	{{"Wa C", "", false}, WSP, NONE},
	{{"Wa F C", "", false}, DMP_N | MHP | WSP, DMP_N | MHP | WSP},
	{{"Wa FP C", "", false}, ALL, ABSENT},
	{{"Wa S A", "fa ack", false}, ALL, ALL},
	{{"Wa S A", "ack", false}, MHP | WSP, MHP | WSP},
	{{"Ia C", "", false}, WSP, NONE},
	{{"Ia F C", "", false}, DMP_N | MHP | WSP, ABSENT},
	{{"Ia A", "fa ack", false}, ALL, ABSENT},
	{{"Ia A", "ack", false}, MHP | WSP, ABSENT},
	/* Singleton: a message. */
	{{"Sa A", "ca fa ack", false}, ALL, ALL},
	{{"Sa A", "ca ack", false}, MHP | WSP, MHP | WSP},
	{{"Sa C", "", false}, WSP &PM, NONE},
	{{"Sa F C", "", false}, (DMP_N | MHP | WSP) & PM, (DMP_N | MHP | WSP) & PM},
	{{"Sa FP C", "", false}, PM, ABSENT},

	/* Compound: writes. */
	{{"Wa Wb C", "", true}, WSP, NONE},
	{{"Wa Wb F C", "", true}, MHP | WSP, WSP},
	{{"Wa F Wb F C", "", true}, MHP | WSP, WSP},
	{{"Wa F AW F C", "", true}, DMP_N | MHP | WSP, ABSENT},
	{{"Wa AW F C", "", true}, MHP | WSP, ABSENT},
	{{"Wa F C Wb F C", "", true}, DMP_N | MHP | WSP, DMP_N | MHP | WSP},
	{{"Wa F Wb! F C", "", true}, DMP_N | MHP | WSP, DMP_N | MHP | WSP},
	{{"Wa FP AW FP C", "", true}, ALL, ABSENT},
	{{"Wa FP Wb FP C", "", true}, MHP | WSP, ABSENT},
	/* A fence does not wait for a native FLUSH. */
	{{"Wa FP Wb! FP C", "", true}, MHP | WSP, ABSENT},
	{{"Wa S A Wb S A", "fa ack | fb ack", true}, ALL, ALL},
	{{"Wa S Wb S A A", "fa ack | fb ack", true}, MHP | WSP, WSP},
	{{"Ia Ib F C", "", true}, MHP | WSP, ABSENT},
	{{"Ia F C Ib F C", "", true}, DMP_N | MHP | WSP, ABSENT},
	{{"Ia A Ib A", "fa ack | fb ack", true}, ALL, ABSENT},
	/* b in the control message; replayed from persistent memory it comes too early.
	 */
	{{"Wa Sb A", "fa cb fb ack", true}, DR | MHP | WSP, DR | WSP},
	{{"Wa Sb A", "cb fb ack", true}, MHP | WSP, (MHP & DR) | WSP},
	{{"Wa Sb A", "cb ack", true}, MHP | WSP, (MHP & DR) | WSP},
	{{"Wa S Sb A A", "fa ack | cb fb ack", true}, DR | MHP | WSP, DR | WSP},
	/* Compound: one message. */
	{{"Sab A", "ca fa cb fb ack", true}, ALL, ALL},
	{{"Sab A", "ca cb fa fb ack", true}, MHP | WSP, MHP | WSP},
	{{"Sab A", "ca cb ack", true}, MHP | WSP, MHP | WSP},
	{{"Sab C", "", true}, WSP &PM, NONE},
	{{"Sab F C", "", true}, (DMP_N | MHP | WSP) & PM, (DMP_N | MHP | WSP) & PM},
	{{"Sab F C", "ca cb", true}, (MHP | WSP) & PM, (MHP | WSP) & PM},
	{{"Sab F C", "ca fa cb fb", true},
	 (DMP_N | MHP | WSP) & PM,
	 (DMP_N | MHP | WSP) & PM},

	/* The message goes another way than the data: a doorbell says when it counts. */
	{{"Wa Da M A", "d fa ack", false}, ALL, ABSENT},
	{{"Wa Dw M A", "d fa ack", false}, ALL, WSP},
	{{"Wa M A", "fa ack", false}, NONE, NONE},
	{{"Wa F C M A", "fa ack", false}, ALL, ALL},
};

static struct machine_kind kind_of(uint32_t bit, bool iwarp)
{
	return (struct machine_kind){.config = {.domain = (enum svb_domain)(bit / 4),
						.ddio = !(bit & 2),
						.weak = iwarp,
						.loose = iwarp},
				     .rq_pm = bit & 1,
				     .a_size = 128};
}

/* The set of configurations where a method is safe. */
static uint32_t safe_in(const struct method *method, bool iwarp,
			const struct machine_kind *change, uint64_t *states)
{
	struct machine_kind kind;
	struct verdict verdict;
	uint32_t bit, safe = 0;

	for (bit = 0; bit < 12; bit++) {
		kind = kind_of(bit, iwarp);
		if (change) {
			kind.config.tear = change->config.tear;
			kind.config.loose |= change->config.loose;
			kind.a_size = change->a_size;
			kind.shared = change->shared;
		}
		verdict = method_explore(method, &kind);
		*states += verdict.states;
		safe |= (uint32_t)verdict_safe(&verdict) << bit;
		CT_EXPECT_FALSE(verdict.stuck);
		CT_EXPECT_NE(verdict.runs, 0);
	}
	return safe;
}

static void check_table(const struct machine_kind *change)
{
	uint64_t states = 0, runs = 0;
	uint32_t safe;

	for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		safe = safe_in(&table[i].method, false, change, &states);
		runs += 12;
		if (safe != table[i].ib)
			printf("IB: %s, %s: safe in %03x, not %03x\n",
			       table[i].method.requester, table[i].method.responder, safe,
			       table[i].ib);
		CT_EXPECT_EQ(safe, table[i].ib);
		if (table[i].iwarp == ABSENT)
			continue;
		safe = safe_in(&table[i].method, true, change, &states);
		runs += 12;
		if (safe != table[i].iwarp)
			printf("iWARP: %s, %s: safe in %03x, not %03x\n",
			       table[i].method.requester, table[i].method.responder, safe,
			       table[i].iwarp);
		CT_EXPECT_EQ(safe, table[i].iwarp);
	}
	printf("%llu methods on machines, %llu states\n", (unsigned long long)runs,
	       (unsigned long long)states);
}

CT_TEST(methods, are_safe_exactly_where_the_tables_say)
{
	check_table(NULL);
}

CT_TEST(methods, are_as_safe_with_one_line_and_with_three)
{
	check_table(&(struct machine_kind){.a_size = 64});
	check_table(&(struct machine_kind){.a_size = 192});
}

/* Eight bytes are the most that is written in one piece. */
CT_TEST(methods, are_as_safe_when_lines_tear)
{
	check_table(&(struct machine_kind){.a_size = 16, .config.tear = true});
}

CT_TEST(methods, are_as_safe_when_both_ranges_share_a_line)
{
	check_table(&(
		struct machine_kind){.a_size = 16, .shared = true, .config.tear = true});
}

static struct verdict explore_one(const char *requester, const char *responder,
				  uint32_t bit, bool loose)
{
	struct method method = {requester, responder, true};
	struct machine_kind kind = kind_of(bit, false);

	kind.config.loose = loose;
	return method_explore(&method, &kind);
}

CT_TEST(methods, relaxed_ordering_breaks_pipelined_writes)
{
	struct verdict strict = explore_one("Wa Wb F C", "", 4, false);
	struct verdict relaxed = explore_one("Wa Wb F C", "", 4, true);

	CT_EXPECT_TRUE(verdict_safe(&strict));
	CT_EXPECT_TRUE(relaxed.disorder);
}

/* What a later write may pass leaves older bytes behind, unless it waits. */
CT_TEST(methods, what_follows_an_atomic_write_or_a_copy_must_wait)
{
	static const struct {
		const char *requester, *responder;
		bool stale, loose;
	} cases[] = {
		{"Wa Wb Wc", "", false, false},
		/* Bytes that overlap keep their order. */
		{"Wa Wb Wc", "", false, true},
		{"Wa F Wb F Wc", "", false, false},
		{"Wa F AW Wc", "", true, false},
		{"Wa F AW F Wc", "", true, false},
		{"Wa F AW C Wc", "", false, false},
		{"Wa Sb Wc A", "fa cb fb ack", true, false},
		{"Wa Sb A Wc", "fa cb fb ack", false, false},
		{"Wa Da M Mb Wc Aa Ab", "|| d fa acka | cb fb ackb", true, false},
		{"Wa Da M Mb Ab Wc", "|| d fa acka | cb fb ackb", false, false},
		/* A read, or a message that says b is there. */
		{"Wa Wb R", "", false, false},
		{"Wa Wb N", "", false, true},
		{"Wa F AW R", "", false, false},
		{"Wa F AW N", "", true, false},
		{"Wa F AW C N", "", false, false},
		{"Wa Sb R A", "fa cb fb ack", true, false},
		{"Wa Sb N A", "fa cb fb ack", true, false},
		{"Wa Sb A R", "fa cb fb ack", false, false},
		{"Wa Sb A N", "fa cb fb ack", false, false},
	};
	struct verdict verdict;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		verdict = explore_one(cases[i].requester, cases[i].responder, 0,
				      cases[i].loose);
		if (verdict.stale != cases[i].stale)
			printf("%s\n", cases[i].requester);
		CT_EXPECT_EQ(verdict.stale, cases[i].stale);
	}
}

/* A script without one of its words. False: it has no such word. */
static bool leave_out(char *to, const char *script, int skip)
{
	char text[128], *word, *save = NULL;
	int at = 0;

	strcpy(text, script);
	*to = '\0';
	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		if (at++ != skip)
			strcat(strcat(to, word), " ");
	return skip < at;
}

/* A method without one of its steps makes a wrong promise, or none and waits for ever. */
static void check_fails(const char *requester, const char *responder, bool compound,
			const struct machine_kind *kind)
{
	struct method method = {requester, responder, compound};
	struct verdict verdict = method_explore(&method, kind);

	if (verdict_safe(&verdict) && !verdict.stuck)
		printf("safe after all: %s, %s\n", requester, responder);
	CT_EXPECT_TRUE(!verdict_safe(&verdict) || verdict.stuck);
}

CT_TEST(methods, need_every_step)
{
	static const struct {
		struct method method;
		uint32_t bit;
	} cases[] = {
		{{"Wa F C", "", false}, 2},
		{{"Wa FP C", "", false}, 0},
		{{"Wa S A", "fa ack", false}, 0},
		{{"Sa A", "ca fa ack", false}, 0},
		{{"Wa F AW F C", "", true}, 2},
		{{"Wa FP AW FP C", "", true}, 0},
		{{"Wa F C Wb F C", "", true}, 2},
		{{"Wa Wb F C", "", true}, 4},
		{{"Wa Sb A", "fa cb fb ack", true}, 0},
		{{"Sab A", "ca fa cb fb ack", true}, 0},
	};
	const struct method *method;
	struct machine_kind kind;
	char script[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		method = &cases[i].method;
		kind = kind_of(cases[i].bit, false);
		for (int skip = 0; leave_out(script, method->requester, skip); skip++)
			check_fails(script, method->responder, method->compound, &kind);
		for (int skip = 0; leave_out(script, method->responder, skip); skip++)
			check_fails(method->requester, script, method->compound, &kind);
	}
}

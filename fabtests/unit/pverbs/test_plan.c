/* SPDX-License-Identifier: BSD-2-Clause */
/* The choice of method: every cell of the tables (plan_vectors.h), and what is true of
 * every plan. */
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "cairn/compat.h"
#include "plan_vectors.h"

/* DMP with DDIO, on InfiniBand, with a control queue pair and nothing native. */
static struct pvb_plan_query plain_query(enum pvb_plan_op op)
{
	return (struct pvb_plan_query){
		.target = {.domain = PVB_DMP,
			   .ddio = true,
			   .persistent = true,
			   .readable = true},
		.doorbell = true,
		.control = true,
		.op = op,
		.addr = 4096,
		.len = 200,
		.inline_max = 64,
	};
}

static const char *text_of(const struct pvb_plan_query *query)
{
	static char text[64];
	struct pvb_plan plan;
	int ret = pvb_plan(query, &plan);

	if (ret == -FI_EOPNOTSUPP)
		return "unsupported";
	if (ret == -FI_EINVAL)
		return "invalid";
	return pvb_plan_text(&plan, query->op, text, sizeof(text));
}

/* --- the tables */

/* A cell, each field one bit of a vector's. */
struct cell {
	uint8_t domain, rq, native, wire, part;
	bool imm_one_sided;
	enum pvb_plan_op op;
};

static struct pvb_plan_query cell_query(const struct cell *cell)
{
	struct pvb_plan_query query = plain_query(cell->op);
	bool ib = cell->wire == V_IB;

	query.target.domain = cell->domain & V_DMP   ? PVB_DMP
			      : cell->domain & V_MHP ? PVB_MHP
						     : PVB_WSP;
	query.target.ddio = cell->domain & (V_DMP_D | V_MHP_D | V_WSP_D);
	query.target.flush = query.native_flush = cell->native & (V_FLUSH | V_BOTH);
	query.target.atomic_write = query.native_write =
		cell->native & (V_ATOMIC | V_BOTH);
	query.rq_pm = cell->rq == V_PM;
	query.weak = !ib;
	query.doorbell = ib;
	query.imm_one_sided = cell->imm_one_sided;
	return query;
}

static const struct plan_vector *find_vector(const struct cell *cell)
{
	const struct plan_vector *found = NULL;
	size_t i;

	for (i = 0; i < CRN_COUNT(plan_vectors); i++) {
		const struct plan_vector *at = &plan_vectors[i];

		if (at->op != cell->op || !(at->domains & cell->domain) ||
		    !(at->rqs & cell->rq) || !(at->natives & cell->native) ||
		    !(at->wires & cell->wire) || !(at->parts & cell->part) ||
		    at->imm_one_sided != cell->imm_one_sided)
			continue;
		CT_EXPECT_TRUE(found == NULL);
		found = at;
	}
	return found;
}

static void check_cell(const struct cell *cell)
{
	const struct plan_vector *vector = find_vector(cell);
	struct pvb_plan_query query = cell_query(cell);
	struct pvb_plan a, b;
	char text[128], part[64];
	unsigned int trips;

	CT_NOTE("domain %#x rq %#x native %#x wire %#x part %#x op %d imm %d",
		cell->domain, cell->rq, cell->native, cell->wire, cell->part, cell->op,
		cell->imm_one_sided);
	CT_ASSERT_TRUE(vector);
	CT_ASSERT_EQ(pvb_plan(&query, &a), 0);
	pvb_plan_text(&a, cell->op, text, sizeof(text));
	trips = a.round_trips;
	b = a;
	if (cell->part != V_ONE) {
		query.before = a.leaves;
		query.len = cell->part == V_WORD ? 8 : cell->part == V_SMALL ? 16 : 200;
		CT_ASSERT_EQ(pvb_plan(&query, &b), 0);
		strcat(text, ", ");
		strcat(text, pvb_plan_text(&b, cell->op, part, sizeof(part)));
		if (b.after)
			trips += b.round_trips;
		else if (trips < b.round_trips)
			trips = b.round_trips;
	}
	CT_EXPECT_STREQ(text, vector->text);
	CT_EXPECT_EQ(trips, vector->round_trips);
	CT_EXPECT_EQ(b.hold, vector->hold);
}

/* Every value of a cell's fields, one after the other; false after the last. */
static bool next_cell(struct cell *cell)
{
	const struct {
		uint8_t *field, end;
	} fields[] = {
		{&cell->domain, 0x40}, {&cell->rq, 4},	  {&cell->native, 16},
		{&cell->wire, 4},      {&cell->part, 16},
	};
	size_t i;

	for (i = 0; i < CRN_COUNT(fields); i++) {
		*fields[i].field = (uint8_t)(*fields[i].field << 1);
		if (*fields[i].field < fields[i].end)
			return true;
		*fields[i].field = 1;
	}
	return false;
}

static void check_table(enum pvb_plan_op op, bool imm_one_sided)
{
	struct cell cell = {1, 1, 1, 1, 1, imm_one_sided, op};
	unsigned int cells = 0;

	do {
		check_cell(&cell);
		cells++;
	} while (next_cell(&cell));
	CT_EXPECT_EQ(cells, 6 * 2 * 4 * 2 * 4);
}

CT_TEST(plan, writes_follow_the_tables)
{
	check_table(PVB_PLAN_WRITE, false);
}

CT_TEST(plan, writes_with_immediate_are_durable_before_the_target_reports_them)
{
	check_table(PVB_PLAN_WRITE_IMM, false);
}

CT_TEST(plan, writes_with_immediate_follow_the_tables_where_the_target_opted_in)
{
	check_table(PVB_PLAN_WRITE_IMM, true);
}

CT_TEST(plan, sends_follow_the_tables)
{
	check_table(PVB_PLAN_SEND, false);
}

/* --- what the tables leave open */

CT_TEST(plan, nothing_is_durable_in_volatile_memory)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.target.persistent = false;
	CT_EXPECT_STREQ(text_of(&query), "unsupported");
	query = plain_query(PVB_PLAN_SEND);
	query.target.persistent = false;
	query.rq_pm = true;
	CT_EXPECT_STREQ(text_of(&query), "unsupported");
}

CT_TEST(plan, an_unknown_domain_is_refused)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.target.domain = (enum pvb_persistence)3;
	CT_EXPECT_STREQ(text_of(&query), "unsupported");
}

CT_TEST(plan, software_devices_count_as_ddio_on)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.target.ddio = false;
	CT_EXPECT_STREQ(text_of(&query), "W F C");
	query.target.software = true;
	CT_EXPECT_STREQ(text_of(&query), "W D M A");
}

CT_TEST(plan, what_must_not_be_read_is_flushed_otherwise)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.target.ddio = query.target.readable = false;
	CT_EXPECT_STREQ(text_of(&query), "W D M A");
	query.doorbell = false;
	CT_EXPECT_STREQ(text_of(&query), "unsupported");
	query.target.flush = query.native_flush = true;
	CT_EXPECT_STREQ(text_of(&query), "W FP C");
}

CT_TEST(plan, flush_needs_both_the_region_and_the_queue_pairs)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.target.flush = true;
	CT_EXPECT_STREQ(text_of(&query), "W D M A");
	query.target.flush = false;
	query.native_flush = true;
	CT_EXPECT_STREQ(text_of(&query), "W D M A");
}

CT_TEST(plan, without_a_doorbell_the_message_waits_for_a_read)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.doorbell = false;
	CT_EXPECT_STREQ(text_of(&query), "W F C M A");
}

CT_TEST(plan, without_a_control_queue_pair_nobody_answers)
{
	static const enum pvb_plan_op ops[] = {PVB_PLAN_WRITE, PVB_PLAN_WRITE_IMM,
					       PVB_PLAN_SEND, PVB_PLAN_ATOMIC};
	struct pvb_plan_query query;
	size_t i;

	for (i = 0; i < CRN_COUNT(ops); i++) {
		query = plain_query(ops[i]);
		query.control = false;
		CT_EXPECT_STREQ(text_of(&query), "unsupported");
	}
}

CT_TEST(plan, the_message_method_can_be_forced)
{
	static const struct {
		enum pvb_plan_op op;
		const char *text, *loose;
	} cases[] = {
		{PVB_PLAN_WRITE, "W D M A", "W F C M A"},
		{PVB_PLAN_WRITE_IMM, "SLOT WI A", "SLOT WI A"},
		{PVB_PLAN_SEND, "SLOT S A", "SLOT S A"},
		{PVB_PLAN_ATOMIC, "AT D M A", "AT F C M A"},
		{PVB_PLAN_LIFT, "D M A", "F C M A"},
	};
	struct pvb_plan_query query;
	size_t i;

	for (i = 0; i < CRN_COUNT(cases); i++) {
		query = plain_query(cases[i].op);
		query.force_message = query.rq_pm = query.imm_one_sided = true;
		query.target.domain = PVB_WSP;
		query.target.flush = query.native_flush = true;
		CT_EXPECT_STREQ(text_of(&query), cases[i].text);
		query.weak = true;
		CT_EXPECT_STREQ(text_of(&query), cases[i].loose);
	}
}

/* And where there is no way to send one, the plan is what it would be. */
CT_TEST(plan, a_forced_message_needs_a_control_queue_pair)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.force_message = true;
	query.control = false;
	query.target.domain = PVB_MHP;
	CT_EXPECT_STREQ(text_of(&query), "W F C");
}

CT_TEST(plan, a_message_that_cannot_ring_or_read_waits_for_the_flush)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.force_message = true;
	query.doorbell = query.target.readable = false;
	query.target.flush = query.native_flush = true;
	CT_EXPECT_STREQ(text_of(&query), "W FP C M A");
}

CT_TEST(plan, an_atomic_is_made_durable_as_a_write_and_holds_what_could_pass_it)
{
	static const struct {
		enum pvb_persistence domain;
		bool ddio, flush;
		const char *text;
	} cases[] = {
		{PVB_DMP, true, false, "AT D M A"}, {PVB_DMP, true, true, "AT FP C"},
		{PVB_DMP, false, false, "AT F C"},  {PVB_MHP, true, false, "AT F C"},
		{PVB_WSP, true, false, "AT C"},
	};
	struct pvb_plan_query query = plain_query(PVB_PLAN_ATOMIC);
	struct pvb_plan plan;
	size_t i;

	for (i = 0; i < CRN_COUNT(cases); i++) {
		query.target.domain = cases[i].domain;
		query.target.ddio = cases[i].ddio;
		query.target.flush = query.native_flush = cases[i].flush;
		CT_EXPECT_STREQ(text_of(&query), cases[i].text);
		CT_ASSERT_EQ(pvb_plan(&query, &plan), 0);
		CT_EXPECT_TRUE(plan.hold);
		CT_EXPECT_TRUE(plan.leaves & PVB_BEFORE_ATOMIC);
	}
}

CT_TEST(plan, what_was_written_at_a_lower_level_can_be_lifted)
{
	static const struct {
		enum pvb_persistence domain;
		bool ddio, flush;
		const char *text;
		unsigned int leaves;
	} cases[] = {
		{PVB_DMP, true, false, "D M A", PVB_BEFORE_MESSAGE},
		{PVB_DMP, true, true, "FP C", PVB_BEFORE_FLUSH},
		{PVB_DMP, false, false, "F C", PVB_BEFORE_READ},
		{PVB_MHP, true, false, "F C", PVB_BEFORE_READ},
		{PVB_WSP, true, false, "C", PVB_BEFORE_PLACED},
	};
	struct pvb_plan_query query = plain_query(PVB_PLAN_LIFT);
	struct pvb_plan plan;
	size_t i;

	query.before = PVB_BEFORE_PLACED;
	for (i = 0; i < CRN_COUNT(cases); i++) {
		query.target.domain = cases[i].domain;
		query.target.ddio = cases[i].ddio;
		query.target.flush = query.native_flush = cases[i].flush;
		CT_EXPECT_STREQ(text_of(&query), cases[i].text);
		CT_ASSERT_EQ(pvb_plan(&query, &plan), 0);
		CT_EXPECT_EQ(plan.leaves, cases[i].leaves);
	}
}

/* --- behind what is under way */

CT_TEST(plan, an_atomic_write_takes_eight_aligned_bytes)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.target.ddio = false;
	query.target.atomic_write = query.native_write = true;
	query.before = PVB_BEFORE_READ;
	query.len = 8;
	CT_EXPECT_STREQ(text_of(&query), "AW F C");
	query.addr++;
	CT_EXPECT_STREQ(text_of(&query), "W! F C");
	query.addr--;
	query.len = 4;
	CT_EXPECT_STREQ(text_of(&query), "W! F C");
}

CT_TEST(plan, a_control_message_takes_what_fits)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.before = PVB_BEFORE_MESSAGE;
	query.len = query.inline_max;
	CT_EXPECT_STREQ(text_of(&query), "Mb A");
	query.len++;
	CT_EXPECT_STREQ(text_of(&query), "after W D M A");
}

static const char *text_behind(unsigned int before, enum pvb_persistence domain,
			       bool ddio, enum pvb_plan_op op)
{
	struct pvb_plan_query query = plain_query(op);

	query.before = before;
	query.target.domain = domain;
	query.target.ddio = ddio;
	return text_of(&query);
}

CT_TEST(plan, nothing_goes_behind_what_gives_no_order)
{
	enum pvb_persistence domain;

	for (domain = PVB_DMP; domain <= PVB_WSP; domain++)
		CT_EXPECT_STRSTR(text_behind(PVB_BEFORE_UNKNOWN, domain, true,
					     PVB_PLAN_WRITE),
				 "after ");
	CT_EXPECT_STREQ(text_behind(PVB_BEFORE_READ | PVB_BEFORE_UNKNOWN, PVB_DMP, false,
				    PVB_PLAN_WRITE),
			"after W F C");
}

CT_TEST(plan, writes_stay_behind_atomics_by_a_fence)
{
	CT_EXPECT_STREQ(text_behind(PVB_BEFORE_PLACED | PVB_BEFORE_ATOMIC, PVB_WSP, true,
				    PVB_PLAN_WRITE),
			"W! C");
	CT_EXPECT_STREQ(text_behind(PVB_BEFORE_READ | PVB_BEFORE_ATOMIC, PVB_MHP, true,
				    PVB_PLAN_WRITE),
			"W! F C");
	CT_EXPECT_STREQ(text_behind(PVB_BEFORE_READ | PVB_BEFORE_ATOMIC, PVB_DMP, false,
				    PVB_PLAN_SEND),
			"SLOT S! A");
}

/* IBA 10.8.3.3: an atomic behind a read needs the fence; behind a write it does not. */
CT_TEST(plan, atomics_stay_behind_reads_by_a_fence)
{
	CT_EXPECT_STREQ(text_behind(PVB_BEFORE_READ, PVB_DMP, false, PVB_PLAN_ATOMIC),
			"AT! F C");
	CT_EXPECT_STREQ(text_behind(PVB_BEFORE_PLACED, PVB_WSP, false, PVB_PLAN_ATOMIC),
			"AT C");
}

CT_TEST(plan, a_fence_does_not_wait_for_a_flush)
{
	CT_EXPECT_STREQ(text_behind(PVB_BEFORE_FLUSH, PVB_DMP, false, PVB_PLAN_WRITE),
			"after W F C");
	CT_EXPECT_STREQ(text_behind(PVB_BEFORE_FLUSH | PVB_BEFORE_READ, PVB_DMP, false,
				    PVB_PLAN_WRITE),
			"after W F C");
}

/* The target handles messages one by one, but data does not wait for it. */
CT_TEST(plan, only_a_message_stays_behind_a_message)
{
	CT_EXPECT_STREQ(text_behind(PVB_BEFORE_MESSAGE, PVB_DMP, true,
				    PVB_PLAN_WRITE_IMM),
			"after SLOT WI A");
	CT_EXPECT_STREQ(text_behind(PVB_BEFORE_MESSAGE, PVB_DMP, true, PVB_PLAN_ATOMIC),
			"after AT D M A");
	CT_EXPECT_STREQ(text_behind(PVB_BEFORE_MESSAGE | PVB_BEFORE_FLUSH, PVB_DMP, true,
				    PVB_PLAN_WRITE),
			"after W D M A");
}

CT_TEST(plan, what_would_not_be_durable_is_not_waited_for)
{
	CT_EXPECT_STREQ(text_behind(PVB_BEFORE_PLACED, PVB_DMP, false, PVB_PLAN_WRITE),
			"invalid");
	CT_EXPECT_STREQ(text_behind(PVB_BEFORE_PLACED, PVB_DMP, true, PVB_PLAN_WRITE),
			"invalid");
	CT_EXPECT_STREQ(text_behind(PVB_BEFORE_READ, PVB_DMP, true, PVB_PLAN_WRITE),
			"invalid");
}

CT_TEST(plan, text_is_cut_to_the_buffer)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);
	struct pvb_plan plan;
	char text[4];

	CT_ASSERT_EQ(pvb_plan(&query, &plan), 0);
	CT_EXPECT_STREQ(pvb_plan_text(&plan, query.op, text, sizeof(text)), "W D");
}

/* --- true of every plan */

static unsigned int count_act(const struct pvb_plan *plan, enum pvb_act act)
{
	unsigned int i, count = 0;

	for (i = 0; i < PVB_PLAN_ACTS && plan->act[i]; i++)
		count += plan->act[i] == act;
	return count;
}

/* The first of these truths that a plan breaks; NULL: none. */
static const char *broken_form(const struct pvb_plan_query *query,
			       const struct pvb_plan *plan)
{
	unsigned int data = count_act(plan, PVB_ACT_DATA) +
			    count_act(plan, PVB_ACT_DATA_FENCED) +
			    count_act(plan, PVB_ACT_ATOMIC_WRITE) +
			    count_act(plan, PVB_ACT_MESSAGE_DATA);
	unsigned int messages = count_act(plan, PVB_ACT_MESSAGE) +
				count_act(plan, PVB_ACT_MESSAGE_DATA) +
				count_act(plan, PVB_ACT_SLOT);
	bool overtaken = query->op == PVB_PLAN_ATOMIC ||
			 count_act(plan, PVB_ACT_ATOMIC_WRITE) ||
			 count_act(plan, PVB_ACT_MESSAGE_DATA);

	if (plan->act[PVB_PLAN_ACTS - 1])
		return "an end";
	if (data != (query->op != PVB_PLAN_LIFT))
		return "the data once";
	if (messages != (plan->end == PVB_END_ANSWER))
		return "an answer to each message";
	if (plan->hold != overtaken)
		return "hold where something could overtake";
	if (plan->round_trips !=
	    1 + count_act(plan, PVB_ACT_WAIT) + count_act(plan, PVB_ACT_DATA_FENCED))
		return "a round trip for each wait";
	if (!plan->leaves)
		return "something to leave";
	return NULL;
}

static const char *broken_means(const struct pvb_plan_query *query,
				const struct pvb_plan *plan)
{
	const struct pvb_desc *target = &query->target;
	bool flush = count_act(plan, PVB_ACT_FLUSH);

	if (plan->end == PVB_END_ANSWER && !query->control)
		return "a control queue pair";
	if (count_act(plan, PVB_ACT_READ) && !target->readable)
		return "the right to read";
	if (flush && !(target->flush && query->native_flush && !query->weak))
		return "native flush";
	if (count_act(plan, PVB_ACT_RING) && (!query->doorbell || query->weak))
		return "a doorbell";
	if (count_act(plan, PVB_ACT_ATOMIC_WRITE) &&
	    !(target->atomic_write && query->native_write && query->len == 8 &&
	      !(query->addr & 7) && !query->weak))
		return "an atomic write";
	if (count_act(plan, PVB_ACT_MESSAGE_DATA) && query->len > query->inline_max)
		return "room in the message";
	if (plan->end == PVB_END_COMPLETION && query->op == PVB_PLAN_SEND &&
	    !query->rq_pm)
		return "buffers that recovery replays";
	if (query->force_message && query->control && plan->end == PVB_END_COMPLETION &&
	    (query->op == PVB_PLAN_SEND || query->op == PVB_PLAN_WRITE_IMM))
		return "the forced message";
	return NULL;
}

static const char *broken_safety(const struct pvb_plan_query *query,
				 const struct pvb_plan *plan)
{
	const struct pvb_desc *target = &query->target;
	bool cached = target->domain == PVB_DMP && (target->ddio || target->software);
	bool flush = count_act(plan, PVB_ACT_FLUSH);
	bool bare = plan->end == PVB_END_COMPLETION && !flush &&
		    !count_act(plan, PVB_ACT_READ);

	if (cached && plan->end == PVB_END_COMPLETION && !flush)
		return "no read as the only flush in a cache";
	if (bare && (target->domain != PVB_WSP || query->weak))
		return "a completion alone only under WSP";
	if (query->op == PVB_PLAN_WRITE_IMM && target->domain == PVB_DMP &&
	    !query->imm_one_sided && plan->end == PVB_END_COMPLETION)
		return "nothing reported at the target before it is durable";
	if (query->before & PVB_BEFORE_UNKNOWN && query->op != PVB_PLAN_LIFT &&
	    !plan->after)
		return "after what gives no order";
	if (query->before & PVB_BEFORE_FLUSH && target->domain == PVB_DMP &&
	    query->op != PVB_PLAN_LIFT && !plan->after &&
	    !count_act(plan, PVB_ACT_ATOMIC_WRITE))
		return "no fence behind a flush";
	if (query->before & PVB_BEFORE_ATOMIC && query->op != PVB_PLAN_LIFT &&
	    !plan->after && count_act(plan, PVB_ACT_DATA))
		return "no plain write behind an atomic";
	if ((!query->before || query->op == PVB_PLAN_LIFT) && plan->after)
		return "nothing to be after";
	return NULL;
}

/* Takes a digit of a number off it: below values. */
static uint32_t take(uint32_t *number, uint32_t values)
{
	uint32_t digit = *number % values;

	*number /= values;
	return digit;
}

#define QUERIES (4096u * 64 * 3 * 3 * 5)

/* Digit by digit of a number: every query there is, but for sizes beyond three. */
static struct pvb_plan_query numbered_query(uint32_t number)
{
	static const struct {
		uint64_t addr, len;
	} parts[] = {{4096, 8}, {4097, 8}, {4096, 200}};
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);
	bool *const flags[] = {
		&query.target.ddio,
		&query.target.flush,
		&query.target.atomic_write,
		&query.target.readable,
		&query.target.software,
		&query.native_flush,
		&query.rq_pm,
		&query.weak,
		&query.doorbell,
		&query.control,
		&query.imm_one_sided,
		&query.force_message,
	};
	uint32_t i;

	for (i = 0; i < CRN_COUNT(flags); i++)
		*flags[i] = take(&number, 2);
	query.native_write = query.native_flush;
	query.before = take(&number, 64);
	i = take(&number, 3);
	query.addr = parts[i].addr;
	query.len = parts[i].len;
	query.target.domain = (enum pvb_persistence)take(&number, 3);
	query.op = (enum pvb_plan_op)number;
	return query;
}

static const char *broken_truth(const struct pvb_plan_query *query,
				const struct pvb_plan *plan)
{
	const char *truth = broken_form(query, plan);

	truth = truth ? truth : broken_means(query, plan);
	return truth ? truth : broken_safety(query, plan);
}

CT_TEST(plan, every_query_has_a_plan_that_can_be_carried_out_and_is_safe)
{
	const char *truth = NULL;
	struct pvb_plan_query query;
	uint32_t i, planned = 0;
	struct pvb_plan plan;
	char text[64];

	for (i = 0; i < QUERIES && !truth; i++) {
		query = numbered_query(i);
		if (pvb_plan(&query, &plan))
			continue;
		planned++;
		truth = broken_truth(&query, &plan);
	}
	if (truth)
		CT_NOTE("domain %d ddio %d weak %d op %d before %#x: %s wants %s",
			query.target.domain, query.target.ddio, query.weak, query.op,
			query.before, pvb_plan_text(&plan, query.op, text, sizeof(text)),
			truth);
	CT_EXPECT_TRUE(truth == NULL);
	printf("%u queries, %u plans\n", QUERIES, planned);
	CT_EXPECT_GT(planned, QUERIES / 2);
}

/* The doorbell and what is native make it cheaper, no more. */
CT_TEST(plan, reading_and_a_control_queue_pair_are_enough_for_everything)
{
	struct pvb_plan_query query;
	struct pvb_plan plan;
	uint32_t i;

	for (i = 0; i < QUERIES; i++) {
		query = numbered_query(i);
		query.target.readable = query.control = true;
		query.before &= PVB_BEFORE_UNKNOWN;
		if (pvb_plan(&query, &plan))
			CT_NOTE("query %u", i);
		CT_ASSERT_EQ(pvb_plan(&query, &plan), 0);
	}
}

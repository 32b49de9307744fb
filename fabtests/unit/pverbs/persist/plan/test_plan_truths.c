/* SPDX-License-Identifier: BSD-2-Clause */
/* What is true of every plan: a walk through all there is to ask. */
#include "plan_query.h"

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
	if (data != (query->op != PVB_PLAN_UPGRADE))
		return "the data once";
	if (messages != (plan->end == PVB_END_ANSWER))
		return "an answer to each message";
	if (plan->no_overtake != overtaken)
		return "hold where something could overtake";
	if (plan->round_trips !=
	    1 + count_act(plan, PVB_ACT_WAIT) + count_act(plan, PVB_ACT_DATA_FENCED))
		return "a round trip for each wait";
	if (!plan->pending)
		return "something to leave";
	return NULL;
}

static const char *broken_means(const struct pvb_plan_query *query,
				const struct pvb_plan *plan)
{
	const struct pvb_key_attr *target = &query->target;
	bool flush = count_act(plan, PVB_ACT_FLUSH);

	if (plan->end == PVB_END_ANSWER && !query->control)
		return "a control queue pair";
	if (count_act(plan, PVB_ACT_READ) && !target->readable)
		return "the right to read";
	if (flush && !(target->flush && query->native_flush && !query->weak))
		return "native flush";
	if (count_act(plan, PVB_ACT_SEQ) && (!query->seq_word || query->weak))
		return "a sequence word";
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
	const struct pvb_key_attr *target = &query->target;
	bool cached = target->domain == CRN_DMP && (target->ddio || target->software);
	bool flush = count_act(plan, PVB_ACT_FLUSH);
	bool bare = plan->end == PVB_END_COMPLETION && !flush &&
		    !count_act(plan, PVB_ACT_READ);

	if (cached && plan->end == PVB_END_COMPLETION && !flush)
		return "no read as the only flush in a cache";
	if (bare && (target->domain != CRN_WSP || query->weak))
		return "a completion alone only under WSP";
	if (query->op == PVB_PLAN_WRITE_IMM && target->domain == CRN_DMP &&
	    plan->end == PVB_END_COMPLETION)
		return "nothing reported at the target before it is durable";
	if (query->before & PVB_PENDING_UNKNOWN && query->op != PVB_PLAN_UPGRADE &&
	    !plan->after)
		return "after what gives no order";
	if (query->before & PVB_PENDING_FLUSH && target->domain == CRN_DMP &&
	    query->op != PVB_PLAN_UPGRADE && !plan->after &&
	    !count_act(plan, PVB_ACT_ATOMIC_WRITE))
		return "no fence behind a flush";
	if (query->before & PVB_PENDING_ATOMIC && query->op != PVB_PLAN_UPGRADE &&
	    !plan->after && count_act(plan, PVB_ACT_DATA))
		return "no plain write behind an atomic";
	if ((!query->before || query->op == PVB_PLAN_UPGRADE) && plan->after)
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

#define QUERIES (2048u * 64 * 3 * 3 * 5)

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
		&query.seq_word,
		&query.control,
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
	query.target.domain = (enum crn_persistence)take(&number, 3);
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

CT_TEST(plan_truths, every_query_has_a_plan_that_can_be_carried_out_and_is_safe)
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

/* The sequence word and what is native make it cheaper, no more. */
CT_TEST(plan_truths, reading_and_a_control_queue_pair_are_enough_for_everything)
{
	struct pvb_plan_query query;
	struct pvb_plan plan;
	uint32_t i;

	for (i = 0; i < QUERIES; i++) {
		query = numbered_query(i);
		query.target.readable = query.control = true;
		query.before &= PVB_PENDING_UNKNOWN;
		if (pvb_plan(&query, &plan))
			CT_NOTE("query %u", i);
		CT_ASSERT_EQ(pvb_plan(&query, &plan), 0);
	}
}

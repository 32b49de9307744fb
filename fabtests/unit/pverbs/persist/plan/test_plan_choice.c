/* SPDX-License-Identifier: BSD-2-Clause */
/* Which method is chosen where the tables leave it open, and behind what is outstanding.
 */
#include "plan_query.h"

CT_TEST(plan_choice, nothing_is_durable_in_volatile_memory)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.target.persistent = false;
	CT_EXPECT_STREQ(text_of(&query), "unsupported");
	query = plain_query(PVB_PLAN_SEND);
	query.target.persistent = false;
	query.rq_pm = true;
	CT_EXPECT_STREQ(text_of(&query), "unsupported");
}

CT_TEST(plan_choice, an_unknown_domain_is_refused)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.target.domain = (enum crn_persistence)3;
	CT_EXPECT_STREQ(text_of(&query), "unsupported");
}

CT_TEST(plan_choice, software_devices_count_as_ddio_on)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.target.ddio = false;
	CT_EXPECT_STREQ(text_of(&query), "W F C");
	query.target.software = true;
	CT_EXPECT_STREQ(text_of(&query), "W D M A");
}

CT_TEST(plan_choice, what_must_not_be_read_is_flushed_otherwise)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.target.ddio = query.target.readable = false;
	CT_EXPECT_STREQ(text_of(&query), "W D M A");
	query.seq_word = false;
	CT_EXPECT_STREQ(text_of(&query), "unsupported");
	query.target.flush = query.native_flush = true;
	CT_EXPECT_STREQ(text_of(&query), "W FP C");
}

CT_TEST(plan_choice, flush_needs_both_the_region_and_the_queue_pairs)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.target.flush = true;
	CT_EXPECT_STREQ(text_of(&query), "W D M A");
	query.target.flush = false;
	query.native_flush = true;
	CT_EXPECT_STREQ(text_of(&query), "W D M A");
}

CT_TEST(plan_choice, without_a_seq_word_the_message_waits_for_a_read)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.seq_word = false;
	CT_EXPECT_STREQ(text_of(&query), "W F C M A");
}

CT_TEST(plan_choice, without_a_control_queue_pair_nobody_answers)
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

CT_TEST(plan_choice, the_message_method_can_be_forced)
{
	static const struct {
		enum pvb_plan_op op;
		const char *text, *loose;
	} cases[] = {
		{PVB_PLAN_WRITE, "W D M A", "W F C M A"},
		{PVB_PLAN_WRITE_IMM, "SLOT WI A", "SLOT WI A"},
		{PVB_PLAN_SEND, "SLOT S A", "SLOT S A"},
		{PVB_PLAN_ATOMIC, "AT D M A", "AT F C M A"},
		{PVB_PLAN_UPGRADE, "D M A", "F C M A"},
	};
	struct pvb_plan_query query;
	size_t i;

	for (i = 0; i < CRN_COUNT(cases); i++) {
		query = plain_query(cases[i].op);
		query.force_message = query.rq_pm = true;
		query.target.domain = CRN_WSP;
		query.target.flush = query.native_flush = true;
		CT_EXPECT_STREQ(text_of(&query), cases[i].text);
		query.weak = true;
		CT_EXPECT_STREQ(text_of(&query), cases[i].loose);
	}
}

/* And where there is no way to send one, the plan is what it would be. */
CT_TEST(plan_choice, a_forced_message_needs_a_control_queue_pair)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.force_message = true;
	query.control = false;
	query.target.domain = CRN_MHP;
	CT_EXPECT_STREQ(text_of(&query), "W F C");
}

CT_TEST(plan_choice, a_message_without_seq_word_and_read_waits_for_the_flush)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.force_message = true;
	query.seq_word = query.target.readable = false;
	query.target.flush = query.native_flush = true;
	CT_EXPECT_STREQ(text_of(&query), "W FP C M A");
}

CT_TEST(plan_choice, an_atomic_is_made_durable_as_a_write_and_holds_what_could_pass_it)
{
	static const struct {
		enum crn_persistence domain;
		bool ddio, flush;
		const char *text;
	} cases[] = {
		{CRN_DMP, true, false, "AT D M A"}, {CRN_DMP, true, true, "AT FP C"},
		{CRN_DMP, false, false, "AT F C"},  {CRN_MHP, true, false, "AT F C"},
		{CRN_WSP, true, false, "AT C"},
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
		CT_EXPECT_TRUE(plan.no_overtake);
		CT_EXPECT_TRUE(plan.pending & PVB_PENDING_ATOMIC);
	}
}

CT_TEST(plan_choice, what_was_written_at_a_lower_level_can_be_upgraded)
{
	static const struct {
		enum crn_persistence domain;
		bool ddio, flush;
		const char *text;
		unsigned int pending;
	} cases[] = {
		{CRN_DMP, true, false, "D M A", PVB_PENDING_MESSAGE},
		{CRN_DMP, true, true, "FP C", PVB_PENDING_FLUSH},
		{CRN_DMP, false, false, "F C", PVB_PENDING_READ},
		{CRN_MHP, true, false, "F C", PVB_PENDING_READ},
		{CRN_WSP, true, false, "C", PVB_PENDING_PLACED},
	};
	struct pvb_plan_query query = plain_query(PVB_PLAN_UPGRADE);
	struct pvb_plan plan;
	size_t i;

	query.before = PVB_PENDING_PLACED;
	for (i = 0; i < CRN_COUNT(cases); i++) {
		query.target.domain = cases[i].domain;
		query.target.ddio = cases[i].ddio;
		query.target.flush = query.native_flush = cases[i].flush;
		CT_EXPECT_STREQ(text_of(&query), cases[i].text);
		CT_ASSERT_EQ(pvb_plan(&query, &plan), 0);
		CT_EXPECT_EQ(plan.pending, cases[i].pending);
	}
}

/* --- behind what is outstanding */

CT_TEST(plan_choice, an_atomic_write_takes_eight_aligned_bytes)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.target.ddio = false;
	query.target.atomic_write = query.native_write = true;
	query.before = PVB_PENDING_READ;
	query.len = 8;
	CT_EXPECT_STREQ(text_of(&query), "AW F C");
	query.addr++;
	CT_EXPECT_STREQ(text_of(&query), "W! F C");
	query.addr--;
	query.len = 4;
	CT_EXPECT_STREQ(text_of(&query), "W! F C");
}

CT_TEST(plan_choice, a_control_message_takes_what_fits)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);

	query.before = PVB_PENDING_MESSAGE;
	query.len = query.inline_max;
	CT_EXPECT_STREQ(text_of(&query), "Mb A");
	query.len++;
	CT_EXPECT_STREQ(text_of(&query), "after W D M A");
}

static const char *text_behind(unsigned int before, enum crn_persistence domain,
			       bool ddio, enum pvb_plan_op op)
{
	struct pvb_plan_query query = plain_query(op);

	query.before = before;
	query.target.domain = domain;
	query.target.ddio = ddio;
	return text_of(&query);
}

CT_TEST(plan_choice, nothing_goes_behind_what_gives_no_order)
{
	enum crn_persistence domain;

	for (domain = CRN_DMP; domain <= CRN_WSP; domain++)
		CT_EXPECT_STRSTR(text_behind(PVB_PENDING_UNKNOWN, domain, true,
					     PVB_PLAN_WRITE),
				 "after ");
	CT_EXPECT_STREQ(text_behind(PVB_PENDING_READ | PVB_PENDING_UNKNOWN, CRN_DMP,
				    false, PVB_PLAN_WRITE),
			"after W F C");
}

CT_TEST(plan_choice, writes_stay_behind_atomics_by_a_fence)
{
	CT_EXPECT_STREQ(text_behind(PVB_PENDING_PLACED | PVB_PENDING_ATOMIC, CRN_WSP,
				    true, PVB_PLAN_WRITE),
			"W! C");
	CT_EXPECT_STREQ(text_behind(PVB_PENDING_READ | PVB_PENDING_ATOMIC, CRN_MHP, true,
				    PVB_PLAN_WRITE),
			"W! F C");
	CT_EXPECT_STREQ(text_behind(PVB_PENDING_READ | PVB_PENDING_ATOMIC, CRN_DMP, false,
				    PVB_PLAN_SEND),
			"SLOT S! A");
}

/* IBA 10.8.3.3: an atomic behind a read needs the fence; behind a write it does not. */
CT_TEST(plan_choice, atomics_stay_behind_reads_by_a_fence)
{
	CT_EXPECT_STREQ(text_behind(PVB_PENDING_READ, CRN_DMP, false, PVB_PLAN_ATOMIC),
			"AT! F C");
	CT_EXPECT_STREQ(text_behind(PVB_PENDING_PLACED, CRN_WSP, false, PVB_PLAN_ATOMIC),
			"AT C");
}

CT_TEST(plan_choice, a_fence_does_not_wait_for_a_flush)
{
	CT_EXPECT_STREQ(text_behind(PVB_PENDING_FLUSH, CRN_DMP, false, PVB_PLAN_WRITE),
			"after W F C");
	CT_EXPECT_STREQ(text_behind(PVB_PENDING_FLUSH | PVB_PENDING_READ, CRN_DMP, false,
				    PVB_PLAN_WRITE),
			"after W F C");
}

/* The target handles messages one by one, but data does not wait for it. */
CT_TEST(plan_choice, only_a_message_stays_behind_a_message)
{
	CT_EXPECT_STREQ(text_behind(PVB_PENDING_MESSAGE, CRN_DMP, true,
				    PVB_PLAN_WRITE_IMM),
			"after SLOT WI A");
	CT_EXPECT_STREQ(text_behind(PVB_PENDING_MESSAGE, CRN_DMP, true, PVB_PLAN_ATOMIC),
			"after AT D M A");
	CT_EXPECT_STREQ(text_behind(PVB_PENDING_MESSAGE | PVB_PENDING_FLUSH, CRN_DMP,
				    true, PVB_PLAN_WRITE),
			"after W D M A");
}

CT_TEST(plan_choice, what_would_not_be_durable_is_not_waited_for)
{
	CT_EXPECT_STREQ(text_behind(PVB_PENDING_PLACED, CRN_DMP, false, PVB_PLAN_WRITE),
			"invalid");
	CT_EXPECT_STREQ(text_behind(PVB_PENDING_PLACED, CRN_DMP, true, PVB_PLAN_WRITE),
			"invalid");
	CT_EXPECT_STREQ(text_behind(PVB_PENDING_READ, CRN_DMP, true, PVB_PLAN_WRITE),
			"invalid");
}

CT_TEST(plan_choice, text_is_cut_to_the_buffer)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE);
	struct pvb_plan plan;
	char text[4];

	CT_ASSERT_EQ(pvb_plan(&query, &plan), 0);
	CT_EXPECT_STREQ(pvb_plan_text(&plan, query.op, text, sizeof(text)), "W D");
}

/* The application's progress answers a slot, in no order with control messages. */
CT_TEST(plan_choice, nothing_stays_behind_a_slot_under_dmp)
{
	struct pvb_plan_query query = plain_query(PVB_PLAN_WRITE_IMM);
	struct pvb_plan plan;

	CT_ASSERT_EQ(pvb_plan(&query, &plan), 0);
	CT_EXPECT_STREQ(text_of(&query), "SLOT WI A");
	query = plain_query(PVB_PLAN_WRITE);
	query.before = plan.pending;
	query.len = 8;
	CT_EXPECT_STREQ(text_of(&query), "after W D M A");
}

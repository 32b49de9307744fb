/* SPDX-License-Identifier: BSD-2-Clause */
/* What plan.c is told of both sides, and what its plans mean for the send queue. */
#include "../durable.h"
#include "persist/initiator/internal.h"
#include "xfer/op.h"

static struct pvb_plan_query ask(struct durable *d)
{
	struct pvb_plan_query query;

	crn_lock(&d->qp->tx_lock);
	pvb_commit_query(ep_of(d->w.ep), &pvb_key_attr_message, &query);
	crn_unlock(&d->qp->tx_lock);
	return query;
}

CT_FIXTURE(query, struct durable, durable_start, durable_close);

CT_TEST_F(query, a_control_qp_with_a_seq_word_carries_requests_and_their_bytes)
{
	struct pvb_plan_query query;

	query = ask(t);
	CT_EXPECT_TRUE(query.control && query.seq_word);
	CT_EXPECT_EQ(query.inline_max, PVB_WIRE_INLINE);
	CT_EXPECT_FALSE(query.weak || query.native_flush || query.native_write ||
			query.force_message || query.rq_pm);
	CT_EXPECT_EQ(query.target.domain, CRN_DMP);
	CT_EXPECT_TRUE(query.target.ddio);
	/* Either side may be without. */
	ep_of(t->w.ep)->domain->seq_atomics = false;
	CT_EXPECT_FALSE(ask(t).seq_word);
	CT_EXPECT_EQ(ask(t).inline_max, 0);
	ep_of(t->w.ep)->domain->seq_atomics = true;
	ep_of(t->w.ep)->conn.peer.control.seq_word = false;
	CT_EXPECT_FALSE(ask(t).seq_word);
	pvb_params.force_message = true;
	CT_EXPECT_TRUE(ask(t).force_message);
}

CT_TEST_F(query, a_control_qp_that_leads_nowhere_is_none)
{
	CT_ASSERT_TRUE(durable_open_without(t, NULL));
	CT_EXPECT_FALSE(ask(t).control);
}

CT_TEST_F(query, native_operations_need_device_and_queue_pair)
{
	struct ibv_qp_ex qp;
	struct pvb_domain *domain;

	domain = ep_of(t->w.ep)->domain;
	domain->native.flush_persistent = domain->native.atomic_write = true;
	CT_EXPECT_FALSE(ask(t).native_flush || ask(t).native_write);
	t->qp->ibv_ex = &qp;
	CT_EXPECT_TRUE(ask(t).native_flush && ask(t).native_write);
	domain->native.flush_persistent = false;
	CT_EXPECT_FALSE(ask(t).native_flush);
	CT_EXPECT_TRUE(ask(t).native_write);
	domain->native.atomic_write = false;
	t->qp->ibv_ex = NULL;
	domain->quirks |= PVB_QUIRK_WEAK_COMPLETION;
	CT_EXPECT_TRUE(ask(t).weak);
}

CT_TEST(query, every_operation_has_its_column)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		enum pvb_plan_op op;
		bool sends, announces;
	} rows[] = {
		{IBV_WR_SEND, PVB_PLAN_SEND, true, true},
		{IBV_WR_SEND_WITH_IMM, PVB_PLAN_SEND, true, true},
		{IBV_WR_RDMA_WRITE, PVB_PLAN_WRITE, false, false},
		{IBV_WR_RDMA_WRITE_WITH_IMM, PVB_PLAN_WRITE_IMM, false, true},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, PVB_PLAN_ATOMIC, false, false},
		{IBV_WR_ATOMIC_CMP_AND_SWP, PVB_PLAN_ATOMIC, false, false},
	};
	struct pvb_op op = {.key = KEY_READS};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		op.opcode = rows[i].opcode;
		CT_EXPECT_EQ(pvb_plan_op_of(&op), rows[i].op);
		CT_EXPECT_EQ(pvb_op_sends(&op), rows[i].sends);
		CT_EXPECT_EQ(pvb_op_announces(&op), rows[i].announces);
		CT_EXPECT_EQ(pvb_op_attr_bits(&op) == 0, rows[i].sends);
	}
}

CT_TEST(query, plans_are_counted_by_what_makes_durable_and_take_their_entries)
{
	static const struct {
		struct pvb_plan plan;
		enum pvb_commit_count count;
		uint32_t entries;
		bool needs_request;
		unsigned int pending;
	} rows[] = {
		{{.act = {PVB_ACT_DATA}}, PVB_COMMIT_ARRIVED, 1, false, 0},
		{{.act = {PVB_ACT_DATA, PVB_ACT_READ}, .pending = PVB_PENDING_READ},
		 PVB_COMMIT_READ,
		 2,
		 false,
		 PVB_PENDING_READ},
		{{.act = {PVB_ACT_READ, PVB_ACT_DATA_FENCED, PVB_ACT_READ}},
		 PVB_COMMIT_READ,
		 3,
		 false,
		 0},
		{{.act = {PVB_ACT_ATOMIC_WRITE, PVB_ACT_FLUSH}},
		 PVB_COMMIT_FLUSH,
		 2,
		 false,
		 0},
		{{.act = {PVB_ACT_SLOT, PVB_ACT_DATA}}, PVB_COMMIT_MESSAGE, 2, false, 0},
		{{.act = {PVB_ACT_DATA, PVB_ACT_SEQ, PVB_ACT_MESSAGE}},
		 PVB_COMMIT_REQUEST,
		 2,
		 true,
		 0},
		{{.act = {PVB_ACT_MESSAGE_DATA}}, PVB_COMMIT_REQUEST, 0, true, 0},
		/* Before the request is sent nothing is ordered behind it. */
		{{.act = {PVB_ACT_DATA, PVB_ACT_READ, PVB_ACT_WAIT, PVB_ACT_MESSAGE},
		  .pending = PVB_PENDING_MESSAGE},
		 PVB_COMMIT_REQUEST,
		 2,
		 true,
		 PVB_PENDING_MESSAGE | PVB_PENDING_UNKNOWN},
		{{.act = {PVB_ACT_DATA, PVB_ACT_DATA, PVB_ACT_DATA, PVB_ACT_DATA,
			  PVB_ACT_DATA, PVB_ACT_DATA}},
		 PVB_COMMIT_ARRIVED,
		 PVB_PLAN_ACTS,
		 false,
		 0},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_EXPECT_EQ(pvb_plan_count(&rows[i].plan), rows[i].count);
		CT_EXPECT_EQ(pvb_plan_entries(&rows[i].plan), rows[i].entries);
		CT_EXPECT_EQ(pvb_plan_needs_request(&rows[i].plan),
			     rows[i].needs_request);
		CT_EXPECT_EQ(pvb_plan_pending(&rows[i].plan), rows[i].pending);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* What was written before a fenced durable operation becomes durable with it. */
#include <errno.h>
#include "persist/persist.h"
#include "../durable.h"
#include "persist/initiator/internal.h"
#include "xfer/op.h"

#define WRITE (FI_RMA | FI_WRITE)

/* As KEY_READS. */
static uint64_t other_region(void)
{
	const struct pvb_key_attr attr = {.domain = CRN_DMP,
					  .persistent = true,
					  .readable = true};

	return pvb_key_pack(0x4100, &attr);
}

CT_FIXTURE(upgrade, struct durable, durable_start, durable_close);

CT_TEST_F(upgrade, each_kind_of_memory_in_its_way)
{
	static const struct {
		const char *what;
		bool needs_request, reads, visible;
		unsigned int posted; /* by a fence behind a write to it */
		unsigned int requests;
	} rows[] = {
		{"by request", .needs_request = true, .posted = 1, .requests = 1},
		{"by a read", .reads = true, .posted = 1},
		{"by a read, visible", .visible = true, .posted = 1},
		{"by its arrival", .posted = 0},
	};
	uint64_t key;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].what);
		CT_ASSERT_TRUE(durable_open(t, NULL));
		key = rows[i].needs_request ? KEY_REQUESTS
		      : rows[i].reads	    ? KEY_READS
		      : rows[i].visible	    ? KEY_VISIBLE
					    : KEY_ARRIVED;
		CT_EXPECT_EQ(plain_write(t, 1, 0, 8, key, FI_COMPLETION), 0);
		/* Of no bytes: nothing of its own serves others. */
		CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 0, key, FI_FENCE), 0);
		CT_EXPECT_EQ(t->w.qp->sq.posted, 2 + rows[i].posted);
		CT_EXPECT_EQ(t->control->sq.posted, rows[i].requests);
		CT_EXPECT_EQ(t->qp->commit->counts[PVB_COMMIT_UPGRADES], rows[i].posted);
		CT_EXPECT_EQ(t->qp->commit->dirty.count, 0);
	}
}

CT_TEST_F(upgrade, atomics_are_upgraded_as_writes_are)
{
	const struct world_opts opts = {.tx_size = 64,
					.caps = FI_MSG | FI_RMA | FI_ATOMIC |
						FI_RMA_PMEM};
	uint64_t one = 1, old = 0, compare = 2;

	for (int kind = 0; kind < 3; kind++) {
		CT_NOTE("kind %d", kind);
		CT_ASSERT_TRUE(durable_open(t, &opts));
		if (kind == 0)
			CT_EXPECT_EQ(fi_atomic(t->w.ep, &one, 1, NULL, 0, DURABLE_ADDR,
					       KEY_READS, FI_UINT64, FI_SUM, NUMBER(1)),
				     0);
		else if (kind == 1)
			CT_EXPECT_EQ(fi_inject_atomic(t->w.ep, &one, 1, 0, DURABLE_ADDR,
						      KEY_READS, FI_UINT64, FI_SUM),
				     0);
		else
			CT_EXPECT_EQ(fi_compare_atomic(t->w.ep, &one, 1, NULL, &compare,
						       NULL, &old, NULL, 0, DURABLE_ADDR,
						       KEY_READS, FI_UINT64, FI_CSWAP,
						       NUMBER(1)),
				     0);
		CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 0, KEY_READS, FI_FENCE), 0);
		CT_EXPECT_EQ(t->w.qp->sq.posted, 3);
		CT_EXPECT_EQ(durable_opcode(t, 1), IBV_WR_RDMA_READ);
		CT_EXPECT_EQ(fake_wr(&t->w.qp->sq, 1)->remote_addr, DURABLE_ADDR + 7);
	}
}

CT_TEST_F(upgrade, a_flush_of_the_operation_serves_what_it_is_ordered_behind)
{
	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_VISIBLE, FI_COMPLETION), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, KEY_VISIBLE, FI_FENCE), 0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 3);
	CT_EXPECT_EQ(durable_opcode(t, 2), IBV_WR_RDMA_READ);
	CT_EXPECT_EQ(t->qp->commit->counts[PVB_COMMIT_UPGRADES], 0);
	CT_EXPECT_EQ(t->qp->commit->dirty.count, 0);
}

/* Not what another one proves, if that one never begins. */
CT_TEST_F(upgrade, what_the_operation_was_to_serve_stays_until_it_is_posted)
{
	static const bool arrived[] = {false, true};
	uint64_t key;

	for (size_t i = 0; i < CRN_COUNT(arrived); i++) {
		CT_NOTE("arrived: %d", arrived[i]);
		key = arrived[i] ? KEY_ARRIVED : KEY_VISIBLE;
		CT_ASSERT_TRUE(durable_open(t, NULL));
		CT_EXPECT_EQ(plain_write(t, 1, 0, 8, key, FI_COMPLETION), 0);
		fake_fail(FAKE_POST_SEND, 1, ENOMEM);
		CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, key, FI_FENCE), -FI_EAGAIN);
		CT_EXPECT_EQ(t->qp->commit->dirty.count, 1);
		/* What is posted in its place serves other memory. */
		CT_EXPECT_EQ(durable_write(t, 3, 0x8000, 8, KEY_READS, FI_FENCE),
			     arrived[i] ? 0 : -FI_EAGAIN);
		CT_EXPECT_EQ(t->qp->commit->counts[PVB_COMMIT_UPGRADES], !arrived[i]);
		CT_EXPECT_EQ(durable_opcode(t, 1),
			     arrived[i] ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ);
		CT_EXPECT_EQ(t->qp->commit->dirty.count, 0);
	}
}

CT_TEST_F(upgrade, one_of_them_that_is_refused_is_upgraded_by_the_next_fence)
{
	unsigned int calls;

	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_READS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(plain_write(t, 2, 0, 8, other_region(), FI_COMPLETION), 0);
	CT_EXPECT_EQ(t->qp->commit->dirty.count, 2);
	/* All in one call, or nothing. */
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(durable_write(t, 3, 0x8000, 8, KEY_READS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 2);
	CT_EXPECT_EQ(t->qp->commit->dirty.count, 2);
	CT_EXPECT_EQ(t->qp->commit->counts[PVB_COMMIT_UPGRADES], 0);
	calls = t->w.qp->sq.calls;
	CT_EXPECT_EQ(durable_write(t, 3, 0x8000, 8, KEY_READS, FI_FENCE), 0);
	/* Two writes, two reads, the operation and its own. */
	CT_EXPECT_EQ(t->w.qp->sq.posted, 6);
	CT_EXPECT_EQ(t->w.qp->sq.calls, calls + 1);
	CT_EXPECT_EQ(t->qp->commit->counts[PVB_COMMIT_UPGRADES], 2);
	CT_EXPECT_EQ(t->qp->commit->dirty.count, 0);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(3), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

/* Of a queue that has no room for all of it at once. */
CT_TEST_F(upgrade, without_room_for_both_it_goes_first)
{
	static const struct world_opts opts = {.tx_size = 2};

	CT_ASSERT_TRUE(durable_open(t, &opts));
	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_READS, FI_COMPLETION), 0);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, KEY_READS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 2);
	CT_EXPECT_EQ(durable_opcode(t, 1), IBV_WR_RDMA_READ);
	CT_EXPECT_EQ(t->qp->commit->dirty.count, 0);
	durable_complete(t);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, KEY_READS, FI_FENCE), 0);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
}

/* What was upgraded with an operation is outstanding for the next. */
CT_TEST_F(upgrade, what_goes_with_an_operation_is_outstanding_behind_it)
{
	const struct pvb_op same = {.key = KEY_READS}, other = {.key = KEY_VISIBLE};

	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_READS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(WITH_LOCK(&t->qp->tx_lock,
			       pvb_commit_pending(t->qp, pvb_op_attr_bits(&same))),
		     0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 0, KEY_READS, FI_FENCE), 0);
	CT_EXPECT_EQ(durable_opcode(t, 1), IBV_WR_RDMA_READ);
	CT_EXPECT_TRUE(WITH_LOCK(&t->qp->tx_lock,
				 pvb_commit_pending(t->qp, pvb_op_attr_bits(&other))) &
		       PVB_PENDING_UNKNOWN);
}

CT_TEST_F(upgrade, a_write_that_was_refused_is_not_upgraded)
{
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_READS, FI_COMPLETION), -FI_EAGAIN);
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_READS, FI_FENCE), -FI_EINVAL);
	CT_EXPECT_EQ(t->qp->commit->dirty.count, 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, KEY_READS, FI_FENCE), 0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 2);
}

CT_TEST_F(upgrade, requests_for_it_are_refused_as_others_are)
{
	/* So many wait for an answer already. */
	CT_ASSERT_TRUE(durable_open(t, NULL));
	for (uintptr_t i = 0; i < PVB_CONTROL_CREDITS; i++)
		CT_EXPECT_EQ(durable_write(t, i, 0x1000 * i, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(plain_write(t, 20, 0x80000, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(durable_write(t, 21, 0x90000, 8, KEY_READS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(t->qp->commit->dirty.count, 1);
	/* Nobody answers any more. */
	CT_ASSERT_TRUE(durable_open(t, NULL));
	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	pvb_control_qp_lose(t->control_qp, "a test");
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, KEY_READS, FI_FENCE),
		     -FI_ECONNABORTED);

	/* Nobody ever did. */
	CT_ASSERT_TRUE(durable_open_without(t, NULL));
	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, KEY_READS, FI_FENCE), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(durable_write(t, 3, 0x8000, 8, KEY_READS, 0), 0);
}

CT_TEST_F(upgrade, a_full_queue_says_try_again)
{
	const struct world_opts opts = {.tx_size = 2};

	CT_ASSERT_TRUE(durable_open(t, &opts));
	for (uint32_t i = 0; i < t->qp->sq.depth; i++)
		CT_EXPECT_EQ(plain_write(t, i, 0, 8, KEY_READS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(durable_write(t, 9, 0x8000, 8, KEY_READS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(t->qp->commit->dirty.count, 1);
	durable_complete(t);
	for (uint32_t i = 0; i < t->qp->sq.depth; i++)
		expect_comp(t->w.cq, NUMBER(i), WRITE, 0, 0);
}

/* Writes to so many pages, which have ended. */
static void dirty_pages(struct durable *d, uintptr_t count)
{
	struct fi_cq_data_entry entry;
	uintptr_t i = 0;

	while (i < count) {
		if (!plain_write(d, i, 0x10000 * i, 8, KEY_READS, FI_COMPLETION)) {
			i++;
			continue;
		}
		durable_complete(d);
		while (fi_cq_read(d->w.cq, &entry, 1) > 0)
			;
	}
	durable_complete(d);
	while (fi_cq_read(d->w.cq, &entry, 1) > 0)
		;
	CT_EXPECT_EQ(d->qp->commit->dirty.count, count);
}

/* Some go with the operation, others had no room for that and went first: all of them,
 * and in the queue's room. */
CT_TEST_F(upgrade, what_goes_ahead_keeps_its_room)
{
	struct fi_cq_data_entry entry;
	struct world_opts opts = {0};
	unsigned int tries;
	ssize_t ret;

	for (uint32_t depth = 2; depth <= 40; depth++) {
		CT_NOTE("depth %u", depth);
		opts.tx_size = depth;
		CT_ASSERT_TRUE(durable_open(t, &opts));
		CT_EXPECT_EQ(t->qp->sq.depth, depth);
		/* As devices do that round up. */
		t->w.qp->init.cap.max_send_wr = 64;
		dirty_pages(t, 16);
		ret = -FI_EAGAIN;
		for (tries = 0; ret && tries < 40; tries++) {
			ret = durable_write(t, 99, 0x8000, 8, KEY_READS, FI_FENCE);
			CT_EXPECT_TRUE(crn_ring_used(&t->qp->sq.ring) <= depth);
			if (ret)
				CT_EXPECT_EQ(ret, -FI_EAGAIN);
			/* One at a time, or all. */
			if (depth & 1)
				durable_complete(t);
			else if (t->w.qp->sq.posted != t->w.qp->sq.done)
				fake_complete(t->w.qp, 1);
			/* Not before the last of it. */
			if (ret || !(depth & 1))
				expect_no_comp(t->w.cq);
		}
		CT_EXPECT_EQ(ret, 0);
		durable_complete(t);
		CT_EXPECT_EQ(fi_cq_read(t->w.cq, &entry, 1), 1);
		expect_no_comp(t->w.cq);
		CT_EXPECT_EQ(crn_ring_used(&t->qp->sq.ring), 0);
		CT_EXPECT_EQ(t->qp->commit->counts[PVB_COMMIT_UPGRADES], 16);
	}
}

CT_TEST_F(upgrade, a_message_that_was_never_posted_is_not_counted)
{
	dirty_pages(t, 16);
	/* Eight reads go, the next eight are refused. */
	fake_fail(FAKE_POST_SEND, 9, EINVAL);
	CT_EXPECT_EQ(durable_write(t, 20, 0x8000, 8, KEY_READS,
				   FI_FENCE | FI_REMOTE_CQ_DATA),
		     0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 24);
	CT_EXPECT_EQ(t->qp->commit->messages, 0);
}

/* Of durable operations without a completion what is fenced behind them tells. */
CT_TEST_F(upgrade, a_plain_fence_upgrades_what_was_to_be_durable_and_nothing_else)
{
	const struct world_opts opts = {.tx_size = 64,
					.cq_flags = FI_SELECTIVE_COMPLETION};
	static const bool owed[] = {true, false};

	for (size_t i = 0; i < CRN_COUNT(owed); i++) {
		CT_NOTE("owed: %d", owed[i]);
		CT_ASSERT_TRUE(durable_open(t, &opts));
		CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_READS,
					 owed[i] ? FI_COMMIT_COMPLETE : 0),
			     0);
		CT_EXPECT_EQ(plain_write(t, 2, 0x8000, 8, KEY_READS,
					 FI_COMPLETION | FI_FENCE),
			     0);
		CT_EXPECT_EQ(t->w.qp->sq.posted, owed[i] ? 3 : 2);
		CT_EXPECT_EQ(durable_opcode(t, 1),
			     owed[i] ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE);
	}
}

CT_TEST_F(upgrade, a_plain_fence_waits_for_what_the_device_does_not)
{
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(plain_write(t, 2, 0x8000, 8, KEY_REQUESTS, FI_COMPLETION | FI_FENCE),
		     -FI_EAGAIN);
	durable_complete(t);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	CT_EXPECT_EQ(plain_write(t, 2, 0x8000, 8, KEY_REQUESTS, FI_COMPLETION | FI_FENCE),
		     0);
}

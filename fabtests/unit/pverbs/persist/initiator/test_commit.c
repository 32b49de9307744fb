/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_COMMIT_COMPLETE at the initiator: what is posted, what has to wait, what is refused.
 */
#include <errno.h>
#include "../durable.h"

#define WRITE (FI_RMA | FI_WRITE)
#define SEQ_WORD (DURABLE_WORD + offsetof(struct pvb_area, seq_word))

/* A read of bytes that nothing writes. */
static ssize_t read_more(struct durable *d, uintptr_t number)
{
	static uint64_t to;
	struct iovec iov = {&to, sizeof(to)};
	struct fi_rma_iov range = {DURABLE_ADDR + 0x4000, sizeof(to), KEY_REQUESTS};
	struct fi_msg_rma msg = {.msg_iov = &iov,
				 .iov_count = 1,
				 .rma_iov = &range,
				 .rma_iov_count = 1,
				 .context = NUMBER(number)};

	return fi_readmsg(d->w.ep, &msg, FI_MORE | FI_COMPLETION);
}

CT_FIXTURE(commit, struct durable, durable_start, durable_close);

CT_TEST_F(commit, where_the_processor_is_needed_the_request_follows_the_seq_word)
{
	struct pvb_wire_message message;

	CT_EXPECT_EQ(durable_write(t, 1, 0, 100, KEY_REQUESTS, 0), 0);
	CT_ASSERT_EQ(t->w.qp->sq.posted, 2);
	CT_EXPECT_EQ(t->w.qp->sq.calls, 1);
	CT_EXPECT_EQ(durable_opcode(t, 0), IBV_WR_RDMA_WRITE);
	CT_EXPECT_EQ(durable_opcode(t, 1), IBV_WR_ATOMIC_FETCH_AND_ADD);
	CT_EXPECT_EQ(fake_wr(&t->w.qp->sq, 1)->remote_addr, SEQ_WORD);
	CT_EXPECT_EQ(fake_wr(&t->w.qp->sq, 1)->compare_add, 1);
	message = durable_sent(t, 0);
	CT_EXPECT_EQ(message.number, 1);
	CT_EXPECT_EQ(message.seq_word, 1);
	CT_ASSERT_EQ(message.ranges, 1);
	CT_EXPECT_EQ(message.range[0].addr, DURABLE_ADDR);
	CT_EXPECT_EQ(message.range[0].len, 100);
	CT_EXPECT_EQ(message.range[0].rkey, 0x4000);
	durable_complete(t);
	expect_no_comp(t->w.cq);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq); /* which takes the answer */
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

CT_TEST_F(commit, the_cheapest_method_depends_on_the_region)
{
	const struct fake_wr *read;

	CT_EXPECT_EQ(durable_write(t, 1, 0, 100, KEY_ARRIVED, 0), 0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 1);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 100, KEY_VISIBLE, 0), 0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 3);
	CT_EXPECT_EQ(durable_write(t, 3, 0, 100, KEY_READS, 0), 0);
	CT_ASSERT_EQ(t->w.qp->sq.posted, 5);
	read = fake_wr(&t->w.qp->sq, 4);
	CT_EXPECT_EQ(read->opcode, IBV_WR_RDMA_READ);
	CT_EXPECT_EQ(read->remote_addr, DURABLE_ADDR + 99);
	CT_EXPECT_EQ(read->sge[0].length, 1);
	CT_EXPECT_EQ(t->control->sq.posted, 0);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(3), WRITE, 0, 0);
}

CT_TEST_F(commit, keys_that_promise_nothing_are_refused)
{
	const uint64_t key = KEY_REQUESTS;

	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, 0x4000, 0), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, key ^ 1ull << 60, 0), -FI_EKEYREJECTED);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, key ^ 1ull << 33, 0), -FI_EKEYREJECTED);
	CT_EXPECT_EQ(t->w.qp->sq.posted + t->control->sq.posted, 0);
	/* A plain write looks at nothing but the rkey. */
	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, key ^ 1ull << 60, FI_COMPLETION), 0);
}

CT_TEST_F(commit, a_read_cannot_be_durable)
{
	struct fi_rma_iov range = {.addr = DURABLE_ADDR, .key = KEY_REQUESTS};
	const struct fi_msg_rma msg = {.rma_iov = &range, .rma_iov_count = 1};

	CT_EXPECT_EQ(fi_readmsg(t->w.ep, &msg, FI_COMMIT_COMPLETE), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 0);
}

CT_TEST_F(commit, a_peer_without_control_queue_pair_can_be_flushed_to_by_reads_only)
{
	CT_ASSERT_TRUE(durable_open_without(t, NULL));
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_READS, 0), 0);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
}

CT_TEST_F(commit, what_the_target_would_refuse_to_flush_is_refused_here)
{
	CT_EXPECT_EQ(durable_write(t, 1, 0, PVB_FLUSH_LIMIT + 1, KEY_REQUESTS, 0),
		     -FI_EMSGSIZE);
	CT_EXPECT_EQ(durable_write(t, 1, 0, PVB_FLUSH_LIMIT, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 1, 0, PVB_FLUSH_LIMIT + 1, KEY_READS, 0), 0);
}

CT_TEST_F(commit, so_many_requests_wait_for_answers_and_no_more)
{
	uintptr_t i;

	for (i = 1; i <= PVB_CONTROL_CREDITS; i++)
		CT_EXPECT_EQ(durable_write(t, i, 64 * i, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, i, 64 * i, 8, KEY_REQUESTS, 0), -FI_EAGAIN);
	/* The others are not held up. */
	CT_EXPECT_EQ(durable_write(t, 100, 0x5000, 8, KEY_READS, 0), 0);
	CT_EXPECT_EQ(plain_write(t, 101, 0x6000, 8, KEY_READS, FI_COMPLETION), 0);
	durable_complete(t);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	/* The credit is free once its end is reported. */
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	CT_EXPECT_EQ(durable_write(t, i, 64 * i, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, i, 64 * i, 8, KEY_REQUESTS, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(durable_sent(t, PVB_CONTROL_CREDITS).seq_word,
		     PVB_CONTROL_CREDITS + 1);
}

CT_TEST_F(commit, a_refused_post_leaves_seq_word_and_numbers_as_they_were)
{
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), -FI_EAGAIN);
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), -FI_EINVAL);
	/* The second of two: it has begun. */
	fake_fail(FAKE_POST_SEND, 2, ENOMEM);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_REQUESTS, 0), 0);
	expect_cq_error(t->w.cq, NUMBER(2), WRITE, FI_EIO);
	CT_EXPECT_EQ(t->control->sq.posted, 0);
	CT_EXPECT_EQ(durable_write(t, 3, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_sent(t, 0).number, 1);
	CT_EXPECT_EQ(durable_sent(t, 0).seq_word, 1);
	durable_complete(t);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_comp(t->w.cq, NUMBER(3), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

CT_TEST_F(commit, durable_writes_without_completion_cost_nothing_until_one_is_fenced)
{
	const struct world_opts opts = {.tx_size = 64,
					.cq_flags = FI_SELECTIVE_COMPLETION};
	struct pvb_wire_message message;

	CT_ASSERT_TRUE(durable_open(t, &opts));
	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_REQUESTS, FI_COMMIT_COMPLETE), 0);
	CT_EXPECT_EQ(plain_write(t, 2, 8, 8, KEY_REQUESTS, FI_COMMIT_COMPLETE), 0);
	CT_EXPECT_EQ(plain_write(t, 3, 16, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 3);
	CT_EXPECT_EQ(t->control->sq.posted, 0);
	CT_EXPECT_EQ(durable_write(t, 4, 0x8000, 8, KEY_REQUESTS, FI_FENCE), 0);
	message = durable_sent(t, 0);
	CT_EXPECT_EQ(message.range[0].addr, DURABLE_ADDR);
	CT_EXPECT_EQ(message.range[0].len, 24);
	CT_EXPECT_EQ(message.copy, 0);
	message = durable_sent(t, 1);
	CT_EXPECT_EQ(message.copy, 8);
	CT_EXPECT_EQ(message.to.addr, DURABLE_ADDR + 0x8000);
	durable_complete(t);
	durable_answer(t, 0);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_comp(t->w.cq, NUMBER(4), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

CT_TEST_F(commit, an_inject_under_default_flags_is_made_durable_by_the_next_fence)
{
	const struct world_opts opts = {
		.tx_size = 64,
		.caps = FI_MSG | FI_RMA | FI_RMA_PMEM,
		.tx_op_flags = FI_COMMIT_COMPLETE,
	};

	CT_ASSERT_TRUE(durable_open(t, &opts));
	CT_EXPECT_EQ(fi_inject_write(t->w.ep, "12345678", 8, 0, DURABLE_ADDR, KEY_READS),
		     0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 1);
	CT_EXPECT_EQ(fi_write(t->w.ep, "12345678", 8, NULL, 0, DURABLE_ADDR + 0x8000,
			      KEY_READS, NUMBER(1)),
		     0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 3);
	CT_EXPECT_EQ(durable_write(t, 2, 0x10000, 8, KEY_READS, FI_FENCE), 0);
	CT_EXPECT_EQ(durable_opcode(t, 3), IBV_WR_RDMA_READ);
	CT_EXPECT_EQ(fake_wr(&t->w.qp->sq, 3)->remote_addr, DURABLE_ADDR + 7);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

CT_TEST_F(commit, what_the_target_writes_later_must_not_be_overtaken)
{
	CT_EXPECT_EQ(durable_write(t, 1, 0, 64, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, KEY_REQUESTS, FI_FENCE), 0);
	CT_EXPECT_EQ(durable_sent(t, 1).copy, 8);
	CT_EXPECT_EQ(plain_write(t, 3, 0x8007, 1, KEY_REQUESTS, FI_COMPLETION),
		     -FI_EAGAIN);
	CT_EXPECT_EQ(plain_write(t, 3, 0x8007, 1, 0x4000, FI_COMPLETION), -FI_EAGAIN);
	CT_EXPECT_EQ(durable_write(t, 3, 0x7fff, 2, KEY_REQUESTS, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_read(t->w.ep, t, 8, NULL, 0, DURABLE_ADDR + 0x8004, KEY_REQUESTS,
			     NULL),
		     -FI_EAGAIN);
	CT_EXPECT_EQ(send_number(t->w.ep, 3), -FI_EAGAIN);
	/* The endpoint promised the order of writes, and reads of other bytes none. */
	CT_EXPECT_EQ(plain_write(t, 3, 0x8008, 1, KEY_REQUESTS, FI_COMPLETION),
		     -FI_EAGAIN);
	CT_EXPECT_EQ(fi_read(t->w.ep, t, 8, NULL, 0, DURABLE_ADDR + 0x8008, KEY_REQUESTS,
			     NUMBER(3)),
		     0);
	durable_complete(t);
	durable_answer(t, 0);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(3), FI_RMA | FI_READ, 0, 0);
	CT_EXPECT_EQ(plain_write(t, 4, 0x8000, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(send_number(t->w.ep, 5), 0);
}

/* The caller may wait for it before it tries again, or never come again. */
CT_TEST_F(commit, a_call_that_must_wait_posts_what_FI_MORE_holds_back)
{
	CT_EXPECT_EQ(durable_write(t, 1, 0, 64, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, KEY_REQUESTS, FI_FENCE), 0);
	const unsigned int posted = t->w.qp->sq.posted;
	CT_EXPECT_EQ(read_more(t, 3), 0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, posted);
	CT_EXPECT_EQ(plain_write(t, 4, 0x8000, 8, KEY_REQUESTS, FI_COMPLETION),
		     -FI_EAGAIN);
	CT_EXPECT_EQ(t->w.qp->sq.posted, posted + 1);
	CT_EXPECT_EQ(read_more(t, 5), 0);
	CT_EXPECT_EQ(durable_write(t, 6, 0x8000, 8, KEY_REQUESTS, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(t->w.qp->sq.posted, posted + 2);
	durable_complete(t);
	durable_answer(t, 0);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(3), FI_RMA | FI_READ, 0, 0);
	expect_comp(t->w.cq, NUMBER(5), FI_RMA | FI_READ, 0, 0);
}

CT_TEST_F(commit, a_fenced_write_too_long_for_a_message_waits_for_the_answer)
{
	CT_EXPECT_EQ(durable_write(t, 1, 0, 64, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, PVB_WIRE_INLINE + 1, KEY_REQUESTS,
				   FI_FENCE),
		     -FI_EAGAIN);
	durable_complete(t);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, PVB_WIRE_INLINE + 1, KEY_REQUESTS,
				   FI_FENCE),
		     0);
}

CT_TEST_F(commit, a_fence_behind_another_kind_of_memory_waits_for_all_of_it)
{
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 64, 8, KEY_READS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 3, 128, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(durable_write(t, 3, 128, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 4, 192, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	durable_complete(t);
	durable_answer(t, 0);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	for (uintptr_t i = 1; i <= 3; i++)
		expect_comp(t->w.cq, NUMBER(i), WRITE, 0, 0);
	CT_EXPECT_EQ(durable_write(t, 4, 192, 8, KEY_REQUESTS, FI_FENCE), 0);
}

CT_TEST_F(commit, requests_stay_behind_the_newest_seq_word_for_ever)
{
	t->control_qp->seq_posted = 0xffffffff;
	CT_EXPECT_EQ(durable_write(t, 1, 0, 64, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, KEY_REQUESTS, FI_FENCE), 0);
	CT_EXPECT_EQ(durable_sent(t, 0).seq_word, 0);
	CT_EXPECT_EQ(durable_sent(t, 1).seq_word, 1);
}

CT_TEST_F(commit, what_is_too_much_for_one_request_is_upgraded_by_several)
{
	const struct world_opts opts = {.tx_size = 64,
					.cq_flags = FI_SELECTIVE_COMPLETION};

	CT_ASSERT_TRUE(durable_open(t, &opts));
	/* One range once there are too many to be kept apart. */
	for (uint64_t i = 0; i <= PVB_DIRTY_APART; i++)
		CT_EXPECT_EQ(plain_write(t, 1, i * PVB_FLUSH_LIMIT / 4, 8, KEY_REQUESTS,
					 0),
			     0);
	t->qp->commit->dirty.range[0].to += 2 * PVB_FLUSH_LIMIT;
	CT_EXPECT_EQ(durable_write(t, 2, 1ull << 40, 8, KEY_REQUESTS, FI_FENCE),
		     -FI_EAGAIN);
	for (unsigned int i = 0; i < t->control->sq.posted; i++)
		CT_EXPECT_LE(durable_sent(t, i).range[0].len, PVB_FLUSH_LIMIT);
	CT_EXPECT_EQ(durable_sent(t, 0).range[0].len, PVB_FLUSH_LIMIT);
	CT_EXPECT_EQ(durable_sent(t, 1).range[0].addr, DURABLE_ADDR + PVB_FLUSH_LIMIT);
	while (t->answered < t->control->sq.posted) {
		durable_complete(t);
		durable_answer(t, 0);
		expect_no_comp(t->w.cq);
	}
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(durable_write(t, 2, 1ull << 40, 8, KEY_REQUESTS, FI_FENCE), 0);
	CT_EXPECT_EQ(t->qp->commit->dirty.count, 0);
}

CT_TEST_F(commit, what_was_held_back_goes_first)
{
	CT_EXPECT_EQ(plain_write(t, 1, 0x4000, 8, KEY_REQUESTS, FI_MORE | FI_COMPLETION),
		     0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_REQUESTS, FI_MORE), 0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 3);
	CT_EXPECT_EQ(fake_wr(&t->w.qp->sq, 0)->remote_addr, DURABLE_ADDR + 0x4000);
	durable_complete(t);
	durable_answer(t, 0);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
}

CT_TEST_F(commit, a_queue_full_of_what_is_held_back_is_emptied_by_a_fence)
{
	const struct world_opts opts = {.tx_size = 4};

	CT_ASSERT_TRUE(durable_open(t, &opts));
	for (uintptr_t i = 0; i < 4; i++)
		CT_EXPECT_EQ(plain_write(t, i, 0x4000 * i, 8, KEY_REQUESTS,
					 FI_MORE | FI_COMPLETION),
			     0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 0);
	CT_EXPECT_EQ(durable_write(t, 5, 0x20000, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 4);
}

CT_TEST_F(commit, a_connection_is_tracked_from_its_first_operation_on)
{
	CT_EXPECT_EQ(t->qp->commit, NULL);
	CT_EXPECT_EQ(t->qp->sq.slots, NULL);
	CT_EXPECT_EQ(t->qp->rq.bufs, NULL);
	CT_EXPECT_EQ(recv_number(t->w.ep, 1), 0);
	CT_EXPECT_NE(t->qp->rq.bufs, NULL);
	CT_EXPECT_EQ(t->qp->commit, NULL);
	CT_EXPECT_EQ(send_number(t->w.ep, 2), 0);
	CT_ASSERT_NE(t->qp->commit, NULL);
	CT_EXPECT_EQ(t->qp->commit->messages, 1);
	CT_EXPECT_EQ(t->qp->commit->never, 0);
}

CT_TEST_F(commit, nothing_is_left_of_a_write_without_memory)
{
	unsigned int nth;
	ssize_t ret;

	for (nth = 1;; nth++) {
		CT_NOTE("allocation %u", nth);
		CT_ASSERT_TRUE(durable_open(t, NULL));
		CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_REQUESTS, FI_COMPLETION), 0);
		ct_fail_alloc(nth);
		ret = durable_write(t, 2, 0x8000, 8, KEY_REQUESTS, FI_FENCE);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
	}
	CT_EXPECT_EQ(ret, 0);
	CT_ASSERT_TRUE(durable_open(t, NULL));
	ct_fail_alloc(1);
	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_REQUESTS, FI_COMPLETION), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(t->w.qp->sq.posted, 0);
}

CT_TEST_F(commit, nothing_is_posted_before_there_is_a_connection_or_after_it)
{
	fake_event(t->w.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	expect_event(t->w.eq, FI_SHUTDOWN, &t->w.ep->fid, NULL, 0);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), -FI_ESHUTDOWN);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_MORE: requests held back and given to the device as one list. */
#include <errno.h>
#include "../world.h"

CT_FIXTURE(tx_more, struct world, world_start_connected, world_close);

CT_TEST_F(tx_more, requests_go_to_the_device_with_the_next_one_without_more)
{
	for (uintptr_t i = 0; i < 3; i++)
		CT_EXPECT_EQ(send_more(t->ep, i), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 0);
	CT_EXPECT_EQ(send_number(t->ep, 3), 0);
	CT_ASSERT_EQ(t->qp->sq.posted, 4);
	CT_EXPECT_EQ(t->qp->sq.calls, 1);
	fake_complete_all(t->qp);
	for (uintptr_t i = 0; i < 4; i++)
		expect_comp(t->cq, NUMBER(i), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(t->cq);
}

CT_FIXTURE(tx_more_options, struct world, world_fresh, world_close);

CT_TEST_F(tx_more_options, what_describes_a_request_may_be_reused_at_once)
{
	struct iovec iov[] = {{"abcd", 4}, {"efg", 3}};
	void *desc[] = {(void *)11, (void *)22};
	struct fi_msg msg = {.msg_iov = iov, .desc = desc, .iov_count = 2, .data = 5};
	const struct fake_wr *wr;

	fake_devices[0].max_inline = 0;
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_MORE | FI_REMOTE_CQ_DATA), 0);
	memset(iov, 0, sizeof(iov));
	memset(desc, 0, sizeof(desc));
	memset(&msg, 0, sizeof(msg));
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	wr = fake_wr(&t->qp->sq, 0);
	CT_EXPECT_EQ(wr->opcode, IBV_WR_SEND_WITH_IMM);
	CT_EXPECT_EQ(wr->imm, 5);
	CT_ASSERT_EQ(wr->num_sge, 2);
	CT_EXPECT_MEMEQ((void *)(uintptr_t)wr->sge[0].addr, "abcd", 4);
	CT_EXPECT_EQ(wr->sge[0].lkey, 11);
	CT_EXPECT_EQ(wr->sge[1].length, 3);
	CT_EXPECT_EQ(wr->sge[1].lkey, 22);
}

CT_TEST_F(tx_more, all_kinds_of_requests_keep_their_order)
{
	static const enum ibv_wr_opcode wanted[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
						    IBV_WR_SEND, IBV_WR_SEND};
	struct fi_rma_iov range = {.addr = 0x1000, .key = 7};
	struct fi_msg_rma msg = {.rma_iov = &range, .rma_iov_count = 1};

	CT_EXPECT_EQ(fi_writemsg(t->ep, &msg, FI_MORE), 0);
	CT_EXPECT_EQ(fi_readmsg(t->ep, &msg, FI_MORE), 0);
	CT_EXPECT_EQ(send_more(t->ep, 1), 0);
	CT_EXPECT_EQ(fi_inject(t->ep, "x", 1, 0), 0);
	CT_ASSERT_EQ(t->qp->sq.posted, CRN_COUNT(wanted));
	for (unsigned int i = 0; i < CRN_COUNT(wanted); i++)
		CT_EXPECT_EQ(fake_wr(&t->qp->sq, i)->opcode, wanted[i]);
	CT_EXPECT_EQ(t->qp->sq.calls, 1);
}

CT_TEST_F(tx_more_options, no_more_than_the_limit_are_held_back)
{
	struct world_opts opts = {.tx_size = 100};

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	for (uintptr_t i = 0; i < PVB_CHAIN_LIMIT; i++)
		CT_EXPECT_EQ(send_more(t->ep, i), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 0);
	CT_EXPECT_EQ(send_more(t->ep, PVB_CHAIN_LIMIT), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, PVB_CHAIN_LIMIT + 1);
	CT_EXPECT_EQ(send_more(t->ep, 50), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, PVB_CHAIN_LIMIT + 1);
	CT_EXPECT_EQ(send_number(t->ep, 51), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, PVB_CHAIN_LIMIT + 3);
}

CT_TEST_F(tx_more, a_message_that_may_be_overwritten_at_once_is_not_held_back)
{
	char buf[] = "first";
	struct iovec iov = {buf, sizeof(buf)};
	struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1};

	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_MORE | FI_INJECT), 0);
	memset(buf, 0, sizeof(buf));
	CT_ASSERT_EQ(t->qp->sq.posted, 1);
	CT_EXPECT_STREQ((const char *)fake_wr(&t->qp->sq, 0)->inline_data, "first");
}

/* Nothing else would ever complete and make room. */
CT_TEST_F(tx_more, a_full_queue_posts_what_is_held_back)
{
	for (uintptr_t i = 0; i < t->tx_size; i++)
		CT_EXPECT_EQ(send_more(t->ep, i), 0);
	CT_EXPECT_EQ(send_more(t->ep, 8), -FI_EAGAIN);
	CT_EXPECT_EQ(t->qp->sq.posted, t->tx_size);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(0), FI_SEND | FI_MSG, 0, 0);
	CT_EXPECT_EQ(send_more(t->ep, 8), 0);
}

/* Calls that fail for what they were given. */
static ssize_t misused(const struct world *w, unsigned int row)
{
	static struct iovec iov[PVB_IOV_LIMIT + 1];
	static struct fi_ioc ioc = {iov, 2}, one = {iov, 1};
	static struct fi_rma_iov range[2];
	static struct fi_rma_ioc target = {.count = 1};
	const struct fi_msg_rma rma = {.rma_iov = range, .rma_iov_count = 2};
	const struct fi_msg_atomic atomic = {.msg_iov = &ioc,
					     .iov_count = 1,
					     .rma_iov = &target,
					     .rma_iov_count = 1,
					     .datatype = FI_UINT64,
					     .op = FI_SUM};
	const struct fi_msg msg = {0};
	struct fid_ep *ep = w->ep;

	switch (row) {
	case 0:
		return fi_inject(ep, iov, w->info->tx_attr->inject_size + 1, 0);
	case 1:
		return fi_sendmsg(ep, &msg, FI_MULTI_RECV);
	case 2:
		return fi_sendv(ep, iov, NULL, PVB_IOV_LIMIT + 1, 0, NULL);
	case 3:
		return fi_writemsg(ep, &rma, 0);
	case 4:
		return fi_writemsg(ep, &rma, FI_MULTI_RECV);
	case 5:
		return fi_readmsg(ep, &rma, FI_INJECT);
	case 6:
		return fi_writemsg(ep, &rma, FI_COMMIT_COMPLETE);
	case 7:
		return fi_atomic(ep, iov, 2, NULL, 0, 0, 0, FI_UINT64, FI_SUM, NULL);
	case 8:
		return fi_atomicv(ep, &ioc, NULL, 1, 0, 0, 0, FI_UINT64, FI_SUM, NULL);
	case 9:
		return fi_atomicmsg(ep, &atomic, 0);
	case 10:
		return fi_inject_atomic(ep, iov, 2, 0, 0, 0, FI_UINT64, FI_SUM);
	case 11:
		return fi_fetch_atomicmsg(ep, &atomic, &one, NULL, 1, 0);
	case 12:
		return fi_compare_atomicmsg(ep, &atomic, &one, NULL, 1, &one, NULL, 1, 0);
	case 13:
		return fi_atomic(ep, iov, 1, NULL, 0, 0, 0, FI_FLOAT, FI_SUM, NULL);
	case 14:
		return fi_atomic(ep, iov, 1, NULL, 0, 4, 0, FI_UINT64, FI_SUM, NULL);
	default:
		return 0;
	}
}

/* The caller may wait for it before it tries again, or never come again. */
CT_TEST_F(tx_more_options, a_call_that_fails_posts_what_is_held_back)
{
	const struct world_opts opts = {.caps = FI_MSG | FI_RMA | FI_ATOMIC,
					.tx_size = 32};
	unsigned int row;

	fake_devices[0].attr.atomic_cap = IBV_ATOMIC_HCA;
	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	for (row = 0; row < 15; row++) {
		CT_NOTE("row %u", row);
		CT_EXPECT_EQ(send_more(t->ep, row), 0);
		CT_EXPECT_EQ(t->qp->sq.posted, row);
		CT_EXPECT_TRUE(misused(t, row) < 0);
		CT_EXPECT_EQ(t->qp->sq.posted, row + 1);
	}
}

CT_TEST_F(tx_more, requests_held_back_when_the_connection_ends_are_cancelled)
{
	CT_EXPECT_EQ(send_more(t->ep, 1), 0);
	CT_EXPECT_EQ(send_more(t->ep, 2), 0);
	fake_event(t->id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	expect_event(t->eq, FI_SHUTDOWN, &t->ep->fid, NULL, 0);
	CT_EXPECT_EQ(send_number(t->ep, 3), -FI_ESHUTDOWN);
	expect_cq_error(t->cq, NUMBER(1), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_cq_error(t->cq, NUMBER(2), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->cq);
}

/* fail: which of three held back and a fourth the device refuses, from 1. */
static void refuse_nth(struct world *t, unsigned int fail, bool quiet_last)
{
	struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION};
	ssize_t ret;

	CT_NOTE("the device refuses request %u", fail);
	world_reset();
	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	for (uintptr_t i = 1; i <= 3; i++)
		CT_EXPECT_EQ(send_more(t->ep, i), 0);
	fake_fail(FAKE_POST_SEND, fail, EINVAL);
	ret = quiet_last ? send_quietly(t->ep, 4) : send_more(t->ep, 4);
	CT_EXPECT_EQ(ret, quiet_last ? -FI_EINVAL : 0);
	if (!quiet_last)
		CT_EXPECT_EQ(send_quietly(t->ep, 5), -FI_EINVAL);
	for (uintptr_t i = fail; i <= (quiet_last ? 3 : 4); i++)
		expect_cq_error(t->cq, NUMBER(i), FI_SEND | FI_MSG, FI_EINVAL);
	fake_complete_all(t->qp);
	for (uintptr_t i = 1; i < fail; i++)
		expect_comp(t->cq, NUMBER(i), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(t->cq);
	CT_EXPECT_EQ(crn_ring_used(&ep_of(t->ep)->qp.sq.ring), 0);

	for (uintptr_t i = 0; i < t->tx_size; i++)
		CT_EXPECT_EQ(send_quietly(t->ep, i), 0);
	fake_complete_all(t->qp);
	expect_no_comp(t->cq);
	CT_EXPECT_LT(crn_ring_used(&ep_of(t->ep)->qp.sq.ring), t->tx_size);
	world_close(t);
}

CT_TEST_F(tx_more_options, accepted_requests_that_the_device_refuses_end_with_an_error)
{
	for (unsigned int fail = 1; fail <= 4; fail++)
		refuse_nth(t, fail, true);
	for (unsigned int fail = 1; fail <= 4; fail++)
		refuse_nth(t, fail, false);
}

/* fi_cq(3): err is a fabric error code, prov_errno the provider's own. */
CT_TEST_F(tx_more_options, the_device_s_reason_is_told_in_words_of_libfabric)
{
	static const struct {
		int refusal, err, prov_errno;
	} rows[] = {
		{EINVAL, FI_EINVAL, -EINVAL},  /* as it is */
		{-EINVAL, FI_EINVAL, -EINVAL}, /* of a driver with another sign */
		{ENOMEM, FI_ENOMEM, -ENOMEM},  /* nothing to try again: it was accepted */
		{EAGAIN, FI_EIO, -EAGAIN},     /* the same */
		{EBADSLT, FI_EOTHER, -EBADSLT}, /* fi_errno(3) has no such code */
		{-1, FI_EOTHER, -1},		/* no reason given */
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("the device says %d", rows[i].refusal);
		world_reset();
		CT_ASSERT_TRUE(world_open_connected(t, NULL));
		for (uintptr_t n = 1; n <= t->tx_size; n++)
			CT_EXPECT_EQ(send_more(t->ep, n), 0);
		fake_fail(FAKE_POST_SEND, t->tx_size, rows[i].refusal);
		CT_EXPECT_EQ(send_more(t->ep, 100), -FI_EAGAIN);
		expect_cq_reason(t->cq, NUMBER(t->tx_size), rows[i].err,
				 rows[i].prov_errno);
		CT_EXPECT_STREQ(fi_cq_strerror(t->cq, rows[i].prov_errno, NULL, NULL, 0),
				fi_strerror(-rows[i].prov_errno));
		world_close(t);
	}
}

/* Requests 1 and 2 were to retire with the signal of 4. */
CT_TEST_F(tx_more_options, a_signal_whose_request_was_refused_goes_to_the_next)
{
	struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION, .tx_size = 16};
	struct fi_msg msg = {0};

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_EXPECT_EQ(send_quietly(t->ep, 1), 0);
	CT_EXPECT_EQ(send_quietly(t->ep, 2), 0);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_MORE), 0);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_MORE), 0);
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CT_EXPECT_EQ(send_quietly(t->ep, 5), -FI_EINVAL);
	CT_EXPECT_EQ(send_quietly(t->ep, 6), 0);
	CT_EXPECT_TRUE(fake_newest(&t->qp->sq)->flags & IBV_SEND_SIGNALED);
}

CT_TEST_F(tx_more, without_memory_a_request_is_not_held_back)
{
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(send_more(t->ep, 2), 0);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(t->qp->sq.posted, 2);
	CT_EXPECT_EQ(send_more(t->ep, 3), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 2);
}

CT_TEST_F(tx_more, closing_cancels_what_is_held_back)
{
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	CT_EXPECT_EQ(send_more(t->ep, 2), 0);
	CT_EXPECT_EQ(send_more(t->ep, 3), 0);
	world_close_ep(t);
	for (uintptr_t i = 1; i <= 3; i++)
		expect_cq_error(t->cq, NUMBER(i), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->cq);
}

CT_TEST_F(tx_more, closing_cancels_what_a_device_in_error_refuses)
{
	fake_devices[0].refuses_in_err = true;
	CT_EXPECT_EQ(send_more(t->ep, 1), 0);
	CT_EXPECT_EQ(send_more(t->ep, 2), 0);
	world_close_ep(t);
	for (uintptr_t i = 1; i <= 2; i++)
		expect_cq_reason(t->cq, NUMBER(i), FI_ECANCELED, IBV_WC_WR_FLUSH_ERR);
	expect_no_comp(t->cq);
}

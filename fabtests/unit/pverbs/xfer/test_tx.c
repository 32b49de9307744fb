/* SPDX-License-Identifier: BSD-2-Clause */
/* The send queue: room, signals, refusals, inline data and bounce buffers. */
#include <errno.h>
#include <stdlib.h>
#include "../world.h"

static const struct world_opts selective = {.cq_flags = FI_SELECTIVE_COMPLETION};

CT_FIXTURE(tx, struct world, world_fresh, world_close);

CT_TEST_F(tx, a_full_queue_says_try_again_until_a_completion_is_read)
{
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	for (uintptr_t i = 0; i < t->tx_size; i++)
		CT_EXPECT_EQ(send_number(t->ep, i), 0);
	CT_EXPECT_EQ(send_number(t->ep, 8), -FI_EAGAIN);
	fake_complete(t->qp, 1);
	CT_EXPECT_EQ(send_number(t->ep, 8), -FI_EAGAIN);
	expect_comp(t->cq, NUMBER(0), FI_SEND | FI_MSG, 0, 0);
	CT_EXPECT_EQ(send_number(t->ep, 8), 0);
	CT_EXPECT_EQ(send_number(t->ep, 9), -FI_EAGAIN);
	fake_complete_all(t->qp);
	for (uintptr_t i = 1; i < 9; i++)
		expect_comp(t->cq, NUMBER(i), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(t->cq);
}

CT_TEST_F(tx, a_quarter_of_a_queue_without_completions_shares_a_signal)
{
	static const struct {
		size_t size;
		unsigned int every;
	} rows[] = {{2, 1}, {3, 1}, {7, 1}, {8, 2}, {16, 4}, {100, 25}, {256, 64}};
	struct world_opts opts = selective;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		world_reset();
		opts.tx_size = rows[i].size;
		CT_ASSERT_TRUE(world_open_connected(t, &opts));
		for (unsigned int n = 0; n < rows[i].size; n++) {
			CT_NOTE("request %u of %zu", n, rows[i].size);
			CT_ASSERT_EQ(send_quietly(t->ep, n), 0);
			CT_EXPECT_EQ(!!(fake_wr(&t->qp->sq, n)->flags &
					IBV_SEND_SIGNALED),
				     (n + 1) % rows[i].every == 0);
		}
		CT_EXPECT_EQ(send_quietly(t->ep, 0), -FI_EAGAIN);
		world_close(t);
	}
}

CT_TEST_F(tx, requests_without_completion_give_room_back)
{
	struct world_opts opts = selective;

	for (opts.tx_size = 1; opts.tx_size < 40; opts.tx_size++) {
		world_reset();
		CT_ASSERT_TRUE(world_open_connected(t, &opts));
		CT_NOTE("size %zu", opts.tx_size);
		for (unsigned int round = 0; round < 50; round++) {
			CT_ASSERT_EQ(send_quietly(t->ep, round), 0);
			while (!send_quietly(t->ep, round))
				;
			fake_complete_all(t->qp);
			expect_no_comp(t->cq);
		}
		world_close(t);
	}
}

CT_TEST_F(tx, a_signal_retires_the_requests_without_completion_before_it)
{
	CT_ASSERT_TRUE(world_open_connected(t, &selective));
	CT_EXPECT_EQ(send_quietly(t->ep, 1), 0);
	CT_EXPECT_EQ(send_number(t->ep, 2), 0);
	CT_EXPECT_EQ(fi_send(t->ep, NULL, 0, NULL, 0, NUMBER(3)), 0);
	fake_complete_all(t->qp);
	expect_no_comp(t->cq);
	CT_EXPECT_EQ(crn_ring_used(&ep_of(t->ep)->qp.sq.ring), 1);
}

CT_TEST_F(tx, a_request_that_wants_a_completion_has_a_signal_among_others)
{
	struct fi_msg msg = {.context = NUMBER(2)};
	struct world_opts opts = selective;

	opts.tx_size = 64;
	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_EXPECT_EQ(send_quietly(t->ep, 1), 0);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_COMPLETION), 0);
	CT_EXPECT_EQ(send_quietly(t->ep, 3), 0);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(2), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(t->cq);
}

/* Otherwise refusals in a row would fill the queue with requests nobody hears of. */
CT_TEST_F(tx, a_signal_whose_request_was_refused_goes_to_the_next)
{
	struct world_opts opts = selective;

	opts.tx_size = 16;
	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	for (int i = 0; i < 3; i++)
		CT_EXPECT_EQ(send_quietly(t->ep, 0), 0);
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(send_quietly(t->ep, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(send_quietly(t->ep, 0), 0);
	CT_EXPECT_TRUE(fake_newest(&t->qp->sq)->flags & IBV_SEND_SIGNALED);
	CT_EXPECT_EQ(send_quietly(t->ep, 0), 0);
	CT_EXPECT_FALSE(fake_newest(&t->qp->sq)->flags & IBV_SEND_SIGNALED);
}

CT_TEST_F(tx, a_refused_request_never_was)
{
	static const struct {
		int err;
		ssize_t wanted;
	} rows[] = {{ENOMEM, -FI_EAGAIN}, {EINVAL, -FI_EINVAL}, {EFAULT, -FI_EFAULT}};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("error %d", rows[i].err);
		world_reset();
		CT_ASSERT_TRUE(world_open_connected(t, NULL));
		fake_fail(FAKE_POST_SEND, 1, rows[i].err);
		CT_EXPECT_EQ(send_number(t->ep, 1), rows[i].wanted);
		for (uintptr_t n = 0; n < t->tx_size; n++)
			CT_EXPECT_EQ(send_number(t->ep, 10 + n), 0);
		fake_complete_all(t->qp);
		for (uintptr_t n = 0; n < t->tx_size; n++)
			expect_comp(t->cq, NUMBER(10 + n), FI_SEND | FI_MSG, 0, 0);
		expect_no_comp(t->cq);
		world_close(t);
	}
}

CT_TEST_F(tx, nothing_is_sent_where_there_is_no_connection)
{
	struct fid_ep *disabled;

	CT_ASSERT_TRUE(world_open(t, NULL));
	CT_ASSERT_EQ(fi_endpoint(t->domain, t->info, &disabled, NULL), 0);
	CT_EXPECT_EQ(send_number(disabled, 1), -FI_ENOTCONN);
	CT_EXPECT_EQ(fi_close(&disabled->fid), 0);

	CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ENOTCONN);
	CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), 0);
	CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ENOTCONN);
	fake_event(ep_of(t->ep)->conn.id, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV, NULL, 0);
	expect_eq_error(t->eq, &t->ep->fid, FI_ENODEV, -ENODEV);
	CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ENOTCONN);
	CT_EXPECT_EQ(t->qp->sq.posted, 0);
}

CT_TEST_F(tx, nothing_is_sent_once_a_connection_is_shut_down)
{
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(fi_shutdown(t->ep, 0), 0);
	CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ESHUTDOWN);
	fake_event(t->id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	expect_event(t->eq, FI_SHUTDOWN, &t->ep->fid, NULL, 0);
	CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ESHUTDOWN);
}

CT_TEST_F(tx, small_payload_goes_inline_and_is_read_by_the_post)
{
	struct world_opts opts = {.inject_size = 64};
	char buf[65] = "first";

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_EXPECT_EQ(t->qp->init.cap.max_inline_data, 64);
	CT_EXPECT_EQ(fi_send(t->ep, buf, 64, NULL, 0, NULL), 0);
	CT_EXPECT_TRUE(fake_newest(&t->qp->sq)->flags & IBV_SEND_INLINE);
	strcpy(buf, "second");
	CT_EXPECT_STREQ((const char *)fake_newest(&t->qp->sq)->inline_data, "first");
	CT_EXPECT_EQ(fi_send(t->ep, buf, 65, NULL, 0, NULL), 0);
	CT_EXPECT_FALSE(fake_newest(&t->qp->sq)->flags & IBV_SEND_INLINE);
}

CT_TEST_F(tx, what_a_device_does_not_take_inline_is_copied_to_registered_memory)
{
	struct world_opts opts = {.inject_size = 48};
	const struct fake_wr *wr;
	char buf[49] = "hello";

	fake_devices[0].max_inline = 16;
	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_EXPECT_EQ(t->qp->init.cap.max_inline_data, 12);
	CT_EXPECT_EQ(fi_inject(t->ep, buf, 48, 0), 0);
	strcpy(buf, "reused");
	wr = fake_newest(&t->qp->sq);
	CT_EXPECT_FALSE(wr->flags & IBV_SEND_INLINE);
	CT_EXPECT_EQ(wr->num_sge, 1);
	CT_EXPECT_EQ(wr->sge[0].length, 48);
	CT_EXPECT_EQ(wr->sge[0].lkey, ep_of(t->ep)->qp.bounce_mr->lkey);
	CT_EXPECT_STREQ((char *)(uintptr_t)wr->sge[0].addr, "hello");
	CT_EXPECT_EQ(fi_inject(t->ep, buf, 49, 0), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_send(t->ep, buf, 49, NULL, 0, NULL), 0);
	CT_EXPECT_EQ(fake_newest(&t->qp->sq)->sge[0].addr, (uintptr_t)buf);
}

CT_TEST_F(tx, no_two_injected_messages_share_a_buffer_while_they_are_in_flight)
{
	struct world_opts opts = {.inject_size = 32, .tx_size = 5};
	const struct fake_wr *wr;
	uint8_t buf[32];

	fake_devices[0].max_inline = 0;
	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	for (unsigned int round = 0; round < 20; round++) {
		unsigned int from = t->qp->sq.posted;

		for (uint8_t n = 0; n < t->tx_size; n++) {
			memset(buf, round + n, sizeof(buf));
			CT_ASSERT_EQ(fi_inject(t->ep, buf, sizeof(buf), 0), 0);
		}
		CT_EXPECT_EQ(fi_inject(t->ep, buf, 1, 0), -FI_EAGAIN);
		for (uint8_t n = 0; n < t->tx_size; n++) {
			wr = fake_wr(&t->qp->sq, from + n);
			memset(buf, round + n, sizeof(buf));
			CT_EXPECT_MEMEQ((void *)(uintptr_t)wr->sge[0].addr, buf,
					sizeof(buf));
		}
		fake_complete_all(t->qp);
		expect_no_comp(t->cq);
	}
}

CT_TEST_F(tx, pieces_of_an_injected_message_are_gathered)
{
	struct iovec iov[] = {{"one", 3}, {NULL, 0}, {"two", 3}, {"three", 6}};
	struct fi_msg msg = {.msg_iov = iov, .iov_count = 4, .context = NUMBER(1)};
	struct world_opts opts = {.inject_size = 32};
	const struct fake_wr *wr;

	fake_devices[0].max_inline = 0;
	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_INJECT | FI_COMPLETION), 0);
	wr = fake_newest(&t->qp->sq);
	CT_EXPECT_EQ(wr->num_sge, 1);
	CT_EXPECT_EQ(wr->sge[0].length, 12);
	CT_EXPECT_STREQ((char *)(uintptr_t)wr->sge[0].addr, "onetwothree");
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
}

CT_TEST_F(tx, without_memory_to_copy_to_an_inject_never_begins)
{
	const struct world_opts opts = {.inject_size = 32};
	struct iovec iov = {"held back", 9};
	const struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .context = NUMBER(1)};

	fake_devices[0].max_inline = 0;
	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_MORE | FI_COMPLETION), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 0);
	fake_fail(FAKE_REG_MR, 1, ENOMEM);
	CT_EXPECT_EQ(fi_inject(t->ep, "x", 1, 0), -FI_ENOMEM);
	/* What waited for the next call does not any more. */
	CT_EXPECT_EQ(t->qp->sq.posted, 1);
	CT_EXPECT_EQ(fi_inject(t->ep, "x", 1, 0), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 2);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(t->cq);
}

CT_TEST_F(tx, a_device_with_inline_needs_no_buffers)
{
	struct world_opts opts = {.inject_size = 256};

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_EXPECT_EQ(ep_of(t->ep)->qp.bounce, NULL);
	CT_EXPECT_EQ(ep_of(t->ep)->qp.bounce_mr, NULL);
}

/* libfabric's fence waits for everything; what a device may reorder is reads and atomics.
 */
CT_TEST_F(tx, a_fence_goes_with_any_operation_and_only_with_it)
{
	struct world_opts opts = {.tx_size = 16};
	const struct fi_msg_rma rma = {.context = NUMBER(1)};
	const struct fi_msg msg = {.context = NUMBER(1)};

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_FENCE), 0);
	CT_EXPECT_EQ(fi_readmsg(t->ep, &rma, FI_FENCE), 0);
	CT_EXPECT_EQ(fi_writemsg(t->ep, &rma, FI_FENCE), 0);
	CT_EXPECT_EQ(fi_writemsg(t->ep, &rma, FI_FENCE | FI_MORE), 0);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, 0), 0);
	CT_ASSERT_EQ(t->qp->sq.posted, 5);
	for (unsigned int i = 0; i < 5; i++)
		CT_EXPECT_EQ(!!(fake_wr(&t->qp->sq, i)->flags & IBV_SEND_FENCE), i < 4);
}

static int set_defaults(struct fid_ep *ep, uint64_t flags)
{
	flags |= FI_TRANSMIT;
	return fi_control(&ep->fid, FI_SETOPSFLAG, &flags);
}

CT_TEST_F(tx, calls_without_flags_have_the_defaults_of_now)
{
	static char buf[65]; /* more than an inject takes */

	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(fi_send(t->ep, buf, sizeof(buf), NULL, 0, NUMBER(1)), 0);
	CT_EXPECT_EQ(set_defaults(t->ep, FI_INJECT), 0);
	CT_EXPECT_EQ(fi_send(t->ep, buf, sizeof(buf), NULL, 0, NULL), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_write(t->ep, buf, sizeof(buf), NULL, 0, 8, 1, NULL),
		     -FI_EMSGSIZE);
	/* This peer has no word to read for it. */
	CT_EXPECT_EQ(set_defaults(t->ep, FI_DELIVERY_COMPLETE), 0);
	CT_EXPECT_EQ(fi_send(t->ep, buf, 1, NULL, 0, NULL), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(fi_read(t->ep, buf, 1, NULL, 0, 8, 1, NUMBER(2)), 0);
	CT_EXPECT_EQ(set_defaults(t->ep, 0), 0);
	CT_EXPECT_EQ(fi_write(t->ep, buf, sizeof(buf), NULL, 0, 8, 1, NUMBER(3)), 0);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_comp(t->cq, NUMBER(2), FI_RMA | FI_READ, 0, 0);
	expect_comp(t->cq, NUMBER(3), FI_RMA | FI_WRITE, 0, 0);
	expect_no_comp(t->cq);
}

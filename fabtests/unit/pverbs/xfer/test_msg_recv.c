/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives in all their call forms. */
#include <errno.h>
#include "../world.h"

static char a[100], b[100];
static struct iovec iov[] = {{a, 100}, {b, 50}};
static void *desc[] = {NUMBER(11), NUMBER(22)};

static void check_recv(struct world *w, int pieces)
{
	const struct fake_wr *wr = fake_newest(&w->qp->rq);

	CT_ASSERT_EQ(wr->num_sge, pieces);
	CT_EXPECT_EQ(wr->sge[0].addr, (uintptr_t)a);
	CT_EXPECT_EQ(wr->sge[0].length, 100);
	CT_EXPECT_EQ(wr->sge[0].lkey, 11);
	if (pieces == 2) {
		CT_EXPECT_EQ(wr->sge[1].addr, (uintptr_t)b);
		CT_EXPECT_EQ(wr->sge[1].length, 50);
		CT_EXPECT_EQ(wr->sge[1].lkey, 22);
	}
	fake_receive(w->qp, IBV_WC_RECV, 33, NULL);
	expect_comp(w->cq, NUMBER(7), FI_RECV | FI_MSG, 33, 0);
}

CT_FIXTURE(msg_recv, struct world, world_start, world_close);

CT_TEST_F(msg_recv, every_call_form_posts_its_buffers)
{
	struct fi_msg msg = {
		.msg_iov = iov, .desc = desc, .iov_count = 2, .context = NUMBER(7)};

	CT_EXPECT_EQ(fi_recv(t->ep, a, 100, NUMBER(11), 0, NUMBER(7)), 0);
	check_recv(t, 1);
	CT_EXPECT_EQ(fi_recvv(t->ep, iov, desc, 2, 0, NUMBER(7)), 0);
	check_recv(t, 2);
	CT_EXPECT_EQ(fi_recvmsg(t->ep, &msg, FI_COMPLETION), 0);
	check_recv(t, 2);
}

CT_TEST_F(msg_recv, a_receive_may_have_no_buffer)
{
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	CT_EXPECT_EQ(fake_newest(&t->qp->rq)->num_sge, 0);
	CT_EXPECT_EQ(fi_recvv(t->ep, iov, NULL, 1, 0, NULL), 0);
	CT_EXPECT_EQ(fake_newest(&t->qp->rq)->sge[0].lkey, 0);
}

CT_TEST_F(msg_recv, before_the_endpoint_is_enabled_there_is_no_queue)
{
	struct fid_ep *ep;

	CT_ASSERT_EQ(fi_endpoint(t->domain, t->info, &ep, NULL), 0);
	CT_EXPECT_EQ(recv_number(ep, 1), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
}

CT_TEST_F(msg_recv, a_full_queue_says_try_again_until_a_completion_is_read)
{
	for (uintptr_t i = 0; i < t->rx_size; i++)
		CT_EXPECT_EQ(recv_number(t->ep, i), 0);
	CT_EXPECT_EQ(recv_number(t->ep, 8), -FI_EAGAIN);
	fake_receive(t->qp, IBV_WC_RECV, 0, NULL);
	CT_EXPECT_EQ(recv_number(t->ep, 8), -FI_EAGAIN);
	expect_comp(t->cq, NUMBER(0), FI_RECV | FI_MSG, 0, 0);
	CT_EXPECT_EQ(recv_number(t->ep, 8), 0);
	CT_EXPECT_EQ(recv_number(t->ep, 9), -FI_EAGAIN);
}

CT_FIXTURE(msg_recv_options, struct world, world_fresh, world_close);

CT_TEST_F(msg_recv_options, a_connection_that_ended_takes_no_receives)
{
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	fake_event(t->id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	expect_event(t->eq, FI_SHUTDOWN, &t->ep->fid, NULL, 0);
	CT_EXPECT_EQ(recv_number(t->ep, 1), -FI_ESHUTDOWN);
	CT_EXPECT_EQ(t->qp->rq.posted, 0);
}

CT_TEST_F(msg_recv, a_refused_receive_never_was)
{
	fake_fail(FAKE_POST_RECV, 1, EINVAL);
	CT_EXPECT_EQ(recv_number(t->ep, 1), -FI_EINVAL);
	fake_fail(FAKE_POST_RECV, 1, ENOMEM);
	CT_EXPECT_EQ(recv_number(t->ep, 2), -FI_EAGAIN);
	for (uintptr_t i = 0; i < t->rx_size; i++)
		CT_EXPECT_EQ(recv_number(t->ep, 10 + i), 0);
	for (uintptr_t i = 0; i < t->rx_size; i++) {
		fake_receive(t->qp, IBV_WC_RECV, 0, NULL);
		expect_comp(t->cq, NUMBER(10 + i), FI_RECV | FI_MSG, 0, 0);
	}
}

CT_TEST_F(msg_recv_options, with_selective_completion_only_those_that_ask_are_reported)
{
	struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION};
	struct fi_msg msg = {.context = NUMBER(2)};

	CT_ASSERT_TRUE(world_open(t, &opts));
	for (unsigned int round = 0; round < 5; round++) {
		CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
		CT_EXPECT_EQ(fi_recvmsg(t->ep, &msg, FI_COMPLETION), 0);
		CT_EXPECT_EQ(fi_recvmsg(t->ep, &msg, 0), 0);
		for (int i = 0; i < 3; i++)
			fake_receive(t->qp, IBV_WC_RECV, 10, NULL);
		expect_comp(t->cq, NUMBER(2), FI_RECV | FI_MSG, 10, 0);
		expect_no_comp(t->cq);
	}
}

CT_TEST_F(msg_recv_options, op_flags_of_the_endpoint_may_ask_for_completions)
{
	struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION,
				  .rx_op_flags = FI_COMPLETION};
	struct fi_msg msg = {.context = NUMBER(2)};

	CT_ASSERT_TRUE(world_open(t, &opts));
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	CT_EXPECT_EQ(fi_recvmsg(t->ep, &msg, 0), 0);
	fake_receive(t->qp, IBV_WC_RECV, 10, NULL);
	fake_receive(t->qp, IBV_WC_RECV, 10, NULL);
	expect_comp(t->cq, NUMBER(1), FI_RECV | FI_MSG, 10, 0);
	expect_no_comp(t->cq);
}

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

CT_TEST(msg_recv, every_call_form_posts_its_buffers)
{
	struct fi_msg msg = {
		.msg_iov = iov, .desc = desc, .iov_count = 2, .context = NUMBER(7)};
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open(&w, NULL));
	CT_EXPECT_EQ(fi_recv(w.ep, a, 100, NUMBER(11), 0, NUMBER(7)), 0);
	check_recv(&w, 1);
	CT_EXPECT_EQ(fi_recvv(w.ep, iov, desc, 2, 0, NUMBER(7)), 0);
	check_recv(&w, 2);
	CT_EXPECT_EQ(fi_recvmsg(w.ep, &msg, FI_COMPLETION), 0);
	check_recv(&w, 2);
	world_close(&w);
}

CT_TEST(msg_recv, a_receive_may_have_no_buffer)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open(&w, NULL));
	CT_EXPECT_EQ(recv_number(w.ep, 1), 0);
	CT_EXPECT_EQ(fake_newest(&w.qp->rq)->num_sge, 0);
	CT_EXPECT_EQ(fi_recvv(w.ep, iov, NULL, 1, 0, NULL), 0);
	CT_EXPECT_EQ(fake_newest(&w.qp->rq)->sge[0].lkey, 0);
	world_close(&w);
}

CT_TEST(msg_recv, before_the_endpoint_is_enabled_there_is_no_queue)
{
	struct fid_ep *ep;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open(&w, NULL));
	CT_ASSERT_EQ(fi_endpoint(w.domain, w.info, &ep, NULL), 0);
	CT_EXPECT_EQ(recv_number(ep, 1), -FI_EOPBADSTATE);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	world_close(&w);
}

CT_TEST(msg_recv, a_full_queue_says_try_again_until_a_completion_is_read)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open(&w, NULL));
	for (uintptr_t i = 0; i < w.rx_size; i++)
		CT_EXPECT_EQ(recv_number(w.ep, i), 0);
	CT_EXPECT_EQ(recv_number(w.ep, 8), -FI_EAGAIN);
	fake_receive(w.qp, IBV_WC_RECV, 0, NULL);
	CT_EXPECT_EQ(recv_number(w.ep, 8), -FI_EAGAIN);
	expect_comp(w.cq, NUMBER(0), FI_RECV | FI_MSG, 0, 0);
	CT_EXPECT_EQ(recv_number(w.ep, 8), 0);
	CT_EXPECT_EQ(recv_number(w.ep, 9), -FI_EAGAIN);
	world_close(&w);
}

CT_TEST(msg_recv, a_connection_that_ended_takes_no_receives)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	fake_event(w.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	expect_event(w.eq, FI_SHUTDOWN, &w.ep->fid, NULL, 0);
	CT_EXPECT_EQ(recv_number(w.ep, 1), -FI_ESHUTDOWN);
	CT_EXPECT_EQ(w.qp->rq.posted, 0);
	world_close(&w);
}

CT_TEST(msg_recv, a_refused_receive_never_was)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open(&w, NULL));
	fake_fail(FAKE_POST_RECV, 1, EINVAL);
	CT_EXPECT_EQ(recv_number(w.ep, 1), -FI_EINVAL);
	fake_fail(FAKE_POST_RECV, 1, ENOMEM);
	CT_EXPECT_EQ(recv_number(w.ep, 2), -FI_EAGAIN);
	for (uintptr_t i = 0; i < w.rx_size; i++)
		CT_EXPECT_EQ(recv_number(w.ep, 10 + i), 0);
	for (uintptr_t i = 0; i < w.rx_size; i++) {
		fake_receive(w.qp, IBV_WC_RECV, 0, NULL);
		expect_comp(w.cq, NUMBER(10 + i), FI_RECV | FI_MSG, 0, 0);
	}
	world_close(&w);
}

CT_TEST(msg_recv, with_selective_completion_only_those_that_ask_are_reported)
{
	struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION};
	struct fi_msg msg = {.context = NUMBER(2)};
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open(&w, &opts));
	for (unsigned int round = 0; round < 5; round++) {
		CT_EXPECT_EQ(recv_number(w.ep, 1), 0);
		CT_EXPECT_EQ(fi_recvmsg(w.ep, &msg, FI_COMPLETION), 0);
		CT_EXPECT_EQ(fi_recvmsg(w.ep, &msg, 0), 0);
		for (int i = 0; i < 3; i++)
			fake_receive(w.qp, IBV_WC_RECV, 10, NULL);
		expect_comp(w.cq, NUMBER(2), FI_RECV | FI_MSG, 10, 0);
		expect_no_comp(w.cq);
	}
	world_close(&w);
}

CT_TEST(msg_recv, op_flags_of_the_endpoint_may_ask_for_completions)
{
	struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION,
				  .rx_op_flags = FI_COMPLETION};
	struct fi_msg msg = {.context = NUMBER(2)};
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open(&w, &opts));
	CT_EXPECT_EQ(recv_number(w.ep, 1), 0);
	CT_EXPECT_EQ(fi_recvmsg(w.ep, &msg, 0), 0);
	fake_receive(w.qp, IBV_WC_RECV, 10, NULL);
	fake_receive(w.qp, IBV_WC_RECV, 10, NULL);
	expect_comp(w.cq, NUMBER(1), FI_RECV | FI_MSG, 10, 0);
	expect_no_comp(w.cq);
	world_close(&w);
}

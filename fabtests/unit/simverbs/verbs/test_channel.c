/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/channel.c, verbs/async.c, shared/bell.c, and arming in verbs/cq.c */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "../world.h"

CT_FIXTURE(channel, struct pair, pair_open, pair_close);

CT_TEST_F(channel, one_event_for_each_time_it_was_armed)
{
	struct ibv_cq *cq;
	void *context;

	CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, 8, &t->to, 0), 0);
	CT_EXPECT_FALSE(world_readable(t->a.channel->fd, 0));
	CT_ASSERT_EQ(ibv_req_notify_cq(t->a.cq, 0), 0);
	CT_EXPECT_FALSE(world_readable(t->a.channel->fd, 0));
	CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, 8, &t->to, 0), 0);
	CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, 8, &t->to, 0), 0);
	CT_EXPECT_TRUE(world_readable(t->a.channel->fd, 0));
	CT_ASSERT_EQ(ibv_get_cq_event(t->a.channel, &cq, &context), 0);
	CT_EXPECT_EQ(cq, t->a.cq);
	CT_EXPECT_EQ(context, &t->a);
	CT_EXPECT_FALSE(world_readable(t->a.channel->fd, 0));
	ibv_ack_cq_events(cq, 1);
}

CT_TEST_F(channel, solicited_only_waits_for_such_a_message_or_an_error)
{
	struct ibv_sge sge = {(uintptr_t)t->a.memory, 8, t->a.mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SOLICITED};
	struct ibv_cq *cq;
	void *context;

	CT_ASSERT_EQ(world_recv(&t->b, 1, 0, 8), 0);
	CT_ASSERT_EQ(world_recv(&t->b, 2, 0, 8), 0);
	CT_ASSERT_EQ(ibv_req_notify_cq(t->b.cq, 1), 0);
	CT_ASSERT_EQ(world_send(&t->a, 1, 0, 8), 0);
	CT_EXPECT_FALSE(world_readable(t->b.channel->fd, 0));
	CT_ASSERT_EQ(ibv_post_send(t->a.qp, &wr, &bad), 0);
	CT_EXPECT_TRUE(world_readable(t->b.channel->fd, 0));
	CT_ASSERT_EQ(ibv_get_cq_event(t->b.channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
}

CT_TEST_F(channel, garbage_is_no_event)
{
	struct sockaddr_un addr;
	socklen_t len = sizeof(addr);
	struct ibv_cq *cq;
	void *context;
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	CT_ASSERT_EQ(getsockname(t->a.channel->fd, (struct sockaddr *)&addr, &len), 0);
	CT_ASSERT_EQ(sendto(fd, "garbage", 7, 0, (struct sockaddr *)&addr, sizeof(addr)),
		     7);
	CT_ASSERT_EQ(fcntl(t->a.channel->fd, F_SETFL, O_NONBLOCK), 0);
	EXPECT_ERRNO(ibv_get_cq_event(t->a.channel, &cq, &context), -1, EAGAIN);
	close(fd);
}

CT_TEST_F(channel, more_events_than_the_socket_holds_are_all_read)
{
	enum { COUNT = 40 };
	struct ibv_cq *cqs[COUNT], *cq;
	struct ibv_qp *qp;
	void *context;

	for (int i = 0; i < COUNT; i++) {
		struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
		struct ibv_recv_wr *bad, wr = {.wr_id = 1};
		struct ibv_qp_init_attr init = {.cap = {1, 1, 1, 1, 0},
						.qp_type = IBV_QPT_RC};
		struct end one = t->a;

		cqs[i] = ibv_create_cq(t->a.ctx, 4, NULL, t->a.channel, 0);
		CT_ASSERT_NE(cqs[i], NULL);
		CT_ASSERT_EQ(ibv_req_notify_cq(cqs[i], 0), 0);
		init.send_cq = init.recv_cq = cqs[i];
		qp = ibv_create_qp(t->a.pd, &init);
		one.qp = qp;
		CT_ASSERT_TRUE(qp && world_init(&one, IBV_QPT_RC));
		CT_ASSERT_EQ(ibv_post_recv(qp, &wr, &bad), 0);
		CT_ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
		CT_ASSERT_EQ(ibv_destroy_qp(qp), 0);
	}
	for (int i = 0; i < COUNT; i++) {
		CT_ASSERT_TRUE(world_readable(t->a.channel->fd, 0));
		CT_ASSERT_EQ(ibv_get_cq_event(t->a.channel, &cq, &context), 0);
		ibv_ack_cq_events(cq, 1);
	}
	CT_EXPECT_FALSE(world_readable(t->a.channel->fd, 0));
	for (int i = 0; i < COUNT; i++)
		CT_EXPECT_EQ(ibv_destroy_cq(cqs[i]), 0);
}

CT_FIXTURE(async, struct pair, pair_open, pair_close);

CT_TEST_F(async, overrun_of_a_completion_queue)
{
	struct ibv_async_event event;

	CT_ASSERT_EQ(ibv_resize_cq(t->a.cq, 2), 0);
	for (int i = 0; i < 3; i++)
		CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, 8, &t->to, 0), 0);
	CT_ASSERT_EQ(ibv_get_async_event(t->a.ctx, &event), 0);
	CT_EXPECT_EQ(event.event_type, IBV_EVENT_QP_FATAL);
	CT_EXPECT_EQ(event.element.qp, t->a.qp);
	ibv_ack_async_event(&event);
	CT_ASSERT_EQ(ibv_get_async_event(t->a.ctx, &event), 0);
	CT_EXPECT_EQ(event.event_type, IBV_EVENT_CQ_ERR);
	CT_EXPECT_EQ(event.element.cq, t->a.cq);
	ibv_ack_async_event(&event);
}

CT_TEST_F(async, responder_learns_of_a_bad_access)
{
	struct ibv_async_event event;

	t->to.rkey++;
	CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, 8, &t->to, 0), 0);
	CT_ASSERT_EQ(ibv_get_async_event(t->b.ctx, &event), 0);
	CT_EXPECT_EQ(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
	CT_EXPECT_EQ(event.element.qp, t->b.qp);
	ibv_ack_async_event(&event);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/srq.c, engine/recv.c */
#include "../world.h"

/* The receiver has a shared receive queue. */
static void open_shared(struct pair *pair)
{
	struct address to_a;

	CT_ASSERT_TRUE(world_open(&pair->a, IBV_QPT_RC, false) &&
		       world_open(&pair->b, IBV_QPT_RC, true));
	to_a = world_address(&pair->a);
	pair->to = world_address(&pair->b);
	CT_ASSERT_TRUE(world_connect(&pair->a, &pair->to) &&
		       world_connect(&pair->b, &to_a));
}

CT_FIXTURE(srq, struct pair, open_shared, pair_close);

CT_TEST_F(srq, messages_take_receives_in_order_and_wait_for_them)
{
	struct ibv_wc wc;

	CT_ASSERT_EQ(world_recv(&t->b, 1, 0, 8), 0);
	CT_ASSERT_EQ(world_send(&t->a, 1, 0, 8), 0);
	CT_ASSERT_EQ(world_send(&t->a, 2, 0, 8), 0);
	CT_ASSERT_TRUE(world_wait(t->b.cq, &wc));
	CT_EXPECT_EQ(wc.wr_id, 1);
	CT_EXPECT_TRUE(world_quiet(t->b.cq));
	CT_ASSERT_EQ(world_recv(&t->b, 2, 0, 8), 0);
	CT_ASSERT_TRUE(world_wait(t->b.cq, &wc));
	CT_EXPECT_EQ(wc.wr_id, 2);
}

CT_TEST_F(srq, limit_event_comes_once)
{
	struct ibv_srq_attr attr = {.srq_limit = 2};
	struct ibv_async_event event;

	for (int i = 0; i < 3; i++)
		CT_ASSERT_EQ(world_recv(&t->b, 1, 0, 8), 0);
	CT_ASSERT_EQ(ibv_modify_srq(t->b.srq, &attr, IBV_SRQ_LIMIT), 0);
	CT_ASSERT_EQ(ibv_query_srq(t->b.srq, &attr), 0);
	CT_EXPECT_EQ(attr.srq_limit, 2);
	CT_ASSERT_EQ(world_send(&t->a, 1, 0, 8), 0);
	CT_EXPECT_EQ(t->b.srq ? svb_srq(t->b.srq)->sh->events : 1, 0);
	CT_ASSERT_EQ(world_send(&t->a, 1, 0, 8), 0);
	CT_ASSERT_EQ(ibv_get_async_event(t->b.ctx, &event), 0);
	CT_EXPECT_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	CT_EXPECT_EQ(event.element.srq, t->b.srq);
	ibv_ack_async_event(&event);
	CT_ASSERT_EQ(ibv_query_srq(t->b.srq, &attr), 0);
	CT_EXPECT_EQ(attr.srq_limit, 0);
}

CT_TEST_F(srq, last_request_event_when_the_queue_pair_fails)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_async_event event;

	CT_ASSERT_EQ(ibv_modify_qp(t->b.qp, &attr, IBV_QP_STATE), 0);
	CT_ASSERT_EQ(ibv_get_async_event(t->b.ctx, &event), 0);
	CT_EXPECT_EQ(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
	ibv_ack_async_event(&event);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/srq.c, engine/recv.c */
#include "../world.h"

/* Two senders to two queue pairs with one shared receive queue. */
struct star {
	struct end a, b;
};

static bool star_open(struct star *star)
{
	struct address to_a, to_b;

	if (!world_open(&star->a, IBV_QPT_RC, false) ||
	    !world_open(&star->b, IBV_QPT_RC, true))
		return false;
	to_a = world_address(&star->a);
	to_b = world_address(&star->b);
	return world_connect(&star->a, &to_b) && world_connect(&star->b, &to_a);
}

CT_TEST(srq, messages_take_receives_in_order_and_wait_for_them)
{
	struct star star;
	struct ibv_wc wc;

	CT_ASSERT_TRUE(star_open(&star));
	CT_ASSERT_EQ(world_recv(&star.b, 1, 0, 8), 0);
	CT_ASSERT_EQ(world_send(&star.a, 1, 0, 8), 0);
	CT_ASSERT_EQ(world_send(&star.a, 2, 0, 8), 0);
	CT_ASSERT_TRUE(world_wait(star.b.cq, &wc));
	CT_EXPECT_EQ(wc.wr_id, 1);
	CT_EXPECT_TRUE(world_quiet(star.b.cq));
	CT_ASSERT_EQ(world_recv(&star.b, 2, 0, 8), 0);
	CT_ASSERT_TRUE(world_wait(star.b.cq, &wc));
	CT_EXPECT_EQ(wc.wr_id, 2);
	world_pair_close(&star.a, &star.b);
}

CT_TEST(srq, limit_event_comes_once)
{
	struct ibv_srq_attr attr = {.srq_limit = 2};
	struct ibv_async_event event;
	struct star star;
	int i;

	CT_ASSERT_TRUE(star_open(&star));
	for (i = 0; i < 3; i++)
		CT_ASSERT_EQ(world_recv(&star.b, 1, 0, 8), 0);
	CT_ASSERT_EQ(ibv_modify_srq(star.b.srq, &attr, IBV_SRQ_LIMIT), 0);
	CT_ASSERT_EQ(ibv_query_srq(star.b.srq, &attr), 0);
	CT_EXPECT_EQ(attr.srq_limit, 2);
	CT_ASSERT_EQ(world_send(&star.a, 1, 0, 8), 0);
	CT_EXPECT_EQ(star.b.srq ? svb_srq(star.b.srq)->sh->events : 1, 0);
	CT_ASSERT_EQ(world_send(&star.a, 1, 0, 8), 0);
	CT_ASSERT_EQ(ibv_get_async_event(star.b.ctx, &event), 0);
	CT_EXPECT_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	CT_EXPECT_EQ(event.element.srq, star.b.srq);
	ibv_ack_async_event(&event);
	CT_ASSERT_EQ(ibv_query_srq(star.b.srq, &attr), 0);
	CT_EXPECT_EQ(attr.srq_limit, 0);
	world_pair_close(&star.a, &star.b);
}

CT_TEST(srq, last_request_event_when_the_queue_pair_fails)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_async_event event;
	struct star star;

	CT_ASSERT_TRUE(star_open(&star));
	CT_ASSERT_EQ(ibv_modify_qp(star.b.qp, &attr, IBV_QP_STATE), 0);
	CT_ASSERT_EQ(ibv_get_async_event(star.b.ctx, &event), 0);
	CT_EXPECT_EQ(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
	ibv_ack_async_event(&event);
	world_pair_close(&star.a, &star.b);
}

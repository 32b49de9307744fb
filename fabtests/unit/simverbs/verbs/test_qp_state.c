/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/qp_state.c, verbs/qp_modify.c, verbs/qp.c */
#include "../world.h"

#define INIT_RC (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)

static const struct {
	enum ibv_qp_state from, to;
	enum ibv_qp_type type;
	int mask;
	bool ok;
} rows[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_RC, INIT_RC, true},
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_RC, INIT_RC & ~IBV_QP_PORT, false},
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_RC, INIT_RC | IBV_QP_QKEY, false},
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_UD, INIT_RC, false},
	{IBV_QPS_RESET, IBV_QPS_RTR, IBV_QPT_RC, INIT_RC, false},
	{IBV_QPS_RESET, IBV_QPS_ERR, IBV_QPT_RC, IBV_QP_STATE, false},
	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_UD, IBV_QP_STATE, true},
	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_RC, IBV_QP_STATE, false},
	{IBV_QPS_INIT, IBV_QPS_RTS, IBV_QPT_UD, IBV_QP_STATE, false},
	{IBV_QPS_INIT, IBV_QPS_ERR, IBV_QPT_RC, IBV_QP_STATE, true},
	{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_UD, IBV_QP_STATE | IBV_QP_SQ_PSN, true},
	{IBV_QPS_RTS, IBV_QPS_RTS, IBV_QPT_RC, IBV_QP_ACCESS_FLAGS, true},
	{IBV_QPS_RTS, IBV_QPS_RTS, IBV_QPT_RC, IBV_QP_DEST_QPN, false},
	{IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPT_RC, IBV_QP_STATE, true},
	{IBV_QPS_SQD, IBV_QPS_RTS, IBV_QPT_RC, IBV_QP_STATE, true},
	{IBV_QPS_RTS, IBV_QPS_INIT, IBV_QPT_RC, INIT_RC, false},
	{IBV_QPS_ERR, IBV_QPS_RTS, IBV_QPT_RC, IBV_QP_STATE, false},
	{IBV_QPS_ERR, IBV_QPS_RESET, IBV_QPT_RC, IBV_QP_STATE, true},
	{IBV_QPS_SQE, IBV_QPS_RTS, IBV_QPT_UD, IBV_QP_STATE, true},
	{IBV_QPS_UNKNOWN, IBV_QPS_ERR, IBV_QPT_RC, IBV_QP_STATE, false},
};

CT_TEST(qp_state, transitions_are_those_of_the_specification)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CT_NOTE("row %zu", i);
		CT_EXPECT_EQ(svb_qp_modify_ok(rows[i].from, rows[i].to, rows[i].type,
					      rows[i].mask),
			     rows[i].ok);
	}
}

CT_TEST(qp_state, values_out_of_range_are_refused_and_change_nothing)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 2};
	struct ibv_qp_init_attr init;
	struct end end;

	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, false));
	CT_EXPECT_EQ(ibv_modify_qp(end.qp, &attr, INIT_RC), EINVAL);
	attr.port_num = 1;
	attr.pkey_index = 1;
	CT_EXPECT_EQ(ibv_modify_qp(end.qp, &attr, INIT_RC), EINVAL);
	CT_EXPECT_EQ(ibv_query_qp(end.qp, &attr, 0, &init), 0);
	CT_EXPECT_EQ(attr.qp_state, IBV_QPS_INIT);
	CT_EXPECT_EQ(attr.port_num, 1);
	CT_EXPECT_EQ(init.cap.max_send_wr, WORLD_WRS);
	CT_EXPECT_EQ(init.send_cq, end.cq);
	world_close(&end);
}

CT_TEST(qp_state, posting_is_allowed_by_state)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct end end;

	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, false));
	CT_EXPECT_EQ(world_recv(&end, 1, 0, 8), 0);
	CT_EXPECT_EQ(world_send(&end, 1, 0, 8), EINVAL);
	CT_ASSERT_EQ(ibv_modify_qp(end.qp, &attr, IBV_QP_STATE), 0);
	CT_EXPECT_EQ(world_recv(&end, 1, 0, 8), EINVAL);
	world_close(&end);
}

CT_FIXTURE(qp_state, struct pair, pair_open, pair_close);

CT_TEST_F(qp_state, reset_forgets_what_was_queued_and_completed)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct address to_a = world_address(&t->a);

	CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, 8, &t->to, 0), 0);
	CT_ASSERT_EQ(world_recv(&t->a, 1, 0, 8), 0);
	CT_ASSERT_EQ(ibv_modify_qp(t->a.qp, &attr, IBV_QP_STATE), 0);
	CT_EXPECT_TRUE(world_quiet(t->a.cq));
	CT_ASSERT_TRUE(world_init(&t->a, IBV_QPT_RC) && world_connect(&t->a, &t->to));
	CT_ASSERT_EQ(world_rdma(&t->b, IBV_WR_RDMA_WRITE, 0, 8, &to_a, 0), 0);
	CT_EXPECT_EQ(world_status(t->b.cq), IBV_WC_SUCCESS);
}

CT_TEST_F(qp_state, a_thousand_queue_pairs)
{
	static struct ibv_qp *qps[1000];
	struct ibv_qp_init_attr init = {.cap = {16, 16, 1, 1, 0}, .qp_type = IBV_QPT_RC};

	init.send_cq = init.recv_cq = t->a.cq;
	for (int i = 0; i < 1000; i++) {
		qps[i] = ibv_create_qp(t->a.pd, &init);
		CT_ASSERT_NE(qps[i], NULL);
		CT_EXPECT_TRUE(!i || qps[i]->qp_num != qps[i - 1]->qp_num);
	}
	for (int i = 0; i < 1000; i++)
		CT_EXPECT_EQ(ibv_destroy_qp(qps[i]), 0);
}

CT_TEST_F(qp_state, a_type_that_is_not_there_is_refused)
{
	struct ibv_qp_init_attr init = {.cap = {1, 1, 1, 1, 0}, .qp_type = IBV_QPT_UC};

	init.send_cq = init.recv_cq = t->a.cq;
	EXPECT_ERRNO(ibv_create_qp(t->a.pd, &init), NULL, EOPNOTSUPP);
}

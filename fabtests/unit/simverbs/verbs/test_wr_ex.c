/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/wr_ex.c: ibv_wr_*, and with it FLUSH and ATOMIC WRITE. */
#include "../world.h"

struct ex {
	struct end a, b;
	struct ibv_qp_ex *qpx;
	struct address to;
};

static void ex_open(struct ex *ex)
{
	struct ibv_qp_init_attr_ex init = {
		.cap = {4, 4, 4, 4, 64},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND |
				  SVB_QP_EX_WITH_FLUSH | SVB_QP_EX_WITH_ATOMIC_WRITE};
	struct address to_a;

	CT_ASSERT_TRUE(world_open(&ex->a, IBV_QPT_RC, false) &&
		       world_open(&ex->b, IBV_QPT_RC, false));
	ibv_destroy_qp(ex->a.qp);
	init.pd = ex->a.pd;
	init.send_cq = init.recv_cq = ex->a.cq;
	ex->a.qp = ibv_create_qp_ex(ex->a.ctx, &init);
	CT_ASSERT_TRUE(ex->a.qp && world_init(&ex->a, IBV_QPT_RC));
	ex->qpx = ibv_qp_to_qp_ex(ex->a.qp);
	ex->to = world_address(&ex->b);
	to_a = world_address(&ex->a);
	CT_ASSERT_TRUE(world_connect(&ex->a, &ex->to) && world_connect(&ex->b, &to_a));
}

static void ex_close(struct ex *ex)
{
	world_pair_close(&ex->a, &ex->b);
}

CT_FIXTURE(wr_ex, struct ex, ex_open, ex_close);

static void flush(struct ex *ex, uint32_t rkey, uint64_t at, size_t len, uint8_t type,
		  uint8_t level)
{
	((struct svb_qp_ex56 *)ex->qpx)->wr_flush(ex->qpx, rkey, at, len, type, level);
}

CT_TEST_F(wr_ex, group_is_posted_together)
{

	CT_EXPECT_EQ(t->qpx->wr_rdma_read, NULL);
	strcpy(t->a.memory, "one");
	ibv_wr_start(t->qpx);
	t->qpx->wr_id = 1;
	t->qpx->wr_flags = 0;
	ibv_wr_rdma_write(t->qpx, t->to.rkey, t->to.memory);
	ibv_wr_set_sge(t->qpx, t->a.mr->lkey, (uintptr_t)t->a.memory, 4);
	t->qpx->wr_id = 2;
	t->qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(t->qpx, t->to.rkey, t->to.memory + 10);
	ibv_wr_set_inline_data(t->qpx, "two", 4);
	CT_EXPECT_EQ(t->b.memory[0], 0);
	CT_ASSERT_EQ(ibv_wr_complete(t->qpx), 0);
	CT_EXPECT_STREQ(t->b.memory, "one");
	CT_EXPECT_STREQ(t->b.memory + 10, "two");
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_TRUE(world_quiet(t->a.cq));
}

CT_TEST_F(wr_ex, nothing_of_a_group_with_a_mistake_or_aborted_is_posted)
{
	ibv_wr_start(t->qpx);
	for (int i = 0; i < 5; i++) {
		ibv_wr_rdma_write(t->qpx, t->to.rkey, t->to.memory);
		ibv_wr_set_inline_data(t->qpx, "x", 1);
	}
	CT_EXPECT_EQ(ibv_wr_complete(t->qpx), ENOMEM);
	ibv_wr_start(t->qpx);
	ibv_wr_rdma_write(t->qpx, t->to.rkey, t->to.memory);
	ibv_wr_set_inline_data(t->qpx, t->a.memory, 65);
	CT_EXPECT_EQ(ibv_wr_complete(t->qpx), EINVAL);
	ibv_wr_start(t->qpx);
	ibv_wr_rdma_write(t->qpx, t->to.rkey, t->to.memory);
	ibv_wr_set_inline_data(t->qpx, "x", 1);
	ibv_wr_abort(t->qpx);
	CT_EXPECT_EQ(t->b.memory[0], 0);
}

CT_TEST_F(wr_ex, flush_and_atomic_write)
{
	uint64_t value = 0x1122334455667788;
	struct ibv_wc wc;

	t->qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(t->qpx);
	ibv_wr_atomic_write(t->qpx, t->to.rkey, t->to.memory + 8, &value);
	flush(t, t->to.rkey, t->to.memory, 16, SVB_FLUSH_PERSISTENT, SVB_FLUSH_RANGE);
	flush(t, t->to.rkey, 0, 0, SVB_FLUSH_GLOBAL, SVB_FLUSH_MR);
	CT_ASSERT_EQ(ibv_wr_complete(t->qpx), 0);
	CT_ASSERT_TRUE(world_wait(t->a.cq, &wc));
	CT_EXPECT_EQ((int)wc.opcode, SVB_WC_ATOMIC_WRITE);
	CT_EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	CT_EXPECT_MEMEQ(t->b.memory + 8, &value, 8);
	CT_ASSERT_TRUE(world_wait(t->a.cq, &wc));
	CT_EXPECT_EQ((int)wc.opcode, SVB_WC_FLUSH);
	CT_EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	ibv_wr_start(t->qpx);
	flush(t, t->to.rkey, t->to.memory, WORLD_BYTES + 1, SVB_FLUSH_GLOBAL,
	      SVB_FLUSH_RANGE);
	CT_ASSERT_EQ(ibv_wr_complete(t->qpx), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_REM_ACCESS_ERR);
}

CT_TEST_F(wr_ex, operation_nobody_has_is_refused_at_creation)
{
	struct ibv_qp_init_attr_ex init = {.cap = {4, 4, 4, 4, 64},
					   .qp_type = IBV_QPT_RC,
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .send_ops_flags = IBV_QP_EX_WITH_TSO};

	init.pd = t->a.pd;
	init.send_cq = init.recv_cq = t->a.cq;
	EXPECT_ERRNO(ibv_create_qp_ex(t->a.ctx, &init), NULL, EOPNOTSUPP);
	CT_EXPECT_EQ(ibv_qp_to_qp_ex(t->b.qp), NULL);
}

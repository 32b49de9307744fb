/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/wr_ex.c: ibv_wr_*, and with it FLUSH and ATOMIC WRITE. */
#include "../world.h"

struct ex {
	struct end a, b;
	struct ibv_qp_ex *qpx;
	struct address to;
};

static bool ex_open(struct ex *ex, uint64_t ops)
{
	struct ibv_qp_init_attr_ex init = {
		.cap = {4, 4, 4, 4, 64},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = ops,
	};
	struct address to_a;

	if (!world_open(&ex->a, IBV_QPT_RC, false) ||
	    !world_open(&ex->b, IBV_QPT_RC, false))
		return false;
	ibv_destroy_qp(ex->a.qp);
	init.pd = ex->a.pd;
	init.send_cq = init.recv_cq = ex->a.cq;
	ex->a.qp = ibv_create_qp_ex(ex->a.ctx, &init);
	if (!ex->a.qp || !world_init(&ex->a, IBV_QPT_RC))
		return false;
	ex->qpx = ibv_qp_to_qp_ex(ex->a.qp);
	ex->to = world_address(&ex->b);
	to_a = world_address(&ex->a);
	return world_connect(&ex->a, &ex->to) && world_connect(&ex->b, &to_a);
}

static void flush(struct ex *ex, uint32_t rkey, uint64_t at, size_t len, uint8_t type,
		  uint8_t level)
{
	((struct svb_qp_ex56 *)ex->qpx)->wr_flush(ex->qpx, rkey, at, len, type, level);
}

CT_TEST(wr_ex, group_is_posted_together)
{
	struct ex ex;

	CT_ASSERT_TRUE(ex_open(&ex, IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND));
	CT_EXPECT_EQ(ex.qpx->wr_rdma_read, NULL);
	strcpy(ex.a.memory, "one");
	ibv_wr_start(ex.qpx);
	ex.qpx->wr_id = 1;
	ex.qpx->wr_flags = 0;
	ibv_wr_rdma_write(ex.qpx, ex.to.rkey, ex.to.memory);
	ibv_wr_set_sge(ex.qpx, ex.a.mr->lkey, (uintptr_t)ex.a.memory, 4);
	ex.qpx->wr_id = 2;
	ex.qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(ex.qpx, ex.to.rkey, ex.to.memory + 10);
	ibv_wr_set_inline_data(ex.qpx, "two", 4);
	CT_EXPECT_EQ(ex.b.memory[0], 0);
	CT_ASSERT_EQ(ibv_wr_complete(ex.qpx), 0);
	CT_EXPECT_STREQ(ex.b.memory, "one");
	CT_EXPECT_STREQ(ex.b.memory + 10, "two");
	CT_EXPECT_EQ(world_status(ex.a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_TRUE(world_quiet(ex.a.cq));
	world_pair_close(&ex.a, &ex.b);
}

CT_TEST(wr_ex, nothing_of_a_group_with_a_mistake_or_aborted_is_posted)
{
	struct ex ex;
	int i;

	CT_ASSERT_TRUE(ex_open(&ex, IBV_QP_EX_WITH_RDMA_WRITE));
	ibv_wr_start(ex.qpx);
	for (i = 0; i < 5; i++) {
		ibv_wr_rdma_write(ex.qpx, ex.to.rkey, ex.to.memory);
		ibv_wr_set_inline_data(ex.qpx, "x", 1);
	}
	CT_EXPECT_EQ(ibv_wr_complete(ex.qpx), ENOMEM);
	ibv_wr_start(ex.qpx);
	ibv_wr_rdma_write(ex.qpx, ex.to.rkey, ex.to.memory);
	ibv_wr_set_inline_data(ex.qpx, ex.a.memory, 65);
	CT_EXPECT_EQ(ibv_wr_complete(ex.qpx), EINVAL);
	ibv_wr_start(ex.qpx);
	ibv_wr_rdma_write(ex.qpx, ex.to.rkey, ex.to.memory);
	ibv_wr_set_inline_data(ex.qpx, "x", 1);
	ibv_wr_abort(ex.qpx);
	CT_EXPECT_EQ(ex.b.memory[0], 0);
	world_pair_close(&ex.a, &ex.b);
}

CT_TEST(wr_ex, flush_and_atomic_write)
{
	uint64_t value = 0x1122334455667788;
	struct ibv_wc wc;
	struct ex ex;

	CT_ASSERT_TRUE(ex_open(&ex, SVB_QP_EX_WITH_FLUSH | SVB_QP_EX_WITH_ATOMIC_WRITE));
	ex.qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(ex.qpx);
	ibv_wr_atomic_write(ex.qpx, ex.to.rkey, ex.to.memory + 8, &value);
	flush(&ex, ex.to.rkey, ex.to.memory, 16, SVB_FLUSH_PERSISTENT, SVB_FLUSH_RANGE);
	flush(&ex, ex.to.rkey, 0, 0, SVB_FLUSH_GLOBAL, SVB_FLUSH_MR);
	CT_ASSERT_EQ(ibv_wr_complete(ex.qpx), 0);
	CT_ASSERT_TRUE(world_wait(ex.a.cq, &wc));
	CT_EXPECT_EQ((int)wc.opcode, SVB_WC_ATOMIC_WRITE);
	CT_EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	CT_EXPECT_MEMEQ(ex.b.memory + 8, &value, 8);
	CT_ASSERT_TRUE(world_wait(ex.a.cq, &wc));
	CT_EXPECT_EQ((int)wc.opcode, SVB_WC_FLUSH);
	CT_EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	CT_EXPECT_EQ(world_status(ex.a.cq), IBV_WC_SUCCESS);
	ibv_wr_start(ex.qpx);
	flush(&ex, ex.to.rkey, ex.to.memory, WORLD_BYTES + 1, SVB_FLUSH_GLOBAL,
	      SVB_FLUSH_RANGE);
	CT_ASSERT_EQ(ibv_wr_complete(ex.qpx), 0);
	CT_EXPECT_EQ(world_status(ex.a.cq), IBV_WC_REM_ACCESS_ERR);
	world_pair_close(&ex.a, &ex.b);
}

CT_TEST(wr_ex, operation_nobody_has_is_refused_at_creation)
{
	struct ibv_qp_init_attr_ex init = {
		.cap = {4, 4, 4, 4, 64},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_TSO,
	};
	struct end end;

	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, false));
	init.pd = end.pd;
	init.send_cq = init.recv_cq = end.cq;
	CT_EXPECT_EQ(ibv_create_qp_ex(end.ctx, &init), NULL);
	CT_EXPECT_EQ(errno, EOPNOTSUPP);
	CT_EXPECT_EQ(ibv_qp_to_qp_ex(end.qp), NULL);
	world_close(&end);
}

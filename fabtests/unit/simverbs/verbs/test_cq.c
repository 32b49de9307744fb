/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/cq.c, verbs/cq_ex.c */
#include "../world.h"

CT_FIXTURE(cq, struct pair, pair_open, pair_close);

CT_TEST_F(cq, sizes_and_vectors_are_checked)
{
	EXPECT_ERRNO(ibv_create_cq(t->a.ctx, 0, NULL, NULL, 0), NULL, EINVAL);
	CT_EXPECT_EQ(ibv_create_cq(t->a.ctx, 1 << 30, NULL, NULL, 0), NULL);
	EXPECT_ERRNO(ibv_create_cq(t->a.ctx, 1, NULL, NULL, t->a.ctx->num_comp_vectors),
		     NULL, EINVAL);
}

CT_TEST_F(cq, resizing_keeps_what_is_there)
{
	struct ibv_wc wc[4];

	for (int i = 0; i < 4; i++)
		CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, 8, &t->to, 0), 0);
	CT_EXPECT_EQ(ibv_resize_cq(t->a.cq, 3), EINVAL);
	CT_EXPECT_EQ(ibv_resize_cq(t->a.cq, 200), 0);
	CT_EXPECT_EQ(t->a.cq->cqe, 200);
	CT_EXPECT_EQ(ibv_poll_cq(t->a.cq, 4, wc), 4);
	CT_EXPECT_EQ(wc[3].wr_id, 77);
}

CT_TEST_F(cq, destroying_a_queue_pair_takes_its_completions_along)
{
	CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, 8, &t->to, 0), 0);
	CT_ASSERT_EQ(ibv_destroy_qp(t->a.qp), 0);
	CT_EXPECT_TRUE(world_quiet(t->a.cq));
	t->a.qp =
		ibv_create_qp(t->a.pd, &(struct ibv_qp_init_attr){.send_cq = t->a.cq,
								  .recv_cq = t->a.cq,
								  .cap = {1, 1, 1, 1, 0},
								  .qp_type = IBV_QPT_RC});
	CT_ASSERT_NE(t->a.qp, NULL);
}

CT_TEST(cq, extended_polling_reads_what_was_asked_for)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 8,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_qp_init_attr init = {.cap = {1, 4, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct ibv_poll_cq_attr poll = {0};
	struct address to_a, to_b;
	struct ibv_cq_ex *cq;
	struct end a, b, c;

	CT_ASSERT_TRUE(world_open(&a, IBV_QPT_RC, false) &&
		       world_open(&b, IBV_QPT_RC, false));
	cq = ibv_create_cq_ex(b.ctx, &attr);
	CT_ASSERT_NE(cq, NULL);
	init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
	c = b;
	c.qp = ibv_create_qp(b.pd, &init);
	CT_ASSERT_TRUE(c.qp && world_init(&c, IBV_QPT_RC));
	to_a = world_address(&a);
	to_b = world_address(&c);
	CT_ASSERT_TRUE(world_connect(&a, &to_b) && world_connect(&c, &to_a));
	CT_EXPECT_EQ(ibv_start_poll(cq, &poll), ENOENT);
	CT_ASSERT_EQ(world_recv(&c, 5, 0, 10), 0);
	CT_ASSERT_EQ(world_recv(&c, 6, 0, 10), 0);
	CT_ASSERT_EQ(world_rdma(&a, IBV_WR_SEND_WITH_IMM, 0, 9, &to_b, 0), 0);
	CT_ASSERT_EQ(world_send(&a, 1, 0, 3), 0);
	CT_ASSERT_EQ(ibv_start_poll(cq, &poll), 0);
	CT_EXPECT_EQ(cq->wr_id, 5);
	CT_EXPECT_EQ(cq->status, IBV_WC_SUCCESS);
	CT_EXPECT_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
	CT_EXPECT_EQ(ibv_wc_read_byte_len(cq), 9);
	CT_EXPECT_EQ(be32toh(ibv_wc_read_imm_data(cq)), 0xabcd);
	CT_EXPECT_NE(ibv_wc_read_completion_ts(cq), 0);
	CT_ASSERT_EQ(ibv_next_poll(cq), 0);
	CT_EXPECT_EQ(cq->wr_id, 6);
	CT_EXPECT_EQ(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
	CT_EXPECT_EQ(cq->read_slid, NULL);
	CT_EXPECT_EQ(ibv_destroy_qp(c.qp), 0);
	CT_EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	world_pair_close(&a, &b);
}

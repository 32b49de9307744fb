/* SPDX-License-Identifier: BSD-2-Clause */
/* engine/rc.c, engine/recv.c, verbs/wr_post.c: what works. */
#include "../world.h"

CT_FIXTURE(rc, struct pair, pair_open, pair_close);

CT_TEST_F(rc, read_fetches)
{
	memset(t->b.memory, 'r', WORLD_BYTES);
	CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_READ, 10, 30000, &t->to, 20), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(t->a.memory[9], 0);
	CT_EXPECT_EQ(t->a.memory[10], 'r');
	CT_EXPECT_EQ(t->a.memory[30009], 'r');
	CT_EXPECT_EQ(t->a.memory[30010], 0);
}

CT_TEST_F(rc, send_fills_the_oldest_receive)
{
	struct ibv_wc wc;

	CT_ASSERT_EQ(world_recv(&t->b, 1, 0, 100), 0);
	CT_ASSERT_EQ(world_recv(&t->b, 2, 200, 100), 0);
	strcpy(t->a.memory, "first");
	CT_ASSERT_EQ(world_send(&t->a, 3, 0, 6), 0);
	CT_ASSERT_TRUE(world_wait(t->b.cq, &wc));
	CT_EXPECT_EQ(wc.wr_id, 1);
	CT_EXPECT_EQ(wc.opcode, IBV_WC_RECV);
	CT_EXPECT_EQ(wc.byte_len, 6);
	CT_EXPECT_EQ(wc.wc_flags, 0);
	CT_EXPECT_EQ(wc.qp_num, t->b.qp->qp_num);
	CT_EXPECT_EQ(wc.src_qp, t->a.qp->qp_num);
	CT_EXPECT_STREQ(t->b.memory, "first");
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
}

CT_TEST_F(rc, send_waits_for_a_receive_to_be_posted)
{
	struct ibv_wc wc;

	strcpy(t->a.memory, "late");
	CT_ASSERT_EQ(world_send(&t->a, 3, 0, 5), 0);
	CT_EXPECT_TRUE(world_quiet(t->a.cq));
	CT_ASSERT_EQ(world_recv(&t->b, 1, 0, 100), 0);
	CT_ASSERT_TRUE(world_wait(t->b.cq, &wc));
	CT_EXPECT_STREQ(t->b.memory, "late");
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
}

CT_TEST_F(rc, immediate_data_arrives_with_send_and_with_write)
{
	struct ibv_wc wc;

	CT_ASSERT_EQ(world_recv(&t->b, 1, 0, 100), 0);
	CT_ASSERT_EQ(world_recv(&t->b, 2, 0, 100), 0);
	CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_SEND_WITH_IMM, 0, 4, &t->to, 0), 0);
	CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 40, &t->to, 500),
		     0);
	CT_ASSERT_TRUE(world_wait(t->b.cq, &wc));
	CT_EXPECT_EQ(wc.opcode, IBV_WC_RECV);
	CT_EXPECT_EQ(wc.wc_flags, IBV_WC_WITH_IMM);
	CT_EXPECT_EQ(be32toh(wc.imm_data), 0xabcd);
	CT_ASSERT_TRUE(world_wait(t->b.cq, &wc));
	CT_EXPECT_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	CT_EXPECT_EQ(wc.byte_len, 40);
	CT_EXPECT_EQ(be32toh(wc.imm_data), 0xabcd);
}

CT_TEST_F(rc, pieces_are_gathered_and_scattered)
{
	struct ibv_sge from[3], to[2];
	struct ibv_send_wr *bad,
		wr = {.sg_list = from, .num_sge = 3, .opcode = IBV_WR_SEND};
	struct ibv_recv_wr *bad_recv, recv = {.sg_list = to, .num_sge = 2};
	struct ibv_wc wc;

	memcpy(t->a.memory, "abcdefghij", 10);
	from[0] = (struct ibv_sge){(uintptr_t)t->a.memory, 3, t->a.mr->lkey};
	from[1] = (struct ibv_sge){(uintptr_t)t->a.memory + 5, 0, 0};
	from[2] = (struct ibv_sge){(uintptr_t)t->a.memory + 6, 4, t->a.mr->lkey};
	to[0] = (struct ibv_sge){(uintptr_t)t->b.memory, 5, t->b.mr->lkey};
	to[1] = (struct ibv_sge){(uintptr_t)t->b.memory + 10, 9, t->b.mr->lkey};
	CT_ASSERT_EQ(ibv_post_recv(t->b.qp, &recv, &bad_recv), 0);
	CT_ASSERT_EQ(ibv_post_send(t->a.qp, &wr, &bad), 0);
	CT_ASSERT_TRUE(world_wait(t->b.cq, &wc));
	CT_EXPECT_EQ(wc.byte_len, 7);
	CT_EXPECT_MEMEQ(t->b.memory, "abcgh", 5);
	CT_EXPECT_MEMEQ(t->b.memory + 10, "ij", 3);
	/* Not signaled. */
	CT_EXPECT_TRUE(world_quiet(t->a.cq));
}

CT_TEST_F(rc, inline_data_needs_no_key_and_is_taken_at_once)
{
	char text[] = "inline";
	struct ibv_sge sge = {(uintptr_t)text, sizeof(text), 0};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_INLINE};

	CT_ASSERT_EQ(ibv_post_send(t->a.qp, &wr, &bad), 0);
	memset(text, 'x', sizeof(text));
	CT_ASSERT_EQ(world_recv(&t->b, 1, 0, 100), 0);
	CT_EXPECT_EQ(world_status(t->b.cq), IBV_WC_SUCCESS);
	CT_EXPECT_STREQ(t->b.memory, "inline");
	sge.length = WORLD_INLINE + 1;
	CT_EXPECT_EQ(ibv_post_send(t->a.qp, &wr, &bad), EINVAL);
	CT_EXPECT_EQ(bad, &wr);
}

/* Whichever way a write takes, its completion says the same, at the sender only. */
CT_TEST_F(rc, write_of_any_length_says_what_it_did)
{
	static const uint32_t lengths[] = {1, 8, 9, 64, 5000};
	struct ibv_wc wc;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		memset(t->a.memory, 'a' + (int)i, lengths[i]);
		CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, lengths[i], &t->to,
					8),
			     0);
		memset(&wc, 0xff, sizeof(wc));
		CT_ASSERT_TRUE(world_wait(t->a.cq, &wc));
		CT_EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
		CT_EXPECT_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
		CT_EXPECT_EQ(wc.wr_id, 77);
		CT_EXPECT_EQ(wc.byte_len, lengths[i]);
		CT_EXPECT_EQ(wc.qp_num, t->a.qp->qp_num);
		CT_EXPECT_EQ(wc.wc_flags, 0);
		CT_EXPECT_EQ(wc.vendor_err, 0);
		CT_EXPECT_EQ(memcmp(t->b.memory + 8, t->a.memory, lengths[i]), 0);
		CT_EXPECT_EQ(t->b.memory[8 + lengths[i]], 0);
		CT_EXPECT_TRUE(world_quiet(t->b.cq));
	}
}

CT_TEST_F(rc, queue_is_full_until_the_program_has_polled)
{
	for (int i = 0; i < WORLD_WRS; i++)
		CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, 8, &t->to, 0), 0);
	CT_EXPECT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, 8, &t->to, 0), ENOMEM);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, 8, &t->to, 0), 0);
	for (int i = 0; i < WORLD_WRS; i++)
		CT_ASSERT_EQ(world_recv(&t->b, 1, 0, 8), 0);
	CT_EXPECT_EQ(world_recv(&t->b, 1, 0, 8), ENOMEM);
}

/* In a child, where no earlier test had a reason to start it. */
WORLD_CHILD(rc, runs_no_thread_within_one_process)
{
	struct pair p;

	pair_open(&p);
	CT_EXPECT_EQ(pair_write(&p), IBV_WC_SUCCESS);
	pair_close(&p);
	CT_EXPECT_EQ(svb_self.seg->service, 0);
}

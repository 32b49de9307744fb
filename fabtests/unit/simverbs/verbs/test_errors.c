/* SPDX-License-Identifier: BSD-2-Clause */
/* engine/engine.c, engine/rc.c: what goes wrong, for whom, and what becomes of the
 * queues. */
#include "../world.h"

/* What a write ends in when something about it is wrong, and the event the peer gets. */
static const struct wrong {
	const char *what;
	uint32_t lkey_add, rkey_add;
	size_t len;
	int64_t at;
	int status;
	size_t from; /* in the local region */
} wrongs[] = {
	{"local key", 1, 0, 8, 0, IBV_WC_LOC_PROT_ERR, 0},
	{"local key of no region", 1 << 24, 0, 8, 0, IBV_WC_LOC_PROT_ERR, 0},
	{"remote key", 0, 1, 8, 0, IBV_WC_REM_ACCESS_ERR, 0},
	/* Eight bytes and other lengths take different ways through post_send. */
	{"local key, longer", 1, 0, 64, 0, IBV_WC_LOC_PROT_ERR, 0},
	{"remote key, longer", 0, 1, 64, 0, IBV_WC_REM_ACCESS_ERR, 0},
	{"beyond the local end", 0, 0, 8, 0, IBV_WC_LOC_PROT_ERR, WORLD_BYTES - 7},
	{"beyond it, longer", 0, 0, 64, 0, IBV_WC_LOC_PROT_ERR, WORLD_BYTES - 63},
	{"one byte beyond the end", 0, 0, 8, WORLD_BYTES - 7, IBV_WC_REM_ACCESS_ERR, 0},
	{"beyond the end", 0, 0, 9, WORLD_BYTES - 8, IBV_WC_REM_ACCESS_ERR, 0},
	{"before the beginning", 0, 0, 8, -1, IBV_WC_REM_ACCESS_ERR, 0},
	{"round the address space", 0, 0, 8, INT64_MAX, IBV_WC_REM_ACCESS_ERR, 0},
};

CT_TEST(errors, write_that_is_wrong)
{
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		const struct wrong *wrong = &wrongs[i];
		struct ibv_send_wr *bad, wr = {.num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
		struct end a, b;
		struct ibv_sge sge;

		CT_NOTE("%s", wrong->what);
		CT_ASSERT_TRUE(world_pair(&a, &b));
		sge = (struct ibv_sge){(uintptr_t)a.memory + wrong->from,
				       (uint32_t)wrong->len,
				       a.mr->lkey + wrong->lkey_add};
		wr.sg_list = &sge;
		wr.wr.rdma.remote_addr = (uintptr_t)b.memory + (uint64_t)wrong->at;
		wr.wr.rdma.rkey = b.mr->rkey + wrong->rkey_add;
		CT_ASSERT_EQ(ibv_post_send(a.qp, &wr, &bad), 0);
		/* Errors complete though not signaled. */
		CT_EXPECT_EQ(world_status(a.cq), wrong->status);
		CT_EXPECT_EQ(world_state(&a), IBV_QPS_ERR);
		CT_EXPECT_EQ(world_state(&b), wrong->status == IBV_WC_REM_ACCESS_ERR
						      ? IBV_QPS_ERR
						      : IBV_QPS_RTS);
		world_pair_close(&a, &b);
	}
}

CT_FIXTURE(errors, struct pair, pair_open, pair_close);

CT_TEST_F(errors, key_of_a_region_that_is_gone)
{
	struct ibv_mr *mr = ibv_reg_mr(t->b.pd, t->b.memory, 100, WORLD_ACCESS);

	t->to.rkey = mr->rkey;
	CT_EXPECT_EQ(pair_write(t), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(ibv_dereg_mr(mr), 0);
	CT_EXPECT_EQ(pair_write(t), IBV_WC_REM_ACCESS_ERR);
}

CT_TEST_F(errors, message_longer_than_the_receive)
{
	CT_ASSERT_EQ(world_recv(&t->b, 1, 0, 7), 0);
	CT_ASSERT_EQ(world_recv(&t->b, 2, 0, 7), 0);
	CT_ASSERT_EQ(world_send(&t->a, 3, 0, 8), 0);
	CT_EXPECT_EQ(world_status(t->b.cq), IBV_WC_LOC_LEN_ERR);
	CT_EXPECT_EQ(world_status(t->b.cq), IBV_WC_WR_FLUSH_ERR);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_REM_INV_REQ_ERR);
	CT_EXPECT_EQ(world_state(&t->b), IBV_QPS_ERR);
}

/* As programs do that post a buffer only to take messages without data. */
CT_TEST_F(errors, buffers_that_a_message_does_not_reach_are_not_looked_at)
{
	struct ibv_sge sge[2];
	struct ibv_recv_wr *bad, wr = {.wr_id = 1, .sg_list = sge, .num_sge = 2};

	sge[0] = (struct ibv_sge){(uintptr_t)t->b.memory, 8, t->b.mr->lkey};
	sge[1] = (struct ibv_sge){0, 1024, 0};
	CT_ASSERT_EQ(ibv_post_recv(t->b.qp, &wr, &bad), 0);
	CT_ASSERT_EQ(world_send(&t->a, 2, 0, 8), 0);
	CT_EXPECT_EQ(world_status(t->b.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	sge[0].lkey = 0;
	CT_ASSERT_EQ(ibv_post_recv(t->b.qp, &wr, &bad), 0);
	CT_ASSERT_EQ(world_send(&t->a, 3, 0, 0), 0);
	CT_EXPECT_EQ(world_status(t->b.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	sge[0].lkey = t->b.mr->lkey;
	CT_ASSERT_EQ(ibv_post_recv(t->b.qp, &wr, &bad), 0);
	CT_ASSERT_EQ(world_send(&t->a, 4, 0, 9), 0);
	CT_EXPECT_EQ(world_status(t->b.cq), IBV_WC_LOC_PROT_ERR);
}

CT_TEST_F(errors, queue_pair_in_error_flushes_all_and_what_is_posted_then)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_wc wc;

	CT_ASSERT_EQ(world_recv(&t->a, 1, 0, 8), 0);
	CT_ASSERT_EQ(world_send(&t->a, 2, 0, 8), 0);
	CT_ASSERT_EQ(world_send(&t->a, 3, 0, 8), 0);
	CT_ASSERT_EQ(ibv_modify_qp(t->a.qp, &attr, IBV_QP_STATE), 0);
	CT_ASSERT_EQ(world_send(&t->a, 4, 0, 8), 0);
	CT_ASSERT_EQ(world_recv(&t->a, 5, 0, 8), 0);
	for (uint64_t id = 1; id <= 5; id++) {
		CT_ASSERT_TRUE(world_wait(t->a.cq, &wc));
		CT_EXPECT_EQ(wc.wr_id, id);
		CT_EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	}
	CT_EXPECT_TRUE(world_quiet(t->a.cq));
}

CT_TEST_F(errors, nobody_answers_a_queue_pair_whose_peer_is_in_error)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	CT_ASSERT_EQ(ibv_modify_qp(t->b.qp, &attr, IBV_QP_STATE), 0);
	CT_EXPECT_EQ(pair_write(t), IBV_WC_RETRY_EXC_ERR);
}

CT_TEST(errors, sender_that_waits_learns_that_the_receiver_is_destroyed)
{
	struct end a, b;

	CT_ASSERT_TRUE(world_pair(&a, &b));
	CT_ASSERT_EQ(world_send(&a, 1, 0, 8), 0);
	world_close(&b);
	CT_EXPECT_EQ(world_status(a.cq), IBV_WC_RETRY_EXC_ERR);
	world_close(&a);
}

CT_TEST(errors, patience_with_a_receiver_that_is_not_ready_ends)
{
	struct address to_a, to_b;
	struct end a, b;

	CT_ASSERT_TRUE(world_open(&a, IBV_QPT_RC, false) &&
		       world_open(&b, IBV_QPT_RC, false));
	to_a = world_address(&a);
	to_b = world_address(&b);
	CT_ASSERT_TRUE(world_rtr(&a, &to_b) && world_rts(&a, 10, 2) &&
		       world_connect(&b, &to_a));
	CT_ASSERT_EQ(world_send(&a, 1, 0, 8), 0);
	CT_EXPECT_EQ(world_status(a.cq), IBV_WC_RNR_RETRY_EXC_ERR);
	CT_EXPECT_EQ(world_state(&b), IBV_QPS_RTS);
	world_pair_close(&a, &b);
}

/* b's region through a's queue pair. */
CT_TEST_F(errors, region_of_another_domain)
{
	struct end foreign = t->a;

	foreign.memory = t->b.memory;
	foreign.mr = t->b.mr;
	CT_ASSERT_EQ(world_rdma(&foreign, IBV_WR_RDMA_WRITE, 0, 8, &t->to, 0), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_LOC_PROT_ERR);
}

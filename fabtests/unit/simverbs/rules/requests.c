/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/wr_post.c, engine/rc.c: what is not posted, and what ends in an error. */
#include "rules.h"

/* Posting. */
static void post_too_early(void)
{
	struct end end;

	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, false));
	CT_EXPECT_EQ(world_send(&end, 1, 0, 8), EINVAL);
	world_close(&end);
}

static void post_unknown_flag(void)
{
	static const unsigned int flags[] = {IBV_SEND_IP_CSUM, 1u << 7, 1u << 20};
	struct ask ask;
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		CT_ASSERT_TRUE(ask_open(&ask));
		ask.wr.send_flags = flags[i] | IBV_SEND_SIGNALED;
		ask.sge[0].length = i ? 8 : 9;
		ask_refused(&ask, EINVAL);
	}
}

static void post_foreign_operation(void)
{
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	ask.wr.opcode = IBV_WR_TSO;
	ask_refused(&ask, EINVAL);
}

static void post_many_sges(void)
{
	struct ask ask;
	int i;

	CT_ASSERT_TRUE(ask_open(&ask));
	for (i = 1; i < 5; i++)
		ask.sge[i] = ask.sge[0];
	ask.wr.num_sge = 5;
	ask_refused(&ask, EINVAL);
}

static void post_much_inline(void)
{
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	ask.wr.send_flags = IBV_SEND_INLINE;
	ask.sge[0].length = WORLD_INLINE + 1;
	ask_refused(&ask, EINVAL);
}

static void post_inline_read(void)
{
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	ask.wr.opcode = IBV_WR_RDMA_READ;
	ask.wr.send_flags = IBV_SEND_INLINE;
	ask_refused(&ask, EINVAL);
}

static void post_atomic_length(void)
{
	static const uint32_t lengths[] = {0, 4, 16};
	struct ask ask;
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		CT_ASSERT_TRUE(ask_open(&ask));
		ask_atomic(&ask, 0);
		ask.sge[0].length = lengths[i];
		ask_refused(&ask, EINVAL);
	}
}

static void post_to_full_queue(void)
{
	struct ask ask;
	int i;

	CT_ASSERT_TRUE(ask_open(&ask));
	for (i = 0; i < WORLD_WRS; i++)
		CT_ASSERT_EQ(ask_post(&ask), 0);
	ask_refused(&ask, ENOMEM);
}

/* What the requester finds. */
static void local_key(void)
{
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	ask.sge[0].lkey++;
	ask_ends(&ask, IBV_WC_LOC_PROT_ERR);
}

static void local_range(void)
{
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	ask.sge[0].addr += WORLD_BYTES - 7;
	ask_ends(&ask, IBV_WC_LOC_PROT_ERR);
}

static void local_right(void)
{
	struct ibv_mr *mr;
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	mr = ibv_reg_mr(ask.a.pd, rule_page, 8, 0);
	CT_ASSERT_NE(mr, NULL);
	ask.wr.opcode = IBV_WR_RDMA_READ;
	ask.sge[0] = (struct ibv_sge){(uintptr_t)rule_page, 8, mr->lkey};
	CT_EXPECT_EQ(ask_post(&ask), 0);
	CT_EXPECT_EQ(world_status(ask.a.cq), IBV_WC_LOC_PROT_ERR);
	CT_EXPECT_EQ(ibv_dereg_mr(mr), 0);
	ask_close(&ask);
}

/* What the responder finds. */
static void remote_key(void)
{
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	ask.wr.wr.rdma.rkey++;
	ask_ends(&ask, IBV_WC_REM_ACCESS_ERR);
}

static void remote_range(void)
{
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	ask.wr.wr.rdma.remote_addr += WORLD_BYTES - 7;
	ask_ends(&ask, IBV_WC_REM_ACCESS_ERR);
}

static void remote_right(void)
{
	struct ibv_mr *mr;
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	mr = ibv_reg_mr(ask.b.pd, rule_page, 8, IBV_ACCESS_REMOTE_READ);
	CT_ASSERT_NE(mr, NULL);
	ask.wr.wr.rdma.remote_addr = (uintptr_t)rule_page;
	ask.wr.wr.rdma.rkey = mr->rkey;
	CT_EXPECT_EQ(ask_post(&ask), 0);
	CT_EXPECT_EQ(world_status(ask.a.cq), IBV_WC_REM_ACCESS_ERR);
	CT_EXPECT_EQ(ibv_dereg_mr(mr), 0);
	ask_close(&ask);
}

static void remote_domain(void)
{
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	ask.wr.wr.rdma.remote_addr = (uintptr_t)ask.a.memory;
	ask.wr.wr.rdma.rkey = ask.a.mr->rkey;
	ask_ends(&ask, IBV_WC_REM_ACCESS_ERR);
}

static void remote_qp_right(void)
{
	struct ibv_qp_attr attr = {.qp_access_flags = IBV_ACCESS_REMOTE_READ};
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	CT_ASSERT_EQ(ibv_modify_qp(ask.b.qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
	ask_ends(&ask, IBV_WC_REM_INV_REQ_ERR);
}

static void remote_misaligned(void)
{
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	ask_atomic(&ask, 4);
	ask_ends(&ask, IBV_WC_REM_INV_REQ_ERR);
}

static void receive_short(void)
{
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	ask.wr.opcode = IBV_WR_SEND;
	CT_ASSERT_EQ(world_recv(&ask.b, 1, 0, 7), 0);
	CT_EXPECT_EQ(ask_post(&ask), 0);
	CT_EXPECT_EQ(world_status(ask.b.cq), IBV_WC_LOC_LEN_ERR);
	CT_EXPECT_EQ(world_status(ask.a.cq), IBV_WC_REM_INV_REQ_ERR);
	ask_close(&ask);
}

static void receive_key(void)
{
	struct ask ask;

	CT_ASSERT_TRUE(ask_open(&ask));
	ask.wr.opcode = IBV_WR_SEND;
	ask.b.mr->lkey++;
	CT_ASSERT_EQ(world_recv(&ask.b, 1, 0, 8), 0);
	ask.b.mr->lkey--;
	CT_EXPECT_EQ(ask_post(&ask), 0);
	CT_EXPECT_EQ(world_status(ask.b.cq), IBV_WC_LOC_PROT_ERR);
	CT_EXPECT_EQ(world_status(ask.a.cq), IBV_WC_REM_OP_ERR);
	ask_close(&ask);
}

const struct rule rules_of_requests[] = {
	{"Only a queue pair that is ready sends", post_too_early},
	{"Send flags are known ones", post_unknown_flag},
	{"An operation is one of the queue pair's type", post_foreign_operation},
	{"There are as many pieces as were asked for", post_many_sges},
	{"Inline data fits", post_much_inline},
	{"Nothing is read inline", post_inline_read},
	{"An atomic has 8 bytes", post_atomic_length},
	{"A full queue takes nothing", post_to_full_queue},
	{"A local key is valid", local_key},
	{"Local memory is within its region", local_range},
	{"A region that is read to has the right", local_right},
	{"A remote key is valid", remote_key},
	{"Remote memory is within its region", remote_range},
	{"The region grants the operation", remote_right},
	{"The region is of the queue pair's domain", remote_domain},
	{"The queue pair grants the operation", remote_qp_right},
	{"An atomic is aligned", remote_misaligned},
	{"A receive is long enough", receive_short},
	{"A receive's key is valid", receive_key},
	{NULL, NULL},
};

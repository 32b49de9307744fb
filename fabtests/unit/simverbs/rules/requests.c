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

static void post_unknown_flag(struct ask *ask)
{
	static const unsigned int flags[] = {IBV_SEND_IP_CSUM, 1u << 7, 1u << 20};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		ask->wr.send_flags = flags[i] | IBV_SEND_SIGNALED;
		ask->sge[0].length = i ? 8 : 9;
		CT_EXPECT_EQ(ask_post(ask), EINVAL);
	}
}

static void post_foreign_operation(struct ask *ask)
{
	ask->wr.opcode = IBV_WR_TSO;
}

static void post_many_sges(struct ask *ask)
{
	for (int i = 1; i < 5; i++)
		ask->sge[i] = ask->sge[0];
	ask->wr.num_sge = 5;
}

static void post_much_inline(struct ask *ask)
{
	ask->wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
	ask->sge[0].length = WORLD_INLINE;
	CT_EXPECT_EQ(ask_post(ask), 0);
	CT_EXPECT_EQ(world_status(ask->a.cq), IBV_WC_SUCCESS);
	ask->sge[0].length++;
}

static void post_inline_read(struct ask *ask)
{
	ask->wr.opcode = IBV_WR_RDMA_READ;
	ask->wr.send_flags = IBV_SEND_INLINE;
}

static void post_atomic_length(struct ask *ask)
{
	static const uint32_t lengths[] = {0, 4, 16};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		ask_atomic(ask, 0);
		ask->sge[0].length = lengths[i];
		CT_EXPECT_EQ(ask_post(ask), EINVAL);
	}
}

static void post_to_full_queue(struct ask *ask)
{
	for (int i = 0; i < WORLD_WRS; i++)
		CT_ASSERT_EQ(ask_post(ask), 0);
}

/* What the requester finds. */
static void local_key(struct ask *ask)
{
	ask->sge[0].lkey++;
}

static void local_range(struct ask *ask)
{
	ask->sge[0].addr += WORLD_BYTES - 7;
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
static void remote_key(struct ask *ask)
{
	ask->wr.wr.rdma.rkey++;
}

static void remote_range(struct ask *ask)
{
	ask->wr.wr.rdma.remote_addr += WORLD_BYTES - 7;
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
	ask.wr.opcode = IBV_WR_RDMA_READ;
	ask.wr.send_flags = IBV_SEND_SIGNALED;
	CT_EXPECT_EQ(ask_post(&ask), 0);
	CT_EXPECT_EQ(world_status(ask.a.cq), IBV_WC_SUCCESS);
	ask.wr.opcode = IBV_WR_RDMA_WRITE;
	CT_EXPECT_EQ(ask_post(&ask), 0);
	CT_EXPECT_EQ(world_status(ask.a.cq), IBV_WC_REM_ACCESS_ERR);
	CT_EXPECT_EQ(ibv_dereg_mr(mr), 0);
	ask_close(&ask);
}

static void remote_domain(struct ask *ask)
{
	ask->wr.wr.rdma.remote_addr = (uintptr_t)ask->a.memory;
	ask->wr.wr.rdma.rkey = ask->a.mr->rkey;
}

static void remote_qp_right(struct ask *ask)
{
	struct ibv_qp_attr attr = {.qp_access_flags = IBV_ACCESS_REMOTE_READ};

	CT_ASSERT_EQ(ibv_modify_qp(ask->b.qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
}

static void remote_misaligned(struct ask *ask)
{
	ask_atomic(ask, 4);
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
	{"Only a queue pair that is ready sends", TEST(post_too_early)},
	{"Send flags are known ones", REFUSED(post_unknown_flag, EINVAL)},
	{"An operation is one of the queue pair's type",
	 REFUSED(post_foreign_operation, EINVAL)},
	{"There are as many pieces as were asked for", REFUSED(post_many_sges, EINVAL)},
	{"Inline data fits", REFUSED(post_much_inline, EINVAL)},
	{"Nothing is read inline", REFUSED(post_inline_read, EINVAL)},
	{"An atomic has 8 bytes", REFUSED(post_atomic_length, EINVAL)},
	{"A full queue takes nothing", REFUSED(post_to_full_queue, ENOMEM)},
	{"A local key is valid", ENDS(local_key, IBV_WC_LOC_PROT_ERR)},
	{"Local memory is within its region", ENDS(local_range, IBV_WC_LOC_PROT_ERR)},
	{"A region that is read to has the right", TEST(local_right)},
	{"A remote key is valid", ENDS(remote_key, IBV_WC_REM_ACCESS_ERR)},
	{"Remote memory is within its region", ENDS(remote_range, IBV_WC_REM_ACCESS_ERR)},
	{"The region grants the operation", TEST(remote_right)},
	{"The region is of the queue pair's domain",
	 ENDS(remote_domain, IBV_WC_REM_ACCESS_ERR)},
	{"The queue pair grants the operation",
	 ENDS(remote_qp_right, IBV_WC_REM_INV_REQ_ERR)},
	{"An atomic is aligned", ENDS(remote_misaligned, IBV_WC_REM_INV_REQ_ERR)},
	{"A receive is long enough", TEST(receive_short)},
	{"A receive's key is valid", TEST(receive_key)},
	{.name = NULL},
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* engine/atomic.c and the atomic operations of engine/rc.c */
#include "../world.h"

static int post(struct end *end, enum ibv_wr_opcode opcode, const struct address *to,
		size_t at, uint64_t compare_add, uint64_t swap)
{
	struct ibv_sge sge = {(uintptr_t)end->memory, 8, end->mr->lkey};
	struct ibv_send_wr *bad,
		wr = {.sg_list = &sge,
		      .num_sge = 1,
		      .opcode = opcode,
		      .send_flags = IBV_SEND_SIGNALED,
		      .wr.atomic = {to->memory + at, compare_add, swap, to->rkey}};

	return ibv_post_send(end->qp, &wr, &bad);
}

CT_FIXTURE(atomic, struct pair, pair_open, pair_close);

CT_TEST_F(atomic, add_and_compare_return_what_was_there)
{
	struct ibv_wc wc;
	uint64_t *mine, *theirs;

	mine = (uint64_t *)t->a.memory;
	theirs = (uint64_t *)(t->b.memory + 64);
	*theirs = 40;
	CT_ASSERT_EQ(post(&t->a, IBV_WR_ATOMIC_FETCH_AND_ADD, &t->to, 64, 2, 0), 0);
	CT_ASSERT_TRUE(world_wait(t->a.cq, &wc));
	CT_EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	CT_EXPECT_EQ(wc.opcode, IBV_WC_FETCH_ADD);
	CT_EXPECT_EQ(*mine, 40);
	CT_EXPECT_EQ(*theirs, 42);
	CT_ASSERT_EQ(post(&t->a, IBV_WR_ATOMIC_CMP_AND_SWP, &t->to, 64, 41, 7), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(*mine, 42);
	CT_EXPECT_EQ(*theirs, 42);
	CT_ASSERT_EQ(post(&t->a, IBV_WR_ATOMIC_CMP_AND_SWP, &t->to, 64, 42, 7), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(*theirs, 7);
}

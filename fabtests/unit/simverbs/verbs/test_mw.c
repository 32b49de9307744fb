/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/mw.c, engine/window.c */
#include "../world.h"

static int bind(struct end *end, struct ibv_mw *mw, uint32_t rkey, size_t at, size_t len,
		unsigned int access)
{
	struct ibv_send_wr *bad,
		wr = {.opcode = IBV_WR_BIND_MW,
		      .send_flags = IBV_SEND_SIGNALED,
		      .bind_mw = {mw,
				  rkey,
				  {end->mr, (uintptr_t)end->memory + at, len, access}}};

	return ibv_post_send(end->qp, &wr, &bad);
}

CT_FIXTURE(mw, struct pair, pair_open, pair_close);

CT_TEST_F(mw, window_grants_its_range_until_it_is_invalidated)
{
	struct ibv_send_wr *bad,
		wr = {.opcode = IBV_WR_SEND_WITH_INV, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_wc wc;
	struct ibv_mw *mw = ibv_alloc_mw(t->b.pd, IBV_MW_TYPE_2);

	CT_ASSERT_NE(mw, NULL);
	t->to.rkey = ibv_inc_rkey(mw->rkey);
	CT_ASSERT_EQ(bind(&t->b, mw, t->to.rkey, 100, 50, IBV_ACCESS_REMOTE_WRITE), 0);
	CT_ASSERT_TRUE(world_wait(t->b.cq, &wc));
	CT_EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	CT_EXPECT_EQ(wc.opcode, IBV_WC_BIND_MW);
	CT_EXPECT_EQ(ibv_dereg_mr(t->b.mr), EBUSY);
	CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, 50, &t->to, 100), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_ASSERT_EQ(world_recv(&t->b, 1, 0, 8), 0);
	wr.invalidate_rkey = t->to.rkey;
	CT_ASSERT_EQ(ibv_post_send(t->a.qp, &wr, &bad), 0);
	CT_ASSERT_TRUE(world_wait(t->b.cq, &wc));
	CT_EXPECT_EQ(wc.wc_flags, IBV_WC_WITH_INV);
	CT_EXPECT_EQ(wc.invalidated_rkey, t->to.rkey);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_ASSERT_EQ(world_rdma(&t->a, IBV_WR_RDMA_WRITE, 0, 50, &t->to, 100), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_REM_ACCESS_ERR);
	CT_EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

/* Programs add to the key's tag (ibv_inc_rkey), and may come to zero: zero is no key. */
CT_TEST_F(mw, no_window_is_in_the_place_that_a_key_of_zero_names)
{
	enum { COUNT = 1500 };
	static struct ibv_mw *mw[COUNT];

	for (unsigned int i = 0; i < COUNT; i++) {
		mw[i] = ibv_alloc_mw(t->a.pd, IBV_MW_TYPE_2);
		CT_ASSERT_NE(mw[i], NULL);
		CT_EXPECT_NE(mw[i]->rkey >> 8, 0);
	}
	for (unsigned int i = 0; i < COUNT; i++)
		CT_EXPECT_EQ(ibv_dealloc_mw(mw[i]), 0);
}

/* Which status a bind with these rights has, on a region with all. */
static int bind_status(unsigned int access)
{
	struct ibv_mw *mw;
	struct pair p;
	int status = -1;

	pair_open(&p);
	mw = ibv_alloc_mw(p.b.pd, IBV_MW_TYPE_2);
	if (mw && !bind(&p.b, mw, ibv_inc_rkey(mw->rkey), 0, 8, access))
		status = world_status(p.b.cq);
	if (mw)
		ibv_dealloc_mw(mw);
	pair_close(&p);
	return status;
}

CT_TEST(mw, rights_of_a_window_may_be_those_of_a_region)
{
	static const struct {
		unsigned int access;
		int status;
	} rows[] = {
		{0, IBV_WC_SUCCESS},
		{IBV_ACCESS_LOCAL_WRITE, IBV_WC_SUCCESS},
		{IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND |
			 IBV_ACCESS_RELAXED_ORDERING,
		 IBV_WC_SUCCESS},
		{IBV_ACCESS_HUGETLB, IBV_WC_MW_BIND_ERR},
		{IBV_ACCESS_ON_DEMAND, IBV_WC_MW_BIND_ERR},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CT_NOTE("rights %#x", rows[i].access);
		CT_EXPECT_EQ(bind_status(rows[i].access), rows[i].status);
	}
}

CT_TEST_F(mw, local_right_of_a_window_grants_nothing_to_peers)
{
	struct ibv_mw *mw = ibv_alloc_mw(t->b.pd, IBV_MW_TYPE_2);

	CT_ASSERT_NE(mw, NULL);
	t->to.rkey = ibv_inc_rkey(mw->rkey);
	CT_ASSERT_EQ(bind(&t->b, mw, t->to.rkey, 0, 64, IBV_ACCESS_LOCAL_WRITE), 0);
	CT_EXPECT_EQ(world_status(t->b.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(pair_write(t), IBV_WC_REM_ACCESS_ERR);
	CT_EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

CT_TEST_F(mw, bind_is_checked)
{
	struct ibv_mw *mw;

	EXPECT_ERRNO(ibv_alloc_mw(t->b.pd, IBV_MW_TYPE_1), NULL, EOPNOTSUPP);
	mw = ibv_alloc_mw(t->b.pd, IBV_MW_TYPE_2);
	CT_ASSERT_NE(mw, NULL);
	/* The tag must change. */
	CT_ASSERT_EQ(bind(&t->b, mw, mw->rkey, 0, 8, IBV_ACCESS_REMOTE_READ), 0);
	CT_EXPECT_EQ(world_status(t->b.cq), IBV_WC_MW_BIND_ERR);
	CT_EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

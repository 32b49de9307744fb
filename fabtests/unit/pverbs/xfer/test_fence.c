/* SPDX-License-Identifier: BSD-2-Clause */
/* Fences of a device whose own are not to be used: who is fenced waits to be posted. */
#include "../world.h"

#define ADDR 0x1000u
#define KEY 7u

static bool connected(struct world *w, struct world_opts opts, int fence)
{
	world_reset();
	pvb_params.fence = fence;
	return world_open_connected(w, &opts);
}

static void expect_comps(struct fid_cq *cq, unsigned int wanted)
{
	unsigned int errors;

	CT_EXPECT_EQ(read_all_comps(cq, &errors), wanted);
	CT_EXPECT_EQ(errors, 0);
}

static ssize_t read_number(struct fid_ep *ep, uintptr_t number, uint64_t flags)
{
	const struct fi_rma_iov range = {.addr = ADDR, .key = KEY};
	const struct fi_msg_rma msg = {.rma_iov = &range,
				       .rma_iov_count = 1,
				       .context = NUMBER(number)};

	return fi_readmsg(ep, &msg, flags);
}

static ssize_t write_fenced(struct fid_ep *ep, uintptr_t number)
{
	const struct fi_rma_iov range = {.addr = ADDR, .key = KEY};
	const struct fi_msg_rma msg = {.rma_iov = &range,
				       .rma_iov_count = 1,
				       .context = NUMBER(number)};

	return fi_writemsg(ep, &msg, FI_FENCE | FI_COMPLETION);
}

CT_FIXTURE(fence_options, struct world, world_fresh, world_close);

CT_TEST_F(fence_options, a_device_is_trusted_with_it)
{
	static const int fences[] = {PVB_FENCE_DEVICE, PVB_FENCE_AUTO};

	for (size_t i = 0; i < CRN_COUNT(fences); i++) {
		CT_ASSERT_TRUE(connected(t, (struct world_opts){0}, fences[i]));
		CT_EXPECT_EQ(read_number(t->ep, 1, FI_COMPLETION), 0);
		CT_EXPECT_EQ(write_fenced(t->ep, 2), 0);
		CT_EXPECT_TRUE(fake_newest(&t->qp->sq)->flags & IBV_SEND_FENCE);
		world_close(t);
	}
}

CT_TEST_F(fence_options, a_device_that_stalls_is_not_trusted_unless_the_user_says_so)
{
	static const struct {
		const char *driver;
		int fence;
		bool waits;
	} rows[] = {
		{"rxe", PVB_FENCE_AUTO, true},	     {"rxe", PVB_FENCE_DEVICE, false},
		{"rxe", PVB_FENCE_WAIT, true},	     {"mlx5_core", PVB_FENCE_AUTO, false},
		{"mlx5_core", PVB_FENCE_WAIT, true},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		world_reset();
		pvb_params.fence = rows[i].fence;
		fake_devices[0].driver = rows[i].driver;
		CT_ASSERT_TRUE(world_open_connected(t, NULL));
		CT_EXPECT_EQ(read_number(t->ep, 1, FI_COMPLETION), 0);
		CT_EXPECT_EQ(write_fenced(t->ep, 2), rows[i].waits ? -FI_EAGAIN : 0);
		world_close(t);
	}
}

static void start(struct world *t)
{
	CT_ASSERT_TRUE(connected(t, (struct world_opts){0}, PVB_FENCE_WAIT));
}

CT_FIXTURE(fence, struct world, start, world_close);

CT_TEST_F(fence, a_fenced_operation_is_posted_once_the_reads_before_it_have_completed)
{
	CT_EXPECT_EQ(write_fenced(t->ep, 0), 0);
	CT_EXPECT_EQ(read_number(t->ep, 1, FI_COMPLETION), 0);
	CT_EXPECT_EQ(send_number(t->ep, 2), 0);
	CT_EXPECT_EQ(write_fenced(t->ep, 3), -FI_EAGAIN);
	fake_complete(t->qp, 2);
	CT_EXPECT_EQ(write_fenced(t->ep, 3), -FI_EAGAIN);
	expect_comp(t->cq, NUMBER(0), FI_RMA | FI_WRITE, 0, 0);
	expect_comp(t->cq, NUMBER(1), FI_RMA | FI_READ, 0, 0);
	CT_EXPECT_EQ(write_fenced(t->ep, 3), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 4);
	for (unsigned int i = 0; i < t->qp->sq.posted; i++)
		CT_EXPECT_FALSE(fake_wr(&t->qp->sq, i)->flags & IBV_SEND_FENCE);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(2), FI_SEND | FI_MSG, 0, 0);
	expect_comp(t->cq, NUMBER(3), FI_RMA | FI_WRITE, 0, 0);
	expect_no_comp(t->cq);
}

CT_TEST_F(fence_options, the_order_asked_for_is_kept_the_same_way)
{
	const struct world_opts opts = {.msg_order = FI_ORDER_WAR | FI_ORDER_SAR};

	CT_ASSERT_TRUE(connected(t, opts, PVB_FENCE_WAIT));
	CT_EXPECT_EQ(send_number(t->ep, 0), 0);
	CT_EXPECT_EQ(read_number(t->ep, 1, FI_COMPLETION), 0);
	CT_EXPECT_EQ(read_number(t->ep, 2, FI_COMPLETION), 0);
	CT_EXPECT_EQ(send_number(t->ep, 3), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_inject(t->ep, NULL, 0, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_inject_write(t->ep, NULL, 0, 0, ADDR, KEY), -FI_EAGAIN);
	fake_complete_all(t->qp);
	expect_comps(t->cq, 3);
	CT_EXPECT_EQ(send_number(t->ep, 3), 0);
	CT_EXPECT_FALSE(fake_newest(&t->qp->sq)->flags & IBV_SEND_FENCE);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(3), FI_SEND | FI_MSG, 0, 0);
}

/* Nothing else would tell when it has completed. */
CT_TEST_F(fence_options, a_read_without_completion_has_a_signal)
{
	const struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION,
					.tx_size = 64};

	CT_ASSERT_TRUE(connected(t, opts, PVB_FENCE_WAIT));
	CT_EXPECT_EQ(send_quietly(t->ep, 0), 0);
	CT_EXPECT_FALSE(fake_newest(&t->qp->sq)->flags & IBV_SEND_SIGNALED);
	CT_EXPECT_EQ(read_number(t->ep, 1, 0), 0);
	CT_EXPECT_TRUE(fake_newest(&t->qp->sq)->flags & IBV_SEND_SIGNALED);
	CT_EXPECT_EQ(write_fenced(t->ep, 2), -FI_EAGAIN);
	fake_complete_all(t->qp);
	expect_no_comp(t->cq);
	CT_EXPECT_EQ(write_fenced(t->ep, 2), 0);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(2), FI_RMA | FI_WRITE, 0, 0);
}

CT_TEST_F(fence, a_read_held_back_by_more_is_posted_by_whoever_waits_for_it)
{
	CT_EXPECT_EQ(read_number(t->ep, 1, FI_COMPLETION | FI_MORE), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 0);
	CT_EXPECT_EQ(write_fenced(t->ep, 2), -FI_EAGAIN);
	CT_EXPECT_EQ(t->qp->sq.posted, 1);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(1), FI_RMA | FI_READ, 0, 0);
	CT_EXPECT_EQ(write_fenced(t->ep, 2), 0);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(2), FI_RMA | FI_WRITE, 0, 0);
}

/* Positions are 32 bits wide and go round. */
CT_TEST_F(fence, a_read_of_long_ago_is_not_waited_for)
{
	struct crn_ring *ring;

	ring = &ep_of(t->ep)->qp.sq.ring;
	ring->head = 3000000000u;
	crn_ring_retire(ring, ring->head);
	CT_EXPECT_EQ(write_fenced(t->ep, 1), 0);
	CT_EXPECT_EQ(read_number(t->ep, 2, FI_COMPLETION), 0);
	CT_EXPECT_EQ(write_fenced(t->ep, 3), -FI_EAGAIN);
	fake_complete_all(t->qp);
	expect_comps(t->cq, 2);
	CT_EXPECT_EQ(write_fenced(t->ep, 3), 0);
	fake_complete_all(t->qp);
	expect_comps(t->cq, 1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The short way of a durable write like the one before. */
#include <errno.h>
#include "../durable.h"
#include "persist/initiator/internal.h"
#include "xfer/op.h"

#define WRITE (FI_RMA | FI_WRITE)

static bool fits(struct durable *d, uint64_t key, uint64_t flags)
{
	const struct pvb_op op = {
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = flags,
		.addr = DURABLE_ADDR,
		.key = key,
		.len = 64,
	};

	return WITH_LOCK(&ep_of(d->w.ep)->qp.tx_lock,
			 pvb_plan_cache_hit(ep_of(d->w.ep), &op)) == PVB_PLAN_CACHE_WRITE;
}

/* A first one, all of it over. */
static bool after_one(struct durable *d, uint64_t key)
{
	if (!durable_open(d, NULL))
		return false;
	CT_EXPECT_FALSE(fits(d, key, 0));
	CT_EXPECT_EQ(durable_write(d, 1, 0, 64, key, 0), 0);
	fake_complete_all(d->w.qp);
	expect_comp(d->w.cq, NUMBER(1), WRITE, 0, 0);
	return true;
}

CT_FIXTURE(plan_cache, struct durable, durable_start, durable_close);

CT_TEST_F(plan_cache, the_second_write_posts_what_the_first_did)
{
	const uint64_t keys[] = {KEY_ARRIVED, KEY_VISIBLE, KEY_READS};
	const struct fake_wr *first, *second;
	unsigned int i, j, each;

	for (i = 0; i < 3; i++) {
		CT_ASSERT_TRUE(after_one(t, keys[i]));
		CT_EXPECT_TRUE(fits(t, keys[i], 0));
		each = t->w.qp->sq.posted;
		CT_EXPECT_EQ(each, i ? 2 : 1);
		CT_EXPECT_EQ(durable_write(t, 2, 0, 64, keys[i], 0), 0);
		CT_ASSERT_EQ(t->w.qp->sq.posted, 2 * each);
		CT_EXPECT_EQ(t->w.qp->sq.calls, 2);
		for (j = 0; j < each; j++) {
			first = fake_wr(&t->w.qp->sq, j);
			second = fake_wr(&t->w.qp->sq, each + j);
			CT_EXPECT_EQ(second->opcode, first->opcode);
			CT_EXPECT_EQ(second->flags, first->flags);
			CT_EXPECT_EQ(second->remote_addr, first->remote_addr);
			CT_EXPECT_EQ(second->rkey, first->rkey);
		}
		fake_complete_all(t->w.qp);
		expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
		expect_no_comp(t->w.cq);
		CT_EXPECT_EQ(crn_ring_used(&t->qp->sq.ring), 0);
		CT_EXPECT_EQ(
			t->qp->commit->counts[i ? PVB_COMMIT_READ : PVB_COMMIT_ARRIVED],
			2);
	}
}

/* The fenced one behind it has to know of it. */
CT_TEST_F(plan_cache, it_leaves_behind_what_the_first_did)
{
	const struct pvb_op next = {.opcode = IBV_WR_RDMA_WRITE,
				    .flags = FI_COMMIT_COMPLETE | FI_FENCE,
				    .key = KEY_READS,
				    .len = 8};
	unsigned int kinds;

	CT_EXPECT_EQ(durable_write(t, 1, 0, 64, KEY_READS, 0), 0);
	kinds = WITH_LOCK(&t->qp->tx_lock,
			  pvb_commit_pending(t->qp, t->qp->commit->attr_bits));
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	CT_EXPECT_EQ(WITH_LOCK(&t->qp->tx_lock,
			       pvb_commit_pending(t->qp, t->qp->commit->attr_bits)),
		     0);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 64, KEY_READS, 0), 0);
	/* Which forgets what is over. */
	CT_EXPECT_FALSE(WITH_LOCK(&ep_of(t->w.ep)->qp.tx_lock,
				  pvb_commit_overtakes(ep_of(t->w.ep), &next)));
	CT_EXPECT_EQ(WITH_LOCK(&t->qp->tx_lock,
			       pvb_commit_pending(t->qp, t->qp->commit->attr_bits)),
		     kinds);
	CT_EXPECT_EQ(kinds, PVB_PENDING_READ);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
}

CT_TEST_F(plan_cache, whatever_is_unlike_the_first_misses_the_plan_cache)
{
	struct pvb_op op = {.opcode = IBV_WR_RDMA_WRITE, .key = KEY_READS, .len = 64};
	struct pvb_ep *ep;

	CT_ASSERT_TRUE(after_one(t, KEY_READS));
	ep = ep_of(t->w.ep);
	CT_EXPECT_EQ(WITH_LOCK(&ep->qp.tx_lock, pvb_plan_cache_hit(ep, &op)),
		     PVB_PLAN_CACHE_WRITE);
	CT_EXPECT_FALSE(fits(t, KEY_VISIBLE, 0));
	CT_EXPECT_FALSE(fits(t, KEY_READS ^ 1ull << 60, 0));
	CT_EXPECT_FALSE(fits(t, KEY_READS, FI_FENCE));
	CT_EXPECT_FALSE(fits(t, KEY_READS, FI_MORE));
	op.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	CT_EXPECT_EQ(WITH_LOCK(&ep->qp.tx_lock, pvb_plan_cache_hit(ep, &op)),
		     PVB_PLAN_CACHE_MISS);
	op.opcode = IBV_WR_RDMA_WRITE;
	op.len = 0;
	CT_EXPECT_EQ(WITH_LOCK(&ep->qp.tx_lock, pvb_plan_cache_hit(ep, &op)),
		     PVB_PLAN_CACHE_MISS);
	op.len = 64;
	op.no_comp = true;
	CT_EXPECT_EQ(WITH_LOCK(&ep->qp.tx_lock, pvb_plan_cache_hit(ep, &op)),
		     PVB_PLAN_CACHE_NO_COMP);
	op.flags = FI_FENCE;
	CT_EXPECT_EQ(WITH_LOCK(&ep->qp.tx_lock, pvb_plan_cache_hit(ep, &op)),
		     PVB_PLAN_CACHE_MISS);
	op.flags = 0;
	/* Somebody is told: the counter. */
	t->qp->sq.counted = true;
	CT_EXPECT_EQ(WITH_LOCK(&ep->qp.tx_lock, pvb_plan_cache_hit(ep, &op)),
		     PVB_PLAN_CACHE_MISS);
	t->qp->sq.counted = false;
	op.no_comp = false;
	op.inject = true;
	CT_EXPECT_EQ(WITH_LOCK(&ep->qp.tx_lock, pvb_plan_cache_hit(ep, &op)),
		     PVB_PLAN_CACHE_NO_COMP);
}

CT_TEST_F(plan_cache, so_does_one_behind_something_it_has_to_look_at)
{
	CT_ASSERT_TRUE(after_one(t, KEY_READS));
	/* Written, and not durable. */
	CT_EXPECT_EQ(plain_write(t, 2, 0x4000, 8, KEY_READS, FI_COMPLETION), 0);
	CT_EXPECT_FALSE(fits(t, KEY_READS, 0));
	CT_ASSERT_TRUE(after_one(t, KEY_READS));
	atomic_store(&t->qp->commit->defer.failed, true);
	CT_EXPECT_FALSE(fits(t, KEY_READS, 0));
	CT_EXPECT_EQ(durable_write(t, 2, 0, 64, KEY_READS, 0), -FI_ECONNABORTED);
	/* To memory of another kind, outstanding. */
	CT_ASSERT_TRUE(after_one(t, KEY_READS));
	CT_EXPECT_EQ(durable_write(t, 2, 0, 64, KEY_REQUESTS, 0), 0);
	CT_EXPECT_FALSE(fits(t, KEY_READS, 0));
}

CT_TEST_F(plan_cache, a_plan_with_the_targets_processor_is_not_learnt)
{
	CT_EXPECT_EQ(durable_write(t, 1, 0, 64, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(t->qp->commit->plan_cache.key, 0);
}

CT_TEST_F(plan_cache, without_room_it_waits)
{
	uintptr_t number;
	ssize_t ret = 0;

	for (number = 1; !ret && number < 1000; number++)
		ret = durable_write(t, number, 0, 64, KEY_READS, 0);
	CT_EXPECT_EQ(ret, -FI_EAGAIN);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	CT_EXPECT_EQ(durable_write(t, number, 0, 64, KEY_READS, 0), 0);
}

CT_TEST_F(plan_cache, what_the_device_refuses_never_began)
{
	CT_ASSERT_TRUE(after_one(t, KEY_READS));
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 64, KEY_READS, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_ring_used(&t->qp->sq.ring), 0);
	CT_EXPECT_EQ(t->qp->commit->counts[PVB_COMMIT_READ], 1);
}

/* The key of no region is none that was learnt. */
CT_TEST_F(plan_cache, key_zero_is_refused_as_ever)
{
	for (int quiet = 0; quiet < 2; quiet++) {
		CT_ASSERT_TRUE(durable_open(t, NULL));
		ep_of(t->w.ep)->tx_selective = quiet;
		CT_EXPECT_EQ(plain_write(t, 1, 0, 8, 0, FI_COMMIT_COMPLETE),
			     -FI_EOPNOTSUPP);
		CT_EXPECT_EQ(t->w.qp->sq.posted, 0);
	}
}

/* As if 1.5 thousand million operations had been posted, and ended. */
static void go_on(struct durable *d)
{
	d->qp->sq.ring.head += 0x60000000;
	atomic_fetch_add(&d->qp->sq.ring.tail, 0x60000000);
}

CT_TEST_F(plan_cache, positions_go_round_while_nobody_hears)
{
	ep_of(t->w.ep)->tx_selective = true;
	CT_EXPECT_EQ(plain_write(t, 2, 0x8000, 8, KEY_VISIBLE, FI_COMMIT_COMPLETE), 0);
	durable_complete(t);
	expect_no_comp(t->w.cq);
	/* To memory of another kind, once the flush of this one has ended. */
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_READS, FI_FENCE), -FI_EAGAIN);
	durable_complete(t);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_READS, FI_FENCE), 0);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	for (int i = 0; i < 2; i++) {
		CT_EXPECT_EQ(plain_write(t, 2, 0x8000, 8, KEY_VISIBLE,
					 FI_COMMIT_COMPLETE),
			     0);
		durable_complete(t);
		expect_no_comp(t->w.cq);
		go_on(t);
	}
	CT_EXPECT_EQ(durable_write(t, 3, 0x8000, 8, KEY_VISIBLE, FI_FENCE), 0);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(3), WRITE, 0, 0);
}

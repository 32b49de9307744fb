/* SPDX-License-Identifier: BSD-2-Clause */
/* FLUSH and ATOMIC WRITE among the work requests of an operation. */
#include <errno.h>
#include "../durable.h"
#include "../../fake_ex.h"
#include "persist/initiator/batch.h"
#include "persist/initiator/initiator.h"
#include "persist/initiator/internal.h"
#include "xfer/op.h"

#define WRITE (FI_RMA | FI_WRITE)

static bool native_open(struct durable *d)
{
	if (!durable_open(d, NULL) || pvb_commit_open(d->qp))
		return false;
	fake_ex_reset(d->qp->ibv);
	d->qp->ibv_ex = &fake_ex.qp;
	return true;
}

/* W FP, of data that is registered if it has a key, or AW FP; or FP alone. */
static int post_native_of(struct durable *d, uintptr_t number, char kind, uint32_t lkey,
			  uint64_t flags)
{
	uint64_t payload = 77;
	struct ibv_sge sge = {(uintptr_t)&payload, sizeof(payload), lkey};
	struct pvb_op op = {
		.opcode = IBV_WR_RDMA_WRITE,
		.comp_flags = WRITE,
		.flags = flags,
		.context = NUMBER(number),
		.sge = &sge,
		.num_sge = 1,
		.len = sizeof(payload),
		.addr = DURABLE_ADDR,
	};
	struct pvb_batch batch;
	int ret = 0;

	crn_lock(&d->qp->tx_lock);
	pvb_batch_init(&batch, ep_of(d->w.ep), &op);
	if (kind == 'W')
		ret = pvb_batch_data(&batch, &op, false);
	else if (kind == 'A')
		ret = pvb_batch_atomic_write(&batch, 1, DURABLE_ADDR, &payload);
	pvb_batch_last(&batch, 0);
	if (!ret)
		ret = pvb_batch_flush(&batch, 1, DURABLE_ADDR, DURABLE_ADDR + 8);
	ret = pvb_batch_finish(&batch, ret);
	crn_unlock(&d->qp->tx_lock);
	return ret;
}

static int post_native(struct durable *d, uintptr_t number, char kind)
{
	return post_native_of(d, number, kind, 0, 0);
}

static void native_start(struct durable *t)
{
	CT_ASSERT_TRUE(native_open(t));
}

CT_FIXTURE(batch_native, struct durable, native_start, durable_close);

CT_TEST_F(batch_native, an_operation_and_its_flush_are_given_to_the_device_at_once)
{
	for (const char *kind = "WA"; *kind; kind++) {
		CT_ASSERT_TRUE(native_open(t));
		t->qp->inline_size = 0;
		CT_EXPECT_EQ(post_native(t, 1, *kind), 0);
		CT_EXPECT_EQ(fake_ex.starts, 1);
		CT_EXPECT_EQ(fake_ex.kinds[0], *kind);
		CT_EXPECT_EQ(fake_ex.kinds[1], 'F');
		CT_EXPECT_EQ(fake_ex.wr[0].swap, *kind == 'A' ? 77 : 0);
		CT_EXPECT_EQ(fake_ex.wr[1].len, 8);
		CT_EXPECT_EQ(t->w.qp->sq.posted, 2);
		CT_EXPECT_FALSE(fake_ex.wr[0].flags & IBV_SEND_SIGNALED);
		CT_EXPECT_TRUE(fake_ex.wr[1].flags & IBV_SEND_SIGNALED);
		CT_EXPECT_EQ(fake_ex.wr[1].addr, DURABLE_ADDR);
		fake_complete_all(t->w.qp);
		expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
		expect_no_comp(t->w.cq);
		CT_EXPECT_EQ(crn_ring_used(&t->qp->sq.ring), 0);
	}
}

CT_TEST_F(batch_native, registered_data_does_not_go_inline)
{
	CT_EXPECT_EQ(post_native_of(t, 1, 'W', 5, 0), 0);
	CT_EXPECT_EQ(fake_ex.count, 2);
	CT_EXPECT_FALSE(fake_ex.wr[0].flags & IBV_SEND_INLINE);
	CT_EXPECT_EQ(fake_ex.wr[0].sge[0].lkey, 5);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
}

CT_TEST_F(batch_native, inline_data_goes_ahead_by_the_interface_that_writes_it)
{
	static const struct {
		uint32_t lkey;
		uint64_t flags;
	} kinds[] = {{0, 0}, {5, FI_INJECT}};

	for (int i = 0; i < 2; i++) {
		CT_ASSERT_TRUE(native_open(t));
		CT_EXPECT_EQ(post_native_of(t, 1, 'W', kinds[i].lkey, kinds[i].flags), 0);
		CT_EXPECT_EQ(fake_ex.count, 1);
		CT_EXPECT_EQ(fake_ex.kinds[0], 'F');
		CT_EXPECT_EQ(t->w.qp->sq.posted, 2);
		CT_EXPECT_TRUE(fake_wr(&t->w.qp->sq, 0)->flags & IBV_SEND_INLINE);
		fake_complete_all(t->w.qp);
		expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
		expect_no_comp(t->w.cq);
	}
}

CT_TEST_F(batch_native, so_does_data_in_pieces)
{
	uint64_t payload[2] = {0};
	struct ibv_sge sge[2] = {{(uintptr_t)&payload[0], 8, 0},
				 {(uintptr_t)&payload[1], 8, 0}};
	struct pvb_op op = {
		.opcode = IBV_WR_RDMA_WRITE,
		.comp_flags = WRITE,
		.context = NUMBER(1),
		.sge = sge,
		.num_sge = 2,
		.len = sizeof(payload),
	};
	struct pvb_batch batch;

	t->qp->inline_size = 0;
	crn_lock(&t->qp->tx_lock);
	pvb_batch_init(&batch, ep_of(t->w.ep), &op);
	CT_EXPECT_EQ(pvb_batch_data(&batch, &op, false), 0);
	pvb_batch_last(&batch, 0);
	CT_EXPECT_EQ(pvb_batch_finish(&batch, pvb_batch_flush(&batch, 1, 0, 8)), 0);
	crn_unlock(&t->qp->tx_lock);
	CT_EXPECT_EQ(fake_ex.count, 1);
	CT_EXPECT_EQ(fake_ex.kinds[0], 'F');
	CT_EXPECT_EQ(fake_wr(&t->w.qp->sq, 0)->num_sge, 2);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
}

CT_TEST_F(batch_native, a_flush_follows_what_was_held_back_before_it)
{
	CT_EXPECT_EQ(plain_write(t, 1, 0x4000, 8, KEY_READS, FI_MORE | FI_COMPLETION), 0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 0);
	CT_EXPECT_EQ(post_native(t, 2, 'F'), 0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 2);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

CT_TEST_F(batch_native, what_the_device_refuses_never_began)
{
	t->qp->inline_size = 0;
	fake_ex.refused = ENOMEM;
	CT_EXPECT_EQ(post_native(t, 1, 'W'), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_ring_used(&t->qp->sq.ring), 0);
	fake_ex.refused = 0;
	CT_EXPECT_EQ(post_native(t, 2, 'W'), 0);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

/* fi_writemsg of registered data to a region that takes FLUSH and ATOMIC WRITE. */
static ssize_t write_at(struct durable *d, uintptr_t number, uint64_t at, uint64_t flags)
{
	const struct pvb_key_attr attr = {.domain = CRN_DMP,
					  .ddio = true,
					  .persistent = true,
					  .flush = true,
					  .atomic_write = true};
	static uint64_t payload = 77;
	const struct iovec iov = {&payload, sizeof(payload)};
	void *const lkey = (void *)(uintptr_t)5;
	const struct fi_rma_iov range = {DURABLE_ADDR + at, 8,
					 pvb_key_pack(0x4000, &attr)};
	const struct fi_msg_rma msg = {.msg_iov = &iov,
				       .desc = (void **)&lkey,
				       .iov_count = 1,
				       .rma_iov = &range,
				       .rma_iov_count = 1,
				       .context = NUMBER(number)};

	ep_of(d->w.ep)->domain->native.flush_persistent = true;
	ep_of(d->w.ep)->domain->native.atomic_write = true;
	return fi_writemsg(d->w.ep, &msg, flags | FI_COMMIT_COMPLETE);
}

static ssize_t durable_flushed(struct durable *d, uintptr_t number, uint64_t flags)
{
	return write_at(d, number, 0, flags | FI_COMPLETION);
}

CT_TEST_F(batch_native, the_plan_cache_gives_the_device_the_same)
{
	struct fake_ex_wr first[2];

	for (uintptr_t i = 1; i <= 2; i++) {
		CT_EXPECT_EQ(durable_flushed(t, i, 0), 0);
		CT_EXPECT_EQ(fake_ex.starts, i);
		CT_EXPECT_EQ(fake_ex.count, 2);
		CT_EXPECT_EQ(strcmp(fake_ex.kinds, "WF"), 0);
		if (i == 1)
			memcpy(first, fake_ex.wr, sizeof(first));
		for (int j = 0; j < 2; j++) {
			CT_EXPECT_EQ(fake_ex.wr[j].flags, first[j].flags);
			CT_EXPECT_EQ(fake_ex.wr[j].addr, first[j].addr);
			CT_EXPECT_EQ(fake_ex.wr[j].rkey, first[j].rkey);
			CT_EXPECT_EQ(fake_ex.wr[j].len, first[j].len);
		}
		CT_EXPECT_EQ(fake_ex.wr[0].sge[0].lkey, 5);
		fake_complete_all(t->w.qp);
		expect_comp(t->w.cq, NUMBER(i), WRITE, 0, 0);
		expect_no_comp(t->w.cq);
		CT_EXPECT_EQ(crn_ring_used(&t->qp->sq.ring), 0);
	}
	/* Copied data has to go inline. */
	CT_EXPECT_EQ(durable_flushed(t, 3, FI_INJECT), 0);
	CT_EXPECT_EQ(strcmp(fake_ex.kinds, "F"), 0);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(3), WRITE, 0, 0);
	fake_ex.refused = ENOMEM;
	CT_EXPECT_EQ(durable_flushed(t, 4, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_ring_used(&t->qp->sq.ring), 0);
}

/* A write that nobody hears of, and a word behind it. */
static ssize_t compound(struct durable *d, uintptr_t number, uint64_t flags)
{
	ssize_t ret;

	ep_of(d->w.ep)->tx_selective = true;
	ret = write_at(d, number, 0, flags);
	return ret ? ret : write_at(d, number, 0x8000, FI_FENCE | FI_COMPLETION);
}

CT_TEST_F(batch_native, a_word_behind_a_write_is_given_to_the_device_in_one_go)
{
	struct fake_ex_wr first[4];

	/* The second takes the short way. */
	for (uintptr_t i = 1; i <= 2; i++) {
		CT_EXPECT_EQ(compound(t, i, FI_MORE), 0);
		CT_EXPECT_EQ(t->qp->commit->plan_cache.behind, PVB_PENDING_FLUSH);
		CT_EXPECT_EQ(fake_ex.starts, i);
		CT_EXPECT_STREQ(fake_ex.kinds, "WFAF");
		if (i == 1)
			memcpy(first, fake_ex.wr, sizeof(first));
		for (int j = 0; j < 4; j++) {
			CT_NOTE("compound %zu, request %d", (size_t)i, j);
			CT_EXPECT_EQ(fake_ex.wr[j].flags, first[j].flags);
			CT_EXPECT_EQ(fake_ex.wr[j].addr, first[j].addr);
			CT_EXPECT_EQ(fake_ex.wr[j].rkey, first[j].rkey);
			CT_EXPECT_EQ(fake_ex.wr[j].len, first[j].len);
			CT_EXPECT_EQ(fake_ex.wr[j].swap, first[j].swap);
		}
		CT_EXPECT_EQ(fake_ex.wr[1].addr, DURABLE_ADDR);
		CT_EXPECT_EQ(fake_ex.wr[2].addr, DURABLE_ADDR + 0x8000);
		CT_EXPECT_EQ(fake_ex.wr[2].swap, 77);
		CT_EXPECT_EQ(fake_ex.wr[3].flags, IBV_SEND_SIGNALED);
		CT_EXPECT_EQ(t->qp->commit->dirty.count, 0);
		CT_EXPECT_EQ(t->qp->commit->counts[PVB_COMMIT_UPGRADES], i);
		CT_EXPECT_EQ(t->qp->commit->counts[PVB_COMMIT_FLUSH], i);
		CT_EXPECT_EQ(t->qp->commit->kinds,
			     PVB_PENDING_FLUSH | PVB_PENDING_ATOMIC);
		CT_EXPECT_EQ(t->qp->commit->hazard_count, 1);
		/* Later writes could pass the word. */
		CT_EXPECT_EQ(write_at(t, 9, 0x8000, FI_COMPLETION), -FI_EAGAIN);
		fake_complete_all(t->w.qp);
		expect_comp(t->w.cq, NUMBER(i), WRITE, 0, 0);
		expect_no_comp(t->w.cq);
		CT_EXPECT_EQ(crn_ring_used(&t->qp->sq.ring), 0);
	}
}

CT_TEST_F(batch_native, without_more_the_write_has_gone_ahead)
{
	for (uintptr_t i = 1; i <= 2; i++) {
		CT_EXPECT_EQ(compound(t, i, 0), 0);
		CT_EXPECT_STREQ(fake_ex.kinds, "FAF");
		CT_EXPECT_EQ(t->w.qp->sq.posted, 4 * i);
		fake_complete_all(t->w.qp);
		expect_comp(t->w.cq, NUMBER(i), WRITE, 0, 0);
		expect_no_comp(t->w.cq);
	}
}

CT_TEST_F(batch_native, a_word_that_is_refused_is_tried_again_with_all_it_has_to_see_to)
{
	CT_EXPECT_EQ(compound(t, 1, FI_MORE), 0);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	fake_ex.refused = ENOMEM;
	CT_EXPECT_EQ(compound(t, 2, FI_MORE), -FI_EAGAIN);
	/* What FI_MORE held back was accepted, and went by itself. */
	CT_EXPECT_EQ(t->w.qp->sq.posted, 5);
	CT_EXPECT_EQ(t->qp->chained, 0);
	CT_EXPECT_EQ(t->qp->commit->dirty.count, 1);
	fake_ex.refused = 0;
	CT_EXPECT_EQ(write_at(t, 2, 0x8000, FI_FENCE | FI_COMPLETION), 0);
	CT_EXPECT_STREQ(fake_ex.kinds, "FAF");
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(crn_ring_used(&t->qp->sq.ring), 0);
}

/* Whatever is not like the word before goes the long way, and in its order. */
CT_TEST_F(batch_native, a_word_behind_something_else_is_looked_at)
{
	struct pvb_ep *ep;
	uint64_t value = 1;
	struct ibv_sge sge = {(uintptr_t)&value, 8, 5};
	struct pvb_op op = {.opcode = IBV_WR_RDMA_WRITE,
			    .flags = FI_FENCE | FI_COMMIT_COMPLETE,
			    .addr = DURABLE_ADDR + 0x8000,
			    .sge = &sge,
			    .num_sge = 1,
			    .len = 8};

	ep = ep_of(t->w.ep);
	CT_EXPECT_EQ(compound(t, 1, FI_MORE), 0);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	op.key = t->qp->commit->plan_cache.key;
	CT_EXPECT_EQ(WITH_LOCK(&ep->qp.tx_lock, pvb_plan_cache_hit(ep, &op)),
		     PVB_PLAN_CACHE_WORD);
	op.addr++;
	CT_EXPECT_EQ(WITH_LOCK(&ep->qp.tx_lock, pvb_plan_cache_hit(ep, &op)),
		     PVB_PLAN_CACHE_MISS);
	op.addr--;
	op.len = 16;
	CT_EXPECT_EQ(WITH_LOCK(&ep->qp.tx_lock, pvb_plan_cache_hit(ep, &op)),
		     PVB_PLAN_CACHE_MISS);
	op.len = 8;
	op.flags |= FI_MORE;
	CT_EXPECT_EQ(WITH_LOCK(&ep->qp.tx_lock, pvb_plan_cache_hit(ep, &op)),
		     PVB_PLAN_CACHE_MISS);
	op.flags &= ~(uint64_t)FI_MORE;
	/* A read is outstanding, which the device has to wait for. */
	t->qp->sq.ring.head++;
	t->qp->reads_end = t->qp->sq.ring.head;
	CT_EXPECT_EQ(WITH_LOCK(&ep->qp.tx_lock, pvb_plan_cache_hit(ep, &op)),
		     PVB_PLAN_CACHE_MISS);
	t->qp->sq.ring.head--;
	t->qp->reads_end = t->qp->sq.ring.head;
	CT_EXPECT_EQ(WITH_LOCK(&ep->qp.tx_lock, pvb_plan_cache_hit(ep, &op)),
		     PVB_PLAN_CACHE_WORD);
	/* Dirty is another region. */
	CT_EXPECT_EQ(plain_write(t, 2, 0, 8, KEY_READS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(WITH_LOCK(&ep->qp.tx_lock, pvb_plan_cache_hit(ep, &op)),
		     PVB_PLAN_CACHE_MISS);
}

/* A FLUSH names one region. */
CT_TEST_F(batch_native, a_word_behind_a_write_to_another_region_is_looked_at)
{
	static const uint32_t rkey[] = {0, 0x4100};
	uint64_t value = 1;
	struct ibv_sge sge = {(uintptr_t)&value, 8, 5};
	struct pvb_op op = {.opcode = IBV_WR_RDMA_WRITE,
			    .flags = FI_FENCE | FI_COMMIT_COMPLETE,
			    .addr = DURABLE_ADDR + 0x8000,
			    .sge = &sge,
			    .num_sge = 1,
			    .len = 8};
	const struct pvb_plan_cache *cache;
	uint64_t key;

	for (size_t i = 0; i < CRN_COUNT(rkey); i++) {
		CT_NOTE("rkey 0x%x", rkey[i]);
		CT_ASSERT_TRUE(native_open(t));
		CT_EXPECT_EQ(compound(t, 1, FI_MORE), 0);
		fake_complete_all(t->w.qp);
		expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
		cache = &t->qp->commit->plan_cache;
		op.key = cache->key;
		/* Of the same kind. */
		key = rkey[i] ? pvb_key_pack(rkey[i], &cache->key_attr) : op.key;
		CT_EXPECT_EQ(plain_write(t, 2, 0, 8, key, FI_COMPLETION), 0);
		CT_EXPECT_EQ(WITH_LOCK(&ep_of(t->w.ep)->qp.tx_lock,
				       pvb_plan_cache_hit(ep_of(t->w.ep), &op)),
			     i ? PVB_PLAN_CACHE_MISS : PVB_PLAN_CACHE_WORD);
	}
}

/* The same while something is before it that a FLUSH does not make durable. */
CT_TEST_F(batch_native, a_word_behind_what_no_flush_serves_is_looked_at)
{
	static const char *const before[] = {"nothing", "a message", "an injected one",
					     "a durable write with data",
					     "a write elsewhere"};
	uint64_t value = 1;
	struct ibv_sge sge = {(uintptr_t)&value, 8, 5};
	struct pvb_op op = {.opcode = IBV_WR_RDMA_WRITE,
			    .flags = FI_FENCE | FI_COMMIT_COMPLETE,
			    .addr = DURABLE_ADDR + 0x8000,
			    .sge = &sge,
			    .num_sge = 1,
			    .len = 8};

	for (size_t i = 0; i < CRN_COUNT(before); i++) {
		CT_NOTE("behind %s", before[i]);
		CT_ASSERT_TRUE(native_open(t));
		CT_EXPECT_EQ(compound(t, 1, FI_MORE), 0);
		fake_complete_all(t->w.qp);
		expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
		op.key = t->qp->commit->plan_cache.key;
		if (i == 1)
			CT_EXPECT_EQ(fi_send(t->w.ep, "1", 1, NULL, 0, NUMBER(2)), 0);
		else if (i == 2)
			CT_EXPECT_EQ(fi_inject(t->w.ep, "1", 1, 0), 0);
		else if (i == 3)
			CT_EXPECT_EQ(durable_write(t, 2, 0x100, 8, op.key,
						   FI_REMOTE_CQ_DATA),
				     0);
		else if (i == 4)
			CT_EXPECT_EQ(plain_write(t, 2, 0x100, 8, 0x7000, FI_COMPLETION),
				     0);
		CT_EXPECT_EQ(WITH_LOCK(&ep_of(t->w.ep)->qp.tx_lock,
				       pvb_plan_cache_hit(ep_of(t->w.ep), &op)),
			     i ? PVB_PLAN_CACHE_MISS : PVB_PLAN_CACHE_WORD);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Durable writes posted with FI_MORE: one flush of each region serves all of them. */
#include <errno.h>
#include "ct_fid.h"
#include "../durable.h"
#include "../../fake_ex.h"
#include "persist/initiator/internal.h"
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"

#define WRITE (FI_RMA | FI_WRITE)
#define DEPTH 128
/* Another region of the same kind. */
#define KEY_OTHER other_key(false)

static const struct world_opts deep = {.tx_size = DEPTH};

static uint64_t other_key(bool flush)
{
	const struct pvb_key_attr attr = {
		.domain = CRN_DMP,
		.persistent = true,
		.readable = !flush,
		.flush = flush,
	};

	return pvb_key_pack(0x4100, &attr);
}

/* What was posted to the device, by one letter each. */
static const char *posted(struct durable *d)
{
	static char text[FAKE_WRS + 1];
	unsigned int i;

	for (i = 0; i < d->w.qp->sq.posted; i++) {
		switch (fake_wr(&d->w.qp->sq, i)->opcode) {
		case IBV_WR_RDMA_WRITE:
			text[i] = 'W';
			break;
		case IBV_WR_RDMA_READ:
			text[i] = 'R';
			break;
		case IBV_WR_SEND:
			text[i] = 'S';
			break;
		default:
			text[i] = '+';
		}
	}
	text[i] = 0;
	return text;
}

static ssize_t more(struct durable *d, uintptr_t number, uint64_t key)
{
	return durable_write(d, number, number * 0x10000, 8, key, FI_MORE);
}

static ssize_t last(struct durable *d, uintptr_t number, uint64_t key)
{
	return durable_write(d, number, number * 0x10000, 8, key, 0);
}

static void start(struct durable *t)
{
	CT_ASSERT_TRUE(durable_open(t, &deep));
}

CT_FIXTURE(group, struct durable, start, durable_close);

CT_TEST_F(group, writes_start_at_once_and_one_read_behind_the_last_serves_all)
{
	CT_EXPECT_EQ(more(t, 1, KEY_READS), 0);
	CT_EXPECT_STREQ(posted(t), "W");
	CT_EXPECT_EQ(more(t, 2, KEY_READS), 0);
	CT_EXPECT_EQ(last(t, 3, KEY_READS), 0);
	CT_EXPECT_STREQ(posted(t), "WWWR");
	/* The writes ask for nothing themselves. */
	fake_complete(t->w.qp, 3);
	expect_no_comp(t->w.cq);
	durable_complete(t);
	for (uintptr_t i = 1; i <= 3; i++)
		expect_comp(t->w.cq, NUMBER(i), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(t->qp->commit->dirty.count, 0);
	CT_EXPECT_EQ(t->qp->commit->defer.grouped, 0);
	CT_EXPECT_EQ(crn_ring_used(&t->qp->sq.ring), 0);
	CT_EXPECT_EQ(crn_ring_space(&t->qp->sq.ring), t->qp->sq.depth);
}

CT_TEST_F(group, what_completes_meanwhile_waits_for_its_turn)
{
	CT_EXPECT_EQ(send_number(t->w.ep, 1), 0);
	CT_EXPECT_EQ(more(t, 2, KEY_READS), 0);
	CT_EXPECT_EQ(plain_write(t, 3, 0x90000, 8, KEY_READS, FI_MORE | FI_COMPLETION),
		     0);
	CT_EXPECT_EQ(more(t, 4, KEY_READS), 0);
	fake_complete(t->w.qp, 3);
	expect_comp(t->w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(last(t, 5, KEY_READS), 0);
	CT_EXPECT_STREQ(posted(t), "SWWWWR");
	durable_complete(t);
	for (uintptr_t i = 2; i <= 5; i++)
		expect_comp(t->w.cq, NUMBER(i), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

/* Write 3 waits for the group; the device completes nothing more. */
CT_TEST_F(group, what_waits_for_it_is_cancelled_once_when_the_endpoint_closes)
{
	unsigned int errors;

	CT_EXPECT_EQ(recv_number(t->w.ep, 9), 0);
	CT_EXPECT_EQ(send_number(t->w.ep, 1), 0);
	CT_EXPECT_EQ(more(t, 2, KEY_READS), 0);
	CT_EXPECT_EQ(plain_write(t, 3, 0x90000, 8, KEY_READS, FI_MORE | FI_COMPLETION),
		     0);
	CT_EXPECT_EQ(more(t, 4, KEY_READS), 0);
	fake_complete(t->w.qp, 3);
	expect_comp(t->w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	fake_devices[0].no_flush = true;
	pvb_params.close_timeout = 30;
	world_polls_take_time();
	world_close_ep(&t->w);
	CT_EXPECT_EQ(read_all_comps(t->w.cq, &errors), 4);
	CT_EXPECT_EQ(errors, 4);
}

CT_TEST_F(group, each_of_its_regions_is_flushed)
{
	CT_EXPECT_EQ(more(t, 1, KEY_READS), 0);
	CT_EXPECT_EQ(more(t, 2, KEY_OTHER), 0);
	CT_EXPECT_EQ(more(t, 3, KEY_READS), 0);
	CT_EXPECT_EQ(last(t, 4, KEY_OTHER), 0);
	CT_EXPECT_STREQ(posted(t), "WWWWRR");
	CT_EXPECT_NE(fake_wr(&t->w.qp->sq, 4)->rkey, fake_wr(&t->w.qp->sq, 5)->rkey);
	/* The first flush is not enough for anyone. */
	fake_complete(t->w.qp, 5);
	expect_no_comp(t->w.cq);
	durable_complete(t);
	for (uintptr_t i = 1; i <= 4; i++)
		expect_comp(t->w.cq, NUMBER(i), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

CT_TEST_F(group, a_native_flush_serves_its_range_only)
{
	fake_ex_reset(t->qp->ibv);
	t->qp->ibv_ex = &fake_ex.qp;
	ep_of(t->w.ep)->domain->native.flush_persistent = true;
	CT_EXPECT_EQ(more(t, 1, other_key(true)), 0);
	CT_EXPECT_EQ(last(t, 2, other_key(true)), 0);
	CT_EXPECT_EQ(fake_ex.starts, 2);
	CT_EXPECT_STREQ(fake_ex.kinds, "F");
	CT_EXPECT_EQ(fake_ex.wr[0].len, 8);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 4);
	fake_complete(t->w.qp, 3);
	expect_no_comp(t->w.cq);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

CT_TEST_F(group, it_ends_before_what_is_not_of_it)
{
	static const struct {
		const char *what;
		bool needs_request;
		uint64_t flags;
		const char *posted;
	} rows[] = {
		{"plain", false, 0, "WRW"},
		{"by request", true, FI_COMMIT_COMPLETE, "WRW+"},
		{"fenced, durable", false, FI_COMMIT_COMPLETE | FI_FENCE, "WRWR"},
		{"fenced", false, FI_FENCE, "WRW"},
		{"fenced, more to come", false, FI_FENCE | FI_MORE, "WR"},
	};
	uint64_t key;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].what);
		CT_ASSERT_TRUE(durable_open(t, &deep));
		key = rows[i].needs_request ? KEY_REQUESTS : KEY_READS;
		CT_EXPECT_EQ(more(t, 1, KEY_READS), 0);
		CT_EXPECT_EQ(plain_write(t, 2, 0x80000, 8, key,
					 rows[i].flags | FI_COMPLETION),
			     0);
		CT_EXPECT_STREQ(posted(t), rows[i].posted);
		CT_EXPECT_FALSE(WITH_LOCK(&t->qp->tx_lock, pvb_group_open(t->qp)));
	}
}

CT_TEST_F(group, a_send_ends_it_too)
{
	CT_EXPECT_EQ(more(t, 1, KEY_READS), 0);
	CT_EXPECT_EQ(send_number(t->w.ep, 2), 0);
	CT_EXPECT_STREQ(posted(t), "WRS");
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(2), FI_SEND | FI_MSG, 0, 0);
}

CT_TEST_F(group, a_queue_that_it_fills_is_emptied_by_its_end)
{
	unsigned int errors, got = 0;
	uintptr_t i = 0;
	ssize_t ret;

	while (!(ret = durable_write(t, i, 0, 8, KEY_READS, FI_MORE)) && i < 1000)
		i++;
	CT_EXPECT_EQ(ret, -FI_EAGAIN);
	CT_EXPECT_GE(i, DEPTH - PVB_GROUP_RESERVE - 1);
	durable_complete(t);
	got = read_all_comps(t->w.cq, &errors);
	CT_EXPECT_EQ(got, i);
	CT_EXPECT_EQ(errors, 0);
	CT_EXPECT_EQ(crn_ring_space(&t->qp->sq.ring), t->qp->sq.depth);
}

CT_TEST_F(group, more_ranges_than_are_kept_apart_are_not_of_it)
{
	unsigned int errors;
	uintptr_t i;

	for (i = 0; i < PVB_DIRTY_APART + 3; i++)
		CT_EXPECT_EQ(more(t, i, KEY_READS), 0);
	CT_EXPECT_EQ(last(t, i++, KEY_READS), 0);
	durable_complete(t);
	CT_EXPECT_EQ(read_all_comps(t->w.cq, &errors), i);
	CT_EXPECT_EQ(errors, 0);
	CT_EXPECT_EQ(t->qp->commit->dirty.count, 0);
}

CT_TEST_F(group, a_short_queue_has_none)
{
	CT_ASSERT_TRUE(durable_open(t, NULL));
	CT_EXPECT_LT(t->qp->sq.depth, 4 * PVB_GROUP_RESERVE);
	CT_EXPECT_EQ(more(t, 1, KEY_READS), 0);
	CT_EXPECT_STREQ(posted(t), "WR");
}

CT_TEST_F(group, a_refused_write_was_never_of_it)
{
	/* The first of one. */
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(more(t, 1, KEY_READS), -FI_EAGAIN);
	CT_EXPECT_FALSE(WITH_LOCK(&t->qp->tx_lock, pvb_group_open(t->qp)));
	CT_EXPECT_EQ(t->qp->commit->dirty.count, 0);
	CT_EXPECT_EQ(crn_ring_space(&t->qp->sq.ring), t->qp->sq.depth);
	/* One in the middle. */
	CT_EXPECT_EQ(more(t, 2, KEY_READS), 0);
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CT_EXPECT_EQ(more(t, 3, KEY_OTHER), -FI_EINVAL);
	CT_EXPECT_STREQ(posted(t), "WR");
	CT_EXPECT_EQ(last(t, 4, KEY_READS), 0);
	CT_EXPECT_STREQ(posted(t), "WRWR");
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(4), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(t->qp->commit->defer.grouped, 0);
}

CT_TEST_F(group, without_memory_nothing_of_it_began)
{
	CT_ASSERT_EQ(pvb_commit_open(t->qp), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(more(t, 1, KEY_READS), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_STREQ(posted(t), "");
	CT_EXPECT_EQ(crn_ring_space(&t->qp->sq.ring), t->qp->sq.depth);
	CT_EXPECT_EQ(last(t, 2, KEY_READS), 0);
	CT_EXPECT_STREQ(posted(t), "WR");
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

/* Of two regions, so that its end is of two flushes. */
CT_TEST_F(group, an_end_that_is_refused_ends_each_write_once_with_an_error)
{
	static const struct {
		int err, told;
	} rows[] = {{ENOMEM, FI_EIO}, {EINVAL, FI_EINVAL}};
	unsigned int errors;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		for (unsigned int nth = 2; nth <= 3; nth++) {
			CT_NOTE("%d of request %u", rows[i].err, nth);
			CT_ASSERT_TRUE(durable_open(t, &deep));
			CT_EXPECT_EQ(more(t, 1, KEY_READS), 0);
			fake_fail(FAKE_POST_SEND, nth, rows[i].err);
			CT_EXPECT_EQ(last(t, 2, KEY_OTHER), 0);
			expect_cq_error(t->w.cq, NUMBER(1), WRITE, rows[i].told);
			expect_cq_error(t->w.cq, NUMBER(2), WRITE, rows[i].told);
			expect_no_comp(t->w.cq);
			CT_EXPECT_EQ(t->qp->commit->defer.grouped, 0);
			/* The connection goes on, and so do groups. */
			CT_EXPECT_EQ(more(t, 3, KEY_READS), 0);
			CT_EXPECT_EQ(last(t, 4, KEY_READS), 0);
			durable_complete(t);
			expect_comp(t->w.cq, NUMBER(3), WRITE, 0, 0);
			expect_comp(t->w.cq, NUMBER(4), WRITE, 0, 0);
			CT_EXPECT_EQ(read_all_comps(t->w.cq, &errors), 0);
			CT_EXPECT_EQ(crn_ring_used(&t->qp->sq.ring), 0);
		}
	}
}

CT_TEST_F(group, an_end_that_is_refused_wakes_who_waits_for_its_writes)
{
	static const struct world_opts waiting = {
		.tx_size = DEPTH,
		.wait_obj = FI_WAIT_FD,
	};
	struct fid *fid;

	CT_ASSERT_TRUE(durable_open(t, &waiting));
	fid = &t->w.cq->fid;
	CT_EXPECT_EQ(more(t, 1, KEY_READS), 0);
	while (fi_trywait(t->w.fabric, &fid, 1))
		expect_no_comp(t->w.cq);
	CT_EXPECT_FALSE(ct_readable(fid));
	fake_fail(FAKE_POST_SEND, 2, EINVAL);
	CT_EXPECT_EQ(last(t, 2, KEY_READS), 0);
	CT_EXPECT_TRUE(ct_readable(fid));
	expect_cq_error(t->w.cq, NUMBER(1), WRITE, FI_EINVAL);
	expect_cq_error(t->w.cq, NUMBER(2), WRITE, FI_EINVAL);
}

CT_TEST_F(group, an_end_that_an_operation_behind_it_was_refused_for_is_tried_again)
{
	CT_EXPECT_EQ(more(t, 1, KEY_READS), 0);
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(plain_write(t, 2, 0x80000, 8, KEY_READS, FI_COMPLETION), -FI_EAGAIN);
	CT_EXPECT_STREQ(posted(t), "WR");
	CT_EXPECT_EQ(plain_write(t, 2, 0x80000, 8, KEY_READS, FI_COMPLETION), 0);
	CT_EXPECT_STREQ(posted(t), "WRW");
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
}

/* The caller may wait for it before it tries again, or never come again. */
CT_TEST_F(group, a_call_that_fails_ends_it)
{
	CT_EXPECT_EQ(more(t, 1, KEY_READS), 0);
	CT_EXPECT_EQ(fi_inject(t->w.ep, "x", t->w.info->tx_attr->inject_size + 1, 0),
		     -FI_EMSGSIZE);
	CT_EXPECT_STREQ(posted(t), "WR");
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
}

CT_TEST_F(group, closing_with_one_open_ends_each_once)
{
	unsigned int errors;

	for (unsigned int done = 0; done <= 3; done++) {
		CT_NOTE("%u were done", done);
		CT_ASSERT_TRUE(durable_open(t, &deep));
		CT_EXPECT_EQ(more(t, 1, KEY_READS), 0);
		CT_EXPECT_EQ(plain_write(t, 2, 0x80000, 8, KEY_READS,
					 FI_MORE | FI_COMPLETION),
			     0);
		CT_EXPECT_EQ(more(t, 3, KEY_OTHER), 0);
		fake_complete(t->w.qp, done);
		expect_no_comp(t->w.cq);
		world_close_ep(&t->w);
		CT_EXPECT_EQ(read_all_comps(t->w.cq, &errors), 3);
		CT_EXPECT_EQ(errors, done < 2 ? 3 : 2);
	}
}

CT_TEST_F(group, whichever_entry_fails_each_write_ends_once)
{
	unsigned int errors;

	for (unsigned int good = 0; good < 4; good++) {
		CT_NOTE("%u entries succeed", good);
		CT_ASSERT_TRUE(durable_open(t, &deep));
		CT_EXPECT_EQ(more(t, 1, KEY_READS), 0);
		CT_EXPECT_EQ(more(t, 2, KEY_OTHER), 0);
		CT_EXPECT_EQ(last(t, 3, KEY_READS), 0);
		fake_complete(t->w.qp, good);
		fake_send_error(t->w.qp, IBV_WC_REM_ACCESS_ERR);
		/* The first region's flush proves nothing of the other's. */
		CT_EXPECT_EQ(read_all_comps(t->w.cq, &errors), 3);
		CT_EXPECT_EQ(errors, 3);
		world_close_ep(&t->w);
		CT_EXPECT_EQ(read_all_comps(t->w.cq, &errors), 0);
	}
}

CT_TEST_F(group, positions_that_went_round_prove_nothing)
{
	for (unsigned int round = 0; round < 3; round++) {
		durable_go_on(t, (1u << 31) + 1024);
		CT_EXPECT_EQ(more(t, 1, KEY_READS), 0);
		CT_EXPECT_EQ(plain_write(t, 2, 0x80000, 8, KEY_READS,
					 FI_MORE | FI_COMPLETION),
			     0);
		CT_EXPECT_EQ(more(t, 3, KEY_READS), 0);
		/* The second has a completion, which is about all three. */
		durable_complete(t);
		expect_no_comp(t->w.cq);
		CT_EXPECT_EQ(last(t, 4, KEY_READS), 0);
		durable_complete(t);
		for (uintptr_t i = 1; i <= 4; i++)
			expect_comp(t->w.cq, NUMBER(i), WRITE, 0, 0);
		expect_no_comp(t->w.cq);
	}
}

/* Where a plain write is remembered already, next to it. */
CT_TEST_F(group, a_write_beside_a_plain_one_is_of_the_group_all_the_same)
{
	CT_EXPECT_EQ(plain_write(t, 1, 0x10000, 8, KEY_READS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x10008, 8, KEY_READS, FI_MORE), 0);
	CT_EXPECT_EQ(durable_write(t, 3, 0x10010, 8, KEY_READS, 0), 0);
	CT_EXPECT_STREQ(posted(t), "WWWR");
	durable_complete(t);
	for (uintptr_t i = 1; i < 4; i++)
		expect_comp(t->w.cq, NUMBER(i), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

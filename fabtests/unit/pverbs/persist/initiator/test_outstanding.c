/* SPDX-License-Identifier: BSD-2-Clause */
/* What durable operations left outstanding, and what has to wait for it. */
#include <errno.h>
#include "../durable.h"
#include "persist/initiator/internal.h"

#define WRITE (FI_RMA | FI_WRITE)

static void end_one(struct durable *d, uintptr_t number)
{
	durable_complete(d);
	expect_comp(d->w.cq, NUMBER(number), WRITE, 0, 0);
	expect_no_comp(d->w.cq);
}

CT_FIXTURE(outstanding, struct durable, durable_start, durable_close);

CT_TEST_F(outstanding, operations_leave_their_kind_until_they_retire)
{
	static const struct {
		bool visible;
		unsigned int before;
	} rows[] = {{true, PVB_PENDING_READ}, {false, PVB_PENDING_READ}};
	uint64_t key;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		key = rows[i].visible ? KEY_VISIBLE : KEY_READS;
		CT_ASSERT_TRUE(durable_open(t, NULL));
		CT_EXPECT_EQ(durable_write(t, 1, 0, 8, key, 0), 0);
		CT_EXPECT_EQ(WITH_LOCK(&t->qp->tx_lock,
				       pvb_commit_pending(t->qp, (uint32_t)(key >> 32) &
									 0xffffff)),
			     rows[i].before);
		/* Nothing is known of its order with other memory. */
		CT_EXPECT_EQ(WITH_LOCK(&t->qp->tx_lock, pvb_commit_pending(t->qp, 0)),
			     PVB_PENDING_UNKNOWN);
		end_one(t, 1);
		CT_EXPECT_EQ(WITH_LOCK(&t->qp->tx_lock, pvb_commit_pending(t->qp, 0)), 0);
	}
}

CT_TEST_F(outstanding, what_is_unknown_stays_so_behind_what_is_known)
{
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x1000, 8, KEY_READS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 3, 0x2000, 8, KEY_READS, 0), 0);
	CT_EXPECT_EQ(WITH_LOCK(&t->qp->tx_lock,
			       pvb_commit_pending(t->qp, (uint32_t)(KEY_READS >> 32) &
								 0xffffff)),
		     PVB_PENDING_UNKNOWN);
	CT_EXPECT_EQ(durable_write(t, 4, 0x3000, 8, KEY_READS, FI_FENCE), -FI_EAGAIN);
	durable_complete(t);
	durable_answer(t, 0);
	for (uintptr_t i = 1; i <= 3; i++) {
		if (i == 1)
			expect_no_comp(t->w.cq);
		expect_comp(t->w.cq, NUMBER(i), WRITE, 0, 0);
	}
	CT_EXPECT_EQ(durable_write(t, 4, 0x3000, 8, KEY_READS, FI_FENCE), 0);
}

/* 2^31 operations later a position looks as if it were still to come. */
CT_TEST_F(outstanding, what_ended_long_ago_is_not_outstanding)
{
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_READS, 0), 0);
	end_one(t, 1);
	/* One of those that were posted since. */
	CT_EXPECT_EQ(plain_write(t, 2, 0, 0, 0x7000, FI_COMPLETION), 0);
	end_one(t, 2);
	durable_go_on(t, 1u << 31);
	CT_EXPECT_EQ(durable_write(t, 3, 0x1000, 8, KEY_VISIBLE, FI_FENCE), 0);
	end_one(t, 3);
}

CT_TEST_F(outstanding, nothing_overtakes_what_the_processor_writes)
{
	static const struct {
		const char *what;
		uint64_t at, flags, order;
		bool sends, waits;
	} rows[] = {
		{"what overlaps it", .at = 0x1000, .waits = true},
		{"its last byte", .at = 0x1007, .waits = true},
		{"the byte behind it", .at = 0x1008},
		{"the byte before it", .at = 0xff8},
		{"its first byte", .at = 0xff9, .waits = true},
		{"what is far from it", .at = 0x9000},
		{"what is far from it, in order", .at = 0x9000, .order = FI_ORDER_RMA_WAW,
		 .waits = true},
		{"a message", .sends = true, .waits = true},
		{"a fenced durable one", .at = 0x9000,
		 .flags = FI_FENCE | FI_COMMIT_COMPLETE, .order = FI_ORDER_RMA_WAW},
		{"a fenced durable one of the same bytes", .at = 0x1000,
		 .flags = FI_FENCE | FI_COMMIT_COMPLETE, .waits = true},
	};
	ssize_t ret;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].what);
		CT_ASSERT_TRUE(durable_open(t, NULL));
		ep_of(t->w.ep)->attr.writes_ordered =
			rows[i].order & (FI_ORDER_WAW | FI_ORDER_RMA_WAW);
		CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
		/* Its bytes go with the request: the target stores them. */
		CT_EXPECT_EQ(durable_write(t, 2, 0x1000, 8, KEY_REQUESTS, FI_FENCE), 0);
		CT_EXPECT_EQ(t->qp->commit->hazard_count, 1);
		ret = rows[i].sends ? send_number(t->w.ep, 3)
				    : plain_write(t, 3, rows[i].at, 8, KEY_REQUESTS,
						  rows[i].flags | FI_COMPLETION);
		CT_EXPECT_EQ(ret, rows[i].waits ? -FI_EAGAIN : 0);
		if (rows[i].waits) {
			durable_complete(t);
			durable_answer(t, 0);
			durable_answer(t, 0);
			expect_no_comp(t->w.cq);
			expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
			expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
			ret = rows[i].sends
				      ? send_number(t->w.ep, 3)
				      : plain_write(t, 3, rows[i].at, 8, KEY_REQUESTS,
						    rows[i].flags | FI_COMPLETION);
			CT_EXPECT_EQ(ret, 0);
		}
	}
}

CT_TEST_F(outstanding, so_many_are_hazards_and_the_next_has_to_wait)
{
	uintptr_t i;
	ssize_t ret;

	t->control_qp->requests[PVB_REQUEST_CONTROL].posted = 0;
	CT_EXPECT_EQ(durable_write(t, 0, 0, 8, KEY_REQUESTS, 0), 0);
	for (i = 1; i <= PVB_COMMIT_HAZARDS; i++) {
		ret = durable_write(t, i, 0x1000 * i, 8, KEY_REQUESTS, FI_FENCE);
		if (ret)
			break;
	}
	/* Credits end before. */
	CT_EXPECT_EQ(ret, -FI_EAGAIN);
	CT_EXPECT_EQ(i, PVB_CONTROL_CREDITS);
	CT_EXPECT_EQ(t->qp->commit->hazard_count, PVB_CONTROL_CREDITS - 1);
}

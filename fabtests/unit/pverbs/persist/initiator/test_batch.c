/* SPDX-License-Identifier: BSD-2-Clause */
/* Several work requests that are one operation. */
#include <errno.h>
#include "cq/cq.h"
#include "../durable.h"
#include "persist/initiator/batch.h"
#include "persist/initiator/initiator.h"
#include "xfer/op.h"

#define WRITE (FI_RMA | FI_WRITE)

static struct pvb_op op_of(uintptr_t number, struct ibv_sge *sge)
{
	return (struct pvb_op){
		.opcode = IBV_WR_RDMA_WRITE,
		.comp_flags = WRITE,
		.context = NUMBER(number),
		.sge = sge,
		.num_sge = 1,
		.len = 8,
		.addr = DURABLE_ADDR,
	};
}

/* Batches are of connections on which an operation began. */
static bool begun(struct durable *d)
{
	return durable_open(d, NULL) && !pvb_commit_open(d->qp);
}

/* The operation, then reads that more than fill a batch, the last of which ends it. */
static int post_many(struct durable *d, uintptr_t number, unsigned int reads)
{
	uint64_t payload = 0;
	struct ibv_sge sge = {(uintptr_t)&payload, sizeof(payload), 0};
	struct pvb_op op = op_of(number, &sge);
	struct pvb_batch batch;
	int ret;

	crn_lock(&d->qp->tx_lock);
	pvb_batch_init(&batch, ep_of(d->w.ep), &op);
	ret = pvb_batch_data(&batch, &op, true);
	while (reads-- && !ret) {
		if (!reads)
			pvb_batch_last(&batch, 0);
		ret = pvb_batch_read(&batch, 1, 0, 8);
	}
	ret = pvb_batch_finish(&batch, ret);
	crn_unlock(&d->qp->tx_lock);
	return ret;
}

static void start(struct durable *t)
{
	CT_ASSERT_TRUE(begun(t));
}

CT_FIXTURE(batch, struct durable, start, durable_close);

CT_TEST_F(batch, only_its_last_request_has_a_completion_which_is_the_operations)
{
	CT_EXPECT_EQ(post_many(t, 1, 3), 0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 4);
	CT_EXPECT_EQ(t->w.qp->sq.calls, 1);
	CT_EXPECT_TRUE(fake_wr(&t->w.qp->sq, 0)->flags & IBV_SEND_FENCE);
	for (unsigned int i = 0; i < 4; i++)
		CT_EXPECT_EQ(!!(fake_wr(&t->w.qp->sq, i)->flags & IBV_SEND_SIGNALED),
			     i == 3);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(crn_ring_used(&t->qp->sq.ring), 0);
}

CT_TEST_F(batch, more_than_a_batch_holds_is_posted_in_several)
{
	CT_EXPECT_EQ(post_many(t, 1, 2 * PVB_BATCH_SIZE), 0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 2 * PVB_BATCH_SIZE + 1);
	CT_EXPECT_EQ(t->w.qp->sq.calls, 3);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

CT_TEST_F(batch, whichever_request_fails_the_operation_ends_once)
{
	const unsigned int count = PVB_BATCH_SIZE + 3;

	for (unsigned int good = 0; good < count; good++) {
		unsigned int errors;

		CT_NOTE("%u requests succeed", good);
		CT_ASSERT_TRUE(begun(t));
		CT_EXPECT_EQ(post_many(t, 1, count - 1), 0);
		fake_complete(t->w.qp, good);
		fake_send_error(t->w.qp, IBV_WC_REM_ACCESS_ERR);
		CT_EXPECT_EQ(read_all_comps(t->w.cq, &errors), 1);
		CT_EXPECT_EQ(errors, 1);
	}
}

CT_TEST_F(batch, whichever_request_is_refused_the_operation_ends_once_or_never_began)
{
	const unsigned int count = PVB_BATCH_SIZE + 3;

	for (unsigned int good = 0; good < count; good++) {
		unsigned int errors;

		CT_NOTE("%u requests are accepted", good);
		CT_ASSERT_TRUE(begun(t));
		fake_fail(FAKE_POST_SEND, good + 1, ENOMEM);
		CT_EXPECT_EQ(post_many(t, 1, count - 1), good ? 1 : -FI_EAGAIN);
		CT_EXPECT_EQ(t->w.qp->sq.posted, good);
		if (good)
			expect_cq_error(t->w.cq, NUMBER(1), WRITE, FI_EIO);
		/* The next one retires what began. */
		CT_EXPECT_EQ(plain_write(t, 2, 0, 8, KEY_READS, 0), 0);
		fake_complete_all(t->w.qp);
		expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
		CT_EXPECT_EQ(crn_ring_used(&t->qp->sq.ring), 0);
		world_close_ep(&t->w);
		CT_EXPECT_EQ(read_all_comps(t->w.cq, &errors), 0);
	}
}

CT_TEST_F(batch, what_was_held_back_and_is_refused_fails_by_itself)
{
	CT_EXPECT_EQ(plain_write(t, 1, 0x4000, 8, KEY_READS, FI_MORE | FI_COMPLETION), 0);
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CT_EXPECT_EQ(post_many(t, 2, 2), -FI_EINVAL);
	expect_cq_error(t->w.cq, NUMBER(1), WRITE, FI_EINVAL);
	CT_EXPECT_EQ(post_many(t, 3, 2), 0);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(3), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

CT_TEST_F(batch, what_failed_before_the_rest_was_refused_is_reported_once)
{
	const struct pvb_slot op = {.context = NUMBER(1), .flags = WRITE};

	CT_ASSERT_TRUE(begun(t));
	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_READS, FI_COMPLETION), 0);
	/* Another thread reads it, before the one that posts has come so far. */
	fake_send_error(t->w.qp, IBV_WC_RETRY_EXC_ERR);
	expect_cq_reason(t->w.cq, NUMBER(1), FI_ETIMEDOUT, IBV_WC_RETRY_EXC_ERR);
	pvb_cq_fail_begun(&t->qp->sq, 1, &op, FI_EIO, -FI_EIO);
	expect_no_comp(t->w.cq);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_COMMIT_COMPLETE: xfer/place.c, and its flags in post.c and send.c. */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake.h"

#define WRITTEN (FI_RMA | FI_WRITE)
#define PMEM 0x77 /* key of the persistent region */
#define DRAM 0x88 /* the other one's */
#define LEN 20000

static struct fake fake;
static uint8_t from[LEN], pmem[LEN], dram[LEN], zeros[LEN], into[10];
static struct crn_mr persistent, ordinary;
static int context[8];

static void begin_as(bool direct, bool forgets)
{
	fake_open(&fake, direct, false);
	fake.forgets = forgets;
	fake_region(&fake.b, &persistent, pmem, LEN, PMEM, FI_REMOTE_WRITE);
	fake_region(&fake.b, &ordinary, dram, LEN, DRAM, FI_REMOTE_WRITE);
	fake.b.pmem = &persistent;
	fake_pattern(from, sizeof(from), 5);
	memset(pmem, 0, sizeof(pmem));
	memset(dram, 0, sizeof(dram));
	fake_start(&fake);
}

static void begin(bool direct)
{
	begin_as(direct, false);
}

static ssize_t write_to(uint64_t key, size_t len, int *of, uint64_t flags)
{
	return fake_write(&fake.a, from, len, 0, key, of, flags);
}

/* The bytes are there, and nobody has heard of them. */
static void persist_early(struct fake_end *end, const uint8_t *at, size_t len)
{
	CT_EXPECT_MEMEQ(at, from + (at - pmem), len);
	CT_EXPECT_EQ(fake_sent(end, RTE_ACK), 0);
	CT_EXPECT_EQ(end->out_count, 0);
	CT_EXPECT_EQ(end->vc.ack_due, 0);
	fake_expect_none(&fake.a.tx_cq);
}

static void set_up(struct fake **t)
{
	*t = &fake;
	begin(true);
}

CT_FIXTURE(durable, struct fake *, set_up, fake_tear_down);

CT_TEST_F(durable, each_piece_is_persistent_before_the_ack)
{
	static const size_t sizes[] = {1, FAKE_EAGER, FAKE_EAGER + 1, 4999, 13000};
	uint32_t pieces;
	size_t i;
	int direct;

	for (direct = 0; direct < 2; direct++) {
		for (i = 0; i < CRN_COUNT(sizes); i++) {
			begin(direct);
			CT_NOTE("%zu bytes", sizes[i]);
			fake.b.on_persist = persist_early;
			CT_EXPECT_EQ(write_to(PMEM, sizes[i], context,
					      FI_COMMIT_COMPLETE),
				     0);
			fake_run(&fake);
			fake_expect(&fake.a.tx_cq, context, WRITTEN, 0);
			CT_EXPECT_MEMEQ(pmem, from, sizes[i]);
			pieces = fake_sent(&fake.a, RTE_WRITE);
			CT_EXPECT_TRUE(pieces > 1 || sizes[i] <= 4096);
			CT_EXPECT_EQ(fake.b.persisted, sizes[i]);
			CT_EXPECT_EQ(fake.b.persists, pieces);
			CT_EXPECT_EQ(fake_sent(&fake.b, RTE_ACK), 1);
		}
	}
}

CT_TEST_F(durable, each_piece_says_so)
{
	uint32_t i;

	begin(false);
	CT_EXPECT_EQ(write_to(PMEM, 13000, context, FI_COMMIT_COMPLETE), 0);
	fake_run(&fake);
	CT_EXPECT_GT(fake_sent(&fake.a, RTE_WRITE), 1);
	for (i = 0; i < fake.a.seen_count; i++)
		CT_EXPECT_EQ(fake.a.seen[i].flags &
				     (RTE_ACKREQ | RTE_COMMIT | RTE_DELIVER),
			     RTE_ACKREQ | RTE_COMMIT);
}

CT_TEST_F(durable, other_memory_is_refused_before_any_of_it_is_written)
{
	static const size_t sizes[] = {1, 13000};
	size_t i;

	for (i = 0; i < CRN_COUNT(sizes); i++) {
		begin(false);
		CT_NOTE("%zu bytes", sizes[i]);
		CT_EXPECT_EQ(write_to(DRAM, sizes[i], context, FI_COMMIT_COMPLETE), 0);
		fake_run(&fake);
		fake_expect_err(&fake.a.tx_cq, context, WRITTEN, FI_EOPNOTSUPP);
		CT_EXPECT_EQ(fake.a.broken, FI_EOPNOTSUPP);
		CT_EXPECT_EQ(fake_sent(&fake.b, RTE_NACK), 1);
		CT_EXPECT_EQ(fake_sent(&fake.b, RTE_ACK), 0);
		CT_EXPECT_MEMEQ(dram, zeros, LEN);
	}
}

CT_TEST_F(durable, an_end_that_knows_no_persistent_memory_refuses_it)
{
	fake.b.vc.attr.persistent = NULL;
	CT_EXPECT_EQ(write_to(PMEM, 10, context, FI_COMMIT_COMPLETE), 0);
	fake_run(&fake);
	fake_expect_err(&fake.a.tx_cq, context, WRITTEN, FI_EOPNOTSUPP);
	CT_EXPECT_MEMEQ(pmem, zeros, LEN);
}

CT_TEST_F(durable, what_goes_to_persistent_memory_is_made_durable_unasked)
{
	CT_EXPECT_EQ(write_to(PMEM, 10, &context[0], 0), 0);
	CT_EXPECT_EQ(rte_vc_inject_write(&fake.a.vc, from, 10, 10, PMEM, 0, 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 20, PMEM, &context[1],
				FI_COMMIT_COMPLETE | FI_FENCE),
		     0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], WRITTEN, 0);
	fake_expect(&fake.a.tx_cq, &context[1], WRITTEN, 0);
	CT_EXPECT_EQ(fake.b.persisted, 28);
}

CT_TEST_F(durable, a_fence_fails_behind_a_write_to_other_memory)
{
	CT_EXPECT_EQ(write_to(DRAM, 10, &context[0], 0), 0);
	CT_EXPECT_EQ(write_to(PMEM, 10, &context[1], FI_COMMIT_COMPLETE), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 10, PMEM, &context[2],
				FI_COMMIT_COMPLETE | FI_FENCE),
		     0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], WRITTEN, 0);
	fake_expect(&fake.a.tx_cq, &context[1], WRITTEN, 0);
	fake_expect_err(&fake.a.tx_cq, &context[2], WRITTEN, FI_EOPNOTSUPP);
	CT_EXPECT_MEMEQ(pmem + 10, zeros, 10);
}

CT_TEST_F(durable, a_fence_of_nothing_fails_there_as_well)
{
	CT_EXPECT_EQ(write_to(PMEM, 0, &context[0], FI_COMMIT_COMPLETE | FI_FENCE), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], WRITTEN, 0);
	CT_EXPECT_EQ(write_to(DRAM, 10, &context[1], 0), 0);
	CT_EXPECT_EQ(write_to(PMEM, 0, &context[2], FI_COMMIT_COMPLETE), 0);
	CT_EXPECT_EQ(write_to(PMEM, 0, &context[3], FI_COMMIT_COMPLETE | FI_FENCE), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[1], WRITTEN, 0);
	fake_expect(&fake.a.tx_cq, &context[2], WRITTEN, 0);
	fake_expect_err(&fake.a.tx_cq, &context[3], WRITTEN, FI_EOPNOTSUPP);
}

CT_TEST_F(durable, a_fence_is_refused_behind_a_message_when_it_is_posted)
{
	const uint64_t fenced = FI_COMMIT_COMPLETE | FI_FENCE;

	CT_EXPECT_EQ(fake_recv(&fake.b, NULL, 0, into), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 0, &context[0], 0), 0);
	CT_EXPECT_EQ(write_to(PMEM, 10, &context[1], fenced), 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, into), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[2], 0), 0);
	CT_EXPECT_EQ(write_to(PMEM, 10, &context[3], fenced), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(write_to(PMEM, 10, &context[3], FI_COMMIT_COMPLETE), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], FI_SEND | FI_MSG, 0);
	fake_expect(&fake.a.tx_cq, &context[1], WRITTEN, 0);
	fake_expect(&fake.a.tx_cq, &context[2], FI_SEND | FI_MSG, 0);
	fake_expect(&fake.a.tx_cq, &context[3], WRITTEN, 0);
	/* Should the other end not know: this one does. */
	CT_EXPECT_TRUE(fake.b.vc.ordinary);
}

CT_TEST_F(durable, a_path_that_does_not_know_it_refuses_it_when_it_is_posted)
{
	begin_as(false, true);
	CT_EXPECT_EQ(write_to(PMEM, 10, &context[0], FI_COMMIT_COMPLETE), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(write_to(PMEM, 10, &context[1], 0), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[1], WRITTEN, 0);
}

CT_TEST_F(durable, a_router_says_nothing_of_a_write_before_its_message)
{
	begin(false);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, into), 0);
	CT_EXPECT_EQ(write_to(PMEM, 10, &context[0], FI_COMMIT_COMPLETE), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[1], 0), 0);
	fake.b.credits[RTE_RESPONSES] = 0;
	fake_run(&fake);
	CT_EXPECT_GT(fake.a.vc.routed, fake.a.vc.reached);
	fake_expect_none(&fake.a.tx_cq);
	fake.b.credits[RTE_RESPONSES] = 1;
	rte_vc_ready(&fake.b.vc);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], WRITTEN, 0);
	fake_expect(&fake.a.tx_cq, &context[1], FI_SEND | FI_MSG, 0);
}

CT_TEST_F(durable, reads_and_messages_cannot_be)
{
	const struct iovec iov = {from, 10};
	const struct fi_rma_iov range = {0, 10, PMEM};
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.rma_iov = &range,
		.rma_iov_count = 1,
	};

	CT_EXPECT_EQ(rte_vc_read(&fake.a.vc, &msg, FI_COMMIT_COMPLETE), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, from, FI_COMMIT_COMPLETE),
		     -FI_EOPNOTSUPP);
	CT_EXPECT_TRUE(RTE_VC_NOT_FOR_READS & FI_COMMIT_COMPLETE);
}

/* --- Beside the bypass --- */

static void begin_bypass(void)
{
	fake_open(&fake, true, false);
	fake.bypass = true;
	fake_region(&fake.b, &persistent, pmem, LEN, PMEM, FI_REMOTE_WRITE);
	fake_region(&fake.b, &ordinary, dram, LEN, DRAM, FI_REMOTE_WRITE);
	fake.b.pmem = &persistent;
	fake_start(&fake);
}

static void write_often(uint64_t key)
{
	int i;

	for (i = 0; i < 6; i++) {
		CT_ASSERT_EQ(write_to(key, 8, context, 0), 0);
		fake_run(&fake);
		fake_expect(&fake.a.tx_cq, context, WRITTEN, 0);
	}
}

CT_TEST_F(durable, the_lower_provider_does_not_write_to_persistent_memory)
{
	begin_bypass();
	write_often(PMEM);
	CT_EXPECT_EQ(fake.a.straight, 0);
	CT_EXPECT_EQ(fake.b.persists, 6);
}

CT_TEST_F(durable, what_the_bypass_wrote_is_not_durable)
{
	begin_bypass();
	write_often(DRAM);
	CT_EXPECT_NE(fake.a.straight, 0);
	CT_EXPECT_EQ(write_to(PMEM, 8, context, FI_COMMIT_COMPLETE | FI_FENCE),
		     -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(write_to(PMEM, 8, context, FI_COMMIT_COMPLETE), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, context, WRITTEN, 0);
}

/* Its key is known by reads alone: the target has not seen a write to that memory. */
CT_TEST_F(durable, a_fence_answers_for_a_write_that_waits_to_be_sent)
{
	int i;

	begin_bypass();
	ordinary.access |= FI_REMOTE_READ;
	for (i = 0; i < 6; i++) {
		CT_ASSERT_EQ(fake_read(&fake.a, into, 8, 0, DRAM, context), 0);
		fake_run(&fake);
		fake_expect(&fake.a.tx_cq, context, FI_RMA | FI_READ, 0);
	}
	CT_EXPECT_NE(fake.a.straight, 0);
	CT_EXPECT_FALSE(fake.b.vc.ordinary);
	fake.a.credits[RTE_REQUESTS] = 0;
	CT_EXPECT_EQ(write_to(PMEM, 8, &context[0], FI_COMMIT_COMPLETE), 0);
	CT_EXPECT_EQ(write_to(DRAM, 8, &context[1], 0), 0);
	CT_EXPECT_EQ(write_to(PMEM, 8, &context[2], FI_COMMIT_COMPLETE | FI_FENCE), 0);
	fake.a.credits[RTE_REQUESTS] = 8;
	rte_vc_ready(&fake.a.vc);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], WRITTEN, 0);
	fake_expect(&fake.a.tx_cq, &context[1], WRITTEN, 0);
	fake_expect_err(&fake.a.tx_cq, &context[2], WRITTEN, FI_EOPNOTSUPP);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_FENCE of reads and writes (fi_rma(3)): as messages, and by the bypass. */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake.h"

#define WRITTEN (FI_RMA | FI_WRITE)
#define READ (FI_RMA | FI_READ)
#define KEY 0x77
#define LEN 100

static struct fake fake;
static uint8_t from[LEN], memory[LEN], into[LEN];
static struct crn_mr mr;
static int context[8];

static void begin(bool direct, bool bypass)
{
	fake_open(&fake, direct, false);
	fake.bypass = bypass;
	fake_region(&fake.b, &mr, memory, LEN, KEY, FI_REMOTE_READ | FI_REMOTE_WRITE);
	fake_pattern(from, sizeof(from), 5);
	memset(memory, 0, sizeof(memory));
	fake_start(&fake);
}

static void post_fenced(bool reads, int *of)
{
	const struct iovec iov = {into, 10};
	const struct fi_rma_iov range = {0, 10, KEY};
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.rma_iov = &range,
		.rma_iov_count = 1,
		.context = of,
	};

	CT_ASSERT_EQ(reads ? rte_vc_read(&fake.a.vc, &msg, FI_FENCE)
			   : rte_vc_write(&fake.a.vc, &msg, FI_FENCE),
		     0);
}

static void set_up(struct fake **t)
{
	*t = &fake;
}

CT_FIXTURE(fence, struct fake *, set_up, fake_tear_down);

/* A delivery that waits for its receive is not over, although all of it was sent. */
CT_TEST_F(fence, reads_and_writes_wait_for_what_was_posted_before)
{
	int direct, reads;

	for (direct = 0; direct < 2; direct++) {
		for (reads = 0; reads < 2; reads++) {
			begin(direct, false);
			CT_NOTE("direct %d, reads %d", direct, reads);
			CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[0],
					       FI_DELIVERY_COMPLETE),
				     0);
			post_fenced(reads, &context[1]);
			fake_run(&fake);
			CT_EXPECT_EQ(fake.a.seen_count, 1);
			CT_EXPECT_EQ(fake_recv(&fake.b, from + 50, 10, from), 0);
			fake_run(&fake);
			CT_EXPECT_EQ(fake.a.seen_count, 2);
			fake_expect(&fake.a.tx_cq, &context[0], FI_SEND | FI_MSG, 0);
			fake_expect(&fake.a.tx_cq, &context[1], reads ? READ : WRITTEN,
				    0);
		}
	}
}

CT_TEST_F(fence, of_the_bypass_waits_for_operations_of_the_lower_provider)
{
	int i, reads;

	for (reads = 0; reads < 2; reads++) {
		begin(true, true);
		CT_NOTE("reads %d", reads);
		for (i = 0; i < 4; i++) {
			CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, from, 0), 0);
			fake_run(&fake);
			fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
		}
		fake.a.hold_done = true;
		CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &context[0], 0), 0);
		post_fenced(reads, &context[1]);
		fake_run(&fake);
		CT_EXPECT_EQ(fake.a.straight, 1);
		CT_EXPECT_TRUE(rte_vc_unsent(&fake.a.vc));
		fake.a.hold_done = false;
		fake_run(&fake);
		CT_EXPECT_EQ(fake.a.straight, 2);
		fake_expect(&fake.a.tx_cq, &context[0], WRITTEN, 0);
		fake_expect(&fake.a.tx_cq, &context[1], reads ? READ : WRITTEN, 0);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations of more than 4 GiB, in memory of which nearly nothing is touched: their
 * first fragment, and those behind 4 GiB. Both ends are told that what lies between is
 * done.
 */
#include <sys/mman.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake.h"

#define WRITTEN (FI_RMA | FI_WRITE)
#define READ (FI_RMA | FI_READ)
#define KEY 0x77
#define FAR (UINT64_C(1) << 32)
#define REST 20000
#define LEN (FAR + REST)

static struct fake fake;
static uint8_t *from, *into;
static struct crn_mr mr;

static uint8_t *map(void)
{
	void *at = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* False: this machine has not so much address space. */
static bool begin(bool bypass, uint64_t access)
{
	fake_open(&fake, true, false);
	fake.bypass = bypass;
	fake.a.vc.attr.max_msg_size = RTE_VC_MSG_MAX;
	fake.a.credits[RTE_REQUESTS] = fake.b.credits[RTE_RESPONSES] = 1;
	fake.a.slots[RTE_REQUESTS] = fake.b.slots[RTE_RESPONSES] = 0;
	fake_start(&fake);
	from = map();
	into = map();
	if (!from || !into)
		return false;
	fake_region(&fake.b, &mr, access == FI_REMOTE_READ ? from : into, LEN, KEY,
		    access);
	fake_pattern(from, FAKE_EAGER, 3);
	fake_pattern(from + FAR, REST, 7);
	return true;
}

static void tear_down(struct fake **t)
{
	fake_close(&fake);
	if (from)
		munmap(from, LEN);
	if (into)
		munmap(into, LEN);
	from = into = NULL;
}

CT_FIXTURE(far, struct fake *, NULL, tear_down);

/* The first operation of the end that sends or reads. */
static void skip(uint64_t at)
{
	struct rte_vc_op *op = &fake.a.vc.ops[1];

	CT_ASSERT_EQ(op->offset, FAKE_EAGER);
	op->offset = at;
	op->iov_offset = (size_t)at;
}

static void skip_sent(uint64_t at)
{
	CT_ASSERT_TRUE(fake_deliver(&fake, &fake.a));
	skip(at);
	CT_ASSERT_EQ(fake.b.vc.in.offset, FAKE_EAGER);
	fake.b.vc.in.offset = at;
	fake_run(&fake);
}

static void expect_bytes(void)
{
	CT_EXPECT_MEMEQ(into, from, FAKE_EAGER);
	CT_EXPECT_MEMEQ(into + FAR, from + FAR, REST);
}

CT_TEST_F(far, a_write)
{
	if (!begin(false, FI_REMOTE_WRITE))
		return;
	CT_EXPECT_EQ(fake_write(&fake.a, from, LEN, 0, KEY, from, 0), 0);
	skip_sent(FAR);
	fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
	expect_bytes();
}

CT_TEST_F(far, a_message)
{
	if (!begin(false, FI_REMOTE_WRITE))
		return;
	CT_EXPECT_EQ(fake_recv(&fake.b, into, LEN, into), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, LEN, from, 0), 0);
	skip_sent(FAR);
	fake_expect(&fake.a.tx_cq, from, FI_SEND | FI_MSG, 0);
	fake_expect(&fake.b.rx_cq, into, FI_RECV | FI_MSG, LEN);
	expect_bytes();
}

/* A fragment that is longer than what is left of a multiple of 4 GiB. */
CT_TEST_F(far, a_message_across_4_gib)
{
	if (!begin(false, FI_REMOTE_WRITE))
		return;
	fake_pattern(from + FAR - 100, REST + 100, 9);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, LEN, into), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, LEN, from, 0), 0);
	skip_sent(FAR - 100);
	fake_expect(&fake.b.rx_cq, into, FI_RECV | FI_MSG, LEN);
	CT_EXPECT_MEMEQ(into + FAR - 100, from + FAR - 100, REST + 100);
}

/* Of the length only what is above 4 GiB would have room. */
CT_TEST_F(far, a_message_that_is_too_long)
{
	struct fi_cq_err_entry err = {0};

	if (!begin(false, FI_REMOTE_WRITE))
		return;
	CT_EXPECT_EQ(fake_recv(&fake.b, into, REST, into), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, LEN, from, 0), 0);
	skip_sent(FAR);
	CT_ASSERT_EQ(fi_cq_readerr(&fake.b.rx_cq.fid, &err, 0), 1);
	CT_EXPECT_EQ(err.err, FI_ETRUNC);
	CT_EXPECT_EQ(err.len, REST);
	CT_EXPECT_EQ(err.olen, FAR);
	CT_EXPECT_EQ(into[FAKE_EAGER], 0);
}

static void read_far(size_t len, uint64_t at)
{
	struct rte_vc_serve *serve = &fake.b.vc.serves[0];

	CT_EXPECT_EQ(fake_read(&fake.a, into, len, 0, KEY, into), 0);
	CT_ASSERT_TRUE(fake_deliver(&fake, &fake.a));
	CT_ASSERT_TRUE(fake_deliver(&fake, &fake.b));
	skip(at);
	CT_ASSERT_EQ(serve->offset, FAKE_EAGER);
	serve->offset = at;
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, into, READ, 0);
}

CT_TEST_F(far, a_read)
{
	if (!begin(false, FI_REMOTE_READ))
		return;
	read_far(LEN, FAR);
	expect_bytes();
}

/* From memory that is not held, too. */
CT_TEST_F(far, a_read_across_4_gib)
{
	if (!begin(false, FI_REMOTE_READ))
		return;
	fake.b.refuses = true;
	fake_pattern(from + FAR - 100, REST + 100, 9);
	read_far(LEN, FAR - 100);
	CT_EXPECT_MEMEQ(into + FAR - 100, from + FAR - 100, REST + 100);
	CT_EXPECT_EQ(fake.b.seen[1].plen, FAKE_EAGER);
}

CT_TEST_F(far, a_write_by_the_bypass)
{
	int i;

	if (!begin(true, FI_REMOTE_WRITE))
		return;
	for (i = 0; i < 5; i++) {
		CT_EXPECT_EQ(fake_write(&fake.a, from, 8, FAR + 8, KEY, from, 0), 0);
		fake_run(&fake);
		fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
		CT_EXPECT_MEMEQ(into + FAR + 8, from, 8);
		memset(into + FAR + 8, 0, 8);
	}
	CT_EXPECT_EQ(fake.a.straight, 1);
}

/* What is left of it ends in as many zeros as 0. */
CT_TEST_F(far, of_4_gib)
{
	if (!begin(false, FI_REMOTE_WRITE))
		return;
	fake_pattern(from + FAR - 100, 100, 9);
	CT_EXPECT_EQ(fake_write(&fake.a, from, FAR, 0, KEY, from, 0), 0);
	skip_sent(FAR - 100);
	fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
	CT_EXPECT_MEMEQ(into + FAR - 100, from + FAR - 100, 100);
}

CT_TEST_F(far, a_read_of_4_gib)
{
	if (!begin(false, FI_REMOTE_READ))
		return;
	fake.b.refuses = true;
	fake_pattern(from + FAR - 100, 100, 9);
	read_far(FAR, FAR - 100);
	CT_EXPECT_MEMEQ(into + FAR - 100, from + FAR - 100, 100);
}

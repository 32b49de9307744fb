/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys that are used again, or look like another one: of messages, and of the bypass. */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "say.h"

#define WRITTEN (FI_RMA | FI_WRITE)
#define READ (FI_RMA | FI_READ)
#define KEY 0x77
#define LEN 13000

static struct fake fake;
static uint8_t from[LEN], memory[LEN], other[LEN], zeros[LEN];
static struct crn_mr mr, again;
static int context[8];

static void begin(bool bypass)
{
	fake_open(&fake, true, false);
	fake.bypass = bypass;
	fake_region(&fake.b, &mr, memory, LEN, KEY, FI_REMOTE_READ | FI_REMOTE_WRITE);
	fake_pattern(from, sizeof(from), 5);
	memset(memory, 0, sizeof(memory));
	memset(other, 0, sizeof(other));
	fake_start(&fake);
}

static void write_with(uint64_t key)
{
	CT_ASSERT_EQ(fake_write(&fake.a, from, 8, 0, key, from, 0), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
}

static void begin_known(void)
{
	int i;

	begin(true);
	for (i = 0; i < 5; i++)
		write_with(KEY);
	CT_ASSERT_EQ(fake.a.straight, 1);
}

/* The region is closed, and another one has its key. */
static void change(void)
{
	crn_mr_remove(&fake.b.map, &mr);
	fake_region(&fake.b, &again, other, LEN, KEY, FI_REMOTE_READ | FI_REMOTE_WRITE);
}

static void set_up(struct fake **t)
{
	*t = &fake;
	begin_known();
}

CT_FIXTURE(keys, struct fake *, set_up, fake_tear_down);

CT_TEST_F(keys, a_write_that_has_begun_goes_to_no_other_region)
{
	begin(false);
	CT_EXPECT_EQ(fake_write(&fake.a, from, LEN, 0, KEY, from, 0), 0);
	CT_ASSERT_TRUE(fake_deliver(&fake, &fake.a));
	change();
	fake_run(&fake);
	fake_expect_err(&fake.a.tx_cq, from, WRITTEN, FI_EKEYREJECTED);
	CT_EXPECT_MEMEQ(other, zeros, LEN);
}

CT_TEST_F(keys, a_read_that_has_begun_is_answered_from_no_other_region)
{
	begin(false);
	fake.b.credits[RTE_RESPONSES] = 1;
	CT_EXPECT_EQ(fake_read(&fake.a, from, LEN, 0, KEY, from), 0);
	CT_ASSERT_TRUE(fake_deliver(&fake, &fake.a));
	CT_ASSERT_EQ(fake.b.out_count, 1);
	change();
	fake_run(&fake);
	fake_expect_err(&fake.a.tx_cq, from, READ, FI_EKEYREJECTED);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_READ_FRAG), 1);
}

/* Of so many, some have the place of the one that is known. */
CT_TEST_F(keys, none_is_taken_for_the_one_in_its_place)
{
	uint64_t key;

	for (key = KEY + 1; key < KEY + 1 + 4 * RTE_KEYS; key++) {
		CT_NOTE("key %u", (unsigned int)key);
		memset(other, 0, 8);
		fake_region(&fake.b, &again, other, 8, key, FI_REMOTE_WRITE);
		write_with(key);
		CT_EXPECT_MEMEQ(other, from, 8);
		crn_mr_remove(&fake.b.map, &again);
	}
	CT_EXPECT_EQ(fake.a.straight, 1);
}

static struct rte_vc_loan *loan(void)
{
	return crn_container_of(fake.b.loans.next, struct rte_vc_loan, of_mr);
}

static void give_back(uint64_t epoch)
{
	const struct rte_packet packet = {.head = {.type = RTE_MR_INVAL}};
	const struct rte_mr_inval inval = {.key = KEY, .epoch = epoch};
	uint8_t bytes[64];
	const ssize_t len = rte_mr_inval_pack(&packet, &inval, bytes, sizeof(bytes));

	fake_inject(&fake.b, bytes, (size_t)len);
}

CT_TEST_F(keys, one_of_another_epoch_is_not_given_back)
{
	rte_vc_recall(loan());
	give_back(mr.number + 1);
	CT_EXPECT_DATA(fake.b.bad, "MR_INVAL");
}

/* The region may be in use until it has been asked for. */
CT_TEST_F(keys, one_that_was_not_recalled_is_not_given_back)
{
	give_back(mr.number);
	CT_EXPECT_DATA(fake.b.bad, "MR_INVAL");
}

/* Who has not been told of a key has nothing to give back. */
CT_TEST_F(keys, one_that_was_not_told_is_recalled_later)
{
	int i;

	begin(true);
	for (i = 0; i < 3; i++)
		write_with(KEY);
	fake.b.credits[RTE_RESPONSES] = 0;
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, from, 0), 0);
	fake_run(&fake);
	CT_ASSERT_FALSE(crn_list_empty(&fake.b.loans));
	fake.b.credits[RTE_RESPONSES] = 1;
	rte_vc_recall(loan());
	CT_EXPECT_FALSE(loan()->recalled);
	fake.b.hungry = true;
	fake_run(&fake);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_MR_INFO), 1);
	rte_vc_recall(loan());
	fake_run(&fake);
	CT_EXPECT_EQ(fake.a.bad, NULL);
	CT_EXPECT_EQ(fake.b.bad, NULL);
	CT_EXPECT_TRUE(crn_list_empty(&fake.b.loans));
}

CT_TEST_F(keys, one_is_lent_once_however_often_it_is_asked_for)
{
	const struct rte_packet packet = {.head = {.type = RTE_MR_RESOLVE}};
	uint8_t bytes[64];
	ssize_t len;

	len = rte_mr_resolve_pack(&packet, &(struct rte_mr_resolve){KEY}, bytes,
				  sizeof(bytes));
	fake_inject(&fake.b, bytes, (size_t)len);
	CT_EXPECT_EQ(loan()->of_mr.next, &fake.b.loans);
}

/* The target holds it up until there is a receive: what follows is not kept back here. */
CT_TEST_F(keys, behind_data_for_the_completion_queue_there_are_messages)
{
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &context[0], FI_REMOTE_CQ_DATA),
		     0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &context[1], 0), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake_sent(&fake.a, RTE_WRITE), 6);
	CT_EXPECT_EQ(fake.a.straight, 1);
	CT_EXPECT_EQ(fake_recv(&fake.b, other, 8, other), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], WRITTEN, 0);
	fake_expect(&fake.a.tx_cq, &context[1], WRITTEN, 0);
}

/* The lower provider would write it, and make nothing durable. */
CT_TEST_F(keys, a_durable_write_is_the_targets_to_refuse)
{
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &context[0],
				FI_COMMIT_COMPLETE),
		     0);
	fake_run(&fake);
	fake_expect_err(&fake.a.tx_cq, &context[0], WRITTEN, FI_EOPNOTSUPP);
	CT_EXPECT_EQ(fake.a.straight, 1);
}

CT_TEST_F(keys, one_that_only_reads_is_not_written_with)
{
	int i;

	begin(true);
	mr.access = FI_REMOTE_READ;
	for (i = 0; i < 5; i++) {
		CT_EXPECT_EQ(fake_read(&fake.a, other, 8, 0, KEY, from), 0);
		fake_run(&fake);
		fake_expect(&fake.a.tx_cq, from, READ, 0);
	}
	CT_EXPECT_EQ(fake.a.straight, 1);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, from, 0), 0);
	fake_run(&fake);
	fake_expect_err(&fake.a.tx_cq, from, WRITTEN, FI_EACCES);
	CT_EXPECT_MEMEQ(memory, zeros, 8);
}

static void post_parts(bool reads, size_t parts)
{
	static int desc;
	void *descs[] = {&desc, &desc};
	const struct iovec iov[] = {{other, 8}, {other + 8, 8}};
	const struct fi_rma_iov range = {0, 8 * parts, KEY};
	const struct fi_msg_rma msg = {
		.msg_iov = iov,
		.desc = descs,
		.iov_count = parts,
		.rma_iov = &range,
		.rma_iov_count = 1,
		.context = other,
	};

	CT_ASSERT_EQ(reads ? rte_vc_read(&fake.a.vc, &msg, 0)
			   : rte_vc_write(&fake.a.vc, &msg, 0),
		     0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, other, reads ? READ : WRITTEN, 0);
}

/* Regions of the lower provider's own are those to send from, one for each part. */
CT_TEST_F(keys, what_the_lower_provider_has_no_region_for_is_a_message)
{
	fake.a.port.mr_local = true;
	post_parts(false, 1);
	CT_EXPECT_EQ(fake.a.straight, 2);
	post_parts(true, 1);
	post_parts(false, 2);
	CT_EXPECT_EQ(fake.a.straight, 2);
	fake.a.port.mr_local = false;
	fake.a.port.lower_iov = 1;
	post_parts(false, 2);
	CT_EXPECT_EQ(fake.a.straight, 2);
	fake.a.port.lower_iov = 2;
	post_parts(false, 2);
	CT_EXPECT_EQ(fake.a.straight, 3);
}

CT_TEST_F(keys, nothing_is_lent_that_is_counted_or_begins_elsewhere)
{
	fake_open(&fake, true, false);
	fake_count(&fake.b, FI_REMOTE_READ);
	CT_EXPECT_FALSE(rte_vc_lends(&fake.b.vc));
	CT_EXPECT_TRUE(rte_vc_lends(&fake.a.vc));
	fake.a.map.virt_addr = true;
	CT_EXPECT_FALSE(rte_vc_lends(&fake.a.vc));
	fake.a.map.virt_addr = false;
}

/* Numbers may be left out, which the operations of the bypass have, but none comes twice.
 */
CT_TEST_F(keys, a_number_comes_once)
{
	const struct said write = {RTE_WRITE,	WHOLE,	    .seq = 9,
				   .length = 1, .key = KEY, .plen = 1};

	say(&fake.b, &write);
	CT_EXPECT_EQ(fake.b.bad, NULL);
	say(&fake.b, &write);
	CT_EXPECT_NE(fake.b.bad, NULL);
}

/* --- Of a router next to it, which writes in this end's place --- */

static void ask_for(uint64_t key)
{
	const struct rte_packet packet = {.head = {.type = RTE_MR_RESOLVE}};
	uint8_t bytes[64];
	const ssize_t len = rte_mr_resolve_pack(&packet, &(struct rte_mr_resolve){key},
						bytes, sizeof(bytes));

	fake_inject(&fake.b, bytes, (size_t)len);
	fake_run(&fake);
}

static void begin_routed(void)
{
	fake_open(&fake, false, false);
	fake.bypass = true;
	fake_region(&fake.b, &mr, memory, LEN, KEY, FI_REMOTE_WRITE);
	fake_pattern(from, sizeof(from), 5);
	memset(memory, 0, sizeof(memory));
	fake_start(&fake);
}

CT_TEST_F(keys, a_router_is_told_of_one_and_its_writes_have_numbers)
{
	const struct said write = {RTE_WRITE,	WHOLE | RTE_ACKREQ, .seq = 9,
				   .length = 1, .key = KEY,	    .plen = 1};

	begin_routed();
	ask_for(KEY);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_MR_INFO), 1);
	CT_EXPECT_TRUE(fake.b.lends);
	say(&fake.b, &write);
	CT_EXPECT_EQ(fake.b.bad, NULL);
	CT_EXPECT_TRUE(fake_deliver(&fake, &fake.b));
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_ACK), 1);
}

CT_TEST_F(keys, one_that_does_not_lend_has_all_numbers)
{
	begin_routed();
	fake.b.vc.path.bypassed = false;
	ask_for(KEY);
	CT_EXPECT_DATA(fake.b.bad, "MR_RESOLVE");
}

/* What the router has written there, nobody has made durable. */
CT_TEST_F(keys, a_fenced_durable_write_is_refused_once_a_router_was_told_of_one)
{
	static uint8_t pmem[100];
	const uint64_t key = KEY + 1;
	int told;

	for (told = 0; told < 2; told++) {
		begin_routed();
		fake_region(&fake.b, &again, pmem, sizeof(pmem), key, FI_REMOTE_WRITE);
		fake.b.pmem = &again;
		if (told)
			ask_for(KEY);
		CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, key, from,
					FI_COMMIT_COMPLETE | FI_FENCE),
			     0);
		fake_run(&fake);
		if (told)
			fake_expect_err(&fake.a.tx_cq, from, WRITTEN, FI_EOPNOTSUPP);
		else
			fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
	}
}

/* It would be made durable by nobody. */
CT_TEST_F(keys, persistent_memory_is_lent_to_no_router)
{
	begin_routed();
	fake.b.pmem = &mr;
	ask_for(KEY);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_MR_INFO), 1);
	CT_EXPECT_FALSE(fake.b.lends);
	CT_EXPECT_TRUE(crn_list_empty(&fake.b.loans));
}

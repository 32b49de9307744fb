/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake.h"

#define READ (FI_RMA | FI_READ)
#define KEY 0x77
#define LEN 20000

static struct fake fake;
static uint8_t memory[LEN], into[LEN + 1];
static struct crn_mr mr;
static int context[64];

static void begin(bool direct)
{
	fake_open(&fake, direct, false);
	fake_region(&fake.b, &mr, memory, LEN, KEY, FI_REMOTE_READ);
	fake_count(&fake.b, FI_REMOTE_READ);
	fake_pattern(memory, sizeof(memory), 9);
	memset(into, 0, sizeof(into));
	fake_start(&fake);
}

static void set_up(struct fake **t)
{
	*t = &fake;
	begin(true);
}

CT_FIXTURE(read, struct fake *, set_up, fake_tear_down);

CT_TEST_F(read, bytes_of_all_lengths)
{
	static const size_t sizes[] = {1, FAKE_EAGER, FAKE_EAGER + 1, 5000, LEN - 100};
	size_t i;

	for (i = 0; i < CRN_COUNT(sizes); i++) {
		begin(i % 2);
		CT_NOTE("%zu bytes", sizes[i]);
		CT_EXPECT_EQ(fake_read(&fake.a, into, sizes[i], 100, KEY, into), 0);
		CT_EXPECT_EQ(fake.a.expected, sizes[i]);
		fake_run(&fake);
		fake_expect(&fake.a.tx_cq, into, READ, 0);
		CT_EXPECT_MEMEQ(into, memory + 100, sizes[i]);
		CT_EXPECT_EQ(into[sizes[i]], 0);
		CT_EXPECT_EQ(fi_cntr_read(&fake.b.cntr.fid), 1);
		CT_EXPECT_EQ(fake_sent(&fake.b, RTE_ACK), 0);
	}
}

/* With and without landing slots, from memory that is held and from copies. */
CT_TEST_F(read, a_region_is_read_where_it_is)
{
	unsigned int refuses, slots;

	for (refuses = 0; refuses < 2; refuses++) {
		for (slots = 0; slots < 4; slots = 2 * slots + 1) {
			begin(true);
			CT_NOTE("refuses %u, slots %u", refuses, slots);
			fake.b.port.mr_local = true;
			fake.b.refuses = refuses;
			fake.b.slots[RTE_RESPONSES] = slots;
			CT_EXPECT_EQ(fake_read(&fake.a, into, 15000, 100, KEY, into), 0);
			CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
			CT_EXPECT_EQ(fake.b.out[0]->tx.data_len, refuses ? 0
								 : slots ? FAKE_SLOT_LEN
									 : FAKE_EAGER);
			CT_EXPECT_EQ(fake.b.holds != 0, !refuses);
			fake_run(&fake);
			CT_EXPECT_EQ(fake.b.holds, 0);
			fake_expect(&fake.a.tx_cq, into, READ, 0);
			CT_EXPECT_MEMEQ(into, memory + 100, 15000);
			CT_EXPECT_EQ(fake.b.seen[0].slotted, slots && !refuses);
			CT_EXPECT_EQ(fake.b.seen[0].flags, RTE_FIRST);
		}
	}
}

CT_TEST_F(read, a_fragment_is_no_longer_than_the_path_can_or_it_asked)
{
	const uint32_t frags[][2] = {{3000, 8192}, {8192, 3000}};
	int i;

	for (i = 0; i < 2; i++) {
		begin(true);
		fake.b.vc.path.frag = frags[i][0];
		fake.a.vc.path.frag = frags[i][1];
		CT_EXPECT_EQ(fake_read(&fake.a, into, 10000, 0, KEY, into), 0);
		fake_run(&fake);
		CT_EXPECT_EQ(fake.b.seen[0].plen, 3000);
		CT_EXPECT_EQ(fake.b.seen[3].plen, 1000);
		CT_EXPECT_MEMEQ(into, memory, 10000);
	}
}

CT_TEST_F(read, into_several_parts)
{
	const struct iovec iov[] = {
		{into, 1}, {into + 1, 3000}, {into, 0}, {into + 3001, 99}};
	const struct fi_rma_iov range = {50, 3100, KEY};
	const struct fi_msg_rma msg = {
		.msg_iov = iov,
		.iov_count = 4,
		.rma_iov = &range,
		.rma_iov_count = 1,
		.context = into,
	};

	CT_EXPECT_EQ(rte_vc_read(&fake.a.vc, &msg, FI_DELIVERY_COMPLETE), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, into, READ, 0);
	CT_EXPECT_MEMEQ(into, memory + 50, 3100);
}

CT_TEST_F(read, of_nothing)
{
	CT_EXPECT_EQ(fake_read(&fake.a, into, 0, 0, KEY, into), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, into, READ, 0);
}

CT_TEST_F(read, what_is_refused)
{
	static const struct {
		const char *what;
		size_t len;
		uint64_t addr, key, access;
		bool no_map;
		int err;
	} rows[] = {
		{"unknown key", 10, 0, KEY + 1, FI_REMOTE_READ, false, FI_EKEYREJECTED},
		{"ends too late", 10, LEN - 9, KEY, FI_REMOTE_READ, false, FI_EACCES},
		{"ends one byte too late", LEN, 1, KEY, FI_REMOTE_READ, false, FI_EACCES},
		{"no right", 10, 0, KEY, FI_REMOTE_WRITE, false, FI_EACCES},
		{"no regions", 10, 0, KEY, FI_REMOTE_READ, true, FI_EKEYREJECTED},
	};
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		begin(true);
		CT_NOTE("%s", rows[i].what);
		mr.access = rows[i].access;
		if (rows[i].no_map)
			fake.b.vc.attr.map = NULL;
		CT_EXPECT_EQ(fake_read(&fake.a, into, rows[i].len, rows[i].addr,
				       rows[i].key, &context[0]),
			     0);
		CT_EXPECT_EQ(fake_read(&fake.a, into, 10, 0, KEY, &context[1]), 0);
		fake_run(&fake);
		fake_expect_err(&fake.a.tx_cq, &context[0], READ, rows[i].err);
		fake_expect_none(&fake.a.tx_cq);
		CT_EXPECT_EQ(fake.a.broken, rows[i].err);
		CT_EXPECT_EQ(fake_sent(&fake.b, RTE_READ_FRAG), 0);
		CT_EXPECT_EQ(fake_sent(&fake.b, RTE_NACK), 1);
	}
}

/* Those before it are answered all the same. */
CT_TEST_F(read, one_that_is_refused_while_another_is_answered)
{
	fake.b.credits[RTE_RESPONSES] = 1;
	CT_EXPECT_EQ(fake_read(&fake.a, into, LEN, 0, KEY, &context[0]), 0);
	CT_EXPECT_EQ(fake_read(&fake.a, into, 10, 0, KEY + 1, &context[1]), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], READ, 0);
	fake_expect_err(&fake.a.tx_cq, &context[1], READ, FI_EKEYREJECTED);
	CT_EXPECT_MEMEQ(into, memory, LEN);
}

CT_TEST_F(read, a_region_that_is_closed_meanwhile)
{
	fake.b.credits[RTE_RESPONSES] = 1;
	fake.b.slots[RTE_RESPONSES] = 1;
	CT_EXPECT_EQ(fake_read(&fake.a, into, 5000, 0, KEY, into), 0);
	CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
	CT_EXPECT_EQ(fake.b.out_count, 1);
	CT_EXPECT_EQ(fake.b.holds, 1);
	crn_mr_remove(&fake.b.map, &mr);
	fake_run(&fake);
	fake_expect_err(&fake.a.tx_cq, into, READ, FI_EKEYREJECTED);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_READ_FRAG), 1);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_NACK), 1);
	CT_EXPECT_EQ(fi_cntr_read(&fake.b.cntr.fid), 0);
}

/* Those that are too many keep their place in the lane. */
CT_TEST_F(read, so_many_are_in_service)
{
	struct rte_read_req req = {
		.length = 10,
		.key = KEY,
		.window = 1,
		.frag = 10,
	};
	struct rte_packet packet = {.head = {.type = RTE_READ_REQ}};
	uint8_t bytes[128];
	uint64_t seq;
	ssize_t len;

	fake.b.credits[RTE_RESPONSES] = 0;
	for (seq = 1; seq <= RTE_VC_READS + 3; seq++) {
		packet.head.seq = seq;
		req.window = seq == RTE_VC_READS ? RTE_SLOTS_MAX : 1;
		len = rte_read_req_pack(&packet, &req, bytes, sizeof(bytes));
		fake_inject(&fake.b, bytes, (size_t)len);
	}
	CT_EXPECT_EQ(fake_rx_kept(&fake.b), 3);
	CT_EXPECT_EQ(fake.b.vc.serve_count, RTE_VC_READS);
	CT_EXPECT_EQ(fake.b.vc.serves[0].window, 1);
	CT_EXPECT_EQ(fake.b.vc.serves[RTE_VC_READS - 1].window,
		     CRN_MIN(RTE_VC_WINDOW, RTE_SLOTS_MAX));
	fake.b.credits[RTE_RESPONSES] = 2;
	fake.b.hold_done = true;
	rte_vc_ready(&fake.b.vc);
	/* A window of one: the first has to be sent before the second is answered. */
	CT_EXPECT_EQ(fake.b.out_count, 1);
	CT_EXPECT_EQ(fake_rx_kept(&fake.b), 2);
	CT_EXPECT_EQ(fake.b.bad, NULL);
}

CT_TEST_F(read, operations_are_reported_in_order)
{
	fake.b.credits[RTE_RESPONSES] = 1;
	CT_EXPECT_EQ(fake_read(&fake.a, into, 5000, 0, KEY, &context[0]), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, memory, 10, &context[1], 0), 0);
	CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
	CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
	fake_done(&fake.a);
	fake_expect_none(&fake.a.tx_cq);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], READ, 0);
	fake_expect(&fake.a.tx_cq, &context[1], FI_SEND | FI_MSG, 0);
}

/* And the data of one carry what is to be acknowledged, through routers as well. */
CT_TEST_F(read, goes_on_whatever_the_messages_wait_for)
{
	begin(false);
	CT_EXPECT_EQ(fake_send(&fake.a, memory, 10, &context[0], FI_DELIVERY_COMPLETE),
		     0);
	CT_EXPECT_EQ(fake_read(&fake.a, into, 3000, 0, KEY, &context[1]), 0);
	fake.b.credits[RTE_RESPONSES] = 0;
	CT_EXPECT_EQ(fake_recv(&fake.b, into + 5000, 10, into), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake.b.vc.serve_count, 1);
	fake.b.credits[RTE_RESPONSES] = 1;
	rte_vc_ready(&fake.b.vc);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], FI_SEND | FI_MSG, 0);
	fake_expect(&fake.a.tx_cq, &context[1], READ, 0);
	CT_EXPECT_MEMEQ(into, memory, 3000);
}

CT_TEST_F(read, a_fence_waits_for_the_data)
{
	fake.b.credits[RTE_RESPONSES] = 0;
	CT_EXPECT_EQ(fake_read(&fake.a, into, 3000, 0, KEY, &context[0]), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, into, 3000, &context[1], FI_FENCE), 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, into + 10000, 3000, into), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake.a.seen_count, 1);
	fake.b.credits[RTE_RESPONSES] = 1;
	rte_vc_ready(&fake.b.vc);
	fake_run(&fake);
	CT_EXPECT_MEMEQ(into + 10000, memory, 3000);
}

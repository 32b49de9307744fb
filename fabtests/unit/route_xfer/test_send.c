/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake.h"

#define SENT (FI_SEND | FI_MSG)
#define RECEIVED (FI_RECV | FI_MSG)

static struct fake fake;
static uint8_t from[FAKE_MAX + 1], into[FAKE_MAX + 1];
static int context[32];

static void begin(bool direct)
{
	fake_open(&fake, direct, false);
	fake_start(&fake);
	fake_pattern(from, sizeof(from), 1);
	memset(into, 0, sizeof(into));
}

static void set_up(struct fake **t)
{
	*t = &fake;
	begin(true);
}

CT_FIXTURE(send, struct fake *, set_up, fake_tear_down);

CT_TEST_F(send, a_short_message_is_posted_in_the_call)
{
	CT_EXPECT_EQ(fake_send(&fake.a, from, 100, &context[0], 0), 0);
	CT_EXPECT_EQ(fake.a.out_count, 1);
	memset(from, 0, 100);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, sizeof(into), &context[1]), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], SENT, 0);
	fake_expect(&fake.b.rx_cq, &context[1], RECEIVED, 100);
	fake_pattern(from, 100, 1);
	CT_EXPECT_MEMEQ(into, from, 100);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_ACK), 0);
}

CT_TEST_F(send, messages_of_all_sizes_arrive)
{
	static const size_t sizes[] = {0,
				       1,
				       FAKE_EAGER - 1,
				       FAKE_EAGER,
				       FAKE_EAGER + 1,
				       2 * FAKE_EAGER,
				       FAKE_SLOT_LEN,
				       FAKE_SLOT_LEN + 1,
				       100000,
				       FAKE_MAX};
	uint32_t slots;
	size_t i;

	for (slots = 0; slots < 1u << FAKE_SLOTS; slots = slots * 2 + 1) {
		begin(true);
		fake.a.slots[RTE_REQUESTS] = slots;
		for (i = 0; i < CRN_COUNT(sizes); i++) {
			CT_NOTE("%zu bytes, slots %x", sizes[i], slots);
			memset(into, 0, sizeof(into));
			CT_EXPECT_EQ(fake_recv(&fake.b, into, sizeof(into), into), 0);
			CT_EXPECT_EQ(fake_send(&fake.a, from, sizes[i], from, 0), 0);
			fake_run(&fake);
			fake_expect(&fake.a.tx_cq, from, SENT, 0);
			fake_expect(&fake.b.rx_cq, into, RECEIVED, sizes[i]);
			CT_EXPECT_MEMEQ(into, from, sizes[i]);
			CT_EXPECT_EQ(into[sizes[i]], 0);
		}
	}
}

CT_TEST_F(send, a_long_message_uses_landing_slots)
{
	CT_EXPECT_EQ(fake_recv(&fake.b, into, sizeof(into), into), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 2 * FAKE_SLOT_LEN + 10, from, 0), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake.a.seen_count, 3);
	CT_EXPECT_TRUE(fake.a.seen[0].slotted);
	CT_EXPECT_TRUE(fake.a.seen[1].slotted);
	CT_EXPECT_EQ(fake.a.seen[1].plen, FAKE_SLOT_LEN);
	CT_EXPECT_FALSE(fake.a.seen[2].slotted);
	CT_EXPECT_EQ(fake.a.seen[0].flags, RTE_FIRST);
	CT_EXPECT_EQ(fake.a.seen[1].flags, 0);
	CT_EXPECT_EQ(fake.a.seen[2].flags, RTE_LAST);
	CT_EXPECT_EQ(fake.a.seen[2].seq, 1);
}

CT_TEST_F(send, a_fragment_is_no_longer_than_the_path_can)
{
	const struct rte_vc_path path = {.frag = 2000, .eager = 1000, .direct = true};

	fake_open(&fake, true, false);
	rte_vc_start(&fake.a.vc, &fake.a.peer, &path);
	rte_vc_start(&fake.b.vc, &fake.b.peer, &path);
	fake_pattern(from, sizeof(from), 1);
	fake.a.slots[RTE_REQUESTS] = 1;
	CT_EXPECT_EQ(fake_recv(&fake.b, into, sizeof(into), into), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 4500, from, 0), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake.a.seen_count, 4);
	CT_EXPECT_EQ(fake.a.seen[0].plen, 2000);
	CT_EXPECT_EQ(fake.a.seen[1].plen, 1000);
	CT_EXPECT_EQ(fake.a.seen[2].plen, 1000);
	CT_EXPECT_EQ(fake.a.seen[3].plen, 500);
	CT_EXPECT_MEMEQ(into, from, 4500);
}

CT_TEST_F(send, buffers_have_up_to_four_parts)
{
	const struct iovec out[] = {
		{from, 10}, {from + 10, 0}, {from + 10, 5000}, {from + 5010, 7}};
	const struct iovec in[] = {
		{into, 1}, {into + 1, 6000}, {into, 0}, {into + 6001, 5}};
	struct fi_msg msg = {.msg_iov = in, .iov_count = 4, .context = into};

	CT_EXPECT_EQ(rte_vc_recv(&fake.b.vc, &msg, 0), 0);
	msg.msg_iov = out;
	msg.context = from;
	CT_EXPECT_EQ(rte_vc_send(&fake.a.vc, &msg, 0), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, from, SENT, 0);
	fake_expect(&fake.b.rx_cq, into, RECEIVED, 5017);
	CT_EXPECT_MEMEQ(into, from, 5017);
	msg.iov_count = 5;
	CT_EXPECT_EQ(rte_vc_send(&fake.a.vc, &msg, 0), -FI_EINVAL);
	CT_EXPECT_EQ(rte_vc_recv(&fake.a.vc, &msg, 0), -FI_EINVAL);
}

CT_TEST_F(send, memory_that_is_not_registered_is_copied)
{
	fake.a.port.mr_local = true;
	CT_EXPECT_EQ(fake_recv(&fake.b, into, sizeof(into), into), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 3000, from, FI_INJECT_COMPLETE), 0);
	CT_EXPECT_EQ(fake.a.out_count, 3);
	fake_expect(&fake.a.tx_cq, from, SENT, 0);
	memset(from, 0, 3000);
	fake_run(&fake);
	fake_pattern(from, 3000, 1);
	CT_EXPECT_MEMEQ(into, from, 3000);
}

CT_TEST_F(send, its_own_lower_completion_is_enough_on_a_direct_connection)
{
	fake.a.hold_done = true;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[0], 0), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[1], FI_TRANSMIT_COMPLETE), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[2], FI_INJECT_COMPLETE), 0);
	fake_run(&fake);
	fake_expect_none(&fake.a.tx_cq);
	fake_done(&fake.a);
	fake_expect(&fake.a.tx_cq, &context[0], SENT, 0);
	fake_expect(&fake.a.tx_cq, &context[1], SENT, 0);
	fake_expect(&fake.a.tx_cq, &context[2], SENT, 0);
	CT_EXPECT_EQ(fake.a.seen[0].flags & RTE_ACKREQ, 0);
}

CT_TEST_F(send, inject_complete_says_only_that_the_buffer_is_free)
{
	fake.a.hold_done = true;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[0], FI_INJECT_COMPLETE), 0);
	fake_expect(&fake.a.tx_cq, &context[0], SENT, 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 3000, &context[1], FI_INJECT_COMPLETE), 0);
	fake_expect_none(&fake.a.tx_cq);
	fake_run(&fake);
	fake_expect_none(&fake.a.tx_cq);
	fake_done(&fake.a);
	fake_expect(&fake.a.tx_cq, &context[1], SENT, 0);
}

CT_TEST_F(send, the_last_router_acknowledges_on_a_routed_connection)
{
	begin(false);
	fake.router_acks = false;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[0], 0), 0);
	fake_run(&fake);
	fake_expect_none(&fake.a.tx_cq);
	CT_EXPECT_EQ(fake.a.seen[0].flags, RTE_FIRST | RTE_LAST | RTE_ACKREQ);
	/* The target does not: it has been taken all the same. */
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, into), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake.b.seen_count, 0);
	fake.router_acks = true;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[1], 0), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], SENT, 0);
	fake_expect(&fake.a.tx_cq, &context[1], SENT, 0);
}

CT_TEST_F(send, only_the_last_fragment_asks_for_an_ack)
{
	begin(false);
	fake.a.slots[RTE_REQUESTS] = 0;
	CT_EXPECT_EQ(fake_recv(&fake.b, into, sizeof(into), into), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 3000, from, FI_DELIVERY_COMPLETE), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake.a.seen[0].flags, RTE_FIRST);
	CT_EXPECT_EQ(fake.a.seen[1].flags, 0);
	CT_EXPECT_EQ(fake.a.seen[2].flags, RTE_LAST | RTE_ACKREQ | RTE_DELIVER);
	fake_expect(&fake.a.tx_cq, from, SENT, 0);
}

CT_TEST_F(send, delivery_complete_waits_for_the_receive)
{
	int direct;

	for (direct = 0; direct < 2; direct++) {
		begin(direct);
		CT_EXPECT_EQ(fake_send(&fake.a, from, 10, from, FI_DELIVERY_COMPLETE), 0);
		fake_run(&fake);
		fake_expect_none(&fake.a.tx_cq);
		CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, into), 0);
		fake_run(&fake);
		fake_expect(&fake.a.tx_cq, from, SENT, 0);
		CT_EXPECT_EQ(fake.b.seen[0].type, RTE_ACK);
		CT_EXPECT_EQ(fake.b.seen[0].request, 1);
	}
}

CT_TEST_F(send, what_a_router_acknowledges_says_nothing_of_a_delivery_before_it)
{
	begin(false);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[0], FI_DELIVERY_COMPLETE), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[1], 0), 0);
	fake_run(&fake);
	fake_expect_none(&fake.a.tx_cq);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, into), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], SENT, 0);
	fake_expect(&fake.a.tx_cq, &context[1], SENT, 0);
}

/* The target knows of what was before. */
CT_TEST_F(send, a_delivery_says_that_what_was_sent_before_has_arrived)
{
	begin(false);
	fake.router_acks = false;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[0], 0), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[1], FI_DELIVERY_COMPLETE), 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, into), 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, into), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], SENT, 0);
	fake_expect(&fake.a.tx_cq, &context[1], SENT, 0);
}

CT_TEST_F(send, a_fragment_may_end_in_another_part_than_it_begins)
{
	const struct iovec in[] = {{into, 1500}, {into + 2000, 30}, {into + 3000, 9000}};
	const struct fi_msg msg = {.msg_iov = in, .iov_count = 3, .context = into};

	fake.a.slots[RTE_REQUESTS] = 0;
	CT_EXPECT_EQ(rte_vc_recv(&fake.b.vc, &msg, 0), 0);
	memset(into, 0xee, 20000);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 8000, from, 0), 0);
	fake_run(&fake);
	CT_EXPECT_MEMEQ(into, from, 1500);
	CT_EXPECT_EQ(into[1500], 0xee);
	CT_EXPECT_MEMEQ(into + 2000, from + 1500, 30);
	CT_EXPECT_EQ(into[2030], 0xee);
	CT_EXPECT_MEMEQ(into + 3000, from + 1530, 8000 - 1530);
	CT_EXPECT_EQ(into[3000 + 8000 - 1530], 0xee);
}

CT_TEST_F(send, a_send_has_room_for_so_much_whatever_the_path_says)
{
	const struct rte_vc_path path = {.frag = 100000,
					 .eager = RTE_EAGER_MAX,
					 .direct = true};

	fake_open(&fake, true, false);
	rte_vc_start(&fake.a.vc, &fake.a.peer, &path);
	rte_vc_start(&fake.b.vc, &fake.b.peer, &path);
	fake_pattern(from, sizeof(from), 1);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, sizeof(into), into), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 20000, from, 0), 0);
	fake_run(&fake);
	CT_EXPECT_MEMEQ(into, from, 20000);
}

CT_TEST_F(send, injected_bytes_are_the_programs_again_when_the_call_returns)
{
	int i;

	fake.a.credits[RTE_REQUESTS] = 1;
	for (i = 0; i < 3; i++) {
		from[0] = (uint8_t)(10 + i);
		CT_EXPECT_EQ(fake_send(&fake.a, from, FAKE_INJECT, &context[i],
				       FI_INJECT),
			     0);
	}
	from[0] = 20;
	CT_EXPECT_EQ(rte_vc_inject(&fake.a.vc, from, FAKE_INJECT, 0, 0), 0);
	memset(from, 0, FAKE_INJECT);
	for (i = 0; i < 4; i++)
		CT_EXPECT_EQ(fake_recv(&fake.b, into + i * FAKE_INJECT, FAKE_INJECT,
				       into),
			     0);
	fake_run(&fake);
	fake_pattern(from, FAKE_INJECT, 1);
	for (i = 0; i < 4; i++) {
		CT_EXPECT_EQ(into[i * FAKE_INJECT], i < 3 ? 10 + i : 20);
		CT_EXPECT_MEMEQ(into + i * FAKE_INJECT + 1, from + 1, FAKE_INJECT - 1);
	}
	for (i = 0; i < 3; i++)
		fake_expect(&fake.a.tx_cq, &context[i], SENT, 0);
	fake_expect_none(&fake.a.tx_cq);
	CT_EXPECT_EQ(rte_vc_inject(&fake.a.vc, from, FAKE_INJECT + 1, 0, 0),
		     -FI_EMSGSIZE);
	CT_EXPECT_EQ(fake_send(&fake.a, from, FAKE_INJECT + 1, from, FI_INJECT),
		     -FI_EMSGSIZE);
}

CT_TEST_F(send, injected_bytes_that_take_several_fragments)
{
	const struct rte_vc_path path = {.frag = 30, .eager = 30, .direct = true};

	fake_open(&fake, true, false);
	rte_vc_start(&fake.a.vc, &fake.a.peer, &path);
	rte_vc_start(&fake.b.vc, &fake.b.peer, &path);
	fake_pattern(from, sizeof(from), 1);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, sizeof(into), into), 0);
	fake.a.credits[RTE_REQUESTS] = 1;
	CT_EXPECT_EQ(rte_vc_inject(&fake.a.vc, from, FAKE_INJECT, 0, 0), 0);
	CT_EXPECT_EQ(fake.a.out_count, 1);
	memset(from, 0, FAKE_INJECT);
	fake_run(&fake);
	fake_pattern(from, FAKE_INJECT, 1);
	CT_EXPECT_MEMEQ(into, from, FAKE_INJECT);
	CT_EXPECT_EQ(fake.a.seen_count, 3);
}

CT_TEST_F(send, data_for_the_completion_queue)
{
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, &context[0]), 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, &context[1]), 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, &context[2]), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, from, FI_REMOTE_CQ_DATA), 0);
	CT_EXPECT_EQ(rte_vc_inject(&fake.a.vc, from, 3, FI_REMOTE_CQ_DATA, 77), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, from, 0), 0);
	fake_run(&fake);
	fake_expect_data(&fake.b.rx_cq, &context[0], RECEIVED | FI_REMOTE_CQ_DATA, 10,
			 0x1122334455667788);
	fake_expect_data(&fake.b.rx_cq, &context[1], RECEIVED | FI_REMOTE_CQ_DATA, 3, 77);
	fake_expect_data(&fake.b.rx_cq, &context[2], RECEIVED, 10, 0);
}

CT_TEST_F(send, a_full_queue_is_refused)
{
	struct fi_cq_data_entry entry;
	int i;

	for (i = 0; i < (int)FAKE_TX; i++)
		CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[i], 0), 0);
	CT_EXPECT_EQ(rte_vc_tx_left(&fake.a.vc), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, from, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(rte_vc_inject(&fake.a.vc, from, 10, 0, 0), -FI_EAGAIN);
	fake_run(&fake);
	for (i = 0; i < (int)FAKE_TX; i++)
		fake_expect(&fake.a.tx_cq, &context[i], SENT, 0);
	/* The completion queue. */
	while (crn_cq_reserve(&fake.a.tx_cq))
		i++;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, from, 0), -FI_EAGAIN);
	crn_cq_release(&fake.a.tx_cq, (uint32_t)i - FAKE_TX);
	CT_EXPECT_EQ(fi_cq_read(&fake.a.tx_cq.fid, &entry, 1), -FI_EAGAIN);
}

CT_TEST_F(send, flags_and_lengths_that_are_refused)
{
	static const struct {
		uint64_t flags;
		size_t len;
		ssize_t ret;
	} rows[] = {
		{FI_COMMIT_COMPLETE, 1, -FI_EOPNOTSUPP},
		{FI_MULTI_RECV, 1, -FI_EBADFLAGS},
		{FI_PEEK, 1, -FI_EBADFLAGS},
		{0, FAKE_MAX + 1, -FI_EMSGSIZE},
	};
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++)
		CT_EXPECT_EQ(fake_send(&fake.a, from, rows[i].len, from, rows[i].flags),
			     rows[i].ret);
	CT_EXPECT_EQ(rte_vc_recv(&fake.a.vc, &(struct fi_msg){0}, FI_MULTI_RECV),
		     -FI_EBADFLAGS);
	CT_EXPECT_EQ(fake.a.vc.tail, 1);
	fake_open(&fake, true, false);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 1, from, 0), -FI_ENOTCONN);
	CT_EXPECT_EQ(fake_recv(&fake.a, into, 1, into), 0);
}

CT_TEST_F(send, a_fence_waits_for_all_before_it)
{
	begin(false);
	fake.router_acks = false;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[0], FI_DELIVERY_COMPLETE), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[1], FI_FENCE), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[2], 0), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake.a.seen_count, 1);
	CT_EXPECT_TRUE(rte_vc_unsent(&fake.a.vc));
	fake.router_acks = true;
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, into), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake.a.seen_count, 3);
	CT_EXPECT_EQ(fake.a.drained, 1);
}

/* Nothing is outstanding before it: those that end when they are handed over included. */
CT_TEST_F(send, a_fence_behind_what_ends_at_once)
{
	fake.a.credits[RTE_REQUESTS] = 0;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[0], FI_INJECT_COMPLETE), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[1], FI_FENCE), 0);
	CT_EXPECT_EQ(fake.a.out_count, 0);
	fake.a.credits[RTE_REQUESTS] = 8;
	rte_vc_ready(&fake.a.vc);
	CT_EXPECT_EQ(fake.a.out_count, 2);
}

CT_TEST_F(send, without_a_completion_nothing_is_asked_for)
{
	fake_open(&fake, false, true);
	fake_start(&fake);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, from, 0), 0);
	CT_EXPECT_EQ(rte_vc_inject(&fake.a.vc, from, 10, 0, 0), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, from, FI_COMPLETION), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake.a.seen[0].flags, RTE_FIRST | RTE_LAST);
	CT_EXPECT_EQ(fake.a.seen[1].flags, RTE_FIRST | RTE_LAST);
	CT_EXPECT_EQ(fake.a.seen[2].flags, RTE_FIRST | RTE_LAST | RTE_ACKREQ);
	fake_expect(&fake.a.tx_cq, from, SENT, 0);
	fake_expect_none(&fake.a.tx_cq);
}

CT_TEST_F(send, a_counter_counts_what_has_arrived)
{
	fake_open(&fake, false, true);
	fake.router_acks = false;
	fake_count(&fake.a, FI_SEND);
	fake_start(&fake);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, from, 0), 0);
	CT_EXPECT_EQ(rte_vc_inject(&fake.a.vc, from, 10, 0, 0), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fi_cntr_read(&fake.a.cntr.fid), 0);
	fake.router_acks = true;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, from, 0), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fi_cntr_read(&fake.a.cntr.fid), 3);
	fake_expect_none(&fake.a.tx_cq);
}

CT_TEST_F(send, no_operation_allocates)
{
	static struct crn_mr mr;
	int i;

	fake_region(&fake.b, &mr, into, sizeof(into), 7,
		    FI_REMOTE_WRITE | FI_REMOTE_READ);
	ct_fail_alloc(1);
	for (i = 0; i < 20; i++) {
		fake_recv(&fake.b, into, 100000, into);
		fake_send(&fake.a, from, 5000, from, FI_DELIVERY_COMPLETE);
		fake_send(&fake.a, from, 10, from, FI_INJECT);
		fake_run(&fake);
		fake_recv(&fake.b, into, 100000, into);
		fake_write(&fake.a, from, 5000, 0, 7, from, 0);
		fake_read(&fake.a, from, 5000, 0, 7, from);
		fake_run(&fake);
		fake_expect(&fake.a.tx_cq, from, SENT, 0);
		fake_expect(&fake.a.tx_cq, from, SENT, 0);
		fake_expect(&fake.a.tx_cq, from, FI_RMA | FI_WRITE, 0);
		fake_expect(&fake.a.tx_cq, from, FI_RMA | FI_READ, 0);
		fake_expect(&fake.b.rx_cq, into, RECEIVED, 5000);
		fake_expect(&fake.b.rx_cq, into, RECEIVED, 10);
	}
	CT_EXPECT_FALSE(ct_alloc_failed());
}

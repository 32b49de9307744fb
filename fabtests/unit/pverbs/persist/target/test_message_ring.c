/* SPDX-License-Identifier: BSD-2-Clause */
/* Durable messages at their target: what is written back before the program hears of
 * them, and what the peer is told. */
#include <errno.h>
#include "../fake_pmem.h"
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"
#include "receiver.h"

/* Persistent bytes. */
#define LEN 256u

static void expect_flushed(unsigned int nth, const void *addr, size_t len)
{
	CT_EXPECT_LT(nth, fake_pmem.flushes);
	CT_EXPECT_EQ(fake_pmem.flush[nth].addr, addr);
	CT_EXPECT_EQ(fake_pmem.flush[nth].len, len);
	CT_EXPECT_EQ(fake_pmem.undrained, 0);
}

static void set_up(struct receiver *t)
{
	CT_ASSERT_TRUE(receiver_open(t, LEN));
}

CT_FIXTURE(message_ring, struct receiver, set_up, receiver_close);

CT_TEST_F(message_ring,
	  a_durable_message_is_written_back_before_it_is_reported_and_answered)
{
	receiver_durable(t, t->mem, 77, 1);
	CT_EXPECT_EQ(fake_pmem.flushes, 0);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, 77, 0);
	expect_flushed(0, t->mem, 77);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	CT_EXPECT_EQ(receiver_answered(t, 1), 0);
}

static pthread_mutex_t *lock;
static bool lock_was_free;

static void look_at_lock(void)
{
	lock_was_free = !pthread_mutex_trylock(lock);
	if (lock_was_free)
		pthread_mutex_unlock(lock);
}

/* Who waits for other queues, or registers memory, does not wait for it. */
CT_TEST_F(message_ring, a_durable_message_is_written_back_without_the_lock)
{
	lock = &t->control->lock;
	fake_pmem.hook = look_at_lock;
	receiver_durable(t, t->mem, 77, 1);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, 77, 0);
	fake_pmem.hook = NULL;
	CT_EXPECT_TRUE(lock_was_free);
	CT_EXPECT_EQ(t->region.users, 0);
	expect_flushed(0, t->mem, 77);
}

CT_TEST_F(message_ring, other_messages_are_reported_as_ever)
{
	CT_EXPECT_EQ(receiver_post(t->d.w.ep, t->mem, 100, 1), 0);
	receiver_message(t, 77);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, 77, 0);
	CT_EXPECT_EQ(fake_pmem.flushes, 0);
	CT_EXPECT_EQ(t->d.control->sq.posted, 0);
	/* And they are counted: the next entry is of the second message. */
	receiver_durable(t, t->mem, 7, 2);
	expect_comp(t->d.w.cq, NUMBER(2), RECEIVER_MESSAGE, 7, 0);
	CT_EXPECT_EQ(receiver_answered(t, 1), 0);
}

CT_TEST_F(message_ring, pieces_of_a_receive_are_written_back_as_far_as_the_message_goes)
{
	static const struct {
		size_t piece[4];
		uint32_t len;
		size_t flushed[3];
	} rows[] = {
		{{10, 0, 20, 30}, 25, {10, 15}}, {{10, 0, 20, 30}, 31, {10, 20, 1}},
		{{0, 0, 0, 40}, 40, {40}},	 {{16, 16, 16, 16}, 16, {16}},
		{{0, 0, 0, 0}, 0, {0}},		 {{10, 20, 30, 40}, 0, {0}},
	};
	struct iovec iov[4];

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		unsigned int flushes = 0;

		CT_NOTE("row %zu", i);
		CT_ASSERT_TRUE(receiver_open(t, LEN));
		for (size_t k = 0; k < 4; k++)
			iov[k] = (struct iovec){t->mem + 64 * k, rows[i].piece[k]};
		CT_EXPECT_EQ(fi_recvv(t->d.w.ep, iov, NULL, 4, 0, NUMBER(1)), 0);
		receiver_announce(t, 0, 0, 0);
		receiver_message(t, rows[i].len);
		expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, rows[i].len, 0);
		CT_EXPECT_EQ(receiver_answered(t, 1), 0);
		for (size_t k = 0; k < 4 && rows[i].flushed[flushes]; k++) {
			if (rows[i].piece[k])
				expect_flushed(flushes, iov[k].iov_base,
					       rows[i].flushed[flushes]);
			flushes += rows[i].piece[k] != 0;
		}
		CT_EXPECT_EQ(fake_pmem.flushes, flushes);
		receiver_close(t);
	}
}

CT_TEST_F(message_ring, a_receive_without_any_buffer_takes_a_durable_message_of_nothing)
{
	receiver_durable(t, NULL, 0, 1);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, 0, 0);
	CT_EXPECT_EQ(receiver_answered(t, 1), 0);
	CT_EXPECT_EQ(fake_pmem.flushes, 0);
}

CT_TEST_F(message_ring, a_receive_in_other_memory_is_reported_and_the_peer_is_told)
{
	struct iovec iov[2] = {{t->mem, 16}, {t->plain, 16}};

	CT_EXPECT_EQ(receiver_post(t->d.w.ep, t->plain, 100, 1), 0);
	CT_EXPECT_EQ(fi_recvv(t->d.w.ep, iov, NULL, 2, 0, NUMBER(2)), 0);
	CT_EXPECT_EQ(receiver_post(t->d.w.ep, t->mem + 200, 100, 3), 0);
	CT_EXPECT_EQ(fi_recvv(t->d.w.ep, iov, NULL, 2, 0, NUMBER(4)), 0);
	receiver_announce(t, 0, 0, 0);
	receiver_message(t, 8);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, 8, 0);
	CT_EXPECT_EQ(receiver_answered(t, 1), FI_EOPNOTSUPP);
	receiver_announce(t, 0, 0, 0);
	receiver_message(t, 17); /* into the second piece */
	expect_comp(t->d.w.cq, NUMBER(2), RECEIVER_MESSAGE, 17, 0);
	CT_EXPECT_EQ(receiver_answered(t, 2), FI_EOPNOTSUPP);
	receiver_announce(t, 0, 0, 0);
	receiver_message(t, 57); /* beyond the end of the region */
	expect_comp(t->d.w.cq, NUMBER(3), RECEIVER_MESSAGE, 57, 0);
	CT_EXPECT_EQ(receiver_answered(t, 3), FI_EOPNOTSUPP);
	receiver_announce(t, 0, 0, 0);
	receiver_message(t, 16); /* not into the second piece */
	expect_comp(t->d.w.cq, NUMBER(4), RECEIVER_MESSAGE, 16, 0);
	CT_EXPECT_EQ(receiver_answered(t, 4), 0);
}

CT_TEST_F(message_ring,
	  what_a_write_with_data_wrote_is_written_back_where_peers_may_write)
{
	static const struct {
		uint64_t from, len;
		uint32_t rkey;
		uint16_t status;
	} rows[] = {
		{8, 100, RECEIVER_RKEY, 0},
		/* No adapter looks where nothing is written. */
		{256, 0, RECEIVER_RKEY, 0},
		{1ull << 40, 0, RECEIVER_RKEY + 1, 0},
		{255, 2, RECEIVER_RKEY, FI_EKEYREJECTED},
		{0, UINT64_MAX, RECEIVER_RKEY, FI_EKEYREJECTED},
		{0, 8, RECEIVER_RKEY + 1, FI_EKEYREJECTED},
		{0, PVB_FLUSH_LIMIT + 1, RECEIVER_RKEY, FI_EMSGSIZE},
	};
	const uint64_t len = LEN;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		t->region.len = rows[i].status == FI_EMSGSIZE ? 2 * PVB_FLUSH_LIMIT : len;
		fake_pmem = (struct fake_pmem){0};
		CT_EXPECT_EQ(receiver_post(t->d.w.ep, t->plain, 8, i), 0);
		receiver_announce(t, rows[i].from, rows[i].len, rows[i].rkey);
		receiver_written(t);
		expect_comp(t->d.w.cq, NUMBER(i), RECEIVER_WRITTEN, 8, 5);
		CT_EXPECT_EQ(receiver_answered(t, (uint32_t)i + 1), rows[i].status);
		CT_EXPECT_EQ(fake_pmem.flushes, !rows[i].status && rows[i].len);
		if (fake_pmem.flushes)
			expect_flushed(0, t->mem + rows[i].from, rows[i].len);
	}
}

/* A peer that writes what it likes into the ring. */
CT_TEST_F(message_ring, entries_that_are_not_of_this_message_say_nothing)
{
	static const struct {
		const char *what;
		struct pvb_wire_entry entry;
	} rows[] = {
		{"of the message before", {.message = 0, .number = 1}},
		{"of a later one", {.message = 2, .number = 1}},
		{"with a later number", {.message = 1, .number = 2}},
		{"that overwrote it", {.message = 1, .number = 1 + PVB_CONTROL_CREDITS}},
		{"without a number", {.message = 1, .number = 0}},
		{"garbage", {.message = 0xa5a5a5a5, .number = 0xa5a5a5a5}},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].what);
		CT_ASSERT_TRUE(receiver_open(t, LEN));
		receiver_put(t, &rows[i].entry);
		CT_EXPECT_EQ(receiver_post(t->d.w.ep, t->mem, 8, 1), 0);
		receiver_message(t, 8);
		expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, 8, 0);
		CT_EXPECT_EQ(t->d.control->sq.posted, 0);
		CT_EXPECT_FALSE(t->d.control_qp->lost);
		CT_EXPECT_EQ(t->d.control_qp->entries, 0);
		/* What was meant for the second is found there. */
		CT_EXPECT_EQ(receiver_post(t->d.w.ep, t->mem, 8, 2), 0);
		receiver_message(t, 8);
		expect_comp(t->d.w.cq, NUMBER(2), RECEIVER_MESSAGE, 8, 0);
		CT_EXPECT_EQ(t->d.control->sq.posted, rows[i].entry.message == 2);
		receiver_close(t);
	}
}

CT_TEST_F(message_ring, a_ring_full_of_garbage_is_an_error_of_nobody_else)
{
	memset(t->d.control_qp->area->ring, 0xff, sizeof(t->d.control_qp->area->ring));
	for (uintptr_t i = 0; i < 2 * PVB_CONTROL_CREDITS; i++) {
		CT_EXPECT_EQ(receiver_post(t->d.w.ep, t->mem, 8, i), 0);
		receiver_message(t, 8);
		expect_comp(t->d.w.cq, NUMBER(i), RECEIVER_MESSAGE, 8, 0);
	}
	CT_EXPECT_EQ(t->d.control->sq.posted, 0);
	receiver_announce(t, 0, 0, 0);
	CT_EXPECT_EQ(receiver_post(t->d.w.ep, t->mem, 8, 99), 0);
	receiver_message(t, 8);
	expect_comp(t->d.w.cq, NUMBER(99), RECEIVER_MESSAGE, 8, 0);
	CT_EXPECT_EQ(receiver_answered(t, 1), 0);
}

/* The peer's next durable message. */
static void next_message(struct receiver *t, uintptr_t number)
{
	receiver_durable(t, t->mem, 8, number);
	expect_comp(t->d.w.cq, NUMBER(number), RECEIVER_MESSAGE, 8, 0);
}

CT_TEST_F(message_ring, more_entries_than_agreed_on_cost_the_control_qp)
{
	for (uintptr_t i = 0; i <= PVB_CONTROL_MESSAGES + PVB_CONTROL_CREDITS; i++) {
		CT_EXPECT_FALSE(t->d.control_qp->lost);
		next_message(t, i);
	}
	CT_EXPECT_TRUE(t->d.control_qp->lost);
	CT_EXPECT_EQ(t->d.control->sq.posted, PVB_CONTROL_MESSAGES);
	/* Messages go on. */
	next_message(t, 1);
}

/* The device says late that the peer has the older ones; the peer has used them. */
CT_TEST_F(message_ring, answers_without_a_place_are_sent_in_order_when_there_is_one)
{
	const uint32_t last = PVB_CONTROL_MESSAGES + 3;
	struct pvb_wire_message answer;

	for (uint32_t i = 1; i <= last; i++)
		next_message(t, i);
	CT_EXPECT_FALSE(t->d.control_qp->lost);
	CT_EXPECT_EQ(t->d.control->sq.posted, PVB_CONTROL_MESSAGES);
	fake_complete_all(t->d.control);
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(t->d.control->sq.posted, last);
	for (uint32_t i = PVB_CONTROL_MESSAGES; i < last; i++) {
		answer = durable_sent(&t->d, i);
		CT_EXPECT_EQ(answer.kind, PVB_WIRE_RING_ANSWER);
		CT_EXPECT_EQ(answer.number, i + 1);
	}
	/* None overtakes them. */
	next_message(t, last + 1);
	CT_EXPECT_EQ(receiver_answered(t, last + 1), 0);
}

CT_TEST_F(message_ring, numbers_go_round)
{
	t->messages = t->d.control_qp->messages = t->d.control_qp->arrived =
		UINT32_MAX - 2;
	t->entries = t->d.control_qp->entries = UINT32_MAX - 1;
	for (uintptr_t i = 0; i < 4; i++) {
		receiver_durable(t, t->mem, 8, i);
		expect_comp(t->d.w.cq, NUMBER(i), RECEIVER_MESSAGE, 8, 0);
		CT_EXPECT_EQ(receiver_answered(t, t->entries), 0);
	}
	CT_EXPECT_EQ(t->entries, 2);
}

/* The initiator's side of it: what was never sent is not counted. */
CT_TEST_F(message_ring, messages_that_the_device_refused_are_not_counted)
{
	CT_EXPECT_EQ(send_number(t->d.w.ep, 1), 0);
	CT_EXPECT_EQ(t->d.qp->commit->messages, 1);
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(send_number(t->d.w.ep, 2), -FI_EAGAIN);
	CT_EXPECT_EQ(t->d.qp->commit->messages, 1);
	/* Three held back, of which the device takes one. */
	for (uintptr_t i = 3; i <= 5; i++)
		CT_EXPECT_EQ(send_more(t->d.w.ep, i), 0);
	CT_EXPECT_EQ(plain_write(&t->d, 6, 0, 8, KEY_REQUESTS, FI_MORE), 0);
	fake_fail(FAKE_POST_SEND, 2, ENOMEM);
	CT_EXPECT_EQ(send_number(t->d.w.ep, 7), -FI_EAGAIN);
	CT_EXPECT_EQ(t->d.qp->commit->messages, 2);
	CT_EXPECT_EQ(send_number(t->d.w.ep, 8), 0);
	CT_EXPECT_EQ(t->d.qp->commit->messages, 3);
}

CT_TEST_F(message_ring, a_shared_receive_is_written_back_too)
{
	struct iovec iov[2] = {{t->mem, 16}, {t->mem + 64, 16}};

	CT_ASSERT_TRUE(receiver_open_shared(t, LEN));
	CT_EXPECT_EQ(receiver_post(t->srx, t->mem + 128, 100, 1), 0);
	CT_EXPECT_EQ(fi_recvv(t->srx, iov, NULL, 2, 0, NUMBER(2)), 0);
	CT_EXPECT_EQ(receiver_post(t->srx, t->plain, 100, 3), 0);
	receiver_announce(t, 0, 0, 0);
	receiver_message(t, 50);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, 50, 0);
	CT_EXPECT_EQ(receiver_answered(t, 1), 0);
	expect_flushed(0, t->mem + 128, 50);
	receiver_announce(t, 0, 0, 0);
	receiver_message(t, 20);
	expect_comp(t->d.w.cq, NUMBER(2), RECEIVER_MESSAGE, 20, 0);
	CT_EXPECT_EQ(receiver_answered(t, 2), 0);
	expect_flushed(1, t->mem, 16);
	expect_flushed(2, t->mem + 64, 4);
	receiver_announce(t, 0, 0, 0);
	receiver_message(t, 20);
	expect_comp(t->d.w.cq, NUMBER(3), RECEIVER_MESSAGE, 20, 0);
	CT_EXPECT_EQ(receiver_answered(t, 3), FI_EOPNOTSUPP);
}

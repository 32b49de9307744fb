/* SPDX-License-Identifier: BSD-2-Clause */
/* What peers ask for is done in pieces, in turn, and nobody else waits for it. */
#include <poll.h>
#include <pthread.h>
#include "../fake_pmem.h"
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"
#include "receiver.h"

#define BIG (3 * (uint64_t)PVB_PIECE + 64)

static void send_request(struct receiver *t, struct durable *d, uint32_t number,
			 uint64_t len)
{
	const struct pvb_wire_message message = {
		.kind = PVB_WIRE_REQUEST,
		.number = number,
		.fence = number,
		.ranges = 1,
		.range = {{(uintptr_t)t->mem, len, 9}},
	};

	durable_message(d, &message);
}

static void set_up(struct receiver *t)
{
	CT_ASSERT_TRUE(receiver_open(t, BIG));
}

CT_FIXTURE(respond_turns, struct receiver, set_up, receiver_close);

CT_TEST_F(respond_turns, one_look_at_a_queue_flushes_no_more_than_a_piece)
{
	send_request(t, &t->d, 1, BIG);
	for (uint64_t done = 0; done < BIG; done += PVB_PIECE) {
		CT_EXPECT_EQ(durable_answers(&t->d), 0);
		expect_no_comp(t->d.w.cq);
		CT_EXPECT_EQ(fake_pmem.flushes, done / PVB_PIECE + 1);
		CT_EXPECT_EQ(fake_pmem.undrained, 0);
		CT_EXPECT_EQ(fake_pmem.flush[done / PVB_PIECE].addr, t->mem + done);
		CT_EXPECT_EQ(fake_pmem.flush[done / PVB_PIECE].len,
			     CRN_MIN(BIG - done, (uint64_t)PVB_PIECE));
	}
	CT_EXPECT_EQ(durable_answers(&t->d), 1);
	CT_EXPECT_EQ(durable_sent(&t->d, 0).status, 0);
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(fake_pmem.flushes, 4);
}

CT_TEST_F(respond_turns, pieces_cross_the_borders_of_ranges)
{
	const uint64_t half = PVB_PIECE / 2;
	const struct pvb_wire_message message = {
		.kind = PVB_WIRE_REQUEST,
		.number = 1,
		.fence = 1,
		.ranges = 4,
		.range = {{(uintptr_t)t->mem, half, 9},
			  {(uintptr_t)t->mem + half, PVB_PIECE, 9},
			  {(uintptr_t)t->mem, 0, 9},
			  {(uintptr_t)t->mem + PVB_PIECE, half, 9}},
	};
	const struct fake_pmem_flush expected[] = {
		{t->mem, half}, {t->mem + half, half},	    {t->mem + PVB_PIECE, half},
		{t->mem, 0},	{t->mem + PVB_PIECE, half},
	};

	durable_message(&t->d, &message);
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(fake_pmem.flushes, 2);
	CT_EXPECT_EQ(durable_answers(&t->d), 0);
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(durable_answers(&t->d), 1);
	CT_ASSERT_EQ(fake_pmem.flushes, CRN_COUNT(expected));
	for (size_t i = 0; i < CRN_COUNT(expected); i++) {
		CT_EXPECT_EQ(fake_pmem.flush[i].addr, expected[i].addr);
		CT_EXPECT_EQ(fake_pmem.flush[i].len, expected[i].len);
	}
}

CT_TEST_F(respond_turns, nothing_is_flushed_for_a_request_that_cannot_be_done)
{
	const struct pvb_wire_message message = {
		.kind = PVB_WIRE_REQUEST,
		.number = 1,
		.fence = 1,
		.ranges = 1,
		.range = {{(uintptr_t)t->mem, BIG, 9}},
		.copy = 1,
		.to = {(uintptr_t)t->mem + BIG, 1, 9},
		.bytes = (const uint8_t *)"x",
	};

	durable_message(&t->d, &message);
	expect_no_comp(t->d.w.cq);
	CT_ASSERT_EQ(durable_answers(&t->d), 1);
	CT_EXPECT_EQ(durable_sent(&t->d, 0).status, FI_EKEYREJECTED);
	CT_EXPECT_EQ(fake_pmem.flushes, 0);
}

CT_TEST_F(respond_turns, connections_take_turns)
{
	struct durable other = t->d;

	CT_ASSERT_TRUE(world_add_ep(&other.w, NULL, &other.w.ep));
	CT_ASSERT_TRUE(durable_connect(&other));
	send_request(t, &t->d, 1, BIG);
	send_request(t, &t->d, 2, BIG);
	expect_no_comp(t->d.w.cq);
	/* It waits for one piece, not for what the other has asked for. */
	send_request(t, &other, 1, 8);
	expect_no_comp(t->d.w.cq);
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(durable_answers(&other), 1);
	CT_EXPECT_EQ(durable_answers(&t->d), 0);
	CT_EXPECT_EQ(fi_close(&other.w.ep->fid), 0);
}

CT_TEST_F(respond_turns, requests_of_a_connection_keep_their_order)
{
	send_request(t, &t->d, 1, BIG);
	send_request(t, &t->d, 2, 8);
	while (!durable_answers(&t->d))
		expect_no_comp(t->d.w.cq);
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(durable_answers(&t->d), 2);
	CT_EXPECT_EQ(durable_sent(&t->d, 0).number, 1);
	CT_EXPECT_EQ(durable_sent(&t->d, 1).number, 2);
}

CT_TEST_F(respond_turns, a_region_closed_between_pieces_is_refused)
{
	send_request(t, &t->d, 1, BIG);
	expect_no_comp(t->d.w.cq);
	receiver_hide(t);
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	CT_ASSERT_EQ(durable_answers(&t->d), 1);
	CT_EXPECT_EQ(durable_sent(&t->d, 0).status, FI_EKEYREJECTED);
}

CT_TEST_F(respond_turns, a_connection_lost_between_pieces_costs_no_more)
{
	send_request(t, &t->d, 1, BIG);
	expect_no_comp(t->d.w.cq);
	pvb_control_qp_lose(t->d.control_qp, "the test says so");
	expect_no_comp(t->d.w.cq);
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	CT_EXPECT_EQ(t->d.control_qp->inbox_state, PVB_INBOX_EMPTY);
}

/* Whoever waits for a completion queue does the rest: nothing else would wake it. */
CT_TEST_F(respond_turns, who_waits_is_woken_while_something_is_left)
{
	struct pollfd fd = {.events = POLLIN};

	fd.fd = t->control->cq->wait.epfd;
	send_request(t, &t->d, 1, 2 * (uint64_t)PVB_PIECE);
	CT_EXPECT_EQ(pvb_control_arm(t->control), 0);
	CT_EXPECT_EQ(durable_answers(&t->d), 0);
	CT_EXPECT_EQ(poll(&fd, 1, 0), 1);
	CT_EXPECT_EQ(pvb_control_arm(t->control), 0);
	CT_EXPECT_EQ(durable_answers(&t->d), 1);
	CT_EXPECT_EQ(pvb_control_arm(t->control), 0);
	CT_EXPECT_EQ(poll(&fd, 1, 0), 0);
}

static pthread_mutex_t *lock;
static bool free_lock; /* as a flush began */

static void look_at_lock(void)
{
	free_lock = !pthread_mutex_trylock(lock);
	if (free_lock)
		pthread_mutex_unlock(lock);
}

CT_TEST_F(respond_turns, no_lock_is_held_while_memory_is_flushed)
{
	lock = &t->control->lock;
	fake_pmem.hook = look_at_lock;
	send_request(t, &t->d, 1, 8);
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_TRUE(free_lock);
	CT_EXPECT_EQ(durable_answers(&t->d), 1);
}

static pthread_t thread;

static void *progress_thread(void *arg)
{
	struct receiver *t = arg;

	pvb_control_progress(t->control);
	return NULL;
}

/* Another thread is in the middle of a piece. */
static bool begin_piece(struct receiver *t)
{
	fake_pmem_hold();
	send_request(t, &t->d, 1, BIG);
	CT_EXPECT_EQ(pthread_create(&thread, NULL, progress_thread, t), 0);
	CT_EXPECT_SOON(fake_pmem_waits());
	return !ct_failed();
}

static void *close_region(void *arg)
{
	struct receiver *t = arg;

	receiver_hide(t);
	return NULL;
}

CT_TEST_F(respond_turns, a_region_is_closed_once_the_piece_has_ended)
{
	pthread_t closer;
	unsigned int before;

	CT_ASSERT_TRUE(begin_piece(t));
	before = ct_waiting();
	CT_EXPECT_EQ(pthread_create(&closer, NULL, close_region, t), 0);
	CT_EXPECT_SOON(ct_waiting() == before + 1);
	fake_pmem_go_on();
	pthread_join(closer, NULL);
	pthread_join(thread, NULL);
	fake_pmem.hook = NULL;
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	CT_ASSERT_EQ(durable_answers(&t->d), 1);
	CT_EXPECT_EQ(durable_sent(&t->d, 0).status, FI_EKEYREJECTED);
}

/* Also the one that bytes are copied to. */
CT_TEST_F(respond_turns, a_region_is_closed_once_bytes_are_stored_in_it)
{
	static _Alignas(64) uint8_t word[64];
	struct pvb_pmem_region other = {.addr = (uintptr_t)word,
					.len = sizeof(word),
					.rkey = 10,
					.write = true,
					.flush = true};
	const struct pvb_wire_message message = {
		.kind = PVB_WIRE_REQUEST,
		.number = 1,
		.fence = 1,
		.ranges = 1,
		.range = {{(uintptr_t)t->mem, 8, 9}},
		.copy = 1,
		.to = {(uintptr_t)word, 1, 10},
		.bytes = (const uint8_t *)"x",
	};

	CT_EXPECT_EQ(pvb_pmem_region_add(t->control, &other), 0);
	fake_pmem_hold();
	durable_message(&t->d, &message);
	CT_EXPECT_EQ(pthread_create(&thread, NULL, progress_thread, t), 0);
	CT_EXPECT_SOON(fake_pmem_waits());
	CT_EXPECT_EQ(other.users, 1);
	CT_EXPECT_EQ(t->region.users, 1);
	fake_pmem_go_on();
	pthread_join(thread, NULL);
	CT_EXPECT_EQ(other.users, 0);
	CT_EXPECT_EQ(t->region.users, 0);
	CT_EXPECT_EQ(word[0], 'x');
	pvb_pmem_region_del(t->control, &other);
}

CT_TEST_F(respond_turns, a_connection_is_closed_once_the_piece_has_ended)
{
	pthread_t closer;
	unsigned int before;

	CT_ASSERT_TRUE(begin_piece(t));
	before = ct_waiting();
	CT_EXPECT_EQ(pthread_create(&closer, NULL, receiver_close_connection, t), 0);
	CT_EXPECT_SOON(ct_waiting() == before + 1);
	fake_pmem_go_on();
	pthread_join(closer, NULL);
	pthread_join(thread, NULL);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
}

CT_TEST_F(respond_turns, others_read_and_arm_meanwhile)
{
	CT_ASSERT_TRUE(begin_piece(t));
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(pvb_control_arm(t->control), 0);
	CT_EXPECT_TRUE(fake_pmem_waits());
	fake_pmem_go_on();
	pthread_join(thread, NULL);
}

/* With a thread, nobody has to look: it goes on until all is done. */
CT_TEST_F(respond_turns, the_thread_goes_on_until_all_is_done)
{
	receiver_progress(t, FI_PROGRESS_AUTO);
	send_request(t, &t->d, 1, BIG);
	CT_EXPECT_SOON(atomic_load(&t->d.control_qp->sends) == 1);
	CT_EXPECT_EQ(durable_sent(&t->d, 0).status, 0);
}

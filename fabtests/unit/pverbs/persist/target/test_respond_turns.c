/* SPDX-License-Identifier: BSD-2-Clause */
/* What peers ask for is done in pieces, in turn, and nobody else waits for it. */
#include <poll.h>
#include <pthread.h>
#include "../durable.h"
#include "../fake_pmem.h"
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"

#define BIG (3 * (uint64_t)PVB_PIECE + 64)

static struct {
	struct durable d, other; /* two connections of one domain */
	_Alignas(64) uint8_t mem[BIG];
	struct pvb_pmem_region region;
	struct pvb_control *control;
	pthread_t thread;
	bool free_lock; /* as a flush began */
} at;

/* One connection, whose peer may write to memory of rkey 9. */
static bool open_target(void)
{
	memset(&at, 0, sizeof(at));
	fake_pmem = (struct fake_pmem){0};
	if (!durable_open(&at.d, NULL))
		return false;
	at.control = at.d.control_qp->control;
	at.region = (struct pvb_pmem_region){
		.addr = (uintptr_t)at.mem,
		.len = sizeof(at.mem),
		.rkey = 9,
		.write = true,
		.flush = true,
	};
	at.control->domain->info->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	CT_EXPECT_EQ(pvb_pmem_region_add(at.control, &at.region), 0);
	return !ct_failed();
}

static bool open_two(void)
{
	if (!open_target())
		return false;
	at.other = at.d;
	if (!world_add_ep(&at.other.w, NULL, &at.other.w.ep))
		return false;
	return durable_connect(&at.other);
}

static void close_target(void)
{
	fake_pmem.hook = NULL;
	if (at.other.w.ep)
		CT_EXPECT_EQ(fi_close(&at.other.w.ep->fid), 0);
	pvb_pmem_region_del(at.control, &at.region);
	durable_close(&at.d);
}

static void send_request(struct durable *d, uint32_t number, uint64_t len)
{
	const struct pvb_wire_message message = {
		.kind = PVB_WIRE_REQUEST,
		.number = number,
		.fence = number,
		.ranges = 1,
		.range = {{(uintptr_t)at.mem, len, 9}},
	};

	durable_message(d, &message);
}

static unsigned int answers(const struct durable *d)
{
	return d->control->sq.posted;
}

CT_TEST(respond_turns, one_look_at_a_queue_flushes_no_more_than_a_piece)
{
	CT_ASSERT_TRUE(open_target());
	send_request(&at.d, 1, BIG);
	for (uint64_t done = 0; done < BIG; done += PVB_PIECE) {
		CT_EXPECT_EQ(answers(&at.d), 0);
		expect_no_comp(at.d.w.cq);
		CT_EXPECT_EQ(fake_pmem.flushes, done / PVB_PIECE + 1);
		CT_EXPECT_EQ(fake_pmem.undrained, 0);
		CT_EXPECT_EQ(fake_pmem.flush[done / PVB_PIECE].addr, at.mem + done);
		CT_EXPECT_EQ(fake_pmem.flush[done / PVB_PIECE].len,
			     CRN_MIN(BIG - done, (uint64_t)PVB_PIECE));
	}
	CT_EXPECT_EQ(answers(&at.d), 1);
	CT_EXPECT_EQ(durable_sent(&at.d, 0).status, 0);
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(fake_pmem.flushes, 4);
	close_target();
}

CT_TEST(respond_turns, pieces_cross_the_borders_of_ranges)
{
	const uint64_t half = PVB_PIECE / 2;
	const struct pvb_wire_message message = {
		.kind = PVB_WIRE_REQUEST,
		.number = 1,
		.fence = 1,
		.ranges = 4,
		.range = {{(uintptr_t)at.mem, half, 9},
			  {(uintptr_t)at.mem + half, PVB_PIECE, 9},
			  {(uintptr_t)at.mem, 0, 9},
			  {(uintptr_t)at.mem + PVB_PIECE, half, 9}},
	};
	const struct fake_pmem_flush expected[] = {
		{at.mem, half}, {at.mem + half, half},	    {at.mem + PVB_PIECE, half},
		{at.mem, 0},	{at.mem + PVB_PIECE, half},
	};

	CT_ASSERT_TRUE(open_target());
	durable_message(&at.d, &message);
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(fake_pmem.flushes, 2);
	CT_EXPECT_EQ(answers(&at.d), 0);
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(answers(&at.d), 1);
	CT_ASSERT_EQ(fake_pmem.flushes, CRN_COUNT(expected));
	for (size_t i = 0; i < CRN_COUNT(expected); i++) {
		CT_EXPECT_EQ(fake_pmem.flush[i].addr, expected[i].addr);
		CT_EXPECT_EQ(fake_pmem.flush[i].len, expected[i].len);
	}
	close_target();
}

CT_TEST(respond_turns, nothing_is_flushed_for_a_request_that_cannot_be_done)
{
	const struct pvb_wire_message message = {
		.kind = PVB_WIRE_REQUEST,
		.number = 1,
		.fence = 1,
		.ranges = 1,
		.range = {{(uintptr_t)at.mem, BIG, 9}},
		.copy = 1,
		.to = {(uintptr_t)at.mem + BIG, 1, 9},
		.bytes = (const uint8_t *)"x",
	};

	CT_ASSERT_TRUE(open_target());
	durable_message(&at.d, &message);
	expect_no_comp(at.d.w.cq);
	CT_ASSERT_EQ(answers(&at.d), 1);
	CT_EXPECT_EQ(durable_sent(&at.d, 0).status, FI_EKEYREJECTED);
	CT_EXPECT_EQ(fake_pmem.flushes, 0);
	close_target();
}

CT_TEST(respond_turns, connections_take_turns)
{
	CT_ASSERT_TRUE(open_two());
	send_request(&at.d, 1, BIG);
	send_request(&at.d, 2, BIG);
	expect_no_comp(at.d.w.cq);
	/* It waits for one piece, not for what the other has asked for. */
	send_request(&at.other, 1, 8);
	expect_no_comp(at.d.w.cq);
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(answers(&at.other), 1);
	CT_EXPECT_EQ(answers(&at.d), 0);
	close_target();
}

CT_TEST(respond_turns, requests_of_a_connection_keep_their_order)
{
	CT_ASSERT_TRUE(open_target());
	send_request(&at.d, 1, BIG);
	send_request(&at.d, 2, 8);
	while (!answers(&at.d))
		expect_no_comp(at.d.w.cq);
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(answers(&at.d), 2);
	CT_EXPECT_EQ(durable_sent(&at.d, 0).number, 1);
	CT_EXPECT_EQ(durable_sent(&at.d, 1).number, 2);
	close_target();
}

CT_TEST(respond_turns, a_region_closed_between_pieces_is_refused)
{
	CT_ASSERT_TRUE(open_target());
	send_request(&at.d, 1, BIG);
	expect_no_comp(at.d.w.cq);
	pvb_pmem_region_del(at.control, &at.region);
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	CT_ASSERT_EQ(answers(&at.d), 1);
	CT_EXPECT_EQ(durable_sent(&at.d, 0).status, FI_EKEYREJECTED);
	durable_close(&at.d);
}

CT_TEST(respond_turns, a_connection_lost_between_pieces_costs_no_more)
{
	CT_ASSERT_TRUE(open_target());
	send_request(&at.d, 1, BIG);
	expect_no_comp(at.d.w.cq);
	pvb_control_qp_lose(at.d.control_qp, "the test says so");
	expect_no_comp(at.d.w.cq);
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	CT_EXPECT_EQ(at.d.control_qp->inbox_state, PVB_INBOX_EMPTY);
	close_target();
}

/* Whoever waits for a completion queue does the rest: nothing else would wake it. */
CT_TEST(respond_turns, who_waits_is_woken_while_something_is_left)
{
	struct pollfd fd = {.events = POLLIN};

	CT_ASSERT_TRUE(open_target());
	fd.fd = at.control->cq->wait.epfd;
	send_request(&at.d, 1, 2 * (uint64_t)PVB_PIECE);
	CT_EXPECT_EQ(pvb_control_arm(at.control), 0);
	CT_EXPECT_EQ(answers(&at.d), 0);
	CT_EXPECT_EQ(poll(&fd, 1, 0), 1);
	CT_EXPECT_EQ(pvb_control_arm(at.control), 0);
	CT_EXPECT_EQ(answers(&at.d), 1);
	CT_EXPECT_EQ(pvb_control_arm(at.control), 0);
	CT_EXPECT_EQ(poll(&fd, 1, 0), 0);
	close_target();
}

static void look_at_lock(void)
{
	at.free_lock = !pthread_mutex_trylock(&at.control->lock);
	if (at.free_lock)
		pthread_mutex_unlock(&at.control->lock);
}

CT_TEST(respond_turns, no_lock_is_held_while_memory_is_flushed)
{
	CT_ASSERT_TRUE(open_target());
	fake_pmem.hook = look_at_lock;
	send_request(&at.d, 1, 8);
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_TRUE(at.free_lock);
	CT_EXPECT_EQ(answers(&at.d), 1);
	close_target();
}

static void *progress_thread(void *arg)
{
	pvb_control_progress(at.control);
	return NULL;
}

/* Another thread is in the middle of a piece. */
static bool begin_piece(void)
{
	if (!open_target())
		return false;
	fake_pmem_hold();
	send_request(&at.d, 1, BIG);
	CT_EXPECT_EQ(pthread_create(&at.thread, NULL, progress_thread, NULL), 0);
	CT_EXPECT_SOON(fake_pmem_waits());
	return !ct_failed();
}

static void *close_region(void *arg)
{
	pvb_pmem_region_del(at.control, &at.region);
	return NULL;
}

CT_TEST(respond_turns, a_region_is_closed_once_the_piece_has_ended)
{
	pthread_t closer;
	unsigned int before;

	CT_ASSERT_TRUE(begin_piece());
	before = ct_waiting();
	CT_EXPECT_EQ(pthread_create(&closer, NULL, close_region, NULL), 0);
	CT_EXPECT_SOON(ct_waiting() == before + 1);
	fake_pmem_go_on();
	pthread_join(closer, NULL);
	pthread_join(at.thread, NULL);
	fake_pmem.hook = NULL;
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	CT_ASSERT_EQ(answers(&at.d), 1);
	CT_EXPECT_EQ(durable_sent(&at.d, 0).status, FI_EKEYREJECTED);
	durable_close(&at.d);
}

/* Also the one that bytes are copied to. */
CT_TEST(respond_turns, a_region_is_closed_once_bytes_are_stored_in_it)
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
		.range = {{(uintptr_t)at.mem, 8, 9}},
		.copy = 1,
		.to = {(uintptr_t)word, 1, 10},
		.bytes = (const uint8_t *)"x",
	};

	CT_ASSERT_TRUE(open_target());
	CT_EXPECT_EQ(pvb_pmem_region_add(at.control, &other), 0);
	fake_pmem_hold();
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(pthread_create(&at.thread, NULL, progress_thread, NULL), 0);
	CT_EXPECT_SOON(fake_pmem_waits());
	CT_EXPECT_EQ(other.users, 1);
	CT_EXPECT_EQ(at.region.users, 1);
	fake_pmem_go_on();
	pthread_join(at.thread, NULL);
	CT_EXPECT_EQ(other.users, 0);
	CT_EXPECT_EQ(at.region.users, 0);
	CT_EXPECT_EQ(word[0], 'x');
	pvb_pmem_region_del(at.control, &other);
	close_target();
}

static void *close_connection(void *arg)
{
	world_close_ep(&at.d.w);
	return NULL;
}

CT_TEST(respond_turns, a_connection_is_closed_once_the_piece_has_ended)
{
	pthread_t closer;
	unsigned int before;

	CT_ASSERT_TRUE(begin_piece());
	before = ct_waiting();
	CT_EXPECT_EQ(pthread_create(&closer, NULL, close_connection, NULL), 0);
	CT_EXPECT_SOON(ct_waiting() == before + 1);
	fake_pmem_go_on();
	pthread_join(closer, NULL);
	pthread_join(at.thread, NULL);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	close_target();
}

CT_TEST(respond_turns, others_read_and_arm_meanwhile)
{
	CT_ASSERT_TRUE(begin_piece());
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(pvb_control_arm(at.control), 0);
	CT_EXPECT_TRUE(fake_pmem_waits());
	fake_pmem_go_on();
	pthread_join(at.thread, NULL);
	close_target();
}

/* With a thread, nobody has to look: it goes on until all is done. */
CT_TEST(respond_turns, the_thread_goes_on_until_all_is_done)
{
	CT_ASSERT_TRUE(open_target());
	pvb_pmem_region_del(at.control, &at.region);
	at.control->domain->info->domain_attr->data_progress = FI_PROGRESS_AUTO;
	CT_EXPECT_EQ(pvb_pmem_region_add(at.control, &at.region), 0);
	send_request(&at.d, 1, BIG);
	CT_EXPECT_SOON(atomic_load(&at.d.control_qp->sends) == 1);
	CT_EXPECT_EQ(durable_sent(&at.d, 0).status, 0);
	close_target();
}

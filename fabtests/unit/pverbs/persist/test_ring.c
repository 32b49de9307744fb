/* SPDX-License-Identifier: BSD-2-Clause */
/* Durable messages at their target: what is written back before the program hears of
 * them, and what the peer is told. */
#include <errno.h>
#include "durable.h"
#include "fake_pmem.h"

#define MESSAGE (FI_RECV | FI_MSG)
#define WRITTEN (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA)
#define RKEY 9u

static struct {
	struct durable d;
	_Alignas(64) uint8_t mem[256]; /* persistent */
	uint8_t plain[256];	       /* not */
	struct pvb_target target;
	uint32_t messages, entries; /* of the peer's */
} at;

static bool expose(void)
{
	struct pvb_control *control = at.d.lane->control;

	at.messages = at.entries = 0;
	fake_pmem = (struct fake_pmem){0};
	at.target = (struct pvb_target){
		.addr = (uintptr_t)at.mem,
		.len = sizeof(at.mem),
		.rkey = RKEY,
		.write = true,
		.flush = true,
	};
	control->domain->info->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	CT_EXPECT_EQ(pvb_target_add(control, &at.target), 0);
	return !ct_failed();
}

static bool open_target(void)
{
	return durable_open(&at.d, NULL) && expose();
}

static void close_target(void)
{
	pvb_target_del(at.d.lane->control, &at.target);
	durable_close(&at.d);
}

/* The peer writes this entry where its number belongs. */
static void put(const struct pvb_wire_entry *entry)
{
	pvb_wire_pack_entry(at.d.lane->area->ring[entry->number % PVB_LANE_CREDITS],
			    entry);
}

/* The peer's next message is a durable one. */
static void announce(uint64_t from, uint64_t len, uint32_t rkey)
{
	const struct pvb_wire_entry entry = {
		.message = at.messages + 1,
		.number = ++at.entries,
		.range = {(uintptr_t)at.mem + from, len, rkey},
	};

	put(&entry);
}

static ssize_t receive(struct fid_ep *ep, void *buf, size_t len, uintptr_t number)
{
	return fi_recv(ep, buf, len, NULL, 0, NUMBER(number));
}

/* A message of len bytes. */
static void arrives(uint32_t len)
{
	at.messages++;
	fake_receive(at.d.w.qp, IBV_WC_RECV, len, NULL);
}

/* A write with data. */
static void written(void)
{
	static const uint32_t data = 5;

	at.messages++;
	fake_receive(at.d.w.qp, IBV_WC_RECV_RDMA_WITH_IMM, 8, &data);
}

/* The newest answer: the one to the entry of that number. */
static uint16_t answered(uint32_t number)
{
	struct pvb_wire_message answer;

	CT_EXPECT_NE(at.d.control->sq.posted, 0);
	if (!at.d.control->sq.posted)
		return UINT16_MAX;
	answer = durable_sent(&at.d, at.d.control->sq.posted - 1);
	CT_EXPECT_EQ(answer.kind, PVB_WIRE_RING_ANSWER);
	CT_EXPECT_EQ(answer.number, number);
	CT_EXPECT_FALSE(at.d.lane->lost);
	fake_complete_all(at.d.control);
	return answer.status;
}

static void expect_flushed(unsigned int nth, const void *addr, size_t len)
{
	CT_EXPECT_LT(nth, fake_pmem.flushes);
	CT_EXPECT_EQ(fake_pmem.flush[nth].addr, addr);
	CT_EXPECT_EQ(fake_pmem.flush[nth].len, len);
	CT_EXPECT_EQ(fake_pmem.undrained, 0);
}

CT_TEST(ring, a_durable_message_is_written_back_before_it_is_reported_and_answered)
{
	CT_ASSERT_TRUE(open_target());
	CT_EXPECT_EQ(receive(at.d.w.ep, at.mem, 100, 1), 0);
	announce(0, 0, 0);
	arrives(77);
	CT_EXPECT_EQ(fake_pmem.flushes, 0);
	expect_comp(at.d.w.cq, NUMBER(1), MESSAGE, 77, 0);
	expect_flushed(0, at.mem, 77);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	CT_EXPECT_EQ(answered(1), 0);
	close_target();
}

static bool lock_was_free;

static void look_at_lock(void)
{
	pthread_mutex_t *lock = &at.d.lane->control->lock;

	lock_was_free = !pthread_mutex_trylock(lock);
	if (lock_was_free)
		pthread_mutex_unlock(lock);
}

/* Who waits for other queues, or registers memory, does not wait for it. */
CT_TEST(ring, a_durable_message_is_written_back_without_the_lock)
{
	CT_ASSERT_TRUE(open_target());
	fake_pmem.hook = look_at_lock;
	CT_EXPECT_EQ(receive(at.d.w.ep, at.mem, 100, 1), 0);
	announce(0, 0, 0);
	arrives(77);
	expect_comp(at.d.w.cq, NUMBER(1), MESSAGE, 77, 0);
	fake_pmem.hook = NULL;
	CT_EXPECT_TRUE(lock_was_free);
	CT_EXPECT_EQ(at.target.users, 0);
	expect_flushed(0, at.mem, 77);
	close_target();
}

CT_TEST(ring, other_messages_are_reported_as_ever)
{
	CT_ASSERT_TRUE(open_target());
	CT_EXPECT_EQ(receive(at.d.w.ep, at.mem, 100, 1), 0);
	arrives(77);
	expect_comp(at.d.w.cq, NUMBER(1), MESSAGE, 77, 0);
	CT_EXPECT_EQ(fake_pmem.flushes, 0);
	CT_EXPECT_EQ(at.d.control->sq.posted, 0);
	/* And they are counted: the next entry is of the second message. */
	CT_EXPECT_EQ(receive(at.d.w.ep, at.mem, 100, 2), 0);
	announce(0, 0, 0);
	arrives(7);
	expect_comp(at.d.w.cq, NUMBER(2), MESSAGE, 7, 0);
	CT_EXPECT_EQ(answered(1), 0);
	close_target();
}

CT_TEST(ring, pieces_of_a_receive_are_written_back_as_far_as_the_message_goes)
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
		CT_ASSERT_TRUE(open_target());
		for (size_t k = 0; k < 4; k++)
			iov[k] = (struct iovec){at.mem + 64 * k, rows[i].piece[k]};
		CT_EXPECT_EQ(fi_recvv(at.d.w.ep, iov, NULL, 4, 0, NUMBER(1)), 0);
		announce(0, 0, 0);
		arrives(rows[i].len);
		expect_comp(at.d.w.cq, NUMBER(1), MESSAGE, rows[i].len, 0);
		CT_EXPECT_EQ(answered(1), 0);
		for (size_t k = 0; k < 4 && rows[i].flushed[flushes]; k++) {
			if (rows[i].piece[k])
				expect_flushed(flushes, iov[k].iov_base,
					       rows[i].flushed[flushes]);
			flushes += rows[i].piece[k] != 0;
		}
		CT_EXPECT_EQ(fake_pmem.flushes, flushes);
		close_target();
	}
}

CT_TEST(ring, a_receive_without_any_buffer_takes_a_durable_message_of_nothing)
{
	CT_ASSERT_TRUE(open_target());
	CT_EXPECT_EQ(receive(at.d.w.ep, NULL, 0, 1), 0);
	announce(0, 0, 0);
	arrives(0);
	expect_comp(at.d.w.cq, NUMBER(1), MESSAGE, 0, 0);
	CT_EXPECT_EQ(answered(1), 0);
	CT_EXPECT_EQ(fake_pmem.flushes, 0);
	close_target();
}

CT_TEST(ring, a_receive_in_other_memory_is_reported_and_the_peer_is_told)
{
	struct iovec iov[2] = {{at.mem, 16}, {at.plain, 16}};

	CT_ASSERT_TRUE(open_target());
	CT_EXPECT_EQ(receive(at.d.w.ep, at.plain, 100, 1), 0);
	CT_EXPECT_EQ(fi_recvv(at.d.w.ep, iov, NULL, 2, 0, NUMBER(2)), 0);
	CT_EXPECT_EQ(receive(at.d.w.ep, at.mem + 200, 100, 3), 0);
	CT_EXPECT_EQ(fi_recvv(at.d.w.ep, iov, NULL, 2, 0, NUMBER(4)), 0);
	announce(0, 0, 0);
	arrives(8);
	expect_comp(at.d.w.cq, NUMBER(1), MESSAGE, 8, 0);
	CT_EXPECT_EQ(answered(1), FI_EOPNOTSUPP);
	announce(0, 0, 0);
	arrives(17); /* into the second piece */
	expect_comp(at.d.w.cq, NUMBER(2), MESSAGE, 17, 0);
	CT_EXPECT_EQ(answered(2), FI_EOPNOTSUPP);
	announce(0, 0, 0);
	arrives(57); /* beyond the end of the region */
	expect_comp(at.d.w.cq, NUMBER(3), MESSAGE, 57, 0);
	CT_EXPECT_EQ(answered(3), FI_EOPNOTSUPP);
	announce(0, 0, 0);
	arrives(16); /* not into the second piece */
	expect_comp(at.d.w.cq, NUMBER(4), MESSAGE, 16, 0);
	CT_EXPECT_EQ(answered(4), 0);
	close_target();
}

CT_TEST(ring, what_a_write_with_data_wrote_is_written_back_where_peers_may_write)
{
	static const struct {
		uint64_t from, len;
		uint32_t rkey;
		uint16_t status;
	} rows[] = {
		{8, 100, RKEY, 0},
		{256, 0, RKEY, 0},
		{255, 2, RKEY, FI_EKEYREJECTED},
		{0, UINT64_MAX, RKEY, FI_EKEYREJECTED},
		{0, 8, RKEY + 1, FI_EKEYREJECTED},
		{0, PVB_FLUSH_LIMIT + 1, RKEY, FI_EMSGSIZE},
	};
	const uint64_t len = sizeof(at.mem);

	CT_ASSERT_TRUE(open_target());
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		at.target.len = rows[i].status == FI_EMSGSIZE ? 2 * PVB_FLUSH_LIMIT : len;
		fake_pmem = (struct fake_pmem){0};
		CT_EXPECT_EQ(receive(at.d.w.ep, at.plain, 8, i), 0);
		announce(rows[i].from, rows[i].len, rows[i].rkey);
		written();
		expect_comp(at.d.w.cq, NUMBER(i), WRITTEN, 8, 5);
		CT_EXPECT_EQ(answered((uint32_t)i + 1), rows[i].status);
		CT_EXPECT_EQ(fake_pmem.flushes, !rows[i].status);
		if (!rows[i].status)
			expect_flushed(0, at.mem + rows[i].from, rows[i].len);
	}
	close_target();
}

/* A peer that writes what it likes into the ring. */
CT_TEST(ring, entries_that_are_not_of_this_message_say_nothing)
{
	static const struct {
		const char *what;
		struct pvb_wire_entry entry;
	} rows[] = {
		{"of the message before", {.message = 0, .number = 1}},
		{"of a later one", {.message = 2, .number = 1}},
		{"with a later number", {.message = 1, .number = 2}},
		{"that overwrote it", {.message = 1, .number = 1 + PVB_LANE_CREDITS}},
		{"without a number", {.message = 1, .number = 0}},
		{"garbage", {.message = 0xa5a5a5a5, .number = 0xa5a5a5a5}},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].what);
		CT_ASSERT_TRUE(open_target());
		put(&rows[i].entry);
		CT_EXPECT_EQ(receive(at.d.w.ep, at.mem, 8, 1), 0);
		arrives(8);
		expect_comp(at.d.w.cq, NUMBER(1), MESSAGE, 8, 0);
		CT_EXPECT_EQ(at.d.control->sq.posted, 0);
		CT_EXPECT_FALSE(at.d.lane->lost);
		CT_EXPECT_EQ(at.d.lane->entries, 0);
		/* What was meant for the second is found there. */
		CT_EXPECT_EQ(receive(at.d.w.ep, at.mem, 8, 2), 0);
		arrives(8);
		expect_comp(at.d.w.cq, NUMBER(2), MESSAGE, 8, 0);
		CT_EXPECT_EQ(at.d.control->sq.posted, rows[i].entry.message == 2);
		close_target();
	}
}

CT_TEST(ring, a_ring_full_of_garbage_is_an_error_of_nobody_else)
{
	CT_ASSERT_TRUE(open_target());
	memset(at.d.lane->area->ring, 0xff, sizeof(at.d.lane->area->ring));
	for (uintptr_t i = 0; i < 2 * PVB_LANE_CREDITS; i++) {
		CT_EXPECT_EQ(receive(at.d.w.ep, at.mem, 8, i), 0);
		arrives(8);
		expect_comp(at.d.w.cq, NUMBER(i), MESSAGE, 8, 0);
	}
	CT_EXPECT_EQ(at.d.control->sq.posted, 0);
	announce(0, 0, 0);
	CT_EXPECT_EQ(receive(at.d.w.ep, at.mem, 8, 99), 0);
	arrives(8);
	expect_comp(at.d.w.cq, NUMBER(99), MESSAGE, 8, 0);
	CT_EXPECT_EQ(answered(1), 0);
	close_target();
}

/* The peer's next durable message. */
static void next_message(uintptr_t number)
{
	CT_EXPECT_EQ(receive(at.d.w.ep, at.mem, 8, number), 0);
	announce(0, 0, 0);
	arrives(8);
	expect_comp(at.d.w.cq, NUMBER(number), MESSAGE, 8, 0);
}

CT_TEST(ring, more_entries_than_agreed_on_cost_the_lane)
{
	CT_ASSERT_TRUE(open_target());
	for (uintptr_t i = 0; i <= PVB_LANE_MESSAGES + PVB_LANE_CREDITS; i++) {
		CT_EXPECT_FALSE(at.d.lane->lost);
		next_message(i);
	}
	CT_EXPECT_TRUE(at.d.lane->lost);
	CT_EXPECT_EQ(at.d.control->sq.posted, PVB_LANE_MESSAGES);
	/* Messages go on. */
	next_message(1);
	close_target();
}

/* The device says late that the peer has the older ones; the peer has used them. */
CT_TEST(ring, answers_without_a_place_are_sent_in_order_when_there_is_one)
{
	const uint32_t last = PVB_LANE_MESSAGES + 3;
	struct pvb_wire_message answer;

	CT_ASSERT_TRUE(open_target());
	for (uint32_t i = 1; i <= last; i++)
		next_message(i);
	CT_EXPECT_FALSE(at.d.lane->lost);
	CT_EXPECT_EQ(at.d.control->sq.posted, PVB_LANE_MESSAGES);
	fake_complete_all(at.d.control);
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(at.d.control->sq.posted, last);
	for (uint32_t i = PVB_LANE_MESSAGES; i < last; i++) {
		answer = durable_sent(&at.d, i);
		CT_EXPECT_EQ(answer.kind, PVB_WIRE_RING_ANSWER);
		CT_EXPECT_EQ(answer.number, i + 1);
	}
	/* None overtakes them. */
	next_message(last + 1);
	CT_EXPECT_EQ(answered(last + 1), 0);
	close_target();
}

CT_TEST(ring, numbers_go_round)
{
	CT_ASSERT_TRUE(open_target());
	at.messages = at.d.lane->messages = UINT32_MAX - 2;
	at.entries = at.d.lane->entries = UINT32_MAX - 1;
	for (uintptr_t i = 0; i < 4; i++) {
		CT_EXPECT_EQ(receive(at.d.w.ep, at.mem, 8, i), 0);
		announce(0, 0, 0);
		arrives(8);
		expect_comp(at.d.w.cq, NUMBER(i), MESSAGE, 8, 0);
		CT_EXPECT_EQ(answered(at.entries), 0);
	}
	CT_EXPECT_EQ(at.entries, 2);
	close_target();
}

/* The initiator's side of it: what was never sent is not counted. */
CT_TEST(ring, messages_that_the_device_refused_are_not_counted)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	CT_EXPECT_EQ(send_number(d.w.ep, 1), 0);
	CT_EXPECT_EQ(d.conn->commit->messages, 1);
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(send_number(d.w.ep, 2), -FI_EAGAIN);
	CT_EXPECT_EQ(d.conn->commit->messages, 1);
	/* Three held back, of which the device takes one. */
	for (uintptr_t i = 3; i <= 5; i++)
		CT_EXPECT_EQ(send_more(d.w.ep, i), 0);
	CT_EXPECT_EQ(plain_write(&d, 6, 0, 8, KEY_ASKS, FI_MORE), 0);
	fake_fail(FAKE_POST_SEND, 2, ENOMEM);
	CT_EXPECT_EQ(send_number(d.w.ep, 7), -FI_EAGAIN);
	CT_EXPECT_EQ(d.conn->commit->messages, 2);
	CT_EXPECT_EQ(send_number(d.w.ep, 8), 0);
	CT_EXPECT_EQ(d.conn->commit->messages, 3);
	durable_close(&d);
}

/* Whichever connection a shared receive takes a message from. */
static bool open_shared(struct fid_ep **srx)
{
	struct fi_rx_attr attr = {.size = 8, .iov_limit = 2};
	struct world *w = &at.d.w;

	if (!durable_enable(&at.d, NULL))
		return false;
	world_close_ep(w);
	CT_EXPECT_EQ(fi_srx_context(w->domain, &attr, srx, NULL), 0);
	w->info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	CT_EXPECT_EQ(fi_endpoint(w->domain, w->info, &w->ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &(*srx)->fid, 0), 0);
	CT_EXPECT_EQ(fi_enable(w->ep), 0);
	w->qp = qp_of(w->ep);
	return durable_connect(&at.d) && expose();
}

CT_TEST(ring, a_shared_receive_is_written_back_too)
{
	struct iovec iov[2] = {{at.mem, 16}, {at.mem + 64, 16}};
	struct fid_ep *srx = NULL;

	CT_ASSERT_TRUE(open_shared(&srx));
	CT_EXPECT_EQ(receive(srx, at.mem + 128, 100, 1), 0);
	CT_EXPECT_EQ(fi_recvv(srx, iov, NULL, 2, 0, NUMBER(2)), 0);
	CT_EXPECT_EQ(receive(srx, at.plain, 100, 3), 0);
	announce(0, 0, 0);
	arrives(50);
	expect_comp(at.d.w.cq, NUMBER(1), MESSAGE, 50, 0);
	CT_EXPECT_EQ(answered(1), 0);
	expect_flushed(0, at.mem + 128, 50);
	announce(0, 0, 0);
	arrives(20);
	expect_comp(at.d.w.cq, NUMBER(2), MESSAGE, 20, 0);
	CT_EXPECT_EQ(answered(2), 0);
	expect_flushed(1, at.mem, 16);
	expect_flushed(2, at.mem + 64, 4);
	announce(0, 0, 0);
	arrives(20);
	expect_comp(at.d.w.cq, NUMBER(3), MESSAGE, 20, 0);
	CT_EXPECT_EQ(answered(3), FI_EOPNOTSUPP);
	pvb_target_del(at.d.lane->control, &at.target);
	world_close_ep(&at.d.w);
	CT_EXPECT_EQ(fi_close(&srx->fid), 0);
	durable_close(&at.d);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The target's side: what it is asked to do, and by whom. */
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include "../durable.h"
#include "../fake_pmem.h"
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"

static struct {
	struct durable d;
	_Alignas(64) uint8_t mem[256];
	struct pvb_pmem_region region;
	uint32_t number;
} at;

/* Memory of rkey 9 that peers may write. */
static bool open_target(void)
{
	memset(&at, 0, sizeof(at));
	if (!durable_open(&at.d, NULL))
		return false;
	at.region = (struct pvb_pmem_region){
		.addr = (uintptr_t)at.mem,
		.len = sizeof(at.mem),
		.rkey = 9,
		.write = true,
		.flush = true,
	};
	at.d.control_qp->control->domain->info->domain_attr->data_progress =
		FI_PROGRESS_MANUAL;
	CT_EXPECT_EQ(pvb_pmem_region_add(at.d.control_qp->control, &at.region), 0);
	return !ct_failed();
}

static void close_target(void)
{
	pvb_pmem_region_del(at.d.control_qp->control, &at.region);
	durable_close(&at.d);
}

static struct pvb_wire_message request(uint64_t from, uint64_t len, uint32_t rkey)
{
	return (struct pvb_wire_message){
		.kind = PVB_WIRE_REQUEST,
		.number = ++at.number,
		.fence = at.number,
		.ranges = 1,
		.range = {{(uintptr_t)at.mem + from, len, rkey}},
	};
}

/* What the newest answer said, to request number. */
static uint16_t answered(uint32_t number)
{
	struct pvb_wire_message answer;

	expect_no_comp(at.d.w.cq);
	CT_EXPECT_FALSE(at.d.control_qp->lost);
	CT_EXPECT_NE(at.d.control->sq.posted, 0);
	if (!at.d.control->sq.posted)
		return UINT16_MAX;
	answer = durable_sent(&at.d, at.d.control->sq.posted - 1);
	CT_EXPECT_EQ(answer.kind, PVB_WIRE_ANSWER);
	CT_EXPECT_EQ(answer.number, number);
	return answer.status;
}

CT_TEST(respond, only_memory_that_peers_may_write_is_made_durable)
{
	static const struct {
		const char *what;
		int64_t from;
		uint64_t len;
		uint32_t rkey;
		uint16_t status;
	} rows[] = {
		{"all of it", 0, 256, 9, 0},
		{"its end", 255, 1, 9, 0},
		{"nothing at its end", 256, 0, 9, 0},
		{"beyond its end", 255, 2, 9, FI_EKEYREJECTED},
		{"before its begin", -1, 2, 9, FI_EKEYREJECTED},
		{"round the end of addresses", 0, UINT64_MAX, 9, FI_EKEYREJECTED},
		{"another key", 0, 1, 8, FI_EKEYREJECTED},
	};
	struct pvb_wire_message message;

	CT_ASSERT_TRUE(open_target());
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].what);
		message = request((uint64_t)rows[i].from, rows[i].len, rows[i].rkey);
		durable_message(&at.d, &message);
		CT_EXPECT_EQ(answered(at.number), rows[i].status);
		fake_complete_all(at.d.control);
	}
	at.region.write = false;
	message = request(0, 8, 9);
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(answered(at.number), FI_EKEYREJECTED);
	close_target();
}

CT_TEST(respond, nothing_is_done_before_the_seq_word_advances)
{
	struct pvb_wire_message message;

	CT_ASSERT_TRUE(open_target());
	message = request(0, 8, 9);
	message.seq_word = 2;
	durable_message(&at.d, &message);
	message = request(8, 8, 9);
	message.seq_word = 3;
	durable_message(&at.d, &message);
	expect_no_comp(at.d.w.cq);
	at.d.control_qp->area->seq_word = 1;
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(at.d.control->sq.posted, 0);
	at.d.control_qp->area->seq_word = 2;
	CT_EXPECT_EQ(answered(1), 0);
	at.d.control_qp->area->seq_word = 1ull << 32 | 3;
	CT_EXPECT_EQ(answered(2), 0);
	CT_EXPECT_EQ(at.d.control_qp->control->waiting, 0);
	close_target();
}

CT_TEST(respond, a_seq_word_that_wrapped_counts_as_later)
{
	struct pvb_wire_message message;

	CT_ASSERT_TRUE(open_target());
	at.d.control_qp->area->seq_word = 1ull << 32;
	message = request(0, 8, 9);
	message.seq_word = UINT32_MAX;
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(answered(1), 0);
	close_target();
}

CT_TEST(respond, bytes_are_stored_where_they_belong)
{
	static const uint8_t bytes[13] = "0123456789ab";
	struct pvb_wire_message message;

	for (uint64_t from = 64; from < 72; from++) {
		for (uint16_t len = 1; len <= sizeof(bytes); len++) {
			CT_NOTE("%u bytes at %u", len, (unsigned int)from);
			CT_ASSERT_TRUE(open_target());
			memset(at.mem, 0xee, sizeof(at.mem));
			message = request(0, 8, 9);
			message.copy = len;
			message.to =
				(struct pvb_wire_range){(uintptr_t)at.mem + from, len, 9};
			message.bytes = bytes;
			durable_message(&at.d, &message);
			CT_EXPECT_EQ(answered(1), 0);
			CT_EXPECT_MEMEQ(at.mem + from, bytes, len);
			CT_EXPECT_EQ(at.mem[from - 1], 0xee);
			CT_EXPECT_EQ(at.mem[from + len], 0xee);
			close_target();
		}
	}
}

CT_TEST(respond, a_request_with_one_bad_range_changes_nothing)
{
	struct pvb_wire_message message;

	CT_ASSERT_TRUE(open_target());
	message = request(0, 8, 8);
	message.copy = 4;
	message.to = (struct pvb_wire_range){(uintptr_t)at.mem, 4, 9};
	message.bytes = (const uint8_t *)"abcd";
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(answered(1), FI_EKEYREJECTED);
	CT_EXPECT_EQ(at.mem[0], 0);
	message = request(0, 8, 9);
	message.copy = 4;
	message.to = (struct pvb_wire_range){(uintptr_t)at.mem + 253, 4, 9};
	message.bytes = (const uint8_t *)"abcd";
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(answered(2), FI_EKEYREJECTED);
	CT_EXPECT_EQ(at.mem[253], 0);
	close_target();
}

/* As flushes begin and the answer goes: what was stored, and is not durable yet. */
static struct {
	unsigned int flushes, undrained, at_answer;
	uint8_t stored[2];
} order;

static void look_at_flush(void)
{
	if (order.flushes < 2)
		order.stored[order.flushes] = at.mem[64];
	order.flushes++;
	order.undrained += fake_pmem.undrained;
}

static void look_at_answer(void *arg)
{
	order.at_answer = fake_pmem.undrained;
}

/* fi_cq(3), FI_FENCE: what was written before is durable before the bytes can be. */
CT_TEST(respond, bytes_are_stored_behind_what_is_durable_and_answered_behind_both)
{
	struct pvb_wire_message message;

	CT_ASSERT_TRUE(open_target());
	memset(&order, 0, sizeof(order));
	fake_pmem = (struct fake_pmem){.hook = look_at_flush};
	message = request(0, 8, 9);
	message.copy = 1;
	message.to = (struct pvb_wire_range){(uintptr_t)at.mem + 64, 1, 9};
	message.bytes = (const uint8_t *)"x";
	order.at_answer = UINT32_MAX;
	fake_before(FAKE_POST_SEND, 1, look_at_answer, NULL);
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(answered(1), 0);
	CT_EXPECT_EQ(order.flushes, 2);
	CT_EXPECT_EQ(order.stored[0], 0);
	CT_EXPECT_EQ(order.stored[1], 'x');
	CT_EXPECT_EQ(order.undrained, 0);
	CT_EXPECT_EQ(order.at_answer, 0);
	fake_pmem.hook = NULL;
	close_target();
}

CT_TEST(respond, what_is_fenced_is_not_done_behind_what_could_not_be)
{
	struct pvb_wire_message message;

	CT_ASSERT_TRUE(open_target());
	message = request(0, 8, 8);
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(answered(1), FI_EKEYREJECTED);
	message = request(0, 8, 9);
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(answered(2), 0);
	message = request(0, 8, 9);
	message.fence = 0; /* nothing had ended when it was posted */
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(answered(3), FI_ECANCELED);
	message = request(0, 8, 9);
	message.fence = 3; /* its initiator knew of the errors */
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(answered(4), 0);
	close_target();
}

CT_TEST(respond, more_bytes_than_one_request_may_ask_for_are_refused)
{
	struct pvb_wire_message message;

	CT_ASSERT_TRUE(open_target());
	at.region.flush = false; /* and not looked at: there is no such memory */
	at.region.len = PVB_FLUSH_LIMIT + 1;
	message = request(0, PVB_FLUSH_LIMIT, 9);
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(answered(1), 0);
	message = request(0, PVB_FLUSH_LIMIT, 9);
	message.ranges = 2;
	message.range[1] = (struct pvb_wire_range){(uintptr_t)at.mem, 1, 9};
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(answered(2), FI_EMSGSIZE);
	close_target();
}

CT_TEST(respond, a_region_that_was_closed_is_not_touched)
{
	struct pvb_wire_message message;

	CT_ASSERT_TRUE(open_target());
	message = request(0, 8, 9);
	message.seq_word = 1;
	durable_message(&at.d, &message);
	expect_no_comp(at.d.w.cq);
	pvb_pmem_region_del(at.d.control_qp->control, &at.region);
	at.d.control_qp->area->seq_word = 1;
	CT_EXPECT_EQ(answered(1), FI_EKEYREJECTED);
	durable_close(&at.d);
}

CT_TEST(respond, an_answer_without_a_place_waits_for_one)
{
	const struct pvb_wire_message other = {.kind = PVB_WIRE_RING_ANSWER};
	struct pvb_wire_message message;

	CT_ASSERT_TRUE(open_target());
	for (unsigned int i = 0; i < PVB_CONTROL_MESSAGES; i++)
		CT_EXPECT_TRUE(pvb_control_qp_send(at.d.control_qp, &other));
	message = request(0, 8, 9);
	durable_message(&at.d, &message);
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(at.d.control->sq.posted, PVB_CONTROL_MESSAGES);
	fake_complete_all(at.d.control);
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(answered(1), 0);
	close_target();
}

static void look_at_receives(void *count)
{
	*(unsigned int *)count = fake_outstanding(&at.d.control->rq);
}

/* The peer may send the next request as soon as it has the answer. */
CT_TEST(respond, the_receive_of_a_request_is_posted_before_its_answer)
{
	struct pvb_wire_message message;
	unsigned int receives = 0;

	CT_ASSERT_TRUE(open_target());
	message = request(0, 8, 9);
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(fake_outstanding(&at.d.control->rq), PVB_CONTROL_MESSAGES - 1);
	fake_before(FAKE_POST_SEND, 1, look_at_receives, &receives);
	CT_EXPECT_EQ(answered(1), 0);
	CT_EXPECT_EQ(receives, PVB_CONTROL_MESSAGES);
	close_target();
}

CT_TEST(respond, a_target_that_calls_nothing_has_a_thread)
{
	struct pvb_wire_message message;

	CT_ASSERT_TRUE(open_target());
	pvb_pmem_region_del(at.d.control_qp->control, &at.region);
	at.d.control_qp->control->domain->info->domain_attr->data_progress =
		FI_PROGRESS_AUTO;
	CT_EXPECT_EQ(pvb_pmem_region_add(at.d.control_qp->control, &at.region), 0);
	CT_EXPECT_TRUE(at.d.control_qp->control->threaded);
	message = request(0, 8, 9);
	message.seq_word = 1;
	durable_message(&at.d, &message);
	CT_EXPECT_SOON(atomic_load(&at.d.control_qp->control->waiting) == 1);
	at.d.control_qp->area->seq_word = 1;
	CT_EXPECT_SOON(atomic_load(&at.d.control_qp->sends) == 1);
	CT_EXPECT_EQ(atomic_load(&at.d.control_qp->control->waiting), 0);
	CT_EXPECT_EQ(answered(1), 0);
	close_target();
}

static volatile sig_atomic_t handled;

static void handle(int number)
{
	handled++;
}

/* One that every thread of the program blocks is for its sigwait(3), not for ours. */
CT_TEST(respond, the_thread_takes_no_signal_of_the_programs)
{
	const struct sigaction action = {.sa_handler = handle};
	const struct timespec now = {0};
	struct sigaction old_action;
	sigset_t term, old;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	handled = 0;
	CT_ASSERT_TRUE(open_target());
	CT_EXPECT_EQ(pvb_control_thread_start(at.d.control_qp->control), 0);
	CT_EXPECT_SOON(ct_waiting() == 1);
	sigaction(SIGTERM, &action, &old_action);
	pthread_sigmask(SIG_BLOCK, &term, &old);
	CT_EXPECT_EQ(kill(getpid(), SIGTERM), 0);
	CT_EXPECT_EQ(sigtimedwait(&term, NULL, &now), SIGTERM);
	CT_EXPECT_EQ(handled, 0);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	close_target();
	sigaction(SIGTERM, &old_action, NULL);
}

CT_TEST(respond, numbers_of_requests_go_round)
{
	struct pvb_wire_message message;

	CT_ASSERT_TRUE(open_target());
	at.d.control_qp->handled = at.number = UINT32_MAX;
	message = request(0, 8, 8); /* number 0 cannot be done */
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(answered(0), FI_EKEYREJECTED);
	message = request(0, 8, 9);
	message.fence = UINT32_MAX;
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(answered(1), FI_ECANCELED);
	/* So long ago that its number looks like one to come. */
	at.d.control_qp->handled = at.number = at.number + (1u << 31);
	message = request(0, 8, 9);
	message.fence--;
	durable_message(&at.d, &message);
	CT_EXPECT_EQ(answered(at.number), 0);
	close_target();
}

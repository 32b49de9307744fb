/* SPDX-License-Identifier: BSD-2-Clause */
/* The target's side: what it is asked to do, and by whom. */
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include "../fake_pmem.h"
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"
#include "receiver.h"

static void set_up(struct receiver *t)
{
	CT_ASSERT_TRUE(receiver_open(t, 256));
}

CT_FIXTURE(respond, struct receiver, set_up, receiver_close);

/* Bytes that are to be stored there once the range of the request is durable. */
static void store(struct pvb_wire_message *message, uint8_t *to, const void *bytes,
		  uint16_t len)
{
	message->copy = len;
	message->to = (struct pvb_wire_range){(uintptr_t)to, len, RECEIVER_RKEY};
	message->bytes = bytes;
}

/* Of the answer to a request that arrives. */
static uint16_t status_of(struct receiver *t, const struct pvb_wire_message *request)
{
	durable_message(&t->d, request);
	return receiver_answered_request(t, request->number);
}

CT_TEST_F(respond, only_memory_that_peers_may_write_is_made_durable)
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

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].what);
		message = receiver_request(t, (uint64_t)rows[i].from, rows[i].len,
					   rows[i].rkey);
		CT_EXPECT_EQ(status_of(t, &message), rows[i].status);
		fake_complete_all(t->d.control);
	}
	t->region.write = false;
	message = receiver_request(t, 0, 8, 9);
	CT_EXPECT_EQ(status_of(t, &message), FI_EKEYREJECTED);
}

CT_TEST_F(respond, nothing_is_done_before_the_seq_word_advances)
{
	struct pvb_wire_message message;

	message = receiver_request(t, 0, 8, 9);
	message.seq_word = 2;
	durable_message(&t->d, &message);
	message = receiver_request(t, 8, 8, 9);
	message.seq_word = 3;
	durable_message(&t->d, &message);
	expect_no_comp(t->d.w.cq);
	t->d.control_qp->area->seq_word = 1;
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(t->d.control->sq.posted, 0);
	t->d.control_qp->area->seq_word = 2;
	CT_EXPECT_EQ(receiver_answered_request(t, 1), 0);
	t->d.control_qp->area->seq_word = 1ull << 32 | 3;
	CT_EXPECT_EQ(receiver_answered_request(t, 2), 0);
	CT_EXPECT_EQ(t->control->waiting, 0);
}

CT_TEST_F(respond, a_seq_word_that_wrapped_counts_as_later)
{
	struct pvb_wire_message message;

	t->d.control_qp->area->seq_word = 1ull << 32;
	message = receiver_request(t, 0, 8, 9);
	message.seq_word = UINT32_MAX;
	CT_EXPECT_EQ(status_of(t, &message), 0);
}

CT_TEST_F(respond, bytes_are_stored_where_they_belong)
{
	static const uint8_t bytes[13] = "0123456789ab";
	struct pvb_wire_message message;

	for (uint64_t from = 64; from < 72; from++) {
		for (uint16_t len = 1; len <= sizeof(bytes); len++) {
			CT_NOTE("%u bytes at %u", len, (unsigned int)from);
			CT_ASSERT_TRUE(receiver_open(t, 256));
			memset(t->mem, 0xee, 256);
			message = receiver_request(t, 0, 8, 9);
			store(&message, t->mem + from, bytes, len);
			CT_EXPECT_EQ(status_of(t, &message), 0);
			CT_EXPECT_MEMEQ(t->mem + from, bytes, len);
			CT_EXPECT_EQ(t->mem[from - 1], 0xee);
			CT_EXPECT_EQ(t->mem[from + len], 0xee);
		}
	}
}

CT_TEST_F(respond, a_request_with_one_bad_range_changes_nothing)
{
	struct pvb_wire_message message;

	message = receiver_request(t, 0, 8, 8);
	store(&message, t->mem, "abcd", 4);
	CT_EXPECT_EQ(status_of(t, &message), FI_EKEYREJECTED);
	CT_EXPECT_EQ(t->mem[0], 0);
	message = receiver_request(t, 0, 8, 9);
	store(&message, t->mem + 253, "abcd", 4);
	CT_EXPECT_EQ(status_of(t, &message), FI_EKEYREJECTED);
	CT_EXPECT_EQ(t->mem[253], 0);
}

/* As flushes begin and the answer goes: what was stored, and is not durable yet. */
static struct {
	unsigned int flushes, undrained, at_answer;
	uint8_t stored[2];
	const uint8_t *to;
} order;

static void look_at_flush(void)
{
	if (order.flushes < 2)
		order.stored[order.flushes] = *order.to;
	order.flushes++;
	order.undrained += fake_pmem.undrained;
}

static void look_at_answer(void *arg)
{
	order.at_answer = fake_pmem.undrained;
}

/* fi_cq(3), FI_FENCE: what was written before is durable before the bytes can be. */
CT_TEST_F(respond, bytes_are_stored_behind_what_is_durable_and_answered_behind_both)
{
	struct pvb_wire_message message;

	memset(&order, 0, sizeof(order));
	order.to = t->mem + 64;
	fake_pmem = (struct fake_pmem){.hook = look_at_flush};
	message = receiver_request(t, 0, 8, 9);
	store(&message, t->mem + 64, "x", 1);
	order.at_answer = UINT32_MAX;
	fake_before(FAKE_POST_SEND, 1, look_at_answer, NULL);
	CT_EXPECT_EQ(status_of(t, &message), 0);
	CT_EXPECT_EQ(order.flushes, 2);
	CT_EXPECT_EQ(order.stored[0], 0);
	CT_EXPECT_EQ(order.stored[1], 'x');
	CT_EXPECT_EQ(order.undrained, 0);
	CT_EXPECT_EQ(order.at_answer, 0);
	fake_pmem.hook = NULL;
}

CT_TEST_F(respond, what_is_fenced_is_not_done_behind_what_could_not_be)
{
	struct pvb_wire_message message;

	message = receiver_request(t, 0, 8, 8);
	CT_EXPECT_EQ(status_of(t, &message), FI_EKEYREJECTED);
	message = receiver_request(t, 0, 8, 9);
	CT_EXPECT_EQ(status_of(t, &message), 0);
	message = receiver_request(t, 0, 8, 9);
	message.fence = 0; /* nothing had ended when it was posted */
	CT_EXPECT_EQ(status_of(t, &message), FI_ECANCELED);
	message = receiver_request(t, 0, 8, 9);
	message.fence = 3; /* its initiator knew of the errors */
	CT_EXPECT_EQ(status_of(t, &message), 0);
}

CT_TEST_F(respond, more_bytes_than_one_request_may_ask_for_are_refused)
{
	struct pvb_wire_message message;

	t->region.flush = false; /* and not looked at: there is no such memory */
	t->region.len = PVB_FLUSH_LIMIT + 1;
	message = receiver_request(t, 0, PVB_FLUSH_LIMIT, 9);
	CT_EXPECT_EQ(status_of(t, &message), 0);
	message = receiver_request(t, 0, PVB_FLUSH_LIMIT, 9);
	message.ranges = 2;
	message.range[1] = (struct pvb_wire_range){(uintptr_t)t->mem, 1, 9};
	CT_EXPECT_EQ(status_of(t, &message), FI_EMSGSIZE);
}

CT_TEST_F(respond, a_region_that_was_closed_is_not_touched)
{
	struct pvb_wire_message message;

	message = receiver_request(t, 0, 8, 9);
	message.seq_word = 1;
	durable_message(&t->d, &message);
	expect_no_comp(t->d.w.cq);
	receiver_hide(t);
	t->d.control_qp->area->seq_word = 1;
	CT_EXPECT_EQ(receiver_answered_request(t, 1), FI_EKEYREJECTED);
}

CT_TEST_F(respond, an_answer_without_a_place_waits_for_one)
{
	const struct pvb_wire_message other = {.kind = PVB_WIRE_RING_ANSWER};
	struct pvb_wire_message message;

	for (unsigned int i = 0; i < PVB_CONTROL_MESSAGES; i++)
		CT_EXPECT_TRUE(pvb_control_qp_send(t->d.control_qp, &other));
	message = receiver_request(t, 0, 8, 9);
	durable_message(&t->d, &message);
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(t->d.control->sq.posted, PVB_CONTROL_MESSAGES);
	fake_complete_all(t->d.control);
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(receiver_answered_request(t, 1), 0);
}

static unsigned int receives;

static void look_at_receives(void *queue)
{
	receives = fake_outstanding(queue);
}

/* The peer may send the next request as soon as it has the answer. */
CT_TEST_F(respond, the_receive_of_a_request_is_posted_before_its_answer)
{
	struct pvb_wire_message message;

	message = receiver_request(t, 0, 8, 9);
	durable_message(&t->d, &message);
	CT_EXPECT_EQ(fake_outstanding(&t->d.control->rq), PVB_CONTROL_MESSAGES - 1);
	fake_before(FAKE_POST_SEND, 1, look_at_receives, &t->d.control->rq);
	CT_EXPECT_EQ(receiver_answered_request(t, 1), 0);
	CT_EXPECT_EQ(receives, PVB_CONTROL_MESSAGES);
}

CT_TEST_F(respond, a_target_that_calls_nothing_has_a_thread)
{
	struct pvb_wire_message message;

	receiver_progress(t, FI_PROGRESS_AUTO);
	CT_EXPECT_TRUE(t->control->threaded);
	message = receiver_request(t, 0, 8, 9);
	message.seq_word = 1;
	durable_message(&t->d, &message);
	CT_EXPECT_SOON(atomic_load(&t->control->waiting) == 1);
	t->d.control_qp->area->seq_word = 1;
	CT_EXPECT_SOON(atomic_load(&t->d.control_qp->sends) == 1);
	CT_EXPECT_EQ(atomic_load(&t->control->waiting), 0);
	CT_EXPECT_EQ(receiver_answered_request(t, 1), 0);
}

static volatile sig_atomic_t handled;

static void handle(int number)
{
	handled++;
}

/* One that every thread of the program blocks is for its sigwait(3), not for ours. */
CT_TEST_F(respond, the_thread_takes_no_signal_of_the_programs)
{
	const struct sigaction action = {.sa_handler = handle};
	const struct timespec now = {0};
	struct sigaction old_action;
	sigset_t term, old;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	handled = 0;
	CT_EXPECT_EQ(pvb_control_thread_start(t->control), 0);
	CT_EXPECT_SOON(ct_waiting() == 1);
	sigaction(SIGTERM, &action, &old_action);
	pthread_sigmask(SIG_BLOCK, &term, &old);
	CT_EXPECT_EQ(kill(getpid(), SIGTERM), 0);
	CT_EXPECT_EQ(sigtimedwait(&term, NULL, &now), SIGTERM);
	CT_EXPECT_EQ(handled, 0);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	receiver_close(t);
	sigaction(SIGTERM, &old_action, NULL);
}

CT_TEST_F(respond, numbers_of_requests_go_round)
{
	struct pvb_wire_message message;

	t->d.control_qp->handled = t->requests = UINT32_MAX;
	message = receiver_request(t, 0, 8, 8); /* number 0 cannot be done */
	CT_EXPECT_EQ(status_of(t, &message), FI_EKEYREJECTED);
	message = receiver_request(t, 0, 8, 9);
	message.fence = UINT32_MAX;
	CT_EXPECT_EQ(status_of(t, &message), FI_ECANCELED);
	/* So long ago that its number looks like one to come. */
	t->d.control_qp->handled = t->requests = t->requests + (1u << 31);
	message = receiver_request(t, 0, 8, 9);
	message.fence--;
	CT_EXPECT_EQ(status_of(t, &message), 0);
}

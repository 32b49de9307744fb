/* SPDX-License-Identifier: BSD-2-Clause */
/* What a fenced durable operation says of messages before it, and of what was written to
 * memory that is not persistent. */
#include <errno.h>
#include <rdma/fi_atomic.h>
#include "persist/initiator/initiator.h"
#include "../durable.h"
#include "xfer/xfer.h"

#define WRITE (FI_RMA | FI_WRITE)
#define SENT (FI_SEND | FI_MSG)
#define PLAIN 0x4000u /* a key without descriptor */

static ssize_t send_plain(struct durable *d, uintptr_t number, size_t len)
{
	return fi_send(d->w.ep, "12345678", len, NULL, 0, NUMBER(number));
}

/* What the newest control message asks for: messages up to a number. */
static void expect_requested(struct durable *d, uint32_t messages)
{
	struct pvb_wire_message message;

	CT_EXPECT_NE(d->control->sq.posted, 0);
	if (!d->control->sq.posted)
		return;
	message = durable_sent(d, d->control->sq.posted - 1);
	CT_EXPECT_EQ(message.kind, PVB_WIRE_MESSAGES);
	CT_EXPECT_EQ(message.messages, messages);
}

static void answer(struct durable *d, uint16_t status)
{
	durable_complete(d);
	durable_answer(d, status);
	pvb_control_progress(d->control_qp->control);
}

CT_FIXTURE(sends, struct durable, durable_start, durable_close);

CT_TEST_F(sends, a_fenced_write_begins_when_the_messages_before_it_are_durable)
{
	static const bool needs_request[] = {false, true};
	uint64_t key;

	for (size_t i = 0; i < CRN_COUNT(needs_request); i++) {
		key = needs_request[i] ? KEY_ARRIVED : KEY_VISIBLE;
		CT_NOTE("%zu", i);
		CT_ASSERT_TRUE(durable_open(t, NULL));
		CT_EXPECT_EQ(send_plain(t, 1, 8), 0);
		CT_EXPECT_EQ(send_plain(t, 2, 8), 0);
		CT_EXPECT_EQ(durable_write(t, 3, 0, 8, key, FI_FENCE), -FI_EAGAIN);
		CT_EXPECT_EQ(t->control->sq.posted, 1);
		expect_requested(t, 2);
		durable_complete(t);
		expect_comp(t->w.cq, NUMBER(1), SENT, 0, 0);
		expect_comp(t->w.cq, NUMBER(2), SENT, 0, 0);
		expect_no_comp(t->w.cq);
		CT_EXPECT_EQ(durable_write(t, 3, 0, 8, key, FI_FENCE), -FI_EAGAIN);
		CT_EXPECT_EQ(t->control->sq.posted, 1);
		durable_answer(t, 0);
		expect_no_comp(t->w.cq);
		expect_no_comp(t->w.cq);
		CT_EXPECT_EQ(durable_write(t, 3, 0, 8, key, FI_FENCE), 0);
		durable_complete(t);
		expect_comp(t->w.cq, NUMBER(3), WRITE, 0, 0);
		/* And nobody asks again. */
		CT_EXPECT_EQ(durable_write(t, 4, 64, 8, key, FI_FENCE), 0);
		CT_EXPECT_EQ(t->control->sq.posted, 1);
	}
}

/* The target handles requests in their order. */
CT_TEST_F(sends, what_the_target_writes_itself_is_asked_for_at_once)
{
	CT_EXPECT_EQ(send_plain(t, 1, 8), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_REQUESTS, FI_FENCE), 0);
	CT_EXPECT_EQ(t->control->sq.posted, 2);
	CT_EXPECT_EQ(durable_sent(t, 0).kind, PVB_WIRE_MESSAGES);
	CT_EXPECT_EQ(durable_sent(t, 1).copy, 8);
	/* Not done unless the first is. */
	CT_EXPECT_EQ(durable_sent(t, 1).fence, 0);
	durable_complete(t);
	durable_answer(t, FI_EOPNOTSUPP);
	durable_answer(t, FI_ECANCELED);
	expect_comp(t->w.cq, NUMBER(1), SENT, 0, 0);
	expect_no_comp(t->w.cq);
	expect_cq_error(t->w.cq, NUMBER(2), WRITE, FI_EOPNOTSUPP);
	expect_no_comp(t->w.cq);
	/* Known by now, and no matter of others. */
	CT_EXPECT_EQ(durable_write(t, 3, 0, 8, KEY_REQUESTS, FI_FENCE), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(durable_write(t, 3, 0, 8, KEY_REQUESTS, 0), 0);
	answer(t, 0);
	expect_comp(t->w.cq, NUMBER(3), WRITE, 0, 0);
}

/* No sequence word says that the data is there: requests wait for it, and so does this
 * one, for requests are told by their order. */
CT_TEST_F(sends, the_target_is_asked_for_messages_behind_requests_that_wait)
{
	ep_of(t->w.ep)->domain->seq_atomics = false;
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(send_plain(t, 2, 8), 0);
	CT_EXPECT_EQ(durable_write(t, 3, 64, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(t->control->sq.posted, 0);
	durable_complete(t);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(t->control->sq.posted, 2);
	CT_EXPECT_EQ(durable_sent(t, 0).kind, PVB_WIRE_REQUEST);
	CT_EXPECT_EQ(durable_sent(t, 0).number, 1);
	expect_requested(t, 1);
	CT_EXPECT_EQ(durable_sent(t, 1).number, 2);
	durable_answer(t, 0);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(2), SENT, 0, 0);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(durable_write(t, 3, 64, 8, KEY_REQUESTS, FI_FENCE), 0);
}

CT_TEST_F(sends, a_fenced_write_of_nothing_ends_with_the_messages)
{
	static const uint16_t status[] = {0, FI_EOPNOTSUPP};

	for (size_t i = 0; i < CRN_COUNT(status); i++) {
		CT_NOTE("status %u", status[i]);
		CT_ASSERT_TRUE(durable_open(t, NULL));
		CT_EXPECT_EQ(send_plain(t, 1, 8), 0);
		CT_EXPECT_EQ(durable_write(t, 2, 0, 0, KEY_READS, FI_FENCE), 0);
		durable_complete(t);
		expect_comp(t->w.cq, NUMBER(1), SENT, 0, 0);
		expect_no_comp(t->w.cq);
		durable_answer(t, status[i]);
		expect_no_comp(t->w.cq);
		if (status[i])
			expect_cq_error(t->w.cq, NUMBER(2), WRITE, status[i]);
		else
			expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
		expect_no_comp(t->w.cq);
	}
}

/* FI_EKEYREJECTED: its region was closed. */
static void expect_fails_once(struct durable *t, uint16_t err)
{
	CT_NOTE("error %u", err);
	CT_ASSERT_TRUE(durable_open(t, NULL));
	CT_EXPECT_EQ(send_plain(t, 1, 8), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_VISIBLE, FI_FENCE), -FI_EAGAIN);
	answer(t, err);
	expect_comp(t->w.cq, NUMBER(1), SENT, 0, 0);
	expect_no_comp(t->w.cq);
	/* As its completion, without anything written. */
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_VISIBLE, FI_FENCE), 0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 2);
	expect_cq_error(t->w.cq, NUMBER(2), WRITE, err);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(durable_write(t, 3, 0, 8, KEY_VISIBLE, FI_FENCE), -err);
	CT_EXPECT_EQ(durable_write(t, 3, 0, 8, KEY_VISIBLE, 0), 0);
	CT_EXPECT_EQ(plain_write(t, 4, 64, 8, KEY_READS, FI_COMPLETION | FI_FENCE), 0);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(3), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(4), WRITE, 0, 0);
}

CT_TEST_F(sends, a_message_that_went_elsewhere_fails_the_operation_behind_it_once)
{
	expect_fails_once(t, FI_EOPNOTSUPP);
	expect_fails_once(t, FI_EKEYREJECTED);
}

CT_TEST_F(sends, a_target_that_does_not_answer_is_no_success_later)
{
	ct_time_stop();
	CT_EXPECT_EQ(send_plain(t, 1, 8), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_VISIBLE, FI_FENCE), -FI_EAGAIN);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(1), SENT, 0, 0);
	ct_time_pass(DURABLE_TIMEOUT);
	expect_no_comp(t->w.cq);
	for (int i = 0; i < 2; i++)
		CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_VISIBLE, FI_FENCE),
			     -FI_ECONNABORTED);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_VISIBLE, 0), 0);
}

/* Every call that sends, and none that brings nothing. */
CT_TEST_F(sends, messages_of_every_kind_count_and_empty_ones_do_not)
{
	for (int kind = 0; kind < 6; kind++) {
		CT_NOTE("kind %d", kind);
		CT_ASSERT_TRUE(durable_open(t, NULL));
		switch (kind) {
		case 0:
			CT_EXPECT_EQ(send_plain(t, 1, 8), 0);
			break;
		case 1:
			CT_EXPECT_EQ(fi_inject(t->w.ep, "1", 1, 0), 0);
			break;
		case 2:
			CT_EXPECT_EQ(fi_senddata(t->w.ep, "1", 1, NULL, 5, 0, NULL), 0);
			break;
		case 3:
			CT_EXPECT_EQ(fi_injectdata(t->w.ep, "1", 1, 5, 0), 0);
			break;
		case 4:
			CT_EXPECT_EQ(send_plain(t, 1, 0), 0);
			break;
		default:
			CT_EXPECT_EQ(fi_writedata(t->w.ep, "1", 1, NULL, 5, 0,
						  DURABLE_ADDR, KEY_READS, NULL),
				     0);
			break;
		}
		CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, KEY_VISIBLE, FI_FENCE),
			     kind == 4 ? 0 : -FI_EAGAIN);
		CT_EXPECT_EQ(t->control->sq.posted, kind < 4);
		/* Of the write with data, a read of its own. */
		CT_EXPECT_EQ(t->qp->commit->counts[PVB_COMMIT_UPGRADES], kind != 4);
	}
}

CT_TEST_F(sends, without_a_target_that_can_be_asked_a_fence_fails_at_once)
{
	durable_open_without(t, NULL);
	CT_EXPECT_EQ(send_plain(t, 1, 8), 0);
	for (int i = 0; i < 2; i++)
		CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_READS, FI_FENCE),
			     -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_READS, 0), 0);

	ep_of(t->w.ep)->conn.peer.version = 1;
	CT_EXPECT_EQ(send_plain(t, 1, 8), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_READS, FI_FENCE), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(t->control->sq.posted, 0);
}

/* Of a domain that has none of its own, too. */
CT_TEST_F(sends, an_endpoint_without_control_qp_takes_note)
{
	const struct world_opts opts = {.tx_size = 64,
					.caps = FI_MSG | FI_RMA | FI_RMA_PMEM};

	durable_close(t);
	world_reset();
	pvb_params.durable = PVB_DURABLE_OFF;
	CT_ASSERT_TRUE(world_open_connected(&t->w, &opts));
	CT_EXPECT_TRUE(ep_of(t->w.ep)->qp.control_qp == NULL);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_READS, FI_FENCE), 0);
	CT_EXPECT_EQ(send_plain(t, 2, 8), 0);
	CT_EXPECT_EQ(durable_write(t, 3, 0, 8, KEY_READS, FI_FENCE), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(durable_write(t, 3, 0, 8, KEY_READS, 0), 0);
}

/* Neither more requests than agreed on, nor more entries than there are. */
CT_TEST_F(sends, a_request_without_room_for_it_waits)
{
	const struct world_opts opts = {.tx_size = 40};
	unsigned int posted;

	for (int full = 0; full <= 1; full++) {
		CT_NOTE("full queue: %d", full);
		CT_ASSERT_TRUE(durable_open(t, &opts));
		if (full) {
			while (!send_plain(t, 1, 8))
				;
		} else {
			for (uint64_t i = 0; i < PVB_CONTROL_CREDITS; i++)
				CT_EXPECT_EQ(durable_write(t, 1, i * 64, 8, KEY_REQUESTS,
							   0),
					     0);
			CT_EXPECT_EQ(send_plain(t, 1, 8), 0);
		}
		posted = t->w.qp->sq.posted;
		CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, KEY_VISIBLE, FI_FENCE),
			     -FI_EAGAIN);
		CT_EXPECT_EQ(t->w.qp->sq.posted, posted);
		CT_EXPECT_EQ(t->control->sq.posted, full ? 0 : PVB_CONTROL_CREDITS);
	}
}

CT_TEST_F(sends, a_request_that_is_not_posted_is_made_again)
{
	CT_EXPECT_EQ(send_plain(t, 1, 8), 0);
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_VISIBLE, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(t->control->sq.posted, 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_VISIBLE, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(t->control->sq.posted, 1);
	CT_EXPECT_EQ(durable_sent(t, 0).number, 1);
	answer(t, 0);
	expect_comp(t->w.cq, NUMBER(1), SENT, 0, 0);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_VISIBLE, FI_FENCE), 0);
}

/* Where recovery looks into receives, one read is enough. */
CT_TEST_F(sends, messages_that_recovery_finds_need_no_request)
{
	const struct pvb_wire_message replay = {
		.kind = PVB_WIRE_REPLAY,
		.to = {.addr = 0x123000},
		.key = KEY_READS,
	};

	durable_message(t, &replay);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(send_plain(t, 1, 8), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, KEY_READS, FI_FENCE), 0);
	CT_EXPECT_EQ(t->control->sq.posted, 0);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 4);
	CT_EXPECT_EQ(fake_wr(&t->w.qp->sq, 1)->opcode, IBV_WR_RDMA_READ);
	CT_EXPECT_EQ(fake_wr(&t->w.qp->sq, 1)->remote_addr, 0x123000);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(1), SENT, 0, 0);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
}

CT_TEST_F(sends, what_was_written_elsewhere_fails_every_fence_behind_it)
{
	static const struct {
		const char *what;
		bool descriptor;
		size_t len;
		ssize_t ret;
	} rows[] = {
		{"no descriptor", false, 8, -FI_EOPNOTSUPP},
		{"a damaged one", true, 8, -FI_EKEYREJECTED},
		{"nothing was written", false, 0, 0},
	};
	uint64_t key;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].what);
		key = rows[i].descriptor ? KEY_READS ^ 1ull << 60 : PLAIN;
		CT_ASSERT_TRUE(durable_open(t, NULL));
		CT_EXPECT_EQ(plain_write(t, 1, 0, rows[i].len, key, FI_COMPLETION), 0);
		for (int k = 0; k < 2; k++)
			CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, KEY_READS, FI_FENCE),
				     rows[i].ret);
		CT_EXPECT_EQ(durable_write(t, 3, 0x8000, 8, KEY_READS, 0), 0);
	}
}

CT_TEST_F(sends, what_was_posted_before_anybody_took_note_is_not_known)
{
	CT_ASSERT_TRUE(durable_open(t, NULL));
	pvb_commit_close(t->qp);
	CT_EXPECT_EQ(send_plain(t, 1, 8), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_READS, FI_FENCE), -FI_EOPNOTSUPP);
	/* But for what the provider posts itself. */
	CT_ASSERT_TRUE(durable_open(t, NULL));
	pvb_commit_close(t->qp);
	CT_EXPECT_TRUE(pvb_tx_keepalive(ep_of(t->w.ep)));
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_READS, FI_FENCE), 0);
}

/* fi_cq(3): no word of durability, but what was posted before it has ended. */
CT_TEST_F(sends, a_fence_without_the_flag_asks_for_nothing)
{
	CT_EXPECT_EQ(send_plain(t, 1, 8), 0);
	CT_EXPECT_EQ(plain_write(t, 2, 0, 8, KEY_READS, FI_FENCE), 0);
	CT_EXPECT_EQ(t->control->sq.posted, 0);
}

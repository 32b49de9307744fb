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

CT_TEST(sends, a_fenced_write_begins_when_the_messages_before_it_are_durable)
{
	static const bool needs_request[] = {false, true};
	struct durable d;
	uint64_t key;

	for (size_t i = 0; i < CRN_COUNT(needs_request); i++) {
		key = needs_request[i] ? KEY_ARRIVED : KEY_VISIBLE;
		CT_NOTE("%zu", i);
		CT_ASSERT_TRUE(durable_open(&d, NULL));
		CT_EXPECT_EQ(send_plain(&d, 1, 8), 0);
		CT_EXPECT_EQ(send_plain(&d, 2, 8), 0);
		CT_EXPECT_EQ(durable_write(&d, 3, 0, 8, key, FI_FENCE), -FI_EAGAIN);
		CT_EXPECT_EQ(d.control->sq.posted, 1);
		expect_requested(&d, 2);
		durable_complete(&d);
		expect_comp(d.w.cq, NUMBER(1), SENT, 0, 0);
		expect_comp(d.w.cq, NUMBER(2), SENT, 0, 0);
		expect_no_comp(d.w.cq);
		CT_EXPECT_EQ(durable_write(&d, 3, 0, 8, key, FI_FENCE), -FI_EAGAIN);
		CT_EXPECT_EQ(d.control->sq.posted, 1);
		durable_answer(&d, 0);
		expect_no_comp(d.w.cq);
		expect_no_comp(d.w.cq);
		CT_EXPECT_EQ(durable_write(&d, 3, 0, 8, key, FI_FENCE), 0);
		durable_complete(&d);
		expect_comp(d.w.cq, NUMBER(3), WRITE, 0, 0);
		/* And nobody asks again. */
		CT_EXPECT_EQ(durable_write(&d, 4, 64, 8, key, FI_FENCE), 0);
		CT_EXPECT_EQ(d.control->sq.posted, 1);
		durable_close(&d);
	}
}

/* The target handles requests in their order. */
CT_TEST(sends, what_the_target_writes_itself_is_asked_for_at_once)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	CT_EXPECT_EQ(send_plain(&d, 1, 8), 0);
	CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_REQUESTS, FI_FENCE), 0);
	CT_EXPECT_EQ(d.control->sq.posted, 2);
	CT_EXPECT_EQ(durable_sent(&d, 0).kind, PVB_WIRE_MESSAGES);
	CT_EXPECT_EQ(durable_sent(&d, 1).copy, 8);
	/* Not done unless the first is. */
	CT_EXPECT_EQ(durable_sent(&d, 1).fence, 0);
	durable_complete(&d);
	durable_answer(&d, FI_EOPNOTSUPP);
	durable_answer(&d, FI_ECANCELED);
	expect_comp(d.w.cq, NUMBER(1), SENT, 0, 0);
	expect_no_comp(d.w.cq);
	expect_cq_error(d.w.cq, NUMBER(2), WRITE, FI_EOPNOTSUPP);
	expect_no_comp(d.w.cq);
	/* Known by now, and no matter of others. */
	CT_EXPECT_EQ(durable_write(&d, 3, 0, 8, KEY_REQUESTS, FI_FENCE), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(durable_write(&d, 3, 0, 8, KEY_REQUESTS, 0), 0);
	answer(&d, 0);
	expect_comp(d.w.cq, NUMBER(3), WRITE, 0, 0);
	durable_close(&d);
}

/* No sequence word says that the data is there: requests wait for it, and so does this
 * one, for requests are told by their order. */
CT_TEST(sends, the_target_is_asked_for_messages_behind_requests_that_wait)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	ep_of(d.w.ep)->domain->seq_atomics = false;
	CT_EXPECT_EQ(durable_write(&d, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(send_plain(&d, 2, 8), 0);
	CT_EXPECT_EQ(durable_write(&d, 3, 64, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(d.control->sq.posted, 0);
	durable_complete(&d);
	expect_no_comp(d.w.cq);
	CT_EXPECT_EQ(d.control->sq.posted, 2);
	CT_EXPECT_EQ(durable_sent(&d, 0).kind, PVB_WIRE_REQUEST);
	CT_EXPECT_EQ(durable_sent(&d, 0).number, 1);
	expect_requested(&d, 1);
	CT_EXPECT_EQ(durable_sent(&d, 1).number, 2);
	durable_answer(&d, 0);
	durable_answer(&d, 0);
	expect_no_comp(d.w.cq);
	expect_comp(d.w.cq, NUMBER(1), WRITE, 0, 0);
	expect_comp(d.w.cq, NUMBER(2), SENT, 0, 0);
	expect_no_comp(d.w.cq);
	CT_EXPECT_EQ(durable_write(&d, 3, 64, 8, KEY_REQUESTS, FI_FENCE), 0);
	durable_close(&d);
}

CT_TEST(sends, a_fenced_write_of_nothing_ends_with_the_messages)
{
	static const uint16_t status[] = {0, FI_EOPNOTSUPP};
	struct durable d;

	for (size_t i = 0; i < CRN_COUNT(status); i++) {
		CT_NOTE("status %u", status[i]);
		CT_ASSERT_TRUE(durable_open(&d, NULL));
		CT_EXPECT_EQ(send_plain(&d, 1, 8), 0);
		CT_EXPECT_EQ(durable_write(&d, 2, 0, 0, KEY_READS, FI_FENCE), 0);
		durable_complete(&d);
		expect_comp(d.w.cq, NUMBER(1), SENT, 0, 0);
		expect_no_comp(d.w.cq);
		durable_answer(&d, status[i]);
		expect_no_comp(d.w.cq);
		if (status[i])
			expect_cq_error(d.w.cq, NUMBER(2), WRITE, status[i]);
		else
			expect_comp(d.w.cq, NUMBER(2), WRITE, 0, 0);
		expect_no_comp(d.w.cq);
		durable_close(&d);
	}
}

/* FI_EKEYREJECTED: its region was closed. */
static void expect_fails_once(uint16_t err)
{
	struct durable d;

	CT_NOTE("error %u", err);
	CT_ASSERT_TRUE(durable_open(&d, NULL));
	CT_EXPECT_EQ(send_plain(&d, 1, 8), 0);
	CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_VISIBLE, FI_FENCE), -FI_EAGAIN);
	answer(&d, err);
	expect_comp(d.w.cq, NUMBER(1), SENT, 0, 0);
	expect_no_comp(d.w.cq);
	/* As its completion, without anything written. */
	CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_VISIBLE, FI_FENCE), 0);
	CT_EXPECT_EQ(d.w.qp->sq.posted, 2);
	expect_cq_error(d.w.cq, NUMBER(2), WRITE, err);
	expect_no_comp(d.w.cq);
	CT_EXPECT_EQ(durable_write(&d, 3, 0, 8, KEY_VISIBLE, FI_FENCE), -err);
	CT_EXPECT_EQ(durable_write(&d, 3, 0, 8, KEY_VISIBLE, 0), 0);
	CT_EXPECT_EQ(plain_write(&d, 4, 64, 8, KEY_READS, FI_COMPLETION | FI_FENCE), 0);
	durable_complete(&d);
	expect_comp(d.w.cq, NUMBER(3), WRITE, 0, 0);
	expect_comp(d.w.cq, NUMBER(4), WRITE, 0, 0);
	durable_close(&d);
}

CT_TEST(sends, a_message_that_went_elsewhere_fails_the_operation_behind_it_once)
{
	expect_fails_once(FI_EOPNOTSUPP);
	expect_fails_once(FI_EKEYREJECTED);
}

CT_TEST(sends, a_target_that_does_not_answer_is_no_success_later)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	ct_time_stop();
	CT_EXPECT_EQ(send_plain(&d, 1, 8), 0);
	CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_VISIBLE, FI_FENCE), -FI_EAGAIN);
	durable_complete(&d);
	expect_comp(d.w.cq, NUMBER(1), SENT, 0, 0);
	ct_time_pass(DURABLE_TIMEOUT);
	expect_no_comp(d.w.cq);
	for (int i = 0; i < 2; i++)
		CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_VISIBLE, FI_FENCE),
			     -FI_ECONNABORTED);
	CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_VISIBLE, 0), 0);
	durable_close(&d);
}

/* Every call that sends, and none that brings nothing. */
CT_TEST(sends, messages_of_every_kind_count_and_empty_ones_do_not)
{
	struct durable d;

	for (int kind = 0; kind < 6; kind++) {
		CT_NOTE("kind %d", kind);
		CT_ASSERT_TRUE(durable_open(&d, NULL));
		switch (kind) {
		case 0:
			CT_EXPECT_EQ(send_plain(&d, 1, 8), 0);
			break;
		case 1:
			CT_EXPECT_EQ(fi_inject(d.w.ep, "1", 1, 0), 0);
			break;
		case 2:
			CT_EXPECT_EQ(fi_senddata(d.w.ep, "1", 1, NULL, 5, 0, NULL), 0);
			break;
		case 3:
			CT_EXPECT_EQ(fi_injectdata(d.w.ep, "1", 1, 5, 0), 0);
			break;
		case 4:
			CT_EXPECT_EQ(send_plain(&d, 1, 0), 0);
			break;
		default:
			CT_EXPECT_EQ(fi_writedata(d.w.ep, "1", 1, NULL, 5, 0,
						  DURABLE_ADDR, KEY_READS, NULL),
				     0);
			break;
		}
		CT_EXPECT_EQ(durable_write(&d, 2, 0x8000, 8, KEY_VISIBLE, FI_FENCE),
			     kind == 4 ? 0 : -FI_EAGAIN);
		CT_EXPECT_EQ(d.control->sq.posted, kind < 4);
		/* Of the write with data, a read of its own. */
		CT_EXPECT_EQ(d.qp->commit->counts[PVB_COMMIT_UPGRADES], kind != 4);
		durable_close(&d);
	}
}

CT_TEST(sends, without_a_target_that_can_be_asked_a_fence_fails_at_once)
{
	struct durable d;

	durable_open_without(&d, NULL);
	CT_EXPECT_EQ(send_plain(&d, 1, 8), 0);
	for (int i = 0; i < 2; i++)
		CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_READS, FI_FENCE),
			     -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_READS, 0), 0);
	durable_close(&d);

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	ep_of(d.w.ep)->conn.peer.version = 1;
	CT_EXPECT_EQ(send_plain(&d, 1, 8), 0);
	CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_READS, FI_FENCE), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(d.control->sq.posted, 0);
	durable_close(&d);
}

/* Of a domain that has none of its own, too. */
CT_TEST(sends, an_endpoint_without_control_qp_takes_note)
{
	const struct world_opts opts = {.tx_size = 64,
					.caps = FI_MSG | FI_RMA | FI_RMA_PMEM};
	struct durable d = {0};

	world_reset();
	pvb_params.durable = PVB_DURABLE_OFF;
	CT_ASSERT_TRUE(world_open_connected(&d.w, &opts));
	CT_EXPECT_TRUE(ep_of(d.w.ep)->qp.control_qp == NULL);
	CT_EXPECT_EQ(durable_write(&d, 1, 0, 8, KEY_READS, FI_FENCE), 0);
	CT_EXPECT_EQ(send_plain(&d, 2, 8), 0);
	CT_EXPECT_EQ(durable_write(&d, 3, 0, 8, KEY_READS, FI_FENCE), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(durable_write(&d, 3, 0, 8, KEY_READS, 0), 0);
	durable_close(&d);
}

/* Neither more requests than agreed on, nor more entries than there are. */
CT_TEST(sends, a_request_without_room_for_it_waits)
{
	const struct world_opts opts = {.tx_size = 40};
	unsigned int posted;
	struct durable d;

	for (int full = 0; full <= 1; full++) {
		CT_NOTE("full queue: %d", full);
		CT_ASSERT_TRUE(durable_open(&d, &opts));
		if (full) {
			while (!send_plain(&d, 1, 8))
				;
		} else {
			for (uint64_t i = 0; i < PVB_CONTROL_CREDITS; i++)
				CT_EXPECT_EQ(durable_write(&d, 1, i * 64, 8, KEY_REQUESTS,
							   0),
					     0);
			CT_EXPECT_EQ(send_plain(&d, 1, 8), 0);
		}
		posted = d.w.qp->sq.posted;
		CT_EXPECT_EQ(durable_write(&d, 2, 0x8000, 8, KEY_VISIBLE, FI_FENCE),
			     -FI_EAGAIN);
		CT_EXPECT_EQ(d.w.qp->sq.posted, posted);
		CT_EXPECT_EQ(d.control->sq.posted, full ? 0 : PVB_CONTROL_CREDITS);
		durable_close(&d);
	}
}

CT_TEST(sends, a_request_that_is_not_posted_is_made_again)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	CT_EXPECT_EQ(send_plain(&d, 1, 8), 0);
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_VISIBLE, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(d.control->sq.posted, 0);
	CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_VISIBLE, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(d.control->sq.posted, 1);
	CT_EXPECT_EQ(durable_sent(&d, 0).number, 1);
	answer(&d, 0);
	expect_comp(d.w.cq, NUMBER(1), SENT, 0, 0);
	expect_no_comp(d.w.cq);
	CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_VISIBLE, FI_FENCE), 0);
	durable_close(&d);
}

/* Where recovery looks into receives, one read is enough. */
CT_TEST(sends, messages_that_recovery_finds_need_no_request)
{
	const struct pvb_wire_message replay = {
		.kind = PVB_WIRE_REPLAY,
		.to = {.addr = 0x123000},
		.key = KEY_READS,
	};
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	durable_message(&d, &replay);
	expect_no_comp(d.w.cq);
	CT_EXPECT_EQ(send_plain(&d, 1, 8), 0);
	CT_EXPECT_EQ(durable_write(&d, 2, 0x8000, 8, KEY_READS, FI_FENCE), 0);
	CT_EXPECT_EQ(d.control->sq.posted, 0);
	CT_EXPECT_EQ(d.w.qp->sq.posted, 4);
	CT_EXPECT_EQ(fake_wr(&d.w.qp->sq, 1)->opcode, IBV_WR_RDMA_READ);
	CT_EXPECT_EQ(fake_wr(&d.w.qp->sq, 1)->remote_addr, 0x123000);
	durable_complete(&d);
	expect_comp(d.w.cq, NUMBER(1), SENT, 0, 0);
	expect_comp(d.w.cq, NUMBER(2), WRITE, 0, 0);
	durable_close(&d);
}

CT_TEST(sends, what_was_written_elsewhere_fails_every_fence_behind_it)
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
	struct durable d;
	uint64_t key;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].what);
		key = rows[i].descriptor ? KEY_READS ^ 1ull << 60 : PLAIN;
		CT_ASSERT_TRUE(durable_open(&d, NULL));
		CT_EXPECT_EQ(plain_write(&d, 1, 0, rows[i].len, key, FI_COMPLETION), 0);
		for (int k = 0; k < 2; k++)
			CT_EXPECT_EQ(durable_write(&d, 2, 0x8000, 8, KEY_READS, FI_FENCE),
				     rows[i].ret);
		CT_EXPECT_EQ(durable_write(&d, 3, 0x8000, 8, KEY_READS, 0), 0);
		durable_close(&d);
	}
}

CT_TEST(sends, what_was_posted_before_anybody_took_note_is_not_known)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	pvb_commit_close(d.qp);
	CT_EXPECT_EQ(send_plain(&d, 1, 8), 0);
	CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_READS, FI_FENCE), -FI_EOPNOTSUPP);
	durable_close(&d);

	/* But for what the provider posts itself. */
	CT_ASSERT_TRUE(durable_open(&d, NULL));
	pvb_commit_close(d.qp);
	CT_EXPECT_TRUE(pvb_tx_keepalive(ep_of(d.w.ep)));
	CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_READS, FI_FENCE), 0);
	durable_close(&d);
}

/* fi_cq(3): no word of durability, but what was posted before it has ended. */
CT_TEST(sends, a_fence_without_the_flag_asks_for_nothing)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	CT_EXPECT_EQ(send_plain(&d, 1, 8), 0);
	CT_EXPECT_EQ(plain_write(&d, 2, 0, 8, KEY_READS, FI_FENCE), 0);
	CT_EXPECT_EQ(d.control->sq.posted, 0);
	durable_close(&d);
}

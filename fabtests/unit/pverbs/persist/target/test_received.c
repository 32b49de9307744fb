/* SPDX-License-Identifier: BSD-2-Clause */
/* Plain messages, at their target, when a later operation wants them to be durable. */
#include "../durable.h"
#include "../fake_pmem.h"
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"

#define MESSAGE (FI_RECV | FI_MSG)
#define FAR 32768u /* further apart than what is as good as one range */

static struct {
	struct durable d;
	_Alignas(64) uint8_t mem[2][20 * FAR]; /* two regions */
	uint8_t plain[256];
	struct pvb_pmem_region region[2];
	uint32_t requested;
} at;

static bool open_target(void)
{
	memset(&at.d, 0, sizeof(at.d));
	at.requested = 0;
	fake_pmem = (struct fake_pmem){0};
	if (!durable_open(&at.d, NULL))
		return false;
	at.d.control_qp->control->domain->info->domain_attr->data_progress =
		FI_PROGRESS_MANUAL;
	for (size_t i = 0; i < 2; i++) {
		at.region[i] = (struct pvb_pmem_region){
			.addr = (uintptr_t)at.mem[i],
			.len = sizeof(at.mem[i]),
			.rkey = 9 + (uint32_t)i,
			.flush = true,
		};
		CT_EXPECT_EQ(pvb_pmem_region_add(at.d.control_qp->control, &at.region[i]),
			     0);
	}
	return !ct_failed();
}

static void close_target(void)
{
	for (size_t i = 0; i < 2; i++)
		pvb_pmem_region_del(at.d.control_qp->control, &at.region[i]);
	durable_close(&at.d);
}

/* A message of len bytes into a receive there. */
static void arrives(void *buf, uint32_t len)
{
	CT_EXPECT_EQ(fi_recv(at.d.w.ep, buf, 100, NULL, 0, NUMBER(1)), 0);
	fake_receive(at.d.w.qp, IBV_WC_RECV, len, NULL);
	expect_comp(at.d.w.cq, NUMBER(1), MESSAGE, len, 0);
}

static void send_request(uint32_t messages)
{
	const struct pvb_wire_message message = {
		.kind = PVB_WIRE_MESSAGES,
		.number = ++at.requested,
		.messages = messages,
	};

	durable_message(&at.d, &message);
	expect_no_comp(at.d.w.cq);
}

static uint16_t answered(void)
{
	struct pvb_wire_message answer;

	CT_EXPECT_NE(at.d.control->sq.posted, 0);
	CT_EXPECT_FALSE(at.d.control_qp->lost);
	if (!at.d.control->sq.posted)
		return UINT16_MAX;
	answer = durable_sent(&at.d, at.d.control->sq.posted - 1);
	CT_EXPECT_EQ(answer.kind, PVB_WIRE_ANSWER);
	CT_EXPECT_EQ(answer.number, at.requested);
	fake_complete_all(at.d.control);
	expect_no_comp(at.d.w.cq);
	return answer.status;
}

static bool flushed_byte(const uint8_t *at_byte)
{
	for (unsigned int i = 0; i < fake_pmem.flushes; i++) {
		const uint8_t *addr = fake_pmem.flush[i].addr;

		if (addr <= at_byte && at_byte < addr + fake_pmem.flush[i].len)
			return true;
	}
	return false;
}

/* Is all of it among what was written back, in one piece or in several? */
static bool flushed(const uint8_t *from, size_t len)
{
	CT_EXPECT_LE(fake_pmem.flushes, FAKE_PMEM_MOST);
	while (len && flushed_byte(from)) {
		from++;
		len--;
	}
	return !len;
}

CT_TEST(received, plain_messages_are_written_back_when_they_are_asked_for)
{
	CT_ASSERT_TRUE(open_target());
	arrives(at.mem[0], 77);
	arrives(at.mem[1] + FAR, 50);
	CT_EXPECT_EQ(fake_pmem.flushes, 0);
	send_request(2);
	CT_EXPECT_EQ(answered(), 0);
	CT_EXPECT_EQ(fake_pmem.flushes, 2);
	CT_EXPECT_TRUE(flushed(at.mem[0], 77));
	CT_EXPECT_TRUE(flushed(at.mem[1] + FAR, 50));
	CT_EXPECT_EQ(fake_pmem.undrained, 0);
	/* Once is enough. */
	send_request(2);
	CT_EXPECT_EQ(answered(), 0);
	CT_EXPECT_EQ(fake_pmem.flushes, 2);
	close_target();
}

CT_TEST(received, a_request_waits_for_its_messages)
{
	CT_ASSERT_TRUE(open_target());
	send_request(2);
	CT_EXPECT_EQ(at.d.control->sq.posted, 0);
	arrives(at.mem[0], 77);
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(at.d.control->sq.posted, 0);
	arrives(at.mem[0] + FAR, 77);
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(answered(), 0);
	CT_EXPECT_TRUE(flushed(at.mem[0], 77));
	CT_EXPECT_TRUE(flushed(at.mem[0] + FAR, 77));
	close_target();
}

/* Numbers go round; what is far away in front was received long ago. */
CT_TEST(received, any_number_is_of_the_next_messages_or_of_the_last)
{
	CT_ASSERT_TRUE(open_target());
	at.d.control_qp->messages = at.d.control_qp->arrived = UINT32_MAX;
	send_request(0);
	CT_EXPECT_EQ(at.d.control->sq.posted, 0);
	arrives(at.mem[0], 7);
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(answered(), 0);
	send_request(UINT32_MAX);
	CT_EXPECT_EQ(answered(), 0);
	send_request((1u << 31) + 1);
	CT_EXPECT_EQ(answered(), 0);
	close_target();
}

CT_TEST(received, more_than_can_be_kept_apart_is_not_forgotten)
{
	CT_ASSERT_TRUE(open_target());
	for (size_t i = 0; i < 20; i++)
		arrives(at.mem[0] + i * FAR, 8);
	arrives(at.mem[1], 8);
	CT_EXPECT_LE(at.d.control_qp->received.count, PVB_DIRTY_APART + 1);
	send_request(21);
	/* In pieces: what became one range is longer than others wait for. */
	CT_EXPECT_EQ(at.d.control->sq.posted, 0);
	for (size_t i = 0; i < 20 && !at.d.control->sq.posted; i++)
		expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(answered(), 0);
	for (size_t i = 0; i < 20; i++)
		CT_EXPECT_TRUE(flushed(at.mem[0] + i * FAR, 8));
	CT_EXPECT_TRUE(flushed(at.mem[1], 8));
	close_target();
}

CT_TEST(received, without_memory_to_remember_it_is_written_back_at_once)
{
	CT_ASSERT_TRUE(open_target());
	CT_EXPECT_EQ(fi_recv(at.d.w.ep, at.mem[0], 100, NULL, 0, NUMBER(1)), 0);
	fake_receive(at.d.w.qp, IBV_WC_RECV, 70, NULL);
	ct_fail_alloc(1);
	expect_comp(at.d.w.cq, NUMBER(1), MESSAGE, 70, 0);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_TRUE(flushed(at.mem[0], 70));
	CT_EXPECT_EQ(fake_pmem.undrained, 0);
	send_request(1);
	CT_EXPECT_EQ(answered(), 0);
	close_target();
}

/* Others do not wait for as much as a peer sends. */
CT_TEST(received, without_memory_to_remember_it_a_large_one_is_never_durable)
{
	const uint32_t len = PVB_PIECE + 1;

	CT_ASSERT_TRUE(open_target());
	CT_EXPECT_EQ(fi_recv(at.d.w.ep, at.mem[0], len, NULL, 0, NUMBER(1)), 0);
	fake_receive(at.d.w.qp, IBV_WC_RECV, len, NULL);
	ct_fail_alloc(1);
	expect_comp(at.d.w.cq, NUMBER(1), MESSAGE, len, 0);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(fake_pmem.flushes, 0);
	send_request(1);
	CT_EXPECT_EQ(answered(), FI_ENOMEM);
	close_target();
}

CT_TEST(received, a_message_in_other_memory_is_never_durable)
{
	struct iovec iov[2] = {{at.mem[0], 16}, {at.plain, 16}};

	CT_ASSERT_TRUE(open_target());
	arrives(at.mem[0], 8);
	arrives(at.plain, 0);
	send_request(2);
	CT_EXPECT_EQ(answered(), 0);
	/* Its second piece. */
	CT_EXPECT_EQ(fi_recvv(at.d.w.ep, iov, NULL, 2, 0, NUMBER(2)), 0);
	fake_receive(at.d.w.qp, IBV_WC_RECV, 17, NULL);
	expect_comp(at.d.w.cq, NUMBER(2), MESSAGE, 17, 0);
	arrives(at.mem[0], 8);
	for (int i = 0; i < 2; i++) {
		send_request(4);
		CT_EXPECT_EQ(answered(), FI_EOPNOTSUPP);
	}
	close_target();
}

CT_TEST(received, what_a_write_with_data_wrote_is_not_the_receives)
{
	const uint32_t data = 5;

	CT_ASSERT_TRUE(open_target());
	CT_EXPECT_EQ(fi_recv(at.d.w.ep, at.plain, 100, NULL, 0, NUMBER(1)), 0);
	fake_receive(at.d.w.qp, IBV_WC_RECV_RDMA_WITH_IMM, 8, &data);
	expect_comp(at.d.w.cq, NUMBER(1), FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA, 8,
		    5);
	send_request(1);
	CT_EXPECT_EQ(answered(), 0);
	CT_EXPECT_EQ(fake_pmem.flushes, 0);
	close_target();
}

CT_TEST(received, a_region_that_is_closed_before_cannot_be_written_back)
{
	static const bool there[] = {true, false};

	for (size_t i = 0; i < CRN_COUNT(there); i++) {
		CT_NOTE("in that region: %d", there[i]);
		CT_ASSERT_TRUE(open_target());
		arrives(at.mem[there[i] ? 0 : 1], 8);
		pvb_pmem_region_del(at.d.control_qp->control, &at.region[0]);
		send_request(1);
		CT_EXPECT_EQ(answered(), there[i] ? FI_EKEYREJECTED : 0);
		CT_EXPECT_EQ(fake_pmem.flushes, !there[i]);
		CT_EXPECT_EQ(pvb_pmem_region_add(at.d.control_qp->control, &at.region[0]),
			     0);
		close_target();
	}
}

/* What is left of the request cannot be written back any more, and no later one says so.
 */
CT_TEST(received, a_region_that_is_closed_between_pieces_is_never_durable)
{
	CT_ASSERT_TRUE(open_target());
	for (size_t i = 0; i < 20; i++)
		arrives(at.mem[0] + i * FAR, 8);
	send_request(20);
	CT_EXPECT_EQ(at.d.control->sq.posted, 0);
	pvb_pmem_region_del(at.d.control_qp->control, &at.region[0]);
	for (size_t i = 0; i < 2; i++) {
		expect_no_comp(at.d.w.cq);
		CT_EXPECT_EQ(answered(), FI_EKEYREJECTED);
		send_request(20);
	}
	CT_EXPECT_EQ(pvb_pmem_region_add(at.d.control_qp->control, &at.region[0]), 0);
	close_target();
}

/* A request behind it is not done either, if it is fenced. */
CT_TEST(received, a_fenced_request_behind_messages_in_other_memory_is_not_done)
{
	uint64_t word = 5;
	const struct pvb_wire_message fenced = {
		.kind = PVB_WIRE_REQUEST,
		.number = 2,
		.copy = 8,
		.to = {(uintptr_t)at.mem[0], 8, 9},
		.bytes = (const uint8_t *)&word,
	};

	CT_ASSERT_TRUE(open_target());
	at.region[0].write = true;
	memset(at.mem[0], 0, 8);
	arrives(at.plain, 8);
	send_request(1);
	CT_EXPECT_EQ(answered(), FI_EOPNOTSUPP);
	durable_message(&at.d, &fenced);
	at.requested++;
	expect_no_comp(at.d.w.cq);
	CT_EXPECT_EQ(answered(), FI_ECANCELED);
	CT_EXPECT_EQ(at.mem[0][0], 0);
	close_target();
}

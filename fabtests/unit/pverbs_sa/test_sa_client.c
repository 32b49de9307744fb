/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/sa/sa_client.c and sa_rmpp.c, over an administrator of which each
 * datagram is the test's. */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "sa/sa.h"

#define WAIT_MS 100
#define FIRST_TID 40

static struct {
	struct pvb_sa_client client;
	uint64_t now;		/* ms, when a datagram arrives */
	struct pvb_sa_hdr sent; /* the last datagram */
	int sends;
	int notices;
	struct pvb_notice notice;
	int answers;
	struct pvb_sa_answer answer;
	uint8_t data[1024]; /* of the answer */
} w;

static int world_send(void *arg, const uint8_t *mad, uint32_t wait_ms)
{
	w.sends++;
	return pvb_sa_unpack(mad, PVB_MAD_SIZE, &w.sent);
}

static void world_notice(void *arg, const struct pvb_notice *notice)
{
	w.notices++;
	w.notice = *notice;
}

static void world_done(void *arg, const struct pvb_sa_answer *answer)
{
	w.answers++;
	w.answer = *answer;
	if (answer->len <= sizeof(w.data) && answer->len)
		memcpy(w.data, answer->data, answer->len);
}

static const struct pvb_sa_ops world_ops = {.send = world_send, .notice = world_notice};

static void world_open(void)
{
	memset(&w, 0, sizeof(w));
	w.now = 10;
	pvb_sa_open(&w.client, &world_ops, NULL, FIRST_TID);
}

static int ask(uint8_t method, uint32_t tries)
{
	const struct pvb_sa_request request = {.method = method,
					       .attr = PVB_SA_MCMEMBER_RECORD,
					       .comp_mask = PVB_MCM_HAS_MGID,
					       .wait_ms = WAIT_MS,
					       .tries = tries,
					       .done = world_done};

	return pvb_sa_ask(&w.client, &request, 0);
}

static struct pvb_sa_hdr answer_of(uint8_t method, uint64_t tid)
{
	return (struct pvb_sa_hdr){.method = method | PVB_SA_RESPONSE,
				   .attr = PVB_SA_MCMEMBER_RECORD,
				   .tid = tid,
				   .attr_offset = 7};
}

/* Data are fill in each byte. */
static void arrive(const struct pvb_sa_hdr *hdr, uint8_t fill)
{
	uint8_t mad[PVB_MAD_SIZE];

	pvb_sa_pack(mad, hdr);
	memset(pvb_sa_data(mad), fill, PVB_SA_DATA_SIZE);
	pvb_sa_arrived(&w.client, mad, sizeof(mad), w.now);
}

CT_TEST(sa_client, R17_an_answer_ends_its_request_with_status_and_record)
{
	struct pvb_sa_hdr hdr = answer_of(PVB_SA_GET, 0xabcd000000000000 | FIRST_TID);

	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_SET, 3), 0);
	CT_EXPECT_EQ(w.sent.method, PVB_SA_SET);
	CT_EXPECT_EQ(w.sent.comp_mask, PVB_MCM_HAS_MGID);
	hdr.status = PVB_SA_REQ_INVALID;
	arrive(&hdr, 5);
	CT_ASSERT_EQ(w.answers, 1);
	CT_EXPECT_EQ(w.answer.err, 0);
	CT_EXPECT_EQ(w.answer.status, PVB_SA_REQ_INVALID);
	CT_EXPECT_EQ(w.data[PVB_MCM_SIZE - 1], 5);
	CT_EXPECT_EQ(pvb_sa_timeout(&w.client, 0), -1);
}

CT_TEST(sa_client, a_request_has_the_key_of_the_manager_that_the_caller_knows)
{
	struct pvb_sa_request request = {.method = PVB_SA_GET_TABLE,
					 .attr = PVB_SA_MCMEMBER_RECORD,
					 .sm_key = 0x0123456789abcdef,
					 .tries = 1,
					 .done = world_done};

	world_open();
	CT_ASSERT_EQ(pvb_sa_ask(&w.client, &request, 0), 0);
	CT_EXPECT_EQ(w.sent.sm_key, 0x0123456789abcdef);
	request.sm_key = 0;
	CT_ASSERT_EQ(pvb_sa_ask(&w.client, &request, 0), 0);
	CT_EXPECT_EQ(w.sent.sm_key, 0);
}

CT_TEST(sa_client, what_is_not_answered_is_sent_again_with_its_number_and_given_up)
{
	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_GET, 2), 0);
	CT_EXPECT_EQ(pvb_sa_timeout(&w.client, 30), WAIT_MS - 30);
	pvb_sa_progress(&w.client, WAIT_MS - 1);
	CT_EXPECT_EQ(w.sends, 1);
	pvb_sa_progress(&w.client, WAIT_MS);
	CT_EXPECT_EQ(w.sends, 2);
	CT_EXPECT_EQ(w.sent.tid, FIRST_TID);
	CT_EXPECT_EQ(w.answers, 0);
	pvb_sa_progress(&w.client, 2 * WAIT_MS);
	CT_EXPECT_EQ(w.sends, 2);
	CT_ASSERT_EQ(w.answers, 1);
	CT_EXPECT_EQ(w.answer.err, -FI_ETIMEDOUT);
}

CT_TEST(sa_client, who_comes_late_does_not_wait_for_what_was_due)
{
	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_GET, 2), 0);
	CT_EXPECT_EQ(pvb_sa_timeout(&w.client, WAIT_MS), 0);
	CT_EXPECT_EQ(pvb_sa_timeout(&w.client, 2 * WAIT_MS + 1), 0);
}

CT_TEST(sa_client, late_and_repeated_answers_are_dropped)
{
	struct pvb_sa_hdr hdr = answer_of(PVB_SA_GET, FIRST_TID);

	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_GET, 1), 0);
	pvb_sa_progress(&w.client, WAIT_MS);
	CT_ASSERT_EQ(ask(PVB_SA_GET, 1), 0);
	arrive(&hdr, 0);
	CT_EXPECT_EQ(w.answers, 1);
	CT_EXPECT_EQ(w.client.dropped, 1);
	hdr.tid = FIRST_TID + 1;
	arrive(&hdr, 0);
	arrive(&hdr, 0);
	CT_EXPECT_EQ(w.answers, 2);
	CT_EXPECT_EQ(w.client.dropped, 2);
}

CT_TEST(sa_client, answers_of_another_kind_are_dropped)
{
	struct pvb_sa_hdr hdr = answer_of(PVB_SA_DELETE, FIRST_TID);

	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_GET, 1), 0);
	arrive(&hdr, 0);
	hdr = answer_of(PVB_SA_GET, FIRST_TID);
	hdr.attr = PVB_SA_PATH_RECORD;
	arrive(&hdr, 0);
	pvb_sa_arrived(&w.client, "short", 5, 0);
	CT_EXPECT_EQ(w.answers, 0);
	CT_EXPECT_EQ(w.client.dropped, 3);
	pvb_sa_close(&w.client);
}

CT_TEST(sa_client, a_busy_administrator_is_asked_again_later)
{
	struct pvb_sa_hdr hdr = answer_of(PVB_SA_GET, FIRST_TID);

	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_GET, 2), 0);
	hdr.status = PVB_SA_BUSY;
	arrive(&hdr, 0);
	CT_EXPECT_EQ(w.answers, 0);
	CT_EXPECT_EQ(w.sends, 1);
	pvb_sa_progress(&w.client, WAIT_MS);
	CT_EXPECT_EQ(w.sends, 2);
	hdr.status = 0;
	arrive(&hdr, 0);
	CT_EXPECT_EQ(w.answers, 1);
}

CT_TEST(sa_client, no_more_than_a_fixed_number_is_outstanding_and_close_ends_them)
{
	int i;

	world_open();
	for (i = 0; i < PVB_SA_OUTSTANDING; i++)
		CT_ASSERT_EQ(ask(PVB_SA_GET, 1), 0);
	CT_EXPECT_EQ(ask(PVB_SA_GET, 1), -FI_EAGAIN);
	pvb_sa_close(&w.client);
	CT_EXPECT_EQ(w.answers, PVB_SA_OUTSTANDING);
	CT_EXPECT_EQ(w.answer.err, -FI_ECANCELED);
	CT_EXPECT_EQ(ask(PVB_SA_GET, 1), -FI_EINVAL);
}

CT_TEST(sa_client, what_is_taken_back_is_not_called_and_its_answer_is_late)
{
	struct pvb_sa_hdr hdr = answer_of(PVB_SA_GET, FIRST_TID);
	struct pvb_sa_request request = {.method = PVB_SA_GET,
					 .attr = PVB_SA_MCMEMBER_RECORD,
					 .wait_ms = WAIT_MS,
					 .tries = 2,
					 .done = world_done,
					 .arg = &w.sends};
	int i;

	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_GET, 1), 0);
	for (i = 1; i < PVB_SA_OUTSTANDING; i++)
		CT_ASSERT_EQ(pvb_sa_ask(&w.client, &request, 0), 0);
	pvb_sa_cancel(&w.client, &w.sends);
	CT_EXPECT_EQ(w.answers, 0);
	hdr.tid++;
	arrive(&hdr, 0);
	CT_EXPECT_EQ(w.answers, 0);
	CT_EXPECT_EQ(w.client.dropped, 1);
	/* Its place is free, and the other one is still asked for. */
	CT_EXPECT_EQ(pvb_sa_ask(&w.client, &request, 0), 0);
	pvb_sa_cancel(&w.client, &w.sends);
	hdr.tid = FIRST_TID;
	arrive(&hdr, 0);
	CT_EXPECT_EQ(w.answers, 1);
	CT_EXPECT_EQ(pvb_sa_timeout(&w.client, 0), -1);
}

CT_TEST(sa_client, what_is_taken_back_has_no_table_any_more)
{
	struct pvb_sa_hdr hdr = answer_of(PVB_SA_GET_TABLE, FIRST_TID);

	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_GET_TABLE, 1), 0);
	hdr.rmpp_version = PVB_RMPP_VERSION;
	hdr.rmpp_type = PVB_RMPP_DATA;
	hdr.rmpp_flags = PVB_RMPP_ACTIVE | PVB_RMPP_FIRST;
	hdr.segment = 1;
	arrive(&hdr, 1);
	pvb_sa_cancel(&w.client, NULL);
	pvb_sa_close(&w.client);
	CT_EXPECT_EQ(w.answers, 0);
}

/* Number segment of a table, of which the last has 52 bytes. */
static void segment_of(uint32_t tid, uint32_t number, bool last)
{
	struct pvb_sa_hdr hdr = answer_of(PVB_SA_GET_TABLE, tid);

	hdr.rmpp_version = PVB_RMPP_VERSION;
	hdr.rmpp_type = PVB_RMPP_DATA;
	hdr.rmpp_flags = PVB_RMPP_ACTIVE | (last ? PVB_RMPP_LAST : 0);
	hdr.segment = number;
	hdr.length = last ? 20 + PVB_MCM_SIZE : 0;
	arrive(&hdr, (uint8_t)number);
}

static void segment(uint32_t number, bool last)
{
	segment_of(FIRST_TID, number, last);
}

static void expect_ack(uint32_t number)
{
	CT_EXPECT_EQ(w.sent.rmpp_type, PVB_RMPP_ACK);
	CT_EXPECT_EQ(w.sent.method, PVB_SA_GET_TABLE);
	CT_EXPECT_EQ(w.sent.tid, FIRST_TID);
	CT_EXPECT_EQ(w.sent.segment, number);
	CT_EXPECT_GE(w.sent.length, number);
}

CT_TEST(sa_rmpp, a_table_is_put_together_and_acknowledged)
{
	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_GET_TABLE, 1), 0);
	segment(1, false);
	CT_EXPECT_EQ(w.sends, 2);
	expect_ack(1);
	segment(2, false);
	CT_EXPECT_EQ(w.sends, 2);
	segment(3, true);
	expect_ack(3);
	CT_ASSERT_EQ(w.answers, 1);
	CT_EXPECT_EQ(w.answer.err, 0);
	CT_EXPECT_EQ(w.answer.record_size, 56);
	CT_EXPECT_EQ(w.answer.len, 2 * PVB_SA_DATA_SIZE + PVB_MCM_SIZE);
	CT_EXPECT_EQ(w.data[0], 1);
	CT_EXPECT_EQ(w.data[PVB_SA_DATA_SIZE], 2);
	CT_EXPECT_EQ(w.data[2 * PVB_SA_DATA_SIZE], 3);
}

CT_TEST(sa_rmpp, lost_and_repeated_segments_are_asked_for_by_the_ack)
{
	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_GET_TABLE, 1), 0);
	segment(2, false);
	CT_EXPECT_EQ(w.sends, 1);
	segment(1, false);
	segment(3, true);
	expect_ack(1);
	segment(1, false);
	expect_ack(1);
	CT_EXPECT_EQ(w.answers, 0);
	segment(2, false);
	segment(3, true);
	CT_EXPECT_EQ(w.answers, 1);
	CT_EXPECT_EQ(w.answer.len, 2 * PVB_SA_DATA_SIZE + PVB_MCM_SIZE);
}

CT_TEST(sa_rmpp, a_table_of_which_no_more_comes_is_asked_for_again_from_the_start)
{
	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_GET_TABLE, 2), 0);
	segment(1, false);
	/* It waits anew from each segment, which came at 10, and not from one that it
	 * has. */
	w.now = 50;
	segment(1, false);
	CT_EXPECT_EQ(w.sends, 3);
	w.sends--;
	pvb_sa_progress(&w.client, WAIT_MS + 9);
	CT_EXPECT_EQ(w.sends, 2);
	pvb_sa_progress(&w.client, WAIT_MS + 10);
	CT_EXPECT_EQ(w.sends, 3);
	CT_EXPECT_EQ(w.sent.tid, FIRST_TID + 1);
	CT_EXPECT_EQ(w.sent.comp_mask, PVB_MCM_HAS_MGID);
	/* Of the first one, which may have been another table. */
	segment(2, true);
	CT_EXPECT_EQ(w.client.dropped, 1);
	segment_of(FIRST_TID + 1, 1, false);
	segment(2, true);
	CT_EXPECT_EQ(w.answers, 0);
	segment_of(FIRST_TID + 1, 2, true);
	CT_EXPECT_EQ(w.answers, 1);
	CT_EXPECT_EQ(w.answer.len, PVB_SA_DATA_SIZE + PVB_MCM_SIZE);
}

/* The sender is told to send no more (13.6.2.1). */
static void expect_end(uint8_t type, uint8_t status, uint64_t tid)
{
	CT_EXPECT_EQ(w.sent.rmpp_type, type);
	CT_EXPECT_EQ(w.sent.rmpp_status, status);
	CT_EXPECT_EQ(w.sent.rmpp_flags, PVB_RMPP_ACTIVE);
	CT_EXPECT_EQ(w.sent.method, PVB_SA_GET_TABLE);
	CT_EXPECT_EQ(w.sent.tid, tid);
	CT_EXPECT_EQ(w.sent.segment, 0);
}

CT_TEST(sa_rmpp, a_table_that_is_broken_or_given_up_fails)
{
	struct pvb_sa_hdr hdr = answer_of(PVB_SA_GET_TABLE, FIRST_TID);

	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_GET_TABLE, 1), 0);
	hdr.rmpp_type = PVB_RMPP_ABORT;
	hdr.rmpp_flags = PVB_RMPP_ACTIVE;
	arrive(&hdr, 0);
	CT_EXPECT_EQ(w.answer.err, -FI_EIO);
	CT_ASSERT_EQ(ask(PVB_SA_GET_TABLE, 1), 0);
	hdr.tid++;
	hdr.rmpp_type = PVB_RMPP_DATA;
	hdr.rmpp_flags |= PVB_RMPP_LAST;
	hdr.segment = 1;
	hdr.length = 19;
	arrive(&hdr, 0);
	CT_EXPECT_EQ(w.answer.err, -FI_EINVAL);
	CT_EXPECT_EQ(w.answers, 2);
	expect_end(PVB_RMPP_ABORT, 119, FIRST_TID + 1);
}

CT_TEST(sa_rmpp, a_table_beyond_the_limit_ends_the_request)
{
	uint32_t number;

	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_GET_TABLE, 1), 0);
	for (number = 1; !w.answers; number++) {
		CT_ASSERT_LE(number, PVB_SA_TABLE_MAX / PVB_SA_DATA_SIZE + 1);
		segment(number, false);
	}
	CT_EXPECT_EQ(w.answer.err, -FI_EMSGSIZE);
	expect_end(PVB_RMPP_STOP, 1, FIRST_TID);
}

CT_TEST(sa_client, R31_a_report_is_answered_each_time_and_told_once)
{
	struct pvb_sa_hdr hdr = {.method = PVB_SA_REPORT,
				 .attr = PVB_SA_NOTICE,
				 .tid = 99};

	world_open();
	arrive(&hdr, 66);
	CT_EXPECT_EQ(w.notices, 1);
	CT_EXPECT_EQ(w.notice.trap, 66 << 8 | 66);
	CT_EXPECT_EQ(w.sent.method, PVB_SA_REPORT | PVB_SA_RESPONSE);
	CT_EXPECT_EQ(w.sent.tid, 99);
	arrive(&hdr, 66);
	CT_EXPECT_EQ(w.sends, 2);
	CT_EXPECT_EQ(w.notices, 1);
	hdr.tid++;
	arrive(&hdr, 67);
	CT_EXPECT_EQ(w.notices, 2);
	/* A manager that has started again counts from the start. */
	hdr.tid--;
	arrive(&hdr, 64);
	CT_EXPECT_EQ(w.notices, 3);
	pvb_sa_close(&w.client);
	arrive(&hdr, 67);
	CT_EXPECT_EQ(w.sends, 4);
}

/* What opensm 3.3 answered to a join on a subnet of ibsim, as libibumad gave it: 112
 * bytes, the record with its padding. The kernel's half of the number is 1. */
static const uint8_t opensm_joined[112] = {
	0x01, 0x03, 0x02, 0x81, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x02, 0x00, 0x38, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x01, 0x00, 0x03, 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x80, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x03, 0x80, 0x00, 0x0b,
	0x1b, 0xc0, 0x00, 0x84, 0x03, 0xff, 0xff, 0x83, 0x92, 0x00, 0x00, 0x05, 0x00,
	0x21, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};

CT_TEST(sa_client, R17_the_attributes_of_a_join_are_those_that_opensm_answered)
{
	struct pvb_mcm mcm;

	memset(&w, 0, sizeof(w));
	pvb_sa_open(&w.client, &world_ops, NULL, 2);
	CT_ASSERT_EQ(ask(PVB_SA_SET, 1), 0);
	pvb_sa_arrived(&w.client, opensm_joined, sizeof(opensm_joined), 1);
	CT_ASSERT_EQ(w.answers, 1);
	CT_EXPECT_EQ(w.answer.err, 0);
	CT_EXPECT_EQ(w.answer.status, PVB_SA_OK);
	CT_EXPECT_EQ(w.answer.record_size, 56);
	CT_EXPECT_EQ(w.answer.len, 56);
	CT_ASSERT_EQ(pvb_mcm_unpack(w.data, w.answer.len, &mcm), 0);
	CT_EXPECT_EQ(mcm.mlid, 0xc000);
	CT_EXPECT_EQ(mcm.qkey, 0x80000b1b);
	CT_EXPECT_EQ(mcm.mtu, 4);
	CT_EXPECT_EQ(mcm.tclass, 3);
	CT_EXPECT_EQ(mcm.rate, 3);
	CT_EXPECT_EQ(mcm.pkey, 0xffff);
	CT_EXPECT_EQ(mcm.flow_label, 5);
	CT_EXPECT_EQ(mcm.scope, 2);
	CT_EXPECT_EQ(mcm.join_state, PVB_MCM_FULL);
}

CT_TEST(sa_rmpp, a_table_that_the_kernel_has_put_together_is_taken_as_it_is)
{
	struct pvb_sa_hdr hdr = answer_of(PVB_SA_GET_TABLE, FIRST_TID);
	uint8_t mad[PVB_MAD_SIZE + 100] = {0};

	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_GET_TABLE, 1), 0);
	hdr.rmpp_version = PVB_RMPP_VERSION;
	hdr.rmpp_type = PVB_RMPP_DATA;
	hdr.rmpp_flags = PVB_RMPP_ACTIVE | PVB_RMPP_FIRST;
	hdr.segment = 1;
	pvb_sa_pack(mad, &hdr);
	pvb_sa_arrived(&w.client, mad, sizeof(mad), 1);
	CT_EXPECT_EQ(w.answers, 1);
	CT_EXPECT_EQ(w.answer.len, PVB_SA_DATA_SIZE + 100);
	CT_EXPECT_EQ(w.sends, 1);
}

CT_TEST(sa_client, R31_a_report_without_a_whole_notice_is_dropped)
{
	const struct pvb_sa_hdr hdr = {.method = PVB_SA_REPORT,
				       .attr = PVB_SA_NOTICE,
				       .tid = 99};
	uint8_t mad[PVB_MAD_SIZE];

	world_open();
	pvb_sa_pack(mad, &hdr);
	pvb_sa_arrived(&w.client, mad, PVB_SA_DATA_AT + PVB_NOTICE_SIZE - 1, 1);
	CT_EXPECT_EQ(w.notices, 0);
	CT_EXPECT_EQ(w.client.dropped, 1);
}

CT_TEST(sa_rmpp, an_active_answer_of_no_type_is_whole_as_opensm_sends_it_on_ibsim)
{
	struct pvb_sa_hdr hdr = answer_of(PVB_SA_GET_TABLE, FIRST_TID);

	world_open();
	CT_ASSERT_EQ(ask(PVB_SA_GET_TABLE, 1), 0);
	hdr.rmpp_version = PVB_RMPP_VERSION;
	hdr.rmpp_flags = PVB_RMPP_ACTIVE;
	arrive(&hdr, 4);
	CT_ASSERT_EQ(w.answers, 1);
	CT_EXPECT_EQ(w.answer.err, 0);
	CT_EXPECT_EQ(w.answer.len, PVB_SA_DATA_SIZE);
	CT_EXPECT_EQ(w.sends, 1);
}

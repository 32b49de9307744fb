/* SPDX-License-Identifier: BSD-2-Clause */
/* Large durable messages, at their target: made durable in pieces, while others read. */
#include <poll.h>
#include <pthread.h>
#include "cq/cq.h"
#include "../fake_pmem.h"
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"
#include "receiver.h"

#define BIG (2 * (uint32_t)PVB_PIECE + 64) /* three pieces */
#define LEN (2 * BIG)

/* A durable message of that size, into the receive of that number, which is posted. */
static void durable_into(struct fid_ep *ep, uint32_t at, uint32_t len, uintptr_t number)
{
	CT_EXPECT_EQ(receiver_post(ep, receiver.mem + at, len, number), 0);
	receiver_announce(0, 0, 0);
	receiver_message(len);
}

static void durable_message_of(uint32_t len, uintptr_t number)
{
	durable_into(receiver.d.w.ep, 0, len, number);
}

static void plain_message(uintptr_t number)
{
	CT_EXPECT_EQ(receiver_post(receiver.d.w.ep, receiver.plain, 8, number), 0);
	receiver_message(8);
}

static unsigned int answers(void)
{
	return receiver.d.control->sq.posted;
}

/* Looks into the queue until so many pieces are flushed; nothing completes before. */
static void pieces(unsigned int count)
{
	while (fake_pmem.flushes < count && !ct_failed()) {
		const unsigned int before = fake_pmem.flushes;

		expect_no_comp(receiver.d.w.cq);
		CT_EXPECT_EQ(fake_pmem.flushes, before + 1);
		CT_EXPECT_EQ(fake_pmem.undrained, 0);
	}
}

CT_TEST(arrival, a_large_message_is_written_back_in_pieces_and_then_reported)
{
	CT_ASSERT_TRUE(receiver_open(LEN));
	durable_message_of(BIG, 1);
	pieces(3);
	CT_EXPECT_EQ(answers(), 0);
	expect_comp(receiver.d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	CT_EXPECT_EQ(receiver_answered(1), 0);
	CT_EXPECT_EQ(fake_pmem.flushes, 3);
	for (unsigned int i = 0; i < 3; i++) {
		CT_EXPECT_EQ(fake_pmem.flush[i].addr, receiver.mem + i * PVB_PIECE);
		CT_EXPECT_EQ(fake_pmem.flush[i].len, i < 2 ? PVB_PIECE : 64);
	}
	CT_EXPECT_EQ(receiver.region.users, 0);
	receiver_close();
}

CT_TEST(arrival, what_a_large_write_with_data_wrote_is_written_back_in_pieces)
{
	CT_ASSERT_TRUE(receiver_open(LEN));
	CT_EXPECT_EQ(receiver_post(receiver.d.w.ep, receiver.plain, 8, 1), 0);
	receiver_announce(64, BIG, RECEIVER_RKEY);
	receiver_written();
	pieces(3);
	CT_EXPECT_EQ(fake_pmem.flush[0].addr, receiver.mem + 64);
	expect_comp(receiver.d.w.cq, NUMBER(1), RECEIVER_WRITTEN, 8, 5);
	CT_EXPECT_EQ(receiver_answered(1), 0);
	receiver_close();
}

CT_TEST(arrival, each_piece_of_a_receive_is_written_back)
{
	const struct iovec iov[4] = {
		{receiver.mem, PVB_PIECE + 64},
		{receiver.mem + LEN / 2, 0},
		{receiver.mem + LEN / 2, 64},
		{receiver.mem + LEN / 2 + 128, 64},
	};
	const struct fake_pmem_flush expected[] = {
		{receiver.mem, PVB_PIECE},
		{receiver.mem + PVB_PIECE, 64},
		{receiver.mem + LEN / 2, 64},
		{receiver.mem + LEN / 2 + 128, 8},
	};

	CT_ASSERT_TRUE(receiver_open(LEN));
	CT_EXPECT_EQ(fi_recvv(receiver.d.w.ep, iov, NULL, 4, 0, NUMBER(1)), 0);
	receiver_announce(0, 0, 0);
	receiver_message(PVB_PIECE + 64 + 64 + 8);
	pieces(1);
	/* The small ones together. */
	expect_no_comp(receiver.d.w.cq);
	expect_comp(receiver.d.w.cq, NUMBER(1), RECEIVER_MESSAGE, PVB_PIECE + 136, 0);
	CT_EXPECT_EQ(fake_pmem.flushes, CRN_COUNT(expected));
	for (size_t i = 0; i < CRN_COUNT(expected); i++) {
		CT_EXPECT_EQ(fake_pmem.flush[i].addr, expected[i].addr);
		CT_EXPECT_EQ(fake_pmem.flush[i].len, expected[i].len);
	}
	receiver_close();
}

CT_TEST(arrival, what_comes_behind_stays_behind)
{
	CT_ASSERT_TRUE(receiver_open(LEN));
	durable_message_of(BIG, 1);
	plain_message(2);
	durable_message_of(8, 3);
	durable_message_of(BIG, 4);
	plain_message(5);
	pieces(3);
	CT_EXPECT_EQ(receiver.d.control_qp->messages, 0);
	expect_comp(receiver.d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	expect_comp(receiver.d.w.cq, NUMBER(2), RECEIVER_MESSAGE, 8, 0);
	expect_comp(receiver.d.w.cq, NUMBER(3), RECEIVER_MESSAGE, 8, 0);
	CT_EXPECT_EQ(receiver_answered(2), 0);
	CT_EXPECT_EQ(receiver.d.control_qp->messages, 3);
	CT_EXPECT_EQ(fake_pmem.flushes, 4);
	pieces(7);
	expect_comp(receiver.d.w.cq, NUMBER(4), RECEIVER_MESSAGE, BIG, 0);
	expect_comp(receiver.d.w.cq, NUMBER(5), RECEIVER_MESSAGE, 8, 0);
	CT_EXPECT_EQ(receiver_answered(3), 0);
	CT_EXPECT_EQ(receiver.d.control_qp->messages, 5);
	receiver_close();
}

/* The same receive may be posted again as soon as it is reported. */
CT_TEST(arrival, a_receive_that_waited_is_posted_again)
{
	CT_ASSERT_TRUE(receiver_open(LEN));
	for (uintptr_t i = 1; i < 20; i++) {
		fake_pmem.flushes = 0;
		durable_message_of(BIG, i);
		pieces(3);
		expect_comp(receiver.d.w.cq, NUMBER(i), RECEIVER_MESSAGE, BIG, 0);
		CT_EXPECT_EQ(receiver_answered((uint32_t)i), 0);
	}
	receiver_close();
}

CT_TEST(arrival, completions_of_others_pass)
{
	struct durable other;

	CT_ASSERT_TRUE(receiver_open(LEN));
	other = receiver.d;
	CT_ASSERT_TRUE(world_add_ep(&other.w, NULL, &other.w.ep));
	CT_ASSERT_TRUE(durable_connect(&other));
	durable_message_of(BIG, 1);
	expect_no_comp(receiver.d.w.cq);
	CT_EXPECT_EQ(receiver_post(other.w.ep, receiver.plain, 8, 2), 0);
	fake_receive(qp_of(other.w.ep), IBV_WC_RECV, 8, NULL);
	CT_EXPECT_EQ(send_number(receiver.d.w.ep, 3), 0);
	fake_complete_all(receiver.d.w.qp);
	expect_comp(receiver.d.w.cq, NUMBER(2), RECEIVER_MESSAGE, 8, 0);
	expect_comp(receiver.d.w.cq, NUMBER(3), FI_SEND | FI_MSG, 0, 0);
	pieces(3);
	expect_comp(receiver.d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	CT_EXPECT_EQ(fi_close(&other.w.ep->fid), 0);
	receiver_close();
}

/* Someone asks for all messages to be durable: the large one is one of them. */
CT_TEST(arrival, a_request_about_messages_waits_for_it)
{
	const struct pvb_wire_message message = {
		.kind = PVB_WIRE_MESSAGES,
		.number = 1,
		.messages = 1,
	};

	CT_ASSERT_TRUE(receiver_open(LEN));
	durable_message_of(BIG, 1);
	durable_message(&receiver.d, &message);
	pieces(3);
	CT_EXPECT_EQ(answers(), 0);
	expect_comp(receiver.d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	CT_EXPECT_EQ(receiver_answered(1), 0);
	expect_no_comp(receiver.d.w.cq);
	CT_ASSERT_EQ(answers(), 2);
	CT_EXPECT_EQ(durable_sent(&receiver.d, 1).kind, PVB_WIRE_ANSWER);
	receiver_close();
}

/* What was flushed so far is not all: the peer is told, the program has its message. */
CT_TEST(arrival, a_region_closed_meanwhile_is_an_error_for_the_peer)
{
	CT_ASSERT_TRUE(receiver_open(LEN));
	durable_message_of(BIG, 1);
	pieces(1);
	pvb_pmem_region_del(receiver.d.control_qp->control, &receiver.region);
	expect_no_comp(receiver.d.w.cq);
	expect_comp(receiver.d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	CT_EXPECT_EQ(receiver_answered(1), FI_EKEYREJECTED);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	durable_close(&receiver.d);
}

/* A connection that ends does not take back what it brought. */
CT_TEST(arrival, a_message_is_reported_although_the_connection_has_ended)
{
	CT_ASSERT_TRUE(receiver_open(LEN));
	durable_message_of(BIG, 1);
	CT_EXPECT_EQ(receiver_post(receiver.d.w.ep, receiver.plain, 8, 2), 0);
	pieces(1);
	pvb_control_qp_lose(receiver.d.control_qp, "of the test");
	fake_flush(receiver.d.w.qp);
	pieces(3);
	expect_comp(receiver.d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	expect_cq_error(receiver.d.w.cq, NUMBER(2), RECEIVER_MESSAGE, FI_ECANCELED);
	CT_EXPECT_EQ(receiver.d.control_qp->messages, 1);
	receiver_close();
}

CT_TEST(arrival, closing_cancels_what_is_not_durable_yet)
{
	CT_ASSERT_TRUE(receiver_open(LEN));
	durable_message_of(BIG, 1);
	plain_message(2);
	CT_EXPECT_EQ(receiver_post(receiver.d.w.ep, receiver.plain, 8, 3), 0);
	pieces(1);
	durable_message_of(BIG, 4); /* the device has it, nobody has looked */
	world_close_ep(&receiver.d.w);
	expect_cq_error(receiver.d.w.cq, NUMBER(1), RECEIVER_MESSAGE, FI_ECANCELED);
	expect_comp(receiver.d.w.cq, NUMBER(2), RECEIVER_MESSAGE, 8, 0);
	for (uintptr_t i = 3; i < 5; i++)
		expect_cq_error(receiver.d.w.cq, NUMBER(i), RECEIVER_MESSAGE,
				FI_ECANCELED);
	expect_no_comp(receiver.d.w.cq);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	receiver_close();
}

/* Between that and its end the device may say one thing more. */
CT_TEST(arrival, none_waits_at_an_endpoint_that_is_being_closed)
{
	struct pvb_qp *qp;

	CT_ASSERT_TRUE(receiver_open(LEN));
	qp = &ep_of(receiver.d.w.ep)->qp;
	crn_lock(&qp->rq.cq->lock);
	pvb_arrivals_close(qp->rq.cq, qp);
	crn_unlock(&qp->rq.cq->lock);
	durable_message_of(BIG, 1);
	expect_comp(receiver.d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	CT_EXPECT_EQ(fake_pmem.flushes, 0);
	CT_EXPECT_EQ(answers(), 0);
	receiver_close();
}

CT_TEST(arrival, a_device_that_goes_cancels_what_is_not_durable_yet)
{
	struct pvb_domain *domain;
	unsigned int errors;

	CT_ASSERT_TRUE(receiver_open(LEN));
	domain = crn_container_of(receiver.d.w.domain, struct pvb_domain, fid);
	durable_message_of(BIG, 1);
	plain_message(2);
	pieces(1);
	fake_remove(&fake_devices[0], domain->verbs);
	pvb_async_progress(domain);
	CT_EXPECT_EQ(read_all_comps(receiver.d.w.cq, &errors), 2);
	CT_EXPECT_EQ(errors, 1);
	world_close_ep(&receiver.d.w);
	expect_no_comp(receiver.d.w.cq);
	receiver_close();
}

/* Of a shared context the receives go back to it. */
CT_TEST(arrival, a_shared_receive_waits_too)
{
	struct fid_ep *srx = NULL;

	CT_ASSERT_TRUE(receiver_open_shared(LEN, &srx));
	for (uintptr_t i = 1; i < 20; i++) {
		fake_pmem.flushes = 0;
		durable_into(srx, 0, BIG, i);
		durable_into(srx, BIG, 8, 100 + i);
		pieces(3);
		expect_comp(receiver.d.w.cq, NUMBER(i), RECEIVER_MESSAGE, BIG, 0);
		expect_comp(receiver.d.w.cq, NUMBER(100 + i), RECEIVER_MESSAGE, 8, 0);
		CT_EXPECT_EQ(receiver_answered((uint32_t)i * 2), 0);
	}
	fake_pmem.flushes = 0;
	durable_into(srx, 0, BIG, 1);
	pieces(1);
	world_close_ep(&receiver.d.w);
	expect_cq_error(receiver.d.w.cq, NUMBER(1), RECEIVER_MESSAGE, FI_ECANCELED);
	expect_no_comp(receiver.d.w.cq);
	CT_EXPECT_EQ(fi_close(&srx->fid), 0);
	receiver_close();
}

/* Completions that the stash has no room for come when there is some. */
CT_TEST(arrival, no_more_are_released_than_there_is_room_for)
{
	struct pvb_cq *cq;
	uint32_t size;

	CT_ASSERT_TRUE(receiver_open(LEN));
	cq = cq_of(receiver.d.w.cq);
	durable_message_of(BIG, 1);
	plain_message(2);
	pieces(3);
	size = cq->stash_size;
	cq->stash_size = 1;
	CT_EXPECT_EQ(fi_cq_read(receiver.d.w.cq, NULL, 0), 0);
	CT_EXPECT_EQ(cq->stash_count, 1);
	CT_EXPECT_EQ(fi_cq_read(receiver.d.w.cq, NULL, 0), 0);
	CT_EXPECT_EQ(cq->stash_count, 1);
	cq->stash_size = size;
	cq->stash_head &= size - 1;
	expect_comp(receiver.d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	expect_comp(receiver.d.w.cq, NUMBER(2), RECEIVER_MESSAGE, 8, 0);
	receiver_close();
}

static pthread_t reader;

static void *read_thread(void *arg)
{
	struct fi_cq_data_entry entry;

	CT_EXPECT_EQ(fi_cq_read(receiver.d.w.cq, &entry, 1), -FI_EAGAIN);
	return NULL;
}

/* Another thread is in the middle of a piece. */
static bool begin_piece(void)
{
	if (!receiver_open(LEN))
		return false;
	fake_pmem_hold();
	durable_message_of(BIG, 1);
	CT_EXPECT_EQ(pthread_create(&reader, NULL, read_thread, NULL), 0);
	CT_EXPECT_SOON(fake_pmem_waits());
	return !ct_failed();
}

CT_TEST(arrival, other_readers_do_not_wait_for_a_piece)
{
	CT_ASSERT_TRUE(begin_piece());
	CT_EXPECT_EQ(send_number(receiver.d.w.ep, 7), 0);
	fake_complete_all(receiver.d.w.qp);
	expect_comp(receiver.d.w.cq, NUMBER(7), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(receiver.d.w.cq);
	CT_EXPECT_EQ(pvb_cq_trywait(cq_of(receiver.d.w.cq)), -FI_ENOSYS);
	CT_EXPECT_TRUE(fake_pmem_waits());
	fake_pmem_go_on();
	pthread_join(reader, NULL);
	receiver_close();
}

static void *close_connection(void *arg)
{
	world_close_ep(&receiver.d.w);
	return NULL;
}

CT_TEST(arrival, closing_waits_for_a_piece)
{
	pthread_t closer;
	unsigned int before;

	CT_ASSERT_TRUE(begin_piece());
	before = ct_waiting();
	CT_EXPECT_EQ(pthread_create(&closer, NULL, close_connection, NULL), 0);
	CT_EXPECT_SOON(ct_waiting() == before + 1);
	fake_pmem_go_on();
	pthread_join(closer, NULL);
	pthread_join(reader, NULL);
	expect_cq_error(receiver.d.w.cq, NUMBER(1), RECEIVER_MESSAGE, FI_ECANCELED);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
	receiver_close();
}

static void set_progress(enum fi_progress progress)
{
	struct pvb_control *control = receiver.d.control_qp->control;

	pvb_pmem_region_del(control, &receiver.region);
	control->domain->info->domain_attr->data_progress = progress;
	CT_EXPECT_EQ(pvb_pmem_region_add(control, &receiver.region), 0);
}

/* Whoever sleeps hears of it when the thread of the provider has done the last piece. */
CT_TEST(arrival, who_waits_for_a_counter_is_woken)
{
	struct fid_cntr *cntr = NULL;

	CT_ASSERT_TRUE(receiver_open_counted(LEN, FI_RECV, &cntr));
	set_progress(FI_PROGRESS_AUTO);
	durable_message_of(BIG, 1);
	CT_EXPECT_EQ(fi_cntr_wait(cntr, 1, 10000), 0);
	expect_comp(receiver.d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	world_close_ep(&receiver.d.w);
	CT_EXPECT_EQ(fi_close(&cntr->fid), 0);
	receiver_close();
}

static bool open_waiting(enum fi_progress progress)
{
	const struct world_opts opts = {.wait_obj = FI_WAIT_FD};

	if (!receiver_open_with(LEN, &opts))
		return false;
	set_progress(progress);
	return !ct_failed();
}

CT_TEST(arrival, who_waits_for_the_queue_is_woken)
{
	struct fi_cq_data_entry entry;

	CT_ASSERT_TRUE(open_waiting(FI_PROGRESS_AUTO));
	durable_message_of(BIG, 1);
	CT_EXPECT_EQ(fi_cq_sread(receiver.d.w.cq, &entry, 1, NULL, 10000), 1);
	CT_EXPECT_EQ(entry.op_context, NUMBER(1));
	receiver_close();
}

/* Without a thread the waiter itself does the pieces. */
CT_TEST(arrival, who_waits_by_the_descriptor_is_woken_for_each_piece)
{
	struct fid *fid;
	struct pollfd fd = {.events = POLLIN};
	struct fi_cq_data_entry entry;

	CT_ASSERT_TRUE(open_waiting(FI_PROGRESS_MANUAL));
	fid = &receiver.d.w.cq->fid;
	CT_EXPECT_EQ(fi_control(fid, FI_GETWAIT, &fd.fd), 0);
	durable_message_of(BIG, 1);
	for (unsigned int i = 0; i < 3; i++) {
		CT_EXPECT_EQ(fi_trywait(receiver.d.w.fabric, &fid, 1), 0);
		CT_EXPECT_EQ(fake_pmem.flushes, i);
		CT_EXPECT_EQ(poll(&fd, 1, 0), 1);
	}
	CT_EXPECT_EQ(fi_trywait(receiver.d.w.fabric, &fid, 1), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_cq_read(receiver.d.w.cq, &entry, 1), 1);
	receiver_close();
}

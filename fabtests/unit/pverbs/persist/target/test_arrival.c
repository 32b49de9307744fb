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

static void plain_message(struct receiver *t, uintptr_t number)
{
	CT_EXPECT_EQ(receiver_post(t->d.w.ep, t->plain, 8, number), 0);
	receiver_message(t, 8);
}

/* Looks into the queue until so many pieces are flushed; nothing completes before. */
static void pieces(struct receiver *t, unsigned int count)
{
	while (fake_pmem.flushes < count && !ct_failed()) {
		const unsigned int before = fake_pmem.flushes;

		expect_no_comp(t->d.w.cq);
		CT_EXPECT_EQ(fake_pmem.flushes, before + 1);
		CT_EXPECT_EQ(fake_pmem.undrained, 0);
	}
}

static void set_up(struct receiver *t)
{
	CT_ASSERT_TRUE(receiver_open(t, LEN));
}

CT_FIXTURE(arrival, struct receiver, set_up, receiver_close);

CT_TEST_F(arrival, a_large_message_is_written_back_in_pieces_and_then_reported)
{
	receiver_durable(t, t->mem, BIG, 1);
	pieces(t, 3);
	CT_EXPECT_EQ(durable_answers(&t->d), 0);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	CT_EXPECT_EQ(receiver_answered(t, 1), 0);
	CT_EXPECT_EQ(fake_pmem.flushes, 3);
	for (unsigned int i = 0; i < 3; i++) {
		CT_EXPECT_EQ(fake_pmem.flush[i].addr, t->mem + i * PVB_PIECE);
		CT_EXPECT_EQ(fake_pmem.flush[i].len, i < 2 ? PVB_PIECE : 64);
	}
	CT_EXPECT_EQ(t->region.users, 0);
}

CT_TEST_F(arrival, what_a_large_write_with_data_wrote_is_written_back_in_pieces)
{
	CT_EXPECT_EQ(receiver_post(t->d.w.ep, t->plain, 8, 1), 0);
	receiver_announce(t, 64, BIG, RECEIVER_RKEY);
	receiver_written(t);
	pieces(t, 3);
	CT_EXPECT_EQ(fake_pmem.flush[0].addr, t->mem + 64);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_WRITTEN, 8, 5);
	CT_EXPECT_EQ(receiver_answered(t, 1), 0);
}

CT_TEST_F(arrival, each_piece_of_a_receive_is_written_back)
{
	const struct iovec iov[4] = {
		{t->mem, PVB_PIECE + 64},
		{t->mem + LEN / 2, 0},
		{t->mem + LEN / 2, 64},
		{t->mem + LEN / 2 + 128, 64},
	};
	const struct fake_pmem_flush expected[] = {
		{t->mem, PVB_PIECE},
		{t->mem + PVB_PIECE, 64},
		{t->mem + LEN / 2, 64},
		{t->mem + LEN / 2 + 128, 8},
	};

	CT_EXPECT_EQ(fi_recvv(t->d.w.ep, iov, NULL, 4, 0, NUMBER(1)), 0);
	receiver_announce(t, 0, 0, 0);
	receiver_message(t, PVB_PIECE + 64 + 64 + 8);
	pieces(t, 1);
	/* The small ones together. */
	expect_no_comp(t->d.w.cq);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, PVB_PIECE + 136, 0);
	CT_EXPECT_EQ(fake_pmem.flushes, CRN_COUNT(expected));
	for (size_t i = 0; i < CRN_COUNT(expected); i++) {
		CT_EXPECT_EQ(fake_pmem.flush[i].addr, expected[i].addr);
		CT_EXPECT_EQ(fake_pmem.flush[i].len, expected[i].len);
	}
}

CT_TEST_F(arrival, what_comes_behind_stays_behind)
{
	receiver_durable(t, t->mem, BIG, 1);
	plain_message(t, 2);
	receiver_durable(t, t->mem, 8, 3);
	receiver_durable(t, t->mem, BIG, 4);
	plain_message(t, 5);
	pieces(t, 3);
	CT_EXPECT_EQ(t->d.control_qp->messages, 0);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	expect_comp(t->d.w.cq, NUMBER(2), RECEIVER_MESSAGE, 8, 0);
	expect_comp(t->d.w.cq, NUMBER(3), RECEIVER_MESSAGE, 8, 0);
	CT_EXPECT_EQ(receiver_answered(t, 2), 0);
	CT_EXPECT_EQ(t->d.control_qp->messages, 3);
	CT_EXPECT_EQ(fake_pmem.flushes, 4);
	pieces(t, 7);
	expect_comp(t->d.w.cq, NUMBER(4), RECEIVER_MESSAGE, BIG, 0);
	expect_comp(t->d.w.cq, NUMBER(5), RECEIVER_MESSAGE, 8, 0);
	CT_EXPECT_EQ(receiver_answered(t, 3), 0);
	CT_EXPECT_EQ(t->d.control_qp->messages, 5);
}

/* The same receive may be posted again as soon as it is reported. */
CT_TEST_F(arrival, a_receive_that_waited_is_posted_again)
{
	for (uintptr_t i = 1; i < 20; i++) {
		fake_pmem.flushes = 0;
		receiver_durable(t, t->mem, BIG, i);
		pieces(t, 3);
		expect_comp(t->d.w.cq, NUMBER(i), RECEIVER_MESSAGE, BIG, 0);
		CT_EXPECT_EQ(receiver_answered(t, (uint32_t)i), 0);
	}
}

CT_TEST_F(arrival, completions_of_others_pass)
{
	struct durable other = t->d;

	CT_ASSERT_TRUE(world_add_ep(&other.w, NULL, &other.w.ep));
	CT_ASSERT_TRUE(durable_connect(&other));
	receiver_durable(t, t->mem, BIG, 1);
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(receiver_post(other.w.ep, t->plain, 8, 2), 0);
	fake_receive(qp_of(other.w.ep), IBV_WC_RECV, 8, NULL);
	CT_EXPECT_EQ(send_number(t->d.w.ep, 3), 0);
	fake_complete_all(t->d.w.qp);
	expect_comp(t->d.w.cq, NUMBER(2), RECEIVER_MESSAGE, 8, 0);
	expect_comp(t->d.w.cq, NUMBER(3), FI_SEND | FI_MSG, 0, 0);
	pieces(t, 3);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	CT_EXPECT_EQ(fi_close(&other.w.ep->fid), 0);
}

/* Someone asks for all messages to be durable: the large one is one of them. */
CT_TEST_F(arrival, a_request_about_messages_waits_for_it)
{
	const struct pvb_wire_message message = {
		.kind = PVB_WIRE_MESSAGES,
		.number = 1,
		.messages = 1,
	};

	receiver_durable(t, t->mem, BIG, 1);
	durable_message(&t->d, &message);
	pieces(t, 3);
	CT_EXPECT_EQ(durable_answers(&t->d), 0);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	CT_EXPECT_EQ(receiver_answered(t, 1), 0);
	expect_no_comp(t->d.w.cq);
	CT_ASSERT_EQ(durable_answers(&t->d), 2);
	CT_EXPECT_EQ(durable_sent(&t->d, 1).kind, PVB_WIRE_ANSWER);
}

/* What was flushed so far is not all: the peer is told, the program has its message. */
CT_TEST_F(arrival, a_region_closed_meanwhile_is_an_error_for_the_peer)
{
	receiver_durable(t, t->mem, BIG, 1);
	pieces(t, 1);
	receiver_hide(t);
	expect_no_comp(t->d.w.cq);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	CT_EXPECT_EQ(receiver_answered(t, 1), FI_EKEYREJECTED);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
}

/* A connection that ends does not take back what it brought. */
CT_TEST_F(arrival, a_message_is_reported_although_the_connection_has_ended)
{
	receiver_durable(t, t->mem, BIG, 1);
	CT_EXPECT_EQ(receiver_post(t->d.w.ep, t->plain, 8, 2), 0);
	pieces(t, 1);
	pvb_control_qp_lose(t->d.control_qp, "of the test");
	fake_flush(t->d.w.qp);
	pieces(t, 3);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	expect_cq_error(t->d.w.cq, NUMBER(2), RECEIVER_MESSAGE, FI_ECANCELED);
	CT_EXPECT_EQ(t->d.control_qp->messages, 1);
}

CT_TEST_F(arrival, closing_cancels_what_is_not_durable_yet)
{
	receiver_durable(t, t->mem, BIG, 1);
	plain_message(t, 2);
	CT_EXPECT_EQ(receiver_post(t->d.w.ep, t->plain, 8, 3), 0);
	pieces(t, 1);
	receiver_durable(t, t->mem, BIG, 4); /* the device has it, nobody has looked */
	world_close_ep(&t->d.w);
	expect_cq_error(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, FI_ECANCELED);
	expect_comp(t->d.w.cq, NUMBER(2), RECEIVER_MESSAGE, 8, 0);
	for (uintptr_t i = 3; i < 5; i++)
		expect_cq_error(t->d.w.cq, NUMBER(i), RECEIVER_MESSAGE, FI_ECANCELED);
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
}

/* Between that and its end the device may say one thing more. */
CT_TEST_F(arrival, none_waits_at_an_endpoint_that_is_being_closed)
{
	struct pvb_qp *qp;

	qp = &ep_of(t->d.w.ep)->qp;
	crn_lock(&qp->rq.cq->lock);
	pvb_arrivals_close(qp->rq.cq, qp);
	crn_unlock(&qp->rq.cq->lock);
	receiver_durable(t, t->mem, BIG, 1);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	CT_EXPECT_EQ(fake_pmem.flushes, 0);
	CT_EXPECT_EQ(durable_answers(&t->d), 0);
}

CT_TEST_F(arrival, a_device_that_goes_cancels_what_is_not_durable_yet)
{
	struct pvb_domain *domain;
	unsigned int errors;

	domain = crn_container_of(t->d.w.domain, struct pvb_domain, fid);
	receiver_durable(t, t->mem, BIG, 1);
	plain_message(t, 2);
	pieces(t, 1);
	fake_remove(&fake_devices[0], domain->verbs);
	pvb_async_progress(domain);
	CT_EXPECT_EQ(read_all_comps(t->d.w.cq, &errors), 2);
	CT_EXPECT_EQ(errors, 1);
	world_close_ep(&t->d.w);
	expect_no_comp(t->d.w.cq);
}

/* Of a shared context the receives go back to it. */
CT_TEST_F(arrival, a_shared_receive_waits_too)
{
	CT_ASSERT_TRUE(receiver_open_shared(t, LEN));
	for (uintptr_t i = 1; i < 20; i++) {
		fake_pmem.flushes = 0;
		receiver_durable(t, t->mem, BIG, i);
		receiver_durable(t, t->mem + BIG, 8, 100 + i);
		pieces(t, 3);
		expect_comp(t->d.w.cq, NUMBER(i), RECEIVER_MESSAGE, BIG, 0);
		expect_comp(t->d.w.cq, NUMBER(100 + i), RECEIVER_MESSAGE, 8, 0);
		CT_EXPECT_EQ(receiver_answered(t, (uint32_t)i * 2), 0);
	}
	fake_pmem.flushes = 0;
	receiver_durable(t, t->mem, BIG, 1);
	pieces(t, 1);
	world_close_ep(&t->d.w);
	expect_cq_error(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, FI_ECANCELED);
	expect_no_comp(t->d.w.cq);
}

/* Completions that the stash has no room for come when there is some. */
CT_TEST_F(arrival, no_more_are_released_than_there_is_room_for)
{
	struct pvb_cq *cq;
	uint32_t size;

	cq = cq_of(t->d.w.cq);
	receiver_durable(t, t->mem, BIG, 1);
	plain_message(t, 2);
	pieces(t, 3);
	size = cq->stash_size;
	cq->stash_size = 1;
	CT_EXPECT_EQ(fi_cq_read(t->d.w.cq, NULL, 0), 0);
	CT_EXPECT_EQ(cq->stash_count, 1);
	CT_EXPECT_EQ(fi_cq_read(t->d.w.cq, NULL, 0), 0);
	CT_EXPECT_EQ(cq->stash_count, 1);
	cq->stash_size = size;
	cq->stash_head &= size - 1;
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
	expect_comp(t->d.w.cq, NUMBER(2), RECEIVER_MESSAGE, 8, 0);
}

static pthread_t reader;

static void *read_thread(void *arg)
{
	struct receiver *t = arg;
	struct fi_cq_data_entry entry;

	CT_EXPECT_EQ(fi_cq_read(t->d.w.cq, &entry, 1), -FI_EAGAIN);
	return NULL;
}

/* Another thread is in the middle of a piece. */
static bool begin_piece(struct receiver *t)
{
	fake_pmem_hold();
	receiver_durable(t, t->mem, BIG, 1);
	CT_EXPECT_EQ(pthread_create(&reader, NULL, read_thread, t), 0);
	CT_EXPECT_SOON(fake_pmem_waits());
	return !ct_failed();
}

CT_TEST_F(arrival, other_readers_do_not_wait_for_a_piece)
{
	CT_ASSERT_TRUE(begin_piece(t));
	CT_EXPECT_EQ(send_number(t->d.w.ep, 7), 0);
	fake_complete_all(t->d.w.qp);
	expect_comp(t->d.w.cq, NUMBER(7), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(t->d.w.cq);
	CT_EXPECT_EQ(pvb_cq_trywait(cq_of(t->d.w.cq)), -FI_ENOSYS);
	CT_EXPECT_TRUE(fake_pmem_waits());
	fake_pmem_go_on();
	pthread_join(reader, NULL);
}

CT_TEST_F(arrival, closing_waits_for_a_piece)
{
	pthread_t closer;
	unsigned int before;

	CT_ASSERT_TRUE(begin_piece(t));
	before = ct_waiting();
	CT_EXPECT_EQ(pthread_create(&closer, NULL, receiver_close_connection, t), 0);
	CT_EXPECT_SOON(ct_waiting() == before + 1);
	fake_pmem_go_on();
	pthread_join(closer, NULL);
	pthread_join(reader, NULL);
	expect_cq_error(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, FI_ECANCELED);
	CT_EXPECT_EQ(fake_pmem.flushes, 1);
}

/* Whoever sleeps hears of it when the thread of the provider has done the last piece. */
CT_TEST_F(arrival, who_waits_for_a_counter_is_woken)
{
	CT_ASSERT_TRUE(receiver_open_counted(t, LEN, FI_RECV));
	receiver_progress(t, FI_PROGRESS_AUTO);
	receiver_durable(t, t->mem, BIG, 1);
	CT_EXPECT_EQ(fi_cntr_wait(t->cntr, 1, 10000), 0);
	expect_comp(t->d.w.cq, NUMBER(1), RECEIVER_MESSAGE, BIG, 0);
}

static bool open_waiting(struct receiver *t, enum fi_progress progress)
{
	const struct world_opts opts = {.wait_obj = FI_WAIT_FD};

	if (!receiver_open_with(t, LEN, &opts))
		return false;
	receiver_progress(t, progress);
	return !ct_failed();
}

CT_TEST_F(arrival, who_waits_for_the_queue_is_woken)
{
	struct fi_cq_data_entry entry;

	CT_ASSERT_TRUE(open_waiting(t, FI_PROGRESS_AUTO));
	receiver_durable(t, t->mem, BIG, 1);
	CT_EXPECT_EQ(fi_cq_sread(t->d.w.cq, &entry, 1, NULL, 10000), 1);
	CT_EXPECT_EQ(entry.op_context, NUMBER(1));
}

/* Without a thread the waiter itself does the pieces. */
CT_TEST_F(arrival, who_waits_by_the_descriptor_is_woken_for_each_piece)
{
	struct fid *fid;
	struct pollfd fd = {.events = POLLIN};
	struct fi_cq_data_entry entry;

	CT_ASSERT_TRUE(open_waiting(t, FI_PROGRESS_MANUAL));
	fid = &t->d.w.cq->fid;
	CT_EXPECT_EQ(fi_control(fid, FI_GETWAIT, &fd.fd), 0);
	receiver_durable(t, t->mem, BIG, 1);
	for (unsigned int i = 0; i < 3; i++) {
		CT_EXPECT_EQ(fi_trywait(t->d.w.fabric, &fid, 1), 0);
		CT_EXPECT_EQ(fake_pmem.flushes, i);
		CT_EXPECT_EQ(poll(&fd, 1, 0), 1);
	}
	CT_EXPECT_EQ(fi_trywait(t->d.w.fabric, &fid, 1), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_cq_read(t->d.w.cq, &entry, 1), 1);
}

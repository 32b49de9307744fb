/* SPDX-License-Identifier: BSD-2-Clause */
/* A device that is taken away: what ends, who wakes, what is refused, and closing. */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>
#include "cq/removal.h"
#include "ct_fid.h"
#include "../persist/durable.h"

static void world_remove(struct world *w)
{
	fake_remove(&fake_devices[0],
		    crn_container_of(w->domain, struct pvb_domain, fid)->verbs);
}

/* More reads in vain than a program makes before it looks for events of the device. */
static void read_in_vain(struct fid_cq *cq)
{
	struct fi_cq_data_entry entry;

	for (int i = 0; i < 10000; i++) {
		if (fi_cq_read(cq, &entry, 1) != -FI_EAGAIN)
			break;
	}
}

/* A device that takes with it what it was given, or flushes it. */
static void all_ends_once(bool silent)
{
	struct fid_ep *idle;
	struct world w;

	CT_NOTE("silent: %d", silent);
	world_reset();
	fake_devices[0].no_flush = silent;
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	CT_ASSERT_TRUE(world_add_ep(&w, NULL, &idle));
	CT_EXPECT_EQ(recv_number(idle, 20), 0);
	for (uintptr_t i = 1; i < 5; i++)
		CT_EXPECT_EQ(send_number(w.ep, i), 0);
	CT_EXPECT_EQ(recv_number(w.ep, 10), 0);
	CT_EXPECT_EQ(send_more(w.ep, 5), 0);
	CT_EXPECT_TRUE(fake_complete(w.qp, 1));
	world_remove(&w);
	/* What the device did stays done. */
	expect_comp(w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	read_in_vain(w.cq);
	expect_failed_comps(w.cq, 6);
	fake_flush(w.qp);
	read_in_vain(w.cq);
	expect_no_comp(w.cq);
	expect_no_event(w.eq);
	fake_event(w.id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL, 0);
	expect_event(w.eq, FI_SHUTDOWN, &w.ep->fid, NULL, 0);
	fake_event(w.id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL, 0);
	expect_no_event(w.eq);
	CT_EXPECT_EQ(fi_close(&idle->fid), 0);
	world_close_ep(&w);
	expect_no_comp(w.cq);
	world_close(&w);
}

CT_TEST(removal, each_operation_ends_once_and_each_connection_hears_of_it_once)
{
	all_ends_once(true);
	all_ends_once(false);
}

CT_FIXTURE(removal, struct world, world_fresh, world_close);

/* rdma_cm may be the first to say so. */
CT_TEST_F(removal, an_event_of_the_connection_ends_all_of_the_device)
{
	fake_devices[0].no_flush = true;
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	fake_devices[0].gone = true;
	fake_event(t->id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL, 0);
	expect_event(t->eq, FI_SHUTDOWN, &t->ep->fid, NULL, 0);
	CT_EXPECT_EQ(send_number(t->ep, 2), -FI_ENODEV);
	expect_failed_comps(t->cq, 1);
}

CT_TEST_F(removal, what_is_posted_and_not_read_ends_when_the_endpoint_closes)
{
	fake_devices[0].no_flush = true;
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	CT_EXPECT_EQ(send_quietly(t->ep, 2), 0);
	CT_EXPECT_EQ(recv_number(t->ep, 3), 0);
	pvb_params.close_timeout = 600000;
	world_remove(t);
	world_close_ep(t);
	expect_failed_comps(t->cq, 3);
}

CT_TEST_F(removal, new_calls_say_that_there_is_no_device)
{
	struct fi_cq_attr cq_attr = {.wait_obj = FI_WAIT_NONE};
	struct fi_rx_attr rx_attr = {.size = 4, .iov_limit = 1};
	const struct world_opts opts = {.wait_obj = FI_WAIT_FD};
	static char buf[8];
	struct fi_cq_data_entry entry;
	struct fid_cntr *cntr;
	struct fid_ep *ep, *srx;
	struct fid_cq *cq;
	struct fid_mr *mr;
	struct fid *fids[1];

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_ASSERT_EQ(fi_mr_reg(t->domain, buf, 8, FI_SEND, 0, 0, 0, &mr, NULL), 0);
	CT_ASSERT_EQ(fi_srx_context(t->domain, &rx_attr, &srx, NULL), 0);
	CT_EXPECT_EQ(recv_number(srx, 1), 0);
	CT_ASSERT_TRUE(world_new_ep(t, &ep));
	world_remove(t);
	/* Before anybody has heard of it. */
	CT_EXPECT_EQ(fi_enable(ep), -FI_ENODEV);
	CT_EXPECT_EQ(fi_connect(ep, t->info->dest_addr, NULL, 0), -FI_ENODEV);
	CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ENODEV);
	CT_EXPECT_EQ(recv_number(t->ep, 1), -FI_ENODEV);
	CT_EXPECT_EQ(recv_number(srx, 2), -FI_ENODEV);
	CT_EXPECT_EQ(fi_cq_sread(t->cq, &entry, 1, NULL, -1), -FI_ENODEV);
	fids[0] = &t->cq->fid;
	CT_EXPECT_EQ(fi_trywait(t->fabric, fids, 1), -FI_ENODEV);
	CT_EXPECT_EQ(fi_cq_read(t->cq, &entry, 1), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_cq_open(t->domain, &cq_attr, &cq, NULL), -FI_ENODEV);
	CT_EXPECT_EQ(fi_cntr_open(t->domain, NULL, &cntr, NULL), -FI_ENODEV);
	CT_EXPECT_EQ(fi_endpoint(t->domain, t->info, &t->ep, NULL), -FI_ENODEV);
	CT_EXPECT_EQ(fi_srx_context(t->domain, &rx_attr, &srx, NULL), -FI_ENODEV);
	/* Destroying fails at the device, and closes all the same. */
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
	CT_EXPECT_EQ(fi_mr_reg(t->domain, buf, 8, FI_SEND, 0, 0, 0, &mr, NULL),
		     -FI_ENODEV);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	CT_EXPECT_EQ(fi_close(&srx->fid), 0);
}

/* rdma_cm says so, and the device takes what it is given. */
static void heard_of(void *w)
{
	fake_event(((struct world *)w)->id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL, 0);
	expect_event(((struct world *)w)->eq, FI_SHUTDOWN, &((struct world *)w)->ep->fid,
		     NULL, 0);
}

CT_TEST_F(removal, a_shared_context_that_is_being_opened_has_no_device_either)
{
	struct fid_ep *srx;

	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	fake_before(FAKE_CREATE_SRQ, 1, heard_of, t);
	CT_ASSERT_EQ(fi_srx_context(t->domain, NULL, &srx, NULL), 0);
	CT_EXPECT_EQ(recv_number(srx, 1), -FI_ENODEV);
	CT_EXPECT_EQ(fi_recvv(srx, NULL, NULL, 0, 0, NULL), -FI_ENODEV);
	CT_EXPECT_EQ(fi_recvmsg(srx, &(struct fi_msg){0}, 0), -FI_ENODEV);
	CT_EXPECT_EQ(fi_close(&srx->fid), 0);
}

static void *sleep_in_cq(void *cq)
{
	struct fi_cq_data_entry entry;

	CT_EXPECT_EQ(fi_cq_sread(cq, &entry, 1, NULL, -1), -FI_ENODEV);
	return NULL;
}

static void *sleep_in_cntr(void *cntr)
{
	CT_EXPECT_EQ(fi_cntr_wait(cntr, 1, -1), -FI_ENODEV);
	return NULL;
}

CT_TEST_F(removal, who_waits_wakes)
{
	struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_UNSPEC};
	const struct world_opts opts = {.wait_obj = FI_WAIT_FD};
	struct fid_cntr *cntr;
	pthread_t thread[3];

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_ASSERT_EQ(fi_cntr_open(t->domain, &attr, &cntr, NULL), 0);
	CT_ASSERT_EQ(pthread_create(&thread[0], NULL, sleep_in_cq, t->cq), 0);
	CT_ASSERT_EQ(pthread_create(&thread[1], NULL, sleep_in_cq, t->cq), 0);
	CT_ASSERT_EQ(pthread_create(&thread[2], NULL, sleep_in_cntr, cntr), 0);
	CT_EXPECT_SOON(ct_waiting() == 3);
	world_remove(t);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	CT_EXPECT_EQ(fi_close(&cntr->fid), 0);
}

/* Also if rdma_cm is the first to say so, and the event of the device never comes. */
CT_TEST_F(removal, every_descriptor_becomes_readable)
{
	struct fi_cntr_attr cntr_attr = {.wait_obj = FI_WAIT_FD};
	struct fi_cq_attr cq_attr = {.wait_obj = FI_WAIT_FD};
	const struct world_opts opts = {.wait_obj = FI_WAIT_FD};
	struct fid_cntr *cntr;
	struct fid_cq *unused;

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_ASSERT_EQ(fi_cq_open(t->domain, &cq_attr, &unused, NULL), 0);
	CT_ASSERT_EQ(fi_cntr_open(t->domain, &cntr_attr, &cntr, NULL), 0);
	struct fid *fids[] = {&t->cq->fid, &unused->fid, &cntr->fid};

	CT_EXPECT_EQ(fi_trywait(t->fabric, fids, 3), 0);
	for (int i = 0; i < 3; i++)
		CT_EXPECT_FALSE(ct_readable(fids[i]));
	heard_of(t);
	for (int i = 0; i < 3; i++) {
		CT_NOTE("object %d", i);
		CT_EXPECT_TRUE(ct_readable(fids[i]));
		CT_EXPECT_EQ(fi_trywait(t->fabric, &fids[i], 1), -FI_ENODEV);
		/* It stays so: nothing will come any more. */
		CT_EXPECT_TRUE(ct_readable(fids[i]));
	}
	CT_EXPECT_EQ(fi_close(&cntr->fid), 0);
	CT_EXPECT_EQ(fi_close(&unused->fid), 0);
}

CT_TEST_F(removal, a_counter_that_nothing_feeds_hears_of_it_itself)
{
	struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_FD};
	struct fid_cntr *cntr;
	struct fid *fid;

	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_ASSERT_EQ(fi_cntr_open(t->domain, &attr, &cntr, NULL), 0);
	fid = &cntr->fid;
	CT_EXPECT_EQ(fi_trywait(t->fabric, &fid, 1), 0);
	world_remove(t);
	CT_EXPECT_TRUE(ct_readable(fid));
	CT_EXPECT_EQ(fi_trywait(t->fabric, &fid, 1), -FI_ENODEV);
	CT_EXPECT_EQ(fi_cntr_wait(cntr, 1, 1000), -FI_ENODEV);
	CT_EXPECT_EQ(fi_close(fid), 0);
}

/* A program that reads only after fi_trywait would miss them. */
CT_TEST_F(removal, what_ended_is_read_before_waiting_fails)
{
	const struct world_opts opts = {.wait_obj = FI_WAIT_FD};
	unsigned int errors;
	struct fid *fid;

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	fid = &t->cq->fid;
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	world_remove(t);
	CT_EXPECT_EQ(fi_trywait(t->fabric, &fid, 1), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_trywait(t->fabric, &fid, 1), -FI_EAGAIN);
	CT_EXPECT_EQ(read_all_comps(t->cq, &errors), 1);
	CT_EXPECT_EQ(fi_trywait(t->fabric, &fid, 1), -FI_ENODEV);
}

/* A silent device. The clock is stopped: on a busy machine answers would be late. */
static bool open_durable(struct durable *d)
{
	if (!durable_open(d, NULL))
		return false;
	ct_time_stop();
	fake_devices[0].no_flush = true;
	return true;
}

/* What the target may have done is not known: no durable operation succeeds. */
CT_TEST(removal, a_durable_operation_ends_with_an_error)
{
	unsigned int errors;
	struct durable d = {0};

	CT_ASSERT_TRUE(open_durable(&d));
	CT_EXPECT_EQ(durable_write(&d, 1, 0, 64, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(&d, 2, 64, 64, KEY_READS, 0), 0);
	CT_EXPECT_EQ(durable_write(&d, 3, 128, 64, KEY_REQUESTS, 0), 0);
	/* The data is there, but nobody has answered. */
	fake_complete_all(d.w.qp);
	expect_no_comp(d.w.cq);
	world_remove(&d.w);
	read_in_vain(d.w.cq);
	CT_EXPECT_EQ(read_all_comps(d.w.cq, &errors), 3);
	CT_EXPECT_GE(errors, 2);
	CT_EXPECT_EQ(durable_write(&d, 4, 0, 64, KEY_REQUESTS, 0), -FI_ENODEV);
	durable_close(&d);
}

/* Of three only the first has completed, and waits for its answer. */
CT_TEST(removal, what_is_held_back_and_what_is_behind_it_ends_once)
{
	unsigned int first;
	struct durable d = {0};

	CT_ASSERT_TRUE(open_durable(&d));
	CT_EXPECT_EQ(durable_write(&d, 1, 0, 64, KEY_REQUESTS, 0), 0);
	first = d.w.qp->sq.posted;
	CT_EXPECT_EQ(durable_write(&d, 2, 64, 64, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(&d, 3, 128, 64, KEY_REQUESTS, 0), 0);
	CT_EXPECT_TRUE(fake_complete(d.w.qp, first));
	expect_no_comp(d.w.cq);
	world_remove(&d.w);
	read_in_vain(d.w.cq);
	expect_failed_comps(d.w.cq, 3);
	read_in_vain(d.w.cq);
	expect_no_comp(d.w.cq);
	durable_close(&d);
}

/* Nor what a peer asked for, or FI_MORE held back. */
CT_TEST(removal, nothing_is_posted_or_done_any_more)
{
	const struct pvb_wire_message request = {.kind = PVB_WIRE_REQUEST,
						 .number = 1,
						 .fence = 1};
	unsigned int posted;
	struct durable d = {0};

	CT_ASSERT_TRUE(open_durable(&d));
	CT_EXPECT_EQ(send_more(d.w.ep, 1), 0);
	posted = d.w.qp->sq.posted;
	world_remove(&d.w);
	read_in_vain(d.w.cq);
	durable_message(&d, &request);
	read_in_vain(d.w.cq);
	expect_failed_comps(d.w.cq, 1);
	for (int i = 0; i < 2; i++)
		CT_EXPECT_EQ(send_number(d.w.ep, 2), -FI_ENODEV);
	CT_EXPECT_EQ(send_more(d.w.ep, 2), -FI_ENODEV);
	expect_no_comp(d.w.cq);
	CT_EXPECT_EQ(d.w.qp->sq.posted, posted);
	CT_EXPECT_EQ(d.control->sq.posted, 0);
	CT_EXPECT_TRUE(d.control_qp->lost);
	durable_close(&d);
}

static void post_both(struct world *w, uintptr_t count)
{
	for (uintptr_t i = 0; i < count; i++) {
		CT_EXPECT_EQ(send_number(w->ep, i), 0);
		CT_EXPECT_EQ(recv_number(w->ep, i), 0);
	}
}

/* Whoever reads next tries again: none is lost. */
CT_TEST_F(removal, without_memory_for_what_ended_it_ends_later)
{
	const struct world_opts opts = {.wait_obj = FI_WAIT_FD,
					.tx_size = 100,
					.rx_size = 100};
	unsigned int errors;
	struct fid *fid;

	fake_devices[0].no_flush = true;
	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	fid = &t->cq->fid;
	/* What is done and not read fills what there is room for. */
	post_both(t, 100);
	fake_complete_all(t->qp);
	for (int i = 0; i < 100; i++)
		fake_receive(t->qp, IBV_WC_RECV, 0, NULL);
	while (crn_ring_used(&ep_of(t->ep)->qp.sq.ring) ||
	       crn_ring_used(&ep_of(t->ep)->qp.rq.ring))
		CT_EXPECT_EQ(fi_cq_read(t->cq, NULL, 0), 0);
	post_both(t, 100);
	heard_of(t);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(fi_trywait(t->fabric, &fid, 1), -FI_EAGAIN);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(read_all_comps(t->cq, &errors), 400);
	CT_EXPECT_EQ(errors, 200);
	expect_no_comp(t->cq);
}

/* Only what the kernel took away needs no destroying. */
CT_TEST_F(removal, what_is_in_use_is_not_closed_although_the_device_is_gone)
{
	static char buf[8];
	struct fid_mr *mr;

	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_ASSERT_EQ(fi_mr_reg(t->domain, buf, 8, FI_SEND, 0, 0, 0, &mr, NULL), 0);
	world_remove(t);
	fake_fail(FAKE_DEREG_MR, 1, EBUSY);
	CT_ASSERT_EQ(fi_close(&mr->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
}

/* And whoever reads completions has ended all that there was. */
static void heard_of_and_read(void *w)
{
	heard_of(w);
	expect_no_comp(((struct world *)w)->cq);
}

CT_TEST_F(removal, an_endpoint_that_is_being_enabled_has_no_device_either)
{
	struct fid_ep *ep;

	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_ASSERT_TRUE(world_new_ep(t, &ep));
	fake_before(FAKE_CREATE_QP, 1, heard_of_and_read, t);
	fi_enable(ep);
	CT_EXPECT_EQ(fake_count(FAKE_CREATE_QP), 2);
	CT_EXPECT_EQ(recv_number(ep, 1), -FI_ENODEV);
	CT_EXPECT_EQ(qp_of(ep)->rq.posted, 0);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	expect_no_comp(t->cq);
}

struct meanwhile {
	struct world *w;
	pthread_t thread;
	atomic_bool done;
};

static void *end_all(void *arg)
{
	struct meanwhile *meanwhile = arg;

	pvb_removal_end(cq_of(meanwhile->w->cq));
	atomic_store(&meanwhile->done, true);
	return NULL;
}

/* The other thread must not end meanwhile. It gets the processor as this one sleeps,
 * where yielding took minutes on a busy machine. */
static void remove_meanwhile(void *arg)
{
	struct meanwhile *meanwhile = arg;

	pvb_removal_noticed(ep_of(meanwhile->w->ep)->domain);
	CT_EXPECT_EQ(pthread_create(&meanwhile->thread, NULL, end_all, meanwhile), 0);
	for (int i = 0; i < 20 && !atomic_load(&meanwhile->done); i++)
		usleep(1000);
	CT_EXPECT_FALSE(atomic_load(&meanwhile->done));
}

CT_TEST_F(removal, what_is_being_posted_ends_too)
{
	struct meanwhile meanwhile = {.w = t};

	fake_devices[0].no_flush = true;
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	fake_before(FAKE_POST_LIST, 1, remove_meanwhile, &meanwhile);
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	pthread_join(meanwhile.thread, NULL);
	expect_failed_comps(t->cq, 1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for counters, which have no device queue of their own. */
#include <errno.h>
#include <pthread.h>
#include "ct_fid.h"
#include "world_cntr.h"

CT_FIXTURE(pvb_cntr, struct counted, NULL, counted_close);

/* The completion queue has no wait object of its own. */
CT_TEST_F(pvb_cntr, after_trywait_a_completion_makes_its_descriptor_readable)
{
	struct fid *fid;

	CT_ASSERT_TRUE(counted_open(t, &selective, FI_WAIT_FD));
	fid = &t->cntr[SENDS]->fid;
	for (uint64_t i = 1; i < 20; i++) {
		while (fi_trywait(t->w.fabric, &fid, 1) == -FI_EAGAIN)
			;
		CT_EXPECT_FALSE(ct_readable(fid));
		CT_ASSERT_EQ(send_quietly(t->w.ep, 1), 0);
		CT_EXPECT_FALSE(ct_readable(fid));
		fake_complete(t->w.qp, 1);
		CT_EXPECT_TRUE(ct_readable(fid));
		CT_EXPECT_EQ(fi_trywait(t->w.fabric, &fid, 1), -FI_EAGAIN);
		CT_EXPECT_EQ(fi_cntr_read(t->cntr[SENDS]), i);
	}
	CT_EXPECT_EQ(fi_cq_signal(t->w.cq), -FI_ENOSYS);
}

/* Both wait for the same channel, and only one of them finds the event. */
CT_TEST_F(pvb_cntr, a_counter_that_takes_completions_wakes_who_waits_for_the_queue)
{
	struct world_opts opts = {.wait_obj = FI_WAIT_FD};
	struct fid *cq, *cntr;

	CT_ASSERT_TRUE(counted_open(t, &opts, FI_WAIT_FD));
	cq = &t->w.cq->fid;
	cntr = &t->cntr[SENDS]->fid;
	CT_EXPECT_EQ(fi_trywait(t->w.fabric, &cq, 1), 0);
	CT_EXPECT_EQ(send_number(t->w.ep, 1), 0);
	fake_complete_all(t->w.qp);
	CT_EXPECT_EQ(fi_trywait(t->w.fabric, &cntr, 1), -FI_EAGAIN);
	CT_EXPECT_TRUE(ct_readable(cq));
	/* Nor by taking the event. */
	CT_EXPECT_EQ(fi_trywait(t->w.fabric, &cntr, 1), 0);
	CT_EXPECT_FALSE(ct_readable(cntr));
	CT_EXPECT_TRUE(ct_readable(cq));

	expect_comp(t->w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	CT_EXPECT_EQ(fi_trywait(t->w.fabric, &cq, 1), 0);
	while (fi_trywait(t->w.fabric, &cntr, 1) == -FI_EAGAIN)
		;
	CT_EXPECT_EQ(send_number(t->w.ep, 2), 0);
	fake_complete_all(t->w.qp);
	CT_EXPECT_EQ(fi_trywait(t->w.fabric, &cq, 1), -FI_EAGAIN);
	CT_EXPECT_TRUE(ct_readable(cntr));
}

static void *wait_for_ten(void *cntr)
{
	CT_EXPECT_EQ(fi_cntr_wait(cntr, 10, CT_DEADLINE_MS), 0);
	return NULL;
}

CT_TEST_F(pvb_cntr, a_thread_that_waits_is_woken_by_the_device)
{
	pthread_t thread;

	CT_ASSERT_TRUE(counted_open(t, &selective, FI_WAIT_UNSPEC));
	CT_ASSERT_EQ(pthread_create(&thread, NULL, wait_for_ten, t->cntr[SENDS]), 0);
	for (int i = 0; i < 10; i++) {
		CT_EXPECT_SOON(ct_waiting() == 1);
		CT_EXPECT_EQ(send_quietly(t->w.ep, 1), 0);
		fake_complete(t->w.qp, 1);
	}
	pthread_join(thread, NULL);
	ct_time_jump();
	CT_EXPECT_EQ(fi_cntr_wait(t->cntr[SENDS], 11, 1), -FI_ETIMEDOUT);
	CT_EXPECT_EQ(send_quietly(t->w.ep, 1), 0);
	fake_send_error(t->w.qp, IBV_WC_RETRY_EXC_ERR);
	CT_EXPECT_EQ(fi_cntr_wait(t->cntr[SENDS], 11, CT_DEADLINE_MS), -FI_EAVAIL);
}

CT_TEST_F(pvb_cntr, a_device_that_cannot_be_armed_ends_the_wait)
{
	CT_ASSERT_TRUE(counted_open(t, &selective, FI_WAIT_UNSPEC));
	fake_fail(FAKE_REQ_NOTIFY, 1, EIO);
	CT_EXPECT_EQ(fi_cntr_wait(t->cntr[SENDS], 1, CT_DEADLINE_MS), -FI_EIO);
}

/* Its device queue must be one that raises events. */
CT_TEST(pvb_cntr, an_endpoint_enabled_later_wakes_as_well)
{
	struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_FD};
	struct fid_cntr *cntr;
	struct fid_ep *late;
	struct fid *fid;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	CT_ASSERT_EQ(fi_cntr_open(w.domain, &attr, &cntr, NULL), 0);
	fid = &cntr->fid;
	CT_EXPECT_EQ(fi_trywait(w.fabric, &fid, 1), 0);
	CT_ASSERT_EQ(fi_endpoint(w.domain, w.info, &late, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(late, &w.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(late, &w.cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_ep_bind(late, &cntr->fid, FI_RECV), 0);
	CT_EXPECT_EQ(fi_enable(late), 0);
	CT_EXPECT_TRUE(ct_readable(fid));
	CT_EXPECT_EQ(fi_trywait(w.fabric, &fid, 1), 0);
	CT_EXPECT_FALSE(ct_readable(fid));
	CT_EXPECT_EQ(recv_number(late, 1), 0);
	fake_receive(qp_of(late), IBV_WC_RECV, 8, NULL);
	CT_EXPECT_TRUE(ct_readable(fid));
	CT_EXPECT_EQ(fi_close(&late->fid), 0);
	CT_EXPECT_EQ(fi_close(fid), 0);
	world_close(&w);
}

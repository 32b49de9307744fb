/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues as objects of the provider; the queue itself is tested in unit/common. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include "world_cm.h"

CT_FIXTURE(eq, struct world, world_start_domain, world_close);

CT_TEST_F(eq, an_event_in_the_channel_makes_the_descriptor_readable)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct pollfd pollfd = {.events = POLLIN};
	struct fid *fids[1];

	CT_ASSERT_TRUE(world_swap_eq(t, &attr));
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &t->ep));
	CT_ASSERT_TRUE(world_connect(t, t->ep));
	CT_EXPECT_EQ(fi_control(&t->eq->fid, FI_GETWAIT, &pollfd.fd), 0);
	fids[0] = &t->eq->fid;
	CT_EXPECT_EQ(fi_trywait(t->fabric, fids, 1), 0);
	CT_EXPECT_EQ(poll(&pollfd, 1, 0), 0);
	fake_event(ep_of(t->ep)->conn.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	CT_EXPECT_EQ(poll(&pollfd, 1, 0), 1);
	CT_EXPECT_EQ(fi_trywait(t->fabric, fids, 1), -FI_EAGAIN);
	CT_EXPECT_EQ(poll(&pollfd, 1, 0), 1);
	expect_event(t->eq, FI_SHUTDOWN, &t->ep->fid, NULL, 0);
	CT_EXPECT_EQ(fi_trywait(t->fabric, fids, 1), 0);
	CT_EXPECT_EQ(poll(&pollfd, 1, 0), 0);
}

CT_TEST_F(eq, a_queue_in_use_cannot_be_closed)
{
	struct fid_pep *pep;

	CT_ASSERT_TRUE(world_listen(t, &pep));
	CT_EXPECT_EQ(fi_close(&t->eq->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &t->ep));
	CT_EXPECT_EQ(fi_close(&t->eq->fid), -FI_EBUSY);
}

CT_TEST_F(eq, attributes_that_are_not_offered_are_refused)
{
	struct fi_eq_attr wait_set = {.wait_obj = FI_WAIT_SET};
	struct fi_eq_attr flags = {.flags = FI_MULTI_RECV};
	struct fid_eq *eq;
	int objects;

	objects = fake_objects;
	CT_EXPECT_EQ(fi_eq_open(t->fabric, &wait_set, &eq, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_eq_open(t->fabric, &flags, &eq, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(fake_objects, objects);
}

static int open_eq(struct world *w, struct fid **fid)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct fid_eq *eq = NULL;
	int ret = fi_eq_open(w->fabric, &attr, &eq, NULL);

	*fid = ret ? NULL : &eq->fid;
	return ret;
}

CT_TEST_F(eq, opening_fails_cleanly_wherever_memory_or_descriptors_end)
{
	expect_survives_enomem(t, open_eq);
	expect_survives_emfile(t, open_eq, 4);
}

CT_TEST_F(eq, a_system_without_rdma_cm_is_an_error)
{
	struct fid_eq *eq;

	fake_fail(FAKE_CREATE_EVENT_CHANNEL, 1, ENODEV);
	CT_EXPECT_EQ(fi_eq_open(t->fabric, NULL, &eq, NULL), -FI_ENODEV);
}

CT_TEST_F(eq, a_channel_that_would_block_is_an_error_with_its_own_reason)
{
	struct fid_eq *eq;
	int objects;

	objects = fake_objects;
	fake_fail(FAKE_CHANNEL_FD, 1, EBADF);
	CT_EXPECT_EQ(fi_eq_open(t->fabric, NULL, &eq, NULL), -EBADF);
	CT_EXPECT_EQ(fake_objects, objects);
}

static void *sread_thread(void *arg)
{
	uint8_t buf[512];
	uint32_t event = 0;

	fi_eq_sread(arg, &event, buf, sizeof(buf), CT_DEADLINE_MS, 0);
	return NUMBER(event);
}

CT_TEST_F(eq, a_waiting_thread_is_woken_by_rdma_cm)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct rdma_cm_id *id;
	pthread_t thread;
	void *event;

	CT_ASSERT_TRUE(world_swap_eq(t, &attr));
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &t->ep));
	CT_ASSERT_TRUE(world_connect(t, t->ep));
	id = ep_of(t->ep)->conn.id;
	CT_ASSERT_EQ(pthread_create(&thread, NULL, sread_thread, t->eq), 0);
	CT_EXPECT_SOON(ct_waiting() == 1);
	pthread_mutex_lock(&ep_of(t->ep)->eq->cm_lock);
	fake_event(id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	pthread_mutex_unlock(&ep_of(t->ep)->eq->cm_lock);
	CT_EXPECT_EQ(pthread_join(thread, &event), 0);
	CT_EXPECT_EQ(event, NUMBER(FI_SHUTDOWN));
}

static void *close_queue(void *arg)
{
	struct pvb_eq *eq = arg;
	atomic_bool *done = eq->eq.fid.fid.context;

	CT_EXPECT_EQ(fi_close(&eq->eq.fid.fid), 0);
	atomic_store(done, true);
	return NULL;
}

/* A thread that found it through a completion queue may be reading its events. */
CT_TEST_F(eq, one_that_is_being_looked_at_is_not_closed)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_NONE};
	atomic_bool done = false;
	struct fid_eq *fid;
	pthread_t thread;
	struct pvb_eq *eq;

	CT_ASSERT_EQ(fi_eq_open(t->fabric, &attr, &fid, &done), 0);
	eq = crn_container_of(fid, struct pvb_eq, eq.fid);
	atomic_fetch_add(&eq->looking, 1);
	CT_ASSERT_EQ(pthread_create(&thread, NULL, close_queue, eq), 0);
	for (int i = 0; i < 1000 && !atomic_load(&done); i++)
		sched_yield();
	CT_ASSERT_FALSE(atomic_load(&done));
	atomic_fetch_sub(&eq->looking, 1);
	pthread_join(thread, NULL);
	CT_EXPECT_TRUE(atomic_load(&done));
}

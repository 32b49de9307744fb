/* SPDX-License-Identifier: BSD-2-Clause */
/* How long a connection request lives. */
#include <errno.h>
#include "../world_cm.h"

/* A listener that is closed already, and a request that was read before. */
static void start_orphan(struct world *w)
{
	world_start_requested(w);
	CT_ASSERT_FALSE(ct_failed());
	close_object(w->pep);
}

/* Tests of world_swap_eq: the program has another event queue in the place of the one
 * that the request came through. */
CT_FIXTURE(request, struct world, start_orphan, world_close);

static void expect_accepted(struct world *t)
{
	CT_ASSERT_EQ(fi_endpoint(t->domain, t->request, &t->ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), 0);
	fake_event(t->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(t->eq, FI_CONNECTED, &t->ep->fid, NULL, 0);
}

CT_TEST_F(request, one_that_was_read_outlives_its_listener)
{
	expect_accepted(t);
}

CT_TEST_F(request, one_that_was_read_outlives_its_event_queue)
{
	CT_ASSERT_TRUE(world_swap_eq(t, NULL));
	expect_accepted(t);
}

CT_TEST_F(request, its_endpoint_need_not_be_bound_before_it_is_closed)
{
	CT_ASSERT_TRUE(world_swap_eq(t, NULL));
	CT_ASSERT_EQ(fi_endpoint(t->domain, t->request, &t->ep, NULL), 0);
	close_object(t->ep);
	CT_EXPECT_EQ(fi_endpoint(t->domain, t->request, &t->ep, NULL), -FI_EINVAL);
	t->ep = NULL;
}

CT_TEST_F(request, a_requester_that_gave_up_meanwhile_is_told_by_accept)
{
	CT_ASSERT_TRUE(world_swap_eq(t, NULL));
	fake_event(t->id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
	CT_ASSERT_EQ(fi_endpoint(t->domain, t->request, &t->ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	expect_no_event(t->eq);
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), -FI_ECONNABORTED);
}

/* For each row of a test. */
static bool orphan_again(struct world *w)
{
	world_close(w);
	start_orphan(w);
	return !ct_failed();
}

CT_TEST_F(request, without_its_listener_any_other_may_reject_it)
{
	struct fid_pep *other;

	for (int moved = 0; moved < 2; moved++) {
		CT_NOTE("moved %d", moved);
		CT_ASSERT_TRUE(orphan_again(t));
		if (moved)
			CT_ASSERT_TRUE(world_swap_eq(t, NULL));
		CT_ASSERT_TRUE(world_listen(t, &other));
		CT_EXPECT_EQ(fi_reject(other, t->request->handle, NULL,
				       PVB_CM_APP_SIZE + 1),
			     -FI_EINVAL);
		CT_EXPECT_EQ(fi_reject(other, t->request->handle, NULL, 0), 0);
		CT_EXPECT_EQ(fake_count(FAKE_REJECT), 1);
		CT_EXPECT_EQ(fi_reject(other, t->request->handle, NULL, 0), -FI_EINVAL);
		CT_EXPECT_EQ(fi_endpoint(t->domain, t->request, &t->ep, NULL),
			     -FI_EINVAL);
		t->ep = NULL;
		CT_EXPECT_EQ(fi_close(&other->fid), 0);
	}
}

/* world_close counts what is left behind. */
CT_TEST_F(request, one_that_nobody_uses_ends_with_the_fabric)
{
	for (int moved = 0; moved < 2; moved++) {
		CT_NOTE("moved %d", moved);
		CT_ASSERT_TRUE(orphan_again(t));
		if (moved)
			CT_ASSERT_TRUE(world_swap_eq(t, NULL));
	}
}

CT_TEST_F(request, one_that_cannot_leave_its_event_queue_ends_with_it)
{
	static const enum fake_call calls[] = {FAKE_CREATE_EVENT_CHANNEL, FAKE_MIGRATE};

	for (size_t i = 0; i < CRN_COUNT(calls); i++) {
		CT_NOTE("call %zu", i);
		CT_ASSERT_TRUE(orphan_again(t));
		fake_fail(calls[i], 1, ENOMEM);
		CT_ASSERT_TRUE(world_swap_eq(t, NULL));
		CT_EXPECT_WARNED("");
		CT_EXPECT_EQ(fi_endpoint(t->domain, t->request, &t->ep, NULL),
			     -FI_EINVAL);
		t->ep = NULL;
	}
}

/* Looking at an event is not reading it (fi_eq(3), FI_PEEK). */
CT_TEST_F(request, one_that_was_only_looked_at_ends_with_its_listener)
{
	struct fi_eq_cm_entry entry;
	struct fid *handle;
	uint32_t event;
	int objects;

	world_close(t);
	world_start_listening(t);
	objects = fake_objects;
	request_arrives(t->pep, NULL, 0);
	CT_ASSERT_EQ(fi_eq_read(t->eq, &event, &entry, sizeof(entry), FI_PEEK),
		     sizeof(entry));
	handle = entry.info->handle;
	close_object(t->pep);
	CT_EXPECT_EQ(fake_objects, objects - 1); /* its id, and that of the listener */
	expect_no_event(t->eq);
	CT_ASSERT_TRUE(world_listen(t, &t->pep));
	CT_EXPECT_EQ(fi_reject(t->pep, handle, NULL, 0), -FI_EINVAL);
	close_object(t->pep);
}

CT_TEST_F(request, a_request_of_another_device_stays_for_its_own)
{
	struct fid_ep *ep;

	fake_device_count(2);
	fake_id_device(t->id, &fake_devices[1]);
	CT_EXPECT_EQ(fi_endpoint(t->domain, t->request, &ep, NULL), -FI_EDOMAIN);
	CT_EXPECT_EQ(fi_endpoint(t->domain, t->request, &ep, NULL), -FI_EDOMAIN);
}

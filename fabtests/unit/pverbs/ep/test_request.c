/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints of connection requests, with an event queue of their own. */
#include <errno.h>
#include "../world_cm.h"

/* A world with a request, and a second event queue; one of both is left at the end. */
struct moving {
	struct world w;
	struct fid_eq *own;
};

static void start(struct moving *m)
{
	world_start_requested(&m->w);
	CT_ASSERT_FALSE(ct_failed());
	CT_ASSERT_EQ(fi_eq_open(m->w.fabric, NULL, &m->own, NULL), 0);
}

static int make_ep(struct moving *m)
{
	return fi_endpoint(m->w.domain, m->w.request, &m->w.ep, NULL);
}

static void end(struct moving *m)
{
	close_object(m->w.ep);
	close_object(m->own);
	world_close(&m->w);
}

CT_FIXTURE(ep_request, struct moving, start, end);

static int bind_cq(struct moving *m)
{
	return fi_ep_bind(m->w.ep, &m->w.cq->fid, FI_TRANSMIT | FI_RECV);
}

CT_TEST_F(ep_request, a_request_moves_to_the_event_queue_of_its_endpoint)
{
	CT_ASSERT_EQ(make_ep(t), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->w.ep, &t->own->fid, 0), 0);
	CT_EXPECT_EQ(fake_count(FAKE_MIGRATE), 1);
	CT_EXPECT_EQ(bind_cq(t), 0);
	CT_EXPECT_EQ(fi_accept(t->w.ep, NULL, 0), 0);
	fake_event(t->w.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_no_event(t->w.eq);
	expect_event(t->own, FI_CONNECTED, &t->w.ep->fid, NULL, 0);
	/* The listener and its queue may go first. */
	close_object(t->w.pep);
	close_object(t->w.eq);
}

CT_TEST_F(ep_request, what_waits_in_the_channel_moves_with_it)
{
	fake_event(t->w.id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
	CT_ASSERT_EQ(make_ep(t), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->w.ep, &t->own->fid, 0), 0);
	CT_EXPECT_EQ(bind_cq(t), 0);
	expect_no_event(t->own);
	CT_EXPECT_EQ(fi_accept(t->w.ep, NULL, 0), -FI_ECONNABORTED);
	close_object(t->w.ep);
	close_object(t->own);
}

CT_TEST_F(ep_request, a_request_that_cannot_move_leaves_the_endpoint_unbound)
{
	CT_ASSERT_EQ(make_ep(t), 0);
	fake_fail(FAKE_MIGRATE, 1, ENODEV);
	CT_EXPECT_EQ(fi_ep_bind(t->w.ep, &t->own->fid, 0), -FI_ENODEV);
	close_object(t->own);
	CT_EXPECT_EQ(fi_ep_bind(t->w.ep, &t->w.eq->fid, 0), 0);
	CT_EXPECT_EQ(bind_cq(t), 0);
	CT_EXPECT_EQ(fi_accept(t->w.ep, NULL, 0), 0);
}

CT_TEST_F(ep_request, an_endpoint_that_is_never_bound_ends_the_request)
{
	close_object(t->own);
	CT_ASSERT_EQ(make_ep(t), 0);
	close_object(t->w.pep);
	/* The request holds the queue that it came through. */
	CT_EXPECT_EQ(fi_close(&t->w.eq->fid), -FI_EBUSY);
}

CT_TEST_F(ep_request, an_endpoint_that_could_not_be_made_leaves_the_request)
{
	close_object(t->own);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(make_ep(t), -FI_ENOMEM);
	t->w.request->tx_attr->size = 100000;
	CT_EXPECT_EQ(make_ep(t), -FI_EINVAL);
	t->w.request->tx_attr->size = 8;
	CT_ASSERT_EQ(make_ep(t), 0);
}

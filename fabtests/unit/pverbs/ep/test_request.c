/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints of connection requests, with an event queue of their own. */
#include <errno.h>
#include "../world_cm.h"

/* A listener on the world's queue, a second queue, and a request that was read. */
struct moving {
	struct world w;
	struct fid_pep *pep;
	struct fid_eq *own;
	struct rdma_cm_id *id;
	struct fi_info *info;
	struct fid_ep *ep; /* made by the test */
};

static bool requested(struct moving *m)
{
	if (!world_open_listening(&m->w, &m->pep))
		return false;
	CT_EXPECT_EQ(fi_eq_open(m->w.fabric, NULL, &m->own, NULL), 0);
	m->info = next_request(&m->w, m->pep, &m->id);
	return m->info && !ct_failed();
}

static int bind_cq(struct moving *m)
{
	return fi_ep_bind(m->ep, &m->w.cq->fid, FI_TRANSMIT | FI_RECV);
}

/* Of the queues the world's is left. */
static void end(struct moving *m)
{
	if (m->ep)
		CT_EXPECT_EQ(fi_close(&m->ep->fid), 0);
	fi_freeinfo(m->info);
	if (m->pep)
		world_close_listening(&m->w, m->pep);
	else
		world_close(&m->w);
}

CT_TEST(ep_request, a_request_moves_to_the_event_queue_of_its_endpoint)
{
	struct moving m;

	CT_ASSERT_TRUE(requested(&m));
	CT_ASSERT_EQ(fi_endpoint(m.w.domain, m.info, &m.ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(m.ep, &m.own->fid, 0), 0);
	CT_EXPECT_EQ(fake_count(FAKE_MIGRATE), 1);
	CT_EXPECT_EQ(bind_cq(&m), 0);
	CT_EXPECT_EQ(fi_accept(m.ep, NULL, 0), 0);
	fake_event(m.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_no_event(m.w.eq);
	expect_event(m.own, FI_CONNECTED, &m.ep->fid, NULL, 0);
	/* The listener and its queue may go first. */
	CT_EXPECT_EQ(fi_close(&m.pep->fid), 0);
	m.pep = NULL;
	CT_EXPECT_EQ(fi_close(&m.w.eq->fid), 0);
	m.w.eq = m.own;
	end(&m);
}

CT_TEST(ep_request, what_waits_in_the_channel_moves_with_it)
{
	struct moving m;

	CT_ASSERT_TRUE(requested(&m));
	fake_event(m.id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
	CT_ASSERT_EQ(fi_endpoint(m.w.domain, m.info, &m.ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(m.ep, &m.own->fid, 0), 0);
	CT_EXPECT_EQ(bind_cq(&m), 0);
	expect_no_event(m.own);
	CT_EXPECT_EQ(fi_accept(m.ep, NULL, 0), -FI_ECONNABORTED);
	CT_EXPECT_EQ(fi_close(&m.ep->fid), 0);
	m.ep = NULL;
	CT_EXPECT_EQ(fi_close(&m.own->fid), 0);
	end(&m);
}

CT_TEST(ep_request, a_request_that_cannot_move_leaves_the_endpoint_unbound)
{
	struct moving m;

	CT_ASSERT_TRUE(requested(&m));
	CT_ASSERT_EQ(fi_endpoint(m.w.domain, m.info, &m.ep, NULL), 0);
	fake_fail(FAKE_MIGRATE, 1, ENODEV);
	CT_EXPECT_EQ(fi_ep_bind(m.ep, &m.own->fid, 0), -FI_ENODEV);
	CT_EXPECT_EQ(fi_close(&m.own->fid), 0);
	CT_EXPECT_EQ(fi_ep_bind(m.ep, &m.w.eq->fid, 0), 0);
	CT_EXPECT_EQ(bind_cq(&m), 0);
	CT_EXPECT_EQ(fi_accept(m.ep, NULL, 0), 0);
	end(&m);
}

CT_TEST(ep_request, an_endpoint_that_is_never_bound_ends_the_request)
{
	struct moving m;

	CT_ASSERT_TRUE(requested(&m));
	CT_EXPECT_EQ(fi_close(&m.own->fid), 0);
	CT_ASSERT_EQ(fi_endpoint(m.w.domain, m.info, &m.ep, NULL), 0);
	CT_EXPECT_EQ(fi_close(&m.pep->fid), 0);
	m.pep = NULL;
	/* The request holds the queue that it came through. */
	CT_EXPECT_EQ(fi_close(&m.w.eq->fid), -FI_EBUSY);
	end(&m);
}

CT_TEST(ep_request, an_endpoint_that_could_not_be_made_leaves_the_request)
{
	struct moving m;

	CT_ASSERT_TRUE(requested(&m));
	CT_EXPECT_EQ(fi_close(&m.own->fid), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(fi_endpoint(m.w.domain, m.info, &m.ep, NULL), -FI_ENOMEM);
	m.info->tx_attr->size = 100000;
	CT_EXPECT_EQ(fi_endpoint(m.w.domain, m.info, &m.ep, NULL), -FI_EINVAL);
	m.info->tx_attr->size = 8;
	CT_ASSERT_EQ(fi_endpoint(m.w.domain, m.info, &m.ep, NULL), 0);
	end(&m);
}

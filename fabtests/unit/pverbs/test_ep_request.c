/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints of connection requests, with an event queue of their own. */
#include <errno.h>
#include "world_cm.h"

/* A listener on the world's queue, a second queue, and a request that was read. */
static bool requested(struct world *w, struct fid_pep **pep, struct fid_eq **own,
		      struct rdma_cm_id **id, struct fi_info **info)
{
	world_reset();
	if (!world_open_domain(w, NULL) || !world_listen(w, pep))
		return false;
	CT_EXPECT_EQ(fi_eq_open(w->fabric, NULL, own, NULL), 0);
	*id = request_arrives(*pep, NULL, 0);
	*info = read_request(w, *pep, NULL, 0);
	return *info && !ct_failed();
}

CT_TEST(ep_request, a_request_moves_to_the_event_queue_of_its_endpoint)
{
	struct rdma_cm_id *id;
	struct fid_pep *pep;
	struct fi_info *info;
	struct fid_eq *own;
	struct fid_ep *ep;
	struct world w;

	CT_ASSERT_TRUE(requested(&w, &pep, &own, &id, &info));
	CT_ASSERT_EQ(fi_endpoint(w.domain, info, &ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &own->fid, 0), 0);
	CT_EXPECT_EQ(fake_count(FAKE_MIGRATE), 1);
	CT_EXPECT_EQ(fi_ep_bind(ep, &w.cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_accept(ep, NULL, 0), 0);
	fake_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_no_event(w.eq);
	expect_event(own, FI_CONNECTED, &ep->fid, NULL, 0);
	/* The listener and its queue may go first. */
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	CT_EXPECT_EQ(fi_close(&w.eq->fid), 0);
	w.eq = own;
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	fi_freeinfo(info);
	world_close(&w);
}

CT_TEST(ep_request, what_waits_in_the_channel_moves_with_it)
{
	struct rdma_cm_id *id;
	struct fid_pep *pep;
	struct fi_info *info;
	struct fid_eq *own;
	struct fid_ep *ep;
	struct world w;

	CT_ASSERT_TRUE(requested(&w, &pep, &own, &id, &info));
	fake_event(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
	CT_ASSERT_EQ(fi_endpoint(w.domain, info, &ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &own->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &w.cq->fid, FI_TRANSMIT | FI_RECV), 0);
	expect_no_event(own);
	CT_EXPECT_EQ(fi_accept(ep, NULL, 0), -FI_ECONNABORTED);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	CT_EXPECT_EQ(fi_close(&own->fid), 0);
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	fi_freeinfo(info);
	world_close(&w);
}

CT_TEST(ep_request, a_request_that_cannot_move_leaves_the_endpoint_unbound)
{
	struct rdma_cm_id *id;
	struct fid_pep *pep;
	struct fi_info *info;
	struct fid_eq *own;
	struct fid_ep *ep;
	struct world w;

	CT_ASSERT_TRUE(requested(&w, &pep, &own, &id, &info));
	CT_ASSERT_EQ(fi_endpoint(w.domain, info, &ep, NULL), 0);
	fake_fail(FAKE_MIGRATE, 1, ENODEV);
	CT_EXPECT_EQ(fi_ep_bind(ep, &own->fid, 0), -FI_ENODEV);
	CT_EXPECT_EQ(fi_close(&own->fid), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &w.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &w.cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_accept(ep, NULL, 0), 0);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	fi_freeinfo(info);
	world_close(&w);
}

CT_TEST(ep_request, an_endpoint_that_is_never_bound_ends_the_request)
{
	struct rdma_cm_id *id;
	struct fid_pep *pep;
	struct fi_info *info;
	struct fid_eq *own;
	struct fid_ep *ep;
	struct world w;

	CT_ASSERT_TRUE(requested(&w, &pep, &own, &id, &info));
	CT_EXPECT_EQ(fi_close(&own->fid), 0);
	CT_ASSERT_EQ(fi_endpoint(w.domain, info, &ep, NULL), 0);
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	/* The request holds the queue that it came through. */
	CT_EXPECT_EQ(fi_close(&w.eq->fid), -FI_EBUSY);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	fi_freeinfo(info);
	world_close(&w);
}

CT_TEST(ep_request, an_endpoint_that_could_not_be_made_leaves_the_request)
{
	struct rdma_cm_id *id;
	struct fid_pep *pep;
	struct fi_info *info;
	struct fid_eq *own;
	struct fid_ep *ep;
	struct world w;

	CT_ASSERT_TRUE(requested(&w, &pep, &own, &id, &info));
	CT_EXPECT_EQ(fi_close(&own->fid), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(fi_endpoint(w.domain, info, &ep, NULL), -FI_ENOMEM);
	info->tx_attr->size = 100000;
	CT_EXPECT_EQ(fi_endpoint(w.domain, info, &ep, NULL), -FI_EINVAL);
	info->tx_attr->size = 8;
	CT_ASSERT_EQ(fi_endpoint(w.domain, info, &ep, NULL), 0);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	fi_freeinfo(info);
	world_close(&w);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* How long a connection request lives. */
#include <errno.h>
#include "../world_cm.h"

/* A listener that is closed already, and a request that was read before. */
struct orphan {
	struct world w;
	struct rdma_cm_id *id;
	struct fi_info *info;
	struct fid_ep *ep; /* made by the test */
};

static bool orphaned(struct orphan *o)
{
	struct fid_pep *pep;

	*o = (struct orphan){0};
	if (!world_open_listening(&o->w, &pep))
		return false;
	o->info = next_request(&o->w, pep, &o->id);
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	return o->info && !ct_failed();
}

static void end(struct orphan *o)
{
	if (o->ep)
		CT_EXPECT_EQ(fi_close(&o->ep->fid), 0);
	fi_freeinfo(o->info);
	world_close(&o->w);
}

/* The program has another event queue in the place of the one that the request came
 * through. */
static bool swap_eq(struct orphan *o)
{
	CT_EXPECT_EQ(fi_close(&o->w.eq->fid), 0);
	CT_EXPECT_EQ(fi_eq_open(o->w.fabric, NULL, &o->w.eq, NULL), 0);
	return !ct_failed();
}

static void expect_accepted(struct orphan *o)
{
	CT_ASSERT_EQ(fi_endpoint(o->w.domain, o->info, &o->ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(o->ep, &o->w.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(o->ep, &o->w.cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_accept(o->ep, NULL, 0), 0);
	fake_event(o->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(o->w.eq, FI_CONNECTED, &o->ep->fid, NULL, 0);
}

CT_TEST(request, one_that_was_read_outlives_its_listener)
{
	struct orphan o;

	CT_ASSERT_TRUE(orphaned(&o));
	expect_accepted(&o);
	end(&o);
}

CT_TEST(request, one_that_was_read_outlives_its_event_queue)
{
	struct orphan o;

	CT_ASSERT_TRUE(orphaned(&o));
	CT_ASSERT_TRUE(swap_eq(&o));
	expect_accepted(&o);
	end(&o);
}

CT_TEST(request, its_endpoint_need_not_be_bound_before_it_is_closed)
{
	struct orphan o;

	CT_ASSERT_TRUE(orphaned(&o));
	CT_ASSERT_TRUE(swap_eq(&o));
	CT_ASSERT_EQ(fi_endpoint(o.w.domain, o.info, &o.ep, NULL), 0);
	CT_EXPECT_EQ(fi_close(&o.ep->fid), 0);
	o.ep = NULL;
	CT_EXPECT_EQ(fi_endpoint(o.w.domain, o.info, &o.ep, NULL), -FI_EINVAL);
	o.ep = NULL;
	end(&o);
}

CT_TEST(request, a_requester_that_gave_up_meanwhile_is_told_by_accept)
{
	struct orphan o;

	CT_ASSERT_TRUE(orphaned(&o));
	CT_ASSERT_TRUE(swap_eq(&o));
	fake_event(o.id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
	CT_ASSERT_EQ(fi_endpoint(o.w.domain, o.info, &o.ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(o.ep, &o.w.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(o.ep, &o.w.cq->fid, FI_TRANSMIT | FI_RECV), 0);
	expect_no_event(o.w.eq);
	CT_EXPECT_EQ(fi_accept(o.ep, NULL, 0), -FI_ECONNABORTED);
	end(&o);
}

CT_TEST(request, without_its_listener_any_other_may_reject_it)
{
	struct fid_pep *other;
	struct orphan o;

	for (int moved = 0; moved < 2; moved++) {
		CT_NOTE("moved %d", moved);
		CT_ASSERT_TRUE(orphaned(&o));
		if (moved)
			CT_ASSERT_TRUE(swap_eq(&o));
		CT_ASSERT_TRUE(world_listen(&o.w, &other));
		CT_EXPECT_EQ(fi_reject(other, o.info->handle, NULL, PVB_CM_APP_SIZE + 1),
			     -FI_EINVAL);
		CT_EXPECT_EQ(fi_reject(other, o.info->handle, NULL, 0), 0);
		CT_EXPECT_EQ(fake_count(FAKE_REJECT), 1);
		CT_EXPECT_EQ(fi_reject(other, o.info->handle, NULL, 0), -FI_EINVAL);
		CT_EXPECT_EQ(fi_endpoint(o.w.domain, o.info, &o.ep, NULL), -FI_EINVAL);
		o.ep = NULL;
		CT_EXPECT_EQ(fi_close(&other->fid), 0);
		end(&o);
	}
}

/* world_close counts what is left behind. */
CT_TEST(request, one_that_nobody_uses_ends_with_the_fabric)
{
	struct orphan o;

	for (int moved = 0; moved < 2; moved++) {
		CT_NOTE("moved %d", moved);
		CT_ASSERT_TRUE(orphaned(&o));
		if (moved)
			CT_ASSERT_TRUE(swap_eq(&o));
		end(&o);
	}
}

CT_TEST(request, one_that_cannot_leave_its_event_queue_ends_with_it)
{
	static const enum fake_call calls[] = {FAKE_CREATE_EVENT_CHANNEL, FAKE_MIGRATE};
	struct orphan o;

	for (size_t i = 0; i < CRN_COUNT(calls); i++) {
		CT_NOTE("call %zu", i);
		CT_ASSERT_TRUE(orphaned(&o));
		fake_fail(calls[i], 1, ENOMEM);
		CT_ASSERT_TRUE(swap_eq(&o));
		CT_EXPECT_STRSTR(ct_log_last(), "cannot be moved");
		CT_EXPECT_EQ(fi_endpoint(o.w.domain, o.info, &o.ep, NULL), -FI_EINVAL);
		o.ep = NULL;
		end(&o);
	}
}

/* Looking at an event is not reading it (fi_eq(3), FI_PEEK). */
CT_TEST(request, one_that_was_only_looked_at_ends_with_its_listener)
{
	struct fi_eq_cm_entry entry;
	struct fid_pep *pep;
	struct fid *handle;
	struct world w;
	uint32_t event;
	int objects;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	objects = fake_objects;
	request_arrives(pep, NULL, 0);
	CT_ASSERT_EQ(fi_eq_read(w.eq, &event, &entry, sizeof(entry), FI_PEEK),
		     sizeof(entry));
	handle = entry.info->handle;
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	CT_EXPECT_EQ(fake_objects, objects - 1); /* its id, and that of the listener */
	expect_no_event(w.eq);
	CT_ASSERT_TRUE(world_listen(&w, &pep));
	CT_EXPECT_EQ(fi_reject(pep, handle, NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	world_close(&w);
}

CT_TEST(request, a_request_of_another_device_stays_for_its_own)
{
	struct orphan o;
	struct fid_ep *ep;

	CT_ASSERT_TRUE(orphaned(&o));
	fake_device_count(2);
	fake_id_device(o.id, &fake_devices[1]);
	CT_EXPECT_EQ(fi_endpoint(o.w.domain, o.info, &ep, NULL), -FI_EDOMAIN);
	CT_EXPECT_EQ(fi_endpoint(o.w.domain, o.info, &ep, NULL), -FI_EDOMAIN);
	end(&o);
}

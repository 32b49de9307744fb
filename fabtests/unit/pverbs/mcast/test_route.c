/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes of a group: to one place, to two, to nobody; changed while programs send. */
#include <errno.h>
#include <pthread.h>
#include <rdma/fi_ext_cairn.h>
#include "mcast/internal.h"
#include "world_mcast.h"

#define LID_GROUP 0xc001
#define LID_ROUTERS 0xc002
#define TURNS 1000

struct route_world {
	struct mcast_world m;
	struct fid_mc *fid;
	struct pvb_mc *mc;
	fi_addr_t to;
	struct fake_qp *qp;
};

/* Which would have an entry of its own. */
static void arrange_no_keepalive(void)
{
	pvb_params.keepalive = 0;
}

static void arrange_copies(void)
{
	pvb_params.keepalive = 0;
	pvb_params.link = PVB_LINK_RFC;
	pvb_params.qkey = MCAST_QKEY;
	pvb_params.link_copy = 1;
}

static void route_close(struct route_world *w)
{
	close_object(w->fid);
	mcast_close(&w->m);
}

static bool route_open_with(struct route_world *w, size_t tx_size, void (*arrange)(void))
{
	const struct dgram_opts opts = {.ib = true,
					.caps = FI_MSG | FI_MULTICAST,
					.tx_size = tx_size,
					.arrange = arrange};

	close_object(w->fid);
	if (!mcast_open_with(&w->m, &opts))
		return false;
	w->fid = mcast_join(&w->m, 0, 1, 0);
	mcast_answers(1, MCAST_QKEY);
	expect_joined(&w->m, w->fid);
	w->mc = crn_container_of(w->fid, struct pvb_mc, fid);
	w->to = fi_mc_addr(w->fid);
	w->qp = qp_of(w->m.ep[0]);
	return !ct_failed();
}

static bool route_open(struct route_world *w, size_t tx_size)
{
	return route_open_with(w, tx_size, arrange_no_keepalive);
}

static struct pvb_mc_to place(uint16_t lid)
{
	struct pvb_mc_to to = {.qkey = MCAST_QKEY};

	to.ah.dlid = lid;
	to.ah.is_global = 1;
	to.ah.grh.dgid.raw[0] = 0xff;
	to.ah.grh.dgid.raw[15] = (uint8_t)lid;
	return to;
}

static void route_start(struct route_world *w)
{
	CT_ASSERT_TRUE(route_open(w, 0));
}

static void lock(struct route_world *w)
{
	pthread_mutex_lock(&ep_of(w->m.ep[0])->eq->cm_lock);
}

static void unlock(struct route_world *w)
{
	pthread_mutex_unlock(&ep_of(w->m.ep[0])->eq->cm_lock);
}

/* copy 0: none. */
static void route_to(struct route_world *w, uint16_t lid, uint16_t copy)
{
	const struct pvb_mc_to to = place(lid), also = place(copy);

	lock(w);
	CT_EXPECT_EQ(pvb_mc_route_to(w->mc, &to, copy ? &also : NULL), 0);
	unlock(w);
}

static void route_drop(struct route_world *w)
{
	lock(w);
	CT_EXPECT_EQ(pvb_mc_route_drop(w->mc), 0);
	unlock(w);
}

static ssize_t send_one(struct route_world *w, uintptr_t number)
{
	static char byte;

	return fi_send(w->m.ep[0], &byte, 1, NULL, w->to, NUMBER(number));
}

static uint64_t dropped(struct route_world *w)
{
	struct fi_cairn_ops_stats *ops;
	struct fi_cairn_stats stats = {0};

	CT_EXPECT_EQ(fi_open_ops(&w->m.ep[0]->fid, FI_CAIRN_STATS, 0, (void **)&ops,
				 NULL),
		     0);
	CT_EXPECT_EQ(ops->read(w->m.ep[0], &stats, sizeof(stats)), 0);
	return stats.mc_dropped;
}

CT_FIXTURE(mc_route, struct route_world, route_start, route_close);

CT_TEST_F(mc_route, a_send_goes_where_the_group_is_now)
{
	uint16_t lid;

	for (lid = LID_GROUP; lid <= LID_ROUTERS; lid++) {
		route_to(t, lid, 0);
		CT_EXPECT_EQ(send_one(t, lid), 0);
		CT_EXPECT_EQ(fake_newest(&t->qp->sq)->ah->attr.dlid, lid);
		CT_EXPECT_EQ(fake_newest(&t->qp->sq)->remote_qpn, 0xffffff);
	}
	lock(t);
	pvb_mc_route_none(t->mc);
	unlock(t);
	CT_EXPECT_EQ(send_one(t, 3), -FI_EADDRNOTAVAIL);
	fake_complete_all(t->qp);
	expect_comp(t->m.d.cq, NUMBER(LID_GROUP), FI_SEND | FI_MSG, 0, 0);
	expect_comp(t->m.d.cq, NUMBER(LID_ROUTERS), FI_SEND | FI_MSG, 0, 0);
}

/* A datagram of the link's MTU goes anywhere, a longer one nowhere. */
CT_TEST_F(mc_route, R14_nothing_longer_than_the_mtu_of_the_link_is_sent)
{
	static char bytes[3];
	int way;

	t->mc->mtu = 2;
	for (way = 0; way < 3; way++) {
		CT_NOTE("%d", way);
		if (way < 2)
			route_to(t, LID_GROUP, way ? LID_ROUTERS : 0);
		else
			route_drop(t);
		CT_EXPECT_EQ(fi_send(t->m.ep[0], bytes, 3, NULL, t->to, NULL),
			     -FI_EMSGSIZE);
		CT_EXPECT_EQ(fi_inject(t->m.ep[0], bytes, 3, t->to), -FI_EMSGSIZE);
		CT_EXPECT_EQ(fi_send(t->m.ep[0], bytes, 2, NULL, t->to, NULL), 0);
		fake_complete_all(t->qp);
		expect_comp(t->m.d.cq, NULL, FI_SEND | FI_MSG, 0, 0);
	}
}

/* As many as places that the group was at, however often it moves. */
CT_TEST_F(mc_route, a_route_that_comes_again_is_the_same)
{
	struct pvb_mc_route *at;
	unsigned int i, count;

	for (i = 0; i < TURNS; i++) {
		route_to(t, LID_GROUP, 0);
		route_to(t, LID_GROUP, LID_ROUTERS);
		route_drop(t);
		route_to(t, LID_ROUTERS, 0);
	}
	for (count = 0, at = t->mc->routes; at; at = at->next)
		count++;
	/* And that of the join. */
	CT_EXPECT_EQ(count, 5);
}

CT_TEST_F(mc_route, R30_what_is_for_nobody_completes_and_is_counted)
{
	CT_EXPECT_EQ(dropped(t), 0);
	route_drop(t);
	CT_EXPECT_EQ(send_one(t, 1), 0);
	/* To its own port, without data, and to a number that no queue pair has. */
	CT_EXPECT_EQ(fake_newest(&t->qp->sq)->ah->attr.dlid, DGRAM_LID);
	CT_EXPECT_EQ(fake_newest(&t->qp->sq)->remote_qpn, 0xffffff);
	CT_EXPECT_EQ(fake_newest(&t->qp->sq)->num_sge, 0);
	CT_EXPECT_EQ(fi_inject(t->m.ep[0], "x", 1, t->to), 0);
	CT_EXPECT_EQ(dropped(t), 2);
	fake_complete_all(t->qp);
	expect_comp(t->m.d.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(t->m.d.cq);
	route_to(t, LID_GROUP, 0);
	CT_EXPECT_EQ(send_one(t, 2), 0);
	CT_EXPECT_EQ(fake_newest(&t->qp->sq)->num_sge, 1);
	CT_EXPECT_EQ(dropped(t), 2);
}

CT_TEST_F(mc_route, R32_a_copy_is_sent_and_one_completion_stands_for_both)
{
	route_to(t, LID_GROUP, LID_ROUTERS);
	CT_EXPECT_EQ(send_one(t, 1), 0);
	CT_ASSERT_EQ(t->qp->sq.posted, 2);
	CT_EXPECT_EQ(t->qp->sq.calls, 1);
	CT_EXPECT_EQ(fake_wr(&t->qp->sq, 0)->ah->attr.dlid, LID_GROUP);
	CT_EXPECT_FALSE(fake_wr(&t->qp->sq, 0)->flags & IBV_SEND_SIGNALED);
	CT_EXPECT_EQ(fake_wr(&t->qp->sq, 1)->ah->attr.dlid, LID_ROUTERS);
	CT_EXPECT_EQ(fake_wr(&t->qp->sq, 1)->num_sge, 1);
	fake_complete(t->qp, 1);
	expect_no_comp(t->m.d.cq);
	fake_complete(t->qp, 1);
	expect_comp(t->m.d.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	/* Of fi_inject none, also beyond what goes inline. */
	ep_of(t->m.ep[0])->qp.inline_size = 0;
	CT_EXPECT_EQ(fi_inject(t->m.ep[0], "x", 1, t->to), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 4);
	fake_complete_all(t->qp);
	expect_no_comp(t->m.d.cq);
}

CT_TEST_F(mc_route, a_copy_takes_an_entry_of_the_queue)
{
	CT_ASSERT_TRUE(route_open(t, 4));
	route_to(t, LID_GROUP, 0);
	CT_EXPECT_EQ(send_one(t, 1), 0);
	route_to(t, LID_GROUP, LID_ROUTERS);
	CT_EXPECT_EQ(send_one(t, 2), 0);
	/* There is room for one of the two. */
	CT_EXPECT_EQ(send_one(t, 3), -FI_EAGAIN);
	fake_complete_all(t->qp);
	expect_comp(t->m.d.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_comp(t->m.d.cq, NUMBER(2), FI_SEND | FI_MSG, 0, 0);
	CT_EXPECT_EQ(send_one(t, 3), 0);
}

CT_TEST_F(mc_route, with_copies_as_many_sends_fit_as_the_info_says)
{
	uintptr_t number;

	CT_ASSERT_TRUE(route_open_with(t, 3, arrange_copies));
	CT_EXPECT_EQ(t->m.d.info->tx_attr->size, 3);
	route_to(t, LID_GROUP, LID_ROUTERS);
	for (number = 1; number <= 3; number++)
		CT_EXPECT_EQ(send_one(t, number), 0);
	CT_EXPECT_EQ(send_one(t, number), -FI_EAGAIN);
	CT_EXPECT_EQ(t->qp->sq.posted, 6);
	fake_complete_all(t->qp);
}

CT_TEST(mc_route, closing_cancels_a_copied_send_once)
{
	struct route_world w = {0};

	CT_ASSERT_TRUE(route_open(&w, 0));
	route_to(&w, LID_GROUP, LID_ROUTERS);
	CT_EXPECT_EQ(send_one(&w, 1), 0);
	CT_EXPECT_EQ(send_one(&w, 2), 0);
	mcast_left(w.fid);
	CT_EXPECT_EQ(fi_close(&w.m.ep[0]->fid), 0);
	w.m.ep[0] = NULL;
	expect_failed_comps(w.m.d.cq, 2);
	mcast_close(&w.m);
}

/* Whichever of the two fails, it is one error. */
CT_TEST_F(mc_route, a_copied_send_that_fails_is_told_once)
{
	unsigned int ok;

	for (ok = 0; ok < 2; ok++) {
		CT_NOTE("%u", ok);
		CT_ASSERT_TRUE(route_open(t, 0));
		route_to(t, LID_GROUP, LID_ROUTERS);
		CT_EXPECT_EQ(send_one(t, 1), 0);
		fake_complete(t->qp, ok);
		fake_send_error(t->qp, IBV_WC_LOC_PROT_ERR);
		expect_cq_reason(t->m.d.cq, NUMBER(1), FI_EFAULT, IBV_WC_LOC_PROT_ERR);
		expect_no_comp(t->m.d.cq);
	}
}

CT_TEST_F(mc_route, a_device_that_refuses_either_is_told_once)
{
	route_to(t, LID_GROUP, LID_ROUTERS);
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(send_one(t, 1), -FI_EAGAIN);
	fake_fail(FAKE_POST_SEND, 2, ENOMEM);
	CT_EXPECT_EQ(send_one(t, 2), 0);
	expect_cq_reason(t->m.d.cq, NUMBER(2), FI_ENOMEM, -ENOMEM);
	CT_EXPECT_EQ(send_one(t, 3), 0);
	fake_complete_all(t->qp);
	expect_comp(t->m.d.cq, NUMBER(3), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(t->m.d.cq);
}

static atomic_bool sends_over;

static void *switch_routes(void *arg)
{
	struct route_world *w = arg;
	unsigned int i;

	for (i = 0; !atomic_load(&sends_over); i++) {
		if (i % 3 == 2)
			route_drop(w);
		else
			route_to(w, LID_GROUP, i % 3 ? LID_ROUTERS : 0);
	}
	return NULL;
}

/* Each send takes one route or another, and completes once. */
CT_TEST_F(mc_route, routes_change_while_programs_send)
{
	pthread_t thread;
	uintptr_t i;

	atomic_store(&sends_over, false);
	CT_EXPECT_EQ(pthread_create(&thread, NULL, switch_routes, t), 0);
	for (i = 1; i <= TURNS && !ct_failed(); i++) {
		CT_EXPECT_EQ(send_one(t, i), 0);
		fake_complete_all(t->qp);
		expect_comp(t->m.d.cq, NUMBER(i), FI_SEND | FI_MSG, 0, 0);
		expect_no_comp(t->m.d.cq);
	}
	atomic_store(&sends_over, true);
	pthread_join(thread, NULL);
}

CT_TEST_F(mc_route, a_copy_has_room_in_the_shortest_send_queue)
{
	uintptr_t number;

	CT_ASSERT_TRUE(route_open(t, 1));
	route_to(t, LID_GROUP, LID_ROUTERS);
	for (number = 1; number < 4; number++) {
		CT_EXPECT_EQ(send_one(t, number), 0);
		CT_EXPECT_EQ(crn_ring_space(&ep_of(t->m.ep[0])->qp.sq.ring), 0);
		CT_EXPECT_EQ(send_one(t, 9), -FI_EAGAIN);
		fake_complete_all(t->qp);
		expect_comp(t->m.d.cq, NUMBER(number), FI_SEND | FI_MSG, 0, 0);
		CT_EXPECT_EQ(crn_ring_space(&ep_of(t->m.ep[0])->qp.sq.ring), 2);
	}
}

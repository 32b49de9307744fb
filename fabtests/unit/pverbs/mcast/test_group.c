/* SPDX-License-Identifier: BSD-2-Clause */
/* Memberships: shared and counted, refused, lost and joined again, left at any moment. */
#include <errno.h>
#include <pthread.h>
#include "world_mcast.h"

#define THREADS 4
#define TURNS 500

static ssize_t send_to(struct mcast_world *w, int i, fi_addr_t to)
{
	return fi_inject(w->ep[i], "x", 1, to);
}

CT_FIXTURE(mc_group, struct mcast_world, mcast_start, mcast_close);

CT_TEST_F(mc_group, all_who_name_a_group_share_a_membership)
{
	struct fid_mc *mc[4];

	mc[0] = mcast_join(t, 0, 1, 0);
	mc[1] = mcast_join(t, 0, 1, FI_SEND | FI_RECV);
	mc[2] = mcast_join(t, 1, 1, FI_RECV);
	CT_ASSERT_TRUE(mc[0] && mc[1] && mc[2]);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 1);
	CT_EXPECT_EQ(fake_join.flags, RDMA_MC_JOIN_FLAG_FULLMEMBER);
	CT_EXPECT_EQ(fake_join.id->ps, RDMA_PS_UDP);
	expect_no_event(t->eq);
	mcast_answers(1, MCAST_QKEY);
	expect_joined(t, mc[0]);
	expect_joined(t, mc[1]);
	expect_joined(t, mc[2]);
	expect_no_event(t->eq);
	/* Each endpoint is attached once. */
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 2);
	mc[3] = mcast_join(t, 1, 1, 0);
	expect_joined(t, mc[3]);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 2);
	mcast_left(mc[0]);
	mcast_left(mc[2]);
	mcast_left(mc[3]);
	CT_EXPECT_EQ(fake_count(FAKE_DETACH), 1);
	CT_EXPECT_EQ(fake_count(FAKE_LEAVE), 0);
	mcast_left(mc[1]);
	CT_EXPECT_EQ(fake_count(FAKE_DETACH), 2);
	CT_EXPECT_EQ(fake_count(FAKE_LEAVE), 1);
}

CT_TEST_F(mc_group, who_only_sends_is_a_member_apart_and_receives_nothing)
{
	const struct fake_wr *wr;
	struct fid_mc *mc[2];

	mc[0] = mcast_join(t, 0, 1, FI_SEND);
	CT_EXPECT_EQ(fake_join.flags, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER);
	/* Its Q_Key is the group's. */
	mcast_answers(1, 0xb1b);
	expect_joined(t, mc[0]);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 0);
	CT_EXPECT_EQ(send_to(t, 0, fi_mc_addr(mc[0])), 0);
	wr = &qp_of(t->ep[0])->sq.wr[0];
	CT_EXPECT_EQ(wr->remote_qpn, 0xffffff);
	CT_EXPECT_EQ(wr->remote_qkey, 0xb1b);
	CT_EXPECT_EQ(wr->ah->attr.grh.dgid.raw[12], 239);
	mc[1] = mcast_join(t, 0, 1, FI_RECV);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 2);
	mcast_answers(1, MCAST_QKEY);
	expect_joined(t, mc[1]);
	CT_EXPECT_EQ(fi_mc_addr(mc[1]), FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 1);
	mcast_left(mc[0]);
	mcast_left(mc[1]);
}

static void expect_counted(void *arg)
{
	CT_EXPECT_EQ(ep_of(arg)->dgram->mcs.open, 1);
}

/* Another thread may read its event, and close it, before fi_join returns. */
CT_TEST_F(mc_group, a_fid_mc_keeps_its_endpoint_before_anybody_is_told_of_it)
{
	const struct sockaddr_in addr = mcast_addr(1);
	struct fid_mc *mc = NULL;

	fake_before(FAKE_JOIN, 1, expect_counted, t->ep[0]);
	CT_EXPECT_EQ(fi_join(t->ep[0], &addr, 0, &mc, t), 0);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 1);
	mcast_left(mc);
	fake_fail(FAKE_JOIN, 1, EPERM);
	CT_EXPECT_EQ(fi_join(t->ep[0], &addr, 0, &mc, t), -FI_EACCES);
	CT_EXPECT_EQ(ep_of(t->ep[0])->dgram->mcs.open, 0);
}

CT_TEST_F(mc_group, a_group_is_sent_to_while_it_is_joined)
{
	const struct ibv_ah_attr *ah;
	struct fid_mc *mc;
	fi_addr_t addr;

	mc = mcast_join(t, 0, 1, 0);
	CT_EXPECT_EQ(fi_mc_addr(mc), FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(send_to(t, 0, fi_mc_addr(mc)), -FI_EADDRNOTAVAIL);
	mcast_answers(1, MCAST_QKEY);
	expect_joined(t, mc);
	addr = fi_mc_addr(mc);
	CT_EXPECT_EQ(send_to(t, 0, addr), 0);
	ah = &fake_newest(&qp_of(t->ep[0])->sq)->ah->attr;
	CT_EXPECT_EQ(ah->is_global, 1);
	CT_EXPECT_EQ(ah->grh.dgid.raw[15], 1);
	/* Another endpoint has no such group. */
	CT_EXPECT_EQ(send_to(t, 1, addr), -FI_EINVAL);
	CT_EXPECT_EQ(send_to(t, 0, addr + 1), -FI_EINVAL);
	CT_EXPECT_EQ(fi_close(&t->ep[0]->fid), -FI_EBUSY);
	mcast_left(mc);
	CT_EXPECT_EQ(send_to(t, 0, addr), -FI_EINVAL);
}

/* The group that mc asked for is its, or is refused; mc is closed. */
static void expect_verdict(struct mcast_world *w, struct fid_mc *mc, bool ok)
{
	if (ok)
		expect_joined(w, mc);
	else
		expect_eq_error(w->eq, &mc->fid, FI_EINVAL, 0);
	expect_no_event(w->eq);
	mcast_left(mc);
}

CT_TEST_F(mc_group, a_group_with_other_keys_is_refused)
{
	static const struct {
		uint32_t qkey;
		uint64_t flags;
		bool ok;
	} rows[] = {
		{MCAST_QKEY, 0, true},	      {0xb1b, 0, false},
		{0xb1b, FI_RECV, false},      {0xb1b, FI_SEND, true},
		{0x80000b1b, FI_SEND, false},
	};
	struct fid_mc *mc;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%zu", i);
		mc = mcast_join(t, 0, 1, rows[i].flags);
		mcast_answers(1, rows[i].qkey);
		expect_verdict(t, mc, rows[i].ok);
	}
	CT_EXPECT_EQ(fake_count(FAKE_LEAVE), CRN_COUNT(rows));
}

CT_TEST_F(mc_group, a_group_of_another_partition_is_refused)
{
	static const struct {
		uint8_t gid[16]; /* its first bytes */
		bool ok;
	} rows[] = {
		{{0xff, 0x12, 0x40, 0x1b, 0xff, 0xff}, true},
		{{0xff, 0x12, 0x40, 0x01, 0xff, 0xff}, true},
		/* The membership is no part of a partition. */
		{{0xff, 0x12, 0x60, 0x1b, 0x7f, 0xff}, true},
		{{0xff, 0x12, 0x40, 0x1b, 0x80, 0x05}, false},
		{{0xff, 0x12, 0x60, 0x1b, 0x80, 0x05}, false},
		{{0xff, 0x15, 0x40, 0x01, 0x7f, 0xfe}, false},
		{{0xff, 0x15, 0x60, 0x01, 0x80, 0xff}, false},
		/* Who made these may have put there what they like. */
		{{0xff, 0x12, 0x41, 0x1b, 0x80, 0x05}, true},
		{{0xff, 0x12, 0x40, 0x1c, 0x80, 0x05}, true},
	};
	struct fid_mc *mc;
	size_t i;

	CT_ASSERT_TRUE(mcast_open(t, true, 0));
	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%zu", i);
		mc = mcast_join(t, 0, 1, 0);
		fake_join_event(fake_join.id, rows[i].gid, 0xc005, MCAST_QKEY);
		expect_verdict(t, mc, rows[i].ok);
	}
}

/* An endpoint of another domain, with the same event queue. */
struct other {
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
};

static bool other_open(struct other *o, struct mcast_world *w)
{
	struct fi_av_attr av = {.type = FI_AV_TABLE};
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_CONTEXT};

	memset(o, 0, sizeof(*o));
	CT_EXPECT_EQ(fi_domain(w->d.fabric, w->d.info, &o->domain, NULL), 0);
	if (ct_failed())
		return false;
	CT_EXPECT_EQ(fi_cq_open(o->domain, &cq, &o->cq, NULL), 0);
	CT_EXPECT_EQ(fi_av_open(o->domain, &av, &o->av, NULL), 0);
	CT_EXPECT_EQ(fi_endpoint(o->domain, w->d.info, &o->ep, NULL), 0);
	if (ct_failed())
		return false;
	CT_EXPECT_EQ(fi_ep_bind(o->ep, &w->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(o->ep, &o->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_ep_bind(o->ep, &o->av->fid, 0), 0);
	CT_EXPECT_EQ(fi_enable(o->ep), 0);
	return !ct_failed();
}

static void other_close(struct other *o)
{
	CT_EXPECT_EQ(fi_close(&o->ep->fid), 0);
	CT_EXPECT_EQ(fi_close(&o->av->fid), 0);
	CT_EXPECT_EQ(fi_close(&o->cq->fid), 0);
	CT_EXPECT_EQ(fi_close(&o->domain->fid), 0);
}

CT_TEST_F(mc_group, domains_share_no_membership)
{
	const struct sockaddr_in addr = mcast_addr(1);
	struct fid_mc *mc, *others = NULL;
	struct other other;

	CT_ASSERT_TRUE(other_open(&other, t));
	mc = mcast_joined(t, 0, 1, 0);
	CT_ASSERT_EQ(fi_join(other.ep, &addr, 0, &others, t), 0);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 2);
	mcast_answers(1, MCAST_QKEY);
	expect_joined(t, others);
	mcast_left(mc);
	CT_EXPECT_EQ(fake_count(FAKE_LEAVE), 1);
	CT_EXPECT_EQ(fi_inject(other.ep, "x", 1, fi_mc_addr(others)), 0);
	mcast_left(others);
	CT_EXPECT_EQ(fake_count(FAKE_LEAVE), 2);
	other_close(&other);
}

CT_TEST_F(mc_group, what_rdma_cm_says_is_told)
{
	static const struct {
		int status, err;
	} rows[] = {
		{-EINVAL, FI_EINVAL},  {-EPERM, FI_EACCES},
		{-ENOSPC, FI_ENOSPC},  {-ETIMEDOUT, FI_ETIMEDOUT},
		{-524, FI_EOPNOTSUPP}, {-ENETRESET, FI_ECONNRESET},
		{-5000, FI_EIO},
	};
	const struct sockaddr_in addr = mcast_addr(1);
	struct fid_mc *mc, *other;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%zu", i);
		mc = mcast_join(t, 0, 1, 0);
		other = mcast_join(t, 1, 1, 0);
		fake_event(fake_join.id, RDMA_CM_EVENT_MULTICAST_ERROR, rows[i].status,
			   NULL, 0);
		expect_eq_error(t->eq, &mc->fid, rows[i].err, rows[i].status);
		expect_eq_error(t->eq, &other->fid, rows[i].err, rows[i].status);
		CT_EXPECT_EQ(fi_mc_addr(mc), FI_ADDR_NOTAVAIL);
		mcast_left(mc);
		mcast_left(other);
	}
	fake_fail(FAKE_JOIN, 1, EPERM);
	CT_EXPECT_EQ(fi_join(t->ep[0], &addr, 0, &mc, NULL), -FI_EACCES);
	CT_EXPECT_EQ(mc, NULL);
	/* The first is to find the device's addresses. */
	fake_fail(FAKE_BIND_ADDR, 2, EADDRNOTAVAIL);
	CT_EXPECT_EQ(fi_join(t->ep[0], &addr, 0, &mc, NULL), -FI_EADDRNOTAVAIL);
	fake_fail(FAKE_CREATE_ID, 2, ENODEV);
	CT_EXPECT_EQ(fi_join(t->ep[0], &addr, 0, &mc, NULL), -FI_ENODEV);
	fake_fail(FAKE_ATTACH, 1, ENOMEM);
	mc = mcast_join(t, 0, 1, 0);
	mcast_answers(1, MCAST_QKEY);
	expect_eq_error(t->eq, &mc->fid, FI_ENOMEM, 0);
	mcast_left(mc);
}

/* How often the addresses of the machine were asked for since the last call. */
static unsigned int looks(void)
{
	static unsigned int before;
	const unsigned int all = fake_count(FAKE_GETIFADDRS), since = all - before;

	before = all;
	return since;
}

CT_TEST_F(mc_group, where_many_groups_are_joined_from_is_looked_for_once)
{
	const struct sockaddr_in addr = mcast_addr(9);
	struct fid_mc *mc[4], *none;
	int i;

	(void)looks();
	for (i = 0; i < 3; i++)
		mc[i] = mcast_join(t, i % 2, (uint8_t)(1 + i), 0);
	CT_EXPECT_EQ(looks(), 1);
	/* An address that has gone meanwhile. */
	fake_fail(FAKE_BIND_ADDR, 1, EADDRNOTAVAIL);
	mc[3] = mcast_join(t, 0, 4, 0);
	CT_ASSERT_NE(mc[3], NULL);
	CT_EXPECT_EQ(looks(), 1);
	/* Who may not join is told after a look; the next one looks as well. */
	fake_fail(FAKE_BIND_ADDR, 1, EADDRNOTAVAIL);
	fake_fail(FAKE_JOIN, 1, EPERM);
	CT_EXPECT_EQ(fi_join(t->ep[0], &addr, 0, &none, NULL), -FI_EACCES);
	CT_EXPECT_EQ(looks(), 1);
	mcast_left(mc[3]);
	mc[3] = mcast_join(t, 0, 4, 0);
	CT_EXPECT_EQ(looks(), 1);
	for (i = 0; i < 4; i++)
		mcast_left(mc[i]);
}

CT_TEST_F(mc_group, nothing_is_told_of_what_was_closed)
{
	struct fid_mc *mc[2];

	mcast_left(mcast_join(t, 0, 1, 0));
	mc[0] = mcast_join(t, 0, 1, 0);
	mcast_answers(1, MCAST_QKEY);
	mcast_left(mc[0]);
	expect_no_event(t->eq);
	mc[0] = mcast_joined(t, 0, 1, 0);
	mc[1] = mcast_join(t, 0, 1, 0);
	mcast_left(mc[1]);
	expect_no_event(t->eq);
	fake_event(fake_join.id, RDMA_CM_EVENT_MULTICAST_ERROR, -ENETRESET, NULL, 0);
	mcast_left(mc[0]);
	expect_no_event(t->eq);
}

/* Waits for the next attempt, which the event queue's timer begins. */
static void await_joins(struct mcast_world *w, unsigned int count)
{
	while (fake_count(FAKE_JOIN) < count && !ct_failed())
		expect_no_event(w->eq);
}

CT_TEST_F(mc_group, a_lost_membership_is_joined_again)
{
	struct fid_mc *mc, *late;
	fi_addr_t addr;

	mc = mcast_joined(t, 0, 1, 0);
	addr = fi_mc_addr(mc);
	fake_event(fake_join.id, RDMA_CM_EVENT_MULTICAST_ERROR, -ENETRESET, NULL, 0);
	expect_eq_error(t->eq, &mc->fid, FI_ECONNRESET, -ENETRESET);
	CT_EXPECT_EQ(fake_count(FAKE_DETACH), 1);
	CT_EXPECT_EQ(fake_count(FAKE_LEAVE), 1);
	CT_EXPECT_EQ(send_to(t, 0, addr), -FI_EADDRNOTAVAIL);
	/* Who comes meanwhile waits with it, and fails alone. */
	late = mcast_join(t, 1, 1, 0);
	await_joins(t, 2);
	fake_event(fake_join.id, RDMA_CM_EVENT_MULTICAST_ERROR, -ETIMEDOUT, NULL, 0);
	expect_eq_error(t->eq, &late->fid, FI_ETIMEDOUT, -ETIMEDOUT);
	expect_no_event(t->eq);
	fake_fail(FAKE_JOIN, 1, ENODEV);
	await_joins(t, 4);
	mcast_answers(1, MCAST_QKEY);
	expect_joined(t, mc);
	CT_EXPECT_EQ(fi_mc_addr(mc), addr);
	CT_EXPECT_EQ(send_to(t, 0, addr), 0);
	mcast_left(late);
	fake_event(fake_join.id, RDMA_CM_EVENT_MULTICAST_ERROR, -ENETRESET, NULL, 0);
	expect_eq_error(t->eq, &mc->fid, FI_ECONNRESET, -ENETRESET);
	mcast_left(mc);
}

CT_TEST_F(mc_group, a_device_that_goes_ends_every_membership)
{
	struct fid_mc *mc[2];

	mc[0] = mcast_joined(t, 0, 1, 0);
	mc[1] = mcast_join(t, 1, 1, 0);
	expect_joined(t, mc[1]);
	fake_event(fake_join.id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL, 0);
	expect_eq_error(t->eq, &mc[0]->fid, FI_ENODEV, 0);
	expect_eq_error(t->eq, &mc[1]->fid, FI_ENODEV, 0);
	CT_EXPECT_EQ(fake_count(FAKE_LEAVE), 1);
	mcast_left(mc[0]);
	mcast_left(mc[1]);
}

CT_TEST_F(mc_group, an_endpoint_joins_with_what_it_has)
{
	const struct sockaddr_in addr = mcast_addr(1);
	struct fid_mc *mc;

	CT_ASSERT_TRUE(mcast_open(t, false, FI_MSG | FI_MULTICAST | FI_SEND));
	CT_EXPECT_EQ(fi_join(t->ep[0], &addr, FI_RECV, &mc, NULL), -FI_EINVAL);
	mc = mcast_join(t, 0, 1, 0);
	CT_EXPECT_EQ(fake_join.flags, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER);
	mcast_left(mc);
	mcast_close(t);
	CT_ASSERT_TRUE(mcast_open(t, false, FI_MSG));
	CT_EXPECT_EQ(fi_join(t->ep[0], &addr, 0, &mc, NULL), -FI_EOPNOTSUPP);
}

struct joiner {
	struct mcast_world *w;
	int self;
};

static void *join_and_leave(void *arg)
{
	const struct joiner *joiner = arg;
	struct fid_mc *mc;
	int i;

	for (i = 0; i < TURNS; i++) {
		mc = mcast_join(joiner->w, joiner->self % 2, (uint8_t)(1 + i % 2),
				i % 3 ? 0 : FI_SEND);
		if (mc)
			mcast_left(mc);
	}
	return NULL;
}

/* The last who leaves takes the membership with it, and nobody else does. */
CT_TEST_F(mc_group, threads_join_and_leave)
{
	struct joiner joiners[THREADS];
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++) {
		joiners[i] = (struct joiner){t, i};
		pthread_create(&threads[i], NULL, join_and_leave, &joiners[i]);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), fake_count(FAKE_LEAVE));
	expect_no_event(t->eq);
}

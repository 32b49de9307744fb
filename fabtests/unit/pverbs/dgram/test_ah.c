/* SPDX-License-Identifier: BSD-2-Clause */
/* The cache of address handles: shared, counted, and kept while a send may name one. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include "dgram/internal.h"
#include "world_dgram.h"

#define THREADS 4
#define TURNS 3000

static struct pvb_domain *domain_of(const struct dgram_world *w)
{
	return crn_container_of(w->domain, struct pvb_domain, fid);
}

static uint32_t handles(const struct dgram_world *w)
{
	return domain_of(w)->ud->ahs.count;
}

static void remove_addr(struct dgram_world *w, fi_addr_t fi_addr)
{
	CT_EXPECT_EQ(fi_av_remove(w->av, &fi_addr, 1, 0), 0);
}

static ssize_t send_to(struct dgram_world *w, fi_addr_t fi_addr)
{
	return fi_send(w->ep, NULL, 0, NULL, fi_addr, NULL);
}

CT_FIXTURE(dgram_ah, struct dgram_world, dgram_start, dgram_close);

CT_TEST_F(dgram_ah, queue_pairs_of_one_port_share_a_handle)
{
	struct pvb_ud_addr addr;
	fi_addr_t other;

	CT_ASSERT_TRUE(dgram_open_domain(t, NULL));
	CT_EXPECT_EQ(handles(t), 1);
	addr = dgram_addr(t, 1);
	addr.qpn++;
	CT_EXPECT_EQ(fi_av_insert(t->av, &addr, 1, &other, 0, NULL), 1);
	CT_EXPECT_EQ(handles(t), 1);
	addr.sl = 3;
	CT_EXPECT_EQ(fi_av_insert(t->av, &addr, 1, &other, 0, NULL), 1);
	CT_EXPECT_EQ(handles(t), 2);
	CT_EXPECT_EQ(fake_count(FAKE_CREATE_AH), 2);
	remove_addr(t, other);
	CT_EXPECT_EQ(handles(t), 1);
}

CT_TEST_F(dgram_ah, a_handle_says_where_a_datagram_goes)
{
	struct pvb_ud_peer peer;
	struct pvb_ud_addr addr;
	const struct ibv_ah_attr *attr;

	CT_ASSERT_TRUE(dgram_open_domain(t, &(struct dgram_opts){.ib = true}));
	pvb_params.traffic_class = 0x60;
	addr = dgram_addr(t, 2);
	addr.sl = 5;
	CT_EXPECT_EQ(pvb_ah_get(domain_of(t), &addr, &peer), 0);
	attr = &((struct fake_ah *)peer.handle)->attr;
	CT_EXPECT_EQ(attr->dlid, 0x102);
	CT_EXPECT_EQ(attr->sl, 5);
	CT_EXPECT_EQ(attr->port_num, 1);
	CT_EXPECT_EQ(attr->is_global, 1);
	CT_EXPECT_EQ(attr->grh.sgid_index, 1);
	CT_EXPECT_EQ(attr->grh.hop_limit, 64);
	CT_EXPECT_EQ(attr->grh.traffic_class, 0x60);
	CT_EXPECT_EQ(memcmp(attr->grh.dgid.raw, addr.gid, 16), 0);
	CT_EXPECT_EQ(peer.qpn, 0x502);
	pvb_ah_put(domain_of(t), &peer);
	/* Without a GID it stays in the subnet. */
	memset(addr.gid, 0, sizeof(addr.gid));
	CT_EXPECT_EQ(pvb_ah_get(domain_of(t), &addr, &peer), 0);
	attr = &((struct fake_ah *)peer.handle)->attr;
	CT_EXPECT_EQ(attr->is_global, 0);
	pvb_ah_put(domain_of(t), &peer);
}

CT_TEST_F(dgram_ah, what_is_closed_leaves_no_handles)
{
	dgram_insert(t, 2);
	CT_EXPECT_EQ(handles(t), 3);
	/* Its own, which it sends to when it is closed. */
	dgram_close_ep(t);
	CT_EXPECT_EQ(handles(t), 2);
	CT_EXPECT_EQ(fi_close(&t->av->fid), 0);
	t->av = NULL;
	CT_EXPECT_EQ(handles(t), 0);
}

/* ibv_destroy_ah of the fakes refuses a handle that a send names. */
CT_TEST_F(dgram_ah, a_handle_outlives_the_sends_that_name_it)
{
	fi_addr_t second, third;

	second = dgram_insert(t, 2);
	third = dgram_insert(t, 3);
	CT_EXPECT_EQ(handles(t), 4); /* and its own */
	CT_EXPECT_EQ(send_to(t, second), 0);
	remove_addr(t, second);
	CT_EXPECT_EQ(handles(t), 4);
	/* The device may still look at it; nobody else gets it any more. */
	CT_EXPECT_EQ(send_to(t, second), -FI_EINVAL);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NULL, FI_SEND | FI_MSG, 0, 0);
	remove_addr(t, third);
	CT_EXPECT_EQ(handles(t), 2);
}

CT_TEST_F(dgram_ah, a_handle_that_nobody_uses_is_used_again_while_it_is_there)
{
	fi_addr_t second;

	second = dgram_insert(t, 2);
	CT_EXPECT_EQ(send_to(t, second), 0);
	remove_addr(t, second);
	CT_EXPECT_EQ(handles(t), 3);
	second = dgram_insert(t, 2);
	CT_EXPECT_EQ(fake_count(FAKE_CREATE_AH), 3);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NULL, FI_SEND | FI_MSG, 0, 0);
	remove_addr(t, t->peer);
	CT_EXPECT_EQ(handles(t), 2);
	CT_EXPECT_EQ(send_to(t, second), 0);
}

/* One after the other, while there is always a send outstanding. */
CT_TEST_F(dgram_ah, peers_that_come_and_go_leave_nothing_behind)
{
	fi_addr_t peer;
	unsigned int i;

	CT_EXPECT_EQ(send_to(t, t->peer), 0);
	for (i = 2; i < 200; i++) {
		peer = dgram_insert(t, i);
		CT_EXPECT_EQ(send_to(t, peer), 0);
		remove_addr(t, peer);
		fake_complete(t->qp, 1);
		expect_comp(t->cq, NULL, FI_SEND | FI_MSG, 0, 0);
		CT_ASSERT_LT(handles(t), 7);
	}
}

/* Positions of a queue are 32 bits: half a turn after the last sweep. */
CT_TEST_F(dgram_ah, a_handle_goes_after_any_number_of_sends)
{
	struct pvb_domain *domain;
	struct pvb_qp *qp;
	fi_addr_t second;

	domain = crn_container_of(t->domain, struct pvb_domain, fid);
	qp = &ep_of(t->ep)->qp;
	second = dgram_insert(t, 2);
	CT_EXPECT_EQ(domain->ud->ahs.count, 3);
	qp->sq.ring.head = 0x80000008u;
	atomic_store(&qp->sq.ring.tail, 0x80000008u);
	CT_EXPECT_EQ(fi_av_remove(t->av, &second, 1, 0), 0);
	CT_EXPECT_EQ(domain->ud->ahs.count, 2);
	qp->sq.ring.head = 0;
	atomic_store(&qp->sq.ring.tail, 0);
}

CT_TEST_F(dgram_ah, thousands_of_peers_are_found)
{
	unsigned int i;

	CT_ASSERT_TRUE(dgram_open_domain(t, NULL));
	for (i = 2; i <= 3000; i++)
		CT_ASSERT_EQ(dgram_insert(t, i), i - 1);
	CT_EXPECT_EQ(handles(t), 3000);
	for (i = 1; i <= 3000; i++)
		dgram_insert(t, i);
	CT_EXPECT_EQ(handles(t), 3000);
}

CT_TEST_F(dgram_ah, what_the_device_refuses_is_not_inserted)
{
	struct pvb_ud_addr addr;
	fi_addr_t at;
	int err;

	CT_ASSERT_TRUE(dgram_open_domain(t, NULL));
	addr = dgram_addr(t, 2);
	fake_fail(FAKE_CREATE_AH, 1, EHOSTUNREACH);
	CT_EXPECT_EQ(fi_av_insert(t->av, &addr, 1, &at, FI_SYNC_ERR, &err), 0);
	CT_EXPECT_EQ(err, FI_EHOSTUNREACH);
	CT_EXPECT_EQ(at, FI_ADDR_NOTAVAIL);
	/* A LID says nothing on RoCE. */
	memset(addr.gid, 0, sizeof(addr.gid));
	addr.lid = 3;
	CT_EXPECT_EQ(fi_av_insert(t->av, &addr, 1, &at, FI_SYNC_ERR, &err), 0);
	CT_EXPECT_EQ(err, FI_EINVAL);
	CT_EXPECT_EQ(handles(t), 1);
}

static void *get_and_put(void *arg)
{
	struct dgram_world *w = arg;
	struct pvb_ud_peer peer;
	unsigned int seed = (unsigned int)(uintptr_t)&peer, i;
	struct pvb_ud_addr addr;

	for (i = 0; i < ct_rounds(TURNS); i++) {
		addr = dgram_addr(w, 1 + (unsigned int)rand_r(&seed) % 8);
		if (pvb_ah_get(domain_of(w), &addr, &peer))
			return w;
		pvb_ah_put(domain_of(w), &peer);
		if (i % 3 == 0)
			pvb_ahs_sweep(domain_of(w));
	}
	return NULL;
}

static void *send_and_complete(void *arg)
{
	struct dgram_world *w = arg;
	struct fi_cq_data_entry entry;
	unsigned int i;

	for (i = 0; i < ct_rounds(TURNS); i++) {
		if (send_to(w, w->peer))
			return w;
		fake_complete_all(w->qp);
		if (fi_cq_read(w->cq, &entry, 1) != 1)
			return w;
	}
	return NULL;
}

CT_TEST_F(dgram_ah, threads_that_get_put_sweep_and_send_do_not_disturb_each_other)
{
	pthread_t thread[THREADS];
	void *failed;
	int i;

	for (i = 0; i < THREADS; i++)
		CT_ASSERT_EQ(pthread_create(&thread[i], NULL,
					    i ? get_and_put : send_and_complete, t),
			     0);
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &failed);
		CT_EXPECT_EQ(failed, NULL);
	}
	pvb_ahs_sweep(domain_of(t));
	CT_EXPECT_EQ(handles(t), 2);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_PVERBS_LINK: groups of IP addresses are those of an IPoIB link. */
#include <arpa/inet.h>
#include <infiniband/ib.h>
#include "objects/objects.h"
#include "world_mcast.h"

#define LINK_QKEY 0xb1bu

static struct {
	int link, pkey;
	size_t qkey;
} chosen;

static void choose(void)
{
	pvb_params.link = chosen.link;
	pvb_params.pkey = chosen.pkey;
	pvb_params.qkey = chosen.qkey;
}

static bool open_link(struct mcast_world *w, bool ib, int link, int pkey, size_t qkey)
{
	const struct dgram_opts opts = {
		.ib = ib,
		.caps = FI_MSG | FI_MULTICAST,
		.arrange = choose,
	};

	chosen.link = link;
	chosen.pkey = pkey;
	chosen.qkey = qkey;
	return mcast_open_with(w, &opts);
}

/* Joins a group by its IP address, and says by which name rdma_cm was asked. */
static struct fid_mc *join_text(struct mcast_world *w, const char *ip, uint64_t flags,
				char asked[INET6_ADDRSTRLEN])
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	struct sockaddr_in in = {.sin_family = AF_INET};
	const void *addr = &in;
	struct sockaddr_ib ib;
	struct fid_mc *mc = NULL;

	if (!inet_pton(AF_INET, ip, &in.sin_addr)) {
		CT_EXPECT_EQ(inet_pton(AF_INET6, ip, &in6.sin6_addr), 1);
		addr = &in6;
	}
	CT_EXPECT_EQ(fi_join(w->ep[0], addr, flags, &mc, w), 0);
	memcpy(&ib, &fake_join.addr, sizeof(ib));
	CT_EXPECT_EQ(ib.sib_family, AF_IB);
	inet_ntop(AF_INET6, &ib.sib_addr, asked, INET6_ADDRSTRLEN);
	return mc;
}

static void answer(const char *mgid, uint32_t qkey)
{
	uint8_t gid[16];

	CT_EXPECT_EQ(inet_pton(AF_INET6, mgid, gid), 1);
	fake_join_event(fake_join.id, gid, 0xc001, qkey);
}

static void start_link(struct mcast_world *w)
{
	CT_ASSERT_TRUE(open_link(w, true, PVB_LINK_RFC, 0, 0));
}

CT_FIXTURE(mc_link, struct mcast_world, start_link, mcast_close);

CT_TEST_F(mc_link, ip_addresses_are_groups_of_the_link)
{
	static const struct {
		int link, pkey;
		const char *ip, *mgid;
	} rows[] = {
		{PVB_LINK_RFC, 0, "239.255.255.250", "ff12:401b:ffff::fff:fffa"},
		{PVB_LINK_RFC, 0, "255.255.255.255", "ff12:401b:ffff::ffff:ffff"},
		{PVB_LINK_RFC, 0, "ff05::2", "ff12:601b:ffff::2"},
		{PVB_LINK_DRAFT, 0, "224.0.0.2", "ff12:401b:ffff::2"},
		{PVB_LINK_DRAFT, 0x7fff, "224.0.0.2", "ff12:401b:7fff::2"},
		{PVB_LINK_RFC, 0x7fff, "224.0.0.2", "ff12:401b:ffff::2"},
	};
	char asked[INET6_ADDRSTRLEN];
	struct fid_mc *mc;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%zu", i);
		CT_ASSERT_TRUE(open_link(t, true, rows[i].link, rows[i].pkey, 0));
		mc = join_text(t, rows[i].ip, 0, asked);
		CT_EXPECT_STREQ(asked, rows[i].mgid);
		CT_EXPECT_EQ(fake_join.id->ps, RDMA_PS_IPOIB);
		answer(asked, LINK_QKEY);
		expect_joined(t, mc);
		mcast_left(mc);
	}
}

/* One group by its two names is one membership. */
CT_TEST_F(mc_link, the_mgid_itself_is_the_same_group)
{
	struct sockaddr_ib ib = {.sib_family = AF_IB};
	char asked[INET6_ADDRSTRLEN];
	struct fid_mc *mc[2];

	mc[0] = join_text(t, "224.0.0.2", 0, asked);
	CT_EXPECT_EQ(inet_pton(AF_INET6, asked, &ib.sib_addr), 1);
	CT_EXPECT_EQ(fi_join(t->ep[1], &ib, 0, &mc[1], t), 0);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 1);
	answer(asked, LINK_QKEY);
	expect_joined(t, mc[0]);
	expect_joined(t, mc[1]);
	mcast_left(mc[0]);
	mcast_left(mc[1]);
}

static uint32_t qkey_of(struct fid_ep *ep)
{
	return qp_of(ep)->attr[IBV_QPS_INIT].qkey;
}

CT_TEST_F(mc_link, R9_all_queue_pairs_of_the_link_have_its_q_key)
{
	static const struct {
		size_t chosen;
		uint32_t own, group;
		uint64_t flags;
		bool ok;
	} rows[] = {
		{0, LINK_QKEY, LINK_QKEY, 0, true},
		{0, LINK_QKEY, LINK_QKEY, FI_SEND, true},
		{0, LINK_QKEY, 0x11, 0, false},
		{0, LINK_QKEY, 0x11, FI_SEND, false},
		{0x80000b1b, 0x80000b1b, 0x80000b1b, 0, true},
		{0x11, 0x11, LINK_QKEY, FI_RECV, false},
	};
	char asked[INET6_ADDRSTRLEN];
	struct fid_mc *mc;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%zu", i);
		CT_ASSERT_TRUE(open_link(t, true, PVB_LINK_RFC, 0, rows[i].chosen));
		CT_EXPECT_EQ(qkey_of(t->ep[0]), rows[i].own);
		mc = join_text(t, "224.0.0.2", rows[i].flags, asked);
		answer(asked, rows[i].group);
		if (rows[i].ok)
			expect_joined(t, mc);
		else
			expect_eq_error(t->eq, &mc->fid, FI_EINVAL, 0);
		mcast_left(mc);
	}
}

CT_TEST_F(mc_link, ethernet_has_none)
{
	const struct sockaddr_in addr = mcast_addr(1);
	struct fid_mc *mc;

	CT_ASSERT_TRUE(open_link(t, false, PVB_LINK_RFC, 0, 0));
	CT_EXPECT_EQ(qkey_of(t->ep[0]), MCAST_QKEY);
	mc = mcast_join(t, 0, 1, 0);
	CT_EXPECT_EQ(memcmp(&fake_join.addr, &addr, sizeof(addr)), 0);
	CT_EXPECT_EQ(fake_join.id->ps, RDMA_PS_UDP);
	mcast_answers(1, MCAST_QKEY);
	expect_joined(t, mc);
	mcast_left(mc);
}

CT_TEST(mc_link, without_multicast_an_endpoint_is_on_no_link)
{
	const struct dgram_opts opts = {.ib = true, .arrange = choose};
	struct dgram_world w = {0};

	chosen.link = PVB_LINK_RFC;
	chosen.qkey = 0;
	CT_ASSERT_TRUE(dgram_open(&w, &opts));
	CT_EXPECT_EQ(w.qp->attr[IBV_QPS_INIT].qkey, PVB_UD_QKEY);
	dgram_close(&w);
}

/* RDMA_PS_IPOIB takes no GID as its source (cma_select_ib_ps of the kernel's cma.c). */
CT_TEST_F(mc_link, without_an_ipoib_interface_none_is_joined)
{
	const struct sockaddr_in addr = mcast_addr(1);
	unsigned int bound;
	struct fid_mc *mc;

	fake_cm_reset();
	bound = fake_count(FAKE_BIND_ADDR);
	CT_EXPECT_EQ(fi_join(t->ep[0], &addr, 0, &mc, t), -FI_EADDRNOTAVAIL);
	CT_EXPECT_EQ(fake_count(FAKE_BIND_ADDR), bound);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagram endpoints that join groups: opened, joined, used. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <unistd.h>
#include <infiniband/ib.h>
#include "mcast.h"

#define UD_GID 0 /* offsets in FI_ADDR_IB_UD */
#define UD_LID 20

static int open_endpoint(struct mcast *m, struct mcast_ep *ep)
{
	FCT_DO(fct_cq_open(&m->l, 4 * MCAST_SLOTS, FI_CQ_FORMAT_DATA, FI_WAIT_NONE,
			   &ep->rxcq));
	ep->c.rxcq = ep->rxcq;
	return fct_ep_new(&m->l, &ep->c);
}

/* What both sides know of each other. */
static int introduce(struct mcast *m)
{
	uint64_t mine[2] = {m->l.info->ep_attr->max_msg_size, (uint64_t)getpid()};
	uint64_t theirs[2];

	FCT_DO(fct_exchange("introduction", mine, theirs, sizeof(mine)));
	m->max = mine[0] < theirs[0] ? mine[0] : theirs[0];
	m->run = (uint16_t)(fct_is_client() ? mine[1] : theirs[1]);
	return 0;
}

int mcast_up(struct mcast *m, uint64_t caps)
{
	const struct fct_setup s = {.caps = caps, .cq_size = 8 * MCAST_SLOTS};
	const struct fi_av_attr av = {.type = FI_AV_TABLE};
	const uint8_t *src;
	unsigned int i;

	memset(m, 0, sizeof(*m));
	FCT_DO(fct_plain_open(&m->l, &s, NULL, &av));
	src = m->l.info->src_addr;
	m->ethernet = src && !src[UD_LID] && !src[UD_LID + 1];
	for (i = 0; i < MCAST_EPS; i++)
		FCT_DO(open_endpoint(m, &m->ep[i]));
	FCT_DO(introduce(m));
	FCT_DO(fct_mem_alloc(&m->l, &m->tx, m->max, FI_SEND));
	FCT_DO(fct_mem_alloc(&m->l, &m->rx, MCAST_EPS * MCAST_SLOTS * m->max, FI_RECV));
	return fct_barrier("introduced");
}

int mcast_leave(struct mcast *m, unsigned int n)
{
	if (m->mc[n])
		FCT_CALL(fi_close(&m->mc[n]->fid));
	m->mc[n] = NULL;
	return 0;
}

void mcast_end(struct mcast *m)
{
	unsigned int i;

	for (i = 0; i < 2 * MCAST_EPS; i++)
		mcast_leave(m, i);
	fct_link_down(&m->l, fct_ret());
}

static void group_ipv4(const struct mcast *m, uint8_t number, uint8_t ip[4])
{
	ip[0] = 239;
	ip[1] = (uint8_t)(m->run >> 8);
	ip[2] = (uint8_t)m->run;
	ip[3] = number;
}

/* On RoCE that of the IPv4 group; else the one that rdma_cm makes of it, or that it has
 * on an IPoIB link. */
static void group_gid(const struct mcast *m, uint8_t number, uint8_t gid[16])
{
	const uint8_t signature = getenv("FI_PVERBS_LINK") ? 0x1b : 0x01;
	const uint8_t head[6] = {0xff, 0x12, 0x40, signature, 0xff, 0xff};

	memset(gid, 0, 16);
	group_ipv4(m, number, gid + 12);
	if (m->ethernet) {
		gid[10] = gid[11] = 0xff;
		return;
	}
	memcpy(gid, head, sizeof(head));
	gid[12] &= 0x0f;
}

bool mcast_group(const struct mcast *m, enum mcast_form form, uint8_t number,
		 union mcast_addr *addr)
{
	struct sockaddr_in *in = (struct sockaddr_in *)addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_ib *ib = (struct sockaddr_ib *)addr;

	memset(addr, 0, sizeof(*addr));
	switch (form) {
	case MCAST_IN:
		in->sin_family = AF_INET;
		group_ipv4(m, number, (uint8_t *)&in->sin_addr);
		return true;
	case MCAST_IN6:
		in6->sin6_family = AF_INET6;
		inet_pton(AF_INET6, "ff15::1:0:0:0", &in6->sin6_addr);
		group_ipv4(m, number, &in6->sin6_addr.s6_addr[12]);
		return !m->ethernet;
	case MCAST_IB:
		ib->sib_family = AF_IB;
		group_gid(m, number, ib->sib_addr.sib_raw);
		return true;
	default:
		group_gid(m, number, addr->bytes + UD_GID);
		return true;
	}
}

int mcast_join(struct mcast *m, unsigned int i, const union mcast_addr *addr,
	       uint64_t flags, unsigned int n)
{
	struct fct_event e;

	FCT_CALL(fi_join(m->ep[i].c.ep, addr, flags, &m->mc[n], &m->mc[n]));
	FCT_DO(fct_eq_expect(m->l.eq, FI_JOIN_COMPLETE, &m->mc[n]->fid, &e));
	FCT_TRUE(m->mc[n]->fid.context == &m->mc[n]);
	FCT_EQ(fi_mc_addr(m->mc[n]) == FI_ADDR_NOTAVAIL, flags == FI_RECV);
	return 0;
}

int mcast_join_all(struct mcast *m, const union mcast_addr *addr, uint64_t flags)
{
	unsigned int i;

	for (i = 0; i < MCAST_EPS; i++)
		FCT_DO(mcast_join(m, i, addr, flags, i));
	return fct_barrier("joined");
}

static uint8_t *received(struct mcast *m, unsigned int i, unsigned int n)
{
	return m->rx.buf + (i * MCAST_SLOTS + n) * m->max;
}

int mcast_post(struct mcast *m, unsigned int i, unsigned int n)
{
	struct mcast_ep *ep = &m->ep[i];

	FCT_POST(ep->rxcq, fi_recv(ep->c.ep, received(m, i, n), m->max, m->rx.desc,
				   FI_ADDR_UNSPEC, &ep->rx[n]));
	return 0;
}

int mcast_post_all(struct mcast *m, unsigned int n)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < MCAST_EPS; i++)
		ret = mcast_post(m, i, n);
	return ret;
}

int mcast_expect(struct mcast *m, unsigned int i, unsigned int n, size_t len,
		 uint64_t seed)
{
	struct fi_cq_data_entry e;

	FCT_DO(fct_comp(m->ep[i].rxcq, &m->ep[i].rx[n], FI_RECV | FI_MSG, &e,
			"a datagram of a group"));
	FCT_EQ(e.len, len);
	FCT_DATA(received(m, i, n), len, seed);
	return 0;
}

int mcast_expect_all(struct mcast *m, unsigned int n, size_t len, uint64_t seed)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < MCAST_EPS; i++)
		ret = mcast_expect(m, i, n, len, seed);
	return ret;
}

int mcast_nothing(struct mcast *m, unsigned int i)
{
	struct fi_cq_data_entry e;

	FCT_EQ(fi_cq_read(m->ep[i].rxcq, &e, 1), -FI_EAGAIN);
	return 0;
}

int mcast_send(struct mcast *m, unsigned int i, fi_addr_t to, size_t len, uint64_t seed)
{
	struct fi_cq_data_entry e;

	fct_fill(m->tx.buf, len, seed);
	FCT_POST(m->l.txcq,
		 fi_send(m->ep[i].c.ep, m->tx.buf, len, m->tx.desc, to, &m->tx_ctx));
	return fct_comp(m->l.txcq, &m->tx_ctx, FI_SEND | FI_MSG, &e, "a send");
}

int mcast_from_client(struct mcast *m, fi_addr_t to, size_t len, uint64_t seed)
{
	FCT_DO(fct_barrier("posted"));
	if (fct_is_client())
		FCT_DO(mcast_send(m, 0, to, len, seed));
	return fct_barrier("sent");
}

FCT_PROGRAM(.name = "fi_cairn_mcast", .what = "Multicast groups of datagram endpoints.",
	    .ep_type = FI_EP_DGRAM)

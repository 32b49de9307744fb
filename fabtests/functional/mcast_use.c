/* SPDX-License-Identifier: BSD-2-Clause */
/* What is sent to groups, and who receives it. */
#include "mcast.h"

#define CAPS (FI_MSG | FI_MULTICAST)
#define LEN 100

/* Each side in turn; the sender's own endpoints are members like any other. */
int fct_mcast_both(struct fct *t)
{
	union mcast_addr group;
	struct mcast m;
	int ret, turn;

	FCT_DO(mcast_up(&m, t, CAPS));
	mcast_group(&m, MCAST_IN, 1, &group);
	FCT_DO(mcast_join_all(&m, &group, 0));
	for (turn = 0; turn < 2; turn++) {
		FCT_DO(mcast_post_all(&m, turn));
		FCT_DO(fct_barrier(t, "posted"));
		if (fct_is_client(t) == turn)
			FCT_DO(mcast_send(&m, turn, fi_mc_addr(m.mc[turn]), LEN, turn));
		FCT_DO(mcast_expect_all(&m, turn, LEN, turn));
	}
out:
	return mcast_down(&m, ret);
}

/* Endpoint 0 sends only, 1 receives only, 2 does both. */
int fct_mcast_flags(struct fct *t)
{
	static const uint64_t flags[MCAST_EPS] = {FI_SEND, FI_RECV, FI_SEND | FI_RECV};
	union mcast_addr group;
	struct mcast m;
	unsigned int i;
	int ret;

	FCT_DO(mcast_up(&m, t, CAPS));
	mcast_group(&m, MCAST_IN, 2, &group);
	for (i = 0; i < MCAST_EPS; i++)
		FCT_DO(mcast_join(&m, i, &group, flags[i], i));
	FCT_DO(mcast_post_all(&m, 0));
	FCT_ERR(t, fi_inject(m.ep[1].c.ep, "x", 1, fi_mc_addr(m.mc[1])),
		-FI_EADDRNOTAVAIL);
	FCT_DO(mcast_from_client(&m, fi_mc_addr(m.mc[0]), LEN, 3));
	FCT_DO(mcast_expect(&m, 1, 0, LEN, 3));
	FCT_DO(mcast_expect(&m, 2, 0, LEN, 3));
	FCT_DO(mcast_nothing(&m, 0));
	if (fct_is_server(t))
		FCT_DO(mcast_send(&m, 2, fi_mc_addr(m.mc[2]), LEN, 4));
	FCT_DO(fct_barrier(t, "answered"));
	FCT_DO(mcast_nothing(&m, 0));
out:
	return mcast_down(&m, ret);
}

/* Every form of one group reaches who named it in another one, but for IPv6. */
int fct_mcast_forms(struct fct *t)
{
	union mcast_addr group;
	enum mcast_form form;
	unsigned int n = 0;
	struct mcast m;
	int ret;

	FCT_DO(mcast_up(&m, t, CAPS));
	for (form = 0; form < MCAST_FORMS; form++) {
		if (!mcast_group(&m, form, 3, &group))
			continue;
		FCT_DO(mcast_join(&m, n % MCAST_EPS, &group, 0, n));
		n++;
	}
	FCT_TRUE(t, n >= MCAST_EPS);
	FCT_DO(mcast_post_all(&m, 0));
	FCT_DO(mcast_from_client(&m, fi_mc_addr(m.mc[0]), LEN, 5));
	FCT_DO(mcast_expect(&m, 0, 0, LEN, 5));
	FCT_DO(mcast_expect(&m, 2, 0, LEN, 5));
	if (m.ethernet)
		FCT_DO(mcast_expect(&m, 1, 0, LEN, 5));
	else
		FCT_DO(mcast_nothing(&m, 1));
out:
	return mcast_down(&m, ret);
}

int fct_mcast_sizes(struct fct *t)
{
	const size_t longest[] = {0, 1, 64, 513, 0, 0};
	union mcast_addr group;
	struct mcast m;
	unsigned int i;
	size_t len;
	int ret;

	FCT_DO(mcast_up(&m, t, CAPS));
	mcast_group(&m, MCAST_IN, 4, &group);
	FCT_DO(mcast_join_all(&m, &group, 0));
	for (i = 0; i < 6; i++) {
		len = i < 4 ? longest[i] : m.max - (5 - i);
		FCT_DO(mcast_post_all(&m, i));
		FCT_DO(mcast_from_client(&m, fi_mc_addr(m.mc[0]), len, i));
		FCT_DO(mcast_expect_all(&m, i, len, i));
	}
	FCT_ERR(t,
		fi_send(m.ep[0].c.ep, m.tx.buf, m.l.info->ep_attr->max_msg_size + 1,
			m.tx.desc, fi_mc_addr(m.mc[0]), NULL),
		-FI_EMSGSIZE);
out:
	return mcast_down(&m, ret);
}

/* fi_msg(3): FI_MULTICAST says that the address is a group's. */
int fct_mcast_calls(struct fct *t)
{
	struct iovec iov = {.iov_len = LEN};
	struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1};
	struct fi_cq_data_entry e;
	union mcast_addr group;
	struct mcast m;
	int ret;

	FCT_DO(mcast_up(&m, t, CAPS));
	mcast_group(&m, MCAST_IN, 5, &group);
	FCT_DO(mcast_join_all(&m, &group, 0));
	iov.iov_base = m.tx.buf;
	msg.desc = &m.tx.desc;
	msg.addr = fi_mc_addr(m.mc[0]);
	msg.context = &m.tx_ctx;
	FCT_DO(mcast_post_all(&m, 0));
	FCT_DO(mcast_post_all(&m, 1));
	FCT_DO(fct_barrier(t, "posted"));
	fct_fill(m.tx.buf, LEN, 6);
	if (fct_is_client(t)) {
		FCT_POST(t, m.l.txcq,
			 fi_sendmsg(m.ep[0].c.ep, &msg, FI_MULTICAST | FI_COMPLETION));
		FCT_DO(fct_comp(t, m.l.txcq, &m.tx_ctx, FI_SEND | FI_MSG, &e, "a send"));
		FCT_POST(t, m.l.txcq,
			 fi_inject(m.ep[0].c.ep, m.tx.buf, 40, fi_mc_addr(m.mc[0])));
	}
	FCT_DO(mcast_expect_all(&m, 0, LEN, 6));
	FCT_DO(mcast_expect_all(&m, 1, 40, 6));
	msg.addr = 0;
	FCT_ERR(t, fi_sendmsg(m.ep[0].c.ep, &msg, FI_MULTICAST), -FI_EINVAL);
	/* The number of another endpoint's group is none of this one's. */
	FCT_ERR(t, fi_inject(m.ep[1].c.ep, "x", 1, fi_mc_addr(m.mc[0]) ^ 1ULL << 62),
		-FI_EINVAL);
out:
	return mcast_down(&m, ret);
}

/* Without a receive it is dropped, for this one alone. */
int fct_mcast_dropped(struct fct *t)
{
	union mcast_addr group;
	struct mcast m;
	unsigned int i;
	int ret;

	FCT_DO(mcast_up(&m, t, CAPS));
	mcast_group(&m, MCAST_IN, 6, &group);
	FCT_DO(mcast_join_all(&m, &group, 0));
	FCT_DO(mcast_post(&m, 1, 0));
	for (i = 0; i < 2 * MCAST_SLOTS; i++)
		FCT_DO(mcast_from_client(&m, fi_mc_addr(m.mc[0]), LEN, i));
	FCT_DO(mcast_expect(&m, 1, 0, LEN, 0));
	FCT_DO(mcast_post_all(&m, 1));
	FCT_DO(mcast_from_client(&m, fi_mc_addr(m.mc[0]), LEN, 99));
	FCT_DO(mcast_expect_all(&m, 1, LEN, 99));
out:
	return mcast_down(&m, ret);
}

/* Two fid_mc of an endpoint for one group: each datagram comes once, until both are
 * closed. */
int fct_mcast_twice(struct fct *t)
{
	union mcast_addr group;
	struct mcast m;
	int ret;

	FCT_DO(mcast_up(&m, t, CAPS));
	mcast_group(&m, MCAST_IN, 7, &group);
	FCT_DO(mcast_join(&m, 0, &group, 0, 0));
	mcast_group(&m, MCAST_UD, 7, &group);
	FCT_DO(mcast_join(&m, 0, &group, 0, 1));
	FCT_DO(mcast_join(&m, 1, &group, FI_SEND, 2));
	FCT_TRUE(t, fi_mc_addr(m.mc[0]) != fi_mc_addr(m.mc[1]));
	FCT_DO(mcast_post(&m, 0, 0));
	FCT_DO(mcast_post(&m, 0, 1));
	FCT_DO(mcast_from_client(&m, fi_mc_addr(m.mc[1]), LEN, 1));
	FCT_DO(mcast_expect(&m, 0, 0, LEN, 1));
	FCT_DO(mcast_nothing(&m, 0));
	FCT_DO(mcast_leave(&m, 0));
	FCT_DO(mcast_from_client(&m, fi_mc_addr(m.mc[1]), LEN, 2));
	FCT_DO(mcast_expect(&m, 0, 1, LEN, 2));
	FCT_DO(mcast_post(&m, 0, 2));
	FCT_DO(mcast_leave(&m, 1));
	FCT_DO(fct_barrier(t, "left"));
	if (fct_is_client(t))
		FCT_DO(mcast_send(&m, 1, fi_mc_addr(m.mc[2]), LEN, 3));
	FCT_DO(fct_barrier(t, "sent in vain"));
	FCT_DO(mcast_nothing(&m, 0));
out:
	return mcast_down(&m, ret);
}

/* An endpoint without multicast and one with it reach each other by their names. */
int fct_mcast_mixed(struct fct *t)
{
	uint8_t mine[32], theirs[32];
	size_t len = sizeof(mine);
	struct mcast m;
	fi_addr_t peer;
	int ret;

	FCT_DO(mcast_up(&m, t, fct_is_client(t) ? CAPS : FI_MSG));
	FCT_CALL(t, fi_getname(&m.ep[0].c.ep->fid, mine, &len));
	FCT_EQ(t, len, sizeof(mine));
	FCT_DO(fct_exchange(t, "name", mine, theirs, sizeof(mine)));
	FCT_EQ(t, fi_av_insert(m.av, theirs, 1, &peer, 0, NULL), 1);
	FCT_DO(mcast_post(&m, 0, 0));
	FCT_DO(fct_barrier(t, "posted"));
	FCT_DO(mcast_send(&m, 0, peer, LEN, 8));
	FCT_DO(mcast_expect(&m, 0, 0, LEN, 8));
out:
	return mcast_down(&m, ret);
}

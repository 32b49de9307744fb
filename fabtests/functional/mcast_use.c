/* SPDX-License-Identifier: BSD-2-Clause */
/* What is sent to groups, and who receives it. */
#include "mcast.h"

#define CAPS (FI_MSG | FI_MULTICAST)
#define LEN 100

/* Each side in turn; the sender's own endpoints are members like any other. */
FCT_CASE(both, "every member receives, the sender among them")
{
	union mcast_addr group;
	FCT_AUTO(mcast_end) struct mcast m = {0};
	int turn;

	FCT_DO(mcast_up(&m, CAPS));
	mcast_group(&m, MCAST_IN, 1, &group);
	FCT_DO(mcast_join_all(&m, &group, 0));
	for (turn = 0; turn < 2; turn++) {
		FCT_DO(mcast_post_all(&m, turn));
		FCT_DO(fct_barrier("posted"));
		if (fct_is_client() == turn)
			FCT_DO(mcast_send(&m, turn, fi_mc_addr(m.mc[turn]), LEN, turn));
		FCT_DO(mcast_expect_all(&m, turn, LEN, turn));
	}
	return 0;
}

/* Endpoint 0 sends only, 1 receives only, 2 does both. */
FCT_CASE(flags, "FI_SEND, FI_RECV and both")
{
	static const uint64_t flags[MCAST_EPS] = {FI_SEND, FI_RECV, FI_SEND | FI_RECV};
	union mcast_addr group;
	FCT_AUTO(mcast_end) struct mcast m = {0};
	unsigned int i;

	FCT_DO(mcast_up(&m, CAPS));
	mcast_group(&m, MCAST_IN, 2, &group);
	for (i = 0; i < MCAST_EPS; i++)
		FCT_DO(mcast_join(&m, i, &group, flags[i], i));
	FCT_DO(mcast_post_all(&m, 0));
	FCT_ERR(fi_inject(m.ep[1].c.ep, "x", 1, fi_mc_addr(m.mc[1])), -FI_EADDRNOTAVAIL);
	FCT_DO(mcast_from_client(&m, fi_mc_addr(m.mc[0]), LEN, 3));
	FCT_DO(mcast_expect(&m, 1, 0, LEN, 3));
	FCT_DO(mcast_expect(&m, 2, 0, LEN, 3));
	FCT_DO(mcast_nothing(&m, 0));
	if (fct_is_server())
		FCT_DO(mcast_send(&m, 2, fi_mc_addr(m.mc[2]), LEN, 4));
	FCT_DO(fct_barrier("answered"));
	return mcast_nothing(&m, 0);
}

/* Every form of one group reaches who named it in another one, but for IPv6. */
FCT_CASE(forms, "every form of a group's address")
{
	union mcast_addr group;
	enum mcast_form form;
	unsigned int n = 0;
	FCT_AUTO(mcast_end) struct mcast m = {0};

	FCT_DO(mcast_up(&m, CAPS));
	for (form = 0; form < MCAST_FORMS; form++) {
		if (!mcast_group(&m, form, 3, &group))
			continue;
		FCT_DO(mcast_join(&m, n % MCAST_EPS, &group, 0, n));
		n++;
	}
	FCT_TRUE(n >= MCAST_EPS);
	FCT_DO(mcast_post_all(&m, 0));
	FCT_DO(mcast_from_client(&m, fi_mc_addr(m.mc[0]), LEN, 5));
	FCT_DO(mcast_expect(&m, 0, 0, LEN, 5));
	FCT_DO(mcast_expect(&m, 2, 0, LEN, 5));
	if (m.ethernet)
		FCT_DO(mcast_expect(&m, 1, 0, LEN, 5));
	else
		FCT_DO(mcast_nothing(&m, 1));
	return 0;
}

FCT_CASE(sizes, "from nothing to the longest")
{
	const size_t longest[] = {0, 1, 64, 513, 0, 0};
	union mcast_addr group;
	FCT_AUTO(mcast_end) struct mcast m = {0};
	unsigned int i;
	size_t len;

	FCT_DO(mcast_up(&m, CAPS));
	mcast_group(&m, MCAST_IN, 4, &group);
	FCT_DO(mcast_join_all(&m, &group, 0));
	for (i = 0; i < 6; i++) {
		len = i < 4 ? longest[i] : m.max - (5 - i);
		FCT_DO(mcast_post_all(&m, i));
		FCT_DO(mcast_from_client(&m, fi_mc_addr(m.mc[0]), len, i));
		FCT_DO(mcast_expect_all(&m, i, len, i));
	}
	FCT_ERR(fi_send(m.ep[0].c.ep, m.tx.buf, m.l.info->ep_attr->max_msg_size + 1,
			m.tx.desc, fi_mc_addr(m.mc[0]), NULL),
		-FI_EMSGSIZE);
	return 0;
}

/* fi_msg(3): FI_MULTICAST says that the address is a group's. */
FCT_CASE(calls, "fi_sendmsg with FI_MULTICAST, fi_inject")
{
	union mcast_addr group;
	FCT_AUTO(mcast_end) struct mcast m = {0};
	struct fct_op send;

	FCT_DO(mcast_up(&m, CAPS));
	mcast_group(&m, MCAST_IN, 5, &group);
	FCT_DO(mcast_join_all(&m, &group, 0));
	send = (struct fct_op){.form = FCT_SENDMSG,
			       .buf = m.tx.buf,
			       .len = LEN,
			       .desc = m.tx.desc,
			       .to = fi_mc_addr(m.mc[0]),
			       .flags = FI_MULTICAST | FI_COMPLETION,
			       .ctx = &m.tx_ctx};
	FCT_DO(mcast_post_all(&m, 0));
	FCT_DO(mcast_post_all(&m, 1));
	FCT_DO(fct_barrier("posted"));
	fct_fill(m.tx.buf, LEN, 6);
	if (fct_is_client()) {
		FCT_DO(fct_op_do(m.ep[0].c.ep, m.l.txcq, &send));
		FCT_POST(m.l.txcq,
			 fi_inject(m.ep[0].c.ep, m.tx.buf, 40, fi_mc_addr(m.mc[0])));
	}
	FCT_DO(mcast_expect_all(&m, 0, LEN, 6));
	FCT_DO(mcast_expect_all(&m, 1, 40, 6));
	send.to = 0;
	FCT_ERR(fct_op_post(m.ep[0].c.ep, &send), -FI_EINVAL);
	/* The number of another endpoint's group is none of this one's. */
	FCT_ERR(fi_inject(m.ep[1].c.ep, "x", 1, fi_mc_addr(m.mc[0]) ^ 1ULL << 62),
		-FI_EINVAL);
	return 0;
}

#define LAST 99 /* of the numbers that are sent, behind those that are dropped */

/* A datagram before it may still be on its way when the receive is posted. */
static int take_last(struct mcast *m, unsigned int i, unsigned int n, bool *seen)
{
	struct fi_cq_data_entry e;
	uint8_t last[LEN];

	FCT_DO(fct_comp(m->ep[i].rxcq, &m->ep[i].rx[n], FI_RECV | FI_MSG, &e,
			"the last datagram"));
	FCT_EQ(e.len, LEN);
	fct_fill(last, LEN, LAST);
	if (memcmp(m->rx.buf + (i * MCAST_SLOTS + n) * m->max, last, LEN))
		FCT_TRUE(!*seen);
	else
		*seen = true;
	return 0;
}

/* Without a receive it is dropped, for this one alone. */
FCT_CASE(dropped, "without a receive a member misses what is sent")
{
	union mcast_addr group;
	FCT_AUTO(mcast_end) struct mcast m = {0};
	bool seen[MCAST_EPS] = {false};
	unsigned int i, n;

	FCT_DO(mcast_up(&m, CAPS));
	mcast_group(&m, MCAST_IN, 6, &group);
	FCT_DO(mcast_join_all(&m, &group, 0));
	FCT_DO(mcast_post(&m, 1, 0));
	for (i = 0; i < 2 * MCAST_SLOTS; i++)
		FCT_DO(mcast_from_client(&m, fi_mc_addr(m.mc[0]), LEN, i));
	FCT_DO(mcast_expect(&m, 1, 0, LEN, 0));
	for (n = 1; n < MCAST_SLOTS; n++) {
		FCT_DO(mcast_post_all(&m, n));
		FCT_DO(mcast_from_client(&m, fi_mc_addr(m.mc[0]), LEN, LAST));
		for (i = 0; i < MCAST_EPS; i++)
			FCT_DO(take_last(&m, i, n, &seen[i]));
	}
	for (i = 0; i < MCAST_EPS; i++)
		FCT_TRUE(seen[i]);
	return 0;
}

/* Two fid_mc of an endpoint for one group: each datagram comes once, until both are
 * closed. */
FCT_CASE(twice, "two fid_mc of one group")
{
	union mcast_addr group;
	FCT_AUTO(mcast_end) struct mcast m = {0};

	FCT_DO(mcast_up(&m, CAPS));
	mcast_group(&m, MCAST_IN, 7, &group);
	FCT_DO(mcast_join(&m, 0, &group, 0, 0));
	mcast_group(&m, MCAST_UD, 7, &group);
	FCT_DO(mcast_join(&m, 0, &group, 0, 1));
	FCT_DO(mcast_join(&m, 1, &group, FI_SEND, 2));
	FCT_TRUE(fi_mc_addr(m.mc[0]) != fi_mc_addr(m.mc[1]));
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
	FCT_DO(fct_barrier("left"));
	if (fct_is_client())
		FCT_DO(mcast_send(&m, 1, fi_mc_addr(m.mc[2]), LEN, 3));
	FCT_DO(fct_barrier("sent in vain"));
	return mcast_nothing(&m, 0);
}

/* An endpoint without multicast and one with it reach each other by their names. */
FCT_CASE(mixed, "endpoints with and without multicast reach each other")
{
	uint8_t mine[32], theirs[32];
	size_t len = sizeof(mine);
	FCT_AUTO(mcast_end) struct mcast m = {0};
	fi_addr_t peer;

	FCT_DO(mcast_up(&m, fct_is_client() ? CAPS : FI_MSG));
	FCT_CALL(fi_getname(&m.ep[0].c.ep->fid, mine, &len));
	FCT_EQ(len, sizeof(mine));
	FCT_DO(fct_exchange("name", mine, theirs, sizeof(mine)));
	FCT_EQ(fi_av_insert(m.l.av, theirs, 1, &peer, 0, NULL), 1);
	FCT_DO(mcast_post(&m, 0, 0));
	FCT_DO(fct_barrier("posted"));
	FCT_DO(mcast_send(&m, 0, peer, LEN, 8));
	return mcast_expect(&m, 0, 0, LEN, 8);
}

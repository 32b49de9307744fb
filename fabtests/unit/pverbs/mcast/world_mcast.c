/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include "world_mcast.h"

static bool mcast_open_ep(struct mcast_world *w, struct fid_ep **ep)
{
	CT_EXPECT_EQ(fi_endpoint(w->d.domain, w->d.info, ep, NULL), 0);
	if (!*ep)
		return false;
	CT_EXPECT_EQ(fi_ep_bind(*ep, &w->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(*ep, &w->d.cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_ep_bind(*ep, &w->d.av->fid, 0), 0);
	CT_EXPECT_EQ(fi_enable(*ep), 0);
	return !ct_failed();
}

bool mcast_open(struct mcast_world *w, bool ib, uint64_t caps)
{
	const struct dgram_opts opts = {.ib = ib,
					.caps = caps ? caps : FI_MSG | FI_MULTICAST};

	return mcast_open_with(w, &opts);
}

bool mcast_open_with(struct mcast_world *w, const struct dgram_opts *opts)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_UNSPEC};

	mcast_close(w);
	if (!dgram_open_domain(&w->d, opts))
		return false;
	CT_EXPECT_EQ(fi_eq_open(w->d.fabric, &attr, &w->eq, NULL), 0);
	return w->eq && mcast_open_ep(w, &w->ep[0]) && mcast_open_ep(w, &w->ep[1]);
}

void mcast_start(struct mcast_world *w)
{
	CT_ASSERT_TRUE(mcast_open(w, false, 0));
}

void mcast_close(struct mcast_world *w)
{
	close_object(w->ep[0]);
	close_object(w->ep[1]);
	close_object(w->eq);
	dgram_close(&w->d);
}

struct sockaddr_in mcast_addr(uint8_t number)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xef000000u | number),
	};
}

struct fid_mc *mcast_join(struct mcast_world *w, int i, uint8_t number, uint64_t flags)
{
	const struct sockaddr_in addr = mcast_addr(number);
	struct fid_mc *mc = NULL;

	CT_EXPECT_EQ(fi_join(w->ep[i], &addr, flags, &mc, w), 0);
	return mc;
}

void mcast_answers(uint8_t number, uint32_t qkey)
{
	uint8_t gid[16] = {[10] = 0xff, 0xff, 239, 0, 0, number};

	fake_join_event(fake_join.id, gid, 0, qkey);
}

void expect_joined_at(const char *file, int line, struct mcast_world *w,
		      struct fid_mc *mc)
{
	struct fi_eq_entry entry = {0};
	uint32_t event = 0;

	CT_NOTE("%s:%d", file, line);
	CT_EXPECT_EQ(fi_eq_read(w->eq, &event, &entry, sizeof(entry), 0), sizeof(entry));
	CT_EXPECT_EQ(event, FI_JOIN_COMPLETE);
	CT_EXPECT_EQ(entry.fid, &mc->fid);
	CT_EXPECT_EQ(entry.context, w);
}

struct fid_mc *mcast_joined_at(const char *file, int line, struct mcast_world *w, int i,
			       uint8_t number, uint64_t flags)
{
	struct fid_mc *mc = mcast_join(w, i, number, flags);

	mcast_answers(number, MCAST_QKEY);
	expect_joined_at(file, line, w, mc);
	return mc;
}

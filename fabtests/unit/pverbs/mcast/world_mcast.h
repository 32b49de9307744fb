/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints that join groups, on the objects of world_dgram.h, with an event queue. */
#ifndef PVB_TEST_WORLD_MCAST_H
#define PVB_TEST_WORLD_MCAST_H

#include "../dgram/world_dgram.h"

#define MCAST_QKEY 0x1234567u

struct mcast_world {
	struct dgram_world d;
	struct fid_eq *eq;
	struct fid_ep *ep[2]; /* enabled */
};

/* caps 0: FI_MSG | FI_MULTICAST. Closes what w, which is zeroed otherwise, has open. */
bool mcast_open(struct mcast_world *w, bool ib, uint64_t caps);
bool mcast_open_with(struct mcast_world *w, const struct dgram_opts *opts);
void mcast_close(struct mcast_world *w);
/* For CT_FIXTURE, whose tear-down is mcast_close: on RoCE. */
void mcast_start(struct mcast_world *w);
/* Group 239.0.0.NUMBER: its address, and its GID on the kind of link. */
struct sockaddr_in mcast_addr(uint8_t number);
/* Endpoint i joins it; NULL after a failure. */
struct fid_mc *mcast_join(struct mcast_world *w, int i, uint8_t number, uint64_t flags);
/* Subnet administration answers the newest join, of that group. */
void mcast_answers(uint8_t number, uint32_t qkey);
/* Both, and the answer is an event. */
#define mcast_joined(...) mcast_joined_at(__FILE__, __LINE__, __VA_ARGS__)
struct fid_mc *mcast_joined_at(const char *file, int line, struct mcast_world *w, int i,
			       uint8_t number, uint64_t flags);
/* The next event is FI_JOIN_COMPLETE. */
#define expect_joined(w, mc) expect_joined_at(__FILE__, __LINE__, w, mc)
void expect_joined_at(const char *file, int line, struct mcast_world *w,
		      struct fid_mc *mc);
#define mcast_left(mc) CT_EXPECT_EQ(fi_close(&(mc)->fid), 0)

#endif

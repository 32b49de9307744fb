/* SPDX-License-Identifier: BSD-2-Clause */
/* What the administrator of world.h is asked by one that joins to receive. */
#ifndef PVERBS_GROUPS_WORLD_RECEIVE_H
#define PVERBS_GROUPS_WORLD_RECEIVE_H

#include "world.h"

#define ASKS_NOTHING(since) CT_EXPECT_EQ(w.requests, since)

/* The next request is such a one; it is served. */
void expect_request(uint8_t method, uint64_t mask, uint8_t state);
/* The only one outstanding looks for the group. */
void expect_look(void);
/* It asks whether the port is a member already. */
void expect_check(void);
/* User 1, whose join is outstanding, and whose answer is not here. */
struct world_user *world_join_half(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Who sends, and groups that come and go meanwhile at the administrator of world.h. */
#ifndef PVERBS_GROUPS_WORLD_SEND_H
#define PVERBS_GROUPS_WORLD_SEND_H

#include "world.h"

/* User n joins group 239.0.0.n to send, and all is served. */
struct world_user *world_send_to(unsigned int n);
/* The user is joined, and sends to these MLIDs; 0: none. */
void expect_route(const struct world_user *user, uint16_t to, uint16_t copy);
/* As world_make, and says its MLID. */
uint16_t world_make_lid(const uint8_t mgid[16]);
/* The same; then it is reported, and all is served. */
uint16_t world_appear(const uint8_t mgid[16]);
/* As world_unmake; then it is reported, and all is served. */
void world_vanish(const uint8_t mgid[16]);

#endif

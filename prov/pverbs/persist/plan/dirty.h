/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranges that were written to a peer's persistent memory and not made durable since: a
 * fenced durable operation has to (fi_cq(3), FI_FENCE). At most PVB_DIRTY_APART ranges
 * are kept apart; beyond that, ranges of one region are merged. None is ever dropped.
 */
#ifndef PVB_PERSIST_PLAN_DIRTY_H
#define PVB_PERSIST_PLAN_DIRTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/wire.h"

#define PVB_DIRTY_APART 16u /* ranges kept apart */
#define PVB_DIRTY_NEAR                                                   \
	((uint64_t)4096) /* bytes between ranges that are as good as one \
			  */

struct pvb_dirty_range {
	uint64_t from, to;
	uint32_t rkey;
	uint32_t attr_bits; /* key_attr in a form that can be compared */
	struct pvb_key_attr key_attr;
	bool owed;    /* of a durable operation that generates no completion */
	bool grouped; /* it is of a group whose flush was not posted:
			 persist/initiator/group.c */
	/* What goes ahead of the fenced operation that is about to be posted, in the same
	 * call of the device's: PVB_ACT_FLUSH or _READ, or PVB_ACT_END.
	 * persist/initiator/upgrade.c */
	uint8_t ahead;
};

struct pvb_dirty {
	struct pvb_dirty_range *range;
	size_t count, room;
};

/* Room for one more: 0, and the next pvb_dirty_add cannot fail, or -FI_ENOMEM. */
int pvb_dirty_reserve(struct pvb_dirty *dirty);
/* 0 or -FI_ENOMEM. Of a range of no bytes nothing is remembered. */
int pvb_dirty_add(struct pvb_dirty *dirty, struct pvb_dirty_range range);
void pvb_dirty_remove(struct pvb_dirty *dirty, size_t at);
/* Range at was made durable up to an address. */
void pvb_dirty_cut(struct pvb_dirty *dirty, size_t at, uint64_t to);
bool pvb_dirty_owed(const struct pvb_dirty *dirty);
void pvb_dirty_fini(struct pvb_dirty *dirty);

#endif

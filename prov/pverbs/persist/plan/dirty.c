/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "dirty.h"

/* Bytes between a range and another one; 0: they touch. */
static uint64_t pvb_dirty_gap(const struct pvb_dirty_range *range, uint64_t from,
			      uint64_t to)
{
	if (from > range->to)
		return from - range->to;
	return range->from > to ? range->from - to : 0;
}

/* The range of the same region that is nearest, or NULL. */
static struct pvb_dirty_range *pvb_dirty_nearest(struct pvb_dirty *dirty,
						 const struct pvb_dirty_range *range,
						 uint64_t *gap)
{
	struct pvb_dirty_range *best = NULL;
	uint64_t here;
	size_t i;

	for (i = 0; i < dirty->count; i++) {
		here = pvb_dirty_gap(&dirty->range[i], range->from, range->to);
		if (dirty->range[i].rkey != range->rkey || (best && here >= *gap))
			continue;
		best = &dirty->range[i];
		*gap = here;
	}
	return best;
}

int pvb_dirty_reserve(struct pvb_dirty *dirty)
{
	const size_t room = dirty->room ? 2 * dirty->room : PVB_DIRTY_APART;
	struct pvb_dirty_range *list;

	if (dirty->count < dirty->room)
		return 0;
	list = realloc(dirty->range, room * sizeof(*list));
	if (!list)
		return -FI_ENOMEM;
	dirty->range = list;
	dirty->room = room;
	return 0;
}

int pvb_dirty_add(struct pvb_dirty *dirty, struct pvb_dirty_range range)
{
	struct pvb_dirty_range *near;
	uint64_t gap = 0;
	int ret;

	/* Nobody checks the key and the address of a write of nothing, so a flush there
	 * may fail. */
	if (range.from == range.to)
		return 0;
	near = pvb_dirty_nearest(dirty, &range, &gap);
	if (near && (gap <= PVB_DIRTY_NEAR || dirty->count >= PVB_DIRTY_APART)) {
		near->from = CRN_MIN(near->from, range.from);
		near->to = CRN_MAX(near->to, range.to);
		near->owed |= range.owed;
		near->grouped |= range.grouped;
		return 0;
	}
	ret = pvb_dirty_reserve(dirty);
	if (!ret)
		dirty->range[dirty->count++] = range;
	return ret;
}

void pvb_dirty_remove(struct pvb_dirty *dirty, size_t at)
{
	dirty->range[at] = dirty->range[--dirty->count];
}

void pvb_dirty_cut(struct pvb_dirty *dirty, size_t at, uint64_t to)
{
	dirty->range[at].from = to;
	if (to >= dirty->range[at].to)
		pvb_dirty_remove(dirty, at);
}

bool pvb_dirty_owed(const struct pvb_dirty *dirty)
{
	size_t i;

	for (i = 0; i < dirty->count; i++) {
		if (dirty->range[i].owed)
			return true;
	}
	return false;
}

void pvb_dirty_fini(struct pvb_dirty *dirty)
{
	free(dirty->range);
	*dirty = (struct pvb_dirty){0};
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocation in the own segment: ranges of its heap, slots of its tables. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include "heap.h"
#include "shared.h"
#include "vg.h"

/* Free ranges of the heap in order of offset. */
struct svb_extent {
	struct svb_extent *next;
	uint64_t offset;
	uint64_t size;
};

/* What is in use of a table, and where the search for a free slot goes on. */
struct svb_slots {
	uint64_t *used; /* bits */
	uint32_t cursor;
};

static struct svb_extent *svb_heap;
static struct svb_slots svb_slots[SVB_TABLES];
pthread_mutex_t svb_seg_mutex = PTHREAD_MUTEX_INITIALIZER;

const struct svb_table_place svb_tables[SVB_TABLES] = {
	[SVB_TAB_MR] = {SVB_OFF_MR, sizeof(struct svb_mr_sh), SVB_MAX_MR, 1024},
	[SVB_TAB_QP] = {SVB_OFF_QP, sizeof(struct svb_qp_sh), SVB_MAX_QP, 128},
	[SVB_TAB_CQ] = {SVB_OFF_CQ, sizeof(struct svb_cq_sh), SVB_MAX_CQ, 128},
	[SVB_TAB_SRQ] = {SVB_OFF_SRQ, sizeof(struct svb_srq_sh), SVB_MAX_SRQ, 64},
	[SVB_TAB_MCAST] = {SVB_OFF_MCAST, sizeof(struct svb_mcast_sh), SVB_MAX_MCAST,
			   128},
};

int svb_seg_back(uint64_t offset, uint64_t size)
{
	int ret;

	do {
		ret = fallocate(svb_self.seg_fd, 0, (off_t)offset, (off_t)size) ? errno
										: 0;
	} while (ret == EINTR);
	if (!ret && svb_self.seg)
		svb_vg_show(svb_seg_at(svb_self.seg, offset), size);
	return ret == ENOSPC ? ENOMEM : ret;
}

void svb_seg_forget(void)
{
	struct svb_extent *extent;
	int i;

	while ((extent = svb_heap)) {
		svb_heap = extent->next;
		free(extent);
	}
	for (i = 0; i < SVB_TABLES; i++) {
		free(svb_slots[i].used);
		svb_slots[i] = (struct svb_slots){0};
	}
}

int svb_seg_books(void)
{
	int i;

	svb_heap = malloc(sizeof(*svb_heap));
	if (!svb_heap)
		return ENOMEM;
	*svb_heap =
		(struct svb_extent){NULL, SVB_OFF_HEAP, svb_seg_span() - SVB_OFF_HEAP};
	for (i = 0; i < SVB_TABLES; i++) {
		svb_slots[i].used = calloc(svb_tables[i].max / 64, sizeof(uint64_t));
		if (!svb_slots[i].used)
			return ENOMEM;
	}
	return 0;
}

void svb_seg_hold(void)
{
	pthread_mutex_lock(&svb_seg_mutex);
}

void svb_seg_let_go(void)
{
	pthread_mutex_unlock(&svb_seg_mutex);
}

uint64_t svb_seg_alloc(uint64_t size)
{
	struct svb_extent **at, *extent;
	uint64_t offset = 0;

	size = (size + SVB_PAGE - 1) & ~(SVB_PAGE - 1);
	pthread_mutex_lock(&svb_seg_mutex);
	for (at = &svb_heap; *at && (*at)->size < size; at = &(*at)->next)
		;
	extent = *at;
	if (extent && !svb_seg_back(extent->offset, size)) {
		offset = extent->offset;
		if (offset + size > svb_self.seg->heap_top)
			__atomic_store_n(&svb_self.seg->heap_top, offset + size,
					 __ATOMIC_RELEASE);
		extent->offset += size;
		extent->size -= size;
		if (!extent->size) {
			*at = extent->next;
			free(extent);
		}
	}
	pthread_mutex_unlock(&svb_seg_mutex);
	if (!offset)
		errno = ENOMEM;
	return offset;
}

/* Joins an extent with the one that follows it, if they touch. */
static void svb_extent_join(struct svb_extent *extent)
{
	struct svb_extent *next = extent->next;

	if (!next || extent->offset + extent->size != next->offset)
		return;
	extent->size += next->size;
	extent->next = next->next;
	free(next);
}

void svb_seg_free(uint64_t offset, uint64_t size)
{
	struct svb_extent *extent, *before = NULL, **at;

	if (!offset)
		return;
	size = (size + SVB_PAGE - 1) & ~(SVB_PAGE - 1);
	/* Gives the memory back, and whoever allocates the range finds zeroes. */
	fallocate(svb_self.seg_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		  (off_t)offset, (off_t)size);
	svb_vg_hide(svb_seg_at(svb_self.seg, offset), size);
	extent = malloc(sizeof(*extent));
	/* Then the range is lost, which is little: it has no memory behind it. */
	if (!extent)
		return;
	pthread_mutex_lock(&svb_seg_mutex);
	for (at = &svb_heap; *at && (*at)->offset < offset; at = &(*at)->next)
		before = *at;
	*extent = (struct svb_extent){*at, offset, size};
	*at = extent;
	svb_extent_join(extent);
	if (before)
		svb_extent_join(before);
	pthread_mutex_unlock(&svb_seg_mutex);
}

static bool svb_slot_used(const struct svb_slots *slots, uint32_t slot)
{
	return slots->used[slot / 64] >> slot % 64 & 1;
}

/* Gives memory to more slots and lets peers see them. */
static int svb_table_grow(enum svb_table table, uint32_t limit)
{
	uint32_t size = svb_tables[table].size, grow = svb_tables[table].grow;
	uint64_t from = svb_tables[table].offset + (uint64_t)limit * size;

	if (limit + grow > svb_tables[table].max ||
	    svb_seg_back(from, (uint64_t)grow * size))
		return ENOMEM;
	__atomic_store_n(&svb_self.seg->limit[table], limit + grow, __ATOMIC_RELEASE);
	return 0;
}

int64_t svb_slot_alloc(enum svb_table table)
{
	struct svb_slots *slots = &svb_slots[table];
	int64_t slot = -1;
	uint32_t limit, i;

	pthread_mutex_lock(&svb_seg_mutex);
	limit = svb_self.seg->limit[table];
	/* With any other slot no key is zero, whichever tag a program gives a window. */
	if (table == SVB_TAB_MR)
		slots->used[0] |= 1;
	if (table == SVB_TAB_MR)
		slots->cursor = svb_key_slot(limit);
	for (i = 0; i < limit; i++) {
		if (slots->cursor >= limit)
			slots->cursor = 0;
		if (!svb_slot_used(slots, slots->cursor))
			break;
		slots->cursor++;
	}
	if (i < limit || !svb_table_grow(table, slots->cursor = limit)) {
		if (table == SVB_TAB_MR && i == limit)
			slots->cursor += svb_key_slot(svb_tables[table].grow);
		slots->cursor += svb_slot_used(slots, slots->cursor);
		slot = slots->cursor++;
		slots->used[slot / 64] |= 1ull << slot % 64;
	}
	pthread_mutex_unlock(&svb_seg_mutex);
	if (slot < 0)
		errno = ENOMEM;
	return slot;
}

void svb_slot_free(enum svb_table table, uint32_t slot)
{
	pthread_mutex_lock(&svb_seg_mutex);
	svb_slots[table].used[slot / 64] &= ~(1ull << slot % 64);
	pthread_mutex_unlock(&svb_seg_mutex);
}

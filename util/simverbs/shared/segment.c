/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "model/medium.h"
#include "svb.h"
#include "vg.h"

#define SVB_PAGE 4096ull
/* Bytes of a segment that are mapped under valgrind, which has room for few large ones.
 */
#define SVB_VALGRIND_SIZE (512ull << 20)

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
/* Of the two above; taken by nobody who holds svb_self.mutex for long. */
static pthread_mutex_t svb_seg_mutex = PTHREAD_MUTEX_INITIALIZER;

static const struct {
	uint64_t offset;
	uint32_t size; /* bytes of a slot */
	uint32_t max;
	uint32_t grow; /* slots that get memory at a time */
} svb_tables[SVB_TABLES] = {
	[SVB_TAB_MR] = {SVB_OFF_MR, sizeof(struct svb_mr_sh), SVB_MAX_MR, 1024},
	[SVB_TAB_QP] = {SVB_OFF_QP, sizeof(struct svb_qp_sh), SVB_MAX_QP, 128},
	[SVB_TAB_CQ] = {SVB_OFF_CQ, sizeof(struct svb_cq_sh), SVB_MAX_CQ, 128},
	[SVB_TAB_SRQ] = {SVB_OFF_SRQ, sizeof(struct svb_srq_sh), SVB_MAX_SRQ, 64},
	[SVB_TAB_MCAST] = {SVB_OFF_MCAST, sizeof(struct svb_mcast_sh), SVB_MAX_MCAST,
			   128},
};

static uint64_t svb_seg_span(void)
{
	return svb_self.valgrind ? SVB_VALGRIND_SIZE : SVB_SEG_SIZE;
}

/*
 * What of a segment is in use, for valgrind: it searches everything that may be read for
 * pointers, and a segment is large. shown, heap: what it was told before.
 */
static void svb_seg_show(struct svb_seg *seg, uint32_t shown[SVB_TABLES], uint64_t *heap)
{
	uint64_t top, from;
	uint32_t limit;
	int i;

	for (i = 0; i < SVB_TABLES; i++) {
		limit = __atomic_load_n(&seg->limit[i], __ATOMIC_ACQUIRE);
		if (limit <= shown[i] || limit > svb_tables[i].max)
			continue;
		from = svb_tables[i].offset + (uint64_t)shown[i] * svb_tables[i].size;
		svb_vg_show(svb_seg_at(seg, from),
			    (uint64_t)(limit - shown[i]) * svb_tables[i].size);
		shown[i] = limit;
	}
	top = __atomic_load_n(&seg->heap_top, __ATOMIC_ACQUIRE);
	if (top <= *heap || top > svb_seg_span())
		return;
	from = *heap ? *heap : SVB_OFF_HEAP;
	svb_vg_show(svb_seg_at(seg, from), top - from);
	*heap = top;
}

/* Of a segment that was just mapped, only its first page. */
static void svb_seg_hide(struct svb_seg *seg)
{
	svb_vg_hide(seg, svb_seg_span());
	svb_vg_show(seg, SVB_PAGE);
}

/* Puts memory behind a range of the file. */
static int svb_back(uint64_t offset, uint64_t size)
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

static void svb_seg_name(uint32_t index, char *name, size_t size)
{
	snprintf(name, size, "seg.%u", index);
}

static void svb_seg_forget(void)
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

/* The heap is one free range and every slot of the tables is free. */
static int svb_seg_books(void)
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

int svb_seg_create(void)
{
	struct svb_seg *seg = MAP_FAILED;
	char name[32];
	int ret;

	svb_seg_name(svb_self.index, name, sizeof(name));
	svb_self.seg_fd = openat(svb_self.dir_fd, name,
				 O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (svb_self.seg_fd < 0)
		return errno;
	ret = svb_seg_books();
	if (!ret && ftruncate(svb_self.seg_fd, SVB_SEG_SIZE))
		ret = errno;
	if (!ret)
		ret = svb_back(0, SVB_PAGE);
	if (!ret) {
		seg = mmap(NULL, svb_seg_span(), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_NORESERVE, svb_self.seg_fd, 0);
		ret = seg == MAP_FAILED ? errno : 0;
	}
	if (ret) {
		svb_seg_forget();
		close(svb_self.seg_fd);
		unlinkat(svb_self.dir_fd, name, 0);
		return ret;
	}
	madvise(seg, svb_seg_span(), MADV_DONTDUMP);
	svb_seg_hide(seg);
	seg->abi = SVB_ABI;
	seg->index = svb_self.index;
	seg->generation = svb_self.generation;
	seg->mtu = svb_self.settings.mtu;
	seg->pid = (uint32_t)getpid();
	seg->start_time = svb_start_time(getpid());
	seg->machine = svb_medium_id();
	__atomic_store_n(&seg->magic, SVB_MAGIC, __ATOMIC_RELEASE);
	svb_self.seg = seg;
	return 0;
}

void svb_seg_destroy(void)
{
	svb_seg_forget();
	munmap(svb_self.seg, svb_seg_span());
	close(svb_self.seg_fd);
	svb_self.seg = NULL;
}

void svb_seg_hold(void)
{
	pthread_mutex_lock(&svb_seg_mutex);
}

void svb_seg_let_go(void)
{
	pthread_mutex_unlock(&svb_seg_mutex);
}

void svb_seg_detach(void)
{
	struct svb_seg *seg = svb_self.seg;
	uint32_t shown[SVB_TABLES] = {0}, i;
	uint64_t heap = 0;

	if (mmap(seg, svb_seg_span(), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, svb_self.seg_fd,
		 0) != MAP_FAILED) {
		svb_seg_hide(seg);
		svb_seg_show(seg, shown, &heap);
		for (i = 0; i < seg->limit[SVB_TAB_QP]; i++)
			if (svb_self.qp[i])
				svb_seg_qp(seg, i)->state = IBV_QPS_RESET;
	}
	close(svb_self.seg_fd);
	svb_seg_forget();
	svb_self.seg = NULL;
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
	if (extent && !svb_back(extent->offset, size)) {
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

	if (limit + grow > svb_tables[table].max || svb_back(from, (uint64_t)grow * size))
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

/*
 * Maps the segment of a process over that of the one which had the index before: nobody
 * can be using it for anything that matters.
 */
static struct svb_seg *svb_seg_map(uint32_t index, uint32_t generation)
{
	struct svb_peer *peer = &svb_self.peer[index];
	struct svb_seg *seg;
	char name[32];
	off_t size;
	int fd;

	svb_seg_name(index, name, sizeof(name));
	fd = openat(svb_self.dir_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	size = lseek(fd, 0, SEEK_END);
	seg = size != (off_t)SVB_SEG_SIZE
		      ? MAP_FAILED
		      : mmap(peer->seg, svb_seg_span(), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_NORESERVE | (peer->seg ? MAP_FIXED : 0), fd,
			     0);
	close(fd);
	if (seg == MAP_FAILED)
		return NULL;
	if (!peer->seg)
		madvise(seg, svb_seg_span(), MADV_DONTDUMP);
	svb_seg_hide(seg);
	peer->relayed = false;
	memset(peer->shown, 0, sizeof(peer->shown));
	peer->shown_heap = 0;
	__atomic_store_n(&peer->seg, seg, __ATOMIC_RELEASE);
	/* Not ready yet, or of another version: look again next time. */
	if (__atomic_load_n(&seg->magic, __ATOMIC_ACQUIRE) != SVB_MAGIC ||
	    seg->abi != SVB_ABI || seg->index != index || seg->generation != generation)
		return NULL;
	__atomic_store_n(&peer->generation, generation, __ATOMIC_RELEASE);
	/* From now on the slow way: its machine is modelled. */
	if (seg->machine)
		svb_medium_of(seg->machine);
	return seg;
}

/* Is all that a peer uses mapped? Only valgrind maps less than there can be. */
static bool svb_seg_fits(struct svb_seg *seg)
{
	static bool said;

	if (__atomic_load_n(&seg->heap_top, __ATOMIC_ACQUIRE) <= svb_seg_span())
		return true;
	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"simverbs: process %u has too many or too large queues for one "
			"under valgrind to reach it\n",
			seg->pid);
	return false;
}

struct svb_seg *svb_seg_of(uint32_t index)
{
	struct svb_peer *peer = &svb_self.peer[index];
	struct svb_entry *entry;
	struct svb_seg *seg;

	if (index == svb_self.index)
		return svb_self.seg;
	if (!index || index >= SVB_PROC_MAX)
		return NULL;
	entry = &svb_self.registry->entry[index];
	if (!__atomic_load_n(&entry->pid, __ATOMIC_ACQUIRE))
		return NULL;
	if (svb_likely(__atomic_load_n(&peer->generation, __ATOMIC_ACQUIRE) ==
			       entry->generation &&
		       !svb_self.valgrind))
		return __atomic_load_n(&peer->seg, __ATOMIC_ACQUIRE);
	pthread_mutex_lock(&svb_seg_mutex);
	seg = peer->generation == entry->generation
		      ? peer->seg
		      : svb_seg_map(index, entry->generation);
	if (seg && svb_self.valgrind && !svb_seg_fits(seg))
		seg = NULL;
	if (seg)
		svb_seg_show(seg, peer->shown, &peer->shown_heap);
	pthread_mutex_unlock(&svb_seg_mutex);
	return seg;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "heap.h"
#include "shared.h"
#include "vg.h"

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

static void svb_seg_name(uint32_t index, char *name, size_t size)
{
	snprintf(name, size, "seg.%u", index);
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
		ret = svb_seg_back(0, SVB_PAGE);
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
	seg->machine = svb_settings_machine(&svb_self.settings);
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

/* The process stays out of reach, and requests to it unanswered. */
static struct svb_seg *svb_seg_no_room(uint32_t index)
{
	static bool said;

	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"simverbs: no address space for the %llu MiB that reach process "
			"%u: raise ulimit -v\n",
			(unsigned long long)svb_seg_span() >> 20,
			svb_self.registry->entry[index].pid);
	return NULL;
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
		return size == (off_t)SVB_SEG_SIZE ? svb_seg_no_room(index) : NULL;
	if (!peer->seg)
		madvise(seg, svb_seg_span(), MADV_DONTDUMP);
	svb_seg_hide(seg);
	peer->relayed = false;
	peer->pid = svb_registry_pid(index);
	memset(peer->shown, 0, sizeof(peer->shown));
	peer->shown_heap = 0;
	__atomic_store_n(&peer->seg, seg, __ATOMIC_RELEASE);
	/* Not ready yet, or of another version: look again next time. */
	if (__atomic_load_n(&seg->magic, __ATOMIC_ACQUIRE) != SVB_MAGIC ||
	    seg->abi != SVB_ABI || seg->index != index || seg->generation != generation)
		return NULL;
	__atomic_store_n(&peer->generation, generation, __ATOMIC_RELEASE);
	svb_parts_mapped(seg);
	return seg;
}

/* Is all that a peer uses mapped? Narrow mappings have less than there can be. */
static bool svb_seg_fits(struct svb_seg *seg)
{
	static bool said;

	if (__atomic_load_n(&seg->heap_top, __ATOMIC_ACQUIRE) <= svb_seg_span())
		return true;
	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"simverbs: process %u has too many or too large queues for one "
			"under valgrind, or with a limit of its address space (ulimit "
			"-v), to reach it\n",
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
		       !svb_self.narrow))
		return __atomic_load_n(&peer->seg, __ATOMIC_ACQUIRE);
	pthread_mutex_lock(&svb_seg_mutex);
	seg = peer->generation == entry->generation
		      ? peer->seg
		      : svb_seg_map(index, entry->generation);
	if (seg && svb_self.narrow && !svb_seg_fits(seg))
		seg = NULL;
	if (seg)
		svb_seg_show(seg, peer->shown, &peer->shown_heap);
	pthread_mutex_unlock(&svb_seg_mutex);
	return seg;
}

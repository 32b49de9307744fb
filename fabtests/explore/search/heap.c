/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "hash.h"
#include "heap.h"

#define HEAP_SIZE (64u << 20)
#define PAGE 4096u
#define PAGES (HEAP_SIZE / PAGE)
#define HEADER 64u /* in front of each block; keeps cache lines apart */
#define CLASSES 32u
#define ROOMS 3u

/* Its own books lie in it, and are taken back with it. */
struct heap {
	size_t top;
	unsigned int room;	    /* of what is taken */
	void *free[ROOMS][CLASSES]; /* by size, a power of two */
};

struct block {
	size_t size; /* the caller's */
	uint16_t class, room;
};

static struct {
	char *at;
	char *base; /* as it was when the watch began */
	bool on;
	uint32_t written; /* pages since then, in the order of their first writes */
	uint32_t page[PAGES];
	uint64_t hash[PAGES]; /* of base, where it was written */
	/* What was hashed last: most pages are as they were then. */
	char *last;
	uint64_t last_hash[PAGES];
} heap;

static char *reserve(void)
{
	void *at = mmap(NULL, HEAP_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static struct heap *books(void)
{
	return (struct heap *)heap.at;
}

bool xpl_heap_has(const void *at)
{
	return heap.at && (const char *)at >= heap.at &&
	       (const char *)at < heap.at + HEAP_SIZE;
}

static struct block *block_of(void *at)
{
	return (struct block *)((char *)at - HEADER);
}

/* Zero bytes: what was there before must not tell states apart. */
void *xpl_heap_take(size_t size, size_t alignment)
{
	uint16_t class = 6;
	void **free_list;
	struct heap *h;
	uintptr_t at;
	void *free;

	if (!heap.at)
		xpl_heap_use(false);
	h = books();
	while ((size_t)1 << class < size)
		class ++;
	free_list = &h->free[h->room][class];
	free = *free_list;
	if (free && !((uintptr_t)free & (alignment - 1))) {
		memcpy(free_list, free, sizeof(void *));
		memset(free, 0, sizeof(void *));
		block_of(free)->size = size;
		return free;
	}
	if (alignment < HEADER)
		alignment = HEADER;
	at = (uintptr_t)heap.at + h->top + HEADER;
	at = (at + alignment - 1) & ~(uintptr_t)(alignment - 1);
	if (at + ((size_t)1 << class) > (uintptr_t)heap.at + HEAP_SIZE) {
		errno = ENOMEM;
		return NULL;
	}
	*block_of((void *)at) =
		(struct block){.size = size, .class = class, .room = (uint16_t)h->room};
	h->top = at + ((size_t)1 << class) - (uintptr_t)heap.at;
	return (void *)at;
}

size_t xpl_heap_len(void *at)
{
	return block_of(at)->size;
}

void xpl_heap_give(void *at)
{
	struct block *block = block_of(at);
	void *before = &books()->free[block->room][block->class], *next;

	memset(at, 0, block->size);
	memcpy(&next, before, sizeof(next));
	while (block->room && next && next < at) {
		before = next;
		memcpy(&next, before, sizeof(next));
	}
	memcpy(at, &next, sizeof(next));
	memcpy(before, &at, sizeof(at));
}

void xpl_heap_room(unsigned int room)
{
	books()->room = room;
}

bool xpl_heap_in_use(void)
{
	return heap.on;
}

void xpl_heap_use(bool on)
{
	if (!heap.at) {
		heap.at = reserve();
		if (!heap.at)
			abort();
		books()->top = sizeof(struct heap);
	}
	heap.on = on;
}

/* The first write to a page since the watch began. */
static void on_write(int signal, siginfo_t *info, void *context)
{
	char *at = info->si_addr;
	uint32_t page;

	if (!xpl_heap_has(at)) {
		struct sigaction plain = {.sa_handler = SIG_DFL};

		sigaction(SIGSEGV, &plain, NULL);
		return;
	}
	page = (uint32_t)((at - heap.at) / PAGE);
	heap.hash[heap.written] = xpl_hash(heap.base + (size_t)page * PAGE, PAGE, page);
	heap.last_hash[heap.written] = heap.hash[heap.written];
	memcpy(heap.last + (size_t)heap.written * PAGE, heap.base + (size_t)page * PAGE,
	       PAGE);
	heap.page[heap.written++] = page;
	mprotect(heap.at + (size_t)page * PAGE, PAGE, PROT_READ | PROT_WRITE);
}

bool xpl_heap_watch(void)
{
	struct sigaction action = {.sa_sigaction = on_write, .sa_flags = SA_SIGINFO};

	if (!heap.at)
		xpl_heap_use(false);
	heap.base = reserve();
	heap.last = reserve();
	if (!heap.base || !heap.last || sigaction(SIGSEGV, &action, NULL))
		return false;
	memcpy(heap.base, heap.at, books()->top);
	return !mprotect(heap.at, HEAP_SIZE, PROT_READ);
}

size_t xpl_heap_size(void)
{
	return sizeof(uint64_t) + (size_t)heap.written * PAGE;
}

void xpl_heap_save(void *to)
{
	uint64_t count = heap.written;

	memcpy(to, &count, sizeof(count));
	to = (char *)to + sizeof(count);
	for (uint32_t i = 0; i < count; i++)
		memcpy((char *)to + (size_t)i * PAGE,
		       heap.at + (size_t)heap.page[i] * PAGE, PAGE);
}

void xpl_heap_restore(const void *from)
{
	uint64_t count;

	memcpy(&count, from, sizeof(count));
	from = (const char *)from + sizeof(count);
	for (uint32_t i = 0; i < heap.written; i++)
		memcpy(heap.at + (size_t)heap.page[i] * PAGE,
		       i < count ? (const char *)from + (size_t)i * PAGE
				 : heap.base + (size_t)heap.page[i] * PAGE,
		       PAGE);
}

uint64_t xpl_heap_hash(void)
{
	uint64_t hash = 0;
	char *last = heap.last;
	const char *page;

	for (uint32_t i = 0; i < heap.written; i++, last += PAGE) {
		page = heap.at + (size_t)heap.page[i] * PAGE;
		if (memcmp(last, page, PAGE)) {
			memcpy(last, page, PAGE);
			heap.last_hash[i] = xpl_hash(page, PAGE, heap.page[i]);
		}
		hash ^= heap.hash[i] ^ heap.last_hash[i];
	}
	return hash;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "hash.h"
#include "heap.h"
#include "states.h"

#define ROOM ((size_t)2 << 30) /* for the states on the way */

static const struct xpl_model *model;
static char *room;
static size_t used; /* bytes of it */

void xpl_states_open(const struct xpl_model *of)
{
	model = of;
	room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED || !xpl_heap_watch())
		abort();
}

/* Where a state lies: the size of what the model saved, that, and the heap. */
size_t xpl_state_push(void)
{
	size_t size, at = used;
	char *to = room + at;

	if (model->tidy)
		model->tidy();
	size = (model->save(NULL, 0) + 7) & ~(size_t)7;
	if (at + size + xpl_heap_size() + 2 * sizeof(size) > ROOM)
		return SIZE_MAX;
	memcpy(to, &size, sizeof(size));
	to += sizeof(size);
	memset(to + size - 8, 0, 8);
	model->save(to, size);
	to += size;
	xpl_heap_save(to);
	used = (size_t)(to + xpl_heap_size() - room);
	return at;
}

void xpl_state_back_to(size_t at)
{
	const char *from = room + at + sizeof(size_t);
	size_t size;

	memcpy(&size, room + at, sizeof(size));
	xpl_heap_restore(from + size);
	model->restore(from);
}

uint64_t xpl_state_hash(size_t at)
{
	size_t size;

	memcpy(&size, room + at, sizeof(size));
	return xpl_hash(room + at + sizeof(size), size, 0) ^ xpl_heap_hash();
}

void xpl_state_pop(size_t at)
{
	used = at;
}

uint64_t xpl_state_hash_now(void)
{
	size_t at = xpl_state_push();
	uint64_t hash;

	if (at == SIZE_MAX)
		return 0;
	hash = xpl_state_hash(at);
	used = at;
	return hash;
}

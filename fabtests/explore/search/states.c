/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "explore.h"
#include "heap.h"
#include "model/model.h"
#include "states.h"
#include "world.h"

#define ROOM ((size_t)2 << 30) /* for the states on the way */
#define SEEN_FIRST (1u << 12)

static char *room;
static size_t used; /* bytes of it */

static bool seen_put(struct seen *seen, uint64_t hash)
{
	size_t at = hash & (seen->size - 1);

	for (; seen->hash[at]; at = (at + 1) & (seen->size - 1))
		if (seen->hash[at] == hash)
			return false;
	seen->hash[at] = hash;
	seen->count++;
	return true;
}

static bool seen_grow(struct seen *seen, size_t size)
{
	struct seen old = *seen;
	size_t i;

	*seen = (struct seen){.hash = calloc(size, sizeof(uint64_t)), .size = size};
	if (!seen->hash) {
		*seen = old;
		return false;
	}
	for (i = 0; i < old.size; i++)
		if (old.hash[i])
			seen_put(seen, old.hash[i]);
	free(old.hash);
	return true;
}

bool seen_new(struct seen *seen, uint64_t hash, bool *full)
{
	if (seen->count * 2 >= seen->size && !seen_grow(seen, seen->size * 2)) {
		*full = true;
		return false;
	}
	return seen_put(seen, hash ? hash : 1);
}

void seen_clear(struct seen *seen)
{
	free(seen->hash);
	*seen = (struct seen){0};
	seen_grow(seen, SEEN_FIRST);
}

void states_init(void)
{
	room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	svb_model_leave_memory(true);
	if (room == MAP_FAILED || !heap_watch())
		abort();
}

size_t state_push(void)
{
	size_t device = svb_model_save(NULL, 0), at = used;
	char *to = room + at;

	world_forget_idle();
	device = (device + 7) & ~(size_t)7;
	if (at + device + heap_size() + 2 * sizeof(program) + 64 > ROOM)
		return SIZE_MAX;
	memcpy(to, &device, sizeof(device));
	to += sizeof(device);
	memset(to + device - 8, 0, 8);
	svb_model_save(to, device);
	memcpy(to + device, &program, sizeof(program));
	to += device + ((sizeof(program) + 7) & ~(size_t)7);
	heap_save(to);
	used = (size_t)(to + heap_size() - room);
	return at;
}

void state_back_to(size_t at)
{
	const char *from = room + at + sizeof(size_t);
	size_t device;

	memcpy(&device, room + at, sizeof(device));
	heap_restore(from + device + ((sizeof(program) + 7) & ~(size_t)7));
	memcpy(&program, from + device, sizeof(program));
	svb_model_restore(from);
}

uint64_t state_hash(size_t at)
{
	size_t device;

	memcpy(&device, room + at, sizeof(device));
	return svb_machine_hash(room + at + sizeof(device), device + sizeof(program)) ^
	       heap_hash();
}

void state_pop(size_t at)
{
	used = at;
}

uint64_t state_hash_now(void)
{
	size_t at = state_push();
	uint64_t hash;

	if (at == SIZE_MAX)
		return 0;
	hash = state_hash(at);
	used = at;
	return hash;
}

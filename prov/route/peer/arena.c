/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/fi_errno.h>
#include "inside.h"

#define ARENA_PORTS RTE_LINKS_MAX
/* Bytes of a chunk, about. */
#define ARENA_CHUNK (1u << 20)

/* Registered whole, once with each port. */
struct arena_chunk {
	struct arena_chunk *next;
	uint8_t *memory;
	size_t len;
	enum arena_class class;
	uint32_t count; /* buffers; of them free, as arena_trim has counted: */
	uint32_t free;
	bool goes; /* arena_trim frees it */
	struct fid_mr *mr[ARENA_PORTS];
	struct arena_buf buf[];
};

struct arena_shelf {
	size_t size;	/* bytes of a buffer */
	uint32_t limit; /* buffers */
	uint32_t total, taken;
	struct arena_buf *free;
};

struct rte_arena {
	struct arena_shelf shelf[ARENA_CLASSES];
	struct arena_chunk *chunks;
	uint32_t warm; /* lanes */
	uint32_t peers;
	uint32_t most;	/* peers since memory last went back */
	uint32_t grown; /* lanes */
	struct rte_port *port[ARENA_PORTS];
	struct crn_list hungry;	  /* of struct arena_hunger: landing slots */
	struct crn_list starving; /* of struct arena_hunger: buffers to send */
};

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

int rte_arena_open(const struct rte_arena_attr *attr, struct rte_arena **out)
{
	struct rte_arena *arena = calloc(1, sizeof(*arena));

	if (!arena)
		return -FI_ENOMEM;
	arena->shelf[ARENA_SMALL].size = RTE_SMALL_ROOM;
	arena->shelf[ARENA_SMALL].limit = attr->messages;
	arena->shelf[ARENA_WORDS].size = RTE_WORDS_ROOM;
	arena->shelf[ARENA_WORDS].limit = attr->messages;
	arena->shelf[ARENA_MESSAGE].size = round_up(RTE_SEND_ROOM, 64);
	arena->shelf[ARENA_MESSAGE].limit = attr->messages;
	arena->shelf[ARENA_LAND].size = round_up(attr->land_size, 64);
	arena->shelf[ARENA_LAND].limit = attr->lands;
	crn_list_init(&arena->hungry);
	crn_list_init(&arena->starving);
	*out = arena;
	return 0;
}

static void chunk_free(struct arena_chunk *chunk)
{
	munmap(chunk->memory, chunk->len);
	free(chunk);
}

void rte_arena_close(struct rte_arena *arena)
{
	struct arena_chunk *chunk;

	while ((chunk = arena->chunks)) {
		arena->chunks = chunk->next;
		chunk_free(chunk);
	}
	free(arena);
}

void rte_arena_use(const struct rte_arena *arena, struct rte_arena_use *use)
{
	size_t i;

	use->lands = arena->shelf[ARENA_LAND].total;
	use->lands_taken = arena->shelf[ARENA_LAND].taken;
	use->messages = arena->shelf[ARENA_MESSAGE].total;
	use->messages_taken = arena->shelf[ARENA_MESSAGE].taken;
	use->bytes = use->bytes_taken = 0;
	for (i = 0; i < CRN_COUNT(arena->shelf); i++) {
		use->bytes += (uint64_t)arena->shelf[i].total * arena->shelf[i].size;
		use->bytes_taken +=
			(uint64_t)arena->shelf[i].taken * arena->shelf[i].size;
	}
}

/* A lower provider that neither wants its own buffers registered nor is to write into
 * them needs nothing. */
static int chunk_register(struct arena_chunk *chunk, struct rte_port *port)
{
	uint64_t access = FI_SEND | FI_RECV | FI_WRITE;

	if (chunk->class == ARENA_LAND)
		access |= FI_REMOTE_WRITE;
	else if (!port->mr_local)
		return 0;
	return fi_mr_reg(port->domain, chunk->memory, chunk->len, access, 0,
			 port->prov_key ? 0 : port->next_key++, 0,
			 &chunk->mr[port->index], NULL);
}

static void chunk_forget(struct arena_chunk *chunk, uint32_t index)
{
	if (chunk->mr[index])
		fi_close(&chunk->mr[index]->fid);
	chunk->mr[index] = NULL;
}

int arena_join(struct rte_arena *arena, struct rte_port *port)
{
	struct arena_chunk *chunk;
	int ret = 0;

	for (port->index = 0; port->index < ARENA_PORTS; port->index++)
		if (!arena->port[port->index])
			break;
	if (port->index == ARENA_PORTS)
		return -FI_ENOSPC;
	arena->port[port->index] = port;
	for (chunk = arena->chunks; chunk && !ret; chunk = chunk->next)
		ret = chunk_register(chunk, port);
	if (ret)
		arena_leave(arena, port);
	return ret;
}

void arena_leave(struct rte_arena *arena, struct rte_port *port)
{
	struct arena_chunk *chunk;

	for (chunk = arena->chunks; chunk; chunk = chunk->next)
		chunk_forget(chunk, port->index);
	arena->port[port->index] = NULL;
}

static int chunk_join_ports(struct rte_arena *arena, struct arena_chunk *chunk)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < ARENA_PORTS && !ret; i++)
		if (arena->port[i])
			ret = chunk_register(chunk, arena->port[i]);
	while (ret && i--)
		chunk_forget(chunk, i);
	return ret;
}

static struct arena_chunk *chunk_alloc(enum arena_class class, size_t size,
				       uint32_t count)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct arena_chunk *chunk;

	chunk = calloc(1, sizeof(*chunk) + count * sizeof(chunk->buf[0]));
	if (!chunk)
		return NULL;
	chunk->class = class;
	chunk->count = count;
	chunk->len = round_up(count * size, page);
	/* What goes to a peer is never somebody's old memory; and what nobody writes
	 * into, like most of an idle connection's receives, takes none. */
	chunk->memory = mmap(NULL, chunk->len, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk->memory == MAP_FAILED) {
		free(chunk);
		return NULL;
	}
	return chunk;
}

static void arena_grow(struct rte_arena *arena, enum arena_class class)
{
	struct arena_shelf *shelf = &arena->shelf[class];
	uint32_t count = (uint32_t)CRN_MAX(ARENA_CHUNK / shelf->size, (size_t)1), i;
	struct arena_chunk *chunk;

	count = CRN_MIN(count, shelf->limit - shelf->total);
	chunk = count ? chunk_alloc(class, shelf->size, count) : NULL;
	if (!chunk)
		return;
	if (chunk_join_ports(arena, chunk)) {
		chunk_free(chunk);
		return;
	}
	for (i = 0; i < count; i++) {
		chunk->buf[i].data = chunk->memory + i * shelf->size;
		chunk->buf[i].chunk = chunk;
		chunk->buf[i].next = shelf->free;
		shelf->free = &chunk->buf[i];
	}
	shelf->total += count;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
}

struct arena_buf *arena_get(struct rte_arena *arena, enum arena_class class)
{
	struct arena_shelf *shelf = &arena->shelf[class];
	struct arena_buf *buf;

	if (crn_unlikely(!shelf->free))
		arena_grow(arena, class);
	buf = shelf->free;
	if (buf) {
		shelf->free = buf->next;
		shelf->taken++;
	}
	return buf;
}

static void arena_feed(struct crn_list *list)
{
	struct arena_hunger *hunger;

	if (crn_likely(crn_list_empty(list)))
		return;
	hunger = crn_container_of(crn_list_pop(list), struct arena_hunger, entry);
	hunger->feed(hunger);
}

void arena_pass_on(struct rte_arena *arena)
{
	arena_feed(&arena->hungry);
}

void arena_put(struct rte_arena *arena, enum arena_class class, struct arena_buf *buf)
{
	struct arena_shelf *shelf = &arena->shelf[class];

	buf->next = shelf->free;
	shelf->free = buf;
	shelf->taken--;
	arena_feed(class == ARENA_LAND ? &arena->hungry : &arena->starving);
}

void *arena_desc(const struct arena_buf *buf, const struct rte_port *port)
{
	struct fid_mr *mr = buf->chunk->mr[port->index];

	return mr ? fi_mr_desc(mr) : NULL;
}

void arena_remote(const struct arena_buf *buf, const struct rte_port *port,
		  uint64_t *addr, uint64_t *key)
{
	const struct arena_chunk *chunk = buf->chunk;

	*key = fi_mr_key(chunk->mr[port->index]);
	*addr = port->virt_addr ? (uintptr_t)buf->data
				: (uint64_t)(buf->data - chunk->memory);
}

size_t arena_land_size(const struct rte_arena *arena)
{
	return arena->shelf[ARENA_LAND].size;
}

void arena_warm(struct rte_arena *arena, int lanes)
{
	arena->warm += (uint32_t)lanes;
}

uint32_t arena_fair(const struct rte_arena *arena)
{
	const uint32_t half = arena->shelf[ARENA_LAND].limit / 2;

	return CRN_MAX(half / CRN_MAX(arena->warm, 1u), 1u);
}

void arena_hungry(struct rte_arena *arena, struct arena_hunger *hunger)
{
	if (crn_list_empty(&hunger->entry))
		crn_list_add_tail(&arena->hungry, &hunger->entry);
}

void arena_starving(struct rte_arena *arena, struct arena_hunger *hunger)
{
	if (crn_list_empty(&hunger->entry))
		crn_list_add_tail(&arena->starving, &hunger->entry);
}

/* --- Memory goes back --- */

/* Peers that there were at least before their memory goes back when half of them have
 * gone; chunks that stay, so that a few connections that come and go always find memory.
 */
#define TRIM_PEERS 64u
#define TRIM_CHUNKS 8u

static uint32_t chunk_count(const struct rte_arena *arena)
{
	const struct arena_chunk *chunk;
	uint32_t count = 0;

	for (chunk = arena->chunks; chunk; chunk = chunk->next)
		count++;
	return count;
}

/* How many buffers of each chunk are free. */
static void count_free(struct rte_arena *arena)
{
	const struct arena_buf *buf;
	struct arena_chunk *chunk;
	size_t i;

	for (chunk = arena->chunks; chunk; chunk = chunk->next)
		chunk->free = 0;
	for (i = 0; i < CRN_COUNT(arena->shelf); i++)
		for (buf = arena->shelf[i].free; buf; buf = buf->next)
			buf->chunk->free++;
}

/* Chunks of which nothing is in use. */
static void choose_chunks(struct rte_arena *arena)
{
	uint32_t left = chunk_count(arena);
	struct arena_chunk *chunk;

	for (chunk = arena->chunks; chunk; chunk = chunk->next) {
		chunk->goes = left > TRIM_CHUNKS && chunk->free == chunk->count;
		left -= chunk->goes;
	}
}

static void shelf_trim(struct arena_shelf *shelf)
{
	struct arena_buf **link = &shelf->free;

	while (*link) {
		if ((*link)->chunk->goes) {
			*link = (*link)->next;
			shelf->total--;
		} else {
			link = &(*link)->next;
		}
	}
}

static void arena_trim(struct rte_arena *arena)
{
	struct arena_chunk **link = &arena->chunks, *chunk;
	uint32_t i;

	count_free(arena);
	choose_chunks(arena);
	for (i = 0; i < ARENA_CLASSES; i++)
		shelf_trim(&arena->shelf[i]);
	while ((chunk = *link)) {
		if (!chunk->goes) {
			link = &chunk->next;
			continue;
		}
		*link = chunk->next;
		for (i = 0; i < ARENA_PORTS; i++)
			chunk_forget(chunk, i);
		chunk_free(chunk);
	}
}

void arena_peers(struct rte_arena *arena, int peers)
{
	arena->peers += (uint32_t)peers;
	arena->most = CRN_MAX(arena->most, arena->peers);
	if (arena->peers && (arena->most < TRIM_PEERS || arena->peers > arena->most / 2))
		return;
	if (peers < 0)
		arena_trim(arena);
	arena->most = arena->peers;
}

void arena_grown(struct rte_arena *arena, int lanes)
{
	arena->grown += (uint32_t)lanes;
}

/* A quarter is for peers that are to come, and for what is sent. */
static uint32_t arena_elastic(const struct rte_arena *arena)
{
	const uint32_t limit = arena->shelf[ARENA_MESSAGE].limit;

	return limit - limit / 4;
}

bool arena_spare(const struct rte_arena *arena)
{
	return arena->shelf[ARENA_MESSAGE].taken < arena_elastic(arena);
}

uint32_t arena_receives(const struct rte_arena *arena)
{
	const uint64_t least = (uint64_t)arena->peers * PEER_LEAST;
	const uint32_t all = arena_elastic(arena);

	return RTE_RECEIVES_FIRST +
	       (least < all ? (all - (uint32_t)least) / CRN_MAX(arena->grown, 1u) : 0);
}

bool rte_arena_room(const struct rte_arena *arena, uint32_t peers)
{
	const struct arena_shelf *shelf = &arena->shelf[ARENA_MESSAGE];

	/* Half of what growing leaves. */
	return shelf->taken + peers * PEER_LEAST <= shelf->limit - shelf->limit / 8;
}

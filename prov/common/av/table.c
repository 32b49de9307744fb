/* SPDX-License-Identifier: BSD-2-Clause */
/* The entries of an address vector, and the way back from an address to its entry. */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "internal.h"

/* Entries of the first chunk, as a power of two, whatever count the program expects. */
#define AV_BITS_MIN 6
#define AV_BITS_MAX 20
/* Entries of all chunks: an index + 1 has 32 bits. */
#define AV_SIZE_MAX (1u << 31)

struct crn_av_peers crn_av_no_peers;

/* The next chunk, which doubles the size. */
static int av_grow(struct crn_av *av)
{
	const uint32_t more = av->size ? av->size : 1u << av->chunk_bits;
	struct crn_av_entry *entries = NULL;
	unsigned int chunk = 0;

	while (chunk < CRN_AV_CHUNKS && atomic_load(&av->chunks[chunk]))
		chunk++;
	if (chunk < CRN_AV_CHUNKS && av->size < AV_SIZE_MAX)
		entries = calloc(more, sizeof(*entries));
	if (!entries)
		return -FI_ENOMEM;
	/* Those who look without the lock find zeros. */
	atomic_store_explicit(&av->chunks[chunk], entries, memory_order_release);
	av->size += more;
	return 0;
}

int crn_av_table_init(struct crn_av *av, size_t count)
{
	const size_t least = CRN_MAX(count, (size_t)1 << AV_BITS_MIN);
	const size_t first = CRN_MIN(least, (size_t)1 << AV_BITS_MAX);

	atomic_init(&av->peers, &crn_av_no_peers);
	av->chunk_bits = (unsigned int)__builtin_ctz(crn_roundup_pow2((uint32_t)first));
	return av_grow(av);
}

/* Of all entries that there is room for; a vector without peer objects has none. */
static int av_peers_grow(struct crn_av *av)
{
	struct crn_av_peers *old = atomic_load(&av->peers), *peers;
	uint32_t i;

	if (!av->added || av->size == old->size)
		return 0;
	peers = calloc(1, sizeof(*peers) + av->size * sizeof(peers->at[0]));
	if (!peers)
		return -FI_ENOMEM;
	peers->size = av->size;
	peers->older = old;
	for (i = 0; i < old->size; i++)
		atomic_init(&peers->at[i], atomic_load(&old->at[i]));
	atomic_store_explicit(&av->peers, peers, memory_order_release);
	return 0;
}

static void av_peers_free(struct crn_av *av)
{
	struct crn_av_peers *peers = atomic_load(&av->peers), *older;

	for (; peers != &crn_av_no_peers; peers = older) {
		older = peers->older;
		free(peers);
	}
}

static void av_peer_set(struct crn_av *av, uint32_t index, void *peer)
{
	struct crn_av_peers *peers = atomic_load(&av->peers);

	if (index < peers->size)
		atomic_store_explicit(&peers->at[index], peer, memory_order_release);
}

void crn_av_table_fini(struct crn_av *av)
{
	fi_addr_t i;
	int chunk;

	crn_lock(&av->lock);
	for (i = 0; i < av->size; i++)
		crn_av_table_del(av, i);
	crn_unlock(&av->lock);
	for (chunk = 0; chunk < CRN_AV_CHUNKS; chunk++)
		free(atomic_load(&av->chunks[chunk]));
	av_peers_free(av);
	free(av->buckets);
}

static uint32_t *av_bucket(const struct crn_av *av, const void *addr)
{
	return &av->buckets[av->form->hash(addr) & (av->bucket_count - 1)];
}

/* A bucket has the last of a circular list: what was inserted first is found first, and
 * to insert it takes no walk, however often an address is there already. */
static void av_link(struct crn_av *av, struct crn_av_entry *entry, uint32_t index)
{
	uint32_t *last = av_bucket(av, &entry->addr);
	uint32_t *link = *last ? &crn_av_entry(av, *last - 1)->next : &entry->next;

	entry->next = *last ? *link : index + 1;
	*link = index + 1;
	*last = index + 1;
}

static void av_unlink(struct crn_av *av, struct crn_av_entry *entry, uint32_t index)
{
	uint32_t *last = av_bucket(av, &entry->addr);
	uint32_t at = *last;

	while (crn_av_entry(av, at - 1)->next != index + 1)
		at = crn_av_entry(av, at - 1)->next;
	crn_av_entry(av, at - 1)->next = entry->next;
	if (at == index + 1)
		*last = 0;
	else if (*last == index + 1)
		*last = at;
}

/* The list with that last one goes to the buckets that there are now; it keeps its order.
 */
static void av_link_list(struct crn_av *av, uint32_t last)
{
	uint32_t at = last ? crn_av_entry(av, last - 1)->next : 0, next;

	for (; at; at = next) {
		next = at == last ? 0 : crn_av_entry(av, at - 1)->next;
		av_link(av, crn_av_entry(av, at - 1), at - 1);
	}
}

static void av_rehash(struct crn_av *av, uint32_t *buckets, uint32_t bucket_count)
{
	uint32_t *old = av->buckets;
	const uint32_t old_count = av->bucket_count;
	uint32_t i;

	av->buckets = buckets;
	av->bucket_count = bucket_count;
	for (i = 0; i < old_count; i++)
		av_link_list(av, old[i]);
	free(old);
}

/* As many buckets as entries; without memory those that there are have to do. */
static int av_buckets_grow(struct crn_av *av)
{
	uint32_t *buckets;

	if (av->count < av->bucket_count)
		return 0;
	buckets = calloc(av->size, sizeof(*buckets));
	if (buckets)
		av_rehash(av, buckets, av->size);
	return av->buckets ? 0 : -FI_ENOMEM;
}

/* The lowest index that is free: with memory for it, and for finding it again. */
static int av_reserve(struct crn_av *av, uint32_t *index)
{
	int ret = 0;

	while (av->lowest < av->size && crn_av_used(av, av->lowest))
		av->lowest++;
	if (av->lowest == av->size)
		ret = av_grow(av);
	if (!ret)
		ret = av_peers_grow(av);
	if (!ret)
		ret = av_buckets_grow(av);
	*index = av->lowest;
	return ret;
}

int crn_av_table_add(struct crn_av *av, const void *addr, fi_addr_t *fi_addr)
{
	struct crn_av_entry *entry;
	void *peer = NULL;
	uint32_t index;
	int ret = av_reserve(av, &index);

	crn_lock_assert_held(&av->lock);
	if (ret)
		return ret;
	entry = crn_av_entry(av, index);
	memset(&entry->addr, 0, sizeof(entry->addr));
	memcpy(&entry->addr, addr, av->form->len(addr));
	if (av->added)
		ret = av->added(av, &entry->addr, &peer);
	if (ret)
		return ret;
	av_link(av, entry, index);
	av_peer_set(av, index, peer);
	atomic_store_explicit(&entry->used, true, memory_order_release);
	av->count++;
	av->lowest = index + 1;
	*fi_addr = index;
	return 0;
}

int crn_av_table_del(struct crn_av *av, fi_addr_t fi_addr)
{
	struct crn_av_entry *entry = crn_av_used(av, fi_addr);
	void *peer = crn_av_peer(av, fi_addr);

	crn_lock_assert_held(&av->lock);
	if (!entry)
		return -FI_EINVAL;
	av_unlink(av, entry, (uint32_t)fi_addr);
	atomic_store_explicit(&entry->used, false, memory_order_release);
	av_peer_set(av, (uint32_t)fi_addr, NULL);
	if (av->removed)
		av->removed(av, peer);
	av->count--;
	av->lowest = CRN_MIN(av->lowest, (uint32_t)fi_addr);
	return 0;
}

/* The first of its list, as index + 1; 0: none. */
static uint32_t av_search(struct crn_av *av, const void *addr)
{
	const uint32_t last = av->buckets ? *av_bucket(av, addr) : 0;
	uint32_t at = last;

	while (at) {
		at = crn_av_entry(av, at - 1)->next;
		if (av->form->same(&crn_av_entry(av, at - 1)->addr, addr))
			return at;
		if (at == last)
			break;
	}
	return 0;
}

fi_addr_t crn_av_find(struct crn_av *av, const void *addr)
{
	uint32_t found;

	if (!av->form->valid(addr, av->form->len(addr)))
		return FI_ADDR_NOTAVAIL;
	crn_lock(&av->lock);
	found = av_search(av, addr);
	crn_unlock(&av->lock);
	return found ? found - 1 : FI_ADDR_NOTAVAIL;
}

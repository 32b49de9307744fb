/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/mr.h>

/* Buckets of a map with its first region. */
#define MR_BUCKETS 64

/*
 * A thread that adds or removes goes before those that access, or a busy peer could keep
 * fi_close from ever returning. The price is the rule of mr.h: no thread begins twice.
 */
static int mr_lock_init(pthread_rwlock_t *lock)
{
	pthread_rwlockattr_t attr;
	int ret = pthread_rwlockattr_init(&attr);

	if (ret)
		return -ret;
	pthread_rwlockattr_setkind_np(&attr,
				      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	ret = pthread_rwlock_init(lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	return -ret;
}

static void mr_lock(struct crn_mr_map *map)
{
	if (map->locked)
		pthread_rwlock_wrlock(&map->lock);
}

static void mr_unlock(struct crn_mr_map *map)
{
	if (map->locked)
		pthread_rwlock_unlock(&map->lock);
}

void crn_mr_begin(struct crn_mr_map *map)
{
	if (map->locked)
		pthread_rwlock_rdlock(&map->lock);
}

void crn_mr_end(struct crn_mr_map *map)
{
	mr_unlock(map);
}

int crn_mr_map_init(struct crn_mr_map *map, uint64_t mr_mode, size_t key_size,
		    bool locked)
{
	memset(map, 0, sizeof(*map));
	map->prov_key = mr_mode & FI_MR_PROV_KEY;
	map->virt_addr = mr_mode & FI_MR_VIRT_ADDR;
	map->locked = locked;
	map->max_key = key_size < sizeof(uint64_t) ? (1ULL << (8 * key_size)) - 1
						   : FI_KEY_NOTAVAIL - 1;
	return locked ? mr_lock_init(&map->lock) : 0;
}

int crn_mr_map_fini(struct crn_mr_map *map)
{
	if (map->count)
		return -FI_EBUSY;
	free(map->buckets);
	if (map->locked)
		pthread_rwlock_destroy(&map->lock);
	return 0;
}

/* Fibonacci hashing: keys count up, or are what an application finds telling. */
static struct crn_mr **mr_bucket(const struct crn_mr_map *map, uint64_t key)
{
	return &map->buckets[(key * 0x9e3779b97f4a7c15ULL >> 32) &
			     (map->bucket_count - 1)];
}

/* The link that leads to the region with this key, or to the end of its bucket. There are
 * buckets. */
static struct crn_mr **mr_link(const struct crn_mr_map *map, uint64_t key)
{
	struct crn_mr **link = mr_bucket(map, key);

	while (*link && (*link)->key != key)
		link = &(*link)->next;
	return link;
}

static void mr_rehash(struct crn_mr_map *map, struct crn_mr **buckets, size_t count)
{
	struct crn_mr **old = map->buckets;
	const size_t old_count = map->bucket_count;
	struct crn_mr *mr, *next, **bucket;
	size_t i;

	map->buckets = buckets;
	map->bucket_count = count;
	for (i = 0; i < old_count; i++) {
		for (mr = old[i]; mr; mr = next) {
			next = mr->next;
			bucket = mr_bucket(map, mr->key);
			mr->next = *bucket;
			*bucket = mr;
		}
	}
	free(old);
}

/* Room for one more region; without memory the buckets there are have to do. */
static int mr_grow(struct crn_mr_map *map)
{
	const size_t count = map->bucket_count ? 2 * map->bucket_count : MR_BUCKETS;
	struct crn_mr **buckets;

	if (map->count < map->bucket_count)
		return 0;
	buckets = calloc(count, sizeof(struct crn_mr *));
	if (buckets)
		mr_rehash(map, buckets, count);
	return map->buckets ? 0 : -FI_ENOMEM;
}

/* A key that was given back is given again last. */
static int mr_choose_key(struct crn_mr_map *map, uint64_t *key)
{
	if (map->count >= map->max_key)
		return -FI_EKEYREJECTED;
	do
		map->next_key = map->next_key < map->max_key ? map->next_key + 1 : 1;
	while (*mr_link(map, map->next_key));
	*key = map->next_key;
	return 0;
}

static int mr_check_key(struct crn_mr_map *map, uint64_t key)
{
	if (key > map->max_key)
		return -FI_EKEYREJECTED;
	return *mr_link(map, key) ? -FI_ENOKEY : 0;
}

int crn_mr_add(struct crn_mr_map *map, struct crn_mr *mr, uint64_t requested_key)
{
	int ret;

	mr->key = requested_key;
	mr_lock(map);
	ret = mr_grow(map);
	if (!ret)
		ret = map->prov_key ? mr_choose_key(map, &mr->key)
				    : mr_check_key(map, requested_key);
	if (!ret) {
		mr->number = ++map->numbers;
		mr->hidden = false;
		mr->next = NULL;
		*mr_link(map, mr->key) = mr;
		map->count++;
	}
	mr_unlock(map);
	return ret;
}

void crn_mr_remove(struct crn_mr_map *map, struct crn_mr *mr)
{
	mr_lock(map);
	*mr_link(map, mr->key) = mr->next;
	map->count--;
	mr_unlock(map);
}

void crn_mr_hide(struct crn_mr_map *map, struct crn_mr *mr, bool hidden)
{
	mr_lock(map);
	mr->hidden = hidden;
	mr_unlock(map);
}

int crn_mr_find(struct crn_mr_map *map, uint64_t key, uint64_t addr, size_t len,
		uint64_t access, void **at, struct crn_mr **region)
{
	struct crn_mr *mr = map->count ? *mr_link(map, key) : NULL;
	uint64_t offset;

	if (!mr || mr->hidden)
		return -FI_EKEYREJECTED;
	/* An address below the region is an offset beyond its end. */
	offset = map->virt_addr ? addr - (uintptr_t)mr->buf : addr;
	if (access & ~mr->access)
		return -FI_EACCES;
	if (offset > mr->len || len > mr->len - offset)
		return -FI_EACCES;
	*at = (char *)mr->buf + offset;
	if (region)
		*region = mr;
	return 0;
}

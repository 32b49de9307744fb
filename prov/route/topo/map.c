/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include "map.h"
#include "topo.h"

#define RTE_MAP_LEAST 16u

/* Ids are chosen by hand, in rows: their bits are mixed (the finalizer of MurmurHash3).
 */
static uint32_t map_place(const struct rte_map *map, uint64_t high, uint64_t low)
{
	uint64_t hash = low ^ (high * 0x9e3779b97f4a7c15u);

	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
	hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
	return (uint32_t)(hash ^ hash >> 33) & (map->size - 1);
}

/* The pair's slot, or the empty one where it belongs. */
static struct rte_slot *map_find(const struct rte_map *map, uint64_t high, uint64_t low)
{
	uint32_t at = map_place(map, high, low);
	struct rte_slot *slot;

	for (;; at = (at + 1) & (map->size - 1)) {
		slot = &map->slot[at];
		if (slot->value == RTE_NONE || (slot->high == high && slot->low == low))
			return slot;
	}
}

uint32_t rte_map_get(const struct rte_map *map, uint64_t high, uint64_t low)
{
	return map->size ? map_find(map, high, low)->value : RTE_NONE;
}

static int map_grow(struct rte_map *map)
{
	struct rte_map bigger = {.size = map->size ? map->size * 2 : RTE_MAP_LEAST,
				 .used = map->used};
	uint32_t i;

	bigger.slot = malloc(bigger.size * sizeof(*bigger.slot));
	if (!bigger.slot)
		return -FI_ENOMEM;
	for (i = 0; i < bigger.size; i++)
		bigger.slot[i].value = RTE_NONE;
	for (i = 0; i < map->size; i++)
		if (map->slot[i].value != RTE_NONE)
			*map_find(&bigger, map->slot[i].high, map->slot[i].low) =
				map->slot[i];
	free(map->slot);
	*map = bigger;
	return 0;
}

int rte_map_add(struct rte_map *map, uint64_t high, uint64_t low, uint32_t value)
{
	int ret = map->used * 2 < map->size ? 0 : map_grow(map);

	if (ret)
		return ret;
	*map_find(map, high, low) =
		(struct rte_slot){.high = high, .low = low, .value = value};
	map->used++;
	return 0;
}

/* Those behind it move up: a search ends at the first empty slot. */
void rte_map_del(struct rte_map *map, uint64_t high, uint64_t low)
{
	const uint32_t mask = map->size - 1;
	struct rte_slot *hole, *slot;
	uint32_t at, home;

	if (rte_map_get(map, high, low) == RTE_NONE)
		return;
	hole = map_find(map, high, low);
	for (at = (uint32_t)(hole - map->slot);;) {
		at = (at + 1) & mask;
		slot = &map->slot[at];
		if (slot->value == RTE_NONE)
			break;
		home = map_place(map, slot->high, slot->low);
		if (((at - home) & mask) < ((at - (uint32_t)(hole - map->slot)) & mask))
			continue;
		*hole = *slot;
		hole = slot;
	}
	hole->value = RTE_NONE;
	map->used--;
}

void rte_map_free(struct rte_map *map)
{
	free(map->slot);
	*map = (struct rte_map){0};
}

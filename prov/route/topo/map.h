/* SPDX-License-Identifier: BSD-2-Clause */
/* From a pair of numbers to an index: open addressing, linear probing. */
#ifndef RTE_TOPO_MAP_H
#define RTE_TOPO_MAP_H

#include <stdint.h>

struct rte_slot {
	uint64_t high;
	uint64_t low;
	uint32_t value; /* RTE_NONE: empty */
};

struct rte_map {
	struct rte_slot *slot;
	uint32_t size; /* a power of two, or 0 */
	uint32_t used;
};

/* RTE_NONE: it is not there. */
uint32_t rte_map_get(const struct rte_map *map, uint64_t high, uint64_t low);
/* A pair that is not there yet, a value below RTE_NONE: 0 or -FI_ENOMEM. */
int rte_map_add(struct rte_map *map, uint64_t high, uint64_t low, uint32_t value);
void rte_map_del(struct rte_map *map, uint64_t high, uint64_t low);
void rte_map_free(struct rte_map *map);

#endif

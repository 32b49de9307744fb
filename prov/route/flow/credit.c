/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "flow.h"

void rte_inlet_open(struct rte_inlet *inlet, uint32_t share)
{
	*inlet = (struct rte_inlet){.share = share};
}

void rte_inlet_close(struct rte_inlet *inlet, struct rte_pool *pool)
{
	pool->free += inlet->granted + inlet->filled;
	*inlet = (struct rte_inlet){0};
}

enum rte_room rte_inlet_grant(struct rte_inlet *inlet, struct rte_pool *pool)
{
	if (!inlet->escape_granted && !inlet->escape_filled) {
		inlet->escape_granted = true;
		return RTE_ROOM_ESCAPE;
	}
	if (!pool->free || inlet->granted + inlet->filled >= inlet->share)
		return RTE_ROOM_NONE;
	pool->free--;
	inlet->granted++;
	return RTE_ROOM_POOL;
}

int rte_inlet_fill(struct rte_inlet *inlet, enum rte_room room)
{
	if (room == RTE_ROOM_ESCAPE && inlet->escape_granted) {
		inlet->escape_granted = false;
		inlet->escape_filled = true;
		return 0;
	}
	if (room == RTE_ROOM_POOL && inlet->granted) {
		inlet->granted--;
		inlet->filled++;
		return 0;
	}
	return -FI_EOVERRUN;
}

void rte_inlet_empty(struct rte_inlet *inlet, enum rte_room room, struct rte_pool *pool)
{
	if (room == RTE_ROOM_ESCAPE) {
		inlet->escape_filled = false;
		return;
	}
	inlet->filled--;
	pool->free++;
}

void rte_outlet_open(struct rte_outlet *outlet, uint32_t share)
{
	*outlet = (struct rte_outlet){.share = share};
}

int rte_outlet_granted(struct rte_outlet *outlet, enum rte_room room)
{
	if (room == RTE_ROOM_ESCAPE && !outlet->escape) {
		outlet->escape = true;
		return 0;
	}
	if (room == RTE_ROOM_POOL && outlet->pool < outlet->share) {
		outlet->pool++;
		return 0;
	}
	return -FI_EOVERRUN;
}

enum rte_room rte_outlet_take(struct rte_outlet *outlet)
{
	if (outlet->pool) {
		outlet->pool--;
		return RTE_ROOM_POOL;
	}
	if (!outlet->escape)
		return RTE_ROOM_NONE;
	outlet->escape = false;
	return RTE_ROOM_ESCAPE;
}

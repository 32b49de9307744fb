/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the routers of an AS hold together. */
#include <inttypes.h>
#include "set.h"

/* --- Hosts that are joined --- */

static uint32_t root(const struct rte_set *set, uint32_t host)
{
	while (set->parent[host] != host) {
		set->parent[host] = set->parent[set->parent[host]];
		host = set->parent[host];
	}
	return host;
}

/* The lower becomes the root. */
static void join(struct rte_set *set, uint32_t a, uint32_t b)
{
	a = root(set, a);
	b = root(set, b);
	set->parent[a > b ? a : b] = a > b ? b : a;
}

static void join_none(struct rte_set *set)
{
	uint32_t i;

	for (i = 0; i < set->configs; i++)
		set->parent[i] = i;
}

static bool is_router_of(const struct rte_set *set, uint32_t host, uint32_t as)
{
	return set->config[host]->is_router && set->config[host]->router.as == as;
}

/* A router's device on a subnet of the AS. */
static bool is_place_of(const struct rte_place *place, uint32_t as)
{
	return place->device->at.as == as && place->config->is_router;
}

/* --- Subnets that lead to WANs reach each other, section IV.C.3 --- */

static bool is_border(const struct rte_config *config)
{
	uint32_t i;

	for (i = 0; i < config->devices; i++)
		if (config->device[i].routable && config->device[i].at.as == RTE_AS_WAN)
			return true;
	return false;
}

/* Traffic passes from one router to another over a subnet which both pass on. */
static void join_transit(struct rte_set *set, uint32_t as)
{
	uint32_t i, end, last;

	for (i = 0; i < set->places; i = end) {
		end = rte_set_end(set, i);
		for (last = UINT32_MAX; i < end; i++) {
			if (!is_place_of(&set->place[i], as) ||
			    !set->place[i].device->transit)
				continue;
			if (last != UINT32_MAX)
				join(set, last, set->place[i].host);
			last = set->place[i].host;
		}
	}
}

/* A router of each subnet is joined with one of the other. a and b begin theirs. */
static bool subnets_joined(const struct rte_set *set, uint32_t a, uint32_t b)
{
	const uint32_t a_end = rte_set_end(set, a), b_end = rte_set_end(set, b);
	uint32_t k;

	for (; a < a_end; a++)
		for (k = b; k < b_end; k++)
			if (set->place[a].config->is_router &&
			    set->place[k].config->is_router &&
			    root(set, set->place[a].host) ==
				    root(set, set->place[k].host))
				return true;
	return false;
}

/* The first place, from i on, of a border router in the AS; or the number of places. */
static uint32_t next_border(const struct rte_set *set, uint32_t i, uint32_t as)
{
	while (i < set->places &&
	       (!is_place_of(&set->place[i], as) || !is_border(set->place[i].config)))
		i++;
	return i;
}

static void check_borders(struct rte_set *set, uint32_t as)
{
	const uint32_t first = next_border(set, 0, as);
	const struct rte_place *place;
	uint32_t a, b;

	join_none(set);
	join_transit(set, as);
	for (a = first; a < set->places; a = next_border(set, rte_set_end(set, a), as))
		for (b = first; b < a; b = next_border(set, rte_set_end(set, b), as)) {
			if (subnets_joined(set, rte_set_begin(set, b),
					   rte_set_begin(set, a)))
				continue;
			place = &set->place[a];
			rte_error(set->errors, place->config->file, place->device->line,
				  "section IV.C.3: they are two AS",
				  "subnets %" PRIu32 " and %" PRIu32 " of AS %" PRIu32
				  " lead to WANs and not to each other",
				  set->place[b].device->at.subnet,
				  place->device->at.subnet, as);
			return;
		}
}

/* --- All learn of all --- */

/* Section VII.B: what a router says goes along the router = lines. */
static void join_named(struct rte_set *set, uint32_t as)
{
	const struct rte_config_device *device;
	const struct rte_place *other;
	uint32_t i, k;

	for (i = 0; i < set->places; i++) {
		device = set->place[i].device;
		for (k = 0; k < device->routers && is_place_of(&set->place[i], as); k++) {
			other = rte_set_router(set, i, &device->router[k]);
			if (other)
				join(set, set->place[i].host, other->host);
		}
	}
}

static void check_named(struct rte_set *set, uint32_t as)
{
	const struct rte_config *config;
	uint32_t i, first = UINT32_MAX;

	join_none(set);
	join_named(set, as);
	for (i = 0; i < set->configs; i++) {
		config = set->config[i];
		if (!is_router_of(set, i, as))
			continue;
		if (first == UINT32_MAX)
			first = i;
		/* Once for those that are joined with each other. */
		else if (root(set, i) == i)
			rte_warning(set->errors, config->file, config->router.line,
				    "router = on a subnet of both",
				    "%s and %s of AS %" PRIu32
				    " never learn of each other",
				    set->config[first]->router.name, config->router.name,
				    as);
	}
}

/* --- Static routes --- */

static bool router_on(const struct rte_config *config, const struct rte_subnet *subnet)
{
	uint32_t i;

	for (i = 0; i < config->devices; i++)
		if (config->device[i].routable && config->device[i].at.as == subnet->as &&
		    config->device[i].at.subnet == subnet->subnet)
			return true;
	return false;
}

static bool hop_exists(const struct rte_set *set, uint32_t as,
		       const struct rte_subnet *hop)
{
	uint32_t i;

	for (i = 0; i < set->configs; i++)
		if (is_router_of(set, i, as) && router_on(set->config[i], &hop[0]) &&
		    router_on(set->config[i], &hop[1]))
			return true;
	return false;
}

static void check_static(const struct rte_set *set, const struct rte_config *config,
			 const struct rte_config_static *route)
{
	const struct rte_subnet *hop;
	uint32_t i;

	for (i = 0; i + 1 < route->subnets; i++) {
		hop = &route->subnet[i];
		if (hop_exists(set, config->router.as, hop))
			continue;
		rte_warning(set->errors, config->file, route->line, NULL,
			    "no router is on %" PRIu32 ":%" PRIu32 " and %" PRIu32
			    ":%" PRIu32 " both",
			    hop[0].as, hop[0].subnet, hop[1].as, hop[1].subnet);
		return;
	}
}

void rte_set_check_as(struct rte_set *set, uint32_t as)
{
	uint32_t i, k;

	check_borders(set, as);
	check_named(set, as);
	for (i = 0; i < set->configs; i++)
		for (k = 0; is_router_of(set, i, as) && k < set->config[i]->router.routes;
		     k++)
			check_static(set, set->config[i],
				     &set->config[i]->router.route[k]);
}

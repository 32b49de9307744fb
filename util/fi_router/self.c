/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <rdma/fi_errno.h>

#include "log.h"
#include "route/route.h"
#include "self.h"

/* A WAN without routers of other AS leads nowhere. */
static bool link_up(const struct frt_node *node, const struct frt_device *device)
{
	return device->up && (!device->foreign ||
			      frt_border_any(node, device, device->config->peer_as));
}

static struct rte_link link_of(const struct frt_node *node,
			       const struct frt_device *device)
{
	const struct rte_config_device *config = device->config;

	return (struct rte_link){
		.subnet = device->id.subnet,
		.scope_as = device->id.scope_as,
		.rate = device->rate,
		.latency = config->latency,
		.cost = config->cost,
		.frag_max = config->frag,
		.caps = config->caps,
		.up = link_up(node, device),
		.uri = device->up ? device->uri_text : "",
	};
}

/*
 * Over a public WAN some AS are reached from here, and others not: each of them is a link
 * of its own, as if the WAN were private to that AS. So all routers of this AS know which
 * border leads there.
 */
static void add_reached(const struct frt_node *node, const struct frt_device *device,
			struct frt_self *self)
{
	uint32_t as = 0;
	struct rte_link link;

	if (!device->foreign || device->config->peer_as || !device->up)
		return;
	while ((as = frt_border_next(node, device, as))) {
		link = link_of(node, device);
		link.scope_as = as;
		link.uri = "";
		if (rte_lsa_link(&self->lsa, as, link.subnet))
			continue;
		if (self->lsa.links == RTE_LINKS_MAX) {
			frt_log(FRT_ERROR,
				"%s: too many AS are reached for all to be told: others "
				"do not know of some; let another router have a part of "
				"the WANs",
				device->config->name);
			return;
		}
		self->link[self->lsa.links++] = link;
	}
}

void frt_self_lsa(const struct frt_node *node, struct frt_self *self)
{
	uint32_t i;

	self->lsa = (struct rte_lsa){
		.flags = node->drain ? RTE_LSA_DRAIN : 0,
		.load = frt_node_load_told(node),
		.links = node->devices,
		.link = self->link,
	};
	for (i = 0; i < node->devices; i++) {
		self->link[i] = link_of(node, node->device[i]);
		if (node->device[i]->foreign)
			self->lsa.flags |= RTE_LSA_BORDER;
	}
	for (i = 0; i < node->devices; i++)
		add_reached(node, node->device[i], self);
}

/* --- WANs --- */

static void reach_add(struct rte_sync_reach *link, uint32_t *count,
		      const struct rte_link *wan, uint64_t cost)
{
	uint32_t i;

	for (i = 0; i < *count; i++)
		if (link[i].scope_as == wan->scope_as && link[i].subnet == wan->subnet) {
			if (cost < link[i].cost)
				link[i].cost = cost;
			return;
		}
	if (*count < RTE_SYNC_REACH_MAX)
		link[(*count)++] = (struct rte_sync_reach){.scope_as = wan->scope_as,
							   .subnet = wan->subnet,
							   .cost = cost,
							   .hops = 1};
}

uint32_t frt_self_reach(const struct frt_node *node, struct rte_lsdb *db, uint64_t now,
			struct rte_sync_reach *link)
{
	const struct rte_config_router *self = &frt_config(node)->router;
	const struct rte_lsa *lsa;
	struct rte_cost cost;
	uint64_t router = 0;
	uint32_t count = 0, i;

	while ((lsa = rte_lsdb_next(db, self->as, router, now)) && lsa->as == self->as) {
		router = lsa->router;
		for (i = 0; i < lsa->links; i++) {
			if (lsa->link[i].scope_as == self->as || !lsa->link[i].up)
				continue;
			cost = rte_link_cost(&self->policy, &lsa->link[i]);
			reach_add(link, &count, &lsa->link[i],
				  node->drain ? FRT_REACH_DRAIN : cost.part[0]);
		}
	}
	return count;
}

static bool is_border(const struct frt_node *node)
{
	uint32_t i;

	for (i = 0; i < node->devices; i++)
		if (node->device[i]->foreign)
			return true;
	return false;
}

void frt_self_tell(struct frt_node *node, uint64_t now)
{
	struct rte_sync_reach reach[RTE_SYNC_REACH_MAX];
	struct frt_self self;
	int ret;

	frt_self_lsa(node, &self);
	ret = rte_sync_set(node->sync, &self.lsa, now);
	if (!ret && is_border(node))
		ret = rte_sync_set_reach(node->sync, reach,
					 frt_self_reach(node, rte_sync_db(node->sync),
							now, reach),
					 now);
	if (ret)
		frt_log(FRT_ERROR,
			"others are not told what has changed here: %s; they are with "
			"the next change",
			fi_strerror(-ret));
}

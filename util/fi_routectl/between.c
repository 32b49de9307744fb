/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>

#include "sim.h"

/* The router's device on that WAN, if it works; or NULL. */
static const struct rte_config_device *port_on(const struct rct_sim *sim,
					       const struct rct_as *as,
					       const struct rct_router *router,
					       const struct rct_net *net)
{
	const struct rte_config *config = router->config;
	uint32_t i;

	for (i = 0; i < config->devices; i++)
		if (rct_port_up(sim, router, i) &&
		    rct_as_net(as, rct_net_id(&config->device[i])) == net)
			return &config->device[i];
	return NULL;
}

/* Routers of the AS that are connected with that device on a WAN, most at most: indices
 * in the graph. */
static uint32_t borders_of(const struct rct_sim *sim, const struct rct_as *as,
			   const struct rct_net *net,
			   const struct rte_config_device *other, uint32_t *border,
			   uint32_t most)
{
	const struct rte_config_device *device;
	uint32_t i, count = 0;

	for (i = 0; i < as->routers && count < most; i++) {
		device = port_on(sim, as, as->router[i], net);
		if (device && rct_ports_meet(device, other))
			border[count++] =
				rte_graph_router(as->graph,
						 as->router[i]->config->router.id);
	}
	return count;
}

/* The same WAN as the other AS names it, if traffic between the two may cross it. */
static const struct rct_net *net_of_other(const struct rct_as *as,
					  const struct rct_as *other,
					  const struct rct_net *net)
{
	struct rte_net_id id = {.scope_as = RTE_AS_WAN, .subnet = net->id.subnet};

	if (net->id.scope_as == other->as)
		id.scope_as = as->as;
	else if (net->id.scope_as != RTE_AS_WAN)
		return NULL;
	return rct_as_net(other, id);
}

/* Routers that are connected over the WAN with some of the other AS. */
static uint32_t borders_to(const struct rct_between *between, const struct rct_sim *sim,
			   const struct rct_net *net, uint32_t *border)
{
	const struct rct_as *as = between->from_as, *other = between->to_as;
	const struct rct_net *its = net_of_other(as, other, net);
	const struct rte_config_device *device;
	uint32_t i, any, count = 0;

	for (i = 0; its && i < as->routers; i++) {
		device = port_on(sim, as, as->router[i], net);
		if (device && borders_of(sim, other, its, device, &any, 1))
			border[count++] =
				rte_graph_router(as->graph,
						 as->router[i]->config->router.id);
	}
	return count;
}

/* The best of those that are there and others, which are in order. */
static void merge(struct rct_pair *pair, const struct rte_route *route, uint32_t routes,
		  uint32_t count)
{
	uint32_t i, at;

	for (i = 0; i < routes; i++) {
		for (at = pair->routes; at; at--)
			if (rte_route_compare(pair->as->graph, &pair->route[at - 1],
					      &route[i]) < 0)
				break;
		if (at == count)
			return;
		pair->routes = CRN_MIN(pair->routes + 1, count);
		memmove(&pair->route[at + 1], &pair->route[at],
			(pair->routes - 1 - at) * sizeof(*route));
		pair->route[at] = route[i];
	}
}

/* Over one WAN; *fixed: the best static route over this and those before. */
static int find_out(struct rct_between *between, const struct rct_net *net,
		    const struct rte_ends *ends, uint32_t count, struct rte_route *fixed)
{
	const struct rct_as *as = between->from_as;
	struct rte_route route[RTE_ALTERNATIVES];
	int ret = rte_paths_by(as->graph, ends, between->from->at, &net->at, 1, route,
			       count);

	if (ret < 0)
		return ret;
	merge(&between->out, route, (uint32_t)ret, count);
	ret = rct_static_find(as, ends, between->from, net, route);
	if (ret <= 0)
		return ret;
	if (!fixed->routers || rte_route_compare(as->graph, route, fixed) < 0)
		*fixed = *route;
	return 0;
}

/* On from the router that the way out ends with, by those that it is connected with. */
static int find_in(struct rct_between *between, const struct rct_sim *sim,
		   uint32_t *border)
{
	const struct rct_as *as = between->from_as, *other = between->to_as;
	const struct rte_route *out = between->out.route;
	const struct rct_net *net = rct_as_net_at(as, out->net[out->routers]);
	const struct rct_net *its = net_of_other(as, other, net);
	const struct rct_router *last = rct_as_router(as, out->router[out->routers - 1]);
	const struct rte_ends ends = {
		.first = border,
		.firsts = borders_of(sim, other, its, port_on(sim, as, last, net), border,
				     other->routers),
	};

	return rct_pair_find(other, &ends, its, between->to, NULL, 1, &between->in);
}

int rct_between_find(const struct rct_sim *sim, const struct rct_as *from_as,
		     const struct rct_net *from, const struct rct_as *to_as,
		     const struct rct_net *to, uint32_t count,
		     struct rct_between *between)
{
	uint32_t *border = malloc((sim->routers + 1) * sizeof(*border)), i;
	struct rte_ends ends = {.last = border};
	struct rte_route fixed = {.routers = 0};
	int ret = border ? 0 : -FI_ENOMEM;

	*between = (struct rct_between){
		.from_as = from_as,
		.to_as = to_as,
		.from = from,
		.to = to,
		.out = {.as = from_as, .from = from},
		.in = {.as = to_as, .to = to},
	};
	for (i = 0; i < from_as->nets && from->at != RTE_NONE && !ret; i++) {
		ends.lasts = borders_to(between, sim, &from_as->net[i], border);
		if (ends.lasts)
			ret = find_out(between, &from_as->net[i], &ends, count, &fixed);
	}
	if (!ret && fixed.routers)
		rct_pair_fix(&between->out, &fixed, count);
	if (!ret && between->out.routes)
		ret = find_in(between, sim, border);
	free(border);
	return ret;
}

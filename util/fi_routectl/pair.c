/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <rdma/fi_errno.h>

#include "sim.h"

bool rct_pair_makes_sense(const struct rct_as *as, const struct rct_net *from,
			  const struct rct_net *to)
{
	return from != to && (from->id.scope_as == as->as || to->id.scope_as == as->as);
}

/* Indices of its subnets in the graph; false: one is not there now. */
static bool static_nets(const struct rct_as *as, const struct rte_config_static *route,
			uint32_t nets[RTE_HOPS_MAX + 1])
{
	const struct rct_net *net;
	uint32_t i, k;

	for (i = 0; i < route->subnets; i++) {
		nets[i] = RTE_NONE;
		for (k = 0; k < as->nets; k++) {
			net = &as->net[k];
			/* Ids of WANs are the same for everybody. */
			if (net->id.subnet == route->subnet[i].subnet &&
			    (route->subnet[i].as == RTE_AS_WAN) ==
				    (net->id.scope_as != as->as))
				nets[i] = net->at;
		}
		if (nets[i] == RTE_NONE)
			return false;
	}
	return true;
}

/* Of routers that have failed nobody knows the static routes. */
int rct_static_find(const struct rct_as *as, const struct rte_ends *ends,
		    const struct rct_net *from, const struct rct_net *to,
		    struct rte_route *route)
{
	const struct rte_config_router *router;
	uint32_t nets[RTE_HOPS_MAX + 1], i, k, count;
	int ret = 0;

	for (i = 0; i < as->routers && !ret; i++) {
		router = &as->router[i]->config->router;
		for (k = 0; k < router->routes && !as->router[i]->down && !ret; k++) {
			count = router->route[k].subnets;
			if (static_nets(as, &router->route[k], nets) &&
			    nets[0] == from->at && nets[count - 1] == to->at)
				ret = rte_paths_along(as->graph, ends, nets, count,
						      route);
		}
	}
	return ret;
}

void rct_pair_fix(struct rct_pair *pair, const struct rte_route *fixed, uint32_t count)
{
	uint32_t at = 0;

	while (at < pair->routes &&
	       rte_route_compare(pair->as->graph, fixed, &pair->route[at]))
		at++;
	if (at == pair->routes && pair->routes < count)
		pair->routes++;
	if (at == count)
		at--;
	memmove(&pair->route[1], &pair->route[0], at * sizeof(*fixed));
	pair->route[0] = *fixed;
	pair->fixed = true;
}

int rct_row_open(const struct rct_as *as, const struct rct_net *from, uint32_t count,
		 struct rte_spf **spf)
{
	*spf = NULL;
	if (count > 1 || from->at == RTE_NONE)
		return 0;
	*spf = rte_spf_open(as->graph, from->at);
	return *spf ? 0 : -FI_ENOMEM;
}

void rct_row_close(struct rte_spf *spf)
{
	if (spf)
		rte_spf_close(spf);
}

int rct_pair_find(const struct rct_as *as, const struct rte_ends *ends,
		  const struct rct_net *from, const struct rct_net *to,
		  const struct rte_spf *spf, uint32_t count, struct rct_pair *pair)
{
	struct rte_route fixed;
	int ret;

	pair->as = as;
	pair->from = from;
	pair->to = to;
	pair->routes = 0;
	pair->fixed = false;
	if (!rct_pair_makes_sense(as, from, to) || from->at == RTE_NONE ||
	    to->at == RTE_NONE)
		return 0;
	if (spf)
		ret = !rte_spf_best(spf, &to->at, 1, pair->route);
	else
		ret = rte_paths_by(as->graph, ends, from->at, &to->at, 1, pair->route,
				   count);
	if (ret < 0)
		return ret;
	pair->routes = (uint32_t)ret;
	ret = rct_static_find(as, ends, from, to, &fixed);
	if (ret > 0)
		rct_pair_fix(pair, &fixed, count);
	return ret < 0 ? ret : 0;
}

const struct rct_net *rct_route_bottleneck(const struct rct_as *as,
					   const struct rte_route *route)
{
	const struct rct_net *slowest = rct_as_net_at(as, route->net[0]), *net;
	uint32_t i;

	for (i = 1; i <= route->routers; i++) {
		net = rct_as_net_at(as, route->net[i]);
		if (net->rate < slowest->rate)
			slowest = net;
	}
	return slowest;
}

const char *rct_pair_why_not(const struct rct_as *as, const struct rct_net *from,
			     const struct rct_net *to)
{
	if (from->down || to->down)
		return "a subnet has failed";
	if (from->at == RTE_NONE)
		return "no router is on the first subnet";
	if (to->at == RTE_NONE)
		return "no router is on the last subnet";
	return "no routers lead from one to the other";
}

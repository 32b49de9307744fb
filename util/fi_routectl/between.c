/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>

#include "sim.h"

/* Does a router of the AS see that device on its WAN? */
static bool as_meets(const struct rct_sim *sim, const struct rct_as *as,
		     const struct rte_config_device *device)
{
	const struct rte_config_device *its;
	uint32_t i, k;

	for (i = 0; i < as->routers; i++) {
		for (k = 0; k < as->router[i]->config->devices; k++) {
			its = &as->router[i]->config->device[k];
			if (its->at.as == RTE_AS_WAN &&
			    its->at.subnet == device->at.subnet &&
			    rct_port_up(sim, as->router[i], k) &&
			    rct_ports_meet(device, its))
				return true;
		}
	}
	return false;
}

/* Do border routers of both see each other on this WAN of the first? */
static bool borders_meet(const struct rct_sim *sim, const struct rct_as *as,
			 const struct rct_as *other, const struct rct_net *net)
{
	const struct rte_config_device *device;
	uint32_t i, k;

	for (i = 0; i < as->routers; i++) {
		for (k = 0; k < as->router[i]->config->devices; k++) {
			device = &as->router[i]->config->device[k];
			if (device->routable &&
			    rct_as_net(as, rct_net_id(device)) == net &&
			    rct_port_up(sim, as->router[i], k) &&
			    as_meets(sim, other, device))
				return true;
		}
	}
	return false;
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

int rct_between_find(const struct rct_sim *sim, const struct rct_as *from_as,
		     const struct rct_net *from, const struct rct_as *to_as,
		     const struct rct_net *to, uint32_t count,
		     struct rct_between *between)
{
	uint32_t exits[RTE_LINKS_MAX], exit_count = 0, i;
	const struct rct_net *last;
	int ret;

	*between = (struct rct_between){
		.from_as = from_as,
		.to_as = to_as,
		.from = from,
		.to = to,
		.out = {.as = from_as, .from = from},
		.in = {.as = to_as, .to = to},
	};
	for (i = 0; i < from_as->nets && exit_count < RTE_LINKS_MAX; i++)
		if (from_as->net[i].at != RTE_NONE &&
		    net_of_other(from_as, to_as, &from_as->net[i]) &&
		    borders_meet(sim, from_as, to_as, &from_as->net[i]))
			exits[exit_count++] = from_as->net[i].at;
	if (from->at == RTE_NONE || !exit_count)
		return 0;
	ret = rte_paths(from_as->graph, from->at, exits, exit_count, between->out.route,
			count);
	if (ret <= 0)
		return ret;
	between->out.routes = (uint32_t)ret;
	last = rct_as_net_at(from_as,
			     between->out.route[0].net[between->out.route[0].routers]);
	return rct_pair_find(to_as, net_of_other(from_as, to_as, last), to, NULL, 1,
			     &between->in);
}

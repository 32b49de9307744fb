/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "sim.h"

#define LIFETIME 30000u /* ms; nothing ages here */

struct rte_net_id rct_net_id(const struct rte_config_device *device)
{
	struct rte_net_id id = {.scope_as = device->at.as, .subnet = device->at.subnet};

	if (id.scope_as == RTE_AS_WAN)
		id.scope_as = device->peer_as ? device->peer_as : RTE_AS_WAN;
	return id;
}

struct rct_as *rct_sim_as(const struct rct_sim *sim, uint32_t as)
{
	uint32_t i;

	for (i = 0; i < sim->ases; i++)
		if (sim->as[i].as == as)
			return &sim->as[i];
	return NULL;
}

struct rct_net *rct_as_net(const struct rct_as *as, struct rte_net_id id)
{
	uint32_t i;

	for (i = 0; i < as->nets; i++)
		if (as->net[i].id.scope_as == id.scope_as &&
		    as->net[i].id.subnet == id.subnet)
			return &as->net[i];
	return NULL;
}

const struct rct_net *rct_as_net_at(const struct rct_as *as, uint32_t at)
{
	return rct_as_net(as, rte_graph_net_id(as->graph, at));
}

const struct rct_router *rct_as_router(const struct rct_as *as, uint32_t at)
{
	const uint64_t id = rte_graph_router_id(as->graph, at);
	uint32_t i = 0;

	while (as->router[i]->config->router.id != id)
		i++;
	return as->router[i];
}

/* --- From configurations --- */

/* Subnets of the AS, public WANs, private ones. */
static int net_kind(const struct rct_as *as, const struct rct_net *net)
{
	if (net->id.scope_as == as->as)
		return 0;
	return net->id.scope_as == RTE_AS_WAN ? 1 : 2;
}

static bool net_before(const struct rct_as *as, const struct rct_net *a,
		       const struct rct_net *b)
{
	const int x = net_kind(as, a), y = net_kind(as, b);

	if (x != y)
		return x < y;
	if (a->id.scope_as != b->id.scope_as)
		return a->id.scope_as < b->id.scope_as;
	return a->id.subnet < b->id.subnet;
}

static int as_add_net(struct rct_as *as, const struct rte_config_device *device)
{
	struct rct_net *net = rct_as_net(as, rct_net_id(device)), *grown, new;
	uint32_t at;

	if (net) {
		if (device->rate && (!net->rate || device->rate < net->rate))
			net->rate = device->rate;
		return 0;
	}
	grown = realloc(as->net, (as->nets + 1) * sizeof(*grown));
	if (!grown)
		return -FI_ENOMEM;
	as->net = grown;
	new = (struct rct_net){.id = rct_net_id(device),
			       .rate = device->rate,
			       .at = RTE_NONE};
	for (at = as->nets; at && net_before(as, &new, &grown[at - 1]); at--)
		grown[at] = grown[at - 1];
	grown[at] = new;
	as->nets++;
	return 0;
}

/* The AS of that number, made if there is none yet; NULL: no memory. */
static struct rct_as *sim_as(struct rct_sim *sim, uint32_t number)
{
	struct rct_as *as = rct_sim_as(sim, number), *grown;
	uint32_t at;

	if (as)
		return as;
	grown = realloc(sim->as, (sim->ases + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	sim->as = grown;
	for (at = sim->ases++; at && number < grown[at - 1].as; at--)
		grown[at] = grown[at - 1];
	grown[at] = (struct rct_as){.as = number};
	return &grown[at];
}

static int as_add_router(struct rct_as *as, struct rct_router *router)
{
	const struct rte_config *config = router->config;
	struct rct_router **grown;
	uint32_t at;

	grown = realloc(as->router, (as->routers + 1) * sizeof(struct rct_router *));
	if (!grown)
		return -FI_ENOMEM;
	as->router = grown;
	as->policy = config->router.policy;
	for (at = as->routers++;
	     at && config->router.id < grown[at - 1]->config->router.id; at--)
		grown[at] = grown[at - 1];
	grown[at] = router;
	return 0;
}

/* A client's subnet is there, even if no router is on it. */
static int sim_add(struct rct_sim *sim, const struct rte_config *config)
{
	const struct rte_config_device *device;
	struct rct_as *as;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < config->devices && !ret; i++) {
		device = &config->device[i];
		if (!device->routable)
			continue;
		if (config->is_router && !device->rate) {
			fprintf(stderr, "%s:%u: %s needs a rate to be simulated\n",
				config->file, device->line, device->name);
			return -FI_EINVAL;
		}
		as = sim_as(sim, config->is_router ? config->router.as : device->at.as);
		ret = as ? as_add_net(as, device) : -FI_ENOMEM;
	}
	if (!ret && config->is_router) {
		sim->router[sim->routers].config = config;
		as = sim_as(sim, config->router.as);
		ret = as ? as_add_router(as, &sim->router[sim->routers++]) : -FI_ENOMEM;
	}
	return ret;
}

static void as_name_nets(struct rct_as *as)
{
	uint32_t i, k, same;

	for (i = 0; i < as->nets; i++) {
		for (k = 0, same = 0; k < as->nets; k++)
			same += as->net[k].id.scope_as == as->net[i].id.scope_as;
		as->net[i].nameless = same == 1;
	}
}

int rct_sim_open(struct rct_sim *sim, struct rte_config **config, uint32_t configs)
{
	uint32_t i;
	int ret = 0;

	*sim = (struct rct_sim){.config = config, .configs = configs};
	sim->router = calloc(configs + 1, sizeof(*sim->router));
	if (!sim->router)
		return -FI_ENOMEM;
	for (i = 0; i < configs && !ret; i++)
		ret = sim_add(sim, config[i]);
	for (i = 0; i < sim->ases; i++)
		as_name_nets(&sim->as[i]);
	if (ret)
		rct_sim_close(sim);
	return ret;
}

void rct_sim_close(struct rct_sim *sim)
{
	uint32_t i;

	for (i = 0; i < sim->ases; i++) {
		free(sim->as[i].router);
		free(sim->as[i].net);
		if (sim->as[i].graph)
			rte_graph_close(sim->as[i].graph);
	}
	free(sim->as);
	free(sim->router);
	*sim = (struct rct_sim){0};
}

/* --- What routers would say of themselves --- */

bool rct_port_up(const struct rct_sim *sim, const struct rct_router *router,
		 uint32_t device)
{
	const struct rte_config *config = router->config;
	const struct rct_as *as = rct_sim_as(sim, config->router.as);

	return config->device[device].routable && !router->down &&
	       !(router->port_down >> device & 1) &&
	       !rct_as_net(as, rct_net_id(&config->device[device]))->down;
}

static bool device_names(const struct rte_config_device *device,
			 const struct rte_config_device *other)
{
	uint32_t i;

	for (i = 0; other->uri.text && i < device->routers; i++)
		if (rte_uri_same(&device->router[i].uri, &other->uri.uri))
			return true;
	return false;
}

bool rct_ports_meet(const struct rte_config_device *a, const struct rte_config_device *b)
{
	return device_names(a, b) || device_names(b, a);
}

/* Its device on the subnet of that one, or RTE_NONE. */
static uint32_t port_beside(const struct rct_router *other,
			    const struct rte_config_device *device)
{
	const struct rte_net_id id = rct_net_id(device);
	struct rte_net_id its;
	uint32_t i;

	for (i = 0; i < other->config->devices; i++) {
		its = rct_net_id(&other->config->device[i]);
		if (other->config->device[i].routable && its.subnet == id.subnet &&
		    its.scope_as == id.scope_as)
			return i;
	}
	return RTE_NONE;
}

/* One of both can be reached, and has been, since they have heard of each other. */
static bool router_meets(const struct rct_sim *sim, const struct rct_router *router,
			 const struct rct_router *other,
			 const struct rte_config_device *device)
{
	const uint32_t at = port_beside(other, device);

	return at != RTE_NONE && router->group == other->group &&
	       rct_port_up(sim, other, at) &&
	       (other->config->device[at].uri.text || device->uri.text);
}

/* Does one name the other's address? What has failed since does not matter. */
static bool router_names(const struct rct_router *router, const struct rct_router *other)
{
	const struct rte_config_device *device;
	uint32_t i, at;

	for (i = 0; i < router->config->devices; i++) {
		device = &router->config->device[i];
		at = device->routable ? port_beside(other, device) : RTE_NONE;
		if (at != RTE_NONE && rct_ports_meet(device, &other->config->device[at]))
			return true;
	}
	return false;
}

/* Who names whom makes groups; two of which a pair names each other become one. */
static void as_group(struct rct_as *as)
{
	uint32_t i, k, m, old;

	for (i = 0; i < as->routers; i++)
		as->router[i]->group = i;
	for (i = 0; i < as->routers; i++) {
		for (k = 0; k < i; k++) {
			old = as->router[k]->group;
			if (old == as->router[i]->group ||
			    !router_names(as->router[i], as->router[k]))
				continue;
			for (m = 0; m < as->routers; m++)
				if (as->router[m]->group == old)
					as->router[m]->group = as->router[i]->group;
		}
	}
}

/* neighbour has room for every router of the AS. Ids come out in order. */
static struct rte_link port_link(const struct rct_sim *sim, const struct rct_as *as,
				 const struct rct_router *router, uint32_t device,
				 uint64_t *neighbour)
{
	const struct rte_config_device *d = &router->config->device[device];
	const struct rte_net_id id = rct_net_id(d);
	struct rte_link link = {
		.subnet = id.subnet,
		.scope_as = id.scope_as,
		.rate = d->rate,
		.latency = d->latency,
		.cost = d->cost,
		.caps = d->caps,
		.frag_max = d->frag,
		.up = rct_port_up(sim, router, device),
		.neighbour = neighbour,
		.uri = d->uri.text ? d->uri.text : "",
	};
	uint32_t i;

	for (i = 0; i < as->routers && link.up && link.neighbours < RTE_NEIGHBOURS_MAX;
	     i++)
		if (as->router[i] != router &&
		    router_meets(sim, router, as->router[i], d))
			neighbour[link.neighbours++] = as->router[i]->config->router.id;
	return link;
}

static int graph_put(const struct rct_sim *sim, struct rct_as *as,
		     const struct rct_router *router, uint64_t *neighbours)
{
	static struct rte_link links[RTE_LINKS_MAX];
	struct rte_lsa lsa = {
		.as = as->as,
		.router = router->config->router.id,
		.epoch = 1,
		.seq = 1,
		.lifetime = LIFETIME,
		.link = links,
	};
	uint32_t i;

	if (router->down)
		return 0;
	for (i = 0; i < router->config->devices; i++)
		if (router->config->device[i].routable) {
			links[lsa.links] = port_link(sim, as, router, i,
						     neighbours + i * as->routers);
			lsa.links++;
		}
	return rte_graph_put(as->graph, &lsa);
}

static int as_run(const struct rct_sim *sim, struct rct_as *as)
{
	uint64_t *neighbours =
		calloc((size_t)RTE_LINKS_MAX * (as->routers + 1), sizeof(*neighbours));
	uint32_t i;
	int ret = 0;

	as_group(as);
	as->graph = rte_graph_open(as->as, &as->policy);
	if (!as->graph || !neighbours)
		ret = -FI_ENOMEM;
	for (i = 0; i < as->routers && !ret; i++)
		ret = graph_put(sim, as, as->router[i], neighbours);
	for (i = 0; i < as->nets && !ret; i++)
		as->net[i].at = rte_graph_net(as->graph, as->net[i].id.scope_as,
					      as->net[i].id.subnet);
	free(neighbours);
	return ret;
}

int rct_sim_run(struct rct_sim *sim, const struct rte_policy *policy)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < sim->ases && !ret; i++) {
		if (policy)
			sim->as[i].policy = *policy;
		ret = as_run(sim, &sim->as[i]);
	}
	return ret;
}

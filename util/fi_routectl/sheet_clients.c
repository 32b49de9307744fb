/* SPDX-License-Identifier: BSD-2-Clause */
/* What a router does with the clients that know it: some it sends to a better one. */
#include <stdio.h>
#include <rdma/fi_errno.h>

#include "show.h"

/* Who of the AS listens there, with a device that works on that subnet; or NULL. */
static const struct rct_router *router_at(const struct rct_sim *sim,
					  const struct rct_as *as,
					  const struct rte_uri *uri,
					  const struct rct_net *net)
{
	const struct rte_config_device *device;
	uint32_t i, k;

	for (i = 0; i < as->routers; i++) {
		for (k = 0; k < as->router[i]->config->devices; k++) {
			device = &as->router[i]->config->device[k];
			if (device->uri.text && rte_uri_same(&device->uri.uri, uri) &&
			    rct_port_up(sim, as->router[i], k) &&
			    rct_as_net(as, rct_net_id(device)) == net)
				return as->router[i];
		}
	}
	return NULL;
}

/* The static route holds: an enum rte_choice; -FI_ENOENT: there is none; -FI_ENOMEM. */
static int ask_static(const struct rct_as *as, uint32_t router,
		      const struct rct_net *from, const struct rct_net *to,
		      struct rte_route *route)
{
	const struct rte_ends ends = {.first = &router, .firsts = 1};
	struct rte_route its;
	int ret = rct_static_find(as, NULL, from, to, route);

	if (ret <= 0)
		return ret ? ret : -FI_ENOENT;
	ret = rct_static_find(as, &ends, from, to, &its);
	if (ret < 0)
		return ret;
	return ret && !rte_cost_compare(&as->policy, &its.cost, &route->cost)
		       ? RTE_CHOICE_SERVE
		       : RTE_CHOICE_REDIRECT;
}

/* An enum rte_choice, or -FI_ENOENT, -FI_ENOMEM. */
static int ask(const struct rct_as *as, const struct rct_router *router,
	       const struct rct_net *from, const struct rct_net *to,
	       struct rte_route *route)
{
	uint32_t at;
	int ret;

	if (from->at == RTE_NONE || to->at == RTE_NONE)
		return -FI_ENOENT;
	at = rte_graph_router(as->graph, router->config->router.id);
	ret = ask_static(as, at, from, to, route);
	if (ret != -FI_ENOENT)
		return ret;
	return rte_redirect(as->graph, at, NULL, from->at, &to->at, 1, 0, route);
}

static int print_answers(const struct rct_as *as, const struct rct_router *router,
			 const struct rct_net *from, const struct rct_options *options)
{
	char title[RCT_NAME_SIZE];
	struct rte_route route;
	const struct rct_net *to;
	uint32_t i;
	int ret;

	for (i = 0; i < as->nets; i++) {
		to = &as->net[i];
		if (!rct_pair_makes_sense(as, from, to) ||
		    !rct_wanted(options->has_to, options->to, as, to))
			continue;
		ret = ask(as, router, from, to, &route);
		if (ret == -FI_ENOMEM)
			return ret;
		printf(" %s", rct_net_title(to, as->as, title));
		if (ret == RTE_CHOICE_REDIRECT)
			printf(" (sent to %s)",
			       rct_as_router(as, route.router[0])->config->router.name);
		else if (ret < 0)
			printf(" (no route)");
	}
	putchar('\n');
	return 0;
}

static int print_device(const struct rct_sim *sim, const struct rct_as *as,
			const struct rte_config *config,
			const struct rte_config_device *device,
			const struct rct_options *options)
{
	const struct rct_net *from = rct_as_net(as, rct_net_id(device));
	const struct rct_router *router;
	char title[RCT_NAME_SIZE];
	uint32_t i;
	int ret = 0;

	if (!from || !rct_wanted(options->has_from, options->from, as, from))
		return 0;
	for (i = 0; i < device->routers && !ret; i++) {
		router = router_at(sim, as, &device->router[i].uri, from);
		printf("Client %s, %s on %s, by %s:", config->file, device->name,
		       rct_net_title(from, as->as, title),
		       router ? router->config->router.name : device->router[i].text);
		if (router)
			ret = print_answers(as, router, from, options);
		else
			printf(" does not answer\n");
	}
	return ret;
}

int rct_sheet_clients(const struct rct_sim *sim, const struct rct_as *as,
		      const struct rct_options *options)
{
	const struct rte_config *config;
	uint32_t i, k, any = 0;
	int ret = 0;

	for (i = 0; i < sim->configs; i++) {
		config = sim->config[i];
		for (k = 0; k < config->devices && !config->is_router && !ret; k++) {
			if (!config->device[k].routable ||
			    config->device[k].at.as != as->as)
				continue;
			ret = print_device(sim, as, config, &config->device[k], options);
			any++;
		}
	}
	if (any)
		putchar('\n');
	return ret;
}

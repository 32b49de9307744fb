/* SPDX-License-Identifier: BSD-2-Clause */
/* What has failed in a simulation. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "sim.h"

/* The whole text is a number. */
static bool number(const char *text, size_t len, uint64_t most, uint64_t *value)
{
	char copy[24], *end;

	if (!len || len >= sizeof(copy) || text[0] < '0' || text[0] > '9')
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	errno = 0;
	*value = strtoull(copy, &end, 0);
	return !*end && !errno && *value <= most;
}

/* "1" is a subnet of that AS, "0:40" a WAN. */
static bool subnet(const char *text, uint32_t as, struct rte_subnet *subnet)
{
	const char *colon = strchr(text, ':');
	uint64_t value;

	subnet->as = as;
	if (colon) {
		if (!number(text, (size_t)(colon - text), UINT32_MAX, &value))
			return false;
		subnet->as = (uint32_t)value;
		text = colon + 1;
	}
	if (!number(text, strlen(text), UINT32_MAX, &value))
		return false;
	subnet->subnet = (uint32_t)value;
	return true;
}

static bool is_router(const struct rct_router *router, const char *text, size_t len)
{
	const struct rte_config_router *its = &router->config->router;
	uint64_t id;

	if (strlen(its->name) == len && !memcmp(its->name, text, len))
		return true;
	return number(text, len, UINT64_MAX, &id) && its->id == id;
}

/* All devices of the routers on it, whatever AS they are in. */
static bool fail_net(struct rct_sim *sim, const struct rte_subnet *at)
{
	const struct rte_config_device *device;
	bool found = false;
	uint32_t i, k;

	for (i = 0; i < sim->routers; i++) {
		for (k = 0; k < sim->router[i].config->devices; k++) {
			device = &sim->router[i].config->device[k];
			if (!device->routable || device->at.as != at->as ||
			    device->at.subnet != at->subnet)
				continue;
			rct_as_net(rct_sim_as(sim, sim->router[i].config->router.as),
				   rct_net_id(device))
				->down = true;
			found = true;
		}
	}
	return found;
}

static bool fail_port(struct rct_router *router, const struct rte_subnet *at)
{
	const struct rte_config_device *device;
	bool found = false;
	uint32_t i;

	for (i = 0; i < router->config->devices; i++) {
		device = &router->config->device[i];
		if (device->routable && device->at.as == at->as &&
		    device->at.subnet == at->subnet) {
			router->port_down |= UINT64_C(1) << i;
			found = true;
		}
	}
	return found;
}

static int wrong(const char *what, const char *why)
{
	fprintf(stderr, "fi_routectl: --fail %s: %s\n", what, why);
	return -FI_EINVAL;
}

/* Routers of that name; more than one is not clear. NULL, and it is printed. */
static struct rct_router *router_find(struct rct_sim *sim, const char *what, size_t len)
{
	struct rct_router *found = NULL;
	uint32_t i;

	for (i = 0; i < sim->routers; i++) {
		if (!is_router(&sim->router[i], what, len))
			continue;
		if (found) {
			wrong(what, "several AS have a router of that name");
			return NULL;
		}
		found = &sim->router[i];
	}
	if (!found)
		wrong(what, "there is no router of that name");
	return found;
}

/* Names may hold / and : as well. */
static bool is_name(const struct rct_sim *sim, const char *what)
{
	uint32_t i;

	for (i = 0; i < sim->routers; i++)
		if (!strcmp(sim->router[i].config->router.name, what))
			return true;
	return false;
}

int rct_sim_fail(struct rct_sim *sim, const char *what)
{
	const bool name = is_name(sim, what);
	const char *slash = name ? NULL : strrchr(what, '/');
	struct rct_router *router;
	struct rte_subnet at;

	if (!name && !slash && strchr(what, ':')) {
		if (subnet(what, 0, &at) && fail_net(sim, &at))
			return 0;
		return wrong(what, "there is no router on such a subnet (AS:SUBNET, AS 0 "
				   "for a WAN)");
	}
	router = router_find(sim, what, slash ? (size_t)(slash - what) : strlen(what));
	if (!router)
		return -FI_EINVAL;
	if (!slash) {
		router->down = true;
		return 0;
	}
	if (subnet(slash + 1, router->config->router.as, &at) && fail_port(router, &at))
		return 0;
	return wrong(what,
		     "the router has no device on such a subnet (\"1\", or \"0:40\" "
		     "for a WAN)");
}

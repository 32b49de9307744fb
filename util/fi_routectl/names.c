/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim.h"

#define MILLI 1000u

const char *rct_net_name(const struct rct_net *net, uint32_t as, char name[RCT_NAME_SIZE])
{
	char peer[16] = "*";

	if (net->id.scope_as == as) {
		snprintf(name, RCT_NAME_SIZE, "%u", net->id.subnet);
		return name;
	}
	if (net->id.scope_as != RTE_AS_WAN)
		snprintf(peer, sizeof(peer), "%u", net->id.scope_as);
	if (net->nameless)
		snprintf(name, RCT_NAME_SIZE, "W%s", peer);
	else
		snprintf(name, RCT_NAME_SIZE, "W%s:%u", peer, net->id.subnet);
	return name;
}

const char *rct_net_title(const struct rct_net *net, uint32_t as,
			  char name[RCT_NAME_SIZE])
{
	if (net->id.scope_as != as)
		return rct_net_name(net, as, name);
	snprintf(name, RCT_NAME_SIZE, "SN%u", net->id.subnet);
	return name;
}

/* A number of thousandths, without zeros at its end. */
static int thousandths(uint64_t value, char *text, size_t size)
{
	const unsigned int rest = (unsigned int)(value % MILLI);

	if (!rest)
		return snprintf(text, size, "%" PRIu64, value / MILLI);
	if (rest % 100 == 0)
		return snprintf(text, size, "%" PRIu64 ".%u", value / MILLI, rest / 100);
	if (rest % 10 == 0)
		return snprintf(text, size, "%" PRIu64 ".%02u", value / MILLI, rest / 10);
	return snprintf(text, size, "%" PRIu64 ".%03u", value / MILLI, rest);
}

const char *rct_rate_text(uint64_t rate, char text[RCT_NAME_SIZE])
{
	static const struct {
		uint64_t unit;
		const char *name;
	} units[] = {
		{1000000000000, "Tb/s"},
		{1000000000, "Gb/s"},
		{1000000, "Mb/s"},
		{1000, "kb/s"},
	};
	char number[32];
	size_t i = 0;

	while (i + 1 < sizeof(units) / sizeof(units[0]) && rate < units[i].unit)
		i++;
	thousandths(rate / (units[i].unit / MILLI), number, sizeof(number));
	snprintf(text, RCT_NAME_SIZE, "%s %s", number, units[i].name);
	return text;
}

const char *rct_cost_text(const struct rte_policy *policy, const struct rte_cost *cost,
			  char text[RCT_NAME_SIZE])
{
	size_t len = 0;
	uint32_t i;

	text[0] = '\0';
	for (i = 0; i < policy->metrics && len + 1 < RCT_NAME_SIZE; i++) {
		if (i)
			text[len++] = '/';
		switch (policy->metric[i]) {
		case RTE_HOPS:
		case RTE_NATIVE:
			len += (size_t)snprintf(text + len, RCT_NAME_SIZE - len,
						"%" PRIu64, cost->part[i]);
			break;
		default: /* milli-units, or ns as us */
			len += (size_t)thousandths(cost->part[i], text + len,
						   RCT_NAME_SIZE - len);
		}
	}
	return text;
}

const char *rct_policy_text(const struct rte_policy *policy, char text[RCT_NAME_SIZE])
{
	size_t len = 0;
	uint32_t i;

	text[0] = '\0';
	for (i = 0; i < policy->metrics && len < RCT_NAME_SIZE; i++)
		len += (size_t)snprintf(text + len, RCT_NAME_SIZE - len, "%s%s",
					i ? ", " : "",
					rte_metric_name(policy->metric[i]));
	return text;
}

const char *rct_route_nets(const struct rct_as *as, const struct rte_route *route,
			   char text[RCT_ROUTE_SIZE])
{
	char name[RCT_NAME_SIZE];
	size_t len = 0;
	uint32_t i;

	for (i = 0; i <= route->routers; i++)
		len += (size_t)snprintf(text + len, RCT_ROUTE_SIZE - len, "%s%s",
					i ? "," : "",
					rct_net_name(rct_as_net_at(as, route->net[i]),
						     as->as, name));
	return text;
}

const char *rct_route_routers(const struct rct_as *as, const struct rte_route *route,
			      char text[RCT_ROUTE_SIZE])
{
	size_t len = 0;
	uint32_t i;

	for (i = 0; i < route->routers; i++)
		len += (size_t)snprintf(
			text + len, RCT_ROUTE_SIZE - len, "%s%s", i ? "," : "",
			rct_as_router(as, route->router[i])->config->router.name);
	return text;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The same as JSON: fi_routectl(1) names the members. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <rdma/fi_errno.h>

#include "progress.h"
#include "show.h"

/* An array or object takes no notice of a member that there was no memory for. */
static bool no_memory;

static void *json_alloc(size_t size)
{
	void *memory = malloc(size);

	no_memory |= !memory;
	return memory;
}

/* A number, which to jansson is signed; text, if it is higher. */
static json_t *id_json(uint64_t id)
{
	return id > INT64_MAX ? json_sprintf("%" PRIu64, id)
			      : json_integer((json_int_t)id);
}

/* "3:1", or "0:40" for a WAN. */
static json_t *net_json(const struct rct_as *as, const struct rct_net *net)
{
	return json_sprintf("%u:%u",
			    net->id.scope_as == as->as ? as->as : (uint32_t)RTE_AS_WAN,
			    net->id.subnet);
}

static json_t *cost_json(const struct rte_policy *policy, const struct rte_cost *cost)
{
	json_t *object = json_object();
	uint32_t i;

	for (i = 0; i < policy->metrics; i++)
		json_object_set_new(object, rte_metric_name(policy->metric[i]),
				    json_integer((json_int_t)cost->part[i]));
	json_object_set_new(object, "hops", json_integer(cost->hops));
	return object;
}

static json_t *route_json(const struct rct_as *as, const struct rte_route *route,
			  bool fixed)
{
	const struct rct_net *slowest = rct_route_bottleneck(as, route);
	json_t *subnets = json_array(), *routers = json_array();
	uint32_t i;

	for (i = 0; i <= route->routers; i++)
		json_array_append_new(subnets,
				      net_json(as, rct_as_net_at(as, route->net[i])));
	for (i = 0; i < route->routers; i++)
		json_array_append_new(routers,
				      json_string(rct_as_router(as, route->router[i])
							  ->config->router.name));
	return json_pack("{s:o, s:o, s:o, s:b, s:{s:o, s:I}}", "subnets", subnets,
			 "routers", routers, "cost", cost_json(&as->policy, &route->cost),
			 "static", fixed, "bottleneck", "subnet", net_json(as, slowest),
			 "rate", (json_int_t)slowest->rate);
}

static json_t *routes_json(const struct rct_pair *pair)
{
	json_t *routes = json_array();
	uint32_t i;

	for (i = 0; i < pair->routes; i++)
		json_array_append_new(routes, route_json(pair->as, &pair->route[i],
							 !i && pair->fixed));
	return routes;
}

static json_t *pair_json(const struct rct_pair *pair)
{
	json_t *object =
		json_pack("{s:o, s:o, s:o}", "from", net_json(pair->as, pair->from), "to",
			  net_json(pair->as, pair->to), "routes", routes_json(pair));

	if (!pair->routes)
		json_object_set_new(object, "reason",
				    json_string(rct_pair_why_not(pair->as, pair->from,
								 pair->to)));
	return object;
}

static json_t *routers_json(const struct rct_as *as)
{
	json_t *routers = json_array();
	uint32_t i;

	for (i = 0; i < as->routers; i++)
		json_array_append_new(routers,
				      json_pack("{s:s, s:o, s:b}", "name",
						as->router[i]->config->router.name, "id",
						id_json(as->router[i]->config->router.id),
						"failed", as->router[i]->down));
	return routers;
}

static json_t *nets_json(const struct rct_as *as)
{
	json_t *nets = json_array();
	char name[RCT_NAME_SIZE];
	uint32_t i;

	for (i = 0; i < as->nets; i++)
		json_array_append_new(nets,
				      json_pack("{s:o, s:s, s:I, s:b}", "subnet",
						net_json(as, &as->net[i]), "name",
						rct_net_title(&as->net[i], as->as, name),
						"rate", (json_int_t)as->net[i].rate,
						"failed", as->net[i].down));
	return nets;
}

static int add_pairs_from(json_t *pairs, const struct rct_as *as,
			  const struct rct_net *from, const struct rct_options *options,
			  struct rct_progress *progress)
{
	struct rct_pair pair;
	struct rte_spf *spf;
	uint32_t i;
	int ret = rct_row_open(as, from, options->alternatives, &spf);

	for (i = 0; i < as->nets && !ret; i++) {
		rct_progress_step(progress);
		if (!rct_pair_makes_sense(as, from, &as->net[i]) ||
		    !rct_wanted(options->has_to, options->to, as, &as->net[i]))
			continue;
		ret = rct_pair_find(as, NULL, from, &as->net[i], spf,
				    options->alternatives, &pair);
		if (!ret)
			json_array_append_new(pairs, pair_json(&pair));
	}
	rct_row_close(spf);
	return ret;
}

static int add_pairs(json_t *pairs, const struct rct_as *as,
		     const struct rct_options *options)
{
	struct rct_progress progress;
	uint32_t i;
	int ret = 0;

	rct_progress_begin(&progress, "pairs of subnets", (uint64_t)as->nets * as->nets);
	for (i = 0; i < as->nets && !ret; i++)
		if (rct_wanted(options->has_from, options->from, as, &as->net[i]))
			ret = add_pairs_from(pairs, as, &as->net[i], options, &progress);
	rct_progress_end(&progress);
	return ret;
}

static int add_as(json_t *ases, const struct rct_as *as,
		  const struct rct_options *options)
{
	json_t *policy = json_array(), *pairs = json_array();
	const int ret = add_pairs(pairs, as, options);
	uint32_t i;

	for (i = 0; i < as->policy.metrics; i++)
		json_array_append_new(policy,
				      json_string(rte_metric_name(as->policy.metric[i])));
	json_array_append_new(ases, json_pack("{s:I, s:o, s:s, s:o, s:o, s:o}", "as",
					      (json_int_t)as->as, "policy", policy,
					      "metric_scale",
					      as->policy.doc_scale ? "doc" : "exact",
					      "routers", routers_json(as), "subnets",
					      nets_json(as), "pairs", pairs));
	return ret;
}

static json_t *between_json(const struct rct_between *between)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "from",
			 net_json(between->from_as, between->from), "to",
			 net_json(between->to_as, between->to), "out",
			 routes_json(&between->out), "in", routes_json(&between->in));
}

static int add_between(json_t *array, const struct rct_sim *sim,
		       const struct rct_as *from, const struct rct_as *to,
		       const struct rct_options *options)
{
	struct rct_between between;
	uint32_t i, k;
	int ret = 0;

	for (i = 0; i < from->nets && !ret; i++) {
		for (k = 0; k < to->nets && !ret; k++) {
			if (from->net[i].id.scope_as != from->as ||
			    to->net[k].id.scope_as != to->as ||
			    !rct_wanted(options->has_from, options->from, from,
					&from->net[i]) ||
			    !rct_wanted(options->has_to, options->to, to, &to->net[k]))
				continue;
			ret = rct_between_find(sim, from, &from->net[i], to, &to->net[k],
					       options->alternatives, &between);
			if (!ret)
				json_array_append_new(array, between_json(&between));
		}
	}
	return ret;
}

int rct_json(const struct rct_sim *sim, const struct rct_options *options)
{
	json_t *ases, *between, *whole;
	uint32_t i, k;
	int ret = 0;

	json_set_alloc_funcs(json_alloc, free);
	ases = json_array();
	between = json_array();
	for (i = 0; i < sim->ases && !ret; i++)
		ret = add_as(ases, &sim->as[i], options);
	for (i = 0; i < sim->ases; i++)
		for (k = 0; k < sim->ases && !ret; k++)
			if (i != k)
				ret = add_between(between, sim, &sim->as[i], &sim->as[k],
						  options);
	whole = json_pack("{s:o, s:o}", "as", ases, "between", between);
	if (!ret && !no_memory)
		json_dumpf(whole, stdout, JSON_INDENT(2));
	/* What cannot be written is told where standard output ends. */
	if (!ret && no_memory)
		ret = -FI_ENOMEM;
	putchar('\n');
	json_decref(whole);
	return ret;
}

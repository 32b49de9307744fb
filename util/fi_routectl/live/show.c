/* SPDX-License-Identifier: BSD-2-Clause */
/* What a router knows of the network: tables of its link states, neighbours and routes.
 */
#include <inttypes.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <string.h>

#include "grid/grid.h"
#include "live.h"
#include "sim.h"

_Static_assert(RCT_SCORE_SIZE == RCT_NAME_SIZE, "a score is rct_cost_text");

/* ms that a router may say nothing. */
#define PATIENCE 10000u
#define LIST_SIZE 1024u

static void heading(struct grd_grid *grid, const char *const *names, uint32_t count)
{
	uint32_t i;

	grd_begin(grid, count);
	for (i = 0; i < count; i++)
		grd_add(grid, names[i]);
}

#define HEADING(grid, ...)                                \
	heading(grid, (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void print_self(const json_t *document)
{
	char id[32];

	printf("%s: router %s of AS %" PRIu64 "\n\n", rct_text(document, "name"),
	       rct_number(document, "router", id), rct_count(document, "as"));
}

static void print_draining(const json_t *document)
{
	const json_t *draining = json_object_get(document, "draining");

	if (!draining)
		return;
	printf("It ");
	rct_print_draining(draining);
	putchar('\n');
}

/* --- Topology --- */

static const char *router_state(const json_t *router)
{
	if (rct_true(router, "withdrawn"))
		return "gone";
	if (rct_true(router, "drain"))
		return "drain";
	return rct_true(router, "border") ? "border" : "";
}

static void add_link(struct grd_grid *grid, const json_t *link)
{
	char rate[RCT_NAME_SIZE], text[LIST_SIZE];

	grd_add(grid, rct_text(link, "subnet"));
	grd_add(grid, rct_true(link, "up") ? "up" : "down");
	grd_add(grid, rct_rate_text(rct_count(link, "rate"), rate));
	grd_add(grid, rct_list(json_object_get(link, "neighbours"), text, LIST_SIZE));
	grd_add(grid, rct_text(link, "uri"));
}

/* A line for each of its links; one at least. */
static void add_router(struct grd_grid *grid, const json_t *router)
{
	const json_t *links = json_object_get(router, "links");
	const size_t count = json_array_size(links);
	char text[32];
	size_t i;

	for (i = 0; i < (count ? count : 1); i++) {
		grd_add(grid, i ? "" : rct_number(router, "router", text));
		grd_add(grid, i ? "" : router_state(router));
		grd_add(grid, i ? "" : rct_number(router, "load", text));
		grd_add(grid, i ? "" : rct_age(rct_count(router, "expires_ms"), text));
		add_link(grid, json_array_get(links, i));
	}
}

int rct_sheet_topology(const json_t *document)
{
	const json_t *router;
	struct grd_grid grid;
	size_t i;

	print_self(document);
	if (rct_count(document, "faults"))
		printf("It injects %" PRIu64
		       " faults on purpose: fi_routectl fault show\n\n",
		       rct_count(document, "faults"));
	print_draining(document);
	HEADING(&grid, "Router", "State", "Load", "Expires", "Subnet", "Link", "Rate",
		"Neighbours", "URI");
	json_array_foreach(json_object_get(document, "routers"), i, router)
		add_router(&grid, router);
	return grd_end(&grid, stdout);
}

void rct_dot_topology(const json_t *document)
{
	const json_t *router, *link;
	char id[32], rate[RCT_NAME_SIZE];
	size_t i, k;

	printf("graph route {\n\tlayout=neato; overlap=false;\n");
	json_array_foreach(json_object_get(document, "routers"), i, router)
	{
		rct_number(router, "router", id);
		printf("\t\"R%s\" [shape=circle%s];\n", id,
		       rct_true(router, "drain") ? ", style=dashed" : "");
		json_array_foreach(json_object_get(router, "links"), k, link)
			printf("\t\"%s\" [shape=box];\n\t\"R%s\" -- \"%s\" "
			       "[label=\"%s\"%s];\n",
			       rct_text(link, "subnet"), id, rct_text(link, "subnet"),
			       rct_rate_text(rct_count(link, "rate"), rate),
			       rct_true(link, "up") ? "" : ", style=dashed");
	}
	printf("}\n");
}

/* --- Adjacencies --- */

int rct_sheet_adjacencies(const json_t *document)
{
	const json_t *one;
	struct grd_grid grid;
	char text[32];
	size_t i;

	print_self(document);
	HEADING(&grid, "Device", "Subnet", "AS", "Router", "Peer", "Age", "Round trip",
		"Received", "Sent", "Queued");
	json_array_foreach(json_object_get(document, "adjacencies"), i, one)
	{
		grd_add(&grid, rct_text(one, "device"));
		grd_add(&grid, rct_text(one, "subnet"));
		grd_add(&grid, rct_number(one, "as", text));
		grd_add(&grid, rct_number(one, "router", text));
		grd_add(&grid, rct_text(one, "peer"));
		grd_add(&grid, rct_age(rct_count(one, "age_ms"), text));
		snprintf(text, sizeof(text), "%" PRIu64 " us",
			 rct_count(one, "trip_ns") / 1000);
		grd_add(&grid, rct_count(one, "trip_ns") ? text : "-");
		grd_add(&grid, rct_number(one, "received", text));
		grd_add(&grid, rct_number(one, "sent", text));
		grd_add(&grid, rct_number(one, "queued_bytes", text));
	}
	return grd_end(&grid, stdout);
}

/* --- Routes --- */

const char *rct_score(const json_t *names, const json_t *cost, char text[RCT_SCORE_SIZE])
{
	struct rte_policy policy = {0};
	struct rte_cost value = {0};
	const char *name, *why;
	char list[LIST_SIZE];
	size_t i;

	if (rte_policy_parse(rct_list(names, list, LIST_SIZE), &policy, &why))
		return "?";
	for (i = 0; i < policy.metrics; i++) {
		name = rte_metric_name(policy.metric[i]);
		value.part[i] = rct_count(cost, name);
	}
	return rct_cost_text(&policy, &value, text);
}

static void add_route(struct grd_grid *grid, const json_t *names, const json_t *to,
		      const json_t *route, const char *kind)
{
	char text[LIST_SIZE], cost[RCT_NAME_SIZE];

	grd_add(grid, rct_text(to, "to"));
	grd_add(grid, kind);
	grd_add(grid,
		route ? rct_score(names, json_object_get(route, "cost"), cost) : "");
	grd_add(grid, rct_list(json_object_get(route, "subnets"), text, LIST_SIZE));
	grd_add(grid, rct_list(json_object_get(route, "routers"), text, LIST_SIZE));
}

int rct_sheet_routes(const json_t *document)
{
	const json_t *names = json_object_get(document, "policy"), *to, *route, *routes;
	struct grd_grid grid;
	size_t i, k;

	print_self(document);
	HEADING(&grid, "To", "", "Cost", "Subnets", "Routers");
	json_array_foreach(json_object_get(document, "routes"), i, to)
	{
		routes = json_object_get(to, "routes");
		if (!json_array_size(routes))
			add_route(&grid, names, to, NULL,
				  rct_true(to, "direct") ? "own" : "no way");
		json_array_foreach(routes, k, route)
			add_route(&grid, names, to, route, k ? "or" : "best");
	}
	return grd_end(&grid, stdout);
}

/* --- All of them --- */

static const struct {
	const char *name;
	int (*sheet)(const json_t *document);
} sheets[] = {
	{"topology", rct_sheet_topology},	{"routes", rct_sheet_routes},
	{"connections", rct_sheet_connections}, {"counters", rct_sheet_counters},
	{"adjacencies", rct_sheet_adjacencies}, {"blocked", rct_sheet_blocked},
};

int rct_live_show(const struct rct_live_options *options, const char *path)
{
	json_t *document =
		rct_ask(path,
			json_pack("{s:s, s:s}", "command", "show", "what", options->what),
			PATIENCE);
	int ret = 0;
	size_t i = 0;

	if (!document)
		return 1;
	while (strcmp(sheets[i].name, options->what))
		i++;
	if (options->json) {
		ret = json_dumpf(document, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (options->dot) {
		rct_dot_topology(document);
	} else {
		ret = sheets[i].sheet(document);
	}
	json_decref(document);
	if (ret == -FI_ENOMEM)
		fprintf(stderr, "fi_routectl: no memory\n");
	return ret ? 1 : 0;
}

int rct_live(int argc, char **argv)
{
	struct rct_live_options options;
	const char *path;

	if (!strcmp(argv[0], "fault"))
		return rct_live_fault(argc, argv);
	if (!strcmp(argv[0], "drain"))
		return rct_live_drain(argc, argv);
	rct_live_options(argc, argv, &options);
	path = rct_live_path(&options);
	if (!path)
		return 1;
	switch (options.command) {
	case RCT_PING:
		return rct_live_ping(&options, path);
	case RCT_TRACE:
		return rct_live_trace(&options, path);
	case RCT_READY:
		return rct_live_ready(&options, path);
	case RCT_TOP:
		return rct_live_top(&options, path);
	case RCT_WHY:
		return rct_live_why(&options, path);
	case RCT_SHOW:
	case RCT_FAULT:
		break;
	}
	return rct_live_show(&options, path);
}

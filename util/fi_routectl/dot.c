/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A picture in the language of dot(1): subnets are boxes, routers circles, an AS is a
 * frame around its own, WANs lie outside. A marked route is thick and red, what has
 * failed is grey and dashed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "show.h"

/* The route that is marked, in one AS or two; counts 0: none. */
struct marked {
	struct rct_pair pair[2];
	uint32_t pairs;
};

/* A subnet of the AS, or a WAN that it is on; NULL: there is none. */
static const struct rct_net *find_net(const struct rct_as *as, struct rte_subnet at)
{
	uint32_t i;

	for (i = 0; as && i < as->nets; i++)
		if (rct_wanted(true, at, as, &as->net[i]))
			return &as->net[i];
	return NULL;
}

static int mark_one(struct marked *marked, const struct rct_as *as,
		    const struct rct_net *from, const struct rct_net *to)
{
	const int ret = rct_pair_find(as, NULL, from, to, NULL, 1, &marked->pair[0]);

	marked->pairs = !ret && marked->pair[0].routes;
	return ret;
}

static int mark_both(struct marked *marked, const struct rct_sim *sim,
		     const struct rct_as *from_as, const struct rct_net *from,
		     const struct rct_as *to_as, const struct rct_net *to)
{
	struct rct_between between;
	const int ret = rct_between_find(sim, from_as, from, to_as, to, 1, &between);

	if (ret || !between.out.routes)
		return ret;
	marked->pair[0] = between.out;
	marked->pair[1] = between.in;
	marked->pairs = between.in.routes ? 2 : 1;
	return 0;
}

/* A WAN is one of the AS at the other end. */
static int mark(struct marked *marked, const struct rct_sim *sim,
		const struct rct_options *options)
{
	const uint32_t a = options->from.as, b = options->to.as;
	const struct rct_as *from_as = rct_sim_as(sim, a == RTE_AS_WAN ? b : a);
	const struct rct_as *to_as = rct_sim_as(sim, b == RTE_AS_WAN ? a : b);
	const struct rct_net *from = find_net(from_as, options->from);
	const struct rct_net *to = find_net(to_as, options->to);
	int ret;

	marked->pairs = 0;
	if (!options->has_from || !options->has_to)
		return 0;
	if (!from || !to)
		return -FI_ENOENT;
	ret = from_as == to_as ? mark_one(marked, from_as, from, to)
			       : mark_both(marked, sim, from_as, from, to_as, to);
	if (!ret && !marked->pairs)
		ret = -FI_ENOENT;
	return ret;
}

static bool net_marked(const struct marked *marked, const struct rct_as *as,
		       const struct rct_net *net)
{
	const struct rte_route *route;
	uint32_t i, k;

	for (i = 0; i < marked->pairs; i++) {
		route = marked->pair[i].route;
		for (k = 0; k <= route->routers && marked->pair[i].as == as; k++)
			if (route->net[k] == net->at)
				return true;
	}
	return false;
}

/* Does the route cross that device: the subnet before the router, or behind it? */
static bool port_marked(const struct marked *marked, const struct rct_as *as,
			const struct rct_router *router, const struct rct_net *net)
{
	const struct rte_route *route;
	uint32_t i, k;

	for (i = 0; i < marked->pairs; i++) {
		route = marked->pair[i].route;
		for (k = 0; k < route->routers && marked->pair[i].as == as; k++)
			if (rct_as_router(as, route->router[k]) == router &&
			    (!net || route->net[k] == net->at ||
			     route->net[k + 1] == net->at))
				return true;
	}
	return false;
}

static const char *look(bool marked, bool failed)
{
	if (failed)
		return "color=gray60, fontcolor=gray60, style=dashed";
	return marked ? "color=\"#c01818\", penwidth=3" : "color=black";
}

/* Names come from configurations: quotes and backslashes would end them. */
static void print_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* One node for a WAN, which every AS that is on it draws alike. */
static void print_net_node(FILE *out, const struct rct_as *as, const struct rct_net *net)
{
	if (net->id.scope_as == as->as)
		fprintf(out, "\"n%u:%u\"", as->as, net->id.subnet);
	else
		fprintf(out, "\"w%u\"", net->id.subnet);
}

static void print_net(FILE *out, const struct rct_as *as, const struct rct_net *net,
		      const struct marked *marked)
{
	char title[RCT_NAME_SIZE], rate[RCT_NAME_SIZE];
	const bool wan = net->id.scope_as != as->as;

	fprintf(out, "\t%s", wan ? "" : "\t");
	print_net_node(out, as, net);
	if (wan)
		snprintf(title, sizeof(title),
			 net->id.scope_as == RTE_AS_WAN ? "WAN %u" : "private WAN %u",
			 net->id.subnet);
	else
		rct_net_title(net, as->as, title);
	fprintf(out, " [shape=%s, label=\"%s%s%s\", %s];\n", wan ? "ellipse" : "box",
		title, net->rate ? "\\n" : "",
		net->rate ? rct_rate_text(net->rate, rate) : "",
		look(net_marked(marked, as, net), net->down));
}

static void print_router(FILE *out, const struct rct_as *as,
			 const struct rct_router *router, const struct marked *marked)
{
	fprintf(out, "\t\t\"r%u:%" PRIu64 "\" [shape=circle, label=", as->as,
		router->config->router.id);
	print_quoted(out, router->config->router.name);
	fprintf(out, ", %s];\n",
		look(port_marked(marked, as, router, NULL), router->down));
}

static void print_ports(FILE *out, const struct rct_sim *sim, const struct rct_as *as,
			const struct rct_router *router, const struct marked *marked)
{
	const struct rte_config_device *device;
	const struct rct_net *net;
	uint32_t i;

	for (i = 0; i < router->config->devices; i++) {
		device = &router->config->device[i];
		if (!device->routable)
			continue;
		net = rct_as_net(as, rct_net_id(device));
		fprintf(out, "\t\"r%u:%" PRIu64 "\" -- ", as->as,
			router->config->router.id);
		print_net_node(out, as, net);
		fprintf(out, " [%s];\n",
			look(port_marked(marked, as, router, net),
			     !rct_port_up(sim, router, i)));
	}
}

static void print_as(FILE *out, const struct rct_as *as, const struct marked *marked)
{
	uint32_t i;

	fprintf(out,
		"\tsubgraph \"cluster_%u\" {\n\t\tlabel=\"AS %u\";\n"
		"\t\tcolor=gray40;\n\t\tstyle=rounded;\n",
		as->as, as->as);
	for (i = 0; i < as->nets; i++)
		if (as->net[i].id.scope_as == as->as)
			print_net(out, as, &as->net[i], marked);
	for (i = 0; i < as->routers; i++)
		print_router(out, as, as->router[i], marked);
	fputs("\t}\n", out);
	for (i = 0; i < as->nets; i++)
		if (as->net[i].id.scope_as != as->as)
			print_net(out, as, &as->net[i], marked);
}

int rct_dot(const struct rct_sim *sim, const struct rct_options *options, FILE *out)
{
	struct marked marked;
	const int ret = mark(&marked, sim, options);
	uint32_t i, k;

	if (ret)
		return ret;
	fputs("graph routes {\n\tgraph [fontname=sans];\n\tnode [fontname=sans];\n", out);
	for (i = 0; i < sim->ases; i++)
		print_as(out, &sim->as[i], &marked);
	for (i = 0; i < sim->ases; i++)
		for (k = 0; k < sim->as[i].routers; k++)
			print_ports(out, sim, &sim->as[i], sim->as[i].router[k], &marked);
	fputs("}\n", out);
	return 0;
}

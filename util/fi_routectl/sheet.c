/* SPDX-License-Identifier: BSD-2-Clause */
/* Of each AS: the table of routes as the document's Table I, and scores. */
#include <inttypes.h>
#include <stdio.h>
#include <rdma/fi_errno.h>

#include "grid/grid.h"
#include "progress.h"
#include "show.h"

/* A table of more subnets is too wide to be read. */
#define TABLE_MAX 16u

bool rct_wanted(bool only, struct rte_subnet what, const struct rct_as *as,
		const struct rct_net *net)
{
	return !only ||
	       (net->id.subnet == what.subnet &&
		(net->id.scope_as == as->as ? what.as == as->as : what.as == RTE_AS_WAN));
}

static bool from_wanted(const struct rct_options *options, const struct rct_as *as,
			const struct rct_net *net)
{
	return rct_wanted(options->has_from, options->from, as, net);
}

static bool to_wanted(const struct rct_options *options, const struct rct_as *as,
		      const struct rct_net *net)
{
	return rct_wanted(options->has_to, options->to, as, net);
}

static void print_head(const struct rct_as *as)
{
	char text[RCT_NAME_SIZE];
	uint32_t i;

	if (as->routers)
		printf("AS %u: %s%s\n", as->as, rct_policy_text(&as->policy, text),
		       as->policy.doc_scale ? ", whole units" : "");
	else
		printf("AS %u\n", as->as);
	printf("Routers:%s", as->routers ? "" : " none");
	for (i = 0; i < as->routers; i++)
		printf(" %s%s", as->router[i]->config->router.name,
		       as->router[i]->down ? " (failed)" : "");
	printf("\nSubnets:");
	for (i = 0; i < as->nets; i++)
		printf(" %s%s", rct_net_title(&as->net[i], as->as, text),
		       as->net[i].down ? " (failed)" : "");
	printf("\n\n");
}

/* Cells of the best routes; "-" where there cannot be one, "none" where there is none. */
static int add_row(struct grd_grid *grid, const struct rct_as *as,
		   const struct rct_net *from)
{
	char route[RCT_ROUTE_SIZE], text[RCT_NAME_SIZE];
	struct rct_pair pair;
	struct rte_spf *spf;
	uint32_t i;
	int ret = rct_row_open(as, from, 1, &spf);

	grd_add(grid, rct_net_title(from, as->as, text));
	for (i = 0; i < as->nets && !ret; i++) {
		ret = rct_pair_find(as, NULL, from, &as->net[i], spf, 1, &pair);
		if (!rct_pair_makes_sense(as, from, &as->net[i]))
			grd_add(grid, "-");
		else if (!pair.routes)
			grd_add(grid, "none");
		else
			grd_add(grid, rct_route_nets(as, pair.route, route));
	}
	rct_row_close(spf);
	return ret;
}

static int print_table(const struct rct_as *as)
{
	char text[RCT_NAME_SIZE];
	struct grd_grid grid;
	uint32_t i;
	int ret = 0;

	grd_begin(&grid, as->nets + 1);
	grd_add(&grid, "");
	for (i = 0; i < as->nets; i++)
		grd_add(&grid, rct_net_title(&as->net[i], as->as, text));
	for (i = 0; i < as->nets && !ret; i++)
		ret = add_row(&grid, as, &as->net[i]);
	if (grd_end(&grid, stdout))
		ret = -FI_ENOMEM;
	putchar('\n');
	return ret;
}

static void add_slowest(struct grd_grid *grid, const struct rct_as *as,
			const struct rte_route *route)
{
	const struct rct_net *net = rct_route_bottleneck(as, route);
	char title[RCT_NAME_SIZE], rate[RCT_NAME_SIZE], text[2 * RCT_NAME_SIZE];

	snprintf(text, sizeof(text), "%s %s", rct_net_title(net, as->as, title),
		 rct_rate_text(net->rate, rate));
	grd_add(grid, text);
}

/* Of each route a row; the first has the names of the subnets. */
static void add_pair(struct grd_grid *grid, const struct rct_pair *pair)
{
	char route[RCT_ROUTE_SIZE], text[RCT_NAME_SIZE];
	const struct rct_as *as = pair->as;
	uint32_t i;

	for (i = 0; i < pair->routes; i++) {
		grd_add(grid, i ? "" : rct_net_title(pair->from, as->as, text));
		grd_add(grid, i ? "" : rct_net_title(pair->to, as->as, text));
		grd_add(grid, rct_cost_text(&as->policy, &pair->route[i].cost, text));
		grd_add(grid, rct_route_nets(as, &pair->route[i], route));
		grd_add(grid, rct_route_routers(as, &pair->route[i], route));
		add_slowest(grid, as, &pair->route[i]);
		grd_add(grid, !i && pair->fixed ? "static" : "");
	}
}

static int print_pairs_from(const struct rct_as *as, const struct rct_net *from,
			    const struct rct_options *options,
			    struct rct_progress *progress, struct grd_grid *grid)
{
	struct rte_spf *spf;
	struct rct_pair pair;
	uint32_t i;
	int ret = rct_row_open(as, from, options->alternatives, &spf);

	for (i = 0; i < as->nets && !ret; i++) {
		rct_progress_step(progress);
		if (!to_wanted(options, as, &as->net[i]))
			continue;
		ret = rct_pair_find(as, NULL, from, &as->net[i], spf,
				    options->alternatives, &pair);
		if (!ret)
			add_pair(grid, &pair);
	}
	rct_row_close(spf);
	return ret;
}

static int print_pairs(const struct rct_as *as, const struct rct_options *options)
{
	static const char *const head[] = {"From",    "To",	    "Cost", "Subnets",
					   "Routers", "Bottleneck", ""};
	struct rct_progress progress;
	struct grd_grid grid;
	uint32_t i;
	int ret = 0;

	grd_begin(&grid, sizeof(head) / sizeof(head[0]));
	for (i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		grd_add(&grid, head[i]);
	rct_progress_begin(&progress, "pairs of subnets", (uint64_t)as->nets * as->nets);
	for (i = 0; i < as->nets && !ret; i++)
		if (from_wanted(options, as, &as->net[i]))
			ret = print_pairs_from(as, &as->net[i], options, &progress,
					       &grid);
	rct_progress_end(&progress);
	if (grd_end(&grid, stdout))
		ret = -FI_ENOMEM;
	putchar('\n');
	return ret;
}

/* The subnets that cannot be reached from one, and why. */
static int print_none_from(const struct rct_as *as, const struct rct_net *from,
			   const struct rct_options *options, bool *any)
{
	char a[RCT_NAME_SIZE], b[RCT_NAME_SIZE];
	const struct rct_net *to;
	struct rct_pair pair;
	struct rte_spf *spf;
	uint32_t i;
	int ret = rct_row_open(as, from, 1, &spf);

	for (i = 0; i < as->nets && !ret; i++) {
		to = &as->net[i];
		if (!to_wanted(options, as, to) || !rct_pair_makes_sense(as, from, to))
			continue;
		ret = rct_pair_find(as, NULL, from, to, spf, 1, &pair);
		if (ret || pair.routes)
			continue;
		printf("No route from %s to %s: %s\n", rct_net_title(from, as->as, a),
		       rct_net_title(to, as->as, b), rct_pair_why_not(as, from, to));
		*any = true;
	}
	rct_row_close(spf);
	return ret;
}

static int print_none(const struct rct_as *as, const struct rct_options *options)
{
	bool any = false;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < as->nets && !ret; i++)
		if (from_wanted(options, as, &as->net[i]))
			ret = print_none_from(as, &as->net[i], options, &any);
	if (any)
		putchar('\n');
	return ret;
}

static int print_as(const struct rct_sim *sim, const struct rct_as *as,
		    const struct rct_options *options)
{
	int ret = 0;

	print_head(as);
	if (as->nets <= TABLE_MAX && !options->has_from && !options->has_to)
		ret = print_table(as);
	if (!ret && as->nets > 1)
		ret = print_pairs(as, options);
	if (!ret)
		ret = print_none(as, options);
	return ret ? ret : rct_sheet_clients(sim, as, options);
}

/* Has the AS a subnet at the end that is asked for? */
static bool as_wanted(const struct rct_as *as, const struct rct_options *options)
{
	bool from = false, to = false;
	uint32_t i;

	for (i = 0; i < as->nets; i++) {
		from |= from_wanted(options, as, &as->net[i]);
		to |= to_wanted(options, as, &as->net[i]);
	}
	return from && to;
}

int rct_sheet(const struct rct_sim *sim, const struct rct_options *options)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < sim->ases && !ret; i++)
		if (as_wanted(&sim->as[i], options))
			ret = print_as(sim, &sim->as[i], options);
	return ret ? ret : rct_sheet_between(sim, options);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes between AS: each half by the policy of its own. */
#include <stdio.h>
#include <rdma/fi_errno.h>

#include "grid/grid.h"
#include "show.h"

static const char *const head[] = {"From", "To",   "Cost",    "Subnets", "Routers",
				   "",	   "Cost", "Subnets", "Routers"};

static void add_route(struct grd_grid *grid, const struct rct_as *as,
		      const struct rte_route *route)
{
	char text[RCT_ROUTE_SIZE], cost[RCT_NAME_SIZE];

	grd_add(grid, rct_cost_text(&as->policy, &route->cost, cost));
	grd_add(grid, rct_route_nets(as, route, text));
	grd_add(grid, rct_route_routers(as, route, text));
}

static void add_nothing(struct grd_grid *grid, const char *why)
{
	grd_add(grid, "");
	grd_add(grid, why);
	grd_add(grid, "");
}

static void add_between(struct grd_grid *grid, const struct rct_between *between)
{
	char text[RCT_NAME_SIZE];
	uint32_t i;

	for (i = 0; i < between->out.routes || !i; i++) {
		snprintf(text, sizeof(text), "%u:%u", between->from_as->as,
			 between->from->id.subnet);
		grd_add(grid, i ? "" : text);
		snprintf(text, sizeof(text), "%u:%u", between->to_as->as,
			 between->to->id.subnet);
		grd_add(grid, i ? "" : text);
		if (between->out.routes)
			add_route(grid, between->from_as, &between->out.route[i]);
		else
			add_nothing(grid, "none");
		grd_add(grid, i || !between->out.routes ? "" : "|");
		if (i || !between->out.routes)
			add_nothing(grid, "");
		else if (between->in.routes)
			add_route(grid, between->to_as, between->in.route);
		else
			add_nothing(grid, "none");
	}
}

/* Ends within both AS; what they pass on for others does not exist. */
static int add_pairs(struct grd_grid *grid, const struct rct_sim *sim,
		     const struct rct_as *from, const struct rct_as *to,
		     const struct rct_options *options, uint32_t *pairs)
{
	struct rct_between between;
	uint32_t i, k;
	int ret;

	for (i = 0; i < from->nets; i++) {
		if (from->net[i].id.scope_as != from->as ||
		    !rct_wanted(options->has_from, options->from, from, &from->net[i]))
			continue;
		for (k = 0; k < to->nets; k++) {
			if (to->net[k].id.scope_as != to->as ||
			    !rct_wanted(options->has_to, options->to, to, &to->net[k]))
				continue;
			ret = rct_between_find(sim, from, &from->net[i], to, &to->net[k],
					       options->alternatives, &between);
			if (ret)
				return ret;
			add_between(grid, &between);
			++*pairs;
		}
	}
	return 0;
}

static int print_between(const struct rct_sim *sim, const struct rct_as *from,
			 const struct rct_as *to, const struct rct_options *options)
{
	struct grd_grid grid;
	uint32_t pairs = 0, i;
	int ret;

	grd_begin(&grid, sizeof(head) / sizeof(head[0]));
	for (i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		grd_add(&grid, head[i]);
	ret = add_pairs(&grid, sim, from, to, options, &pairs);
	if (!pairs) {
		grd_drop(&grid);
		return ret;
	}
	printf("AS %u to AS %u: out of AS %u | within AS %u\n\n", from->as, to->as,
	       from->as, to->as);
	if (grd_end(&grid, stdout))
		ret = -FI_ENOMEM;
	putchar('\n');
	return ret;
}

int rct_sheet_between(const struct rct_sim *sim, const struct rct_options *options)
{
	uint32_t i, k;
	int ret = 0;

	for (i = 0; i < sim->ases; i++)
		for (k = 0; k < sim->ases && !ret; k++)
			if (i != k)
				ret = print_between(sim, &sim->as[i], &sim->as[k],
						    options);
	return ret;
}

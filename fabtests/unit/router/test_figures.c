/* SPDX-License-Identifier: BSD-2-Clause */
/* What routers decide is what fi_routectl(1) simulates of their configurations. */
#include <stdio.h>
#include "../../../util/fi_routectl/sim.h"
#include "world.h"

static const char *const fig[] = {
	"examples/route/fig1/as1-r1.conf", "examples/route/fig1/as2-r1.conf",
	"examples/route/fig1/as2-r2.conf", "examples/route/fig1/as2-r3.conf",
	"examples/route/fig2/r1.conf",	   "examples/route/fig2/r2.conf",
	"examples/route/fig2/r3.conf",	   "examples/route/fig2/r4.conf",
	"examples/route/fig1/as4-r1.conf", "examples/route/fig1/as4-r2.conf",
	"examples/route/fig1/as4-r3.conf", "examples/route/fig1/as4-r4.conf",
	"examples/route/fig1/as4-r5.conf"};
static const char *const fig3[] = {"examples/route/fig3/r1.conf",
				   "examples/route/fig3/r2.conf",
				   "examples/route/fig3/r3.conf",
				   "examples/route/fig3/r4.conf",
				   "examples/route/fig3/r5.conf"};

static struct rct_sim sim;

static void sim_open(void)
{
	CT_ASSERT_EQ(rct_sim_open(&sim, world.config, world.routers), 0);
	CT_ASSERT_EQ(rct_sim_run(&sim, NULL), 0);
}

static void append(char text[WORLD_TEXT], const struct rct_as *as,
		   const struct rte_route *route, uint32_t first)
{
	const struct rct_net *net;
	size_t len;
	uint32_t i;

	for (i = first; i <= route->routers; i++) {
		net = rct_as_net_at(as, route->net[i]);
		len = strlen(text);
		snprintf(text + len, WORLD_TEXT - len, "%s%s%u", *text ? "," : "",
			 net->id.scope_as == as->as ? "" : "W", net->id.subnet);
	}
}

/* The nets of the way are those of one of the best routes. */
static void check_pair(const struct rct_as *as, const struct rct_pair *pair,
		       const char *got)
{
	char want[WORLD_TEXT];
	uint32_t i;

	if (!pair->routes) {
		CT_EXPECT_STRSTR(got, "refuses");
		return;
	}
	for (i = 0;
	     i < pair->routes &&
	     !rte_cost_compare(&as->policy, &pair->route[i].cost, &pair->route[0].cost);
	     i++) {
		*want = 0;
		append(want, as, &pair->route[i], 0);
		if (strstr(got, ": ") && !strcmp(strstr(got, ": ") + 2, want))
			return;
	}
	*want = 0;
	append(want, as, &pair->route[0], 0);
	CT_EXPECT_STREQ(got, want);
}

/* Every router on the first subnet is asked. */
static uint32_t ask_all(const struct rct_as *as, const struct rct_net *from,
			const struct rct_as *to_as, const struct rct_net *to)
{
	const struct rte_subnet a = {as->as, from->id.subnet};
	const struct rte_subnet b = {to_as->as, to->id.subnet};
	struct rct_between between;
	char text[WORLD_TEXT], want[WORLD_TEXT] = "";
	struct rct_pair pair;
	uint32_t i, asked = 0;

	if (as == to_as)
		CT_EXPECT_EQ(rct_pair_find(as, NULL, from, to, NULL, RTE_ALTERNATIVES,
					   &pair),
			     0);
	else
		CT_EXPECT_EQ(rct_between_find(&sim, as, from, to_as, to, 1, &between), 0);
	for (i = 0; i < world.routers; i++) {
		if (world.config[i]->router.as != as->as || world.down[i] ||
		    !world_device(&world, i, a.as, a.subnet))
			continue;
		world_ask(&world, i, a, b, text);
		CT_NOTE("%u:%u to %u:%u by R%u: %s", a.as, a.subnet, b.as, b.subnet,
			(unsigned int)world.config[i]->router.id, text);
		asked++;
		if (as == to_as) {
			check_pair(as, &pair, text);
			continue;
		}
		if (!between.out.routes || !between.in.routes) {
			CT_EXPECT_STRSTR(text, "refuses");
			continue;
		}
		*want = 0;
		append(want, as, &between.out.route[0], 0);
		append(want, to_as, &between.in.route[0], 1);
		CT_EXPECT_STRSTR(text, want);
	}
	return asked;
}

static uint32_t ask_everything(void)
{
	uint32_t i, k, a, b, asked = 0;

	for (i = 0; i < sim.ases; i++)
		for (k = 0; k < sim.ases; k++)
			for (a = 0; a < sim.as[i].nets; a++)
				for (b = 0; b < sim.as[k].nets; b++)
					if (sim.as[i].net[a].id.scope_as ==
						    sim.as[i].as &&
					    sim.as[k].net[b].id.scope_as ==
						    sim.as[k].as &&
					    (i != k || a != b))
						asked += ask_all(&sim.as[i],
								 &sim.as[i].net[a],
								 &sim.as[k],
								 &sim.as[k].net[b]);
	return asked;
}

CT_FIXTURE(figures, struct world *, NULL, world_tear_down);

CT_TEST_F(figures, routers_of_figures_1_and_2_decide_as_simulated)
{
	world_open(&world, fig, sizeof(fig) / sizeof(fig[0]));
	sim_open();
	CT_EXPECT_GT(ask_everything(), 100);
	rct_sim_close(&sim);
}

CT_TEST_F(figures, and_those_of_figure_3_whichever_has_failed)
{
	char what[16];
	uint32_t i;

	world_open(&world, fig3, sizeof(fig3) / sizeof(fig3[0]));
	for (i = 0; i < world.routers; i++) {
		world.down[i] = true;
		world_tell(&world);
		CT_ASSERT_EQ(rct_sim_open(&sim, world.config, world.routers), 0);
		snprintf(what, sizeof(what), "R%u", i + 1);
		CT_ASSERT_EQ(rct_sim_fail(&sim, what), 0);
		CT_ASSERT_EQ(rct_sim_run(&sim, NULL), 0);
		CT_EXPECT_GT(ask_everything(), 10);
		rct_sim_close(&sim);
		world.down[i] = false;
	}
}

CT_TEST_F(figures, the_private_wan_is_left_when_its_other_end_is_gone)
{
	const struct rte_subnet from = {3, 3}, to = {4, 2};
	char text[WORLD_TEXT];

	world_open(&world, fig, sizeof(fig) / sizeof(fig[0]));
	world_ask(&world, world_router(&world, 3, 4), from, to, text);
	CT_EXPECT_STRSTR(text, ": 3,1,W40,");
	/* Of the border at the other end nothing is said: the link is down. */
	world_device(&world, world_router(&world, 3, 2), RTE_AS_WAN, 40)->up = false;
	world_tell(&world);
	world_ask(&world, world_router(&world, 3, 4), from, to, text);
	CT_EXPECT_STRSTR(text, ": 3,1,W0,2");
}

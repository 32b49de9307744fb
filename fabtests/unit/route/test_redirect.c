/* SPDX-License-Identifier: BSD-2-Clause */
/* What a router says to a client that has chosen it by chance. */
#include <rdma/fi_errno.h>
#include "world.h"

static struct world w;

static int ask(const struct rte_graph *graph, uint64_t me, const char *from,
	       const char *to, uint32_t random, uint64_t *first)
{
	const uint32_t net = world_net(graph, to);
	struct rte_route route = {0};
	const int ret = rte_redirect(graph, rte_graph_router(graph, me), NULL,
				     world_net(graph, from), &net, 1, random, &route);

	*first = ret < 0 ? 0 : rte_graph_router_id(graph, route.router[0]);
	return ret;
}

CT_FIXTURE(redirect, struct rte_graph *, NULL, world_graph_close);

CT_TEST_F(redirect, a_client_that_lists_only_r1_reaches_subnet_3)
{
	uint64_t first;

	world_figure2(&w);
	world_graph_open(t, &w, "bandwidth", true);
	CT_EXPECT_EQ(ask(*t, 1, "1", "3", 0, &first), RTE_CHOICE_REDIRECT);
	CT_EXPECT_EQ(first, 4);
	CT_EXPECT_EQ(ask(*t, 4, "1", "3", 0, &first), RTE_CHOICE_SERVE);
	CT_EXPECT_EQ(first, 4);
	world_router(&w, 4)->flags = RTE_LSA_DRAIN;
	world_graph_open(t, &w, "bandwidth", true);
	CT_EXPECT_EQ(ask(*t, 1, "1", "2", 0, &first), RTE_CHOICE_REDIRECT);
	CT_EXPECT_EQ(first, 3);
	CT_EXPECT_EQ(ask(*t, 1, "1", "1", 0, &first), -FI_ENOENT);
}

CT_TEST_F(redirect, equally_good_routers_serve)
{
	uint64_t first;

	world_figure2(&w);
	world_graph_open(t, &w, "bandwidth", true);
	CT_EXPECT_EQ(ask(*t, 3, "1", "2", 0, &first), RTE_CHOICE_SERVE);
	CT_EXPECT_EQ(first, 3);
	CT_EXPECT_EQ(ask(*t, 4, "1", "2", 0, &first), RTE_CHOICE_SERVE);
	CT_EXPECT_EQ(first, 4);
}

CT_TEST_F(redirect, a_router_whose_way_is_longer_sends_the_client_on)
{
	uint64_t first;

	/* R3 leads to subnet 3 over subnet 2 as well. */
	world_figure2(&w);
	world_graph_open(t, &w, "bandwidth", true);
	CT_EXPECT_EQ(ask(*t, 3, "1", "3", 0, &first), RTE_CHOICE_REDIRECT);
	CT_EXPECT_EQ(first, 4);
}

/* It has not said anything of itself, or there was no memory for it. */
CT_TEST_F(redirect, a_router_that_is_unknown_serves_nobody)
{
	uint64_t first;

	world_figure2(&w);
	world_graph_open(t, &w, "bandwidth", true);
	CT_EXPECT_EQ(ask(*t, 77, "1", "3", 0, &first), RTE_CHOICE_REDIRECT);
	CT_EXPECT_EQ(first, 4);
}

/* Of 1,000 even draws. */
static unsigned int share(const struct rte_graph *graph, uint64_t router)
{
	unsigned int i, count = 0;
	uint64_t first;

	for (i = 0; i < 1000; i++) {
		CT_EXPECT_EQ(ask(graph, 1, "1", "2", i * (UINT32_MAX / 999), &first),
			     RTE_CHOICE_REDIRECT);
		count += first == router;
	}
	return count;
}

CT_TEST_F(redirect, chance_decides_among_equals_by_their_load)
{
	struct world_router *router;
	struct rte_lsa lsa;

	world_figure2(&w);
	world_graph_open(t, &w, "bandwidth", true);
	CT_EXPECT_EQ(share(*t, 3), 500);
	router = world_router(&w, 4);
	router->seq++;
	lsa = world_lsa(router);
	lsa.load = 2;
	CT_EXPECT_EQ(rte_graph_put(*t, &lsa), 0);
	CT_EXPECT_EQ(share(*t, 3), 750);
	/* As busy as can be: others are chosen, as long as there are any. */
	lsa.load = UINT32_MAX;
	CT_EXPECT_EQ(rte_graph_put(*t, &lsa), 0);
	CT_EXPECT_GE(share(*t, 3), 999);
	rte_graph_del(*t, 3);
	CT_EXPECT_EQ(share(*t, 4), 1000);
}

CT_TEST_F(redirect, chance_does_not_choose_what_costs_more)
{
	world_figure2(&w);
	world_router(&w, 4)->link[1].rate = 31 * WORLD_GBPS;
	world_graph_open(t, &w, "bandwidth", false);
	CT_EXPECT_EQ(share(*t, 3), 1000);
}

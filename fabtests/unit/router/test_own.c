/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/route: ways that begin at the router itself. */
#include <errno.h>
#include <rdma/fi_errno.h>
#include "world.h"

#define ROUTER(id, a, b)                                                     \
	"[router]\nid = " #id "\n[a]\ntransport = tcp\nas = 3\nsubnet = " #a \
	"\nuri = tcp://10.3." #a "." #id                                     \
	":7000\nrate = 10G\n[b]\ntransport = tcp\nas = "                     \
	"3\nsubnet = " #b "\nuri = tcp://10.3." #b "." #id ":7000\nrate = 10G\n"

/* 3:1 -R1- 3:2 -R2- 3:3 -R3- 3:4, and from 3:2 to 3:3 also R5,
 * from 3:1 to 3:2 also R6. */
static const char *const texts[] = {
	ROUTER(1, 1, 2), ROUTER(2, 2, 3), ROUTER(3, 3, 4),
	ROUTER(5, 2, 3), ROUTER(6, 1, 2),
};

static struct frt_answer answer;

static void own(uint32_t subnet, uint8_t ttl)
{
	const struct rte_conn_req req = {.target = {.as = 3, .subnet = subnet},
					 .ttl = ttl,
					 .features = RTE_FEATURE_PROBE};

	frt_route_own(&world.node[0], &req, &answer);
}

static void set_up(struct world **t)
{
	world_open_texts(&world, texts, 5);
}

CT_FIXTURE(own, struct world *, set_up, world_tear_down);

CT_TEST_F(own, a_way_begins_with_the_next_router)
{
	const char *why;

	CT_EXPECT_EQ(rte_uri_parse("tcp://10.3.2.1:7000",
				   &world_device(&world, 0, 3, 2)->uri, &why),
		     0);
	own(4, 5);
	CT_ASSERT_EQ(answer.what, FRT_FORWARD);
	CT_ASSERT_EQ(answer.hops, 2);
	CT_EXPECT_EQ(answer.path[0].router, answer.router);
	CT_EXPECT_TRUE(answer.router == 2 || answer.router == 5);
	CT_EXPECT_EQ(answer.path[0].subnet, 3);
	CT_EXPECT_EQ(answer.path[1].router, 3);
	CT_EXPECT_EQ(answer.path[1].subnet, 4);
	/* From the subnet that both are on, by this router's address there. */
	CT_EXPECT_EQ(answer.device, world_device(&world, 0, 3, 2));
	CT_EXPECT_EQ(answer.source.subnet, 2);
	CT_EXPECT_EQ(answer.source.host, 0x0a030201);
}

CT_TEST_F(own, a_target_on_its_own_subnet_needs_no_router)
{
	own(1, 5);
	CT_EXPECT_EQ(answer.what, FRT_DELIVER);
	CT_EXPECT_EQ(answer.hops, 0);
}

CT_TEST_F(own, a_device_that_does_not_work_leads_nowhere)
{
	world_device(&world, 0, 3, 1)->up = false;
	world_tell(&world);
	own(1, 5);
	CT_ASSERT_EQ(answer.what, FRT_FORWARD);
	CT_EXPECT_EQ(answer.router, 6);
	CT_EXPECT_EQ(answer.device, world_device(&world, 0, 3, 2));
}

CT_TEST_F(own, what_nobody_is_on_is_refused)
{
	own(9, 5);
	CT_EXPECT_EQ(answer.what, FRT_REFUSE);
	CT_EXPECT_EQ(answer.status, FI_ENETUNREACH);
	own(4, 0);
	CT_EXPECT_EQ(answer.what, FRT_REFUSE);
	CT_EXPECT_EQ(answer.status, ETIME);
}

CT_TEST_F(own, a_subnet_where_it_meets_nobody_is_none_of_its_ways)
{
	struct rte_route routes[RTE_ALTERNATIVES];
	const struct rte_graph *graph;

	world.cut = world_device(&world, 0, 3, 2);
	world_tell(&world);
	graph = frt_routes_graph(&world.node[0]);
	CT_ASSERT_GE(frt_routes_find(&world.node[0], rte_graph_net(graph, 3, 3), routes,
				     RTE_ALTERNATIVES),
		     1);
	/* By 3:2 all the same, but from 3:1. */
	CT_ASSERT_EQ(routes[0].routers, 2);
	CT_EXPECT_EQ(rte_graph_router_id(graph, routes[0].router[0]), 6);
	own(3, 5);
	CT_ASSERT_EQ(answer.what, FRT_FORWARD);
	CT_EXPECT_EQ(answer.router, 6);
	CT_EXPECT_EQ(answer.device, world_device(&world, 0, 3, 1));
}

CT_TEST_F(own, routes_are_told_best_first)
{
	struct rte_route routes[RTE_ALTERNATIVES];
	const struct rte_graph *graph = frt_routes_graph(&world.node[0]);

	CT_ASSERT_EQ(frt_routes_find(&world.node[0], rte_graph_net(graph, 3, 3), routes,
				     RTE_ALTERNATIVES),
		     2);
	CT_EXPECT_LE(rte_route_compare(graph, &routes[0], &routes[1]), 0);
	CT_EXPECT_EQ(rte_graph_router_id(graph, routes[0].router[0]), 2);
	CT_EXPECT_EQ(rte_graph_router_id(graph, routes[1].router[0]), 5);
	/* At most as many as are asked for, and of its own none. */
	CT_EXPECT_EQ(frt_routes_find(&world.node[0], rte_graph_net(graph, 3, 3), routes,
				     1),
		     1);
	CT_EXPECT_EQ(rte_graph_router_id(graph, routes[0].router[0]), 2);
	CT_EXPECT_EQ(frt_routes_find(&world.node[0], rte_graph_net(graph, 3, 1), routes,
				     RTE_ALTERNATIVES),
		     0);
	CT_EXPECT_EQ(frt_routes_find(&world.node[0], rte_graph_net(graph, 3, 2), routes,
				     RTE_ALTERNATIVES),
		     0);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/route: the answers to single questions. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "world.h"

#define HEAD(id, more) "[router]\nid = " #id "\n" more
#define DEVICE(name, as, sn, host, more)                           \
	"[" name "]\ntransport = tcp\nas = " #as "\nsubnet = " #sn \
	"\nuri = tcp://10." #as "." #sn "." #host ":7000\nrate = 10G\n" more
#define WAN(name, sn, host, more)                                                      \
	"[" name "]\ntransport = tcp\nas = 0\nsubnet = " #sn "\nuri = tcp://10.0." #sn \
	"." #host ":7000\nrate = 10G\n"                                                \
	"key_file = /k\nkey_id = 1\n" more

/* 3:1 -R1- 3:2 -R2- 3:3, R1 and R4 from 3:1 to WAN 40, and there AS 4's R1 to 4:1; R3
 * leads from 3:1 to 3:5. */
static const char *const texts[] = {
	HEAD(1, "") DEVICE("a", 3, 1, 1, "") DEVICE("b", 3, 2, 1, "")
		WAN("w", 40, 31, "peer_as = 4\nrouter = tcp://10.0.40.41:7000\n"),
	HEAD(2, "") DEVICE("a", 3, 2, 2, "") DEVICE("b", 3, 3, 2, ""),
	HEAD(3, "") DEVICE("a", 3, 1, 3, "") DEVICE("b", 3, 5, 3, ""),
	HEAD(1, "") DEVICE("a", 4, 1, 1, "") WAN("w", 40, 41, "peer_as = 3\n"),
};

static const struct rte_subnet sn1 = {3, 1}, sn2 = {3, 2}, sn3 = {3, 3}, sn5 = {3, 5},
			       w40 = {0, 40}, sn41 = {4, 1};
static struct ask a;

static void set_up(struct world **t)
{
	world_open_texts(&world, texts, 4);
}

CT_FIXTURE(ask, struct world *, set_up, world_tear_down);

CT_TEST_F(ask, the_first_router_writes_the_path_and_forwards_to_the_next)
{
	ask_client(&a, &world, 0, sn1, sn3);
	CT_ASSERT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	CT_EXPECT_EQ(a.answer.router, 2);
	CT_EXPECT_EQ(a.answer.as, 3);
	CT_EXPECT_STREQ(a.answer.uri, "tcp://10.3.2.2:7000");
	CT_EXPECT_EQ(ntohl(a.answer.address.in.sin_addr.s_addr), 0x0a030202);
	CT_EXPECT_EQ(ntohs(a.answer.address.in.sin_port), 7000);
	CT_EXPECT_EQ(a.answer.device, world_device(&world, 0, 3, 2));
	CT_ASSERT_EQ(a.answer.hops, 2);
	CT_EXPECT_EQ(a.answer.path[0].router, 1);
	CT_EXPECT_EQ(a.answer.path[0].subnet, 2);
	CT_EXPECT_EQ(a.answer.path[1].router, 2);
	CT_EXPECT_EQ(a.answer.path[1].subnet, 3);
	CT_EXPECT_EQ(a.answer.path[1].scope_as, 3);
	CT_EXPECT_EQ(a.answer.rate, 10000000000);
	/* What a client says of where it is does not count. */
	ask_client(&a, &world, 0, sn1, sn3);
	a.req.source.as = 9;
	a.req.source.subnet = 9;
	ask(&a, &world, 0);
	CT_EXPECT_EQ(a.answer.source.as, 3);
	CT_EXPECT_EQ(a.answer.source.subnet, 1);
	CT_EXPECT_EQ(a.answer.source.host, 0x0a00000a);
	/* Nor does a path that it says is behind it. */
	ask_client(&a, &world, 0, sn1, sn3);
	a.options.present |= 1u << RTE_TLV_PATH;
	a.options.hops = 1;
	a.options.hop[0] = (struct rte_hop){9, 3, 2};
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	CT_EXPECT_EQ(a.answer.hops, 2);
}

CT_TEST_F(ask, the_last_router_delivers_to_the_target_s_host_and_port)
{
	const struct rte_hop path[] = {{1, 3, 2}, {2, 3, 3}};

	ask_router(&a, &world, 1, 3, sn2, sn1, sn3, path, 2);
	a.req.ttl = 0;
	CT_ASSERT_EQ(ask(&a, &world, 1), FRT_DELIVER);
	CT_EXPECT_EQ(a.answer.device, world_device(&world, 1, 3, 3));
	CT_EXPECT_EQ(ntohl(a.answer.address.in.sin_addr.s_addr), 0x0a000002);
	CT_EXPECT_EQ(ntohs(a.answer.address.in.sin_port), 4711);
	/* An alias: the address that it stands for. */
	a.options.present |= 1u << RTE_TLV_TARGET;
	a.options.text[RTE_TLV_TARGET] = "tcp://[fd00::7]:1";
	CT_ASSERT_EQ(ask(&a, &world, 1), FRT_DELIVER);
	CT_EXPECT_EQ(a.answer.address.sa.sa_family, AF_INET6);
	CT_EXPECT_EQ(a.answer.address.in6.sin6_addr.s6_addr[15], 7);
	CT_EXPECT_EQ(ntohs(a.answer.address.in6.sin6_port), 4711);
	/* Names are not looked up for a peer. */
	a.options.text[RTE_TLV_TARGET] = "tcp://somewhere.example:1";
	CT_EXPECT_EQ(ask(&a, &world, 1), FRT_REFUSE);
	CT_EXPECT_EQ(a.answer.status, FI_EHOSTUNREACH);
}

/* The text names that. */
static void expect_refused(uint32_t router, int status, const char *data)
{
	CT_EXPECT_EQ(ask(&a, &world, router), FRT_REFUSE);
	CT_EXPECT_EQ(a.answer.status, status);
	CT_EXPECT_DATA(a.answer.text, data);
}

CT_TEST_F(ask, a_path_that_is_wrong_is_a_loop)
{
	const struct rte_hop other[] = {{1, 3, 2}, {7, 3, 3}};
	const struct rte_hop twice[] = {{1, 3, 2}, {2, 3, 3}, {9, 3, 2}};
	const struct rte_hop back[] = {{1, 3, 2}, {2, 3, 1}};
	const struct rte_hop early[] = {{1, 3, 2}};
	const struct rte_hop beyond[] = {{1, 3, 2}, {2, 3, 3}, {9, 3, 9}};
	const struct rte_hop nowhere[] = {{1, 3, 2}, {2, 3, 8}};

	ask_router(&a, &world, 1, 3, sn2, sn1, sn3, other, 2);
	expect_refused(1, ELOOP, "");
	ask_router(&a, &world, 1, 3, sn2, sn1, sn3, NULL, 0);
	expect_refused(1, ELOOP, "");
	ask_router(&a, &world, 1, 3, sn2, sn1, sn3, twice, 3);
	expect_refused(1, ELOOP, "3:2");
	ask_router(&a, &world, 1, 3, sn2, sn1, sn3, back, 2);
	expect_refused(1, ELOOP, "3:1");
	ask_router(&a, &world, 1, 3, sn2, sn1, sn3, early, 1);
	expect_refused(1, ELOOP, "");
	ask_router(&a, &world, 1, 3, sn2, sn1, sn3, beyond, 3);
	expect_refused(1, ELOOP, "");
	ask_router(&a, &world, 1, 3, sn2, sn1, sn3, nowhere, 2);
	expect_refused(1, ELOOP, "");
	/* It comes over a subnet that the path does not name there. */
	ask_router(&a, &world, 1, 3, sn3, sn1, sn3, twice, 2);
	expect_refused(1, ELOOP, "");
	/* It ends on a subnet that is not the target's. */
	ask_router(&a, &world, 0, 3, sn1, sn5, sn3,
		   (const struct rte_hop[]){{3, 3, 1}, {1, 3, 2}}, 2);
	expect_refused(0, ELOOP, "");
}

/* The client's own word is another one. */
static uint32_t host_of(const char *address)
{
	struct sockaddr_in6 *in6;

	ask_client(&a, &world, 0, sn1, sn3);
	in6 = &a.from.address.in6;
	*in6 = (struct sockaddr_in6){.sin6_family = AF_INET6};
	CT_EXPECT_EQ(inet_pton(AF_INET6, address, &in6->sin6_addr), 1);
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	return a.answer.source.host;
}

CT_TEST_F(ask, a_client_of_an_ipv6_address_has_no_other)
{
	CT_EXPECT_EQ(host_of("fd00::7"), 0);
	CT_EXPECT_EQ(host_of("::ffff:10.9.8.7"), 0x0a090807);
}

CT_TEST_F(ask, no_more_routers_follow_than_may)
{
	ask_client(&a, &world, 0, sn1, sn3);
	a.req.ttl = 0;
	expect_refused(0, ELOOP, "");
	a.req.ttl = 1;
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_FORWARD);
}

CT_TEST_F(ask, who_is_asked_in_vain_names_the_router_that_leads_there)
{
	ask_client(&a, &world, 2, sn1, sn3);
	CT_ASSERT_EQ(ask(&a, &world, 2), FRT_REDIRECT);
	CT_EXPECT_EQ(a.answer.router, 1);
	CT_EXPECT_STREQ(a.answer.uri, "tcp://10.3.1.1:7000");
	/* A router is never sent elsewhere. */
	ask_router(&a, &world, 2, 3, sn1, sn5, sn3, NULL, 0);
	CT_EXPECT_EQ(ask(&a, &world, 2), FRT_REFUSE);
}

CT_TEST_F(ask, what_is_unknown_is_no_network_and_what_is_cut_off_no_host)
{
	ask_client(&a, &world, 0, sn1, (struct rte_subnet){3, 9});
	expect_refused(0, FI_ENETUNREACH, "3:9");
	ask_client(&a, &world, 0, sn1, (struct rte_subnet){9, 1});
	expect_refused(0, FI_ENETUNREACH, "AS 9");
	ask_client(&a, &world, 0, sn1, w40);
	expect_refused(0, FI_ENETUNREACH, "");
	ask_client(&a, &world, 0, sn1, sn1);
	expect_refused(0, ELOOP, "");
	/* R1 has no device on 3:2 any more: 3:3 is an island. */
	world_device(&world, 0, 3, 2)->up = false;
	world_tell(&world);
	ask_client(&a, &world, 0, sn1, sn3);
	expect_refused(0, FI_EHOSTUNREACH, "3:3");
}

#define LONG (RTE_TTL_MAX + 1)

/* 3:1 -R1- 3:2 -R2- ... -R17- 3:18. */
CT_TEST_F(ask, a_way_of_more_routers_than_may_follow_is_none)
{
	static char text[LONG][256];
	static const char *texts_of[LONG];
	uint32_t i;

	for (i = 0; i < LONG; i++) {
		snprintf(text[i], sizeof(text[i]),
			 "[router]\nid = %u\n"
			 "[a]\ntransport = tcp\nas = 3\nsubnet = %u\n"
			 "uri = tcp://10.3.%u.1:7000\nrate = 10G\n"
			 "[b]\ntransport = tcp\nas = 3\nsubnet = %u\n"
			 "uri = tcp://10.3.%u.2:7000\nrate = 10G\n",
			 i + 1, i + 1, i + 1, i + 2, i + 2);
		texts_of[i] = text[i];
	}
	world_open_texts(&world, texts_of, LONG);
	ask_client(&a, &world, 0, sn1, (struct rte_subnet){3, LONG});
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	CT_EXPECT_EQ(a.answer.hops, RTE_TTL_MAX);
	ask_client(&a, &world, 0, sn1, (struct rte_subnet){3, LONG + 1});
	expect_refused(0, FI_EHOSTUNREACH, "17");
}

/* What it has said of itself holds until it expires. */
CT_TEST_F(ask, no_client_is_sent_to_a_router_that_was_killed)
{
	static const char *const with[] = {
		HEAD(1, "") DEVICE("a", 3, 1, 1, "") DEVICE("b", 3, 2, 1, "")
			DEVICE("c", 3, 3, 1, ""),
		HEAD(2, "static = 1,3\n") DEVICE("a", 3, 1, 2, "")
			DEVICE("b", 3, 2, 2, "cost = 900\n"),
	};
	static struct frt_why why;

	world_open_texts(&world, with, 2);
	ask_client(&a, &world, 1, sn1, sn2);
	CT_EXPECT_EQ(ask(&a, &world, 1), FRT_REDIRECT);
	ask_client(&a, &world, 1, sn1, sn3);
	CT_EXPECT_EQ(ask(&a, &world, 1), FRT_REDIRECT);
	world.killed[0] = true;
	world_tell(&world);
	ask_client(&a, &world, 1, sn1, sn2);
	CT_EXPECT_EQ(ask(&a, &world, 1), FRT_DELIVER);
	/* By a static route neither. */
	ask_client(&a, &world, 1, sn1, sn3);
	expect_refused(1, FI_EHOSTUNREACH, "3:3");
	frt_routes_why(&world.node[1], &sn1, sn2, &why);
	CT_EXPECT_STREQ(why.does, "serve");
	CT_EXPECT_EQ(why.count, 1);
	/* And not where all others may be asked, but for those that are cut off there. */
	world.killed[0] = false;
	world.cut = world_device(&world, 0, 3, 1);
	world_tell(&world);
	ask_client(&a, &world, 1, sn1, sn2);
	CT_EXPECT_EQ(ask(&a, &world, 1), FRT_DELIVER);
}

CT_TEST_F(ask, an_answer_holds_until_something_changes)
{
	ask_client(&a, &world, 0, sn1, sn3);
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	CT_EXPECT_EQ(a.answer.hops, 2);
	world.down[1] = true;
	world_tell(&world);
	expect_refused(0, FI_EHOSTUNREACH, "3:3");
	world.down[1] = false;
	world_tell(&world);
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_FORWARD);
}

CT_TEST_F(ask, another_as_is_reached_by_its_border)
{
	ask_client(&a, &world, 0, sn1, sn41);
	CT_ASSERT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	CT_EXPECT_EQ(a.answer.as, 4);
	CT_EXPECT_EQ(a.answer.router, 1);
	CT_EXPECT_STREQ(a.answer.uri, "tcp://10.0.40.41:7000");
	CT_ASSERT_EQ(a.answer.hops, 1);
	/* A private WAN, too, is of AS 0 on a path. */
	CT_EXPECT_EQ(a.answer.path[0].scope_as, 0);
	CT_EXPECT_EQ(a.answer.path[0].subnet, 40);
	/* There it goes on, behind what has been written; the ids of both are the same.
	 */
	ask_router(&a, &world, 3, 3, w40, sn1, sn41, a.answer.path, 1);
	CT_ASSERT_EQ(ask(&a, &world, 3), FRT_DELIVER);
	CT_ASSERT_EQ(a.answer.hops, 2);
	CT_EXPECT_EQ(a.answer.path[1].router, 1);
	CT_EXPECT_EQ(a.answer.path[1].scope_as, 4);
}

CT_TEST_F(ask, of_several_borders_the_one_with_the_cheapest_way_on_is_next)
{
	struct frt_border other = {.as = 4, .router = 9, .uri = "tcp://10.0.40.49:7000"};

	other.device = world_device(&world, 0, 0, 40);
	frt_border_add(&world.node[0], &other);
	ask_client(&a, &world, 0, sn1, sn41);
	CT_ASSERT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	CT_EXPECT_EQ(a.answer.router, 1);
	world.border[0].cost = world.border[1].cost = 2000;
	other.cost = 1000;
	CT_ASSERT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	CT_EXPECT_EQ(a.answer.router, 9);
	CT_EXPECT_STREQ(a.answer.uri, other.uri);
	/* Nobody knows where it listens. */
	*other.uri = 0;
	CT_ASSERT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	CT_EXPECT_EQ(a.answer.router, 1);
	frt_border_del(&world.node[0], &other);
}

/* The public WAN 7 costs less and leads to AS 4 from R2 alone; R1 reaches AS 9 there. */
static const char *const public_wan[] = {
	HEAD(1, "") DEVICE("a", 3, 1, 1, "") WAN("w", 7, 31, "cost = 1\n"),
	HEAD(2, "") DEVICE("a", 3, 1, 2, "") WAN("w", 7, 32, ""),
	HEAD(1, "") DEVICE("a", 4, 1, 1, "")
		WAN("w", 7, 41, "router = tcp://10.0.7.32:7000\n"),
	HEAD(1, "") DEVICE("a", 9, 1, 1, "")
		WAN("w", 7, 91, "router = tcp://10.0.7.31:7000\n"),
};

CT_TEST_F(ask, all_know_which_border_leads_to_which_as_over_a_public_wan)
{
	char text[WORLD_TEXT];

	world_open_texts(&world, public_wan, 4);
	CT_EXPECT_STREQ(world_ask(&world, 0, sn1, sn41, text), "R2,R1: 1,W7,1");
	CT_EXPECT_STREQ(world_ask(&world, 1, sn1, sn41, text), "R2,R1: 1,W7,1");
	CT_EXPECT_STREQ(world_ask(&world, 1, sn1, (struct rte_subnet){9, 1}, text),
			"R1,R1: 1,W7,1");
	CT_EXPECT_STREQ(world_ask(&world, 2, sn41, sn1, text), "R1,R2: 1,W7,1");
	/* Not through AS 3. */
	CT_EXPECT_DATA(world_ask(&world, 2, sn41, (struct rte_subnet){9, 1}, text),
		       "refuses with 101");
	world_device(&world, 1, 0, 7)->up = false;
	world_tell(&world);
	CT_EXPECT_DATA(world_ask(&world, 0, sn1, sn41, text), "refuses with 113");
}

/* Others are not let in there; the file of one of them may have it wrong. */
CT_TEST_F(ask, a_private_wan_is_up_by_a_border_of_its_as_alone)
{
	static const char *const with[] = {
		HEAD(1, "") DEVICE("a", 3, 1, 1, "")
			WAN("w", 40, 31,
			    "peer_as = 4\nrouter = tcp://10.0.40.51:7000\n"
			    "router = tcp://10.0.40.41:7000\n"),
		HEAD(1, "") DEVICE("a", 5, 1, 1, "") WAN("w", 40, 51, "peer_as = 3\n"),
		HEAD(1, "") DEVICE("a", 4, 1, 1, "") WAN("w", 40, 41, "peer_as = 3\n"),
	};
	struct frt_self self;

	world_open_texts(&world, with, 3);
	frt_self_lsa(&world.node[0], &self);
	CT_EXPECT_TRUE(rte_lsa_link(&self.lsa, 4, 40)->up);
	world.down[2] = true;
	world_tell(&world);
	frt_self_lsa(&world.node[0], &self);
	CT_EXPECT_FALSE(rte_lsa_link(&self.lsa, 4, 40)->up);
}

/* An older version sees a way that costs more than all others. */
CT_TEST_F(ask, a_border_that_drains_says_so_to_other_as)
{
	struct rte_sync_reach reach[RTE_SYNC_REACH_MAX];

	CT_ASSERT_EQ(frt_self_reach(&world.node[0], world.db[0], crn_now_ms(), reach), 1);
	CT_EXPECT_EQ(reach[0].cost, 200000);
	world.node[0].drain = true;
	CT_ASSERT_EQ(frt_self_reach(&world.node[0], world.db[0], crn_now_ms(), reach), 1);
	CT_EXPECT_EQ(reach[0].cost, FRT_REACH_DRAIN);
}

CT_TEST_F(ask, a_static_route_ends_on_a_wan_as_well)
{
	static const char *const with[] = {
		HEAD(1, "static = 1,0:7\n") DEVICE("a", 3, 1, 1, "") WAN("w", 7, 31, ""),
		HEAD(2, "") DEVICE("a", 3, 1, 2, "") WAN("w", 40, 31, "peer_as = 4\n"),
		HEAD(1, "") DEVICE("a", 4, 1, 1,
				   "") WAN("w", 7, 41, "router = tcp://10.0.7.31:7000\n")
			WAN("v", 40, 41, "peer_as = 3\nrouter = tcp://10.0.40.31:7000\n"),
	};
	char text[WORLD_TEXT];

	world_open_texts(&world, with, 3);
	CT_EXPECT_STREQ(world_ask(&world, 0, sn1, sn41, text), "R1,R1: 1,W7,1");
	CT_EXPECT_STREQ(world_ask(&world, 1, sn1, sn41, text), "R2,R1: 1,W40,1");
}

CT_TEST_F(ask, nothing_passes_through_an_as)
{
	const struct rte_subnet sn91 = {9, 1};

	ask_router(&a, &world, 0, 4, w40, sn41, sn91, NULL, 0);
	expect_refused(0, FI_EACCES, "");
	ask_router(&a, &world, 0, 3, sn1, sn91, sn41, NULL, 0);
	expect_refused(0, FI_EACCES, "");
	/* Another AS sends what is its own alone. */
	ask_router(&a, &world, 0, 4, w40, sn91, sn3, NULL, 0);
	expect_refused(0, FI_EACCES, "AS 4");
	ask_router(&a, &world, 0, 4, w40, sn1, sn3, NULL, 0);
	expect_refused(0, FI_EACCES, "AS 4");
	ask_router(&a, &world, 0, 4, w40, sn41, sn3, NULL, 0);
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	/* On a WAN alone. */
	ask_router(&a, &world, 0, 4, sn1, sn41, sn3, NULL, 0);
	expect_refused(0, FI_EACCES, "AS 4");
}

CT_TEST_F(ask, a_client_has_as_many_connections_as_the_file_says)
{
	ask_client(&a, &world, 0, sn1, sn3);
	a.client.peers = 1024;
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	a.client.peers = 1025;
	expect_refused(0, FI_ENOBUFS, "1024");
}

CT_TEST_F(ask, a_router_that_drains_takes_no_clients_and_goes_on_with_routers)
{
	const struct rte_hop path[] = {{3, 3, 1}, {1, 3, 2}};

	frt_node_drain(&world.node[0], true);
	CT_EXPECT_TRUE(world.node[0].changed);
	/* As before, until others have been told: they would send the client back. */
	ask_client(&a, &world, 0, sn1, sn3);
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	world_tell(&world);
	/* Nobody else leads there. */
	expect_refused(0, FI_EHOSTUNREACH, "3:3");
	ask_router(&a, &world, 0, 3, sn1, sn5, sn2, path, 2);
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_DELIVER);
	frt_node_drain(&world.node[0], false);
	world_tell(&world);
	ask_client(&a, &world, 0, sn1, sn3);
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_FORWARD);
}

CT_TEST_F(ask, a_border_that_drains_goes_on_with_other_as)
{
	frt_node_drain(&world.node[0], true);
	world_tell(&world);
	ask_router(&a, &world, 0, 4, w40, sn41, sn3, NULL, 0);
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	CT_EXPECT_EQ(a.answer.router, 2);
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_FORWARD);
	/* And its own clients are not served meanwhile. */
	ask_client(&a, &world, 0, sn1, sn3);
	expect_refused(0, FI_EHOSTUNREACH, "3:3");
}

CT_TEST_F(ask, a_border_that_drains_is_where_no_way_leads_to)
{
	struct frt_device *wan = world_device(&world, 3, 0, 40);

	CT_EXPECT_TRUE(frt_border_any(&world.node[3], wan, 3));
	CT_EXPECT_EQ(frt_border_next(&world.node[3], wan, 0), 3);
	ask_client(&a, &world, 3, sn41, sn3);
	CT_EXPECT_EQ(ask(&a, &world, 3), FRT_FORWARD);
	frt_node_drain(&world.node[0], true);
	world_tell(&world);
	CT_EXPECT_FALSE(frt_border_any(&world.node[3], wan, 3));
	CT_EXPECT_EQ(frt_border_next(&world.node[3], wan, 0), 0);
	expect_refused(3, FI_EHOSTUNREACH, "3:3");
}

CT_TEST_F(ask, an_acl_allows_what_it_names)
{
	static const char *const with[] = {
		HEAD(1, "acl = 3:1 -> 3:2\n") DEVICE("a", 3, 1, 1, "")
			DEVICE("b", 3, 2, 1, "") DEVICE("c", 3, 3, 1, "")};

	static struct frt_why why;

	world_open_texts(&world, with, 1);
	ask_client(&a, &world, 0, sn1, sn2);
	CT_EXPECT_EQ(ask(&a, &world, 0), FRT_DELIVER);
	ask_client(&a, &world, 0, sn2, sn1);
	expect_refused(0, FI_EACCES, "3:2 -> 3:1");
	ask_client(&a, &world, 0, sn1, sn3);
	expect_refused(0, FI_EACCES, "3:1 -> 3:3");
	CT_EXPECT_EQ(world.node[0].counters.acl, 2);
	frt_routes_why(&world.node[0], &sn2, sn1, &why);
	CT_EXPECT_EQ(why.status, FI_EACCES);
	CT_EXPECT_DATA(why.text, "3:2 -> 3:1");
}

CT_TEST_F(ask, a_static_route_comes_before_a_better_one)
{
	/* 3:1 to 3:3 directly by R2, and over 3:2 by R1 and R3. */
	static const char *const with[] = {
		HEAD(1, "static = 1,2,3\n") DEVICE("a", 3, 1, 1, "")
			DEVICE("b", 3, 2, 1, ""),
		HEAD(2, "static = 1,2,3\n") DEVICE("a", 3, 1, 2, "")
			DEVICE("b", 3, 3, 2, ""),
		HEAD(3, "") DEVICE("a", 3, 2, 3, "") DEVICE("b", 3, 3, 3, ""),
	};
	char text[WORLD_TEXT];

	world_open_texts(&world, with, 3);
	CT_EXPECT_STREQ(world_ask(&world, 0, sn1, sn3, text), "R1,R3: 1,2,3");
	/* The other one says so as well. */
	ask_client(&a, &world, 1, sn1, sn3);
	CT_ASSERT_EQ(ask(&a, &world, 1), FRT_REDIRECT);
	CT_EXPECT_EQ(a.answer.router, 1);
	/* It holds while its routers are there. */
	world.down[2] = true;
	world_tell(&world);
	CT_EXPECT_STREQ(world_ask(&world, 1, sn1, sn3, text), "R2: 1,3");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/device: devices, and who connects to them. */
#include <sys/resource.h>
#include <unistd.h>
#include <rdma/fi_errno.h>
#include "one.h"
#include "route_config/conf.h"
#include "reload.h"

CT_FIXTURE(device, struct one *, one_set_up, one_tear_down);

CT_TEST_F(device, one_that_cannot_be_opened_is_tried_again)
{
	fake_listen_fails = -FI_EADDRINUSE;
	one_open(&one, NULL);
	CT_EXPECT_FALSE(one_device(&one, "a")->up);
	CT_EXPECT_EQ(one_device(&one, "a")->at[0].port, NULL);
	fake_listen_fails = 0;
	one_passes(&one, 1100);
	CT_EXPECT_TRUE(one_device(&one, "a")->up);
	CT_EXPECT_STREQ(one_device(&one, "a")->uri_text, "tcp://10.0.1.5:7000");
}

CT_TEST_F(device, one_that_fails_is_opened_again)
{
	struct rte_peer *fake = one_visitor(&one, 9, 50);

	frt_device_failed(one_device(&one, "a"), -FI_EIO);
	CT_EXPECT_TRUE(fake->in->closed);
	CT_EXPECT_EQ(one.gone, 1);
	CT_EXPECT_FALSE(one_device(&one, "a")->up);
	one_passes(&one, 1100);
	CT_EXPECT_TRUE(one_device(&one, "a")->up);
}

static void others_begin_something(struct rte_peer *peer)
{
	one_conn_req(fake_peer_at(1));
	one_heartbeat(fake_peer_at(2));
}

/* What is closed makes progress. */
CT_TEST_F(device, nothing_begins_at_one_that_is_closed)
{
	uint32_t i;
	struct rte_listener *a = one_device(&one, "a")->listener;

	for (i = 0; i < 3; i++)
		fake_greets(fake_arrives(a, RTE_ROUTER, 3, 1, 9 + i, "10.0.1.9"), 3, 1,
			    9 + i, 50);
	fakes.at_close = others_begin_something;
	frt_device_failed(one_device(&one, "a"), -FI_EIO);
	CT_EXPECT_EQ(one.requests, 1);
	CT_EXPECT_EQ(one.late, 0);
	CT_EXPECT_EQ(frt_adjacencies_count(&one.node), 0);
	CT_EXPECT_TRUE(fake_peer_at(0)->in->closed);
	CT_EXPECT_TRUE(fake_peer_at(2)->in->closed);
	CT_EXPECT_EQ(one.node.guests, 0);
}

CT_TEST_F(device, a_client_s_request_is_transit_s_with_the_client)
{
	struct frt_device *a = one_device(&one, "a");
	struct rte_peer *fake =
		fake_arrives(a->listener, RTE_CLIENT, 3, 1, 77, "10.0.1.20");

	CT_ASSERT_NE(fake, NULL);
	CT_EXPECT_EQ(one.node.guests, 1);
	fake_greets(fake, 3, 1, 77, 0);
	one_conn_req(fake);
	CT_EXPECT_EQ(one.requests, 1);
	CT_EXPECT_EQ(one.peer, fake);
	CT_ASSERT_NE(one.client, NULL);
	CT_EXPECT_EQ(one.client->peers, 1);
	CT_EXPECT_EQ(one.node.guests, 0);
}

CT_TEST_F(device, a_router_s_request_has_no_client)
{
	struct rte_peer *fake;

	fake = fake_arrives(one_device(&one, "a")->listener, RTE_ROUTER, 3, 1, 9,
			    "10.0.1.9");
	fake_greets(fake, 3, 1, 9, 50);
	one_conn_req(fake);
	CT_EXPECT_EQ(one.requests, 1);
	CT_EXPECT_EQ(one.client, NULL);
	CT_EXPECT_EQ(frt_adjacencies_count(&one.node), 0);
}

CT_TEST_F(device, who_may_not_connect_is_rejected)
{
	struct rte_listener *a, *w;

	a = one_device(&one, "a")->listener;
	w = one_device(&one, "w")->listener;
	CT_EXPECT_EQ(fake_arrives(a, RTE_TARGET, 3, 1, 9, "10.0.1.9"), NULL);
	CT_EXPECT_EQ(fake_arrives(a, RTE_CLIENT, 3, 2, 9, "10.0.1.9"), NULL);
	CT_EXPECT_EQ(fake_arrives(a, RTE_CLIENT, 4, 1, 9, "10.0.1.9"), NULL);
	CT_EXPECT_EQ(fake_arrives(a, RTE_ROUTER, 4, 1, 9, "10.0.1.9"), NULL);
	CT_EXPECT_EQ(fake_arrives(w, RTE_CLIENT, 0, 7, 9, "10.0.7.9"), NULL);
	CT_EXPECT_EQ(fake_arrives(w, RTE_CLIENT, 3, 7, 9, "10.0.7.9"), NULL);
	CT_EXPECT_EQ(fake_arrives(w, RTE_ROUTER, 0, 7, 9, "10.0.7.9"), NULL);
	CT_EXPECT_EQ(fake_arrives(w, RTE_ROUTER, 3, 7, 9, "10.0.7.9"), NULL);
	CT_EXPECT_NE(fake_arrives(w, RTE_ROUTER, 4, 7, 9, "10.0.7.9"), NULL);
	one_device(&one, "a")->up = false;
	CT_EXPECT_EQ(fake_arrives(a, RTE_ROUTER, 3, 1, 9, "10.0.1.9"), NULL);
	one_device(&one, "a")->up = true;
	one.node.stopping = true;
	CT_EXPECT_EQ(fake_arrives(a, RTE_ROUTER, 3, 1, 9, "10.0.1.9"), NULL);
	CT_EXPECT_EQ(one.node.counters.rejected, 10);
}

CT_TEST_F(device, who_connects_is_accepted_or_rejected_and_not_both)
{
	struct rte_listener *a = one_device(&one, "a")->listener;

	CT_EXPECT_NE(fake_arrives(a, RTE_CLIENT, 3, 1, 9, "10.0.1.20"), NULL);
	CT_EXPECT_EQ(fake_arrives(a, RTE_CLIENT, 3, 2, 9, "10.0.1.20"), NULL);
	fakes.accept_ret = -FI_ENOMEM;
	fake_arrives(a, RTE_CLIENT, 3, 1, 9, "10.0.1.21");
	CT_EXPECT_EQ(one.node.counters.accepted, 1);
	CT_EXPECT_EQ(one.node.counters.rejected, 2);
	CT_EXPECT_EQ(one.node.guests, 1);
}

CT_TEST_F(device, a_private_wan_is_for_one_other_as)
{
	static const char text[] = ONE_ROUTER ONE_DEVICE("a", 3, 1, "")
		ONE_DEVICE("w", 0, 7, "peer_as = 4\nkey_file = /k\nkey_id = 1\n");
	struct rte_listener *w;

	one_open(&one, text);
	w = one_device(&one, "w")->listener;
	CT_EXPECT_EQ(fake_arrives(w, RTE_ROUTER, 5, 7, 9, "10.0.7.9"), NULL);
	CT_EXPECT_EQ(one.node.counters.unknown_as, 1);
	CT_EXPECT_NE(fake_arrives(w, RTE_ROUTER, 4, 7, 9, "10.0.7.9"), NULL);
}

CT_TEST_F(device, one_host_has_so_many_connections_and_some_to_be_told_so)
{
	uint32_t i;
	struct rte_listener *a = one_device(&one, "a")->listener;

	/* 2 of the file, and 16. */
	for (i = 0; i < 18; i++)
		CT_EXPECT_NE(fake_arrives(a, RTE_CLIENT, 3, 1, i + 1, "10.0.1.20"), NULL);
	CT_EXPECT_EQ(fake_arrives(a, RTE_CLIENT, 3, 1, 99, "10.0.1.20"), NULL);
	CT_EXPECT_NE(fake_arrives(a, RTE_CLIENT, 3, 1, 99, "10.0.1.21"), NULL);
	/* One that goes makes room. */
	fake_goes(fake_peer_at(0), FI_ECONNABORTED);
	CT_EXPECT_NE(fake_arrives(a, RTE_CLIENT, 3, 1, 99, "10.0.1.20"), NULL);
}

static const char *host(uint32_t i)
{
	static char text[32];

	snprintf(text, sizeof(text), "10.0.1.%u", 20 + i);
	return text;
}

CT_TEST_F(device, one_host_has_so_many_that_have_said_nothing)
{
	uint32_t i;
	struct rte_listener *a = one_device(&one, "a")->listener;

	for (i = 0; i < 128; i++)
		CT_ASSERT_NE(fake_arrives(a, RTE_ROUTER, 3, 1, 9, host(0)), NULL);
	CT_EXPECT_EQ(fake_arrives(a, RTE_ROUTER, 3, 1, 9, host(0)), NULL);
	CT_EXPECT_NE(fake_arrives(a, RTE_ROUTER, 3, 1, 9, host(1)), NULL);
	/* Others have bounds of their own. */
	CT_EXPECT_NE(fake_arrives(a, RTE_CLIENT, 3, 1, 9, host(0)), NULL);
	fake_flags = RTE_PREAMBLE_CONN;
	for (i = 0; i < 130; i++)
		CT_ASSERT_NE(fake_arrives(a, RTE_ROUTER, 3, 1, 9, host(2)), NULL);
	fake_flags = 0;
	CT_EXPECT_NE(fake_arrives(a, RTE_ROUTER, 3, 1, 9, host(2)), NULL);
}

CT_TEST_F(device, who_has_been_silent_for_longest_makes_room)
{
	uint32_t i;
	struct rte_listener *a = one_device(&one, "a")->listener;

	CT_ASSERT_NE(fake_arrives(a, RTE_ROUTER, 3, 1, 9, host(0)), NULL);
	one_passes(&one, 10);
	for (i = 1; i < 512; i++)
		CT_ASSERT_NE(fake_arrives(a, RTE_ROUTER, 3, 1, 9, host(i / 100)), NULL);
	/* Everybody has some time. */
	CT_EXPECT_EQ(fake_arrives(a, RTE_ROUTER, 3, 1, 9, host(50)), NULL);
	one_passes(&one, 300);
	CT_EXPECT_NE(fake_arrives(a, RTE_ROUTER, 3, 1, 9, host(50)), NULL);
	CT_EXPECT_TRUE(fake_peer_at(0)->in->closed);
	CT_EXPECT_FALSE(fake_peer_at(1)->in->closed);
	CT_EXPECT_EQ(one.node.guests, 512);
}

static void another_comes(struct rte_peer *peer)
{
	CT_EXPECT_NE(fake_arrives(one_device(&one, "a")->listener, RTE_ROUTER, 3, 1, 9,
				  host(51)),
		     NULL);
}

CT_TEST_F(device, who_comes_while_one_is_closed_closes_another)
{
	uint32_t i;
	struct rte_listener *a = one_device(&one, "a")->listener;

	for (i = 0; i < 512; i++)
		CT_ASSERT_NE(fake_arrives(a, RTE_ROUTER, 3, 1, 9, host(i / 100)), NULL);
	one_passes(&one, 300);
	fakes.at_close = another_comes;
	CT_EXPECT_NE(fake_arrives(a, RTE_ROUTER, 3, 1, 9, host(50)), NULL);
	CT_EXPECT_TRUE(fake_peer_at(0)->in->closed);
	CT_EXPECT_EQ(one.node.guests, 513);
	/* The same, for those whose time is over. */
	fakes.at_close = another_comes;
	one_passes(&one, 60000);
	CT_EXPECT_EQ(one.node.guests, 0);
}

CT_TEST_F(device, without_memory_who_is_silent_goes)
{
	struct rte_listener *a = one_device(&one, "a")->listener;

	CT_ASSERT_NE(fake_arrives(a, RTE_CLIENT, 3, 1, 9, host(0)), NULL);
	fakes.crowded = true;
	CT_EXPECT_EQ(fake_arrives(a, RTE_CLIENT, 3, 1, 9, host(1)), NULL);
	CT_EXPECT_FALSE(fake_peer_at(0)->in->closed);
	one_passes(&one, 300);
	CT_EXPECT_EQ(fake_arrives(a, RTE_CLIENT, 3, 1, 9, host(1)), NULL);
	CT_EXPECT_TRUE(fake_peer_at(0)->in->closed);
}

static struct rlimit old_limit;

/* So that fd is the lowest that is free, and there may be 64. */
static uint32_t descriptors_until(int fd, int held[64])
{
	const struct rlimit limit = {.rlim_cur = 64, .rlim_max = old_limit.rlim_max};
	uint32_t count = 0;
	int next;

	CT_EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while ((next = dup(STDERR_FILENO)) >= 0 && next < fd)
		held[count++] = next;
	if (next >= 0)
		close(next);
	return count;
}

CT_TEST_F(device, the_last_descriptors_are_for_neighbours_and_for_its_own)
{
	uint32_t count;
	int held[64];
	struct rte_listener *a = one_device(&one, "a")->listener;

	getrlimit(RLIMIT_NOFILE, &old_limit);
	count = descriptors_until(55, held);
	CT_EXPECT_NE(fake_arrives(a, RTE_CLIENT, 3, 1, 9, host(0)), NULL);
	CT_EXPECT_FALSE(one.node.scarce);
	count += descriptors_until(56, held + count);
	CT_EXPECT_EQ(fake_arrives(a, RTE_CLIENT, 3, 1, 9, host(0)), NULL);
	CT_EXPECT_TRUE(one.node.scarce);
	CT_EXPECT_NE(fake_arrives(a, RTE_ROUTER, 3, 1, 9, host(0)), NULL);
	count += descriptors_until(60, held + count);
	CT_EXPECT_EQ(fake_arrives(a, RTE_ROUTER, 3, 1, 9, host(0)), NULL);
	while (count)
		close(held[--count]);
	CT_EXPECT_NE(fake_arrives(a, RTE_CLIENT, 3, 1, 9, host(0)), NULL);
	CT_EXPECT_FALSE(one.node.scarce);
	setrlimit(RLIMIT_NOFILE, &old_limit);
}

CT_TEST_F(device, without_memory_for_connections_routers_still_come)
{
	struct rte_listener *a = one_device(&one, "a")->listener;

	fakes.crowded = true;
	CT_EXPECT_EQ(fake_arrives(a, RTE_CLIENT, 3, 1, 9, "10.0.1.20"), NULL);
	CT_EXPECT_NE(fake_arrives(a, RTE_ROUTER, 3, 1, 9, "10.0.1.9"), NULL);
	fake_flags = RTE_PREAMBLE_CONN;
	CT_EXPECT_EQ(fake_arrives(a, RTE_ROUTER, 3, 1, 8, "10.0.1.8"), NULL);
	fakes.crowded = false;
	CT_EXPECT_NE(fake_arrives(a, RTE_CLIENT, 3, 1, 9, "10.0.1.20"), NULL);
}

CT_TEST_F(device, a_host_that_sends_no_hello_is_counted_and_logged_once_a_minute)
{
	struct rte_listener *a = one_device(&one, "a")->listener;
	struct rte_peer *fake;

	one_log_begin();
	/* As rte_peer ends them after connect_timeout. */
	fake_goes(fake_arrives(a, RTE_CLIENT, 3, 1, 77, "10.0.1.66"), FI_ETIMEDOUT);
	fake_goes(fake_arrives(a, RTE_ROUTER, 3, 1, 78, "10.0.1.66"), FI_ETIMEDOUT);
	CT_EXPECT_EQ(one.node.counters.silent, 2);
	CT_EXPECT_EQ(one_log_end("10.0.1.66:1234 has connected and sends no HELLO"), 1);
	/* One that leaves is not, nor one that has greeted. */
	fake_goes(fake_arrives(a, RTE_CLIENT, 3, 1, 77, "10.0.1.66"), FI_ECONNABORTED);
	fake = fake_arrives(a, RTE_CLIENT, 3, 1, 77, "10.0.1.66");
	fake->hello.recv_slots[RTE_REQUESTS] = 1;
	fake_goes(fake, FI_ETIMEDOUT);
	CT_EXPECT_EQ(one.node.counters.silent, 2);
	CT_EXPECT_EQ(one.node.guests, 0);
}

CT_TEST_F(
	device,
	tcp_connections_that_send_nothing_are_counted_and_their_beginning_and_end_logged)
{
	fake_mute_ms = 0;
	one_passes(&one, 900);
	CT_EXPECT_EQ(fake_mute_ms, 0);
	one_log_begin();
	one_passes(&one, 1000);
	/* As connections have for their greeting. */
	CT_EXPECT_EQ(fake_mute_ms, 5000);
	fake_mute = 3;
	one_passes(&one, 1000);
	fake_mute = 4;
	one_passes(&one, 1000);
	CT_EXPECT_EQ(one.node.counters.mute, 7);
	CT_EXPECT_EQ(one_log_end("sent nothing, 3 times, and are closed"), 1);
	one_log_begin();
	one_passes(&one, 12000);
	CT_EXPECT_EQ(one_log_end("no more connections that send nothing; 7 were closed"),
		     1);
}

CT_TEST_F(device, descriptors_are_held_back_for_those_that_ask)
{
	struct rlimit limit, few;
	int fd[400], count = 0;

	CT_ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){.rlim_cur = 320, .rlim_max = limit.rlim_max};
	CT_ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	one_passes(&one, 1100);
	CT_EXPECT_EQ(one.node.reserved, 16);
	while (count < 400 && (fd[count] = dup(STDERR_FILENO)) >= 0)
		count++;
	CT_EXPECT_LT(count, 304);
	CT_EXPECT_TRUE(frt_node_reserve_use(&one.node));
	fd[count] = dup(STDERR_FILENO);
	CT_EXPECT_GE(fd[count], 304);
	one_passes(&one, 1100);
	/* Connections that send nothing have less time now. */
	CT_EXPECT_EQ(fake_mute_ms, 250);
	for (; count >= 0; count--)
		close(fd[count]);
	one_passes(&one, 1100);
	CT_EXPECT_EQ(one.node.reserved, 16);
	CT_EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

CT_TEST_F(device, who_says_nothing_or_what_begins_nothing_is_closed)
{
	struct rte_listener *a = one_device(&one, "a")->listener;
	struct rte_peer *fake = fake_arrives(a, RTE_CLIENT, 3, 1, 77, "10.0.1.20");

	one_passes(&one, 9900);
	CT_EXPECT_FALSE(fake->in->closed);
	one_passes(&one, 200);
	CT_EXPECT_TRUE(fake->in->closed);
	CT_EXPECT_EQ(fake->in->status, FI_ETIMEDOUT);
	CT_EXPECT_EQ(one.node.counters.silent, 1);
	/* A client is no neighbour. */
	fake = fake_arrives(a, RTE_CLIENT, 3, 1, 77, "10.0.1.20");
	fake_greets(fake, 3, 1, 77, 0);
	one_heartbeat(fake);
	CT_EXPECT_NE(fake->in->what, NULL);
	CT_EXPECT_EQ(frt_adjacencies_count(&one.node), 0);
}

/* --- Another file --- */

CT_FIXTURE(reload, struct one *, one_set_up, one_tear_down);

CT_TEST_F(reload, connections_stay_where_devices_do)
{
	struct frt_device *a = one_device(&one, "a");
	struct rte_peer *fake = one_visitor(&one, 9, 50);

	CT_EXPECT_EQ(frt_reconfigure(&one.node, conf_parse(ONE_TEXT(
							"cost = 7\ntransit = no\n"
							"router = tcp://10.0.1.33:1\n"))),
		     0);
	one_turn(&one);
	CT_EXPECT_EQ(one_device(&one, "a"), a);
	CT_EXPECT_FALSE(fake->in->closed);
	CT_EXPECT_EQ(a->config->cost, 7000);
	CT_EXPECT_EQ(a->net->device, a->config);
	CT_EXPECT_EQ(a->file, one.node.file);
	/* The new router is tried. */
	CT_EXPECT_EQ(fakes.last->address.in.sin_port, htons(1));
	/* And no more once it is left out. */
	CT_EXPECT_EQ(frt_reconfigure(&one.node, conf_parse(ONE_TEXT(""))), 0);
	one_turn(&one);
	CT_EXPECT_TRUE(fakes.last->in->closed);
	CT_EXPECT_FALSE(fake->in->closed);
}

CT_TEST_F(reload, signs_of_life_stay_as_they_were)
{
	const struct rte_config_routing *routing;
	struct frt_device *a = one_device(&one, "a");

	CT_EXPECT_EQ(frt_reconfigure(
			     &one.node,
			     conf_parse(
				     "[routing]\nheartbeat = 10ms\nheartbeat_loss = 9\n"
				     "connect_timeout = 2s\n" ONE_TEXT(""))),
		     0);
	routing = frt_device_port(a)->attr.routing;
	CT_EXPECT_EQ(routing, &one.node.file->config->routing);
	CT_EXPECT_EQ(routing->heartbeat, 1000);
	CT_EXPECT_EQ(routing->heartbeat_loss, 3);
	CT_EXPECT_EQ(routing->connect_timeout, 2000);
}

CT_TEST_F(reload, devices_come_go_and_change)
{
	static const char other[] =
		"[router]\nid = 5\n" ONE_DEVICE("a", 3, 1, "frag = 4K\n")
			ONE_DEVICE("c", 3, 3, "");
	struct rte_peer *fake = one_visitor(&one, 9, 50);

	CT_EXPECT_EQ(frt_reconfigure(&one.node, conf_parse(other)), 0);
	one_turn(&one);
	CT_EXPECT_TRUE(fake->in->closed);
	CT_EXPECT_EQ(one.node.devices, 2);
	CT_EXPECT_EQ(one_device(&one, "b"), NULL);
	CT_EXPECT_EQ(one_device(&one, "w"), NULL);
	CT_ASSERT_NE(one_device(&one, "a"), NULL);
	CT_EXPECT_TRUE(one_device(&one, "a")->up);
	CT_EXPECT_EQ(one_device(&one, "a")->config->frag, 4096);
	CT_EXPECT_TRUE(one_device(&one, "c")->up);
}

CT_TEST_F(reload, the_policy_changes_and_the_identity_does_not)
{
	static const char policy[] =
		"[router]\nid = 5\nmetric = hops\n" ONE_DEVICE("a", 3, 1, "")
			ONE_DEVICE("b", 3, 2, "");
	static const char id[] =
		"[router]\nid = 6\n" ONE_DEVICE("a", 3, 1, "") ONE_DEVICE("b", 3, 2, "");
	struct frt_file *file;

	CT_EXPECT_EQ(frt_reconfigure(&one.node, conf_parse(policy)), 0);
	CT_EXPECT_EQ(one.node.file->config->router.policy.metric[0], RTE_HOPS);
	file = one.node.file;
	CT_EXPECT_EQ(frt_reconfigure(&one.node, conf_parse(id)), -FI_EINVAL);
	CT_EXPECT_EQ(one.node.file, file);
	one.node.path = "/nowhere";
	CT_EXPECT_NE(frt_reload(&one.node), 0);
	CT_EXPECT_EQ(one.node.file, file);
}

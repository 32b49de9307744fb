/* SPDX-License-Identifier: BSD-2-Clause */
/* What is written is read as the same. */
#include <stdio.h>
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include "conf.h"
#include "random.h"

/* Compared field by field: the tables of keywords have no part in it. */

static void same_text(const char *a, const char *b)
{
	CT_EXPECT_EQ(!a, !b);
	if (a && b)
		CT_EXPECT_STREQ(a, b);
}

static void same_uri(const struct rte_config_uri *a, const struct rte_config_uri *b)
{
	same_text(a->text, b->text);
	CT_EXPECT_TRUE(rte_uri_same(&a->uri, &b->uri));
}

static void same_device(const struct rte_config_device *a,
			const struct rte_config_device *b)
{
	same_text(a->name, b->name);
	CT_EXPECT_EQ(a->transport, b->transport);
	CT_EXPECT_EQ(a->has_as, b->has_as);
	CT_EXPECT_EQ(a->has_subnet, b->has_subnet);
	CT_EXPECT_EQ(a->at.as, b->at.as);
	CT_EXPECT_EQ(a->at.subnet, b->at.subnet);
	CT_EXPECT_EQ(a->routable, b->routable);
	CT_ASSERT_EQ(a->routers, b->routers);
	for (uint32_t i = 0; i < a->routers; i++)
		same_uri(&a->router[i], &b->router[i]);
	same_text(a->provider, b->provider);
	same_text(a->fabric, b->fabric);
	same_text(a->domain, b->domain);
	CT_EXPECT_EQ(a->frag, b->frag);
	CT_EXPECT_EQ(a->transfer, b->transfer);
	CT_EXPECT_EQ(a->auth, b->auth);
	CT_ASSERT_EQ(a->keys, b->keys);
	for (uint32_t i = 0; i < a->keys; i++) {
		CT_EXPECT_EQ(a->key[i].id, b->key[i].id);
		same_text(a->key[i].file, b->key[i].file);
	}
	same_uri(&a->uri, &b->uri);
	CT_EXPECT_EQ(a->peer_as, b->peer_as);
	CT_EXPECT_EQ(a->transit, b->transit);
	CT_EXPECT_EQ(a->rate, b->rate);
	CT_EXPECT_EQ(a->latency, b->latency);
	CT_EXPECT_EQ(a->cost, b->cost);
	CT_EXPECT_EQ(a->caps, b->caps);
}

static void same_match(const struct rte_config_match *a, const struct rte_config_match *b)
{
	CT_EXPECT_EQ(a->any_as, b->any_as);
	CT_EXPECT_EQ(a->any_subnet, b->any_subnet);
	CT_EXPECT_EQ(a->subnet.as, b->subnet.as);
	CT_EXPECT_EQ(a->subnet.subnet, b->subnet.subnet);
}

static void same_lists(const struct rte_config_router *a,
		       const struct rte_config_router *b)
{
	CT_ASSERT_EQ(a->routes, b->routes);
	for (uint32_t i = 0; i < a->routes; i++) {
		CT_ASSERT_EQ(a->route[i].subnets, b->route[i].subnets);
		CT_EXPECT_MEMEQ(a->route[i].subnet, b->route[i].subnet,
				a->route[i].subnets * sizeof(*a->route[i].subnet));
	}
	CT_ASSERT_EQ(a->acls, b->acls);
	for (uint32_t i = 0; i < a->acls; i++) {
		same_match(&a->acl[i].from, &b->acl[i].from);
		same_match(&a->acl[i].to, &b->acl[i].to);
	}
}

static void same_router(const struct rte_config_router *a,
			const struct rte_config_router *b)
{
	CT_EXPECT_EQ(a->as, b->as);
	CT_EXPECT_EQ(a->id, b->id);
	same_text(a->name, b->name);
	CT_EXPECT_MEMEQ(&a->policy, &b->policy, sizeof(a->policy));
	same_lists(a, b);
	same_text(a->control, b->control);
	same_text(a->metrics, b->metrics);
	CT_EXPECT_EQ(a->workers, b->workers);
	CT_EXPECT_EQ(a->connections, b->connections);
	CT_EXPECT_EQ(a->slots, b->slots);
	CT_EXPECT_EQ(a->resolves, b->resolves);
	CT_EXPECT_EQ(a->refresh, b->refresh);
	CT_EXPECT_EQ(a->hold_first, b->hold_first);
	CT_EXPECT_EQ(a->hold_last, b->hold_last);
}

static void same_routing(const struct rte_config_routing *a,
			 const struct rte_config_routing *b)
{
	CT_ASSERT_EQ(a->prefixes, b->prefixes);
	for (uint32_t i = 0; i < a->prefixes; i++) {
		CT_EXPECT_EQ(a->prefix[i].family, b->prefix[i].family);
		CT_EXPECT_EQ(a->prefix[i].bits, b->prefix[i].bits);
		CT_EXPECT_MEMEQ(a->prefix[i].addr, b->prefix[i].addr, 16);
		CT_EXPECT_EQ(a->prefix[i].to.as, b->prefix[i].to.as);
		CT_EXPECT_EQ(a->prefix[i].to.subnet, b->prefix[i].to.subnet);
	}
	CT_EXPECT_EQ(a->port_first, b->port_first);
	CT_EXPECT_EQ(a->port_last, b->port_last);
	CT_EXPECT_EQ(a->heartbeat, b->heartbeat);
	CT_EXPECT_EQ(a->heartbeat_loss, b->heartbeat_loss);
	CT_EXPECT_EQ(a->connect_timeout, b->connect_timeout);
}

static void same_config(const struct rte_config *a, const struct rte_config *b)
{
	CT_EXPECT_EQ(a->is_router, b->is_router);
	same_routing(&a->routing, &b->routing);
	same_router(&a->router, &b->router);
	CT_ASSERT_EQ(a->devices, b->devices);
	for (uint32_t i = 0; i < a->devices; i++)
		same_device(&a->device[i], &b->device[i]);
}

static void expect_same_again(const char *text)
{
	struct rte_config *a = conf_parse(text), *b;
	char *written, *again;

	if (!a)
		return;
	written = conf_text(a);
	b = conf_parse(written);
	if (b) {
		same_config(a, b);
		again = conf_text(b);
		CT_EXPECT_STREQ(again, written);
		free(again);
	}
	rte_config_free(b);
	rte_config_free(a);
	free(written);
}

CT_TEST(write, what_says_all_is_read_as_the_same)
{
	expect_same_again(conf_router_all);
	expect_same_again(conf_client_all);
}

CT_TEST(write, any_configuration_is_read_as_the_same)
{
	const uint64_t seeds = ct_rounds(3000);
	static char text[16384];

	for (uint64_t seed = 0; seed < seeds && !ct_failed(); seed++) {
		random_config(seed, text, sizeof(text));
		CT_NOTE("seed %llu:\n%s", (unsigned long long)seed, text);
		expect_same_again(text);
	}
}

CT_TEST(write, shows_every_value_that_holds)
{
	struct rte_config *config =
		conf_parse("[eth0]\ntransport=sock\nas=3\nsubnet=1\nrouter=sock://h:1\n");
	char *text;

	CT_ASSERT_NE(config, NULL);
	text = conf_text(config);
	CT_EXPECT_STREQ(text, "[routing]\nheartbeat = 1s\nheartbeat_loss = 3\n"
			      "connect_timeout = 5s\n\n"
			      "[eth0]\ntransport = sock\nas = 3\nsubnet = 1\n"
			      "router = sock://h:1\nfrag = 256K\ntransfer = push\n"
			      "auth = open\n");
	free(text);
	rte_config_free(config);
}

CT_TEST(write, says_when_there_is_no_room)
{
	struct rte_config *config = conf_parse(conf_router_all);
	FILE *full = fopen("/dev/full", "we");

	CT_ASSERT_NE(config, NULL);
	CT_ASSERT_NE(full, NULL);
	CT_EXPECT_EQ(rte_config_write(full, config), -FI_EIO);
	fclose(full);
	rte_config_free(config);
}

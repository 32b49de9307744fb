/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of examples/route are right, together as well; and say what the figures do.
 */
#include <stdio.h>
#include <stdlib.h>
#include "conf.h"

static struct rte_config *config[32];
static uint32_t count;

static void load(const char *name)
{
	struct rte_config_errors errors = {0};
	char path[200], *text;
	size_t len;

	snprintf(path, sizeof(path), "examples/route/%s.conf", name);
	text = conf_source(path, &len);
	if (!text)
		return;
	rte_config_parse(text, len, path, &config[count], &errors);
	CT_EXPECT_STREQ(conf_errors(&errors), "");
	if (config[count])
		count++;
	free(text);
}

static void expect_together(void)
{
	struct rte_config_errors errors = {0};

	rte_config_check_set(config, count, &errors);
	CT_EXPECT_STREQ(conf_errors(&errors), "");
}

static void unload(void)
{
	while (count)
		rte_config_free(config[--count]);
}

/* A device of one file: its subnet, and what it costs the document. */
static void expect_cost(uint32_t host, uint32_t device, uint32_t as, uint32_t subnet,
			uint64_t milli)
{
	const struct rte_config_device *d;
	struct rte_link link = {0};
	struct rte_cost cost;

	CT_ASSERT_LT(host, count);
	CT_ASSERT_LT(device, config[host]->devices);
	d = &config[host]->device[device];
	link.rate = d->rate;
	link.caps = d->caps;
	CT_EXPECT_EQ(d->at.as, as);
	CT_EXPECT_EQ(d->at.subnet, subnet);
	cost = rte_link_cost(&config[host]->router.policy, &link);
	CT_EXPECT_EQ(cost.part[0], milli);
}

CT_TEST(examples, figure_2)
{
	static const char *const names[] = {"r1", "r2", "r3", "r4", "client"};
	char name[32];

	for (size_t i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "fig2/%s", names[i]);
		load(name);
	}
	expect_together();
	CT_EXPECT_EQ(count, 5);
	expect_cost(0, 0, 3, 1, 100000);
	expect_cost(0, 1, 0, 0, 100000);
	expect_cost(1, 0, 3, 1, 100000);
	expect_cost(1, 1, 0, 40, 10000);
	expect_cost(2, 1, 3, 2, 31000);
	expect_cost(3, 0, 3, 1, 100000);
	expect_cost(3, 1, 3, 2, 31000);
	expect_cost(3, 2, 3, 3, 15000);
	if (count == 5)
		CT_EXPECT_EQ(config[1]->device[1].peer_as, 4);
	unload();
}

/* Table II. */
CT_TEST(examples, figure_3)
{
	static const char *const names[] = {"r1", "r2",	    "r3",    "r4",
					    "r5", "client", "server"};
	char name[32];

	for (size_t i = 0; i < 7; i++) {
		snprintf(name, sizeof(name), "fig3/%s", names[i]);
		load(name);
	}
	expect_together();
	CT_EXPECT_EQ(count, 7);
	expect_cost(0, 0, 3, 1, 100000);
	expect_cost(0, 1, 3, 2, 100000);
	expect_cost(1, 0, 3, 2, 100000);
	expect_cost(1, 1, 3, 8, 100000);
	expect_cost(2, 0, 3, 1, 100000);
	expect_cost(2, 1, 3, 5, 31000);
	expect_cost(3, 0, 3, 5, 31000);
	expect_cost(3, 1, 3, 6, 31000);
	expect_cost(4, 0, 3, 6, 31000);
	expect_cost(4, 1, 3, 8, 100000);
	unload();
}

CT_TEST(examples, figure_1)
{
	static const char *const names[] = {"as1-r1", "as2-r1", "as2-r2",
					    "as2-r3", "as4-r1", "as4-r2",
					    "as4-r3", "as4-r4", "as4-r5"};
	char name[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(name, sizeof(name), "fig1/%s", names[i]);
		load(name);
	}
	load("fig2/r1");
	load("fig2/r2");
	load("fig2/r3");
	load("fig2/r4");
	expect_together();
	CT_EXPECT_EQ(count, 13);
	/* AS 4 has its compute systems at the ends of routes. */
	if (count == 13)
		CT_EXPECT_FALSE(config[7]->device[1].transit);
	unload();
}

/* doc/tutorial-route.md runs them without root, who alone may make the default socket. */
CT_TEST(examples, routers_of_the_tutorial_have_control_sockets_in_its_folder)
{
	static const char *const names[] = {"r1",      "r2",	"r3",	"r4",
					    "as4r1",   "as4r2", "desk", "storage",
					    "compute", "far"};
	char name[48], control[48];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(name, sizeof(name), "one-machine/%s", names[i]);
		load(name);
	}
	expect_together();
	CT_EXPECT_EQ(count, 10);
	for (i = 0; i < count; i++) {
		if (!config[i]->is_router)
			continue;
		snprintf(control, sizeof(control), "/tmp/fig2/%s.sock", names[i]);
		CT_EXPECT_STREQ(config[i]->router.control, control);
	}
	unload();
}

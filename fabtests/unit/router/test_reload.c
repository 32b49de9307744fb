/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/reload.c: which devices go on with another file. */
#include <stdio.h>
#include "reload.h"
#include "route_config/conf.h"

static const char before[] = "transport = verbs\nas = 0\nsubnet = 7\npeer_as = 4\n"
			     "uri = verbs://192.0.2.1:7000\nprovider = pverbs\n"
			     "fabric = f\ndomain = d\nfrag = 64K\nauth = required\n"
			     "key_file = /k\nkey_id = 1\nrate = 10G\n";

/* With a line in place of the one that begins so, or besides. */
static struct rte_config *with(const char *begins, const char *line)
{
	static char text[1024];
	const char *at = *begins ? strstr(before, begins) : before + strlen(before);
	const char *rest = *begins ? strchr(at, '\n') + 1 : at;

	snprintf(text, sizeof(text),
		 "[router]\nid = 1\n[a]\ntransport = tcp\nas = 3\nsubnet = 1\n"
		 "uri = tcp://10.3.1.1:7000\n[w]\n%.*s%s\n%s",
		 (int)(at - before), before, line, rest);
	return conf_parse(text);
}

static bool stays(const char *begins, const char *line)
{
	struct rte_config *a = with("", ""), *b = with(begins, line);
	bool ret = false;

	CT_EXPECT_TRUE(a && b);
	if (a && b)
		ret = frt_device_stays(&a->device[1], &b->device[1]);
	rte_config_free(a);
	rte_config_free(b);
	return ret;
}

CT_TEST(reload, a_device_stays_while_nothing_changes_that_it_was_opened_with)
{
	CT_EXPECT_TRUE(stays("", ""));
	CT_EXPECT_TRUE(stays("rate", "rate = 20G"));
	CT_EXPECT_TRUE(stays("", "latency = 5us"));
	CT_EXPECT_TRUE(stays("", "cost = 7"));
	CT_EXPECT_TRUE(stays("", "caps = none"));
	CT_EXPECT_TRUE(stays("", "router = verbs://192.0.2.2:7000"));
	CT_EXPECT_TRUE(stays("key_file", "key_file = /other"));
	/* Which one it has been opened over, the sections do not say. */
	CT_EXPECT_TRUE(stays("provider", ""));
}

CT_TEST(reload, a_device_is_opened_anew_with_what_it_was_not_opened_with)
{
	CT_EXPECT_FALSE(stays("subnet", "subnet = 8"));
	CT_EXPECT_FALSE(stays("peer_as", "peer_as = 5"));
	CT_EXPECT_FALSE(stays("peer_as", ""));
	CT_EXPECT_FALSE(stays("uri", "uri = verbs://192.0.2.1:7001"));
	CT_EXPECT_FALSE(stays("uri", ""));
	CT_EXPECT_FALSE(stays("fabric", "fabric = g"));
	CT_EXPECT_FALSE(stays("domain", ""));
	CT_EXPECT_FALSE(stays("frag", "frag = 128K"));
}

/* On a WAN it is required whatever the file says. */
CT_TEST(reload, a_device_is_opened_anew_when_proofs_are_asked_for)
{
#define SECTION(auth)                                                        \
	"[router]\nid = 1\n[b]\ntransport = tcp\nas = 3\nsubnet = 2\n"       \
	"uri = tcp://10.3.2.1:7000\n[a]\ntransport = tcp\nas = 3\n"          \
	"subnet = 1\nuri = tcp://10.3.1.1:7000\nkey_file = /k\nkey_id = 1\n" \
	"auth = " auth "\n"
	struct rte_config *a = conf_parse(SECTION("open")),
			  *b = conf_parse(SECTION("required"));

	CT_ASSERT_TRUE(a && b);
	CT_EXPECT_TRUE(frt_device_stays(&a->device[1], &a->device[1]));
	CT_EXPECT_FALSE(frt_device_stays(&a->device[1], &b->device[1]));
	rte_config_free(a);
	rte_config_free(b);
}

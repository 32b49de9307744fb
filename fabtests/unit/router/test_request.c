/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/control: what is asked. */
#include <stdio.h>
#include <string.h>
#include "cairn_test.h"
#include "control/request.h"

static struct frt_request request;

/* NULL: it is right. */
static const char *parse(const char *text)
{
	return frt_request_parse(&request, text, strlen(text));
}

CT_TEST(request, names_what_is_to_be_shown)
{
	static const char *const names[FRT_SHOWS] = {"topology",    "routes",
						     "connections", "counters",
						     "adjacencies", "blocked"};
	char text[128];
	size_t i;

	for (i = 0; i < FRT_SHOWS; i++) {
		snprintf(text, sizeof(text), "{\"command\": \"show\", \"what\": \"%s\"}",
			 names[i]);
		CT_EXPECT_EQ(parse(text), NULL);
		CT_EXPECT_EQ(request.command, FRT_SHOW);
		CT_EXPECT_EQ(request.what, i);
	}
}

CT_TEST(request, has_a_target_and_what_is_usual)
{
	CT_EXPECT_EQ(parse("{\"command\":\"probe\",\"target\":\"3:2:10.0.2.7\"}"), NULL);
	CT_EXPECT_EQ(request.command, FRT_PROBE);
	CT_EXPECT_EQ(request.target.as, 3);
	CT_EXPECT_EQ(request.target.subnet, 2);
	CT_EXPECT_EQ(request.target.kind, RTE_HOST_IN);
	CT_EXPECT_STREQ(request.target.host, "10.0.2.7");
	CT_EXPECT_EQ(request.ttl, 16);
	CT_EXPECT_EQ(request.timeout, FRT_PROBE_MS);
	CT_EXPECT_EQ(parse("{\"ttl\":0,\"target\":\"3:2:[fe80::7]\",\"timeout\":10000,"
			   "\"command\":\"probe\"}"),
		     NULL);
	CT_EXPECT_EQ(request.target.kind, RTE_HOST_IN6);
	CT_EXPECT_EQ(request.ttl, 0);
	CT_EXPECT_EQ(request.timeout, 10000);
}

CT_TEST(request, drains)
{
	static const char *const names[FRT_DRAIN_ACTIONS] = {"begin", "exit", "undo",
							     "look"};
	char text[128];
	size_t i;

	for (i = 0; i < FRT_DRAIN_ACTIONS; i++) {
		snprintf(text, sizeof(text), "{\"command\":\"drain\",\"action\":\"%s\"}",
			 names[i]);
		CT_EXPECT_EQ(parse(text), NULL);
		CT_EXPECT_EQ(request.command, FRT_DRAIN);
		CT_EXPECT_EQ(request.action, i);
		CT_EXPECT_EQ(request.deadline, 0);
	}
	CT_EXPECT_EQ(parse("{\"deadline\":86400000,\"command\":\"drain\",\"action\":"
			   "\"exit\"}"),
		     NULL);
	CT_EXPECT_EQ(request.deadline, 86400000);
}

CT_TEST(request, asks_why_and_how_busy_and_whether_ready)
{
	CT_EXPECT_EQ(parse("{\"command\":\"ready\"}"), NULL);
	CT_EXPECT_EQ(request.command, FRT_READY);
	CT_EXPECT_EQ(parse("{\"command\":\"top\"}"), NULL);
	CT_EXPECT_EQ(request.count, FRT_TOP_COUNT);
	CT_EXPECT_EQ(parse("{\"command\":\"top\",\"count\":0}"), NULL);
	CT_EXPECT_EQ(request.count, 0);
	CT_EXPECT_EQ(parse("{\"command\":\"why\",\"target\":\"3:4294967295:10.0.0.1\"}"),
		     NULL);
	CT_EXPECT_EQ(request.to.as, 3);
	CT_EXPECT_EQ(request.to.subnet, UINT32_MAX);
	CT_EXPECT_FALSE(request.has_from);
	CT_EXPECT_EQ(parse("{\"command\":\"why\",\"target\":\"3:2\",\"from\":\"3:1\"}"),
		     NULL);
	CT_EXPECT_TRUE(request.has_from);
	CT_EXPECT_EQ(request.from.subnet, 1);
}

CT_TEST(request, that_is_wrong_is_told_why)
{
	static const struct {
		const char *text, *named;
	} wrong[] = {
		{"", "JSON"},
		{"[]", "JSON"},
		{"null", "JSON"},
		{"{\"command\":\"show\"} x", "JSON"},
		{"{\"command\":\"show\",\"command\":\"show\"}", "JSON"},
		{"{}", "command"},
		{"{\"command\":7}", "command"},
		{"{\"command\":\"stop\"}", "command"},
		{"{\"command\":\"show\"}", "what"},
		{"{\"command\":\"show\",\"what\":\"top\"}", "what"},
		{"{\"command\":\"show\",\"what\":\"routes\",\"ttl\":1}", ""},
		{"{\"command\":\"ready\",\"ttl\":1}", ""},
		{"{\"command\":\"top\",\"count\":101}", "count"},
		{"{\"command\":\"top\",\"count\":-1}", "count"},
		{"{\"command\":\"why\"}", "target"},
		{"{\"command\":\"why\",\"target\":\"3\"}", "target"},
		{"{\"command\":\"why\",\"target\":\"3:2x\"}", "target"},
		{"{\"command\":\"why\",\"target\":\"3:4294967296\"}", "target"},
		{"{\"command\":\"why\",\"target\":\"3:2\",\"from\":\"3:1:1\"}", "from"},
		{"{\"command\":\"probe\"}", "target"},
		{"{\"command\":\"probe\",\"target\":\"10.0.0.1\"}", "target"},
		{"{\"command\":\"probe\",\"target\":\"3:2:host\"}", "target"},
		{"{\"command\":\"probe\",\"target\":\"3:2:1.2.3.4:5\"}", "target"},
		{"{\"command\":\"probe\",\"target\":\"3:2:1.2.3.4\",\"ttl\":17}", "ttl"},
		{"{\"command\":\"probe\",\"target\":\"3:2:1.2.3.4\",\"ttl\":-1}", "ttl"},
		{"{\"command\":\"probe\",\"target\":\"3:2:1.2.3.4\",\"ttl\":1.5}", "ttl"},
		{"{\"command\":\"probe\",\"target\":\"3:2:1.2.3.4\",\"timeout\":0}",
		 "timeout"},
		{"{\"command\":\"probe\",\"target\":\"3:2:1.2.3.4\",\"timeout\":10001}",
		 "timeout"},
		{"{\"command\":\"probe\",\"target\":\"3:2:1.2.3.4\",\"what\":\"routes\"}",
		 ""},
		{"{\"command\":\"drain\"}", "action"},
		{"{\"command\":\"drain\",\"action\":\"stop\"}", "action"},
		{"{\"command\":\"drain\",\"action\":\"begin\",\"deadline\":5}",
		 "deadline"},
		{"{\"command\":\"drain\",\"action\":\"exit\",\"deadline\":0}",
		 "deadline"},
		{"{\"command\":\"drain\",\"action\":\"exit\",\"deadline\":86400001}",
		 "deadline"},
	};
	const char *why;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		CT_NOTE("%s", wrong[i].text);
		why = parse(wrong[i].text);
		CT_ASSERT_NE(why, NULL);
		CT_EXPECT_DATA(why, wrong[i].named);
	}
}

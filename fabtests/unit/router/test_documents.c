/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/control and metrics: what people are told, of connections and link
 * states that are made up. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "control/inside.h"
#include "metrics/inside.h"
#include "one.h"
#include "transit/inside.h"

#define GBPS UINT64_C(1000000000)
#define MS 1000000u

static struct frt_transit transits[4];
static json_t *document;

static void set_up(struct one **t)
{
	one_open(&one, NULL);
	frt_transit_ops.open(&one.node);
	ct_time_pass(60000);
}

static void tear_down(struct one **t)
{
	if (!one.node.file)
		return;
	json_decref(document);
	document = NULL;
	frt_transit_ops.close(&one.node);
	one_close(&one);
}

/* The member of entry `at` of a list of the document. */
static const json_t *member(const char *list, size_t at, const char *name)
{
	return json_object_get(json_array_get(json_object_get(document, list), at), name);
}

static const char *text_in(const char *list, size_t at, const char *name)
{
	const char *text = json_string_value(member(list, at, name));

	return text ? text : "";
}

static json_int_t number_in(const char *list, size_t at, const char *name)
{
	return json_integer_value(member(list, at, name));
}

static size_t entries_of(const char *list)
{
	return json_array_size(json_object_get(document, list));
}

/* --- Connections --- */

static void side(struct frt_transit *transit, enum frt_from from, const char *device,
		 uint32_t subnet, const char *host)
{
	struct frt_side *it = &transit->side[from];
	struct rte_peer *fake;

	fake = fake_arrives(one_device(&one, device)->listener, RTE_CLIENT, 3, subnet, 77,
			    host);
	CT_ASSERT_NE(fake, NULL);
	it->transit = transit;
	it->device = one_device(&one, device);
	it->peer = fake;
	it->end = true;
	snprintf(it->text, sizeof(it->text), "%s", host);
}

/* From a host of 3:1 to one of 3:2. */
static void passes(uint32_t at, const char *in, const char *out)
{
	transits[at] = (struct frt_transit){.node = &one.node,
					    .worker = one.node.worker[0],
					    .state = FRT_OPEN,
					    .began = crn_now_ms()};
	side(&transits[at], FRT_IN, "a", 1, in);
	side(&transits[at], FRT_OUT, "b", 2, out);
	crn_list_add_tail(&frt_transits_of(one.node.worker[0])->open,
			  &transits[at].entry);
}

static void over(uint32_t count)
{
	while (count)
		crn_list_del(&transits[--count].entry);
}

static void waits(uint32_t at, enum frt_from from, uint32_t queued, uint64_t ms)
{
	struct frt_lane *lane = &transits[at].side[from].lane[RTE_REQUESTS];

	lane->queued = queued;
	lane->stalls = 1;
	lane->stall_at = frt_worker_now() - ms * MS;
}

CT_FIXTURE(documents, struct one *, set_up, tear_down);

CT_TEST_F(documents, who_gives_no_credit_is_the_blocker)
{
	passes(0, "10.0.1.20", "10.0.2.30");
	passes(1, "10.0.1.21", "10.0.2.30");
	passes(2, "10.0.1.22", "10.0.2.31");
	passes(3, "10.0.1.23", "10.0.2.32");
	waits(0, FRT_IN, 3, 5);
	waits(1, FRT_IN, 4, 20);
	waits(2, FRT_OUT, 9, 10);
	waits(3, FRT_IN, 1, 1);
	document = frt_show_blocked(&one.node);
	CT_EXPECT_EQ(json_integer_value(json_object_get(document, "total")), 4);
	/* Whom most wait for is first. */
	CT_ASSERT_EQ(entries_of("blockers"), 3);
	CT_EXPECT_STREQ(text_in("blockers", 0, "blocker"), "10.0.2.30");
	CT_EXPECT_STREQ(text_in("blockers", 0, "device"), "b");
	CT_EXPECT_EQ(number_in("blockers", 0, "stalled"), 2);
	CT_EXPECT_EQ(number_in("blockers", 0, "queued"), 7);
	CT_EXPECT_EQ(number_in("blockers", 0, "stalls"), 2);
	CT_EXPECT_EQ(number_in("blockers", 0, "longest_ns"), 20 * MS);
	CT_EXPECT_EQ(number_in("blockers", 0, "stall_ns"), 25 * MS);
	CT_EXPECT_STREQ(text_in("blockers", 1, "blocker"), "10.0.1.22");
	CT_EXPECT_STREQ(text_in("blockers", 1, "device"), "a");
	CT_EXPECT_STREQ(text_in("blockers", 2, "blocker"), "10.0.2.32");
	/* Who waits longest is. */
	CT_ASSERT_EQ(entries_of("waiting"), 4);
	CT_EXPECT_STREQ(text_in("waiting", 0, "waits"), "10.0.1.21");
	CT_EXPECT_STREQ(text_in("waiting", 0, "blocked_by"), "10.0.2.30");
	CT_EXPECT_STREQ(text_in("waiting", 1, "waits"), "10.0.2.31");
	CT_EXPECT_STREQ(text_in("waiting", 1, "blocked_by"), "10.0.1.22");
	CT_EXPECT_STREQ(text_in("waiting", 2, "waits"), "10.0.1.20");
	CT_EXPECT_STREQ(text_in("waiting", 3, "waits"), "10.0.1.23");
	over(4);
}

static void has_passed(uint32_t at, uint64_t bytes)
{
	transits[at].side[FRT_IN].lane[RTE_REQUESTS].bytes += bytes / 2;
	transits[at].side[FRT_OUT].lane[RTE_RESPONSES].bytes += bytes - bytes / 2;
}

CT_TEST_F(documents, the_busiest_connections_are_first)
{
	passes(0, "10.0.1.20", "10.0.2.30");
	passes(1, "10.0.1.21", "10.0.2.31");
	passes(2, "10.0.1.22", "10.0.2.32");
	ct_time_pass(2000);
	has_passed(0, 2000);
	has_passed(1, 10000);
	has_passed(2, 6000);
	document = frt_show_top(&one.node, 2);
	CT_ASSERT_EQ(entries_of("connections"), 2);
	CT_EXPECT_STREQ(text_in("connections", 0, "in"), "10.0.1.21");
	CT_EXPECT_EQ(number_in("connections", 0, "bytes_per_second"), 5000);
	CT_EXPECT_STREQ(text_in("connections", 1, "in"), "10.0.1.22");
	CT_EXPECT_EQ(number_in("connections", 1, "bytes_per_second"), 3000);
	json_decref(document);
	/* What was told once is not told again. */
	ct_time_pass(1000);
	has_passed(0, 100);
	document = frt_show_top(&one.node, 3);
	CT_ASSERT_EQ(entries_of("connections"), 3);
	CT_EXPECT_STREQ(text_in("connections", 0, "in"), "10.0.1.20");
	CT_EXPECT_EQ(number_in("connections", 0, "bytes_per_second"), 100);
	CT_EXPECT_EQ(number_in("connections", 2, "bytes_per_second"), 0);
	over(3);
}

/* --- Why --- */

static void link_of(struct rte_link *link, uint32_t as, uint32_t subnet, uint32_t gbps,
		    const uint64_t *neighbour)
{
	*link = (struct rte_link){.scope_as = as,
				  .subnet = subnet,
				  .rate = gbps * GBPS,
				  .frag_max = RTE_FRAG_MIN,
				  .up = true,
				  .neighbour = neighbour,
				  .neighbours = neighbour != NULL,
				  .uri = "tcp://10.0.0.1:1"};
}

static void told(uint64_t router, const struct rte_link *link, uint32_t links)
{
	const struct rte_lsa lsa = {.as = 3,
				    .router = router,
				    .epoch = 1,
				    .seq = 1,
				    .lifetime = 3600000,
				    .links = links,
				    .link = link};

	CT_EXPECT_EQ(rte_lsdb_put(rte_sync_db(one.node.sync), &lsa, crn_now_ms()), 1);
	frt_routes_put(&one.node, &lsa);
}

/* 3:1 -R6- 3:4 -R8- 3:3 and 3:1 -R9- 3:3, which costs more; R6 on a WAN of AS 4, too. R6
 * and R9 are connected here; R10, beside R9, is not. */
static void others(void)
{
	static const uint64_t six = 6, eight = 8;
	struct rte_link link[3];

	one_visitor(&one, 6, 1);
	one_visitor(&one, 9, 1);
	one_passes(&one, 300);
	link_of(&link[0], 4, 40, 10, NULL);
	link_of(&link[1], 3, 1, 100, NULL);
	link_of(&link[2], 3, 4, 10, &eight);
	told(6, (struct rte_link[]){link[1], link[2], link[0]}, 3);
	link_of(&link[0], 3, 3, 100, NULL);
	link_of(&link[1], 3, 4, 100, &six);
	told(8, link, 2);
	link_of(&link[0], 3, 1, 100, NULL);
	link_of(&link[1], 3, 3, 1, NULL);
	told(9, link, 2);
	told(10, link, 2);
}

static void why(const char *from, const char *to)
{
	struct frt_request request;
	char text[128];

	snprintf(text, sizeof(text),
		 "{\"command\":\"why\",\"target\":\"%s\",\"from\":\"%s\"}", to, from);
	CT_ASSERT_EQ(frt_request_parse(&request, text, strlen(text)), NULL);
	json_decref(document);
	document = frt_show_why(&one.node, &request);
	CT_ASSERT_NE(document, NULL);
}

static bool left_out(json_int_t router, const char *subnet)
{
	size_t i;

	for (i = 0; i < entries_of("excluded"); i++)
		if (number_in("excluded", i, "router") == router &&
		    !strcmp(text_in("excluded", i, "subnet"), subnet))
			return true;
	return false;
}

static json_int_t step_cost(size_t route, size_t step)
{
	const json_t *steps = member("routes", route, "steps");

	return json_integer_value(
		json_object_get(json_object_get(json_array_get(steps, step), "cost"),
				"bandwidth"));
}

CT_TEST_F(documents, why_has_what_each_subnet_costs_and_how_far_others_are_behind)
{
	others();
	why("3:1", "3:3");
	CT_ASSERT_EQ(entries_of("routes"), 2);
	/* 20 and 20, doubled for tcp; 3:4 is as slow as the slower of its two. */
	CT_EXPECT_EQ(step_cost(0, 0), 20000);
	CT_EXPECT_EQ(step_cost(0, 1), 200000);
	CT_EXPECT_EQ(step_cost(0, 2), 20000);
	CT_EXPECT_EQ(step_cost(1, 0), 20000);
	CT_EXPECT_EQ(step_cost(1, 1), 2000000);
	CT_EXPECT_EQ(member("routes", 0, "by"), NULL);
	CT_EXPECT_STREQ(text_in("routes", 1, "differs_in"), "bandwidth");
	CT_EXPECT_EQ(number_in("routes", 1, "by"), 2020000 - 240000);
}

CT_TEST_F(documents, why_leaves_out_the_wans_of_third_as_alone)
{
	others();
	why("3:1", "3:3");
	CT_EXPECT_TRUE(left_out(6, "0:40"));
	why("3:1", "4:1");
	CT_EXPECT_FALSE(left_out(6, "0:40"));
}

CT_TEST_F(documents, why_has_the_status_that_a_connection_has)
{
	others();
	why("3:1", "3:1");
	CT_EXPECT_EQ(json_integer_value(json_object_get(document, "status")), ELOOP);
	why("3:1", "3:77");
	CT_EXPECT_EQ(json_integer_value(json_object_get(document, "status")),
		     FI_ENETUNREACH);
}

/* --- Metrics --- */

CT_TEST_F(documents, rates_are_exported_in_bytes)
{
	char *text;
	size_t len;

	one_device(&one, "a")->rate = 8 * GBPS;
	text = frt_metrics_text(&one.node, &len);
	CT_ASSERT_NE(text, NULL);
	CT_EXPECT_STRSTR(text, "\ncairn_router_device_rate_bytes_per_second{device=\"a\","
			       "subnet=\"3:1\"} 1000000000\n");
	free(text);
}

CT_TEST_F(documents, whoever_was_not_let_in_is_exported_by_the_reason)
{
	static const struct {
		enum rte_denial why;
		const char *name;
	} rows[] = {
		{RTE_DENIED_NO_PROOF, "no_proof"}, {RTE_DENIED_NO_KEY, "no_key"},
		{RTE_DENIED_KEY_ID, "key_id"},	   {RTE_DENIED_KEY, "key"},
		{RTE_DENIED_REPLAY, "replay"},
	};
	char line[80], *text;
	size_t len, i;

	for (i = 0; i < CRN_COUNT(rows); i++)
		one.node.counters.denied[rows[i].why] = 10 + i;
	text = frt_metrics_text(&one.node, &len);
	CT_ASSERT_NE(text, NULL);
	for (i = 0; i < CRN_COUNT(rows); i++) {
		snprintf(line, sizeof(line),
			 "\ncairn_router_denied_total{reason=\"%s\"} %zu\n", rows[i].name,
			 10 + i);
		CT_EXPECT_STRSTR(text, line);
	}
	free(text);
}

static bool exported(const char *line)
{
	size_t len;
	char *text = frt_metrics_text(&one.node, &len);
	const bool is = text && strstr(text, line);

	free(text);
	return is;
}

CT_TEST_F(documents, what_a_peer_has_sent_stays_counted_when_it_has_gone)
{
	static const char line[] = "\ncairn_router_device_received_bytes_total{device="
				   "\"a\",subnet=\"3:1\"} 4711\n";
	struct rte_peer *fake = one_visitor(&one, 6, 1);

	CT_ASSERT_NE(fake, NULL);
	fake->stats_rx_bytes = 4711;
	CT_EXPECT_TRUE(exported(line));
	fake_goes(fake, FI_ECONNABORTED);
	one_turn(&one);
	CT_EXPECT_EQ(one_adjacent(&one, 6), NULL);
	CT_EXPECT_TRUE(exported(line));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Each figure is in its place, in its unit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <jansson.h>
#include "cairn_test.h"
#include "report.h"

volatile sig_atomic_t png_stops;

/* Calls of this test are in chunks, Replies are not. */
bool png_in_chunk(const struct png_end *end, size_t size)
{
	return size == end->plan.size;
}

static const struct ping_figures figures = {.count = 10,
					    .stalls = 11,
					    .elapsed = 2500000000,
					    .least = 1100,
					    .mean = 21200,
					    .p50 = 31300,
					    .p90 = 41400,
					    .p99 = 51500,
					    .p999 = 61600,
					    .most = 71700};

static char output[4096];

/* What png_report prints. */
static void report(bool as_json)
{
	struct png_options options = {.host = "there",
				      .port = "17",
				      .provider = "tcp;rpcrdma",
				      .program = 18,
				      .version = 19,
				      .json = as_json};
	struct png_end end = {
		.options = &options,
		.link.peer = "there, port 17",
		.limits = {.send_inline = 4096, .recv_inline = 4096, .credits = 20},
		.plan = {.size = 5000, .reply_size = 21, .depth = 22}};
	const struct png_report of = {.end = &end,
				      .out = figures,
				      .in = {.count = 4, .elapsed = 1000000000},
				      .begun = true,
				      .answered = true};
	char path[] = "/tmp/cairn-report-XXXXXX";
	const int file = mkstemp(path), saved = dup(STDOUT_FILENO);
	ssize_t len;

	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	CT_EXPECT_TRUE(png_report(&of));
	dup2(saved, STDOUT_FILENO);
	len = pread(file, output, sizeof(output) - 1, 0);
	output[len < 0 ? 0 : len] = '\0';
	close(saved);
	close(file);
	unlink(path);
}

CT_TEST(rpcping_report, the_table_has_each_figure_under_its_head)
{
	report(false);
	CT_EXPECT_DATA(output, "17 5000 Read 21 22");
	CT_EXPECT_STREQ(
		strchr(output, '\n'),
		"\n"
		"           Calls     Calls/s    min us    p50 us    p90 us    p99 us  "
		"p99.9 us    max us\n"
		"out           10         4.0       1.1      31.3      41.4      51.5    "
		"  "
		"61.6      71.7\n"
		"in             4         4.0       0.0       0.0       0.0       0.0    "
		"   "
		"0.0       0.0\n");
}

static void is(const json_t *object, const char *member, double value)
{
	const double found = json_number_value(json_object_get(object, member));

	CT_NOTE("%s: %f", member, found);
	CT_EXPECT_TRUE(found > value - 1e-6 && found < value + 1e-6);
}

CT_TEST(rpcping_report, json_has_each_figure_under_its_name)
{
	const json_t *out;
	json_t *root;

	report(true);
	root = json_loads(output, 0, NULL);
	CT_ASSERT_TRUE(root);
	is(root, "program", 18);
	is(root, "version", 19);
	is(root, "size", 5000);
	is(root, "reply_size", 21);
	is(root, "inline", 4096);
	is(root, "depth", 22);
	is(root, "credits", 20);
	CT_EXPECT_TRUE(json_is_true(json_object_get(root, "read_chunk")));
	CT_EXPECT_TRUE(json_is_false(json_object_get(root, "write_chunk")));
	out = json_object_get(root, "out");
	is(out, "calls", 10);
	is(out, "seconds", 2.5);
	is(out, "calls_per_s", 4);
	is(out, "stalls", 11);
	is(out, "min_us", 1.1);
	is(out, "mean_us", 21.2);
	is(out, "p50_us", 31.3);
	is(out, "p90_us", 41.4);
	is(out, "p99_us", 51.5);
	is(out, "p999_us", 61.6);
	is(out, "max_us", 71.7);
	is(json_object_get(root, "in"), "calls", 4);
	json_decref(root);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <rdma/fabric.h>
#include <cairn/compat.h>
#include <cairn/param.h>
#include "cairn_test.h"

static struct fi_provider prov = {.name = "some_layer"};

static int depth, verbose, order;
static size_t bytes;
static char *path;

static const char *const orders[] = {"strict", "loose", "none", NULL};

static const struct crn_param table[] = {
	CRN_PARAM_INT("depth", &depth, 3, -1, 7, "Hops at most"),
	CRN_PARAM_SIZE("bytes", &bytes, 256, 1, 1ll << 33, "Bytes of a header"),
	CRN_PARAM_BOOL("verbose", &verbose, 1, "Whether it talks"),
	CRN_PARAM_STRING("path", &path, "all files", "Files to read"),
	CRN_PARAM_WORD("order", &order, 1, orders, "How strict it is"),
};

static const char *const names[] = {"FI_SOME_LAYER_DEPTH", "FI_SOME_LAYER_BYTES",
				    "FI_SOME_LAYER_VERBOSE", "FI_SOME_LAYER_PATH",
				    "FI_SOME_LAYER_ORDER"};

/* libfabric, as it starts, forgets and leaks what it was told before. */
static void start_libfabric(void)
{
	struct fi_param *params;
	int count;

	CT_ASSERT_EQ(fi_getparams(&params, &count), 0);
	fi_freeparams(params);
}

/* Reads the table with one variable set, over values that are none of it. */
static size_t read_with(const char *name, const char *value)
{
	size_t ignored;

	start_libfabric();
	depth = verbose = order = 99;
	bytes = 99;
	path = (char *)names;
	ct_log_reset();
	for (size_t i = 0; i < CRN_COUNT(names); i++)
		unsetenv(names[i]);
	if (name)
		setenv(name, value, 1);
	ignored = crn_params_read(&prov, table, CRN_COUNT(table));
	if (name)
		unsetenv(name);
	return ignored;
}

static void expect_defaults(void)
{
	CT_EXPECT_EQ(depth, 3);
	CT_EXPECT_EQ(bytes, 256);
	CT_EXPECT_EQ(verbose, 1);
	CT_EXPECT_EQ(path, NULL);
	CT_EXPECT_EQ(order, 1);
}

CT_TEST(param, what_is_not_set_has_its_default)
{
	CT_EXPECT_EQ(read_with(NULL, NULL), 0);
	expect_defaults();
	CT_EXPECT_STREQ(ct_log_last(), "");
}

CT_TEST(param, what_is_set_and_in_range_is_taken)
{
	static const struct {
		const char *name, *text;
		const int *number;
		long long wanted;
	} rows[] = {
		{"FI_SOME_LAYER_DEPTH", "-1", &depth, -1},
		{"FI_SOME_LAYER_DEPTH", "7", &depth, 7},
		{"FI_SOME_LAYER_BYTES", "1", NULL, 1},
		{"FI_SOME_LAYER_BYTES", "8589934592", NULL, 1ll << 33},
		{"FI_SOME_LAYER_VERBOSE", "0", &verbose, 0},
		{"FI_SOME_LAYER_VERBOSE", "no", &verbose, 0},
		{"FI_SOME_LAYER_VERBOSE", "yes", &verbose, 1},
		{"FI_SOME_LAYER_ORDER", "strict", &order, 0},
		{"FI_SOME_LAYER_ORDER", "loose", &order, 1},
		{"FI_SOME_LAYER_ORDER", "none", &order, 2},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s=%s", rows[i].name, rows[i].text);
		CT_EXPECT_EQ(read_with(rows[i].name, rows[i].text), 0);
		CT_EXPECT_EQ(rows[i].number ? *rows[i].number : (long long)bytes,
			     rows[i].wanted);
		CT_EXPECT_STREQ(ct_log_last(), "");
	}
	setenv("FI_SOME_LAYER_PATH", "/a b", 1);
	CT_EXPECT_EQ(crn_params_read(&prov, table, CRN_COUNT(table)), 0);
	CT_EXPECT_STREQ(path, "/a b");
	unsetenv("FI_SOME_LAYER_PATH");
}

CT_TEST(param, what_is_out_of_range_is_ignored_with_one_line)
{
	static const struct {
		const char *name, *text, *allowed; /* in the line */
	} rows[] = {
		{"FI_SOME_LAYER_DEPTH", "-2", "7"},
		{"FI_SOME_LAYER_DEPTH", "8", "7"},
		{"FI_SOME_LAYER_BYTES", "0", "8589934592"},
		{"FI_SOME_LAYER_BYTES", "8589934593", "8589934592"},
		{"FI_SOME_LAYER_BYTES", "-1", "8589934592"},
		{"FI_SOME_LAYER_VERBOSE", "perhaps", NULL},
		{"FI_SOME_LAYER_ORDER", "lax", "loose"},
		{"FI_SOME_LAYER_ORDER", "", "none"},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s=%s", rows[i].name, rows[i].text);
		CT_EXPECT_EQ(read_with(rows[i].name, rows[i].text), 1);
		expect_defaults();
		CT_EXPECT_EQ(ct_log_count(), 1);
		CT_EXPECT_STRSTR(ct_log_last(), rows[i].name);
		if (!rows[i].allowed)
			continue;
		CT_EXPECT_STRSTR(ct_log_last(), rows[i].text);
		CT_EXPECT_STRSTR(ct_log_last(), rows[i].allowed);
	}
}

CT_TEST(param, it_says_how_many_were_ignored)
{
	start_libfabric();
	setenv("FI_SOME_LAYER_DEPTH", "100", 1);
	setenv("FI_SOME_LAYER_BYTES", "0", 1);
	setenv("FI_SOME_LAYER_ORDER", "lax", 1);
	ct_log_reset();
	CT_EXPECT_EQ(crn_params_read(&prov, table, CRN_COUNT(table)), 3);
	CT_EXPECT_EQ(ct_log_count(), 3);
	expect_defaults();
	read_with(NULL, NULL);
}

/* What libfabric was told of a variable; an empty text when it knows none. */
static struct {
	enum fi_param_type type;
	char help[512];
} told;

static void ask(const char *name)
{
	struct fi_param *params;
	int count;

	memset(&told, 0, sizeof(told));
	CT_ASSERT_EQ(fi_getparams(&params, &count), 0);
	for (int i = 0; i < count; i++) {
		if (strcmp(params[i].name, name) != 0)
			continue;
		told.type = params[i].type;
		snprintf(told.help, sizeof(told.help), "%s", params[i].help_string);
	}
	fi_freeparams(params);
}

CT_TEST(param, libfabric_is_told_the_type_the_default_and_the_range)
{
	static const struct {
		enum fi_param_type type;
		const char *help;
	} wanted[] = {
		{FI_PARAM_INT, "some_layer: Hops at most (default: 3; -1 to 7)"},
		{FI_PARAM_SIZE_T,
		 "some_layer: Bytes of a header (default: 256; 1 to 8589934592)"},
		{FI_PARAM_BOOL, "some_layer: Whether it talks (default: yes)"},
		{FI_PARAM_STRING, "some_layer: Files to read (default: all files)"},
		{FI_PARAM_STRING, "some_layer: How strict it is (default: loose; strict, "
				  "loose or none)"},
	};

	read_with(NULL, NULL);
	for (size_t i = 0; i < CRN_COUNT(names); i++) {
		ask(names[i]);
		CT_EXPECT_EQ(told.type, wanted[i].type);
		CT_EXPECT_STREQ(told.help, wanted[i].help);
	}
}

CT_TEST(param, more_words_than_a_line_holds_are_cut)
{
	static const char long_word[] =
		"a-word-of-some-length-that-is-repeated-until-a-line-of-the-log-is-full";
	static const char *const many[] = {long_word, long_word, long_word, long_word,
					   long_word, long_word, "last",    NULL};
	static const struct crn_param row =
		CRN_PARAM_WORD("many", &order, 6, many, "One of many");

	start_libfabric();
	setenv("FI_SOME_LAYER_MANY", "x", 1);
	CT_EXPECT_EQ(crn_params_read(&prov, &row, 1), 1);
	CT_EXPECT_EQ(order, 6);
	CT_EXPECT_STRSTR(ct_log_last(), "FI_SOME_LAYER_MANY");
	CT_EXPECT_STRSTR(ct_log_last(), "a-word");
	setenv("FI_SOME_LAYER_MANY", "last", 1);
	CT_EXPECT_EQ(crn_params_read(&prov, &row, 1), 0);
	unsetenv("FI_SOME_LAYER_MANY");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* choose.c, name.c and ask.c: whether a layer answers, and over which provider. */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "lower_world.h"

static const struct crn_lower_row pass_all[] = {
	{CRN_LOWER_CAPS, CRN_LOWER_PASS, UINT64_MAX},
	{CRN_LOWER_MODE, CRN_LOWER_PASS, UINT64_MAX},
	{CRN_LOWER_MR_MODE, CRN_LOWER_PASS, UINT64_MAX},
};

static void open_world(struct lower_world *w)
{
	lower_world_open(w, pass_all, CRN_COUNT(pass_all));
}

static void expect_asked(struct lower_world *w, const char *const *names, size_t count)
{
	size_t i;

	CT_EXPECT_EQ(w->asked, count);
	for (i = 0; i < count && i < w->asked; i++)
		CT_EXPECT_STREQ(w->asks[i].prov_name, names[i]);
}

#define EXPECT_ASKED(w, ...)                                \
	expect_asked(w, (const char *const[]){__VA_ARGS__}, \
		     CRN_COUNT(((const char *const[]){__VA_ARGS__})))

CT_TEST(lower, the_first_of_pverbs_verbs_and_tcp_that_fits_is_the_lower_provider)
{
	struct lower_world w;

	open_world(&w);
	lower_add(&w, "tcp", "fab");
	CT_EXPECT_EQ(lower_answers(&w, "lay"), 0);
	EXPECT_ASKED(&w, "pverbs", "verbs", "tcp");
	lower_world_close(&w);

	open_world(&w);
	lower_add(&w, "tcp", "fab");
	lower_add(&w, "verbs", "fab");
	CT_EXPECT_EQ(lower_answers(&w, "lay"), 0);
	EXPECT_ASKED(&w, "pverbs", "verbs");
	lower_world_close(&w);
}

CT_TEST(lower, the_hint_goes_before_the_parameter_and_that_before_the_usual_ones)
{
	struct lower_world w;
	char param[] = "two";

	open_world(&w);
	lower_add(&w, "one", "fab");
	lower_add(&w, "two", "fab");
	w.param = param;
	CT_EXPECT_EQ(lower_answers(&w, "lay"), 0);
	CT_EXPECT_EQ(lower_answers(&w, "one;lay"), 0);
	CT_EXPECT_EQ(lower_answers(&w, "ONE;LAY;^ofi_rxm"), -FI_ENODATA);
	EXPECT_ASKED(&w, "two", "one", "ONE");
	lower_world_close(&w);
}

CT_TEST(lower, what_the_program_or_the_user_names_is_the_only_one_that_is_tried)
{
	struct lower_world w;
	char param[] = "two";

	open_world(&w);
	lower_add(&w, "tcp", "fab");
	CT_EXPECT_EQ(lower_answers(&w, "one;lay"), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), "provider one");
	CT_EXPECT_STRSTR(ct_log_last(), "FI_LAY_LOWER");
	w.param = param;
	CT_EXPECT_EQ(lower_answers(&w, "lay"), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 2);
	EXPECT_ASKED(&w, "one", "two");
	lower_world_close(&w);
}

CT_TEST(lower, without_any_the_log_says_what_to_set)
{
	struct lower_world w;

	open_world(&w);
	CT_EXPECT_EQ(lower_answers(&w, "lay"), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), "neither pverbs, verbs nor tcp");
	CT_EXPECT_STRSTR(ct_log_last(), "FI_LAY_LOWER");
	lower_world_close(&w);
}

CT_TEST(lower, a_stack_of_layers_is_asked_by_its_last_name)
{
	struct lower_world w;

	open_world(&w);
	lower_add(&w, "tcp;other", "fab");
	CT_EXPECT_EQ(lower_answers(&w, "tcp;other;lay"), 0);
	CT_EXPECT_EQ(lower_answers(&w, "tcp;lay"), -FI_ENODATA);
	EXPECT_ASKED(&w, "tcp;other", "tcp");
	/* libfabric allows one name with the flag for core providers. */
	CT_EXPECT_EQ(w.asks[0].flags, 1ULL << 60);
	CT_EXPECT_EQ(w.asks[1].flags, 1ULL << 60 | 1ULL << 59);
	lower_world_close(&w);
}

/* FI_PROVIDER, prov_name of the hints, and whether there is an answer. */
static const struct {
	const char *filter, *hint;
	bool answers;
	const char *over; /* last asked */
} rows[] = {
	{NULL, NULL, false, NULL},
	{NULL, "", false, NULL},
	{NULL, "lay", true, "tcp"},
	{NULL, "Lay", true, "tcp"},
	{NULL, "tcp;lay", true, "tcp"},
	{NULL, "tcp;lay;^ofi_rxm", true, "tcp"},
	{NULL, "one;lay", true, "one"},
	{NULL, "lay;^tcp", false, "verbs"},
	{NULL, "tcp;lay;^tcp", false, NULL},
	{NULL, "^lay", false, NULL},
	{NULL, "tcp", false, NULL},
	{NULL, "layer", false, NULL},
	{NULL, "lay;lay", false, NULL},
	{NULL, "tcp;lay;lay", false, NULL},
	{"lay", NULL, true, "tcp"},
	{"lay", "", true, "tcp"},
	{"lay", "^ofi_rxm", true, "tcp"},
	{"lay,tcp", NULL, true, "tcp"},
	{"tcp,lay", NULL, true, "tcp"},
	{"tcp,LAY", NULL, true, "tcp"},
	{"tcp,layer", NULL, false, NULL},
	{"tcp;lay", NULL, false, NULL},
	{"tcp", NULL, false, NULL},
	{"tcp", "lay", true, "tcp"},
	{"^lay", NULL, false, NULL},
	{"^one", NULL, false, NULL},
	{"^tcp", "lay", false, "verbs"},
	{"^one,tcp", "lay", false, "verbs"},
	{"^tcp", "tcp;lay", false, NULL},
	{"^tcp", "one;tcp;lay", false, NULL},
	{"^tcp", "one;lay", true, "one"},
	/* What is excluded before the layer's name is no choice. */
	{NULL, "^tcp;lay", false, "verbs"},
	{NULL, "^one;lay", true, "tcp"},
	{NULL, "^tcp;^one;lay", false, "verbs"},
	{NULL, "^tcp;one;lay", true, "one"},
	{NULL, "one;^tcp;lay", true, "one"},
	{NULL, "^one;one;lay", false, NULL},
};

CT_TEST(lower, answers_who_names_it_and_runs_over_what_is_not_excluded)
{
	struct lower_world w;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("FI_PROVIDER=%s, hint %s", rows[i].filter ? rows[i].filter : "-",
			rows[i].hint ? rows[i].hint : "-");
		open_world(&w);
		lower_add(&w, "tcp", "fab");
		lower_add(&w, "one", "fab");
		lower_filter(rows[i].filter);
		CT_EXPECT_EQ(lower_answers(&w, rows[i].hint),
			     rows[i].answers ? 0 : -FI_ENODATA);
		CT_EXPECT_EQ(w.asked > 0, rows[i].over != NULL);
		if (w.asked && rows[i].over)
			CT_EXPECT_STREQ(w.asks[w.asked - 1].prov_name, rows[i].over);
		lower_world_close(&w);
	}
}

CT_TEST(lower, a_provider_of_its_own_choice_is_named_without_a_lower_one)
{
	static const struct {
		const char *filter, *prov_name;
		bool named;
	} cases[] = {
		{NULL, NULL, false},
		{NULL, "lay", true},
		{NULL, "LAY", true},
		{NULL, "layer", false},
		{NULL, "lay;ofi_rxm", true},
		{NULL, "lay;^ofi_rxm", true},
		{NULL, "^verbs;lay", true},
		{NULL, "tcp;lay", false},
		{NULL, "^verbs;tcp;lay", false},
		{"lay", NULL, true},
		{"tcp,lay", NULL, true},
		{"^lay", NULL, false},
		{"tcp", NULL, false},
	};
	struct lower_world w;
	size_t i;

	open_world(&w);
	for (i = 0; i < CRN_COUNT(cases); i++) {
		CT_NOTE("FI_PROVIDER %s, prov_name %s",
			cases[i].filter ? cases[i].filter : "none",
			cases[i].prov_name ? cases[i].prov_name : "none");
		lower_filter(cases[i].filter);
		CT_EXPECT_EQ(crn_lower_named(&w.prov, cases[i].prov_name),
			     cases[i].named);
	}
	lower_filter(NULL);
	lower_world_close(&w);
}

CT_TEST(lower, an_exclusion_as_the_parameter_names_nobody)
{
	struct lower_world w;
	char param[] = "^tcp";

	open_world(&w);
	lower_add(&w, param, "fab");
	w.param = param;
	CT_EXPECT_EQ(lower_answers(&w, "lay"), -FI_ENODATA);
	CT_EXPECT_EQ(w.asked, 0);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), "^tcp names no provider: name one in LOWER;lay");
	lower_world_close(&w);
}

CT_TEST(lower, runs_not_over_itself_and_says_what_to_do)
{
	struct lower_world w;
	char param[] = "lay";

	open_world(&w);
	CT_EXPECT_EQ(lower_answers(&w, "lay;lay"), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), "cannot run over itself");
	w.param = param;
	CT_EXPECT_EQ(lower_answers(&w, "lay"), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 2);
	CT_EXPECT_STRSTR(ct_log_last(), "FI_LAY_LOWER");
	CT_EXPECT_EQ(w.asked, 0);
	lower_world_close(&w);
}

/* Another layer, which asks back. */
static void ask_back(struct lower_world *w)
{
	ct_log_reset();
	CT_EXPECT_EQ(lower_answers(w, "lay"), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), "would run over itself: set FI_LAY_LOWER");
}

static void ask_from_another(struct lower_world *w)
{
	struct crn_lower_layer other = w->layer;
	struct fi_info *info;

	w->on_ask = ask_back;
	CT_EXPECT_EQ(crn_lower_getinfo(&other, FI_VERSION(1, 17), NULL, NULL, 0, NULL,
				       &info),
		     0);
	fi_freeinfo(info);
}

CT_TEST(lower, a_question_that_comes_back_to_the_layer_has_no_answer)
{
	struct lower_world w;

	open_world(&w);
	lower_add(&w, "tcp", "fab");
	w.on_ask = ask_back;
	CT_EXPECT_EQ(lower_answers(&w, "tcp;lay"), 0);
	CT_EXPECT_EQ(w.asked, 1);
	/* And it may ask again afterwards. */
	w.on_ask = NULL;
	CT_EXPECT_EQ(lower_answers(&w, "tcp;lay"), 0);
	/* Through a second layer as well. */
	lower_filter("lay");
	w.on_ask = ask_from_another;
	CT_EXPECT_EQ(lower_answers(&w, "tcp;lay"), 0);
	lower_world_close(&w);
}

static int open_fabric(struct lower_world *w, const char *prov_name, const char *name)
{
	struct fi_fabric_attr attr = {.prov_name = (char *)prov_name,
				      .name = (char *)name,
				      .api_version = FI_VERSION(1, 17)};
	int ret = crn_lower_fabric_open(&w->layer, &attr, &w->fabric, NULL);

	return ret ? ret : crn_lower_fabric_close(&w->fabric);
}

/* As a program does: with the attributes of the answer, which libfabric has named. */
static void expect_opened(struct lower_world *w, const struct fi_info *info,
			  const char *over)
{
	CT_EXPECT_EQ(open_fabric(w, "lay", info->fabric_attr->name), 0);
	CT_EXPECT_STREQ(w->opened, over);
}

CT_TEST(lower, what_a_program_chose_holds_for_the_fabrics_of_that_answer)
{
	struct fi_info *usual, *one, *two;
	struct lower_world w;

	open_world(&w);
	lower_add(&w, "tcp", "fab");
	lower_add(&w, "one", "fab");
	lower_add(&w, "two;other", "fab");
	CT_ASSERT_EQ(lower_getinfo(&w, "one;lay", &one), 0);
	CT_ASSERT_EQ(lower_getinfo(&w, "two;other;LAY", &two), 0);
	CT_ASSERT_EQ(lower_getinfo(&w, "lay", &usual), 0);
	CT_EXPECT_STREQ(one->fabric_attr->name, "one;lay:fab");
	CT_EXPECT_STREQ(two->fabric_attr->name, "two;other;lay:fab");
	CT_EXPECT_STREQ(usual->fabric_attr->name, "fab");
	expect_opened(&w, one, "one");
	expect_opened(&w, two, "two;other");
	expect_opened(&w, usual, "tcp");
	expect_opened(&w, one, "one");
	/* A choice may come with the fabric. */
	CT_EXPECT_EQ(open_fabric(&w, "one;lay", "fab"), 0);
	CT_EXPECT_STREQ(w.opened, "one");
	fi_freeinfo(usual);
	fi_freeinfo(two);
	fi_freeinfo(one);
	lower_world_close(&w);
}

static int ask_about(struct lower_world *w, const char *prov_name, const char *fabric,
		     struct fi_info **info)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	hints->fabric_attr->prov_name = strdup(prov_name);
	hints->fabric_attr->name = strdup(fabric);
	ret = crn_lower_getinfo(&w->layer, FI_VERSION(1, 17), NULL, NULL, 0, hints, info);
	fi_freeinfo(hints);
	return ret;
}

/* prov_name and fabric of the hints; the fabric of the answer. */
static const struct {
	const char *prov_name, *fabric, *answer;
} named[] = {
	{"lay", "fab", "fab"},
	{"lay", "one;lay:fab", "one;lay:fab"},
	{"one;lay", "fab", "one;lay:fab"},
	{"one;lay", "ONE;LAY:fab", "one;lay:fab"},
	{"lay", "one;lay:other", NULL},
	{"tcp;lay", "one;lay:fab", NULL},
	{"lay", "nosuch;lay:fab", NULL},
	{"lay", "lay;lay:fab", NULL},
	/* Names of the lower provider's own. */
	{"lay", "fe80::1", "fe80::1"},
	{"three;lay", "one;other:fab", "three;lay:one;other:fab"},
	{"lay", "three;lay:one;other:fab", "three;lay:one;other:fab"},
	{"four;lay", ";lay:fab", "four;lay:;lay:fab"},
};

CT_TEST(lower, hints_name_a_fabric_with_the_choice_or_without)
{
	struct lower_world w;
	struct fi_info *info;
	size_t i;

	for (i = 0; i < CRN_COUNT(named); i++) {
		CT_NOTE("%s, fabric %s", named[i].prov_name, named[i].fabric);
		open_world(&w);
		lower_add(&w, "tcp", "fab");
		lower_add(&w, "verbs", "fe80::1");
		lower_add(&w, "one", "fab");
		lower_add(&w, "three", "one;other:fab");
		lower_add(&w, "four", ";lay:fab");
		CT_EXPECT_EQ(ask_about(&w, named[i].prov_name, named[i].fabric, &info),
			     named[i].answer ? 0 : -FI_ENODATA);
		if (named[i].answer && info)
			CT_EXPECT_STREQ(info->fabric_attr->name, named[i].answer);
		if (!named[i].answer)
			CT_EXPECT_EQ(ct_log_count(), 1);
		fi_freeinfo(info);
		lower_world_close(&w);
	}
}

CT_TEST(lower, a_fabric_is_opened_of_the_first_provider_that_has_one_of_its_name)
{
	struct lower_world w;

	open_world(&w);
	lower_add(&w, "pverbs", "elsewhere");
	lower_add(&w, "tcp", "fab");
	CT_EXPECT_EQ(open_fabric(&w, "lay", "fab"), 0);
	CT_EXPECT_STREQ(w.opened, "tcp");
	CT_EXPECT_EQ(w.attr.api_version, FI_VERSION(1, 17));
	ct_log_reset();
	CT_EXPECT_EQ(open_fabric(&w, "lay", "nowhere"), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 1);
	lower_world_close(&w);
}

CT_TEST(lower, a_fabric_that_does_not_open_says_why)
{
	struct lower_world w;

	open_world(&w);
	lower_add(&w, "tcp", "fab");
	w.fabric_ret = -FI_EMFILE;
	CT_EXPECT_EQ(open_fabric(&w, "lay", "fab"), -FI_EMFILE);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), "tcp opens no fabric");
	w.fabric_ret = 0;
	w.fabric_close_ret = -FI_EBUSY;
	CT_EXPECT_EQ(open_fabric(&w, "lay", "fab"), -FI_EBUSY);
	w.fabric_close_ret = 0;
	CT_EXPECT_EQ(crn_lower_fabric_close(&w.fabric), 0);
	lower_world_close(&w);
}

CT_TEST(lower, memory_that_runs_out_while_it_is_chosen_is_told)
{
	struct lower_world w;
	struct fi_info *info, *hints;
	unsigned int nth;
	int ret;

	open_world(&w);
	lower_add(&w, "tcp", "fab");
	hints = fi_allocinfo();
	hints->fabric_attr->prov_name = strdup("tcp;lay");
	for (nth = 1;; nth++) {
		CT_NOTE("allocation %u", nth);
		ct_fail_alloc(nth);
		ret = crn_lower_getinfo(&w.layer, FI_VERSION(1, 17), NULL, NULL, 0, hints,
					&info);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
		CT_EXPECT_EQ(info, NULL);
	}
	CT_EXPECT_EQ(nth, 7);
	CT_EXPECT_EQ(ret, 0);
	fi_freeinfo(info);
	fi_freeinfo(hints);
	lower_world_close(&w);
}

CT_TEST(lower, memory_that_runs_out_while_a_fabric_is_opened_is_told)
{
	struct lower_world w;
	unsigned int nth;
	int ret;

	for (nth = 1;; nth++) {
		CT_NOTE("allocation %u", nth);
		open_world(&w);
		lower_add(&w, "tcp", "fab");
		ct_fail_alloc(nth);
		ret = open_fabric(&w, "lay", "tcp;lay:fab");
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
		lower_world_close(&w);
	}
	CT_EXPECT_EQ(nth, 7);
	CT_EXPECT_EQ(ret, 0);
	lower_world_close(&w);
}

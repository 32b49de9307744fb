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
	CT_EXPECT_EQ(w->asked, count);
	for (size_t i = 0; i < count && i < w->asked; i++)
		CT_EXPECT_STREQ(w->asks[i].prov_name, names[i]);
}

#define EXPECT_ASKED(w, ...)                                \
	expect_asked(w, (const char *const[]){__VA_ARGS__}, \
		     CRN_COUNT(((const char *const[]){__VA_ARGS__})))

CT_FIXTURE(lower, struct lower_world, open_world, lower_world_close);

CT_TEST_F(lower, the_first_of_pverbs_verbs_and_tcp_that_fits_is_the_lower_provider)
{
	lower_add(t, "tcp", "fab");
	CT_EXPECT_EQ(lower_answers(t, "lay"), 0);
	EXPECT_ASKED(t, "pverbs", "verbs", "tcp");

	open_world(t);
	lower_add(t, "tcp", "fab");
	lower_add(t, "verbs", "fab");
	CT_EXPECT_EQ(lower_answers(t, "lay"), 0);
	EXPECT_ASKED(t, "pverbs", "verbs");
}

CT_TEST_F(lower, the_hint_goes_before_the_parameter_and_that_before_the_usual_ones)
{
	char param[] = "two";

	lower_add(t, "one", "fab");
	lower_add(t, "two", "fab");
	t->param = param;
	CT_EXPECT_EQ(lower_answers(t, "lay"), 0);
	CT_EXPECT_EQ(lower_answers(t, "one;lay"), 0);
	CT_EXPECT_EQ(lower_answers(t, "ONE;LAY;^ofi_rxm"), -FI_ENODATA);
	EXPECT_ASKED(t, "two", "one", "ONE");
}

CT_TEST_F(lower, what_the_program_or_the_user_names_is_the_only_one_that_is_tried)
{
	char param[] = "two";

	lower_add(t, "tcp", "fab");
	CT_EXPECT_EQ(lower_answers(t, "one;lay"), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), "one");
	CT_EXPECT_STRSTR(ct_log_last(), "FI_LAY_LOWER");
	t->param = param;
	CT_EXPECT_EQ(lower_answers(t, "lay"), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 2);
	EXPECT_ASKED(t, "one", "two");
}

CT_TEST_F(lower, without_any_the_log_says_what_to_set)
{
	CT_EXPECT_EQ(lower_answers(t, "lay"), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), "pverbs");
	CT_EXPECT_STRSTR(ct_log_last(), "FI_LAY_LOWER");
}

CT_TEST_F(lower, a_stack_of_layers_is_asked_by_its_last_name)
{
	lower_add(t, "tcp;other", "fab");
	CT_EXPECT_EQ(lower_answers(t, "tcp;other;lay"), 0);
	CT_EXPECT_EQ(lower_answers(t, "tcp;lay"), -FI_ENODATA);
	EXPECT_ASKED(t, "tcp;other", "tcp");
	/* libfabric allows one name with the flag for core providers. */
	CT_EXPECT_EQ(t->asks[0].flags, 1ULL << 60);
	CT_EXPECT_EQ(t->asks[1].flags, 1ULL << 60 | 1ULL << 59);
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

CT_TEST_F(lower, answers_who_names_it_and_runs_over_what_is_not_excluded)
{
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("FI_PROVIDER=%s, hint %s", rows[i].filter ? rows[i].filter : "-",
			rows[i].hint ? rows[i].hint : "-");
		open_world(t);
		lower_add(t, "tcp", "fab");
		lower_add(t, "one", "fab");
		lower_filter(rows[i].filter);
		CT_EXPECT_EQ(lower_answers(t, rows[i].hint),
			     rows[i].answers ? 0 : -FI_ENODATA);
		CT_EXPECT_EQ(t->asked > 0, rows[i].over != NULL);
		if (t->asked && rows[i].over)
			CT_EXPECT_STREQ(t->asks[t->asked - 1].prov_name, rows[i].over);
	}
}

CT_TEST_F(lower, a_provider_of_its_own_choice_is_named_without_a_lower_one)
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

	for (size_t i = 0; i < CRN_COUNT(cases); i++) {
		CT_NOTE("FI_PROVIDER %s, prov_name %s",
			cases[i].filter ? cases[i].filter : "none",
			cases[i].prov_name ? cases[i].prov_name : "none");
		lower_filter(cases[i].filter);
		CT_EXPECT_EQ(crn_lower_named(&t->prov, cases[i].prov_name),
			     cases[i].named);
	}
	lower_filter(NULL);
}

CT_TEST_F(lower, an_exclusion_as_the_parameter_names_nobody)
{
	char param[] = "^tcp";

	lower_add(t, param, "fab");
	t->param = param;
	CT_EXPECT_EQ(lower_answers(t, "lay"), -FI_ENODATA);
	CT_EXPECT_EQ(t->asked, 0);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), "^tcp");
}

CT_TEST_F(lower, runs_not_over_itself_and_says_what_to_do)
{
	char param[] = "lay";

	CT_EXPECT_EQ(lower_answers(t, "lay;lay"), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), "FI_LAY_LOWER");
	t->param = param;
	CT_EXPECT_EQ(lower_answers(t, "lay"), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 2);
	CT_EXPECT_STRSTR(ct_log_last(), "FI_LAY_LOWER");
	CT_EXPECT_EQ(t->asked, 0);
}

/* Another layer, which asks back. */
static void ask_back(struct lower_world *w)
{
	ct_log_reset();
	CT_EXPECT_EQ(lower_answers(w, "lay"), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), "FI_LAY_LOWER");
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

CT_TEST_F(lower, a_question_that_comes_back_to_the_layer_has_no_answer)
{
	lower_add(t, "tcp", "fab");
	t->on_ask = ask_back;
	CT_EXPECT_EQ(lower_answers(t, "tcp;lay"), 0);
	CT_EXPECT_EQ(t->asked, 1);
	/* And it may ask again afterwards. */
	t->on_ask = NULL;
	CT_EXPECT_EQ(lower_answers(t, "tcp;lay"), 0);
	/* Through a second layer as well. */
	lower_filter("lay");
	t->on_ask = ask_from_another;
	CT_EXPECT_EQ(lower_answers(t, "tcp;lay"), 0);
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

CT_TEST_F(lower, what_a_program_chose_holds_for_the_fabrics_of_that_answer)
{
	struct fi_info *usual, *one, *two;

	lower_add(t, "tcp", "fab");
	lower_add(t, "one", "fab");
	lower_add(t, "two;other", "fab");
	CT_ASSERT_EQ(lower_getinfo(t, "one;lay", &one), 0);
	CT_ASSERT_EQ(lower_getinfo(t, "two;other;LAY", &two), 0);
	CT_ASSERT_EQ(lower_getinfo(t, "lay", &usual), 0);
	CT_EXPECT_STREQ(one->fabric_attr->name, "one;lay:fab");
	CT_EXPECT_STREQ(two->fabric_attr->name, "two;other;lay:fab");
	CT_EXPECT_STREQ(usual->fabric_attr->name, "fab");
	expect_opened(t, one, "one");
	expect_opened(t, two, "two;other");
	expect_opened(t, usual, "tcp");
	expect_opened(t, one, "one");
	/* A choice may come with the fabric. */
	CT_EXPECT_EQ(open_fabric(t, "one;lay", "fab"), 0);
	CT_EXPECT_STREQ(t->opened, "one");
	fi_freeinfo(usual);
	fi_freeinfo(two);
	fi_freeinfo(one);
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

CT_TEST_F(lower, hints_name_a_fabric_with_the_choice_or_without)
{
	struct fi_info *info;

	for (size_t i = 0; i < CRN_COUNT(named); i++) {
		CT_NOTE("%s, fabric %s", named[i].prov_name, named[i].fabric);
		open_world(t);
		lower_add(t, "tcp", "fab");
		lower_add(t, "verbs", "fe80::1");
		lower_add(t, "one", "fab");
		lower_add(t, "three", "one;other:fab");
		lower_add(t, "four", ";lay:fab");
		CT_EXPECT_EQ(ask_about(t, named[i].prov_name, named[i].fabric, &info),
			     named[i].answer ? 0 : -FI_ENODATA);
		if (named[i].answer && info)
			CT_EXPECT_STREQ(info->fabric_attr->name, named[i].answer);
		if (!named[i].answer)
			CT_EXPECT_EQ(ct_log_count(), 1);
		fi_freeinfo(info);
	}
}

CT_TEST_F(lower, a_fabric_is_opened_of_the_first_provider_that_has_one_of_its_name)
{
	lower_add(t, "pverbs", "elsewhere");
	lower_add(t, "tcp", "fab");
	CT_EXPECT_EQ(open_fabric(t, "lay", "fab"), 0);
	CT_EXPECT_STREQ(t->opened, "tcp");
	CT_EXPECT_EQ(t->attr.api_version, FI_VERSION(1, 17));
	ct_log_reset();
	CT_EXPECT_EQ(open_fabric(t, "lay", "nowhere"), -FI_ENODATA);
	CT_EXPECT_EQ(ct_log_count(), 1);
}

CT_TEST_F(lower, a_fabric_that_does_not_open_says_why)
{
	lower_add(t, "tcp", "fab");
	t->fabric_ret = -FI_EMFILE;
	CT_EXPECT_EQ(open_fabric(t, "lay", "fab"), -FI_EMFILE);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_STRSTR(ct_log_last(), fi_strerror(FI_EMFILE));
	t->fabric_ret = 0;
	t->fabric_close_ret = -FI_EBUSY;
	CT_EXPECT_EQ(open_fabric(t, "lay", "fab"), -FI_EBUSY);
	t->fabric_close_ret = 0;
	CT_EXPECT_EQ(crn_lower_fabric_close(&t->fabric), 0);
}

CT_TEST_F(lower, memory_that_runs_out_while_it_is_chosen_is_told)
{
	struct fi_info *info, *hints;
	unsigned int nth;
	int ret;

	lower_add(t, "tcp", "fab");
	hints = fi_allocinfo();
	hints->fabric_attr->prov_name = strdup("tcp;lay");
	for (nth = 1;; nth++) {
		CT_NOTE("allocation %u", nth);
		ct_fail_alloc(nth);
		ret = crn_lower_getinfo(&t->layer, FI_VERSION(1, 17), NULL, NULL, 0,
					hints, &info);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
		CT_EXPECT_EQ(info, NULL);
	}
	CT_EXPECT_EQ(nth, 7);
	CT_EXPECT_EQ(ret, 0);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

CT_TEST_F(lower, memory_that_runs_out_while_a_fabric_is_opened_is_told)
{
	unsigned int nth;
	int ret;

	for (nth = 1;; nth++) {
		CT_NOTE("allocation %u", nth);
		open_world(t);
		lower_add(t, "tcp", "fab");
		ct_fail_alloc(nth);
		ret = open_fabric(t, "lay", "tcp;lay:fab");
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
	}
	CT_EXPECT_EQ(nth, 7);
	CT_EXPECT_EQ(ret, 0);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* info.c: the answers are tcp's, but for what the layer has no code for. */
#include <stdlib.h>
#include <string.h>
#include "cairn_test.h"
#include "layer_world.h"
#include "script.h"

static struct fi_info *hints_for(const char *prov_name, uint64_t caps)
{
	struct fi_info *hints = fi_allocinfo();

	hints->fabric_attr->prov_name = strdup(prov_name);
	hints->ep_attr->type = FI_EP_MSG;
	hints->caps = caps;
	hints->domain_attr->mr_mode = FI_MR_LOCAL;
	return hints;
}

CT_TEST(layer_info, the_answers_are_those_of_the_lower_provider)
{
	struct fi_info *hints = hints_for("tcp", FI_MSG | FI_RMA), *tcp, *own, *a, *b;
	const char *carried = "tcp;" EXL_NAME ":";
	char have[8192], want[8192];

	CT_ASSERT_EQ(fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", "9", FI_SOURCE, hints,
				&tcp),
		     0);
	free(hints->fabric_attr->prov_name);
	hints->fabric_attr->prov_name = strdup("tcp;" EXL_NAME);
	CT_ASSERT_EQ(exl_getinfo(FI_VERSION(1, 17), "127.0.0.1", "9", FI_SOURCE, hints,
				 &own),
		     0);
	for (a = own, b = tcp; a && b; a = a->next, b = b->next) {
		CT_EXPECT_EQ(a->fabric_attr->prov_name, NULL);
		free(b->fabric_attr->prov_name);
		b->fabric_attr->prov_name = NULL;
		CT_EXPECT_STREQ(a->fabric_attr->name + strlen(carried),
				b->fabric_attr->name);
		CT_EXPECT_MEMEQ(a->fabric_attr->name, carried, strlen(carried));
		memmove(a->fabric_attr->name, b->fabric_attr->name,
			strlen(b->fabric_attr->name) + 1);
		b->fabric_attr->prov_version = a->fabric_attr->prov_version;
		b->fabric_attr->api_version = a->fabric_attr->api_version;
		fi_tostr_r(have, sizeof(have), a, FI_TYPE_INFO);
		fi_tostr_r(want, sizeof(want), b, FI_TYPE_INFO);
		CT_EXPECT_STREQ(have, want);
	}
	CT_EXPECT_EQ(a, b);
	fi_freeinfo(own);
	fi_freeinfo(tcp);
	fi_freeinfo(hints);
}

CT_TEST(layer_info, what_the_layer_has_no_code_for_is_refused)
{
	static const uint64_t caps[] = {FI_COLLECTIVE, FI_MULTICAST, FI_DIRECTED_RECV};
	struct fi_info *hints, *info;

	for (size_t i = 0; i < CRN_COUNT(caps); i++) {
		CT_NOTE("row %zu", i);
		ct_log_reset();
		hints = hints_for("tcp;" EXL_NAME, FI_MSG | caps[i]);
		CT_EXPECT_EQ(exl_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info),
			     -FI_ENODATA);
		CT_EXPECT_DATA(ct_log_last(), "caps");
		fi_freeinfo(hints);
	}
}

/* How the program names what the layer runs over, and the name in the log. */
static void expect_none(const char *prov_name, const char *named)
{
	struct fi_info *hints = hints_for(prov_name, FI_MSG), *info = hints;

	ct_log_reset();
	CT_EXPECT_EQ(exl_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info),
		     -FI_ENODATA);
	CT_EXPECT_EQ(info, NULL);
	CT_EXPECT_EQ(ct_log_count(), 1);
	CT_EXPECT_DATA(ct_log_last(), named);
	CT_EXPECT_DATA(ct_log_last(), "FI_EXAMPLE_LAYER_LOWER");
	fi_freeinfo(hints);
}

CT_TEST(layer_info, a_lower_provider_that_there_is_not_has_nothing)
{
	char none[] = "nowhere";

	expect_none("nowhere;" EXL_NAME, "nowhere");
	exl_lower = none;
	expect_none(EXL_NAME, "nowhere");
	exl_lower = NULL;
}

CT_TEST(layer_info, the_layer_does_not_run_over_itself)
{
	char self[] = EXL_NAME, stack[] = "tcp;" EXL_NAME;

	expect_none(EXL_NAME ";" EXL_NAME, EXL_NAME);
	expect_none("tcp;" EXL_NAME ";" EXL_NAME, EXL_NAME);
	exl_lower = self;
	expect_none(EXL_NAME, EXL_NAME);
	exl_lower = stack;
	expect_none(EXL_NAME, EXL_NAME);
	exl_lower = NULL;
}

static struct fi_info *answer(const char *prov_name)
{
	struct fi_info *hints = hints_for(prov_name, FI_MSG), *info = NULL;

	hints->domain_attr->mr_mode |= FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	CT_EXPECT_EQ(fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints,
				&info),
		     0);
	fi_freeinfo(hints);
	return info;
}

/* The provider that a listener opened with the info is one of. */
static void expect_over_script(struct fi_info *info, bool script)
{
	struct fid_fabric *fabric;
	struct fid_pep *pep;

	CT_EXPECT_STREQ(info->fabric_attr->prov_name, EXL_NAME);
	CT_ASSERT_EQ(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	CT_EXPECT_EQ(scr_fid(FI_CLASS_FABRIC, 0) != NULL, script);
	CT_ASSERT_EQ(fi_passive_ep(fabric, info, &pep, NULL), 0);
	CT_EXPECT_EQ(scr_fid(FI_CLASS_PEP, 0) != NULL, script);
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	CT_EXPECT_EQ(fi_close(&fabric->fid), 0);
}

/* Their fabrics have one name. */
CT_TEST(layer_info, two_parts_of_a_program_run_over_what_each_of_them_chose)
{
	struct fi_info *tcp, *script;

	scr_begin();
	tcp = answer("tcp;" EXL_NAME);
	free(scr_offer()->fabric_attr->name);
	scr_offer()->fabric_attr->name = strdup(strchr(tcp->fabric_attr->name, ':') + 1);
	script = answer(LAYER_STACK);
	CT_ASSERT_NE(script, NULL);
	expect_over_script(tcp, false);
	expect_over_script(script, true);
	expect_over_script(tcp, false);
	fi_freeinfo(script);
	fi_freeinfo(tcp);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* libfabric finds the provider, and asks it. */
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include "cairn_test.h"
#include "pair.h"
#include "script.h"

static int ask(struct fi_info *hints, uint64_t flags)
{
	struct fi_info *info = NULL;
	int ret = fi_getinfo(PAIR_API, NULL, NULL, flags, hints, &info);

	if (!ret) {
		CT_EXPECT_STREQ(info->fabric_attr->prov_name, SCR_NAME);
		CT_EXPECT_EQ(info->next, NULL);
		fi_freeinfo(info);
	}
	return ret;
}

CT_TEST(info, libfabric_finds_the_provider_by_its_name)
{
	struct fi_info *hints;

	scr_begin();
	hints = pair_hints(SCR_NAME);
	CT_EXPECT_EQ(ask(hints, 0), 0);
	CT_EXPECT_EQ(scr_count(SCR_GETINFO), 1);
	fi_freeinfo(hints);
}

CT_TEST(info, hidden_providers_and_core_providers_alone_may_be_asked_for)
{
	struct fi_info *hints;

	scr_begin();
	hints = pair_hints(SCR_NAME);
	CT_EXPECT_EQ(ask(hints, 1ULL << 59 | 1ULL << 60), 0);
	fi_freeinfo(hints);
}

CT_TEST(info, the_test_decides_what_is_offered)
{
	struct fi_info *hints;

	scr_begin();
	hints = pair_hints(SCR_NAME);
	scr_offer()->caps &= ~FI_RMA;
	CT_EXPECT_EQ(ask(hints, 0), -FI_ENODATA);
	hints->caps = FI_MSG;
	CT_EXPECT_EQ(ask(hints, 0), 0);
	scr_begin();
	hints->caps = FI_MSG | FI_RMA;
	CT_EXPECT_EQ(ask(hints, 0), 0);
	fi_freeinfo(hints);
}

CT_TEST(info, getinfo_returns_what_the_test_says)
{
	struct fi_info *hints;

	scr_begin();
	hints = pair_hints(SCR_NAME);
	scr_refuse(
		&(struct scr_rule){.call = SCR_GETINFO, .times = 1, .ret = -FI_ENODATA});
	CT_EXPECT_EQ(ask(hints, 0), -FI_ENODATA);
	CT_EXPECT_EQ(ask(hints, 0), 0);
	fi_freeinfo(hints);
}

CT_TEST(info, answers_carry_addresses)
{
	struct fi_info *hints, *info = NULL;

	scr_begin();
	hints = pair_hints(SCR_NAME);
	CT_ASSERT_EQ(fi_getinfo(PAIR_API, "10.1.2.3", "77", 0, hints, &info), 0);
	CT_EXPECT_EQ(ntohs(((struct sockaddr_in *)info->dest_addr)->sin_port), 77);
	CT_EXPECT_NE(info->src_addr, NULL);
	fi_freeinfo(info);
	CT_ASSERT_EQ(fi_getinfo(PAIR_API, "10.1.2.3", "78", FI_SOURCE, hints, &info), 0);
	CT_EXPECT_EQ(ntohs(((struct sockaddr_in *)info->src_addr)->sin_port), 78);
	CT_EXPECT_EQ(info->dest_addr, NULL);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

CT_TEST(info, ofi_rxm_finds_all_that_it_asks_for)
{
	struct fi_info *hints, *info = NULL;

	scr_begin();
	hints = pair_hints(SCR_NAME ";ofi_rxm");
	hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
	hints->ep_attr->type = FI_EP_RDM;
	CT_ASSERT_EQ(fi_getinfo(PAIR_API, NULL, NULL, 0, hints, &info), 0);
	CT_EXPECT_STREQ(info->fabric_attr->prov_name, SCR_NAME ";ofi_rxm");
	CT_EXPECT_STREQ(info->domain_attr->name, scr_offer()->domain_attr->name);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

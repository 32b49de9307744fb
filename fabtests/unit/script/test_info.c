/* SPDX-License-Identifier: BSD-2-Clause */
/* libfabric finds the provider, and asks it. */
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

struct question {
	struct fi_info *hints, *info;
};

static void set_up(struct question *q)
{
	scr_begin();
	q->hints = pair_hints(SCR_NAME);
}

static void tear_down(struct question *q)
{
	fi_freeinfo(q->hints);
	fi_freeinfo(q->info);
}

CT_FIXTURE(info, struct question, set_up, tear_down);

CT_TEST_F(info, libfabric_finds_the_provider_by_its_name)
{
	CT_EXPECT_EQ(ask(t->hints, 0), 0);
	CT_EXPECT_EQ(scr_count(SCR_GETINFO), 1);
}

CT_TEST_F(info, hidden_providers_and_core_providers_alone_may_be_asked_for)
{
	CT_EXPECT_EQ(ask(t->hints, 1ULL << 59 | 1ULL << 60), 0);
}

CT_TEST_F(info, the_test_decides_what_is_offered)
{
	scr_offer()->caps &= ~FI_RMA;
	CT_EXPECT_EQ(ask(t->hints, 0), -FI_ENODATA);
	t->hints->caps = FI_MSG;
	CT_EXPECT_EQ(ask(t->hints, 0), 0);
	scr_begin();
	t->hints->caps = FI_MSG | FI_RMA;
	CT_EXPECT_EQ(ask(t->hints, 0), 0);
}

CT_TEST_F(info, getinfo_returns_what_the_test_says)
{
	scr_refuse(
		&(struct scr_rule){.call = SCR_GETINFO, .times = 1, .ret = -FI_ENODATA});
	CT_EXPECT_EQ(ask(t->hints, 0), -FI_ENODATA);
	CT_EXPECT_EQ(ask(t->hints, 0), 0);
}

CT_TEST_F(info, answers_carry_addresses)
{
	CT_ASSERT_EQ(fi_getinfo(PAIR_API, "10.1.2.3", "77", 0, t->hints, &t->info), 0);
	CT_EXPECT_EQ(ntohs(((struct sockaddr_in *)t->info->dest_addr)->sin_port), 77);
	CT_EXPECT_NE(t->info->src_addr, NULL);
	fi_freeinfo(t->info);
	CT_ASSERT_EQ(fi_getinfo(PAIR_API, "10.1.2.3", "78", FI_SOURCE, t->hints,
				&t->info),
		     0);
	CT_EXPECT_EQ(ntohs(((struct sockaddr_in *)t->info->src_addr)->sin_port), 78);
	CT_EXPECT_EQ(t->info->dest_addr, NULL);
}

CT_TEST_F(info, ofi_rxm_finds_all_that_it_asks_for)
{
	fi_freeinfo(t->hints);
	t->hints = pair_hints(SCR_NAME ";ofi_rxm");
	t->hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
	t->hints->ep_attr->type = FI_EP_RDM;
	CT_ASSERT_EQ(fi_getinfo(PAIR_API, NULL, NULL, 0, t->hints, &t->info), 0);
	CT_EXPECT_STREQ(t->info->fabric_attr->prov_name, SCR_NAME ";ofi_rxm");
	CT_EXPECT_STREQ(t->info->domain_attr->name, scr_offer()->domain_attr->name);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "world.h"

static struct rte_policy policy_of(const char *text, bool doc_scale)
{
	struct rte_policy policy = {.doc_scale = doc_scale};
	const char *why;

	CT_EXPECT_EQ(rte_policy_parse(text, &policy, &why), 0);
	return policy;
}

static uint64_t bandwidth(uint64_t rate, uint16_t caps, uint32_t cost, bool doc_scale)
{
	const struct rte_policy policy = policy_of("bandwidth", doc_scale);
	const struct rte_link link = {.rate = rate, .caps = caps, .cost = cost};

	return rte_link_cost(&policy, &link).part[0];
}

CT_TEST(metric, bandwidth_is_never_free_and_tells_fast_links_apart)
{
	CT_EXPECT_EQ(bandwidth(10 * WORLD_GBPS, WORLD_NATIVE, 0, false), 100000);
	CT_EXPECT_EQ(bandwidth(10 * WORLD_GBPS, 0, 0, false), 200000);
	CT_EXPECT_EQ(bandwidth(10 * WORLD_GBPS, RTE_CAP_ZEROCOPY, 0, false), 200000);
	CT_EXPECT_EQ(bandwidth(100000000, WORLD_NATIVE, 0, false), 10000000);
	CT_EXPECT_EQ(bandwidth(1600 * WORLD_GBPS, WORLD_NATIVE, 0, false), 625);
	CT_EXPECT_EQ(bandwidth(400 * WORLD_GBPS, WORLD_NATIVE, 0, false), 2500);
	CT_EXPECT_EQ(bandwidth(500 * WORLD_GBPS, WORLD_NATIVE, 0, false), 2000);
	CT_EXPECT_EQ(bandwidth(UINT64_MAX, WORLD_NATIVE, 0, false), 1);
	CT_EXPECT_EQ(bandwidth(64 * WORLD_GBPS, WORLD_NATIVE, 0, true), 15000);
	CT_EXPECT_EQ(bandwidth(1600 * WORLD_GBPS, WORLD_NATIVE, 0, true), 1000);
	CT_EXPECT_EQ(bandwidth(10 * WORLD_GBPS, 0, 77, false), 77);
}

CT_TEST(metric, others_count_what_their_names_say)
{
	const struct rte_policy policy = policy_of("latency,native,hops,widest", false);
	struct rte_link link = {.rate = WORLD_GBPS, .caps = WORLD_NATIVE};
	struct rte_cost a = rte_link_cost(&policy, &link), b, sum;

	CT_EXPECT_EQ(a.part[0], RTE_LATENCY_UNKNOWN);
	CT_EXPECT_EQ(a.part[1], 0);
	CT_EXPECT_EQ(a.part[2], 1);
	CT_EXPECT_EQ(a.part[3], 1000000);
	link.latency = 500;
	link.caps = 0;
	link.rate = 2 * WORLD_GBPS;
	b = rte_link_cost(&policy, &link);
	CT_EXPECT_EQ(b.part[0], 500);
	CT_EXPECT_EQ(b.part[1], 1);
	sum = rte_cost_add(&policy, &a, &b);
	CT_EXPECT_EQ(sum.part[0], RTE_LATENCY_UNKNOWN + 500);
	CT_EXPECT_EQ(sum.part[1], 1);
	CT_EXPECT_EQ(sum.part[2], 2);
	CT_EXPECT_EQ(sum.part[3], 1000000);
	CT_EXPECT_EQ(sum.hops, 2);
	sum.part[0] = UINT64_MAX - 1;
	CT_EXPECT_EQ(rte_cost_add(&policy, &sum, &b).part[0], UINT64_MAX);
}

CT_TEST(metric, a_policy_is_a_list_without_doubles)
{
	static const char *const wrong[] = {
		"",	     "speed",	       "bandwidth,", ",hops", "hops,hops",
		"hops hops", "bandwidth;hops", "Hops",	     "hop",
	};
	struct rte_policy policy = policy_of(" widest , hops,latency ", false);
	const char *why;
	size_t i;

	CT_EXPECT_EQ(policy.metrics, 3);
	CT_EXPECT_EQ(policy.metric[0], RTE_WIDEST);
	CT_EXPECT_EQ(policy.metric[2], RTE_LATENCY);
	CT_EXPECT_STREQ(rte_metric_name(RTE_NATIVE), "native");
	policy = policy_of("bandwidth,hops,latency,native,widest", false);
	CT_EXPECT_EQ(policy.metrics, RTE_POLICY_MAX);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		why = NULL;
		CT_EXPECT_EQ(rte_policy_parse(wrong[i], &policy, &why), -FI_EINVAL);
		CT_EXPECT_NE(why, NULL);
	}
}

CT_TEST(metric, the_narrower_beginning_is_no_worse_once_both_are_as_narrow)
{
	const struct rte_policy widest = policy_of("widest", false);
	const struct rte_policy sum = policy_of("bandwidth", false);
	const struct rte_cost a = {.part = {10}, .hops = 5},
			      b = {.part = {20}, .hops = 1};

	CT_EXPECT_EQ(rte_cost_dominance(&sum, &a, &b), RTE_DOMINATES);
	CT_EXPECT_EQ(rte_cost_dominance(&widest, &a, &b), RTE_DOMINATES_NOT);
	CT_EXPECT_EQ(rte_cost_dominance(&widest, &b, &a), RTE_DOMINATES_NOT);
	CT_EXPECT_EQ(rte_cost_dominance(&widest, &a, &a), RTE_DOMINATES_BY_IDS);
	CT_EXPECT_LT(rte_cost_compare(&widest, &a, &b), 0);
}

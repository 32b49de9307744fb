/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "topo.h"

/* The document's fixed value, bit/s (section VI.B), and our thousandths of it. */
#define RTE_REFERENCE_RATE 1000000000000u
#define RTE_MILLI 1000u

static const struct {
	const char *name;
	bool highest; /* of the subnets; otherwise the sum */
} metrics[] = {
	[RTE_BANDWIDTH] = {"bandwidth", false}, [RTE_HOPS] = {"hops", false},
	[RTE_LATENCY] = {"latency", false},	[RTE_NATIVE] = {"native", false},
	[RTE_WIDEST] = {"widest", true},
};

const char *rte_metric_name(enum rte_metric metric)
{
	return metrics[metric].name;
}

bool rte_policy_sums(const struct rte_policy *policy)
{
	uint32_t i;

	for (i = 0; i < policy->metrics; i++)
		if (metrics[policy->metric[i]].highest)
			return false;
	return true;
}

static bool policy_has(const struct rte_policy *policy, uint32_t metric)
{
	uint32_t i;

	for (i = 0; i < policy->metrics; i++)
		if (policy->metric[i] == metric)
			return true;
	return false;
}

int rte_policy_parse(const char *text, struct rte_policy *policy, const char **why)
{
	uint32_t metric;
	size_t len;

	policy->metrics = 0;
	for (;;) {
		text += strspn(text, " ");
		len = strcspn(text, ", ");
		for (metric = 0; metric < CRN_COUNT(metrics); metric++)
			if (strlen(metrics[metric].name) == len &&
			    !memcmp(metrics[metric].name, text, len))
				break;
		if (metric == CRN_COUNT(metrics)) {
			*why = "a metric is bandwidth, hops, latency, native or widest";
			return -FI_EINVAL;
		}
		if (policy_has(policy, metric)) {
			*why = "a metric stands there twice";
			return -FI_EINVAL;
		}
		policy->metric[policy->metrics++] = metric;
		text += len;
		text += strspn(text, " ");
		if (!*text)
			return 0;
		if (*text++ != ',') {
			*why = "metrics are separated by commas";
			return -FI_EINVAL;
		}
	}
}

static bool link_native(const struct rte_link *link)
{
	const uint16_t both = RTE_CAP_ZEROCOPY | RTE_CAP_OSBYPASS;

	return (link->caps & both) == both;
}

/* Section VI.B: the slower, the more; doubled where the processor copies. */
static uint64_t link_bandwidth(const struct rte_policy *policy,
			       const struct rte_link *link)
{
	const uint64_t rate = CRN_MAX(link->rate, (uint64_t)1);
	uint64_t cost;

	if (link->cost)
		return link->cost;
	if (policy->doc_scale)
		cost = CRN_MAX(RTE_REFERENCE_RATE / rate, (uint64_t)1) * RTE_MILLI;
	else
		cost = CRN_MAX(RTE_REFERENCE_RATE * RTE_MILLI / rate, (uint64_t)1);
	return link_native(link) ? cost : cost * 2;
}

static uint64_t link_part(const struct rte_policy *policy, enum rte_metric metric,
			  const struct rte_link *link)
{
	switch (metric) {
	case RTE_HOPS:
		return 1;
	case RTE_LATENCY:
		return link->latency ? link->latency : RTE_LATENCY_UNKNOWN;
	case RTE_NATIVE:
		return !link_native(link);
	default:
		return link_bandwidth(policy, link);
	}
}

struct rte_cost rte_link_cost(const struct rte_policy *policy,
			      const struct rte_link *link)
{
	struct rte_cost cost = {.hops = 1};
	uint32_t i;

	for (i = 0; i < policy->metrics; i++)
		cost.part[i] = link_part(policy, policy->metric[i], link);
	return cost;
}

struct rte_cost rte_cost_worse(const struct rte_policy *policy, const struct rte_cost *a,
			       const struct rte_cost *b)
{
	struct rte_cost worse = *a;
	uint32_t i;

	for (i = 0; i < policy->metrics; i++)
		worse.part[i] = CRN_MAX(a->part[i], b->part[i]);
	return worse;
}

struct rte_cost rte_cost_add(const struct rte_policy *policy, const struct rte_cost *a,
			     const struct rte_cost *b)
{
	struct rte_cost sum = {.hops = a->hops + b->hops};
	uint32_t i;

	for (i = 0; i < policy->metrics; i++) {
		if (metrics[policy->metric[i]].highest)
			sum.part[i] = CRN_MAX(a->part[i], b->part[i]);
		else if (a->part[i] > UINT64_MAX - b->part[i])
			sum.part[i] = UINT64_MAX;
		else
			sum.part[i] = a->part[i] + b->part[i];
	}
	return sum;
}

int rte_cost_compare(const struct rte_policy *policy, const struct rte_cost *a,
		     const struct rte_cost *b)
{
	uint32_t i;

	for (i = 0; i < policy->metrics; i++)
		if (a->part[i] != b->part[i])
			return a->part[i] < b->part[i] ? -1 : 1;
	return (a->hops > b->hops) - (a->hops < b->hops);
}

enum rte_dominance rte_cost_dominance(const struct rte_policy *policy,
				      const struct rte_cost *a, const struct rte_cost *b)
{
	uint32_t i;

	for (i = 0; i < policy->metrics; i++) {
		if (a->part[i] > b->part[i])
			return RTE_DOMINATES_NOT;
		/* What is added may make the highest of both the same. */
		if (a->part[i] < b->part[i] && !metrics[policy->metric[i]].highest)
			return RTE_DOMINATES;
	}
	if (a->hops != b->hops)
		return a->hops < b->hops ? RTE_DOMINATES : RTE_DOMINATES_NOT;
	return RTE_DOMINATES_BY_IDS;
}

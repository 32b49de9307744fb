/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory regions of a target: what a routed key means at the last hop. */
#include "layout.h"

static enum rte_bad mr_info_check(const struct rte_packet *packet,
				  const struct rte_mr_info *info)
{
	if (info->persist > RTE_PERSIST_DECLARED)
		return RTE_BAD_VALUE;
	if (info->base > UINT64_MAX - info->length)
		return RTE_BAD_RANGE;
	return rte_status_check(packet, info->status);
}

RTE_DEFINE_MESSAGE(mr_resolve, type == RTE_MR_RESOLVE, RTE_MR_RESOLVE_FIELDS, RTE_OK)
RTE_DEFINE_MESSAGE(mr_info, type == RTE_MR_INFO, RTE_MR_INFO_FIELDS,
		   mr_info_check(packet, message))
RTE_DEFINE_MESSAGE(mr_inval, type == RTE_MR_INVAL, RTE_MR_INVAL_FIELDS, RTE_OK)

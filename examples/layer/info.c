/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_getinfo(3): what passes. What is not here, this layer does not have. */
#include "layer.h"

#define EXL_CAPS                                                                   \
	(FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC | FI_SEND | FI_RECV | FI_READ |   \
	 FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_MULTI_RECV | FI_SOURCE | \
	 FI_FENCE | FI_TRIGGER | FI_RMA_EVENT | FI_RMA_PMEM | FI_LOCAL_COMM |      \
	 FI_REMOTE_COMM | FI_HMEM)

/* Without FI_MR_ENDPOINT: regions are the lower provider's, and no endpoint of the
 * layer's can be bound to them. */
#define EXL_MR_MODE                                                                   \
	(CRN_MR_BASIC | CRN_MR_SCALABLE | FI_MR_LOCAL | FI_MR_RAW | FI_MR_VIRT_ADDR | \
	 FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_MMU_NOTIFY | FI_MR_RMA_EVENT |      \
	 FI_MR_HMEM)

/* Numbers have no rows: they pass. */
static const struct crn_lower_row exl_table[] = {
	{CRN_LOWER_CAPS, CRN_LOWER_PASS, EXL_CAPS},
	{CRN_LOWER_MODE, CRN_LOWER_PASS, UINT64_MAX},
	{CRN_LOWER_OP_FLAGS, CRN_LOWER_PASS, UINT64_MAX},
	{CRN_LOWER_MSG_ORDER, CRN_LOWER_PASS, UINT64_MAX},
	{CRN_LOWER_COMP_ORDER, CRN_LOWER_PASS, UINT64_MAX},
	{CRN_LOWER_MR_MODE, CRN_LOWER_PASS, EXL_MR_MODE},
};

const struct crn_lower_layer exl_layer = {
	.prov = &exl_prov,
	.lower = &exl_lower,
	.table = exl_table,
	.rows = CRN_COUNT(exl_table),
};

int exl_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info)
{
	return crn_lower_getinfo(&exl_layer, version, node, service, flags, hints, info);
}

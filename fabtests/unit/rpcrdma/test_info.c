/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "ends.h"
#include "objects.h"

/* ofi_rxm needs 24 bytes of connection data, and over pverbs there are 20. */
CT_TEST(info, does_not_suggest_ofi_rxm_above_the_layer)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	CT_ASSERT_NE(hints, NULL);
	hints->fabric_attr->prov_name = strdup("rpcrdma");
	hints->ep_attr->type = FI_EP_RDM;
	CT_EXPECT_EQ(rpr_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info),
		     -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "FI_EP_MSG");
	CT_EXPECT_STRSTR(ct_log_last(), "put ofi_rxm above the lower provider");
	fi_freeinfo(hints);
}

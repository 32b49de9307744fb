/* SPDX-License-Identifier: BSD-2-Clause */
/* What libfabric calls when it loads the provider. */
#include <cairn/param.h>
#include "layer.h"

char *exl_lower;

static const struct crn_param exl_params[] = {
	CRN_PARAM_STRING("lower", &exl_lower, "pverbs, verbs or tcp, the first that fits",
			 "Provider that the layer runs over"),
};

static void exl_cleanup(void)
{
}

struct fi_provider exl_prov = {
	.version = EXL_VERSION,
	.name = EXL_NAME,
	.getinfo = exl_getinfo,
	.fabric = exl_fabric,
	.cleanup = exl_cleanup, /* libfabric loads nothing without it */
};

FI_EXT_INI;
FI_EXT_INI
{
	/* The library's own: with a lower number libfabric leaves the provider out for
	 * programs built with newer headers. */
	exl_prov.fi_version = fi_version();
	crn_params_read(&exl_prov, exl_params, CRN_COUNT(exl_params));
	return &exl_prov;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* What libfabric calls when it loads the provider. */
#include <cairn/param.h>
#include "info.h"
#include "objects.h"

struct rte_params rte_params;

static const struct crn_param params[] = {
	CRN_PARAM_STRING("config", &rte_params.config, "none",
			 "File with the configuration of this host"),
	CRN_PARAM_STRING("lower", &rte_params.lower, "by the transport of each device",
			 "Provider that all devices run over, for tests"),
	CRN_PARAM_STRING("pmem_config", &rte_params.pmem_config, "none",
			 "File that declares what is known of persistent memory"),
	CRN_PARAM_BOOL("bypass", &rte_params.bypass, true,
		       "Read and write on one subnet by the lower provider's own"),
};

/* Every provider has one; here is nothing to clean up. */
static void init_cleanup(void)
{
}

struct fi_provider rte_prov = {
	.version = RTE_PROV_VERSION,
	.name = RTE_NAME,
	.getinfo = rte_getinfo,
	.fabric = rte_fabric_open,
	.cleanup = init_cleanup,
};

FI_EXT_INI;
FI_EXT_INI
{
	/* The library's own: with a lower number libfabric leaves the provider out for
	 * programs built with newer headers. */
	rte_prov.fi_version = fi_version();
	crn_params_read(&rte_prov, params, CRN_COUNT(params));
	return &rte_prov;
}

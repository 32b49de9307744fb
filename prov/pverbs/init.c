/* SPDX-License-Identifier: BSD-2-Clause */
/* What libfabric calls when it loads the provider. */
#include <string.h>
#include "objects/objects.h"

static void pvb_cleanup(void)
{
}

struct fi_provider pvb_prov = {
	.version = PVB_VERSION,
	.name = PVB_NAME,
	.getinfo = pvb_getinfo,
	.fabric = pvb_fabric_open,
	.cleanup = pvb_cleanup,
};

static void pvb_fork_init(void)
{
	int err = ibv_fork_init();

	if (err)
		PVB_WARN(FI_LOG_CORE,
			 "FI_PVERBS_FORK_SAFE: %s; memory registered before stays "
			 "unsafe\n",
			 strerror(err));
}

FI_EXT_INI;
FI_EXT_INI
{
	/*
	 * libfabric silently ignores a provider whose version is below the one that the
	 * program asks for: so one binary declares the version of the library that
	 * loads it.
	 */
	pvb_prov.fi_version = fi_version();
	pvb_params_read();
	/* Only before the process registers any memory (ibv_fork_init(3)). */
	if (pvb_params.fork_safe)
		pvb_fork_init();
	return &pvb_prov;
}

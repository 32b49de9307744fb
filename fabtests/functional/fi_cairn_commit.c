/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Durable writes: what FI_COMMIT_COMPLETE promises, as far as it can be seen without a
 * power failure. The server's persistent memory is what FI_CAIRN_PMEM names, a devdax or
 * a file of 2 MiB, which the provider has to take for persistent.
 */
#include <stdlib.h>

#include "durable.h"

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_commit",
		.what = "Durable writes on connected endpoints (FI_COMMIT_COMPLETE).",
	};
	const unsigned int scale = fct_time_scale();
	char timeout[16];

	/* One case waits for it; for the others a target may stand still meanwhile. */
	snprintf(timeout, sizeof(timeout), "%u", scale > 1 ? 3000 * scale : 8000);
	setenv("FI_PVERBS_COMMIT_TIMEOUT", timeout, 0);
	return fct_main(argc, argv, &prog);
}

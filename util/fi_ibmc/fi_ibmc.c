/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_ibmc(1): IPoIB links and their multicast groups at the subnet administrator. */
#include <stdio.h>

#include "map/map.h"
#include "options.h"

int main(int argc, char **argv)
{
	static struct imc_options options;
	int status;

	imc_options(argc, argv, &options);
	status = imc_map(&options);
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	perror("fi_ibmc: standard output");
	return 1;
}

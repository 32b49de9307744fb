/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_rpcping(1): Calls per second and latency of RPC-over-RDMA. */
#include <stdio.h>
#include <stdlib.h>

#include "run.h"

static void stop(int signal)
{
	png_stops++;
}

void png_catch(void)
{
	const struct sigaction action = {.sa_handler = stop};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* The provider reads it once; what the user has set stays. */
static void allow_credits(const struct png_options *options)
{
	const unsigned int most =
		options->depth > options->credits ? options->depth : options->credits;
	char text[16];

	if (most <= 32)
		return;
	snprintf(text, sizeof(text), "%u", most);
	setenv("FI_RPCRDMA_CREDITS", text, 0);
}

int main(int argc, char **argv)
{
	static struct png_options options;

	png_options(argc, argv, &options);
	allow_credits(&options);
	lnk_rpc_catch();
	return options.host ? png_client(&options) : png_server(&options);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive contexts (fi_srx_context) of connected endpoints. */
#include "srx.h"

static const struct fct_case cases[] = {
	{"forms", "fi_recv, fi_recvv and fi_recvmsg on the context", fct_srx_forms},
	{"share", "messages of several connections take the oldest receive",
	 fct_srx_share},
	{"many", "thousands of messages over several connections", fct_srx_many},
	{"queue_full", "a full context says -FI_EAGAIN and recovers", fct_srx_queue_full},
	{"split", "endpoints with different CQs on one context", fct_srx_split},
	{"selective", "FI_SELECTIVE_COMPLETION with shared receives", fct_srx_selective},
	{"data", "a write with data takes a shared receive", fct_srx_data},
	{"own_receive", "an endpoint that shares takes no receives itself",
	 fct_srx_own_receive},
	{"close_busy", "a context with endpoints cannot be closed", fct_srx_close_busy},
	{"close_one", "an endpoint that closes leaves the receives to the others",
	 fct_srx_close_one},
	{"truncation", "an error of one connection leaves the others alone",
	 fct_srx_truncation},
	{"unbound", "an endpoint made for a shared context needs one", fct_srx_unbound},
};

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_srx",
		.what = "Shared receive contexts.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
	};

	return fct_main(argc, argv, &prog);
}

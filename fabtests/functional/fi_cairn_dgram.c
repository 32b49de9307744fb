/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagram endpoints (FI_EP_DGRAM). */
#include "dgram.h"

static const struct fct_case cases[] = {
	{"forms", "every call form, both ways", fct_dgram_forms},
	{"sizes", "from nothing to the longest", fct_dgram_sizes},
	{"source", "FI_SOURCE: fi_cq_readfrom says who sent it", fct_dgram_source},
	{"unknown", "FI_SOURCE_ERR: an unknown sender's address can be used",
	 fct_dgram_unknown},
	{"dropped", "without a receive datagrams are lost, and nothing else",
	 fct_dgram_dropped},
	{"too_long", "one that is longer than its receive ends that alone",
	 fct_dgram_too_long},
	{"prefix", "FI_MSG_PREFIX: who asks for it has room before what it receives",
	 fct_dgram_prefix},
	{"stream", "thousands of datagrams in windows", fct_dgram_stream},
	{"remove", "an address is removed while a send to it is outstanding",
	 fct_dgram_remove},
	{"formats", "every format of a completion queue", fct_dgram_formats},
	{"map", "an address vector that is a map", fct_dgram_map},
	{"async_insert", "insertions are events", fct_dgram_async_insert},
	{"shared", "two endpoints have their receives in common", fct_dgram_shared},
	{"selective", "FI_SELECTIVE_COMPLETION for receives", fct_dgram_selective},
	{"lossy", "some are lost, come twice or late, and all that comes is whole",
	 fct_dgram_lossy},
	{"close", "closing an endpoint ends its receives", fct_dgram_close},
};

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_dgram",
		.what = "Datagram endpoints.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
		.ep_type = FI_EP_DGRAM,
	};

	return fct_main(argc, argv, &prog);
}

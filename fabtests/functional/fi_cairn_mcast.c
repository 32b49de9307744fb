/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups of datagram endpoints (FI_MULTICAST). */
#include "mcast.h"

static const struct fct_case cases[] = {
	{"both", "every member receives, the sender among them", fct_mcast_both},
	{"flags", "FI_SEND, FI_RECV and both", fct_mcast_flags},
	{"forms", "every form of a group's address", fct_mcast_forms},
	{"sizes", "from nothing to the longest", fct_mcast_sizes},
	{"calls", "fi_sendmsg with FI_MULTICAST, fi_inject", fct_mcast_calls},
	{"dropped", "without a receive a member misses what is sent", fct_mcast_dropped},
	{"twice", "two fid_mc of one group", fct_mcast_twice},
	{"mixed", "endpoints with and without multicast reach each other",
	 fct_mcast_mixed},
	{"refused", "what cannot be joined", fct_mcast_refused},
	{"closing", "fi_close at any moment", fct_mcast_closing},
	{"race", "threads join and close the same groups", fct_mcast_race},
	{"failing", "joins that fail (SIMVERBS_JOIN_FAIL)", fct_mcast_failing},
	{"lost", "a membership that is lost is joined again (SIMVERBS_EVENTS)",
	 fct_mcast_lost},
};

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_mcast",
		.what = "Multicast groups of datagram endpoints.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
		.ep_type = FI_EP_DGRAM,
	};

	return fct_main(argc, argv, &prog);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* What fi_getinfo promises, and that the promises can be opened. */
#include "gi.h"

static const struct fct_case cases[] = {
	{"null_hints", "without hints every info is complete and has a source address",
	 fct_gi_null_hints},
	{"source", "FI_SOURCE with node and service sets src_addr", fct_gi_source},
	{"destination", "node and service set dest_addr, and src_addr too",
	 fct_gi_destination},
	{"numeric", "FI_NUMERICHOST takes addresses", fct_gi_numeric},
	{"hint_addresses", "addresses in the hints are used and returned",
	 fct_gi_hint_addresses},
	{"format_ip", "FI_SOCKADDR_IN and FI_SOCKADDR_IN6 give only that format",
	 fct_gi_format_ip},
	{"format_sockaddr", "FI_SOCKADDR gives either", fct_gi_format_sockaddr},
	{"bad_format", "a foreign address format is -FI_ENODATA", fct_gi_bad_format},
	{"data_progress", "FI_PROGRESS_MANUAL and AUTO are accepted and echoed",
	 fct_gi_data_progress},
	{"control_progress", "the same for control progress", fct_gi_control_progress},
	{"threading", "every threading level is accepted", fct_gi_threading},
	{"resource_mgmt", "resource management on, off and unspecified",
	 fct_gi_resource_mgmt},
	{"mr_mode", "never more mr_mode bits than offered", fct_gi_mr_mode},
	{"mode_zero", "no mode bit is demanded", fct_gi_mode_zero},
	{"excess", "attributes beyond the limits are -FI_ENODATA", fct_gi_excess},
	{"small", "modest attributes are granted", fct_gi_small},
	{"order", "offered orders are granted, others are -FI_ENODATA", fct_gi_order},
	{"order_size", "ordered operations have an ordered size", fct_gi_order_size},
	{"caps_only", "only capabilities asked for are returned", fct_gi_caps_only},
	{"caps_none", "no capabilities asked: all that there are", fct_gi_caps_none},
	{"caps_unsupported", "capabilities not offered are -FI_ENODATA",
	 fct_gi_caps_unsupported},
	{"caps_pmem",
	 "FI_RMA_PMEM is given to who asks for it with FI_RMA, or -FI_ENODATA",
	 fct_gi_caps_pmem},
	{"comm", "FI_LOCAL_COMM or FI_REMOTE_COMM in info and domain", fct_gi_comm},
	{"ep_type", "endpoint types", fct_gi_ep_type},
	{"known_bits", "nothing in an info is unknown to fi_tostr", fct_gi_known_bits},
	{"open_all", "every info opens a fabric, a domain, queues and endpoints",
	 fct_gi_open_all},
	{"bad_domain", "an unknown domain name is -FI_ENODATA", fct_gi_bad_domain},
	{"bad_fabric", "an unknown fabric name is -FI_ENODATA", fct_gi_bad_fabric},
	{"bad_provider", "an unknown provider name is -FI_ENODATA", fct_gi_bad_provider},
	{"open_bad_fabric", "fi_fabric refuses an unknown fabric name",
	 fct_gi_open_bad_fabric},
	{"open_bad_provider", "fi_fabric refuses an unknown provider name",
	 fct_gi_open_bad_provider},
	{"again", "a returned info is a valid hint for itself", fct_gi_again},
	{"versions", "API versions 1.4 to the library's own", fct_gi_versions},
	{"nic", "fi_nic of providers for network cards", fct_gi_nic},
};

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_getinfo",
		.what = "What fi_getinfo promises, and that the promises can be opened.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
		.single = true,
	};

	return fct_main(argc, argv, &prog);
}

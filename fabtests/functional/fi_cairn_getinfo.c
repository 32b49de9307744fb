/* SPDX-License-Identifier: BSD-2-Clause */
/* What fi_getinfo promises, and that the promises can be opened. */
#include "gi.h"

static const struct fct_case cases[] = {
	{"destination", "node and service set dest_addr, and src_addr too",
	 fct_gi_destination},
	{"hint_addresses", "addresses in the hints are used and returned",
	 fct_gi_hint_addresses},
	{"format_ip", "FI_SOCKADDR_IN and FI_SOCKADDR_IN6 give only that format",
	 fct_gi_format_ip},
	{"mode_zero", "no mode bit is demanded", fct_gi_mode_zero},
	{"caps_only", "only capabilities asked for are returned", fct_gi_caps_only},
	{"open_all", "every info opens a fabric, a domain, queues and endpoints",
	 fct_gi_open_all},
	{"bad_domain", "an unknown domain name is -FI_ENODATA", fct_gi_bad_domain},
	{"bad_fabric", "an unknown fabric name is -FI_ENODATA", fct_gi_bad_fabric},
	{"open_bad_fabric", "fi_fabric refuses an unknown fabric name",
	 fct_gi_open_bad_fabric},
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

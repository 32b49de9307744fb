/* SPDX-License-Identifier: BSD-2-Clause */
/* What fi_getinfo promises, and that the promises can be opened. */
#include "gi.h"

static const struct fct_case cases[] = {
	{"null_hints", "without hints every info is complete and has a source address",
	 gi_null_hints},
	{"source", "FI_SOURCE with node and service sets src_addr", gi_source},
	{"destination", "node and service set dest_addr, and src_addr too",
	 gi_destination},
	{"numeric", "FI_NUMERICHOST takes addresses", gi_numeric},
	{"hint_addresses", "addresses in the hints are used and returned",
	 gi_hint_addresses},
	{"format_ip", "FI_SOCKADDR_IN and FI_SOCKADDR_IN6 give only that format",
	 gi_format_ip},
	{"format_sockaddr", "FI_SOCKADDR gives either", gi_format_sockaddr},
	{"bad_format", "a foreign address format is -FI_ENODATA", gi_bad_format},
	{"data_progress", "FI_PROGRESS_MANUAL and AUTO are accepted and echoed",
	 gi_data_progress},
	{"control_progress", "the same for control progress", gi_control_progress},
	{"threading", "every threading level is accepted", gi_threading},
	{"resource_mgmt", "resource management on, off and unspecified",
	 gi_resource_mgmt},
	{"mr_mode", "never more mr_mode bits than offered", gi_mr_mode},
	{"mode_zero", "no mode bit is demanded", gi_mode_zero},
	{"excess", "attributes beyond the limits are -FI_ENODATA", gi_excess},
	{"small", "modest attributes are granted", gi_small},
	{"order", "offered orders are granted, others are -FI_ENODATA", gi_order},
	{"order_size", "ordered operations have an ordered size", gi_order_size},
	{"caps_only", "only capabilities asked for are returned", gi_caps_only},
	{"caps_none", "no capabilities asked: all that there are", gi_caps_none},
	{"caps_unsupported", "capabilities not offered are -FI_ENODATA",
	 gi_caps_unsupported},
	{"caps_pmem",
	 "FI_RMA_PMEM is given to who asks for it with FI_RMA, or -FI_ENODATA",
	 gi_caps_pmem},
	{"comm", "FI_LOCAL_COMM or FI_REMOTE_COMM in info and domain", gi_comm},
	{"ep_type", "endpoint types", gi_ep_type},
	{"known_bits", "nothing in an info is unknown to fi_tostr", gi_known_bits},
	{"open_all", "every info opens a fabric, a domain, queues and endpoints",
	 gi_open_all},
	{"bad_domain", "an unknown domain name is -FI_ENODATA", gi_bad_domain},
	{"bad_fabric", "an unknown fabric name is -FI_ENODATA", gi_bad_fabric},
	{"bad_provider", "an unknown provider name is -FI_ENODATA", gi_bad_provider},
	{"open_bad_fabric", "fi_fabric refuses an unknown fabric name",
	 gi_open_bad_fabric},
	{"open_bad_provider", "fi_fabric refuses an unknown provider name",
	 gi_open_bad_provider},
	{"again", "a returned info is a valid hint for itself", gi_again},
	{"versions", "API versions 1.4 to the library's own", gi_versions},
	{"nic", "fi_nic of providers for network cards", gi_nic},
};

struct fi_info *gi_hints(struct fct *t, uint64_t caps)
{
	struct fct_setup s = {.caps = caps};
	struct fi_info *hints = fct_hints(t, &s);

	if (!hints) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return hints;
}

int gi_query(const struct fi_info *hints, struct fi_info **info)
{
	*info = NULL;
	return fi_getinfo(FCT_API, NULL, NULL, 0, hints, info);
}

int gi_ask(struct fi_info *hints, struct fi_info **info)
{
	int ret = gi_query(hints, info);

	fi_freeinfo(hints);
	return ret;
}

bool gi_ours(const struct fct *t, const struct fi_info *info)
{
	return !t->opts.prov || !strcmp(info->fabric_attr->prov_name, t->opts.prov);
}

int gi_address(struct fct *t, char *node, size_t len)
{
	const char *given = t->opts.src ? t->opts.src : t->opts.self;
	struct fi_info *info = NULL;
	char service[16];
	bool wildcard;
	int ret = 0;

	if (given) {
		snprintf(node, len, "%s", given);
		return 0;
	}
	FCT_CALL(t, gi_ask(gi_hints(t, FI_MSG), &info));
	FCT_TRUE(t, info->src_addr);
	FCT_CALL(t, fct_addr_text(info->src_addr, node, len, service, sizeof(service),
				  &wildcard));
out:
	fi_freeinfo(info);
	return ret;
}

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

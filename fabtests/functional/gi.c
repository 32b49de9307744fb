/* SPDX-License-Identifier: BSD-2-Clause */
/* What the cases share: hints and queries. */
#include "gi.h"

struct fi_info *fct_gi_hints(uint64_t caps)
{
	struct fct_setup s = {.caps = caps};
	struct fi_info *hints = fct_hints(&s);

	if (!hints) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return hints;
}

int fct_gi_query(const struct fi_info *hints, struct fi_info **info)
{
	*info = NULL;
	return fi_getinfo(FCT_API, NULL, NULL, 0, hints, info);
}

int fct_gi_ask(struct fi_info *hints, struct fi_info **info)
{
	int ret = fct_gi_query(hints, info);

	fi_freeinfo(hints);
	return ret;
}

bool fct_gi_ours(const struct fi_info *info)
{
	const struct fct_opts *o = &fct.opts;
	const char *name = info->fabric_attr->prov_name;

	if (!o->prov || !strcmp(name, o->prov))
		return true;
	/* A layer of the core type is not named with what it runs over. */
	return o->lower && !strcmp(name, o->prov + strlen(o->lower) + 1);
}

int fct_gi_address(char *node, size_t len)
{
	FCT_AUTO(fct_info_end) struct fi_info *info = NULL;
	const char *given = fct.opts.src ? fct.opts.src : fct.opts.self;
	char service[16];
	bool wildcard;

	if (given) {
		snprintf(node, len, "%s", given);
		return 0;
	}
	FCT_CALL(fct_gi_ask(fct_gi_hints(FI_MSG), &info));
	FCT_TRUE(info->src_addr);
	FCT_CALL(fct_addr_text(info->src_addr, node, len, service, sizeof(service),
			       &wildcard));
	return 0;
}

FCT_PROGRAM(.name = "fi_cairn_getinfo",
	    .what = "What fi_getinfo promises, and that the promises can be opened.",
	    .single = true)

/* SPDX-License-Identifier: BSD-2-Clause */
/* What the cases share: hints and queries. */
#include "gi.h"

struct fi_info *fct_gi_hints(struct fct *t, uint64_t caps)
{
	struct fct_setup s = {.caps = caps};
	struct fi_info *hints = fct_hints(t, &s);

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

bool fct_gi_ours(const struct fct *t, const struct fi_info *info)
{
	const struct fct_opts *o = &t->opts;
	const char *name = info->fabric_attr->prov_name;

	if (!o->prov || !strcmp(name, o->prov))
		return true;
	/* A layer of the core type is not named with what it runs over. */
	return o->lower && !strcmp(name, o->prov + strlen(o->lower) + 1);
}

int fct_gi_address(struct fct *t, char *node, size_t len)
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
	FCT_CALL(t, fct_gi_ask(fct_gi_hints(t, FI_MSG), &info));
	FCT_TRUE(t, info->src_addr);
	FCT_CALL(t, fct_addr_text(info->src_addr, node, len, service, sizeof(service),
				  &wildcard));
out:
	fi_freeinfo(info);
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "orderings.h"

/* clang-format off */
const struct rlg_ordering rlg_orderings[] = {
	{"one-sided < message, singleton write, DMP without DDIO", false,
	 {"dmp", "off", "off", "singleton", "write", "auto"},
	 {"dmp", "off", "off", "singleton", "write", "message"}},
	{"MHP < DMP with DDIO, singleton write", false,
	 {"mhp", "on", "off", "singleton", "write", "auto"},
	 {"dmp", "on", "off", "singleton", "write", "auto"}},
	{"WSP < MHP, singleton write", false,
	 {"wsp", "on", "off", "singleton", "write", "auto"},
	 {"mhp", "on", "off", "singleton", "write", "auto"}},
	{"WSP < MHP, compound write", false,
	 {"wsp", "on", "off", "compound", "write", "auto"},
	 {"mhp", "on", "off", "compound", "write", "auto"}},
	{"send < write by hand (messages), compound, DMP with DDIO", false,
	 {"dmp", "on", "off", "compound", "send", "rpc"},
	 {"dmp", "on", "off", "compound", "write", "rpc"}},
	{"write (atomic write) < writedata, compound, DMP without DDIO", false,
	 {"dmp", "off", "on", "compound", "write", "auto"},
	 {"dmp", "off", "on", "compound", "writedata", "auto"}},
	{"no effect of DDIO under MHP, singleton write", true,
	 {"mhp", "on", "off", "singleton", "write", "auto"},
	 {"mhp", "off", "off", "singleton", "write", "auto"}},
	{"no effect of DDIO under WSP, singleton write", true,
	 {"wsp", "on", "off", "singleton", "write", "auto"},
	 {"wsp", "off", "off", "singleton", "write", "auto"}},
	{"receives in persistent memory make send one-sided, WSP", false,
	 {"wsp", "on", "off", "singleton", "send", "none"},
	 {"wsp", "on", "off", "singleton", "send", "rpc"}},
	{"receives in persistent memory make send one-sided, MHP", false,
	 {"mhp", "on", "off", "singleton", "send", "read"},
	 {"mhp", "on", "off", "singleton", "send", "rpc"}},
	{NULL, false, {NULL, NULL, NULL, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL, NULL}},
};
/* clang-format on */

bool rlg_case_same(const struct rlg_case *a, const struct rlg_case *b)
{
	const char *const *left = &a->domain, *const *right = &b->domain;
	int i;

	for (i = 0; i < RLG_CASE_WORDS; i++)
		if (strcmp(left[i], right[i]) != 0)
			return false;
	return true;
}

const char *rlg_verdict(const struct rlg_ordering *ordering, const struct rlg_interval *a,
			const struct rlg_interval *b)
{
	if (a->confidence < 0.95 || b->confidence < 0.95)
		return "undecided";
	if (ordering->same)
		return a->to < b->from || b->to < a->from ? "fails" : "holds";
	if (a->to < b->from)
		return "holds";
	return b->to < a->from ? "fails" : "undecided";
}

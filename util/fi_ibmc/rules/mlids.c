/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast LIDs (draft section 4): who shares one, and which switches have no room. */
#include "rules.h"

#define MLID_FIRST 0xc000

static void shared(const struct imc_subnet *subnet, uint32_t at,
		   struct imc_report *report)
{
	const struct imc_group *group = &subnet->group[at];
	const struct imc_where where = {.section = "4",
					.level = IMC_SHOULD,
					.group = group};
	const uint16_t mlid = group->record->mcm.mlid;
	char text[IMC_TEXT];
	uint32_t i, others = 0, first = 0;

	for (i = 0; i < subnet->groups; i++) {
		if (i == at || subnet->group[i].record->mcm.mlid != mlid)
			continue;
		/* The first of them has told it. */
		if (i < at)
			return;
		if (!others++)
			first = i;
	}
	if (others)
		imc_find(report, &where,
			 "it shares MLID 0x%04x with %u other group%s, such as %s", mlid,
			 others, others > 1 ? "s" : "",
			 imc_gid_text(subnet->group[first].record->mcm.mgid, text));
}

static void room(const struct imc_subnet *subnet, const struct imc_node *node,
		 uint16_t last, struct imc_report *report)
{
	const struct imc_where where = {.section = "4", .level = IMC_MUST};

	if (!node->fdb)
		imc_find(report, &where, "switch %s (LID %u) does not support multicast",
			 node->name, node->lid);
	else if (last >= MLID_FIRST && last - MLID_FIRST >= node->fdb)
		imc_find(report, &where,
			 "switch %s (LID %u) has room for %u multicast LIDs, and 0x%04x "
			 "is used",
			 node->name, node->lid, node->fdb, last);
}

void imc_rules_mlids(const struct imc_subnet *subnet, struct imc_report *report)
{
	uint16_t last = 0;
	uint32_t i;

	for (i = 0; i < subnet->groups; i++) {
		if (subnet->group[i].record->mcm.mlid > last)
			last = subnet->group[i].record->mcm.mlid;
		shared(subnet, i, report);
	}
	for (i = 0; i < subnet->nodes; i++)
		if (subnet->node[i].has_fdb)
			room(subnet, &subnet->node[i], last, report);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "rules.h"

/* So many members are named. */
#define NAMED 3

void imc_find(struct imc_report *report, const struct imc_where *where,
	      const char *format, ...)
{
	struct imc_finding *grown =
		realloc(report->finding,
			(report->findings + 1) * sizeof(*report->finding));
	struct imc_finding *finding;
	va_list args;

	if (!grown) {
		report->no_memory = true;
		return;
	}
	report->finding = grown;
	finding = &grown[report->findings++];
	*finding = (struct imc_finding){.row = where->row ? where->row : "",
					.section = where->section,
					.level = where->level,
					.link = where->link,
					.group = where->group};
	report->violated[where->level]++;
	va_start(args, format);
	vsnprintf(finding->what, sizeof(finding->what), format, args);
	va_end(args);
}

static void name_member(const struct imc_subnet *subnet, const struct imc_record *member,
			char *text, size_t size)
{
	const struct imc_node *node = imc_node_of_gid(subnet, member->mcm.port_gid);
	const size_t len = strlen(text);
	char gid[IMC_TEXT];

	imc_gid_text(member->mcm.port_gid, gid);
	if (node)
		snprintf(text + len, size - len, "%s%.40s (LID %u, %s)", len ? ", " : "",
			 node->name, node->lid, gid);
	else
		snprintf(text + len, size - len, "%s%s", len ? ", " : "", gid);
}

/* Also one whose state is not told. */
static bool may_be_full(uint8_t state)
{
	return !state || state & (PVB_MCM_FULL | PVB_MCM_SEND_ONLY_FULL);
}

/* Only a full member creates a group, also one that only sends, and it ends with the
 * last, unless it is the subnet manager's own (specification 15.2.5.17.2). */
const char *imc_maker(const struct imc_subnet *subnet, const struct imc_group *group,
		      char text[IMC_FINDING_SIZE])
{
	char names[IMC_FINDING_SIZE * 2 / 3] = "";
	uint32_t i, full = 0;

	for (i = 0; i < group->members; i++)
		if (may_be_full(group->member[i].mcm.join_state) && full++ < NAMED)
			name_member(subnet, &group->member[i], names, sizeof(names));
	if (!(subnet->has & IMC_HAS_MEMBERS))
		snprintf(text, IMC_FINDING_SIZE,
			 "who made it is not known: members are not told (--smkey)");
	else if (!full)
		snprintf(text, IMC_FINDING_SIZE,
			 "made by the subnet manager: it has no full member");
	else if (full == 1)
		snprintf(text, IMC_FINDING_SIZE,
			 "made by its only full member, %s, or the subnet manager",
			 names);
	else
		snprintf(text, IMC_FINDING_SIZE,
			 "made by one of its %u full members, or the subnet manager: "
			 "%s%s",
			 full, names, full > NAMED ? ", ..." : "");
	return text;
}

void imc_differs(char text[IMC_FINDING_SIZE], const char *name, bool hex, uint32_t is,
		 uint32_t should)
{
	const size_t len = strlen(text), left = IMC_FINDING_SIZE - len;
	const char *const gap = len ? ", " : "";

	if (is == should)
		return;
	if (hex)
		snprintf(text + len, left, "%s%s 0x%08x instead of 0x%08x", gap, name, is,
			 should);
	else
		snprintf(text + len, left, "%s%s %u instead of %u", gap, name, is,
			 should);
}

/* A proper one cannot be created while it is there (section 10). */
static void check_expected(const struct imc_link *link, const struct imc_group *group,
			   const struct imc_attrs *want, struct imc_report *report)
{
	const struct imc_where where = {
		.section = "10", .level = IMC_MUST, .link = link, .group = group};
	const struct pvb_mcm *const is = &group->record->mcm;
	const struct {
		enum imc_attr attr;
		const char *name;
		uint32_t is, should;
	} attrs[] = {
		{IMC_MTU, "MTU", imc_mtu_bytes(is->mtu), imc_mtu_bytes(want->mtu)},
		{IMC_QKEY, "Q_Key", is->qkey, want->qkey},
		{IMC_TCLASS, "TClass", is->tclass, want->tclass},
		{IMC_FLOW_LABEL, "FlowLabel", is->flow_label, want->flow_label},
		{IMC_HOP_LIMIT, "HopLimit", is->hop_limit, want->hop_limit},
		{IMC_SL, "SL", is->sl, want->sl},
		{IMC_RATE, "rate", is->rate, want->rate},
	};
	char text[IMC_FINDING_SIZE] = "";
	size_t i;

	for (i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		if (want->set & attrs[i].attr)
			imc_differs(text, attrs[i].name, attrs[i].attr == IMC_QKEY,
				    attrs[i].is, attrs[i].should);
	if (text[0])
		imc_find(report, &where, "it is not what it should be: %s", text);
}

static bool is_all_node(const struct imc_group *group)
{
	return group->record->name.kind == IMC_KIND_BROADCAST ||
	       group->record->name.kind == IMC_KIND_ALL_NODE;
}

static void check_link(const struct imc_subnet *subnet, const struct imc_link *link,
		       const struct imc_attrs *expected, struct imc_report *report)
{
	uint32_t i;

	imc_rules_link(subnet, link, report);
	imc_rules_ports(subnet, link, report);
	for (i = 0; i < link->groups; i++) {
		imc_rules_group(subnet, link, &link->group[i], report);
		if (is_all_node(&link->group[i]))
			check_expected(link, &link->group[i], expected, report);
	}
}

/* What is required and is not so makes an all-node group a bogus one. */
static void name_makers(const struct imc_subnet *subnet, struct imc_report *report)
{
	struct imc_finding *finding;
	uint32_t i;

	for (i = 0; i < report->findings; i++) {
		finding = &report->finding[i];
		if (finding->group && is_all_node(finding->group) &&
		    finding->level == IMC_MUST)
			imc_maker(subnet, finding->group, finding->maker);
	}
}

int imc_rules(const struct imc_subnet *subnet, const struct imc_attrs *expected,
	      struct imc_report *report)
{
	uint32_t i;

	*report = (struct imc_report){0};
	for (i = 0; i < subnet->links; i++)
		check_link(subnet, &subnet->link[i], expected, report);
	for (i = 0; i < subnet->groups; i++)
		if (!subnet->group[i].record->name.ip)
			imc_rules_group(subnet, NULL, &subnet->group[i], report);
	imc_rules_mlids(subnet, report);
	name_makers(subnet, report);
	return report->no_memory ? -FI_ENOMEM : 0;
}

void imc_report_free(struct imc_report *report)
{
	free(report->finding);
	*report = (struct imc_report){0};
}

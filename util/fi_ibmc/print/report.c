/* SPDX-License-Identifier: BSD-2-Clause */
#include "print.h"

static const struct {
	uint32_t needs; /* enum imc_table */
	const char *what;
} parts[] = {
	{IMC_HAS_PORTS, "R5, R6, section 6.1: there are no PortInfoRecords"},
	{IMC_HAS_PKEYS, "R4, R5, sections 6, 6.1: there are no P_KeyTableRecords, which "
			"want the right --smkey"},
	{IMC_HAS_NODES, "R12, section 7: there are no NodeRecords"},
	{IMC_HAS_MEMBERS, "R4, section 6, and who made a group: members are not told, "
			  "which wants the right --smkey"},
	{IMC_HAS_SWITCHES,
	 "section 4, multicast LIDs in switches: there are no SwitchInfoRecords"},
};

const char *imc_not_checked(const struct imc_subnet *subnet, unsigned int at)
{
	unsigned int i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!(subnet->has & parts[i].needs) && !at--)
			return parts[i].what;
	return subnet->has & IMC_HAS_NOT_ALL && !at
		       ? "R4, R10 to R13, R19, R20, sections 6 to 8, and what is not in "
			 "tables "
			 "of one datagram: they "
			 "came without RMPP"
		       : NULL;
}

static void print_subject(const struct imc_finding *finding)
{
	const struct imc_name *name;
	char text[IMC_TEXT];

	if (finding->group) {
		name = &finding->group->record->name;
		printf("%s", imc_gid_text(name->mgid, text));
		if (name->ip)
			printf(" (%s)", imc_address_text(name, text));
		printf(": ");
	} else if (finding->link) {
		printf("link of partition 0x%04x, scope %u: ", finding->link->pkey,
		       finding->link->scope);
	}
}

void imc_print_report(const struct imc_subnet *subnet, const struct imc_report *report)
{
	const struct imc_finding *finding;
	const char *why;
	uint32_t i;

	for (i = 0; i < report->findings; i++) {
		finding = &report->finding[i];
		printf("%s%ssection %s, %s: ", finding->row, finding->row[0] ? ", " : "",
		       finding->section,
		       finding->level == IMC_MUST ? "required" : "recommended");
		print_subject(finding);
		printf("%s\n", finding->what);
		if (finding->maker[0])
			printf("    section 10: %s\n", finding->maker);
	}
	for (i = 0; (why = imc_not_checked(subnet, i)); i++)
		printf("Not checked: %s.\n", why);
	printf("%u link%s, %u group%s: violated %u of what is required, %u of what is "
	       "recommended.\n",
	       subnet->links, subnet->links == 1 ? "" : "s", subnet->groups,
	       subnet->groups == 1 ? "" : "s", report->violated[IMC_MUST],
	       report->violated[IMC_SHOULD]);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A picture in the language of dot(1): groups are boxes, the ones of a link in a frame,
 * ports ellipses. Lines to members: full ones are solid, non-members dashed, senders
 * dotted; gray ones are of no state that is told.
 */
#include "draw.h"

/* What a node is called comes from others: quotes and backslashes would end it. */
static void print_quoted(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void print_group(FILE *out, const char *indent, const struct imc_group *group)
{
	const struct imc_name *name = &group->record->name;
	char text[IMC_TEXT], gid[IMC_TEXT];

	fprintf(out, "%s\"%s\" [shape=box, label=\"%s%s%s\\nMLID 0x%04x\"%s];\n", indent,
		imc_gid_text(name->mgid, gid), imc_address_text(name, text),
		name->ip ? "\\n" : "", gid, group->record->mcm.mlid,
		name->kind == IMC_KIND_GROUP || name->kind == IMC_KIND_OTHER
			? ""
			: ", style=bold");
}

static void print_link(FILE *out, const struct imc_link *link)
{
	const struct imc_group *base = imc_link_base(link);
	uint32_t i;

	fprintf(out,
		"\tsubgraph \"cluster_%u_%u\" {\n"
		"\t\tlabel=\"Partition 0x%04x, scope %u",
		link->pkey, link->scope, link->pkey, link->scope);
	if (base)
		fprintf(out, "\\nMTU %u, Q_Key 0x%08x",
			imc_mtu_bytes(base->record->mcm.mtu), base->record->mcm.qkey);
	fputs("\";\n\t\tcolor=gray40;\n\t\tstyle=rounded;\n", out);
	for (i = 0; i < link->groups; i++)
		print_group(out, "\t\t", &link->group[i]);
	fputs("\t}\n", out);
}

static void print_members(FILE *out, const struct imc_group *group)
{
	char port[IMC_TEXT], gid[IMC_TEXT];
	const struct pvb_mcm *mcm;
	uint32_t i;

	for (i = 0; i < group->members; i++) {
		mcm = &group->member[i].mcm;
		fprintf(out, "\t\"%s\" -- \"%s\" [style=%s];\n",
			imc_gid_text(mcm->port_gid, port), imc_gid_text(mcm->mgid, gid),
			!mcm->join_state		       ? "solid, color=gray"
			: mcm->join_state & PVB_MCM_FULL       ? "solid"
			: mcm->join_state & PVB_MCM_NON_MEMBER ? "dashed"
							       : "dotted");
	}
}

int imc_dot(const struct imc_subnet *subnet, FILE *out)
{
	char text[IMC_PORT_TEXT], gid[IMC_TEXT];
	struct imc_ports ports;
	uint32_t i;
	int ret = imc_ports_open(subnet, &ports);

	if (ret)
		return ret;
	fputs("graph groups {\n\tgraph [fontname=sans, rankdir=LR];\n"
	      "\tnode [fontname=sans];\n",
	      out);
	for (i = 0; i < ports.ports; i++) {
		fprintf(out, "\t\"%s\" [label=\"",
			imc_gid_text(ports.port[i]->mcm.port_gid, gid));
		print_quoted(out, imc_port_text(subnet, ports.port[i], text));
		fputs("\"];\n", out);
	}
	for (i = 0; i < subnet->links; i++)
		print_link(out, &subnet->link[i]);
	for (i = 0; i < subnet->groups; i++)
		if (!subnet->group[i].record->name.ip)
			print_group(out, "\t", &subnet->group[i]);
	for (i = 0; i < subnet->groups; i++)
		print_members(out, &subnet->group[i]);
	fputs("}\n", out);
	imc_ports_close(&ports);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>

#include "grid/grid.h"
#include "print.h"

__attribute__((format(printf, 2, 3))) static void add(struct grd_grid *grid,
						      const char *format, ...)
{
	char text[IMC_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	grd_add(grid, text);
}

static void add_head(struct grd_grid *grid)
{
	static const char *const head[] = {"Address", "Kind", "MGID",  "P_Key",
					   "MLID",    "MTU",  "Q_Key", "Members"};
	size_t i;

	grd_begin(grid, sizeof(head) / sizeof(head[0]));
	for (i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		grd_add(grid, head[i]);
}

static void add_group(struct grd_grid *grid, const struct imc_subnet *subnet,
		      const struct imc_group *group)
{
	const struct pvb_mcm *mcm = &group->record->mcm;
	const struct imc_name *name = &group->record->name;
	char text[IMC_TEXT];

	grd_add(grid, name->ip ? imc_address_text(name, text) : "-");
	grd_add(grid, imc_kind_text(name->kind));
	grd_add(grid, imc_gid_text(mcm->mgid, text));
	add(grid, "0x%04x", mcm->pkey);
	add(grid, "0x%04x", mcm->mlid);
	add(grid, "%u", imc_mtu_bytes(mcm->mtu));
	add(grid, "0x%08x", mcm->qkey);
	if (subnet->has & IMC_HAS_MEMBERS)
		add(grid, "%u", group->members);
	else
		grd_add(grid, "-");
}

void imc_print_attrs(const struct pvb_mcm *mcm, FILE *out)
{
	char rate[IMC_TEXT];

	fprintf(out,
		"MTU %u, Q_Key 0x%08x, TClass %u, FlowLabel 0x%05x, HopLimit %u, SL %u, "
		"%s\n",
		imc_mtu_bytes(mcm->mtu), mcm->qkey, mcm->tclass, mcm->flow_label,
		mcm->hop_limit, mcm->sl, imc_rate_text(mcm->rate, rate));
}

static int print_link(const struct imc_subnet *subnet, const struct imc_link *link,
		      FILE *out)
{
	const struct imc_group *base = imc_link_base(link);
	struct grd_grid grid;
	uint32_t i;

	fprintf(out, "Link of partition 0x%04x, scope %u: ", link->pkey, link->scope);
	if (base)
		imc_print_attrs(&base->record->mcm, out);
	else
		fputs("no all-node group\n", out);
	add_head(&grid);
	for (i = 0; i < link->groups; i++)
		add_group(&grid, subnet, &link->group[i]);
	return grd_end(&grid, out);
}

static int print_others(const struct imc_subnet *subnet, FILE *out)
{
	struct grd_grid grid;
	uint32_t i;

	fputs("Groups of no IPoIB link\n", out);
	add_head(&grid);
	for (i = 0; i < subnet->groups; i++)
		if (!subnet->group[i].record->name.ip)
			add_group(&grid, subnet, &subnet->group[i]);
	return grd_end(&grid, out);
}

int imc_print_list(const struct imc_subnet *subnet, FILE *out)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < subnet->links && !ret; i++) {
		if (i)
			fputc('\n', out);
		ret = print_link(subnet, &subnet->link[i], out);
	}
	/* Groups of links come first. */
	if (!ret && subnet->groups &&
	    !subnet->group[subnet->groups - 1].record->name.ip) {
		if (subnet->links)
			fputc('\n', out);
		ret = print_others(subnet, out);
	}
	if (!subnet->groups)
		fputs("There is no multicast group.\n", out);
	return ret;
}

static void print_members(const struct imc_subnet *subnet, const struct imc_group *group,
			  struct grd_grid *grid)
{
	const struct imc_node *node;
	const struct pvb_mcm *mcm;
	char text[IMC_TEXT];
	uint32_t i;

	for (i = 0; i < group->members; i++) {
		mcm = &group->member[i].mcm;
		node = imc_node_of_gid(subnet, mcm->port_gid);
		grd_add(grid, imc_gid_text(mcm->port_gid, text));
		if (node)
			add(grid, "%u", node->lid);
		else
			grd_add(grid, "-");
		grd_add(grid, imc_state_text(mcm->join_state, text));
		grd_add(grid, node ? node->name : "");
	}
}

int imc_print_group(const struct imc_subnet *subnet, const struct imc_group *group)
{
	const struct imc_name *name = &group->record->name;
	const struct pvb_mcm *mcm = &group->record->mcm;
	struct grd_grid grid;
	char text[IMC_TEXT], rate[IMC_TEXT];

	printf("MGID       %s\n", imc_gid_text(mcm->mgid, text));
	if (name->ip)
		printf("Address    %s (%s)\n", imc_address_text(name, text),
		       imc_kind_text(name->kind));
	printf("MLID       0x%04x\n"
	       "P_Key      0x%04x\n"
	       "Scope      %u %s\n"
	       "MTU        %u\n"
	       "Rate       %s\n"
	       "Q_Key      0x%08x%s\n"
	       "TClass     %u\n"
	       "FlowLabel  0x%05x\n"
	       "HopLimit   %u\n"
	       "SL         %u\n",
	       mcm->mlid, mcm->pkey, mcm->mgid[1] & 0xfu,
	       imc_scope_text(mcm->mgid[1] & 0xf), imc_mtu_bytes(mcm->mtu),
	       imc_rate_text(mcm->rate, rate), mcm->qkey,
	       mcm->qkey >> 31 ? " (controlled)" : "", mcm->tclass, mcm->flow_label,
	       mcm->hop_limit, mcm->sl);
	if (!(subnet->has & IMC_HAS_MEMBERS)) {
		puts("Members    are not told");
		return 0;
	}
	printf("Members    %u\n", group->members);
	if (!group->members)
		return 0;
	grd_begin(&grid, 4);
	grd_add(&grid, "Port GID");
	grd_add(&grid, "LID");
	grd_add(&grid, "State");
	grd_add(&grid, "Node");
	print_members(subnet, group, &grid);
	return grd_end(&grid, stdout);
}

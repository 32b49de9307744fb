/* SPDX-License-Identifier: BSD-2-Clause */
/* The link's MTU against what ports have, and members against their partition. */
#include <stdio.h>
#include <string.h>

#include "rules.h"

/* So many are named; the rest is counted. */
#define NAMED 3

struct names {
	char text[IMC_FINDING_SIZE / 2];
	uint32_t count;
};

static void name_port(struct names *names, const struct imc_subnet *subnet,
		      const struct imc_port *port, uint8_t mtu)
{
	const struct imc_node *node = imc_node_of_lid(subnet, port->lid);
	const size_t len = strlen(names->text);

	if (names->count++ < NAMED)
		snprintf(names->text + len, sizeof(names->text) - len,
			 "%s%.40s port %u (LID %u) has %u", len ? ", " : "",
			 node ? node->name : "node", port->number, port->lid,
			 imc_mtu_bytes(mtu));
}

/* A switch carries what others send, whichever partitions its ports are in. */
static bool carries(const struct imc_subnet *subnet, const struct imc_port *port,
		    const struct imc_link *link)
{
	const struct imc_node *node = imc_node_of_lid(subnet, port->lid);

	/* Number 0 is a switch's management port. */
	if (port->state != IMC_PORT_ACTIVE || !port->number)
		return false;
	if (node && node->type == IMC_SWITCH)
		return true;
	return imc_port_pkey(subnet, port->lid, port->number, link->pkey);
}

static void tell(struct imc_report *report, const struct imc_where *where, uint8_t mtu,
		 const struct names *names, const char *what)
{
	char rest[32] = "";

	if (names->count > NAMED)
		snprintf(rest, sizeof(rest), " and %u more", names->count - NAMED);
	if (names->count)
		imc_find(report, where, "MTU %u is above %s: %s%s", imc_mtu_bytes(mtu),
			 what, names->text, rest);
}

static void mtu(const struct imc_subnet *subnet, const struct imc_link *link,
		const struct imc_group *base, struct imc_report *report)
{
	struct imc_where where = {.row = "R5",
				  .section = "6.1",
				  .level = IMC_MUST,
				  .link = link,
				  .group = base};
	const uint8_t mtu = base->record->mcm.mtu;
	struct names able = {0}, paths = {0};
	const struct imc_port *port;
	uint32_t i;

	for (i = 0; i < subnet->ports; i++) {
		port = &subnet->port[i];
		if (port->mtu >= mtu || !carries(subnet, port, link))
			continue;
		if (port->mtu_cap < mtu)
			name_port(&able, subnet, port, port->mtu_cap);
		else
			name_port(&paths, subnet, port, port->mtu);
	}
	tell(report, &where, mtu, &able, "what adapters or switches can");
	where.row = "R6";
	tell(report, &where, mtu, &paths, "that of paths");
}

static void members(const struct imc_subnet *subnet, const struct imc_link *link,
		    const struct imc_group *group, struct imc_report *report)
{
	const struct imc_where where = {.row = "R4",
					.section = "6",
					.level = IMC_MUST,
					.link = link,
					.group = group};
	const struct imc_node *node;
	uint32_t i;

	for (i = 0; i < group->members; i++) {
		node = imc_node_of_gid(subnet, group->member[i].mcm.port_gid);
		if (node && !imc_port_pkey(subnet, node->lid, IMC_ANY_PORT, link->pkey))
			imc_find(report, &where,
				 "%s (LID %u) is a member and has no P_Key of partition "
				 "0x%04x",
				 node->name, node->lid, link->pkey);
	}
}

void imc_rules_ports(const struct imc_subnet *subnet, const struct imc_link *link,
		     struct imc_report *report)
{
	const struct imc_group *base = imc_link_base(link);
	uint32_t i;

	if (base && subnet->has & IMC_HAS_PORTS)
		mtu(subnet, link, base, report);
	if (!(subnet->has & IMC_HAS_PKEYS) || !(subnet->has & IMC_HAS_MEMBERS) ||
	    subnet->has & IMC_HAS_NOT_ALL)
		return;
	for (i = 0; i < link->groups; i++)
		members(subnet, link, &link->group[i], report);
}

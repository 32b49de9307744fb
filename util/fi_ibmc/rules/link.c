/* SPDX-License-Identifier: BSD-2-Clause */
/* Of a link as a whole, and of the groups that every node of it joins. */
#include <netinet/in.h>

#include "rules.h"

#define LINK_LOCAL 2
#define MTU_OF_IPV6 1280
#define QKEY_CONTROLLED 0x80000000u

static const struct imc_link *other_scope(const struct imc_subnet *subnet,
					  const struct imc_link *link)
{
	uint32_t i;

	for (i = 0; i < subnet->links; i++)
		if (subnet->link[i].pkey == link->pkey && &subnet->link[i] != link &&
		    imc_link_base(&subnet->link[i]))
			return &subnet->link[i];
	return NULL;
}

static bool has_family(const struct imc_link *link, int family)
{
	uint32_t i;

	for (i = 0; i < link->groups; i++)
		if (link->group[i].record->name.addr.family == family)
			return true;
	return false;
}

/* Without it nobody knows the link's attributes. */
static void all_node(const struct imc_subnet *subnet, const struct imc_link *link,
		     struct imc_report *report)
{
	const struct imc_link *other = other_scope(subnet, link);
	struct imc_where where = {.row = "R20",
				  .section = "8",
				  .level = IMC_MUST,
				  .link = link,
				  .group = link->group};

	if (other) {
		imc_find(report, &where,
			 "its groups have scope %u, the all-node group of the P_Key has "
			 "%u",
			 link->scope, other->scope);
		return;
	}
	where.section = "7";
	where.group = NULL;
	where.row = has_family(link, AF_INET) ? "R10" : "R11";
	imc_find(report, &where,
		 "there is neither a broadcast group nor an all-node group, which the "
		 "administrator has to create");
}

static void all_node_v4(const struct imc_link *link, struct imc_report *report)
{
	const struct imc_where where = {
		.row = "R10", .section = "7", .level = IMC_MUST, .link = link};

	if (has_family(link, AF_INET) &&
	    !imc_link_group(link, IMC_KIND_BROADCAST, AF_INET))
		imc_find(report, &where, "there are IPv4 groups, and no broadcast group");
}

static bool has_router(const struct imc_subnet *subnet)
{
	uint32_t i;

	for (i = 0; i < subnet->nodes; i++)
		if (subnet->node[i].type == IMC_ROUTER)
			return true;
	return false;
}

static void scope(const struct imc_subnet *subnet, const struct imc_link *link,
		  struct imc_report *report)
{
	const struct imc_link *other = other_scope(subnet, link);
	struct imc_where where = {
		.row = "R12", .section = "7", .level = IMC_MUST, .link = link};

	if (link->scope == LINK_LOCAL)
		return;
	if (subnet->has & IMC_HAS_NODES && !has_router(subnet))
		imc_find(report, &where,
			 "the subnet has no InfiniBand router, and a link within one "
			 "subnet "
			 "has scope 2");
	where.row = "R13";
	where.level = IMC_SHOULD;
	if (other && other->scope < link->scope)
		imc_find(report, &where,
			 "no node finds it: the P_Key has a link of scope %u, which is "
			 "looked for first",
			 other->scope);
}

static void routers(const struct imc_link *link, int family, struct imc_report *report)
{
	const struct imc_where where = {
		.row = "R19", .section = "7", .level = IMC_SHOULD, .link = link};

	if (has_family(link, family) &&
	    !imc_link_group(link, IMC_KIND_ALL_ROUTER, family))
		imc_find(report, &where,
			 "there is no all-router group of IPv%d, which an IP router on "
			 "the "
			 "link needs (create-routers)",
			 family == AF_INET ? 4 : 6);
}

static void mtu(const struct imc_link *link, const struct imc_group *base,
		struct imc_report *report)
{
	const uint32_t bytes = imc_mtu_bytes(base->record->mcm.mtu);
	const struct imc_where where = {.row = "R7",
					.section = "6.1",
					.level = IMC_MUST,
					.link = link,
					.group = base};

	if (bytes < MTU_OF_IPV6 && has_family(link, AF_INET6))
		imc_find(report, &where,
			 "MTU %u: a link of IPv6 has at least 1280 bytes, so 2048",
			 bytes);
}

static void qkey(const struct imc_link *link, const struct imc_group *base,
		 struct imc_report *report)
{
	const struct imc_where where = {.row = "R8",
					.section = "6.2, 10",
					.level = IMC_SHOULD,
					.link = link,
					.group = base};

	if (!(base->record->mcm.qkey & QKEY_CONTROLLED))
		imc_find(report, &where,
			 "Q_Key 0x%08x is not controlled: without its high bit any "
			 "program may send with it",
			 base->record->mcm.qkey);
}

/* A packet that leaves the subnet is forwarded by a router, which counts it down. */
static void hops(const struct imc_link *link, const struct imc_group *base,
		 struct imc_report *report)
{
	const struct imc_where where = {
		.section = "6.3", .level = IMC_MUST, .link = link, .group = base};

	if (link->scope > LINK_LOCAL && base->record->mcm.hop_limit < 2)
		imc_find(report, &where,
			 "HopLimit %u: no packet reaches another subnet of the link",
			 base->record->mcm.hop_limit);
}

/* What is said of groups and nodes that are not there, if that is known. */
static void absent(const struct imc_subnet *subnet, const struct imc_link *link,
		   struct imc_report *report)
{
	all_node_v4(link, report);
	scope(subnet, link, report);
	routers(link, AF_INET, report);
	routers(link, AF_INET6, report);
}

void imc_rules_link(const struct imc_subnet *subnet, const struct imc_link *link,
		    struct imc_report *report)
{
	const struct imc_group *base = imc_link_base(link);
	const bool whole = !(subnet->has & IMC_HAS_NOT_ALL);

	if (!base && whole)
		all_node(subnet, link, report);
	if (!base)
		return;
	if (whole)
		absent(subnet, link, report);
	mtu(link, base, report);
	qkey(link, base, report);
	hops(link, base, report);
}

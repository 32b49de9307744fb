/* SPDX-License-Identifier: BSD-2-Clause */
/* Of one group: that it is as its link's all-node group, and its multicast LID. */
#include <netinet/in.h>
#include <cairn/bytes.h>

#include "rules.h"

#define MLID_FIRST 0xc000
#define MLID_LAST 0xfffe
#define SIGNATURE_V4 0x401b
#define SIGNATURE_V6 0x601b

/* Recommended alone, but without them packets of the link are treated differently. */
static void attributes(const struct pvb_mcm *is, const struct pvb_mcm *base,
		       const struct imc_where *at, struct imc_report *report)
{
	struct imc_where where = *at;
	char text[IMC_FINDING_SIZE] = "";

	where.row = "R25";
	where.section = "8";
	where.level = IMC_SHOULD;
	imc_differs(text, "TClass", false, is->tclass, base->tclass);
	imc_differs(text, "FlowLabel", false, is->flow_label, base->flow_label);
	imc_differs(text, "HopLimit", false, is->hop_limit, base->hop_limit);
	imc_differs(text, "SL", false, is->sl, base->sl);
	if (text[0])
		imc_find(report, &where, "%s, which the all-node group has", text);
}

static void like_base(const struct pvb_mcm *is, const struct pvb_mcm *base,
		      const struct imc_where *at, struct imc_report *report)
{
	struct imc_where where = *at;

	where.row = "R24";
	where.section = "8";
	if (is->mtu != base->mtu)
		imc_find(report, &where, "MTU %u instead of the link's %u",
			 imc_mtu_bytes(is->mtu), imc_mtu_bytes(base->mtu));
	where.row = "R9";
	where.section = "6.2";
	if (is->qkey != base->qkey)
		imc_find(report, &where, "Q_Key 0x%08x instead of the link's 0x%08x",
			 is->qkey, base->qkey);
	attributes(is, base, at, report);
}

static void pkey(const struct imc_group *group, const struct imc_where *at,
		 struct imc_report *report)
{
	const struct imc_name *name = &group->record->name;
	struct imc_where where = *at;

	where.row = name->addr.family == AF_INET ? "R10" : "R11";
	where.section = "7, 8";
	if ((group->record->mcm.pkey ^ name->addr.pkey) & IMC_PKEY_PARTITION)
		imc_find(report, &where,
			 "its P_Key is 0x%04x, its MGID says 0x%04x: nobody who joins it "
			 "is heard",
			 group->record->mcm.pkey, name->addr.pkey);
}

/* An IPoIB signature in an MGID that is none of a link. */
static void malformed(const struct imc_group *group, const struct imc_where *at,
		      struct imc_report *report)
{
	const uint8_t *const mgid = group->record->mcm.mgid;
	const uint16_t signature = crn_get_be16(mgid + 2);
	struct imc_where where = *at;

	if (signature != SIGNATURE_V4 && signature != SIGNATURE_V6)
		return;
	where.row = "R2";
	where.section = "4, 8";
	if ((mgid[1] & 0xf0) != 0x10) {
		imc_find(report, &where,
			 "it has IPoIB's signature, and its flags are 0x%x instead of 1",
			 mgid[1] >> 4);
		return;
	}
	where.row = signature == SIGNATURE_V4 ? "R20" : "R21";
	where.section = "8";
	imc_find(report, &where,
		 "it has IPoIB's signature, and no IP address maps to it");
}

static void mlid(const struct imc_group *group, const struct imc_where *at,
		 struct imc_report *report)
{
	const uint16_t lid = group->record->mcm.mlid;
	struct imc_where where = *at;

	where.row = "R3";
	where.section = "4";
	if (lid < MLID_FIRST || lid > MLID_LAST)
		imc_find(report, &where, "0x%04x is no multicast LID", lid);
}

void imc_rules_group(const struct imc_subnet *subnet, const struct imc_link *link,
		     const struct imc_group *group, struct imc_report *report)
{
	const struct imc_group *base = link ? imc_link_base(link) : NULL;
	const struct imc_where where = {.level = IMC_MUST, .link = link, .group = group};

	mlid(group, &where, report);
	if (!link) {
		malformed(group, &where, report);
		return;
	}
	pkey(group, &where, report);
	if (base && base != group)
		like_base(&group->record->mcm, &base->record->mcm, &where, report);
}

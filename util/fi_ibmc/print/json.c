/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <rdma/fi_errno.h>

#include "print.h"

/* An object that is without a member for want of memory is still an object. */
static bool no_memory;

static void *allocate(size_t size)
{
	void *memory = malloc(size);

	no_memory = no_memory || !memory;
	return memory;
}

void imc_json_begin(void)
{
	no_memory = false;
	json_set_alloc_funcs(allocate, free);
}

static json_t *hex(unsigned int digits, uint32_t value)
{
	return json_sprintf("0x%0*x", (int)digits, value);
}

json_t *imc_name_json(const struct imc_name *name)
{
	char address[IMC_TEXT], gid[IMC_TEXT], digits[IMC_TEXT];

	return json_pack("{s:o, s:s, s:s, s:o, s:i, s:s}", "address",
			 name->ip ? json_string(imc_address_text(name, address))
				  : json_null(),
			 "mgid", imc_gid_text(name->mgid, gid), "hex",
			 imc_hex_text(name->mgid, digits), "pkey",
			 name->ip ? hex(4, name->addr.pkey) : json_null(), "scope",
			 name->mgid[1] & 0xf, "kind", imc_kind_text(name->kind));
}

static json_t *states_json(uint8_t state)
{
	json_t *array = json_array();
	char text[IMC_TEXT];
	uint8_t bit;

	for (bit = 1; bit < 16; bit <<= 1)
		if (state & bit)
			json_array_append_new(array,
					      json_string(imc_state_text(bit, text)));
	return array;
}

static json_t *member_json(const struct imc_subnet *subnet, const struct pvb_mcm *mcm)
{
	const struct imc_node *node = imc_node_of_gid(subnet, mcm->port_gid);
	char gid[IMC_TEXT];

	return json_pack("{s:s, s:o, s:o, s:o, s:b}", "port_gid",
			 imc_gid_text(mcm->port_gid, gid), "lid",
			 node ? json_integer(node->lid) : json_null(), "node",
			 node ? json_string(node->name) : json_null(), "states",
			 states_json(mcm->join_state), "proxy", mcm->proxy_join);
}

static json_t *members_json(const struct imc_subnet *subnet,
			    const struct imc_group *group)
{
	json_t *array;
	uint32_t i;

	if (!(subnet->has & IMC_HAS_MEMBERS))
		return json_null();
	array = json_array();
	for (i = 0; i < group->members; i++)
		json_array_append_new(array, member_json(subnet, &group->member[i].mcm));
	return array;
}

json_t *imc_group_json(const struct imc_subnet *subnet, const struct imc_group *group)
{
	const struct pvb_mcm *mcm = &group->record->mcm;
	json_t *object = imc_name_json(&group->record->name);

	json_object_set_new(object, "pkey", hex(4, mcm->pkey));
	json_object_set_new(object, "mlid", hex(4, mcm->mlid));
	json_object_set_new(object, "mtu", json_integer(imc_mtu_bytes(mcm->mtu)));
	json_object_set_new(object, "rate", json_integer(mcm->rate));
	json_object_set_new(object, "qkey", hex(8, mcm->qkey));
	json_object_set_new(object, "tclass", json_integer(mcm->tclass));
	json_object_set_new(object, "flow_label", json_integer(mcm->flow_label));
	json_object_set_new(object, "hop_limit", json_integer(mcm->hop_limit));
	json_object_set_new(object, "sl", json_integer(mcm->sl));
	json_object_set_new(object, "lifetime", json_integer(mcm->life));
	json_object_set_new(object, "members", members_json(subnet, group));
	return object;
}

static json_t *link_json(const struct imc_subnet *subnet, const struct imc_link *link)
{
	json_t *groups = json_array();
	uint32_t i;

	for (i = 0; i < link->groups; i++)
		json_array_append_new(groups, imc_group_json(subnet, &link->group[i]));
	return json_pack("{s:o, s:i, s:o}", "partition", hex(4, link->pkey), "scope",
			 link->scope, "groups", groups);
}

json_t *imc_list_json(const struct imc_subnet *subnet)
{
	json_t *links = json_array(), *others = json_array();
	uint32_t i;

	for (i = 0; i < subnet->links; i++)
		json_array_append_new(links, link_json(subnet, &subnet->link[i]));
	for (i = 0; i < subnet->groups; i++)
		if (!subnet->group[i].record->name.ip)
			json_array_append_new(others,
					      imc_group_json(subnet, &subnet->group[i]));
	return json_pack("{s:b, s:o, s:o}", "complete", !(subnet->has & IMC_HAS_NOT_ALL),
			 "links", links, "others", others);
}

static json_t *finding_json(const struct imc_finding *finding)
{
	char gid[IMC_TEXT];

	return json_pack(
		"{s:o, s:s, s:s, s:o, s:o, s:o, s:s, s:o}", "row",
		finding->row[0] ? json_string(finding->row) : json_null(), "section",
		finding->section, "level", finding->level == IMC_MUST ? "must" : "should",
		"partition", finding->link ? hex(4, finding->link->pkey) : json_null(),
		"scope", finding->link ? json_integer(finding->link->scope) : json_null(),
		"mgid",
		finding->group
			? json_string(imc_gid_text(finding->group->record->mcm.mgid, gid))
			: json_null(),
		"what", finding->what, "maker",
		finding->maker[0] ? json_string(finding->maker) : json_null());
}

json_t *imc_report_json(const struct imc_subnet *subnet, const struct imc_report *report)
{
	json_t *findings = json_array(), *not_checked = json_array();
	const char *why;
	uint32_t i;

	for (i = 0; i < report->findings; i++)
		json_array_append_new(findings, finding_json(&report->finding[i]));
	for (i = 0; (why = imc_not_checked(subnet, i)); i++)
		json_array_append_new(not_checked, json_string(why));
	return json_pack("{s:i, s:i, s:i, s:i, s:o, s:o}", "links", (int)subnet->links,
			 "groups", (int)subnet->groups, "must",
			 (int)report->violated[IMC_MUST], "should",
			 (int)report->violated[IMC_SHOULD], "findings", findings,
			 "not_checked", not_checked);
}

int imc_json_print(json_t *whole, bool line, FILE *out)
{
	const size_t flags =
		(line ? JSON_COMPACT : JSON_INDENT(2)) | JSON_REAL_PRECISION(16);
	int ret = whole && !no_memory ? 0 : -FI_ENOMEM;

	if (!ret && json_dumpf(whole, out, flags))
		ret = no_memory ? -FI_ENOMEM : -FI_EIO;
	if (!ret)
		fputc('\n', out);
	json_decref(whole);
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/bytes.h>

#include "session.h"

/* Of a NodeRecord; table 193. */
#define NODE_RECORD_SIZE 108
#define NODE_PORT_GUID_AT 24
#define NODE_HAS_PORT_GUID (1u << 8)
/* Members that are asked for one by one. */
#define NAMES_MOST 64

/* A table; 0: it is loaded, or empty; > 0: the status; -FI_E*. */
static int load(struct imc_session *session, struct imc_subnet *subnet,
		struct pvb_sa_request *request)
{
	struct pvb_sa_reply reply;
	int ret;

	request->method = PVB_SA_GET_TABLE;
	ret = imc_ask(session, request, &reply);
	if (ret) {
		subnet->no_memory = subnet->no_memory || ret == -FI_ENOMEM;
		return ret;
	}
	ret = reply.status;
	if (ret == PVB_SA_NO_RECORDS)
		ret = imc_subnet_load(subnet, request->attr, NULL, 0, 0);
	else if (!ret)
		ret = imc_subnet_load(subnet, request->attr, reply.data, reply.len,
				      reply.record_size);
	pvb_sa_reply_free(&reply);
	subnet->no_memory = subnet->no_memory || ret == -FI_ENOMEM;
	return ret;
}

static int load_attr(struct imc_session *session, struct imc_subnet *subnet,
		     uint16_t attr, uint64_t sm_key)
{
	struct pvb_sa_request request = {.attr = attr, .sm_key = sm_key};

	return load(session, subnet, &request);
}

static int load_members(struct imc_session *session, struct imc_subnet *subnet,
			const uint8_t *mgid, const uint8_t *port_gid, uint64_t sm_key)
{
	uint8_t record[PVB_MCM_SIZE];
	struct pvb_mcm mcm = {0};
	struct pvb_sa_request request = {.attr = PVB_SA_MCMEMBER_RECORD,
					 .data = record,
					 .len = sizeof(record),
					 .sm_key = sm_key};

	if (mgid) {
		memcpy(mcm.mgid, mgid, sizeof(mcm.mgid));
		request.comp_mask |= PVB_MCM_HAS_MGID;
	}
	if (port_gid) {
		memcpy(mcm.port_gid, port_gid, sizeof(mcm.port_gid));
		request.comp_mask |= PVB_MCM_HAS_PORT_GID;
	}
	pvb_mcm_pack(record, &mcm);
	return load(session, subnet, &request);
}

/* Without the key everybody may ask for one port (specification 15.4.1.2): it is a member
 * of what there is a record of, which opensm leaves without its GID and state. */
static int load_by_port(struct imc_session *session, struct imc_subnet *subnet,
			const uint8_t *mgid)
{
	uint32_t i, before;
	uint8_t gid[16];
	int ret = 0;

	memcpy(gid, session->umad.port.gid, sizeof(gid));
	for (i = 0; i < subnet->nodes && !ret; i++) {
		crn_put_be64(gid + 8, subnet->node[i].port_guid);
		before = subnet->records;
		ret = load_members(session, subnet, mgid, gid, 0);
		for (; before < subnet->records; before++)
			memcpy(subnet->record[before].mcm.port_gid, gid, sizeof(gid));
	}
	return ret;
}

static int load_nodes(struct imc_session *session, struct imc_subnet *subnet)
{
	return load_attr(session, subnet, IMC_NODE_RECORD, 0);
}

/* With another key the administrator does not answer at all, or refuses. */
static void gather_members(struct imc_session *session, struct imc_subnet *subnet,
			   const uint8_t *mgid)
{
	const uint64_t key = session->options->sm_key;

	if (key && !load_members(session, subnet, mgid, NULL, key)) {
		subnet->has |= IMC_HAS_MEMBERS;
		return;
	}
	if (!subnet->nodes)
		load_nodes(session, subnet);
	if (subnet->nodes && !load_by_port(session, subnet, mgid) &&
	    !(subnet->has & IMC_HAS_NOT_ALL))
		subnet->has |= IMC_HAS_MEMBERS;
}

static bool has_node(const struct imc_subnet *subnet, uint64_t port_guid)
{
	uint32_t i;

	for (i = 0; i < subnet->nodes; i++)
		if (subnet->node[i].port_guid == port_guid)
			return true;
	return false;
}

/* The names of a few members, without the table of a large subnet, or besides one that
 * was cut off. */
static void gather_names(struct imc_session *session, struct imc_subnet *subnet)
{
	uint8_t record[NODE_RECORD_SIZE] = {0};
	struct pvb_sa_request request = {.attr = IMC_NODE_RECORD,
					 .comp_mask = NODE_HAS_PORT_GUID,
					 .data = record,
					 .len = sizeof(record)};
	uint32_t i, asked = 0;
	uint64_t guid;

	for (i = 0; i < subnet->records && asked < NAMES_MOST; i++) {
		guid = crn_get_be64(subnet->record[i].mcm.port_gid + 8);
		if (!guid || has_node(subnet, guid))
			continue;
		crn_put_be64(record + NODE_PORT_GUID_AT, guid);
		if (load(session, subnet, &request) < 0)
			return;
		asked++;
	}
}

/* What cannot be had is told by subnet->has. */
static void gather_rest(struct imc_session *session, uint32_t what, const uint8_t *mgid,
			struct imc_subnet *subnet)
{
	if (what & IMC_GATHER_NODES)
		load_nodes(session, subnet);
	if (what & IMC_GATHER_PORTS) {
		load_attr(session, subnet, PVB_SA_PORT_INFO_RECORD, 0);
		load_attr(session, subnet, IMC_SWITCH_INFO_RECORD, 0);
		load_attr(session, subnet, IMC_PKEY_TABLE_RECORD,
			  session->options->sm_key);
	}
	gather_members(session, subnet, mgid);
	if (!(what & IMC_GATHER_NODES) || subnet->has & IMC_HAS_NOT_ALL)
		gather_names(session, subnet);
}

int imc_gather(struct imc_session *session, uint32_t what, const uint8_t *mgid,
	       struct imc_subnet *subnet)
{
	int ret = load_members(session, subnet, mgid, NULL, 0);

	if (ret)
		return imc_failed(session, "the groups", ret < 0 ? ret : 0,
				  ret > 0 ? (uint16_t)ret : 0);
	gather_rest(session, what, mgid, subnet);
	if (subnet->no_memory || imc_subnet_finish(subnet))
		return imc_failed(session, "the groups", -FI_ENOMEM, 0);
	if (subnet->has & IMC_HAS_NOT_ALL)
		fprintf(stderr,
			"fi_ibmc: tables came without RMPP: this is what one datagram "
			"has room for\n");
	return IMC_DONE;
}

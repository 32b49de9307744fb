/* SPDX-License-Identifier: BSD-2-Clause */
/* What the SA tells of ports, paths and itself: IBA 15.2.5. */
#include <string.h>
#include "parts.h"

/* Bits of the component masks. */
enum { SVB_NR_LID = 0, SVB_NR_NODE_GUID = 7, SVB_NR_PORT_GUID = 8 };
enum { SVB_PIR_LID = 0, SVB_PIR_PORT = 1, SVB_PIR_CAPABILITIES = 7 };
enum { SVB_PKR_LID = 0, SVB_PKR_BLOCK = 1, SVB_PKR_PORT = 2 };
enum {
	SVB_PR_DGID = 2,
	SVB_PR_SGID = 3,
	SVB_PR_DLID = 4,
	SVB_PR_SLID = 5,
	SVB_PR_PKEY = 13,
};
/* Offsets of a PathRecord. */
enum {
	SVB_PATH_DGID = 8,
	SVB_PATH_SGID = 24,
	SVB_PATH_DLID = 40,
	SVB_PATH_SLID = 42,
	SVB_PATH_REVERSIBLE = 49,
	SVB_PATH_PKEY = 50,
	SVB_PATH_MTU = 54,
};

/* Calls fn for each port until it returns false. */
static void svb_sa_ports(struct svb_sa *sa,
			 void (*fn)(struct svb_sa *sa, const struct svb_port *port))
{
	const struct svb_port *port;
	uint32_t i;

	for (i = 0; i < SVB_MAX_SUBNET_PORTS; i++) {
		port = svb_port_by_index(i);
		if (port)
			fn(sa, port);
	}
}

static bool svb_sa_other_lid(const struct svb_sa *sa, const struct svb_port *port)
{
	return sa->mask & SVB_BIT(0) && svb_mad_get(sa->data, 0, 2) != port->lid;
}

static void svb_node_add(struct svb_sa *sa, const struct svb_port *port)
{
	uint8_t node[112] = {0}, *record;

	svb_mad_put(node, 0, 2, port->lid);
	svb_fill_node_info(node + 4, port);
	svb_fill_node_description(node + 44, port);
	if (svb_sa_differs(sa, SVB_NR_LID, node, 0, 2) ||
	    svb_sa_differs(sa, SVB_NR_NODE_GUID, node, 16, 8) ||
	    svb_sa_differs(sa, SVB_NR_PORT_GUID, node, 24, 8))
		return;
	record = svb_sa_add(sa);
	if (record)
		memcpy(record, node, sizeof(node));
}

uint32_t svb_sa_node_get(struct svb_sa *sa)
{
	svb_sa_ports(sa, svb_node_add);
	return SVB_SA_OK;
}

static uint8_t svb_port_number(const struct svb_port *port)
{
	return (uint8_t)(port->index % SVB_MAX_PORTS + 1);
}

/* 15.2.5.3: with bit 31 of the modifier the port has those capabilities, and may more. */
static bool svb_port_capable(const struct svb_sa *sa, const uint8_t *record)
{
	const uint64_t asked = svb_mad_get(sa->data, 24, 4),
		       has = svb_mad_get(record, 24, 4);

	if (!(sa->mask & SVB_BIT(SVB_PIR_CAPABILITIES)))
		return true;
	return svb_mad_get(sa->mad, SVB_MAD_MOD, 4) >> 31 ? (asked & has) == asked
							  : asked == has;
}

static void svb_port_add(struct svb_sa *sa, const struct svb_port *port)
{
	uint8_t info[72] = {0}, *record;

	svb_mad_put(info, 0, 2, port->lid);
	info[2] = svb_port_number(port);
	svb_fill_port_info(info + 4, port);
	if (svb_sa_other_lid(sa, port) || svb_sa_differs(sa, SVB_PIR_PORT, info, 2, 1) ||
	    !svb_port_capable(sa, info))
		return;
	record = svb_sa_add(sa);
	if (record)
		memcpy(record, info, sizeof(info));
}

uint32_t svb_sa_port_get(struct svb_sa *sa)
{
	svb_sa_ports(sa, svb_port_add);
	return SVB_SA_OK;
}

static void svb_pkey_add_record(struct svb_sa *sa, const struct svb_port *port)
{
	uint8_t *record;

	if (svb_sa_other_lid(sa, port) ||
	    (sa->mask & SVB_BIT(SVB_PKR_BLOCK) && svb_mad_get(sa->data, 2, 2)) ||
	    (sa->mask & SVB_BIT(SVB_PKR_PORT) && sa->data[4] != svb_port_number(port)))
		return;
	record = svb_sa_add(sa);
	if (!record)
		return;
	svb_mad_put(record, 0, 2, port->lid);
	record[4] = svb_port_number(port);
	svb_fill_pkeys(record + 8, port);
}

uint32_t svb_sa_pkey_get(struct svb_sa *sa)
{
	svb_sa_ports(sa, svb_pkey_add_record);
	return SVB_SA_OK;
}

uint32_t svb_sa_sm_get(struct svb_sa *sa)
{
	uint8_t *record = svb_sa_add(sa);

	if (!record)
		return SVB_SA_NO_RESOURCES;
	svb_mad_put(record, 0, 2, SVB_SM_LID);
	svb_fill_sm_info(record + 4);
	return SVB_SA_OK;
}

/* One of the partitions that both ports are in, the asked one if there is one. */
static uint16_t svb_path_pkey(const struct svb_sa *sa, const struct svb_port *from,
			      const struct svb_port *to)
{
	const uint16_t asked = (uint16_t)svb_mad_get(sa->data, SVB_PATH_PKEY, 2);
	uint32_t i, k;

	for (i = 0; i < from->pkeys; i++) {
		if (sa->mask & SVB_BIT(SVB_PR_PKEY) &&
		    (from->pkey[i] ^ asked) & SVB_PKEY_BASE)
			continue;
		for (k = 0; k < to->pkeys; k++)
			if (svb_pkeys_match(from->pkey[i], to->pkey[k]))
				return from->pkey[i];
	}
	return 0;
}

static void svb_path_add(struct svb_sa *sa, const struct svb_port *from,
			 const struct svb_port *to)
{
	const uint16_t pkey = svb_path_pkey(sa, from, to);
	uint8_t path[64] = {0}, *record;

	memcpy(path + SVB_PATH_DGID, to->gid[to->own_gid].raw, 16);
	memcpy(path + SVB_PATH_SGID, from->gid[from->own_gid].raw, 16);
	/* Any GID of a port will do. */
	if (sa->mask & SVB_BIT(SVB_PR_DGID))
		memcpy(path + SVB_PATH_DGID, sa->data + SVB_PATH_DGID, 16);
	if (sa->mask & SVB_BIT(SVB_PR_SGID))
		memcpy(path + SVB_PATH_SGID, sa->data + SVB_PATH_SGID, 16);
	svb_mad_put(path, SVB_PATH_DLID, 2, to->lid);
	svb_mad_put(path, SVB_PATH_SLID, 2, from->lid);
	if (!pkey || svb_sa_differs(sa, SVB_PR_DLID, path, SVB_PATH_DLID, 2) ||
	    svb_sa_differs(sa, SVB_PR_SLID, path, SVB_PATH_SLID, 2))
		return;
	record = svb_sa_add(sa);
	if (!record)
		return;
	memcpy(record, path, sizeof(path));
	record[SVB_PATH_REVERSIBLE] = 0x80;
	svb_mad_put(record, SVB_PATH_PKEY, 2, pkey);
	record[SVB_PATH_MTU] = (uint8_t)(2 << 6 | svb_self.settings.mtu);
	record[SVB_PATH_MTU + 1] = 2 << 6 | IBV_RATE_100_GBPS;
	record[SVB_PATH_MTU + 2] = 2 << 6 | 18;
}

/* The port that an end of the path names; *other: it names one that is not there. */
static const struct svb_port *svb_path_end(const struct svb_sa *sa, unsigned int bit,
					   size_t at, bool *other)
{
	const struct svb_port *port;
	union ibv_gid gid;

	if (!(sa->mask & SVB_BIT(bit)))
		return NULL;
	memcpy(gid.raw, sa->data + at, 16);
	port = svb_port_of_gid(&gid);
	*other |= !port;
	return port;
}

uint32_t svb_sa_path_get(struct svb_sa *sa)
{
	bool other = false;
	const struct svb_port *from, *to, *a, *b;
	uint32_t i, k;

	from = svb_path_end(sa, SVB_PR_SGID, SVB_PATH_SGID, &other);
	to = svb_path_end(sa, SVB_PR_DGID, SVB_PATH_DGID, &other);
	for (i = 0; i < SVB_MAX_SUBNET_PORTS && !other; i++) {
		a = svb_port_by_index(i);
		if (!a || (from && a != from))
			continue;
		for (k = 0; k < SVB_MAX_SUBNET_PORTS; k++) {
			b = svb_port_by_index(k);
			if (b && (!to || b == to))
				svb_path_add(sa, a, b);
		}
	}
	return SVB_SA_OK;
}

uint32_t svb_sa_class_get(struct svb_sa *sa)
{
	uint8_t *record = svb_sa_add(sa);

	if (!record)
		return SVB_SA_NO_RESOURCES;
	record[0] = 1; /* BaseVersion */
	record[1] = 2; /* ClassVersion */
	/* 15.2.3: IsSubnetOptionalRecordsSupported, IsUDMulticastSupported. */
	svb_mad_put(record, 2, 2, SVB_BIT(8) | SVB_BIT(9));
	svb_mad_put(record, 4, 4, 18); /* RespTimeValue */
	return SVB_SA_OK;
}

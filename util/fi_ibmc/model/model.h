/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the subnet administrator holds: nodes, ports, their P_Keys, and the groups with
 * their members, by IPoIB link. Pure: tables come in as bytes, any bytes.
 */
#ifndef IMC_MODEL_MODEL_H
#define IMC_MODEL_MODEL_H

#include <stddef.h>
#include "sa/sa_mad.h"
#include "words/words.h"

#define IMC_NAME_SIZE 65
#define IMC_PKEY_BLOCK 32
#define IMC_PKEY_PARTITION 0x7fff

/* Attributes of SA that this tool asks for besides those of sa_mad.h; table 192. */
enum imc_attr_id {
	IMC_NODE_RECORD = 0x11,
	IMC_PORT_INFO_RECORD = 0x12,
	IMC_SWITCH_INFO_RECORD = 0x14,
	IMC_PKEY_TABLE_RECORD = 0x33,
};

/* Section 14.2.5.3. */
enum imc_node_type { IMC_CA = 1, IMC_SWITCH = 2, IMC_ROUTER = 3 };

struct imc_node {
	uint16_t lid;
	uint8_t type; /* enum imc_node_type */
	uint64_t port_guid;
	char name[IMC_NAME_SIZE]; /* its description, what is printable of it */
	bool has_fdb;
	uint16_t fdb; /* multicast LIDs that a switch has room for */
};

#define IMC_PORT_ACTIVE 4

struct imc_port {
	uint16_t lid;
	uint8_t number; /* 0: of a switch, its management port */
	uint8_t state;
	uint8_t mtu_cap; /* largest MTU that it can have; IBV_MTU_* */
	uint8_t mtu;	 /* of its link */
};

struct imc_pkeys {
	uint16_t lid;
	uint8_t port;
	uint16_t pkey[IMC_PKEY_BLOCK]; /* 0: no entry */
};

/* One MCMemberRecord: a group, or, with a port GID, one of its members. */
struct imc_record {
	struct imc_name name;
	struct pvb_mcm mcm;
};

struct imc_group {
	const struct imc_record *record;
	const struct imc_record *member; /* of each one record, in order of GIDs */
	uint32_t members;
};

/* The groups of a P_Key and a scope. */
struct imc_link {
	uint16_t pkey; /* 15 bits */
	uint8_t scope;
	const struct imc_group *group;
	uint32_t groups;
};

/* Which tables there are; others could not be had. */
enum imc_table {
	IMC_HAS_NODES = 1,
	IMC_HAS_PORTS = 2,
	IMC_HAS_PKEYS = 4,
	IMC_HAS_SWITCHES = 8,
	IMC_HAS_MEMBERS = 16,
	/* A table was cut off: it came without RMPP. */
	IMC_HAS_NOT_ALL = 32,
};

struct imc_subnet {
	uint32_t has;	       /* enum imc_table */
	bool no_memory;	       /* for a table: what there is is not what was told */
	struct imc_node *node; /* by LID */
	const struct imc_node **by_guid;
	struct imc_port *port;
	struct imc_pkeys *pkeys;
	struct imc_record *record;
	struct imc_group *group; /* those of links first, link by link */
	struct imc_link *link;
	uint32_t nodes, ports, pkey_blocks, records, groups, links;
};

/*
 * Adds the records of a table. attr: MCMemberRecord or one of enum imc_attr_id. stride:
 * bytes from record to record. -FI_EINVAL: records are shorter than they have to be;
 * -FI_ENOMEM.
 */
int imc_subnet_load(struct imc_subnet *subnet, uint16_t attr, const void *data,
		    size_t len, size_t stride);
/* Once all is loaded: orders it. Nothing may be loaded afterwards. -FI_ENOMEM. */
int imc_subnet_finish(struct imc_subnet *subnet);
void imc_subnet_free(struct imc_subnet *subnet);

/* NULL: there is none. */
const struct imc_node *imc_node_of_lid(const struct imc_subnet *subnet, uint16_t lid);
/* Of a port GID: its last 64 bits are the port's GUID. */
const struct imc_node *imc_node_of_gid(const struct imc_subnet *subnet,
				       const uint8_t gid[16]);
/* family: AF_INET or AF_INET6, which counts for all-router groups. */
const struct imc_group *imc_link_group(const struct imc_link *link, enum imc_kind kind,
				       int family);
/* What the attributes of the link are: of the broadcast group, or the all-node group
 * where there is none. */
const struct imc_group *imc_link_base(const struct imc_link *link);
/* The P_Key that a port has for a partition, that of a full member if there is one; 0:
 * none. port: IMC_ANY_PORT: of any with that LID. */
#define IMC_ANY_PORT (-1)
uint16_t imc_port_pkey(const struct imc_subnet *subnet, uint16_t lid, int port,
		       uint16_t partition);

#endif

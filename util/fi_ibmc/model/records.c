/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of subnet administration that sa_mad.h does not have: tables 193 ff. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/bytes.h>

#include "model.h"

#define NODE_SIZE 108
#define PORT_SIZE 68
#define SWITCH_SIZE 21
#define PKEY_SIZE 72

/* The array with room for one more of size bytes; NULL: no memory, and it is as it was.
 */
static void *grow(void *array, uint32_t count, size_t size)
{
	/* A power of two: it is full. */
	if (count & (count - 1))
		return array;
	return realloc(array, (count ? count * (size_t)2 : 1) * size);
}

/* What others have put there goes to a terminal. */
static void take_name(char *name, const uint8_t *data)
{
	size_t i;

	for (i = 0; i < IMC_NAME_SIZE - 1 && data[i]; i++)
		name[i] = data[i] < 0x80 && isprint(data[i]) ? (char)data[i] : '?';
	name[i] = '\0';
}

static int load_node(struct imc_subnet *subnet, const uint8_t *data)
{
	struct imc_node *node;

	if (!crn_get_be16(data))
		return 0;
	node = grow(subnet->node, subnet->nodes, sizeof(*node));
	if (!node)
		return -FI_ENOMEM;
	subnet->node = node;
	node += subnet->nodes++;
	*node = (struct imc_node){.lid = crn_get_be16(data),
				  .type = data[6],
				  .port_guid = crn_get_be64(data + 24)};
	take_name(node->name, data + 44);
	return 0;
}

/* PortInfo begins at 4. */
static int load_port(struct imc_subnet *subnet, const uint8_t *data)
{
	struct imc_port *port;

	if (!crn_get_be16(data))
		return 0;
	port = grow(subnet->port, subnet->ports, sizeof(*port));
	if (!port)
		return -FI_ENOMEM;
	subnet->port = port;
	port += subnet->ports++;
	*port = (struct imc_port){.lid = crn_get_be16(data),
				  .number = data[2],
				  .state = data[4 + 32] & 0xf,
				  .mtu = data[4 + 36] >> 4,
				  .mtu_cap = data[4 + 41] & 0xf};
	return 0;
}

/* SwitchInfo begins at 4. Nodes come first. */
static int load_switch(struct imc_subnet *subnet, const uint8_t *data)
{
	uint32_t i;

	for (i = 0; i < subnet->nodes; i++) {
		if (subnet->node[i].lid != crn_get_be16(data))
			continue;
		subnet->node[i].has_fdb = true;
		subnet->node[i].fdb = crn_get_be16(data + 4 + 4);
	}
	return 0;
}

static int load_pkeys(struct imc_subnet *subnet, const uint8_t *data)
{
	struct imc_pkeys *pkeys;
	size_t i;

	if (!crn_get_be16(data))
		return 0;
	pkeys = grow(subnet->pkeys, subnet->pkey_blocks, sizeof(*pkeys));
	if (!pkeys)
		return -FI_ENOMEM;
	subnet->pkeys = pkeys;
	pkeys += subnet->pkey_blocks++;
	*pkeys = (struct imc_pkeys){.lid = crn_get_be16(data), .port = data[4]};
	for (i = 0; i < IMC_PKEY_BLOCK; i++)
		pkeys->pkey[i] = crn_get_be16(data + 8 + 2 * i);
	return 0;
}

static int load_member(struct imc_subnet *subnet, const uint8_t *data)
{
	struct imc_record *record;

	if (data[0] != 0xff)
		return 0;
	record = grow(subnet->record, subnet->records, sizeof(*record));
	if (!record)
		return -FI_ENOMEM;
	subnet->record = record;
	record += subnet->records++;
	pvb_mcm_unpack(data, PVB_MCM_SIZE, &record->mcm);
	imc_name_of(record->mcm.mgid, &record->name);
	return 0;
}

static const struct {
	uint16_t attr;
	size_t size;
	int (*load)(struct imc_subnet *subnet, const uint8_t *data);
	enum imc_table table;
} tables[] = {
	{PVB_SA_MCMEMBER_RECORD, PVB_MCM_SIZE, load_member, 0},
	{IMC_NODE_RECORD, NODE_SIZE, load_node, IMC_HAS_NODES},
	{IMC_PORT_INFO_RECORD, PORT_SIZE, load_port, IMC_HAS_PORTS},
	{IMC_SWITCH_INFO_RECORD, SWITCH_SIZE, load_switch, IMC_HAS_SWITCHES},
	{IMC_PKEY_TABLE_RECORD, PKEY_SIZE, load_pkeys, IMC_HAS_PKEYS},
};

int imc_subnet_load(struct imc_subnet *subnet, uint16_t attr, const void *data,
		    size_t len, size_t stride)
{
	size_t i = 0, at;
	int ret = 0;

	while (i < sizeof(tables) / sizeof(tables[0]) && tables[i].attr != attr)
		i++;
	if (i == sizeof(tables) / sizeof(tables[0]) || (len && stride < tables[i].size))
		return -FI_EINVAL;
	/* One datagram, whose records leave a rest: what came is no whole table. */
	if (len == PVB_SA_DATA_SIZE && len % stride)
		subnet->has |= IMC_HAS_NOT_ALL;
	for (at = 0; len - at >= tables[i].size && !ret; at += stride) {
		ret = tables[i].load(subnet, (const uint8_t *)data + at);
		if (len - at < stride)
			break;
	}
	if (!ret)
		subnet->has |= tables[i].table;
	return ret;
}

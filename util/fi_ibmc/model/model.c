/* SPDX-License-Identifier: BSD-2-Clause */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/bytes.h>

#include "model.h"

static int by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int node_order(const void *a, const void *b)
{
	const struct imc_node *x = a, *y = b;

	return by_number(x->lid, y->lid);
}

static int guid_order(const void *a, const void *b)
{
	const struct imc_node *const *x = a, *const *y = b;

	return by_number((*x)->port_guid, (*y)->port_guid);
}

static int port_order(const void *a, const void *b)
{
	const struct imc_port *x = a, *y = b;

	return by_number((uint32_t)x->lid << 8 | x->number,
			 (uint32_t)y->lid << 8 | y->number);
}

static uint32_t pkeys_of(const struct imc_pkeys *pkeys)
{
	return (uint32_t)pkeys->lid << 8 | pkeys->port;
}

static int pkeys_order(const void *a, const void *b)
{
	return by_number(pkeys_of(a), pkeys_of(b));
}

/* Groups of links, by P_Key, scope and MGID; then others; of each the members. */
static int record_order(const void *a, const void *b)
{
	const struct imc_record *x = a, *y = b;
	const uint32_t of_x = (uint32_t)!x->name.ip << 24 |
			      (uint32_t)(x->name.addr.pkey & IMC_PKEY_PARTITION) << 8 |
			      x->name.addr.scope,
		       of_y = (uint32_t)!y->name.ip << 24 |
			      (uint32_t)(y->name.addr.pkey & IMC_PKEY_PARTITION) << 8 |
			      y->name.addr.scope;
	int order = by_number(of_x, of_y);

	if (!order)
		order = memcmp(x->mcm.mgid, y->mcm.mgid, sizeof(x->mcm.mgid));
	return order ? order
		     : memcmp(x->mcm.port_gid, y->mcm.port_gid, sizeof(x->mcm.port_gid));
}

/* Its state may be 0, which is not told. */
static bool is_member(const struct imc_record *record)
{
	static const uint8_t zeros[16];

	return memcmp(record->mcm.port_gid, zeros, sizeof(zeros)) != 0;
}

static void sort(void *array, uint32_t count, size_t size,
		 int (*order)(const void *, const void *))
{
	if (count)
		qsort(array, count, size, order);
}

static void sort_records(struct imc_subnet *subnet)
{
	uint32_t i, kept = 0;

	sort(subnet->record, subnet->records, sizeof(*subnet->record), record_order);
	/* Each of both tables may have the same. */
	for (i = 0; i < subnet->records; i++)
		if (!kept || record_order(&subnet->record[kept - 1], &subnet->record[i]))
			subnet->record[kept++] = subnet->record[i];
	subnet->records = kept;
}

static bool same_group(const struct imc_record *a, const struct imc_record *b)
{
	return !memcmp(a->mcm.mgid, b->mcm.mgid, sizeof(a->mcm.mgid));
}

static void make_groups(struct imc_subnet *subnet)
{
	const struct imc_record *record;
	struct imc_group *group = NULL;
	uint32_t i;

	for (i = 0; i < subnet->records; i++) {
		record = &subnet->record[i];
		if (!group || !same_group(group->record, record)) {
			group = &subnet->group[subnet->groups++];
			*group = (struct imc_group){.record = record};
		}
		if (!is_member(record))
			continue;
		if (!group->members)
			group->member = record;
		group->members++;
	}
}

static bool of_link(const struct imc_link *link, const struct imc_name *name)
{
	return link->pkey == (name->addr.pkey & IMC_PKEY_PARTITION) &&
	       link->scope == name->addr.scope;
}

static void make_links(struct imc_subnet *subnet)
{
	const struct imc_name *name;
	struct imc_link *link = NULL;
	uint32_t i;

	for (i = 0; i < subnet->groups && subnet->group[i].record->name.ip; i++) {
		name = &subnet->group[i].record->name;
		if (!link || !of_link(link, name)) {
			link = &subnet->link[subnet->links++];
			*link = (struct imc_link){.pkey = name->addr.pkey &
							  IMC_PKEY_PARTITION,
						  .scope = name->addr.scope,
						  .group = &subnet->group[i]};
		}
		link->groups++;
	}
}

int imc_subnet_finish(struct imc_subnet *subnet)
{
	uint32_t i;

	sort_records(subnet);
	subnet->group = calloc(subnet->records + 1, sizeof(*subnet->group));
	subnet->link = calloc(subnet->records + 1, sizeof(*subnet->link));
	subnet->by_guid = calloc(subnet->nodes + 1, sizeof(*subnet->by_guid));
	if (!subnet->group || !subnet->link || !subnet->by_guid)
		return -FI_ENOMEM;
	make_groups(subnet);
	make_links(subnet);
	sort(subnet->node, subnet->nodes, sizeof(*subnet->node), node_order);
	sort(subnet->port, subnet->ports, sizeof(*subnet->port), port_order);
	sort(subnet->pkeys, subnet->pkey_blocks, sizeof(*subnet->pkeys), pkeys_order);
	for (i = 0; i < subnet->nodes; i++)
		subnet->by_guid[i] = &subnet->node[i];
	sort(subnet->by_guid, subnet->nodes, sizeof(*subnet->by_guid), guid_order);
	return 0;
}

void imc_subnet_free(struct imc_subnet *subnet)
{
	free(subnet->node);
	free(subnet->by_guid);
	free(subnet->port);
	free(subnet->pkeys);
	free(subnet->record);
	free(subnet->group);
	free(subnet->link);
	*subnet = (struct imc_subnet){0};
}

const struct imc_node *imc_node_of_lid(const struct imc_subnet *subnet, uint16_t lid)
{
	const struct imc_node key = {.lid = lid};

	return subnet->nodes ? bsearch(&key, subnet->node, subnet->nodes, sizeof(key),
				       node_order)
			     : NULL;
}

const struct imc_node *imc_node_of_gid(const struct imc_subnet *subnet,
				       const uint8_t gid[16])
{
	const struct imc_node key = {.port_guid = crn_get_be64(gid + 8)}, *at = &key;
	const struct imc_node **found =
		subnet->nodes ? bsearch(&at, subnet->by_guid, subnet->nodes, sizeof(at),
					guid_order)
			      : NULL;

	return found ? *found : NULL;
}

const struct imc_group *imc_link_group(const struct imc_link *link, enum imc_kind kind,
				       int family)
{
	const struct imc_name *name;
	uint32_t i;

	for (i = 0; i < link->groups; i++) {
		name = &link->group[i].record->name;
		if (name->kind == kind && name->addr.family == family)
			return &link->group[i];
	}
	return NULL;
}

const struct imc_group *imc_link_base(const struct imc_link *link)
{
	const struct imc_group *group = imc_link_group(link, IMC_KIND_BROADCAST, AF_INET);

	return group ? group : imc_link_group(link, IMC_KIND_ALL_NODE, AF_INET6);
}

/* The first block that is not before that of the port. */
static uint32_t first_block(const struct imc_subnet *subnet, const struct imc_pkeys *key)
{
	uint32_t from = 0, to = subnet->pkey_blocks, half;

	while (from < to) {
		half = from + (to - from) / 2;
		if (pkeys_order(&subnet->pkeys[half], key) < 0)
			from = half + 1;
		else
			to = half;
	}
	return from;
}

static uint16_t pkey_in(const struct imc_pkeys *block, uint16_t partition)
{
	uint16_t found = 0;
	uint32_t i;

	for (i = 0; i < IMC_PKEY_BLOCK; i++)
		if (block->pkey[i] & IMC_PKEY_PARTITION &&
		    !((block->pkey[i] ^ partition) & IMC_PKEY_PARTITION) &&
		    block->pkey[i] > found)
			found = block->pkey[i];
	return found;
}

uint16_t imc_port_pkey(const struct imc_subnet *subnet, uint16_t lid, int port,
		       uint16_t partition)
{
	const struct imc_pkeys key = {.lid = lid, .port = port < 0 ? 0 : (uint8_t)port};
	const struct imc_pkeys *block;
	uint16_t found = 0, pkey;
	uint32_t i;

	for (i = first_block(subnet, &key); i < subnet->pkey_blocks; i++) {
		block = &subnet->pkeys[i];
		if (block->lid != lid || (port >= 0 && block->port != port))
			break;
		pkey = pkey_in(block, partition);
		if (pkey > found)
			found = pkey;
	}
	return found;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "draw.h"

static int order(const void *a, const void *b)
{
	const struct imc_record *const *x = a, *const *y = b;

	return memcmp((*x)->mcm.port_gid, (*y)->mcm.port_gid, sizeof((*x)->mcm.port_gid));
}

int imc_ports_open(const struct imc_subnet *subnet, struct imc_ports *ports)
{
	uint32_t i, k, kept = 0;

	*ports = (struct imc_ports){0};
	ports->port = calloc(subnet->records + 1, sizeof(*ports->port));
	if (!ports->port)
		return -FI_ENOMEM;
	for (i = 0; i < subnet->groups; i++)
		for (k = 0; k < subnet->group[i].members; k++)
			ports->port[ports->ports++] = &subnet->group[i].member[k];
	if (ports->ports)
		qsort(ports->port, ports->ports, sizeof(*ports->port), order);
	for (i = 0; i < ports->ports; i++)
		if (!kept || order(&ports->port[kept - 1], &ports->port[i]))
			ports->port[kept++] = ports->port[i];
	ports->ports = kept;
	return 0;
}

void imc_ports_close(struct imc_ports *ports)
{
	free(ports->port);
}

const char *imc_port_text(const struct imc_subnet *subnet,
			  const struct imc_record *record, char text[IMC_PORT_TEXT])
{
	const struct imc_node *node = imc_node_of_gid(subnet, record->mcm.port_gid);
	char gid[IMC_TEXT];

	if (node && node->name[0])
		snprintf(text, IMC_PORT_TEXT, "%.64s, LID %u", node->name, node->lid);
	else
		snprintf(text, IMC_PORT_TEXT, "%s",
			 imc_gid_text(record->mcm.port_gid, gid));
	return text;
}

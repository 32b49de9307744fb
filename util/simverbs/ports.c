/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <sys/socket.h>
#include "ports.h"
#include "shared/shared.h"

uint32_t svb_port_gids(const struct svb_port *port)
{
	return svb_self.settings.link == SVB_LINK_IWARP ? 1 : port->gids;
}

const struct svb_port *svb_port_by_index(uint32_t index)
{
	uint32_t device = index / SVB_MAX_PORTS, port = index % SVB_MAX_PORTS;

	if (device >= svb_self.settings.devices ||
	    port >= svb_self.settings.device[device].ports)
		return NULL;
	return &svb_self.settings.device[device].port[port];
}

const struct svb_port *svb_port_of_gid(const union ibv_gid *gid)
{
	const struct svb_port *port;
	uint32_t index, i;

	for (index = 0; index < SVB_MAX_DEVICES * SVB_MAX_PORTS; index++) {
		port = svb_port_by_index(index);
		for (i = 0; port && i < port->gids; i++)
			if (!memcmp(&port->gid[i], gid, sizeof(*gid)))
				return port;
	}
	return NULL;
}

const struct svb_address *svb_port_address(const struct svb_port *port, uint32_t gid)
{
	uint32_t i;

	/* With two types the other one of the pair is before it. */
	for (i = 0; i < port->addresses; i++)
		if (port->address[i].gid == gid ||
		    (port->gid_types == SVB_GIDS_BOTH && port->address[i].gid == gid + 1))
			return &port->address[i];
	return NULL;
}

const struct svb_port *svb_port_of_ah(const struct ibv_ah_attr *ah)
{
	if (svb_self.settings.link != SVB_LINK_IB)
		return ah->is_global ? svb_port_of_gid(&ah->grh.dgid) : NULL;
	/* No port has the LID 0, which is reserved (IBA 4.1.3). */
	return svb_port_by_index(ah->dlid - 1u);
}

const struct svb_port *svb_port_of_address(int family, const void *addr, uint32_t *device)
{
	const struct svb_port *port;
	uint32_t index, i;

	for (index = 0; index < SVB_MAX_DEVICES * SVB_MAX_PORTS; index++) {
		port = svb_port_by_index(index);
		for (i = 0; port && i < port->addresses; i++) {
			if (port->address[i].family != family ||
			    memcmp(port->address[i].addr, addr,
				   family == AF_INET ? 4 : 16))
				continue;
			*device = index / SVB_MAX_PORTS;
			return port;
		}
	}
	return NULL;
}

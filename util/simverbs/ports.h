/* SPDX-License-Identifier: BSD-2-Clause */
/* The ports that the settings of this process name, of any device. */
#ifndef SVB_PORTS_H
#define SVB_PORTS_H

#include "settings/settings.h"

/*
 * The port that a unicast address vector names, or NULL: by LID on InfiniBand, where a
 * GRH changes nothing within the subnet, by GID on Ethernet.
 */
const struct svb_port *svb_port_of_ah(const struct ibv_ah_attr *ah);
const struct svb_port *svb_port_of_gid(const union ibv_gid *gid);

/* Number of GIDs that programs see: iWARP has only the one made of the MAC address. */
uint32_t svb_port_gids(const struct svb_port *port);

/* A port by svb_port.index; NULL when there is none. */
const struct svb_port *svb_port_by_index(uint32_t index);

/* The address that a GID of the port is of; NULL: it is made of the GUID. */
const struct svb_address *svb_port_address(const struct svb_port *port, uint32_t gid);

/* The port that has an address, and its device's index in device[]. NULL: none. */
const struct svb_port *svb_port_of_address(int family, const void *addr,
					   uint32_t *device);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#include "gids.h"

static void svb_gid_put(struct svb_port *port, const union ibv_gid *gid,
			enum ibv_gid_type type)
{
	port->gid[port->gids] = *gid;
	port->gid_type[port->gids++] = type;
}

bool svb_gid_fits(const struct svb_port *port)
{
	return port->gids + (port->gid_types == SVB_GIDS_BOTH ? 2 : 1) <= SVB_MAX_GIDS;
}

uint32_t svb_gid_add(struct svb_port *port, const union ibv_gid *gid)
{
	if (!port->gid_types)
		svb_gid_put(port, gid, IBV_GID_TYPE_IB);
	if (port->gid_types & SVB_GIDS_V1)
		svb_gid_put(port, gid, IBV_GID_TYPE_ROCE_V1);
	if (port->gid_types & SVB_GIDS_V2)
		svb_gid_put(port, gid, IBV_GID_TYPE_ROCE_V2);
	return port->gids - 1;
}

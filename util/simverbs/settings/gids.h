/* SPDX-License-Identifier: BSD-2-Clause */
/* A port's table of GIDs. */
#ifndef SVB_GIDS_H
#define SVB_GIDS_H

#include "settings.h"

/* Has the table room for one more, in each of its types? */
bool svb_gid_fits(const struct svb_port *port);

/*
 * Adds one, as often as there are types, version 1 before version 2 as the kernel does.
 * Returns the index of the one that rdma_cm prefers: version 2 where it is there.
 */
uint32_t svb_gid_add(struct svb_port *port, const union ibv_gid *gid);

#endif

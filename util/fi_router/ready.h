/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the daemon does what its configuration says, for health checks. */
#ifndef FRT_READY_H
#define FRT_READY_H

#include "node.h"

#define FRT_READY_SIZE 256u

/*
 * All devices are open; each router that the file names is connected, or has been found
 * to be out of reach; those of this AS have said what they know; and new connections are
 * taken. False: why says what is missing.
 */
bool frt_ready(const struct frt_node *node, char why[FRT_READY_SIZE]);

#endif

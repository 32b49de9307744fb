/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration is read: at the start, and again while the daemon runs. */
#ifndef FRT_RELOAD_H
#define FRT_RELOAD_H

#include "node.h"

/* A router's file, with what is wrong printed or logged. NULL: it is not used. */
struct rte_config *frt_config_read(const char *path);
/*
 * Reads node->path again. Connections stay where their devices do; what cannot be changed
 * is told. 0; or -FI_E*: nothing has changed, which was logged.
 */
int frt_reload(struct frt_node *node);
/* The same with a configuration, which is taken over. */
int frt_reconfigure(struct frt_node *node, struct rte_config *config);

/* The device can go on with the other section: only what is looked at later differs. */
bool frt_device_stays(const struct rte_config_device *a,
		      const struct rte_config_device *b);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <cairn/wait.h>

#include "adjacency/adjacency.h"
#include "ready.h"

static bool devices_ready(const struct frt_node *node, char why[FRT_READY_SIZE])
{
	const struct frt_device *device;
	const char *uri;
	uint32_t i;

	for (i = 0; i < node->devices; i++) {
		device = node->device[i];
		uri = device->up ? frt_targets_awaited(device) : NULL;
		if (!device->up)
			snprintf(why, FRT_READY_SIZE,
				 "device %s is not open: see the log",
				 device->config->name);
		else if (uri)
			snprintf(why, FRT_READY_SIZE,
				 "device %s: router %.128s is not connected yet",
				 device->config->name, uri);
		if (*why)
			return false;
	}
	return true;
}

struct heard {
	const struct frt_node *node;
	char *why;
};

static void look_at(const struct frt_adjacency_view *view, void *context)
{
	const struct heard *heard = context;
	struct rte_lsdb *db = rte_sync_db(heard->node->sync);

	if (view->as == frt_config(heard->node)->router.as &&
	    !rte_lsdb_get(db, view->as, view->router, crn_now_ms()))
		snprintf(heard->why, FRT_READY_SIZE,
			 "router %" PRIu64 " has not said yet what it knows",
			 view->router);
}

bool frt_ready(const struct frt_node *node, char why[FRT_READY_SIZE])
{
	const struct heard heard = {node, why};

	*why = 0;
	if (node->stopping)
		snprintf(why, FRT_READY_SIZE, "it ends");
	else if (node->out)
		snprintf(why, FRT_READY_SIZE,
			 "another router has this router's id: give each its own");
	else if (node->drain)
		snprintf(why, FRT_READY_SIZE, "it takes no new connections (drain)");
	else if (devices_ready(node, why))
		frt_adjacencies_each(node, look_at, (void *)&heard);
	return !*why;
}

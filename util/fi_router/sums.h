/* SPDX-License-Identifier: BSD-2-Clause */
/* What each device has sent and received, and what memory the workers have. */
#ifndef FRT_SUMS_H
#define FRT_SUMS_H

#include "node.h"

/* Of one device, since the start of the daemon, but for what is of now. */
struct frt_sum {
	const struct frt_device *device;
	struct frt_past all;
	/* Now. */
	uint32_t peers;
	uint32_t queued[RTE_LANES];  /* messages that wait to be sent there */
	uint32_t stalled[RTE_LANES]; /* connections that wait for credits from there */
};

struct frt_sums {
	struct frt_sum sum[RTE_CONFIG_DEVICES_MAX]; /* as node->device */
	uint32_t count;
	uint64_t now; /* ns */
};

void frt_sums(const struct frt_node *node, struct frt_sums *sums);
/* Of all workers. */
void frt_sums_memory(const struct frt_node *node, struct rte_arena_use *use);

#endif

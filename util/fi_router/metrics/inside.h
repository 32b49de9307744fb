/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share. */
#ifndef FRT_METRICS_INSIDE_H
#define FRT_METRICS_INSIDE_H

#include <stdio.h>
#include "metrics.h"
#include "transit/transit.h"

/* --- Sums (sums.c) --- */

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
	struct frt_sum sum[RTE_CONFIG_DEVICES_MAX];
	uint32_t count;
	uint64_t now; /* ns */
};

void frt_sums(const struct frt_node *node, struct frt_sums *sums);

/* --- The text (text.c) --- */

/* All metrics, as they are now: memory that free(3) releases, and its length. NULL: no
 * memory. */
char *frt_metrics_text(const struct frt_node *node, size_t *len);

#endif

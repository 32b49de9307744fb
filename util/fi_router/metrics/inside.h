/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share. */
#ifndef FRT_METRICS_INSIDE_H
#define FRT_METRICS_INSIDE_H

#include <stddef.h>
#include "metrics.h"

/* --- The text (text.c) --- */

/* All metrics, as they are now: memory that free(3) releases, and its length. NULL: no
 * memory. */
char *frt_metrics_text(const struct frt_node *node, size_t *len);

#endif

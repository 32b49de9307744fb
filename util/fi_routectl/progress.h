/* SPDX-License-Identifier: BSD-2-Clause */
/* How far a long computation is, on a terminal: after the first second. */
#ifndef RCT_PROGRESS_H
#define RCT_PROGRESS_H

#include <stdint.h>

struct rct_progress {
	const char *what;
	uint64_t all, done;
	uint64_t begin, drawn; /* ms */
};

void rct_progress_begin(struct rct_progress *progress, const char *what, uint64_t all);
/* One more is done. */
void rct_progress_step(struct rct_progress *progress);
void rct_progress_end(struct rct_progress *progress);

#endif

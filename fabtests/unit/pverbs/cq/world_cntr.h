/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters of an endpoint, on the objects of world.h. */
#ifndef PVB_TEST_WORLD_CNTR_H
#define PVB_TEST_WORLD_CNTR_H

#include "../world.h"

/* Room for 16 sends, most of which say nothing. */
extern const struct world_opts selective;

/* An endpoint bound to counters, each for what its flag says, connected. */
struct counted {
	struct world w;
	struct fid_cntr *cntr[4];
};
enum { SENDS, READS, WRITES, RECVS };

/* Closes what c, which is zeroed otherwise, has open, and begins with world_reset; opts
 * may be NULL. False when a check failed. */
bool counted_open(struct counted *c, const struct world_opts *opts,
		  enum fi_wait_obj wait_obj);
void counted_close(struct counted *c);
/* For CT_FIXTURE, whose tear-down is counted_close: selective, without wait object. */
void counted_start(struct counted *c);

#endif

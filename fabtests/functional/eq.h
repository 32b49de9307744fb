/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_eq. */
#ifndef FCT_EQ_H
#define FCT_EQ_H

#include "fct_fabric.h"

/* eq_queue.c: the queue as such */
int fct_eq_too_small(struct fct *t);
int fct_eq_no_write(struct fct *t);

/* eq_wait.c: blocking */

/* eq_ep.c: queues and the endpoints bound to them */
int fct_eq_close_busy(struct fct *t);
int fct_eq_close_ep(struct fct *t);

/* A fabric and one EQ that takes fi_eq_write. */
struct eq_bed {
	struct fct *t;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_eq *eq;
};

int fct_eq_open(struct eq_bed *b, struct fct *t, enum fi_wait_obj wait, size_t size);
int fct_eq_close(struct eq_bed *b, int ret);
/* Writes, reads one FI_NOTIFY event with this data; the queue is empty. */
int fct_eq_put(struct eq_bed *b, uint64_t data);
int fct_eq_get(struct eq_bed *b, uint64_t data, uint64_t flags);
int fct_eq_none(struct eq_bed *b);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_rma. */
#ifndef FCT_RMA_H
#define FCT_RMA_H

#include "fct_fabric.h"

#define RMA_LEN ((1u << 20) + 64)
#define RMA_MAX_IOV 16

/*
 * One side: what it exposes, what it transfers from and into, and the peer's exposed
 * region.
 */
struct rma {
	struct fct_link l;
	struct fct_mem exposed, local, flag;
	struct fct_target peer;
	struct fct_ctx ctx, flag_ctx;
};

/* xfer/rma.c: shared by the cases */

/*
 * Connects and exchanges regions of len bytes; access is that of the exposed one, 0: both
 * rights.
 */
int fct_rma_up(struct rma *r, struct fct *t, const struct fct_setup *s, size_t len,
	       uint64_t access);
/*
 * The initiator's side of "all I wrote is there": a message behind the writes
 * (FI_ORDER_SAW). fct_rma_arm is called by the target before the writes begin,
 * fct_rma_await when it wants to look.
 */
int fct_rma_arm(struct rma *r);
int fct_rma_flag(struct rma *r);
int fct_rma_await(struct rma *r);
struct fct_setup fct_rma_setup(void);
/* Fields of a region's piece, for the calls that take iovecs. */
struct fi_rma_iov fct_rma_piece(const struct rma *r, size_t at, size_t len);

/* rma_forms.c */
int fct_rma_write(struct fct *t);
int fct_rma_writev(struct fct *t);
int fct_rma_writemsg(struct fct *t);
int fct_rma_inject(struct fct *t);
int fct_rma_writemsg_inject(struct fct *t);
int fct_rma_read(struct fct *t);
int fct_rma_readv(struct fct *t);
int fct_rma_readmsg(struct fct *t);
int fct_rma_zero(struct fct *t);
int fct_rma_scatter(struct fct *t);

/* rma_data.c */
int fct_rma_writedata(struct fct *t);
int fct_rma_writemsg_data(struct fct *t);
int fct_rma_inject_writedata(struct fct *t);
int fct_rma_writedata_flags(struct fct *t);
int fct_rma_writedata_mode(struct fct *t);
int fct_rma_writedata_unposted(struct fct *t);

/* rma_flow.c */
int fct_rma_many_writes(struct fct *t);
int fct_rma_many_reads(struct fct *t);
int fct_rma_both_ways(struct fct *t);
int fct_rma_more(struct fct *t);
int fct_rma_selective(struct fct *t);
int fct_rma_passive(struct fct *t);

/* rma_order.c */
int fct_rma_waw(struct fct *t);
int fct_rma_raw(struct fct *t);
int fct_rma_fence(struct fct *t);
int fct_rma_fence_between(struct fct *t);
int fct_rma_delivery(struct fct *t);

/* rma_err.c */
int fct_rma_bad_key(struct fct *t);
int fct_rma_out_of_bounds(struct fct *t);
int fct_rma_write_forbidden(struct fct *t);
int fct_rma_read_forbidden(struct fct *t);
int fct_rma_closed_region(struct fct *t);

/* rma_end.c */
int fct_rma_closed_reading(struct fct *t);

#endif

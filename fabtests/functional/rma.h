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
int fct_rma_up(struct rma *r, const struct fct_setup *s, size_t len, uint64_t access);
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

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_rma. */
#ifndef FCT_RMA_H
#define FCT_RMA_H

#include "fct_op.h"

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

/* rma.c: shared by the cases */

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
/* Moves len bytes at local + from and exposed + to of the peer. */
struct fct_op fct_rma_op(struct rma *r, enum fct_form form, size_t from, size_t to,
			 size_t len);
/* The same until it is done. */
int fct_rma_do(struct rma *r, enum fct_form form, size_t from, size_t to, size_t len);

#endif

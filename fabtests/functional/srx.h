/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_srx. */
#ifndef FCT_SRX_H
#define FCT_SRX_H

#include "fct_fabric.h"

#define SRX_LEN 512u
#define SRX_SLOTS 64u
#define SRX_CONNS 4u

/* Connections of which the receives come from one shared context, on both sides. */
struct srx_side {
	struct fct_link l; /* first: the bind hook finds the rest */
	struct fid_ep *srx;
	struct fct_mem m;
	struct fct_conn conn[SRX_CONNS]; /* besides l.c */
	struct fct_ctx ctx[SRX_SLOTS];
	struct fct_ctx sent;
};

/* srx.c */

/* The first connection. Receives need SRX_SLOTS places in a completion queue. */
int fct_srx_up(struct srx_side *s, const struct fct_setup *setup);
struct fct_setup fct_srx_setup(void);
uint8_t *fct_srx_part(struct srx_side *s, unsigned int slot);
int fct_srx_post(struct srx_side *s, unsigned int slot);
/* Sends the pattern `seed`, and waits for the completion. */
int fct_srx_send(struct srx_side *s, struct fct_conn *c, size_t len, uint64_t seed);
/* The next receive of the queue is this slot, with that pattern. */
int fct_srx_take(struct srx_side *s, struct fid_cq *cq, unsigned int slot, size_t len,
		 uint64_t seed);

#endif

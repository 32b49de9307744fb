/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_cq. */
#ifndef FCT_CQ_H
#define FCT_CQ_H

#include "fct_fabric.h"

/* cq_wait.c: blocking */

/* A link and receive buffers, for cases that only need messages to complete. */
struct cq_side {
	struct fct_link l;
	struct fct_mem m;
	struct fct_ctx ctx[64];
};

#define CQ_LEN 64u

/* The link, and on the server `recvs` posted receives, before both sides go on. */
int fct_cq_up(struct cq_side *s, const struct fct_setup *setup, unsigned int recvs);
int fct_cq_post_recv(struct cq_side *s, unsigned int slot);
int fct_cq_post_send(struct cq_side *s, unsigned int slot);

#endif

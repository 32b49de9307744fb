/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_cq. */
#ifndef FCT_CQ_H
#define FCT_CQ_H

#include "fct_fabric.h"

/* cq_open.c: opening and asking */
int fct_cq_sizes(struct fct *t);
int fct_cq_close_busy(struct fct *t);

/* cq/read.c: what is read */
int fct_cq_format_msg(struct fct *t);
int fct_cq_readfrom(struct fct *t);
int fct_cq_mixed(struct fct *t);

/* cq_wait.c: blocking */
int fct_cq_sread_loop(struct fct *t);
int fct_cq_sread_threshold(struct fct *t);
int fct_cq_signal_fd(struct fct *t);
int fct_cq_asleep_first(struct fct *t);
int fct_cq_fd_loop(struct fct *t);

/* A link and receive buffers, for cases that only need messages to complete. */
struct cq_side {
	struct fct_link l;
	struct fct_mem m;
	struct fct_ctx ctx[64];
};

#define CQ_LEN 64u

/* The link, and on the server `recvs` posted receives, before both sides go on. */
int fct_cq_up(struct cq_side *s, struct fct *t, const struct fct_setup *setup,
	      unsigned int recvs);
int fct_cq_post_recv(struct cq_side *s, unsigned int slot);
int fct_cq_post_send(struct cq_side *s, unsigned int slot);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_cntr. */
#ifndef FCT_CNTR_H
#define FCT_CNTR_H

#include "fct_fabric.h"

#define CNTR_COUNT 200u
#define CNTR_LEN 64u

/*
 * A link whose endpoint has a counter for what it sends, reads and writes, and one for
 * what it receives; no success makes a completion.
 */
struct cntr_side {
	struct fct_link l; /* first: the bind hook finds the rest */
	struct fct_mem local, exposed;
	struct fct_target peer;
	enum fi_wait_obj wait;
	uint64_t tx_flags; /* 0: FI_SEND | FI_READ | FI_WRITE */
	struct fid_cntr *tx, *rx;
	struct fct_ctx ctx[CNTR_COUNT];
};

/* cntr.c */
int fct_cntr_up(struct cntr_side *s, const struct fct_setup *setup);
struct fct_setup fct_cntr_setup(void);
/* Both sides: the server has this many receives posted. */
int fct_cntr_post_recvs(struct cntr_side *s, unsigned int count);
int fct_cntr_post_recv(struct cntr_side *s, unsigned int slot);
int fct_cntr_post_send(struct cntr_side *s, unsigned int slot);
/* Polls until the counter has at least this value, which then must be exact. */
int fct_cntr_reaches(struct cntr_side *s, struct fid_cntr *cntr, uint64_t value,
		     const char *what);

#endif

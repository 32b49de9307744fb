/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_commit. */
#ifndef FCT_DURABLE_H
#define FCT_DURABLE_H

#include "fct_op.h"

#define DURABLE_LEN FCT_PMEM_LEN
/* Bytes of the region that a case may write; the rest is room for its own. */
#define DURABLE_MAX (1u << 20)

struct durable {
	struct fct_link l;
	uint8_t *mem; /* server: FI_CAIRN_PMEM, mapped */
	struct fid_mr *mr;
	struct fct_mem local;
	struct fct_target peer;
	struct fct_ctx ctx[64];
};

/* What the cases ask of the provider. */
struct fct_setup fct_durable_setup(void);
/* Connects; the server exposes persistent memory of DURABLE_LEN bytes. Skips the case
 * without such memory. */
int fct_durable_up(struct durable *d, const struct fct_setup *s);
/* Registers the memory that FI_CAIRN_PMEM names, zeroed. */
int fct_durable_expose(struct durable *d, struct fct_target *mine);
/* For FCT_AUTO: of a struct durable, or one that begins with it. */
void fct_durable_end(void *durable);
/* An operation on len bytes at the same place of both buffers, with the first context. */
struct fct_op fct_durable_op(struct durable *d, enum fct_form form, size_t at, size_t len,
			     uint64_t flags);
/* fi_writemsg of that kind. */
ssize_t fct_durable_post(struct durable *d, size_t at, size_t len, uint64_t flags,
			 void *context);
/* The same until there is room, and its end. */
int fct_durable_write(struct durable *d, size_t at, size_t len, uint64_t flags);
/* A counter bound to the endpoint, for those kinds of operations. */
int fct_durable_counter(struct fct_link *l, struct fct_conn *c, uint64_t kinds,
			struct fid_cntr **cntr);
/* Both sides: the client has written len bytes of pattern seed at 0. */
int fct_durable_check(struct durable *d, size_t len, uint64_t seed);

#endif

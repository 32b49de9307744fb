/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_commit. */
#ifndef FCT_DURABLE_H
#define FCT_DURABLE_H

#include "fct_fabric.h"

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
int fct_durable_up(struct durable *d, struct fct *t, const struct fct_setup *s);
/* Registers the memory that FI_CAIRN_PMEM names, zeroed. */
int fct_durable_expose(struct durable *d, struct fct_target *mine);
/* Closes it all; returns ret, or < 0. */
int fct_durable_down(struct durable *d, int ret);
/* fi_writemsg of len bytes, at the same place of both buffers. */
ssize_t fct_durable_post(struct durable *d, size_t at, size_t len, uint64_t flags,
			 void *context);
/* The same until there is room, and its end. */
int fct_durable_write(struct durable *d, size_t at, size_t len, uint64_t flags);
/* Both sides: the client has written len bytes of pattern seed at 0. */
int fct_durable_check(struct durable *d, size_t len, uint64_t seed);

/* durable_forms.c */
int fct_durable_forms(struct fct *t);
int fct_durable_defaults(struct fct *t);
int fct_durable_inject(struct fct *t);
int fct_durable_atomics(struct fct *t);
int fct_durable_levels(struct fct *t);
int fct_durable_compound(struct fct *t);

/* durable_flow.c */
int fct_durable_many(struct fct *t);
int fct_durable_endpoints(struct fct *t);
int fct_durable_counters(struct fct *t);
int fct_durable_sread(struct fct *t);
int fct_durable_wait_fd(struct fct *t);
int fct_durable_manual(struct fct *t);
int fct_durable_passive(struct fct *t);
int fct_durable_stopped(struct fct *t);

/* durable_replay.c */
int fct_durable_replay(struct fct *t);

/* durable_without.c */
int fct_durable_without(struct fct *t);

/* durable_default.c */
int fct_durable_default_forms(struct fct *t);

/* durable_before.c */
int fct_durable_before(struct fct *t);
int fct_durable_before_volatile(struct fct *t);
int fct_durable_before_damaged(struct fct *t);

/* durable_other.c */
int fct_durable_ordinary(struct fct *t);
int fct_durable_fence_ordinary(struct fct *t);

/* durable_err.c */
int fct_durable_volatile(struct fct *t);
int fct_durable_unknown_key(struct fct *t);
int fct_durable_closed_region(struct fct *t);
int fct_durable_closed_endpoint(struct fct *t);

#endif

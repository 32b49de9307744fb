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
struct fct_setup durable_setup(void);
/* Connects; the server exposes persistent memory of DURABLE_LEN bytes. Skips the case
 * without such memory. */
int durable_up(struct durable *d, struct fct *t, const struct fct_setup *s);
/* Registers the memory that FI_CAIRN_PMEM names, zeroed. */
int durable_expose(struct durable *d, struct fct_target *mine);
/* Closes it all; returns ret, or < 0. */
int durable_down(struct durable *d, int ret);
/* fi_writemsg of len bytes, at the same place of both buffers. */
ssize_t durable_post(struct durable *d, size_t at, size_t len, uint64_t flags,
		     void *context);
/* The same until there is room, and its end. */
int durable_write(struct durable *d, size_t at, size_t len, uint64_t flags);
/* Both sides: the client has written len bytes of pattern seed at 0. */
int durable_check(struct durable *d, size_t len, uint64_t seed);

/* durable_forms.c */
int durable_forms(struct fct *t);
int durable_defaults(struct fct *t);
int durable_inject(struct fct *t);
int durable_atomics(struct fct *t);
int durable_levels(struct fct *t);
int durable_compound(struct fct *t);

/* durable_flow.c */
int durable_many(struct fct *t);
int durable_endpoints(struct fct *t);
int durable_counters(struct fct *t);
int durable_sread(struct fct *t);
int durable_wait_fd(struct fct *t);
int durable_manual(struct fct *t);
int durable_passive(struct fct *t);
int durable_stopped(struct fct *t);

/* durable_replay.c */
int durable_replay(struct fct *t);

/* durable_without.c */
int durable_without(struct fct *t);

/* durable_default.c */
int durable_default_forms(struct fct *t);

/* durable_before.c */
int durable_before(struct fct *t);
int durable_before_volatile(struct fct *t);
int durable_before_damaged(struct fct *t);

/* durable_err.c */
int durable_volatile(struct fct *t);
int durable_unknown_key(struct fct *t);
int durable_closed_region(struct fct *t);
int durable_closed_endpoint(struct fct *t);

#endif

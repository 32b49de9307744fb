/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints: the object, what is bound to it, receives, options, statistics. */
#ifndef RPR_EP_H
#define RPR_EP_H

#include "objects.h"

/* ---- conn.c: what a connection needs: buffers, slots ---- */

/* 0, -FI_ENOMEM or what registering returned. */
int rpr_conn_make(struct rpr_ep *ep);
void rpr_conn_free(struct rpr_ep *ep);

/* ---- dump.c ---- */

/* The state as text, as fi_cairn_ops_rpc_stats.dump; with the lock. */
size_t rpr_dump(const struct rpr_ep *ep, char *buf, size_t size);

/* ---- opt.c, stats.c ---- */

extern struct fi_ops_ep rpr_ep_ops;
extern struct fi_ops_ep rpr_pep_ops;
int rpr_ep_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops,
		    void *context);

#endif

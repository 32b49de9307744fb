/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of ep/. */
#ifndef PVB_EP_INTERNAL_H
#define PVB_EP_INTERNAL_H

#include "objects/objects.h"

/* bind.c */

int pvb_ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
/* wq completes into cq. */
void pvb_ep_attach(struct pvb_wq *wq, struct pvb_cq *cq);
void pvb_ep_detach(struct pvb_wq *wq);

/* enable.c */

/* 0 or a negative code. */
int pvb_ep_create_qp(struct pvb_ep *ep);
/* If there is one. */
void pvb_ep_destroy_qp(struct pvb_ep *ep);

/* stats.c */

/* fi_open_ops of endpoints. */
int pvb_stats_open(struct fid *fid, const char *name, uint64_t flags, void **ops,
		   void *context);
/* Writes the statistics to the log, one line. */
void pvb_stats_log(struct pvb_ep *ep);

/* ep.c */

/* Call it when the endpoint can be used, and when the default flags of calls without
 * flags have changed. */
void pvb_ep_defaults(struct pvb_ep *ep);

/* opt.c */

int pvb_ep_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen);
int pvb_ep_setopt(fid_t fid, int level, int optname, const void *optval, size_t optlen);

#endif

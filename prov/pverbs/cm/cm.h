/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection management: the state of connections, passive endpoints, requests and
 * keep-alive, over rdma_cm.
 */
#ifndef PVB_CM_CM_H
#define PVB_CM_CM_H

#include "objects/objects.h"
#include "request.h"

/* channel.c */

/* Of every event queue. */
extern const struct pvb_cm_calls pvb_cm_calls;

/* Handles every waiting rdma_cm event; takes cm_lock. */
int pvb_cm_progress(struct crn_eq *eq);
/* Rejects the request and destroys its id. With cm_lock of its event queue held, if it
 * has one. */
void pvb_connreq_destroy(struct pvb_connreq *req);

/* transition.c */

/* The queue pair to ERR: everything posted flushes; posting is refused from here on. */
void pvb_conn_error(struct pvb_ep *ep);

/* pep.c */

int pvb_passive_ep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
		   void *context);

/* keepalive.c */

/* All but open and close with cm_lock held. */
int pvb_keepalive_open(struct pvb_eq *eq);
void pvb_keepalive_close(struct pvb_eq *eq);
void pvb_keepalive_del(struct pvb_ep *ep);

/* opt.c */

int pvb_cm_getopt(bool raw, int level, int optname, void *optval, size_t *optlen);
int pvb_cm_setopt(bool *raw, int level, int optname, const void *optval, size_t optlen);
/* fi_setname: 0, -FI_EINVAL for no address of the format, -FI_ENOMEM. What was in *src is
 * freed. */
int pvb_copy_src(uint32_t format, const void *addr, size_t len, struct sockaddr **src);
int pvb_set_src(struct fi_info *info, const void *addr, size_t len);

/* ep_ops.c */

/* fi_ops_cm of endpoints. */
extern struct fi_ops_cm pvb_ep_cm_ops;
/* Frees what an endpoint has in order to connect: the id knows the addresses then. */
void pvb_cm_forget(struct pvb_ep *ep);

#endif

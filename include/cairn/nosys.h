/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stubs for operations that an object does not offer. libfabric calls many entries of
 * ops tables without a NULL check, so every table is filled completely. All return
 * -FI_ENOSYS and have no effect.
 */
#ifndef CRN_NOSYS_H
#define CRN_NOSYS_H

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

/* Whole tables, for an endpoint that does not have the interface at all. */
extern struct fi_ops_msg crn_nosys_msg;
extern struct fi_ops_rma crn_nosys_rma;
extern struct fi_ops_tagged crn_nosys_tagged;
extern struct fi_ops_atomic crn_nosys_atomic;
extern struct fi_ops_collective crn_nosys_collective;
extern struct fi_ops_cm crn_nosys_cm;

/* struct fi_ops */
int crn_nosys_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
int crn_nosys_control(struct fid *fid, int command, void *arg);
int crn_nosys_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops,
		       void *context);
int crn_nosys_ops_set(struct fid *fid, const char *name, uint64_t flags, void *ops,
		      void *context);
int crn_nosys_tostr(const struct fid *fid, char *buf, size_t len);

/* struct fi_ops_fabric */
int crn_nosys_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
			struct fid_wait **waitset);

/* struct fi_ops_domain */
int crn_nosys_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		      struct fid_av **av, void *context);
int crn_nosys_scalable_ep(struct fid_domain *domain, struct fi_info *info,
			  struct fid_ep **sep, void *context);
int crn_nosys_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
			struct fid_cntr **cntr, void *context);
int crn_nosys_poll_open(struct fid_domain *domain, struct fi_poll_attr *attr,
			struct fid_poll **pollset);
int crn_nosys_stx_ctx(struct fid_domain *domain, struct fi_tx_attr *attr,
		      struct fid_stx **stx, void *context);
int crn_nosys_srx_ctx(struct fid_domain *domain, struct fi_rx_attr *attr,
		      struct fid_ep **rx_ep, void *context);
int crn_nosys_query_atomic(struct fid_domain *domain, enum fi_datatype datatype,
			   enum fi_op op, struct fi_atomic_attr *attr, uint64_t flags);
int crn_nosys_query_collective(struct fid_domain *domain, enum fi_collective_op coll,
			       struct fi_collective_attr *attr, uint64_t flags);

/* struct fi_ops_ep */
ssize_t crn_nosys_cancel(fid_t fid, void *context);
int crn_nosys_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		     struct fid_ep **tx_ep, void *context);
int crn_nosys_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		     struct fid_ep **rx_ep, void *context);
ssize_t crn_nosys_rx_size_left(struct fid_ep *ep);
ssize_t crn_nosys_tx_size_left(struct fid_ep *ep);

/* struct fi_ops_cm */
int crn_nosys_setname(fid_t fid, void *addr, size_t addrlen);
int crn_nosys_getname(fid_t fid, void *addr, size_t *addrlen);
int crn_nosys_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen);
int crn_nosys_connect(struct fid_ep *ep, const void *addr, const void *param,
		      size_t paramlen);
int crn_nosys_listen(struct fid_pep *pep);
int crn_nosys_accept(struct fid_ep *ep, const void *param, size_t paramlen);
int crn_nosys_reject(struct fid_pep *pep, fid_t handle, const void *param,
		     size_t paramlen);
int crn_nosys_shutdown(struct fid_ep *ep, uint64_t flags);
int crn_nosys_join(struct fid_ep *ep, const void *addr, uint64_t flags,
		   struct fid_mc **mc, void *context);

#endif

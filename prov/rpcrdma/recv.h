/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives of the program, on an endpoint or a shared receive context. */
#ifndef RPR_RECV_H
#define RPR_RECV_H

#include "objects.h"

/* Room for size receives. 0 or -FI_ENOMEM. */
int rpr_rxq_init(struct rpr_rxq *rxq, size_t size, bool shared);
void rpr_rxq_fini(struct rpr_rxq *rxq);

ssize_t rpr_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
		 void *context);
ssize_t rpr_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
		  fi_addr_t src_addr, void *context);
/* fi_recvmsg with flags that the mode has checked. With the lock. */
ssize_t rpr_recv_post(struct rpr_ep *ep, const struct fi_msg *msg, uint64_t flags);
ssize_t rpr_recvmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags);
/* fi_cancel of a receive. */
bool rpr_recv_cancel(struct rpr_ep *ep, void *context);

#endif

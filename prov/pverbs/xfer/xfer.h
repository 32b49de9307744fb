/* SPDX-License-Identifier: BSD-2-Clause */
/* One operation from its call to the post: the calls, and the one way into the send
 * queue. */
#ifndef PVB_XFER_XFER_H
#define PVB_XFER_XFER_H

#include "wire/wire.h"
#include "objects/objects.h"
#include "op.h"

/* sink.c */

/* The buffer into which a domain with atomics discards fetched values. */
int pvb_sink_open(struct pvb_domain *domain);
void pvb_sink_close(struct pvb_domain *domain);

/* deliver.c */

/* The words of a domain that has its protection domain. 0 or a negative code. */
int pvb_deliver_open(struct pvb_domain *domain);
void pvb_deliver_close(struct pvb_domain *domain);
/* The word that peers read, for the private data. */
struct pvb_cm_word pvb_deliver_word(const struct pvb_domain *domain);
/* A scatter entry that discards the eight bytes read. */
struct ibv_sge pvb_deliver_sink(const struct pvb_domain *domain);

/* tx.c */

/* Posts a marker whose completion shows that everything before it has completed; the
 * queue pair is in ERR. */
void pvb_tx_close(struct pvb_ep *ep);

/* Posts a keep-alive, unless something is outstanding: then false. */
bool pvb_tx_keepalive(struct pvb_ep *ep);

/* fence.c */

/* Must the fences of a device with these quirks be avoided? */
bool pvb_fence_waits(uint32_t quirks);
/* Is a read or atomic of the program outstanding? */
bool pvb_fence_reads(struct pvb_qp *qp);

/* msg.c */

/* The receive queue is full, or has no slots yet: 0 and it has room now; or why no
 * receive can be posted. With rx_lock held. */
ssize_t pvb_recv_first(struct pvb_ep *ep);

/* fi_ops of the data path. */
extern struct fi_ops_msg pvb_msg_ops;

/* rma.c */

extern struct fi_ops_rma pvb_rma_ops;

/* atomic.c */

extern struct fi_ops_atomic pvb_atomic_ops;

/* atomic_query.c */

int pvb_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
		     struct fi_atomic_attr *attr, uint64_t flags);

#endif

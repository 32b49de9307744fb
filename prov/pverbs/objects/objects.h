/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects of the pverbs provider.
 *
 * Locks, in the order they are taken:
 *
 * pvb_eq.cm_lock: the CM state of every connection and passive endpoint of that EQ, and
 * the rdma_cm event channel; always on, for an EQ belongs to the fabric.
 *
 * pvb_requests.lock: which requests wait for the program, for the whole fabric.
 *
 * pvb_ahs.sweeping: one thread frees address handles; before qps_lock of the domain.
 * pvb_ahs.lock: the cache of address handles; taken last, behind pvb_cq.lock and the lock
 * of an address vector, which is behind pvb_cq.lock as well. All of these are always on.
 *
 * pvb_qp.tx_lock, rx_lock: posting to one queue pair. pvb_srx.lock: posting to a shared
 * receive context, and which queues complete it. pvb_cntr.lock: which completion queues
 * feed a counter. pvb_cq.lock: polling and the stash. These are off with
 * FI_THREAD_DOMAIN, unless keep-alive is on.
 *
 * Polling never takes tx_lock or rx_lock and posting does not take pvb_cq.lock (but for a
 * device that refuses what was accepted already): they meet in the rings (cairn/ring.h).
 */
#ifndef PVB_OBJECTS_H
#define PVB_OBJECTS_H

#include "completion.h"
#include "connection.h"
#include "datagram.h"
#include "domain.h"
#include "durable.h"
#include "endpoint.h"
#include "queue.h"

/* info.c */

int pvb_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info);
/* The info of a request that arrived at src: of the device behind it, with pep's wishes.
 */
int pvb_info_connreq(const struct fi_info *pep, const char *device,
		     const struct sockaddr *src, const struct sockaddr *peer,
		     struct fi_info **info);

/* fabric.c */

int pvb_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		    void *context);

/* domain.c */

int pvb_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_domain **domain, void *context);

/* objects.c */

/* Is this a child of fork, and the object its parent's? Of it nothing may be touched: the
 * device's part is shared, and threads are not there. fi_close then does nothing. */
bool pvb_inherited(const struct pvb_fabric *fabric);

/* eq.c */

int pvb_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq,
		void *context);

/* mr.c */

extern struct fi_ops_mr pvb_mr_ops;

#endif

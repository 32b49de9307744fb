/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection requests: from their arrival to fi_endpoint or fi_reject.
 *
 * A request whose FI_CONNREQ the program has read is the program's: it outlives the
 * passive endpoint, and the event queue, that it came through, until it is used or
 * rejected; what is left then ends with the fabric, for fi_freeinfo does not say that a
 * handle will not be used. One whose event was not read ends with the passive endpoint.
 *
 * Handles are looked up in the list of the fabric, never followed: one that was used or
 * rejected is refused.
 */
#ifndef PVB_CM_REQUEST_H
#define PVB_CM_REQUEST_H

#include "objects/objects.h"

int pvb_requests_init(struct pvb_requests *requests);
/* Rejects the requests that are left. */
void pvb_requests_fini(struct pvb_requests *requests);

/* Adds a request that arrived at req->pep. With cm_lock. */
void pvb_request_add(struct pvb_connreq *req);
/* Undoes pvb_request_add: the request could not be reported. */
void pvb_request_drop(struct pvb_connreq *req);
/*
 * Takes the request behind a handle out of those that wait: it is the caller's alone, and
 * holds its event queue, if that is still there. by: the passive endpoint that it has to
 * be of, unless its own was closed; NULL: any. NULL: there is no such request.
 */
struct pvb_connreq *pvb_request_take(struct pvb_fabric *fabric, const struct fid *handle,
				     const struct pvb_pep *by);
/* Undoes pvb_request_take. */
void pvb_request_give_back(struct pvb_fabric *fabric, struct pvb_connreq *req);
/* Rejects a request that was taken. Without cm_lock. */
void pvb_request_end(struct pvb_connreq *req);

/* The passive endpoint is being closed. With cm_lock. */
void pvb_requests_unlisten(struct pvb_pep *pep);
/*
 * The event queue is about to be closed: its requests move to the fabric. -FI_EBUSY when
 * something else uses it.
 */
int pvb_requests_leave(struct pvb_eq *eq);

#endif

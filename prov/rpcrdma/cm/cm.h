/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections: fi_cm(3), the private data of RFC 8797 in front of the program's, and
 * events of the lower provider on their way to the program.
 *
 *	0  the eight bytes of RFC 8797
 *	8  'C' 'R' 'P' and the mode (enum rpr_mode): the peer is this provider, and takes
 *	   Calls in reverse (RFC 8167 section 6), unless RPR_CM_UNREADY is added
 *	12 the program's data
 */
#ifndef RPR_CM_H
#define RPR_CM_H

#include "objects.h"

#define RPR_CM_DATA_MAX 256
#define RPR_CM_UNREADY 0x80

extern struct fi_ops_cm rpr_ep_cm;
extern struct fi_ops_cm rpr_pep_cm;

/* crn_lower_obj.event of endpoints, and of passive ones. */
int rpr_ep_event(struct crn_lower_obj *obj, struct crn_lower_event *event);
int rpr_pep_event(struct crn_lower_obj *obj, struct crn_lower_event *event);

/* ---- private.c ---- */

/* The bytes for a peer, with the program's: their number, or -FI_EINVAL: too many. */
ssize_t rpr_cm_pack(const struct rpr_ep *ep, const void *param, size_t paramlen,
		    uint8_t buf[RPR_CM_DATA_MAX]);
/*
 * In rpc mode, peers that are not libfabric programs see the bytes as they are, where the
 * lower provider can do that.
 */
void rpr_cm_raw(fid_t lower, enum rpr_mode mode);
/* What a peer said; returns where the program's data begins. */
size_t rpr_cm_parse(const void *data, size_t len, struct rpr_private *priv, int *marker);
/* The sizes agreed on with a peer that said this. */
void rpr_cm_agree(struct rpr_ep *ep, const struct rpr_private *priv, int marker);

/* ---- request.c: from FI_CONNREQ to fi_accept or fi_reject ---- */

/* 0 or -FI_ENOMEM. */
int rpr_request_add(struct rpr_pep *pep, fid_t handle, const struct rpr_private *priv,
		    int marker);
/* The passive endpoint with that handle, if it is one: nothing is read through it, for it
 * may be what is left of a request. */
struct rpr_pep *rpr_request_pep(struct rpr_fabric *fabric, fid_t handle);
/* What it said; false: there is none with that handle. */
bool rpr_request_find(struct rpr_fabric *fabric, fid_t handle,
		      struct rpr_request *request);
/* The same, and it is answered. */
bool rpr_request_take(struct rpr_fabric *fabric, fid_t handle,
		      struct rpr_request *request);
/*
 * A passive endpoint closes, with which the requests that the program has not read are
 * refused: those read outlive it. Marks the former; drops them when it is closed.
 */
void rpr_requests_mark(struct rpr_pep *pep);
void rpr_requests_drop(struct rpr_pep *pep);
/* The fabric closes. */
void rpr_requests_free(struct rpr_fabric *fabric);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pass-through operations: ops tables for a layer's endpoints whose entries call the
 * same function of the lower endpoint with the same arguments. A layer that changes
 * some has a copy of the table with slots of its own.
 *
 * Completions need no translation: an operation keeps the program's context. Nothing is
 * allocated, no lock taken.
 */
#ifndef CRN_PASS_H
#define CRN_PASS_H

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <cairn/compat.h>
#include <cairn/lower.h>

/* First member of a layer's endpoint (FI_CLASS_EP) or shared receive context
 * (FI_CLASS_SRX_CTX) with pass-through operations. */
struct crn_pass_ep {
	struct fid_ep fid;
	struct fid_ep *lower;
	struct crn_lower_obj obj;
};

/* First member of a layer's passive endpoint. */
struct crn_pass_pep {
	struct fid_pep fid;
	struct fid_pep *lower;
	struct crn_lower_obj obj;
};

static inline struct fid_ep *crn_pass_lower(struct fid_ep *ep)
{
	return crn_container_of(ep, struct crn_pass_ep, fid)->lower;
}

/* The lower provider's object of an endpoint, passive or not, or receive context. */
static inline fid_t crn_pass_fid(struct fid *fid)
{
	if (fid->fclass == FI_CLASS_PEP)
		return &crn_container_of(fid, struct crn_pass_pep, fid.fid)->lower->fid;
	return &crn_container_of(fid, struct crn_pass_ep, fid.fid)->lower->fid;
}

extern struct fi_ops_msg crn_pass_msg;
extern struct fi_ops_rma crn_pass_rma;
extern struct fi_ops_tagged crn_pass_tagged;
extern struct fi_ops_atomic crn_pass_atomic;
/* For passive endpoints too. */
extern struct fi_ops_cm crn_pass_cm;
extern struct fi_ops_ep crn_pass_ep_ops;

/*
 * Sets the tables of an endpoint or receive context whose `lower` is open to those above,
 * or to crn_nosys_* where the lower provider's has none.
 */
void crn_pass_ops(struct crn_pass_ep *ep);

/* fi_control of endpoints, passive or not: all but FI_ALIAS, whose answer would be an
 * endpoint of the lower provider's. */
int crn_pass_control(struct fid *fid, int command, void *arg);

#endif

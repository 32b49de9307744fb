/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an endpoint of a layer is bound to (fi_endpoint(3)), and where the end of each of
 * its operations is reported. The provider embeds a struct crn_ep in its endpoint; the
 * objects bound are crn_cq, crn_cntr, crn_eq and crn_av, whose fid it embeds.
 *
 * One operation is
 *
 *	if (!crn_ep_begin(ep, CRN_EP_TX))
 *		return -FI_EAGAIN;
 *	... not accepted by whom it was given to:	crn_ep_abandon
 *	... over:					crn_ep_done or crn_ep_fail
 *
 * and crn_ep_count for one that never has an entry (fi_inject). The application
 * serialises binding and enabling with its other calls on the endpoint; any thread may
 * call the other functions.
 */
#ifndef CRN_EP_H
#define CRN_EP_H

#include <stdbool.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <cairn/av.h>
#include <cairn/cntr.h>
#include <cairn/cq.h>
#include <cairn/eq.h>

enum crn_ep_side { CRN_EP_TX, CRN_EP_RX, CRN_EP_SIDES };

/* Kinds of operations that counters count: the bits FI_READ to FI_REMOTE_WRITE. */
#define CRN_EP_COUNTED \
	(FI_READ | FI_WRITE | FI_RECV | FI_SEND | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define CRN_EP_COUNTERS 6

struct crn_ep_queue {
	struct crn_cq *cq;    /* NULL: not bound */
	bool selective;	      /* FI_SELECTIVE_COMPLETION */
	uint32_t depth;	      /* most operations outstanding */
	uint64_t op_flags;    /* of operations without flags of their own */
	uint64_t known_flags; /* what FI_SETOPSFLAG accepts; set by the provider */
};

struct crn_ep {
	struct fid_domain *domain;
	struct fid_fabric *fabric;
	enum fi_ep_type type;
	uint64_t caps; /* with the directions that FI_MSG, FI_RMA etc. imply */
	bool enabled;
	struct crn_ep_queue queues[CRN_EP_SIDES];
	struct crn_cntr *cntrs[CRN_EP_COUNTERS]; /* NULL: nobody counts */
	struct crn_eq *eq;
	struct crn_av *av;
};

/* From the endpoint's info: capabilities, type, sizes and op_flags of both sides. */
void crn_ep_init(struct crn_ep *ep, struct fid_fabric *fabric, struct fid_domain *domain,
		 const struct fi_info *info);
/* Lets go of what is bound. No operation is outstanding. */
void crn_ep_fini(struct crn_ep *ep);

/*
 * fi_ep_bind of a completion queue, counter, event queue or address vector. Errors:
 * -FI_EOPBADSTATE (enabled), -FI_EBADFLAGS or -FI_EINVAL (flags), -FI_EDOMAIN (another
 * domain; -FI_EINVAL: another fabric), -FI_EINVAL (bound already), -FI_EOPNOTSUPP (counts
 * remote operations without FI_RMA_EVENT), -FI_ENOSYS (another class of object, or an
 * address vector to FI_EP_MSG), -FI_ENOMEM.
 */
int crn_ep_bind(struct crn_ep *ep, struct fid *bfid, uint64_t flags);

/*
 * fi_enable: what the endpoint needs is bound, and nothing can be bound from here on. 0
 * also when it is enabled already; -FI_ENOEQ, -FI_ENOAV, -FI_ENOCQ.
 */
int crn_ep_enable(struct crn_ep *ep);

/* FI_GETOPSFLAG and FI_SETOPSFLAG of fi_control. -FI_EINVAL: not one side; -FI_EBADFLAGS.
 */
int crn_ep_ops_flags(struct crn_ep *ep, int command, uint64_t *flags);

/*
 * Is an entry to be written when the operation ends well? flags: those that the call was
 * given, else op_flags of the side. Never asked of fi_inject and its kin, which write
 * none.
 */
CRN_INLINE bool crn_ep_reports(const struct crn_ep *ep, enum crn_ep_side side,
			       uint64_t flags)
{
	return !ep->queues[side].selective || (flags & FI_COMPLETION);
}

/* Reserves the place of the completion. False: -FI_EAGAIN. */
CRN_INLINE bool crn_ep_begin(struct crn_ep *ep, enum crn_ep_side side)
{
	struct crn_cq *cq = ep->queues[side].cq;

	return !cq || crn_cq_reserve(cq);
}

/* The operation was not accepted: nothing is reported, nothing counted. */
CRN_INLINE void crn_ep_abandon(struct crn_ep *ep, enum crn_ep_side side)
{
	struct crn_cq *cq = ep->queues[side].cq;

	if (cq)
		crn_cq_release(cq, 1);
}

/* Counts an operation by its completion flags: FI_SEND | FI_MSG etc. */
CRN_INLINE void crn_ep_count(struct crn_ep *ep, uint64_t flags, bool failed)
{
	struct crn_cntr *cntr;

	if (!(flags & CRN_EP_COUNTED))
		return;
	cntr = ep->cntrs[__builtin_ctzll(flags & CRN_EP_COUNTED) -
			 __builtin_ctzll(CRN_EP_COUNTED)];
	if (crn_likely(!cntr))
		return;
	if (failed)
		crn_cntr_inc_err(cntr);
	else
		crn_cntr_inc(cntr);
}

/* It ended well. An entry is not seen before it is counted. report: crn_ep_reports. */
CRN_INLINE void crn_ep_done(struct crn_ep *ep, enum crn_ep_side side,
			    const struct crn_cq_comp *comp, bool report)
{
	crn_ep_count(ep, comp->entry.flags, false);
	if (report && crn_likely(ep->queues[side].cq))
		crn_cq_write(ep->queues[side].cq, comp);
	else
		crn_ep_abandon(ep, side);
}

/* It failed, which is always reported: crn_cq_write_err. */
void crn_ep_fail(struct crn_ep *ep, enum crn_ep_side side,
		 const struct fi_cq_err_entry *err, fi_addr_t src_addr);

#endif

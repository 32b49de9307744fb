/* SPDX-License-Identifier: BSD-2-Clause */
/* An operation of the program as the call describes it, before it goes any way; built
 * into each of the calls. */
#ifndef RTE_XFER_OP_H
#define RTE_XFER_OP_H

#include "ops.h"

/* Takes the next number. 0 and *op, zeroed but for what each has, or why not. Call
 * rte_vc_op_post once it is filled. */
CRN_INLINE ssize_t rte_vc_op_take(struct rte_vc *vc, bool silent, struct rte_vc_op **op)
{
	if (vc->state != RTE_VC_UP)
		return -FI_ENOTCONN;
	if (!rte_vc_tx_left(vc))
		return -FI_EAGAIN;
	if (!silent && !crn_ep_begin(vc->attr.ep, CRN_EP_TX))
		return -FI_EAGAIN;
	*op = rte_vc_op(vc, vc->tail);
	memset(*op, 0, offsetof(struct rte_vc_op, flags));
	(*op)->silent = silent;
	return 0;
}

/* Of those whose end somebody waits for: the strongest level that the flags name. */
CRN_INLINE void rte_vc_op_level(const struct rte_vc *vc, struct rte_vc_op *op,
				uint64_t flags)
{
	const bool waited = op->report || rte_vc_counted(vc, op->flags);

	const bool weak = !waited || (!(flags & FI_TRANSMIT_COMPLETE) &&
				      (flags & FI_INJECT_COMPLETE));

	op->deliver = op->type == RTE_WRITE && ((flags & FI_DELIVERY_COMPLETE) || !weak);
	/* That a write has failed is always told, and only the target knows. */
	if (flags & FI_COMMIT_COMPLETE)
		op->level = RTE_VC_DURABLE;
	else if (op->type == RTE_WRITE || (flags & FI_DELIVERY_COMPLETE))
		op->level = RTE_VC_REACHED;
	else if (weak)
		op->level = RTE_VC_HANDED;
	else
		op->level = vc->path.direct ? RTE_VC_SENT : RTE_VC_ROUTED;
}

CRN_INLINE void rte_vc_op_fill(const struct rte_vc *vc, struct rte_vc_op *op,
			       uint8_t type, uint64_t comp, uint64_t length,
			       void *context, uint64_t flags)
{
	op->type = type;
	op->flags = comp;
	op->length = length;
	op->context = context;
	op->report = !op->silent && crn_ep_reports(vc->attr.ep, CRN_EP_TX, flags);
	op->fence = flags & FI_FENCE;
	op->has_data = flags & FI_REMOTE_CQ_DATA;
	op->copy = flags & FI_INJECT;
	rte_vc_op_level(vc, op, flags);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fences of a device that stands still over its own. The requester of rdma_rxe (seen with
 * Linux 6.12) counts the reads and atomics that are outstanding, and lets nothing fenced
 * out while there are any. When a message finds no receive it starts anew at the message,
 * but goes on counting a read that was sent already, though that is behind the fence: the
 * one then waits for the other, without a timeout. A message, a fenced write and a read,
 * posted before the peer posts its receive, are enough. So here whatever is fenced is
 * posted when the reads and atomics before it have completed, and without a fence.
 */
#include "device/device.h"
#include "xfer.h"

bool pvb_fence_waits(uint32_t quirks)
{
	if (pvb_params.fence != PVB_FENCE_AUTO)
		return pvb_params.fence == PVB_FENCE_WAIT;
	return quirks & PVB_QUIRK_FENCE_STALLS;
}

bool pvb_fence_reads(struct pvb_qp *qp)
{
	return qp->sq.ring.head - qp->reads_end < crn_ring_used(&qp->sq.ring);
}

ssize_t pvb_fence_check(struct pvb_ep *ep, const struct pvb_op *op)
{
	struct pvb_qp *qp = &ep->qp;
	ssize_t ret = 0;

	if (!pvb_op_fenced(ep, op))
		return 0;
	crn_lock(&qp->tx_lock);
	/* Posts what FI_MORE holds back, which would never complete otherwise. */
	if (pvb_fence_reads(qp))
		ret = pvb_tx_refuse(ep);
	crn_unlock(&qp->tx_lock);
	return ret;
}

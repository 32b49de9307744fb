/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations that fail, and the flags that decide whether one that succeeds is reported.
 */
#include <rdma/fi_errno.h>
#include <cairn/ep.h>

void crn_ep_fail(struct crn_ep *ep, enum crn_ep_side side,
		 const struct fi_cq_err_entry *err, fi_addr_t src_addr)
{
	crn_ep_count(ep, err->flags, true);
	if (ep->queues[side].cq)
		crn_cq_write_err(ep->queues[side].cq, err, src_addr);
}

int crn_ep_ops_flags(struct crn_ep *ep, int command, uint64_t *flags)
{
	const uint64_t side = *flags & (FI_TRANSMIT | FI_RECV);
	struct crn_ep_queue *queue =
		&ep->queues[side == FI_TRANSMIT ? CRN_EP_TX : CRN_EP_RX];

	if (side != FI_TRANSMIT && side != FI_RECV)
		return -FI_EINVAL;
	if (command == FI_GETOPSFLAG) {
		*flags = queue->op_flags;
		return 0;
	}
	if (*flags & ~(side | queue->known_flags))
		return -FI_EBADFLAGS;
	queue->op_flags = *flags & ~side;
	return 0;
}

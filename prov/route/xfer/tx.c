/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations of the program, from the call to the completion: reported in the order in
 * which they were posted. */
#include "ops.h"

ssize_t rte_vc_flags(uint64_t flags, uint64_t known)
{
	flags &= ~known;
	if (crn_likely(!flags))
		return 0;
	return flags & FI_COMMIT_COMPLETE ? -FI_EOPNOTSUPP : -FI_EBADFLAGS;
}

ssize_t rte_vc_iov_len(const struct rte_vc *vc, const struct iovec *iov, size_t count,
		       uint64_t *len)
{
	size_t i;

	*len = 0;
	if (count > RTE_VC_IOV)
		return -FI_EINVAL;
	for (i = 0; i < count; i++) {
		if (iov[i].iov_len > vc->attr.max_msg_size - *len)
			return -FI_EMSGSIZE;
		*len += iov[i].iov_len;
	}
	return 0;
}

void rte_vc_op_iov(struct rte_vc_op *op, const struct iovec *iov, void *const *desc,
		   size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		op->iov[i] = iov[i];
		op->desc[i] = desc ? desc[i] : NULL;
	}
	op->iov_count = (uint32_t)count;
}

/* The program gets its buffers back now, and not all of them have been sent. */
static void op_copy(struct rte_vc *vc, struct rte_vc_op *op, uint64_t seq)
{
	uint8_t *to = vc->inject + (seq & vc->mask) * vc->attr.inject_size;
	const size_t left = (size_t)(op->length - op->offset);

	rte_vc_gather(op, to, left);
	op->iov[0].iov_base = to;
	op->iov[0].iov_len = left;
	op->desc[0] = NULL;
	op->iov_count = left ? 1 : 0;
	op->iov_at = 0;
	op->iov_offset = 0;
}

void rte_vc_op_post(struct rte_vc *vc, struct rte_vc_op *op)
{
	const uint64_t seq = vc->tail++;

	/* Nothing else has become possible. */
	if (vc->path.bypass && op->type != RTE_MSG && vc->next == seq && !op->fence &&
	    !vc->refused && rte_vc_direct(vc, op, seq) == RTE_VC_STRAIGHT)
		return;
	rte_vc_settle(vc);
	if (crn_unlikely(op->copy && vc->next <= seq))
		op_copy(vc, op, seq);
}

static bool op_reached(const struct rte_vc *vc, const struct rte_vc_op *op, uint64_t seq)
{
	switch (op->level) {
	case RTE_VC_ROUTED:
		return seq <= CRN_MAX(vc->routed, vc->reached);
	case RTE_VC_REACHED:
	case RTE_VC_DURABLE:
		return seq <= vc->reached;
	case RTE_VC_ANSWERED:
		return op->offset == op->length;
	default: /* the lower provider's word, which is in op->lower */
		return !op->lost;
	}
}

static void op_failed(struct rte_vc *vc, const struct rte_vc_op *op, int err,
		      uint64_t router)
{
	const struct fi_cq_err_entry entry = {
		.op_context = op->context,
		.flags = op->flags,
		.err = err,
		.prov_errno = err,
		.err_data = router ? &router : NULL,
		.err_data_size = router ? sizeof(router) : 0,
	};

	if (op->silent)
		crn_ep_count(vc->attr.ep, op->flags, true);
	else
		crn_ep_fail(vc->attr.ep, CRN_EP_TX, &entry, FI_ADDR_NOTAVAIL);
	if (vc->state == RTE_VC_UP) {
		vc->broken = err;
		vc->failed = true;
	}
}

static void op_done(struct rte_vc *vc, const struct rte_vc_op *op)
{
	const struct crn_cq_comp comp = {
		.entry = {.op_context = op->context, .flags = op->flags},
		.src_addr = FI_ADDR_NOTAVAIL,
	};

	if (crn_unlikely(op->silent))
		crn_ep_count(vc->attr.ep, op->flags, false);
	else
		crn_ep_done(vc->attr.ep, CRN_EP_TX, &comp, op->report);
}

/* Reports it if it has come to its end. */
static bool op_ends(struct rte_vc *vc, const struct rte_vc_op *op, uint64_t seq)
{
	/* Of what was refused, the rest is not sent. */
	const bool sent = seq < vc->next || op->err;

	if (op->lower || (vc->state == RTE_VC_UP && (vc->failed || !sent)))
		return false;
	if (op->err)
		op_failed(vc, op, op->err, op->router);
	else if (!vc->failed && sent && op_reached(vc, op, seq))
		op_done(vc, op);
	else if (vc->state == RTE_VC_STOPPED)
		op_failed(vc, op, vc->err, vc->router);
	else
		return false;
	return true;
}

void rte_vc_retire(struct rte_vc *vc)
{
	while (vc->head < vc->tail && op_ends(vc, rte_vc_op(vc, vc->head), vc->head))
		vc->head++;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The query for persist/plan/plan.c, and what its plans need of the send queue. */
#include "persist/control/control.h"
#include "persist/plan/plan.h"
#include "wire/wire.h"
#include "xfer/xfer.h"
#include "internal.h"

/* What is known of both sides; without a control queue pair only the device can help. */
void pvb_commit_query(struct pvb_ep *ep, const struct pvb_key_attr *attr,
		      struct pvb_plan_query *query)
{
	const struct pvb_qp *qp = &ep->qp;
	const bool seq_word = ep->conn.peer.control.seq_word && ep->domain->seq_atomics;
	const struct pvb_control_qp *cqp = qp->control_qp;

	crn_lock_assert_held(&ep->qp.tx_lock);
	*query = (struct pvb_plan_query){
		.target = *attr,
		.weak = pvb_quirk(ep->domain, PVB_QUIRK_WEAK_COMPLETION),
		.native_flush = qp->ibv_ex && ep->domain->native.flush_persistent,
		.native_write = qp->ibv_ex && ep->domain->native.atomic_write,
		.seq_word = seq_word,
		.control = cqp && atomic_load(&cqp->up),
		.inline_max = seq_word ? PVB_WIRE_INLINE : 0,
		.force_message = pvb_params.force_message,
	};
}

enum pvb_plan_op pvb_plan_op_of(const struct pvb_op *op)
{
	switch (op->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return PVB_PLAN_SEND;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return PVB_PLAN_WRITE_IMM;
	case IBV_WR_RDMA_WRITE:
		return PVB_PLAN_WRITE;
	default:
		return PVB_PLAN_ATOMIC;
	}
}

/*
 * The initiator does not know where a message is received; its target makes it durable.
 */
const struct pvb_key_attr pvb_key_attr_message = {
	.domain = CRN_DMP,
	.ddio = true,
	.persistent = true,
};

bool pvb_commit_replays(const struct pvb_qp *qp)
{
	return qp->control_qp && atomic_load(&qp->control_qp->replay.known);
}

int pvb_commit_key_attr(const struct pvb_qp *qp, const struct pvb_op *op,
			struct pvb_key_attr *attr)
{
	if (!pvb_op_sends(op))
		return pvb_key_parse(op->key, attr);
	*attr = pvb_commit_replays(qp) ? qp->control_qp->replay.key_attr
				       : pvb_key_attr_message;
	return 0;
}

bool pvb_plan_has(const struct pvb_plan *plan, enum pvb_act act)
{
	int i;

	for (i = 0; i < PVB_PLAN_ACTS && plan->act[i]; i++) {
		if (plan->act[i] == act)
			return true;
	}
	return false;
}

bool pvb_plan_needs_request(const struct pvb_plan *plan)
{
	return pvb_plan_has(plan, PVB_ACT_MESSAGE) ||
	       pvb_plan_has(plan, PVB_ACT_MESSAGE_DATA);
}

/* Before the request is on its way nothing is ordered behind it. */
unsigned int pvb_plan_pending(const struct pvb_plan *plan)
{
	return plan->pending |
	       (pvb_plan_has(plan, PVB_ACT_WAIT) ? PVB_PENDING_UNKNOWN : 0);
}

/* Entries of the send queue. */
uint32_t pvb_plan_entries(const struct pvb_plan *plan)
{
	uint32_t entries = 0;
	int i;

	for (i = 0; i < PVB_PLAN_ACTS && plan->act[i]; i++) {
		switch (plan->act[i]) {
		case PVB_ACT_MESSAGE:
		case PVB_ACT_MESSAGE_DATA:
		case PVB_ACT_WAIT:
			break;
		default:
			entries++;
		}
	}
	return entries;
}

enum pvb_commit_count pvb_plan_count(const struct pvb_plan *plan)
{
	if (pvb_plan_needs_request(plan))
		return PVB_COMMIT_REQUEST;
	if (pvb_plan_has(plan, PVB_ACT_SLOT))
		return PVB_COMMIT_MESSAGE;
	if (pvb_plan_has(plan, PVB_ACT_FLUSH))
		return PVB_COMMIT_FLUSH;
	return pvb_plan_has(plan, PVB_ACT_READ) ? PVB_COMMIT_READ : PVB_COMMIT_ARRIVED;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives in persistent memory whose messages recovery applies again:
 * FI_OPT_CAIRN_REPLAY of rdma/fi_ext_cairn.h. A durable send to such an endpoint is like
 * a write: it needs to be in the buffer. The receiver tells the sender over the control
 * queue pair where its buffers are, and sees to it that all of them are there.
 */
#include "persist/control/control.h"
#include "persist/persist.h"
#include "wire/wire.h"
#include "internal.h"
#include "target.h"

int pvb_replay_set(struct pvb_ep *ep, const void *optval, size_t optlen)
{
	const enum pvb_conn_state state = ep->conn.state;
	struct pvb_mr *mr;

	if (optlen != sizeof(struct fid_mr *) || !*(struct fid_mr *const *)optval)
		return -FI_EINVAL;
	mr = crn_container_of(*(struct fid_mr *const *)optval, struct pvb_mr, fid);
	if (mr->fid.fid.fclass != FI_CLASS_MR)
		return -FI_EINVAL;
	if (mr->domain != ep->domain)
		return -FI_EDOMAIN;
	/* Without a control queue pair the peer cannot be told. */
	if (!mr->key_attr.persistent || ep->qp.srx || !ep->domain->control)
		return -FI_EOPNOTSUPP;
	/* Those posted already may be anywhere. */
	if (state > PVB_CONN_ENABLED || ep->qp.rq.ring.head || ep->replay)
		return -FI_EOPBADSTATE;
	ep->replay = mr;
	atomic_fetch_add(&mr->users, 1);
	return 0;
}

void pvb_replay_end(struct pvb_ep *ep)
{
	if (ep->replay)
		atomic_fetch_sub(&ep->replay->users, 1);
}

int pvb_replay_check(const struct pvb_ep *ep, const struct ibv_recv_wr *wr)
{
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		if (wr->sg_list[i].lkey != ep->replay->mr->lkey)
			return -FI_EINVAL;
	}
	return 0;
}

void pvb_replay_announce(struct pvb_ep *ep)
{
	const struct pvb_control_qp *cqp = ep->qp.control_qp;
	struct pvb_wire_message message = {.kind = PVB_WIRE_REPLAY};

	if (!ep->replay || !cqp || !atomic_load(&cqp->up))
		return;
	message.to.addr = (uintptr_t)ep->replay->mr->addr;
	message.key = ep->replay->fid.key;
	if (!pvb_control_qp_send(ep->qp.control_qp, &message))
		PVB_WARN(FI_LOG_EP_CTRL, "the peer is not told of persistent receives\n");
}

void pvb_replay_learn(struct pvb_control_qp *cqp, const struct pvb_wire_message *message)
{
	crn_mutex_assert_held(&cqp->control->lock);
	/* Once is all there is to say. */
	if (atomic_load(&cqp->replay.known) ||
	    pvb_key_parse(message->key, &cqp->replay.key_attr))
		return;
	cqp->replay.addr = message->to.addr;
	cqp->replay.key = message->key;
	atomic_store(&cqp->replay.known, true);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only path into the send queue. The calls of msg.c and rma.c describe an operation
 * in a pvb_op; pvb_tx builds the work request, takes a slot and posts. Inline, so that
 * the compiler drops what a call form does not have (flags, several buffers, data).
 */
#ifndef PVB_XFER_OP_H
#define PVB_XFER_OP_H

#include <arpa/inet.h>
#include <string.h>
#include "device/device.h"
#include "objects/objects.h"

struct pvb_op {
	enum ibv_wr_opcode opcode;
	uint64_t comp_flags; /* what fi_cq_read reports */
	uint64_t flags;	     /* op_flags of the call: FI_INJECT, FI_MORE, FI_FENCE, ... */
	bool no_comp;	     /* success is not reported */
	bool inject;	     /* fi_inject: neither success nor failure is reported */
	bool fenced;   /* FI_COMMIT_COMPLETE with FI_FENCE: everything posted before it is
			  durable too; set by commit.c */
	uint64_t data; /* remote CQ data, for opcodes with immediate */
	uint64_t addr; /* RMA or atomic target */
	uint64_t key;
	uint64_t compare_add; /* operands of an atomic, host byte order */
	uint64_t swap;
	void *context;
	size_t len; /* of all buffers together */
	int num_sge;
	struct ibv_sge *sge; /* not in the struct, so that the compiler can keep the other
				fields in registers */
};

/* Flags that calls with flags accept. */
#define PVB_CALL_FLAGS (PVB_TX_OP_FLAGS | FI_REMOTE_CQ_DATA | FI_MORE | FI_FENCE)

/*
 * op_flags of a call without flags on an endpoint without default flags. Bit 63, which
 * libfabric does not use: no order was requested that needs fences.
 */
#define PVB_OP_UNORDERED (1ULL << 63)
#define PVB_OP_PLAIN (FI_COMPLETION | PVB_OP_UNORDERED)

/* Defaults that mean nothing to a read: it has no payload to inject, and its data is
 * delivered when it completes. */
#define PVB_NOT_FOR_READS \
	((uint64_t)(FI_INJECT | FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE))

/* The code for flags outside those a call accepts; a durable completion is never promised
 * falsely. */
static inline ssize_t pvb_bad_flags(uint64_t flags)
{
	return flags & FI_COMMIT_COMPLETE ? -FI_EOPNOTSUPP : -FI_EBADFLAGS;
}

/* Slow paths: tx.c. Called with tx_lock held. */

/* The reason why nothing can be posted now: -FI_EAGAIN, -FI_ENOTCONN, -FI_ESHUTDOWN or
 * -FI_ENODEV. */
ssize_t pvb_tx_refuse(struct pvb_ep *ep);
/* The queue is full, or has no slots yet: 0 and it has room now, or the same. */
ssize_t pvb_tx_first(struct pvb_ep *ep);
/* pvb_tx_locked, then. op is a copy, or the caller's could not be kept in registers. */
ssize_t pvb_tx_locked_full(struct pvb_ep *ep, struct pvb_op op);
/*
 * A call that was to follow one with FI_MORE fails: what is held back is posted, or it
 * would never end for a program that waits for it before it tries again. With the lock
 * held.
 */
void pvb_tx_end_more(struct pvb_ep *ep);
/* The same for a call with bad arguments, which is refused with ret. Takes the lock. */
ssize_t pvb_tx_misused(struct pvb_ep *ep, ssize_t ret);
/* Holds the request back for FI_MORE, or posts it behind those held back. */
int pvb_tx_chain(struct pvb_ep *ep, struct ibv_send_wr *wr, bool more);
/* Posts the request, behind those held back; *bad as ibv_post_send sets it. */
int pvb_tx_post(struct pvb_ep *ep, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
/* Lets the payload be reused at once although it cannot go inline: its len bytes are one
 * piece then. 0, or a negative code: there is no memory for it; what is held back is
 * posted. */
int pvb_tx_bounce(struct pvb_ep *ep, struct ibv_sge *sge, int num_sge, size_t len,
		  uint32_t index);

/* One buffer; sge is the caller's. */
CRN_INLINE void pvb_op_buf(struct pvb_op *op, struct ibv_sge *sge, const void *buf,
			   size_t len, void *desc)
{
	*sge = pvb_sge(buf, len, desc);
	op->len = len;
	op->num_sge = len != 0;
	op->sge = sge;
}

/* Atomics too write what they find into the buffer. */
CRN_INLINE bool pvb_op_reads(const struct pvb_op *op)
{
	return op->opcode == IBV_WR_RDMA_READ ||
	       op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	       op->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

/* Every field is set: the same calls give a device the same bytes. */
CRN_INLINE void pvb_wr_target(const struct pvb_op *op, struct ibv_send_wr *wr)
{
	switch (op->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		wr->wr.rdma.remote_addr = 0;
		wr->wr.rdma.rkey = 0;
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		wr->wr.atomic.remote_addr = op->addr;
		wr->wr.atomic.compare_add = op->compare_add;
		wr->wr.atomic.swap = op->swap;
		wr->wr.atomic.rkey = (uint32_t)op->key;
		break;
	default:
		wr->wr.rdma.remote_addr = op->addr;
		wr->wr.rdma.rkey = (uint32_t)op->key;
	}
}

/* Does the operation wait for earlier reads and atomics? */
CRN_INLINE bool pvb_op_fenced(const struct pvb_ep *ep, const struct pvb_op *op)
{
	return (op->flags & FI_FENCE) ||
	       (!(op->flags & PVB_OP_UNORDERED) && ep->fence_writes &&
		op->opcode != IBV_WR_RDMA_READ);
}

CRN_INLINE void pvb_wr_build(const struct pvb_ep *ep, const struct pvb_op *op,
			     unsigned int send_flags, struct ibv_send_wr *wr)
{
	wr->next = NULL;
	wr->sg_list = op->sge;
	wr->num_sge = op->num_sge;
	wr->opcode = op->opcode;
	wr->imm_data = 0;
	if (op->opcode == IBV_WR_SEND_WITH_IMM ||
	    op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		wr->imm_data = htonl((uint32_t)op->data);
	pvb_wr_target(op, wr);
	if (!pvb_op_reads(op) && op->len <= ep->qp.inline_size)
		send_flags |= IBV_SEND_INLINE;
	if (crn_unlikely(pvb_op_fenced(ep, op)) && !ep->fence_waits)
		send_flags |= IBV_SEND_FENCE;
	wr->send_flags = send_flags;
}

/* Work requests without a completion of their own retire with the next that has one. */
CRN_INLINE bool pvb_wr_signaled(const struct pvb_ep *ep, const struct pvb_op *op)
{
	/* Operations that a fenced one may wait for are signaled. */
	return !(op->no_comp || op->inject) ||
	       ep->qp.unsignaled + 1 >= ep->qp.signal_every ||
	       (pvb_op_reads(op) && ep->fence_waits);
}

/*
 * Of an endpoint with fence_waits; whether this operation may be posted now: 0,
 * or -FI_EAGAIN as long as it has to wait. Takes the lock.
 */
ssize_t pvb_fence_check(struct pvb_ep *ep, const struct pvb_op *op);

/* pvb_tx_locked for an operation with FI_DELIVERY_COMPLETE. -FI_EOPNOTSUPP for
 * a peer that is not pverbs. */
ssize_t pvb_tx_delivered(struct pvb_ep *ep, struct pvb_op *op);

/* Does the operation need more than a post? Keys of persistent memory have attributes
 * in their upper half. */
CRN_INLINE bool pvb_op_tracked(const struct pvb_qp *qp, const struct pvb_op *op)
{
	switch (op->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return qp->tracked != 0;
	default:
		return (qp->tracked | op->key >> 32) != 0;
	}
}

/* Must the payload be copied or inline before the call returns? */
CRN_INLINE bool pvb_op_copied(const struct pvb_op *op)
{
	return (op->inject || (op->flags & FI_INJECT)) && !pvb_op_reads(op);
}

/* pvb_tx for an operation whose size is right, with the lock held. */
CRN_INLINE ssize_t pvb_tx_locked(struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_qp *qp = &ep->qp;
	const uint32_t head = qp->sq.ring.head;
	const bool copied = pvb_op_copied(op);
	struct ibv_send_wr wr, *bad;
	struct pvb_slot *slot;
	bool signaled;
	int err;

	crn_lock_assert_held(&ep->qp.tx_lock);
	if (crn_unlikely(crn_ring_full(&qp->sq.ring)))
		return pvb_tx_locked_full(ep, *op);
	slot = pvb_wq_slot_at(&qp->sq, head);
	slot->context = op->context;
	slot->flags = op->comp_flags;
	slot->state =
		(op->no_comp ? PVB_SLOT_NO_COMP : 0) | (op->inject ? PVB_SLOT_INJECT : 0);
	if (copied && crn_unlikely(op->len > qp->inline_size)) {
		err = pvb_tx_bounce(ep, op->sge, op->num_sge, op->len,
				    crn_ring_index(&qp->sq.ring, head));
		if (crn_unlikely(err))
			return err;
		op->num_sge = 1;
	}
	wr.wr_id = (uintptr_t)slot;
	signaled = pvb_wr_signaled(ep, op);
	pvb_wr_build(ep, op, signaled ? IBV_SEND_SIGNALED : 0, &wr);

	if (crn_unlikely((op->flags & FI_MORE) || qp->chained))
		err = pvb_tx_chain(ep, &wr, (op->flags & FI_MORE) && !copied);
	else
		err = ibv_post_send(qp->ibv, &wr, &bad);
	if (crn_unlikely(err))
		return pvb_post_error(err);
	qp->sq.ring.head++;
	if (pvb_op_reads(op))
		qp->reads_end = qp->sq.ring.head;
	qp->unsignaled = signaled ? 0 : qp->unsignaled + 1;
	return 0;
}

/* Too long for a message, or for a copy? */
CRN_INLINE bool pvb_op_too_long(const struct pvb_ep *ep, const struct pvb_op *op)
{
	return op->len > ep->max_msg || (pvb_op_copied(op) && op->len > ep->inject_size);
}

/* pvb_tx for an operation with FI_COMMIT_COMPLETE. */
static inline ssize_t pvb_tx_durable(struct pvb_ep *ep, struct pvb_op *op)
{
	ssize_t ret = pvb_op_too_long(ep, op) ? pvb_tx_misused(ep, -FI_EMSGSIZE) : 0;

	if (!ret && ep->fence_waits)
		ret = pvb_fence_check(ep, op);
	return ret ? ret : ep->domain->durable->commit(ep, op);
}

/*
 * Completion levels that the device does not have, and tracking of writes to persistent
 * memory.
 */
CRN_INLINE ssize_t pvb_tx_more_than_post(struct pvb_ep *ep, const struct pvb_op *op)
{
	/* A copy, or op itself could not be kept in registers. */
	struct pvb_op copy = *op;
	ssize_t ret;

	if (op->flags & FI_COMMIT_COMPLETE)
		return pvb_tx_durable(ep, &copy);
	ret = ep->fence_waits ? pvb_fence_check(ep, &copy) : 0;
	if (ret)
		return ret;
	if (pvb_op_tracked(&ep->qp, op))
		return ep->domain->durable->track(ep, &copy);
	crn_lock(&ep->qp.tx_lock);
	ret = pvb_tx_delivered(ep, &copy);
	if (ret)
		pvb_tx_end_more(ep);
	crn_unlock(&ep->qp.tx_lock);
	return ret;
}

/* 0, -FI_EAGAIN, or the error of this call: the operation then never began. */
CRN_INLINE ssize_t pvb_tx(struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_qp *qp = &ep->qp;
	ssize_t ret;

	if (crn_unlikely(pvb_op_too_long(ep, op)))
		return pvb_tx_misused(ep, -FI_EMSGSIZE);
	if (crn_unlikely((op->flags & (FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE)) ||
			 pvb_op_tracked(qp, op)))
		return pvb_tx_more_than_post(ep, op);
	if (crn_unlikely(ep->fence_waits && pvb_op_fenced(ep, op))) {
		ret = pvb_fence_check(ep, op);
		if (ret)
			return ret;
	}
	crn_lock(&qp->tx_lock);
	ret = pvb_tx_locked(ep, op);
	crn_unlock(&qp->tx_lock);
	return ret;
}

/* Of an endpoint whose transmissions are counted. */
ssize_t pvb_tx_inject_counted(struct pvb_ep *ep, struct pvb_op *op);

/* pvb_tx for a call without flags, with what the endpoint has for it in op_flags.
 */
ssize_t pvb_tx_default_flags(struct pvb_ep *ep, const struct pvb_op *op);

/*
 * pvb_tx with one buffer, for a call without flags. op is one with PVB_OP_PLAIN; of an
 * endpoint that is not, or when there is more to do than to post, that is changed.
 */
CRN_INLINE ssize_t pvb_tx_buf(struct pvb_ep *ep, struct pvb_op *op, const void *buf,
			      size_t len, void *desc)
{
	struct pvb_qp *qp = &ep->qp;
	struct pvb_op copy; /* or op itself could not be kept in registers */
	struct ibv_sge sge;
	ssize_t ret;

	/* With nothing to transfer len - 1 is the largest number. */
	if (crn_unlikely(len - 1 >= ep->fast_max_len || pvb_op_tracked(qp, op))) {
		copy = *op;
		pvb_op_buf(&copy, &sge, buf, len, desc);
		return pvb_tx_default_flags(ep, &copy);
	}
	crn_lock(&qp->tx_lock);
	pvb_op_buf(op, &sge, buf, len, desc);
	op->num_sge = 1;
	ret = pvb_tx_locked(ep, op);
	crn_unlock(&qp->tx_lock);
	return ret;
}

/* fi_inject and its relatives. */
CRN_INLINE ssize_t pvb_tx_inject(struct pvb_ep *ep, struct pvb_op *op, const void *buf,
				 size_t len)
{
	struct pvb_op counted;
	struct ibv_sge sge;

	pvb_op_buf(op, &sge, buf, len, NULL);
	if (crn_likely(!ep->qp.sq.counted))
		return pvb_tx(ep, op);
	counted = *op;
	return pvb_tx_inject_counted(ep, &counted);
}

/* pvb_tx with several buffers. */
CRN_INLINE ssize_t pvb_tx_iov(struct pvb_ep *ep, struct pvb_op *op,
			      const struct iovec *iov, void **desc, size_t count)
{
	struct ibv_sge sge[PVB_IOV_LIMIT];
	int ret;

	ret = pvb_sge_fill(sge, iov, desc, count, ep->attr.tx_iov_limit, &op->len);
	if (crn_unlikely(ret))
		return pvb_tx_misused(ep, ret);
	op->num_sge = (int)count;
	op->sge = sge;
	return pvb_tx(ep, op);
}

#endif

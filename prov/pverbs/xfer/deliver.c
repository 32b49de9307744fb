/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FI_DELIVERY_COMPLETE: fi_cq(3). The acknowledgement of a write or send only says that
 * the peer's device has it; data may still be on its way to memory. A read behind it is
 * answered after it is placed (IB specification 1.7 section 9.5, RFC 5040 section 5.5).
 * It reads a word of the provider's, so that an application's regions need no right for
 * it.
 */
#include <stdlib.h>
#include <cairn/tsan.h>
#include "cq/cq.h"
#include "device/device.h"
#include "wire/wire.h"
#include "xfer.h"

/* In cache lines of their own: every response writes the second one. */
struct pvb_words {
	_Alignas(64) uint64_t theirs; /* what peers read; zero */
	_Alignas(64) uint64_t sink;   /* where the answers of peers go */
};

int pvb_deliver_open(struct pvb_domain *domain)
{
	const size_t size = sizeof(struct pvb_words);
	const int access =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
		(pvb_quirk(domain, PVB_QUIRK_READ_NEEDS_WRITE) ? IBV_ACCESS_REMOTE_WRITE
							       : 0);
	int ret;

	domain->words = aligned_alloc(_Alignof(struct pvb_words), size);
	if (!domain->words)
		return -FI_ENOMEM;
	*domain->words = (struct pvb_words){0};
	crn_tsan_sink(&domain->words->sink, sizeof(domain->words->sink));
	domain->words_mr = ibv_reg_mr(domain->pd, domain->words, size, access);
	if (domain->words_mr)
		return 0;
	ret = pvb_errno();
	pvb_mr_explain(-ret, domain->words, size);
	free(domain->words);
	return ret;
}

void pvb_deliver_close(struct pvb_domain *domain)
{
	ibv_dereg_mr(domain->words_mr);
	free(domain->words);
}

struct pvb_cm_word pvb_deliver_word(const struct pvb_domain *domain)
{
	return (struct pvb_cm_word){
		.addr = (uintptr_t)&domain->words->theirs,
		.rkey = domain->words_mr->rkey,
	};
}

struct ibv_sge pvb_deliver_sink(const struct pvb_domain *domain)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)&domain->words->sink,
		.length = sizeof(domain->words->sink),
		.lkey = domain->words_mr->lkey,
	};
}

/* The operation and the read behind it are posted together, and take two entries. */
static ssize_t pvb_deliver_post(struct pvb_ep *ep, struct pvb_op *op)
{
	const struct pvb_domain *domain = ep->domain;
	struct pvb_qp *qp = &ep->qp;
	const uint32_t index = crn_ring_index(&qp->sq.ring, qp->sq.ring.head);
	struct pvb_slot *slot = pvb_wq_slot(&qp->sq, 0);
	struct pvb_slot *tail = pvb_wq_slot(&qp->sq, 1);
	const unsigned int inject = op->inject ? PVB_SLOT_INJECT : 0;
	struct ibv_sge sink = pvb_deliver_sink(domain);
	struct ibv_send_wr wr, *bad,
		read = {
			.wr_id = (uintptr_t)tail,
			.sg_list = &sink,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = {ep->conn.peer.word.addr, ep->conn.peer.word.rkey},
		};
	int ret;

	slot->context = tail->context = op->context;
	slot->flags = tail->flags = op->comp_flags;
	slot->state = (uint16_t)(inject | PVB_SLOT_HEAD);
	tail->state =
		(uint16_t)(inject | PVB_SLOT_TAIL | (op->no_comp ? PVB_SLOT_NO_COMP : 0));
	if ((op->inject || (op->flags & FI_INJECT)) && op->len > qp->inline_size) {
		ret = pvb_tx_bounce(ep, op->sge, op->num_sge, op->len, index);
		if (ret)
			return ret;
		op->num_sge = 1;
	}
	wr.wr_id = (uintptr_t)slot;
	pvb_wr_build(ep, op, 0, &wr);
	wr.next = &read;
	ret = pvb_tx_post(ep, &wr, &bad);
	if (ret && bad != &read)
		return pvb_post_error(ret);
	qp->sq.ring.head += ret ? 1 : 2;
	qp->reads_end = qp->sq.ring.head;
	qp->unsignaled = 0;
	if (ret) {
		/* The operation is posted, but the read behind it is not: it fails. */
		pvb_cq_fail_begun(&qp->sq, 1, tail, pvb_refused_error(ret), -abs(ret));
		qp->unsignaled = qp->signal_every;
	}
	return 0;
}

ssize_t pvb_tx_delivered(struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_qp *qp = &ep->qp;
	ssize_t ret = 0;

	crn_lock_assert_held(&ep->qp.tx_lock);
	/* No completion reports it: delivery needs no read. */
	if (op->no_comp && !qp->sq.counted) {
		op->flags &= ~FI_DELIVERY_COMPLETE;
		return pvb_tx_locked(ep, op);
	}
	if (crn_ring_space(&qp->sq.ring) < 2)
		ret = pvb_tx_first(ep);
	if (ret)
		return ret;
	if (!(ep->conn.peer.flags & PVB_CM_WORD))
		return -FI_EOPNOTSUPP;
	return pvb_deliver_post(ep, op);
}

/*
 * fi_cntr(3): counters move as completions would come, which an inject has not; and the
 * endpoint's default may be that they wait for the delivery.
 */
ssize_t pvb_tx_inject_counted(struct pvb_ep *ep, struct pvb_op *op)
{
	op->flags = ep->tx_flags & (FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE);
	return pvb_tx(ep, op);
}

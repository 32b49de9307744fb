/* SPDX-License-Identifier: BSD-2-Clause */
/* Slow paths of posting: full queues, bounce buffers for inject, chaining for FI_MORE,
 * closing. */
#include <errno.h>
#include <stdlib.h>
#include "cq/cq.h"
#include "device/device.h"
#include "qp/qp.h"
#include "xfer.h"

ssize_t pvb_tx_default_flags(struct pvb_ep *ep, const struct pvb_op *op)
{
	struct pvb_op own = *op;

	own.flags = ep->tx_flags & (pvb_op_reads(op) ? ~PVB_NOT_FOR_READS : ~0ULL);
	own.no_comp = ep->tx_selective && !(own.flags & FI_COMPLETION);
	return pvb_tx(ep, &own);
}

int pvb_tx_bounce(struct pvb_ep *ep, struct ibv_sge *sge, int num_sge, size_t len,
		  uint32_t index)
{
	const int ret = ep->qp.bounce ? 0 : pvb_bounce_make(&ep->qp, ep->inject_size);
	size_t at = 0;
	char *to;
	int i;

	crn_lock_assert_held(&ep->qp.tx_lock);
	if (ret) {
		pvb_tx_end_more(ep);
		return ret;
	}
	to = ep->qp.bounce + (size_t)index * ep->inject_size;
	for (i = 0; i < num_sge; i++) {
		if (sge[i].length) /* an empty piece may have no address */
			memcpy(to + at, (const void *)(uintptr_t)sge[i].addr,
			       sge[i].length);
		at += sge[i].length;
	}
	sge[0] = (struct ibv_sge){
		.addr = (uintptr_t)to,
		.length = (uint32_t)len,
		.lkey = ep->qp.bounce_mr->lkey,
	};
	return 0;
}

/* The peer will not count the messages among the chained requests from this one on
 * (persist/target/message_ring.c). */
static void pvb_chain_uncount(struct pvb_qp *qp, uint32_t from)
{
	uint32_t messages = 0;

	for (; from < qp->chained; from++) {
		switch (qp->chain->wr[from].opcode) {
		case IBV_WR_SEND:
		case IBV_WR_SEND_WITH_IMM:
		case IBV_WR_RDMA_WRITE_WITH_IMM:
			messages++;
			break;
		default:
			break;
		}
	}
	qp->domain->durable->unposted(qp, messages);
}

/* The newest count requests were accepted, but not by the device: ret is its reason. */
static void pvb_chain_fail(struct pvb_qp *qp, uint32_t count, int ret, bool closing)
{
	if (closing)
		pvb_cq_fail(&qp->sq, count, FI_ECANCELED, IBV_WC_WR_FLUSH_ERR);
	else
		pvb_cq_fail(&qp->sq, count, pvb_refused_error(ret), -abs(ret));
}

/*
 * Posts the requests held back, which were accepted: those the device refuses now end in
 * the completion queue, cancelled or, unless closing, with the device's error. wr is the
 * newest, or a list of them, not accepted yet, or NULL; its error is returned, and in
 * *out which one the device refused.
 */
static int pvb_chain_post(struct pvb_ep *ep, struct ibv_send_wr *wr, bool closing,
			  struct ibv_send_wr **out)
{
	struct pvb_qp *qp = &ep->qp;
	struct pvb_chain *chain = qp->chain;
	struct ibv_send_wr *bad = NULL;
	uint32_t i, posted;
	int ret;

	crn_lock_assert_held(&ep->qp.tx_lock);
	for (i = 0; i < qp->chained; i++)
		chain->wr[i].next = i + 1 < qp->chained ? &chain->wr[i + 1] : wr;
	ret = ibv_post_send(qp->ibv, qp->chained ? &chain->wr[0] : wr, &bad);
	if (ret) {
		for (posted = 0; posted < qp->chained && bad != &chain->wr[posted];
		     posted++)
			;
		if (qp->commit)
			pvb_chain_uncount(qp, posted);
		if (posted < qp->chained)
			pvb_chain_fail(qp, qp->chained - posted, ret, closing);
		/* The refused request may have been the signaled one. */
		qp->unsignaled = qp->signal_every;
	}
	qp->chained = 0;
	if (out)
		*out = bad;
	return ret;
}

int pvb_tx_post(struct pvb_ep *ep, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	crn_lock_assert_held(&ep->qp.tx_lock);
	return pvb_chain_post(ep, wr, false, bad);
}

void pvb_tx_end_more(struct pvb_ep *ep)
{
	crn_lock_assert_held(&ep->qp.tx_lock);
	if (pvb_removed(ep->domain))
		return;
	if (ep->qp.chained)
		pvb_chain_post(ep, NULL, false, NULL);
	if (ep->qp.commit && atomic_load(&ep->qp.sq.ring.size))
		ep->domain->durable->end_more(ep);
}

ssize_t pvb_tx_misused(struct pvb_ep *ep, ssize_t ret)
{
	crn_lock(&ep->qp.tx_lock);
	pvb_tx_end_more(ep);
	crn_unlock(&ep->qp.tx_lock);
	return ret;
}

ssize_t pvb_tx_refuse(struct pvb_ep *ep)
{
	crn_lock_assert_held(&ep->qp.tx_lock);
	if (pvb_removed(ep->domain))
		return -FI_ENODEV;
	pvb_tx_end_more(ep);
	switch (ep->conn.state) {
	case PVB_CONN_SHUTDOWN:
		return -FI_ESHUTDOWN;
	case PVB_CONN_ACCEPTED:
	case PVB_CONN_CONTROL:
	case PVB_CONN_CONNECTED:
		/* Closed while the peer's or our own shutdown is on its way. */
		if (!atomic_load(&ep->qp.sq.open))
			return -FI_ESHUTDOWN;
		ep->qp.sq.stalls++;
		return -FI_EAGAIN;
	default:
		return -FI_ENOTCONN;
	}
}

ssize_t pvb_tx_first(struct pvb_ep *ep)
{
	struct pvb_wq *sq = &ep->qp.sq;

	if (atomic_load(&sq->made) || !atomic_load(&sq->open) || pvb_removed(ep->domain))
		return pvb_tx_refuse(ep);
	return pvb_wq_make(sq);
}

ssize_t pvb_tx_locked_full(struct pvb_ep *ep, struct pvb_op op)
{
	const ssize_t ret = pvb_tx_first(ep);

	return ret ? ret : pvb_tx_locked(ep, &op);
}

int pvb_tx_chain(struct pvb_ep *ep, struct ibv_send_wr *wr, bool more)
{
	struct pvb_qp *qp = &ep->qp;
	struct ibv_send_wr *bad;
	struct pvb_chain *chain;
	uint32_t at;

	crn_lock_assert_held(&ep->qp.tx_lock);
	if (!qp->chain)
		qp->chain = calloc(1, sizeof(*qp->chain));
	chain = qp->chain;
	if (!chain) /* FI_MORE is a hint */
		return ibv_post_send(qp->ibv, wr, &bad);
	/* Inline data is read when it is posted, and the caller's buffer lasts until it
	 * completes. */
	if (!more || qp->chained == PVB_CHAIN_LIMIT)
		return pvb_chain_post(ep, wr, false, NULL);
	at = qp->chained++;
	memcpy(chain->sge[at], wr->sg_list, (size_t)wr->num_sge * sizeof(struct ibv_sge));
	chain->wr[at] = *wr;
	chain->wr[at].sg_list = chain->sge[at];
	return 0;
}

bool pvb_tx_keepalive(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	bool idle, posted = false;
	struct pvb_slot *slot;

	crn_lock(&qp->tx_lock);
	if (!atomic_load(&qp->sq.made))
		pvb_wq_make(&qp->sq);
	idle = !crn_ring_used(&qp->sq.ring) && crn_ring_space(&qp->sq.ring);
	if (!idle)
		goto out;
	slot = pvb_wq_slot(&qp->sq, 0);
	slot->context = NULL;
	slot->flags = 0;
	slot->state = PVB_SLOT_INJECT;
	wr.wr_id = (uintptr_t)slot;
	posted = !ibv_post_send(qp->ibv, &wr, &bad);
	if (posted) {
		qp->sq.ring.head++;
		qp->keepalives++;
		qp->unsignaled = 0;
	}
out:
	crn_unlock(&qp->tx_lock);
	return posted;
}

/*
 * Unsignaled requests that succeeded before the queue pair went to ERR generate no
 * completion; a last signaled one, flushed behind them, shows that all have completed.
 */
void pvb_tx_close(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct pvb_slot *slot = &qp->marker;
	int ret;

	crn_lock(&qp->tx_lock);
	if (!crn_ring_used(&qp->sq.ring))
		goto out;
	*slot = (struct pvb_slot){
		.wq = &qp->sq,
		.next = qp->sq.ring.head + 1,
		.state = PVB_SLOT_INJECT,
	};
	wr.wr_id = (uintptr_t)slot;
	if (ep->dgram) {
		wr.wr.ud.ah = ep->dgram->self.handle;
		wr.wr.ud.remote_qpn = ep->dgram->self.qpn;
		wr.wr.ud.remote_qkey = ep->dgram->self.qkey;
	}
	ret = qp->chained ? pvb_chain_post(ep, &wr, true, NULL)
			  : ibv_post_send(qp->ibv, &wr, &bad);
	if (!ret) {
		qp->sq.ring.head++;
		qp->marked = true;
	} else {
		PVB_INFO(FI_LOG_EP_DATA, "queue pair 0x%x in ERR takes no marker: %s\n",
			 qp->ibv->qp_num, strerror(ret));
	}
out:
	crn_unlock(&qp->tx_lock);
}

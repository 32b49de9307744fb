/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "cq/cq.h"
#include "device/device.h"
#include "persist/control/control.h"
#include "wire/wire.h"
#include "xfer/xfer.h"
#include "initiator.h"
#include "batch.h"

void pvb_batch_init(struct pvb_batch *batch, struct pvb_ep *ep, const struct pvb_op *op)
{
	crn_lock_assert_held(&ep->qp.tx_lock);
	batch->ep = ep;
	batch->context = op->context;
	batch->comp_flags = op->comp_flags;
	batch->state =
		(op->inject ? PVB_SLOT_INJECT : 0) | (op->fenced ? PVB_SLOT_FENCED : 0);
	batch->started = 0;
	batch->count = 0;
	batch->data_at = UINT32_MAX;
	batch->last = false;
	batch->end_state = 0;
	batch->silent = false;
	batch->native = false;
	batch->registered = false;
}

/* pvb_on_complete of a send queue that had something to be held back. */
static bool pvb_batch_complete(struct pvb_cq *cq, struct pvb_wq *wq,
			       const struct ibv_wc *wc, struct pvb_comp *comp)
{
	struct pvb_slot *slot = (struct pvb_slot *)(uintptr_t)wc->wr_id;

	return !pvb_defer(cq, wc, slot) && pvb_cq_convert_sent(wc, slot, comp);
}

/* The slot behind those that are not posted yet. */
static struct pvb_slot *pvb_batch_slot(struct pvb_batch *batch)
{
	struct pvb_wq *sq = &batch->ep->qp.sq;
	struct pvb_slot *slot = pvb_wq_slot(sq, batch->count);

	slot->context = batch->context;
	slot->flags = batch->comp_flags;
	slot->state = batch->state | (batch->last ? batch->end_state : PVB_SLOT_HEAD) |
		      (batch->started + batch->count ? PVB_SLOT_TAIL : 0);
	if ((slot->state & PVB_SLOT_DEFER) && sq->on_complete != pvb_batch_complete)
		sq->on_complete = pvb_batch_complete;
	return slot;
}

static unsigned int pvb_batch_signal(const struct pvb_batch *batch)
{
	return batch->last && !batch->silent ? IBV_SEND_SIGNALED : 0;
}

/* What is registered need not go inline: see pvb_native_add. */
static bool pvb_wr_native(struct ibv_send_wr *wr, bool registered)
{
	if ((int)wr->opcode == PVB_WR_FLUSH || (int)wr->opcode == PVB_WR_ATOMIC_WRITE)
		return true;
	if (registered)
		wr->send_flags &= ~(unsigned int)IBV_SEND_INLINE;
	return !(wr->send_flags & IBV_SEND_INLINE) && wr->num_sge == 1;
}

/* Can the requests that FI_MORE holds back be posted by the extended interface? */
static bool pvb_chain_native(const struct pvb_qp *qp)
{
	struct ibv_send_wr *wr;
	uint32_t i;

	for (i = 0; i < qp->chained; i++) {
		wr = &qp->chain->wr[i];
		if (!pvb_wr_native(wr, wr->num_sge == 1 && wr->sg_list->lkey))
			return false;
	}
	return true;
}

int pvb_native_begin(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;
	int err = pvb_chain_native(qp) ? 0 : pvb_tx_post(ep, NULL, NULL);
	uint32_t i;

	crn_lock_assert_held(&ep->qp.tx_lock);
	if (err)
		return err;
	ibv_wr_start(qp->ibv_ex);
	for (i = 0; i < qp->chained; i++)
		pvb_native_add(qp->ibv_ex, &qp->chain->wr[i]);
	return 0;
}

int pvb_native_end(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;
	const int err = ibv_wr_complete(qp->ibv_ex);

	crn_lock_assert_held(&ep->qp.tx_lock);
	/*
	 * Chained requests were accepted already: posted on their own, they complete.
	 */
	if (err && qp->chained)
		pvb_tx_post(ep, NULL, NULL);
	qp->chained = 0;
	return err;
}

/* 0 or an errno, and in *taken how many the device took. */
static int pvb_batch_post_native(struct pvb_batch *batch, uint32_t *taken)
{
	struct ibv_qp_ex *ex = batch->ep->qp.ibv_ex;
	int err = pvb_native_begin(batch->ep);
	uint32_t i;

	batch->native = false;
	if (!err) {
		for (i = 0; i < batch->count; i++)
			pvb_native_add(ex, &batch->wr[i]);
		err = pvb_native_end(batch->ep);
	}
	*taken = err ? 0 : batch->count;
	return err;
}

static int pvb_batch_post_plain(struct pvb_batch *batch, uint32_t *taken)
{
	struct ibv_send_wr *bad = NULL;
	const int err = pvb_tx_post(batch->ep, batch->wr, &bad);

	*taken = batch->count;
	if (err) {
		for (*taken = 0; *taken < batch->count && bad != &batch->wr[*taken];
		     ++*taken)
			;
		/* Some other request, held back by FI_MORE, was refused. */
		if (*taken == batch->count)
			*taken = 0;
	}
	return err;
}

/* Posts what there is. 0 or a negative code. */
static int pvb_batch_post(struct pvb_batch *batch)
{
	struct pvb_qp *qp = &batch->ep->qp;
	uint32_t i, taken;
	int err;

	if (!batch->count)
		return 0;
	for (i = 0; i < batch->count; i++)
		batch->wr[i].next = i + 1 < batch->count ? &batch->wr[i + 1] : NULL;
	err = batch->native ? pvb_batch_post_native(batch, &taken)
			    : pvb_batch_post_plain(batch, &taken);
	batch->started += taken;
	qp->sq.ring.head += taken;
	batch->count = 0;
	return err ? (int)pvb_post_error(err) : 0;
}

static int pvb_batch_room(struct pvb_batch *batch)
{
	return batch->count == PVB_BATCH_SIZE ? pvb_batch_post(batch) : 0;
}

int pvb_batch_data(struct pvb_batch *batch, struct pvb_op *op, bool fenced)
{
	struct pvb_qp *qp = &batch->ep->qp;
	struct pvb_slot *slot;
	struct ibv_send_wr *wr;
	int ret = batch->native ? pvb_batch_post(batch) : pvb_batch_room(batch);

	crn_lock_assert_held(&batch->ep->qp.tx_lock);
	if (ret)
		return ret;
	batch->data_at = batch->started + batch->count;
	slot = pvb_batch_slot(batch);
	if (pvb_op_copied(op) && op->len > qp->inline_size) {
		ret = pvb_tx_bounce(batch->ep, op->sge, op->num_sge, op->len,
				    (uint32_t)(slot - qp->sq.slots));
		if (ret)
			return ret;
		op->num_sge = 1;
	}
	batch->registered = op->num_sge == 1 && op->sge->lkey && !pvb_op_copied(op);
	wr = &batch->wr[batch->count++];
	wr->wr_id = (uintptr_t)slot;
	pvb_wr_build(batch->ep, op,
		     pvb_batch_signal(batch) | (fenced ? IBV_SEND_FENCE : 0), wr);
	return 0;
}

/* A work request with one buffer, or none. */
static int pvb_batch_add(struct pvb_batch *batch, const struct ibv_send_wr *request,
			 struct ibv_sge sge)
{
	struct ibv_send_wr *wr;
	int ret = pvb_batch_room(batch);

	if (ret)
		return ret;
	wr = &batch->wr[batch->count];
	batch->sge[batch->count] = sge;
	*wr = *request;
	wr->wr_id = (uintptr_t)pvb_batch_slot(batch);
	wr->send_flags = pvb_batch_signal(batch);
	wr->sg_list = &batch->sge[batch->count];
	wr->num_sge = sge.length != 0;
	batch->count++;
	return 0;
}

int pvb_batch_read(struct pvb_batch *batch, uint32_t rkey, uint64_t from, uint64_t to)
{
	const struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_READ,
		.wr.rdma = {from == to ? to : to - 1, rkey},
	};
	struct ibv_sge sink = pvb_deliver_sink(batch->ep->domain);

	crn_lock_assert_held(&batch->ep->qp.tx_lock);
	sink.length = from != to;
	return pvb_batch_add(batch, &wr, sink);
}

int pvb_batch_seq(struct pvb_batch *batch)
{
	const struct pvb_cm_word *peer = &batch->ep->conn.peer.word;
	const struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic =
			{
				.remote_addr =
					peer->addr + offsetof(struct pvb_area, seq_word),
				.compare_add = 1,
				.rkey = peer->rkey,
			},
	};

	crn_lock_assert_held(&batch->ep->qp.tx_lock);
	return pvb_batch_add(batch, &wr, pvb_deliver_sink(batch->ep->domain));
}

int pvb_batch_entry(struct pvb_batch *batch, const struct pvb_wire_entry *entry)
{
	struct pvb_control_qp *cqp = batch->ep->qp.control_qp;
	const struct pvb_cm_word *peer = &batch->ep->conn.peer.word;
	const uint32_t at = entry->number % PVB_CONTROL_CREDITS;
	const struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma =
			{
				.remote_addr = peer->addr +
					       offsetof(struct pvb_area, ring) +
					       (uint64_t)at * PVB_WIRE_ENTRY,
				.rkey = peer->rkey,
			},
	};
	const struct ibv_sge sge = {
		.addr = (uintptr_t)cqp->entry_out[at],
		.length = PVB_WIRE_ENTRY,
		.lkey = cqp->bufs_mr->lkey,
	};

	crn_lock_assert_held(&batch->ep->qp.tx_lock);
	pvb_wire_pack_entry(cqp->entry_out[at], entry);
	return pvb_batch_add(batch, &wr, sge);
}

static int pvb_batch_native(struct pvb_batch *batch, int opcode, uint32_t rkey,
			    uint64_t addr, uint64_t len, uint64_t value)
{
	const struct ibv_send_wr wr = {
		.opcode = (enum ibv_wr_opcode)opcode,
		.wr.atomic = {addr, len, value, rkey},
	};
	uint32_t i;
	int ret = 0;

	for (i = 0; i < batch->count && !ret; i++) {
		if (!pvb_wr_native(&batch->wr[i], batch->registered))
			ret = pvb_batch_post(batch);
	}
	if (!ret)
		ret = pvb_batch_add(batch, &wr, (struct ibv_sge){0});
	batch->native |= !ret;
	return ret;
}

int pvb_batch_flush(struct pvb_batch *batch, uint32_t rkey, uint64_t from, uint64_t to)
{
	crn_lock_assert_held(&batch->ep->qp.tx_lock);
	return pvb_batch_native(batch, PVB_WR_FLUSH, rkey, from, to - from, 0);
}

int pvb_batch_atomic_write(struct pvb_batch *batch, uint32_t rkey, uint64_t addr,
			   const void *value)
{
	uint64_t word;

	crn_lock_assert_held(&batch->ep->qp.tx_lock);
	memcpy(&word, value, sizeof(word));
	return pvb_batch_native(batch, PVB_WR_ATOMIC_WRITE, rkey, addr, sizeof(word),
				word);
}

int pvb_batch_finish(struct pvb_batch *batch, int ret)
{
	struct pvb_qp *qp = &batch->ep->qp;
	struct pvb_slot op;

	crn_lock_assert_held(&batch->ep->qp.tx_lock);
	if (!ret)
		ret = pvb_batch_post(batch);
	if (!ret) {
		qp->unsignaled = 0;
		return 0;
	}
	/* A refused one may have been the one to have a completion. */
	qp->unsignaled = qp->signal_every;
	if (!batch->started)
		return ret;
	op = (struct pvb_slot){.context = batch->context,
			       .flags = batch->comp_flags,
			       .state = batch->state};
	pvb_cq_fail_begun(&qp->sq, batch->started, &op, ret == -FI_EAGAIN ? FI_EIO : -ret,
			  ret);
	return 1;
}

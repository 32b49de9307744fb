/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading completions: from the device straight into the application's entries. */
#include <arpa/inet.h>
#include <string.h>
#include "cq.h"

static void *pvb_write_context(void *buf, const struct pvb_comp *comp)
{
	struct fi_cq_entry *entry = buf;

	entry->op_context = comp->context;
	return entry + 1;
}

static void *pvb_write_msg(void *buf, const struct pvb_comp *comp)
{
	struct fi_cq_msg_entry *entry = buf;

	entry->op_context = comp->context;
	entry->flags = comp->flags;
	entry->len = comp->len;
	return entry + 1;
}

static void *pvb_write_data(void *buf, const struct pvb_comp *comp)
{
	struct fi_cq_data_entry *entry = buf;

	entry->op_context = comp->context;
	entry->flags = comp->flags;
	entry->len = comp->len;
	entry->buf = NULL;
	entry->data = comp->data;
	return entry + 1;
}

int pvb_cq_set_format(struct pvb_cq *cq, enum fi_cq_format format)
{
	switch (format) {
	case FI_CQ_FORMAT_UNSPEC:
	case FI_CQ_FORMAT_CONTEXT:
		cq->write = pvb_write_context;
		cq->entry_size = sizeof(struct fi_cq_entry);
		return 0;
	case FI_CQ_FORMAT_MSG:
		cq->write = pvb_write_msg;
		cq->entry_size = sizeof(struct fi_cq_msg_entry);
		return 0;
	case FI_CQ_FORMAT_DATA:
		cq->write = pvb_write_data;
		cq->entry_size = sizeof(struct fi_cq_data_entry);
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

/* Everything up to and including the slot is done: queues complete in order. */
static void pvb_slot_retire(struct pvb_slot *slot)
{
	struct pvb_wq *wq = slot->wq;
	uint32_t tail = atomic_load_explicit(&wq->ring.tail, memory_order_relaxed);
	uint32_t index = (uint32_t)(slot - wq->slots);

	crn_ring_retire(&wq->ring, tail + ((index - tail) & wq->ring.mask) + 1);
}

void pvb_cq_count(const struct pvb_wq *wq, uint64_t flags, int err)
{
	struct pvb_cntr *cntr = NULL;

	/* A write with data that takes a receive is not a message: it has none of these.
	 */
	if (flags & FI_MSG)
		cntr = wq->cntr[PVB_COUNT_MSG];
	else if (flags & FI_READ)
		cntr = wq->cntr[PVB_COUNT_READ];
	else if (flags & FI_WRITE)
		cntr = wq->cntr[PVB_COUNT_WRITE];
	if (!cntr)
		return;
	if (err)
		crn_cntr_inc_err(&cntr->cntr);
	else
		crn_cntr_inc(&cntr->cntr);
}

/* The read behind an operation to be delivered ends that one, which may have failed. */
static bool pvb_proof_is_late(const struct pvb_slot *slot)
{
	const struct pvb_wq *wq = slot->wq;
	uint32_t tail = atomic_load_explicit(&wq->ring.tail, memory_order_relaxed);

	return (slot->flags & PVB_SLOT_PROOF) &&
	       slot == &wq->slots[crn_ring_index(&wq->ring, tail)];
}

static bool pvb_convert_error(const struct ibv_wc *wc, struct pvb_slot *slot,
			      struct pvb_comp *comp)
{
	struct pvb_conn *conn = slot->wq->conn; /* NULL: a shared receive */

	comp->context = slot->context;
	comp->flags = slot->flags & ~PVB_SLOT_FLAGS;
	comp->len = 0;
	comp->data = 0;
	comp->err = pvb_wc_error(wc->status, conn && slot->wq == &conn->sq);
	comp->prov_errno = (int)wc->status;
	if (wc->status != IBV_WC_WR_FLUSH_ERR)
		PVB_WARN(FI_LOG_CQ, "queue pair 0x%x: %s (vendor error 0x%x)\n",
			 wc->qp_num, ibv_wc_status_str(wc->status), wc->vendor_err);
	if (!(slot->flags & PVB_SLOT_INJECT))
		return true;
	/*
	 * An inject has no context to report with (fi_msg(3)). Its failure broke the
	 * connection; the program learns that from FI_SHUTDOWN.
	 */
	if (wc->status != IBV_WC_WR_FLUSH_ERR && conn->id)
		rdma_disconnect(conn->id);
	return false;
}

/* Receives: what came decides the flags, and a length is known. */
static void pvb_convert_recv(const struct ibv_wc *wc, struct pvb_comp *comp)
{
	comp->len = wc->byte_len;
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		comp->flags = FI_RMA | FI_REMOTE_WRITE;
	if (wc->wc_flags & IBV_WC_WITH_IMM) {
		comp->flags |= FI_REMOTE_CQ_DATA;
		comp->data = ntohl(wc->imm_data);
	}
}

static inline bool pvb_convert(const struct ibv_wc *wc, struct pvb_slot *slot,
			       struct pvb_comp *comp)
{
	bool report;

	if (crn_unlikely(wc->status != IBV_WC_SUCCESS))
		return !pvb_proof_is_late(slot) && pvb_convert_error(wc, slot, comp);
	comp->context = slot->context;
	comp->flags = slot->flags & ~PVB_SLOT_FLAGS;
	comp->len = 0;
	comp->data = 0;
	comp->err = 0;
	report = !(slot->flags & (PVB_SLOT_QUIET | PVB_SLOT_INJECT));
	if (wc->opcode & IBV_WC_RECV) {
		pvb_convert_recv(wc, comp);
		/* A peer's data is not for the owner of the receive to silence. */
		report |= wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM;
	}
	return report;
}

/* The receive queue of the endpoint that took a shared receive, where that matters. */
static const struct pvb_wq *pvb_shared_wq(const struct pvb_cq *cq, uint32_t qp_num)
{
	uint32_t at = pvb_cq_shared_at(cq, qp_num);

	return at < cq->shared_count && cq->shared[at].qp_num == qp_num
		       ? cq->shared[at].wq
		       : NULL;
}

static bool pvb_convert_shared(struct pvb_cq *cq, const struct ibv_wc *wc,
			       struct pvb_slot *slot, struct pvb_comp *comp)
{
	const bool unasked = slot->flags & PVB_SLOT_UNASKED;
	bool report = pvb_convert(wc, slot, comp);
	const struct pvb_wq *wq;

	wq = cq->shared_count ? pvb_shared_wq(cq, wc->qp_num) : NULL;
	if (wq) {
		pvb_cq_count(wq, comp->flags, comp->err);
		if (unasked && !comp->err && (comp->flags & FI_MSG) &&
		    pvb_conn_ep(wq->conn)->rx_selective)
			report = false;
	}
	pvb_srx_put(slot->wq->srx, slot);
	return report;
}

/* Completions that other objects than the queue and the slot have to do with. */
static bool pvb_convert_special(struct pvb_cq *cq, const struct ibv_wc *wc,
				struct pvb_slot *slot, struct pvb_comp *comp)
{
	bool report;

	if (slot->wq->srx)
		return pvb_convert_shared(cq, wc, slot, comp);
	if (wc->status != IBV_WC_SUCCESS && pvb_proof_is_late(slot)) {
		pvb_slot_retire(slot);
		return false;
	}
	report = pvb_convert(wc, slot, comp);
	pvb_cq_count(slot->wq, comp->flags, comp->err);
	pvb_slot_retire(slot);
	return report;
}

bool pvb_cq_convert(struct pvb_cq *cq, const struct ibv_wc *wc, struct pvb_comp *comp)
{
	struct pvb_slot *slot = (struct pvb_slot *)(uintptr_t)wc->wr_id;
	bool report;

	if (crn_unlikely(slot->wq->special))
		return pvb_convert_special(cq, wc, slot, comp);
	report = pvb_convert(wc, slot, comp);
	pvb_slot_retire(slot);
	return report;
}

/*
 * Fills up to count entries from one batch. An error and what the device gave after it go
 * to the stash, which is empty before. *more: the device may have another batch.
 */
static size_t pvb_cq_batch(struct pvb_cq *cq, struct ibv_cq *ibv, void **buf,
			   size_t count, bool *more)
{
	struct ibv_wc wc[PVB_POLL_BATCH];
	struct pvb_comp comp;
	size_t done = 0;
	int want = (int)CRN_MIN(count, (size_t)PVB_POLL_BATCH);
	int i, got;

	got = ibv_poll_cq(ibv, want, wc);
	*more = got == want;
	for (i = 0; i < got; i++) {
		if (!pvb_cq_convert(cq, &wc[i], &comp))
			continue;
		if (crn_unlikely(cq->stash_count || comp.err)) {
			pvb_cq_stash(cq, &comp);
			continue;
		}
		*buf = cq->write(*buf, &comp);
		done++;
	}
	return done;
}

bool pvb_cq_stash_batch(struct pvb_cq *cq, struct pvb_hwcq *hw)
{
	struct ibv_wc wc[PVB_POLL_BATCH];
	struct pvb_comp comp;
	int i, got;

	got = ibv_poll_cq(hw->cq, PVB_POLL_BATCH, wc);
	for (i = 0; i < got; i++) {
		if (pvb_cq_convert(cq, &wc[i], &comp))
			pvb_cq_stash(cq, &comp);
	}
	return got > 0;
}

bool pvb_cq_fetch(struct pvb_cq *cq)
{
	uint32_t i;

	for (i = 0; i < cq->hw_count && !cq->stash_count; i++) {
		while (!cq->stash_count && pvb_cq_stash_batch(cq, cq->hw[i]))
			;
	}
	return cq->stash_count != 0;
}

/*
 * Programs read nothing (count 0) to make progress: what completed frees its queue
 * entries although nobody takes the completion yet, as far as the stash has room.
 */
static ssize_t pvb_cq_progress(struct pvb_cq *cq)
{
	uint32_t i;

	for (i = 0; i < cq->hw_count; i++) {
		if (cq->stash_size - cq->stash_count >= PVB_POLL_BATCH)
			pvb_cq_stash_batch(cq, cq->hw[i]);
	}
	if (!cq->stash_count)
		return -FI_EAGAIN;
	return cq->stash[cq->stash_head].err ? -FI_EAVAIL : 0;
}

static ssize_t pvb_cq_read_stash(struct pvb_cq *cq, void *buf, size_t count)
{
	const struct pvb_comp *comp;
	size_t done = 0;

	while (done < count && cq->stash_count) {
		comp = &cq->stash[cq->stash_head];
		if (comp->err)
			return done ? (ssize_t)done : -FI_EAVAIL;
		buf = cq->write(buf, comp);
		cq->stash_head = (cq->stash_head + 1) & (cq->stash_size - 1);
		cq->stash_count--;
		done++;
	}
	return (ssize_t)done;
}

static ssize_t pvb_cq_read_hw(struct pvb_cq *cq, void *buf, size_t count)
{
	struct ibv_cq *ibv;
	size_t done = 0;
	uint32_t i;
	bool more;

	for (i = 0; i < cq->hw_count && done < count; i++) {
		ibv = cq->hw[cq->hw_next]->cq;
		cq->hw_next = cq->hw_next + 1 < cq->hw_count ? cq->hw_next + 1 : 0;
		do {
			done += pvb_cq_batch(cq, ibv, &buf, count - done, &more);
			if (crn_unlikely(cq->stash_count))
				return done ? (ssize_t)done
					    : pvb_cq_read_stash(cq, buf, count);
		} while (more && done < count);
	}
	return done ? (ssize_t)done : -FI_EAGAIN;
}

ssize_t pvb_cq_read(struct fid_cq *fid, void *buf, size_t count)
{
	struct pvb_cq *cq = crn_container_of(fid, struct pvb_cq, fid);
	ssize_t ret;

	crn_lock(&cq->lock);
	if (crn_unlikely(!count))
		ret = pvb_cq_progress(cq);
	else if (crn_unlikely(cq->stash_count))
		ret = pvb_cq_read_stash(cq, buf, count);
	else
		ret = pvb_cq_read_hw(cq, buf, count);
	crn_unlock(&cq->lock);
	return ret;
}

ssize_t pvb_cq_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src_addr)
{
	ssize_t i, ret = pvb_cq_read(fid, buf, count);

	for (i = 0; src_addr && i < ret; i++)
		src_addr[i] =
			FI_ADDR_NOTAVAIL; /* fi_cq(3): connected endpoints have none */
	return ret;
}

ssize_t pvb_cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *entry, uint64_t flags)
{
	struct pvb_cq *cq = crn_container_of(fid, struct pvb_cq, fid);
	const struct pvb_comp *comp;
	ssize_t ret = -FI_EAGAIN;

	crn_lock(&cq->lock);
	if (!cq->stash_count)
		goto out;
	comp = &cq->stash[cq->stash_head];
	if (!comp->err)
		goto out;
	/* Field by field: the structure grew, and the program may know an older one. */
	entry->op_context = comp->context;
	entry->flags = comp->flags;
	entry->len = comp->len;
	entry->buf = NULL;
	entry->data = comp->data;
	entry->tag = 0;
	entry->olen = 0;
	entry->err = comp->err;
	entry->prov_errno = comp->prov_errno;
	entry->err_data = NULL;
	if (FI_VERSION_GE(cq->domain->fabric->fid.api_version, FI_VERSION(1, 5)))
		entry->err_data_size = 0;
	cq->stash_head = (cq->stash_head + 1) & (cq->stash_size - 1);
	cq->stash_count--;
	ret = 1;
out:
	crn_unlock(&cq->lock);
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading completions: from the device straight into the application's entries. */
#include <arpa/inet.h>
#include <string.h>
#include "device/device.h"
#include "cq.h"
#include "internal.h"

int pvb_cq_set_format(struct pvb_cq *cq, enum fi_cq_format format)
{
	switch (format) {
	case FI_CQ_FORMAT_UNSPEC:
	case FI_CQ_FORMAT_CONTEXT:
		cq->format = FI_CQ_FORMAT_CONTEXT;
		cq->entry_size = sizeof(struct fi_cq_entry);
		return 0;
	case FI_CQ_FORMAT_MSG:
		cq->format = FI_CQ_FORMAT_MSG;
		cq->entry_size = sizeof(struct fi_cq_msg_entry);
		return 0;
	case FI_CQ_FORMAT_DATA:
		cq->format = FI_CQ_FORMAT_DATA;
		cq->entry_size = sizeof(struct fi_cq_data_entry);
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

/* Retires everything up to and including the slot: queues complete in order. */
CRN_INLINE void pvb_slot_retire(struct pvb_slot *slot)
{
	crn_ring_retire(&slot->wq->ring, slot->next);
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

/*
 * The read behind an operation with FI_DELIVERY_COMPLETE completes it, unless it has
 * failed already.
 */
static bool pvb_tail_is_late(const struct pvb_slot *slot)
{
	const struct pvb_wq *wq = slot->wq;
	uint32_t tail = atomic_load_explicit(&wq->ring.tail, memory_order_relaxed);

	return (slot->state & PVB_SLOT_TAIL) &&
	       slot == &wq->slots[crn_ring_index(&wq->ring, tail)];
}

/*
 * A datagram that cannot be sent stops the send queue but nothing else (IB specification
 * 1.7, section 10.3.1.8): what was posted behind it is flushed, what comes later is sent.
 */
static __attribute__((noinline)) void pvb_datagram_failed(struct pvb_qp *qp,
							  enum ibv_wc_status status)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE};

	if (status == IBV_WC_WR_FLUSH_ERR)
		return;
	if (ibv_modify_qp(qp->ibv, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE))
		PVB_WARN(FI_LOG_CQ,
			 "queue pair 0x%x sends no datagrams any more: open another "
			 "endpoint\n",
			 qp->ibv->qp_num);
}

static bool pvb_convert_error(const struct ibv_wc *wc, struct pvb_slot *slot,
			      struct pvb_comp *comp)
{
	struct pvb_qp *qp = slot->wq->qp; /* NULL: a shared receive */

	comp->context = slot->context;
	comp->flags = slot->flags;
	comp->len = 0;
	comp->data = 0;
	comp->olen = 0;
	comp->err = pvb_wc_error(wc->status, qp && slot->wq == &qp->sq);
	comp->prov_errno = (int)wc->status;
	comp->source = PVB_SOURCE_NONE;
	if (wc->status != IBV_WC_WR_FLUSH_ERR)
		PVB_WARN(FI_LOG_CQ, "queue pair 0x%x: %s (vendor error 0x%x)\n",
			 wc->qp_num, ibv_wc_status_str(wc->status), wc->vendor_err);
	if (qp && !pvb_qp_ep(qp)->dgram)
		/* Nothing moves there any more. Who looks at no event, and at no
		 * completion of injects, learns of it when posting. */
		pvb_qp_shut(qp);
	else if (qp && slot->wq == &qp->sq)
		pvb_datagram_failed(qp, wc->status);
	if (!(slot->state & PVB_SLOT_INJECT))
		return true;
	/*
	 * An inject has no context to report with (fi_msg(3)). Its failure broke the
	 * connection; the program learns that from FI_SHUTDOWN.
	 */
	if (wc->status != IBV_WC_WR_FLUSH_ERR && qp && !pvb_qp_ep(qp)->dgram)
		pvb_qp_ep(qp)->eq->cm->failed(pvb_qp_ep(qp));
	return false;
}

/* Receives: what came decides the flags, and a length is known. */
CRN_INLINE void pvb_convert_recv(const struct ibv_wc *wc, struct pvb_comp *comp)
{
	comp->len = wc->byte_len;
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		comp->flags = FI_RMA | FI_REMOTE_WRITE;
	if (wc->wc_flags & IBV_WC_WITH_IMM) {
		comp->flags |= FI_REMOTE_CQ_DATA;
		comp->data = ntohl(wc->imm_data);
	}
}

CRN_INLINE bool pvb_convert_success(const struct ibv_wc *wc, const struct pvb_slot *slot,
				    struct pvb_comp *comp)
{
	bool report = !(slot->state & (PVB_SLOT_NO_COMP | PVB_SLOT_INJECT));

	comp->context = slot->context;
	comp->flags = slot->flags;
	comp->len = 0;
	comp->data = 0;
	comp->err = 0;
	comp->source = PVB_SOURCE_NONE;
	if (wc->opcode & IBV_WC_RECV) {
		pvb_convert_recv(wc, comp);
		/* Remote CQ data is always reported, also with selective completion. */
		report |= wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM;
	}
	return report;
}

static bool pvb_convert(const struct ibv_wc *wc, struct pvb_slot *slot,
			struct pvb_comp *comp)
{
	if (wc->status == IBV_WC_SUCCESS)
		return pvb_convert_success(wc, slot, comp);
	return !pvb_tail_is_late(slot) && pvb_convert_error(wc, slot, comp);
}

/* The receive queue of the endpoint that took a shared receive, where that matters. */
static struct pvb_wq *pvb_shared_wq(const struct pvb_cq *cq, uint32_t qp_num)
{
	uint32_t at = pvb_cq_shared_at(cq, qp_num);

	return at < cq->shared_count && cq->shared[at].qp_num == qp_num
		       ? cq->shared[at].wq
		       : NULL;
}

/* The slot may be posted again. */
static void pvb_srx_put(struct pvb_srx *srx, struct pvb_slot *slot)
{
	struct pvb_slot *head =
		atomic_load_explicit(&srx->returned, memory_order_relaxed);

	do
		slot->context = head;
	while (!atomic_compare_exchange_weak_explicit(&srx->returned, &head, slot,
						      memory_order_release,
						      memory_order_relaxed));
}

/* Of a shared receive context; wq: the receive queue that it served, or NULL. */
static bool pvb_convert_shared(const struct ibv_wc *wc, struct pvb_slot *slot,
			       const struct pvb_wq *wq, struct pvb_comp *comp)
{
	const bool selective = slot->state & PVB_SLOT_SELECTIVE;
	bool report = pvb_convert(wc, slot, comp);

	if (wq) {
		pvb_cq_count(wq, comp->flags, comp->err);
		if (selective && !comp->err && (comp->flags & FI_MSG) &&
		    pvb_qp_ep(wq->qp)->rx_selective)
			report = false;
	}
	pvb_srx_put(slot->wq->srx, slot);
	return report;
}

bool pvb_cq_convert_sent(const struct ibv_wc *wc, struct pvb_slot *slot,
			 struct pvb_comp *comp)
{
	bool report;

	if (wc->status != IBV_WC_SUCCESS && pvb_tail_is_late(slot)) {
		pvb_slot_retire(slot);
		return false;
	}
	report = pvb_convert(wc, slot, comp);
	pvb_cq_count(slot->wq, comp->flags, comp->err);
	pvb_slot_retire(slot);
	return report;
}

bool pvb_cq_convert_received(const struct ibv_wc *wc, const struct pvb_wq *wq,
			     struct pvb_comp *comp)
{
	struct pvb_slot *slot = (struct pvb_slot *)(uintptr_t)wc->wr_id;

	return slot->wq->srx ? pvb_convert_shared(wc, slot, wq, comp)
			     : pvb_cq_convert_sent(wc, slot, comp);
}

void pvb_cq_convert_truncated(const struct ibv_wc *wc, const struct pvb_wq *wq,
			      struct pvb_comp *comp)
{
	struct pvb_slot *slot = (struct pvb_slot *)(uintptr_t)wc->wr_id;

	(void)pvb_convert_success(wc, slot, comp);
	comp->err = FI_ETRUNC;
	comp->prov_errno = IBV_WC_LOC_LEN_ERR;
	pvb_cq_count(wq, comp->flags, comp->err);
	if (slot->wq->srx)
		pvb_srx_put(slot->wq->srx, slot);
	else
		pvb_slot_retire(slot);
}

bool pvb_cq_complete_counted(struct pvb_cq *cq, struct pvb_wq *wq,
			     const struct ibv_wc *wc, struct pvb_comp *comp)
{
	crn_lock_assert_held(&cq->lock);
	return pvb_cq_convert_received(wc, wq, comp);
}

bool pvb_cq_complete_shared(struct pvb_cq *cq, struct pvb_wq *wq, const struct ibv_wc *wc,
			    struct pvb_comp *comp)
{
	struct pvb_wq *own = cq->shared_count ? pvb_shared_wq(cq, wc->qp_num) : NULL;
	pvb_on_complete on_complete = own ? own->on_complete : NULL;

	crn_lock_assert_held(&cq->lock);
	return on_complete ? on_complete(cq, own, wc, comp)
			   : pvb_cq_convert_received(wc, own, comp);
}

/*
 * What any work completion means to the application, and retires its slot. False when it
 * is not reported. Called with the lock held.
 */
static __attribute__((noinline)) bool pvb_cq_convert(struct pvb_cq *cq,
						     const struct ibv_wc *wc,
						     struct pvb_comp *comp)
{
	struct pvb_slot *slot = (struct pvb_slot *)(uintptr_t)wc->wr_id;
	pvb_on_complete on_complete;
	bool report;

	on_complete = slot->wq->on_complete;
	if (on_complete)
		return on_complete(cq, slot->wq, wc, comp);
	report = pvb_convert(wc, slot, comp);
	pvb_slot_retire(slot);
	return report;
}

/* Keeps completions that may not be returned yet in the stash. */
static void pvb_cq_set_aside(struct pvb_cq *cq, const struct ibv_wc *wc, int count)
{
	struct pvb_comp comp;
	int i;

	for (i = 0; i < count; i++) {
		if (pvb_cq_convert(cq, &wc[i], &comp))
			pvb_cq_stash(cq, &comp);
	}
}

void pvb_cq_undefer(struct pvb_cq *cq)
{
	struct crn_list *entry, *next;
	struct pvb_defer_source *source;

	crn_lock_assert_held(&cq->lock);
	crn_list_for_each_safe (entry, next, &cq->deferring) {
		source = crn_container_of(entry, struct pvb_defer_source, entry);
		source->release(cq, source);
	}
}

bool pvb_cq_stash_batch(struct pvb_cq *cq, struct pvb_hwcq *hw)
{
	struct ibv_wc wc[PVB_POLL_BATCH];
	int got;

	crn_lock_assert_held(&cq->lock);
	got = ibv_poll_cq(hw->cq, PVB_POLL_BATCH, wc);
	pvb_cq_set_aside(cq, wc, got);
	pvb_cq_undefer(cq);
	return got > 0;
}

bool pvb_cq_fetch(struct pvb_cq *cq)
{
	uint32_t i;

	crn_lock_assert_held(&cq->lock);
	pvb_cq_undefer(cq);
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
		buf = pvb_cq_put(cq, buf, comp);
		cq->stash_head = (cq->stash_head + 1) & (cq->stash_size - 1);
		cq->stash_count--;
		done++;
	}
	return (ssize_t)done;
}

/* The next device queue to poll, round robin. */
CRN_INLINE struct ibv_cq *pvb_cq_next_hwcq(struct pvb_cq *cq)
{
	struct ibv_cq *ibv = cq->hw[cq->hw_next]->cq;

	cq->hw_next = cq->hw_next + 1 < cq->hw_count ? cq->hw_next + 1 : 0;
	return ibv;
}

/*
 * A success, from the device's form to the program's: nothing between, nothing called.
 * state: the slot's. True when it is reported; *buf is then where the next one goes.
 */
CRN_INLINE bool pvb_cq_put_plain(const struct pvb_cq *cq, const struct ibv_wc *wc,
				 struct pvb_slot *slot, uint16_t state, void **buf)
{
	const bool silent = state & (PVB_SLOT_NO_COMP | PVB_SLOT_INJECT);
	struct crn_ring *ring = &slot->wq->ring;
	const uint32_t next = slot->next;
	struct fi_cq_entry *entry = *buf;
	struct pvb_comp comp;
	bool report = true;

	if (crn_likely(cq->format == FI_CQ_FORMAT_CONTEXT && !silent)) {
		entry->op_context = slot->context;
		*buf = entry + 1;
	} else {
		report = pvb_convert_success(wc, slot, &comp);
		if (state & PVB_SLOT_PLAIN_GRH)
			comp.len -= PVB_GRH_SIZE;
		if (report)
			*buf = pvb_cq_put(cq, entry, &comp);
	}
	crn_ring_retire(ring, next);
	return report;
}

/* Nothing but the slot has to do with this success. */
CRN_INLINE bool pvb_wc_simple(const struct ibv_wc *wc, const struct pvb_slot *slot,
			      uint16_t state)
{
	/* One shorter than a GRH does not fit either. */
	return !slot->wq->on_complete || ((state & PVB_SLOT_PLAIN_GRH) &&
					  wc->byte_len - PVB_GRH_SIZE <= slot->room);
}

/*
 * Work completions into the buffer; returns how many entries. An error, and what comes
 * after it, goes to the stash, which is empty before.
 */
CRN_INLINE size_t pvb_cq_fill(struct pvb_cq *cq, const struct ibv_wc *wc, int got,
			      void *buf)
{
	const struct ibv_wc *end = wc + got;
	struct pvb_comp special;
	struct pvb_slot *slot;
	uint16_t state;
	size_t done = 0;

	for (; wc < end; wc++) {
		slot = (struct pvb_slot *)(uintptr_t)wc->wr_id;
		if (crn_unlikely(wc->status != IBV_WC_SUCCESS)) {
			pvb_cq_set_aside(cq, wc, (int)(end - wc));
			break;
		}
		state = slot->state;
		if (crn_likely(pvb_wc_simple(wc, slot, state))) {
			done += pvb_cq_put_plain(cq, wc, slot, state, &buf);
			continue;
		}
		if (pvb_cq_convert(cq, wc, &special)) {
			buf = pvb_cq_put(cq, buf, &special);
			done++;
		}
		if (cq->stash_count) {
			pvb_cq_set_aside(cq, wc + 1, (int)(end - wc) - 1);
			break;
		}
	}
	return done;
}

/* Device queues that a read with nothing to report polls before it leaves the others to
 * the next read. Who is about to sleep polls all of them (pvb_cq_fetch). */
#define PVB_CQ_DRY 4u

/* Goes on until the buffer is full or every device queue has run dry. */
static __attribute__((noinline)) ssize_t pvb_cq_read_on(struct pvb_cq *cq, char *buf,
							size_t count, size_t done,
							uint32_t dry)
{
	struct ibv_wc wc[PVB_POLL_BATCH];
	int got, want;

	while (done < count && dry < cq->hw_count && !cq->stash_count) {
		if (!done && dry == PVB_CQ_DRY)
			break;
		want = (int)CRN_MIN(count - done, (size_t)PVB_POLL_BATCH);
		got = ibv_poll_cq(pvb_cq_next_hwcq(cq), want, wc);
		dry = got < want ? dry + 1 : 0;
		done += pvb_cq_fill(cq, wc, got, buf + done * cq->entry_size);
	}
	if (done)
		return (ssize_t)done;
	pvb_cq_undefer(cq);
	return cq->stash_count ? pvb_cq_read_stash(cq, buf, count) : -FI_EAGAIN;
}

static ssize_t pvb_cq_read_any(struct pvb_cq *cq, void *buf, size_t count)
{
	if (!crn_list_empty(&cq->deferring))
		pvb_cq_undefer(cq);
	if (!count)
		return pvb_cq_progress(cq);
	return cq->stash_count ? pvb_cq_read_stash(cq, buf, count)
			       : pvb_cq_read_on(cq, buf, count, 0, 0);
}

/* A work completion that needs more than the fast path. */
static __attribute__((noinline)) ssize_t pvb_cq_read_one_slow(struct pvb_cq *cq,
							      const struct ibv_wc *wc,
							      void *buf)
{
	return pvb_cq_fill(cq, wc, 1, buf) ? 1 : pvb_cq_read_on(cq, buf, 1, 0, 0);
}

/* A success that is reported and needs no other work. */
CRN_INLINE bool pvb_wc_plain(const struct ibv_wc *wc, const struct pvb_slot *slot,
			     uint16_t state)
{
	return wc->status == IBV_WC_SUCCESS &&
	       !(state & (PVB_SLOT_NO_COMP | PVB_SLOT_INJECT)) &&
	       pvb_wc_simple(wc, slot, state);
}

/* Reads one completion from the only device queue: the common case. */
CRN_INLINE ssize_t pvb_cq_read_one(struct pvb_cq *cq, void *buf)
{
	struct ibv_wc wc, copy;
	const int got = ibv_poll_cq(cq->single, 1, &wc);
	struct pvb_slot *slot;
	uint16_t state;

	if (crn_unlikely(got != 1))
		return pvb_cq_read_on(cq, buf, 1, 0, 1);
	slot = (struct pvb_slot *)(uintptr_t)wc.wr_id;
	state = slot->state;
	if (crn_likely(pvb_wc_plain(&wc, slot, state))) {
		pvb_cq_put_plain(cq, &wc, slot, state, &buf);
		return 1;
	}
	copy = wc; /* so that nothing keeps the address of wc */
	return pvb_cq_read_one_slow(cq, &copy, buf);
}

/* Empty reads between two reads of the clock. */
#define PVB_CQ_IDLE 64u
/* ms between two polls for events of the device: a poll is a system call. */
#define PVB_CQ_EVENTS_MS 10u

static __attribute__((noinline)) void pvb_cq_poll_events(struct pvb_cq *cq)
{
	const uint64_t now_ms = crn_tick_ms();

	if (now_ms - atomic_load_explicit(&cq->events_ms, memory_order_relaxed) <
	    PVB_CQ_EVENTS_MS)
		return;
	atomic_store_explicit(&cq->events_ms, now_ms, memory_order_relaxed);
	pvb_async_progress(cq->domain);
}

__attribute__((noinline)) ssize_t pvb_cq_idle(struct pvb_cq *cq, void *buf, size_t count)
{
	/* Of several threads' counts some may be lost. */
	const uint32_t idle = atomic_load_explicit(&cq->idle, memory_order_relaxed) + 1;
	struct pvb_domain *domain = cq->domain;
	ssize_t ret;

	atomic_store_explicit(&cq->idle, idle, memory_order_relaxed);
	if (domain->control) {
		domain->durable->progress(domain->control);
		domain->durable->look(cq);
	}
	if (idle % PVB_CQ_IDLE == 0)
		pvb_cq_poll_events(cq);
	if (crn_likely(!pvb_removal_end(cq)))
		return -FI_EAGAIN;
	crn_lock(&cq->lock);
	ret = cq->stash_count ? pvb_cq_read_any(cq, buf, count) : -FI_EAGAIN;
	crn_unlock(&cq->lock);
	return ret;
}

/* With the lock held, which it gives up. */
static __attribute__((noinline)) ssize_t pvb_cq_read_slow(struct pvb_cq *cq, void *buf,
							  size_t count)
{
	ssize_t ret = pvb_cq_read_any(cq, buf, count);

	crn_unlock(&cq->lock);
	return ret == -FI_EAGAIN ? pvb_cq_idle(cq, buf, count) : ret;
}

/*
 * The fast path: one entry, one device queue, nothing stashed or deferred.
 */
ssize_t pvb_cq_read(struct fid_cq *fid, void *buf, size_t count)
{
	struct pvb_cq *cq = crn_container_of(fid, struct pvb_cq, fid);
	ssize_t ret;

	crn_lock(&cq->lock);
	if (crn_unlikely(count != 1 || !cq->single || cq->stash_count ||
			 !crn_list_empty(&cq->deferring)))
		return pvb_cq_read_slow(cq, buf, count);
	ret = pvb_cq_read_one(cq, buf);
	crn_unlock(&cq->lock);
	if (crn_unlikely(ret == -FI_EAGAIN))
		return pvb_cq_idle(cq, buf, 1);
	return ret;
}

/* fi_cq(3): copied to the program's buffer if it has one, else there until the next call.
 */
static void pvb_cq_put_err_data(struct pvb_cq *cq, const struct pvb_comp *comp,
				struct fi_cq_err_entry *entry)
{
	const bool sized =
		FI_VERSION_GE(cq->domain->fabric->fid.api_version, FI_VERSION(1, 5));
	const struct pvb_ud_addr *from;
	size_t size = 0;

	if (comp->source != PVB_SOURCE_UNKNOWN || comp->err != FI_EADDRNOTAVAIL) {
		entry->err_data = NULL;
		goto out;
	}
	from = pvb_cq_take_unknown(cq);
	size = sizeof(*from);
	if (sized && entry->err_data && entry->err_data_size) {
		size = CRN_MIN(size, entry->err_data_size);
		memcpy(entry->err_data, from, size);
	} else {
		entry->err_data = (void *)(uintptr_t)from;
	}
out:
	if (sized)
		entry->err_data_size = size;
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
	entry->olen = comp->err == FI_ETRUNC ? comp->olen : 0;
	entry->err = comp->err;
	entry->prov_errno = comp->prov_errno;
	pvb_cq_put_err_data(cq, comp, entry);
	cq->stash_head = (cq->stash_head + 1) & (cq->stash_size - 1);
	cq->stash_count--;
	ret = 1;
out:
	crn_unlock(&cq->lock);
	return ret;
}

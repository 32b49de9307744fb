/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations and receives: arriving at the peer, ending, being reported. */
#include <stdlib.h>
#include <string.h>
#include "world.h"

void scr_work_free(struct scr_work *work)
{
	if (!work)
		return;
	crn_list_del(&work->entry);
	crn_list_del(&work->mine);
	scr_held_forget(&work->held);
	scr_work_free(work->notice);
	free(work->copy);
	free(work->err_data);
	free(work);
}

static bool is_receive(const struct scr_work *work)
{
	return work->op == SCR_RECV || work->op == SCR_TRECV;
}

static enum crn_ep_side side_of(const struct scr_work *work)
{
	return is_receive(work) ? CRN_EP_RX : CRN_EP_TX;
}

static void report_error(struct scr_work *work)
{
	struct fi_cq_err_entry entry = {
		.op_context = work->context,
		.flags = work->comp_flags,
		.len = work->done_len,
		.buf = work->done_buf,
		.data = work->done_data,
		.olen = work->olen,
		.err = work->err,
		.prov_errno = work->prov_errno,
		.err_data = work->err_data,
		.err_data_size = work->err_data_size,
	};

	crn_ep_fail(&work->ep->ep, side_of(work), &entry, FI_ADDR_NOTAVAIL);
}

void scr_work_report(struct scr_work *work)
{
	const struct crn_cq_comp comp = {
		.entry = {.op_context = work->context,
			  .flags = work->comp_flags,
			  .len = work->done_len,
			  .buf = work->done_buf,
			  .data = work->done_data,
			  .tag = work->op == SCR_TRECV ? work->tag : 0},
		.src_addr = FI_ADDR_NOTAVAIL,
	};
	struct crn_ep *ep = &work->ep->ep;

	if (!is_receive(work))
		work->ep->tx_count--;
	if (work->err)
		report_error(work);
	else
		crn_ep_done(ep, side_of(work), &comp,
			    !work->silent &&
				    crn_ep_reports(ep, side_of(work), work->flags));
	scr_work_free(work);
}

void scr_work_end(struct scr_work *work)
{
	if (!scr_held_take(&work->held, SCR_COMPLETIONS))
		scr_work_report(work);
}

/* From len bytes of pieces (from NULL: the other way round) to memory in one piece. */
static void copy_pieces(const struct scr_work *work, void *to, const void *from,
			size_t len)
{
	const struct iovec *iov = work->iov;
	size_t done = 0, n;

	for (; done < len; iov++) {
		n = CRN_MIN(iov->iov_len, len - done);
		if (n && to)
			memcpy((char *)to + done, iov->iov_base, n);
		else if (n)
			memcpy(iov->iov_base, (const char *)from + done, n);
		done += n;
	}
}

/* Piece by piece: neither side is in one. */
static void copy_message(const struct scr_work *from, const struct scr_work *to,
			 size_t len)
{
	const struct iovec *src = from->iov, *dst = to->iov;
	size_t src_at = 0, dst_at = 0, n;

	while (len) {
		n = CRN_MIN(CRN_MIN(src->iov_len - src_at, dst->iov_len - dst_at), len);
		if (n)
			memcpy((char *)dst->iov_base + dst_at,
			       (char *)src->iov_base + src_at, n);
		len -= n;
		src_at += n;
		dst_at += n;
		if (src_at == src->iov_len) {
			src++;
			src_at = 0;
		}
		if (dst_at == dst->iov_len) {
			dst++;
			dst_at = 0;
		}
	}
}

/* The oldest receive for what arrives. */
static struct scr_work *find_receive(const struct scr_rx *rx, const struct scr_work *op)
{
	const bool tagged = op->op == SCR_TSEND;
	struct scr_work *receive;
	struct crn_list *pos;

	crn_list_for_each (pos, &rx->posted) {
		receive = crn_container_of(pos, struct scr_work, entry);
		if (tagged != (receive->op == SCR_TRECV))
			continue;
		if (!tagged || !((receive->tag ^ op->tag) & ~receive->ignore))
			return receive;
	}
	return NULL;
}

/* The receive that is next, with the place of its completion; NULL: not now. */
static struct scr_work *take_receive(struct scr_ep *target, const struct scr_work *op)
{
	struct scr_work *receive = find_receive(target->rx, op);

	if (!receive)
		return NULL;
	if (target->srx && !crn_ep_begin(&target->ep, CRN_EP_RX))
		return NULL;
	crn_list_del(&receive->entry);
	target->rx->count--;
	receive->ep = target;
	if (target->srx)
		crn_list_add_tail(&target->works, &receive->mine);
	return receive;
}

static bool run_send(struct scr_work *op, struct scr_ep *target)
{
	struct scr_work *receive = take_receive(target, op);

	if (!receive)
		return false;
	receive->done_len = CRN_MIN(op->len, receive->len);
	receive->done_buf = receive->iov_count ? receive->iov[0].iov_base : NULL;
	receive->tag = op->tag;
	if (op->flags & FI_REMOTE_CQ_DATA) {
		receive->comp_flags |= FI_REMOTE_CQ_DATA;
		receive->done_data = op->data;
	}
	copy_message(op, receive, receive->done_len);
	if (op->len > receive->len) {
		receive->err = FI_ETRUNC;
		receive->olen = op->len - receive->len;
		op->err = FI_EREMOTEIO;
	}
	scr_work_end(receive);
	return true;
}

/* The target learns of a write with data; false: there is no place for that now. */
static bool run_notice(struct scr_work *op, struct scr_ep *target)
{
	struct scr_work *notice = op->notice;

	if ((target->info->mode | target->info->rx_attr->mode) & FI_RX_CQ_DATA) {
		notice = take_receive(target, op);
		if (!notice)
			return false;
	} else {
		if (!crn_ep_begin(&target->ep, CRN_EP_RX))
			return false;
		op->notice = NULL;
		notice->ep = target;
		crn_list_add_tail(&target->works, &notice->mine);
	}
	notice->comp_flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA;
	notice->flags |= FI_COMPLETION;
	notice->done_len = op->len;
	notice->done_data = op->data;
	scr_work_end(notice);
	return true;
}

static bool run_rma(struct scr_work *op, struct scr_ep *target)
{
	const bool write = op->op == SCR_WRITE;
	struct crn_mr_map *mrs = &target->domain->mrs;
	bool waits = false;
	void *at;
	int ret;

	crn_mr_begin(mrs);
	ret = crn_mr_find(mrs, op->key, op->addr, op->len,
			  write ? FI_REMOTE_WRITE : FI_REMOTE_READ, &at, NULL);
	if (!ret && op->notice)
		waits = !run_notice(op, target);
	if (!ret && !waits)
		copy_pieces(op, write ? at : NULL, at, op->len);
	crn_mr_end(mrs);
	if (waits)
		return false;
	op->err = -ret;
	if (!ret && !(op->flags & FI_REMOTE_CQ_DATA))
		crn_ep_count(&target->ep, write ? FI_REMOTE_WRITE : FI_REMOTE_READ,
			     false);
	return true;
}

static bool run_atomic(struct scr_work *op, struct scr_ep *target)
{
	const uint64_t access =
		op->op == SCR_ATOMIC ? FI_REMOTE_WRITE : FI_REMOTE_READ | FI_REMOTE_WRITE;
	struct crn_mr_map *mrs = &target->domain->mrs;
	uint64_t operand = 0, old;
	void *at;
	int ret;

	copy_pieces(op, &operand, NULL, op->len);
	crn_mr_begin(mrs);
	ret = crn_mr_find(mrs, op->key, op->addr, sizeof(old), access, &at, NULL);
	if (!ret) {
		memcpy(&old, at, sizeof(old));
		operand = scr_atomic_apply(&op->atomic, old, operand);
		memcpy(at, &operand, sizeof(operand));
		if (op->atomic.result)
			memcpy(op->atomic.result, &old, sizeof(old));
	}
	crn_mr_end(mrs);
	op->err = -ret;
	return true;
}

/* False: it waits. */
static bool run(struct scr_work *op, struct scr_ep *target)
{
	switch (op->op) {
	case SCR_SEND:
	case SCR_TSEND:
		return run_send(op, target);
	case SCR_ATOMIC:
	case SCR_FETCH_ATOMIC:
	case SCR_COMPARE_ATOMIC:
		return run_atomic(op, target);
	default:
		return run_rma(op, target);
	}
}

/* In order; but a tagged message that waits for its receive keeps nothing up. */
void scr_work_retry(struct scr_ep *ep)
{
	struct crn_list *pos, *next;
	struct scr_work *op;

	crn_list_for_each_safe (pos, next, &ep->incoming) {
		op = crn_container_of(pos, struct scr_work, entry);
		if (run(op, ep)) {
			crn_list_del(&op->entry);
			op->done_len = op->op == SCR_READ ? op->len : 0;
			scr_work_end(op);
		} else if (op->op != SCR_TSEND) {
			return;
		}
	}
}

void scr_work_arrive(struct scr_work *work)
{
	crn_list_add_tail(&work->ep->peer->incoming, &work->entry);
	scr_work_retry(work->ep->peer);
}

void scr_work_start(struct scr_work *work)
{
	if (!scr_held_take(&work->held, SCR_ARRIVALS))
		scr_work_arrive(work);
}

void scr_work_flush(struct scr_ep *ep, bool closing)
{
	struct crn_list *pos, *next;
	struct scr_work *work;

	crn_list_for_each_safe (pos, next, &ep->works) {
		work = crn_container_of(pos, struct scr_work, mine);
		if (!closing && !crn_list_empty(&work->held.entry) &&
		    work->held.what == SCR_COMPLETIONS)
			continue; /* it is over */
		crn_list_del(&work->entry);
		scr_held_forget(&work->held);
		if (!work->err)
			work->err = FI_ECANCELED;
		if (closing)
			scr_work_report(work);
		else
			scr_work_end(work);
	}
	ep->own_rx.count = 0;
}

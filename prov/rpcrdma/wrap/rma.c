/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_rma(3) of wrap mode: passed on. Data for the target's completion queue follow the
 * write as a Call, so that they take a credit and a buffer of the layer's. Such a write
 * is complete when both are: its program may close the endpoint then.
 */
#include <string.h>
#include "call/call.h"
#include "wrap.h"

/* Of fi_readmsg and fi_writemsg; those that are the lower provider's to refuse pass. */
#define RMA_OWN_FLAGS (FI_REMOTE_CQ_DATA | FI_COMPLETION | FI_INJECT)

enum rma_kind { RMA_READ, RMA_WRITE };

static void rma_free(struct rpr_rma *rma)
{
	rpr_mem_close(&rma->copy);
	rma->used = false;
	crn_list_add_tail(&rma->ep->rmas_free, &rma->entry);
}

static void rma_report(struct rpr_rma *rma)
{
	struct rpr_ep *ep = rma->ep;
	const bool silent = rma->silent;
	const int err = rma->err;

	if (silent)
		crn_ep_count(&ep->ep, rma->flags, err);
	else if (err)
		rpr_send_failed(ep, rma->context, rma->flags, err, rma->prov_errno);
	else
		rpr_sent(ep, rma->context, rma->flags, rma->report);
	rma_free(rma);
	/* Nobody else learns of one without a completion. */
	if (silent && err)
		rpr_broken(ep, err);
}

/* One part of it is over; err: it failed. */
static void rma_part_over(struct rpr_rma *rma, int err, int prov_errno)
{
	if (err && !rma->err) {
		rma->err = err;
		rma->prov_errno = prov_errno;
	}
	if (!--rma->parts)
		rma_report(rma);
}

static void rma_done(struct crn_lower_op *op, const struct fi_cq_data_entry *entry)
{
	rma_part_over(crn_container_of(op, struct rpr_rma, op), 0, 0);
}

static void rma_failed(struct crn_lower_op *op, const struct fi_cq_err_entry *err)
{
	rma_part_over(crn_container_of(op, struct rpr_rma, op),
		      err->err ? err->err : FI_EIO, err->prov_errno);
}

void rpr_wrap_rma_told(struct rpr_call *call, int err, int prov_errno)
{
	rma_part_over(call->context, err, prov_errno);
}

/* Their Calls have ended before (rpr_down). */
void rpr_wrap_rma_lost(struct rpr_ep *ep)
{
	size_t i;

	for (i = 0; ep->rmas && i < ep->ep.queues[CRN_EP_TX].depth; i++) {
		if (ep->rmas[i].used)
			rma_part_over(&ep->rmas[i], FI_ECANCELED, 0);
	}
}

static struct rpr_rma *rma_take(struct rpr_ep *ep, enum rma_kind kind, void *context,
				uint64_t flags, bool silent)
{
	struct crn_list *entry = crn_list_pop(&ep->rmas_free);
	struct rpr_rma *rma;

	if (!entry)
		return NULL;
	rma = crn_container_of(entry, struct rpr_rma, entry);
	rma->op.done = rma_done;
	rma->op.failed = rma_failed;
	rma->context = context;
	rma->flags = FI_RMA | (kind == RMA_READ ? FI_READ : FI_WRITE);
	rma->report = crn_ep_reports(&ep->ep, CRN_EP_TX, flags);
	rma->silent = silent;
	rma->used = true;
	rma->parts = 1;
	rma->err = 0;
	return rma;
}

/* What is injected is copied here: the lower provider may take less of it. */
static int rma_copy(struct rpr_rma *rma, const struct fi_msg_rma *msg, size_t len,
		    struct iovec *iov, void **desc)
{
	struct crn_pack pack;
	size_t i;
	int ret = rpr_mem_copy(rma->ep->domain, len, &rma->copy);

	if (ret)
		return ret;
	crn_pack_init(&pack, rma->copy.owned, len);
	for (i = 0; i < msg->iov_count; i++)
		crn_pack_bytes(&pack, msg->msg_iov[i].iov_base, msg->msg_iov[i].iov_len);
	iov->iov_base = rma->copy.owned;
	iov->iov_len = len;
	*desc = rpr_mem_desc(&rma->copy);
	return 0;
}

static ssize_t rma_post(struct rpr_rma *rma, enum rma_kind kind,
			const struct fi_msg_rma *msg, size_t len, uint64_t flags)
{
	struct fi_msg_rma lower = *msg;
	struct iovec iov;
	void *desc;
	int ret;

	lower.context = &rma->op;
	if (flags & FI_INJECT && len) {
		ret = rma_copy(rma, msg, len, &iov, &desc);
		if (ret)
			return ret == -FI_ENOMEM ? -FI_EAGAIN : ret;
		lower.msg_iov = &iov;
		lower.iov_count = 1;
		lower.desc = &desc;
	}
	flags = (flags & ~RMA_OWN_FLAGS) | FI_COMPLETION;
	return kind == RMA_READ ? fi_readmsg(rma->ep->lower, &lower, flags)
				: fi_writemsg(rma->ep->lower, &lower, flags);
}

/* Tells the target, once the write before it is posted. */
static void rma_tell(struct rpr_rma *rma, struct rpr_call *call, uint64_t data,
		     size_t len, bool delivered)
{
	struct rpr_ep *ep = call->send.ep;
	uint8_t *buf = call->send.buf;
	struct crn_pack pack;

	rpr_header_pack_short(buf, call->xid, ep->calls_max);
	crn_pack_init(&pack, buf + RPR_HEADER_MIN, call->buf->size - RPR_HEADER_MIN);
	rpr_wrap_pack_call(&pack, call->xid,
			   delivered || rpr_wrap_urgent(ep)
				   ? WRAP_WRITE_DATA | WRAP_URGENT
				   : WRAP_WRITE_DATA);
	crn_pack_be64(&pack, data);
	crn_pack_be32(&pack, (uint32_t)len);
	call->send.len = RPR_HEADER_MIN + (size_t)crn_pack_len(&pack);
	call->pending = true;
	call->at_reply = delivered;
	call->flags = rma->flags;
	call->context = rma;
	rma->parts++;
	rpr_call_start(call);
}

static ssize_t rma_begin(struct rpr_ep *ep, enum rma_kind kind,
			 const struct fi_msg_rma *msg, uint64_t flags, bool silent)
{
	const size_t len = rpr_wrap_iov_len(msg->msg_iov, msg->iov_count);
	const bool tells = flags & FI_REMOTE_CQ_DATA;
	struct rpr_call *call = NULL;
	struct rpr_rma *rma;
	ssize_t ret;

	if (flags & FI_INJECT && len > RPR_INJECT_SIZE)
		return -FI_EMSGSIZE;
	if (ep->state != RPR_EP_UP)
		return -FI_ENOTCONN;
	rma = rma_take(ep, kind, msg->context, flags, silent);
	if (!rma)
		return -FI_EAGAIN;
	if (tells)
		call = rpr_wrap_call_take(ep);
	ret = tells && !call ? -FI_EAGAIN : rma_post(rma, kind, msg, len, flags);
	if (ret) {
		rma_free(rma);
		if (call)
			rpr_call_put(call);
		return ret;
	}
	if (call)
		rma_tell(rma, call, msg->data, len,
			 flags & (FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE));
	return 0;
}

static ssize_t rma_msg(struct fid_ep *fid, enum rma_kind kind,
		       const struct fi_msg_rma *msg, uint64_t flags, bool silent)
{
	struct rpr_ep *ep = rpr_ep_of(fid);
	ssize_t ret;

	if (msg->iov_count > ep->tx_iov_limit)
		return -FI_EINVAL;
	crn_lock(rpr_lock_of(ep));
	if (silent || crn_ep_begin(&ep->ep, CRN_EP_TX)) {
		ret = rma_begin(ep, kind, msg, flags, silent);
		if (ret && !silent)
			crn_ep_abandon(&ep->ep, CRN_EP_TX);
	} else {
		ret = -FI_EAGAIN;
	}
	crn_unlock(rpr_lock_of(ep));
	return ret;
}

static ssize_t rma_vector(struct fid_ep *ep, enum rma_kind kind, const struct iovec *iov,
			  void **desc, size_t count, uint64_t addr, uint64_t key,
			  uint64_t data, uint64_t flags, void *context, bool silent)
{
	const struct fi_rma_iov rma_iov = {
		.addr = addr,
		.len = rpr_wrap_iov_len(iov, count),
		.key = key,
	};
	const struct fi_msg_rma msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = FI_ADDR_UNSPEC,
		.rma_iov = &rma_iov,
		.rma_iov_count = 1,
		.context = context,
		.data = data,
	};

	if (!silent)
		flags |= rpr_ep_of(ep)->ep.queues[CRN_EP_TX].op_flags;
	return rma_msg(ep, kind, &msg, flags, silent);
}

static ssize_t rma_one(struct fid_ep *ep, enum rma_kind kind, const void *buf, size_t len,
		       void *desc, uint64_t addr, uint64_t key, uint64_t data,
		       uint64_t flags, void *context, bool silent)
{
	const struct iovec iov = {.iov_base = (void *)buf, .iov_len = len};

	return rma_vector(ep, kind, &iov, desc ? &desc : NULL, 1, addr, key, data, flags,
			  context, silent);
}

static ssize_t wrap_read(struct fid_ep *ep, void *buf, size_t len, void *desc,
			 fi_addr_t src_addr, uint64_t addr, uint64_t key, void *context)
{
	return rma_one(ep, RMA_READ, buf, len, desc, addr, key, 0, 0, context, false);
}

static ssize_t wrap_readv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			  size_t count, fi_addr_t src_addr, uint64_t addr, uint64_t key,
			  void *context)
{
	return rma_vector(ep, RMA_READ, iov, desc, count, addr, key, 0, 0, context,
			  false);
}

static ssize_t wrap_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			    uint64_t flags)
{
	return rma_msg(ep, RMA_READ, msg, flags, false);
}

static ssize_t wrap_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			  fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
{
	return rma_one(ep, RMA_WRITE, buf, len, desc, addr, key, 0, 0, context, false);
}

static ssize_t wrap_writev(struct fid_ep *ep, const struct iovec *iov, void **desc,
			   size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			   void *context)
{
	return rma_vector(ep, RMA_WRITE, iov, desc, count, addr, key, 0, 0, context,
			  false);
}

static ssize_t wrap_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			     uint64_t flags)
{
	return rma_msg(ep, RMA_WRITE, msg, flags, false);
}

static ssize_t wrap_inject_write(struct fid_ep *ep, const void *buf, size_t len,
				 fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	return rma_one(ep, RMA_WRITE, buf, len, NULL, addr, key, 0, FI_INJECT, NULL,
		       true);
}

static ssize_t wrap_writedata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			      uint64_t data, fi_addr_t dest_addr, uint64_t addr,
			      uint64_t key, void *context)
{
	return rma_one(ep, RMA_WRITE, buf, len, desc, addr, key, data, FI_REMOTE_CQ_DATA,
		       context, false);
}

static ssize_t wrap_inject_writedata(struct fid_ep *ep, const void *buf, size_t len,
				     uint64_t data, fi_addr_t dest_addr, uint64_t addr,
				     uint64_t key)
{
	return rma_one(ep, RMA_WRITE, buf, len, NULL, addr, key, data,
		       FI_INJECT | FI_REMOTE_CQ_DATA, NULL, true);
}

struct fi_ops_rma rpr_wrap_rma = {
	.size = sizeof(struct fi_ops_rma),
	.read = wrap_read,
	.readv = wrap_readv,
	.readmsg = wrap_readmsg,
	.write = wrap_write,
	.writev = wrap_writev,
	.writemsg = wrap_writemsg,
	.inject = wrap_inject_write,
	.writedata = wrap_writedata,
	.injectdata = wrap_inject_writedata,
};

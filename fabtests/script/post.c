/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations and receives are checked and posted, whatever call it was. */
#include <stdlib.h>
#include <string.h>
#include "post.h"

#define TX_FLAGS                                                                 \
	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
	 FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA | FI_FENCE | FI_MORE)
#define RX_FLAGS (FI_COMPLETION | FI_MORE)

static struct scr_ep *ep_of(struct fid_ep *fid)
{
	return crn_container_of(fid, struct scr_ep, fid);
}

static size_t total(const struct iovec *iov, size_t count)
{
	size_t i, len = 0;

	for (i = 0; i < count; i++)
		len += iov[i].iov_len;
	return len;
}

static int enter(struct fid_ep *fid, const struct scr_post *post)
{
	const struct scr_record record = {
		.call = post->call,
		.fid = &fid->fid,
		.flags = post->flags,
		.context = post->context,
		.len = total(post->iov, post->count),
		.addr = post->addr,
		.key = post->key,
		.data = post->data,
		.tag = post->tag,
	};

	return scr_enter(&record);
}

static struct scr_work *work_new(const struct scr_post *post)
{
	struct scr_work *work = calloc(1, sizeof(*work));

	if (!work)
		return NULL;
	crn_list_init(&work->entry);
	crn_list_init(&work->mine);
	crn_list_init(&work->held.entry);
	work->op = post->call;
	work->context = post->context;
	work->flags = post->flags;
	work->iov_count = post->count;
	if (post->count)
		memcpy(work->iov, post->iov, post->count * sizeof(*post->iov));
	work->len = total(post->iov, post->count);
	work->addr = post->addr;
	work->key = post->key;
	work->data = post->data;
	work->tag = post->tag;
	work->ignore = post->ignore;
	work->atomic = post->atomic;
	return work;
}

/* ---- receives ---- */

static ssize_t add_receive(struct scr_rx *rx, struct scr_ep *ep, struct scr_work *work)
{
	if (rx->count >= rx->size || (ep && !crn_ep_begin(&ep->ep, CRN_EP_RX)))
		return -FI_EAGAIN;
	work->ep = ep;
	work->comp_flags = FI_RECV | (work->op == SCR_TRECV ? FI_TAGGED : FI_MSG);
	crn_list_add_tail(&rx->posted, &work->entry);
	if (ep)
		crn_list_add_tail(&ep->works, &work->mine);
	rx->count++;
	return 0;
}

static void retry_all(struct scr_srx *srx)
{
	struct crn_list *pos;

	crn_list_for_each (pos, &srx->eps)
		scr_work_retry(crn_container_of(pos, struct scr_ep, srx_entry));
}

static ssize_t receive(struct fid_ep *fid, struct scr_domain *domain, struct scr_ep *ep,
		       struct scr_srx *srx, const struct scr_post *post)
{
	struct scr_work *work;
	ssize_t ret = enter(fid, post);

	if (ret)
		return ret;
	if (post->count > SCR_IOV_LIMIT)
		return -FI_EINVAL;
	if (post->flags & ~RX_FLAGS)
		return -FI_EBADFLAGS;
	ret = scr_mr_local(domain, post->iov, post->desc, post->count, FI_RECV);
	if (ret)
		return ret;
	work = work_new(post);
	if (!work)
		return -FI_ENOMEM;
	scr_lock();
	if (ep && ep->state == SCR_SHUT)
		ret = -FI_ESHUTDOWN;
	else
		ret = add_receive(srx ? &srx->rx : &ep->own_rx, ep, work);
	if (ret)
		scr_work_free(work);
	else if (srx)
		retry_all(srx);
	else
		scr_work_retry(ep);
	scr_unlock();
	return ret;
}

ssize_t scr_ep_receive(struct fid_ep *fid, const struct scr_post *post)
{
	struct scr_ep *ep = ep_of(fid);

	if (!ep->ep.enabled)
		return -FI_EOPBADSTATE;
	return ep->srx ? -FI_EOPNOTSUPP : receive(fid, ep->domain, ep, NULL, post);
}

ssize_t scr_srx_receive(struct fid_ep *fid, const struct scr_post *post)
{
	struct scr_srx *srx = crn_container_of(fid, struct scr_srx, fid);

	return receive(fid, srx->domain, NULL, srx, post);
}

/* ---- operations ---- */

static const struct {
	uint64_t caps; /* all needed */
	uint64_t comp_flags;
	uint64_t access; /* to the buffers, of FI_MR_LOCAL */
} kinds[SCR_CALLS] = {
	[SCR_SEND] = {FI_MSG | FI_SEND, FI_SEND | FI_MSG, FI_SEND},
	[SCR_INJECT] = {FI_MSG | FI_SEND, FI_SEND | FI_MSG, 0},
	[SCR_TSEND] = {FI_TAGGED | FI_SEND, FI_SEND | FI_TAGGED, FI_SEND},
	[SCR_TINJECT] = {FI_TAGGED | FI_SEND, FI_SEND | FI_TAGGED, 0},
	[SCR_READ] = {FI_RMA | FI_READ, FI_READ | FI_RMA, FI_READ},
	[SCR_WRITE] = {FI_RMA | FI_WRITE, FI_WRITE | FI_RMA, FI_WRITE},
	[SCR_INJECT_WRITE] = {FI_RMA | FI_WRITE, FI_WRITE | FI_RMA, 0},
	[SCR_ATOMIC] = {FI_ATOMIC | FI_WRITE, FI_WRITE | FI_ATOMIC, FI_WRITE},
	[SCR_FETCH_ATOMIC] = {FI_ATOMIC | FI_READ, FI_READ | FI_ATOMIC, FI_WRITE},
	[SCR_COMPARE_ATOMIC] = {FI_ATOMIC | FI_READ, FI_READ | FI_ATOMIC, FI_WRITE},
	[SCR_INJECT_ATOMIC] = {FI_ATOMIC | FI_WRITE, FI_WRITE | FI_ATOMIC, 0},
};

/* Calls without a completion, and what they are otherwise. 0: not one of them. */
static const enum scr_call injected[SCR_CALLS] = {
	[SCR_INJECT] = SCR_SEND,
	[SCR_TINJECT] = SCR_TSEND,
	[SCR_INJECT_WRITE] = SCR_WRITE,
	[SCR_INJECT_ATOMIC] = SCR_ATOMIC,
};

static bool is_inject(const struct scr_post *post)
{
	return injected[post->call] || (post->flags & FI_INJECT);
}

static ssize_t check(const struct scr_ep *ep, const struct scr_post *post)
{
	const size_t len = total(post->iov, post->count);

	if (!ep->ep.enabled)
		return -FI_EOPBADSTATE;
	if ((ep->ep.caps & kinds[post->call].caps) != kinds[post->call].caps)
		return -FI_EOPNOTSUPP;
	if (post->count > SCR_IOV_LIMIT)
		return -FI_EINVAL;
	if (post->flags & ~TX_FLAGS)
		return -FI_EBADFLAGS;
	if (len > ep->info->ep_attr->max_msg_size)
		return -FI_EMSGSIZE;
	if (is_inject(post))
		return len > ep->info->tx_attr->inject_size ? -FI_EMSGSIZE : 0;
	return scr_mr_local(ep->domain, post->iov, post->desc, post->count,
			    kinds[post->call].access);
}

/* Injected data is the application's again when the call returns. */
static int inject(struct scr_work *work)
{
	size_t i, at = 0;

	work->copy = malloc(work->len + 1);
	if (!work->copy)
		return -FI_ENOMEM;
	for (i = 0; i < work->iov_count; i++) {
		if (work->iov[i].iov_len)
			memcpy((char *)work->copy + at, work->iov[i].iov_base,
			       work->iov[i].iov_len);
		at += work->iov[i].iov_len;
	}
	work->iov[0] = (struct iovec){work->copy, work->len};
	work->iov_count = 1;
	return 0;
}

static struct scr_work *operation_new(const struct scr_post *post)
{
	const struct scr_post notice = {.call = SCR_RECV};
	struct scr_work *work = work_new(post);

	if (!work)
		return NULL;
	work->comp_flags = kinds[post->call].comp_flags;
	work->silent = injected[post->call];
	if (work->silent)
		work->op = injected[post->call];
	if (is_inject(post) && inject(work))
		goto err;
	if (work->op == SCR_WRITE && (post->flags & FI_REMOTE_CQ_DATA)) {
		work->notice = work_new(&notice);
		if (!work->notice)
			goto err;
	}
	return work;
err:
	scr_work_free(work);
	return NULL;
}

static ssize_t start(struct scr_ep *ep, struct scr_work *work)
{
	if (ep->state != SCR_CONNECTED)
		return ep->state == SCR_SHUT ? -FI_ESHUTDOWN : -FI_ENOTCONN;
	if (ep->tx_count >= ep->info->tx_attr->size || !crn_ep_begin(&ep->ep, CRN_EP_TX))
		return -FI_EAGAIN;
	ep->tx_count++;
	work->ep = ep;
	crn_list_add_tail(&ep->works, &work->mine);
	scr_work_start(work);
	return 0;
}

ssize_t scr_operate(struct fid_ep *fid, const struct scr_post *post)
{
	struct scr_ep *ep = ep_of(fid);
	struct scr_work *work;
	ssize_t ret = enter(fid, post);

	if (!ret)
		ret = check(ep, post);
	if (ret)
		return ret;
	work = operation_new(post);
	if (!work)
		return -FI_ENOMEM;
	scr_lock();
	ret = start(ep, work);
	if (ret)
		scr_work_free(work);
	scr_unlock();
	return ret;
}

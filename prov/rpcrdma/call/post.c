/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations of the lower provider, in order; what it has no room for waits. */
#include "call.h"

static void item_done(struct crn_lower_op *op, const struct fi_cq_data_entry *entry)
{
	struct rpr_item *item = crn_container_of(op, struct rpr_item, op);

	item->done(item, 0);
}

/*
 * Was it the peer's memory that could not be reached? pverbs and route have codes for
 * that, verbs has the device's status (ibv_poll_cq(3)). tcp closes the connection, which
 * says nothing.
 */
static bool item_was_refused(const struct fi_cq_err_entry *err)
{
	enum { REM_INV_REQ_ERR = 9, REM_ACCESS_ERR = 10, REM_OP_ERR = 11 };

	switch (err->err) {
	case FI_EOPNOTSUPP:
	case FI_EACCES:
	case FI_EREMOTEIO:
	case FI_EKEYREJECTED:
		return true;
	case FI_EIO:
		return err->prov_errno >= REM_INV_REQ_ERR &&
		       err->prov_errno <= REM_OP_ERR;
	default:
		return false;
	}
}

static void item_failed(struct crn_lower_op *op, const struct fi_cq_err_entry *err)
{
	static const char *const names[] = {
		[RPR_ITEM_SEND] = "Send",
		[RPR_ITEM_READ] = "RDMA Read",
		[RPR_ITEM_WRITE] = "RDMA Write",
	};
	struct rpr_item *item = crn_container_of(op, struct rpr_item, op);

	/* What is cancelled follows from what was not. */
	if (err->err != FI_ECANCELED) {
		item->ep->failed = true;
		RPR_WARN(FI_LOG_EP_DATA, "%s of %zu bytes failed: %s\n",
			 names[item->kind], item->len, fi_strerror(err->err));
	}
	item->refused = item_was_refused(err);
	item->done(item, err->err ? err->err : FI_EIO);
}

void rpr_item_init(struct rpr_ep *ep, struct rpr_item *item, enum rpr_item_kind kind,
		   void (*done)(struct rpr_item *item, int err))
{
	item->op.done = item_done;
	item->op.failed = item_failed;
	crn_list_init(&item->entry);
	item->ep = ep;
	item->kind = kind;
	item->quiet = false;
	item->refused = false;
	item->done = done;
}

/* Copied by the lower provider, which reports nothing of it: its failure is the
 * connection's end, of which there is an event. */
static bool item_is_injected(const struct rpr_item *item)
{
	return item->quiet && item->len <= item->ep->lower_inject;
}

static ssize_t item_post(struct rpr_item *item)
{
	struct fid_ep *lower = item->ep->lower;

	if (item_is_injected(item))
		return fi_inject(lower, item->buf, item->len, FI_ADDR_UNSPEC);
	switch (item->kind) {
	case RPR_ITEM_READ:
		return fi_read(lower, item->buf, item->len, item->desc, FI_ADDR_UNSPEC,
			       item->addr, item->key, &item->op);
	case RPR_ITEM_WRITE:
		return fi_write(lower, item->buf, item->len, item->desc, FI_ADDR_UNSPEC,
				item->addr, item->key, &item->op);
	default:
		return fi_send(lower, item->buf, item->len, item->desc, FI_ADDR_UNSPEC,
			       &item->op);
	}
}

/* The lower provider has it; no list does. */
static void item_given(struct rpr_item *item)
{
	if (item_is_injected(item))
		item->done(item, 0);
}

static void ep_busy(struct rpr_ep *ep)
{
	if (crn_list_empty(&ep->busy))
		crn_list_add_tail(&ep->domain->busy, &ep->busy);
}

void rpr_post(struct rpr_item *item)
{
	struct rpr_ep *ep = item->ep;

	crn_lock_assert_held(rpr_lock_of(ep));
	if (crn_likely(ep->state == RPR_EP_UP && crn_list_empty(&ep->queue)) &&
	    crn_likely(!item_post(item))) {
		item_given(item);
		return;
	}
	/* What failed for good fails again, and is reported then. */
	crn_list_add_tail(&ep->queue, &item->entry);
	ep_busy(ep);
}

void rpr_kick(struct rpr_ep *ep)
{
	struct rpr_item *item;
	ssize_t ret;

	crn_list_del(&ep->busy);
	while (!crn_list_empty(&ep->queue)) {
		item = crn_container_of(ep->queue.next, struct rpr_item, entry);
		ret = ep->state == RPR_EP_DOWN ? -FI_ECANCELED : item_post(item);
		if (ret == -FI_EAGAIN) {
			ep_busy(ep);
			break;
		}
		crn_list_del(&item->entry);
		if (ret) {
			item->done(item, (int)-ret);
			rpr_broken(ep, (int)-ret);
		} else {
			item_given(item);
		}
	}
	rpr_rx_retry(ep);
}

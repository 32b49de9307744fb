/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives of the lower provider: one for each Call that is granted to the peer, one for
 * each Reply that may come (RFC 8167 sections 4.3.1 and 4.3.2). A buffer is posted again
 * before whatever lets the peer use it: the Reply to its Call, or the next Call.
 */
#include "call.h"

static int rx_post(struct rpr_rx *rx)
{
	return (int)fi_recv(rx->ep->lower, rx->buf->data, rx->buf->size, rx->buf->desc,
			    FI_ADDR_UNSPEC, &rx->op);
}

static void rx_done(struct crn_lower_op *op, const struct fi_cq_data_entry *entry)
{
	struct rpr_rx *rx = crn_container_of(op, struct rpr_rx, op);

	/* The peer sends when it is told; the event for this end may not have been read
	 * yet, and what arrives is answered all the same. */
	if (crn_unlikely(rx->ep->state == RPR_EP_CONNECTING))
		rx->ep->state = RPR_EP_UP;
	rx->len = entry->len;
	rpr_inbound(rx->ep, rx);
}

static void rx_failed(struct crn_lower_op *op, const struct fi_cq_err_entry *err)
{
	struct rpr_ep *ep = crn_container_of(op, struct rpr_rx, op)->ep;

	/* A message longer than this end takes, on a provider that lives on after it. */
	if (err->err == FI_ETRUNC)
		rpr_kill(ep, "sent a message longer than the inline threshold");
	rpr_broken(ep, err->err);
}

int rpr_rx_start(struct rpr_ep *ep)
{
	struct rpr_rx *rx;
	int ret;

	for (rx = ep->rxs; rx < ep->rxs + ep->rx_count; rx++) {
		rx->op.done = rx_done;
		rx->op.failed = rx_failed;
		ret = rx_post(rx);
		if (ret)
			return ret;
	}
	return 0;
}

static void rx_wait(struct rpr_rx *rx)
{
	struct rpr_ep *ep = rx->ep;

	crn_list_add_tail(&ep->unposted, &rx->entry);
	if (crn_list_empty(&ep->busy))
		crn_list_add_tail(&ep->domain->busy, &ep->busy);
}

/* What fails for good fails again, and is reported then: here its caller has a message
 * in its hands, and others that have arrived are still to take the program's receives. */
void rpr_rx_put(struct rpr_rx *rx)
{
	if (rx->ep->state != RPR_EP_DOWN && crn_unlikely(rx_post(rx)))
		rx_wait(rx);
}

void rpr_rx_retry(struct rpr_ep *ep)
{
	struct crn_list again, *entry;
	struct rpr_rx *rx;
	int ret;

	crn_list_init(&again);
	while ((entry = crn_list_pop(&ep->unposted)))
		crn_list_add_tail(&again, entry);
	while ((entry = crn_list_pop(&again))) {
		rx = crn_container_of(entry, struct rpr_rx, entry);
		ret = ep->state == RPR_EP_DOWN ? 0 : rx_post(rx);
		if (ret == -FI_EAGAIN)
			rx_wait(rx);
		else if (ret)
			rpr_broken(ep, -ret);
	}
}

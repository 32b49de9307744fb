/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of this end: XIDs, credits (RFC 8166 section 3.3.1), and their ends.
 *
 *	FREE -take-> PREPARED -start-> SENT or WAITING -credit-> SENT
 *	SENT -Reply-> ARRIVED -delivered-> FREE
 *	SENT, WAITING -RDMA_ERROR, cancel, connection lost-> FREE
 *
 * A slot that is FREE is taken again once its Send is over as well.
 */
#include <stdlib.h>
#include "call.h"

static struct crn_list *call_bucket(struct rpr_ep *ep, uint32_t xid)
{
	return &ep->xids[xid & ep->xid_mask];
}

struct rpr_call *rpr_call_find(struct rpr_ep *ep, uint32_t xid)
{
	struct crn_list *bucket = call_bucket(ep, xid), *entry;
	struct rpr_call *call;

	crn_list_for_each (entry, bucket) {
		call = crn_container_of(entry, struct rpr_call, entry);
		if (call->xid == xid)
			return call;
	}
	return NULL;
}

/* A small Call has no memory: that is seen at once. */
static bool call_has_memory(const struct rpr_call *call)
{
	return call->read_count || call->result_count || rpr_mem_used(&call->reply);
}

/* What a Call leaves behind: nothing of it is the peer's to reach. */
static void call_fence(struct rpr_call *call)
{
	uint32_t i;

	if (crn_likely(!call_has_memory(call)))
		return;
	for (i = 0; i < call->read_count; i++)
		rpr_mem_fence(&call->read[i]);
	for (i = 0; i < call->result_count; i++)
		rpr_mem_fence(&call->result[i].mem);
	rpr_mem_fence(&call->reply);
}

static void call_close(struct rpr_call *call)
{
	uint32_t i;

	if (crn_likely(!call_has_memory(call)))
		return;
	for (i = 0; i < call->read_count; i++)
		rpr_mem_close(&call->read[i]);
	for (i = 0; i < call->result_count; i++)
		rpr_mem_close(&call->result[i].mem);
	rpr_mem_close(&call->reply);
	call->read_count = 0;
	call->result_count = 0;
}

static void call_settle(struct rpr_call *call)
{
	struct rpr_ep *ep = call->send.ep;

	/* First: its buffer is there already. */
	if (call->state == RPR_CALL_FREE && !call->posted)
		crn_list_add_tail(ep->calls_free.next, &call->entry);
}

/* The program learns that it was sent. */
static void call_report(struct rpr_call *call, int err, int prov_errno)
{
	struct rpr_ep *ep = call->send.ep;

	if (!call->pending)
		return;
	call->pending = false;
	if (crn_unlikely(call->flags & FI_RMA))
		ep->ops->told(call, err, prov_errno);
	else if (err)
		rpr_send_failed(ep, call->context, call->flags, err, prov_errno);
	else
		rpr_sent(ep, call->context, call->flags, call->report);
}

static void call_sent(struct rpr_item *item, int err)
{
	struct rpr_call *call = crn_container_of(item, struct rpr_call, send);

	call->posted = false;
	if (!err && !call->at_reply)
		call_report(call, 0, 0);
	call_settle(call);
	if (!err)
		return;
	/* What the program gets of it is the cause rather than the connection's end. */
	if (call->state == RPR_CALL_SENT)
		rpr_call_lost(call, err, 0);
	rpr_broken(item->ep, err);
}

/* The slot's buffer, when it is first taken. */
static bool call_equip(struct rpr_ep *ep, struct rpr_call *call)
{
	if (crn_slab_get(&ep->slab, rpr_params.inline_size, &call->buf))
		return false;
	rpr_item_init(ep, &call->send, RPR_ITEM_SEND, call_sent);
	call->send.buf = call->buf->data;
	call->send.desc = call->buf->desc;
	return true;
}

struct rpr_call *rpr_call_take(struct rpr_ep *ep, uint32_t xid)
{
	struct crn_list *entry = crn_list_pop(&ep->calls_free);
	struct rpr_call *call;

	if (!entry)
		return NULL;
	call = crn_container_of(entry, struct rpr_call, entry);
	if (crn_unlikely(!call->buf) && !call_equip(ep, call)) {
		crn_list_add_tail(&ep->calls_free, &call->entry);
		return NULL;
	}
	call->state = RPR_CALL_PREPARED;
	call->xid = xid;
	call->began = rpr_clock();
	call->pending = false;
	call->at_reply = false;
	call->sent = false;
	call->context = NULL;
	call->reply_recv = NULL;
	call->reply.seg.length = 0;
	crn_list_add_tail(call_bucket(ep, xid), &call->entry);
	return call;
}

void rpr_call_put(struct rpr_call *call)
{
	call_close(call);
	crn_list_del(&call->wait);
	crn_list_del(&call->entry);
	call->state = RPR_CALL_FREE;
	call_settle(call);
}

static void call_send(struct rpr_call *call)
{
	struct rpr_ep *ep = call->send.ep;

	ep->outstanding++;
	ep->stats.calls_sent++;
	call->state = RPR_CALL_SENT;
	call->posted = true;
	call->sent = true;
	call->send.quiet = !call->pending;
	rpr_post(&call->send);
}

void rpr_call_start(struct rpr_call *call)
{
	struct rpr_ep *ep = call->send.ep;

	if (crn_list_empty(&ep->calls_waiting) && rpr_call_may_go(ep)) {
		call_send(call);
		return;
	}
	ep->stats.credit_stalls++;
	call->state = RPR_CALL_WAITING;
	crn_list_add_tail(&ep->calls_waiting, &call->wait);
}

static void calls_send_waiting(struct rpr_ep *ep)
{
	struct crn_list *entry;

	if (crn_likely(crn_list_empty(&ep->calls_waiting)))
		return;
	while (ep->state == RPR_EP_UP && rpr_call_may_go(ep) &&
	       (entry = crn_list_pop(&ep->calls_waiting)))
		call_send(crn_container_of(entry, struct rpr_call, wait));
}

/* RFC 8166 section 4.3.2: the chunk of the Call with the bytes written. */
static bool call_echoed(const struct rpr_chunk *echo, const struct rpr_mem *mem)
{
	return echo->count == 1 && echo->seg[0].handle == mem->seg.handle &&
	       echo->seg[0].offset == mem->seg.offset &&
	       echo->seg[0].length <= mem->seg.length;
}

static bool call_reply_fits(const struct rpr_call *call, const struct rpr_header *header)
{
	uint32_t i;

	if (header->write_count != call->result_count)
		return false;
	for (i = 0; i < header->write_count; i++) {
		if (!call_echoed(&header->write[i], &call->result[i].mem))
			return false;
	}
	/* Where the message is inline, the chunk may be there, unused, or not. */
	return !header->has_reply ||
	       (call->reply.seg.length && call_echoed(&header->reply, &call->reply));
}

static void call_results(struct rpr_call *call, const struct rpr_header *header)
{
	struct rpr_ep *ep = call->send.ep;
	struct crn_cq_comp comp = {.src_addr = FI_ADDR_NOTAVAIL};
	struct rpr_result *result;
	uint32_t i;

	for (i = 0; i < call->result_count; i++) {
		result = &call->result[i];
		comp.entry.op_context = result->context;
		comp.entry.flags = FI_RECV | FI_MSG;
		comp.entry.len = i < header->write_count && header->write[i].count
					 ? header->write[i].seg[0].length
					 : 0;
		comp.entry.data = call->xid;
		crn_ep_done(&ep->ep, CRN_EP_RX, &comp, result->report);
	}
}

void rpr_call_over(struct rpr_call *call)
{
	rpr_call_put(call);
	calls_send_waiting(call->send.ep);
}

/* A message of the Reply chunk, or else the inline bytes; false: it is neither. */
static bool call_message(struct rpr_call *call, const struct rpr_header *header,
			 struct rpr_rx *rx, const uint8_t *bytes, size_t len)
{
	struct rpr_arrival *arrival = &call->arrival;
	enum rpr_direction direction;
	uint32_t xid;

	rpr_arrival_init(arrival, call->send.ep, RPR_REPLY);
	if (header->proc == RPR_MSG) {
		arrival->rx = rx;
		arrival->bytes = bytes;
		arrival->inline_len = len;
	} else {
		if (!header->reply.count)
			return false;
		/* What is looked at is what the program gets. */
		rpr_mem_fence(&call->reply);
		arrival->bytes = (const uint8_t *)call->reply_at;
		arrival->inline_len = header->reply.seg[0].length;
		if (!rpr_message_parse(arrival->bytes, arrival->inline_len, &xid,
				       &direction) ||
		    direction != RPR_REPLY || xid != call->xid)
			return false;
	}
	arrival->len = arrival->inline_len;
	return true;
}

void rpr_call_reply(struct rpr_call *call, const struct rpr_header *header,
		    struct rpr_rx *rx, const uint8_t *bytes, size_t len)
{
	struct rpr_ep *ep = call->send.ep;
	enum rpr_taken taken = RPR_DROPPED;

	if (call_reply_fits(call, header) && call_message(call, header, rx, bytes, len))
		taken = ep->ops->reply(ep, call);
	if (taken == RPR_DROPPED) {
		ep->stats.drop_reply++;
		rpr_rx_put(rx);
		/* Its Call may be a cancelled one that had this XID before. */
		rpr_call_late(ep);
		return;
	}
	ep->stats.replies_received++;
	/* RFC 8166 section 3.3.1: never zero; who says so means no more than one. */
	ep->stats.zero_grants += !header->credit;
	ep->credit = CRN_MAX(header->credit, 1U);
	ep->outstanding--;
	call->state = RPR_CALL_ARRIVED;
	call_fence(call);
	call_report(call, 0, 0);
	call_results(call, header);
	if (taken == RPR_EMPTY || !call->arrival.rx)
		rpr_rx_put(rx);
	else
		ep->unread++;
	if (taken == RPR_EMPTY)
		rpr_call_over(call);
	else if (call->reply_recv)
		rpr_arrive_at(&call->arrival, call->reply_recv);
	else
		rpr_arrive(&call->arrival);
	calls_send_waiting(ep);
}

static void call_receives_lost(struct rpr_call *call, int err, int prov_errno)
{
	struct rpr_ep *ep = call->send.ep;
	struct fi_cq_err_entry entry = {
		.flags = FI_RECV | FI_MSG,
		.err = err,
		.prov_errno = prov_errno ? prov_errno : err,
		.data = call->xid,
	};
	uint32_t i;

	for (i = 0; i < call->result_count; i++) {
		entry.op_context = call->result[i].context;
		crn_ep_fail(&ep->ep, CRN_EP_RX, &entry, FI_ADDR_NOTAVAIL);
	}
}

void rpr_call_lost(struct rpr_call *call, int err, int prov_errno)
{
	struct rpr_ep *ep = call->send.ep;

	ep->outstanding -= call->state == RPR_CALL_SENT;
	/* The mode may end the connection, which is not to meet it again. */
	call->state = RPR_CALL_ARRIVED;
	crn_list_del(&call->wait);
	call_fence(call);
	call_report(call, err, prov_errno);
	call_receives_lost(call, err, prov_errno);
	ep->ops->lost(ep, call, err, prov_errno);
	rpr_call_put(call);
	calls_send_waiting(ep);
}

/* The slot goes while its Reply may come: that is dropped, or is that of whoever has the
 * XID then (RFC 8167 section 2.4.1). */
static void call_forget(struct rpr_call *call)
{
	struct rpr_ep *ep = call->send.ep;

	/* The peer has it still, and the credit with it. */
	ep->abandoned += call->state == RPR_CALL_SENT;
	call_fence(call);
	call_report(call, FI_ECANCELED, 0);
	call_receives_lost(call, FI_ECANCELED, 0);
	if (call->reply_recv)
		rpr_recv_failed(ep, call->reply_recv, FI_ECANCELED, 0, 0, 0, call->xid);
	rpr_call_put(call);
}

void rpr_call_late(struct rpr_ep *ep)
{
	if (!ep->abandoned)
		return;
	ep->abandoned--;
	ep->outstanding--;
	calls_send_waiting(ep);
}

bool rpr_call_cancel(struct rpr_ep *ep, void *context)
{
	struct rpr_call *call;

	for (call = ep->calls; call < ep->calls + ep->call_slots; call++) {
		if (call->context != context)
			continue;
		if (call->state == RPR_CALL_SENT || call->state == RPR_CALL_WAITING) {
			call_forget(call);
			return true;
		}
	}
	return false;
}

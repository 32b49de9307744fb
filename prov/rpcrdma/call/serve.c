/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of the peer, from their arrival to the Reply.
 *
 *	FREE -take-> ARRIVED -delivered-> HELD -Reply, error-> REPLYING -sent-> FREE
 *	ARRIVED -error-> REPLYING
 *
 * The peer has its credit back when the Reply is given to the lower provider; whatever it
 * sends before this end knows that the Reply was sent waits until there is a slot.
 */
#include <stdlib.h>
#include <string.h>
#include "call.h"

/* Bytes of a message of wrap mode that are not the program's, and its round-up. */
#define SERVE_OVERHEAD 64

struct rpr_serve *rpr_serve_take(struct rpr_ep *ep, struct rpr_rx *rx, uint32_t xid)
{
	struct rpr_serve *serve;

	/* RFC 8167 section 6: an endpoint that is not ready for them survives. */
	if (!ep->grant) {
		ep->stats.drop_unready++;
		rpr_rx_put(rx);
		return NULL;
	}
	if (ep->serving >= ep->grant) {
		rpr_kill(ep, "sent more Calls than it has credits");
		return NULL;
	}
	if (crn_list_empty(&ep->serves_free)) {
		crn_list_add_tail(&ep->stalled, &rx->entry);
		return NULL;
	}
	serve = crn_container_of(crn_list_pop(&ep->serves_free), struct rpr_serve, entry);
	serve->state = RPR_SERVE_ARRIVED;
	serve->xid = xid;
	serve->began = rpr_clock();
	serve->write_count = 0;
	serve->has_reply = false;
	serve->err = 0;
	serve->reducible = true;
	serve->pending = false;
	ep->serving++;
	ep->stats.calls_received++;
	return serve;
}

/* Chunks of the peer's that results may go to. */
static void serve_keep_chunks(struct rpr_serve *serve, const struct rpr_header *header)
{
	uint32_t i;

	serve->write_count = header->write_count;
	for (i = 0; i < header->write_count; i++)
		serve->write[i] = header->write[i];
	serve->has_reply = header->has_reply;
	if (header->has_reply)
		serve->reply = header->reply;
}

static void serve_keep_begin(struct rpr_serve *serve, const uint8_t *bytes, size_t len)
{
	memset(serve->begin, 0, sizeof(serve->begin));
	if (len)
		memcpy(serve->begin, bytes, CRN_MIN(len, sizeof(serve->begin)));
}

static bool serve_layout(struct rpr_serve *serve, const struct rpr_header *header,
			 const uint8_t *bytes, size_t len)
{
	struct rpr_arrival *arrival = &serve->arrival;

	if (!header->read_count)
		return true;
	if (rpr_layout(header, header->proc == RPR_NOMSG, bytes, len,
		       arrival->ep->max_msg + SERVE_OVERHEAD, &arrival->layout))
		return false;
	arrival->len = arrival->layout->total;
	/* No Call is shorter than that (RFC 5531 section 9). */
	return arrival->len >= 8;
}

static bool serve_parse(struct rpr_serve *serve, const struct rpr_header *header,
			const uint8_t *bytes, size_t len)
{
	struct rpr_ep *ep = serve->arrival.ep;

	/* RFC 8167 section 5.3: without chunks, a list that is not empty is an error. */
	if (ep->chunks == FI_CAIRN_RPC_CHUNKS_NONE &&
	    (header->read_count || header->write_count || header->has_reply))
		return false;
	if (header->read_count || header->write_count || header->has_reply) {
		serve_keep_begin(serve, bytes, len);
		if (rpr_poison_take(serve))
			return false;
	}
	serve_keep_chunks(serve, header);
	return serve_layout(serve, header, bytes, len) && ep->ops->call(ep, serve);
}

void rpr_serve_call(struct rpr_serve *serve, const struct rpr_header *header,
		    struct rpr_rx *rx, const uint8_t *bytes, size_t len)
{
	struct rpr_arrival *arrival = &serve->arrival;

	rpr_arrival_init(arrival, rx->ep, RPR_CALL);
	arrival->rx = rx;
	arrival->bytes = bytes;
	arrival->inline_len = len;
	arrival->len = len;
	if (serve_parse(serve, header, bytes, len)) {
		rpr_arrive(arrival);
		return;
	}
	rpr_arrival_drop(arrival);
	rpr_serve_error(serve, RPR_ERR_CHUNK, header->vers);
}

void rpr_serve_delivered(struct rpr_serve *serve)
{
	struct rpr_ep *ep = serve->arrival.ep;

	serve->state = RPR_SERVE_HELD;
	crn_list_add_tail(&ep->held, &serve->entry);
	ep->held_count++;
	ep->ops->delivered(ep, serve);
}

struct rpr_serve *rpr_serve_find(struct rpr_ep *ep, uint32_t xid)
{
	struct rpr_serve *serve;
	struct crn_list *entry;

	crn_list_for_each (entry, &ep->held) {
		serve = crn_container_of(entry, struct rpr_serve, entry);
		if (serve->xid == xid)
			return serve;
	}
	return NULL;
}

static void serve_resume(struct rpr_ep *ep)
{
	struct crn_list *entry;

	if (ep->resuming)
		return;
	ep->resuming = true;
	while (!crn_list_empty(&ep->serves_free) && (entry = crn_list_pop(&ep->stalled)))
		rpr_inbound(ep, crn_container_of(entry, struct rpr_rx, entry));
	ep->resuming = false;
}

static void serve_report(struct rpr_serve *serve)
{
	struct rpr_ep *ep = serve->send.ep;

	if (!serve->pending)
		return;
	serve->pending = false;
	if (serve->err)
		rpr_send_failed(ep, serve->context, serve->flags, serve->err, 0);
	else
		rpr_sent(ep, serve->context, serve->flags, serve->report);
}

/* Memory comes with items: most Replies have none. */
static void serve_close(struct rpr_serve *serve)
{
	int i;

	if (crn_likely(!serve->items))
		return;
	for (i = 0; i < RPR_IOV_LIMIT; i++)
		rpr_mem_close(&serve->source[i]);
	rpr_mem_close(&serve->body);
	free(serve->items);
	serve->items = NULL;
}

static void serve_settle(struct rpr_serve *serve)
{
	struct rpr_ep *ep = serve->send.ep;

	if (serve->posted || serve->writing)
		return;
	serve_close(serve);
	serve_report(serve);
	serve->state = RPR_SERVE_FREE;
	crn_list_add_tail(&ep->serves_free, &serve->entry);
	if (serve->err)
		rpr_broken(ep, serve->err);
	serve_resume(ep);
}

static void serve_sent(struct rpr_item *item, int err)
{
	struct rpr_serve *serve = crn_container_of(item, struct rpr_serve, send);

	serve->posted = false;
	serve->err = serve->err ? serve->err : err;
	serve_settle(serve);
}

void rpr_serve_init(struct rpr_ep *ep, struct rpr_serve *serve)
{
	rpr_item_init(ep, &serve->send, RPR_ITEM_SEND, serve_sent);
	serve->send.buf = serve->buf->data;
	serve->send.desc = serve->buf->desc;
	serve->arrival.ep = ep;
}

static void serve_written(struct rpr_item *item, int err)
{
	struct rpr_serve *serve = item->owner;

	if (item->refused)
		rpr_poison_add(serve);
	serve->writing--;
	serve->err = serve->err ? serve->err : err;
	serve_settle(serve);
}

void rpr_serve_write(struct rpr_serve *serve, struct rpr_item *item)
{
	rpr_item_init(serve->arrival.ep, item, RPR_ITEM_WRITE, serve_written);
	item->owner = serve;
	serve->writing++;
	serve->arrival.ep->stats.written_bytes += item->len;
	rpr_post(item);
}

void rpr_serve_reply(struct rpr_serve *serve)
{
	struct rpr_ep *ep = serve->arrival.ep;

	if (serve->state == RPR_SERVE_HELD) {
		crn_list_del(&serve->entry);
		ep->held_count--;
	}
	serve->send.quiet = !serve->pending;
	serve->state = RPR_SERVE_REPLYING;
	serve->posted = true;
	ep->serving--;
	ep->stats.replies_sent++;
	rpr_post(&serve->send);
}

void rpr_serve_error(struct rpr_serve *serve, enum rpr_errcode err, uint32_t vers)
{
	struct rpr_ep *ep = serve->arrival.ep;
	const struct rpr_header header = {
		.xid = serve->xid,
		.vers = vers,
		.credit = ep->grant,
		.proc = RPR_ERROR,
		.err = err,
		.vers_low = RPR_VERSION,
		.vers_high = RPR_VERSION,
	};

	if (err == RPR_ERR_VERS)
		ep->stats.err_vers_sent++;
	else
		ep->stats.err_chunk_sent++;
	serve->send.len =
		(size_t)rpr_header_pack(&header, serve->buf->data, serve->buf->size);
	rpr_serve_reply(serve);
	ep->stats.replies_sent--;
}

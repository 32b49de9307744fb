/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages meet the program's receives in the order of their arrival, and are reported in
 * that order. A message with Read chunks is read straight into its receive; those behind
 * it are copied meanwhile, and reported after it.
 */
#include <stdlib.h>
#include <string.h>
#include "call.h"

void rpr_arrival_init(struct rpr_arrival *arrival, struct rpr_ep *ep,
		      enum rpr_direction direction)
{
	crn_list_init(&arrival->entry);
	arrival->ep = ep;
	arrival->direction = direction;
	arrival->rx = NULL;
	arrival->skip = 0;
	arrival->layout = NULL;
	arrival->recv = NULL;
	arrival->items = NULL;
	arrival->reading = 0;
	arrival->sinks = 0;
	arrival->err = 0;
	arrival->hidden = false;
	arrival->whole = false;
	arrival->flags = FI_RECV | FI_MSG;
	arrival->data = 0;
}

static struct rpr_serve *arrival_serve(struct rpr_arrival *arrival)
{
	return crn_container_of(arrival, struct rpr_serve, arrival);
}

static struct rpr_call *arrival_call(struct rpr_arrival *arrival)
{
	return crn_container_of(arrival, struct rpr_call, arrival);
}

/* ---- receives ---- */

struct rpr_recv *rpr_recv_take(struct rpr_rxq *rxq, enum rpr_direction direction)
{
	const int one = direction == RPR_CALL ? FI_CAIRN_RPC_RECV_CALLS
					      : FI_CAIRN_RPC_RECV_REPLIES;
	struct crn_list *entry;
	struct rpr_recv *recv;

	crn_list_for_each (entry, &rxq->posted) {
		recv = crn_container_of(entry, struct rpr_recv, entry);
		if (recv->takes != FI_CAIRN_RPC_RECV_ANY && recv->takes != one)
			continue;
		crn_list_del(&recv->entry);
		return recv;
	}
	return NULL;
}

static void recv_free(struct rpr_ep *ep, struct rpr_recv *recv)
{
	crn_list_add_tail(&rpr_rxq_of(ep)->free, &recv->entry);
}

void rpr_recv_done(struct rpr_ep *ep, struct rpr_recv *recv, size_t len, uint64_t flags,
		   uint64_t data)
{
	const struct crn_cq_comp comp = {
		.entry =
			{
				.op_context = recv->context,
				.flags = flags,
				.len = len,
				.buf = recv->iov_count ? recv->iov[0].iov_base : NULL,
				.data = data,
			},
		.src_addr = FI_ADDR_NOTAVAIL,
	};
	const bool report = crn_ep_reports(&ep->ep, CRN_EP_RX, recv->flags);

	recv_free(ep, recv);
	crn_ep_done(&ep->ep, CRN_EP_RX, &comp, report);
}

void rpr_recv_failed(struct rpr_ep *ep, struct rpr_recv *recv, int err, int prov_errno,
		     size_t len, size_t olen, uint64_t data)
{
	const struct fi_cq_err_entry entry = {
		.op_context = recv->context,
		.flags = FI_RECV | FI_MSG,
		.len = len,
		.buf = recv->iov_count ? recv->iov[0].iov_base : NULL,
		.data = data,
		.olen = olen,
		.err = err,
		.prov_errno = prov_errno ? prov_errno : err,
	};

	recv_free(ep, recv);
	crn_ep_fail(&ep->ep, CRN_EP_RX, &entry, FI_ADDR_NOTAVAIL);
}

/* Copies to the bytes from at on. */
static void recv_copy(const struct rpr_recv *recv, size_t at, const uint8_t *from,
		      size_t len)
{
	size_t i, part;

	if (crn_likely(recv->iov_count == 1 && len)) {
		memcpy((uint8_t *)recv->iov->iov_base + at, from, len);
		return;
	}
	for (i = 0; i < recv->iov_count && len; i++) {
		if (at >= recv->iov[i].iov_len) {
			at -= recv->iov[i].iov_len;
			continue;
		}
		part = CRN_MIN(len, recv->iov[i].iov_len - at);
		memcpy((uint8_t *)recv->iov[i].iov_base + at, from, part);
		from += part;
		len -= part;
		at = 0;
	}
}

/* The first bytes of a message of len bytes: how many there are. */
static size_t recv_begin(const struct rpr_recv *recv, size_t len, uint8_t *to,
			 size_t size)
{
	const size_t most = CRN_MIN(CRN_MIN(len, recv->len), size);
	size_t i, part, done = 0;

	for (i = 0; i < recv->iov_count && done < most; i++) {
		part = CRN_MIN(recv->iov[i].iov_len, most - done);
		memcpy(to + done, recv->iov[i].iov_base, part);
		done += part;
	}
	return done;
}

void rpr_recv_give(struct rpr_ep *ep, struct rpr_recv *recv, const struct iovec *bytes)
{
	const size_t len = CRN_MIN(bytes->iov_len, recv->len);

	recv_copy(recv, 0, bytes->iov_base, len);
	if (len < bytes->iov_len)
		rpr_recv_failed(ep, recv, FI_ETRUNC, 0, len, bytes->iov_len - len, 0);
	else
		rpr_recv_done(ep, recv, len, FI_RECV | FI_MSG, 0);
}

/* ---- the end of an arrival ---- */

static void arrival_release(struct rpr_arrival *arrival)
{
	uint32_t i;

	if (crn_unlikely(arrival->layout != NULL)) {
		for (i = 0; i < arrival->sinks; i++)
			rpr_mem_close(&arrival->sink[i]);
		arrival->sinks = 0;
		free(arrival->items);
		arrival->items = NULL;
		free(arrival->layout);
		arrival->layout = NULL;
	}
	if (arrival->rx) {
		arrival->ep->unread -= arrival->direction == RPR_REPLY;
		rpr_rx_put(arrival->rx);
	}
	arrival->rx = NULL;
}

void rpr_arrival_drop(struct rpr_arrival *arrival)
{
	crn_list_del(&arrival->entry);
	arrival_release(arrival);
}

/* What the program knows a message by that its receive has not shown: its XID. */
static uint64_t arrival_error_data(struct rpr_arrival *arrival)
{
	if (arrival->ep->mode == RPR_MODE_WRAP)
		return arrival->data;
	return arrival->direction == RPR_CALL ? arrival_serve(arrival)->xid
					      : arrival_call(arrival)->xid;
}

static void arrival_report(struct rpr_arrival *arrival)
{
	struct rpr_ep *ep = arrival->ep;
	const struct crn_cq_comp comp = {
		.entry = {.flags = arrival->flags,
			  .len = arrival->len,
			  .data = arrival->data},
		.src_addr = FI_ADDR_NOTAVAIL,
	};
	struct rpr_recv *recv = arrival->recv;

	if (!recv)
		crn_ep_done(&ep->ep, CRN_EP_RX, &comp, true);
	else if (arrival->err)
		rpr_recv_failed(ep, recv, arrival->err, 0,
				arrival->bytes ? CRN_MIN(arrival->len, recv->len) : 0,
				arrival->len - recv->len, arrival_error_data(arrival));
	else
		rpr_recv_done(ep, recv, arrival->len, arrival->flags, arrival->data);
}

/* Up to the end of a Call's credentials (RFC 5531 sections 8.2 and 9). */
#define CREDENTIALS_END 432

/* What GSS protects is not taken apart: neither is the Reply (RFC 8166 section
 * 8.2.2.3). Asked before the program may change the message. */
static void arrival_protected(struct rpr_arrival *arrival)
{
	struct rpr_serve *serve = arrival_serve(arrival);
	uint8_t begin[CREDENTIALS_END];

	if (arrival->recv && serve->write_count)
		serve->reducible =
			rpr_message_reducible(begin,
					      recv_begin(arrival->recv, arrival->len,
							 begin, sizeof(begin)));
}

/* The program has it; it is in no list. */
static void deliver(struct rpr_arrival *arrival)
{
	if (arrival->direction == RPR_CALL) {
		arrival_protected(arrival);
		arrival_report(arrival);
		rpr_serve_delivered(arrival_serve(arrival));
	} else {
		arrival_report(arrival);
		rpr_call_over(arrival_call(arrival));
	}
}

/* Those that are whole, up to one that is not. */
static void deliver_whole(struct rpr_ep *ep)
{
	struct rpr_arrival *arrival;

	while (!crn_list_empty(&ep->matched)) {
		arrival = crn_container_of(ep->matched.next, struct rpr_arrival, entry);
		if (!arrival->whole)
			return;
		crn_list_del(&arrival->entry);
		deliver(arrival);
	}
}

/* A message that the program does not get: its receive is for another one. */
static void arrival_undo(struct rpr_arrival *arrival)
{
	struct rpr_ep *ep = arrival->ep;
	struct rpr_rxq *rxq = rpr_rxq_of(ep);
	struct crn_list *first = rxq->posted.next;

	if (arrival->recv)
		crn_list_add_tail(first, &arrival->recv->entry);
	if ((arrival->recv && rxq->shared) || (arrival->whole && !arrival->recv))
		crn_ep_abandon(&ep->ep, CRN_EP_RX);
	arrival->recv = NULL;
	rpr_arrival_drop(arrival);
	if (arrival->direction == RPR_CALL)
		rpr_serve_error(arrival_serve(arrival), RPR_ERR_CHUNK, RPR_VERSION);
	else
		rpr_call_over(arrival_call(arrival));
}

/* Messages of wrap mode are in order, and none is missing: those behind one that is lost
 * are as well. One that is being read follows when it has been. */
static void arrivals_behind(struct rpr_ep *ep)
{
	struct rpr_arrival *arrival;
	struct crn_list *entry, *prev;

	ep->gap = true;
	while ((entry = crn_list_pop(&ep->unmatched)))
		arrival_undo(crn_container_of(entry, struct rpr_arrival, entry));
	for (entry = ep->matched.prev; entry != &ep->matched; entry = prev) {
		prev = entry->prev;
		arrival = crn_container_of(entry, struct rpr_arrival, entry);
		if (arrival->whole)
			arrival_undo(arrival);
	}
}

/* The peer's memory could not be read (RFC 8166 section 4.5.3). */
static void arrival_unread(struct rpr_arrival *arrival)
{
	struct rpr_ep *ep = arrival->ep;
	const int err = arrival->err;

	crn_list_del(&arrival->entry);
	if (ep->mode == RPR_MODE_WRAP && !ep->gap)
		arrivals_behind(ep);
	arrival_undo(arrival);
	if (ep->gap)
		rpr_broken(ep, err ? err : FI_ECANCELED);
}

/* RFC 8166 section 4.2.1, of a message that has just become visible. */
static bool arrival_is_call(const struct rpr_arrival *arrival)
{
	enum rpr_direction direction;
	uint8_t begin[8];
	size_t len = recv_begin(arrival->recv, arrival->len, begin, sizeof(begin));
	uint32_t xid;

	return rpr_message_parse(begin, len, &xid, &direction) && direction == RPR_CALL &&
	       xid == crn_container_of(arrival, struct rpr_serve, arrival)->xid;
}

static void arrival_read_over(struct rpr_arrival *arrival)
{
	struct rpr_ep *ep = arrival->ep;

	if (!arrival->err && arrival->hidden && !arrival_is_call(arrival))
		arrival->err = FI_EIO;
	arrival_release(arrival);
	if (arrival->err || ep->gap)
		arrival_unread(arrival);
	else
		arrival->whole = true;
	deliver_whole(ep);
	rpr_match(ep);
}

static void arrival_read_done(struct rpr_item *item, int err)
{
	struct rpr_arrival *arrival = item->owner;

	arrival->ep->stats.read_bytes += err ? 0 : item->len;
	if (item->refused)
		rpr_poison_add(arrival_serve(arrival));
	arrival->err = arrival->err ? arrival->err : err;
	if (!--arrival->reading)
		arrival_read_over(arrival);
}

/* ---- RDMA Reads ---- */

static bool arrival_sinks(struct rpr_arrival *arrival)
{
	const struct rpr_recv *recv = arrival->recv;
	size_t i;

	for (i = 0; i < recv->iov_count; i++) {
		if (rpr_mem_local(arrival->ep->domain, recv->iov[i].iov_base,
				  recv->iov[i].iov_len, recv->desc[i], FI_READ,
				  &arrival->sink[i]))
			return false;
		arrival->sinks++;
	}
	return true;
}

/* A piece of the peer's memory to the bytes of the receive from at on; how many items
 * that takes. items NULL: only counts. */
static uint32_t arrival_read_piece(struct rpr_arrival *arrival,
				   const struct rpr_piece *piece, size_t at,
				   struct rpr_item *items)
{
	const struct rpr_recv *recv = arrival->recv;
	size_t i, part, left = piece->len;
	uint32_t count = 0;
	struct rpr_item *item;

	for (i = 0; i < recv->iov_count && left; i++) {
		if (at >= recv->iov[i].iov_len) {
			at -= recv->iov[i].iov_len;
			continue;
		}
		part = CRN_MIN(left, recv->iov[i].iov_len - at);
		if (items) {
			item = &items[count];
			rpr_item_init(arrival->ep, item, RPR_ITEM_READ,
				      arrival_read_done);
			item->owner = arrival;
			item->buf = (uint8_t *)recv->iov[i].iov_base + at;
			item->len = part;
			item->desc = rpr_mem_desc(&arrival->sink[i]);
			item->addr = piece->offset + (piece->len - left);
			item->key = piece->handle;
		}
		count++;
		left -= part;
		at = 0;
	}
	return count;
}

/* What of a piece is the program's, and where it goes. */
static size_t arrival_window(const struct rpr_arrival *arrival, struct rpr_piece *piece)
{
	const size_t end = CRN_MIN(piece->at + piece->len, arrival->skip + arrival->len);
	const size_t begin = CRN_MAX(piece->at, arrival->skip);

	if (end <= begin) {
		piece->len = 0;
		return 0;
	}
	if (piece->bytes)
		piece->bytes += begin - piece->at;
	piece->offset += begin - piece->at;
	piece->len = end - begin;
	return begin - arrival->skip;
}

/* Copies what is inline and makes items of the rest, or only counts them. */
static uint32_t arrival_pieces(struct rpr_arrival *arrival, struct rpr_item *items)
{
	const struct rpr_layout *layout = arrival->layout;
	struct rpr_piece piece;
	uint32_t i, count = 0;
	size_t at;

	for (i = 0; i < layout->count; i++) {
		piece = layout->piece[i];
		at = arrival_window(arrival, &piece);
		if (!piece.len)
			continue;
		if (!piece.bytes)
			count += arrival_read_piece(arrival, &piece, at,
						    items ? items + count : NULL);
		else if (!items)
			recv_copy(arrival->recv, at, piece.bytes, piece.len);
	}
	return count;
}

static void arrival_read(struct rpr_arrival *arrival)
{
	uint32_t i, count = arrival_pieces(arrival, NULL);

	if (count) {
		arrival->items = calloc(count, sizeof(*arrival->items));
		if (!arrival->items || !arrival_sinks(arrival)) {
			arrival->err = FI_ENOMEM;
			arrival_release(arrival);
			arrival_unread(arrival);
			return;
		}
		arrival_pieces(arrival, arrival->items);
	}
	/* What is inline is copied: the buffer is the peer's again. */
	rpr_rx_put(arrival->rx);
	arrival->rx = NULL;
	arrival->bytes = NULL;
	arrival->reading = count;
	for (i = 0; i < count; i++)
		rpr_post(&arrival->items[i]);
	if (!count) {
		arrival_release(arrival);
		arrival->whole = true;
	}
}

/* ---- matching ---- */

static void arrival_start(struct rpr_arrival *arrival, struct rpr_recv *recv)
{
	arrival->recv = recv;
	if (arrival->len > recv->len) {
		arrival->err = FI_ETRUNC;
		if (arrival->layout)
			arrival->bytes = NULL;
	} else if (arrival->layout) {
		arrival_read(arrival);
		return;
	}
	if (arrival->bytes)
		recv_copy(recv, 0, arrival->bytes + arrival->skip,
			  CRN_MIN(arrival->len, recv->len));
	arrival_release(arrival);
	arrival->whole = true;
}

/* The receive that it is for, if any (NULL: it takes none). False: it waits. */
static bool match_find(struct rpr_ep *ep, struct rpr_arrival *arrival,
		       struct rpr_recv **found)
{
	struct rpr_rxq *rxq = rpr_rxq_of(ep);
	const bool bare = arrival->flags & FI_RMA;
	struct rpr_recv *recv;

	/* A receive of the endpoint's own has reserved the place of its completion. */
	if ((bare || rxq->shared) && !crn_ep_begin(&ep->ep, CRN_EP_RX)) {
		if (crn_list_empty(&ep->busy))
			crn_list_add_tail(&ep->domain->busy, &ep->busy);
		return false;
	}
	recv = bare ? NULL : rpr_recv_take(rxq, arrival->direction);
	if (!bare && !recv) {
		if (rxq->shared)
			crn_ep_abandon(&ep->ep, CRN_EP_RX);
		return false;
	}
	*found = recv;
	return true;
}

static void match_start(struct rpr_arrival *arrival, struct rpr_recv *recv)
{
	if (recv) {
		arrival_start(arrival, recv);
		return;
	}
	arrival_release(arrival);
	arrival->whole = true;
}

/* False: it waits. */
static bool match_one(struct rpr_ep *ep, struct rpr_arrival *arrival)
{
	struct rpr_recv *recv;

	if (!match_find(ep, arrival, &recv))
		return false;
	crn_list_del(&arrival->entry);
	crn_list_add_tail(&ep->matched, &arrival->entry);
	match_start(arrival, recv);
	return true;
}

/* The same for one that is in no list; none is before it, and it is whole at once. */
static bool match_now(struct rpr_ep *ep, struct rpr_arrival *arrival)
{
	struct rpr_recv *recv;

	if (!match_find(ep, arrival, &recv))
		return false;
	match_start(arrival, recv);
	deliver(arrival);
	return true;
}

static void match_all(struct rpr_ep *ep)
{
	struct crn_list *entry, *tmp;

	crn_list_for_each_safe (entry, tmp, &ep->unmatched) {
		/* In wrap mode messages are in order. */
		if (!match_one(ep, crn_container_of(entry, struct rpr_arrival, entry)) &&
		    ep->mode == RPR_MODE_WRAP)
			break;
		/* Without memory to read it, it took those behind it with it. */
		if (crn_unlikely(ep->gap))
			break;
	}
	crn_list_del(&ep->waiting);
	if (!crn_list_empty(&ep->unmatched) && ep->srx)
		crn_list_add_tail(&ep->srx->rxq.waiting, &ep->waiting);
	deliver_whole(ep);
}

void rpr_match(struct rpr_ep *ep)
{
	/* A message that cannot be read is answered, and its slot lets in another Call,
	 * which may end the connection: what follows from that waits for the walk, which
	 * would go on with an arrival that is in another list by then. */
	ep->match_again = true;
	if (ep->matching)
		return;
	ep->matching = true;
	while (ep->match_again) {
		ep->match_again = false;
		match_all(ep);
	}
	ep->matching = false;
	/* No more messages come. In rpc mode a receive that is left takes none of those
	 * that are; in wrap mode one waits for a place in the queue. */
	if (ep->state == RPR_EP_DOWN &&
	    (ep->mode == RPR_MODE_RPC || crn_list_empty(&ep->unmatched)))
		rpr_flush(ep);
}

void rpr_match_shared(struct rpr_srx *srx)
{
	struct crn_list *entry;
	struct rpr_ep *ep;

	while (!crn_list_empty(&srx->rxq.posted)) {
		entry = crn_list_pop(&srx->rxq.waiting);
		if (!entry)
			return;
		ep = crn_container_of(entry, struct rpr_ep, waiting);
		rpr_match(ep);
		if (!crn_list_empty(&ep->waiting))
			return;
	}
}

void rpr_arrive_at(struct rpr_arrival *arrival, struct rpr_recv *recv)
{
	if (arrival->rx) {
		arrival_start(arrival, recv);
	} else {
		arrival->recv = recv;
		arrival->whole = true;
	}
	arrival_report(arrival);
	rpr_call_over(arrival_call(arrival));
}

void rpr_arrive(struct rpr_arrival *arrival)
{
	struct rpr_ep *ep = arrival->ep;

	if (crn_unlikely(ep->gap)) {
		arrival_undo(arrival);
		return;
	}
	/* With a receive that waits for it, as most have. */
	if (crn_likely(crn_list_empty(&ep->unmatched) && crn_list_empty(&ep->matched) &&
		       !arrival->layout)) {
		if (match_now(ep, arrival))
			return;
	} else if (crn_list_empty(&ep->unmatched) && match_one(ep, arrival)) {
		deliver_whole(ep);
		return;
	}
	crn_list_add_tail(&ep->unmatched, &arrival->entry);
	rpr_match(ep);
}

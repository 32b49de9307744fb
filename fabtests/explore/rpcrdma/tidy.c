/* SPDX-License-Identifier: BSD-2-Clause */
/* What tells no states apart is the same in all: counters, what memory that is free was
 * used for, and in which order it became free. */
#include <string.h>
#include "world.h"
#include "script/world.h"
#include "objects.h"

/* Writes nothing where there is nothing to do: pages that are written are saved. */
static void clear(void *at, size_t len)
{
	const char *byte = at;
	size_t i;

	for (i = 0; i < len && !byte[i]; i++)
		;
	if (i < len)
		memset(at, 0, len);
}

static void sort(struct crn_list *list)
{
	struct crn_list sorted, *entry, *pos;

	crn_list_init(&sorted);
	while ((entry = crn_list_pop(list))) {
		pos = sorted.prev;
		while (pos != &sorted && entry < pos)
			pos = pos->prev;
		crn_list_add_tail(pos->next, entry);
	}
	while ((entry = crn_list_pop(&sorted)))
		crn_list_add_tail(list, entry);
}

/* A slot keeps what it was equipped with when it got its buffer. */
static void tidy_send(struct rpr_item *send, const struct rpr_item *old)
{
	*send = *old;
	send->len = 0;
	send->quiet = false;
}

static void tidy_calls(struct rpr_ep *ep)
{
	struct crn_list *pos;
	struct rpr_call *call, old;

	sort(&ep->calls_free);
	crn_list_for_each (pos, &ep->calls_free) {
		call = crn_container_of(pos, struct rpr_call, entry);
		old = *call;
		memset(call, 0, sizeof(*call));
		call->entry = old.entry;
		tidy_send(&call->send, &old.send);
		call->buf = old.buf;
		crn_list_init(&call->wait);
		if (call->buf)
			clear(call->buf->data, call->buf->size);
	}
}

static void tidy_serves(struct rpr_ep *ep)
{
	struct crn_list *pos;
	struct rpr_serve *serve, old;

	sort(&ep->serves_free);
	crn_list_for_each (pos, &ep->serves_free) {
		serve = crn_container_of(pos, struct rpr_serve, entry);
		old = *serve;
		memset(serve, 0, sizeof(*serve));
		serve->entry = old.entry;
		serve->arrival.ep = ep;
		tidy_send(&serve->send, &old.send);
		serve->buf = old.buf;
		clear(serve->buf->data, serve->buf->size);
	}
}

/* Receives that are posted are the last of what is outstanding. */
static void tidy_order(struct scr_ep *lower)
{
	struct crn_list *pos;
	struct scr_work *work;

	crn_list_for_each (pos, &lower->rx->posted) {
		work = crn_container_of(pos, struct scr_work, entry);
		crn_list_del(&work->mine);
		crn_list_add_tail(&lower->works, &work->mine);
	}
}

/* Of the others, those of a kind stay in their order. */
static void tidy_works(struct scr_ep *lower)
{
	struct crn_list sends, others, *entry;
	struct scr_work *work;

	crn_list_init(&sends);
	crn_list_init(&others);
	while ((entry = crn_list_pop(&lower->works))) {
		work = crn_container_of(entry, struct scr_work, mine);
		crn_list_add_tail(work->op == SCR_SEND ? &sends : &others, entry);
	}
	while ((entry = crn_list_pop(&sends)))
		crn_list_add_tail(&lower->works, entry);
	while ((entry = crn_list_pop(&others)))
		crn_list_add_tail(&lower->works, entry);
}

static void tidy_receives(struct rpr_ep *ep)
{
	struct crn_list *pos, entry;
	struct rpr_recv *recv;

	sort(&ep->rxq.free);
	crn_list_for_each (pos, &ep->rxq.free) {
		recv = crn_container_of(pos, struct rpr_recv, entry);
		entry = recv->entry;
		memset(recv, 0, sizeof(*recv));
		recv->entry = entry;
	}
}

static void tidy_posted(struct scr_ep *lower)
{
	struct crn_list *pos;
	struct scr_work *work;

	crn_list_for_each (pos, &lower->rx->posted) {
		work = crn_container_of(pos, struct scr_work, entry);
		clear(work->iov[0].iov_base, work->iov[0].iov_len);
		clear(&crn_container_of(work->context, struct rpr_rx, op)->len,
		      sizeof(size_t));
	}
}

static void tidy_queue(struct crn_cq *cq)
{
	cq->reads = 0;
	if (cq->count)
		return;
	memset(cq->ring, 0, cq->head * sizeof(*cq->ring));
	cq->head = 0;
}

void xrp_world_tidy(void)
{
	struct rpr_ep *ep;

	scr_held_sort();
	for (unsigned int i = 0; i < SIDES; i++) {
		ep = rpr_ep_of(xrp_world.end[i].ep);
		memset(&ep->stats, 0, sizeof(ep->stats));
		tidy_calls(ep);
		tidy_serves(ep);
		tidy_receives(ep);
		tidy_works(crn_container_of(ep->lower, struct scr_ep, fid));
		tidy_order(crn_container_of(ep->lower, struct scr_ep, fid));
		tidy_posted(crn_container_of(ep->lower, struct scr_ep, fid));
		tidy_queue(crn_container_of(ep->domain->cq.polled, struct crn_cq, fid));
		tidy_queue(crn_container_of(xrp_world.end[i].cq, struct crn_cq, fid));
	}
}

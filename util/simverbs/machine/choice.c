/* SPDX-License-Identifier: BSD-2-Clause */
/* What may happen in a state: the ordering rules. */
#include "parts.h"

/* Is a piece of an earlier posted request of the queue pair in the way of this one? */
static bool svb_piece_held(const struct svb_machine *m, const struct svb_piece *piece)
{
	const struct svb_piece *first = m->state->piece, *at;

	for (at = piece; at > first && at[-1].qp == piece->qp;) {
		at--;
		if (at->seq != piece->seq && !m->config.loose)
			return true;
		if (at->space == piece->space && at->line == piece->line &&
		    at->from < piece->to && piece->from < at->to)
			return true;
	}
	return false;
}

/* Must this request wait for those pieces of an earlier one? */
static bool svb_waits_for(const struct svb_machine *m, const struct svb_request *request,
			  const struct svb_request *earlier)
{
	const struct svb_machine_state *s = m->state;
	const struct svb_piece *piece;

	if (request->kind != SVB_REQ_FLUSH)
		return earlier->pieces;
	for (piece = s->piece; piece < s->piece + s->pieces; piece++)
		if (piece->qp == earlier->qp && piece->seq == earlier->seq &&
		    piece->space == request->space &&
		    piece->line + piece->from < request->at + request->len &&
		    request->at < piece->line + piece->to)
			return true;
	return false;
}

static bool svb_may_arrive(const struct svb_machine *m, const struct svb_request *request)
{
	const struct svb_request *at = request;

	while (at > m->state->request && at[-1].qp == request->qp) {
		at--;
		if (!at->arrived)
			return false;
		if (request->flags & SVB_REQ_FENCE &&
		    (at->kind == SVB_REQ_READ || at->kind == SVB_REQ_ATOMIC))
			return false;
	}
	return true;
}

static bool svb_may_execute(const struct svb_machine *m,
			    const struct svb_request *request)
{
	const struct svb_request *at = request;

	while (at > m->state->request && at[-1].qp == request->qp) {
		at--;
		if (at->kind != SVB_REQ_POSTED || svb_waits_for(m, request, at))
			return false;
	}
	return true;
}

static bool svb_may_deliver(const struct svb_machine *m,
			    const struct svb_request *request)
{
	const struct svb_request *at = request;

	while (at > m->state->request && at[-1].qp == request->qp)
		if ((--at)->kind == SVB_REQ_POSTED)
			return false;
	return !request->pieces;
}

/* What can happen to a request by itself; its pieces are looked at apart. */
static bool svb_request_choice(const struct svb_machine *m,
			       const struct svb_request *request,
			       struct svb_choice *choice)
{
	*choice = (struct svb_choice){.qp = request->qp, .seq = request->seq};
	if (m->ops->may && !m->ops->may(m->ctx, request))
		return false;
	if (!request->arrived) {
		choice->kind = SVB_CHOICE_ARRIVE;
		return svb_may_arrive(m, request);
	}
	if (request->kind != SVB_REQ_POSTED) {
		choice->kind = SVB_CHOICE_EXECUTE;
		return svb_may_execute(m, request);
	}
	choice->kind = SVB_CHOICE_DELIVER;
	return request->flags & SVB_REQ_DELIVER && svb_may_deliver(m, request);
}

struct svb_lister {
	struct svb_choice *choices;
	uint32_t count, max;
};

static void svb_list_add(struct svb_lister *list, const struct svb_choice *choice)
{
	if (list->count < list->max)
		list->choices[list->count++] = *choice;
}

/* The whole line, and with tearing each of its words by itself. */
static void svb_list_words(struct svb_lister *list, const struct svb_machine *m,
			   struct svb_choice choice, uint32_t words)
{
	uint32_t word;

	choice.words = words;
	svb_list_add(list, &choice);
	if (!m->config.tear || !(words & (words - 1)))
		return;
	for (word = 1; word <= words; word <<= 1)
		if (words & word) {
			choice.words = word;
			svb_list_add(list, &choice);
		}
}

/* Of one queue pair, or 0: of all. */
static void svb_list_pieces(struct svb_lister *list, const struct svb_machine *m,
			    uint32_t qp)
{
	const struct svb_machine_state *s = m->state;
	const struct svb_request *request = NULL;
	const struct svb_piece *piece;

	for (piece = s->piece; piece < s->piece + s->pieces && list->count < list->max;
	     piece++) {
		if (qp && piece->qp != qp)
			continue;
		if (!request || request->qp != piece->qp || request->seq != piece->seq)
			request = svb_request_find(m, piece->qp, piece->seq);
		if (!request->arrived || svb_piece_held(m, piece) ||
		    (m->ops->may && !m->ops->may(m->ctx, request)))
			continue;
		svb_list_words(list, m,
			       (struct svb_choice){.kind = SVB_CHOICE_PLACE,
						   .qp = piece->qp,
						   .seq = piece->seq,
						   .space = piece->space,
						   .line = piece->line},
			       piece->words);
	}
}

uint32_t svb_machine_enabled(struct svb_machine *m, struct svb_choice *choices,
			     uint32_t max)
{
	struct svb_lister list = {choices, 0, max};
	struct svb_machine_state *s = m->state;
	struct svb_choice choice;
	uint32_t i, words;

	for (i = 0; i < s->requests; i++)
		if (svb_request_choice(m, &s->request[i], &choice))
			svb_list_add(&list, &choice);
	svb_list_pieces(&list, m, 0);
	svb_dirty_prune(m);
	for (i = 0; i < s->dirties && list.count < max; i++) {
		if (i && s->dirty[i - 1].line == s->dirty[i].line)
			continue;
		words = svb_dirty_words(m, i);
		svb_list_words(&list, m,
			       (struct svb_choice){.kind = SVB_CHOICE_DRAIN,
						   .space = SVB_SPACE_PM,
						   .line = s->dirty[i].line},
			       words);
	}
	return list.count;
}

bool svb_settle_next(struct svb_machine *m, uint32_t qp, struct svb_choice *choice)
{
	struct svb_lister list = {choice, 0, 1};
	struct svb_machine_state *s = m->state;
	uint32_t i;

	for (i = 0; i < s->requests; i++)
		if ((!qp || s->request[i].qp == qp) &&
		    svb_request_choice(m, &s->request[i], choice))
			return true;
	svb_list_pieces(&list, m, qp);
	return list.count;
}

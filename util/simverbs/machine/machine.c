/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests under way: from being handed over to being executed or delivered. */
#include <string.h>
#include "machine.h"
#include "parts.h"

/* The first request of a queue pair, or where it would be. */
static uint32_t svb_first_of(const struct svb_machine_state *s, uint32_t qp)
{
	uint32_t i;

	for (i = 0; i < s->requests && s->request[i].qp < qp; i++)
		;
	return i;
}

struct svb_request *svb_request_find(const struct svb_machine *m, uint32_t qp,
				     uint32_t seq)
{
	struct svb_machine_state *s = m->state;
	uint32_t i;

	for (i = svb_first_of(s, qp); i < s->requests && s->request[i].qp == qp; i++)
		if (s->request[i].seq == seq)
			return &s->request[i];
	return NULL;
}

static void svb_request_remove(struct svb_machine *m, struct svb_request *request)
{
	struct svb_machine_state *s = m->state;
	struct svb_request *end = &s->request[--s->requests];

	memmove(request, request + 1, (size_t)(end - request) * sizeof(*request));
	memset(end, 0, sizeof(*end));
}

static void svb_request_add(struct svb_machine *m, const struct svb_request *request,
			    uint32_t pieces)
{
	struct svb_machine_state *s = m->state;
	uint32_t i = svb_first_of(s, request->qp);

	while (i < s->requests && s->request[i].qp == request->qp)
		i++;
	memmove(&s->request[i + 1], &s->request[i],
		(s->requests++ - i) * sizeof(s->request[0]));
	s->request[i] = *request;
	s->request[i].arrived = 0;
	s->request[i].pieces = pieces;
}

/* What of a request is in the line of a target that begins after its first done bytes. */
static uint32_t svb_piece_length(const struct svb_target *target, uint64_t done)
{
	uint64_t left = target->len - done;
	uint32_t room = SVB_CACHE_LINE - (uint32_t)((target->at + done) % SVB_CACHE_LINE);

	return left < room ? (uint32_t)left : room;
}

static uint32_t svb_pieces_of(const struct svb_target *targets, uint32_t count)
{
	uint64_t pieces = 0, first, end;
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (!targets[i].len)
			continue;
		first = targets[i].at / SVB_CACHE_LINE;
		end = (targets[i].at + targets[i].len - 1) / SVB_CACHE_LINE + 1;
		pieces += end - first;
	}
	return pieces > SVB_MACHINE_PIECES ? UINT32_MAX : (uint32_t)pieces;
}

/* The words of a line that bytes from to to touch. */
static uint8_t svb_words_of(uint32_t from, uint32_t to)
{
	uint32_t first = from / SVB_WORD, end = (to + SVB_WORD - 1) / SVB_WORD;

	return (uint8_t)((1u << end) - (1u << first));
}

/* What of a request goes to the line of a target after its first done bytes. */
static void svb_piece_fill(struct svb_piece *piece, const struct svb_request *request,
			   const struct svb_target *target, uint64_t done,
			   const uint8_t *data)
{
	uint32_t len = svb_piece_length(target, done);
	uint64_t at = target->at + done;

	memset(piece, 0, sizeof(*piece));
	piece->qp = request->qp;
	piece->seq = request->seq;
	piece->space = target->space;
	piece->line = at - at % SVB_CACHE_LINE;
	piece->region = request->region;
	piece->from = (uint8_t)(at % SVB_CACHE_LINE);
	piece->to = (uint8_t)(piece->from + len);
	piece->words = svb_words_of(piece->from, piece->to);
	memcpy(piece->data + piece->from, data, len);
}

/* Pieces are sorted by request and then by where they stand in it. */
static struct svb_piece *svb_pieces_insert(struct svb_machine *m, uint32_t qp,
					   uint32_t count)
{
	struct svb_machine_state *s = m->state;
	uint32_t i;

	for (i = s->pieces; i && s->piece[i - 1].qp > qp; i--)
		;
	memmove(&s->piece[i + count], &s->piece[i],
		(s->pieces - i) * sizeof(s->piece[0]));
	s->pieces += count;
	return &s->piece[i];
}

bool svb_machine_post(struct svb_machine *m, const struct svb_request *request,
		      const struct svb_target *targets, uint32_t count, const void *data)
{
	uint32_t pieces = svb_pieces_of(targets, count), len, i;
	const uint8_t *from = data;
	struct svb_piece *piece;
	uint64_t done;

	if (m->state->requests == SVB_MACHINE_REQUESTS ||
	    pieces > SVB_MACHINE_PIECES - m->state->pieces)
		return false;
	svb_request_add(m, request, pieces);
	piece = svb_pieces_insert(m, request->qp, pieces);
	for (i = 0; i < count; i++)
		for (done = 0; done < targets[i].len; done += len, piece++) {
			len = svb_piece_length(&targets[i], done);
			svb_piece_fill(piece, request, &targets[i], done, from);
			from += len;
		}
	return true;
}

void svb_machine_write(struct svb_machine *m, const struct svb_request *request,
		       const struct svb_target *targets, uint32_t count, const void *data)
{
	const uint8_t *from = data;
	struct svb_piece piece;
	uint64_t done;
	uint32_t i;

	for (i = 0; i < count; i++)
		for (done = 0; done < targets[i].len; done += piece.to - piece.from) {
			svb_piece_fill(&piece, request, &targets[i], done, from);
			svb_piece_place(m, &piece, piece.words);
			from += piece.to - piece.from;
		}
}

bool svb_machine_answered(const struct svb_machine *m, uint32_t qp, uint32_t seq)
{
	const struct svb_request *request = svb_request_find(m, qp, seq);

	return !request ||
	       (request->kind == SVB_REQ_POSTED && (m->config.weak || request->arrived));
}

/* Posted, placed, and nobody to tell: it is over. */
static void svb_request_settled(struct svb_machine *m, struct svb_request *request)
{
	if (request->kind == SVB_REQ_POSTED && !request->pieces &&
	    !(request->flags & SVB_REQ_DELIVER))
		svb_request_remove(m, request);
}

static void svb_apply_arrive(struct svb_machine *m, struct svb_request *request)
{
	request->arrived = 1;
	svb_request_settled(m, request);
}

static void svb_apply_place(struct svb_machine *m, struct svb_request *request,
			    const struct svb_choice *choice)
{
	struct svb_machine_state *s = m->state;
	struct svb_piece *piece = s->piece, *end;

	while (piece->qp != choice->qp || piece->seq != choice->seq ||
	       piece->space != choice->space || piece->line != choice->line ||
	       (piece->words & choice->words) != choice->words)
		piece++;
	svb_piece_place(m, piece, (uint8_t)choice->words);
	piece->words &= (uint8_t)~choice->words;
	if (piece->words)
		return;
	end = &s->piece[--s->pieces];
	memmove(piece, piece + 1, (size_t)(end - piece) * sizeof(*piece));
	memset(end, 0, sizeof(*end));
	request->pieces--;
	svb_request_settled(m, request);
}

static void svb_apply_execute(struct svb_machine *m, struct svb_request *request)
{
	struct svb_request copy = *request;

	svb_request_remove(m, request);
	m->ops->execute(m->ctx, &copy);
	switch (copy.kind) {
	case SVB_REQ_ATOMIC:
	case SVB_REQ_ATOMIC_WRITE:
		if (copy.space == SVB_SPACE_PM)
			svb_dirty_add(m, copy.at, SVB_WORD, copy.qp, copy.region);
		break;
	case SVB_REQ_FLUSH:
		if (copy.flags & SVB_REQ_PERSISTENT && copy.space == SVB_SPACE_PM)
			svb_dirty_flush_range(m, &copy);
		break;
	default:
		break;
	}
	if (!m->config.ddio && (copy.kind == SVB_REQ_READ || copy.kind == SVB_REQ_FLUSH))
		svb_dirty_push(m, &copy);
}

static void svb_apply_deliver(struct svb_machine *m, struct svb_request *request)
{
	struct svb_request copy = *request;

	svb_request_remove(m, request);
	m->ops->deliver(m->ctx, &copy);
}

void svb_machine_apply(struct svb_machine *m, const struct svb_choice *choice)
{
	struct svb_request *request = svb_request_find(m, choice->qp, choice->seq);

	switch (choice->kind) {
	case SVB_CHOICE_ARRIVE:
		svb_apply_arrive(m, request);
		break;
	case SVB_CHOICE_PLACE:
		svb_apply_place(m, request, choice);
		break;
	case SVB_CHOICE_EXECUTE:
		svb_apply_execute(m, request);
		break;
	case SVB_CHOICE_DELIVER:
		svb_apply_deliver(m, request);
		break;
	default:
		svb_dirty_drain(m, choice->line, choice->words);
		break;
	}
}

void svb_machine_settle(struct svb_machine *m, uint32_t qp)
{
	struct svb_choice choice;

	while (svb_settle_next(m, qp, &choice))
		svb_machine_apply(m, &choice);
}

void svb_machine_forget(struct svb_machine *m, uint32_t qp, bool all)
{
	struct svb_machine_state *s = m->state;
	uint32_t i, kept = 0;

	for (i = 0; i < s->pieces; i++)
		if (s->piece[i].qp != qp ||
		    (!all && svb_request_find(m, qp, s->piece[i].seq)->arrived))
			s->piece[kept++] = s->piece[i];
	memset(&s->piece[kept], 0, (s->pieces - kept) * sizeof(s->piece[0]));
	s->pieces = kept;
	for (i = s->requests; i--;)
		if (s->request[i].qp == qp && (all || !s->request[i].arrived))
			svb_request_remove(m, &s->request[i]);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* From visible to the medium, and what a power failure leaves. */
#include <string.h>
#include "parts.h"

static void svb_word_copy(struct svb_machine *m, uint64_t line, uint32_t words)
{
	uint64_t at;
	uint32_t i;

	for (i = 0; i < SVB_CACHE_LINE / SVB_WORD; i++) {
		at = line + i * SVB_WORD;
		if (words >> i & 1)
			memcpy(m->medium + at, m->visible + at, SVB_WORD);
	}
}

/* Which words of a line differ between the images. */
static uint32_t svb_line_differs(const struct svb_machine *m, uint64_t line)
{
	uint32_t words = 0, i;
	uint64_t at;

	if (!memcmp(m->medium + line, m->visible + line, SVB_CACHE_LINE))
		return 0;
	for (i = 0; i < SVB_CACHE_LINE / SVB_WORD; i++) {
		at = line + i * SVB_WORD;
		if (memcmp(m->medium + at, m->visible + at, SVB_WORD))
			words |= 1u << i;
	}
	return words;
}

static bool svb_in_pm(const struct svb_machine *m, uint64_t at, uint64_t len)
{
	return at <= m->size && len <= m->size - at;
}

void svb_piece_place(struct svb_machine *m, const struct svb_piece *piece, uint8_t words)
{
	uint32_t i, from, to;

	for (i = 0; i < SVB_CACHE_LINE / SVB_WORD; i++) {
		if (!(words >> i & 1))
			continue;
		/* Words in a row go as one. */
		from = i * SVB_WORD;
		while (i < SVB_CACHE_LINE / SVB_WORD && words >> i & 1)
			i++;
		to = i * SVB_WORD;
		from = from < piece->from ? piece->from : from;
		to = to > piece->to ? piece->to : to;
		if (piece->space != SVB_SPACE_PM) {
			m->ops->place(m->ctx, piece->space, piece->line + from,
				      piece->data + from, to - from);
			continue;
		}
		if (!svb_in_pm(m, piece->line + from, to - from))
			continue;
		memcpy(m->visible + piece->line + from, piece->data + from, to - from);
		svb_dirty_add(m, piece->line + from, to - from, piece->qp, piece->region);
	}
}

static bool svb_dirty_before(const struct svb_dirty *a, const struct svb_dirty *b)
{
	if (a->line != b->line)
		return a->line < b->line;
	return a->qp != b->qp ? a->qp < b->qp : a->region < b->region;
}

/* The first entry that is not before key. */
static uint32_t svb_dirty_find(const struct svb_machine_state *s,
			       const struct svb_dirty *key)
{
	uint32_t low = 0, high = s->dirties, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (svb_dirty_before(&s->dirty[mid], key))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void svb_dirty_add_line(struct svb_machine *m, const struct svb_dirty *entry)
{
	struct svb_machine_state *s = m->state;
	uint32_t i;

	if (m->maybes) {
		svb_maybe_wrote(m, entry->line, entry->words, entry->qp, entry->region);
		return;
	}
	/* Caches are finite: some line makes room. */
	if (s->dirties == SVB_MACHINE_DIRTY)
		svb_dirty_drain(m, s->dirty[0].line, SVB_WORDS_ALL);
	i = svb_dirty_find(s, entry);
	if (i < s->dirties && !svb_dirty_before(entry, &s->dirty[i])) {
		s->dirty[i].words |= entry->words;
		return;
	}
	memmove(&s->dirty[i + 1], &s->dirty[i], (s->dirties++ - i) * sizeof(*entry));
	s->dirty[i] = *entry;
}

void svb_dirty_add(struct svb_machine *m, uint64_t at, uint64_t len, uint32_t qp,
		   uint32_t region)
{
	uint64_t end = at + len, line, from, to;
	struct svb_dirty entry = {.qp = qp, .region = region};

	for (line = at - at % SVB_CACHE_LINE; line < end; line += SVB_CACHE_LINE) {
		from = at > line ? at - line : 0;
		to = end - line < SVB_CACHE_LINE ? end - line : SVB_CACHE_LINE;
		entry.line = line;
		entry.words =
			(1u << (to + SVB_WORD - 1) / SVB_WORD) - (1u << from / SVB_WORD);
		svb_dirty_add_line(m, &entry);
	}
}

/* Drops entries without words. */
static void svb_dirty_compact(struct svb_machine *m)
{
	struct svb_machine_state *s = m->state;
	uint32_t i, kept = 0;

	for (i = 0; i < s->dirties; i++)
		if (s->dirty[i].words)
			s->dirty[kept++] = s->dirty[i];
	s->dirties = kept;
}

void svb_dirty_prune(struct svb_machine *m)
{
	struct svb_machine_state *s = m->state;
	uint32_t i;

	for (i = 0; i < s->dirties; i++)
		s->dirty[i].words &= svb_line_differs(m, s->dirty[i].line);
	svb_dirty_compact(m);
}

uint32_t svb_dirty_words(const struct svb_machine *m, uint32_t i)
{
	const struct svb_machine_state *s = m->state;
	uint64_t line = s->dirty[i].line;
	uint32_t words = 0;

	for (; i < s->dirties && s->dirty[i].line == line; i++)
		words |= s->dirty[i].words;
	return words;
}

void svb_dirty_drain(struct svb_machine *m, uint64_t line, uint32_t words)
{
	struct svb_machine_state *s = m->state;
	struct svb_dirty key = {.line = line};
	uint32_t i;

	svb_word_copy(m, line, words);
	for (i = svb_dirty_find(s, &key); i < s->dirties && s->dirty[i].line == line; i++)
		s->dirty[i].words &= ~words;
	svb_dirty_compact(m);
}

static bool svb_in_range(const struct svb_dirty *entry, const struct svb_request *flush)
{
	return entry->line < flush->at + flush->len &&
	       flush->at < entry->line + SVB_CACHE_LINE;
}

void svb_dirty_flush_range(struct svb_machine *m, const struct svb_request *flush)
{
	struct svb_machine_state *s = m->state;
	struct svb_dirty *entry;

	if (m->maybes)
		svb_maybe_push(m, flush, true, false);
	for (entry = s->dirty; entry < s->dirty + s->dirties; entry++) {
		if (entry->qp != flush->qp || !svb_in_range(entry, flush))
			continue;
		svb_word_copy(m, entry->line, entry->words);
		entry->words = 0;
	}
	svb_dirty_prune(m);
}

void svb_dirty_push(struct svb_machine *m, const struct svb_request *request)
{
	struct svb_machine_state *s = m->state;
	struct svb_dirty *entry;

	if (m->maybes)
		svb_maybe_push(m, request, request->kind == SVB_REQ_FLUSH, true);
	for (entry = s->dirty; entry < s->dirty + s->dirties; entry++) {
		if (entry->qp != request->qp || entry->region != request->region ||
		    (request->kind == SVB_REQ_FLUSH && !svb_in_range(entry, request)))
			continue;
		svb_word_copy(m, entry->line, entry->words);
		entry->words = 0;
	}
	svb_dirty_prune(m);
}

void svb_machine_drain(struct svb_machine *m)
{
	uint64_t line;

	for (line = 0; line < m->size; line += SVB_CACHE_LINE)
		svb_word_copy(m, line, svb_line_differs(m, line));
	m->state->dirties = 0;
}

void svb_machine_store(struct svb_machine *m, uint64_t at, const void *data, size_t len)
{
	if (!svb_in_pm(m, at, len))
		return;
	memcpy(m->visible + at, data, len);
	svb_dirty_add(m, at, len, 0, 0);
}

void svb_machine_flush(struct svb_machine *m, uint64_t at, size_t len)
{
	uint64_t line;

	if (!len || !svb_in_pm(m, at, len))
		return;
	for (line = at - at % SVB_CACHE_LINE; line < at + len; line += SVB_CACHE_LINE)
		if (m->maybes)
			svb_maybe_flush(m, line);
		else if (memcmp(m->medium + line, m->visible + line, SVB_CACHE_LINE))
			svb_dirty_drain(m, line, SVB_WORDS_ALL);
}

void svb_machine_scan(struct svb_machine *m)
{
	struct svb_dirty entry = {0};
	uint32_t i, known;

	if (m->maybes) {
		svb_maybe_close(m);
		return;
	}
	svb_dirty_prune(m);
	for (entry.line = 0; entry.line < m->size; entry.line += SVB_CACHE_LINE) {
		entry.words = svb_line_differs(m, entry.line);
		if (!entry.words)
			continue;
		i = svb_dirty_find(m->state, &(struct svb_dirty){.line = entry.line});
		known = i < m->state->dirties && m->state->dirty[i].line == entry.line
				? svb_dirty_words(m, i)
				: 0;
		entry.words &= ~known;
		if (entry.words)
			svb_dirty_add_line(m, &entry);
	}
}

/* splitmix64 of both: every line has a fate of its own. */
static uint64_t svb_fate(uint64_t seed, uint64_t line)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15ull + line + 1;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

void svb_machine_sweep(struct svb_machine *m, uint64_t seed)
{
	uint64_t line, fate;
	uint32_t words;

	for (line = 0; line < m->size; line += SVB_CACHE_LINE) {
		words = svb_line_differs(m, line);
		if (!words)
			continue;
		/* Of four lines one drains, one is torn and two stay. */
		fate = svb_fate(seed, line);
		if (fate & 1)
			continue;
		svb_word_copy(m, line, fate & 2 ? words : words & (uint32_t)(fate >> 8));
	}
	svb_dirty_prune(m);
}

/* WSP: what the adapter has is written out in order. What is not posted is not executed.
 */
static void svb_fail_rnic(struct svb_machine *m)
{
	struct svb_machine_state *s = m->state;
	const struct svb_request *request = s->request;
	struct svb_piece *piece;

	for (piece = s->piece; piece < s->piece + s->pieces; piece++) {
		while (request->qp != piece->qp || request->seq != piece->seq)
			request++;
		if (request->arrived && piece->space == SVB_SPACE_PM)
			svb_piece_place(m, piece, piece->words);
	}
}

void svb_machine_fail(struct svb_machine *m)
{
	uint64_t line;

	if (m->maybes)
		svb_maybe_close(m);
	if (m->config.domain == SVB_DOMAIN_WSP)
		svb_fail_rnic(m);
	if (m->config.domain >= SVB_DOMAIN_MHP)
		svb_machine_drain(m);
	else if (m->maybes)
		svb_maybe_fail(m);
	m->state->requests = m->state->pieces = m->state->dirties = 0;
	for (line = 0; line < m->size; line += SVB_CACHE_LINE)
		if (svb_line_differs(m, line))
			memcpy(m->visible + line, m->medium + line, SVB_CACHE_LINE);
}

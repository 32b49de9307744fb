/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that the medium may hold, line by line, in place of choices to drain.
 *
 * Why nothing is lost. Draining a line changes that line of the medium and which of its
 * words are still dirty, and nothing else of the state reads either: requests, memory and
 * processors go on as if it had not happened. So it commutes with every step but those
 * that write or flush the same line, and lines drain independently of each other. The
 * pairs (rest of the state, medium) that choices to drain lead to are therefore those of
 * the rest, and for each line any of the contents that draining at some moment before
 * would have left: these are the alternatives of the line. A step that flushes words by
 * who wrote them is made with each alternative, for which words are dirty depends on when
 * the line drained.
 *
 * Under MHP and WSP what is visible survives: the medium is read by nobody, and has no
 * alternatives.
 */
#include <stdlib.h>
#include <string.h>
#include "parts.h"

static bool svb_maybe_counts(const struct svb_machine *m)
{
	return m->config.domain == SVB_DOMAIN_DMP;
}

/* Alternatives of a line: the first, and *end behind the last. */
static uint32_t svb_maybe_find(const struct svb_maybes *s, uint64_t line, uint32_t *end)
{
	uint32_t i;

	for (i = 0; i < s->count && s->at[i].line < line; i++)
		;
	for (*end = i; *end < s->count && s->at[*end].line == line; ++*end)
		;
	return i;
}

static uint32_t svb_maybe_writer(struct svb_maybes *s, uint32_t qp, uint32_t region)
{
	uint32_t i;

	for (i = 0; i < s->writers; i++)
		if (s->writer[i].qp == qp && s->writer[i].region == region)
			return i;
	if (i == SVB_MAYBE_WRITERS) {
		s->full = true;
		return 0;
	}
	s->writer[i].qp = qp;
	s->writer[i].region = region;
	return s->writers++;
}

static void svb_maybe_insert(struct svb_maybes *s, uint32_t i,
			     const struct svb_maybe *maybe)
{
	if (s->count == SVB_MAYBES) {
		s->full = true;
		return;
	}
	memmove(&s->at[i + 1], &s->at[i], (s->count++ - i) * sizeof(s->at[0]));
	s->at[i] = *maybe;
}

static void svb_maybe_remove(struct svb_maybes *s, uint32_t from, uint32_t end)
{
	memmove(&s->at[from], &s->at[end], (s->count - end) * sizeof(s->at[0]));
	s->count -= end - from;
}

/* A line without alternatives gets one: as it was. */
static uint32_t svb_maybe_begin(struct svb_machine *m, uint64_t line, uint32_t *end)
{
	struct svb_maybe maybe = {.line = line};
	uint32_t i = svb_maybe_find(m->maybes, line, end);

	if (i == *end) {
		memcpy(maybe.data, m->medium + line, SVB_CACHE_LINE);
		svb_maybe_insert(m->maybes, i, &maybe);
		++*end;
	}
	return i;
}

void svb_maybe_wrote(struct svb_machine *m, uint64_t line, uint32_t words, uint32_t qp,
		     uint32_t region)
{
	uint32_t i, end, writer;

	/* Words of the processor are flushed by whoever flushes the line. */
	if (!svb_maybe_counts(m) || !qp)
		return;
	writer = svb_maybe_writer(m->maybes, qp, region);
	for (i = svb_maybe_begin(m, line, &end); i < end; i++)
		m->maybes->at[i].words[writer] |= (uint8_t)words;
}

static void svb_maybe_copy(struct svb_maybe *maybe, const uint8_t *visible,
			   uint32_t words)
{
	uint32_t i;

	for (i = 0; i < SVB_CACHE_LINE / SVB_WORD; i++)
		if (words >> i & 1)
			memcpy(maybe->data + i * SVB_WORD,
			       visible + maybe->line + i * SVB_WORD, SVB_WORD);
	for (i = 0; i < SVB_MAYBE_WRITERS; i++)
		maybe->words[i] &= (uint8_t)~words;
}

void svb_maybe_push(struct svb_machine *m, const struct svb_request *request, bool ranged,
		    bool regional)
{
	struct svb_maybes *s = m->maybes;
	struct svb_maybe *maybe;
	uint32_t i;

	for (maybe = s->at; maybe < s->at + s->count; maybe++) {
		if (ranged && (maybe->line >= request->at + request->len ||
			       request->at >= maybe->line + SVB_CACHE_LINE))
			continue;
		for (i = 0; i < s->writers; i++)
			if (s->writer[i].qp == request->qp &&
			    (!regional || s->writer[i].region == request->region))
				svb_maybe_copy(maybe, m->visible, maybe->words[i]);
	}
}

void svb_maybe_flush(struct svb_machine *m, uint64_t line)
{
	uint32_t end, from = svb_maybe_find(m->maybes, line, &end);

	svb_maybe_remove(m->maybes, from, end);
	memcpy(m->medium + line, m->visible + line, SVB_CACHE_LINE);
}

static int svb_maybe_order(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct svb_maybe));
}

/* Which words of an alternative differ from what is visible. */
static uint32_t svb_maybe_differs(const struct svb_maybe *maybe, const uint8_t *visible)
{
	uint32_t words = 0, i;

	for (i = 0; i < SVB_CACHE_LINE / SVB_WORD; i++)
		if (memcmp(maybe->data + i * SVB_WORD,
			   visible + maybe->line + i * SVB_WORD, SVB_WORD))
			words |= 1u << i;
	return words;
}

/* Adds it to the alternatives from to *end of its line, if it is none of them. */
static void svb_maybe_add(struct svb_maybes *s, uint32_t from, uint32_t *end,
			  const struct svb_maybe *maybe)
{
	uint32_t i;

	for (i = from; i < *end; i++)
		if (!svb_maybe_order(&s->at[i], maybe))
			return;
	svb_maybe_insert(s, *end, maybe);
	*end += !s->full;
}

/* What draining makes of each alternative, and of those that this adds. */
static void svb_maybe_drain(struct svb_machine *m, uint32_t from, uint32_t *end)
{
	struct svb_maybes *s = m->maybes;
	struct svb_maybe drained;
	uint32_t i, words, word;

	for (i = from; i < *end && !s->full; i++) {
		words = svb_maybe_differs(&s->at[i], m->visible);
		if (!words)
			continue;
		drained = s->at[i];
		svb_maybe_copy(&drained, m->visible, words);
		svb_maybe_add(s, from, end, &drained);
		for (word = 1; m->config.tear && word <= words; word <<= 1) {
			if (!(words & word))
				continue;
			drained = s->at[i];
			svb_maybe_copy(&drained, m->visible, word);
			svb_maybe_add(s, from, end, &drained);
		}
	}
}

/* Words that are in the medium are not dirty; equal alternatives are one. */
static void svb_maybe_normalize(struct svb_machine *m, uint32_t from, uint32_t *end)
{
	struct svb_maybes *s = m->maybes;
	uint32_t i, w, kept = from;

	for (i = from; i < *end; i++)
		for (w = 0; w < SVB_MAYBE_WRITERS; w++)
			s->at[i].words[w] &=
				(uint8_t)svb_maybe_differs(&s->at[i], m->visible);
	qsort(&s->at[from], *end - from, sizeof(s->at[0]), svb_maybe_order);
	for (i = from + 1; i < *end; i++)
		if (svb_maybe_order(&s->at[kept], &s->at[i]))
			s->at[++kept] = s->at[i];
	svb_maybe_remove(s, kept + 1, *end);
	*end = kept + 1;
}

static void svb_maybe_close_line(struct svb_machine *m, uint64_t line)
{
	const bool stored = memcmp(m->medium + line, m->visible + line, SVB_CACHE_LINE);
	struct svb_maybes *s = m->maybes;
	uint32_t end, from = svb_maybe_find(s, line, &end);

	if (from == end && !stored)
		return;
	from = svb_maybe_begin(m, line, &end);
	svb_maybe_normalize(m, from, &end);
	svb_maybe_drain(m, from, &end);
	svb_maybe_normalize(m, from, &end);
	/* Nothing but what is visible. */
	if (end == from + 1 && !svb_maybe_differs(&s->at[from], m->visible))
		svb_maybe_remove(s, from, end);
	memcpy(m->medium + line, m->visible + line, SVB_CACHE_LINE);
}

void svb_maybe_close(struct svb_machine *m)
{
	uint64_t line;

	if (!svb_maybe_counts(m)) {
		memcpy(m->medium, m->visible, m->size);
		return;
	}
	for (line = 0; line < m->size; line += SVB_CACHE_LINE)
		svb_maybe_close_line(m, line);
}

static void svb_maybe_show(struct svb_machine *m, uint32_t i)
{
	const struct svb_maybe *maybe = &m->maybes->at[i];

	memcpy(m->medium + maybe->line, maybe->data, SVB_CACHE_LINE);
	memcpy(m->visible + maybe->line, maybe->data, SVB_CACHE_LINE);
}

void svb_maybe_fail(struct svb_machine *m)
{
	struct svb_maybes *s = m->maybes;
	uint32_t i;

	for (i = s->count; i--;) {
		s->at[i].shown = !i || s->at[i - 1].line != s->at[i].line;
		if (s->at[i].shown)
			svb_maybe_show(m, i);
	}
}

/* As a number is counted up: the first line that has another alternative shows it, and
 * those before it show their first again. */
bool svb_machine_fail_next(struct svb_machine *m)
{
	struct svb_maybes *s = m->maybes;
	uint32_t i, first = 0;

	for (i = 0; s && i < s->count; i++) {
		if (i && s->at[i].line != s->at[i - 1].line)
			first = i;
		if (!s->at[i].shown)
			continue;
		s->at[i].shown = 0;
		if (i + 1 < s->count && s->at[i + 1].line == s->at[i].line) {
			s->at[i + 1].shown = 1;
			svb_maybe_show(m, i + 1);
			return true;
		}
		s->at[first].shown = 1;
		svb_maybe_show(m, first);
		/* It is not looked at again in this call: i is behind it. */
	}
	return false;
}

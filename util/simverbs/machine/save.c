/* SPDX-License-Identifier: BSD-2-Clause */
/* The state as bytes: for who comes back to it, and for who asks whether it is new. */
#include <string.h>
#include "parts.h"

#define SVB_COUNTS offsetof(struct svb_machine_state, request)

static void *svb_put(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return (char *)to + size;
}

static const void *svb_take(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return (const char *)from + size;
}

/* The medium is what is visible, but for lines that have alternatives. */
static size_t svb_save_maybes(struct svb_machine *m, void *to, size_t size)
{
	struct svb_machine_state *s = m->state;
	uint64_t count;
	size_t need;

	svb_maybe_close(m);
	count = m->maybes->count;
	need = SVB_COUNTS + s->requests * sizeof(s->request[0]) +
	       s->pieces * sizeof(s->piece[0]) + sizeof(count) +
	       count * sizeof(m->maybes->at[0]) + m->size;
	if (need > size)
		return need;
	to = svb_put(to, s, SVB_COUNTS);
	to = svb_put(to, s->request, s->requests * sizeof(s->request[0]));
	to = svb_put(to, s->piece, s->pieces * sizeof(s->piece[0]));
	to = svb_put(to, &count, sizeof(count));
	to = svb_put(to, m->maybes->at, count * sizeof(m->maybes->at[0]));
	svb_put(to, m->visible, m->size);
	return need;
}

static void svb_restore_maybes(struct svb_machine *m, const void *from)
{
	uint64_t count;

	from = svb_take(&count, from, sizeof(count));
	m->maybes->count = (uint32_t)count;
	from = svb_take(m->maybes->at, from, count * sizeof(m->maybes->at[0]));
	svb_take(m->visible, from, m->size);
	memcpy(m->medium, m->visible, m->size);
}

size_t svb_machine_save(struct svb_machine *m, void *to, size_t size)
{
	struct svb_machine_state *s = m->state;
	size_t need;

	if (m->maybes)
		return svb_save_maybes(m, to, size);
	svb_dirty_prune(m);
	need = SVB_COUNTS + s->requests * sizeof(s->request[0]) +
	       s->pieces * sizeof(s->piece[0]) + s->dirties * sizeof(s->dirty[0]) +
	       2 * m->size;
	if (need > size)
		return need;
	to = svb_put(to, s, SVB_COUNTS);
	to = svb_put(to, s->request, s->requests * sizeof(s->request[0]));
	to = svb_put(to, s->piece, s->pieces * sizeof(s->piece[0]));
	to = svb_put(to, s->dirty, s->dirties * sizeof(s->dirty[0]));
	to = svb_put(to, m->visible, m->size);
	svb_put(to, m->medium, m->size);
	return need;
}

void svb_machine_restore(struct svb_machine *m, const void *from)
{
	struct svb_machine_state *s = m->state;

	from = svb_take(s, from, SVB_COUNTS);
	from = svb_take(s->request, from, s->requests * sizeof(s->request[0]));
	from = svb_take(s->piece, from, s->pieces * sizeof(s->piece[0]));
	if (m->maybes) {
		svb_restore_maybes(m, from);
		return;
	}
	from = svb_take(s->dirty, from, s->dirties * sizeof(s->dirty[0]));
	from = svb_take(m->visible, from, m->size);
	svb_take(m->medium, from, m->size);
}

/* FNV-1a over words, mixed at the end. */
uint64_t svb_machine_hash(const void *saved, size_t size)
{
	const uint8_t *bytes = saved;
	uint64_t hash = 0xcbf29ce484222325ull, word;

	for (; size >= sizeof(word); size -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3ull;
		hash ^= hash >> 29;
	}
	for (; size; size--)
		hash = (hash ^ *bytes++) * 0x100000001b3ull;
	return hash ^ hash >> 32;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "choice.h"

/* The letter of each kind in a list. */
static const char svb_pick_letters[] = {'0', ' ', 's', 't', 'f'};

/* xorshift64*. */
static uint32_t svb_picks_next(struct svb_picks *picks)
{
	uint64_t x = picks->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	picks->random = x;
	return (uint32_t)(x * 0x2545f4914f6cdd1dull >> 32);
}

void svb_picks_seed(struct svb_picks *picks, uint64_t seed, uint32_t within)
{
	memset(picks, 0, offsetof(struct svb_picks, pick));
	picks->random = (seed + 1) * 0x9e3779b97f4a7c15ull;
	picks->random += !picks->random;
	svb_picks_next(picks);
	picks->fail_at = within ? svb_picks_next(picks) % within + 1 : 0;
}

/* Caches keep what they have for long: most of the time what moves is requests. */
uint32_t svb_picks_random(void *ctx, uint32_t moves, uint32_t drains)
{
	struct svb_picks *picks = ctx;
	uint32_t chance = svb_picks_next(picks) % 32, number = svb_picks_next(picks);

	if (picks->fail_at && picks->made + 1 >= picks->fail_at)
		return SVB_PICK(SVB_PICK_FAIL, number >> 16);
	if (chance == 0)
		return SVB_PICK(SVB_PICK_SWEEP, number >> 16);
	if (chance < 3 && drains)
		return SVB_PICK(SVB_PICK_ONE, moves + number % drains + 1);
	if (chance < 12 || !moves)
		return SVB_PICK(SVB_PICK_NONE, 0);
	return SVB_PICK(SVB_PICK_ONE, number % moves + 1);
}

uint32_t svb_pick_at_once(void *ctx, uint32_t moves, uint32_t drains)
{
	return moves + drains ? SVB_PICK(SVB_PICK_ONE, 1) : SVB_PICK(SVB_PICK_NONE, 0);
}

bool svb_picks_tick(const struct svb_picks *picks)
{
	return picks->replaying && picks->made < picks->listed &&
	       SVB_PICK_KIND(picks->pick[picks->made]) == SVB_PICK_TICK;
}

uint32_t svb_picks_replay(void *ctx, uint32_t moves, uint32_t drains)
{
	struct svb_picks *picks = ctx;

	return picks->made < picks->listed ? picks->pick[picks->made]
					   : svb_pick_at_once(NULL, moves, drains);
}

/* One item: what it is, its number, and how often. Returns what follows it, NULL: it is
 * none. */
static const char *svb_pick_parse(const char *text, uint32_t *pick, uint32_t *times)
{
	enum svb_pick_kind kind = SVB_PICK_ONE;
	unsigned long number = 0;
	const char *letter;
	char *end;

	letter = memchr(svb_pick_letters, *text, sizeof(svb_pick_letters));
	if (*text >= 'a' && letter) {
		kind = (enum svb_pick_kind)(letter - svb_pick_letters);
		text++;
	}
	if (*text >= '0' && *text <= '9') {
		number = strtoul(text, &end, 10);
		text = end;
	} else if (kind != SVB_PICK_TICK) {
		return NULL;
	}
	if (number > 0xfffffff)
		return NULL;
	if (kind == SVB_PICK_ONE && !number)
		kind = SVB_PICK_NONE;
	*pick = SVB_PICK(kind, (uint32_t)number);
	*times = 1;
	if (*text == '*') {
		*times = (uint32_t)strtoul(text + 1, &end, 10);
		text = *times && *times <= SVB_PICKS ? end : NULL;
	}
	return text;
}

bool svb_picks_parse(struct svb_picks *picks, const char *text)
{
	uint32_t pick, times;

	svb_picks_seed(picks, 0, 0);
	picks->replaying = 1;
	while (*text && *text != '\n') {
		text = svb_pick_parse(text, &pick, &times);
		if (!text || (*text && *text != ',' && *text != '\n') ||
		    times > SVB_PICKS - picks->listed)
			return false;
		while (times--)
			picks->pick[picks->listed++] = pick;
		text += *text == ',';
	}
	return true;
}

void svb_picks_note(struct svb_picks *picks, uint32_t pick)
{
	if (picks->made < SVB_PICKS)
		picks->pick[picks->made] = pick;
	picks->made++;
}

static void svb_pick_print(FILE *to, uint32_t pick, uint32_t times)
{
	enum svb_pick_kind kind = SVB_PICK_KIND(pick);

	if (kind > SVB_PICK_ONE)
		fputc(svb_pick_letters[kind], to);
	if (kind != SVB_PICK_TICK)
		fprintf(to, "%u", SVB_PICK_NUMBER(pick));
	if (times > 1)
		fprintf(to, "*%u", times);
}

char *svb_picks_text(const struct svb_picks *picks)
{
	char *text = NULL;
	uint32_t i, next;
	size_t size;
	FILE *to;

	if (picks->made > SVB_PICKS)
		return NULL;
	to = open_memstream(&text, &size);
	if (!to)
		return NULL;
	for (i = 0; i < picks->made; i = next) {
		for (next = i; next < picks->made && picks->pick[next] == picks->pick[i];
		     next++)
			;
		if (i)
			fputc(',', to);
		svb_pick_print(to, picks->pick[i], next - i);
	}
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	return text;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* What is explored, and what must be found. */
#include <string.h>
#include "world.h"

#define A 0
#define B 512
#define LINE 64
#define BIT(call) (1u << (call))

static bool is(const struct machine *machine, const char *domain)
{
	return !strcmp(machine->domain, domain);
}

/* "W C": in the adapter's buffers, if it says so. */
static unsigned int completion(const struct machine *m)
{
	return is(m, "wsp") && !m->iwarp ? 0 : WRONG_EARLY;
}

/* "W F C", F a read of what was written: visible, and with DDIO off drained. */
static unsigned int read_back(const struct machine *m)
{
	return is(m, "dmp") && m->ddio ? WRONG_EARLY : 0;
}

/* The same, F being a read of something else: visible. */
static unsigned int visible(const struct machine *m)
{
	return is(m, "dmp") ? WRONG_EARLY : 0;
}

/* "W W F C" */
static unsigned int compound(const struct machine *m)
{
	if (is(m, "dmp"))
		return m->ddio ? WRONG_EARLY | WRONG_COMPOUND : WRONG_COMPOUND;
	return is(m, "mhp") && m->iwarp ? WRONG_COMPOUND : 0;
}

/* "W F C W F C", "W F W+fence F C" */
static unsigned int compound_waits(const struct machine *m)
{
	return is(m, "dmp") && m->ddio ? WRONG_EARLY | WRONG_COMPOUND : 0;
}

/* FI_COMMIT_COMPLETE: nothing may be wrong. */
static unsigned int durable(const struct machine *m)
{
	return 0;
}

/* The target is told of what it sees, and the initiator of what has left. */
static unsigned int told(const struct machine *m)
{
	return completion(m) | (is(m, "dmp") ? WRONG_TARGET : 0);
}

static unsigned int sent(const struct machine *m)
{
	return m->pm_receives ? told(m) : WRONG_EARLY;
}

/* "S F C" */
static unsigned int sent_read(const struct machine *m)
{
	return m->pm_receives ? read_back(m) : WRONG_EARLY;
}

static unsigned int compound_relaxed(const struct machine *m)
{
	struct machine weak = *m;

	weak.iwarp = true;
	return compound(&weak);
}

/* The target makes a message durable where its receive is, if it can be. */
static unsigned int durable_message(const struct machine *m)
{
	return m->pm_receives ? 0 : WRONG_ERROR;
}

/* It is reported as failed; what is behind it, too. */
static unsigned int fails(const struct machine *m)
{
	return WRONG_ERROR;
}

/* "W C W F C" with an I1 for a of its own. */
static unsigned int cheap_first(const struct machine *m)
{
	return completion(m) | compound(m);
}

/* "W F C W F C" pipelined. */
static unsigned int no_wait(const struct machine *m)
{
	return read_back(m) | compound(m);
}

/* "W M W M" pipelined: b drains by itself. */
static unsigned int two_messages(const struct machine *m)
{
	return is(m, "dmp") ? WRONG_COMPOUND : 0;
}

static bool has_data(const struct machine *m)
{
	return !m->iwarp;
}

/* Where the message method is the only one, if there are the others. */
static bool message_alone(const struct machine *m)
{
	return !m->iwarp && m->ddio && !is(m, "wsp");
}

/* Time passes after the last call: b is posted before a has ended. */
static bool pipelined(const struct machine *m)
{
	return !m->iwarp || !m->ddio || !is(m, "dmp");
}

/* What takes long where requests are answered one after the other. */
static bool fast(const struct machine *m)
{
	return m->flush || !is(m, "dmp") || !m->ddio;
}

static bool no_flush(const struct machine *m)
{
	return !m->flush;
}

static bool has_atomics(const struct machine *m)
{
	return !m->iwarp;
}

#define DURABLE .flags = FI_COMMIT_COMPLETE
#define MORE .flags = FI_COMMIT_COMPLETE | FI_MORE
#define LAST .flags = FI_COMMIT_COMPLETE | FI_FENCE
#define CALL(kind_, at_, len_, ...)                                             \
	{                                                                       \
		.kind = CALL_##kind_, .at = (at_), .len = (len_), ##__VA_ARGS__ \
	}

const struct scenario scenarios[] = {
	{"fi_write",
	 {
		 CALL(WRITE, A, 2 * LINE, .claims = BIT(0)),
	 },
	 .expect = completion},
	{"fi_write, torn",
	 {
		 CALL(WRITE, A + 8, 24, .claims = BIT(0)),
	 },
	 .expect = completion,
	 .tear = true},
	{"fi_write, FI_DELIVERY_COMPLETE",
	 {
		 CALL(WRITE, A, 2 * LINE, .flags = FI_DELIVERY_COMPLETE,
		      .claims = BIT(0)),
	 },
	 .expect = visible},
	{"fi_write, fi_read",
	 {
		 CALL(WRITE, A, 2 * LINE),
		 CALL(READ, A + 2 * LINE - 1, 1, .claims = BIT(0)),
	 },
	 .expect = read_back},
	{"fi_write 4 lines, fi_read",
	 {
		 CALL(WRITE, A, 4 * LINE),
		 CALL(READ, A + 4 * LINE - 1, 1, .claims = BIT(0)),
	 },
	 .expect = read_back},
	{"fi_write, fi_read, torn",
	 {
		 CALL(WRITE, A + 8, 24),
		 CALL(READ, A + 31, 1, .claims = BIT(0)),
	 },
	 .expect = read_back,
	 .tear = true},
	{"compound, fi_read",
	 {
		 CALL(WRITE, A, 2 * LINE),
		 CALL(WRITE, B, 8, .after = BIT(0)),
		 CALL(READ, B + 7, 1, .claims = BIT(0) | BIT(1)),
	 },
	 .expect = compound},
	{"compound, fi_read, waits",
	 {
		 CALL(WRITE, A, 2 * LINE),
		 CALL(READ, A + 2 * LINE - 1, 1, .claims = BIT(0)),
		 CALL(WRITE, B, 8, .after = BIT(0), .wait = true),
		 CALL(READ, B + 7, 1, .claims = BIT(0) | BIT(2)),
	 },
	 .expect = compound_waits},
	{"compound, fi_read, FI_FENCE",
	 {
		 CALL(WRITE, A, 2 * LINE),
		 CALL(READ, A + 2 * LINE - 1, 1, .claims = BIT(0)),
		 CALL(WRITE, B, 8, .flags = FI_FENCE, .after = BIT(0)),
		 CALL(READ, B + 7, 1, .claims = BIT(0) | BIT(2)),
	 },
	 .expect = compound_waits},
	{"compound, lines shared, FI_FENCE",
	 {
		 CALL(WRITE, A, LINE + 16),
		 CALL(READ, A + LINE + 15, 1, .claims = BIT(0)),
		 CALL(WRITE, A + LINE + 16, 8, .flags = FI_FENCE, .after = BIT(0)),
		 CALL(READ, A + LINE + 23, 1, .claims = BIT(0) | BIT(2)),
	 },
	 .expect = compound_waits},
	{"same bytes twice",
	 {
		 CALL(WRITE, A, LINE),
		 CALL(WRITE, A, 16),
		 CALL(READ, A, LINE, .claims = BIT(0) | BIT(1)),
	 },
	 .expect = read_back},
	{"fi_atomic between writes",
	 {
		 CALL(WRITE, A, 16),
		 CALL(ADD, A, 8),
		 CALL(WRITE, A + 8, 8),
		 CALL(READ, A, 16, .claims = BIT(0) | BIT(1) | BIT(2)),
	 },
	 .expect = read_back,
	 .fits = has_atomics},
	{"fi_writedata",
	 {
		 CALL(WRITEDATA, A, 2 * LINE, .claims = BIT(0)),
	 },
	 .expect = told,
	 .fits = has_data},
	{"fi_writedata, fi_read",
	 {
		 CALL(WRITEDATA, A, 2 * LINE),
		 CALL(READ, A + 2 * LINE - 1, 1, .claims = BIT(0)),
	 },
	 .expect = read_back,
	 .fits = has_data},
	{"fi_send",
	 {
		 CALL(SEND, 0, 24, .claims = BIT(0)),
	 },
	 .expect = sent},
	{"fi_send, fi_read of the receive",
	 {
		 CALL(SEND, 0, 24),
		 CALL(READ, RECEIVE_AT + 23, 1, .claims = BIT(0)),
	 },
	 .expect = sent_read},
	{"fi_write, fi_send",
	 {
		 CALL(WRITE, A, 2 * LINE, .claims = BIT(0)),
		 CALL(SEND, 0, 8),
	 },
	 .expect = completion},
	{"two connections",
	 {
		 CALL(WRITE, A, LINE),
		 CALL(WRITE, B, LINE, .pair = 1, .claims = BIT(1)),
		 CALL(READ, A + LINE - 1, 1, .claims = BIT(0)),
	 },
	 .expect = completion},
	{"compound, fi_read, relaxed",
	 {
		 CALL(WRITE, A, 2 * LINE),
		 CALL(WRITE, B, 8, .after = BIT(0)),
		 CALL(READ, B + 7, 1, .claims = BIT(0) | BIT(1)),
	 },
	 .expect = compound_relaxed,
	 .special = BIT(SPECIAL_RELAXED)},

	{"durable 8 bytes",
	 {
		 CALL(WRITE, A + 8, 8, DURABLE),
	 },
	 .expect = durable},
	{"durable, torn",
	 {
		 CALL(WRITE, A + 8, 24, DURABLE),
	 },
	 .expect = durable,
	 .tear = true},
	{"durable line",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
	 },
	 .expect = durable},
	{"durable 2 lines",
	 {
		 CALL(WRITE, A, 2 * LINE, DURABLE),
	 },
	 .special = BIT(SPECIAL_NONE) | BIT(SPECIAL_MESSAGE),
	 .expect = durable},
	{"durable 3 lines",
	 {
		 CALL(WRITE, A + 32, 2 * LINE, DURABLE),
	 },
	 .expect = durable},
	{"durable 4 lines",
	 {
		 CALL(WRITE, A, 4 * LINE, DURABLE),
	 },
	 .expect = durable},
	{"durable, one after the other",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITE, B, LINE, DURABLE),
	 },
	 .special = BIT(SPECIAL_NONE) | BIT(SPECIAL_MESSAGE),
	 .expect = durable},
	{"durable, the same bytes",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITE, A + 32, LINE, DURABLE),
	 },
	 .expect = durable},
	{"durable fi_atomic",
	 {
		 CALL(ADD, A, 8, DURABLE),
		 CALL(ADD, A, 8, DURABLE),
	 },
	 .expect = durable,
	 .fits = has_atomics},
	{"durable compound, 1 line and 8 bytes",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITE, B, 8, LAST),
	 },
	 .special = BIT(SPECIAL_NONE) | BIT(SPECIAL_MESSAGE),
	 .expect = durable},
	{"durable compound, 2 lines and 8 bytes",
	 {
		 CALL(WRITE, A, 2 * LINE, DURABLE),
		 CALL(WRITE, B, 8, LAST),
	 },
	 .expect = durable},
	{"durable compound, 1 line and 2 lines",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITE, B, 2 * LINE, LAST),
	 },
	 .expect = durable},
	{"durable compound, lines shared",
	 {
		 CALL(WRITE, A, LINE + 16, DURABLE),
		 CALL(WRITE, A + LINE + 16, 8, LAST),
	 },
	 .expect = durable},
	{"durable compound, b twice",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITE, B, 8, LAST),
		 CALL(WRITE, B + 64, 8, LAST),
	 },
	 .fits = fast,
	 .expect = durable},
	{"durable compound, a not durable",
	 {
		 CALL(WRITE, A, 2 * LINE),
		 CALL(WRITE, B, 8, LAST),
	 },
	 .expect = durable},
	{"durable barrier, a not durable",
	 {
		 CALL(WRITE, A, 2 * LINE),
		 CALL(WRITE, B, 0, LAST),
	 },
	 .expect = durable},
	{"durable compound, a quiet",
	 {
		 CALL(WRITE, A, 2 * LINE, DURABLE, .quiet = true),
		 CALL(WRITE, B, 8, LAST),
	 },
	 .expect = durable},
	{"durable compound, a delivered",
	 {
		 CALL(WRITE, A, LINE, .flags = FI_DELIVERY_COMPLETE),
		 CALL(WRITE, B, 8, LAST),
	 },
	 .expect = durable},
	{"durable compound, fi_atomic",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(ADD, B, 8, LAST),
	 },
	 .expect = durable,
	 .fits = has_atomics},
	{"durable fi_atomic, overwritten",
	 {
		 CALL(ADD, B, 8, DURABLE),
		 CALL(WRITE, B, 8),
	 },
	 .special = BIT(SPECIAL_NONE) | BIT(SPECIAL_MESSAGE),
	 .expect = durable,
	 .fits = has_atomics},
	{"durable compound, fi_atomic overwritten",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(ADD, B, 8, LAST),
		 CALL(WRITE, B, 8),
	 },
	 .expect = durable,
	 .fits = has_atomics},
	{"durable compound, b overwritten",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITE, B, 8, LAST),
		 CALL(WRITE, B, 8),
	 },
	 .special = BIT(SPECIAL_NONE) | BIT(SPECIAL_MESSAGE),
	 .expect = durable},
	{"durable compound, b read",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITE, B, 8, LAST),
		 CALL(READ, B, 8),
	 },
	 .expect = durable},
	{"durable compound, b announced",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITE, B, 8, LAST),
		 CALL(SEND, 0, 8),
	 },
	 .expect = durable},
	{"durable group",
	 {
		 CALL(WRITE, A, LINE, MORE),
		 CALL(WRITE, B, LINE, DURABLE),
	 },
	 .expect = durable},
	{"durable group, then a compound",
	 {
		 CALL(WRITE, A, LINE, MORE),
		 CALL(WRITE, B, 8, LAST),
	 },
	 .expect = durable},
	{"durable fi_writedata",
	 {
		 CALL(WRITEDATA, A, 2 * LINE, DURABLE),
	 },
	 .expect = durable,
	 .fits = has_data},
	{"durable fi_writedata, compound",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITEDATA, B, 8, LAST),
	 },
	 .expect = durable,
	 .fits = has_data},
	{"durable fi_writedata, a not durable",
	 {
		 CALL(WRITE, A, LINE),
		 CALL(WRITEDATA, B, 8, LAST),
	 },
	 .special = BIT(SPECIAL_NONE) | BIT(SPECIAL_MESSAGE),
	 .expect = durable,
	 .fits = has_data},
	{"durable fi_send",
	 {
		 CALL(SEND, 0, 80, DURABLE),
	 },
	 .expect = durable_message},
	{"durable fi_send, compound",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(SEND, 0, 8, LAST),
	 },
	 .expect = durable_message},
	{"durable, a request lost",
	 {
		 CALL(WRITE, A, LINE, DURABLE, .lost = true),
		 CALL(WRITE, B, 8, LAST),
	 },
	 .fits = has_atomics,
	 .expect = fails,
	 .seconds = 2},
	{"durable, a request late",
	 {
		 CALL(WRITE, A, LINE, DURABLE, .late = true),
		 CALL(WRITE, B, 8, LAST),
	 },
	 .fits = pipelined,
	 .expect = durable,
	 .seconds = 2},
	{"durable, two connections",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITE, B, LINE, DURABLE, .pair = 1),
	 },
	 .expect = durable},

	{"W C",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
	 },
	 .expect = completion,
	 .plan = {"W C"}},
	{"W F C",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
	 },
	 .expect = read_back,
	 .plan = {"W F C"}},
	{"W C, W F C",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITE, B, 8, LAST),
	 },
	 .expect = cheap_first,
	 .plan = {"W C", "W F C"}},
	{"W F C, W F C without the wait",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITE, B, 8, DURABLE, .after = BIT(0)),
	 },
	 .expect = no_wait,
	 .plan = {"W F C", "W F C"}},
	{"W D M A twice",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITE, B, 8, LAST),
	 },
	 .expect = two_messages,
	 .plan = {"W D M A", "W D M A"},
	 .fits = message_alone},
	{"DDIO declared off",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
	 },
	 .expect = read_back,
	 .special = BIT(SPECIAL_LIAR),
	 .fits = no_flush},
	{.name = NULL},
};

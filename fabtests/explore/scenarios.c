/* SPDX-License-Identifier: BSD-2-Clause */
/* What is explored, and what must be found. */
#include <string.h>
#include <rdma/fabric.h>
#include "explore.h"

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

/* FI_COMMIT_COMPLETE: nothing may be wrong. There is no control queue pair on iWARP, so
 * where only the target's processor can help there is no way. */
static unsigned int durable(const struct machine *m)
{
	return is(m, "dmp") && m->ddio && m->iwarp ? WRONG_REFUSED : 0;
}

static bool has_atomics(const struct machine *m)
{
	return !m->iwarp;
}

/* clang-format off: a line a call */
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
	{"durable fi_write",
	 {
		 CALL(WRITE, A, 2 * LINE, .flags = FI_COMMIT_COMPLETE),
	 },
	 .expect = durable},
	{"durable fi_write, 4 lines",
	 {
		 CALL(WRITE, A, 4 * LINE, .flags = FI_COMMIT_COMPLETE),
	 },
	 .expect = durable},
	{"durable compound",
	 {
		 CALL(WRITE, A, 2 * LINE, .flags = FI_COMMIT_COMPLETE),
		 CALL(WRITE, B, 8, .flags = FI_COMMIT_COMPLETE | FI_FENCE),
	 },
	 .expect = durable},
	{"durable compound, a lifted",
	 {
		 CALL(WRITE, A, 2 * LINE),
		 CALL(WRITE, B, 8, .flags = FI_COMMIT_COMPLETE | FI_FENCE),
	 },
	 .expect = durable},
	{.name = NULL},
};

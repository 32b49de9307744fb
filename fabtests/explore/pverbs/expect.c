/* SPDX-License-Identifier: BSD-2-Clause */
/* What must be found, by machine: the tables of what makes a write durable where. */
#include <string.h>
#include "expect.h"

static bool is(const struct machine *machine, const char *domain)
{
	return !strcmp(machine->domain, domain);
}

/* "W C": in the adapter's buffers, if it says so. */
unsigned int expect_completion(const struct machine *m)
{
	return is(m, "wsp") && !m->iwarp ? 0 : WRONG_EARLY;
}

/* "W F C", F a read of what was written: visible, and with DDIO off drained. */
unsigned int expect_read_back(const struct machine *m)
{
	return is(m, "dmp") && m->ddio ? WRONG_EARLY : 0;
}

/* The same, F being a read of something else: visible. */
unsigned int expect_visible(const struct machine *m)
{
	return is(m, "dmp") ? WRONG_EARLY : 0;
}

/* "W W F C" */
unsigned int expect_compound(const struct machine *m)
{
	if (is(m, "dmp"))
		return m->ddio ? WRONG_EARLY | WRONG_COMPOUND : WRONG_COMPOUND;
	return is(m, "mhp") && m->iwarp ? WRONG_COMPOUND : 0;
}

/* "W F C W F C", "W F W+fence F C" */
unsigned int expect_compound_waits(const struct machine *m)
{
	return is(m, "dmp") && m->ddio ? WRONG_EARLY | WRONG_COMPOUND : 0;
}

/* The target is told of what it sees, and the initiator of what has left. */
unsigned int expect_told(const struct machine *m)
{
	return expect_completion(m) | (is(m, "dmp") ? WRONG_TARGET : 0);
}

unsigned int expect_sent(const struct machine *m)
{
	return m->receives ? expect_told(m) : WRONG_EARLY;
}

/* "S F C" */
unsigned int expect_sent_read(const struct machine *m)
{
	return m->receives ? expect_read_back(m) : WRONG_EARLY;
}

unsigned int expect_compound_relaxed(const struct machine *m)
{
	struct machine weak = *m;

	weak.iwarp = true;
	return expect_compound(&weak);
}

/* The target makes a message durable where its receive is, if it can be. */
unsigned int expect_durable_message(const struct machine *m)
{
	return m->receives ? 0 : WRONG_ERROR;
}

/* It is reported as failed; what is behind it, too. */
unsigned int expect_fails(const struct machine *m)
{
	return WRONG_ERROR;
}

/* The same, b behind it being refused at once where nothing is posted meanwhile. */
unsigned int expect_refused(const struct machine *m)
{
	return m->iwarp ? WRONG_REFUSED : WRONG_ERROR;
}

/* "W C W F C" with an I1 for a of its own. */
unsigned int expect_cheap_first(const struct machine *m)
{
	return expect_completion(m) | expect_compound(m);
}

/* "W F C W F C" pipelined. */
unsigned int expect_no_wait(const struct machine *m)
{
	return expect_read_back(m) | expect_compound(m);
}

/* "W M W M" pipelined: b drains by itself. */
unsigned int expect_two_messages(const struct machine *m)
{
	return is(m, "dmp") ? WRONG_COMPOUND : 0;
}

bool fits_has_data(const struct machine *m)
{
	return !m->iwarp;
}

/* Where the message method is the only one, if there are the others. */
bool fits_message_alone(const struct machine *m)
{
	return !m->iwarp && m->ddio && !is(m, "wsp");
}

/* What takes long where requests are answered one after the other. */
bool fits_fast(const struct machine *m)
{
	return m->flush || !is(m, "dmp") || !m->ddio;
}

bool fits_no_flush(const struct machine *m)
{
	return !m->flush;
}

/* Time passes after the last call: b is posted before a has ended. */
bool fits_pipelined(const struct machine *m)
{
	return !m->iwarp || !m->ddio || !is(m, "dmp");
}

bool fits_flush(const struct machine *m)
{
	return m->flush;
}

/* What looks the same under every domain that is not DMP. */
bool fits_flush_data(const struct machine *m)
{
	return m->flush && !m->iwarp && (m->ddio || is(m, "dmp"));
}

bool fits_flush_drained(const struct machine *m)
{
	return m->flush && is(m, "dmp") && !m->ddio;
}

/* Where a flush of the initiator's makes writes durable, so that several can share it. */
bool fits_groups(const struct machine *m)
{
	return !is(m, "dmp") || !m->ddio || (m->flush && !m->iwarp);
}

bool fits_has_atomics(const struct machine *m)
{
	return !m->iwarp;
}

/* Where a fenced word goes a short way: persist/initiator/plan_cache.c. */
bool fits_short_word(const struct machine *m)
{
	return m->flush && !m->iwarp && is(m, "dmp") && m->ddio;
}

/* Where writes are durable when the target answers. */
bool fits_answered(const struct machine *m)
{
	return m->special == SPECIAL_MESSAGE ||
	       (is(m, "dmp") && m->ddio && (!m->flush || m->iwarp));
}

bool fits_answered_data(const struct machine *m)
{
	return fits_answered(m) && fits_has_data(m);
}

/* What was posted again is overwritten, and the program has what it held where it does
 * not last. */
unsigned int expect_posted_first(const struct machine *m)
{
	return WRONG_EARLY | WRONG_TARGET;
}

unsigned int expect_not_flushed(const struct machine *m)
{
	return is(m, "dmp") ? WRONG_EARLY | WRONG_TARGET | WRONG_RECOVERED : 0;
}

unsigned int expect_noted_first(const struct machine *m)
{
	/* The target has handled the message before it answers. */
	const bool answers = is(m, "dmp") && m->ddio;

	return (answers ? 0 : WRONG_EARLY) | WRONG_TARGET | WRONG_RECOVERED;
}

/* In WSP all of a message survives or nothing. */
unsigned int expect_torn(const struct machine *m)
{
	return is(m, "wsp") ? 0 : WRONG_RECOVERED;
}

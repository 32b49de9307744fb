/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target's program: it reads its completion queue, and of messages that can be found
 * again (FI_OPT_CAIRN_REPLAY, FI_CAIRN_REPLAY of rdma/fi_ext_cairn.h) it keeps books in
 * persistent memory: how many it has applied, and their payloads. Recovery goes on from
 * there with what it finds in the receives.
 */
#include <string.h>
#include <libpmem.h>
#include "image.h"
#include "state.h"
#include "target.h"
#include "world.h"

#define ENTRIES 8

static const struct scenario *running;
/* By connection, or all of them where the receives are shared, in the order sent: which
 * call takes a receive. */
static uint32_t message[PAIRS][CALLS];
static uint32_t messages[PAIRS];

static bool replays(void)
{
	return xpv_world.machine->receives == RECEIVES_REPLAY;
}

void xpv_target_begin(const struct scenario *scenario)
{
	const struct call *call = scenario->call;
	uint32_t p;

	running = scenario;
	memset(messages, 0, sizeof(messages));
	for (uint32_t i = 0; i < CALLS && call[i].kind; i++) {
		memset(xpv_world.source[i], 1 << i, LEN_MAX);
		if (!call_announces(&call[i]))
			continue;
		p = xpv_world.srx ? 0 : call[i].pair;
		message[p][messages[p]++] = i;
		if (replays() && call_sends(&call[i]))
			xpv_world.replay->write_header(
				xpv_world.source[i],
				xpv_world.source[i] + FI_CAIRN_REPLAY_HEADER,
				call[i].len - FI_CAIRN_REPLAY_HEADER, messages[p]);
	}
}

static uint8_t *books(const void *memory, uint32_t pair)
{
	return (uint8_t *)(uintptr_t)memory + APPLIED_AT + pair * APPLIED_ROOM;
}

static uint8_t *applied(const void *memory, uint32_t pair, uint64_t number)
{
	return books(memory, pair) + 64 + (number - 1) * APPLIED_LEN;
}

static const uint8_t *payload(uint32_t call, size_t *len)
{
	*len = running->call[call].len - FI_CAIRN_REPLAY_HEADER;
	return xpv_world.source[call] + FI_CAIRN_REPLAY_HEADER;
}

static void note(uint32_t pair, uint64_t number)
{
	uint8_t *to = books(xpv_world.pm, pair);

	memcpy(to, &number, sizeof(number));
	if (running->habit != HABIT_NO_FLUSH)
		pmem_persist(to, sizeof(number));
}

/* from: the message's payload, in its receive or in a copy that is not persistent. */
static void apply(uint32_t pair, uint64_t number, const uint8_t *from, size_t len)
{
	uint8_t *to = applied(xpv_world.pm, pair, number);

	if (running->habit == HABIT_NOTES_FIRST)
		note(pair, number);
	memcpy(to, from, len);
	if (running->habit != HABIT_NO_FLUSH)
		pmem_persist(to, len);
	if (running->habit != HABIT_NOTES_FIRST)
		note(pair, number);
}

static void apply_pending(uint32_t pair)
{
	const uint32_t number = xpv_program.pending[pair];
	const uint8_t *from;
	size_t len;

	if (!number)
		return;
	from = payload(message[pair][number - 1], &len);
	apply(pair, number, from, len);
	xpv_program.pending[pair] = 0;
}

static void handle(uint32_t receive, uint32_t pair)
{
	const uint32_t number = xpv_program.arrived[pair],
		       call = message[pair][number - 1];
	size_t len;

	if (running->habit == HABIT_KEEPS)
		return;
	if (running->habit == HABIT_POSTS_FIRST) {
		apply_pending(pair);
		xpv_program.pending[pair] = number;
	} else {
		payload(call, &len);
		apply(pair, number,
		      xpv_world.pm + RECEIVE_AT + receive * LEN_MAX +
			      FI_CAIRN_REPLAY_HEADER,
		      len);
	}
	xpv_world_receive(receive);
}

static void arrived(uint32_t pair)
{
	const uint32_t number = message[pair][xpv_program.arrived[pair]++];

	xpv_program.received |= 1u << number;
	if (!xpv_image_seen(number))
		xpv_program.wrong |= WRONG_END;
}

/* A message took that receive. */
static void received(uint32_t receive)
{
	uint32_t pair = xpv_world.srx ? 0 : receive / RECEIVES, number;

	if (!xpv_world.srx) {
		/* They are used in the order posted. */
		if (receive % RECEIVES !=
			    xpv_program.arrived[pair] % xpv_world.receives ||
		    xpv_program.arrived[pair] == messages[pair]) {
			xpv_program.wrong |= WRONG_ORDER;
			return;
		}
		arrived(pair);
		handle(receive, pair);
		return;
	}
	/* Messages of several connections come in any order, each to its receive. */
	number = message[0][receive];
	xpv_program.received |= 1u << number;
	if (!xpv_image_seen(number))
		xpv_program.wrong |= WRONG_END;
}

static void read_counters(void)
{
	for (uint32_t pair = 0; pair < xpv_world.machine->pairs; pair++)
		while (xpv_program.arrived[pair] <
			       fi_cntr_read(xpv_world.cntr[pair][TARGET]) &&
		       xpv_program.arrived[pair] < messages[pair])
			arrived(pair);
}

bool xpv_target_has_room(uint32_t number)
{
	const uint32_t pair = running->call[number].pair;
	uint32_t used = 0;

	while (message[pair][used] != number)
		used++;
	return used < xpv_program.arrived[pair] + xpv_world.receives;
}

void xpv_target_step(void)
{
	struct fi_cq_err_entry error = {0};
	struct fi_cq_data_entry entry[ENTRIES];
	struct fid_cq *cq = xpv_world.cq[TARGET];
	ssize_t got, i;

	for (uint32_t pair = 0; pair < PAIRS; pair++)
		apply_pending(pair);
	if (xpv_world.machine->special == SPECIAL_COUNTED)
		read_counters();
	got = fi_cq_read(cq, entry, ENTRIES);
	for (i = 0; i < got; i++)
		received((uint32_t)(uintptr_t)entry[i].op_context - 1);
	if (got == -FI_EAVAIL) {
		xpv_program.wrong |= WRONG_ERROR;
		fi_cq_readerr(cq, &error, 0);
	}
}

/* Recovery */

struct finding {
	uint32_t pair, found;
	unsigned int wrong;
};

static int find(void *ctx, const struct fi_cairn_replay_message *found)
{
	struct finding *f = ctx;
	const uint8_t *sent;
	uint32_t call;
	size_t len;

	if (!found->number || found->number > messages[f->pair]) {
		f->wrong |= WRONG_RECOVERED;
		return 0;
	}
	call = message[f->pair][found->number - 1];
	sent = payload(call, &len);
	/* Twice, of another length, with other bytes, or never sent. */
	if (f->found >> call & 1 || found->len != len ||
	    memcmp(found->payload, sent, len) != 0 || call >= xpv_program.called)
		f->wrong |= WRONG_RECOVERED;
	else
		f->found |= 1u << call;
	return 0;
}

/* As replay, but whatever looks like a header is one. */
static void trust(const uint8_t *receives, uint64_t first, struct finding *f)
{
	struct fi_cairn_replay_message found;
	const uint8_t *at;

	for (uint32_t i = 0; i < RECEIVES; i++) {
		at = receives + i * LEN_MAX;
		memcpy(&found.number, at + 8, sizeof(found.number));
		memcpy(&found.len, at + 16, sizeof(found.len));
		found.payload = at + FI_CAIRN_REPLAY_HEADER;
		if (!memcmp(at, "CrnRply1", 8) && found.number >= first)
			find(f, &found);
	}
}

static void recover(const uint8_t *memory, struct finding *f)
{
	const uint8_t *receives = memory + RECEIVE_AT + f->pair * RECEIVES * LEN_MAX;
	struct fi_cairn_replay_message own;
	uint64_t done;
	uint32_t call;

	memcpy(&done, books(memory, f->pair), sizeof(done));
	for (uint64_t number = 1; number <= done && number <= messages[f->pair];
	     number++) {
		call = message[f->pair][number - 1];
		own.number = number;
		payload(call, &own.len);
		own.payload = applied(memory, f->pair, number);
		find(f, &own);
	}
	if (running->trusting)
		trust(receives, done + 1, f);
	else if (xpv_world.replay->replay(receives, LEN_MAX, RECEIVES, done + 1, find,
					  f) < 0)
		f->wrong |= WRONG_EXPLORER;
}

uint32_t xpv_target_recover(const uint8_t *memory, unsigned int *wrong)
{
	struct finding f = {0};

	for (f.pair = 0; replays() && f.pair < xpv_world.machine->pairs; f.pair++)
		recover(memory, &f);
	*wrong = f.wrong;
	return f.found;
}

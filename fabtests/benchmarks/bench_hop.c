/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One hop of a store-and-forward protocol, for the choice of route (fi_route(7)): data
 * goes from the client's buffers into the server's slots, and the server learns of each
 * piece.
 *   push  the client writes into slots that it knows of, and a message follows
 *   pull  a message says that there is data, and the server reads it
 * Both end with the server's message that a slot, or a buffer, is free again. What is
 * printed counts pieces whose last message has come.
 */
#include "bench.h"

static bool pulls(const struct bench *b)
{
	return b->job.mode == BENCH_PULL;
}

static int say(struct bench *b)
{
	FCT_POST(b->l.txcq, fi_inject(b->l.c.ep, b->acks.buf, 8, 0));
	return 0;
}

/* Of a piece, between a buffer here and its place at the peer. */
static ssize_t move(struct bench *b, uint64_t piece)
{
	const uint64_t slot = piece % b->job.window, at = slot * b->job.size;
	struct fct_mem *mem = fct_is_client() ? &b->tx : &b->land;
	void *buf = mem->buf + at, *ctx = &b->tx_ctx[slot];

	if (pulls(b))
		return fi_read(b->l.c.ep, buf, b->job.size, mem->desc, 0,
			       b->peer.addr + at, b->peer.key, ctx);
	return fi_write(b->l.c.ep, buf, b->job.size, mem->desc, 0, b->peer.addr + at,
			b->peer.key, ctx);
}

/* Starts as many of these as the provider takes. */
static int move_some(struct bench *b, uint64_t *moved, uint64_t limit)
{
	ssize_t n;

	for (; *moved < limit; ++*moved) {
		n = move(b, *moved);
		if (n == -FI_EAGAIN)
			break;
		FCT_CALL(n);
		if (!pulls(b))
			FCT_DO(say(b));
	}
	return 0;
}

/* Receives whose messages were counted go back. */
static int replenish(struct bench *b, uint64_t *seen)
{
	int ret = 0;

	for (; !ret && *seen < b->received; ++*seen)
		ret = bench_post_recv(b, *seen);
	return ret;
}

static int client(struct bench *b, uint64_t count)
{
	const uint64_t first = b->received, end = first + count,
		       completed = b->completed + count;
	uint64_t said = first, seen = first, limit;
	unsigned int unlucky = 0;

	while (b->received < end || (!pulls(b) && b->completed < completed)) {
		limit = b->received + b->job.window;
		if (limit > end)
			limit = end;
		if (!pulls(b))
			FCT_DO(move_some(b, &said, limit));
		for (; pulls(b) && said < limit; said++)
			FCT_DO(say(b));
		FCT_DO(bench_reap(b, &unlucky));
		FCT_DO(replenish(b, &seen));
	}
	return 0;
}

static int server(struct bench *b, uint64_t count)
{
	const uint64_t first = b->received, end = first + count, before = b->completed;
	uint64_t moved = first, said = first, seen = first, here;
	unsigned int unlucky = 0;

	while (said < end) {
		FCT_DO(bench_reap(b, &unlucky));
		FCT_DO(replenish(b, &seen));
		if (pulls(b))
			FCT_DO(move_some(b, &moved, b->received));
		here = pulls(b) ? first + b->completed - before : b->received;
		for (; said < here; said++)
			FCT_DO(say(b));
	}
	return 0;
}

static int run(struct bench *b, uint64_t count)
{
	return fct_is_client() ? client(b, count) : server(b, count);
}

int bench_hop(struct bench *b)
{
	uint64_t start;

	FCT_DO(run(b, b->job.warmup));
	start = fct_now_ns();
	FCT_DO(run(b, b->job.iterations));
	if (fct_is_client())
		bench_print_bw(b, fct_now_ns() - start);
	return 0;
}

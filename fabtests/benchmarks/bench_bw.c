/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams of messages, of writes and of reads. The client keeps a window of them in
 * flight; time ends when the server has acknowledged the last one, so that a provider
 * whose completions only mean "has left" is not flattered.
 */
#include "bench.h"

/* The server's acknowledgement: how many messages it has received so far. */
static int ack(struct bench *b, uint64_t n)
{
	*(uint64_t *)(void *)b->acks.buf = n;
	FCT_POST(b->l.txcq, fi_inject(b->l.c.ep, b->acks.buf, sizeof(n), 0));
	return 0;
}

/* The client's receives are for acknowledgements. */
static uint64_t acked(struct bench *b, uint64_t seen, uint64_t have)
{
	uint64_t slot;

	for (; seen < b->received; seen++) {
		slot = seen % b->job.window;
		have = *(uint64_t *)(void *)(b->rx.buf + slot * b->job.size);
		if (bench_post_recv(b, seen))
			break;
	}
	return have;
}

/*
 * Every `signal`-th operation of a run makes a completion, and the last one. All writes
 * or reads have one buffer and one target, as perftest's have.
 */
static ssize_t post_rma(struct bench *b, const struct fi_msg_rma *rma, bool signal)
{
	const struct iovec *iov = rma->msg_iov;
	const struct fi_rma_iov *at = rma->rma_iov;
	bool write = b->job.mode == BENCH_WRITE;
	uint64_t flags = signal ? FI_COMPLETION : 0;

	if (b->job.signal > 1)
		return write ? fi_writemsg(b->l.c.ep, rma, flags)
			     : fi_readmsg(b->l.c.ep, rma, flags);
	return write ? fi_write(b->l.c.ep, iov->iov_base, iov->iov_len, rma->desc[0], 0,
				at->addr, at->key, rma->context)
		     : fi_read(b->l.c.ep, iov->iov_base, iov->iov_len, rma->desc[0], 0,
			       at->addr, at->key, rma->context);
}

static ssize_t post_one(struct bench *b, uint64_t first, uint64_t end)
{
	uint64_t slot = b->sent % b->job.window;
	uint64_t at = b->job.mode == BENCH_STREAM ? slot * b->job.size : 0;
	uint8_t *buf = b->tx.buf + at;
	bool signal = b->sent + 1 == end || (b->sent + 1 - first) % b->job.signal == 0;
	struct iovec iov = {.iov_base = buf, .iov_len = b->job.size};
	struct fi_rma_iov rma_iov = {.addr = b->peer.addr,
				     .len = b->job.size,
				     .key = b->peer.key};
	struct fi_msg_rma rma = {.msg_iov = &iov,
				 .desc = &b->tx.desc,
				 .iov_count = 1,
				 .rma_iov = &rma_iov,
				 .rma_iov_count = 1,
				 .context = &b->tx_ctx[slot]};
	struct fi_msg msg = {.msg_iov = &iov,
			     .desc = &b->tx.desc,
			     .iov_count = 1,
			     .context = &b->tx_ctx[slot]};

	if (b->job.mode != BENCH_STREAM)
		return post_rma(b, &rma, signal);
	if (b->job.signal > 1)
		return fi_sendmsg(b->l.c.ep, &msg, signal ? FI_COMPLETION : 0);
	return fi_send(b->l.c.ep, buf, b->job.size, b->tx.desc, 0, &b->tx_ctx[slot]);
}

/* With one completion for `signal` operations, that many are done when one is read. */
static uint64_t done(const struct bench *b, uint64_t first, uint64_t first_completed,
		     uint64_t count)
{
	uint64_t n = (b->completed - first_completed) * b->job.signal;

	return first + (n < count ? n : count);
}

static int client(struct bench *b, uint64_t count, uint64_t *acks_seen, uint64_t *have)
{
	uint64_t first = b->sent, end = first + count, first_completed = b->completed;
	unsigned int unlucky = 0;
	uint64_t limit;
	ssize_t n;

	while (done(b, first, first_completed, count) < end ||
	       (b->job.mode == BENCH_STREAM && *have < end)) {
		limit = done(b, first, first_completed, count);
		if (b->job.mode == BENCH_STREAM && *have < limit)
			limit = *have;
		while (b->sent < end && b->sent - limit < b->job.window) {
			n = post_one(b, first, end);
			if (n == -FI_EAGAIN)
				break;
			FCT_CALL(n);
			b->sent++;
			unlucky = 0;
		}
		FCT_DO(bench_reap(b, &unlucky));
		*have = acked(b, *acks_seen, *have);
		*acks_seen = b->received;
	}
	return 0;
}

static int stream_server(struct bench *b, uint64_t count)
{
	uint64_t end = b->received + count, next = b->received, told = b->received;
	unsigned int unlucky = 0;
	int ret = 0;

	while (!ret && next < end) {
		ret = bench_reap(b, &unlucky);
		for (; !ret && next < b->received; next++)
			ret = bench_post_recv(b, next);
		if (!ret && (next - told >= (b->job.window + 1) / 2 || next == end) &&
		    next > told) {
			ret = ack(b, next);
			told = next;
		}
	}
	return ret;
}

void bench_print_bw(const struct bench *b, uint64_t ns)
{
	double bytes = (double)b->job.iterations * (double)b->job.size;

	printf("%s provider=%s size=%llu iterations=%llu window=%u signal=%u "
	       "MB_per_s=%.2f msg_per_s=%.0f\n",
	       bench_mode_names[b->job.mode], b->l.c.info->fabric_attr->prov_name,
	       (unsigned long long)b->job.size, (unsigned long long)b->job.iterations,
	       b->job.window, b->job.signal, bytes * 1e3 / (double)ns,
	       (double)b->job.iterations * 1e9 / (double)ns);
}

/*
 * Writes are acknowledged by one message back after one message behind them, and reads
 * the same way. The server sleeps until then: their target is passive, and a processor
 * that it kept busy would be missing where the device is software.
 */
static int flush(struct bench *b, uint64_t *acks_seen)
{
	uint64_t want = b->received + 1;
	unsigned int unlucky = 0;
	struct fct_wait w;

	if (b->job.mode == BENCH_STREAM)
		return 0;
	fct_wait_init(&w, "the message behind the writes");
	if (fct_is_client())
		FCT_POST(b->l.txcq, fi_inject(b->l.c.ep, b->acks.buf, 8, 0));
	while (b->received < want)
		FCT_DO(fct_is_server() ? bench_doze(b, &w) : bench_reap(b, &unlucky));
	FCT_DO(bench_post_recv(b, want - 1));
	*acks_seen = b->received;
	return fct_is_server() ? ack(b, want) : 0;
}

static int run(struct bench *b)
{
	uint64_t start, acks_seen = 0, have = 0;

	if (fct_is_server()) {
		if (b->job.mode == BENCH_STREAM)
			FCT_DO(stream_server(b, b->job.warmup));
		FCT_DO(flush(b, &acks_seen));
		if (b->job.mode == BENCH_STREAM)
			FCT_DO(stream_server(b, b->job.iterations));
		return flush(b, &acks_seen);
	}
	FCT_DO(client(b, b->job.warmup, &acks_seen, &have));
	FCT_DO(flush(b, &acks_seen));
	start = fct_now_ns();
	FCT_DO(client(b, b->job.iterations, &acks_seen, &have));
	FCT_DO(flush(b, &acks_seen));
	bench_print_bw(b, fct_now_ns() - start);
	return 0;
}

int bench_stream(struct bench *b)
{
	return run(b);
}

int bench_transfer(struct bench *b)
{
	return run(b);
}

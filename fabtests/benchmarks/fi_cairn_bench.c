/* SPDX-License-Identifier: BSD-2-Clause */
/* Latency and throughput of one connection, for any provider; one line of result. */
#include <getopt.h>
#include <stdlib.h>

#include "bench.h"

#define PINGPONG_RECVS 16u
#define SPINS \
	(1u << 16)  /* turns without a completion between two looks at the deadline */
#define REAP 16u    /* completions read at once */
#define DOZE_MS 250 /* between two looks at the deadline */

const char *const bench_mode_names[] = {"pingpong", "stream", "write", "read",
					"connect",  "push",   "pull"};
#define MODES (sizeof(bench_mode_names) / sizeof(bench_mode_names[0]))

static struct bench_job job = {.signal = 1};
static bool plain_send, sleeps;

static int option(int val, const char *arg)
{
	unsigned int i;

	switch (val) {
	case 'z':
		job.size = fct_number(arg, 8, 1u << 30);
		return job.size ? 0 : -1;
	case 'n':
		job.iterations = fct_number(arg, 1, UINT32_MAX);
		return job.iterations ? 0 : -1;
	case 'b':
		job.batch = fct_number(arg, 1, UINT32_MAX);
		return job.batch ? 0 : -1;
	case 'w':
		job.window = (uint32_t)fct_number(arg, 1, 4096);
		return job.window ? 0 : -1;
	case 'q':
		job.signal = (uint32_t)fct_number(arg, 1, 4096);
		return job.signal ? 0 : -1;
	case 'N':
		plain_send = true;
		return 0;
	case 'W':
		sleeps = true;
		return 0;
	default:
		for (i = 0; i < MODES; i++) {
			if (!strcmp(arg, bench_mode_names[i])) {
				job.mode = i;
				return 0;
			}
		}
		fprintf(stderr,
			"fi_cairn_bench: mode '%s' is none of pingpong, stream, write, "
			"read, connect, push, pull\n",
			arg);
		return -1;
	}
}

static void defaults(void)
{
	bool pingpong = job.mode == BENCH_PINGPONG || job.mode == BENCH_CONNECT;

	if (!job.size)
		job.size = pingpong ? 64 : 65536;
	if (!job.iterations)
		job.iterations = job.mode == BENCH_CONNECT ? 200
				 : pingpong		   ? 10000
							   : 2000;
	if (!job.batch)
		job.batch = 100;
	if (!job.window)
		job.window = pingpong ? PINGPONG_RECVS : 64;
	if (job.signal > job.window)
		job.signal = job.window;
	job.warmup = job.iterations / 10 + 1;
	job.inject = pingpong && !plain_send;
	job.sleep = job.mode == BENCH_PINGPONG && sleeps;
}

int bench_post_recv(struct bench *b, uint64_t n)
{
	uint64_t slot = n % b->job.window;

	FCT_POST(b->l.rxcq, fi_recv(b->l.c.ep, b->rx.buf + slot * b->job.size,
				    b->job.size, b->rx.desc, 0, &b->rx_ctx[slot]));
	return 0;
}

int bench_send(struct bench *b)
{
	unsigned int unlucky = 0;
	int ret;

	for (;;) {
		ret = b->job.inject ? (int)fi_inject(b->l.c.ep, b->tx.buf, b->job.size, 0)
				    : (int)fi_send(b->l.c.ep, b->tx.buf, b->job.size,
						   b->tx.desc, 0, &b->tx_ctx[0]);
		if (ret != -FI_EAGAIN)
			break;
		FCT_DO(bench_reap(b, &unlucky));
	}
	FCT_CALL(ret);
	b->sent++;
	return 0;
}

static int take(struct bench *b, const struct fi_cq_entry *e, ssize_t n)
{
	struct fct_ctx *ctx;
	ssize_t i;

	if (n < 0)
		return n == -FI_EAVAIL ? fct_cq_fail(b->l.txcq, "an operation")
				       : fct_fail_at(__FILE__, __LINE__,
						     "reading completions: %s",
						     fi_strerror((int)-n));
	for (i = 0; i < n; i++) {
		ctx = e[i].op_context;
		if (ctx >= b->rx_ctx && ctx < b->rx_ctx + b->job.window)
			b->received++;
		else
			b->completed++;
	}
	return 0;
}

int bench_reap(struct bench *b, unsigned int *unlucky)
{
	struct fi_cq_entry e[REAP];
	ssize_t n = fi_cq_read(b->l.txcq, e, REAP);

	if (n == -FI_EAGAIN) {
		if (++*unlucky % SPINS)
			return 0;
		if (*unlucky == SPINS)
			fct_wait_init(&b->idle, "the next completion");
		return fct_wait_check(&b->idle);
	}
	*unlucky = 0;
	return take(b, e, n);
}

int bench_doze(struct bench *b, struct fct_wait *w)
{
	struct fi_cq_entry e[REAP];
	ssize_t n = fi_cq_sread(b->l.txcq, e, REAP, NULL, DOZE_MS);

	return n == -FI_EAGAIN || n == -FI_EINTR ? fct_wait_check(w) : take(b, e, n);
}

static int agree(struct bench *b)
{
	if (fct_is_server())
		return fct_hear("job", &b->job, sizeof(b->job));
	b->job = job;
	return fct_tell("job", &b->job, sizeof(b->job));
}

static bool is_rma(const struct bench *b)
{
	return b->job.mode == BENCH_WRITE || b->job.mode == BENCH_READ;
}

static bool is_hop(const struct bench *b)
{
	return b->job.mode == BENCH_PUSH || b->job.mode == BENCH_PULL;
}

/* What the peer writes or reads here. */
static int prepare_target(struct bench *b, struct fct_target *mine)
{
	struct fct_link *l = &b->l;

	if (is_rma(b))
		*mine = fct_mem_target(l, &b->rx);
	else if (b->job.mode == BENCH_PULL && fct_is_client())
		*mine = fct_mem_target(l, &b->tx);
	if (!is_hop(b) || fct_is_client())
		return 0;
	FCT_DO(fct_mem_alloc(l, &b->land, b->job.size * b->job.window,
			     FI_READ | FI_REMOTE_WRITE));
	if (b->job.mode == BENCH_PUSH)
		*mine = fct_mem_target(l, &b->land);
	return 0;
}

static int prepare(struct bench *b)
{
	struct fct_target mine = {.addr = 0};
	struct fct_link *l = &b->l;
	size_t len = b->job.size * b->job.window;
	uint64_t i;

	if (b->job.inject && b->job.size > l->c.info->tx_attr->inject_size) {
		fct_note("inject_size is %zu: fi_send instead",
			 l->c.info->tx_attr->inject_size);
		b->job.inject = 0;
	}
	b->tx_ctx = calloc(b->job.window, sizeof(*b->tx_ctx));
	b->rx_ctx = calloc(b->job.window, sizeof(*b->rx_ctx));
	FCT_TRUE(b->tx_ctx && b->rx_ctx);
	FCT_DO(fct_mem_alloc(l, &b->tx, len,
			     FI_SEND | FI_WRITE | FI_READ |
				     (b->job.mode == BENCH_PULL ? FI_REMOTE_READ : 0)));
	FCT_DO(fct_mem_alloc(l, &b->rx, len,
			     FI_RECV |
				     (is_rma(b) ? FI_REMOTE_WRITE | FI_REMOTE_READ : 0)));
	FCT_DO(fct_mem_alloc(l, &b->acks, 64, FI_SEND));
	FCT_DO(prepare_target(b, &mine));
	FCT_DO(fct_exchange("region", &mine, &b->peer, sizeof(mine)));
	for (i = 0; i < b->job.window; i++)
		FCT_DO(bench_post_recv(b, i));
	return fct_barrier("ready");
}

static int connected(struct bench *b)
{
	static int (*const modes[])(struct bench * b) = {bench_pingpong, bench_stream,
							 bench_transfer, bench_transfer,
							 bench_connect,	 bench_hop,
							 bench_hop};
	struct fct_setup s = {.caps = FI_MSG,
			      .format = FI_CQ_FORMAT_CONTEXT,
			      .threading = FI_THREAD_DOMAIN};

	if (b->job.mode >= MODES || !b->job.window || !b->job.signal || !b->job.batch)
		return fct_fail("the client asked for an unknown measurement");
	if (is_rma(b) || is_hop(b))
		s.caps |= FI_RMA;
	if (is_rma(b) || b->job.sleep)
		s.cq_wait = FI_WAIT_UNSPEC;
	if (b->job.signal > 1)
		s.tx_bind = FI_SELECTIVE_COMPLETION;
	s.tx_size = b->job.window * (is_hop(b) ? 2 : 1) + 1;
	s.rx_size = b->job.window;
	FCT_DO(fct_link_up(&b->l, &s));
	FCT_DO(prepare(b));
	return modes[b->job.mode](b);
}

static int measure(struct bench *b)
{
	int ret;

	if (agree(b))
		return -1;
	ret = fct_link_down(&b->l, connected(b));
	free(b->tx_ctx);
	free(b->rx_ctx);
	free(b->conns);
	return ret;
}

static int report(void)
{
	enum fct_result peer = FCT_PASS;
	char why[FCT_WHY_LEN] = "";
	bool followed = false;

	if (fct_ctl_end(&peer, why, sizeof(why), &followed))
		peer = FCT_FAIL;
	if (fct.result == FCT_PASS && peer == FCT_PASS)
		return 0;
	if (fct.result != FCT_PASS && !fct.followed)
		fprintf(stderr, "fi_cairn_bench: %s: %s\n", fct_role_name(), fct.why);
	return fct.result == FCT_SKIP || peer == FCT_SKIP ? 77 : 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"mode", required_argument, NULL, 'm'},
		{"size", required_argument, NULL, 'z'},
		{"iterations", required_argument, NULL, 'n'},
		{"batch", required_argument, NULL, 'b'},
		{"window", required_argument, NULL, 'w'},
		{"signal", required_argument, NULL, 'q'},
		{"no-inject", no_argument, NULL, 'N'},
		{"wait", no_argument, NULL, 'W'},
		{0},
	};
	static const struct fct_prog prog = {
		.name = "fi_cairn_bench",
		.what = "Latency and throughput of one connection; the client prints one "
			"line.",
		.options = options,
		.option = option,
		.help = "The client chooses:\n"
			"  -m, --mode=MODE         pingpong (default), stream "
			"(fi_send), write (fi_write), "
			"read (fi_read),\n"
			"                          connect (connections, one after "
			"the other), push (a write and a message\n"
			"                          behind it) or pull (a message, and a "
			"read by who gets it)\n"
			"  -z, --size=BYTES        of an operation (default 64; all but "
			"pingpong and connect: 64K)\n"
			"  -n, --iterations=COUNT  after a warm-up of a tenth (default "
			"10000; 2000; connect: 200)\n"
			"  -b, --batch=COUNT       pingpong: round trips per sample "
			"(default 100)\n"
			"  -N, --no-inject         pingpong: fi_send also where "
			"fi_inject would do\n"
			"  -W, --wait              pingpong: both sides wait in "
			"fi_cq_sread instead of polling\n"
			"  -w, --window=COUNT      all but pingpong and connect: "
			"operations "
			"in flight (default 64)\n"
			"  -q, --signal=COUNT      the same: a completion for every "
			"COUNT (default 1)\n",
	};
	static struct bench bench;
	int ret = fct_start(argc, argv, &prog);

	defaults();
	ret = fct_probe() ? 1 : 0;
	if (fct_agree(ret))
		ret = 1;
	if (!ret) {
		measure(&bench);
		ret = report();
	}
	fct_watchdog_stop();
	return fct_stop(ret);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Ping-pong: the client's message, the server's answer, and nothing else under way. */
#include <stdlib.h>

#include "bench.h"

static int await_message(struct bench *b, uint64_t n)
{
	unsigned int unlucky = 0;
	struct fct_wait w;
	int ret = 0;

	if (b->job.sleep)
		fct_wait_init(&w, "the next message");
	while (b->received < n && !ret)
		ret = b->job.sleep ? bench_doze(b, &w) : bench_reap(b, &unlucky);
	return ret;
}

/* The answer goes out before the receive is posted anew: others are posted already. */
static int round_trips(struct bench *b, uint64_t count)
{
	uint64_t n, end = b->received + count;
	int ret = 0;

	if (fct_is_client()) {
		for (n = b->received; n < end && !ret; n++) {
			ret = bench_send(b);
			if (!ret)
				ret = await_message(b, n + 1);
			if (!ret)
				ret = bench_post_recv(b, n);
		}
	} else {
		for (n = b->received; n < end && !ret; n++) {
			ret = await_message(b, n + 1);
			if (!ret)
				ret = bench_send(b);
			if (!ret)
				ret = bench_post_recv(b, n);
		}
	}
	return ret;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void print(const struct bench *b, double *usec, uint64_t batches)
{
	const struct fi_info *info = b->l.c.info;

	qsort(usec, batches, sizeof(usec[0]), by_value);
	printf("pingpong provider=%s op=%s size=%llu iterations=%llu batch=%llu "
	       "half_rtt_usec=%.3f min=%.3f p90=%.3f p99=%.3f\n",
	       info->fabric_attr->prov_name, b->job.inject ? "inject" : "send",
	       (unsigned long long)b->job.size,
	       (unsigned long long)(batches * b->job.batch),
	       (unsigned long long)b->job.batch, usec[batches / 2], usec[0],
	       usec[batches * 9 / 10], usec[batches * 99 / 100]);
}

int bench_pingpong(struct bench *b)
{
	uint64_t batches = (b->job.iterations + b->job.batch - 1) / b->job.batch, i,
		 start;
	FCT_AUTO(fct_free_end) double *usec = calloc(batches, sizeof(*usec));

	FCT_TRUE(usec);
	FCT_DO(round_trips(b, b->job.warmup));
	for (i = 0; i < batches; i++) {
		start = fct_now_ns();
		FCT_DO(round_trips(b, b->job.batch));
		usec[i] = (double)(fct_now_ns() - start) / (2e3 * (double)b->job.batch);
	}
	if (fct_is_client())
		print(b, usec, batches);
	return 0;
}

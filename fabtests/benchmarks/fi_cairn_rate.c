/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many small writes a second: of one thread or of several, each with a connection and
 * a completion queue of its own in one domain; with FI_MORE, and with a completion for
 * some operations only. Both ends of every connection are in this process.
 *
 * One line: "rate provider=NAME threading=LEVEL threads=N more=N signal=N per_s=X".
 */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "ends.h"

#define PROGRAM "fi_cairn_rate"
#define MOST_THREADS 64
#define DEPTH 128
#define SIZE 8
#define LINE 4096 /* between the targets of two threads */

struct worker {
	pthread_t thread;
	struct fid_ep *ep[2];
	struct fid_cq *cq[2];
	char *source, *target;
	double end;
};

static long threads = 1, more = 1, every = 1, count = 500000;
static struct ends ends;
static struct worker workers[MOST_THREADS];
static struct fid_mr *mr;
static char *memory;
static void *desc;
static uint64_t base, key; /* of memory, as fi_write wants it */
static pthread_barrier_t ready;

static void need(ssize_t ret, const char *what)
{
	bench_ends_need(&ends, ret, what);
}

/* One of `more` that are posted together, one of `every` that completes. */
static uint64_t flags_of(long i)
{
	uint64_t flags = 0;

	if ((i + 1) % more && i + 1 < count)
		flags |= FI_MORE;
	if (!((i + 1) % every) || i + 1 == count)
		flags |= FI_COMPLETION;
	return flags;
}

static long completed(struct worker *w)
{
	struct fi_cq_entry entries[16];
	ssize_t ret = fi_cq_read(w->cq[0], entries, 16);

	if (ret == -FI_EAGAIN)
		return 0;
	need(ret, "fi_cq_read");
	return ret;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct iovec iov = {.iov_base = w->source, .iov_len = SIZE};
	struct fi_rma_iov to = {.addr = base + (uint64_t)(w->target - memory),
				.len = SIZE,
				.key = key};
	struct fi_msg_rma msg = {.msg_iov = &iov,
				 .desc = &desc,
				 .iov_count = 1,
				 .rma_iov = &to,
				 .rma_iov_count = 1,
				 .context = w};
	const long wanted = (count + every - 1) / every;
	long i, done = 0;
	ssize_t ret;

	pthread_barrier_wait(&ready);
	for (i = 0; i < count; i++) {
		while ((ret = fi_writemsg(w->ep[0], &msg, flags_of(i))) == -FI_EAGAIN)
			done += completed(w);
		need(ret, "fi_writemsg");
	}
	while (done < wanted)
		done += completed(w);
	w->end = bench_ends_now_ns();
	return NULL;
}

static void open_workers(void)
{
	const uint64_t selective = every > 1 ? FI_SELECTIVE_COMPLETION : 0;
	const size_t len = 2 * (size_t)threads * LINE;
	struct worker *w;
	long i;

	memory = aligned_alloc(LINE, len);
	need(memory ? 0 : -FI_ENOMEM, "memory");
	need(fi_mr_reg(ends.domain, memory, len, FI_WRITE | FI_REMOTE_WRITE, 0, 1, 0, &mr,
		       NULL),
	     "fi_mr_reg");
	desc = fi_mr_desc(mr);
	key = fi_mr_key(mr);
	if (ends.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		base = (uintptr_t)memory;
	for (i = 0; i < threads; i++) {
		w = &workers[i];
		w->source = memory + 2 * i * LINE;
		w->target = w->source + LINE;
		w->cq[0] = bench_ends_cq(&ends, 2 * DEPTH);
		w->cq[1] = bench_ends_cq(&ends, 2 * DEPTH);
		bench_ends_pair(&ends, w->cq, selective, w->ep);
	}
}

static void close_workers(void)
{
	long i;
	int n;

	for (i = 0; i < threads; i++) {
		for (n = 0; n < 2; n++)
			need(fi_close(&workers[i].ep[n]->fid), "fi_close");
		for (n = 0; n < 2; n++)
			need(fi_close(&workers[i].cq[n]->fid), "fi_close");
	}
	need(fi_close(&mr->fid), "fi_close");
	free(memory);
}

/* Operations a second of all threads together, until the last one is done. */
static double measure(void)
{
	double start, end = 0;
	long i;

	need(-pthread_barrier_init(&ready, NULL, (unsigned int)threads + 1), "threads");
	for (i = 0; i < threads; i++)
		need(-pthread_create(&workers[i].thread, NULL, work, &workers[i]),
		     "threads");
	start = bench_ends_now_ns();
	pthread_barrier_wait(&ready);
	for (i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		if (workers[i].end > end)
			end = workers[i].end;
	}
	pthread_barrier_destroy(&ready);
	return (double)count * (double)threads * 1e9 / (end - start);
}

static void usage(FILE *to)
{
	fputs("Usage: fi_cairn_rate [OPTION...] ADDRESS\n"
	      "8 B writes a second, both ends of each connection in this process.\n"
	      "ADDRESS is one of this machine's that the provider can use.\n"
	      "  -p PROVIDER  default: pverbs\n"
	      "  -t LEVEL     threading: safe (default), or domain with one thread\n"
	      "  -T THREADS   each with a connection of its own (default 1)\n"
	      "  -m COUNT     writes posted together, by FI_MORE (default 1)\n"
	      "  -q COUNT     one completion for so many (default 1)\n"
	      "  -n COUNT     writes of each thread (default 500000)\n",
	      to);
}

static void options(int argc, char **argv, struct ends_wish *wish)
{
	int option;

	while ((option = getopt(argc, argv, "p:t:T:m:q:n:h")) != -1) {
		switch (option) {
		case 'p':
			wish->provider = optarg;
			break;
		case 't':
			wish->threading = bench_ends_threading(PROGRAM, optarg);
			break;
		case 'T':
			threads = bench_ends_number(PROGRAM, optarg, MOST_THREADS);
			break;
		case 'm':
			more = bench_ends_number(PROGRAM, optarg, DEPTH / 2);
			break;
		case 'q':
			every = bench_ends_number(PROGRAM, optarg, DEPTH / 2);
			break;
		case 'n':
			count = bench_ends_number(PROGRAM, optarg, 1000000000);
			break;
		default:
			usage(option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
	}
	if (optind + 1 != argc || (threads > 1 && wish->threading != FI_THREAD_SAFE)) {
		usage(stderr);
		exit(2);
	}
	wish->address = argv[optind];
}

int main(int argc, char **argv)
{
	struct ends_wish wish = {.program = PROGRAM,
				 .provider = "pverbs",
				 .threading = FI_THREAD_SAFE,
				 .depth = DEPTH};

	options(argc, argv, &wish);
	bench_ends_open(&ends, &wish);
	open_workers();
	printf("rate provider=%s threading=%s threads=%ld more=%ld signal=%ld "
	       "per_s=%.0f\n",
	       wish.provider, wish.threading == FI_THREAD_SAFE ? "safe" : "domain",
	       threads, more, every, measure());
	close_workers();
	bench_ends_close(&ends);
	return 0;
}

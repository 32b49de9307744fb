/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one operation costs with its completion, both ends of the connection in this
 * process and thread: so every instruction of it is counted, and nobody waits for
 * anybody. util/bench runs it beside the same operation in verbs (bench_verbs).
 *
 * One line: "OPERATION provider=NAME threading=LEVEL size=BYTES ns=NS least=NS", the
 * median and the fastest of the rounds.
 */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ends.h"

#define PROGRAM "fi_cairn_op"
#define MAX_ROUNDS 1001
#define MOST (1 << 20)
#define WINDOW 64
#define DEPTH 64
#define DEPTH_WINDOW (4 * WINDOW) /* a durable write may take several entries */

static struct ends_wish wish = {.program = PROGRAM,
				.provider = "pverbs",
				.threading = FI_THREAD_DOMAIN,
				.depth = DEPTH};
static size_t size = 8;
static long count = 20000, rounds = 31, rest, window = 1;
static uint64_t at;    /* durable writes so far */
static long under_way; /* of them */

static struct ends ends;
static struct fid_ep *eps[2]; /* who connected, and who was asked */
static struct fid_cq *cqs[2];
static struct fid_mr *mr;
static char *memory; /* the second half is the target */
static void *desc;
static uint64_t target, key;
static const char *persistent; /* a devdax or a file: the target of durable writes */
static void *persistent_memory;
static struct fid_mr *persistent_mr;

static void need(ssize_t ret, const char *what)
{
	bench_ends_need(&ends, ret, what);
}

static void open_persistent(void)
{
	int fd = open(persistent, O_RDWR | O_CLOEXEC);

	persistent_memory =
		mmap(NULL, 2 * MOST, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	need(fd < 0 || persistent_memory == MAP_FAILED ? -FI_EINVAL : 0, persistent);
	close(fd);
	need(fi_mr_reg(ends.domain, persistent_memory, 2 * MOST,
		       FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 2, FI_RMA_PMEM,
		       &persistent_mr, NULL),
	     "fi_mr_reg of persistent memory");
	target = ends.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR
			 ? (uintptr_t)persistent_memory
			 : 0;
	key = fi_mr_key(persistent_mr);
}

static void open_all(void)
{
	if (persistent)
		wish.caps = FI_RMA_PMEM;
	if (window > 1)
		wish.depth = DEPTH_WINDOW;
	bench_ends_open(&ends, &wish);
	memory = aligned_alloc(4096, 2 * MOST);
	need(memory ? 0 : -FI_ENOMEM, "memory");
	memset(memory, 1, 2 * MOST);
	need(fi_mr_reg(ends.domain, memory, 2 * MOST,
		       FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
			       FI_REMOTE_WRITE,
		       0, 1, 0, &mr, NULL),
	     "fi_mr_reg");
	desc = fi_mr_desc(mr);
	key = fi_mr_key(mr);
	target = MOST;
	if (ends.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		target += (uintptr_t)memory;
	if (persistent)
		open_persistent();
	cqs[0] = bench_ends_cq(&ends, 4 * wish.depth);
	cqs[1] = bench_ends_cq(&ends, 4 * wish.depth);
	bench_ends_pair(&ends, cqs, persistent ? FI_SELECTIVE_COMPLETION : 0, eps);
}

static void close_all(void)
{
	need(fi_close(&eps[0]->fid), "fi_close");
	need(fi_close(&eps[1]->fid), "fi_close");
	need(fi_close(&cqs[0]->fid), "fi_close");
	need(fi_close(&cqs[1]->fid), "fi_close");
	need(fi_close(&mr->fid), "fi_close");
	if (persistent)
		need(fi_close(&persistent_mr->fid), "fi_close");
	bench_ends_close(&ends);
	free(memory);
}

static void await(struct fid_cq *cq)
{
	struct fi_cq_entry entry;
	ssize_t ret;

	do {
		ret = fi_cq_read(cq, &entry, 1);
	} while (ret == -FI_EAGAIN);
	need(ret, "fi_cq_read");
}

static void write_once(void)
{
	need(fi_write(eps[0], memory, size, desc, 0, target, key, &eps[0]), "fi_write");
	await(cqs[0]);
}

static ssize_t try_writemsg(uint64_t to, size_t len, uint64_t flags)
{
	struct iovec iov = {.iov_base = memory, .iov_len = len};
	struct fi_rma_iov rma_iov = {.addr = to, .len = len, .key = key};
	struct fi_msg_rma msg = {.msg_iov = &iov,
				 .desc = &desc,
				 .iov_count = 1,
				 .rma_iov = &rma_iov,
				 .rma_iov_count = 1,
				 .context = &eps[0]};

	return fi_writemsg(eps[0], &msg, flags);
}

static void writemsg(uint64_t to, size_t len, uint64_t flags)
{
	need(try_writemsg(to, len, flags), "fi_writemsg");
}

static void writemsg_once(void)
{
	writemsg(target, size, FI_COMPLETION);
	await(cqs[0]);
}

/* The target has to do something for it, which some providers do when its queue is read.
 */
static void await_target(void)
{
	struct fi_cq_entry entry;
	ssize_t ret;

	do {
		fi_cq_read(cqs[1], &entry, 1);
		ret = fi_cq_read(cqs[0], &entry, 1);
	} while (ret == -FI_EAGAIN);
	need(ret, "fi_cq_read");
}

static void delivered_once(void)
{
	writemsg(target, size, FI_DELIVERY_COMPLETE | FI_COMPLETION);
	await_target();
}

static void read_once(void)
{
	need(fi_read(eps[0], memory, size, desc, 0, target, key, &eps[0]), "fi_read");
	await_target();
}

static void durable_once(void)
{
	writemsg(target, size, FI_COMMIT_COMPLETE | FI_COMPLETION);
	await(cqs[0]);
}

static void durable_oldest(void)
{
	await(cqs[0]);
	under_way--;
}

/* The next one, to memory of its own; as many as are wished are under way at a time. */
static void durable_next(void)
{
	const uint64_t flags = FI_COMMIT_COMPLETE | FI_COMPLETION, to = target + at;
	ssize_t ret;

	at = at + 2 * size > MOST ? 0 : at + size;
	while ((ret = try_writemsg(to, size, flags)) == -FI_EAGAIN && under_way)
		durable_oldest();
	need(ret, "fi_writemsg");
	if (++under_way == window)
		durable_oldest();
}

static void durable_rest(void)
{
	while (under_way)
		durable_oldest();
}

/* And a word that becomes durable behind it, given to the device in one go. */
static void compound_once(void)
{
	writemsg(target, size, FI_COMMIT_COMPLETE | FI_MORE);
	writemsg(target + MOST, 8, FI_FENCE | FI_COMMIT_COMPLETE | FI_COMPLETION);
	await(cqs[0]);
}

/* Never completes; reading is what frees its queue entry. */
static void inject_once(void)
{
	struct fi_cq_entry entry;
	ssize_t ret;

	do {
		ret = fi_inject_write(eps[0], memory, size, 0, target, key);
		fi_cq_read(cqs[0], &entry, 1);
	} while (ret == -FI_EAGAIN);
	need(ret, "fi_inject_write");
}

static void send_once(void)
{
	need(fi_recv(eps[1], memory + MOST, size, desc, 0, &eps[1]), "fi_recv");
	need(fi_send(eps[0], memory, size, desc, 0, &eps[0]), "fi_send");
	await(cqs[0]);
	await(cqs[1]);
}

static int ascending(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

/* Of the rounds, the median; and the fastest, to *least. */
static double measure(void (*once)(void), double *least)
{
	static double times[MAX_ROUNDS];
	double start;
	long round, i;

	for (round = 0; round < rounds; round++) {
		for (start = bench_ends_now_ns();
		     bench_ends_now_ns() < start + (double)rest * 1e3;)
			;
		start = bench_ends_now_ns();
		for (i = 0; i < count; i++)
			once();
		durable_rest();
		times[round] = (bench_ends_now_ns() - start) / (double)count;
	}
	qsort(times, (size_t)rounds, sizeof(times[0]), ascending);
	*least = times[0];
	return times[rounds / 2];
}

static const struct operation {
	const char *name;
	void (*once)(void);
} operations[] = {
	{"write", write_once},	   {"writemsg", writemsg_once},
	{"inject", inject_once},   {"delivered", delivered_once},
	{"read", read_once},	   {"send", send_once},
	{"durable", durable_once}, {"compound", compound_once},
};

static void usage(FILE *to)
{
	fputs("Usage: fi_cairn_op [OPTION...] ADDRESS\n"
	      "The cost of one operation and its completion, both ends in this process.\n"
	      "ADDRESS is one of this machine's that the provider can use.\n"
	      "  -p PROVIDER   default: pverbs\n"
	      "  -o OPERATION  write (default), writemsg, inject (fi_inject_write),\n"
	      "                delivered (writemsg with FI_DELIVERY_COMPLETE), read,\n"
	      "                send (with the receive), durable (a write), compound "
	      "(the\n"
	      "                same, and a word that is durable behind it)\n"
	      "  -m MEMORY     a devdax, or a file of 2 MiB in persistent memory: where\n"
	      "                durable and compound write to\n"
	      "  -w COUNT      durable writes under way at a time (default 1)\n"
	      "  -z BYTES      of a write or message (default 8)\n"
	      "  -t LEVEL      threading: domain (default) or safe\n"
	      "  -n COUNT      operations of a round (default 20000)\n"
	      "  -r ROUNDS     of which the median and the fastest are taken (default "
	      "31)\n"
	      "  -g USEC       between rounds, so that each begins at an idle device\n",
	      to);
}

static const struct operation *operation(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (!strcmp(operations[i].name, name))
			return &operations[i];
	fprintf(stderr, "fi_cairn_op: there is no operation %s\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	const struct operation *op = &operations[0];
	double median, least;
	int option;

	while ((option = getopt(argc, argv, "p:o:m:w:z:t:n:r:g:h")) != -1) {
		switch (option) {
		case 'p':
			wish.provider = optarg;
			break;
		case 'o':
			op = operation(optarg);
			break;
		case 'm':
			persistent = optarg;
			break;
		case 'w':
			window = bench_ends_number(PROGRAM, optarg, WINDOW);
			break;
		case 'z':
			size = (size_t)bench_ends_number(PROGRAM, optarg, MOST);
			break;
		case 't':
			wish.threading = bench_ends_threading(PROGRAM, optarg);
			break;
		case 'n':
			count = bench_ends_number(PROGRAM, optarg, 1000000000);
			break;
		case 'r':
			rounds = bench_ends_number(PROGRAM, optarg, MAX_ROUNDS);
			break;
		case 'g':
			rest = bench_ends_number(PROGRAM, optarg, 1000000);
			break;
		default:
			usage(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (optind + 1 != argc ||
	    !persistent != (op->once != durable_once && op->once != compound_once) ||
	    (window > 1 && op->once != durable_once)) {
		usage(stderr);
		return 2;
	}
	wish.address = argv[optind];
	open_all();
	median = measure(window > 1 ? durable_next : op->once, &least);
	printf("%s provider=%s threading=%s size=%zu ns=%.1f least=%.1f\n", op->name,
	       wish.provider, wish.threading == FI_THREAD_SAFE ? "safe" : "domain", size,
	       median, least);
	close_all();
	return 0;
}

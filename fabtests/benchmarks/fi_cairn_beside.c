/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a program waits beside a peer that has much made durable: the target of
 * durable operations calls fi_cq_read, fi_cq_sread, fi_mr_reg and fi_close again and
 * again while another process
 *   none     does nothing: what the machine itself costs,
 *   hostile  has 16 requests wait all the time, over bare verbs,
 *   honest   writes all of it, durably, one write after the other,
 *   data     the same by writes with data, whose completions the target reads,
 *   silent   asks once and never advances the sequence word; the target sleeps, and the
 * line says what of a processor that costs: "beside peer=silent cpu_percent=X". And
 * whether one peer reaches the sequence word of another (-w): it must not.
 *
 * A line for each call: "beside peer=P MiB=N call=C calls=N p50_us=X p999_us=X max_us=X
 * preempted=N", without the millisecond that fi_cq_sread waits, and without the calls
 * in which the system gave the processor to another thread: they say nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ends.h"
#include "raw_peer.h"

#define PROGRAM "fi_cairn_beside"
#define SAMPLES 1000000

enum call { READ, SREAD, REGISTER, CALLS };
static const char *const call_names[CALLS] = {"fi_cq_read", "fi_cq_sread", "fi_mr_reg"};

/* What the target tells its peers. */
struct told {
	uint64_t addr, key;
	uint16_t port;
};

static struct {
	const char *address, *file, *peer;
	size_t mib;
	long seconds;
	struct ends_wish wish;
	struct ends ends;
	struct fid_cq *cq;
	struct fid_mr *mr;
	void *mem;
	double *us[CALLS];
	size_t calls[CALLS], preempted[CALLS];
} b = {.peer = "hostile", .mib = 64, .seconds = 5};

static size_t bytes(void)
{
	return b.mib << 20;
}

static bool sends_data(void)
{
	return !strcmp(b.peer, "data");
}

/* The peers. */

static void hostile(const struct told *told)
{
	const struct pvb_wire_range range = {told->addr, bytes(), (uint32_t)told->key};
	const double end = bench_ends_now_ns() + (double)b.seconds * 1e9;
	struct raw_peer p;
	uint32_t i;

	bench_raw_open(&p, PROGRAM, b.address, told->port);
	for (i = 0; i < RAW_CREDITS; i++)
		bench_raw_ask(&p, &range, 0);
	while (bench_ends_now_ns() < end) {
		if (bench_raw_answer(&p, 100) == 0)
			bench_raw_ask(&p, &range, 0);
	}
	printf("beside peer=hostile MiB=%zu requests=%u\n", b.mib, p.answered);
	bench_raw_close(&p);
}

static void silent(const struct told *told)
{
	const struct pvb_wire_range range = {told->addr, 8, (uint32_t)told->key};
	struct raw_peer p;

	bench_raw_open(&p, PROGRAM, b.address, told->port);
	bench_raw_ask(&p, &range, 1);
	sleep((unsigned int)b.seconds);
	bench_raw_close(&p);
}

static struct fid_ep *honest_connect(struct ends *e, uint16_t port, struct fid_cq **cq)
{
	struct fi_cq_attr attr = {.size = 16, .format = FI_CQ_FORMAT_CONTEXT};
	struct fi_info *info = e->info;
	struct fid_ep *ep;

	((struct sockaddr_in *)info->dest_addr)->sin_port = htons(port);
	bench_ends_need(e, fi_cq_open(e->domain, &attr, cq, NULL), "fi_cq_open");
	ep = bench_ends_ep(e, info, *cq, 0);
	bench_ends_need(e, fi_connect(ep, info->dest_addr, NULL, 0), "fi_connect");
	if (bench_ends_event(e, &info) != FI_CONNECTED)
		bench_ends_need(e, -FI_EOTHER, "the next event");
	return ep;
}

static void honest_write(struct ends *e, struct fid_ep *ep, struct fid_cq *cq,
			 struct fid_mr *mr, void *buf, const struct told *told)
{
	struct iovec iov = {buf, bytes()};
	struct fi_rma_iov to = {told->addr, bytes(), told->key};
	void *desc = fi_mr_desc(mr);
	const struct fi_msg_rma msg = {.msg_iov = &iov,
				       .desc = &desc,
				       .iov_count = 1,
				       .rma_iov = &to,
				       .rma_iov_count = 1};
	const uint64_t data = sends_data() ? FI_REMOTE_CQ_DATA : 0;
	struct fi_cq_entry entry;
	ssize_t ret;

	bench_ends_need(e,
			fi_writemsg(ep, &msg, FI_COMMIT_COMPLETE | FI_COMPLETION | data),
			"fi_writemsg");
	do {
		ret = fi_cq_read(cq, &entry, 1);
	} while (ret == -FI_EAGAIN);
	bench_ends_need(e, ret, "fi_cq_read");
}

static void honest(const struct told *told)
{
	const double end = bench_ends_now_ns() + (double)b.seconds * 1e9;
	unsigned int writes = 0;
	struct fid_mr *mr;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct ends e;
	void *buf = calloc(1, bytes());

	bench_ends_open(&e, &b.wish);
	bench_ends_need(&e, buf ? 0 : -FI_ENOMEM, "memory");
	ep = honest_connect(&e, told->port, &cq);
	bench_ends_need(&e,
			fi_mr_reg(e.domain, buf, bytes(), FI_WRITE, 0, 0, 0, &mr, NULL),
			"fi_mr_reg");
	for (; bench_ends_now_ns() < end; writes++)
		honest_write(&e, ep, cq, mr, buf, told);
	printf("beside peer=%s MiB=%zu writes=%u\n", b.peer, b.mib, writes);
	bench_ends_need(&e, fi_close(&ep->fid), "fi_close");
	bench_ends_need(&e, fi_close(&mr->fid), "fi_close");
	bench_ends_need(&e, fi_close(&cq->fid), "fi_close");
	bench_ends_close(&e);
	free(buf);
}

/* Two connections of one domain: what one is told, the other tries. */
static int reach(const struct told *told)
{
	const struct pvb_wire_range range = {told->addr, 8, (uint32_t)told->key};
	struct raw_peer one, other;
	enum ibv_wc_status status, own;
	int answer, durable;

	bench_raw_open(&one, PROGRAM, b.address, told->port);
	bench_raw_open(&other, PROGRAM, b.address, told->port);
	bench_raw_ask(&one, &range, 1);
	status = bench_raw_add(&other, &one.peer.word, 1);
	answer = bench_raw_answer(&one, 200);
	printf("beside reach other=\"%s\" answer=%s\n", ibv_wc_status_str(status),
	       answer < 0 ? "none" : "durable");
	own = bench_raw_add(&one, &one.peer.word, 1);
	durable = bench_raw_answer(&one, 5000);
	if (own != IBV_WC_SUCCESS || durable) {
		printf("beside reach own=\"%s\" answer=%d: the connection's own "
		       "sequence word is out of reach\n",
		       ibv_wc_status_str(own), durable);
		return 1;
	}
	bench_raw_close(&other);
	bench_raw_close(&one);
	return status == IBV_WC_SUCCESS || answer >= 0;
}

static int peer(int from)
{
	struct told told;
	int ret = 0;

	if (read(from, &told, sizeof(told)) != sizeof(told))
		return 1;
	if (!strcmp(b.peer, "reach"))
		ret = reach(&told);
	else if (!strcmp(b.peer, "hostile"))
		hostile(&told);
	else if (!strcmp(b.peer, "silent"))
		silent(&told);
	else if (!strcmp(b.peer, "honest") || sends_data())
		honest(&told);
	else
		sleep((unsigned int)b.seconds);
	fflush(stdout);
	return ret;
}

/* The target. */

/* A file has to be long enough; a devdax is as long as it is. */
static void *map_file(void)
{
	const int fd = open(b.file, O_RDWR | O_CREAT, 0600);
	struct stat info;
	void *mem;

	bench_ends_need(&b.ends, fd < 0 || fstat(fd, &info) ? -errno : 0, b.file);
	if (S_ISREG(info.st_mode) && info.st_size < (off_t)bytes())
		bench_ends_need(&b.ends, ftruncate(fd, (off_t)bytes()) ? -errno : 0,
				b.file);
	mem = mmap(NULL, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	bench_ends_need(&b.ends, mem == MAP_FAILED ? -errno : 0, "mmap");
	close(fd);
	memset(mem, 0, bytes());
	return mem;
}

static void open_target(int to)
{
	struct fi_cq_attr attr = {.size = 64,
				  .format = FI_CQ_FORMAT_CONTEXT,
				  .wait_obj = FI_WAIT_UNSPEC};
	struct told told = {0};

	bench_ends_open(&b.ends, &b.wish);
	b.mem = map_file();
	bench_ends_need(&b.ends, fi_cq_open(b.ends.domain, &attr, &b.cq, NULL),
			"fi_cq_open");
	bench_ends_need(&b.ends,
			fi_mr_reg(b.ends.domain, b.mem, bytes(), FI_REMOTE_WRITE, 0, 0,
				  FI_RMA_PMEM, &b.mr, NULL),
			"fi_mr_reg");
	told.addr = (uintptr_t)b.mem;
	told.key = fi_mr_key(b.mr);
	told.port = ntohs(((struct sockaddr_in *)b.ends.info->dest_addr)->sin_port);
	bench_ends_need(&b.ends,
			write(to, &told, sizeof(told)) == sizeof(told) ? 0 : -errno,
			"write");
}

/* Accepts so many. */
static void accept_peers(int count, struct fid_ep **eps)
{
	struct fi_info *info;
	int requests = 0, connected = 0;

	while (connected < count) {
		switch (bench_ends_event(&b.ends, &info)) {
		case FI_CONNREQ:
			eps[requests] = bench_ends_ep(&b.ends, info, b.cq, 0);
			bench_ends_need(&b.ends, fi_accept(eps[requests++], NULL, 0),
					"fi_accept");
			fi_freeinfo(info);
			break;
		case FI_CONNECTED:
			connected++;
			break;
		default:
			bench_ends_need(&b.ends, -FI_EOTHER, "the next event");
		}
	}
}

/* For the data of one write. */
static void post_receive(struct fid_ep *ep)
{
	bench_ends_need(&b.ends, (int)fi_recv(ep, NULL, 0, NULL, 0, ep), "fi_recv");
}

static void make(enum call call)
{
	static char other[4096];
	struct fi_cq_entry entry;
	struct fid_mr *mr;

	switch (call) {
	case READ:
		if (fi_cq_read(b.cq, &entry, 1) == 1)
			post_receive(entry.op_context);
		break;
	case SREAD:
		if (fi_cq_sread(b.cq, &entry, 1, NULL, 1) == 1)
			post_receive(entry.op_context);
		break;
	default:
		bench_ends_need(&b.ends,
				fi_mr_reg(b.ends.domain, other, sizeof(other), FI_SEND, 0,
					  0, 0, &mr, NULL),
				"fi_mr_reg");
		bench_ends_need(&b.ends, fi_close(&mr->fid), "fi_close");
	}
}

/* How often the system took the processor away from this thread. */
static long preemptions(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

static void measure(enum call call)
{
	const long before = preemptions();
	const double start = bench_ends_now_ns();
	double us;

	make(call);
	us = (bench_ends_now_ns() - start) / 1e3 - (call == SREAD ? 1e3 : 0);
	if (preemptions() != before)
		b.preempted[call]++;
	else if (b.calls[call] < SAMPLES)
		b.us[call][b.calls[call]++] = us;
}

static int compare(const void *one, const void *other)
{
	const double x = *(const double *)one, y = *(const double *)other;

	return (x > y) - (x < y);
}

static void report(enum call call)
{
	double *us = b.us[call];
	const size_t n = b.calls[call];

	if (!n)
		return;
	qsort(us, n, sizeof(*us), compare);
	printf("beside peer=%s MiB=%zu call=%s calls=%zu p50_us=%.1f p999_us=%.1f "
	       "max_us=%.1f preempted=%zu\n",
	       b.peer, b.mib, call_names[call], n, us[n / 2], us[n - 1 - n / 1000],
	       us[n - 1], b.preempted[call]);
}

/* Until the peer has ended: what it ended with. */
static int watch(pid_t pid)
{
	int i, status;

	while (!waitpid(pid, &status, WNOHANG)) {
		for (i = 0; i < 200; i++)
			measure(READ);
		measure(SREAD);
		measure(REGISTER);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static double processor_s(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* The same, asleep. */
static int sleep_beside(pid_t pid)
{
	const double start = bench_ends_now_ns();
	double used = processor_s();
	int status;

	waitpid(pid, &status, 0);
	used = processor_s() - used;
	printf("beside peer=%s cpu_percent=%.2f\n", b.peer,
	       used * 1e11 / (bench_ends_now_ns() - start));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int target(pid_t pid, int to)
{
	const bool reaches = !strcmp(b.peer, "reach");
	const int count = reaches ? 2 : strcmp(b.peer, "none") ? 1 : 0;
	struct fid_ep *eps[2];
	int i, ret;

	for (i = 0; i < CALLS; i++) {
		b.us[i] = calloc(SAMPLES, sizeof(double));
		bench_ends_need(&b.ends, b.us[i] ? 0 : -FI_ENOMEM, "memory");
	}
	open_target(to);
	accept_peers(count, eps);
	for (i = 0; sends_data() && i < 8; i++)
		post_receive(eps[0]);
	ret = strcmp(b.peer, "silent") ? watch(pid) : sleep_beside(pid);
	for (i = 0; i < CALLS && !reaches; i++)
		report((enum call)i);
	for (i = 0; i < count; i++)
		bench_ends_need(&b.ends, fi_close(&eps[i]->fid), "fi_close");
	bench_ends_need(&b.ends, fi_close(&b.mr->fid), "fi_close");
	bench_ends_need(&b.ends, fi_close(&b.cq->fid), "fi_close");
	bench_ends_close(&b.ends);
	for (i = 0; i < CALLS; i++)
		free(b.us[i]);
	return ret;
}

static void usage(FILE *to)
{
	fputs("Usage: fi_cairn_beside [OPTION...] ADDRESS FILE\n"
	      "How long a target of durable operations waits beside a peer.\n"
	      "ADDRESS is one of this machine's that pverbs can use, FILE persistent "
	      "memory.\n"
	      "  -k PEER      none, hostile, honest, data or silent (default hostile)\n"
	      "  -w           is a connection's sequence word within another peer's "
	      "reach?\n"
	      "  -m MIB       of each request or write (default 64, at most 1024)\n"
	      "  -t SECONDS   (default 5)\n",
	      to);
}

static void options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "k:wm:t:h")) != -1) {
		switch (option) {
		case 'k':
			b.peer = optarg;
			break;
		case 'w':
			b.peer = "reach";
			break;
		case 'm':
			b.mib = (size_t)bench_ends_number(PROGRAM, optarg, 1024);
			break;
		case 't':
			b.seconds = bench_ends_number(PROGRAM, optarg, 3600);
			break;
		default:
			usage(option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
	}
	if (optind + 2 != argc) {
		usage(stderr);
		exit(2);
	}
	b.address = argv[optind];
	b.file = argv[optind + 1];
}

int main(int argc, char **argv)
{
	int way[2];
	pid_t pid;

	options(argc, argv);
	b.wish = (struct ends_wish){.program = PROGRAM,
				    .provider = "pverbs",
				    .address = b.address,
				    .threading = FI_THREAD_SAFE,
				    .depth = 16,
				    .caps = FI_RMA_PMEM};
	if (pipe(way))
		return 1;
	pid = fork();
	if (!pid) {
		close(way[1]);
		return peer(way[0]);
	}
	close(way[0]);
	return pid < 0 ? 1 : target(pid, way[1]);
}

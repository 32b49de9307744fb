/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Communication of two processes of one machine without RDMA: messages through a Unix
 * socket, or through a ring in shared memory whose receiver copies them out. What a
 * software device is to be compared with; util/bench runs it.
 *
 * One line, named as fi_cairn_bench names its figures.
 */
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST (1 << 20)
#define SLOTS 16u
/* Turns of a wait before the processor is given to who else may need it. */
#define SPINS 1000
#define PATIENCE 60 /* seconds */

/* One direction; both counters run freely. */
struct ring {
	_Atomic uint32_t head __attribute__((aligned(64))); /* messages put in */
	_Atomic uint32_t tail __attribute__((aligned(64))); /* and taken out */
	char slot[SLOTS][MOST] __attribute__((aligned(64)));
};

/* One end of a connection of either kind. */
struct end {
	int fd;
	struct ring *out, *in;
};

static size_t size = 64;
static long count = 10000;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void socket_send(struct end *end, const char *buf)
{
	size_t at;
	ssize_t n;

	for (at = 0; at < size; at += (size_t)n) {
		n = write(end->fd, buf + at, size - at);
		if (n <= 0)
			fail("bench_local: write");
	}
}

static void socket_receive(struct end *end, char *buf)
{
	size_t at;
	ssize_t n;

	for (at = 0; at < size; at += (size_t)n) {
		n = read(end->fd, buf + at, size - at);
		if (n <= 0)
			fail("bench_local: read");
	}
}

static void await(_Atomic uint32_t *counter, uint32_t not )
{
	unsigned int spins = 0;

	while (atomic_load_explicit(counter, memory_order_acquire) == not )
		if (++spins % SPINS == 0)
			sched_yield();
}

static void ring_send(struct end *end, const char *buf)
{
	struct ring *ring = end->out;
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	await(&ring->tail, head - SLOTS);
	memcpy(ring->slot[head % SLOTS], buf, size);
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

static void ring_receive(struct end *end, char *buf)
{
	struct ring *ring = end->in;
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	await(&ring->head, tail);
	memcpy(buf, ring->slot[tail % SLOTS], size);
	atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
}

static const struct kind {
	const char *name;
	void (*send)(struct end *end, const char *buf);
	void (*receive)(struct end *end, char *buf);
} kinds[] = {
	{"socket", socket_send, socket_receive},
	{"ring", ring_send, ring_receive},
};

static void open_both(struct end end[2])
{
	struct ring *ring = mmap(NULL, 2 * sizeof(*ring), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd[2];

	if (ring == MAP_FAILED)
		fail("bench_local: mmap");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		fail("bench_local: socketpair");
	end[0] = (struct end){fd[0], &ring[0], &ring[1]};
	end[1] = (struct end){fd[1], &ring[1], &ring[0]};
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

/* The client's part; the other process answers each message, or takes them all and
 * answers once. The first tenth does not count. */
static void client(const struct kind *kind, struct end *end, bool pingpong, char *buf)
{
	long warm = count / 10 + 1, i;
	double start = 0, us;

	for (i = 0; i < warm + count; i++) {
		if (i == warm)
			start = now();
		kind->send(end, buf);
		if (pingpong)
			kind->receive(end, buf);
	}
	if (!pingpong)
		kind->receive(end, buf);
	us = now() - start;
	if (pingpong)
		printf("pingpong kind=%s size=%zu half_rtt_usec=%.3f\n", kind->name, size,
		       us / (double)count / 2);
	else
		printf("stream kind=%s size=%zu MB_per_s=%.2f\n", kind->name, size,
		       (double)size * (double)count / us);
}

static void server(const struct kind *kind, struct end *end, bool pingpong, char *buf)
{
	long all = count / 10 + 1 + count, i;

	for (i = 0; i < all; i++) {
		kind->receive(end, buf);
		if (pingpong)
			kind->send(end, buf);
	}
	if (!pingpong)
		kind->send(end, buf);
}

static int usage(int status)
{
	fputs("Usage: bench_local [-k socket|ring] [-m pingpong|stream] [-z BYTES] "
	      "[-n COUNT]\n"
	      "Messages between two processes of this machine, without RDMA.\n"
	      "Defaults: socket, pingpong, 64 bytes, 10000 messages.\n",
	      status ? stderr : stdout);
	return status;
}

static long number(const char *text, long most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || value < 1 || value > most) {
		fprintf(stderr, "bench_local: %s is no number from 1 to %ld\n", text,
			most);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	const char *kind_name = "socket", *mode = "pingpong";
	const struct kind *kind;
	bool pingpong;
	struct end end[2];
	int option, status;
	char *buf;
	pid_t pid;

	while ((option = getopt(argc, argv, "k:m:z:n:h")) != -1) {
		switch (option) {
		case 'k':
			kind_name = optarg;
			break;
		case 'm':
			mode = optarg;
			break;
		case 'z':
			size = (size_t)number(optarg, MOST);
			break;
		case 'n':
			count = number(optarg, 1000000000);
			break;
		default:
			return usage(option == 'h' ? 0 : 2);
		}
	}
	kind = &kinds[!strcmp(kind_name, "ring")];
	pingpong = !strcmp(mode, "pingpong");
	if (strcmp(kind_name, kind->name) || (!pingpong && strcmp(mode, "stream")))
		return usage(2);
	buf = calloc(1, size);
	if (!buf)
		fail("bench_local: memory");
	memset(buf, 1, size);
	open_both(end);
	/* A peer that dies must not leave the other waiting in a ring. */
	alarm(PATIENCE);
	pid = fork();
	if (pid < 0)
		fail("bench_local: fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		server(kind, &end[1], pingpong, buf);
		_exit(0);
	}
	client(kind, &end[0], pingpong, buf);
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	return 0;
}

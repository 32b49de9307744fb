/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a router of route is to be compared with: a relay of TCP connections that does
 * nothing else, and programs at its ends, over sockets. fabtests/benchmarks/route-bench
 * runs it.
 *
 * Figures are one line each, named as fi_cairn_bench names its own.
 */
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM "tcp_relay"
#define CHUNK (64u << 10)	 /* bytes that a relay takes at once */
#define MOST ((uint64_t)1 << 30) /* bytes of a message */
#define PATIENCE 120		 /* seconds of a client */

enum mode { PINGPONG, WRITE, READ, CONNECT };

static const char *const mode_names[] = {"pingpong", "write", "read", "connect"};

/* What a client tells the server; both are of one machine. */
struct job {
	uint64_t mode, size, count;
};

static struct job job;
static uint64_t batch = 1;
static const char *next_host, *next_port;

static void fail(const char *what)
{
	fprintf(stderr, PROGRAM ": %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool send_all(int fd, const char *buf, uint64_t size)
{
	ssize_t n;

	for (; size; buf += n, size -= (uint64_t)n) {
		n = write(fd, buf, size);
		if (n <= 0)
			return false;
	}
	return true;
}

static bool receive_all(int fd, char *buf, uint64_t size)
{
	ssize_t n;

	for (; size; buf += n, size -= (uint64_t)n) {
		n = read(fd, buf, size);
		if (n <= 0)
			return false;
	}
	return true;
}

static void no_delay(int fd)
{
	int on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		fail("TCP_NODELAY");
}

/* A connected socket, or -1. */
static int reach(const char *host, const char *port)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *at;
	int fd;

	if (getaddrinfo(host, port, &hints, &at))
		return -1;
	fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen)) {
		close(fd);
		fd = -1;
	}
	freeaddrinfo(at);
	if (fd >= 0)
		no_delay(fd);
	return fd;
}

/* --- A relay: two threads for each connection --- */

struct way {
	int from, to;
};

static void *copy(void *arg)
{
	struct way *way = arg;
	char *buf = malloc(CHUNK);
	ssize_t n;

	if (!buf)
		fail("memory");
	for (;;) {
		n = read(way->from, buf, CHUNK);
		if (n <= 0 || !send_all(way->to, buf, (uint64_t)n))
			break;
	}
	shutdown(way->to, SHUT_WR);
	shutdown(way->from, SHUT_RD);
	free(buf);
	return NULL;
}

static void *relay(void *arg)
{
	int in = (int)(intptr_t)arg, out = reach(next_host, next_port);
	struct way there = {in, out}, back = {out, in};
	pthread_t other;

	if (out < 0) {
		fprintf(stderr, PROGRAM ": %s:%s is not reached\n", next_host, next_port);
	} else {
		if (pthread_create(&other, NULL, copy, &back))
			fail("thread");
		copy(&there);
		pthread_join(other, NULL);
		close(out);
	}
	close(in);
	return NULL;
}

/* --- The server --- */

static bool serve_job(int fd, const struct job *j, char *buf)
{
	uint64_t i;

	for (i = 0; i < j->count; i++) {
		if (j->mode != READ && !receive_all(fd, buf, j->size))
			return false;
		if ((j->mode == PINGPONG || j->mode == READ) &&
		    !send_all(fd, buf, j->size))
			return false;
	}
	/* All of it has arrived. */
	return (j->mode != WRITE && j->mode != CONNECT) || send_all(fd, buf, 1);
}

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	struct job j;
	char *buf;

	while (receive_all(fd, (char *)&j, sizeof(j)) && j.mode <= CONNECT && j.size &&
	       j.size <= MOST) {
		buf = calloc(1, j.size);
		if (!buf || !serve_job(fd, &j, buf)) {
			free(buf);
			break;
		}
		free(buf);
	}
	close(fd);
	return NULL;
}

/* Each connection has a thread; does not end. */
static void listen_at(const char *port, void *(*run)(void *))
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)atoi(port))};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, got;
	pthread_t thread;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, SOMAXCONN))
		fail(port);
	printf("serves %s\n", port);
	fflush(stdout);
	for (;;) {
		got = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		if (got < 0)
			continue;
		no_delay(got);
		if (pthread_create(&thread, NULL, run, (void *)(intptr_t)got))
			fail("thread");
		pthread_detach(thread);
	}
}

/* --- The client --- */

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int connection(void)
{
	int fd = reach(next_host, next_port);

	if (fd < 0)
		fail(next_host);
	return fd;
}

static void need(bool done)
{
	if (!done) {
		fprintf(stderr, PROGRAM ": the connection ended\n");
		exit(1);
	}
}

static void begin(int fd, uint64_t count)
{
	struct job j = {job.mode, job.size, count};

	need(send_all(fd, (const char *)&j, sizeof(j)));
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void pingpong(int fd, char *buf)
{
	uint64_t warm = job.count / 10 + 1, batches = (job.count + batch - 1) / batch, i,
		 n;
	double *us = calloc(batches, sizeof(*us)), start = 0;

	need(us);
	begin(fd, warm + batches * batch);
	for (i = 0; i < warm; i++)
		need(send_all(fd, buf, job.size) && receive_all(fd, buf, job.size));
	for (i = 0; i < batches; i++) {
		start = now_us();
		for (n = 0; n < batch; n++)
			need(send_all(fd, buf, job.size) &&
			     receive_all(fd, buf, job.size));
		us[i] = (now_us() - start) / (2 * (double)batch);
	}
	qsort(us, batches, sizeof(us[0]), by_value);
	printf("pingpong provider=socket size=%llu iterations=%llu batch=%llu "
	       "half_rtt_usec=%.3f min=%.3f p90=%.3f p99=%.3f\n",
	       (unsigned long long)job.size, (unsigned long long)(batches * batch),
	       (unsigned long long)batch, us[batches / 2], us[0], us[batches * 9 / 10],
	       us[batches * 99 / 100]);
	free(us);
}

/* us of so many writes or reads. */
static double transfers(int fd, char *buf, uint64_t count)
{
	double start = now_us();
	uint64_t i;

	begin(fd, count);
	for (i = 0; i < count; i++)
		need(job.mode == WRITE ? send_all(fd, buf, job.size)
				       : receive_all(fd, buf, job.size));
	if (job.mode == WRITE)
		need(receive_all(fd, buf, 1));
	return now_us() - start;
}

static void stream(int fd, char *buf)
{
	double us;

	transfers(fd, buf, job.count / 10 + 1);
	us = transfers(fd, buf, job.count);
	printf("%s provider=socket size=%llu iterations=%llu MB_per_s=%.2f\n",
	       mode_names[job.mode], (unsigned long long)job.size,
	       (unsigned long long)job.count, (double)(job.count * job.size) / us);
}

/* One after the other, each with a word to the end and back. */
static void connects(char *buf)
{
	double start = now_us();
	uint64_t i;
	int fd;

	for (i = 0; i < job.count; i++) {
		fd = connection();
		begin(fd, 0);
		need(receive_all(fd, buf, 1));
		close(fd);
	}
	printf("connect provider=socket iterations=%llu per_s=%.1f\n",
	       (unsigned long long)job.count,
	       (double)job.count * 1e6 / (now_us() - start));
}

static void client(void)
{
	char *buf = calloc(1, job.size);
	int fd;

	need(buf);
	alarm(PATIENCE);
	if (job.mode == CONNECT) {
		connects(buf);
	} else {
		fd = connection();
		if (job.mode == PINGPONG)
			pingpong(fd, buf);
		else
			stream(fd, buf);
		close(fd);
	}
	free(buf);
}

static int usage(int status)
{
	fputs("Usage: tcp_relay relay PORT HOST NEXT-PORT   a relay, until it is killed\n"
	      "       tcp_relay serve PORT                  a server, the same\n"
	      "       tcp_relay [-z BYTES] [-n COUNT] [-b COUNT] MODE HOST PORT\n"
	      "TCP through relays that copy what they read, up to 64 KiB at a time.\n"
	      "MODE: pingpong (half a round trip; -b: of so many at a time), write, "
	      "read\n"
	      "(MB/s), or connect (connections a second, one after the other).\n"
	      "Defaults: 64 bytes, 10000 times; write, read: 1 MiB, 500; connect: 500.\n",
	      status ? stderr : stdout);
	return status;
}

static uint64_t number(const char *text, uint64_t most)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (*end || value < 1 || value > most) {
		fprintf(stderr, PROGRAM ": %s is no number from 1 to %llu\n", text,
			(unsigned long long)most);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	bool small;
	int option;

	signal(SIGPIPE, SIG_IGN);
	while ((option = getopt(argc, argv, "z:n:b:h")) != -1) {
		switch (option) {
		case 'z':
			job.size = number(optarg, MOST);
			break;
		case 'n':
			job.count = number(optarg, UINT32_MAX);
			break;
		case 'b':
			batch = number(optarg, UINT32_MAX);
			break;
		default:
			return usage(option == 'h' ? 0 : 2);
		}
	}
	argv += optind;
	argc -= optind;
	if (argc == 4 && !strcmp(argv[0], "relay")) {
		next_host = argv[2];
		next_port = argv[3];
		listen_at(argv[1], relay);
	}
	if (argc == 2 && !strcmp(argv[0], "serve"))
		listen_at(argv[1], serve);
	if (argc != 3)
		return usage(2);
	while (job.mode <= CONNECT && strcmp(argv[0], mode_names[job.mode]))
		job.mode++;
	if (job.mode > CONNECT)
		return usage(2);
	next_host = argv[1];
	next_port = argv[2];
	small = job.mode == PINGPONG || job.mode == CONNECT;
	if (!job.size)
		job.size = small ? 64 : 1 << 20;
	if (!job.count)
		job.count = job.mode == PINGPONG ? 10000 : 500;
	client();
	return 0;
}

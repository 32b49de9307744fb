/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two processes: a child, which answers or receives, and this one, which measures. They
 * tell each other their names and when they are ready by a socket. As perftest does it, a
 * sender of a stream does not wait for its receiver, which may lose datagrams.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/fi_errno.h>

#include "dgrams.h"

#define BATCH 100  /* round trips between two looks at the clock */
#define SIGNAL 100 /* datagrams for one completion */
#define PINGPONG_RECVS 16
#define LOOK 256 /* polls that find nothing between two looks at the socket */

struct two {
	struct dgrams_end end;
	fi_addr_t peer;
	int sock;
	pid_t child; /* 0 in the child */
};

static void exchange(const struct two *two, const void *mine, void *theirs, size_t len)
{
	const ssize_t want = (ssize_t)len;

	dgrams_need(write(two->sock, mine, len) == want &&
				    recv(two->sock, theirs, len, MSG_WAITALL) == want
			    ? 0
			    : -FI_EIO,
		    "the other process");
}

static void barrier(const struct two *two)
{
	char mine = 0, theirs;

	exchange(two, &mine, &theirs, 1);
}

/* Nothing of libfabric may have been used before the processes part. */
static void part(struct two *two, const struct dgrams_wish *wish, unsigned int receives)
{
	uint8_t theirs[DGRAMS_NAME_LEN];
	int socks[2];

	dgrams_need(socketpair(AF_UNIX, SOCK_STREAM, 0, socks) ? -FI_EOTHER : 0,
		    "socketpair");
	two->child = fork();
	dgrams_need(two->child < 0 ? -FI_EOTHER : 0, "fork");
	two->sock = socks[!two->child];
	close(socks[!!two->child]);
	dgrams_open(&two->end, wish);
	exchange(two, two->end.name, theirs, sizeof(theirs));
	two->peer = dgrams_peer(&two->end, theirs);
	while (receives--)
		dgrams_post(&two->end);
	barrier(two);
}

static void join(struct two *two)
{
	int status = 0;

	barrier(two);
	dgrams_close(&two->end);
	if (!two->child)
		exit(0);
	waitpid(two->child, &status, 0);
	dgrams_need(status ? -FI_EOTHER : 0, "the other process");
}

static void inject(struct two *two)
{
	struct dgrams_end *e = &two->end;
	const bool copied = e->wish.size <= e->info->tx_attr->inject_size;
	ssize_t ret;

	do {
		ret = copied ? fi_inject(e->ep, e->memory, e->wish.size, two->peer)
			     : fi_send(e->ep, e->memory, e->wish.size, e->desc, two->peer,
				       e);
		if (ret == -FI_EAGAIN || !copied)
			dgrams_reap(e->txcq, 16);
	} while (ret == -FI_EAGAIN);
	dgrams_need(ret, "fi_inject");
}

static void round_trips(struct two *two, long count)
{
	while (count--) {
		if (two->child)
			inject(two);
		dgrams_await(two->end.rxcq);
		if (!two->child)
			inject(two);
		dgrams_post(&two->end);
	}
}

static int ascending(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

void dgrams_pingpong(const struct dgrams_wish *wish, long count, long batch)
{
	const long batches = (count + batch - 1) / batch;
	double *usec = calloc((size_t)batches, sizeof(*usec)), start;
	static struct two two;
	long i;

	dgrams_need(usec ? 0 : -FI_ENOMEM, "memory");
	part(&two, wish, PINGPONG_RECVS);
	round_trips(&two, batch);
	for (i = 0; i < batches; i++) {
		start = dgrams_now_ns();
		round_trips(&two, batch);
		usec[i] = (dgrams_now_ns() - start) / (2e3 * (double)batch);
	}
	qsort(usec, (size_t)batches, sizeof(usec[0]), ascending);
	if (two.child)
		printf("pingpong provider=%s size=%zu half_rtt_usec=%.3f min=%.3f\n",
		       wish->provider, wish->size, usec[batches / 2], usec[0]);
	free(usec);
	join(&two);
}

/* One completion for SIGNAL datagrams, and for the last one. */
static void stream(struct two *two, long count)
{
	struct dgrams_end *e = &two->end;
	struct iovec iov = {.iov_base = e->memory, .iov_len = e->wish.size};
	struct fi_msg msg = {.msg_iov = &iov,
			     .desc = &e->desc,
			     .iov_count = 1,
			     .addr = two->peer,
			     .context = e};
	long i, done = 0, wanted = (count + SIGNAL - 1) / SIGNAL;
	uint64_t flags;
	ssize_t ret;

	for (i = 1; i <= count; i++) {
		flags = i % SIGNAL && i < count ? 0 : FI_COMPLETION;
		while ((ret = fi_sendmsg(e->ep, &msg, flags)) == -FI_EAGAIN)
			done += (long)dgrams_reap(e->txcq, 16);
		dgrams_need(ret, "fi_sendmsg");
	}
	for (; done < wanted; done++)
		dgrams_await(e->txcq);
}

/*
 * Until the sender says that it has ended, and nothing more comes. As perftest does it,
 * no more than count receives are posted, and the device alone is asked most of the time.
 */
static long take(struct two *two, long count)
{
	unsigned int turns = 0;
	long received = 0;
	bool ended = false;
	size_t n, i;
	char byte;

	for (;;) {
		n = dgrams_reap(two->end.rxcq, 16);
		for (i = 0; i < n && two->end.posted < (size_t)count; i++)
			dgrams_post(&two->end);
		received += (long)n;
		if (n)
			continue;
		if (ended)
			return received;
		if (++turns % LOOK == 0)
			ended = recv(two->sock, &byte, 1, MSG_DONTWAIT) == 1;
	}
}

void dgrams_rate(const struct dgrams_wish *wish, long count)
{
	struct dgrams_wish selective = *wish;
	static struct two two;
	long received = 0, theirs;
	double start, ns = 0;

	selective.tx_flags = FI_SELECTIVE_COMPLETION;
	part(&two, &selective, (unsigned int)wish->receives);
	if (two.child) {
		start = dgrams_now_ns();
		stream(&two, count);
		ns = dgrams_now_ns() - start;
		dgrams_need(write(two.sock, "", 1) == 1 ? 0 : -FI_EIO, "write");
	} else {
		received = take(&two, count);
	}
	exchange(&two, &received, &theirs, sizeof(theirs));
	if (two.child)
		printf("rate provider=%s size=%zu count=%ld arrived=%ld per_s=%.0f "
		       "arrived_per_s=%.0f\n",
		       wish->provider, wish->size, count, theirs,
		       (double)count * 1e9 / ns, (double)theirs * 1e9 / ns);
	join(&two);
}

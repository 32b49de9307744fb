/* SPDX-License-Identifier: BSD-2-Clause */
/* What datagrams, and addresses, cost within one process. */
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>

#include "dgrams.h"

#define MAX_ROUNDS 1001
#define MAX_WAYS 64
/* An address of FI_ADDR_IB_UD. */
#define NAME_LEN 32
#define QPN_AT 16
#define LID_AT 20

static void send_one(struct dgrams_end *e, fi_addr_t to)
{
	dgrams_need(fi_send(e->ep, e->memory, e->wish.size, e->desc, to, e), "fi_send");
}

static int ascending(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

/* As few instructions of this program as may be: they are counted. */
static void await(struct fid_cq *cq)
{
	struct fi_cq_entry entry;
	ssize_t ret;

	do {
		ret = fi_cq_read(cq, &entry, 1);
	} while (ret == -FI_EAGAIN);
	dgrams_need(ret, "fi_cq_read");
}

void dgrams_op(const struct dgrams_wish *wish, long count, long rounds)
{
	static double times[MAX_ROUNDS];
	struct dgrams_end a, b;
	long round, i;
	fi_addr_t to;
	double start;

	dgrams_open(&a, wish);
	dgrams_open(&b, wish);
	to = dgrams_peer(&a, b.name);
	for (round = 0; round < rounds; round++) {
		start = dgrams_now_ns();
		for (i = 0; i < count; i++) {
			dgrams_post(&b);
			send_one(&a, to);
			await(a.txcq);
			await(b.rxcq);
		}
		times[round] = (dgrams_now_ns() - start) / (double)count;
	}
	qsort(times, (size_t)rounds, sizeof(times[0]), ascending);
	printf("op provider=%s size=%zu ns=%.1f least=%.1f\n", wish->provider, wish->size,
	       times[rounds / 2], times[0]);
	dgrams_close(&a);
	dgrams_close(&b);
}

/* Addresses behind the end's own: of other queue pairs of its port, or of other ports. */
static void insert_all(struct dgrams_end *e, const char *what, long count, bool ports)
{
	uint8_t *names = calloc((size_t)count, NAME_LEN);
	fi_addr_t *addrs = calloc((size_t)count, sizeof(*addrs));
	size_t before;
	uint32_t qpn;
	uint16_t lid;
	double start;
	long i;

	dgrams_need(names && addrs ? 0 : -FI_ENOMEM, "memory");
	for (i = 0; i < count; i++) {
		memcpy(names + (size_t)i * NAME_LEN, e->name, NAME_LEN);
		qpn = 1000 + (uint32_t)i;
		lid = (uint16_t)(100 + i);
		if (ports)
			memcpy(names + (size_t)i * NAME_LEN + LID_AT, &lid, sizeof(lid));
		else
			memcpy(names + (size_t)i * NAME_LEN + QPN_AT, &qpn, sizeof(qpn));
	}
	before = mallinfo2().uordblks;
	start = dgrams_cpu_ns();
	dgrams_need(fi_av_insert(e->av, names, (size_t)count, addrs, 0, NULL) == count
			    ? 0
			    : -FI_EINVAL,
		    "fi_av_insert");
	printf("vector provider=%s of=%s count=%ld per_s=%.0f bytes=%.1f\n",
	       e->wish.provider, what, count,
	       (double)count * 1e9 / (dgrams_cpu_ns() - start),
	       (double)(mallinfo2().uordblks - before) / (double)count);
	free(names);
	free(addrs);
}

void dgrams_vector(const struct dgrams_wish *wish, long count)
{
	struct dgrams_end e;

	dgrams_open(&e, wish);
	insert_all(&e, "endpoints", count, false);
	insert_all(&e, "ports", count, true);
	dgrams_close(&e);
}

static struct dgrams_end from, to[MAX_WAYS];
static fi_addr_t peers[MAX_WAYS]; /* of a group one, which is all of them */

static long open_fan(const struct dgrams_wish *wish, long ways)
{
	long n;

	dgrams_open(&from, wish);
	for (n = 0; n < ways; n++) {
		dgrams_open(&to[n], wish);
		if (wish->group)
			dgrams_join(&to[n], FI_RECV);
		else
			peers[n] = dgrams_peer(&from, to[n].name);
	}
	if (!wish->group)
		return ways;
	dgrams_join(&from, FI_SEND);
	peers[0] = fi_mc_addr(from.mc);
	return 1;
}

void dgrams_fan(const struct dgrams_wish *wish, long count, long ways)
{
	const long sends = open_fan(wish, ways);
	double start = dgrams_now_ns(), cpu = dgrams_cpu_ns();
	long i, n;

	for (i = 0; i < count; i++) {
		for (n = 0; n < ways; n++)
			dgrams_post(&to[n]);
		for (n = 0; n < sends; n++)
			send_one(&from, peers[n]);
		for (n = 0; n < sends; n++)
			dgrams_await(from.txcq);
		for (n = 0; n < ways; n++)
			dgrams_await(to[n].rxcq);
	}
	printf("fan provider=%s size=%zu ways=%ld to=%s ns=%.1f cpu_ns=%.1f\n",
	       wish->provider, wish->size, ways, wish->group ? "group" : "each",
	       (dgrams_now_ns() - start) / (double)count,
	       (dgrams_cpu_ns() - cpu) / (double)count);
	dgrams_close(&from);
	for (n = 0; n < ways; n++)
		dgrams_close(&to[n]);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Many messages at once: which receive gets which. */
#include <stdlib.h>

#include "mpi_check.h"

#define STORM 48 /* messages to each rank */
#define STORM_MAX 70000u
#define EARLY 400
#define WILD 60

/* Sizes on both sides of each protocol limit; the same table in all ranks. */
static size_t storm_len(struct mc *m)
{
	static const uint32_t bounds[] = {64, 4000, 20000, STORM_MAX};

	return mc_random(m, bounds[mc_random(m, 4)]);
}

struct storm {
	size_t *len; /* [from][to][message] */
	uint8_t **in, **out;
	MPI_Request *request; /* receives, then sends */
	int n;		      /* of each kind in this rank */
};

static size_t len_of(const struct mc *m, const struct storm *s, int from, int to, int i)
{
	return s->len[(from * m->ranks + to) * STORM + i];
}

/* Receives are posted in one order, sends in the opposite one. */
static void start_storm(struct mc *m, struct storm *s)
{
	int i, k, peer, tag;
	size_t len;

	for (k = 0; k < s->n; k++) {
		peer = k % m->ranks;
		tag = k / m->ranks;
		len = len_of(m, s, peer, m->rank, tag);
		s->in[k] = mc_alloc(len);
		MPI_Irecv(s->in[k], (int)len, MPI_BYTE, peer, tag, MPI_COMM_WORLD,
			  &s->request[k]);
	}
	for (i = s->n - 1; i >= 0; i--) {
		peer = i % m->ranks;
		tag = i / m->ranks;
		len = len_of(m, s, m->rank, peer, tag);
		s->out[i] = mc_alloc(len);
		mc_fill(s->out[i], len, mc_seed(m->rank, peer, tag));
		MPI_Isend(s->out[i], (int)len, MPI_BYTE, peer, tag, MPI_COMM_WORLD,
			  &s->request[s->n + i]);
	}
}

static void end_storm(struct mc *m, struct storm *s)
{
	int i, k, peer, tag;
	size_t len;

	for (i = 0; i < 2 * s->n; i++) {
		MPI_Waitany(2 * s->n, s->request, &k, MPI_STATUS_IGNORE);
		peer = k % s->n % m->ranks;
		tag = k % s->n / m->ranks;
		if (k >= s->n) {
			mc_free(m, s->out[k - s->n], len_of(m, s, m->rank, peer, tag));
			continue;
		}
		len = len_of(m, s, peer, m->rank, tag);
		mc_compare(m, s->in[k], len, mc_seed(peer, m->rank, tag),
			   "a message of the storm");
		mc_free(m, s->in[k], len);
	}
}

/* Everybody to everybody, itself included, all at once. */
static void storm(struct mc *m)
{
	size_t all = (size_t)m->ranks * (size_t)m->ranks * STORM, i;
	struct storm s = {.n = m->ranks * STORM};
	int round;

	s.len = malloc(all * sizeof(*s.len));
	s.in = calloc((size_t)s.n, sizeof(*s.in));
	s.out = calloc((size_t)s.n, sizeof(*s.out));
	s.request = calloc((size_t)s.n * 2, sizeof(*s.request));
	for (round = 0; round < 3; round++) {
		for (i = 0; i < all; i++)
			s.len[i] = storm_len(m);
		start_storm(m, &s);
		end_storm(m, &s);
	}
	free(s.len);
	free(s.in);
	free(s.out);
	free(s.request);
}

/* Messages that are there before anybody wants them, taken from the last to the first. */
static void unexpected(struct mc *m)
{
	size_t len = 3000, i;
	uint8_t *out = mc_alloc(EARLY * len), *in = mc_alloc(len);
	MPI_Request *request = calloc(EARLY, sizeof(*request));

	for (i = 0; i < EARLY; i++) {
		mc_fill(out + i * len, len, mc_seed(m->rank, m->next, (int)i));
		MPI_Isend(out + i * len, (int)len, MPI_BYTE, m->next, (int)i,
			  MPI_COMM_WORLD, &request[i]);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (i = EARLY; i-- > 0;) {
		MPI_Recv(in, (int)len, MPI_BYTE, m->prev, (int)i, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		mc_compare(m, in, len, mc_seed(m->prev, m->rank, (int)i),
			   "an early message");
	}
	MPI_Waitall(EARLY, request, MPI_STATUSES_IGNORE);
	free(request);
	mc_free(m, out, EARLY * len);
	mc_free(m, in, len);
}

/* The size of a wildcard message follows from its number: some are short, some long. */
static int wild_len(int i)
{
	return i % 10 == 9 ? 40000 + i : 8 + i;
}

static void receive_wild(struct mc *m, uint8_t *in, int *seen)
{
	int n, i, count;
	MPI_Status s;

	for (n = 0; n < WILD * (m->ranks - 1); n++) {
		MPI_Recv(in, (int)STORM_MAX, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
			 MPI_COMM_WORLD, &s);
		MPI_Get_count(&s, MPI_BYTE, &count);
		i = seen[s.MPI_SOURCE]++;
		/* From one rank they arrive in the order in which it sent them. */
		MC_EQ(m, s.MPI_TAG, i % 7);
		MC_EQ(m, count, wild_len(i));
		mc_compare(m, in, (size_t)count, mc_seed(s.MPI_SOURCE, m->rank, i),
			   "any message");
	}
	for (i = 0; i < m->ranks; i++)
		MC_EQ(m, seen[i], i == m->rank ? 0 : WILD);
}

/* Each rank in turn receives from any rank with any tag. */
static void wildcard(struct mc *m)
{
	uint8_t *buf = mc_alloc(STORM_MAX);
	int *seen = calloc((size_t)m->ranks, sizeof(*seen));
	int root, i;

	for (root = 0; root < m->ranks; root++) {
		if (m->rank == root) {
			receive_wild(m, buf, seen);
		} else {
			for (i = 0; i < WILD; i++) {
				mc_fill(buf, (size_t)wild_len(i),
					mc_seed(m->rank, root, i));
				MPI_Send(buf, wild_len(i), MPI_BYTE, root, i % 7,
					 MPI_COMM_WORLD);
			}
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	free(seen);
	mc_free(m, buf, STORM_MAX);
}

static void receive_probed(struct mc *m, bool matched)
{
	MPI_Message message;
	MPI_Status s;
	uint8_t *in;
	int len;

	if (matched)
		MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &s);
	else
		MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
	MPI_Get_count(&s, MPI_BYTE, &len);
	in = mc_alloc((size_t)len);
	if (matched)
		MPI_Mrecv(in, len, MPI_BYTE, &message, MPI_STATUS_IGNORE);
	else
		MPI_Recv(in, len, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	mc_compare(m, in, (size_t)len, mc_seed(s.MPI_SOURCE, m->rank, s.MPI_TAG),
		   "probed");
	mc_free(m, in, (size_t)len);
}

/* The receiver learns sizes by looking first. */
static void probe_by(struct mc *m, bool matched)
{
	static const size_t lens[] = {0, 50, 5000, 50000, 1000000};
	MPI_Request request;
	uint8_t *out;
	int i, found = 1;

	for (i = 0; i < 5; i++) {
		out = mc_alloc(lens[i]);
		mc_fill(out, lens[i], mc_seed(m->rank, m->next, i));
		MPI_Isend(out, (int)lens[i], MPI_BYTE, m->next, i, MPI_COMM_WORLD,
			  &request);
		receive_probed(m, matched);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		mc_free(m, out, lens[i]);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found,
		   MPI_STATUS_IGNORE);
	MC_TRUE(m, !found);
}

static void probe(struct mc *m)
{
	probe_by(m, false);
}

static void matched_probe(struct mc *m)
{
	probe_by(m, true);
}

/* Communicators keep messages with equal tags apart, whatever the order of receiving. */
static void communicators(struct mc *m)
{
	int mine = m->rank, world = -1, copy = -1, reversed = -1, rank;
	MPI_Comm dup, split;
	MPI_Request request[3];

	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -m->rank, &split);
	MPI_Comm_rank(split, &rank);
	MC_EQ(m, rank, m->ranks - 1 - m->rank);
	mine = m->rank + 100;
	MPI_Isend(&mine, 1, MPI_INT, m->next, 3, MPI_COMM_WORLD, &request[0]);
	MPI_Isend(&m->rank, 1, MPI_INT, m->next, 3, dup, &request[1]);
	MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % m->ranks, 3, split, &request[2]);
	MPI_Recv(&reversed, 1, MPI_INT, MPI_ANY_SOURCE, 3, split, MPI_STATUS_IGNORE);
	MPI_Recv(&copy, 1, MPI_INT, MPI_ANY_SOURCE, 3, dup, MPI_STATUS_IGNORE);
	MPI_Recv(&world, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
	MC_EQ(m, world, m->prev + 100);
	MC_EQ(m, copy, m->prev);
	MC_EQ(m, reversed, (rank + m->ranks - 1) % m->ranks);
	MPI_Comm_free(&dup);
	MPI_Comm_free(&split);
}

/* A receive that is taken back gets nothing; the message goes to the next one. */
static void cancelled(struct mc *m)
{
	int never = -1, got = -1, is_cancelled = 0;
	MPI_Request request;
	MPI_Status s;

	MPI_Irecv(&never, 1, MPI_INT, m->prev, 9, MPI_COMM_WORLD, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, &s);
	MPI_Test_cancelled(&s, &is_cancelled);
	MC_TRUE(m, is_cancelled);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Sendrecv(&m->rank, 1, MPI_INT, m->next, 9, &got, 1, MPI_INT, m->prev, 9,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MC_EQ(m, got, m->prev);
	MC_EQ(m, never, -1);
}

const struct mc_case mc_order[] = {
	{"order-storm", storm},
	{"order-unexpected", unexpected},
	{"order-wildcard", wildcard},
	{"order-probe", probe},
	{"order-matched-probe", matched_probe},
	{"order-communicators", communicators},
	{"order-cancelled", cancelled},
	{0},
};

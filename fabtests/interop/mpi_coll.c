/* SPDX-License-Identifier: BSD-2-Clause */
/* Collectives of equal shares, blocking. Values are integers, so results are exact. */
#include <stdlib.h>

#include "mpi_check.h"

static const int counts[] = {0, 1, 17, 1000, 5000, 70000};

/* The i-th element that rank from has for rank to. */
static int32_t value(int from, int to, int i)
{
	return from * 7919 + to * 104729 + i * 31 + 5;
}

static int32_t *numbers(struct mc *m, int blocks, int count)
{
	return mc_alloc((size_t)blocks * (size_t)count * sizeof(int32_t));
}

static void release(struct mc *m, int32_t *p, int blocks, int count)
{
	mc_free(m, p, (size_t)blocks * (size_t)count * sizeof(*p));
}

/* Runs the case's body for all counts with every rank as root. */
static void all_roots(struct mc *m, void (*body)(struct mc *m, int root, int count))
{
	size_t i;
	int root;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		for (root = 0; root < m->ranks; root++)
			body(m, root, counts[i]);
}

static void bcast_one(struct mc *m, int root, int count)
{
	int32_t *p = numbers(m, 1, count);
	int i;

	for (i = 0; m->rank == root && i < count; i++)
		p[i] = value(root, 0, i);
	MPI_Bcast(p, count, MPI_INT32_T, root, MPI_COMM_WORLD);
	for (i = 0; i < count; i++)
		MC_EQ(m, p[i], value(root, 0, i));
	release(m, p, 1, count);
}

static void bcast(struct mc *m)
{
	all_roots(m, bcast_one);
}

static void gather_one(struct mc *m, int root, int count)
{
	int32_t *mine = numbers(m, 1, count), *all = numbers(m, m->ranks, count);
	int i, r;

	for (i = 0; i < count; i++)
		mine[i] = value(m->rank, root, i);
	MPI_Gather(mine, count, MPI_INT32_T, all, count, MPI_INT32_T, root,
		   MPI_COMM_WORLD);
	for (r = 0; m->rank == root && r < m->ranks; r++)
		for (i = 0; i < count; i++)
			MC_EQ(m, all[r * count + i], value(r, root, i));
	release(m, mine, 1, count);
	release(m, all, m->ranks, count);
}

static void gather(struct mc *m)
{
	all_roots(m, gather_one);
}

static void scatter_one(struct mc *m, int root, int count)
{
	int32_t *mine = numbers(m, 1, count), *all = numbers(m, m->ranks, count);
	int i, r;

	for (r = 0; m->rank == root && r < m->ranks; r++)
		for (i = 0; i < count; i++)
			all[r * count + i] = value(root, r, i);
	MPI_Scatter(all, count, MPI_INT32_T, mine, count, MPI_INT32_T, root,
		    MPI_COMM_WORLD);
	for (i = 0; i < count; i++)
		MC_EQ(m, mine[i], value(root, m->rank, i));
	release(m, mine, 1, count);
	release(m, all, m->ranks, count);
}

static void scatter(struct mc *m)
{
	all_roots(m, scatter_one);
}

static void allgather(struct mc *m)
{
	int32_t *mine, *all;
	size_t k;
	int i, r;

	for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		mine = numbers(m, 1, counts[k]);
		all = numbers(m, m->ranks, counts[k]);
		for (i = 0; i < counts[k]; i++)
			mine[i] = value(m->rank, 0, i);
		MPI_Allgather(mine, counts[k], MPI_INT32_T, all, counts[k], MPI_INT32_T,
			      MPI_COMM_WORLD);
		for (r = 0; r < m->ranks; r++)
			for (i = 0; i < counts[k]; i++)
				MC_EQ(m, all[r * counts[k] + i], value(r, 0, i));
		release(m, mine, 1, counts[k]);
		release(m, all, m->ranks, counts[k]);
	}
}

static void alltoall(struct mc *m)
{
	int32_t *out, *in;
	size_t k;
	int i, r;

	for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		out = numbers(m, m->ranks, counts[k]);
		in = numbers(m, m->ranks, counts[k]);
		for (r = 0; r < m->ranks; r++)
			for (i = 0; i < counts[k]; i++)
				out[r * counts[k] + i] = value(m->rank, r, i);
		MPI_Alltoall(out, counts[k], MPI_INT32_T, in, counts[k], MPI_INT32_T,
			     MPI_COMM_WORLD);
		for (r = 0; r < m->ranks; r++)
			for (i = 0; i < counts[k]; i++)
				MC_EQ(m, in[r * counts[k] + i], value(r, m->rank, i));
		release(m, out, m->ranks, counts[k]);
		release(m, in, m->ranks, counts[k]);
	}
}

enum { OP_SUM, OP_MAX, OP_MIN, OP_BXOR, OP_COUNT };

static MPI_Op mpi_op(int op)
{
	return op == OP_SUM   ? MPI_SUM
	       : op == OP_MAX ? MPI_MAX
	       : op == OP_MIN ? MPI_MIN
			      : MPI_BXOR;
}

/* What ranks first to last make together of their elements i. */
static int32_t reduced(int op, int first, int last, int i)
{
	int32_t have = value(first, 0, i), v;
	int r;

	for (r = first + 1; r <= last; r++) {
		v = value(r, 0, i);
		if (op == OP_SUM)
			have += v;
		else if (op == OP_BXOR)
			have ^= v;
		else if ((op == OP_MAX) == (v > have))
			have = v;
	}
	return have;
}

static void fill_mine(struct mc *m, int32_t *p, int count)
{
	int i;

	for (i = 0; i < count; i++)
		p[i] = value(m->rank, 0, i);
}

static void check_reduced(struct mc *m, const int32_t *p, int count, int op, int first,
			  int last)
{
	int i;

	for (i = 0; i < count; i++)
		MC_EQ(m, p[i], reduced(op, first, last, i));
}

static void reduce_one(struct mc *m, int root, int count)
{
	int32_t *mine = numbers(m, 1, count), *all = numbers(m, 1, count);
	int op;

	fill_mine(m, mine, count);
	for (op = 0; op < OP_COUNT; op++) {
		MPI_Reduce(mine, all, count, MPI_INT32_T, mpi_op(op), root,
			   MPI_COMM_WORLD);
		if (m->rank == root)
			check_reduced(m, all, count, op, 0, m->ranks - 1);
	}
	release(m, mine, 1, count);
	release(m, all, 1, count);
}

static void reduce(struct mc *m)
{
	all_roots(m, reduce_one);
}

static void allreduce(struct mc *m)
{
	int32_t *mine, *all;
	size_t k;
	int op;

	for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		mine = numbers(m, 1, counts[k]);
		all = numbers(m, 1, counts[k]);
		fill_mine(m, mine, counts[k]);
		for (op = 0; op < OP_COUNT; op++) {
			MPI_Allreduce(mine, all, counts[k], MPI_INT32_T, mpi_op(op),
				      MPI_COMM_WORLD);
			check_reduced(m, all, counts[k], op, 0, m->ranks - 1);
		}
		MPI_Allreduce(MPI_IN_PLACE, mine, counts[k], MPI_INT32_T, MPI_SUM,
			      MPI_COMM_WORLD);
		check_reduced(m, mine, counts[k], OP_SUM, 0, m->ranks - 1);
		release(m, mine, 1, counts[k]);
		release(m, all, 1, counts[k]);
	}
}

static void scan(struct mc *m)
{
	int32_t *mine, *all;
	size_t k;

	for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		mine = numbers(m, 1, counts[k]);
		all = numbers(m, 1, counts[k]);
		fill_mine(m, mine, counts[k]);
		MPI_Scan(mine, all, counts[k], MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
		check_reduced(m, all, counts[k], OP_SUM, 0, m->rank);
		MPI_Exscan(mine, all, counts[k], MPI_INT32_T, MPI_BXOR, MPI_COMM_WORLD);
		if (m->rank)
			check_reduced(m, all, counts[k], OP_BXOR, 0, m->rank - 1);
		release(m, mine, 1, counts[k]);
		release(m, all, 1, counts[k]);
	}
}

static void reduce_scatter(struct mc *m)
{
	int32_t *mine, *part;
	size_t k;
	int i, n;

	for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		n = counts[k] / m->ranks;
		mine = numbers(m, m->ranks, n);
		part = numbers(m, 1, n);
		fill_mine(m, mine, n * m->ranks);
		MPI_Reduce_scatter_block(mine, part, n, MPI_INT32_T, MPI_SUM,
					 MPI_COMM_WORLD);
		for (i = 0; i < n; i++)
			MC_EQ(m, part[i],
			      reduced(OP_SUM, 0, m->ranks - 1, m->rank * n + i));
		release(m, mine, m->ranks, n);
		release(m, part, 1, n);
	}
}

/* Nobody leaves a barrier before everybody has come. */
static void barrier(struct mc *m)
{
	int round, late, token;

	for (round = 0; round < 10 * m->ranks; round++) {
		late = round % m->ranks;
		token = -1;
		if (m->rank == late) {
			token = round;
			MPI_Send(&token, 1, MPI_INT, m->next, 11, MPI_COMM_WORLD);
		}
		if (m->rank == (late + 1) % m->ranks) {
			MPI_Recv(&token, 1, MPI_INT, late, 11, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
			MC_EQ(m, token, round);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

const struct mc_case mc_coll[] = {
	{"coll-barrier", barrier},
	{"coll-bcast", bcast},
	{"coll-gather", gather},
	{"coll-scatter", scatter},
	{"coll-allgather", allgather},
	{"coll-alltoall", alltoall},
	{"coll-reduce", reduce},
	{"coll-allreduce", allreduce},
	{"coll-scan", scan},
	{"coll-reduce-scatter", reduce_scatter},
	{0},
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* Collectives with unequal shares, several at once, and with operations of our own. */
#include <stdlib.h>

#include "mpi_check.h"

#define UNIT 900 /* shares differ by that many elements */

static int32_t value(int from, int to, int i)
{
	return from * 6007 + to * 50021 + i * 17 + 3;
}

/* How much rank from has for rank to: nothing for some. */
static int share(int from, int to)
{
	return (from * 2 + to) % 5 * UNIT;
}

struct vector {
	int *counts, *starts; /* of each rank */
	int total;
	int32_t *p;
};

static struct vector vector(struct mc *m, int from, int to)
{
	struct vector v = {.counts = calloc((size_t)m->ranks, sizeof(int)),
			   .starts = calloc((size_t)m->ranks, sizeof(int))};
	int r;

	for (r = 0; r < m->ranks; r++) {
		v.counts[r] = share(from < 0 ? r : from, to < 0 ? r : to);
		v.starts[r] = v.total;
		v.total += v.counts[r];
	}
	v.p = mc_alloc((size_t)v.total * sizeof(*v.p));
	return v;
}

static void release(struct mc *m, struct vector *v)
{
	mc_free(m, v->p, (size_t)v->total * sizeof(*v->p));
	free(v->counts);
	free(v->starts);
}

static void fill_share(int32_t *p, int from, int to)
{
	int i;

	for (i = 0; i < share(from, to); i++)
		p[i] = value(from, to, i);
}

static void check_share(struct mc *m, const int32_t *p, int from, int to)
{
	int i;

	for (i = 0; i < share(from, to); i++)
		MC_EQ(m, p[i], value(from, to, i));
}

static void alltoallv(struct mc *m)
{
	struct vector out = vector(m, m->rank, -1), in = vector(m, -1, m->rank);
	int r;

	for (r = 0; r < m->ranks; r++)
		fill_share(out.p + out.starts[r], m->rank, r);
	MPI_Alltoallv(out.p, out.counts, out.starts, MPI_INT32_T, in.p, in.counts,
		      in.starts, MPI_INT32_T, MPI_COMM_WORLD);
	for (r = 0; r < m->ranks; r++)
		check_share(m, in.p + in.starts[r], r, m->rank);
	release(m, &out);
	release(m, &in);
}

static void gatherv(struct mc *m)
{
	struct vector v;
	int32_t *mine;
	int root, n, r;

	for (root = 0; root < m->ranks; root++) {
		n = share(m->rank, root);
		mine = mc_alloc((size_t)n * sizeof(*mine));
		v = vector(m, -1, root);
		fill_share(mine, m->rank, root);
		MPI_Gatherv(mine, n, MPI_INT32_T, v.p, v.counts, v.starts, MPI_INT32_T,
			    root, MPI_COMM_WORLD);
		for (r = 0; m->rank == root && r < m->ranks; r++)
			check_share(m, v.p + v.starts[r], r, root);
		release(m, &v);
		mc_free(m, mine, (size_t)n * sizeof(*mine));
	}
}

static void scatterv(struct mc *m)
{
	struct vector v;
	int32_t *mine;
	int root, n, r;

	for (root = 0; root < m->ranks; root++) {
		n = share(root, m->rank);
		mine = mc_alloc((size_t)n * sizeof(*mine));
		v = vector(m, root, -1);
		for (r = 0; m->rank == root && r < m->ranks; r++)
			fill_share(v.p + v.starts[r], root, r);
		MPI_Scatterv(v.p, v.counts, v.starts, MPI_INT32_T, mine, n, MPI_INT32_T,
			     root, MPI_COMM_WORLD);
		check_share(m, mine, root, m->rank);
		release(m, &v);
		mc_free(m, mine, (size_t)n * sizeof(*mine));
	}
}

static void allgatherv(struct mc *m)
{
	int n = share(m->rank, 1), r;
	int32_t *mine = mc_alloc((size_t)n * sizeof(*mine));
	struct vector v = vector(m, -1, 1);

	fill_share(mine, m->rank, 1);
	MPI_Allgatherv(mine, n, MPI_INT32_T, v.p, v.counts, v.starts, MPI_INT32_T,
		       MPI_COMM_WORLD);
	for (r = 0; r < m->ranks; r++)
		check_share(m, v.p + v.starts[r], r, 1);
	release(m, &v);
	mc_free(m, mine, (size_t)n * sizeof(*mine));
}

static void reduce_scatter(struct mc *m)
{
	struct vector v = vector(m, 2, -1);
	int mine = v.counts[m->rank], i, r;
	int32_t *part = mc_alloc((size_t)mine * sizeof(*part)), want;

	for (i = 0; i < v.total; i++)
		v.p[i] = value(m->rank, 0, i);
	MPI_Reduce_scatter(v.p, part, v.counts, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < mine; i++) {
		want = 0;
		for (r = 0; r < m->ranks; r++)
			want += value(r, 0, v.starts[m->rank] + i);
		MC_EQ(m, part[i], want);
	}
	mc_free(m, part, (size_t)mine * sizeof(*part));
	release(m, &v);
}

/* Matrices of two by two: their product depends on the order of the ranks. */
static void product(void *in, void *inout, int *len, MPI_Datatype *type)
{
	const uint32_t *a = in;
	uint32_t *b = inout, c[4];
	int i, k;

	(void)type;
	for (i = 0; i < *len; i++, a += 4, b += 4) {
		c[0] = a[0] * b[0] + a[1] * b[2];
		c[1] = a[0] * b[1] + a[1] * b[3];
		c[2] = a[2] * b[0] + a[3] * b[2];
		c[3] = a[2] * b[1] + a[3] * b[3];
		for (k = 0; k < 4; k++)
			b[k] = c[k];
	}
}

static void matrices(uint32_t *p, int count, int rank)
{
	int i;

	for (i = 0; i < 4 * count; i++)
		p[i] = (uint32_t)value(rank, 3, i);
}

static void own_operation(struct mc *m)
{
	int count = 2500, one = 1, i, r;
	size_t len = 4u * (size_t)count * sizeof(uint32_t);
	uint32_t *mine = mc_alloc(len), *all = mc_alloc(len), *want = mc_alloc(len),
		 *left = mc_alloc(len);
	MPI_Datatype matrix;
	MPI_Op op;

	MPI_Type_contiguous(4, MPI_UINT32_T, &matrix);
	MPI_Type_commit(&matrix);
	MPI_Op_create(product, 0, &op);
	matrices(mine, count, m->rank);
	MPI_Allreduce(mine, all, count, matrix, op, MPI_COMM_WORLD);
	matrices(want, count, m->ranks - 1);
	for (r = m->ranks - 2; r >= 0; r--) {
		matrices(left, count, r);
		for (i = 0; i < count; i++)
			product(left + 4 * i, want + 4 * i, &one, &matrix);
	}
	for (i = 0; i < 4 * count; i++)
		MC_EQ(m, all[i], want[i]);
	MPI_Op_free(&op);
	MPI_Type_free(&matrix);
	mc_free(m, mine, len);
	mc_free(m, all, len);
	mc_free(m, want, len);
	mc_free(m, left, len);
}

/* Several collectives under way at once, completed in any order, with messages between.
 */
static void nonblocking(struct mc *m)
{
	enum { COUNT = 6000, AT_ONCE = 4 };
	int32_t *sum = mc_alloc(COUNT * sizeof(*sum)),
		*mine = mc_alloc(COUNT * sizeof(*mine)),
		*all = mc_alloc((size_t)m->ranks * COUNT * sizeof(*all)),
		*one = mc_alloc(COUNT * sizeof(*one));
	MPI_Request request[AT_ONCE];
	int round, root, token, i, r;

	for (round = 0; round < 10; round++) {
		root = round % m->ranks;
		for (i = 0; i < COUNT; i++) {
			mine[i] = value(m->rank, round, i);
			one[i] = m->rank == root ? value(root, round, i) : 0;
		}
		MPI_Iallreduce(mine, sum, COUNT, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD,
			       &request[0]);
		MPI_Iallgather(mine, COUNT, MPI_INT32_T, all, COUNT, MPI_INT32_T,
			       MPI_COMM_WORLD, &request[1]);
		MPI_Ibcast(one, COUNT, MPI_INT32_T, root, MPI_COMM_WORLD, &request[2]);
		MPI_Ibarrier(MPI_COMM_WORLD, &request[3]);
		MPI_Sendrecv(&m->rank, 1, MPI_INT, m->next, 4, &token, 1, MPI_INT,
			     m->prev, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MC_EQ(m, token, m->prev);
		MPI_Waitall(AT_ONCE, request, MPI_STATUSES_IGNORE);
		for (i = 0; i < COUNT; i++) {
			int32_t want = 0;

			for (r = 0; r < m->ranks; r++) {
				want += value(r, round, i);
				MC_EQ(m, all[r * COUNT + i], value(r, round, i));
			}
			MC_EQ(m, sum[i], want);
			MC_EQ(m, one[i], value(root, round, i));
		}
	}
	mc_free(m, sum, COUNT * sizeof(*sum));
	mc_free(m, mine, COUNT * sizeof(*mine));
	mc_free(m, all, (size_t)m->ranks * COUNT * sizeof(*all));
	mc_free(m, one, COUNT * sizeof(*one));
}

const struct mc_case mc_coll_more[] = {
	{"coll-alltoallv", alltoallv},
	{"coll-gatherv", gatherv},
	{"coll-scatterv", scatterv},
	{"coll-allgatherv", allgatherv},
	{"coll-reduce-scatter-v", reduce_scatter},
	{"coll-own-operation", own_operation},
	{"coll-nonblocking", nonblocking},
	{0},
};

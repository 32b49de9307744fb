/* SPDX-License-Identifier: BSD-2-Clause */
/* One-sided: windows that others write, read and add to. */
#include <string.h>

#include "mpi_check.h"

#define WORDS 40000 /* of a window, for each rank */

struct window {
	MPI_Win win;
	int64_t *p;
	size_t len;
};

static struct window window(struct mc *m, int words)
{
	struct window w = {.len = (size_t)words * sizeof(int64_t)};

	w.p = mc_alloc(w.len);
	MPI_Win_create(w.p, (MPI_Aint)w.len, sizeof(int64_t), MPI_INFO_NULL,
		       MPI_COMM_WORLD, &w.win);
	return w;
}

static void release(struct mc *m, struct window *w)
{
	MPI_Win_free(&w->win);
	mc_free(m, w->p, w->len);
}

static int64_t value(int from, int to, int i)
{
	return (int64_t)from * 1000003 + (int64_t)to * 10007 + i * 3 + 1;
}

/* Each rank has a part of every window: writes it, and reads it back. */
static void put_fence(struct mc *m)
{
	static const int lens[] = {1, 100, 3000, WORDS};
	struct window w = window(m, m->ranks * WORDS);
	size_t size = WORDS * sizeof(int64_t);
	int64_t *out = mc_alloc(size * (size_t)m->ranks), *in = mc_alloc(size);
	int k, r, i;

	for (k = 0; k < 4; k++) {
		MPI_Win_fence(0, w.win);
		for (r = 0; r < m->ranks; r++) {
			for (i = 0; i < lens[k]; i++)
				out[r * WORDS + i] = value(m->rank, r, i + k);
			MPI_Put(out + r * WORDS, lens[k], MPI_INT64_T, r,
				(MPI_Aint)m->rank * WORDS, lens[k], MPI_INT64_T, w.win);
		}
		MPI_Win_fence(0, w.win);
		for (r = 0; r < m->ranks; r++)
			for (i = 0; i < lens[k]; i++)
				MC_EQ(m, w.p[r * WORDS + i], value(r, m->rank, i + k));
		MPI_Win_fence(0, w.win);
		MPI_Get(in, lens[k], MPI_INT64_T, m->next, (MPI_Aint)m->prev * WORDS,
			lens[k], MPI_INT64_T, w.win);
		MPI_Win_fence(0, w.win);
		for (i = 0; i < lens[k]; i++)
			MC_EQ(m, in[i], value(m->prev, m->next, i + k));
	}
	mc_free(m, out, size * (size_t)m->ranks);
	mc_free(m, in, size);
	release(m, &w);
}

/* All ranks add to the same words at once. */
static void accumulate_fence(struct mc *m)
{
	enum { COUNT = 9000 };
	struct window w = window(m, COUNT);
	size_t size = COUNT * sizeof(int64_t);
	int64_t *out = mc_alloc(size), want;
	int r, i;

	for (i = 0; i < COUNT; i++) {
		w.p[i] = i;
		out[i] = value(m->rank, 0, i);
	}
	MPI_Win_fence(0, w.win);
	for (r = 0; r < m->ranks; r++)
		MPI_Accumulate(out, COUNT, MPI_INT64_T, r, 0, COUNT, MPI_INT64_T, MPI_SUM,
			       w.win);
	MPI_Win_fence(0, w.win);
	for (i = 0; i < COUNT; i++) {
		want = i;
		for (r = 0; r < m->ranks; r++)
			want += value(r, 0, i);
		MC_EQ(m, w.p[i], want);
	}
	mc_free(m, out, size);
	release(m, &w);
}

/* Under a lock, reading, adding and writing back is one step: no count is lost. */
static void exclusive_lock(struct mc *m)
{
	enum { TURNS = 40 };
	struct window w = window(m, 2);
	int64_t have, copy;
	int i;

	MPI_Barrier(MPI_COMM_WORLD);
	for (i = 0; i < TURNS; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
		MPI_Get(&have, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, w.win);
		MPI_Win_flush(0, w.win);
		copy = have + 1;
		MPI_Put(&copy, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, w.win);
		MPI_Win_unlock(0, w.win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
	MPI_Get(&have, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, w.win);
	MPI_Win_unlock(0, w.win);
	MC_EQ(m, have, (int64_t)TURNS * m->ranks);
	release(m, &w);
}

/* A ticket is given out once; who gets number n puts his rank at place n. */
static void tickets(struct mc *m)
{
	enum { EACH = 30, MAX_RANKS = 64 };
	struct window w = window(m, 1 + EACH * m->ranks);
	int64_t one = 1, ticket, mark = m->rank + 1, drawn[MAX_RANKS] = {0};
	int i, r;

	MPI_Win_lock_all(0, w.win);
	for (i = 0; i < EACH; i++) {
		MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, 0, 0, MPI_SUM, w.win);
		MPI_Win_flush(0, w.win);
		MC_TRUE(m, ticket >= 0 && ticket < (int64_t)EACH * m->ranks);
		MPI_Accumulate(&mark, 1, MPI_INT64_T, 0, (MPI_Aint)(1 + ticket), 1,
			       MPI_INT64_T, MPI_SUM, w.win);
		MPI_Win_flush(0, w.win);
	}
	MPI_Win_unlock_all(w.win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (m->rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
		MC_EQ(m, w.p[0], (int64_t)EACH * m->ranks);
		for (i = 0; i < EACH * m->ranks; i++) {
			MC_TRUE(m, w.p[1 + i] >= 1 && w.p[1 + i] <= m->ranks);
			if (w.p[1 + i] >= 1 && w.p[1 + i] <= m->ranks)
				drawn[w.p[1 + i] - 1]++;
		}
		for (r = 0; r < m->ranks; r++)
			MC_EQ(m, drawn[r], EACH);
		MPI_Win_unlock(0, w.win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	release(m, &w);
}

/* Of all who want the empty place, one gets it and the others see who. */
static void compare_and_swap(struct mc *m)
{
	enum { PLACES = 20 };
	struct window w = window(m, PLACES);
	int64_t empty = 0, mine = m->rank + 1, was, all, won;
	int i;

	for (i = 0; i < PLACES; i++) {
		MPI_Win_lock(MPI_LOCK_SHARED, m->ranks - 1, 0, w.win);
		MPI_Compare_and_swap(&mine, &empty, &was, MPI_INT64_T, m->ranks - 1, i,
				     w.win);
		MPI_Win_unlock(m->ranks - 1, w.win);
		MC_TRUE(m, was >= 0 && was <= m->ranks && was != mine);
		won = was == 0;
		MPI_Allreduce(&won, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
		MC_EQ(m, all, 1);
	}
	release(m, &w);
}

/* Post, start, complete, wait: only those two ranks take part. */
static void post_start(struct mc *m)
{
	enum { COUNT = 5000 };
	struct window w = window(m, COUNT);
	size_t size = COUNT * sizeof(int64_t);
	int64_t *out = mc_alloc(size);
	MPI_Group world, before, after;
	int round, i;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &m->prev, &before);
	MPI_Group_incl(world, 1, &m->next, &after);
	for (round = 0; round < 10; round++) {
		for (i = 0; i < COUNT; i++)
			out[i] = value(m->rank, m->next, i + round);
		MPI_Win_post(before, 0, w.win);
		MPI_Win_start(after, 0, w.win);
		MPI_Put(out, COUNT, MPI_INT64_T, m->next, 0, COUNT, MPI_INT64_T, w.win);
		MPI_Win_complete(w.win);
		MPI_Win_wait(w.win);
		for (i = 0; i < COUNT; i++)
			MC_EQ(m, w.p[i], value(m->prev, m->rank, i + round));
	}
	MPI_Group_free(&before);
	MPI_Group_free(&after);
	MPI_Group_free(&world);
	mc_free(m, out, size);
	release(m, &w);
}

const struct mc_case mc_rma[] = {
	{"rma-put-fence", put_fence},
	{"rma-accumulate-fence", accumulate_fence},
	{"rma-exclusive-lock", exclusive_lock},
	{"rma-tickets", tickets},
	{"rma-compare-and-swap", compare_and_swap},
	{"rma-post-start", post_start},
	{0},
};

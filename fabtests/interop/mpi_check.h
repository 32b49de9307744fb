/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_check: what an MPI program asks of the transport below it, with every result
 * compared to what this rank computes by itself. A case is run by all ranks of
 * MPI_COMM_WORLD together.
 */
#ifndef MPI_CHECK_H
#define MPI_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpi.h>

#define MC_GUARD 16		 /* bytes behind a buffer that must stay as they are */
#define MC_MAX ((size_t)4 << 20) /* the longest message */

struct mc {
	int rank, ranks;
	int next, prev;	   /* neighbours in the ring of all ranks */
	uint64_t random;   /* state of mc_random: the same sequence in every rank */
	int failures;	   /* of the running case in this rank */
	const char *doing; /* the running case, for the deadline's message */
};

struct mc_case {
	const char *name;
	void (*run)(struct mc *m);
};

extern const struct mc_case mc_p2p[], mc_order[], mc_coll[], mc_coll_more[], mc_rma[];

/* Records a failure of this rank, and prints the first ones. */
void mc_fail(struct mc *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define MC_TRUE(m, expr)                                                    \
	do {                                                                \
		if (!(expr))                                                \
			mc_fail(m, "%s:%d: %s", __func__, __LINE__, #expr); \
	} while (0)

#define MC_EQ(m, have, want)                                                     \
	do {                                                                     \
		long long have_ = (long long)(have), want_ = (long long)(want);  \
                                                                                 \
		if (have_ != want_)                                              \
			mc_fail(m, "%s:%d: %s is %lld, expected %lld", __func__, \
				__LINE__, #have, have_, want_);                  \
	} while (0)

/* Memory with a guard behind it; never NULL: without memory the run ends. */
void *mc_alloc(size_t len);
/* Frees it; a guard that was written to is a failure. */
void mc_free(struct mc *m, void *buf, size_t len);

/* A byte pattern in which neither positions nor seeds look alike. */
void mc_fill(void *buf, size_t len, uint64_t seed);
void mc_compare(struct mc *m, const void *buf, size_t len, uint64_t seed,
		const char *what);
/* The seed of a message, from what identifies it. */
uint64_t mc_seed(int from, int to, int tag);

/* Numbers from 0 to bound - 1, the same in all ranks as long as all call it as often. */
uint32_t mc_random(struct mc *m, uint32_t bound);

#endif

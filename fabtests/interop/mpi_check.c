/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Usage: mpi_check [CASE...]    all cases, or those whose names begin so
 *        mpi_check --list
 *        mpi_check --die ROUNDS the last rank kills itself in the middle of traffic
 * Started by mpirun. The last line, by rank 0: "N passed, N failed, 0 skipped". The exit
 * status is 0 if nothing failed. MPI_CHECK_SECONDS: deadline of the run (default 300).
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_check.h"

#define GUARD_BYTE 0xa7
#define SHOWN_FAILURES 5 /* of one case in one rank */
#define STORM_BYTES 30000

static const struct mc_case *const tables[] = {mc_p2p, mc_order, mc_coll, mc_coll_more,
					       mc_rma};

static struct mc mc; /* the one of this process; here for the signal handler */

void mc_fail(struct mc *m, const char *fmt, ...)
{
	char why[256];
	va_list args;

	if (++m->failures > SHOWN_FAILURES)
		return;
	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	printf("# %s: rank %d: %s\n", m->doing, m->rank, why);
	fflush(stdout);
}

void *mc_alloc(size_t len)
{
	uint8_t *buf = malloc(len + MC_GUARD);

	if (!buf) {
		fprintf(stderr, "mpi_check: out of memory\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
		abort();
	}
	memset(buf, 0, len);
	memset(buf + len, GUARD_BYTE, MC_GUARD);
	return buf;
}

void mc_free(struct mc *m, void *buf, size_t len)
{
	const uint8_t *guard = (const uint8_t *)buf + len;
	int i;

	for (i = 0; i < MC_GUARD; i++) {
		if (guard[i] != GUARD_BYTE) {
			mc_fail(m, "a buffer of %zu bytes was written past its end", len);
			break;
		}
	}
	free(buf);
}

static uint8_t pattern(uint64_t seed, size_t i)
{
	return (uint8_t)(seed + i * 5 + (i >> 8) * 11 + (i >> 16) * 83 + (seed >> 8) * 3);
}

void mc_fill(void *buf, size_t len, uint64_t seed)
{
	uint8_t *p = buf;
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = pattern(seed, i);
}

void mc_compare(struct mc *m, const void *buf, size_t len, uint64_t seed,
		const char *what)
{
	const uint8_t *p = buf;
	size_t i;

	for (i = 0; i < len && p[i] == pattern(seed, i); i++)
		;
	if (i < len)
		mc_fail(m, "%s: byte %zu of %zu is 0x%02x, expected 0x%02x", what, i, len,
			p[i], pattern(seed, i));
}

uint64_t mc_seed(int from, int to, int tag)
{
	return (uint64_t)from * 31 + (uint64_t)to * 57 + (uint64_t)tag * 113 + 1;
}

/* xorshift64*, whose high half is good enough to choose sizes by. */
uint32_t mc_random(struct mc *m, uint32_t bound)
{
	m->random ^= m->random >> 12;
	m->random ^= m->random << 25;
	m->random ^= m->random >> 27;
	return (uint32_t)((m->random * 2685821657736338717u) >> 32) % bound;
}

/* Only async-signal-safe calls: the process may be inside any library. */
static void expired(int sig)
{
	static const char text[] = "mpi_check: the deadline passed in case ";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0 ||
	    write(STDERR_FILENO, mc.doing, strlen(mc.doing)) < 0 ||
	    write(STDERR_FILENO, "\n", 1) < 0)
		_exit(4);
	_exit(3);
}

static void start_deadline(void)
{
	const char *env = getenv("MPI_CHECK_SECONDS");
	int seconds = env ? atoi(env) : 0;

	signal(SIGALRM, expired);
	alarm(seconds > 0 ? (unsigned int)seconds : 300);
}

static bool chosen(int argc, char **argv, const char *name)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strncmp(name, argv[i], strlen(argv[i])))
			return true;
	return argc < 2;
}

/* The number of ranks in which the case failed. */
static int run_case(struct mc *m, const struct mc_case *c)
{
	double began = MPI_Wtime();
	int bad, all = 0;

	m->doing = c->name;
	m->failures = 0;
	m->random = 88172645463325252u;
	c->run(m);
	bad = m->failures > 0;
	MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!m->rank) {
		if (all)
			printf("not ok %s: failed in %d of %d ranks\n", c->name, all,
			       m->ranks);
		else
			printf("ok %s (%.1f s)\n", c->name, MPI_Wtime() - began);
		fflush(stdout);
	}
	return all;
}

static int run_cases(struct mc *m, int argc, char **argv)
{
	const struct mc_case *c;
	int passed = 0, failed = 0;
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (c = tables[i]; c->name; c++) {
			if (!chosen(argc, argv, c->name))
				continue;
			if (run_case(m, c))
				failed++;
			else
				passed++;
		}
	}
	if (!m->rank)
		printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	fflush(stdout);
	return failed || !passed;
}

static void list(void)
{
	const struct mc_case *c;
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (c = tables[i]; c->name; c++)
			puts(c->name);
}

/*
 * Traffic without end around the ring; the last rank dies after so many rounds, with
 * messages of its own and for it under way.
 */
static void die_in_traffic(struct mc *m, int rounds)
{
	uint8_t *out = mc_alloc(STORM_BYTES), *in = mc_alloc(STORM_BYTES);
	MPI_Request request[2];
	int i;

	m->doing = "--die";
	for (i = 0;; i++) {
		MPI_Irecv(in, STORM_BYTES, MPI_BYTE, m->prev, i % 100, MPI_COMM_WORLD,
			  &request[0]);
		MPI_Isend(out, STORM_BYTES, MPI_BYTE, m->next, i % 100, MPI_COMM_WORLD,
			  &request[1]);
		if (i == rounds && m->rank == m->ranks - 1)
			raise(SIGKILL);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	}
}

int main(int argc, char **argv)
{
	int status;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		list();
		return 0;
	}
	mc.doing = "MPI_Init";
	start_deadline();
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &mc.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &mc.ranks);
	mc.next = (mc.rank + 1) % mc.ranks;
	mc.prev = (mc.rank + mc.ranks - 1) % mc.ranks;
	if (argc == 3 && !strcmp(argv[1], "--die"))
		die_in_traffic(&mc, atoi(argv[2]));
	status = run_cases(&mc, argc, argv);
	mc.doing = "MPI_Finalize";
	MPI_Finalize();
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As many connections over one router as -n says: what each takes of the router's memory,
 * idle and busy, how fast they come about, what one does among the idle ones, and what
 * all do together.
 */
#include <sys/resource.h>

#include "routed.h"

#define MANY_LEN ((size_t)4096)
#define MANY_WINDOW 4u
#define MANY_MS 1000u
#define MANY_PINGS 1000u
/* Of each connection, on average: fewer do not say who gets what. */
#define MANY_READS 12u
#define MANY_FAIR 0.9

/* Each connection has a descriptor. */
static void take_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static long routers_resident(void)
{
	long kib = 0;
	uint32_t i;

	for (i = 0; i < fct_routed.routers; i++)
		kib += fct_memory_kib(fct_routed.router[i], "VmRSS");
	return kib;
}

/* What the routers have in memory beside what they had before, of each connection. */
static void say_memory(const struct routed *r, const char *when, long before)
{
	if (!fct_routed.routers || fct_is_server())
		return;
	fct_routed_say(r, "%u connections %s: %.1f KiB each in the routers' memory",
		       r->count, when, (double)(routers_resident() - before) / r->count);
}

/* --- One connection --- */

/* Without sleeping, which would be measured. */
static int look_until_over(struct routed *r)
{
	struct fct_wait w;
	int ret = 0;

	fct_wait_init(&w, "a short read");
	while (r->busy) {
		FCT_GET(ret, fct_routed_look(r));
		if (!ret && ++w.spins % 1024 == 0)
			FCT_DO(fct_wait_check(&w));
	}
	return 0;
}

static int ping(struct routed *r, const char *where)
{
	static uint64_t ns[MANY_PINGS];
	struct routed_conn *conn = &r->conn[r->count / 2];
	uint64_t begun;
	uint32_t i;

	if (!conn->c.ep)
		conn = r->conn;
	for (i = 0; i < MANY_PINGS; i++) {
		begun = fct_now_ns();
		FCT_CALL(fct_routed_read(r, conn, r->local.buf, 8, &r->peer, i));
		FCT_DO(look_until_over(r));
		ns[i] = fct_now_ns() - begun;
	}
	fct_routed_sort(ns, MANY_PINGS);
	fct_routed_say(r, "8 bytes read on one %s: median %.1f us, 99 %% within %.1f us",
		       where, (double)ns[MANY_PINGS / 2] / 1e3,
		       (double)ns[MANY_PINGS * 99 / 100] / 1e3);
	return 0;
}

/* --- Some of them at once --- */

static int read_all(struct routed *r, uint32_t count, const char *who)
{
	const struct routed_reading how = {.count = count,
					   .window = MANY_WINDOW,
					   .len = MANY_LEN,
					   .ms = MANY_MS,
					   .least = (uint64_t)count * MANY_READS};
	double rate = 0;

	FCT_DO(fct_routed_read_all(r, &how, &rate));
	fct_routed_say(r, "4 KiB read on %s: %.0f a second", who, rate);
	return 0;
}

static int read_fairly(struct routed *r)
{
	FCT_DO(read_all(r, r->count, "all"));
	return fct_routed_fair(r, MANY_FAIR);
}

/* --- All of it --- */

static int connect_rest(struct routed *r)
{
	const uint64_t begun = fct_now_ns();
	uint32_t i;

	for (i = 1; i < r->count; i++)
		FCT_DO(fct_conn_up(&r->l, &r->conn[i].c));
	if (fct_is_client())
		fct_routed_say(r, "%.0f connections a second, one after the other",
			       (r->count - 1) * 1e9 / (double)(fct_now_ns() - begun));
	return 0;
}

static int alone(struct routed *r)
{
	FCT_DO(ping(r, "alone"));
	FCT_DO(read_all(r, 1, "one"));
	return fct_routed_await(r, 0, "the last reads");
}

static int together(struct routed *r)
{
	FCT_DO(ping(r, "among all"));
	FCT_DO(read_fairly(r));
	return fct_routed_await(r, 0, "the last reads");
}

/* The client's, while the server makes progress and nothing else. */
static int phase(struct routed *r, int (*work)(struct routed *r))
{
	if (fct_is_server())
		FCT_DO(fct_routed_stop_arm(r));
	FCT_DO(fct_barrier("reading begins"));
	if (fct_is_server())
		return fct_routed_until_stop(r);
	FCT_DO(work(r));
	return fct_routed_stop(r);
}

FCT_CASE(many, "all connections read at once, each as much as the others")
{
	const uint32_t count = fct_routed.connections;
	const struct routed_size size = {
		.connections = count,
		.ops = count * MANY_WINDOW + 1,
		.tx = 8,
		.rx = 8,
		.exposed = MANY_LEN,
		.local = count * MANY_WINDOW * MANY_LEN,
	};
	FCT_AUTO(fct_routed_end) struct routed r = {0};
	struct fct_target mine;
	long before = 0;

	take_descriptors();
	FCT_DO(fct_routed_open(&r, &size));
	mine = fct_mem_target(&r.l, &r.exposed);
	FCT_DO(fct_exchange("region", &mine, &r.peer, sizeof(mine)));
	FCT_DO(fct_conn_up(&r.l, &r.conn[0].c));
	FCT_DO(phase(&r, alone));
	before = routers_resident();
	FCT_DO(connect_rest(&r));
	say_memory(&r, "idle", before);
	FCT_DO(phase(&r, together));
	say_memory(&r, "busy", before);
	return 0;
}

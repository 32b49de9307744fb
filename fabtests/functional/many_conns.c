/* SPDX-License-Identifier: BSD-2-Clause */
/* Many connections that all stand, and that leave nothing behind. */
#include <malloc.h>
#include <unistd.h>

#include "many.h"

static struct many_side one_each(void)
{
	return (struct many_side){.asks = fct_is_client(), .answers = fct_is_server()};
}

/*
 * Each side closes half of the connections; on the others it hears that the peer has.
 * Both first know that all messages have arrived.
 */
static int end_by_halves(struct many *m)
{
	struct many_conn *ends = m->asking ? m->asking : m->answering;
	const uint32_t mine = m->asking ? 0 : 1;
	uint32_t i;

	FCT_DO(fct_barrier("all messages arrived"));
	for (i = mine; i < m->count; i += 2)
		FCT_DO(fct_many_close(m, &ends[i]));
	FCT_DO(fct_many_await(m, m->connected, 0, (m->count + mine) / 2,
			      "FI_SHUTDOWN of half the connections"));
	for (i = 1 - mine; i < m->count; i += 2)
		FCT_DO(fct_many_close(m, &ends[i]));
	FCT_DO(fct_barrier("all closed"));
	return fct_many_quiet(m);
}

/* One life of so many connections between the two processes. */
static int life(uint32_t count)
{
	const struct many_side side = one_each();
	FCT_AUTO(fct_many_end) struct many m = {0};

	FCT_DO(fct_many_open(&m, count, &side));
	if (side.asks)
		FCT_DO(fct_many_ask(&m));
	FCT_DO(fct_many_await(&m, count, 0, 0, "all connections"));
	FCT_DO(fct_many_traffic(&m));
	return end_by_halves(&m);
}

FCT_CASE_CALL(between, "between two processes, messages on each, closed from either side",
	      life(fct_many_count))

/* Both ends in the server's process, whose event queue has the events of both. */
FCT_CASE(within, "within one process")
{
	struct many_side side = {.asks = fct_is_server(), .answers = fct_is_server()};
	FCT_AUTO(fct_many_end) struct many m = {0};
	uint32_t i;

	FCT_DO(fct_many_open(&m, fct_many_count, &side));
	if (side.asks) {
		FCT_DO(fct_many_ask(&m));
		FCT_DO(fct_many_await(&m, 2 * fct_many_count, 0, 0, "all connections"));
		FCT_DO(fct_many_traffic(&m));
		for (i = 0; i < fct_many_count; i++)
			FCT_DO(fct_many_close(&m, &m.asking[i]));
		FCT_DO(fct_many_await(&m, 2 * fct_many_count, 0, fct_many_count,
				      "FI_SHUTDOWN of all connections"));
		for (i = 0; i < fct_many_count; i++)
			FCT_DO(fct_many_close(&m, &m.answering[i]));
		FCT_DO(fct_many_quiet(&m));
	}
	return 0;
}

#ifdef __SANITIZE_ADDRESS__
#define MEMORY_COMES_BACK false /* the sanitizer keeps what was freed for a while */
#else
#define MEMORY_COMES_BACK true
#endif

/* But for what the C library keeps of what was freed. */
static long resident_kib(void)
{
	malloc_trim(0);
	return fct_memory_kib(getpid(), "VmRSS");
}

/*
 * What libraries keep for the next time is there after the first life; from then on
 * every life ends with what it began with. 512 bytes a connection are less than any of
 * its objects takes.
 */
FCT_CASE(again, "life after life nothing is left behind")
{
	const uint32_t lives = 3;
	long kib, most = (long)(lives * fct_many_count * 512 / 1024) + 1024;
	int fds;
	uint32_t i;

	FCT_DO(life(fct_many_count));
	fds = fct_descriptors();
	kib = resident_kib();
	FCT_TRUE(kib > 0);
	for (i = 0; i < lives; i++)
		FCT_DO(life(fct_many_count));
	FCT_EQ(fct_descriptors(), fds);
	fct_note("%ld KiB resident after one life, %ld after %u", kib, resident_kib(),
		 lives + 1);
	if (MEMORY_COMES_BACK && resident_kib() > kib + most)
		FCT_FAIL("%ld KiB resident after one life, %ld after %u", kib,
			 resident_kib(), lives + 1);
	return 0;
}

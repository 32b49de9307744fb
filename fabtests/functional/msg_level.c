/* SPDX-License-Identifier: BSD-2-Clause */
/* Every threading level and progress model a program may ask for carries messages. */
#include <pthread.h>
#include <sched.h>

#include "fct_op.h"

#define LEN 256u
#define ROUNDS 200u

/* Of two parts one is sent, the other received. */
enum { TX, RX };

static int post_recv(struct fct_parts *s)
{
	return fct_part_post(s, FCT_RECV, RX, 0);
}

static int send_one(struct fct_parts *s, uint64_t seed)
{
	struct fi_cq_data_entry e;

	fct_fill(fct_part(s, TX), LEN, seed);
	FCT_DO(fct_part_post(s, FCT_SEND, TX, 0));
	return fct_comp(s->l.txcq, &s->ctx[TX], FI_SEND | FI_MSG, &e, "a message");
}

static int take_one(struct fct_parts *s, uint64_t seed)
{
	struct fi_cq_data_entry e;

	FCT_DO(fct_comp(s->l.rxcq, &s->ctx[RX], FI_RECV | FI_MSG, &e, "a message"));
	FCT_DATA(fct_part(s, RX), LEN, seed);
	return 0;
}

static int ping_pong(struct fct_parts *s)
{
	unsigned int i;

	FCT_DO(post_recv(s));
	FCT_DO(fct_barrier("receives posted"));
	for (i = 0; i < ROUNDS; i++) {
		if (fct_is_client())
			FCT_DO(send_one(s, i));
		FCT_DO(take_one(s, i));
		if (i + 1 < ROUNDS)
			FCT_DO(post_recv(s));
		if (fct_is_server())
			FCT_DO(send_one(s, i));
	}
	return 0;
}

/* With separate queues: in one, the peer's answer may come before the own completion. */
static int exchange(const struct fct_setup *setup)
{
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};

	FCT_DO(fct_parts_up(&s, setup, LEN, 2, 0));
	FCT_DO(ping_pong(&s));
	FCT_DO(fct_cq_quiet(s.l.txcq, "after all sends"));
	return fct_cq_quiet(s.l.rxcq, "after all receives");
}

FCT_CASE(threading, "every threading level")
{
	static const enum fi_threading levels[] = {FI_THREAD_SAFE, FI_THREAD_FID,
						   FI_THREAD_ENDPOINT,
						   FI_THREAD_COMPLETION,
						   FI_THREAD_DOMAIN};
	struct fct_setup setup = {.caps = FI_MSG, .split_cq = true};
	size_t i;

	for (i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		setup.threading = levels[i];
		fct_note("%s", fi_tostr(&setup.threading, FI_TYPE_THREADING));
		FCT_DO(exchange(&setup));
	}
	return 0;
}

FCT_CASE(progress, "automatic and manual data progress")
{
	static const enum fi_progress models[] = {FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL};
	struct fct_setup setup = {.caps = FI_MSG, .split_cq = true};
	size_t i;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		setup.data_progress = models[i];
		fct_note("%s", fi_tostr(&setup.data_progress, FI_TYPE_PROGRESS));
		FCT_DO(exchange(&setup));
	}
	return 0;
}

/* With FI_THREAD_SAFE one endpoint is every thread's. */
struct poster {
	struct fct_parts *s;
	struct fct_ctx ctx;
	unsigned int posted;
	int ret;
};

#define POSTERS 4u
#define EACH 500u

static void *post_many(void *arg)
{
	struct poster *p = arg;
	struct fct_parts *s = p->s;
	uint64_t end = fct_now_ms() + 20000 * fct.scale;

	while (p->posted < EACH && fct_now_ms() < end) {
		p->ret = (int)fi_send(s->l.c.ep, s->m.buf, 8, s->m.desc, 0, &p->ctx);
		if (!p->ret)
			p->posted++;
		else if (p->ret != -FI_EAGAIN)
			break;
		else
			sched_yield();
	}
	return NULL;
}

static int collect(struct fct_parts *s, struct poster *posters)
{
	unsigned int done[POSTERS] = {0}, i, n;
	struct fi_cq_data_entry e;

	for (n = 0; n < POSTERS * EACH; n++) {
		FCT_DO(fct_comp_any(s->l.txcq, &e, "one of many threads' sends"));
		for (i = 0; i < POSTERS && e.op_context != &posters[i].ctx; i++)
			;
		FCT_TRUE(i < POSTERS);
		done[i]++;
	}
	for (i = 0; i < POSTERS; i++)
		FCT_EQ(done[i], EACH);
	return 0;
}

static int many_threads(struct fct_parts *s)
{
	struct poster posters[POSTERS] = {{0}};
	pthread_t threads[POSTERS];
	unsigned int i, started;
	int ret = 0;

	for (started = 0; started < POSTERS; started++) {
		posters[started].s = s;
		if (pthread_create(&threads[started], NULL, post_many, &posters[started]))
			break;
	}
	if (started == POSTERS)
		ret = collect(s, posters);
	for (i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	FCT_DO(ret);
	FCT_EQ(started, POSTERS);
	for (i = 0; i < POSTERS; i++)
		FCT_EQ(posters[i].posted, EACH);
	return 0;
}

FCT_CASE(many_threads, "one endpoint, several threads that post")
{
	struct fct_setup setup = {.caps = FI_MSG,
				  .threading = FI_THREAD_SAFE,
				  .split_cq = true};
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};
	struct fi_cq_data_entry e;
	unsigned int i;

	FCT_DO(fct_parts_up(&s, &setup, LEN, 2, 0));
	for (i = 0; fct_is_server() && i < 32; i++)
		FCT_DO(post_recv(&s));
	FCT_DO(fct_barrier("receives posted"));
	if (fct_is_client())
		FCT_DO(many_threads(&s));
	for (i = 0; fct_is_server() && i < POSTERS * EACH; i++) {
		FCT_DO(fct_comp(s.l.rxcq, &s.ctx[RX], FI_RECV | FI_MSG, &e,
				"one of many threads' messages"));
		FCT_EQ(e.len, 8);
		if (i + 32 < POSTERS * EACH)
			FCT_DO(post_recv(&s));
	}
	return 0;
}

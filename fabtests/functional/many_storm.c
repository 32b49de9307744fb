/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A listener under load: many requests at once, of which many come to nothing. Every end
 * hears how its connection ended, once.
 */
#include "many.h"

static uint32_t fated(enum many_fate (*fate)(uint32_t), enum many_fate wanted)
{
	uint32_t i, n = 0;

	for (i = 0; i < fct_many_count; i++)
		n += fate(i) == wanted;
	return n;
}

static enum many_fate half(uint32_t number)
{
	switch (number % 4) {
	case 2:
		return MANY_REJECTED;
	case 3:
		return MANY_LEFT;
	default:
		return MANY_STAYS;
	}
}

/* Some at once, some when their requests have been answered perhaps. */
static int leave(struct many *m, uint32_t number, uint32_t step)
{
	for (; number < m->count; number += step) {
		FCT_TRUE(half(number) == MANY_LEFT);
		/* Whoever was quick is connected; closing takes it back. */
		m->connected -= m->asking[number].connected;
		FCT_DO(fct_many_close(m, &m->asking[number]));
	}
	return 0;
}

static int ask_and_leave(struct many *m)
{
	uint32_t i;

	FCT_DO(fct_many_ask(m));
	FCT_DO(leave(m, 3, 8));
	for (i = 0; i < m->count; i++)
		FCT_DO(fct_many_event(m));
	FCT_DO(leave(m, 7, 8));
	return fct_many_await(m, fated(half, MANY_STAYS), fated(half, MANY_REJECTED), 0,
			      "every answer");
}

static int storm_asks(struct many *m)
{
	int ret = ask_and_leave(m);

	return fct_tell("asked", &ret, sizeof(ret)) || ret ? -1 : 0;
}

/* An end that was left and accepted nevertheless hears of it. */
static bool all_left_end(const struct many *m)
{
	const struct many_conn *c = m->answering;
	uint32_t i;

	for (i = 0; i < m->count; i++)
		if (half(i) == MANY_LEFT && c[i].c.ep && !c[i].err && !c[i].shut)
			return false;
	return true;
}

static uint32_t standing(const struct many *m)
{
	uint32_t i, n = 0;

	for (i = 0; i < m->count; i++)
		n += half(i) == MANY_STAYS && many_stands(&m->answering[i]);
	return n;
}

static int storm_answers(struct many *m)
{
	uint32_t i;

	FCT_WAIT_WHILE(standing(m) < fated(half, MANY_STAYS) ||
			       m->requests < m->count - fated(half, MANY_LEFT) ||
			       !all_left_end(m),
		       "the end of every request", fct_many_event(m));
	FCT_DO(fct_hear("asked", &i, sizeof(i)));
	FCT_DO(fct_many_quiet(m));
	for (i = 0; i < m->count; i++)
		if (half(i) == MANY_LEFT && m->answering[i].c.ep)
			FCT_DO(fct_many_close(m, &m->answering[i]));
	return 0;
}

/*
 * Requests of all connections at once: a quarter is rejected with data, a quarter
 * abandoned at some point on the way; the others carry messages.
 */
FCT_CASE(storm, "all at once, half of them rejected or abandoned")
{
	const struct many_side side = {.asks = fct_is_client(),
				       .answers = fct_is_server(),
				       .fate = half};
	FCT_AUTO(fct_many_end) struct many m = {0};

	FCT_DO(fct_many_open(&m, fct_many_count, &side));
	FCT_DO(side.asks ? storm_asks(&m) : storm_answers(&m));
	FCT_DO(fct_barrier("the storm is over"));
	FCT_DO(fct_many_traffic(&m));
	FCT_DO(fct_barrier("all messages arrived"));
	return fct_many_quiet(&m);
}

#define ROOM 8 /* requests that may wait for a listener that does not look */

static enum many_fate either(uint32_t number)
{
	(void)number;
	return MANY_EITHER;
}

/* Listens anew, with little room. */
static int listen_narrowly(struct many *m)
{
	struct fct_link *l = &m->l;
	size_t len = sizeof(m->where);
	int backlog = ROOM, ret;

	FCT_CALL(fi_close(&l->pep->fid));
	l->pep = NULL;
	FCT_CALL(fi_passive_ep(l->fabric, l->info, &l->pep, l));
	FCT_CALL(fi_pep_bind(l->pep, &l->eq->fid, 0));
	ret = fi_control(&l->pep->fid, FI_BACKLOG, &backlog);
	if (ret == -FI_ENOSYS)
		return fct_skip("fi_control FI_BACKLOG: %s", fi_strerror(-ret));
	FCT_CALL(ret);
	FCT_CALL(fi_listen(l->pep));
	FCT_CALL(fi_getname(&l->pep->fid, &m->where, &len));
	return fct_tell("where", &m->where, sizeof(m->where));
}

/* Does not look until every request was made and those without room were refused. */
static int backlog_answers(struct many *m)
{
	const int queues = fct.n_progress_cq;
	uint32_t refused;

	/* A layer looks at events when a completion queue is read, too. */
	fct.n_progress_cq = 0;
	fct.progress_eq = NULL;
	FCT_DO(listen_narrowly(m));
	FCT_DO(fct_hear("refused", &refused, sizeof(refused)));
	fct.progress_eq = m->l.eq;
	fct.n_progress_cq = queues;
	return fct_many_await(m, m->count - refused, 0, 0, "the requests that had room");
}

static int backlog_asks(struct many *m)
{
	const uint32_t refused = m->count - ROOM;

	FCT_DO(fct_hear("where", &m->where, sizeof(m->where)));
	FCT_DO(fct_many_ask(m));
	FCT_DO(fct_many_await(m, 0, refused, 0, "refusals for want of room"));
	FCT_DO(fct_tell("refused", &refused, sizeof(refused)));
	return fct_many_await(m, ROOM, refused, 0, "the requests that had room");
}

/* A listener's room is full: who comes then is refused, and who was there is served. */
FCT_CASE(backlog, "more requests than the listener has room for")
{
	const struct many_side side = {.asks = fct_is_client(),
				       .answers = fct_is_server(),
				       .fate = either};
	FCT_AUTO(fct_many_end) struct many m = {0};

	FCT_DO(fct_many_open(&m, fct_many_count, &side));
	FCT_DO(side.asks ? backlog_asks(&m) : backlog_answers(&m));
	FCT_DO(fct_barrier("connected"));
	FCT_DO(fct_many_traffic(&m));
	FCT_DO(fct_barrier("all messages arrived"));
	return fct_many_quiet(&m);
}

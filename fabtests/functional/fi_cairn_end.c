/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection that one thread ends while another posts and reads, or that asks for all
 * it can get, beside one with the same queues, or with others, that goes on. Whatever was
 * accepted completes, once.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "fct_fabric.h"

#define LEN 512u
#define OPS 2048u
#define RECEIVES 64u
#define ROUNDS 4u
#define CROWD 8u  /* connections that share a small queue */
#define BURST 32u /* messages of each */

enum ending { SHUTDOWN, SHUTDOWN_BY_PEER, CLOSE };

struct op {
	struct fct_ctx ctx;
	unsigned int ended;
};

struct side {
	struct fct_link l; /* its first connection is the one that goes on */
	struct fct_conn c, crowd[CROWD];
	struct fct_mem exposed, local, message;
	struct fct_target peer;
	struct fct_ctx other;
	unsigned int others;	/* completions of the connection that goes on */
	unsigned int shutdowns; /* FI_SHUTDOWN of the other */
	struct op op[OPS];
	unsigned int posted, ended;
	/* What the thread that ends it is told, and tells. */
	enum ending ending;
	unsigned int when; /* operations that have begun, on a sender, or come */
	atomic_uint begun;
	atomic_bool give_up;
	int result;
};

static int up(struct side *s, struct fct_setup setup)
{
	setup.caps |= FI_MSG | FI_RMA;
	FCT_DO(fct_link_up(&s->l, &setup));
	FCT_DO(fct_mem_alloc(&s->l, &s->local, CROWD * BURST * LEN,
			     FI_SEND | FI_RECV | FI_READ | FI_WRITE));
	FCT_DO(fct_mem_alloc(&s->l, &s->message, LEN, FI_SEND | FI_RECV));
	return fct_mem_expose(&s->l, &s->exposed, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE,
			      &s->peer);
}

/* ---- completions and events ---- */

static int completed(struct side *s, const void *context, int err)
{
	const struct op *op = context;

	if (context == &s->other) {
		if (err)
			FCT_FAIL("the other connection: %s", fi_strerror(err));
		s->others++;
		return 0;
	}
	if (op < s->op || op >= s->op + s->posted)
		FCT_FAIL("a completion without the context of an operation");
	if (s->op[op - s->op].ended++)
		FCT_FAIL("operation %td completed twice", op - s->op);
	s->ended++;
	if (!err && !fct_is_client())
		atomic_fetch_add(&s->begun, 1);
	return 0;
}

/* 1: there was a completion, 0: none. */
static int look(struct side *s, struct fid_cq *cq)
{
	struct fi_cq_data_entry e;
	int ret, err;

	FCT_GET(ret, fct_cq_look(cq, &e, &err));
	return ret && completed(s, e.op_context, err) ? -1 : ret;
}

static int look_at_events(struct side *s)
{
	struct fct_event e;
	int ret;

	FCT_GET(ret, fct_eq_look(s->l.eq, &e));
	if (!ret)
		return 0;
	FCT_EQ(e.event, FI_SHUTDOWN);
	FCT_TRUE(e.cm.fid != &s->l.c.ep->fid);
	FCT_EQ(++s->shutdowns, 1);
	return 0;
}

static int await_ended(struct side *s, struct fid_cq *cq)
{
	FCT_WAIT_WHILE(s->ended < s->posted, "the end of every operation", look(s, cq));
	return 0;
}

/* A message over the connection that goes on. */
static int other_connection(struct side *s, uint64_t seed)
{
	const unsigned int before = s->others;
	struct fid_ep *ep = s->l.c.ep;

	if (fct_is_server())
		FCT_CALL(fi_recv(ep, s->message.buf, LEN, s->message.desc, 0, &s->other));
	FCT_DO(fct_barrier("receive posted"));
	if (fct_is_client()) {
		fct_fill(s->message.buf, LEN, seed);
		FCT_CALL(fi_send(ep, s->message.buf, LEN, s->message.desc, 0, &s->other));
	}
	FCT_WAIT_WHILE(s->others == before, "a message on the other connection",
		       look(s, s->l.txcq));
	if (fct_is_server())
		FCT_DATA(s->message.buf, LEN, seed);
	return fct_barrier("message done");
}

/* ---- ended by another thread ---- */

static void *end_it(void *arg)
{
	struct side *s = arg;

	while (atomic_load(&s->begun) < s->when && !atomic_load(&s->give_up))
		sched_yield();
	s->result =
		s->ending == CLOSE ? fi_close(&s->c.ep->fid) : fi_shutdown(s->c.ep, 0);
	return NULL;
}

/* Most messages find no receive, so that all behind them is under way until the end. */
static ssize_t post(struct side *s)
{
	uint8_t *buf = s->local.buf + (size_t)(s->posted % RECEIVES) * LEN;
	struct fct_ctx *ctx = &s->op[s->posted].ctx;
	struct fid_ep *ep = s->c.ep;
	void *desc = s->local.desc;

	switch (s->posted % 3) {
	case 0:
		return fi_send(ep, buf, LEN, desc, 0, ctx);
	case 1:
		return fi_write(ep, buf, LEN, desc, 0, s->peer.addr, s->peer.key, ctx);
	default:
		return fi_read(ep, buf, LEN, desc, 0, s->peer.addr, s->peer.key, ctx);
	}
}

/*
 * Until a call says that the connection has ended; providers that take what cannot be
 * done any more get an end of it. For CLOSE for a while.
 */
static int post_until_ended(struct side *s)
{
	struct fct_wait w;
	ssize_t n = 0;

	fct_wait_init(&w, "a call that says that the connection has ended");
	for (;;) {
		if (s->posted == (s->ending == CLOSE ? s->when : OPS))
			break;
		n = post(s);
		if (!n) {
			s->posted++;
			atomic_fetch_add(&s->begun, s->ending != CLOSE);
			continue;
		}
		if (n != -FI_EAGAIN)
			break;
		FCT_DO(look(s, s->l.txcq));
		FCT_DO(look_at_events(s));
		FCT_DO(fct_wait_again(&w));
	}
	/* Its last post is behind it: only now may another thread close. */
	if (s->ending == CLOSE)
		atomic_store(&s->begun, s->when);
	else if (n)
		FCT_TRUE(n == -FI_ESHUTDOWN || n == -FI_ENOTCONN);
	return 0;
}

static int sender(struct side *s)
{
	pthread_t thread;
	bool own = s->ending != SHUTDOWN_BY_PEER;
	int ret;

	if (own)
		FCT_TRUE(!pthread_create(&thread, NULL, end_it, s));
	ret = post_until_ended(s);
	if (!ret)
		ret = await_ended(s, s->l.txcq);
	atomic_store(&s->give_up, true);
	if (own)
		pthread_join(thread, NULL);
	FCT_DO(ret);
	FCT_EQ(s->result, 0);
	return 0;
}

static int receiver(struct side *s)
{
	const bool own = s->ending == SHUTDOWN_BY_PEER;
	struct fct_wait w;
	pthread_t thread;
	int ret;

	if (own)
		FCT_TRUE(!pthread_create(&thread, NULL, end_it, s));
	fct_wait_init(&w, "the connection's end");
	do {
		ret = look(s, s->l.rxcq);
		if (ret >= 0)
			ret = look_at_events(s);
		if (ret >= 0)
			ret = fct_wait_again(&w);
	} while (ret >= 0 && (own ? s->ended < s->posted : !s->shutdowns));
	atomic_store(&s->give_up, true);
	if (own)
		pthread_join(thread, NULL);
	FCT_DO(ret);
	FCT_EQ(s->result, 0);
	FCT_DO(await_ended(s, s->l.rxcq));
	return 0;
}

static int post_receives(struct side *s)
{
	while (s->posted < RECEIVES) {
		FCT_CALL(fi_recv(s->c.ep, s->local.buf + (size_t)s->posted * LEN, LEN,
				 s->local.desc, 0, &s->op[s->posted].ctx));
		s->posted++;
	}
	return 0;
}

static int one_ending(struct side *s, unsigned int round)
{
	int i, ret;

	memset(s->op, 0, sizeof(s->op));
	s->posted = s->ended = s->shutdowns = 0;
	s->result = 0;
	atomic_store(&s->begun, 0);
	atomic_store(&s->give_up, false);
	s->when = 1 + round * (s->ending == SHUTDOWN_BY_PEER ? 7 : 43);
	FCT_DO(fct_conn_up(&s->l, &s->c));
	if (fct_is_server())
		FCT_DO(post_receives(s));
	FCT_DO(other_connection(s, round));
	FCT_DO(fct_is_client() ? sender(s) : receiver(s));
	if (s->ending == CLOSE && fct_is_client())
		s->c.ep = NULL;
	FCT_DO(fct_conn_close(&s->l, &s->c));
	FCT_DO(other_connection(s, round + 100));
	for (i = 0; i < 20; i++) {
		FCT_GET(ret, look(s, s->l.txcq));
		FCT_EQ(ret, 0);
		FCT_DO(look_at_events(s));
	}
	return fct_barrier("ended");
}

static int ended_by_thread(enum ending ending)
{
	const struct fct_setup setup = {.threading = FI_THREAD_SAFE, .cq_size = 1024};
	FCT_AUTO(fct_link_end) struct side s = {0};
	unsigned int round;

	s.ending = ending;
	FCT_DO(up(&s, setup));
	for (round = 0; round < ROUNDS; round++)
		FCT_DO(one_ending(&s, round));
	return 0;
}

FCT_CASE_CALL(thread_shutdown, "fi_shutdown by a thread while another posts and reads",
	      ended_by_thread(SHUTDOWN))

FCT_CASE_CALL(thread_shutdown_peer, "the same by a thread of the receiving side",
	      ended_by_thread(SHUTDOWN_BY_PEER))

FCT_CASE_CALL(thread_close, "fi_close by a thread while another reads",
	      ended_by_thread(CLOSE))

/* ---- a queue that was said to be small ---- */

/* Each connection has as many messages as it may; nobody reads what becomes of them. */
static int crowd_post(struct side *s)
{
	unsigned int i, n;
	struct fct_ctx *ctx;
	int ret = 0;
	uint8_t *buf;

	for (n = 0; n < BURST; n++) {
		for (i = 0; i < CROWD; i++) {
			ctx = &s->op[s->posted].ctx;
			buf = s->local.buf + (size_t)(i * BURST + n) * LEN;
			if (fct_is_server()) {
				ret = (int)fi_recv(s->crowd[i].ep, buf, LEN,
						   s->local.desc, 0, ctx);
			} else {
				fct_fill(buf, LEN, i * BURST + n);
				ret = (int)fi_send(s->crowd[i].ep, buf, LEN,
						   s->local.desc, 0, ctx);
			}
			if (ret)
				FCT_FAIL("message %u of connection %u: %s", n, i,
					 fi_strerror(-ret));
			s->posted++;
		}
	}
	return 0;
}

FCT_CASE(pressure, "a small queue with all that many connections can have under way")
{
	const struct fct_setup setup = {.cq_size = 64};
	FCT_AUTO(fct_link_end) struct side s = {0};
	struct fid_cq *small;
	unsigned int i;

	FCT_DO(up(&s, setup));
	FCT_DO(fct_cq_open(&s.l, 1, FI_CQ_FORMAT_DATA, FI_WAIT_NONE, &small));
	for (i = 0; i < CROWD; i++) {
		s.crowd[i].txcq = s.crowd[i].rxcq = small;
		FCT_DO(fct_conn_up(&s.l, &s.crowd[i]));
	}
	if (fct_is_server())
		FCT_DO(crowd_post(&s));
	FCT_DO(fct_barrier("receives posted"));
	if (fct_is_client())
		FCT_DO(crowd_post(&s));
	for (i = 0; i < 8; i++)
		FCT_DO(other_connection(&s, i));
	FCT_DO(await_ended(&s, small));
	FCT_EQ(look(&s, small), 0);
	for (i = 0; i < CROWD * BURST && fct_is_server(); i++)
		FCT_DATA(s.local.buf + (size_t)i * LEN, LEN, i);
	return fct_barrier("compared");
}

FCT_PROGRAM(.name = "fi_cairn_end",
	    .what = "Connections in trouble beside one that goes on.")

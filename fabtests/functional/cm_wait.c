/* SPDX-License-Identifier: BSD-2-Clause */
/* Ways of waiting for events: fi_eq_sread, the file descriptor, FI_PEEK. */
#include "cm.h"

#define STEP_MS 200
/* Who slept that long beside something was not woken, unless it came just then, as it may
 * where the machine stood still: not for so long. */
#define NAP_MS 15000
#define POLLED_MS 30000

/* How a side waits for its next event. 0, or < 0: recorded. */
typedef int (*wait_fn)(struct fct_link *l, uint32_t event, struct fct_event *e);

static int taken(ssize_t n, uint32_t event, struct fct_event *e)
{
	FCT_CALL(n);
	FCT_EQ(e->event, event);
	e->len = (size_t)n > sizeof(e->cm) ? (size_t)n - sizeof(e->cm) : 0;
	return 0;
}

static int by_sread(struct fct_link *l, uint32_t event, struct fct_event *e)
{
	struct fct_wait w;
	ssize_t n;

	fct_wait_init(&w, "an event by fi_eq_sread");
	while ((n = fi_eq_sread(l->eq, &e->event, e->room, sizeof(e->room), STEP_MS,
				0)) == -FI_EAGAIN) {
		if (fct_wait_check(&w))
			return -1;
	}
	return taken(n, event, e);
}

static int by_fd(struct fct_link *l, uint32_t event, struct fct_event *e)
{
	struct fct_wait w;
	ssize_t n;
	int ret;

	fct_wait_init(&w, "an event by poll on the EQ's descriptor");
	for (;;) {
		FCT_GET(ret, fct_sleep(l, &l->eq->fid, NAP_MS * (int)fct.scale));
		n = fi_eq_read(l->eq, &e->event, e->room, sizeof(e->room), 0);
		if (n != -FI_EAGAIN && ret)
			FCT_FAIL("slept %d ms beside an event", NAP_MS);
		if (n != -FI_EAGAIN)
			return taken(n, event, e);
		FCT_DO(fct_wait_check(&w));
	}
	return 0;
}

static int connect_by(struct fct_link *l, wait_fn await)
{
	struct fct_event e;

	if (fct_is_client()) {
		FCT_DO(fct_conn_ask(l, &l->c, NULL, 0));
	} else {
		FCT_DO(await(l, FI_CONNREQ, &e));
		FCT_DO(fct_conn_take(l, &l->c, e.cm.info));
		FCT_CALL(fi_accept(l->c.ep, NULL, 0));
	}
	FCT_DO(await(l, FI_CONNECTED, &e));
	FCT_TRUE(e.cm.fid == &l->c.ep->fid);
	return fct_barrier("connected");
}

static int end_by(struct fct_link *l, wait_fn await)
{
	struct fct_event e;

	if (fct_is_client())
		FCT_CALL(fi_shutdown(l->c.ep, 0));
	else
		FCT_DO(await(l, FI_SHUTDOWN, &e));
	return fct_barrier("shut down");
}

/* The link's EQ, opened again with this wait object, and a listener for it. */
static int reopen_eq(struct fct_link *l, enum fi_wait_obj wait)
{
	struct fi_eq_attr attr = {.size = 64, .wait_obj = wait};
	struct fct_where where = {.node = ""};

	if (l->pep)
		FCT_CALL(fi_close(&l->pep->fid));
	l->pep = NULL;
	fct.progress_eq = NULL;
	FCT_CALL(fi_close(&l->eq->fid));
	l->eq = NULL;
	FCT_CALL(fi_eq_open(l->fabric, &attr, &l->eq, l));
	fct.progress_eq = l->eq;
	if (fct_is_server()) {
		FCT_DO(fct_listen(l, &where));
		return fct_tell("address", &where, sizeof(where));
	}
	FCT_DO(fct_where_hear(&where));
	fi_freeinfo(l->info);
	FCT_CALL(fct_getinfo(&l->s, where.node, where.service, &l->info));
	return 0;
}

static int waiting(enum fi_wait_obj wait, wait_fn await)
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};

	FCT_DO(fct_link_open(&l, NULL));
	FCT_DO(reopen_eq(&l, wait));
	FCT_DO(connect_by(&l, await));
	return end_by(&l, await);
}

FCT_CASE_CALL(sread_shutdown,
	      "connecting with nothing but fi_eq_sread, which sees FI_SHUTDOWN",
	      waiting(FI_WAIT_UNSPEC, by_sread))

FCT_CASE_CALL(fd_shutdown,
	      "the same with nothing but poll on the EQ's descriptor and fi_trywait",
	      waiting(FI_WAIT_FD, by_fd))

#define UNALIKE 3u /* connections, one after the other */

static int serve_by_sread(struct fct_link *l, struct fct_conn *c, const struct fct_mem *m,
			  struct fct_ctx *ctx)
{
	struct fct_event e;

	FCT_DO(by_sread(l, FI_CONNREQ, &e));
	FCT_DO(fct_conn_take(l, c, e.cm.info));
	FCT_POST(l->rxcq, fi_recv(c->ep, m->buf, m->len, m->desc, 0, ctx));
	FCT_CALL(fi_accept(c->ep, NULL, 0));
	FCT_DO(by_sread(l, FI_CONNECTED, &e));
	FCT_TRUE(e.cm.fid == &c->ep->fid);
	return 0;
}

static int completion_by_fd(struct fct_link *l, const struct fct_ctx *ctx)
{
	struct fi_cq_data_entry e;
	struct fct_wait w;
	ssize_t n;
	int ret;

	fct_wait_init(&w, "a completion by poll on the CQ's descriptor");
	for (ret = 0; (n = fi_cq_read(l->txcq, &e, 1)) == -FI_EAGAIN;) {
		FCT_DO(fct_wait_check(&w));
		FCT_GET(ret, fct_sleep(l, &l->txcq->fid, NAP_MS * (int)fct.scale));
	}
	if (ret)
		FCT_FAIL("slept %d ms beside a completion", NAP_MS);
	FCT_CALL(n);
	FCT_TRUE(e.op_context == ctx);
	return 0;
}

static int call_by_fd(struct fct_link *l, struct fct_conn *c, const struct fct_mem *m,
		      struct fct_ctx *ctx)
{
	struct fct_event e;

	FCT_DO(fct_conn_ask(l, c, NULL, 0));
	FCT_DO(by_fd(l, FI_CONNECTED, &e));
	FCT_TRUE(e.cm.fid == &c->ep->fid);
	FCT_POST(l->txcq, fi_send(c->ep, m->buf, m->len, m->desc, 0, ctx));
	return completion_by_fd(l, ctx);
}

/* Of connections, in any order. */
static int take_messages(struct fct_link *l, const struct fct_ctx ctx[UNALIKE])
{
	bool seen[UNALIKE] = {false};
	struct fi_cq_data_entry e;
	unsigned int i, n;

	for (n = 0; n < UNALIKE; n++) {
		FCT_DO(fct_comp_any(l->rxcq, &e, "a message that came meanwhile"));
		for (i = 0; i < UNALIKE && e.op_context != &ctx[i]; i++)
			;
		FCT_TRUE(i < UNALIKE && !seen[i]);
		seen[i] = true;
	}
	return 0;
}

/*
 * Nobody calls anything else: the server serves while it is in fi_eq_sread, the client
 * sleeps on descriptors only.
 */
FCT_CASE(sread_and_fd,
	 "a server that only calls fi_eq_sread, a client that only polls descriptors")
{
	struct fct_setup s = {.caps = FI_MSG,
			      .cq_wait = FI_WAIT_FD,
			      .tx_size = 4,
			      .rx_size = 4,
			      .cq_size = 8 * UNALIKE};
	const bool client = fct_is_client();
	struct fct_conn c[UNALIKE] = {0};
	struct fct_ctx ctx[UNALIKE];
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct fct_mem m;
	unsigned int i;

	FCT_DO(fct_link_open(&l, &s));
	FCT_DO(reopen_eq(&l, client ? FI_WAIT_FD : FI_WAIT_UNSPEC));
	FCT_DO(fct_mem_alloc(&l, &m, 64, FI_SEND | FI_RECV));
	fct_fill(m.buf, m.len, client);
	for (i = 0; i < UNALIKE; i++)
		FCT_DO(client ? call_by_fd(&l, &c[i], &m, &ctx[i])
			      : serve_by_sread(&l, &c[i], &m, &ctx[i]));
	FCT_DO(fct_barrier("connected"));
	if (!client) {
		FCT_DO(take_messages(&l, ctx));
		FCT_DATA(m.buf, m.len, 1);
	}
	return fct_barrier("looked at");
}

/* Nobody reads the server's completion queue meanwhile, which has no wait object. */
FCT_CASE(sread_polled, "a side that only calls fi_eq_sread answers FI_DELIVERY_COMPLETE")
{
	struct fct_setup s = {.caps = FI_MSG, .tx_op_flags = FI_DELIVERY_COMPLETE};
	struct fi_cq_data_entry done;
	struct fct_ctx ctx = {0};
	struct fct_event e;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct fct_mem m;
	ssize_t n;

	FCT_DO(fct_link_up(&l, &s));
	FCT_DO(fct_mem_alloc(&l, &m, 64, FI_SEND | FI_RECV));
	if (fct_is_server())
		FCT_POST(l.rxcq, fi_recv(l.c.ep, m.buf, m.len, m.desc, 0, &ctx));
	FCT_DO(fct_barrier("receive posted"));
	if (fct_is_server()) {
		/* In one call: the client gives up before it ends. */
		n = fi_eq_sread(l.eq, &e.event, e.room, sizeof(e.room),
				POLLED_MS * (int)fct.scale, 0);
		FCT_DO(taken(n, FI_SHUTDOWN, &e));
		return 0;
	}
	FCT_POST(l.txcq, fi_send(l.c.ep, m.buf, m.len, m.desc, 0, &ctx));
	FCT_DO(fct_comp(l.txcq, &ctx, FI_SEND | FI_MSG, &done,
			"a message that the other end has received"));
	FCT_CALL(fi_shutdown(l.c.ep, 0));
	return 0;
}

FCT_CASE(peek, "FI_PEEK shows an event without taking it")
{
	struct fct_event peeked = {0}, e;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	int i;

	FCT_DO(fct_link_open(&l, NULL));
	if (fct_is_client()) {
		FCT_DO(fct_conn_up(&l, &l.c));
	} else {
		for (i = 0; i < 3; i++)
			FCT_DO(fct_eq_peek(l.eq, FI_CONNREQ, &peeked));
		FCT_DO(fct_eq_expect(l.eq, FI_CONNREQ, &l.pep->fid, &e));
		FCT_TRUE(e.cm.info == peeked.cm.info);
		FCT_DO(fct_conn_take(&l, &l.c, e.cm.info));
		FCT_DO(fct_conn_finish(&l, &l.c));
		FCT_DO(fct_barrier("connected"));
	}
	return fct_conn_message(&l, &l.c, 1);
}

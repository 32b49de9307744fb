/* SPDX-License-Identifier: BSD-2-Clause */
/* Ways of waiting for events: fi_eq_sread, the file descriptor, FI_PEEK. */
#include <poll.h>

#include "cm.h"

#define STEP_MS 200
/* Who slept that long beside something was not woken, unless it came just then, as it may
 * where the machine stood still: not for so long. */
#define NAP_MS 15000
#define POLLED_MS 30000

/* How a side waits for its next event. 0, or < 0: recorded. */
typedef int (*wait_fn)(struct fct_link *l, uint32_t event, struct fct_event *e);

static int taken(struct fct *t, ssize_t n, uint32_t event, struct fct_event *e)
{
	int ret;

	FCT_CALL(t, n);
	FCT_EQ(t, e->event, event);
	e->len = (size_t)n > sizeof(e->cm) ? (size_t)n - sizeof(e->cm) : 0;
	ret = 0;
out:
	return ret;
}

static int by_sread(struct fct_link *l, uint32_t event, struct fct_event *e)
{
	struct fct_wait w;
	ssize_t n;

	fct_wait_init(&w, l->t, "an event by fi_eq_sread");
	while ((n = fi_eq_sread(l->eq, &e->event, e->room, sizeof(e->room), STEP_MS,
				0)) == -FI_EAGAIN) {
		if (fct_wait_check(&w))
			return -1;
	}
	return taken(l->t, n, event, e);
}

/* Sleeps on the descriptor of a queue, when fi_trywait says that it is right to. 1:
 * nobody woke it. */
static int sleep_on(struct fct_link *l, struct fid *fid)
{
	struct pollfd pfd = {.events = POLLIN};
	struct fct *t = l->t;
	int ret;

	ret = fi_trywait(l->fabric, &fid, 1);
	if (ret == -FI_EAGAIN)
		return 0;
	FCT_CALL(t, ret);
	FCT_CALL(t, fi_control(fid, FI_GETWAIT, &pfd.fd));
	ret = poll(&pfd, 1, NAP_MS * (int)t->scale);
	if (ret < 0)
		FCT_FAIL(t, "poll failed");
	ret = !ret;
out:
	return ret;
}

static int by_fd(struct fct_link *l, uint32_t event, struct fct_event *e)
{
	struct fct *t = l->t;
	struct fct_wait w;
	ssize_t n;
	int ret;

	fct_wait_init(&w, t, "an event by poll on the EQ's descriptor");
	for (;;) {
		FCT_DO(sleep_on(l, &l->eq->fid));
		n = fi_eq_read(l->eq, &e->event, e->room, sizeof(e->room), 0);
		if (n != -FI_EAGAIN && ret)
			FCT_FAIL(t, "slept %d ms beside an event", NAP_MS);
		if (n != -FI_EAGAIN)
			return taken(t, n, event, e);
		FCT_DO(fct_wait_check(&w));
	}
out:
	return ret;
}

static int connect_by(struct fct_link *l, wait_fn await)
{
	struct fct *t = l->t;
	struct fct_event e;
	int ret;

	if (fct_is_client(t)) {
		l->c.info = fi_dupinfo(l->info);
		FCT_DO(fct_ep_open(l, &l->c, l->c.info));
		FCT_CALL(t, fi_connect(l->c.ep, l->info->dest_addr, NULL, 0));
	} else {
		FCT_DO(await(l, FI_CONNREQ, &e));
		l->c.info = e.cm.info;
		FCT_DO(fct_ep_open(l, &l->c, l->c.info));
		FCT_CALL(t, fi_accept(l->c.ep, NULL, 0));
	}
	FCT_DO(await(l, FI_CONNECTED, &e));
	FCT_TRUE(t, e.cm.fid == &l->c.ep->fid);
	ret = fct_barrier(t, "connected");
out:
	return ret;
}

static int end_by(struct fct_link *l, wait_fn await)
{
	struct fct *t = l->t;
	struct fct_event e;
	int ret;

	if (fct_is_client(t))
		FCT_CALL(t, fi_shutdown(l->c.ep, 0));
	else
		FCT_DO(await(l, FI_SHUTDOWN, &e));
	ret = fct_barrier(t, "shut down");
out:
	return ret;
}

/* The link's EQ, opened anew with this wait object. */
static int reopen_eq(struct fct_link *l, enum fi_wait_obj wait)
{
	struct fi_eq_attr attr = {.size = 64, .wait_obj = wait};
	struct fid_pep *pep = NULL;
	struct fct *t = l->t;
	int ret;

	if (l->pep)
		FCT_CALL(t, fi_close(&l->pep->fid));
	l->pep = NULL;
	t->progress_eq = NULL;
	FCT_CALL(t, fi_close(&l->eq->fid));
	l->eq = NULL;
	FCT_CALL(t, fi_eq_open(l->fabric, &attr, &l->eq, l));
	t->progress_eq = l->eq;
	if (fct_is_client(t))
		goto out;
	FCT_CALL(t, fi_passive_ep(l->fabric, l->info, &pep, l));
	l->pep = pep;
	FCT_CALL(t, fi_pep_bind(pep, &l->eq->fid, 0));
	FCT_CALL(t, fi_listen(pep));
out:
	return ret;
}

/* The new passive endpoint has a new port. */
static int tell_port(struct fct_link *l)
{
	struct where {
		uint8_t addr[128];
		uint64_t len;
	} where = {.len = sizeof(where.addr)};
	struct fct *t = l->t;
	size_t len = sizeof(where.addr);
	char node[64];
	bool wildcard;
	int ret;

	if (fct_is_server(t)) {
		FCT_CALL(t, fi_getname(&l->pep->fid, where.addr, &len));
		ret = fct_tell(t, "port", &where, sizeof(where));
		goto out;
	}
	FCT_DO(fct_hear(t, "port", &where, sizeof(where)));
	FCT_CALL(t, fct_addr_text(where.addr, node, sizeof(node), l->service,
				  sizeof(l->service), &wildcard));
	fi_freeinfo(l->info);
	FCT_CALL(t, fct_getinfo(t, &l->s, l->node, l->service, &l->info));
out:
	return ret;
}

static int waiting(struct fct *t, enum fi_wait_obj wait, wait_fn await, bool end)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_link l;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	FCT_DO(reopen_eq(&l, wait));
	FCT_DO(tell_port(&l));
	FCT_DO(connect_by(&l, await));
	if (end)
		FCT_DO(end_by(&l, await));
out:
	return fct_link_down(&l, ret);
}

int fct_cm_sread(struct fct *t)
{
	return waiting(t, FI_WAIT_UNSPEC, by_sread, false);
}

int fct_cm_fd(struct fct *t)
{
	return waiting(t, FI_WAIT_FD, by_fd, false);
}

int fct_cm_sread_shutdown(struct fct *t)
{
	return waiting(t, FI_WAIT_UNSPEC, by_sread, true);
}

int fct_cm_fd_shutdown(struct fct *t)
{
	return waiting(t, FI_WAIT_FD, by_fd, true);
}

#define UNALIKE 3u /* connections, one after the other */

static int serve_by_sread(struct fct_link *l, struct fct_conn *c, const struct fct_mem *m,
			  struct fct_ctx *ctx)
{
	struct fct *t = l->t;
	struct fct_event e;
	int ret;

	FCT_DO(by_sread(l, FI_CONNREQ, &e));
	c->info = e.cm.info;
	FCT_DO(fct_ep_open(l, c, c->info));
	FCT_POST(t, l->rxcq, fi_recv(c->ep, m->buf, m->len, m->desc, 0, ctx));
	FCT_CALL(t, fi_accept(c->ep, NULL, 0));
	FCT_DO(by_sread(l, FI_CONNECTED, &e));
	FCT_TRUE(t, e.cm.fid == &c->ep->fid);
out:
	return ret;
}

static int completion_by_fd(struct fct_link *l, const struct fct_ctx *ctx)
{
	struct fi_cq_data_entry e;
	struct fct *t = l->t;
	struct fct_wait w;
	ssize_t n;
	int ret;

	fct_wait_init(&w, t, "a completion by poll on the CQ's descriptor");
	for (ret = 0; (n = fi_cq_read(l->txcq, &e, 1)) == -FI_EAGAIN;) {
		FCT_DO(fct_wait_check(&w));
		FCT_DO(sleep_on(l, &l->txcq->fid));
	}
	if (ret)
		FCT_FAIL(t, "slept %d ms beside a completion", NAP_MS);
	FCT_CALL(t, n);
	FCT_TRUE(t, e.op_context == ctx);
	ret = 0;
out:
	return ret;
}

static int call_by_fd(struct fct_link *l, struct fct_conn *c, const struct fct_mem *m,
		      struct fct_ctx *ctx)
{
	struct fct *t = l->t;
	struct fct_event e;
	int ret;

	c->info = fi_dupinfo(l->info);
	FCT_DO(fct_ep_open(l, c, c->info));
	FCT_CALL(t, fi_connect(c->ep, l->info->dest_addr, NULL, 0));
	FCT_DO(by_fd(l, FI_CONNECTED, &e));
	FCT_TRUE(t, e.cm.fid == &c->ep->fid);
	FCT_POST(t, l->txcq, fi_send(c->ep, m->buf, m->len, m->desc, 0, ctx));
	ret = completion_by_fd(l, ctx);
out:
	return ret;
}

/* Of connections, in any order. */
static int take_messages(struct fct_link *l, const struct fct_ctx ctx[UNALIKE])
{
	bool seen[UNALIKE] = {false};
	struct fi_cq_data_entry e;
	struct fct *t = l->t;
	unsigned int i, n;
	struct fct_wait w;
	int ret = 0;

	for (n = 0; n < UNALIKE; n++) {
		fct_wait_init(&w, t, "a message that came meanwhile");
		while ((ret = (int)fi_cq_read(l->rxcq, &e, 1)) == -FI_EAGAIN)
			FCT_DO(fct_wait_again(&w));
		FCT_CALL(t, ret);
		for (i = 0; i < UNALIKE && e.op_context != &ctx[i]; i++)
			;
		FCT_TRUE(t, i < UNALIKE && !seen[i]);
		seen[i] = true;
	}
	ret = 0;
out:
	return ret;
}

/*
 * Nobody calls anything else: the server serves while it is in fi_eq_sread, the client
 * sleeps on descriptors only.
 */
int fct_cm_sread_and_fd(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG,
			      .cq_wait = FI_WAIT_FD,
			      .tx_size = 4,
			      .rx_size = 4,
			      .cq_size = 8 * UNALIKE};
	const bool client = fct_is_client(t);
	struct fct_conn c[UNALIKE] = {0};
	struct fct_ctx ctx[UNALIKE];
	struct fct_link l;
	struct fct_mem m;
	unsigned int i;
	int ret;

	FCT_DO(fct_link_open(&l, t, &s));
	FCT_DO(reopen_eq(&l, client ? FI_WAIT_FD : FI_WAIT_UNSPEC));
	FCT_DO(fct_mem_alloc(&l, &m, 64, FI_SEND | FI_RECV));
	fct_fill(m.buf, m.len, client);
	FCT_DO(tell_port(&l));
	for (i = 0; i < UNALIKE; i++)
		FCT_DO(client ? call_by_fd(&l, &c[i], &m, &ctx[i])
			      : serve_by_sread(&l, &c[i], &m, &ctx[i]));
	FCT_DO(fct_barrier(t, "connected"));
	if (!client) {
		FCT_DO(take_messages(&l, ctx));
		FCT_DATA(t, m.buf, m.len, 1);
	}
	ret = fct_barrier(t, "looked at");
out:
	return fct_link_down(&l, ret);
}

/* Nobody reads the server's completion queue meanwhile, which has no wait object. */
int fct_cm_sread_polled(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG, .tx_op_flags = FI_DELIVERY_COMPLETE};
	struct fi_cq_data_entry done;
	struct fct_ctx ctx = {0};
	struct fct_event e;
	struct fct_link l;
	struct fct_mem m;
	ssize_t n;
	int ret;

	FCT_DO(fct_link_up(&l, t, &s));
	FCT_DO(fct_mem_alloc(&l, &m, 64, FI_SEND | FI_RECV));
	if (fct_is_server(t))
		FCT_POST(t, l.rxcq, fi_recv(l.c.ep, m.buf, m.len, m.desc, 0, &ctx));
	FCT_DO(fct_barrier(t, "receive posted"));
	if (fct_is_server(t)) {
		/* In one call: the client gives up before it ends. */
		n = fi_eq_sread(l.eq, &e.event, e.room, sizeof(e.room),
				POLLED_MS * (int)t->scale, 0);
		FCT_DO(taken(t, n, FI_SHUTDOWN, &e));
		goto out;
	}
	FCT_POST(t, l.txcq, fi_send(l.c.ep, m.buf, m.len, m.desc, 0, &ctx));
	FCT_DO(fct_comp(t, l.txcq, &ctx, FI_SEND | FI_MSG, &done,
			"a message that the other end has received"));
	FCT_CALL(t, fi_shutdown(l.c.ep, 0));
out:
	return fct_link_down(&l, ret);
}

int fct_cm_peek(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fct_event peeked = {0}, e;
	struct fct_link l;
	struct fct_wait w;
	int i, ret;
	ssize_t n;

	FCT_DO(fct_link_open(&l, t, &s));
	if (fct_is_client(t)) {
		FCT_DO(fct_conn_up(&l, &l.c));
	} else {
		for (i = 0; i < 3; i++) {
			fct_wait_init(&w, t, "FI_CONNREQ to be seen by FI_PEEK");
			while ((n = fi_eq_read(l.eq, &peeked.event, peeked.room,
					       sizeof(peeked.room), FI_PEEK)) ==
			       -FI_EAGAIN)
				FCT_DO(fct_wait_again(&w));
			FCT_CALL(t, n);
			FCT_EQ(t, peeked.event, FI_CONNREQ);
		}
		FCT_DO(fct_eq_expect(t, l.eq, FI_CONNREQ, &l.pep->fid, &e));
		FCT_TRUE(t, e.cm.info == peeked.cm.info);
		l.c.info = e.cm.info;
		FCT_DO(fct_ep_open(&l, &l.c, l.c.info));
		FCT_DO(fct_conn_finish(&l, &l.c));
		FCT_DO(fct_barrier(t, "connected"));
	}
	ret = fct_cm_message(&l, &l.c, 1);
out:
	return fct_link_down(&l, ret);
}

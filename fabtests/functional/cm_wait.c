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

/* Sleeps on the descriptor of a queue, when fi_trywait says that it is right to. 1:
 * nobody woke it. */
static int sleep_on(struct fct_link *l, struct fid *fid)
{
	struct pollfd pfd = {.events = POLLIN};
	int ret;

	ret = fi_trywait(l->fabric, &fid, 1);
	if (ret == -FI_EAGAIN)
		return 0;
	FCT_CALL(ret);
	FCT_CALL(fi_control(fid, FI_GETWAIT, &pfd.fd));
	ret = poll(&pfd, 1, NAP_MS * (int)fct.scale);
	if (ret < 0)
		FCT_FAIL("poll failed");
	return !ret;
}

static int by_fd(struct fct_link *l, uint32_t event, struct fct_event *e)
{
	struct fct_wait w;
	ssize_t n;
	int ret;

	fct_wait_init(&w, "an event by poll on the EQ's descriptor");
	for (;;) {
		FCT_GET(ret, sleep_on(l, &l->eq->fid));
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
		l->c.info = fi_dupinfo(l->info);
		FCT_DO(fct_ep_open(l, &l->c, l->c.info));
		FCT_CALL(fi_connect(l->c.ep, l->info->dest_addr, NULL, 0));
	} else {
		FCT_DO(await(l, FI_CONNREQ, &e));
		l->c.info = e.cm.info;
		FCT_DO(fct_ep_open(l, &l->c, l->c.info));
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

/* The link's EQ, opened anew with this wait object. */
static int reopen_eq(struct fct_link *l, enum fi_wait_obj wait)
{
	struct fi_eq_attr attr = {.size = 64, .wait_obj = wait};
	struct fid_pep *pep = NULL;

	if (l->pep)
		FCT_CALL(fi_close(&l->pep->fid));
	l->pep = NULL;
	fct.progress_eq = NULL;
	FCT_CALL(fi_close(&l->eq->fid));
	l->eq = NULL;
	FCT_CALL(fi_eq_open(l->fabric, &attr, &l->eq, l));
	fct.progress_eq = l->eq;
	if (fct_is_client())
		return 0;
	FCT_CALL(fi_passive_ep(l->fabric, l->info, &pep, l));
	l->pep = pep;
	FCT_CALL(fi_pep_bind(pep, &l->eq->fid, 0));
	FCT_CALL(fi_listen(pep));
	return 0;
}

/* The new passive endpoint has a new port. */
static int tell_port(struct fct_link *l)
{
	struct where {
		uint8_t addr[128];
		uint64_t len;
	} where = {.len = sizeof(where.addr)};
	size_t len = sizeof(where.addr);
	char node[64];
	bool wildcard;

	if (fct_is_server()) {
		FCT_CALL(fi_getname(&l->pep->fid, where.addr, &len));
		return fct_tell("port", &where, sizeof(where));
	}
	FCT_DO(fct_hear("port", &where, sizeof(where)));
	FCT_CALL(fct_addr_text(where.addr, node, sizeof(node), l->service,
			       sizeof(l->service), &wildcard));
	fi_freeinfo(l->info);
	FCT_CALL(fct_getinfo(&l->s, l->node, l->service, &l->info));
	return 0;
}

static int waiting(enum fi_wait_obj wait, wait_fn await, bool end)
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};

	FCT_DO(fct_link_open(&l, NULL));
	FCT_DO(reopen_eq(&l, wait));
	FCT_DO(tell_port(&l));
	FCT_DO(connect_by(&l, await));
	if (end)
		FCT_DO(end_by(&l, await));
	return 0;
}

FCT_CASE_CALL(sread, "connecting with nothing but fi_eq_sread",
	      waiting(FI_WAIT_UNSPEC, by_sread, false))

FCT_CASE_CALL(fd,
	      "connecting with nothing but poll on the EQ's descriptor and fi_trywait",
	      waiting(FI_WAIT_FD, by_fd, false))

FCT_CASE_CALL(sread_shutdown, "a side that only calls fi_eq_sread sees FI_SHUTDOWN",
	      waiting(FI_WAIT_UNSPEC, by_sread, true))

FCT_CASE_CALL(fd_shutdown, "a side that only polls the EQ's descriptor sees FI_SHUTDOWN",
	      waiting(FI_WAIT_FD, by_fd, true))

#define UNALIKE 3u /* connections, one after the other */

static int serve_by_sread(struct fct_link *l, struct fct_conn *c, const struct fct_mem *m,
			  struct fct_ctx *ctx)
{
	struct fct_event e;

	FCT_DO(by_sread(l, FI_CONNREQ, &e));
	c->info = e.cm.info;
	FCT_DO(fct_ep_open(l, c, c->info));
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
		FCT_GET(ret, sleep_on(l, &l->txcq->fid));
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

	c->info = fi_dupinfo(l->info);
	FCT_DO(fct_ep_open(l, c, c->info));
	FCT_CALL(fi_connect(c->ep, l->info->dest_addr, NULL, 0));
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
	struct fct_wait w;
	int ret = 0;

	for (n = 0; n < UNALIKE; n++) {
		fct_wait_init(&w, "a message that came meanwhile");
		while ((ret = (int)fi_cq_read(l->rxcq, &e, 1)) == -FI_EAGAIN)
			FCT_DO(fct_wait_again(&w));
		FCT_CALL(ret);
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
	FCT_DO(tell_port(&l));
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
	struct fct_wait w;
	int i;
	ssize_t n;

	FCT_DO(fct_link_open(&l, NULL));
	if (fct_is_client()) {
		FCT_DO(fct_conn_up(&l, &l.c));
	} else {
		for (i = 0; i < 3; i++) {
			fct_wait_init(&w, "FI_CONNREQ to be seen by FI_PEEK");
			while ((n = fi_eq_read(l.eq, &peeked.event, peeked.room,
					       sizeof(peeked.room), FI_PEEK)) ==
			       -FI_EAGAIN)
				FCT_DO(fct_wait_again(&w));
			FCT_CALL(n);
			FCT_EQ(peeked.event, FI_CONNREQ);
		}
		FCT_DO(fct_eq_expect(l.eq, FI_CONNREQ, &l.pep->fid, &e));
		FCT_TRUE(e.cm.info == peeked.cm.info);
		l.c.info = e.cm.info;
		FCT_DO(fct_ep_open(&l, &l.c, l.c.info));
		FCT_DO(fct_conn_finish(&l, &l.c));
		FCT_DO(fct_barrier("connected"));
	}
	return fct_cm_message(&l, &l.c, 1);
}

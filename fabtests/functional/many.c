/* SPDX-License-Identifier: BSD-2-Clause */
/* Many connections through one event queue: asking, answering, messages, ending. */
#include <getopt.h>
#include <stdlib.h>

#include "many.h"

uint32_t fct_many_count = 1000;

static uint8_t *part(struct many_conn *c, unsigned int slot)
{
	struct many *m = c->m;
	size_t end = c->number;

	if (!c->asked && m->asking)
		end += m->count;
	return m->mem.buf + (end * (MANY_BURST + 1) + slot) * MANY_LEN;
}

/* Of a message in one direction of one connection. */
static uint64_t seed(const struct many_conn *c, bool from_asking, unsigned int n)
{
	return ((uint64_t)c->number * 2 + from_asking) * MANY_BURST + n;
}

static int post_receives(struct many_conn *c)
{
	struct many *m = c->m;
	unsigned int n;

	for (n = 0; n < MANY_BURST; n++) {
		memset(part(c, n), 0, MANY_LEN);
		FCT_CALL(fi_recv(c->c.ep, part(c, n), MANY_LEN, m->mem.desc, 0,
				 &c->rx[n]));
	}
	return 0;
}

static struct many_conn *new_ends(struct many *m, bool asked)
{
	struct many_conn *ends = calloc(m->count, sizeof(*ends));
	uint32_t i;

	for (i = 0; ends && i < m->count; i++) {
		ends[i].m = m;
		ends[i].number = i;
		ends[i].asked = asked;
	}
	return ends;
}

static enum many_fate stays(uint32_t number)
{
	(void)number;
	return MANY_STAYS;
}

int fct_many_open(struct many *m, uint32_t count, const struct many_side *side)
{
	const uint32_t ends = side->asks && side->answers ? 2 * count : count;
	struct fct_setup s = {
		.caps = FI_MSG,
		.tx_size = MANY_QUEUE,
		.rx_size = MANY_QUEUE,
		.cq_size = (size_t)ends * 2 * MANY_QUEUE,
	};
	size_t len = sizeof(m->where);

	memset(m, 0, sizeof(*m));
	m->count = count;
	m->fate = side->fate ? side->fate : stays;
	FCT_DO(fct_link_open(&m->l, &s));
	if (side->asks) {
		m->asking = new_ends(m, true);
		FCT_TRUE(m->asking);
	}
	if (side->answers) {
		m->answering = new_ends(m, false);
		FCT_TRUE(m->answering);
	}
	FCT_DO(fct_mem_alloc(&m->l, &m->mem, (size_t)ends * (MANY_BURST + 1) * MANY_LEN,
			     FI_SEND | FI_RECV));
	if (m->l.pep)
		FCT_CALL(fi_getname(&m->l.pep->fid, &m->where, &len));
	else
		memcpy(&m->where, m->l.info->dest_addr, m->l.info->dest_addrlen);
	return 0;
}

void fct_many_end(struct many *m)
{
	fct_link_down(&m->l, fct_ret());
	free(m->asking);
	free(m->answering);
}

int fct_many_ask(struct many *m)
{
	struct many_conn *c = m->asking;

	for (; c < m->asking + m->count; c++) {
		FCT_DO(fct_ep_new(&m->l, &c->c));
		FCT_DO(post_receives(c));
		FCT_CALL(fi_connect(c->c.ep, &m->where, &c->number, sizeof(c->number)));
	}
	return 0;
}

int fct_many_close(struct many *m, struct many_conn *c)
{
	c->over = true;
	return fct_conn_close(&m->l, &c->c);
}

static int reject(struct many *m, struct fi_info *info, uint32_t number)
{
	int ret = fi_reject(m->l.pep, info->handle, &number, sizeof(number));

	fi_freeinfo(info);
	FCT_CALL(ret);
	return 0;
}

static int answer(struct many *m, struct many_conn *c, struct fi_info *info)
{
	int ret;

	FCT_DO(fct_conn_take(&m->l, &c->c, info));
	FCT_DO(post_receives(c));
	ret = fi_accept(c->c.ep, NULL, 0);
	if (ret && m->fate(c->number) == MANY_LEFT)
		return fct_many_close(m, c);
	FCT_CALL(ret);
	return 0;
}

static int on_request(struct many *m, const struct fct_event *e)
{
	struct many_conn *c;
	uint32_t number;

	FCT_TRUE(m->answering && e->len >= sizeof(number));
	memcpy(&number, e->cm.data, sizeof(number));
	FCT_TRUE(number < m->count);
	c = &m->answering[number];
	if (c->c.ep || c->over)
		FCT_FAIL("the request of connection %u arrived twice", number);
	m->requests++;
	if (m->fate(number) != MANY_REJECTED)
		return answer(m, c, e->cm.info);
	c->over = true;
	return reject(m, e->cm.info, number);
}

static const char *side_of(const struct many_conn *c)
{
	return c->asked ? "asking" : "answering";
}

static int on_connected(struct many *m, struct many_conn *c)
{
	if (c->connected || c->err || c->over)
		FCT_FAIL("the %s end %u is connected: before: %s, error %d", side_of(c),
			 c->number, c->connected ? "connected" : "not", c->err);
	if (c->asked && m->fate(c->number) == MANY_REJECTED)
		FCT_FAIL("connection %u was rejected and is connected", c->number);
	c->connected = true;
	m->connected++;
	return 0;
}

static int on_shutdown(struct many *m, struct many_conn *c)
{
	if (!c->connected || c->shut || c->over)
		FCT_FAIL("the %s end %u is shut down: before: %s%s", side_of(c),
			 c->number, c->connected ? "connected" : "not connected",
			 c->shut ? ", shut down" : "");
	c->shut = true;
	m->shut++;
	return 0;
}

/* Who asked and is refused; who accepted one that was left. */
static int on_error(struct many *m, const struct fct_event *e)
{
	struct many_conn *c = e->err.fid->context;
	enum many_fate fate = m->fate(c->number);

	if (c->connected || c->err || c->over)
		FCT_FAIL("the %s end %u fails with %d (%s): before: %s, error %d",
			 side_of(c), c->number, e->err.err, fi_strerror(e->err.err),
			 c->connected ? "connected" : "not connected", c->err);
	if (c->asked ? fate == MANY_STAYS : fate != MANY_LEFT)
		FCT_FAIL("the %s end %u failed: %d (%s; provider: %d)", side_of(c),
			 c->number, e->err.err, fi_strerror(e->err.err),
			 e->err.prov_errno);
	/* No room may have a name of its own. */
	if (c->asked && !(fate == MANY_EITHER && e->err.err == FI_ENOBUFS))
		FCT_EQ(e->err.err, FI_ECONNREFUSED);
	if (fate == MANY_REJECTED) {
		FCT_TRUE(e->err.err_data_size >= sizeof(c->number));
		FCT_TRUE(!memcmp(e->err.err_data, &c->number, sizeof(c->number)));
	}
	c->err = e->err.err;
	m->failed++;
	return 0;
}

static int dispatch(struct many *m, const struct fct_event *e)
{
	switch (e->event) {
	case FI_CONNREQ:
		return on_request(m, e);
	case FI_CONNECTED:
		return on_connected(m, e->cm.fid->context);
	case FI_SHUTDOWN:
		return on_shutdown(m, e->cm.fid->context);
	default:
		FCT_FAIL("event %u is none of a connection", e->event);
	}
	return 0;
}

int fct_many_event(struct many *m)
{
	struct fct_event e;
	int ret;

	FCT_GET(ret, fct_eq_look(m->l.eq, &e));
	if (!ret)
		fct_progress(); /* some notice the peer's end only while a CQ is read */
	else
		FCT_DO(ret == 2 ? on_error(m, &e) : dispatch(m, &e));
	return ret > 0;
}

int fct_many_await(struct many *m, uint32_t connected, uint32_t failed, uint32_t shut,
		   const char *what)
{
	struct fct_wait w;
	int ret;

	fct_wait_init(&w, what);
	while (m->connected < connected || m->failed < failed || m->shut < shut) {
		FCT_GET(ret, fct_many_event(m));
		if (ret)
			fct_wait_init(&w, what);
		else if (fct_wait_again(&w))
			FCT_FAIL("%u of %u connected, %u of %u failed, %u of %u shut "
				 "down",
				 m->connected, connected, m->failed, failed, m->shut,
				 shut);
	}
	FCT_EQ(m->connected, connected);
	FCT_EQ(m->failed, failed);
	FCT_EQ(m->shut, shut);
	return 0;
}

int fct_many_quiet(struct many *m)
{
	const uint32_t connected = m->connected, failed = m->failed, shut = m->shut;
	int ret;

	do {
		ret = fct_many_event(m);
	} while (ret > 0);
	FCT_DO(ret);
	FCT_EQ(m->connected, connected);
	FCT_EQ(m->failed, failed);
	FCT_EQ(m->shut, shut);
	return 0;
}

static int send_next(struct many_conn *c)
{
	struct many *m = c->m;

	fct_fill(part(c, MANY_BURST), MANY_LEN, seed(c, c->asked, c->sent));
	FCT_POST(m->l.txcq,
		 fi_send(c->c.ep, part(c, MANY_BURST), MANY_LEN, m->mem.desc, 0, &c->tx));
	c->sent++;
	return 0;
}

/* Whose completion it is stands in the connection: the contexts are parts of it. */
static struct many_conn *end_of(const struct many *m, const void *context)
{
	const char *at = context, *begin;
	const size_t size = sizeof(struct many_conn) * m->count;

	begin = (const char *)m->asking;
	if (!begin || at < begin || at >= begin + size)
		begin = (const char *)m->answering;
	if (!begin || at < begin || at >= begin + size)
		return NULL;
	return (struct many_conn *)begin +
	       (size_t)(at - begin) / sizeof(struct many_conn);
}

static int on_completion(struct many *m, const struct fi_cq_data_entry *e)
{
	struct many_conn *c = end_of(m, e->op_context);

	FCT_TRUE(c && many_stands(c));
	if (e->op_context == &c->tx) {
		FCT_EQ(e->flags, FI_SEND | FI_MSG);
		m->sent++;
		return c->sent < MANY_BURST ? send_next(c) : 0;
	}
	FCT_TRUE(c->received < MANY_BURST && e->op_context == &c->rx[c->received]);
	FCT_EQ(e->flags, FI_RECV | FI_MSG);
	FCT_EQ(e->len, MANY_LEN);
	FCT_DATA(part(c, c->received), MANY_LEN, seed(c, !c->asked, c->received));
	c->received++;
	m->received++;
	return 0;
}

static int start(struct many *m, struct many_conn *ends, unsigned int *all)
{
	uint32_t i;

	for (i = 0; ends && i < m->count; i++) {
		if (!many_stands(&ends[i]))
			continue;
		if (send_next(&ends[i]))
			return -1;
		*all += MANY_BURST;
	}
	return 0;
}

/* What was posted to an end that is over ends cancelled; no other may. */
static int on_failure(const struct many *m, const void *context, int err)
{
	const struct many_conn *c = end_of(m, context);

	FCT_TRUE(c);
	if (err != FI_ECANCELED || (c->connected && !c->over))
		FCT_FAIL("an operation of the %s end %u failed: %d (%s)", side_of(c),
			 c->number, err, fi_strerror(err));
	return 0;
}

/* 1: there was a completion; 0: none. */
static int look(struct many *m)
{
	struct fi_cq_data_entry e;
	int ret, err;

	FCT_GET(ret, fct_cq_look(m->l.txcq, &e, &err));
	if (ret)
		FCT_DO(err ? on_failure(m, e.op_context, err) : on_completion(m, &e));
	return ret;
}

int fct_many_traffic(struct many *m)
{
	unsigned int all = 0;
	int ret;

	FCT_DO(start(m, m->asking, &all));
	FCT_DO(start(m, m->answering, &all));
	FCT_WAIT_WHILE(m->sent < all || m->received < all, "messages on every connection",
		       look(m));
	do
		FCT_GET(ret, look(m));
	while (ret);
	FCT_EQ(m->sent, all);
	FCT_EQ(m->received, all);
	return 0;
}

/* ---- the program ---- */

#define MANY_MOST 100000u

static const struct option options[] = {
	{"count", required_argument, NULL, 'n'},
	{0},
};

static int option(int val, const char *arg)
{
	(void)val;
	fct_many_count = (uint32_t)fct_number(arg, 16, MANY_MOST);
	return fct_many_count ? 0 : -1;
}

FCT_PROGRAM(.name = "fi_cairn_many", .what = "Many connections at once.",
	    .options = options,
	    .help = "  -n, --count=N           connections (default 1000); both "
		    "sides "
		    "need the same\n",
	    .option = option)

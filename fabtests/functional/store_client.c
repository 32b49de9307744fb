/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client: puts and gets with a window of requests, checks all it gets, and ends its
 * connection now and then. A connection that ends otherwise is a failure.
 */
#include <signal.h>
#include <stdlib.h>

#include "store.h"

#define GUARD_BYTE 0xee

enum { KIND_REQUEST, KIND_REPLY };
enum { END_LEAVE, END_VANISH, END_SENT_OFF, END_KILLED };

/* Contexts of one connection: what comes of an older one is known by them. */
struct session {
	struct session *next;
	struct store_ctx request[STORE_WINDOW], reply[STORE_WINDOW];
};

struct pending {
	bool sending, waiting; /* for its completion, for the reply */
	struct store_request *request;
	uint8_t *data;
	uint64_t least; /* version that a get may give */
};

struct client {
	struct fct_link l;
	struct fct_conn c;
	uint32_t id;
	struct store_shared *shared;
	struct session *session; /* the newest first */
	struct fct_mem messages, data;
	struct pending pending[STORE_WINDOW];
	bool lost;     /* the connection has ended */
	bool may_lose; /* and may */
};

static uint32_t random_below(struct client *c, uint32_t bound)
{
	uint64_t *x = &c->shared->client[c->id].random;

	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*x >> 33) % bound;
}

static struct store_reply *reply_at(struct client *c, uint32_t i)
{
	return (struct store_reply *)(c->messages.buf +
				      STORE_WINDOW * sizeof(struct store_request)) +
	       i;
}

static uint32_t outstanding(const struct client *c)
{
	uint32_t i, n = 0;

	for (i = 0; i < STORE_WINDOW; i++)
		n += c->pending[i].sending || c->pending[i].waiting;
	return n;
}

/* ---- what comes back ---- */

static int check_got(struct client *c, const struct pending *p,
		     const struct store_reply *r)
{
	const struct store_request *q = p->request;
	uint64_t most = c->shared->object[q->owner][q->slot].sent;

	if (r->version < p->least || r->version > most)
		FCT_FAIL("object %u.%u has version %llu, expected %llu to %llu", q->owner,
			 q->slot, (unsigned long long)r->version,
			 (unsigned long long)p->least, (unsigned long long)most);
	FCT_EQ(r->len, store_len(q->owner, q->slot, r->version));
	FCT_DO(fct_compare(p->data, r->len, store_seed(q->owner, q->slot, r->version), 0,
			   "an object from the store"));
	if (r->version)
		FCT_TRUE(fct_store_sum(p->data, r->len) == r->sum);
	FCT_TRUE(fct_all(p->data + r->len, STORE_BLOCK - r->len, GUARD_BYTE));
	return 0;
}

static int replied(struct client *c, uint32_t index, size_t len)
{
	const struct store_reply r = *reply_at(c, index);
	uint32_t i = (uint32_t)r.cookie;
	struct pending *p;
	int ret;

	FCT_EQ(len, sizeof(r));
	FCT_EQ(r.cookie >> 32, c->shared->client[c->id].session);
	FCT_TRUE(i < STORE_WINDOW && c->pending[i].waiting);
	p = &c->pending[i];
	p->waiting = false;
	if (p->request->op == STORE_GET) {
		FCT_DO(check_got(c, p, &r));
	} else if (p->request->op == STORE_PUT) {
		FCT_EQ(r.version, p->request->version);
		c->shared->object[c->id][p->request->slot].acked = r.version;
	}
	c->shared->client[c->id].requests++;
	/* On a connection that is ending this may fail; the event tells. */
	ret = (int)fi_recv(c->c.ep, reply_at(c, index), sizeof(r), c->messages.desc, 0,
			   &c->session->reply[index]);
	if (ret && !c->may_lose)
		FCT_FAIL("fi_recv returned %d (%s)", ret, fi_strerror(-ret));
	return 0;
}

static int lose(struct client *c, const char *how, int err)
{
	if (!c->may_lose)
		return fct_fail("the connection was lost: %s (%s)", how,
				fi_strerror(err));
	c->lost = true;
	return 0;
}

/* 1: there was something, 0: nothing, < 0: recorded. */
static int look_at_completions(struct client *c)
{
	struct fi_cq_data_entry e;
	const struct store_ctx *ctx;
	int err, ret = fct_cq_look(c->l.txcq, &e, &err);

	if (ret <= 0)
		return ret;
	ctx = e.op_context;
	if (!ctx)
		return fct_fail("a completion has no context");
	if (ctx->owner != c->session)
		return 1;
	if (err)
		return lose(c, "error completion", err) ? -1 : 1;
	if (ctx->kind == KIND_REPLY)
		return replied(c, ctx->index, e.len) ? -1 : 1;
	c->pending[ctx->index].sending = false;
	return 1;
}

static int look_at_events(struct client *c)
{
	struct fct_event e;
	int ret = fct_eq_look(c->l.eq, &e);

	if (ret <= 0)
		return ret;
	if (ret == 2)
		return lose(c, "error event", e.err.err) ? -1 : 1;
	if (e.event != FI_SHUTDOWN || e.cm.fid != &c->c.ep->fid)
		return fct_fail("an unexpected event, %s",
				fi_tostr(&e.event, FI_TYPE_EQ_EVENT));
	return lose(c, "FI_SHUTDOWN", 0) ? -1 : 1;
}

/* Waits until no more than n requests are outstanding, or the connection has ended. */
static int settle(struct client *c, uint32_t n, bool until_lost)
{
	struct fct_wait w;
	int completions, events;

	fct_wait_init(&w, until_lost ? "the server to disconnect" : "a reply");
	while (!c->lost && (until_lost || outstanding(c) > n)) {
		completions = look_at_completions(c);
		events = completions ? 0 : look_at_events(c);
		if (completions < 0 || events < 0)
			return -1;
		if (!completions && !events && fct_wait_again(&w))
			return -1;
	}
	return 0;
}

/* ---- requests ---- */

static struct pending *free_pending(struct client *c)
{
	uint32_t i;

	for (i = 0; c->pending[i].sending || c->pending[i].waiting; i++)
		;
	return &c->pending[i];
}

static bool being_put(const struct client *c, uint32_t slot)
{
	uint32_t i;

	for (i = 0; i < STORE_WINDOW; i++)
		if (c->pending[i].waiting && c->pending[i].request->op == STORE_PUT &&
		    c->pending[i].request->slot == slot)
			return true;
	return false;
}

static void fill_put(struct client *c, struct pending *p)
{
	struct store_request *q = p->request;

	q->owner = c->id;
	q->version = ++c->shared->object[c->id][q->slot].sent;
	q->len = store_len(c->id, q->slot, q->version);
	fct_fill(p->data, q->len, store_seed(c->id, q->slot, q->version));
	q->sum = fct_store_sum(p->data, q->len);
}

static void fill_get(struct client *c, struct pending *p)
{
	struct store_request *q = p->request;

	q->owner = random_below(c, 2) ? c->id : random_below(c, fct_store_opts.clients);
	p->least = c->shared->object[q->owner][q->slot].acked;
	memset(p->data, GUARD_BYTE, STORE_BLOCK);
}

static int ask(struct client *c, enum store_op op, bool send_off)
{
	struct fct_target target = fct_mem_target(&c->l, &c->data);
	struct pending *p = free_pending(c);
	uint32_t i = (uint32_t)(p - c->pending);
	struct store_request *q = p->request;
	int ret;

	*q = (struct store_request){.op = op,
				    .send_off = send_off,
				    .slot = random_below(c, STORE_SLOTS),
				    .key = target.key};
	q->addr = target.addr + i * STORE_BLOCK;
	q->cookie = (uint64_t)c->shared->client[c->id].session << 32 | i;
	/* Two puts of an object at once would leave open which is the later. */
	if (op == STORE_PUT && being_put(c, q->slot))
		q->op = STORE_GET;
	if (q->op == STORE_PUT)
		fill_put(c, p);
	else
		fill_get(c, p);
	p->sending = p->waiting = true;
	ret = (int)fi_send(c->c.ep, q, sizeof(*q), c->messages.desc, 0,
			   &c->session->request[i]);
	if (ret)
		FCT_FAIL("fi_send returned %d (%s)", ret, fi_strerror(-ret));
	return 0;
}

/* ---- connections ---- */

static int join(struct client *c)
{
	struct session *s = calloc(1, sizeof(*s));
	struct store_hello hello = {.client = c->id};
	struct fct_event e = {0};
	uint32_t i;
	int ret;

	FCT_TRUE(s);
	s->next = c->session;
	c->session = s;
	c->lost = c->may_lose = false;
	hello.session = ++c->shared->client[c->id].session;
	FCT_DO(fct_ep_new(&c->l, &c->c));
	for (i = 0; i < STORE_WINDOW; i++) {
		c->pending[i].sending = c->pending[i].waiting = false;
		s->request[i] =
			(struct store_ctx){.kind = KIND_REQUEST, .index = i, .owner = s};
		s->reply[i] =
			(struct store_ctx){.kind = KIND_REPLY, .index = i, .owner = s};
		FCT_CALL(fi_recv(c->c.ep, reply_at(c, i), sizeof(struct store_reply),
				 c->messages.desc, 0, &s->reply[i]));
	}
	FCT_CALL(fi_connect(c->c.ep, c->l.info->dest_addr, &hello, sizeof(hello)));
	/* Before it, some providers still tell what became of the endpoint before. */
	while (e.event != FI_CONNECTED) {
		FCT_GET(ret, fct_eq_next(c->l.eq, &e, "FI_CONNECTED"));
		if (ret)
			FCT_FAIL("connecting failed: %s", fi_strerror(e.err.err));
	}
	return 0;
}

static int rejoin(struct client *c, int kind)
{
	int ret;

	c->shared->client[c->id].ends[kind]++;
	ret = fct_conn_close(&c->l, &c->c);
	return ret ? ret : join(c);
}

/* What else happens after a request; most often nothing. */
static int mishap(struct client *c, const struct store_faults *f)
{
	uint32_t dice = random_below(c, 100);

	if (dice < f->leave)
		return settle(c, 0, false) ? -1 : rejoin(c, END_LEAVE);
	dice -= f->leave;
	if (dice < f->vanish)
		return rejoin(c, END_VANISH);
	dice -= f->vanish;
	if (dice < f->sent_off) {
		if (settle(c, STORE_WINDOW - 1, false))
			return -1;
		c->may_lose = true;
		if (ask(c, STORE_GET, true) || settle(c, 0, true))
			return -1;
		return rejoin(c, END_SENT_OFF);
	}
	dice -= f->sent_off;
	if (dice < f->killed) {
		c->shared->client[c->id].ends[END_KILLED]++;
		raise(SIGKILL);
	}
	return 0;
}

static int open_client(struct client *c, const struct fct_where *where)
{
	struct fct_setup setup = {.caps = FI_MSG | FI_RMA,
				  .msg_order = FI_ORDER_SAS | FI_ORDER_SAW,
				  .tx_size = STORE_WINDOW,
				  .rx_size = STORE_WINDOW,
				  .cq_size = 16 * STORE_WINDOW};
	uint32_t i;

	FCT_DO(fct_link_open_alone(&c->l, &setup, where));
	FCT_DO(fct_mem_alloc(&c->l, &c->messages,
			     STORE_WINDOW * (sizeof(struct store_request) +
					     sizeof(struct store_reply)),
			     FI_SEND | FI_RECV));
	FCT_DO(fct_mem_alloc(&c->l, &c->data, STORE_WINDOW * STORE_BLOCK,
			     FI_REMOTE_READ | FI_REMOTE_WRITE));
	for (i = 0; i < STORE_WINDOW; i++) {
		c->pending[i].request = (struct store_request *)c->messages.buf + i;
		c->pending[i].data = c->data.buf + i * STORE_BLOCK;
	}
	return join(c);
}

static void end_client(struct client *c)
{
	struct session *s;

	fct_link_down(&c->l, fct_ret());
	while ((s = c->session)) {
		c->session = s->next;
		free(s);
	}
}

int fct_store_client(uint32_t id, struct store_shared *shared,
		     const struct fct_where *where, const struct store_faults *faults)
{
	FCT_AUTO(end_client) struct client c = {.id = id, .shared = shared};

	if (!shared->client[id].session)
		shared->client[id].random = id * 7919u + 1;
	FCT_DO(open_client(&c, where));
	while (shared->client[id].requests < fct_store_opts.requests) {
		FCT_DO(settle(&c, STORE_WINDOW - 1, false));
		FCT_DO(ask(&c, random_below(&c, 2) ? STORE_PUT : STORE_GET, false));
		FCT_DO(mishap(&c, faults));
	}
	FCT_DO(settle(&c, 0, false));
	FCT_DO(ask(&c, STORE_DONE, false));
	/* The server may close when all clients are done. */
	c.may_lose = true;
	return settle(&c, 0, false);
}

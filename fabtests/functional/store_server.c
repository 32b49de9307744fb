/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server: one thread, one completion queue, a connection for each client. What
 * happens to one connection must not show on another: whatever fails on a connection ends
 * that connection only, and its client says whether that was to be expected.
 */
#include <stdlib.h>

#include "store.h"

#define OPS  \
	(2 * \
	 STORE_WINDOW) /* a request may come before its predecessor's reply has left */
#define MAX_CONNS 2048u

enum { KIND_REQUEST, KIND_DATA, KIND_REPLY };

struct block {
	struct block *next;
	uint8_t *buf;
	uint32_t users;
};

struct object {
	uint64_t version, len, sum;
	struct block *block; /* NULL: nothing in it */
};

struct op {
	bool busy;
	struct store_request request;
	struct object object; /* being put, or given */
	struct store_ctx data, reply;
};

struct conn {
	struct fct_conn c; /* first */
	struct store_hello hello;
	bool connected;
	uint32_t posted;       /* whose completions are still to come */
	struct fct_mem memory; /* requests, then replies */
	struct store_ctx request[STORE_WINDOW];
	struct op op[OPS];
};

struct server {
	struct fct_link l;
	struct fct_mem pool;
	struct block *blocks, *free;
	struct object object[STORE_CLIENTS][STORE_SLOTS];
	struct conn *conn[MAX_CONNS];
	uint32_t clients, done;
	uint64_t answered;
};

static struct store_request *request_at(struct conn *c, uint32_t i)
{
	return (struct store_request *)c->memory.buf + i;
}

static struct store_reply *reply_at(struct conn *c, uint32_t i)
{
	return (struct store_reply *)request_at(c, STORE_WINDOW) + i;
}

/* ---- blocks: an object's bytes stay while somebody is reading them ---- */

static int open_pool(struct server *s)
{
	uint32_t n = s->clients * (STORE_SLOTS + 2 * OPS), i;

	FCT_DO(fct_mem_alloc(&s->l, &s->pool, n * STORE_MAX, FI_READ | FI_WRITE));
	s->blocks = calloc(n, sizeof(*s->blocks));
	FCT_TRUE(s->blocks);
	for (i = 0; i < n; i++) {
		s->blocks[i].buf = s->pool.buf + i * STORE_MAX;
		s->blocks[i].next = s->free;
		s->free = &s->blocks[i];
	}
	return 0;
}

static struct block *take(struct server *s)
{
	struct block *b = s->free;

	if (b) {
		s->free = b->next;
		b->users = 1;
	}
	return b;
}

static void give_back(struct server *s, struct block *b)
{
	if (b && !--b->users) {
		b->next = s->free;
		s->free = b;
	}
}

/* A client's versions of an object rise, also from one connection to the next. */
static int install(struct server *s, struct op *op)
{
	struct object *o = &s->object[op->request.owner][op->request.slot];
	uint64_t before = o->version;

	give_back(s, o->block);
	*o = op->object;
	op->object.block = NULL;
	if (o->version > before)
		return 0;
	return fct_fail("version %llu of an object came after %llu",
			(unsigned long long)o->version, (unsigned long long)before);
}

/* ---- connections ---- */

static void drop(struct server *s, struct conn *c)
{
	uint32_t i;

	if (!c->c.ep)
		return;
	fct_conn_close(&s->l, &c->c);
	/* With the endpoint closed nothing moves data for it any more. */
	for (i = 0; i < OPS; i++) {
		give_back(s, c->op[i].object.block);
		c->op[i].object.block = NULL;
		c->op[i].busy = false;
	}
}

/* One that is new or whose completions have all been seen. */
static struct conn *unused(struct server *s)
{
	uint32_t i, k;
	struct conn *c;

	for (i = 0; i < MAX_CONNS && s->conn[i]; i++)
		if (!s->conn[i]->c.ep && !s->conn[i]->posted)
			return s->conn[i];
	c = i < MAX_CONNS ? calloc(1, sizeof(*c)) : NULL;
	if (!c)
		return NULL;
	for (k = 0; k < STORE_WINDOW; k++)
		c->request[k] =
			(struct store_ctx){.kind = KIND_REQUEST, .index = k, .owner = c};
	for (k = 0; k < OPS; k++) {
		c->op[k].data =
			(struct store_ctx){.kind = KIND_DATA, .index = k, .owner = c};
		c->op[k].reply =
			(struct store_ctx){.kind = KIND_REPLY, .index = k, .owner = c};
	}
	if (fct_mem_alloc(&s->l, &c->memory,
			  STORE_WINDOW * sizeof(struct store_request) +
				  OPS * sizeof(struct store_reply),
			  FI_SEND | FI_RECV)) {
		free(c);
		return NULL;
	}
	s->conn[i] = c;
	return c;
}

/* The outcome of posting: a connection that does not take it has ended. */
static int posted(struct server *s, struct conn *c, ssize_t ret)
{
	if (!ret) {
		c->posted++;
		return 0;
	}
	if (ret == -FI_EAGAIN)
		return fct_fail_at(
			NULL, 0, "posting returned -FI_EAGAIN below the endpoint's size");
	drop(s, c);
	return 0;
}

static int post_request(struct server *s, struct conn *c, uint32_t i)
{
	return posted(s, c,
		      fi_recv(c->c.ep, request_at(c, i), sizeof(struct store_request),
			      c->memory.desc, 0, &c->request[i]));
}

static int requested(struct server *s, const struct fct_event *e)
{
	struct store_hello hello;
	struct conn *c;
	uint32_t i;

	FCT_TRUE(e->len >= sizeof(hello));
	memcpy(&hello, e->cm.data, sizeof(hello));
	FCT_TRUE(hello.client < s->clients);
	/* A client has one connection: the one before is over, whether we heard of it or
	 * not. */
	for (i = 0; i < MAX_CONNS && s->conn[i]; i++)
		if (s->conn[i]->hello.client == hello.client)
			drop(s, s->conn[i]);
	c = unused(s);
	FCT_TRUE(c);
	c->hello = hello;
	c->connected = false;
	FCT_DO(fct_conn_take(&s->l, &c->c, e->cm.info));
	for (i = 0; i < STORE_WINDOW && c->c.ep; i++)
		FCT_DO(post_request(s, c, i));
	if (c->c.ep && fi_accept(c->c.ep, NULL, 0))
		drop(s, c);
	return 0;
}

/* ---- requests ---- */

static int answer(struct server *s, struct conn *c, struct op *op)
{
	uint32_t i = (uint32_t)(op - c->op);
	struct store_reply *reply = reply_at(c, i);

	*reply = (struct store_reply){.cookie = op->request.cookie,
				      .version = op->object.version,
				      .len = op->object.len,
				      .sum = op->object.sum};
	s->answered++;
	return posted(s, c,
		      fi_send(c->c.ep, reply, sizeof(*reply), c->memory.desc, 0,
			      &op->reply));
}

static int put(struct server *s, struct conn *c, struct op *op)
{
	const struct store_request *r = &op->request;

	op->object = (struct object){.version = r->version, .len = r->len, .sum = r->sum};
	if (!r->len)
		return install(s, op) ? -1 : answer(s, c, op);
	op->object.block = take(s);
	if (!op->object.block)
		return fct_fail("the server has no block left");
	return posted(s, c,
		      fi_read(c->c.ep, op->object.block->buf, r->len, s->pool.desc, 0,
			      r->addr, r->key, &op->data));
}

static int get(struct server *s, struct conn *c, struct op *op)
{
	const struct store_request *r = &op->request;

	op->object = s->object[r->owner][r->slot];
	if (!op->object.block)
		return answer(s, c, op);
	op->object.block->users++;
	return posted(s, c,
		      fi_write(c->c.ep, op->object.block->buf, op->object.len,
			       s->pool.desc, 0, r->addr, r->key, &op->data));
}

static int handle_request(struct server *s, struct conn *c, uint32_t index, size_t len)
{
	struct op *op = NULL;
	uint32_t i;

	for (i = 0; i < OPS && !op; i++)
		op = c->op[i].busy ? NULL : &c->op[i];
	FCT_TRUE(op);
	FCT_EQ(len, sizeof(op->request));
	op->request = *request_at(c, index);
	op->object = (struct object){0};
	op->busy = true;
	FCT_DO(post_request(s, c, index));
	if (!c->c.ep)
		return 0;
	FCT_TRUE(op->request.owner < s->clients && op->request.slot < STORE_SLOTS);
	FCT_TRUE(op->request.len <= STORE_MAX);
	if (op->request.op == STORE_DONE)
		s->done++;
	return op->request.op == STORE_PUT   ? put(s, c, op)
	       : op->request.op == STORE_GET ? get(s, c, op)
					     : answer(s, c, op);
}

static int handle_data(struct server *s, struct conn *c, struct op *op)
{
	if (op->request.op == STORE_PUT) {
		if (fct_store_sum(op->object.block->buf, op->object.len) !=
		    op->object.sum)
			return fct_fail_at(
				NULL, 0, "%zu bytes read from client %u have another sum",
				(size_t)op->object.len, c->hello.client);
		if (install(s, op))
			return -1;
	} else {
		give_back(s, op->object.block);
		op->object.block = NULL;
	}
	return answer(s, c, op);
}

static int completed(struct server *s, const struct store_ctx *ctx, size_t len)
{
	struct conn *c = ctx->owner;

	c->posted--;
	if (!c->c.ep)
		return 0; /* of a connection that has ended */
	switch (ctx->kind) {
	case KIND_REQUEST:
		return handle_request(s, c, ctx->index, len);
	case KIND_DATA:
		return handle_data(s, c, &c->op[ctx->index]);
	default:
		c->op[ctx->index].busy = false;
		if (c->op[ctx->index].request.send_off && fi_shutdown(c->c.ep, 0))
			drop(s, c);
		return 0;
	}
}

/* ---- the loop ---- */

/* 1: there was something to do, 0: nothing, < 0: recorded. */
static int look_at_completions(struct server *s)
{
	struct fi_cq_data_entry e;
	const struct store_ctx *ctx;
	struct conn *c;
	int err, ret = fct_cq_look(s->l.txcq, &e, &err);

	if (ret <= 0)
		return ret;
	ctx = e.op_context;
	if (!err)
		return completed(s, ctx, e.len) ? -1 : 1;
	if (!ctx)
		return fct_fail("an error completion has no context (%s)",
				fi_strerror(err));
	c = ctx->owner;
	c->posted--;
	if (c->c.ep)
		fct_note("client %u: %s", c->hello.client, fi_strerror(err));
	drop(s, c);
	return 1;
}

static int look_at_events(struct server *s)
{
	struct fct_event e;
	struct conn *c;
	int ret = fct_eq_look(s->l.eq, &e);

	if (ret <= 0)
		return ret;
	if (ret == 1 && e.event == FI_CONNREQ)
		return requested(s, &e) ? -1 : 1;
	c = (struct conn *)fct_conn_of(&s->l, ret == 2 ? e.err.fid : e.cm.fid);
	if (!c)
		return 1;
	/*
	 * Some providers leave a closed endpoint's events in the queue, and its address
	 * to the next one: what comes before FI_CONNECTED is of the old one.
	 */
	if (ret == 2 || (e.event == FI_SHUTDOWN && c->connected))
		drop(s, c);
	else if (e.event == FI_CONNECTED)
		c->connected = true;
	return 1;
}

static int serve(struct server *s)
{
	struct fct_wait w;
	int completions, events;

	fct_wait_init(&w, "requests from the clients");
	while (s->done < s->clients) {
		completions = look_at_completions(s);
		events = completions < 0 ? -1 : look_at_events(s);
		if (completions < 0 || events < 0)
			return -1;
		if (completions || events)
			fct_wait_init(&w, "requests from the clients");
		else if (fct_wait_again(&w))
			return -1;
	}
	return 0;
}

static void end_server(struct server **at)
{
	struct server *s = *at;
	uint32_t i;

	if (!s)
		return;
	fct_link_down(&s->l, fct_ret());
	for (i = 0; i < MAX_CONNS; i++)
		free(s->conn[i]);
	free(s->blocks);
	free(s);
}

int fct_store_serve(uint32_t clients)
{
	struct fct_setup setup = {.caps = FI_MSG | FI_RMA,
				  .msg_order = FI_ORDER_SAS | FI_ORDER_SAW,
				  .tx_size = 2 * OPS,
				  .rx_size = STORE_WINDOW,
				  .cq_size =
					  (size_t)clients * 4 * (2 * OPS + STORE_WINDOW)};
	FCT_AUTO(end_server) struct server *s = calloc(1, sizeof(*s));

	FCT_TRUE(s);
	s->clients = clients;
	FCT_DO(fct_link_open(&s->l, &setup));
	FCT_DO(open_pool(s));
	FCT_DO(serve(s));
	fct_note("%llu requests answered", (unsigned long long)s->answered);
	return 0;
}

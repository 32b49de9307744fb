/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of the plays: two connections of one process, of which one is in trouble. */
#include <sched.h>
#include <unistd.h>

#include "lost.h"

/* What each side says of itself with its request or answer. */
struct hello {
	uint32_t who; /* LOST_PEER, LOST_BYSTANDER */
	uint32_t len;
	uint64_t addr, key;
};

/* Where in the memory: for the peer's connection; for the bystander's, both ways. */
enum { SOURCE = 0, SINK = 1024, OUT = 2048, BACK = 3072, MEMORY = 4096 };

static struct fct_setup setup_of(const struct lost *p)
{
	/* Atomics are among what fct_lost_post_all posts, which none of these plays does.
	 */
	const uint64_t atomics = p->caps & FI_RMA_PMEM ? 0 : FI_ATOMIC;

	return (struct fct_setup){.caps = FI_MSG | FI_RMA | atomics | p->caps,
				  .cq_data_size = 4,
				  .cq_size = 512};
}

static struct hello hello_of(const struct lost *p, uint32_t who)
{
	const struct fct_target mine = p->expose ? p->mine : fct_mem_target(&p->l, &p->m);

	return (struct hello){.who = who,
			      .len = (uint32_t)mine.len,
			      .addr = mine.addr,
			      .key = mine.key};
}

static void meet(struct lost *p, const struct hello *h)
{
	if (h->who == LOST_PEER)
		p->peer = (struct fct_target){.addr = h->addr,
					      .len = h->len,
					      .key = h->key};
}

/* ---- connections ---- */

static int early_receives(struct lost *p)
{
	return p->receive ? p->receive(p) : fct_lost_post_receives(p, p->early);
}

static int connect_as(struct lost *p, uint32_t who)
{
	const struct hello mine = hello_of(p, who);
	struct fct_conn *c = &p->c[who];
	struct fct_event e;

	FCT_DO(fct_ep_new(&p->l, c));
	FCT_DO(early_receives(p));
	FCT_CALL(fi_connect(c->ep, p->l.info->dest_addr, &mine, sizeof(mine)));
	FCT_DO(fct_eq_expect(p->l.eq, FI_CONNECTED, &c->ep->fid, &e));
	FCT_TRUE(e.len >= sizeof(struct hello));
	meet(p, (const struct hello *)e.cm.data);
	return 0;
}

static int memory(struct lost *p)
{
	int ret;

	ret = fct_mem_alloc(&p->l, &p->m, MEMORY,
			    FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
				    FI_REMOTE_WRITE);
	return !ret && p->expose ? p->expose(p, &p->mine) : ret;
}

/* From then on nobody waits for the other: it may be gone. */
int fct_lost_connect(struct lost *p)
{
	const struct fct_setup s = setup_of(p);
	const pid_t mine = getpid();

	FCT_DO(fct_link_open(&p->l, &s));
	FCT_DO(memory(p));
	FCT_DO(fct_barrier("the bystander is there"));
	FCT_DO(connect_as(p, LOST_PEER));
	FCT_DO(fct_tell("pid", &mine, sizeof(mine)));
	FCT_DO(fct_barrier("both connected"));
	fct_ctl_close();
	return 0;
}

int fct_lost_wait(struct lost *p)
{
	if (!fct_lost_connect(p))
		for (;;)
			pause();
	return fct_link_down(&p->l, -1);
}

int fct_lost_serve(struct lost *p)
{
	struct fi_cq_data_entry e;

	if (fct_lost_connect(p))
		return fct_link_down(&p->l, -1);
	for (;;) {
		if (fi_cq_read(p->l.txcq, &e, 1) == -FI_EAGAIN)
			sched_yield();
	}
}

static int answer(struct lost *p, const struct fct_event *e)
{
	const struct hello *theirs = (const struct hello *)e->cm.data;
	struct fct_conn *c;
	struct hello mine;

	FCT_TRUE(e->len >= sizeof(*theirs) && theirs->who < LOST_CONNS);
	c = &p->c[theirs->who];
	FCT_TRUE(!c->ep);
	meet(p, theirs);
	FCT_DO(fct_conn_take(&p->l, c, e->cm.info));
	if (theirs->who == LOST_PEER)
		FCT_DO(early_receives(p));
	mine = hello_of(p, LOST_PEER);
	FCT_CALL(fi_accept(c->ep, &mine, sizeof(mine)));
	return 0;
}

int fct_lost_listen(struct lost *p)
{
	const struct fct_setup s = setup_of(p);
	struct fct_where where = {.node = ""};
	unsigned int connected = 0;
	struct fct_event e;
	int ret;

	FCT_DO(fct_link_open(&p->l, &s));
	FCT_DO(memory(p));
	memcpy(where.node, p->l.node, sizeof(where.node));
	memcpy(where.service, p->l.service, sizeof(where.service));
	FCT_DO(fct_lost_where_tell(&where));
	while (connected < LOST_CONNS) {
		FCT_GET(ret, fct_eq_next(p->l.eq, &e, "both connections"));
		FCT_TRUE(!ret);
		if (e.event == FI_CONNREQ)
			FCT_DO(answer(p, &e));
		else
			FCT_EQ(e.event, FI_CONNECTED);
		connected += e.event == FI_CONNECTED;
		if (e.event == FI_CONNECTED && connected == 1)
			FCT_DO(fct_barrier("the bystander is there"));
	}
	FCT_DO(fct_lost_bystander(p));
	FCT_DO(fct_hear("pid", &p->pid, sizeof(p->pid)));
	FCT_DO(fct_barrier("both connected"));
	fct_ctl_close();
	return 0;
}

/* ---- what is told ---- */

static int completed(struct lost *p, const void *context, int err)
{
	const struct fct_ctx *ctx = context;

	if (ctx >= p->bystander && ctx < p->bystander + 2) {
		if (err)
			FCT_FAIL("the bystander's connection: %s", fi_strerror(err));
		p->round++;
		return 0;
	}
	if (ctx < p->ctx || ctx >= p->ctx + p->posted)
		FCT_FAIL("a completion without the context of an operation: %s",
			 fi_strerror(err));
	if (p->ended[ctx - p->ctx]++)
		FCT_FAIL("operation %td completed twice", ctx - p->ctx);
	p->err[ctx - p->ctx] = err;
	p->failed += err != 0;
	return 0;
}

/* 1: there was a completion, 0: none. */
static int look_at_completions(struct lost *p)
{
	struct fi_cq_data_entry e;
	int ret, err;

	FCT_GET(ret, fct_cq_look(p->l.txcq, &e, &err));
	if (ret)
		FCT_DO(completed(p, e.op_context, err));
	return ret;
}

static int look_at_events(struct lost *p)
{
	struct fct_event e;
	int ret;

	FCT_GET(ret, fct_eq_look(p->l.eq, &e));
	if (!ret)
		return 0;
	FCT_EQ(ret, 1);
	FCT_EQ(e.event, FI_SHUTDOWN);
	FCT_TRUE(e.cm.fid == &p->c[LOST_PEER].ep->fid);
	FCT_EQ(++p->shutdowns, 1);
	return 0;
}

int fct_lost_bystander(struct lost *p)
{
	struct fid_ep *ep = p->c[LOST_BYSTANDER].ep;
	const uint64_t seed = p->round;

	if (!ep)
		return 0;
	fct_fill(p->m.buf + OUT, LOST_LEN, seed);
	memset(p->m.buf + BACK, 0, LOST_LEN);
	FCT_CALL(fi_recv(ep, p->m.buf + BACK, LOST_LEN, p->m.desc, 0, &p->bystander[0]));
	FCT_CALL(fi_send(ep, p->m.buf + OUT, LOST_LEN, p->m.desc, 0, &p->bystander[1]));
	FCT_WAIT_WHILE(p->round < seed + 2, "a message to the bystander and back",
		       look_at_completions(p));
	FCT_DATA(p->m.buf + BACK, LOST_LEN, seed);
	return 0;
}

static bool all_ended(const struct lost *p)
{
	unsigned int i;

	for (i = 0; i < p->posted; i++)
		if (!p->ended[i])
			return false;
	return true;
}

int fct_lost_await_ended(struct lost *p)
{
	struct fct_wait w;
	int ret = 0;

	fct_wait_init(&w, "the end of every operation");
	while (!all_ended(p)) {
		FCT_GET(ret, look_at_completions(p));
		if (!ret)
			FCT_DO(fct_lost_bystander(p));
		FCT_DO(fct_wait_check(&w));
	}
	return 0;
}

int fct_lost_await_shutdown(struct lost *p)
{
	struct fct_wait w;

	fct_wait_init(&w, "FI_SHUTDOWN");
	while (!p->shutdowns) {
		FCT_DO(look_at_events(p));
		FCT_DO(fct_lost_bystander(p));
		FCT_DO(fct_wait_again(&w));
	}
	return 0;
}

int fct_lost_quiet(struct lost *p)
{
	int i;

	for (i = 0; i < 20; i++) {
		FCT_DO(look_at_events(p));
		FCT_DO(look_at_completions(p));
		FCT_DO(fct_lost_bystander(p));
	}
	return 0;
}

int fct_lost_check_errors(struct lost *p)
{
	unsigned int i;

	for (i = 0; i < p->posted; i++) {
		fct_note("operation %u: %s", i, fi_strerror(p->err[i]));
		if (i == p->first) {
			FCT_TRUE(p->err[i] && p->err[i] != FI_ECANCELED);
		} else {
			FCT_EQ(p->err[i], FI_ECANCELED);
		}
	}
	return 0;
}

/* ---- what is posted ---- */

ssize_t fct_lost_post(struct lost *p, const struct fct_op *op)
{
	struct fct_op o = *op;
	ssize_t ret;

	o.desc = p->m.desc;
	o.addr += p->peer.addr;
	o.key = p->peer.key;
	o.ctx = &p->ctx[p->posted];
	ret = fct_op_post(p->c[LOST_PEER].ep, &o);
	p->posted += !ret && fct_forms[o.form].done;
	return ret;
}

int fct_lost_post_receives(struct lost *p, unsigned int count)
{
	const struct fct_op receive = {.form = FCT_RECV,
				       .buf = p->m.buf + SINK,
				       .len = LOST_LEN};

	while (count--)
		FCT_CALL(fct_lost_post(p, &receive));
	return 0;
}

/* Stock verbs has no delivery complete. */
static int post_delivered(struct lost *p)
{
	const ssize_t n =
		fct_lost_post(p, &(struct fct_op){.form = FCT_WRITEMSG,
						  .buf = p->m.buf,
						  .len = LOST_LEN,
						  .flags = FI_COMPLETION |
							   FI_DELIVERY_COMPLETE});

	return n && n != -FI_EOPNOTSUPP && n != -FI_EINVAL && n != -FI_EBADFLAGS
		       ? fct_fail("fi_writemsg: %s", fi_strerror((int)-n))
		       : 0;
}

int fct_lost_post_all(struct lost *p)
{
	uint8_t *from = p->m.buf + SOURCE, *to = p->m.buf + SINK;
	const struct fct_op all[] = {
		{.form = FCT_SEND, .buf = from, .len = LOST_LEN},
		{.form = FCT_SEND, .buf = from, .len = LOST_LEN},
		{.form = FCT_WRITE, .buf = from, .len = LOST_LEN},
		{.form = FCT_WRITEDATA, .buf = from, .len = LOST_LEN, .data = 7},
		{.form = FCT_READ, .buf = to, .len = LOST_LEN},
		{.form = FCT_FETCH,
		 .buf = from,
		 .result = to,
		 .type = FI_UINT64,
		 .op = FI_SUM},
	};
	const struct fct_op injected[] = {
		{.form = FCT_INJECT_WRITE, .buf = from, .len = 8},
		{.form = FCT_INJECT, .buf = from, .len = 8},
	};
	size_t i;

	FCT_DO(fct_lost_post_receives(p, 3));
	p->first = p->posted;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		FCT_CALL(fct_lost_post(p, &all[i]));
	FCT_DO(post_delivered(p));
	for (i = 0; i < sizeof(injected) / sizeof(injected[0]); i++)
		FCT_CALL(fct_lost_post(p, &injected[i]));
	return 0;
}

/* ---- the bystander ---- */

int fct_lost_be_bystander(const struct fct_where *where)
{
	FCT_AUTO(fct_link_end) struct lost p = {0};
	struct fct_setup s = setup_of(&p);
	struct fct_ctx in, out;
	struct fct_event e;
	struct fi_cq_data_entry c;
	struct fid_ep *ep;
	struct fct_wait w;

	s.caps &= ~FI_ATOMIC;
	FCT_DO(fct_link_open_alone(&p.l, &s, where));
	FCT_DO(memory(&p));
	FCT_DO(connect_as(&p, LOST_BYSTANDER));
	ep = p.c[LOST_BYSTANDER].ep;
	FCT_CALL(fi_recv(ep, p.m.buf, LOST_LEN, p.m.desc, 0, &in));
	fct_wait_init(&w, "messages, or the end");
	while (!fct_eq_look(p.l.eq, &e)) {
		FCT_DO(fct_wait_again(&w));
		if (fi_cq_read(p.l.txcq, &c, 1) != 1 || c.op_context != &in)
			continue;
		fct_wait_init(&w, "messages, or the end");
		memcpy(p.m.buf + OUT, p.m.buf, LOST_LEN);
		FCT_CALL(fi_recv(ep, p.m.buf, LOST_LEN, p.m.desc, 0, &in));
		FCT_CALL(fi_send(ep, p.m.buf + OUT, LOST_LEN, p.m.desc, 0, &out));
	}
	FCT_EQ(e.event, FI_SHUTDOWN);
	return 0;
}

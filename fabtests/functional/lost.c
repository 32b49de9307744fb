/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of the plays: two connections of one process, of which one is in trouble. */
#include <sched.h>
#include <unistd.h>

#include "lost.h"
#include "lost_where.h"

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

	c->info = fi_dupinfo(p->l.info);
	FCT_TRUE(c->info);
	FCT_DO(fct_ep_open(&p->l, c, c->info));
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
	c->info = e->cm.info;
	meet(p, theirs);
	FCT_DO(fct_ep_open(&p->l, c, c->info));
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
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;
	ssize_t n = fi_cq_read(p->l.txcq, &e, 1);

	if (n == -FI_EAGAIN)
		return 0;
	if (n == 1)
		return completed(p, e.op_context, 0) ? -1 : 1;
	FCT_EQ(n, -FI_EAVAIL);
	FCT_EQ(fi_cq_readerr(p->l.txcq, &err, 0), 1);
	FCT_TRUE(err.err > 0);
	FCT_DO(completed(p, err.op_context, err.err));
	return 1;
}

static int look_at_events(struct lost *p)
{
	struct fct_event e = {0};
	ssize_t n = fi_eq_read(p->l.eq, &e.event, e.room, sizeof(e.room), 0);

	if (n == -FI_EAGAIN)
		return 0;
	FCT_CALL(n);
	FCT_EQ(e.event, FI_SHUTDOWN);
	FCT_TRUE(e.cm.fid == &p->c[LOST_PEER].ep->fid);
	FCT_EQ(++p->shutdowns, 1);
	return 0;
}

int fct_lost_bystander(struct lost *p)
{
	struct fid_ep *ep = p->c[LOST_BYSTANDER].ep;
	const uint64_t seed = p->round;
	struct fct_wait w;
	int ret;

	if (!ep)
		return 0;
	fct_fill(p->m.buf + OUT, LOST_LEN, seed);
	memset(p->m.buf + BACK, 0, LOST_LEN);
	FCT_CALL(fi_recv(ep, p->m.buf + BACK, LOST_LEN, p->m.desc, 0, &p->bystander[0]));
	FCT_CALL(fi_send(ep, p->m.buf + OUT, LOST_LEN, p->m.desc, 0, &p->bystander[1]));
	fct_wait_init(&w, "a message to the bystander and back");
	while (p->round < seed + 2) {
		FCT_GET(ret, look_at_completions(p));
		if (!ret)
			FCT_DO(fct_wait_again(&w));
	}
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

static struct fct_ctx *next(struct lost *p)
{
	return &p->ctx[p->posted++];
}

int fct_lost_post_receives(struct lost *p, unsigned int count)
{
	while (count--)
		FCT_CALL(fi_recv(p->c[LOST_PEER].ep, p->m.buf + SINK, LOST_LEN, p->m.desc,
				 0, next(p)));
	return 0;
}

/* Stock verbs has no delivery complete. */
static int post_delivered(struct lost *p)
{
	struct iovec iov = {.iov_base = p->m.buf, .iov_len = LOST_LEN};
	struct fi_rma_iov rma = {.addr = p->peer.addr,
				 .len = LOST_LEN,
				 .key = p->peer.key};
	struct fi_msg_rma msg = {.msg_iov = &iov,
				 .desc = &p->m.desc,
				 .iov_count = 1,
				 .rma_iov = &rma,
				 .rma_iov_count = 1,
				 .context = &p->ctx[p->posted]};
	ssize_t n = fi_writemsg(p->c[LOST_PEER].ep, &msg,
				FI_COMPLETION | FI_DELIVERY_COMPLETE);

	if (!n)
		p->posted++;
	return n && n != -FI_EOPNOTSUPP && n != -FI_EINVAL && n != -FI_EBADFLAGS
		       ? fct_fail("fi_writemsg: %s", fi_strerror((int)-n))
		       : 0;
}

int fct_lost_post_all(struct lost *p)
{
	const uint64_t addr = p->peer.addr, key = p->peer.key;
	struct fid_ep *ep = p->c[LOST_PEER].ep;
	uint8_t *from = p->m.buf + SOURCE, *to = p->m.buf + SINK;
	void *desc = p->m.desc;

	FCT_DO(fct_lost_post_receives(p, 3));
	p->first = p->posted;
	FCT_CALL(fi_send(ep, from, LOST_LEN, desc, 0, next(p)));
	FCT_CALL(fi_send(ep, from, LOST_LEN, desc, 0, next(p)));
	FCT_CALL(fi_write(ep, from, LOST_LEN, desc, 0, addr, key, next(p)));
	FCT_CALL(fi_writedata(ep, from, LOST_LEN, desc, 7, 0, addr, key, next(p)));
	FCT_CALL(fi_read(ep, to, LOST_LEN, desc, 0, addr, key, next(p)));
	FCT_CALL(fi_fetch_atomic(ep, from, 1, desc, to, desc, 0, addr, key, FI_UINT64,
				 FI_SUM, next(p)));
	FCT_DO(post_delivered(p));
	FCT_CALL(fi_inject_write(ep, from, 8, 0, addr, key));
	FCT_CALL(fi_inject(ep, from, 8, 0));
	return 0;
}

/* ---- the bystander ---- */

int fct_lost_be_bystander(const struct fct_where *where)
{
	FCT_AUTO(fct_link_end) struct lost p = {0};
	struct fct_setup s = setup_of(&p);
	struct fct_ctx in, out;
	struct fct_event e = {0};
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
	while (fi_eq_read(p.l.eq, &e.event, e.room, sizeof(e.room), 0) == -FI_EAGAIN) {
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

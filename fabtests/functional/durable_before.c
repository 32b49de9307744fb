/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_cq(3), FI_FENCE: a fenced durable operation says that what was posted before it, of
 * any kind and level, is durable as well. Where some of that went to ordinary memory it
 * fails: at its call where this side knows it, else as its completion.
 */
#include <rdma/fi_atomic.h>

#include "durable.h"

#define LEN 256u
#define RECEIVES 4u /* of LEN bytes, behind DURABLE_MAX */

enum what {
	SEND,
	SENDDATA,
	INJECT,
	INJECTDATA,
	WRITE,
	WRITEDATA,
	INJECT_WRITEDATA,
	ATOMIC
};

static bool sends(enum what what)
{
	return what <= INJECTDATA;
}

struct before {
	struct durable d;
	struct fct_target other; /* ordinary memory of the server's */
	struct fct_mem mem;
	struct fct_conn c; /* of one pair of operations */
	bool atomics;
	uint32_t data; /* remote CQ data can be sent */
};

static bool possible(const struct before *b, enum what what)
{
	switch (what) {
	case ATOMIC:
		return b->atomics;
	case SENDDATA:
	case INJECTDATA:
	case WRITEDATA:
	case INJECT_WRITEDATA:
		return b->data;
	default:
		return true;
	}
}

static ssize_t post_message(struct before *b, enum what what, uint64_t flags,
			    void *context)
{
	const struct iovec iov = {b->d.local.buf, 64};
	const struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &b->d.local.desc,
		.iov_count = 1,
		.data = 5,
		.context = context,
	};

	if (what == INJECT)
		return fi_inject(b->c.ep, iov.iov_base, 8, 0);
	if (what == INJECTDATA)
		return fi_injectdata(b->c.ep, iov.iov_base, 8, 5, 0);
	return fi_sendmsg(b->c.ep, &msg,
			  flags | (what == SENDDATA ? FI_REMOTE_CQ_DATA : 0));
}

static ssize_t post_atomic(struct before *b, const struct fct_target *to, uint64_t flags,
			   void *context)
{
	struct fi_ioc ioc = {b->d.local.buf, 1};
	struct fi_rma_ioc range = {to->addr, 1, to->key};
	const struct fi_msg_atomic msg = {
		.msg_iov = &ioc,
		.desc = &b->d.local.desc,
		.iov_count = 1,
		.rma_iov = &range,
		.rma_iov_count = 1,
		.datatype = FI_UINT64,
		.op = FI_SUM,
		.context = context,
	};

	return fi_atomicmsg(b->c.ep, &msg, flags);
}

static ssize_t post_write(struct before *b, enum what what, const struct fct_target *to,
			  size_t len, uint64_t flags, void *context)
{
	const struct iovec iov = {b->d.local.buf, len};
	const struct fi_rma_iov range = {to->addr, len, to->key};
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &b->d.local.desc,
		.iov_count = 1,
		.rma_iov = &range,
		.rma_iov_count = 1,
		.data = 5,
		.context = context,
	};

	if (what == INJECT_WRITEDATA)
		return fi_inject_writedata(b->c.ep, iov.iov_base, 8, 5, 0, to->addr,
					   to->key);
	return fi_writemsg(b->c.ep, &msg,
			   flags | (what == WRITEDATA ? FI_REMOTE_CQ_DATA : 0));
}

static ssize_t post(struct before *b, enum what what, const struct fct_target *to,
		    size_t len, uint64_t flags, void *context)
{
	if (sends(what))
		return post_message(b, what, flags, context);
	if (what == ATOMIC)
		return post_atomic(b, to, flags, context);
	return post_write(b, what, to, len, flags, context);
}

/* A connection whose receives are in persistent memory, or not. */
static int pair_up(struct before *b, bool persistent)
{
	struct durable *d = &b->d;
	uint8_t *buf =
		persistent && d->mem ? d->mem + DURABLE_MAX : d->local.buf + DURABLE_MAX;
	void *desc = persistent && d->mr ? fi_mr_desc(d->mr) : d->local.desc;
	unsigned int i;

	b->c = (struct fct_conn){0};
	FCT_DO(fct_conn_up(&d->l, &b->c));
	for (i = 0; fct_is_server() && i < RECEIVES; i++)
		FCT_CALL(fi_recv(b->c.ep, buf + i * LEN, LEN, desc, 0, &d->ctx[i]));
	return fct_barrier("receives are posted");
}

/* What was received is nobody's to look at. */
static int pair_down(struct before *b)
{
	struct fct_link *l = &b->d.l;
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;

	FCT_DO(fct_barrier("a pair of operations is over"));
	FCT_DO(fct_conn_close(l, &b->c));
	while (fi_cq_read(l->rxcq, &e, 1) == 1 || fi_cq_readerr(l->rxcq, &err, 0) == 1)
		;
	return 0;
}

/* The first of the pair, without a word of durability. */
static int plain(struct before *b, enum what what, const struct fct_target *to)
{
	struct durable *d = &b->d;
	struct fi_cq_data_entry e;

	FCT_POST(d->l.txcq, post(b, what, to, 64, FI_COMPLETION, &d->ctx[0]));
	if (what == INJECT || what == INJECTDATA || what == INJECT_WRITEDATA)
		return 0;
	return fct_comp_any(d->l.txcq, &e, "the plain operation");
}

/* The second: at one byte, at a word, at more. */
static int fenced_ends(struct before *b, enum what what, size_t len)
{
	struct durable *d = &b->d;
	struct fi_cq_data_entry e;

	FCT_POST(d->l.txcq,
		 post(b, what, &d->peer, len,
		      FI_FENCE | FI_COMMIT_COMPLETE | FI_COMPLETION, &d->ctx[1]));
	FCT_DO(fct_comp_any(d->l.txcq, &e, "the fenced durable operation"));
	FCT_TRUE(e.op_context == &d->ctx[1]);
	return 0;
}

static int fenced_refused(struct before *b, enum what what, size_t len, int err)
{
	struct durable *d = &b->d;

	FCT_ERR((int)post(b, what, &d->peer, len,
			  FI_FENCE | FI_COMMIT_COMPLETE | FI_COMPLETION, &d->ctx[1]),
		err);
	return fct_cq_quiet(d->l.txcq, "after a refused operation");
}

static int fenced_fails(struct before *b, enum what what, size_t len)
{
	struct durable *d = &b->d;
	struct fi_cq_err_entry err = {0};

	FCT_POST(d->l.txcq,
		 post(b, what, &d->peer, len,
		      FI_FENCE | FI_COMMIT_COMPLETE | FI_COMPLETION, &d->ctx[1]));
	FCT_DO(fct_comp_err(d->l.txcq, &err, "the fenced durable operation"));
	FCT_TRUE(err.op_context == &d->ctx[1]);
	FCT_EQ(err.err, FI_EOPNOTSUPP);
	/* From now on this is known. */
	return fenced_refused(b, what, len, -FI_EOPNOTSUPP);
}

static int durable_alone(struct before *b)
{
	struct durable *d = &b->d;
	struct fi_cq_data_entry e;

	FCT_POST(d->l.txcq, post(b, WRITE, &d->peer, 64,
				 FI_COMMIT_COMPLETE | FI_COMPLETION, &d->ctx[2]));
	return fct_comp_any(d->l.txcq, &e, "a durable write that is not fenced");
}

static const enum what firsts[] = {SEND,  SENDDATA,  INJECT,	       INJECTDATA,
				   WRITE, WRITEDATA, INJECT_WRITEDATA, ATOMIC};
static const struct {
	enum what what;
	size_t len;
} seconds[] = {{WRITE, 8}, {WRITE, 1000},   {WRITE, 0},
	       {SEND, 64}, {WRITEDATA, 64}, {ATOMIC, 8}};

#define FIRSTS (sizeof(firsts) / sizeof(firsts[0]))
#define SECONDS (sizeof(seconds) / sizeof(seconds[0]))

/* iWARP has no atomics. */
static struct fct_setup before_setup(void)
{
	struct fct_setup s = fct_durable_setup();
	struct fi_info *info = NULL;

	s.cq_data_size = 4;
	s.caps |= FI_ATOMIC;
	if (fct_getinfo(&s, NULL, "0", &info))
		s.caps &= ~(uint64_t)FI_ATOMIC;
	fi_freeinfo(info);
	return s;
}

/* iWARP's device refuses it when it is posted. */
static int try_data(struct before *b)
{
	struct durable *d = &b->d;
	struct fi_cq_data_entry e;
	uint32_t server = 1;

	b->data = 1;
	FCT_DO(pair_up(b, true));
	if (fct_is_client())
		b->data = !post(b, WRITEDATA, &d->peer, 64, FI_COMPLETION, &d->ctx[0]);
	if (fct_is_client() && b->data)
		FCT_DO(fct_comp_any(d->l.txcq, &e, "a write with data"));
	FCT_DO(fct_exchange("remote CQ data", fct_is_client() ? &b->data : &server,
			    fct_is_client() ? &server : &b->data, sizeof(server)));
	return pair_down(b);
}

static int before_up(struct before *b)
{
	const struct fct_setup s = before_setup();
	struct fct_target mine = {0};
	size_t count;

	*b = (struct before){0};
	FCT_DO(fct_durable_up(&b->d, &s));
	FCT_DO(fct_mem_alloc(&b->d.l, &b->mem, LEN,
			     FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE));
	mine = fct_mem_target(&b->d.l, &b->mem);
	FCT_DO(fct_exchange("ordinary memory", &mine, &b->other, sizeof(mine)));
	b->atomics = (s.caps & FI_ATOMIC) &&
		     !fi_atomicvalid(b->d.l.c.ep, FI_UINT64, FI_SUM, &count);
	return try_data(b);
}

static int persistent_pair(struct before *b, size_t i, size_t j)
{
	fct_note("%zu, then %zu", i, j);
	FCT_DO(pair_up(b, true));
	if (fct_is_client()) {
		FCT_DO(plain(b, firsts[i], &b->d.peer));
		FCT_DO(fenced_ends(b, seconds[j].what, seconds[j].len));
		FCT_DO(fenced_ends(b, WRITE, 8));
	}
	return pair_down(b);
}

FCT_CASE(before, "a fence makes operations of every kind before it durable")
{
	FCT_AUTO(fct_durable_end) struct before b = {0};
	size_t i, j;

	FCT_DO(before_up(&b));
	for (i = 0; i < FIRSTS; i++) {
		for (j = 0; j < SECONDS; j++) {
			if (possible(&b, firsts[i]) && possible(&b, seconds[j].what))
				FCT_DO(persistent_pair(&b, i, j));
		}
	}
	return 0;
}

/* Where a fenced message goes matters too, and is said of that one anyhow. */
static int volatile_pair(struct before *b, size_t i, size_t j)
{
	const enum what second = seconds[j].what;

	fct_note("%zu, then %zu", i, j);
	FCT_DO(pair_up(b, false));
	if (fct_is_client()) {
		FCT_DO(plain(b, firsts[i], &b->other));
		if (sends(firsts[i]))
			FCT_DO(fenced_fails(b, second, seconds[j].len));
		else
			FCT_DO(fenced_refused(b, second, seconds[j].len, -FI_EOPNOTSUPP));
		FCT_DO(durable_alone(b));
	}
	return pair_down(b);
}

FCT_CASE(before_volatile, "a fence fails where something before it went to other memory")
{
	FCT_AUTO(fct_durable_end) struct before b = {0};
	size_t i, j;

	FCT_DO(before_up(&b));
	for (i = 0; i < FIRSTS; i++) {
		for (j = 0; j < SECONDS; j++) {
			if (possible(&b, firsts[i]) && possible(&b, seconds[j].what))
				FCT_DO(volatile_pair(&b, i, j));
		}
	}
	return 0;
}

/* Only durable operations look at the upper half of a key. */
FCT_CASE(before_damaged, "and where the key of something before it says nothing")
{
	struct fct_target damaged;
	FCT_AUTO(fct_durable_end) struct before b = {0};

	FCT_DO(before_up(&b));
	FCT_DO(pair_up(&b, true));
	damaged = b.d.peer;
	damaged.key ^= 1ull << 60;
	if (fct_is_client()) {
		FCT_DO(plain(&b, WRITE, &damaged));
		FCT_DO(fenced_refused(&b, WRITE, 8, -FI_EKEYREJECTED));
		FCT_DO(durable_alone(&b));
	}
	return pair_down(&b);
}

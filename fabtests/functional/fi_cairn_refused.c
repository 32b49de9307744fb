/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a target refuses is the trouble of that operation and of its connection: one that
 * stands beside it, with the same queues, goes on.
 */
#include "fct_op.h"

#define LEN 4096u
#define PIECE 64u

enum fault { BAD_KEY, OUT_OF_RANGE, NO_RIGHT, FAULTS };
enum { REGION_ALL, REGION_READ, REGION_WRITE, REGIONS };
enum { BEFORE, REFUSED, BEHIND, BEHIND_SEND, RECEIVE, CONTEXTS };

static const char *const fault_names[] = {"wrong key", "out of range", "no right"};

struct side {
	struct fct_link l; /* its first connection is the one that goes on */
	struct fct_conn c; /* the one in trouble */
	struct fct_mem region[REGIONS], local, message;
	struct fct_target peer[REGIONS];
	struct fct_ctx ctx[CONTEXTS], other;
	bool cancelled;	 /* the receive on the one in trouble has been reported */
	int receive_err; /* what pverbs tells of it; 0: the device's matter */
};

struct kind {
	enum fct_form form;
	uint64_t caps; /* beside messages and RMA */
	bool receives; /* a device may have taken the receive before it refuses */
};

static bool reads(const struct kind *k)
{
	return fct_forms[k->form].done == (FI_RMA | FI_READ);
}

/* It has no context. */
static bool silent(const struct kind *k)
{
	return !fct_forms[k->form].done;
}

/* The operation that is refused. */
static ssize_t post(struct side *s, const struct kind *k, uint64_t addr, uint64_t key)
{
	const bool atomic = k->form >= FCT_ATOMIC;
	const struct fct_op op = {.form = k->form,
				  .buf = s->local.buf + (reads(k) ? PIECE : 0),
				  .len = atomic	     ? 1
					 : silent(k) ? 16
						     : PIECE,
				  .desc = s->local.desc,
				  .addr = addr,
				  .key = key,
				  .data = 7,
				  .ctx = &s->ctx[REFUSED],
				  .type = FI_UINT64,
				  .op = FI_SUM,
				  .result = s->local.buf + PIECE};

	return fct_op_post(s->c.ep, &op);
}

static int open_side(struct side *s, uint64_t caps)
{
	static const uint64_t access[REGIONS] = {FI_REMOTE_READ | FI_REMOTE_WRITE,
						 FI_REMOTE_READ, FI_REMOTE_WRITE};
	struct fct_setup setup = {.caps = FI_MSG | FI_RMA | caps, .cq_data_size = 4};
	struct fct_target mine[REGIONS];
	int i;

	setup.cq_size = 1024;
	FCT_DO(fct_link_up(&s->l, &setup));
	for (i = 0; i < REGIONS; i++) {
		FCT_DO(fct_mem_alloc(&s->l, &s->region[i], LEN, access[i]));
		memset(s->region[i].buf, 0x22, LEN);
		mine[i] = fct_mem_target(&s->l, &s->region[i]);
	}
	FCT_DO(fct_mem_alloc(&s->l, &s->local, LEN,
			     FI_READ | FI_WRITE | FI_SEND | FI_RECV));
	FCT_DO(fct_mem_alloc(&s->l, &s->message, LEN, FI_SEND | FI_RECV));
	return fct_exchange("regions", mine, s->peer, sizeof(mine));
}

/*
 * The message on the connection that goes on. When the receive on the one in trouble is
 * cancelled is the device's matter.
 */
static int message_came(struct side *s, uint64_t seed)
{
	struct fi_cq_err_entry err;
	struct fi_cq_data_entry e;
	int ret;

	FCT_GET(ret, fct_cq_next(s->l.rxcq, &e, "a message on the other connection"));
	if (ret) {
		FCT_TRUE(!s->cancelled);
		FCT_DO(fct_comp_err(s->l.rxcq, &err, "the receive in trouble"));
		FCT_TRUE(err.op_context == &s->ctx[RECEIVE]);
		FCT_TRUE(err.err > 0);
		if (s->receive_err)
			FCT_EQ(err.err, s->receive_err);
		s->cancelled = true;
		FCT_DO(fct_comp_any(s->l.rxcq, &e, "a message"));
	}
	FCT_TRUE(e.op_context == &s->other);
	FCT_DATA(s->message.buf, PIECE, seed);
	return 0;
}

/* A message over the connection that goes on. */
static int other_connection(struct side *s, uint64_t seed)
{
	struct fi_cq_data_entry e;

	if (fct_is_server())
		FCT_POST(s->l.rxcq, fi_recv(s->l.c.ep, s->message.buf, PIECE,
					    s->message.desc, 0, &s->other));
	FCT_DO(fct_barrier("receive posted"));
	if (fct_is_server()) {
		FCT_DO(message_came(s, seed));
	} else {
		fct_fill(s->message.buf, PIECE, seed);
		FCT_POST(s->l.txcq, fi_send(s->l.c.ep, s->message.buf, PIECE,
					    s->message.desc, 0, &s->other));
		FCT_DO(fct_comp(s->l.txcq, &s->other, FI_SEND | FI_MSG, &e,
				"the send on the other connection"));
	}
	return fct_barrier("message done");
}

/* An error of one of the operations of the set, which becomes *which. */
static int expect_error(struct side *s, unsigned int set, int *which,
			struct fi_cq_err_entry *entry)
{
	FCT_DO(fct_comp_err(s->l.txcq, entry, "what was refused, and what is behind"));
	FCT_TRUE(entry->err > 0);
	for (*which = 0; *which < CONTEXTS; ++*which)
		if (set & 1u << *which && entry->op_context == &s->ctx[*which])
			break;
	FCT_TRUE(*which < CONTEXTS);
	return 0;
}

/* err: what pverbs tells; 0: the device's matter. Atomics say what they are, but those of
 * stock verbs. */
static int expect_error_of(struct side *s, int which, int err, const struct kind *k)
{
	const char *prov = s->l.info->fabric_attr->prov_name;
	struct fi_cq_err_entry entry;
	int found;

	FCT_DO(expect_error(s, 1u << which, &found, &entry));
	if (err && !strcmp(prov, "pverbs"))
		FCT_EQ(entry.err, err);
	if (k && k->caps && strcmp(prov, "verbs") != 0)
		FCT_EQ(entry.flags & fct_forms[k->form].done, fct_forms[k->form].done);
	return 0;
}

/* In the order of posting, where completions are in order. */
static int expect_errors(struct side *s, const struct kind *k)
{
	unsigned int set = 1u << BEHIND | 1u << BEHIND_SEND;
	struct fi_cq_err_entry entry;
	int which;

	set |= silent(k) ? 0 : 1u << REFUSED;
	if (s->l.info->tx_attr->comp_order & FCT_ORDER_STRICT) {
		if (!silent(k))
			FCT_DO(expect_error_of(s, REFUSED, FI_EACCES, k));
		FCT_DO(expect_error_of(s, BEHIND, FI_ECANCELED, NULL));
		FCT_DO(expect_error_of(s, BEHIND_SEND, FI_ECANCELED, NULL));
		set = 0;
	}
	while (set) {
		FCT_DO(expect_error(s, set, &which, &entry));
		set &= ~(1u << which);
	}
	return 0;
}

static int ask(struct side *s, const struct kind *k, enum fault fault)
{
	const struct fct_target *all = &s->peer[REGION_ALL], *to = all;
	struct fid_ep *ep = s->c.ep;
	struct fi_cq_data_entry e;
	struct fct_event event;

	if (fault == NO_RIGHT)
		to = &s->peer[reads(k) ? REGION_WRITE : REGION_READ];
	memset(s->local.buf, 0x11, LEN);
	FCT_CALL(fi_write(ep, s->local.buf, PIECE, s->local.desc, 0, all->addr, all->key,
			  &s->ctx[BEFORE]));
	FCT_CALL(post(s, k, to->addr + (fault == OUT_OF_RANGE ? LEN : 2 * PIECE),
		      fault == BAD_KEY ? to->key ^ 0x5a5a5a : to->key));
	FCT_CALL(fi_write(ep, s->local.buf, PIECE, s->local.desc, 0, all->addr + PIECE,
			  all->key, &s->ctx[BEHIND]));
	FCT_CALL(
		fi_send(ep, s->local.buf, PIECE, s->local.desc, 0, &s->ctx[BEHIND_SEND]));
	FCT_DO(fct_comp(s->l.txcq, &s->ctx[BEFORE], FI_WRITE | FI_RMA, &e,
			"the write before it"));
	FCT_DO(expect_errors(s, k));
	if (silent(k))
		FCT_DO(fct_eq_expect(s->l.eq, FI_SHUTDOWN, &ep->fid, &event));
	FCT_TRUE(fct_all(s->local.buf, LEN, 0x11));
	return 0;
}

/* What came of it at the target: the write before it and nothing else. */
static int look(struct side *s)
{
	FCT_TRUE(fct_all(s->region[REGION_ALL].buf, PIECE, 0x11));
	FCT_TRUE(fct_all(s->region[REGION_ALL].buf + PIECE, LEN - PIECE, 0x22));
	FCT_TRUE(fct_all(s->region[REGION_READ].buf, LEN, 0x22));
	FCT_TRUE(fct_all(s->region[REGION_WRITE].buf, LEN, 0x22));
	memset(s->region[REGION_ALL].buf, 0x22, LEN);
	return 0;
}

static int one(struct side *s, const struct kind *k, enum fault fault)
{
	struct fct_event e;

	fct_note("%s", fault_names[fault]);
	s->cancelled = false;
	s->receive_err = k->receives ? 0 : FI_ECANCELED;
	FCT_DO(fct_conn_up(&s->l, &s->c));
	if (fct_is_server())
		FCT_CALL(fi_recv(s->c.ep, s->local.buf, PIECE, s->local.desc, 0,
				 &s->ctx[RECEIVE]));
	FCT_DO(fct_barrier("ready"));
	if (fct_is_client())
		FCT_DO(ask(s, k, fault));
	FCT_DO(fct_barrier("refused"));
	if (fct_is_server())
		FCT_DO(look(s));
	FCT_DO(other_connection(s, fault));
	if (fct_is_client()) {
		FCT_DO(fct_conn_close(&s->l, &s->c));
		FCT_DO(fct_cq_quiet(s->l.txcq, "after closing"));
	} else {
		FCT_DO(fct_eq_expect(s->l.eq, FI_SHUTDOWN, &s->c.ep->fid, &e));
		FCT_DO(fct_conn_close(&s->l, &s->c));
		if (!s->cancelled)
			FCT_DO(expect_error_of(s, RECEIVE, s->receive_err, NULL));
		FCT_DO(fct_cq_quiet(s->l.rxcq, "after closing"));
	}
	FCT_ERR(fi_eq_read(s->l.eq, &e.event, e.room, sizeof(e.room), 0), -FI_EAGAIN);
	FCT_DO(other_connection(s, 7));
	return 0;
}

static int refused(const struct kind *k)
{
	FCT_AUTO(fct_link_end) struct side s = {0};
	int fault;

	FCT_DO(open_side(&s, k->caps));
	for (fault = 0; fault < FAULTS; fault++)
		FCT_DO(one(&s, k, (enum fault)fault));
	return 0;
}

FCT_CASE_CALL(write, "writes that the target refuses",
	      refused(&(struct kind){.form = FCT_WRITE}))

FCT_CASE_CALL(writedata, "writes with data",
	      refused(&(struct kind){.form = FCT_WRITEDATA, .receives = true}))

FCT_CASE_CALL(inject, "injected writes, of which only FI_SHUTDOWN tells",
	      refused(&(struct kind){.form = FCT_INJECT_WRITE}))

FCT_CASE_CALL(read, "reads", refused(&(struct kind){.form = FCT_READ}))

FCT_CASE_CALL(atomic, "atomics",
	      refused(&(struct kind){.form = FCT_FETCH, .caps = FI_ATOMIC}))

FCT_PROGRAM(.name = "fi_cairn_refused",
	    .what = "What a target refuses, beside a connection that goes on.")

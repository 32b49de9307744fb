/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_cq(3), FI_FENCE: a fenced durable operation says that what was posted before it, of
 * any kind and level, is durable as well. Where some of that went to ordinary memory it
 * fails: at its call where this side knows it, else as its completion.
 */
#include "durable.h"

#define LEN 256u
#define RECEIVES 4u /* of LEN bytes, behind DURABLE_MAX */

struct before {
	struct durable d;
	struct fct_target other; /* ordinary memory of the server's */
	struct fct_mem mem;
	struct fct_conn c; /* of one pair of operations */
	bool atomics;
	uint32_t data; /* remote CQ data can be sent */
};

static bool has_data(enum fct_form form, uint64_t flags)
{
	return fct_forms[form].data || (flags & FI_REMOTE_CQ_DATA);
}

static bool sends(enum fct_form form)
{
	return form < FCT_RECV;
}

static bool possible(const struct before *b, enum fct_form form, uint64_t flags)
{
	return form == FCT_ATOMICMSG ? b->atomics : b->data || !has_data(form, flags);
}

/* A call without flags has no more than eight bytes. */
static ssize_t post(struct before *b, enum fct_form form, const struct fct_target *to,
		    size_t len, uint64_t flags, void *context)
{
	struct fct_op op = fct_durable_op(&b->d, form, 0, sends(form) ? 64 : len, flags);

	if (!fct_forms[form].done)
		op.len = 8;
	if (form == FCT_ATOMICMSG)
		op.len = 1;
	op.addr = to->addr;
	op.key = to->key;
	op.data = 5;
	op.ctx = context;
	return fct_op_post(b->c.ep, &op);
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
static int plain(struct before *b, enum fct_form form, uint64_t flags,
		 const struct fct_target *to)
{
	struct durable *d = &b->d;
	struct fi_cq_data_entry e;

	FCT_POST(d->l.txcq, post(b, form, to, 64, flags | FI_COMPLETION, &d->ctx[0]));
	return fct_forms[form].done ? fct_comp_any(d->l.txcq, &e, "the plain operation")
				    : 0;
}

/* The operations of a pair: of the second one how many bytes. */
struct what {
	enum fct_form form;
	uint64_t flags;
	size_t len;
};

/* The second, fenced and durable. */
static ssize_t post_fenced(struct before *b, const struct what *w)
{
	return post(b, w->form, &b->d.peer, w->len,
		    w->flags | FI_FENCE | FI_COMMIT_COMPLETE | FI_COMPLETION,
		    &b->d.ctx[1]);
}

static int fenced_ends(struct before *b, const struct what *w)
{
	struct durable *d = &b->d;
	struct fi_cq_data_entry e;

	FCT_POST(d->l.txcq, post_fenced(b, w));
	FCT_DO(fct_comp_any(d->l.txcq, &e, "the fenced durable operation"));
	FCT_TRUE(e.op_context == &d->ctx[1]);
	return 0;
}

static int fenced_refused(struct before *b, const struct what *w, int err)
{
	FCT_ERR((int)post_fenced(b, w), err);
	return fct_cq_quiet(b->d.l.txcq, "after a refused operation");
}

static int fenced_fails(struct before *b, const struct what *w)
{
	struct durable *d = &b->d;
	struct fi_cq_err_entry err = {0};

	FCT_POST(d->l.txcq, post_fenced(b, w));
	FCT_DO(fct_comp_err(d->l.txcq, &err, "the fenced durable operation"));
	FCT_TRUE(err.op_context == &d->ctx[1]);
	FCT_EQ(err.err, FI_EOPNOTSUPP);
	/* From now on this is known. */
	return fenced_refused(b, w, -FI_EOPNOTSUPP);
}

static int durable_alone(struct before *b)
{
	struct durable *d = &b->d;
	struct fi_cq_data_entry e;

	FCT_POST(d->l.txcq, post(b, FCT_WRITEMSG, &d->peer, 64,
				 FI_COMMIT_COMPLETE | FI_COMPLETION, &d->ctx[2]));
	return fct_comp_any(d->l.txcq, &e, "a durable write that is not fenced");
}

static const struct what firsts[] = {
	{.form = FCT_SENDMSG},	 {.form = FCT_SENDMSG, .flags = FI_REMOTE_CQ_DATA},
	{.form = FCT_INJECT},	 {.form = FCT_INJECTDATA},
	{.form = FCT_WRITEMSG},	 {.form = FCT_WRITEMSG, .flags = FI_REMOTE_CQ_DATA},
	{.form = FCT_ATOMICMSG}, {.form = FCT_INJECT_WRITEDATA},
};
/* At one byte, at a word, at more. */
static const struct what seconds[] = {
	{.form = FCT_WRITEMSG, .len = 8},
	{.form = FCT_WRITEMSG, .len = 1000},
	{.form = FCT_WRITEMSG, .len = 0},
	{.form = FCT_SENDMSG},
	{.form = FCT_WRITEMSG, .flags = FI_REMOTE_CQ_DATA, .len = 64},
	{.form = FCT_ATOMICMSG},
};

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
		b->data = !post(b, FCT_WRITEMSG, &d->peer, 64,
				FI_REMOTE_CQ_DATA | FI_COMPLETION, &d->ctx[0]);
	if (fct_is_client() && b->data)
		FCT_DO(fct_comp_any(d->l.txcq, &e, "a write with data"));
	FCT_DO(fct_exchange("remote CQ data", fct_is_client() ? &b->data : &server,
			    fct_is_client() ? &server : &b->data, sizeof(server)));
	return pair_down(b);
}

static int before_up(struct before *b)
{
	const struct fct_setup s = before_setup();
	size_t count;

	*b = (struct before){0};
	FCT_DO(fct_durable_up(&b->d, &s));
	FCT_DO(fct_mem_expose(&b->d.l, &b->mem, LEN,
			      FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE,
			      &b->other));
	b->atomics = (s.caps & FI_ATOMIC) &&
		     !fi_atomicvalid(b->d.l.c.ep, FI_UINT64, FI_SUM, &count);
	return try_data(b);
}

/* Where a fenced message goes matters too, and is said of that one anyhow. */
static int one_pair(struct before *b, const struct what *first, const struct what *second,
		    bool persistent)
{
	static const struct what word = {.form = FCT_WRITEMSG, .len = 8};

	fct_note("%s, then %s", fct_forms[first->form].name,
		 fct_forms[second->form].name);
	FCT_DO(pair_up(b, persistent));
	if (fct_is_client() && persistent) {
		FCT_DO(plain(b, first->form, first->flags, &b->d.peer));
		FCT_DO(fenced_ends(b, second));
		FCT_DO(fenced_ends(b, &word));
	} else if (fct_is_client()) {
		FCT_DO(plain(b, first->form, first->flags, &b->other));
		FCT_DO(sends(first->form) ? fenced_fails(b, second)
					  : fenced_refused(b, second, -FI_EOPNOTSUPP));
		FCT_DO(durable_alone(b));
	}
	return pair_down(b);
}

static int all_pairs(bool persistent)
{
	FCT_AUTO(fct_durable_end) struct before b = {0};
	const struct what *i, *j;

	FCT_DO(before_up(&b));
	for (i = firsts; i < firsts + FIRSTS; i++)
		for (j = seconds; j < seconds + SECONDS; j++)
			if (possible(&b, i->form, i->flags) &&
			    possible(&b, j->form, j->flags))
				FCT_DO(one_pair(&b, i, j, persistent));
	return 0;
}

FCT_CASE_CALL(before, "a fence makes operations of every kind before it durable",
	      all_pairs(true))

FCT_CASE_CALL(before_volatile,
	      "a fence fails where something before it went to other memory",
	      all_pairs(false))

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
		FCT_DO(plain(&b, FCT_WRITEMSG, 0, &damaged));
		FCT_DO(fenced_refused(&b, &seconds[0], -FI_EKEYREJECTED));
		FCT_DO(durable_alone(&b));
	}
	return pair_down(&b);
}

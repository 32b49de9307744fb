/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An endpoint whose default is FI_COMMIT_COMPLETE: every call that has no flags of its
 * own is durable, and says so by its completion or, if it has none, by the endpoint's
 * counter.
 */
#include <rdma/fi_ext_cairn.h>

#include "durable.h"

#define AT(i) ((size_t)(i)*64)
#define LEN 48u
#define DATA 77u

/* Those that can be durable and have no flags, atomics last. */
static const enum fct_form forms[] = {
	FCT_WRITE,  FCT_WRITEV,	 FCT_WRITEDATA, FCT_INJECT_WRITE, FCT_INJECT_WRITEDATA,
	FCT_SEND,   FCT_SENDV,	 FCT_SENDDATA,	FCT_INJECT,	  FCT_INJECTDATA,
	FCT_ATOMIC, FCT_ATOMICV, FCT_FETCH,	FCT_COMPARE,	  FCT_INJECT_ATOMIC};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static bool is_atomic(unsigned int i)
{
	return forms[i] >= FCT_ATOMIC;
}

static bool is_message(unsigned int i)
{
	return forms[i] < FCT_RECV;
}

/* Does the target hear of it? */
static bool announces(unsigned int i)
{
	return is_message(i) || fct_forms[forms[i]].data;
}

static unsigned int used_forms(bool atomics)
{
	unsigned int n = 0;

	while (n < FORMS && (atomics || !is_atomic(n)))
		n++;
	return n;
}

static ssize_t post(struct durable *d, unsigned int i)
{
	uint8_t *to = d->local.buf + 8192;
	struct fct_op op = fct_durable_op(d, forms[i], AT(i), is_atomic(i) ? 1 : LEN, 0);

	op.pieces = 2;
	op.data = DATA;
	op.ctx = &d->ctx[i];
	op.result = to;
	/* Compared with the zero that is there. */
	op.compare = to + 64;
	if (forms[i] == FCT_COMPARE)
		op.op = FI_CSWAP;
	return fct_op_post(d->l.c.ep, &op);
}

/* Receives of the server, in the other half of its memory, where messages then are. */
static int receive(struct durable *d)
{
	unsigned int form, i = 0;

	for (form = 0; form < FORMS; form++) {
		if (!announces(form))
			continue;
		FCT_CALL(fi_recv(d->l.c.ep, d->mem + DURABLE_MAX + AT(i), LEN,
				 fi_mr_desc(d->mr), 0, &d->ctx[i]));
		i++;
	}
	return 0;
}

static int all_arrived(struct durable *d, bool atomics)
{
	struct fi_cq_data_entry e;
	unsigned int form, message = 0;
	const uint8_t *at;

	for (form = 0; form < used_forms(atomics); form++) {
		if (!announces(form))
			continue;
		FCT_DO(fct_comp_any(d->l.rxcq, &e, "what the target is told"));
		FCT_TRUE(e.op_context == &d->ctx[message++]);
	}
	FCT_DO(fct_barrier("all are durable"));
	for (form = message = 0; form < used_forms(atomics); form++) {
		at = is_message(form) ? d->mem + DURABLE_MAX + AT(message)
				      : d->mem + AT(form);
		FCT_DO(fct_compare(at, is_atomic(form) ? sizeof(uint64_t) : LEN, 20,
				   AT(form), fct_forms[forms[form]].name));
		message += announces(form);
	}
	return 0;
}

/* So many operations of the endpoint were durable, by whatever method, and reported: the
 * provider counts them. */
static int were_durable(struct durable *d, uint64_t count)
{
	struct fi_cairn_ops_stats *ops;
	struct fi_cairn_stats s;

	FCT_CALL(fi_open_ops(&d->l.c.ep->fid, FI_CAIRN_STATS, 0, (void **)&ops, NULL));
	FCT_CALL(ops->read(d->l.c.ep, &s, sizeof(s)));
	FCT_EQ(s.commit_arrived + s.commit_read + s.commit_flush + s.commit_request +
		       s.commit_message,
	       count);
	FCT_EQ(s.commit_later, 0);
	return 0;
}

/* One after the other: what is waited for is its own end. */
static int each_form(struct durable *d, struct fid_cntr *done, bool atomics)
{
	struct fi_cq_data_entry e;
	unsigned int form;

	for (form = 0; form < used_forms(atomics); form++) {
		fct_doing("a call form");
		FCT_POST(d->l.txcq, post(d, form));
		if (fct_forms[forms[form]].done) {
			FCT_DO(fct_comp_any(d->l.txcq, &e, "a durable operation"));
			FCT_TRUE(e.op_context == &d->ctx[form]);
		}
		FCT_CALL(fi_cntr_wait(done, form + 1, 20000 * (int)fct.scale));
		FCT_DO(were_durable(d, form + 1));
	}
	FCT_EQ(fi_cntr_readerr(done), 0);
	FCT_DO(fct_cq_quiet(d->l.txcq, "after the last form"));
	return fct_barrier("all are durable");
}

static struct fid_cntr *done;

static int bind_counter(struct fct_link *l, struct fct_conn *c)
{
	return fct_durable_counter(l, c, FI_WRITE | FI_READ | FI_SEND, &done);
}

FCT_CASE(default_forms, "every call form without flags of its own, durable by default")
{
	struct fct_setup s = fct_durable_setup();
	FCT_AUTO(fct_durable_end) struct durable d = {0};
	bool atomics;
	size_t count;

	s.caps |= FI_ATOMIC;
	s.tx_op_flags = FI_COMMIT_COMPLETE;
	s.cq_data_size = 4;
	s.mode = FI_RX_CQ_DATA;
	s.bind = bind_counter;
	FCT_DO(fct_durable_up(&d, &s));
	atomics = !fi_atomicvalid(d.l.c.ep, FI_UINT64, FI_SUM, &count);
	fct_fill(d.local.buf, 4096, 20);
	memset(d.local.buf + 8192, 0, 128);
	if (fct_is_server())
		FCT_DO(receive(&d));
	FCT_DO(fct_barrier("receives"));
	if (fct_is_client())
		FCT_DO(each_form(&d, done, atomics));
	else
		FCT_DO(all_arrived(&d, atomics));
	return fct_barrier("done");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An endpoint whose default is FI_COMMIT_COMPLETE: every call that has no flags of its
 * own is durable, and says so by its completion or, if it has none, by the endpoint's
 * counter.
 */
#include <rdma/fi_atomic.h>
#include <rdma/fi_ext_cairn.h>

#include "durable.h"

#define AT(i) ((size_t)(i)*64)
#define LEN 48u
#define DATA 77u

enum form {
	WRITE,
	WRITEV,
	WRITEDATA,
	INJECT_WRITE,
	INJECT_WRITEDATA,
	SEND,
	SENDV,
	SENDDATA,
	INJECT,
	INJECTDATA,
	ATOMIC,
	ATOMICV,
	FETCH,
	COMPARE,
	INJECT_ATOMIC,
	FORMS,
};

static bool is_atomic(enum form form)
{
	return form >= ATOMIC;
}

static bool is_quiet(enum form form)
{
	return form == INJECT_WRITE || form == INJECT_WRITEDATA || form == INJECT ||
	       form == INJECTDATA || form == INJECT_ATOMIC;
}

/* Does the target hear of it? */
static bool announces(enum form form)
{
	return (form >= SEND && form <= INJECTDATA) || form == WRITEDATA ||
	       form == INJECT_WRITEDATA;
}

static ssize_t post(struct durable *d, enum form form)
{
	uint8_t *buf = d->local.buf + AT(form), *to = d->local.buf + 8192;
	const uint64_t addr = d->peer.addr + AT(form), key = d->peer.key;
	const struct iovec iov[] = {{buf, LEN / 2}, {buf + LEN / 2, LEN / 2}};
	const struct fi_ioc ioc = {buf, 1};
	void *desc = d->local.desc, *descs[] = {desc, desc};
	struct fid_ep *ep = d->l.c.ep;
	void *ctx = &d->ctx[form];

	switch (form) {
	case WRITE:
		return fi_write(ep, buf, LEN, desc, 0, addr, key, ctx);
	case WRITEV:
		return fi_writev(ep, iov, descs, 2, 0, addr, key, ctx);
	case WRITEDATA:
		return fi_writedata(ep, buf, LEN, desc, DATA, 0, addr, key, ctx);
	case INJECT_WRITE:
		return fi_inject_write(ep, buf, LEN, 0, addr, key);
	case INJECT_WRITEDATA:
		return fi_inject_writedata(ep, buf, LEN, DATA, 0, addr, key);
	case SEND:
		return fi_send(ep, buf, LEN, desc, 0, ctx);
	case SENDV:
		return fi_sendv(ep, iov, descs, 2, 0, ctx);
	case SENDDATA:
		return fi_senddata(ep, buf, LEN, desc, DATA, 0, ctx);
	case INJECT:
		return fi_inject(ep, buf, LEN, 0);
	case INJECTDATA:
		return fi_injectdata(ep, buf, LEN, DATA, 0);
	case ATOMIC:
		return fi_atomic(ep, buf, 1, desc, 0, addr, key, FI_UINT64, FI_SUM, ctx);
	case ATOMICV:
		return fi_atomicv(ep, &ioc, descs, 1, 0, addr, key, FI_UINT64, FI_SUM,
				  ctx);
	case FETCH:
		return fi_fetch_atomic(ep, buf, 1, desc, to, desc, 0, addr, key,
				       FI_UINT64, FI_SUM, ctx);
	case COMPARE:
		/* Compared with the zero that is there. */
		return fi_compare_atomic(ep, buf, 1, desc, to + 64, desc, to, desc, 0,
					 addr, key, FI_UINT64, FI_CSWAP, ctx);
	default:
		return fi_inject_atomic(ep, buf, 1, 0, addr, key, FI_UINT64, FI_SUM);
	}
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

/* What the form was to bring, and where. */
static int arrived(struct durable *d, enum form form, unsigned int message)
{
	const uint8_t *at = form >= SEND && form <= INJECTDATA
				    ? d->mem + DURABLE_MAX + AT(message)
				    : d->mem + AT(form);
	const size_t len = is_atomic(form) ? sizeof(uint64_t) : LEN;

	return fct_compare(at, len, 20, AT(form), "what the call wrote");
}

static int all_arrived(struct durable *d, bool atomics)
{
	struct fi_cq_data_entry e;
	unsigned int form, message = 0;

	for (form = 0; form < (atomics ? FORMS : ATOMIC); form++) {
		if (!announces(form))
			continue;
		FCT_DO(fct_comp_any(d->l.rxcq, &e, "what the target is told"));
		FCT_TRUE(e.op_context == &d->ctx[message++]);
	}
	FCT_DO(fct_barrier("all are durable"));
	for (form = message = 0; form < (atomics ? FORMS : ATOMIC); form++) {
		FCT_DO(arrived(d, form, message));
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

	for (form = 0; form < (atomics ? FORMS : ATOMIC); form++) {
		fct_doing("a call form");
		FCT_POST(d->l.txcq, post(d, form));
		if (!is_quiet(form)) {
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

static int open_counter(struct fct_link *l)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP,
				    .wait_obj = FI_WAIT_UNSPEC};

	FCT_CALL(fi_cntr_open(l->domain, &attr, &done, NULL));
	return fct_keep(l, &done->fid);
}

static int bind_counter(struct fct_link *l, struct fct_conn *c)
{
	FCT_CALL(fi_ep_bind(c->ep, &done->fid, FI_WRITE | FI_READ | FI_SEND));
	return 0;
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
	s.open = open_counter;
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

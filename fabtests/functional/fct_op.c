/* SPDX-License-Identifier: BSD-2-Clause */
#include "fct_op.h"

#define MESSAGE (FI_SEND | FI_MSG)
#define WRITE (FI_RMA | FI_WRITE)
#define READ (FI_RMA | FI_READ)

const struct fct_form_row fct_forms[FCT_FORMS] = {
	[FCT_SEND] = {"fi_send", MESSAGE, false},
	[FCT_SENDV] = {"fi_sendv", MESSAGE, false},
	[FCT_SENDMSG] = {"fi_sendmsg", MESSAGE, false},
	[FCT_SENDDATA] = {"fi_senddata", MESSAGE, true},
	[FCT_INJECT] = {"fi_inject", 0, false},
	[FCT_INJECTDATA] = {"fi_injectdata", 0, true},
	[FCT_RECV] = {"fi_recv", FI_RECV | FI_MSG, false},
	[FCT_RECVV] = {"fi_recvv", FI_RECV | FI_MSG, false},
	[FCT_RECVMSG] = {"fi_recvmsg", FI_RECV | FI_MSG, false},
	[FCT_WRITE] = {"fi_write", WRITE, false},
	[FCT_WRITEV] = {"fi_writev", WRITE, false},
	[FCT_WRITEMSG] = {"fi_writemsg", WRITE, false},
	[FCT_WRITEDATA] = {"fi_writedata", WRITE, true},
	[FCT_INJECT_WRITE] = {"fi_inject_write", 0, false},
	[FCT_INJECT_WRITEDATA] = {"fi_inject_writedata", 0, true},
	[FCT_READ] = {"fi_read", READ, false},
	[FCT_READV] = {"fi_readv", READ, false},
	[FCT_READMSG] = {"fi_readmsg", READ, false},
	[FCT_ATOMIC] = {"fi_atomic", FI_ATOMIC | FI_WRITE, false},
	[FCT_ATOMICV] = {"fi_atomicv", FI_ATOMIC | FI_WRITE, false},
	[FCT_ATOMICMSG] = {"fi_atomicmsg", FI_ATOMIC | FI_WRITE, false},
	[FCT_INJECT_ATOMIC] = {"fi_inject_atomic", 0, false},
	[FCT_FETCH] = {"fi_fetch_atomic", FI_ATOMIC | FI_READ, false},
	[FCT_FETCHV] = {"fi_fetch_atomicv", FI_ATOMIC | FI_READ, false},
	[FCT_FETCHMSG] = {"fi_fetch_atomicmsg", FI_ATOMIC | FI_READ, false},
	[FCT_COMPARE] = {"fi_compare_atomic", FI_ATOMIC | FI_READ, false},
	[FCT_COMPAREV] = {"fi_compare_atomicv", FI_ATOMIC | FI_READ, false},
	[FCT_COMPAREMSG] = {"fi_compare_atomicmsg", FI_ATOMIC | FI_READ, false},
};

size_t fct_op_cut(struct iovec *iov, size_t limit, void *buf, size_t len)
{
	size_t n, piece, at = 0;

	if (limit > FCT_OP_PIECES)
		limit = FCT_OP_PIECES;
	for (n = 0; n + 1 < limit && at + n + 1 < len; n++) {
		piece = n % 2 ? (len - at) / 2 : n + 1;
		iov[n] = (struct iovec){(uint8_t *)buf + at, piece};
		at += piece;
	}
	iov[n] = (struct iovec){(uint8_t *)buf + at, len - at};
	return n + 1;
}

static ssize_t message(struct fid_ep *ep, const struct fct_op *o, struct iovec *iov,
		       void **desc, size_t n)
{
	const struct fi_msg msg = {iov, desc, n, o->to, o->ctx, o->data};

	switch (o->form) {
	case FCT_SEND:
		return fi_send(ep, o->buf, o->len, o->desc, o->to, o->ctx);
	case FCT_SENDV:
		return fi_sendv(ep, iov, desc, n, o->to, o->ctx);
	case FCT_SENDMSG:
		return fi_sendmsg(ep, &msg, o->flags);
	case FCT_SENDDATA:
		return fi_senddata(ep, o->buf, o->len, o->desc, o->data, o->to, o->ctx);
	case FCT_INJECT:
		return fi_inject(ep, o->buf, o->len, o->to);
	case FCT_INJECTDATA:
		return fi_injectdata(ep, o->buf, o->len, o->data, o->to);
	case FCT_RECV:
		return fi_recv(ep, o->buf, o->len, o->desc, o->to, o->ctx);
	case FCT_RECVV:
		return fi_recvv(ep, iov, desc, n, o->to, o->ctx);
	default:
		return fi_recvmsg(ep, &msg, o->flags);
	}
}

static ssize_t rma(struct fid_ep *ep, const struct fct_op *o, struct iovec *iov,
		   void **desc, size_t n)
{
	const struct fi_rma_iov at = {o->addr, o->len, o->key};
	const struct fi_msg_rma msg = {iov, desc, n, o->to, &at, 1, o->ctx, o->data};

	switch (o->form) {
	case FCT_WRITE:
		return fi_write(ep, o->buf, o->len, o->desc, o->to, o->addr, o->key,
				o->ctx);
	case FCT_WRITEV:
		return fi_writev(ep, iov, desc, n, o->to, o->addr, o->key, o->ctx);
	case FCT_WRITEMSG:
		return fi_writemsg(ep, &msg, o->flags);
	case FCT_WRITEDATA:
		return fi_writedata(ep, o->buf, o->len, o->desc, o->data, o->to, o->addr,
				    o->key, o->ctx);
	case FCT_INJECT_WRITE:
		return fi_inject_write(ep, o->buf, o->len, o->to, o->addr, o->key);
	case FCT_INJECT_WRITEDATA:
		return fi_inject_writedata(ep, o->buf, o->len, o->data, o->to, o->addr,
					   o->key);
	case FCT_READ:
		return fi_read(ep, o->buf, o->len, o->desc, o->to, o->addr, o->key,
			       o->ctx);
	case FCT_READV:
		return fi_readv(ep, iov, desc, n, o->to, o->addr, o->key, o->ctx);
	default:
		return fi_readmsg(ep, &msg, o->flags);
	}
}

static ssize_t atomic(struct fid_ep *ep, const struct fct_op *o)
{
	const size_t n = o->len ? o->len : 1;
	const struct fi_ioc in = {o->buf, n}, compare = {o->compare, n};
	const struct fi_rma_ioc at = {o->addr, n, o->key};
	struct fi_ioc out = {o->result, n};
	void *d = o->desc;
	const struct fi_msg_atomic msg = {&in, &d,	1,     o->to,  &at,
					  1,   o->type, o->op, o->ctx, o->data};

	switch (o->form) {
	case FCT_ATOMIC:
		return fi_atomic(ep, o->buf, n, d, o->to, o->addr, o->key, o->type, o->op,
				 o->ctx);
	case FCT_ATOMICV:
		return fi_atomicv(ep, &in, &d, 1, o->to, o->addr, o->key, o->type, o->op,
				  o->ctx);
	case FCT_ATOMICMSG:
		return fi_atomicmsg(ep, &msg, o->flags);
	case FCT_INJECT_ATOMIC:
		return fi_inject_atomic(ep, o->buf, n, o->to, o->addr, o->key, o->type,
					o->op);
	case FCT_FETCH:
		return fi_fetch_atomic(ep, o->buf, n, d, o->result, d, o->to, o->addr,
				       o->key, o->type, o->op, o->ctx);
	case FCT_FETCHV:
		return fi_fetch_atomicv(ep, &in, &d, 1, &out, &d, 1, o->to, o->addr,
					o->key, o->type, o->op, o->ctx);
	case FCT_FETCHMSG:
		return fi_fetch_atomicmsg(ep, &msg, &out, &d, 1, o->flags);
	case FCT_COMPARE:
		return fi_compare_atomic(ep, o->buf, n, d, o->compare, d, o->result, d,
					 o->to, o->addr, o->key, o->type, o->op, o->ctx);
	case FCT_COMPAREV:
		return fi_compare_atomicv(ep, &in, &d, 1, &compare, &d, 1, &out, &d, 1,
					  o->to, o->addr, o->key, o->type, o->op, o->ctx);
	default:
		return fi_compare_atomicmsg(ep, &msg, &compare, &d, 1, &out, &d, 1,
					    o->flags);
	}
}

ssize_t fct_op_post(struct fid_ep *ep, const struct fct_op *o)
{
	struct iovec iov[FCT_OP_PIECES];
	void *desc[FCT_OP_PIECES];
	size_t i, n;

	if (o->form >= FCT_ATOMIC)
		return atomic(ep, o);
	n = fct_op_cut(iov, o->pieces, o->buf, o->len);
	for (i = 0; i < n; i++)
		desc[i] = o->desc;
	return o->form < FCT_WRITE ? message(ep, o, iov, desc, n)
				   : rma(ep, o, iov, desc, n);
}

int fct_op_do(struct fid_ep *ep, struct fid_cq *cq, const struct fct_op *op)
{
	const struct fct_form_row *row = &fct_forms[op->form];
	struct fi_cq_data_entry e;

	FCT_POST(cq, fct_op_post(ep, op));
	return row->done ? fct_comp(cq, op->ctx, row->done, &e, row->name) : 0;
}

int fct_parts_alloc(struct fct_parts *p, size_t len, unsigned int count)
{
	p->len = len;
	return fct_mem_alloc(&p->l, &p->m, count * len, FI_SEND | FI_RECV);
}

int fct_parts_up(struct fct_parts *p, const struct fct_setup *s, size_t len,
		 unsigned int count, unsigned int receives)
{
	unsigned int i;

	FCT_DO(fct_link_up(&p->l, s));
	FCT_DO(fct_parts_alloc(p, len, count));
	for (i = 0; fct_is_server() && i < receives; i++)
		FCT_DO(fct_part_post(p, FCT_RECV, i, 0));
	return receives ? fct_barrier("receives posted") : 0;
}

int fct_part_post(struct fct_parts *p, enum fct_form form, unsigned int i, uint64_t flags)
{
	const struct fct_op op = {.form = form,
				  .buf = fct_part(p, i),
				  .len = p->len,
				  .desc = p->m.desc,
				  .flags = flags,
				  .ctx = &p->ctx[i]};

	FCT_POST(form < FCT_RECV ? p->l.txcq : p->l.rxcq, fct_op_post(p->l.c.ep, &op));
	return 0;
}

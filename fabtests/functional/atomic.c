/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the cases: connections, operands, calls. */
#include "atomic.h"

int fct_atomic_up(struct atomic_side *s, uint64_t access, uint64_t msg_order)
{
	const struct fct_setup setup = {.caps = FI_MSG | FI_RMA | FI_ATOMIC,
					.msg_order = msg_order};

	FCT_DO(fct_link_up(&s->l, &setup));
	FCT_DO(fct_mem_alloc(&s->l, &s->local, 1024,
			     FI_READ | FI_WRITE | FI_SEND | FI_RECV));
	return fct_mem_expose(&s->l, &s->exposed, ATOMIC_WORDS * sizeof(uint64_t),
			      access ? access : FI_REMOTE_READ | FI_REMOTE_WRITE,
			      &s->peer);
}

uint64_t *fct_atomic_word(struct atomic_side *s, unsigned int word)
{
	return (uint64_t *)(void *)s->exposed.buf + word;
}

uint64_t *fct_atomic_operand(struct atomic_side *s)
{
	return (uint64_t *)(void *)s->local.buf;
}

uint64_t *fct_atomic_compare(struct atomic_side *s)
{
	return fct_atomic_operand(s) + 1;
}

uint64_t *fct_atomic_result(struct atomic_side *s)
{
	return fct_atomic_operand(s) + 2;
}

size_t fct_atomic_offered(struct atomic_side *s, const struct atomic_op *op)
{
	size_t count = 0;
	int ret;

	switch (op->kind) {
	case ATOMIC_BASE:
		ret = fi_atomicvalid(s->l.c.ep, op->type, op->op, &count);
		break;
	case ATOMIC_FETCH:
		ret = fi_fetch_atomicvalid(s->l.c.ep, op->type, op->op, &count);
		break;
	default:
		ret = fi_compare_atomicvalid(s->l.c.ep, op->type, op->op, &count);
	}
	return ret ? 0 : count;
}

struct fct_op fct_atomic_op(struct atomic_side *s, const struct atomic_op *op,
			    enum atomic_call call)
{
	static const enum fct_form forms[ATOMIC_KINDS][3] = {
		{FCT_ATOMIC, FCT_ATOMICV, FCT_ATOMICMSG},
		{FCT_FETCH, FCT_FETCHV, FCT_FETCHMSG},
		{FCT_COMPARE, FCT_COMPAREV, FCT_COMPAREMSG},
	};

	return (struct fct_op){.form = forms[op->kind][call],
			       .buf = fct_atomic_operand(s),
			       .desc = s->local.desc,
			       .addr = s->peer.addr + op->word * sizeof(uint64_t),
			       .key = s->peer.key,
			       .flags = FI_COMPLETION,
			       .ctx = &s->ctx,
			       .type = op->type,
			       .op = op->op,
			       .compare = fct_atomic_compare(s),
			       .result = fct_atomic_result(s)};
}

int fct_atomic_post(struct atomic_side *s, const struct atomic_op *op, struct fid_ep *ep,
		    struct fct_ctx *ctx, uint64_t *result)
{
	struct fct_op call = fct_atomic_op(s, op, ATOMIC_PLAIN);

	call.ctx = ctx;
	call.result = result;
	FCT_POST(s->l.txcq, fct_op_post(ep, &call));
	return 0;
}

int fct_atomic_do(struct atomic_side *s, const struct atomic_op *op)
{
	const struct fct_op call = fct_atomic_op(s, op, ATOMIC_PLAIN);

	return fct_op_do(s->l.c.ep, s->l.txcq, &call);
}

FCT_PROGRAM(.name = "fi_cairn_atomic",
	    .what = "Atomic operations (FI_ATOMIC) on connected endpoints.")

/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the cases: connections, operands, calls. */
#include "atomic.h"

struct fct_setup fct_atomic_setup(void)
{
	return (struct fct_setup){.caps = FI_MSG | FI_RMA | FI_ATOMIC};
}

int fct_atomic_up(struct atomic_side *s, uint64_t access)
{
	struct fct_setup setup = fct_atomic_setup();
	struct fct_target mine;

	FCT_DO(fct_link_up(&s->l, &setup));
	FCT_DO(fct_mem_alloc(&s->l, &s->exposed, ATOMIC_WORDS * sizeof(uint64_t),
			     access ? access : FI_REMOTE_READ | FI_REMOTE_WRITE));
	FCT_DO(fct_mem_alloc(&s->l, &s->local, 64,
			     FI_READ | FI_WRITE | FI_SEND | FI_RECV));
	mine = fct_mem_target(&s->l, &s->exposed);
	return fct_exchange("region", &mine, &s->peer, sizeof(mine));
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

ssize_t fct_atomic_call(struct atomic_side *s, const struct atomic_op *op)
{
	const uint64_t addr = s->peer.addr + op->word * sizeof(uint64_t);
	struct fid_ep *ep = s->l.c.ep;
	void *desc = s->local.desc;

	switch (op->kind) {
	case ATOMIC_BASE:
		return fi_atomic(ep, fct_atomic_operand(s), 1, desc, 0, addr, s->peer.key,
				 op->type, op->op, &s->ctx);
	case ATOMIC_FETCH:
		return fi_fetch_atomic(ep, fct_atomic_operand(s), 1, desc,
				       fct_atomic_result(s), desc, 0, addr, s->peer.key,
				       op->type, op->op, &s->ctx);
	default:
		return fi_compare_atomic(ep, fct_atomic_operand(s), 1, desc,
					 fct_atomic_compare(s), desc,
					 fct_atomic_result(s), desc, 0, addr, s->peer.key,
					 op->type, op->op, &s->ctx);
	}
}

uint64_t fct_atomic_flags(enum atomic_kind kind)
{
	return FI_ATOMIC | (kind == ATOMIC_BASE ? FI_WRITE : FI_READ);
}

int fct_atomic_do(struct atomic_side *s, const struct atomic_op *op)
{
	struct fi_cq_data_entry e;

	FCT_POST(s->l.txcq, fct_atomic_call(s, op));
	return fct_comp(s->l.txcq, &s->ctx, fct_atomic_flags(op->kind), &e, "an atomic");
}

FCT_PROGRAM(.name = "fi_cairn_atomic",
	    .what = "Atomic operations (FI_ATOMIC) on connected endpoints.")

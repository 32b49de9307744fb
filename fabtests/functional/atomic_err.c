/* SPDX-License-Identifier: BSD-2-Clause */
/* An atomic that fails reports its own error. */
#include "atomic.h"

static int need_sum(struct atomic_side *s, struct atomic_op *op)
{
	*op = (struct atomic_op){ATOMIC_FETCH, FI_UINT64, FI_SUM, 0};
	if (fct_atomic_offered(s, op)) /* and does the other side go on too? */
		return fct_barrier(s->l.t, "offered");
	return fct_skip(s->l.t, "FI_SUM of 64 bits is not offered");
}

/* Refused when it is called, or later in the completion queue. */
static int expect_failure(struct atomic_side *s, ssize_t posted)
{
	struct fct *t = s->l.t;
	struct fi_cq_err_entry err;
	int ret;

	if (posted) {
		FCT_TRUE(t, posted != -FI_EAGAIN);
		return fct_cq_quiet(t, s->l.txcq, "after a refusal");
	}
	FCT_DO(fct_comp_err(t, s->l.txcq, &err, "the atomic that fails"));
	FCT_TRUE(t, err.op_context == &s->ctx);
	FCT_TRUE(t, err.err != 0);
	FCT_EQ(t, err.flags & (FI_ATOMIC | FI_READ), FI_ATOMIC | FI_READ);
out:
	return ret;
}

static int fails(struct fct *t, uint64_t access, size_t offset, uint64_t key)
{
	struct atomic_side s = {.l.t = t};
	struct atomic_op op;
	unsigned int i;
	int ret;

	FCT_DO(fct_atomic_up(&s, t, access));
	FCT_DO(need_sum(&s, &op));
	s.peer.addr += offset;
	s.peer.key ^= key;
	*fct_atomic_operand(&s) = 1;
	if (fct_is_client(t))
		FCT_DO(expect_failure(&s, fct_atomic_call(&s, &op)));
	FCT_DO(fct_barrier(t, "failed"));
	for (i = 0; i < ATOMIC_WORDS; i++)
		FCT_EQ(t, *fct_atomic_word(&s, i), 0);
out:
	return fct_link_down(&s.l, ret);
}

int fct_atomic_misaligned(struct fct *t)
{
	return fails(t, 0, 4, 0);
}

int fct_atomic_bad_key(struct fct *t)
{
	return fails(t, 0, 0, 0x5a5a5a);
}

int fct_atomic_out_of_bounds(struct fct *t)
{
	return fails(t, 0, ATOMIC_WORDS * sizeof(uint64_t) + 65536, 0);
}

int fct_atomic_forbidden(struct fct *t)
{
	return fails(t, FI_REMOTE_READ, 0, 0);
}

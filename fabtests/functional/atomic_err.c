/* SPDX-License-Identifier: BSD-2-Clause */
/* An atomic that fails reports its own error. */
#include "atomic.h"

static int need_sum(struct atomic_side *s, struct atomic_op *op)
{
	*op = (struct atomic_op){ATOMIC_FETCH, FI_UINT64, FI_SUM, 0};
	if (fct_atomic_offered(s, op)) /* and does the other side go on too? */
		return fct_barrier("offered");
	return fct_skip("FI_SUM of 64 bits is not offered");
}

/* Refused when it is called, or later in the completion queue. */
static int expect_failure(struct atomic_side *s, ssize_t posted)
{
	struct fi_cq_err_entry err;

	if (posted) {
		FCT_TRUE(posted != -FI_EAGAIN);
		return fct_cq_quiet(s->l.txcq, "after a refusal");
	}
	FCT_DO(fct_comp_err(s->l.txcq, &err, "the atomic that fails"));
	FCT_TRUE(err.op_context == &s->ctx);
	FCT_TRUE(err.err != 0);
	FCT_EQ(err.flags & (FI_ATOMIC | FI_READ), FI_ATOMIC | FI_READ);
	return 0;
}

static int fails(uint64_t access, size_t offset, uint64_t key)
{
	FCT_AUTO(fct_link_end) struct atomic_side s = {0};
	struct atomic_op op;
	unsigned int i;

	FCT_DO(fct_atomic_up(&s, access));
	FCT_DO(need_sum(&s, &op));
	s.peer.addr += offset;
	s.peer.key ^= key;
	*fct_atomic_operand(&s) = 1;
	if (fct_is_client())
		FCT_DO(expect_failure(&s, fct_atomic_call(&s, &op)));
	FCT_DO(fct_barrier("failed"));
	for (i = 0; i < ATOMIC_WORDS; i++)
		FCT_EQ(*fct_atomic_word(&s, i), 0);
	return 0;
}

FCT_CASE_CALL(misaligned, "an address that is not a multiple of the size is an error",
	      fails(0, 4, 0))

FCT_CASE_CALL(bad_key, "so is an unknown key", fails(0, 0, 0x5a5a5a))

FCT_CASE_CALL(out_of_bounds, "so is a word beyond the region",
	      fails(0, ATOMIC_WORDS * sizeof(uint64_t) + 65536, 0))

FCT_CASE_CALL(forbidden, "so is a region without the rights", fails(FI_REMOTE_READ, 0, 0))

/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine.h"

static uint64_t svb_atomic_own(uint64_t *where, enum svb_atomic op, uint64_t operand,
			       uint64_t compare)
{
	switch (op) {
	case SVB_ATOMIC_SWAP_IF:
		/* Leaves what it found in compare, equal or not. */
		__atomic_compare_exchange_n(where, &compare, operand, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		return compare;
	case SVB_ATOMIC_ADD:
		return __atomic_fetch_add(where, operand, __ATOMIC_SEQ_CST);
	case SVB_ATOMIC_STORE:
	default:
		__atomic_store_n(where, operand, __ATOMIC_SEQ_CST);
		return 0;
	}
}

/* The kernel copies eight aligned bytes in one piece. */
static int svb_atomic_other(struct svb_seg *seg, void *where, enum svb_atomic op,
			    uint64_t operand, uint64_t compare, uint64_t *old)
{
	struct svb_span span;
	uint64_t value;
	int ret;

	svb_span_of_range(&span, seg, where, sizeof(value));
	ret = op == SVB_ATOMIC_STORE ? 0 : svb_move_out(old, &span, sizeof(*old));
	if (ret || (op == SVB_ATOMIC_SWAP_IF && *old != compare))
		return ret;
	value = op == SVB_ATOMIC_ADD ? *old + operand : operand;
	return svb_move_in(&span, &value, sizeof(value));
}

int svb_atomic(struct svb_seg *seg, void *where, enum svb_atomic op, uint64_t operand,
	       uint64_t compare, uint64_t *old)
{
	int ret = 0;

	svb_lock(&seg->atomic_lock);
	if (seg == svb_self.seg)
		*old = svb_atomic_own(where, op, operand, compare);
	else
		ret = svb_atomic_other(seg, where, op, operand, compare, old);
	svb_unlock(&seg->atomic_lock);
	return ret;
}

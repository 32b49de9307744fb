/* SPDX-License-Identifier: BSD-2-Clause */
/* The atomics that a provider offers, by every call form. */
#include "atomic.h"

#define LAST_TYPE FI_LONG_DOUBLE_COMPLEX
#define LAST_OP FI_MSWAP

static const uint64_t query_flags[ATOMIC_KINDS] = {0, FI_FETCH_ATOMIC, FI_COMPARE_ATOMIC};

FCT_CASE(query, "fi_query_atomic and the fi_*atomicvalid calls agree")
{
	FCT_AUTO(fct_link_end) struct atomic_side s = {0};
	struct fi_atomic_attr attr;
	struct atomic_op op;
	unsigned int some = 0;
	size_t count;
	int ret, kind, type, what;

	FCT_DO(fct_atomic_up(&s, 0, 0));
	for (kind = 0; kind < ATOMIC_KINDS; kind++)
		for (type = 0; type <= LAST_TYPE; type++)
			for (what = 0; what <= LAST_OP; what++) {
				op = (struct atomic_op){(enum atomic_kind)kind,
							(enum fi_datatype)type,
							(enum fi_op)what, 0};
				memset(&attr, 0, sizeof(attr));
				count = fct_atomic_offered(&s, &op);
				ret = fi_query_atomic(s.l.domain, op.type, op.op, &attr,
						      query_flags[kind]);
				fct_note("kind %d, type %d, operation %d", kind, type,
					 what);
				FCT_EQ(ret == 0, count > 0);
				if (ret)
					continue;
				FCT_EQ(attr.count, count);
				FCT_TRUE(attr.size > 0);
				some++;
			}
	FCT_TRUE(some > 0);
	FCT_REFUSED(fi_query_atomic(s.l.domain, FI_UINT64, FI_SUM, &attr,
				    FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC));
	return 0;
}

FCT_CASE(refused, "what is not offered is refused when it is called")
{
	FCT_AUTO(fct_link_end) struct atomic_side s = {0};
	struct atomic_op op;
	struct fct_op call;
	int kind, what;

	FCT_DO(fct_atomic_up(&s, 0, 0));
	for (kind = 0; kind < ATOMIC_KINDS; kind++)
		for (what = 0; what <= LAST_OP; what++) {
			op = (struct atomic_op){(enum atomic_kind)kind, FI_UINT64,
						(enum fi_op)what, 0};
			if (fct_atomic_offered(&s, &op))
				continue;
			fct_note("kind %d, operation %d", kind, what);
			call = fct_atomic_op(&s, &op, ATOMIC_PLAIN);
			FCT_REFUSED(fct_op_post(s.l.c.ep, &call));
		}
	FCT_DO(fct_barrier("refused"));
	for (what = 0; what < (int)ATOMIC_WORDS; what++)
		FCT_EQ(*fct_atomic_word(&s, (unsigned int)what), 0);
	return fct_cq_quiet(s.l.txcq, "after refusals");
}

/* The operations as fi_atomic(3) defines them, for unsigned and signed words. */
static uint64_t model(const struct atomic_op *op, uint64_t old, uint64_t operand,
		      uint64_t compare)
{
	const bool is_signed = op->type == FI_INT64;
	const bool less = is_signed ? (int64_t)operand < (int64_t)old : operand < old;
	const bool under = is_signed ? (int64_t)compare < (int64_t)old : compare < old;

	switch ((int)op->op) {
	case FI_MIN:
		return less ? operand : old;
	case FI_MAX:
		return less ? old : operand;
	case FI_SUM:
		return old + operand;
	case FI_PROD:
		return old * operand;
	case FI_LOR:
		return old || operand;
	case FI_LAND:
		return old && operand;
	case FI_LXOR:
		return !old != !operand;
	case FI_BOR:
		return old | operand;
	case FI_BAND:
		return old & operand;
	case FI_BXOR:
		return old ^ operand;
	case FI_ATOMIC_READ:
		return old;
	case FI_ATOMIC_WRITE:
		return operand;
	case FI_CSWAP:
		return compare == old ? operand : old;
	case FI_CSWAP_NE:
		return compare != old ? operand : old;
	case FI_CSWAP_LE:
		return under || compare == old ? operand : old;
	case FI_CSWAP_LT:
		return under ? operand : old;
	case FI_CSWAP_GE:
		return !under ? operand : old;
	case FI_CSWAP_GT:
		return !under && compare != old ? operand : old;
	default: /* FI_MSWAP: compare is the mask */
		return (operand & compare) | (old & ~compare);
	}
}

static const uint64_t values[] = {0, 1, 7, UINT32_MAX, 1ULL << 63, UINT64_MAX};
#define N_VALUES (sizeof(values) / sizeof(values[0]))

/* Old value, operand and compare, all of values; the word starts at 0 and is set. */
static int all_values(struct atomic_side *s, const struct atomic_op *op,
		      enum atomic_call call)
{
	const struct fct_op posted = fct_atomic_op(s, op, call);
	uint64_t old, next;
	size_t i;

	for (i = 0; i < N_VALUES * N_VALUES * 2; i++) {
		old = values[i % N_VALUES];
		*fct_atomic_operand(s) = values[i / N_VALUES % N_VALUES];
		*fct_atomic_compare(s) = i % 2 ? old : values[i / 2 % N_VALUES];
		*fct_atomic_result(s) = 0x5555;
		next = model(op, old, *fct_atomic_operand(s), *fct_atomic_compare(s));
		FCT_DO(fct_tell("old", &old, sizeof(old)));
		FCT_DO(fct_barrier("set"));
		FCT_DO(fct_op_do(s->l.c.ep, s->l.txcq, &posted));
		if (op->kind != ATOMIC_BASE)
			FCT_EQ(*fct_atomic_result(s), old);
		FCT_DO(fct_tell("next", &next, sizeof(next)));
	}
	return 0;
}

static int be_target(struct atomic_side *s, unsigned int word)
{
	uint64_t old, next;
	size_t i;

	for (i = 0; i < N_VALUES * N_VALUES * 2; i++) {
		FCT_DO(fct_hear("old", &old, sizeof(old)));
		*(volatile uint64_t *)fct_atomic_word(s, word) = old;
		FCT_DO(fct_barrier("set"));
		FCT_DO(fct_hear("next", &next, sizeof(next)));
		FCT_EQ(*(volatile uint64_t *)fct_atomic_word(s, word), next);
		FCT_EQ(*fct_atomic_word(s, word - 1), 0);
		FCT_EQ(*fct_atomic_word(s, word + 1), 0);
	}
	return 0;
}

static int everything(enum atomic_call call)
{
	static const enum fi_datatype types[] = {FI_UINT64, FI_INT64};
	FCT_AUTO(fct_link_end) struct atomic_side s = {0};
	struct atomic_op op = {.word = 5};
	uint64_t offered;
	size_t type;
	int kind, what;

	FCT_DO(fct_atomic_up(&s, 0, 0));
	for (kind = 0; kind < ATOMIC_KINDS; kind++)
		for (type = 0; type < 2; type++)
			for (what = 0; what <= LAST_OP; what++) {
				op.kind = (enum atomic_kind)kind;
				op.type = types[type];
				op.op = (enum fi_op)what;
				fct_note("kind %d, type %d, operation %d", kind,
					 (int)op.type, what);
				offered = fct_atomic_offered(&s, &op) > 0;
				if (fct_is_client())
					FCT_DO(fct_tell("offered", &offered,
							sizeof(offered)));
				else
					FCT_DO(fct_hear("offered", &offered,
							sizeof(offered)));
				if (!offered)
					continue;
				if (fct_is_client())
					FCT_DO(all_values(&s, &op, call));
				else
					FCT_DO(be_target(&s, op.word));
			}
	return fct_cq_quiet(s.l.txcq, "after all atomics");
}

FCT_CASE_CALL(calls, "everything that is offered for 64 bits, with its result",
	      everything(ATOMIC_PLAIN))

FCT_CASE_CALL(vectors, "the same with the vector calls", everything(ATOMIC_VECTOR))

FCT_CASE_CALL(messages, "the same with the message calls", everything(ATOMIC_MESSAGE))

#define INJECTS 1000u

FCT_CASE(injects, "fi_inject_atomic: no completion")
{
	const struct atomic_op op = {ATOMIC_BASE, FI_UINT64, FI_SUM, 3};
	const struct atomic_op read = {ATOMIC_FETCH, FI_UINT64, FI_SUM, 3};
	FCT_AUTO(fct_link_end) struct atomic_side s = {0};
	unsigned int i;
	uint64_t one = 1;

	FCT_DO(fct_atomic_up(&s, 0, 0));
	if (!fct_atomic_offered(&s, &op) || !fct_atomic_offered(&s, &read))
		return fct_skip("FI_SUM of 64 bits is not offered");
	if (s.l.c.info->tx_attr->inject_size < sizeof(one))
		return fct_skip("inject_size is %zu", s.l.c.info->tx_attr->inject_size);
	/* Only now is it known that neither side skips. */
	FCT_DO(fct_barrier("offered"));
	for (i = 0; fct_is_client() && i < INJECTS; i++) {
		one = 1;
		FCT_POST(s.l.txcq, fi_inject_atomic(s.l.c.ep, &one, 1, 0,
						    s.peer.addr + 3 * sizeof(one),
						    s.peer.key, FI_UINT64, FI_SUM));
		one = 77;
	}
	if (fct_is_client()) {
		*fct_atomic_operand(&s) = 0;
		FCT_DO(fct_atomic_do(&s, &read));
		FCT_EQ(*fct_atomic_result(&s), INJECTS);
	}
	FCT_DO(fct_barrier("injected"));
	if (fct_is_server())
		FCT_EQ(*(volatile uint64_t *)fct_atomic_word(&s, 3), INJECTS);
	return fct_cq_quiet(s.l.txcq, "after fi_inject_atomic");
}

FCT_CASE(count_excess, "more elements than offered are refused")
{
	const struct atomic_op op = {ATOMIC_BASE, FI_UINT64, FI_SUM, 0};
	FCT_AUTO(fct_link_end) struct atomic_side s = {0};
	size_t most;

	FCT_DO(fct_atomic_up(&s, 0, 0));
	most = fct_atomic_offered(&s, &op);
	if (!most || most >= ATOMIC_WORDS)
		return fct_skip("%zu elements are offered", most);
	FCT_REFUSED(fi_atomic(s.l.c.ep, s.exposed.buf, most + 1, s.exposed.desc, 0,
			      s.peer.addr, s.peer.key, op.type, op.op, &s.ctx));
	return fct_cq_quiet(s.l.txcq, "after a refusal");
}

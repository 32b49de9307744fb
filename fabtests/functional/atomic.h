/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_atomic. */
#ifndef FCT_ATOMIC_H
#define FCT_ATOMIC_H

#include "fct_op.h"

/* Words of the exposed region. */
#define ATOMIC_WORDS 64u

enum atomic_kind { ATOMIC_BASE, ATOMIC_FETCH, ATOMIC_COMPARE, ATOMIC_KINDS };

struct atomic_side {
	struct fct_link l;
	struct fct_mem exposed; /* the words a peer works on */
	struct fct_mem local;	/* operand and compare, a word each; results */
	struct fct_target peer;
	struct fct_ctx ctx;
};

/* One atomic of whatever form on a word of the peer; the operands are in local. */
struct atomic_op {
	enum atomic_kind kind;
	enum fi_datatype type;
	enum fi_op op;
	unsigned int word;
};

/* atomic.c */
/* access: 0: both rights; msg_order: 0: none. */
int fct_atomic_up(struct atomic_side *s, uint64_t access, uint64_t msg_order);
uint64_t *fct_atomic_word(struct atomic_side *s, unsigned int word); /* of exposed */
uint64_t *fct_atomic_operand(struct atomic_side *s);
uint64_t *fct_atomic_compare(struct atomic_side *s);
uint64_t *fct_atomic_result(struct atomic_side *s);
/* How many elements of this kind of atomic a call takes; 0: none. */
size_t fct_atomic_offered(struct atomic_side *s, const struct atomic_op *op);
/* The plain call, or the vector one, or the one with a message. */
enum atomic_call { ATOMIC_PLAIN, ATOMIC_VECTOR, ATOMIC_MESSAGE };
struct fct_op fct_atomic_op(struct atomic_side *s, const struct atomic_op *op,
			    enum atomic_call call);
/* Posts it with a context, an operand and a result of its own. */
int fct_atomic_post(struct atomic_side *s, const struct atomic_op *op, struct fid_ep *ep,
		    struct fct_ctx *ctx, uint64_t *result);
/* Posts it and waits for its completion. */
int fct_atomic_do(struct atomic_side *s, const struct atomic_op *op);

#endif

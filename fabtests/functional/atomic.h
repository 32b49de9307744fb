/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_atomic. */
#ifndef FCT_ATOMIC_H
#define FCT_ATOMIC_H

#include <rdma/fi_atomic.h>

#include "fct_fabric.h"

/* Words of the exposed region. */
#define ATOMIC_WORDS 64u

enum atomic_kind { ATOMIC_BASE, ATOMIC_FETCH, ATOMIC_COMPARE, ATOMIC_KINDS };

struct atomic_side {
	struct fct_link l;
	struct fct_mem exposed; /* the words a peer works on */
	struct fct_mem local;	/* operand, compare, result: a word each */
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
int fct_atomic_up(struct atomic_side *s, uint64_t access);
struct fct_setup fct_atomic_setup(void);
uint64_t *fct_atomic_word(struct atomic_side *s, unsigned int word); /* of exposed */
uint64_t *fct_atomic_operand(struct atomic_side *s);
uint64_t *fct_atomic_compare(struct atomic_side *s);
uint64_t *fct_atomic_result(struct atomic_side *s);
/* How many elements of this kind of atomic a call takes; 0: none. */
size_t fct_atomic_offered(struct atomic_side *s, const struct atomic_op *op);
ssize_t fct_atomic_call(struct atomic_side *s, const struct atomic_op *op);
uint64_t fct_atomic_flags(enum atomic_kind kind); /* of its completion */
/* Posts it and waits for its completion. */
int fct_atomic_do(struct atomic_side *s, const struct atomic_op *op);

#endif

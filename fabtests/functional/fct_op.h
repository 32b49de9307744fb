/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call forms of libfabric's data operations as one table, for all programs: what an
 * operation needs, how it is called, and what its completion says.
 */
#ifndef FCT_OP_H
#define FCT_OP_H

#include <rdma/fi_atomic.h>

#include "fct_fabric.h"

#define FCT_OP_PIECES 16 /* at most */

enum fct_form {
	FCT_SEND,
	FCT_SENDV,
	FCT_SENDMSG,
	FCT_SENDDATA,
	FCT_INJECT,
	FCT_INJECTDATA,
	FCT_RECV,
	FCT_RECVV,
	FCT_RECVMSG,
	FCT_WRITE,
	FCT_WRITEV,
	FCT_WRITEMSG,
	FCT_WRITEDATA,
	FCT_INJECT_WRITE,
	FCT_INJECT_WRITEDATA,
	FCT_READ,
	FCT_READV,
	FCT_READMSG,
	FCT_ATOMIC,
	FCT_ATOMICV,
	FCT_ATOMICMSG,
	FCT_INJECT_ATOMIC,
	FCT_FETCH,
	FCT_FETCHV,
	FCT_FETCHMSG,
	FCT_COMPARE,
	FCT_COMPAREV,
	FCT_COMPAREMSG,
	FCT_FORMS
};

struct fct_form_row {
	const char *name;
	uint64_t done; /* flags of the completion; 0: success has none */
	bool data;     /* carries fct_op.data */
};

extern const struct fct_form_row fct_forms[FCT_FORMS];

/* One operation. A form uses the fields that its call has. */
struct fct_op {
	enum fct_form form;
	void *buf;     /* of atomics the operand */
	size_t len;    /* of atomics the number of elements; 0: one */
	void *desc;    /* of buf, compare and result */
	size_t pieces; /* vectors and messages cut buf into so many at most; 0: 1 */
	fi_addr_t to;  /* of connectionless endpoints */
	uint64_t addr, key;
	uint64_t data;
	uint64_t flags; /* of message forms */
	void *ctx;
	/* Atomics. */
	enum fi_datatype type;
	enum fi_op op;
	void *compare, *result;
};

/* Calls libfabric once and returns its value. */
ssize_t fct_op_post(struct fid_ep *ep, const struct fct_op *op);
/* Posts the operation, as FCT_POST does, and waits for its completion where it has one.
 */
int fct_op_do(struct fid_ep *ep, struct fid_cq *cq, const struct fct_op *op);
/* Cuts buf into at most limit uneven pieces; returns their number, at least 1. */
size_t fct_op_cut(struct iovec *iov, size_t limit, void *buf, size_t len);

/* Messages, each in a part of one memory and with a context of its own. */
struct fct_parts {
	struct fct_link l; /* first */
	struct fct_mem m;
	size_t len; /* of a part */
	struct fct_ctx ctx[64];
};

/* Connects, with memory for count parts; the server has posted the first receives when it
 * returns. */
int fct_parts_up(struct fct_parts *p, const struct fct_setup *s, size_t len,
		 unsigned int count, unsigned int receives);
/* The same before the connection: memory alone. */
int fct_parts_alloc(struct fct_parts *p, size_t len, unsigned int count);
/* A send or a receive of part i. */
int fct_part_post(struct fct_parts *p, enum fct_form form, unsigned int i,
		  uint64_t flags);
static inline uint8_t *fct_part(const struct fct_parts *p, unsigned int i)
{
	return p->m.buf + i * p->len;
}

#endif

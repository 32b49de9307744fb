/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends and receives of the program. */
#include <stdlib.h>
#include "end.h"
#include "pump.h"

struct op *end_op(struct end *end, size_t size)
{
	struct op *op = calloc(1, sizeof(*op));

	op->buf = calloc(1, size ? size : 1);
	op->size = size;
	op->next = end->ops;
	end->ops = op;
	if (end->mr_local)
		CT_EXPECT_EQ(fi_mr_reg(end->side.domain, op->buf, size ? size : 1,
				       FI_SEND | FI_RECV, 0, 0, 0, &op->mr, NULL),
			     0);
	return op;
}

static void *desc_of(struct op *op)
{
	return op->mr ? fi_mr_desc(op->mr) : NULL;
}

ssize_t end_send(struct end *end, struct op *op, size_t len, uint64_t flags)
{
	return end_sendv(end, op, &len, 1, 0, flags);
}

ssize_t end_sendv(struct end *end, struct op *op, const size_t *lens, size_t count,
		  uint64_t ddp, uint64_t flags)
{
	void *descs[8];
	struct iovec iov[8];
	struct fi_msg msg = {.msg_iov = iov,
			     .desc = descs,
			     .iov_count = count,
			     .context = op,
			     .data = ddp};
	size_t i, at = 0;

	for (i = 0; i < count; i++) {
		iov[i].iov_base = op->buf + at;
		iov[i].iov_len = lens[i];
		descs[i] = desc_of(op);
		at += lens[i];
	}
	CT_EXPECT_LE(at, op->size);
	if (ddp)
		flags |= FI_CAIRN_RPC_DDP;
	return fi_sendmsg(end->side.ep, &msg, flags | FI_COMPLETION);
}

ssize_t end_recv(struct end *end, struct op *op)
{
	op->takes = true;
	op->done = false;
	op->after = NULL;
	return fi_recv(end->side.ep, op->buf, op->size, desc_of(op), 0, op);
}

ssize_t end_recv_for(struct end *end, struct op *op, uint32_t xid, uint64_t flag)
{
	struct iovec iov = {.iov_base = op->buf, .iov_len = op->size};
	void *desc = desc_of(op);
	struct fi_msg msg = {.msg_iov = &iov,
			     .desc = &desc,
			     .iov_count = 1,
			     .context = op,
			     .data = xid};

	op->takes = flag == FI_CAIRN_RPC_REPLY;
	return fi_recvmsg(end->side.ep, &msg, flag | FI_COMPLETION);
}

struct op *end_take(struct end *end)
{
	struct op *op;

	EXPECT_SOON(end->received != NULL);
	op = end->received;
	if (!op) {
		/* One that did not end well, so that the test may read on. */
		op = end_op(end, 64);
		op->err = FI_ETIMEDOUT;
		return op;
	}
	end->received = op->after;
	if (!end->received)
		end->received_last = &end->received;
	return op;
}

bool end_got_message(const struct end *end)
{
	const struct op *op;

	for (op = end->received; op; op = op->after) {
		if (!op->err)
			return true;
	}
	return false;
}

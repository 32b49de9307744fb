/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of the program that send: fi_msg(3), fi_rma(3). */
#include "op.h"

static ssize_t too_long(const struct rte_vc *vc, uint64_t length, uint64_t flags)
{
	return flags & FI_INJECT && length > vc->attr.inject_size ? -FI_EMSGSIZE : 0;
}

static ssize_t send_post(struct rte_vc *vc, const struct fi_msg *msg, uint64_t flags,
			 bool silent)
{
	struct rte_vc_op *op;
	uint64_t length;
	ssize_t ret;

	ret = rte_vc_flags(flags, RTE_VC_SEND_FLAGS);
	if (!ret)
		ret = rte_vc_iov_len(vc, msg->msg_iov, msg->iov_count, &length);
	if (!ret)
		ret = too_long(vc, length, flags);
	if (!ret)
		ret = rte_vc_op_take(vc, silent, &op);
	if (ret)
		return ret;
	rte_vc_op_iov(op, msg->msg_iov, msg->desc, msg->iov_count);
	rte_vc_op_fill(vc, op, RTE_MSG, FI_SEND | FI_MSG, length, msg->context, flags);
	op->cq_data = op->has_data ? msg->data : 0;
	vc->messages |= length != 0;
	rte_vc_op_post(vc, op);
	return 0;
}

ssize_t rte_vc_send(struct rte_vc *vc, const struct fi_msg *msg, uint64_t flags)
{
	if (rte_vc_quick_send(vc, msg, flags))
		return 0;
	return send_post(vc, msg, flags, false);
}

ssize_t rte_vc_inject(struct rte_vc *vc, const void *buf, size_t len, uint64_t flags,
		      uint64_t data)
{
	const struct iovec iov = {.iov_base = (void *)buf, .iov_len = len};
	const struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .data = data};

	return send_post(vc, &msg, flags | FI_INJECT, true);
}

/* One range of the target's memory, as long as the local buffer. */
static ssize_t rma_range(const struct fi_msg_rma *msg, uint64_t length,
			 struct fi_rma_iov *range)
{
	memset(range, 0, sizeof(*range));
	if (msg->rma_iov_count > 1)
		return -FI_EINVAL;
	if (msg->rma_iov_count)
		*range = *msg->rma_iov;
	return range->len != length || range->addr > UINT64_MAX - length ? -FI_EINVAL : 0;
}

/* Nothing is read with a message that the target acknowledges: there are no reads of 0
 * bytes on the wire. */
static uint8_t rma_type(bool reads, uint64_t length)
{
	return reads && length ? RTE_READ_REQ : RTE_WRITE;
}

static ssize_t rma_post(struct rte_vc *vc, bool reads, const struct fi_msg_rma *msg,
			uint64_t flags, bool silent)
{
	struct fi_rma_iov range;
	struct rte_vc_op *op;
	uint64_t length;
	ssize_t ret;

	ret = rte_vc_iov_len(vc, msg->msg_iov, msg->iov_count, &length);
	if (!ret)
		ret = rma_range(msg, length, &range);
	if (!ret)
		ret = too_long(vc, length, flags);
	if (!ret)
		ret = rte_vc_op_take(vc, silent, &op);
	if (ret)
		return ret;
	rte_vc_op_iov(op, msg->msg_iov, msg->desc, msg->iov_count);
	rte_vc_op_fill(vc, op, rma_type(reads, length),
		       FI_RMA | (reads ? FI_READ : FI_WRITE), length, msg->context,
		       flags);
	if (op->type == RTE_READ_REQ)
		op->level = RTE_VC_ANSWERED;
	else if (op->level == RTE_VC_DURABLE && op->fence)
		vc->plain = vc->tail;
	op->cq_data = op->has_data ? msg->data : 0;
	op->addr = range.addr;
	op->key = range.key;
	rte_vc_op_post(vc, op);
	return 0;
}

/*
 * With FI_FENCE a durable write says that all before it is durable (fi_cq(3)). The
 * buffers that messages went to, and what the bypass has written, are not made durable,
 * which this side knows; of other writes only the target does.
 */
static ssize_t durable_check(const struct rte_vc *vc, uint64_t flags)
{
	if (!(flags & FI_COMMIT_COMPLETE) || vc->state != RTE_VC_UP)
		return 0;
	if (!vc->path.commit || ((flags & FI_FENCE) && (vc->messages || vc->wrote)))
		return -FI_EOPNOTSUPP;
	return 0;
}

ssize_t rte_vc_write(struct rte_vc *vc, const struct fi_msg_rma *msg, uint64_t flags)
{
	ssize_t ret;

	if (rte_vc_quick_rma(vc, false, msg, flags))
		return 0;
	ret = rte_vc_flags(flags, RTE_VC_WRITE_FLAGS);
	if (!ret)
		ret = durable_check(vc, flags);
	return ret ? ret : rma_post(vc, false, msg, flags, false);
}

ssize_t rte_vc_read(struct rte_vc *vc, const struct fi_msg_rma *msg, uint64_t flags)
{
	ssize_t ret;

	if (rte_vc_quick_rma(vc, true, msg, flags))
		return 0;
	ret = rte_vc_flags(flags, RTE_VC_SEND_FLAGS & ~RTE_VC_NOT_FOR_READS);
	return ret ? ret : rma_post(vc, true, msg, flags, false);
}

ssize_t rte_vc_inject_write(struct rte_vc *vc, const void *buf, size_t len, uint64_t addr,
			    uint64_t key, uint64_t flags, uint64_t data)
{
	const struct iovec iov = {.iov_base = (void *)buf, .iov_len = len};
	const struct fi_rma_iov range = {.addr = addr, .len = len, .key = key};
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.rma_iov = &range,
		.rma_iov_count = 1,
		.data = data,
	};
	ssize_t ret = rte_vc_flags(flags, FI_REMOTE_CQ_DATA);

	return ret ? ret : rma_post(vc, false, &msg, flags | FI_INJECT, true);
}

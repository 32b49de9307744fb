/* SPDX-License-Identifier: BSD-2-Clause */
/* Local buffers of several parts. */
#include "ops.h"

size_t rte_vc_part(struct rte_vc_op *op, uint8_t **at, void **desc)
{
	const struct iovec *iov = &op->iov[op->iov_at];

	while (op->iov_at < op->iov_count && op->iov_offset == iov->iov_len) {
		op->iov_at++;
		op->iov_offset = 0;
		iov++;
	}
	if (op->iov_at == op->iov_count)
		return 0;
	*at = (uint8_t *)iov->iov_base + op->iov_offset;
	*desc = op->desc[op->iov_at];
	return iov->iov_len - op->iov_offset;
}

void rte_vc_skip(struct rte_vc_op *op, size_t len)
{
	op->iov_offset += len;
	assert(!len || op->iov_offset <= op->iov[op->iov_at].iov_len);
}

void rte_vc_gather(struct rte_vc_op *op, uint8_t *to, size_t len)
{
	uint8_t *at;
	size_t part;
	void *desc;

	while (len && (part = CRN_MIN(rte_vc_part(op, &at, &desc), len))) {
		memcpy(to, at, part);
		rte_vc_skip(op, part);
		to += part;
		len -= part;
	}
}

void rte_vc_scatter(struct rte_vc_op *op, const uint8_t *from, size_t len)
{
	uint8_t *at;
	size_t part;
	void *desc;

	while (len && (part = CRN_MIN(rte_vc_part(op, &at, &desc), len))) {
		memcpy(at, from, part);
		rte_vc_skip(op, part);
		from += part;
		len -= part;
	}
}

void rte_vc_recv_copy(const struct rte_vc_recv *recv, uint64_t at, const uint8_t *from,
		      size_t len)
{
	size_t part;
	uint32_t i;

	for (i = 0; i < recv->iov_count && len; i++) {
		if (at >= recv->iov[i].iov_len) {
			at -= recv->iov[i].iov_len;
			continue;
		}
		part = CRN_MIN(len, recv->iov[i].iov_len - (size_t)at);
		memcpy((uint8_t *)recv->iov[i].iov_base + at, from, part);
		from += part;
		len -= part;
		at = 0;
	}
}

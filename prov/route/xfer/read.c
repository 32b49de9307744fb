/* SPDX-License-Identifier: BSD-2-Clause */
/* Lane RESPONSES: the data of reads, ACK and NACK, and what is said of keys. */
#include "ops.h"

static const char *frag_arrives(struct rte_vc *vc, const struct rte_rx *rx)
{
	struct rte_read_frag frag;
	const enum rte_bad bad = rte_read_frag_parse(&frag, &rx->packet);
	const size_t len = rx->packet.head.plen;
	struct rte_vc_op *op;

	if (bad != RTE_OK)
		return rte_bad_text(bad);
	if (frag.request < vc->head || frag.request >= vc->next)
		return "the data of a read that is not outstanding";
	op = rte_vc_op(vc, frag.request);
	if (op->type != RTE_READ_REQ || op->err)
		return "the data of a read that is not outstanding";
	if (frag.length != op->length || frag.offset != op->offset)
		return "the data of a read out of order";
	rte_vc_scatter(op, rx->payload, len);
	op->offset += len;
	/* Of the requests before it none waits any more. */
	if (vc->path.bypass && op->offset == op->length)
		vc->reached = CRN_MAX(vc->reached, frag.request);
	return NULL;
}

static const char *ack_arrives(struct rte_vc *vc, const struct rte_rx *rx)
{
	struct rte_ack ack;
	const enum rte_bad bad = rte_ack_parse(&ack, &rx->packet);

	return bad == RTE_OK ? rte_vc_acked(vc, ack.request) : rte_bad_text(bad);
}

static const char *nack_arrives(struct rte_vc *vc, const struct rte_rx *rx)
{
	struct rte_nack nack;
	const enum rte_bad bad = rte_nack_parse(&nack, &rx->packet);

	return bad == RTE_OK ? rte_vc_nacked(vc, &nack) : rte_bad_text(bad);
}

static const char *resolve_arrives(struct rte_vc *vc, const struct rte_rx *rx)
{
	struct rte_mr_resolve resolve;
	const enum rte_bad bad = rte_mr_resolve_parse(&resolve, &rx->packet);

	return bad == RTE_OK ? rte_vc_resolve(vc, resolve.key) : rte_bad_text(bad);
}

static const char *info_arrives(struct rte_vc *vc, const struct rte_rx *rx)
{
	struct rte_mr_info info;
	const enum rte_bad bad = rte_mr_info_parse(&info, &rx->packet);

	return bad == RTE_OK ? rte_vc_informed(vc, &info) : rte_bad_text(bad);
}

static const char *inval_arrives(struct rte_vc *vc, const struct rte_rx *rx)
{
	struct rte_mr_inval inval;
	const enum rte_bad bad = rte_mr_inval_parse(&inval, &rx->packet);

	if (bad != RTE_OK)
		return rte_bad_text(bad);
	return rx->packet.head.flags & RTE_ACKREQ ? rte_vc_recalled(vc, &inval)
						  : rte_vc_returned(vc, &inval);
}

const char *rte_vc_answer(struct rte_vc *vc, const struct rte_rx *rx)
{
	switch (rx->packet.head.type) {
	case RTE_READ_FRAG:
		return frag_arrives(vc, rx);
	case RTE_ACK:
		return ack_arrives(vc, rx);
	case RTE_NACK:
		return nack_arrives(vc, rx);
	case RTE_MR_RESOLVE:
		return resolve_arrives(vc, rx);
	case RTE_MR_INFO:
		return info_arrives(vc, rx);
	case RTE_MR_INVAL:
		return inval_arrives(vc, rx);
	default:
		return "a message that has no place on a connection";
	}
}

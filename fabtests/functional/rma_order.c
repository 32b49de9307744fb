/* SPDX-License-Identifier: BSD-2-Clause */
/* Orders promised in msg_order, fences, and completions that say more. */
#include "rma.h"

#define LEN 4096u
#define ROUNDS 200u

/* Posts it with a context of its own. */
static int post(struct rma *r, struct fct_op op, struct fct_ctx *ctx)
{
	op.ctx = ctx;
	FCT_POST(r->l.txcq, fct_op_post(r->l.c.ep, &op));
	return 0;
}

static int fenced_write(struct rma *r, size_t from, size_t len, struct fct_ctx *ctx)
{
	struct fct_op op = fct_rma_op(r, FCT_WRITEMSG, from, 0, len);

	op.flags = FI_FENCE;
	return post(r, op, ctx);
}

/* Write and read of the same place in one go. */
FCT_CASE(raw, "a read sees the write before it (FI_ORDER_RAW)")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	struct fi_cq_data_entry e;
	struct fct_ctx ctx[2];
	uint32_t i;

	s.msg_order |= FI_ORDER_RAW;
	FCT_DO(fct_rma_up(&r, &s, 2 * LEN, 0));
	for (i = 0; fct_is_client() && i < ROUNDS; i++) {
		fct_fill(r.local.buf, LEN, i);
		memset(r.local.buf + LEN, 0, LEN);
		FCT_DO(post(&r, fct_rma_op(&r, FCT_WRITE, 0, 0, LEN), &ctx[0]));
		FCT_DO(post(&r, fct_rma_op(&r, FCT_READ, LEN, 0, LEN), &ctx[1]));
		FCT_DO(fct_comp(r.l.txcq, &ctx[0], FI_RMA | FI_WRITE, &e, "the write"));
		FCT_DO(fct_comp(r.l.txcq, &ctx[1], FI_RMA | FI_READ, &e,
				"the read behind it"));
		FCT_DATA(r.local.buf + LEN, LEN, i);
	}
	return 0;
}

/* No provider orders writes after reads by itself; the fence does. */
FCT_CASE(fence, "a fenced write does not change an earlier read")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	struct fi_cq_data_entry e;
	struct fct_ctx ctx[2];
	size_t len = 256 * 1024;
	uint32_t i;

	s.caps |= FI_FENCE;
	FCT_DO(fct_rma_up(&r, &s, 2 * len, 0));
	fct_fill(r.exposed.buf, len, 0);
	FCT_DO(fct_barrier("target ready"));
	for (i = 0; fct_is_client() && i < 50; i++) {
		memset(r.local.buf, 0, len);
		fct_fill(r.local.buf + len, len, i + 1);
		FCT_DO(post(&r, fct_rma_op(&r, FCT_READ, 0, 0, len), &ctx[0]));
		FCT_DO(fenced_write(&r, len, len, &ctx[1]));
		FCT_DO(fct_comp(r.l.txcq, &ctx[0], FI_RMA | FI_READ, &e, "the read"));
		FCT_DO(fct_comp(r.l.txcq, &ctx[1], FI_RMA | FI_WRITE, &e,
				"the fenced write"));
		FCT_DATA(r.local.buf, len, i);
	}
	return 0;
}

/*
 * The message finds no receive and is sent again, with what is behind it. rdma_rxe does
 * not get past a fence there (fi_pverbs(7), KNOWN LIMITS OF DEVICES).
 */
static int between_post(struct rma *r, struct fct_ctx ctx[3])
{
	struct fid_ep *ep = r->l.c.ep;

	FCT_POST(r->l.txcq, fi_send(ep, r->flag.buf + 8, 1, r->flag.desc, 0, &ctx[0]));
	FCT_DO(fenced_write(r, 0, LEN, &ctx[1]));
	return post(r, fct_rma_op(r, FCT_READ, LEN, 0, LEN), &ctx[2]);
}

FCT_CASE(fence_between, "a fence between a message sent again and a read")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	struct fi_cq_data_entry e;
	struct fct_ctx ctx[3];
	/* Half a second each on rdma_rxe. */
	const uint32_t rounds = fct.scale > 1 ? 4 : 20;
	uint32_t i;

	s.caps |= FI_FENCE;
	s.msg_order |= FI_ORDER_RAW;
	FCT_DO(fct_rma_up(&r, &s, 2 * LEN, 0));
	for (i = 0; i < rounds; i++) {
		fct_fill(r.local.buf, LEN, i);
		if (fct_is_client())
			FCT_DO(between_post(&r, ctx));
		FCT_DO(fct_barrier("posted"));
		if (fct_is_server()) {
			FCT_DO(fct_rma_arm(&r));
			FCT_DO(fct_rma_await(&r));
		} else {
			FCT_DO(fct_comp(r.l.txcq, &ctx[0], FI_SEND | FI_MSG, &e,
					"the message"));
			FCT_DO(fct_comp(r.l.txcq, &ctx[1], FI_RMA | FI_WRITE, &e,
					"the fenced write"));
			FCT_DO(fct_comp(r.l.txcq, &ctx[2], FI_RMA | FI_READ, &e,
					"the read"));
			FCT_DATA(r.local.buf + LEN, LEN, i);
		}
	}
	return 0;
}

/*
 * The completion is told over the control channel, which knows nothing of the fabric's
 * order.
 */
FCT_CASE(delivery, "FI_DELIVERY_COMPLETE: data is in place when the write completes")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	size_t len = 65536;
	uint32_t i;

	s.tx_op_flags = FI_DELIVERY_COMPLETE;
	FCT_DO(fct_rma_up(&r, &s, len, 0));
	for (i = 0; i < 50; i++) {
		if (fct_is_client()) {
			fct_fill(r.local.buf, len, i);
			FCT_DO(fct_rma_do(&r, FCT_WRITE, 0, 0, len));
			FCT_DO(fct_tell("delivered", NULL, 0));
		} else {
			FCT_DO(fct_hear("delivered", NULL, 0));
			FCT_DATA(r.exposed.buf, len, i);
		}
		FCT_DO(fct_barrier("checked"));
	}
	return 0;
}

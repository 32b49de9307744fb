/* SPDX-License-Identifier: BSD-2-Clause */
/* Orders promised in msg_order, fences, and completions that say more. */
#include "rma.h"

#define LEN 4096u
#define ROUNDS 200u

/*
 * All writes go to one place and are posted without waiting; the last must be what stays.
 */
FCT_CASE(waw, "a later write to the same place wins (FI_ORDER_WAW)")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	uint32_t posted = 0, done = 0;
	struct fct_ctx ctx[ROUNDS];
	struct fi_cq_data_entry e;
	uint8_t *from;
	int ret;

	s.msg_order |= FI_ORDER_WAW;
	FCT_DO(fct_rma_up(&r, &s, ROUNDS * LEN, 0));
	if (fct_is_server())
		FCT_DO(fct_rma_arm(&r));
	FCT_DO(fct_barrier("target ready"));
	while (fct_is_client() && done < ROUNDS) {
		from = r.local.buf + (size_t)posted * LEN;
		ret = -FI_EAGAIN;
		if (posted < ROUNDS) {
			fct_fill(from, LEN, posted);
			ret = (int)fi_write(r.l.c.ep, from, LEN, r.local.desc, 0,
					    r.peer.addr, r.peer.key, &ctx[posted]);
		}
		if (!ret) {
			posted++;
			continue;
		}
		FCT_ERR(ret, -FI_EAGAIN);
		FCT_DO(fct_comp(r.l.txcq, &ctx[done], FI_RMA | FI_WRITE, &e, "a write"));
		done++;
	}
	if (fct_is_client()) {
		FCT_DO(fct_rma_flag(&r));
	} else {
		FCT_DO(fct_rma_await(&r));
		FCT_DATA(r.exposed.buf, LEN, ROUNDS - 1);
	}
	return 0;
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
		FCT_POST(r.l.txcq, fi_write(r.l.c.ep, r.local.buf, LEN, r.local.desc, 0,
					    r.peer.addr, r.peer.key, &ctx[0]));
		FCT_POST(r.l.txcq, fi_read(r.l.c.ep, r.local.buf + LEN, LEN, r.local.desc,
					   0, r.peer.addr, r.peer.key, &ctx[1]));
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
	struct iovec iov;
	struct fi_rma_iov rma_iov;
	struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = 1, .rma_iov = &rma_iov, .rma_iov_count = 1};
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
		FCT_POST(r.l.txcq, fi_read(r.l.c.ep, r.local.buf, len, r.local.desc, 0,
					   r.peer.addr, r.peer.key, &ctx[0]));
		iov = (struct iovec){.iov_base = r.local.buf + len, .iov_len = len};
		rma_iov = fct_rma_piece(&r, 0, len);
		msg.desc = &r.local.desc;
		msg.context = &ctx[1];
		FCT_POST(r.l.txcq, fi_writemsg(r.l.c.ep, &msg, FI_FENCE));
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
	const struct iovec iov = {.iov_base = r->local.buf, .iov_len = LEN};
	const struct fi_rma_iov range = fct_rma_piece(r, 0, LEN);
	const struct fi_msg_rma msg = {.msg_iov = &iov,
				       .desc = &r->local.desc,
				       .iov_count = 1,
				       .rma_iov = &range,
				       .rma_iov_count = 1,
				       .context = &ctx[1]};
	struct fid_ep *ep = r->l.c.ep;

	FCT_POST(r->l.txcq, fi_send(ep, r->flag.buf + 8, 1, r->flag.desc, 0, &ctx[0]));
	FCT_POST(r->l.txcq, fi_writemsg(ep, &msg, FI_FENCE));
	FCT_POST(r->l.txcq, fi_read(ep, r->local.buf + LEN, LEN, r->local.desc, 0,
				    r->peer.addr, r->peer.key, &ctx[2]));
	return 0;
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
	struct fi_cq_data_entry e;
	size_t len = 65536;
	uint32_t i;

	s.tx_op_flags = FI_DELIVERY_COMPLETE;
	FCT_DO(fct_rma_up(&r, &s, len, 0));
	for (i = 0; i < 50; i++) {
		if (fct_is_client()) {
			fct_fill(r.local.buf, len, i);
			FCT_POST(r.l.txcq,
				 fi_write(r.l.c.ep, r.local.buf, len, r.local.desc, 0,
					  r.peer.addr, r.peer.key, &r.ctx));
			FCT_DO(fct_comp(r.l.txcq, &r.ctx, FI_RMA | FI_WRITE, &e,
					"the delivered write"));
			FCT_DO(fct_tell("delivered", NULL, 0));
		} else {
			FCT_DO(fct_hear("delivered", NULL, 0));
			FCT_DATA(r.exposed.buf, len, i);
		}
		FCT_DO(fct_barrier("checked"));
	}
	return 0;
}

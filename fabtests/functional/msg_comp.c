/* SPDX-License-Identifier: BSD-2-Clause */
/* Which operations make a completion, in which queue and when. */
#include "msg.h"

#define LEN 128u
#define COUNT 8u

struct side {
	struct fct_link l;
	struct fct_mem m;
	struct fct_ctx ctx[COUNT];
};

static uint8_t *part(struct side *s, unsigned int i)
{
	return s->m.buf + (size_t)i * LEN;
}

static int up(struct side *s, const struct fct_setup *setup)
{
	unsigned int i;

	FCT_DO(fct_link_up(&s->l, setup));
	FCT_DO(fct_mem_alloc(&s->l, &s->m, COUNT * LEN, FI_SEND | FI_RECV));
	for (i = 0; fct_is_client() && i < COUNT; i++)
		fct_fill(part(s, i), LEN, i);
	return 0;
}

static int post_recvs(struct side *s, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		FCT_POST(s->l.rxcq,
			 fi_recv(s->l.c.ep, part(s, i), LEN, s->m.desc, 0, &s->ctx[i]));
	return 0;
}

static int receive_all(struct side *s, unsigned int count)
{
	struct fi_cq_data_entry e;
	unsigned int i;

	for (i = 0; i < count; i++) {
		FCT_DO(fct_comp_any(s->l.rxcq, &e, "a receive"));
		FCT_TRUE(e.op_context == &s->ctx[i]);
		FCT_EQ(e.len, LEN);
		FCT_DATA(part(s, i), LEN, i);
	}
	return 0;
}

static ssize_t sendmsg_part(struct side *s, unsigned int i, uint64_t flags)
{
	struct iovec iov = {.iov_base = part(s, i), .iov_len = LEN};
	struct fi_msg msg = {.msg_iov = &iov,
			     .desc = &s->m.desc,
			     .iov_count = 1,
			     .context = &s->ctx[i]};

	return fi_sendmsg(s->l.c.ep, &msg, flags);
}

static ssize_t recvmsg_part(struct side *s, unsigned int i, uint64_t flags)
{
	struct iovec iov = {.iov_base = part(s, i), .iov_len = LEN};
	struct fi_msg msg = {.msg_iov = &iov,
			     .desc = &s->m.desc,
			     .iov_count = 1,
			     .context = &s->ctx[i]};

	return fi_recvmsg(s->l.c.ep, &msg, flags);
}

static int selective_sends(struct side *s)
{
	struct iovec iov = {.iov_base = part(s, 1), .iov_len = LEN};
	struct fi_cq_data_entry e;

	FCT_POST(s->l.txcq,
		 fi_send(s->l.c.ep, part(s, 0), LEN, s->m.desc, 0, &s->ctx[0]));
	FCT_POST(s->l.txcq, fi_sendv(s->l.c.ep, &iov, &s->m.desc, 1, 0, &s->ctx[1]));
	FCT_POST(s->l.txcq, sendmsg_part(s, 2, 0));
	FCT_POST(s->l.txcq, sendmsg_part(s, 3, FI_COMPLETION));
	FCT_POST(s->l.txcq,
		 fi_send(s->l.c.ep, part(s, 4), LEN, s->m.desc, 0, &s->ctx[4]));
	FCT_POST(s->l.txcq, sendmsg_part(s, 5, FI_COMPLETION));
	FCT_DO(fct_comp(s->l.txcq, &s->ctx[3], FI_SEND | FI_MSG, &e,
			"the first send with FI_COMPLETION"));
	return fct_comp(s->l.txcq, &s->ctx[5], FI_SEND | FI_MSG, &e,
			"the second send with FI_COMPLETION");
}

FCT_CASE(selective_tx, "FI_SELECTIVE_COMPLETION for sends")
{
	struct fct_setup setup = {.caps = FI_MSG, .tx_bind = FI_SELECTIVE_COMPLETION};
	FCT_AUTO(fct_link_end) struct side s = {0};

	FCT_DO(up(&s, &setup));
	if (fct_is_server())
		FCT_DO(post_recvs(&s, 6));
	FCT_DO(fct_barrier("receives posted"));
	FCT_DO(fct_is_server() ? receive_all(&s, 6) : selective_sends(&s));
	FCT_DO(fct_barrier("all received"));
	return fct_cq_quiet(s.l.txcq, "after all messages");
}

FCT_CASE(selective_rx, "FI_SELECTIVE_COMPLETION for receives")
{
	struct fct_setup setup = {.caps = FI_MSG, .rx_bind = FI_SELECTIVE_COMPLETION};
	struct fi_cq_data_entry e;
	FCT_AUTO(fct_link_end) struct side s = {0};
	unsigned int i;

	FCT_DO(up(&s, &setup));
	if (fct_is_server()) {
		FCT_POST(s.l.rxcq,
			 fi_recv(s.l.c.ep, part(&s, 0), LEN, s.m.desc, 0, &s.ctx[0]));
		FCT_POST(s.l.rxcq, recvmsg_part(&s, 1, 0));
		FCT_POST(s.l.rxcq, recvmsg_part(&s, 2, FI_COMPLETION));
	}
	FCT_DO(fct_barrier("receives posted"));
	if (fct_is_client()) {
		for (i = 0; i < 3; i++) {
			FCT_POST(s.l.txcq, fi_send(s.l.c.ep, part(&s, i), LEN, s.m.desc,
						   0, &s.ctx[i]));
			FCT_DO(fct_comp(s.l.txcq, &s.ctx[i], FI_SEND | FI_MSG, &e,
					"a send"));
		}
	} else {
		FCT_DO(fct_comp(s.l.rxcq, &s.ctx[2], FI_RECV | FI_MSG, &e,
				"the receive with FI_COMPLETION"));
		for (i = 0; i < 3; i++)
			FCT_DATA(part(&s, i), LEN, i);
	}
	FCT_DO(fct_barrier("all received"));
	return fct_cq_quiet(s.l.rxcq, "after all messages");
}

FCT_CASE(selective_default, "op_flags FI_COMPLETION with selective completion")
{
	struct fct_setup setup = {.caps = FI_MSG,
				  .tx_op_flags = FI_COMPLETION,
				  .tx_bind = FI_SELECTIVE_COMPLETION};
	struct fi_cq_data_entry e;
	FCT_AUTO(fct_link_end) struct side s = {0};

	FCT_DO(up(&s, &setup));
	if (fct_is_server())
		FCT_DO(post_recvs(&s, 2));
	FCT_DO(fct_barrier("receives posted"));
	if (fct_is_client()) {
		FCT_POST(s.l.txcq,
			 fi_send(s.l.c.ep, part(&s, 0), LEN, s.m.desc, 0, &s.ctx[0]));
		FCT_POST(s.l.txcq, sendmsg_part(&s, 1, FI_COMPLETION));
		FCT_DO(fct_comp(s.l.txcq, &s.ctx[0], FI_SEND | FI_MSG, &e, "fi_send"));
		FCT_DO(fct_comp(s.l.txcq, &s.ctx[1], FI_SEND | FI_MSG, &e,
				"fi_sendmsg with FI_COMPLETION"));
	} else {
		FCT_DO(receive_all(&s, 2));
	}
	FCT_DO(fct_barrier("all received"));
	return fct_cq_quiet(s.l.txcq, "after all messages");
}

/* fi_endpoint(3): calls that take flags override the op_flags of the endpoint. */
FCT_CASE(selective_override, "flags of fi_sendmsg replace the endpoint's")
{
	struct fct_setup setup = {.caps = FI_MSG,
				  .tx_op_flags = FI_COMPLETION,
				  .tx_bind = FI_SELECTIVE_COMPLETION};
	struct fi_cq_data_entry e;
	FCT_AUTO(fct_link_end) struct side s = {0};

	FCT_DO(up(&s, &setup));
	if (fct_is_server())
		FCT_DO(post_recvs(&s, 2));
	FCT_DO(fct_barrier("receives posted"));
	if (fct_is_client()) {
		FCT_POST(s.l.txcq, sendmsg_part(&s, 0, 0));
		FCT_POST(s.l.txcq,
			 fi_send(s.l.c.ep, part(&s, 1), LEN, s.m.desc, 0, &s.ctx[1]));
		FCT_DO(fct_comp(s.l.txcq, &s.ctx[1], FI_SEND | FI_MSG, &e,
				"fi_send after a fi_sendmsg without FI_COMPLETION"));
	} else {
		FCT_DO(receive_all(&s, 2));
	}
	FCT_DO(fct_barrier("all received"));
	return fct_cq_quiet(s.l.txcq, "after all messages");
}

static int default_flag(uint64_t flag)
{
	struct fct_setup setup = {.caps = FI_MSG, .tx_op_flags = flag};
	struct fi_cq_data_entry e;
	FCT_AUTO(fct_link_end) struct side s = {0};
	unsigned int i;

	FCT_DO(up(&s, &setup));
	if (fct_is_server())
		FCT_DO(post_recvs(&s, COUNT));
	FCT_DO(fct_barrier("receives posted"));
	for (i = 0; fct_is_client() && i < COUNT; i++) {
		FCT_POST(s.l.txcq, i % 2 ? sendmsg_part(&s, i, flag)
					 : fi_send(s.l.c.ep, part(&s, i), LEN, s.m.desc,
						   0, &s.ctx[i]));
		FCT_DO(fct_comp(s.l.txcq, &s.ctx[i], FI_SEND | FI_MSG, &e, "a send"));
	}
	if (fct_is_server())
		FCT_DO(receive_all(&s, COUNT));
	return 0;
}

FCT_CASE_CALL(op_transmit_complete, "endpoint default FI_TRANSMIT_COMPLETE",
	      default_flag(FI_TRANSMIT_COMPLETE))

FCT_CASE_CALL(op_inject_complete, "endpoint default FI_INJECT_COMPLETE",
	      default_flag(FI_INJECT_COMPLETE))

/* The receive is posted only when the sender has looked for a completion in vain. */
FCT_CASE(op_delivery_complete, "no completion before the message is received")
{
	struct fct_setup setup = {.caps = FI_MSG, .tx_op_flags = FI_DELIVERY_COMPLETE};
	struct fi_cq_data_entry e;
	FCT_AUTO(fct_link_end) struct side s = {0};
	int i;

	FCT_DO(up(&s, &setup));
	if (fct_is_client()) {
		FCT_POST(s.l.txcq,
			 fi_send(s.l.c.ep, part(&s, 0), LEN, s.m.desc, 0, &s.ctx[0]));
		for (i = 0; i < 10000; i++)
			FCT_DO(fct_cq_quiet(s.l.txcq, "before the receive is posted"));
		FCT_DO(fct_barrier("sent, not complete"));
		FCT_DO(fct_comp(s.l.txcq, &s.ctx[0], FI_SEND | FI_MSG, &e,
				"the delivered send"));
	} else {
		FCT_DO(fct_barrier("sent, not complete"));
		FCT_DO(post_recvs(&s, 1));
		FCT_DO(receive_all(&s, 1));
	}
	return 0;
}

FCT_CASE(split_cq, "separate CQs for transmit and receive")
{
	struct fct_setup setup = {.caps = FI_MSG, .split_cq = true};
	struct fi_cq_data_entry e;
	struct fct_mem tx;
	FCT_AUTO(fct_link_end) struct side s = {0};
	unsigned int i;

	FCT_DO(up(&s, &setup));
	FCT_DO(fct_mem_alloc(&s.l, &tx, LEN, FI_SEND));
	FCT_DO(post_recvs(&s, COUNT));
	FCT_DO(fct_barrier("receives posted"));
	for (i = 0; i < COUNT; i++) {
		fct_fill(tx.buf, LEN, i);
		FCT_POST(s.l.txcq, fi_send(s.l.c.ep, tx.buf, LEN, tx.desc, 0, &tx));
		FCT_DO(fct_comp(s.l.txcq, &tx, FI_SEND | FI_MSG, &e,
				"a send in the transmit CQ"));
	}
	FCT_DO(receive_all(&s, COUNT));
	FCT_DO(fct_cq_quiet(s.l.txcq, "after all sends"));
	return fct_cq_quiet(s.l.rxcq, "after all receives");
}

/* ---- */

#define EPS 4u
#define PER_EP 16u

struct eps {
	struct fct_link l;
	struct fct_conn conn[EPS];
	struct fct_mem m;
	struct fct_ctx ctx[EPS][PER_EP];
};

static uint8_t *eps_buf(struct eps *x, unsigned int ep, unsigned int i)
{
	return x->m.buf + (size_t)(ep * PER_EP + i) * LEN;
}

static int eps_receive(struct eps *x)
{
	unsigned int next[EPS] = {0}, n, ep;
	struct fi_cq_data_entry e;

	for (n = 0; n < EPS * PER_EP; n++) {
		FCT_DO(fct_comp_any(x->l.rxcq, &e,
				    "a receive of one of several endpoints"));
		for (ep = 0; ep < EPS; ep++)
			if (next[ep] < PER_EP && e.op_context == &x->ctx[ep][next[ep]])
				break;
		if (ep == EPS)
			FCT_FAIL("a receive completed out of its endpoint's order");
		FCT_DATA(eps_buf(x, ep, next[ep]), LEN, ep * PER_EP + next[ep]);
		next[ep]++;
	}
	return 0;
}

/* Sends go round the endpoints; each endpoint's receives complete in its own order. */
static int eps_send(struct eps *x)
{
	struct fi_cq_data_entry e;
	unsigned int i, ep;

	for (i = 0; i < PER_EP; i++) {
		for (ep = 0; ep < EPS; ep++) {
			fct_fill(eps_buf(x, ep, i), LEN, ep * PER_EP + i);
			FCT_POST(x->l.txcq, fi_send(x->conn[ep].ep, eps_buf(x, ep, i),
						    LEN, x->m.desc, 0, &x->ctx[ep][i]));
		}
		for (ep = 0; ep < EPS; ep++)
			FCT_DO(fct_comp_any(x->l.txcq, &e,
					    "a send on one of several endpoints"));
	}
	return 0;
}

FCT_CASE(many_endpoints, "several endpoints on one CQ")
{
	struct fct_setup setup = {
		.caps = FI_MSG, .tx_size = PER_EP, .rx_size = PER_EP, .cq_size = 1024};
	FCT_AUTO(fct_link_end) struct eps x = {0};
	unsigned int i, ep;

	FCT_DO(fct_link_open(&x.l, &setup));
	for (ep = 0; ep < EPS; ep++)
		FCT_DO(fct_conn_up(&x.l, &x.conn[ep]));
	FCT_DO(fct_mem_alloc(&x.l, &x.m, EPS * PER_EP * LEN, FI_SEND | FI_RECV));
	for (ep = 0; fct_is_server() && ep < EPS; ep++)
		for (i = 0; i < PER_EP; i++)
			FCT_POST(x.l.rxcq, fi_recv(x.conn[ep].ep, eps_buf(&x, ep, i), LEN,
						   x.m.desc, 0, &x.ctx[ep][i]));
	FCT_DO(fct_barrier("receives posted"));
	return fct_is_server() ? eps_receive(&x) : eps_send(&x);
}

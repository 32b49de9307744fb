/* SPDX-License-Identifier: BSD-2-Clause */
/* Which operations make a completion, in which queue and when. */
#include "fct_op.h"

#define LEN 128u
#define COUNT 8u

static int up(struct fct_parts *s, const struct fct_setup *setup, unsigned int receives)
{
	unsigned int i;

	FCT_DO(fct_parts_up(s, setup, LEN, COUNT, receives));
	for (i = 0; fct_is_client() && i < COUNT; i++)
		fct_fill(fct_part(s, i), LEN, i);
	return 0;
}

static int receive_all(struct fct_parts *s, unsigned int count)
{
	struct fi_cq_data_entry e;
	unsigned int i;

	for (i = 0; i < count; i++) {
		FCT_DO(fct_comp_any(s->l.rxcq, &e, "a receive"));
		FCT_TRUE(e.op_context == &s->ctx[i]);
		FCT_EQ(e.len, LEN);
		FCT_DATA(fct_part(s, i), LEN, i);
	}
	return 0;
}

/* A call, and whether it makes a completion. */
struct call {
	enum fct_form form;
	uint64_t flags;
	bool done;
};

static int done_calls(struct fct_parts *s, const struct call *call, unsigned int count)
{
	struct fi_cq_data_entry e;
	unsigned int i;

	for (i = 0; i < count; i++)
		if (call[i].done)
			FCT_DO(fct_comp(s->l.txcq, &s->ctx[i],
					fct_forms[call[i].form].done, &e,
					"a call that makes a completion"));
	return 0;
}

static int send_by(const struct fct_setup *setup, const struct call *call,
		   unsigned int count)
{
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};
	unsigned int i;

	FCT_DO(up(&s, setup, count));
	for (i = 0; fct_is_client() && i < count; i++)
		FCT_DO(fct_part_post(&s, call[i].form, i, call[i].flags));
	FCT_DO(fct_is_client() ? done_calls(&s, call, count) : receive_all(&s, count));
	FCT_DO(fct_barrier("all received"));
	return fct_cq_quiet(s.l.txcq, "after all messages");
}

FCT_CASE_CALL(selective_tx, "FI_SELECTIVE_COMPLETION for sends",
	      send_by(&(struct fct_setup){.tx_bind = FI_SELECTIVE_COMPLETION},
		      (const struct call[]){{.form = FCT_SEND},
					    {.form = FCT_SENDV},
					    {.form = FCT_SENDMSG},
					    {FCT_SENDMSG, FI_COMPLETION, true},
					    {.form = FCT_SEND},
					    {FCT_SENDMSG, FI_COMPLETION, true}},
		      6))

/* FI_COMPLETION in op_flags, and selective completion. */
static const struct fct_setup by_default = {.tx_op_flags = FI_COMPLETION,
					    .tx_bind = FI_SELECTIVE_COMPLETION};

FCT_CASE_CALL(selective_default, "op_flags FI_COMPLETION with selective completion",
	      send_by(&by_default,
		      (const struct call[]){{FCT_SEND, 0, true},
					    {FCT_SENDMSG, FI_COMPLETION, true}},
		      2))

/* fi_endpoint(3): calls that take flags override the op_flags of the endpoint. */
FCT_CASE_CALL(selective_override, "flags of fi_sendmsg replace the endpoint's",
	      send_by(&by_default,
		      (const struct call[]){{.form = FCT_SENDMSG}, {FCT_SEND, 0, true}},
		      2))

static int default_flag(uint64_t flag)
{
	const struct fct_setup setup = {.tx_op_flags = flag};

	return send_by(&setup,
		       (const struct call[]){{FCT_SEND, 0, true},
					     {FCT_SENDMSG, flag, true},
					     {FCT_SEND, 0, true},
					     {FCT_SENDMSG, flag, true}},
		       4);
}

FCT_CASE_CALL(op_transmit_complete, "endpoint default FI_TRANSMIT_COMPLETE",
	      default_flag(FI_TRANSMIT_COMPLETE))

FCT_CASE_CALL(op_inject_complete, "endpoint default FI_INJECT_COMPLETE",
	      default_flag(FI_INJECT_COMPLETE))

FCT_CASE(selective_rx, "FI_SELECTIVE_COMPLETION for receives")
{
	static const struct call call[] = {{.form = FCT_RECV},
					   {.form = FCT_RECVMSG},
					   {FCT_RECVMSG, FI_COMPLETION, true}};
	const struct fct_setup setup = {.rx_bind = FI_SELECTIVE_COMPLETION};
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};
	struct fi_cq_data_entry e;
	unsigned int i;

	FCT_DO(up(&s, &setup, 0));
	for (i = 0; fct_is_server() && i < 3; i++)
		FCT_DO(fct_part_post(&s, call[i].form, i, call[i].flags));
	FCT_DO(fct_barrier("receives posted"));
	for (i = 0; fct_is_client() && i < 3; i++) {
		FCT_DO(fct_part_post(&s, FCT_SEND, i, 0));
		FCT_DO(fct_comp(s.l.txcq, &s.ctx[i], FI_SEND | FI_MSG, &e, "a send"));
	}
	if (fct_is_server()) {
		FCT_DO(done_calls(&s, call, 3));
		for (i = 0; i < 3; i++)
			FCT_DATA(fct_part(&s, i), LEN, i);
	}
	FCT_DO(fct_barrier("all received"));
	return fct_cq_quiet(s.l.rxcq, "after all messages");
}

/* The receive is posted only when the sender has looked for a completion in vain. */
FCT_CASE(op_delivery_complete, "no completion before the message is received")
{
	struct fct_setup setup = {.caps = FI_MSG, .tx_op_flags = FI_DELIVERY_COMPLETE};
	struct fi_cq_data_entry e;
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};
	int i;

	FCT_DO(up(&s, &setup, 0));
	if (fct_is_client()) {
		FCT_DO(fct_part_post(&s, FCT_SEND, 0, 0));
		for (i = 0; i < 10000; i++)
			FCT_DO(fct_cq_quiet(s.l.txcq, "before the receive is posted"));
		FCT_DO(fct_barrier("sent, not complete"));
		FCT_DO(fct_comp(s.l.txcq, &s.ctx[0], FI_SEND | FI_MSG, &e,
				"the delivered send"));
	} else {
		FCT_DO(fct_barrier("sent, not complete"));
		FCT_DO(fct_part_post(&s, FCT_RECV, 0, 0));
		FCT_DO(receive_all(&s, 1));
	}
	return 0;
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

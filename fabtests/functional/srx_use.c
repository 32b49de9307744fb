/* SPDX-License-Identifier: BSD-2-Clause */
/* Receiving with a shared context. */
#include "fct_op.h"
#include "srx.h"

#define MANY 4000u

/* The endpoint itself takes none. */
FCT_CASE(forms, "fi_recv, fi_recvv and fi_recvmsg on the context")
{
	static const enum fct_form form[] = {FCT_RECV, FCT_RECVMSG, FCT_RECVV};
	struct fct_setup setup = fct_srx_setup();
	FCT_AUTO(fct_link_end) struct srx_side s = {0};
	unsigned int i, dir, forms = 3;
	struct fct_op op = {.len = SRX_LEN, .pieces = 2, .flags = FI_COMPLETION};

	FCT_DO(fct_srx_up(&s, &setup));
	if (s.l.info->rx_attr->iov_limit < 2)
		forms = 2;
	FCT_DO(fct_exchange("forms", &forms, &i, sizeof(i)));
	forms = i < forms ? i : forms;
	FCT_REFUSED(
		fi_recv(s.l.c.ep, fct_srx_part(&s, 0), SRX_LEN, s.m.desc, 0, &s.ctx[0]));
	for (i = 0; i < forms; i++) {
		op.form = form[i];
		op.pieces = form[i] == FCT_RECVV ? 2 : 1;
		op.buf = fct_srx_part(&s, i);
		op.desc = s.m.desc;
		op.ctx = &s.ctx[i];
		FCT_CALL(fct_op_post(s.srx, &op));
	}
	for (dir = 0; dir < 2; dir++) {
		for (i = 0; fct_is_client() != dir && i < forms; i++)
			FCT_DO(fct_srx_send(&s, &s.l.c, SRX_LEN - i, i));
		for (i = 0; fct_is_client() == dir && i < forms; i++)
			FCT_DO(fct_srx_take(&s, s.l.rxcq, i, SRX_LEN - i, i));
		FCT_DO(fct_barrier("one way"));
	}
	return 0;
}

static int more_conns(struct srx_side *s)
{
	unsigned int i;

	for (i = 0; i < SRX_CONNS; i++)
		FCT_DO(fct_conn_up(&s->l, &s->conn[i]));
	return 0;
}

FCT_CASE(share, "messages of several connections take the oldest receive")
{
	struct fct_setup setup = fct_srx_setup();
	FCT_AUTO(fct_link_end) struct srx_side s = {0};
	unsigned int i;

	FCT_DO(fct_srx_up(&s, &setup));
	FCT_DO(more_conns(&s));
	for (i = 0; fct_is_server() && i < 3 * SRX_CONNS; i++)
		FCT_DO(fct_srx_post(&s, i));
	for (i = 0; i < 3 * SRX_CONNS; i++) {
		FCT_DO(fct_barrier("next"));
		if (fct_is_client())
			FCT_DO(fct_srx_send(&s, &s.conn[i % SRX_CONNS], 100 + i, i));
		else
			FCT_DO(fct_srx_take(&s, s.l.rxcq, i, 100 + i, i));
	}
	return fct_cq_quiet(s.l.rxcq, "after all messages");
}

static unsigned int slot_of(const struct srx_side *s, const void *ctx)
{
	return (unsigned int)((const struct fct_ctx *)ctx - s->ctx);
}

/* Each connection's messages carry its number and count up. */
static int receive_many(struct srx_side *s)
{
	uint64_t next[SRX_CONNS] = {0}, head[2];
	struct fi_cq_data_entry e;
	unsigned int i, slot;

	for (i = 0; i < MANY; i++) {
		FCT_DO(fct_comp_any(s->l.rxcq, &e, "one of many messages"));
		slot = slot_of(s, e.op_context);
		FCT_TRUE(slot < SRX_SLOTS);
		FCT_EQ(e.len, SRX_LEN);
		memcpy(head, fct_srx_part(s, slot), sizeof(head));
		FCT_TRUE(head[0] < SRX_CONNS);
		FCT_EQ(head[1], next[head[0]]);
		next[head[0]]++;
		FCT_DO(fct_srx_post(s, slot));
		if (i % (SRX_SLOTS / 2) == SRX_SLOTS / 2 - 1)
			FCT_DO(fct_tell("credits", &i, sizeof(i)));
	}
	return 0;
}

static int send_many(struct srx_side *s)
{
	uint64_t head[2];
	struct fi_cq_data_entry e;
	unsigned int i, heard = 0, credits = SRX_SLOTS, seen;

	for (i = 0; i < MANY; i++) {
		if (!credits) {
			FCT_DO(fct_hear("credits", &seen, sizeof(seen)));
			credits += SRX_SLOTS / 2;
			heard++;
		}
		credits--;
		head[0] = i % SRX_CONNS;
		head[1] = i / SRX_CONNS;
		memcpy(fct_srx_part(s, i % SRX_SLOTS), head, sizeof(head));
		FCT_POST(s->l.txcq,
			 fi_send(s->conn[head[0]].ep, fct_srx_part(s, i % SRX_SLOTS),
				 SRX_LEN, s->m.desc, 0, &s->ctx[i % SRX_SLOTS]));
		FCT_DO(fct_comp(s->l.txcq, &s->ctx[i % SRX_SLOTS], FI_SEND | FI_MSG, &e,
				"one of many messages"));
	}
	/* What was told and not needed. */
	for (i = MANY / (SRX_SLOTS / 2) - heard; i; i--)
		FCT_DO(fct_hear("credits", &seen, sizeof(seen)));
	return 0;
}

FCT_CASE(many, "thousands of messages over several connections")
{
	struct fct_setup setup = fct_srx_setup();
	FCT_AUTO(fct_link_end) struct srx_side s = {0};
	unsigned int i;

	FCT_DO(fct_srx_up(&s, &setup));
	FCT_DO(more_conns(&s));
	for (i = 0; fct_is_server() && i < SRX_SLOTS; i++)
		FCT_DO(fct_srx_post(&s, i));
	FCT_DO(fct_barrier("posted"));
	return fct_is_client() ? send_many(&s) : receive_many(&s);
}

FCT_CASE(queue_full, "a full context says -FI_EAGAIN and recovers")
{
	struct fct_setup setup = fct_srx_setup();
	FCT_AUTO(fct_link_end) struct srx_side s = {0};
	unsigned int i, size;
	int ret = 0;

	setup.rx_size = 16;
	FCT_DO(fct_srx_up(&s, &setup));
	size = (unsigned int)s.l.info->rx_attr->size;
	if (size > SRX_SLOTS)
		return fct_skip("rx_attr->size is %u where 16 were asked for", size);
	for (i = 0; i < size; i++)
		FCT_DO(fct_srx_post(&s, i));
	/* It may take more than it promises, but not without end. */
	for (i = size; i < SRX_SLOTS; i++) {
		ret = (int)fi_recv(s.srx, fct_srx_part(&s, i), SRX_LEN, s.m.desc, 0,
				   &s.ctx[i]);
		if (ret)
			break;
	}
	if (i == SRX_SLOTS)
		return fct_skip("the context holds more than this case posts");
	FCT_ERR(ret, -FI_EAGAIN);
	FCT_DO(fct_barrier("full"));
	if (fct_is_client()) {
		FCT_DO(fct_srx_send(&s, &s.l.c, 5, 5));
	} else {
		FCT_DO(fct_srx_take(&s, s.l.rxcq, 0, 5, 5));
		FCT_DO(fct_srx_post(&s, 0));
	}
	return 0;
}

FCT_CASE(split, "endpoints with different CQs on one context")
{
	struct fct_setup setup = fct_srx_setup();
	FCT_AUTO(fct_link_end) struct srx_side s = {0};
	struct fid_cq *cq;
	unsigned int i;

	FCT_DO(fct_srx_up(&s, &setup));
	FCT_DO(fct_cq_open(&s.l, 4 * SRX_SLOTS, FI_CQ_FORMAT_DATA, FI_WAIT_NONE, &cq));
	s.conn[0].txcq = s.conn[0].rxcq = cq;
	FCT_DO(fct_conn_up(&s.l, &s.conn[0]));
	for (i = 0; fct_is_server() && i < 20; i++)
		FCT_DO(fct_srx_post(&s, i));
	for (i = 0; i < 20; i++) {
		FCT_DO(fct_barrier("next"));
		if (fct_is_client())
			FCT_DO(fct_srx_send(&s, i % 3 ? &s.conn[0] : &s.l.c, 40, i));
		else
			FCT_DO(fct_srx_take(&s, i % 3 ? cq : s.l.rxcq, i, 40, i));
	}
	FCT_DO(fct_cq_quiet(s.l.rxcq, "after all messages"));
	return fct_cq_quiet(cq, "after all messages");
}

FCT_CASE(selective, "FI_SELECTIVE_COMPLETION with shared receives")
{
	struct fct_setup setup = fct_srx_setup();
	FCT_AUTO(fct_link_end) struct srx_side s = {0};
	struct fct_op receive;
	unsigned int i;

	setup.rx_bind = FI_SELECTIVE_COMPLETION;
	FCT_DO(fct_srx_up(&s, &setup));
	for (i = 0; fct_is_server() && i < 20; i++) {
		if (i % 5 != 4) {
			FCT_DO(fct_srx_post(&s, i));
			continue;
		}
		receive = (struct fct_op){.form = FCT_RECVMSG,
					  .buf = fct_srx_part(&s, i),
					  .len = SRX_LEN,
					  .desc = s.m.desc,
					  .flags = FI_COMPLETION,
					  .ctx = &s.ctx[i]};
		FCT_CALL(fct_op_post(s.srx, &receive));
	}
	FCT_DO(fct_barrier("posted"));
	for (i = 0; fct_is_client() && i < 20; i++)
		FCT_DO(fct_srx_send(&s, &s.l.c, 40, i));
	for (i = 4; fct_is_server() && i < 20; i += 5)
		FCT_DO(fct_srx_take(&s, s.l.rxcq, i, 40, i));
	FCT_DO(fct_barrier("received"));
	return fct_cq_quiet(s.l.rxcq, "after the last asked for");
}

FCT_CASE(data, "a write with data takes a shared receive")
{
	struct fct_setup setup = fct_srx_setup();
	FCT_AUTO(fct_link_end) struct srx_side s = {0};
	struct fi_cq_data_entry e;
	struct fct_target peer;
	struct fct_mem exposed;

	setup.caps = FI_MSG | FI_RMA;
	setup.mode = FI_RX_CQ_DATA;
	setup.cq_data_size = 4;
	FCT_DO(fct_srx_up(&s, &setup));
	FCT_DO(fct_mem_expose(&s.l, &exposed, 64, FI_REMOTE_WRITE, &peer));
	if (!(s.l.peer.rx_mode & FI_RX_CQ_DATA))
		return fct_skip("remote CQ data takes no receive");
	if (fct_is_server())
		FCT_DO(fct_srx_post(&s, 0));
	FCT_DO(fct_barrier("posted"));
	if (fct_is_client()) {
		FCT_POST(s.l.txcq,
			 fi_writedata(s.l.c.ep, fct_srx_part(&s, 0), 64, s.m.desc, 1234,
				      0, peer.addr, peer.key, &s.sent));
		FCT_DO(fct_comp(s.l.txcq, &s.sent, FI_RMA | FI_WRITE, &e, "the write"));
	} else {
		FCT_DO(fct_comp(s.l.rxcq, &s.ctx[0],
				FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA, &e,
				"the write's data"));
		FCT_EQ(e.data, 1234);
	}
	return 0;
}

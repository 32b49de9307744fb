/* SPDX-License-Identifier: BSD-2-Clause */
/* Receiving with a shared context. */
#include "srx.h"

#define MANY 4000u

int fct_srx_forms(struct fct *t)
{
	struct fct_setup setup = fct_srx_setup();
	struct srx_side s = {.l.t = t};
	struct iovec iov[2];
	void *desc[2];
	struct fi_msg msg = {.msg_iov = iov, .desc = desc, .iov_count = 1};
	unsigned int i, forms = 3;
	int ret;

	FCT_DO(fct_srx_up(&s, t, &setup));
	if (s.l.info->rx_attr->iov_limit < 2)
		forms = 2;
	FCT_DO(fct_srx_post(&s, 0));
	iov[0] = (struct iovec){fct_srx_part(&s, 1), SRX_LEN};
	desc[0] = desc[1] = s.m.desc;
	msg.context = &s.ctx[1];
	FCT_CALL(t, fi_recvmsg(s.srx, &msg, FI_COMPLETION));
	if (forms == 3) {
		iov[0] = (struct iovec){fct_srx_part(&s, 2), 100};
		iov[1] = (struct iovec){fct_srx_part(&s, 2) + 100, SRX_LEN - 100};
		FCT_CALL(t, fi_recvv(s.srx, iov, desc, 2, 0, &s.ctx[2]));
	}
	FCT_DO(fct_exchange(t, "forms", &forms, &i, sizeof(i)));
	forms = i < forms ? i : forms;
	for (i = 0; fct_is_client(t) && i < forms; i++)
		FCT_DO(fct_srx_send(&s, &s.l.c, SRX_LEN - i, i));
	for (i = 0; fct_is_server(t) && i < forms; i++)
		FCT_DO(fct_srx_take(&s, s.l.rxcq, i, SRX_LEN - i, i));
	FCT_DO(fct_barrier(t, "one way"));
	for (i = 0; fct_is_server(t) && i < forms; i++)
		FCT_DO(fct_srx_send(&s, &s.l.c, 10 + i, i));
	for (i = 0; fct_is_client(t) && i < forms; i++)
		FCT_DO(fct_srx_take(&s, s.l.rxcq, i, 10 + i, i));
out:
	return fct_link_down(&s.l, ret);
}

static int more_conns(struct srx_side *s)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < SRX_CONNS; i++)
		FCT_DO(fct_conn_up(&s->l, &s->conn[i]));
out:
	return ret;
}

int fct_srx_share(struct fct *t)
{
	struct fct_setup setup = fct_srx_setup();
	struct srx_side s = {.l.t = t};
	unsigned int i;
	int ret;

	FCT_DO(fct_srx_up(&s, t, &setup));
	FCT_DO(more_conns(&s));
	for (i = 0; fct_is_server(t) && i < 3 * SRX_CONNS; i++)
		FCT_DO(fct_srx_post(&s, i));
	for (i = 0; i < 3 * SRX_CONNS; i++) {
		FCT_DO(fct_barrier(t, "next"));
		if (fct_is_client(t))
			FCT_DO(fct_srx_send(&s, &s.conn[i % SRX_CONNS], 100 + i, i));
		else
			FCT_DO(fct_srx_take(&s, s.l.rxcq, i, 100 + i, i));
	}
	ret = fct_cq_quiet(t, s.l.rxcq, "after all messages");
out:
	return fct_link_down(&s.l, ret);
}

static unsigned int slot_of(const struct srx_side *s, const void *ctx)
{
	return (unsigned int)((const struct fct_ctx *)ctx - s->ctx);
}

/* Each connection's messages carry its number and count up. */
static int receive_many(struct srx_side *s)
{
	uint64_t next[SRX_CONNS] = {0}, head[2];
	struct fct *t = s->l.t;
	struct fi_cq_data_entry e;
	unsigned int i, slot;
	int ret = 0;

	for (i = 0; i < MANY; i++) {
		FCT_DO(fct_comp_any(t, s->l.rxcq, &e, "one of many messages"));
		slot = slot_of(s, e.op_context);
		FCT_TRUE(t, slot < SRX_SLOTS);
		FCT_EQ(t, e.len, SRX_LEN);
		memcpy(head, fct_srx_part(s, slot), sizeof(head));
		FCT_TRUE(t, head[0] < SRX_CONNS);
		FCT_EQ(t, head[1], next[head[0]]);
		next[head[0]]++;
		FCT_DO(fct_srx_post(s, slot));
		if (i % (SRX_SLOTS / 2) == SRX_SLOTS / 2 - 1)
			FCT_DO(fct_tell(t, "credits", &i, sizeof(i)));
	}
out:
	return ret;
}

static int send_many(struct srx_side *s)
{
	uint64_t head[2];
	struct fct *t = s->l.t;
	struct fi_cq_data_entry e;
	unsigned int i, heard = 0, credits = SRX_SLOTS, seen;
	int ret = 0;

	for (i = 0; i < MANY; i++) {
		if (!credits) {
			FCT_DO(fct_hear(t, "credits", &seen, sizeof(seen)));
			credits += SRX_SLOTS / 2;
			heard++;
		}
		credits--;
		head[0] = i % SRX_CONNS;
		head[1] = i / SRX_CONNS;
		memcpy(fct_srx_part(s, i % SRX_SLOTS), head, sizeof(head));
		FCT_POST(t, s->l.txcq,
			 fi_send(s->conn[head[0]].ep, fct_srx_part(s, i % SRX_SLOTS),
				 SRX_LEN, s->m.desc, 0, &s->ctx[i % SRX_SLOTS]));
		FCT_DO(fct_comp(t, s->l.txcq, &s->ctx[i % SRX_SLOTS], FI_SEND | FI_MSG,
				&e, "one of many messages"));
	}
	/* What was told and not needed. */
	for (i = MANY / (SRX_SLOTS / 2) - heard; i; i--)
		FCT_DO(fct_hear(t, "credits", &seen, sizeof(seen)));
out:
	return ret;
}

int fct_srx_many(struct fct *t)
{
	struct fct_setup setup = fct_srx_setup();
	struct srx_side s = {.l.t = t};
	unsigned int i;
	int ret;

	FCT_DO(fct_srx_up(&s, t, &setup));
	FCT_DO(more_conns(&s));
	for (i = 0; fct_is_server(t) && i < SRX_SLOTS; i++)
		FCT_DO(fct_srx_post(&s, i));
	FCT_DO(fct_barrier(t, "posted"));
	ret = fct_is_client(t) ? send_many(&s) : receive_many(&s);
out:
	return fct_link_down(&s.l, ret);
}

int fct_srx_queue_full(struct fct *t)
{
	struct fct_setup setup = fct_srx_setup();
	struct srx_side s = {.l.t = t};
	unsigned int i, size;
	int ret;

	setup.rx_size = 16;
	FCT_DO(fct_srx_up(&s, t, &setup));
	size = (unsigned int)s.l.info->rx_attr->size;
	if (size > SRX_SLOTS) {
		ret = fct_skip(t, "rx_attr->size is %u where 16 were asked for", size);
		goto out;
	}
	for (i = 0; i < size; i++)
		FCT_DO(fct_srx_post(&s, i));
	/* It may take more than it promises, but not without end. */
	for (i = size; i < SRX_SLOTS; i++) {
		ret = (int)fi_recv(s.srx, fct_srx_part(&s, i), SRX_LEN, s.m.desc, 0,
				   &s.ctx[i]);
		if (ret)
			break;
	}
	if (i == SRX_SLOTS) {
		ret = fct_skip(t, "the context holds more than this case posts");
		goto out;
	}
	FCT_ERR(t, ret, -FI_EAGAIN);
	FCT_DO(fct_barrier(t, "full"));
	if (fct_is_client(t)) {
		FCT_DO(fct_srx_send(&s, &s.l.c, 5, 5));
	} else {
		FCT_DO(fct_srx_take(&s, s.l.rxcq, 0, 5, 5));
		FCT_DO(fct_srx_post(&s, 0));
	}
out:
	return fct_link_down(&s.l, ret);
}

int fct_srx_split(struct fct *t)
{
	struct fct_setup setup = fct_srx_setup();
	struct srx_side s = {.l.t = t};
	struct fid_cq *cq;
	unsigned int i;
	int ret;

	FCT_DO(fct_srx_up(&s, t, &setup));
	FCT_DO(fct_cq_open(&s.l, 4 * SRX_SLOTS, FI_CQ_FORMAT_DATA, FI_WAIT_NONE, &cq));
	s.conn[0].txcq = s.conn[0].rxcq = cq;
	FCT_DO(fct_conn_up(&s.l, &s.conn[0]));
	for (i = 0; fct_is_server(t) && i < 20; i++)
		FCT_DO(fct_srx_post(&s, i));
	for (i = 0; i < 20; i++) {
		FCT_DO(fct_barrier(t, "next"));
		if (fct_is_client(t))
			FCT_DO(fct_srx_send(&s, i % 3 ? &s.conn[0] : &s.l.c, 40, i));
		else
			FCT_DO(fct_srx_take(&s, i % 3 ? cq : s.l.rxcq, i, 40, i));
	}
	FCT_DO(fct_cq_quiet(t, s.l.rxcq, "after all messages"));
	ret = fct_cq_quiet(t, cq, "after all messages");
out:
	return fct_link_down(&s.l, ret);
}

int fct_srx_selective(struct fct *t)
{
	struct fct_setup setup = fct_srx_setup();
	struct srx_side s = {.l.t = t};
	struct iovec iov;
	struct fi_msg msg = {.msg_iov = &iov, .desc = &s.m.desc, .iov_count = 1};
	unsigned int i;
	int ret;

	setup.rx_bind = FI_SELECTIVE_COMPLETION;
	FCT_DO(fct_srx_up(&s, t, &setup));
	for (i = 0; fct_is_server(t) && i < 20; i++) {
		if (i % 5 != 4) {
			FCT_DO(fct_srx_post(&s, i));
			continue;
		}
		iov = (struct iovec){fct_srx_part(&s, i), SRX_LEN};
		msg.context = &s.ctx[i];
		FCT_CALL(t, fi_recvmsg(s.srx, &msg, FI_COMPLETION));
	}
	FCT_DO(fct_barrier(t, "posted"));
	for (i = 0; fct_is_client(t) && i < 20; i++)
		FCT_DO(fct_srx_send(&s, &s.l.c, 40, i));
	for (i = 4; fct_is_server(t) && i < 20; i += 5)
		FCT_DO(fct_srx_take(&s, s.l.rxcq, i, 40, i));
	FCT_DO(fct_barrier(t, "received"));
	ret = fct_cq_quiet(t, s.l.rxcq, "after the last asked for");
out:
	return fct_link_down(&s.l, ret);
}

int fct_srx_data(struct fct *t)
{
	struct fct_setup setup = fct_srx_setup();
	struct srx_side s = {.l.t = t};
	struct fct_target mine, peer;
	struct fi_cq_data_entry e;
	struct fct_mem exposed;
	int ret;

	setup.caps = FI_MSG | FI_RMA;
	setup.mode = FI_RX_CQ_DATA;
	setup.cq_data_size = 4;
	FCT_DO(fct_srx_up(&s, t, &setup));
	FCT_DO(fct_mem_alloc(&s.l, &exposed, 64, FI_REMOTE_WRITE));
	mine = fct_mem_target(&s.l, &exposed);
	FCT_DO(fct_exchange(t, "region", &mine, &peer, sizeof(mine)));
	if (!(s.l.peer.rx_mode & FI_RX_CQ_DATA)) {
		ret = fct_skip(t, "remote CQ data takes no receive");
		goto out;
	}
	if (fct_is_server(t))
		FCT_DO(fct_srx_post(&s, 0));
	FCT_DO(fct_barrier(t, "posted"));
	if (fct_is_client(t)) {
		FCT_POST(t, s.l.txcq,
			 fi_writedata(s.l.c.ep, fct_srx_part(&s, 0), 64, s.m.desc, 1234,
				      0, peer.addr, peer.key, &s.sent));
		FCT_DO(fct_comp(t, s.l.txcq, &s.sent, FI_RMA | FI_WRITE, &e,
				"the write"));
	} else {
		FCT_DO(fct_comp(t, s.l.rxcq, &s.ctx[0],
				FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA, &e,
				"the write's data"));
		FCT_EQ(t, e.data, 1234);
	}
out:
	return fct_link_down(&s.l, ret);
}

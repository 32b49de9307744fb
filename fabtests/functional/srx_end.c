/* SPDX-License-Identifier: BSD-2-Clause */
/* Closing and failing with a shared context. */
#include "srx.h"

int fct_srx_own_receive(struct fct *t)
{
	struct fct_setup setup = fct_srx_setup();
	struct srx_side s = {.l.t = t};
	int ret;

	FCT_DO(fct_srx_up(&s, t, &setup));
	FCT_REFUSED(t, fi_recv(s.l.c.ep, fct_srx_part(&s, 0), SRX_LEN, s.m.desc, 0,
			       &s.ctx[0]));
	FCT_DO(fct_srx_post(&s, 1));
	FCT_DO(fct_barrier(t, "posted"));
	if (fct_is_client(t))
		FCT_DO(fct_srx_send(&s, &s.l.c, 9, 1));
	else
		FCT_DO(fct_srx_take(&s, s.l.rxcq, 1, 9, 1));
out:
	return fct_link_down(&s.l, ret);
}

int fct_srx_close_busy(struct fct *t)
{
	struct fct_setup setup = fct_srx_setup();
	struct srx_side s = {.l.t = t};
	int ret;

	FCT_DO(fct_srx_up(&s, t, &setup));
	FCT_ERR(t, fi_close(&s.srx->fid), -FI_EBUSY);
	FCT_DO(fct_srx_post(&s, 0));
	FCT_DO(fct_barrier(t, "posted"));
	if (fct_is_client(t))
		FCT_DO(fct_srx_send(&s, &s.l.c, 9, 1));
	else
		FCT_DO(fct_srx_take(&s, s.l.rxcq, 0, 9, 1));
out:
	return fct_link_down(&s.l, ret);
}

/* The first connection ends, on the server's side or the client's; the other goes on. */
static int close_one(struct srx_side *s, bool server_closes)
{
	struct fct *t = s->l.t;
	struct fct_event e;
	int ret;

	if (fct_is_server(t) == server_closes) {
		FCT_DO(fct_conn_close(&s->l, &s->conn[0]));
	} else {
		FCT_DO(fct_eq_expect(t, s->l.eq, FI_SHUTDOWN, &s->conn[0].ep->fid, &e));
		FCT_DO(fct_conn_close(&s->l, &s->conn[0]));
	}
	ret = fct_barrier(t, "one is closed");
out:
	return ret;
}

static int rounds(struct srx_side *s, unsigned int count)
{
	struct fct *t = s->l.t;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < count; i++) {
		if (fct_is_client(t))
			FCT_DO(fct_srx_send(s, &s->l.c, 33, i));
		else
			FCT_DO(fct_srx_take(s, s->l.rxcq, i, 33, i));
	}
	ret = fct_barrier(t, "rounds");
out:
	return ret;
}

int fct_srx_close_one(struct fct *t)
{
	struct fct_setup setup = fct_srx_setup();
	struct srx_side s = {.l.t = t};
	unsigned int i, round;
	int ret;

	FCT_DO(fct_srx_up(&s, t, &setup));
	/* More endpoints than the context has receives: each must leave them all. */
	for (round = 0; round < 20; round++) {
		FCT_DO(fct_conn_up(&s.l, &s.conn[0]));
		for (i = 0; fct_is_server(t) && i < SRX_SLOTS; i++)
			FCT_DO(fct_srx_post(&s, i));
		FCT_DO(fct_barrier(t, "posted"));
		FCT_DO(close_one(&s, round % 2));
		FCT_DO(rounds(&s, SRX_SLOTS));
		FCT_DO(fct_cq_quiet(t, s.l.rxcq, "after a round"));
	}
out:
	return fct_link_down(&s.l, ret);
}

/* Whether the message that was too long is an error for its sender, the provider says. */
static void drain(struct fid_cq *cq)
{
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;
	ssize_t n;

	while ((n = fi_cq_read(cq, &e, 1)) == 1 ||
	       (n == -FI_EAVAIL && fi_cq_readerr(cq, &err, 0) == 1))
		;
}

int fct_srx_truncation(struct fct *t)
{
	struct fct_setup setup = fct_srx_setup();
	struct srx_side s = {.l.t = t};
	struct fi_cq_err_entry err;
	int ret;

	FCT_DO(fct_srx_up(&s, t, &setup));
	FCT_DO(fct_conn_up(&s.l, &s.conn[0]));
	if (fct_is_server(t)) {
		FCT_CALL(t,
			 fi_recv(s.srx, fct_srx_part(&s, 5), 10, s.m.desc, 0, &s.ctx[5]));
		FCT_DO(fct_srx_post(&s, 0));
	}
	FCT_DO(fct_barrier(t, "posted"));
	if (fct_is_client(t)) {
		FCT_CALL(t, fi_send(s.conn[0].ep, fct_srx_part(&s, 0), 100, s.m.desc, 0,
				    &s.ctx[0]));
	} else {
		FCT_DO(fct_comp_err(t, s.l.rxcq, &err, "the truncated message"));
		FCT_TRUE(t, err.op_context == &s.ctx[5]);
		/* Which one it is depends on the device: rdma_rxe calls its own queue
		 * wrong. */
		FCT_TRUE(t, err.err > 0);
		fct_note(t, "the receiver saw %d (%s)", err.err, fi_strerror(err.err));
	}
	FCT_DO(fct_barrier(t, "truncated"));
	if (fct_is_client(t)) {
		FCT_DO(fct_conn_close(&s.l, &s.conn[0]));
		drain(s.l.txcq);
		FCT_DO(fct_srx_send(&s, &s.l.c, 20, 3));
	} else {
		FCT_DO(fct_srx_take(&s, s.l.rxcq, 0, 20, 3));
	}
out:
	return fct_link_down(&s.l, ret);
}

int fct_srx_unbound(struct fct *t)
{
	struct fct_setup setup = fct_srx_setup();
	struct srx_side s = {.l.t = t};
	struct fi_info *info = NULL;
	struct fid_ep *ep = NULL;
	int ret;

	FCT_DO(fct_srx_up(&s, t, &setup));
	info = fi_dupinfo(s.l.info);
	FCT_TRUE(t, info);
	info->handle = NULL;
	FCT_CALL(t, fi_endpoint(s.l.domain, info, &ep, NULL));
	FCT_CALL(t, fi_ep_bind(ep, &s.l.eq->fid, 0));
	FCT_CALL(t, fi_ep_bind(ep, &s.l.txcq->fid, FI_TRANSMIT | FI_RECV));
	FCT_REFUSED(t, fi_enable(ep));
out:
	if (ep)
		fi_close(&ep->fid);
	fi_freeinfo(info);
	return fct_link_down(&s.l, ret);
}

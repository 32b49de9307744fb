/* SPDX-License-Identifier: BSD-2-Clause */
/* Closing and failing with a shared context. */
#include "srx.h"

/* The first connection ends, on the server's side or the client's; the other goes on. */
static int close_one(struct srx_side *s, bool server_closes)
{
	struct fct_event e;

	if (fct_is_server() != server_closes)
		FCT_DO(fct_eq_expect(s->l.eq, FI_SHUTDOWN, &s->conn[0].ep->fid, &e));
	FCT_DO(fct_conn_close(&s->l, &s->conn[0]));
	return fct_barrier("one is closed");
}

static int rounds(struct srx_side *s, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (fct_is_client())
			FCT_DO(fct_srx_send(s, &s->l.c, 33, i));
		else
			FCT_DO(fct_srx_take(s, s->l.rxcq, i, 33, i));
	}
	return fct_barrier("rounds");
}

FCT_CASE(close_one, "an endpoint that closes leaves the receives to the others")
{
	struct fct_setup setup = fct_srx_setup();
	FCT_AUTO(fct_link_end) struct srx_side s = {0};
	unsigned int i, round;

	FCT_DO(fct_srx_up(&s, &setup));
	/* More endpoints than the context has receives: each must leave them all. */
	for (round = 0; round < 20; round++) {
		FCT_DO(fct_conn_up(&s.l, &s.conn[0]));
		for (i = 0; fct_is_server() && i < SRX_SLOTS; i++)
			FCT_DO(fct_srx_post(&s, i));
		FCT_DO(fct_barrier("posted"));
		FCT_DO(close_one(&s, round % 2));
		FCT_DO(rounds(&s, SRX_SLOTS));
		FCT_DO(fct_cq_quiet(s.l.rxcq, "after a round"));
	}
	return 0;
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

FCT_CASE(truncation, "an error of one connection leaves the others alone")
{
	struct fct_setup setup = fct_srx_setup();
	FCT_AUTO(fct_link_end) struct srx_side s = {0};
	struct fi_cq_err_entry err;

	FCT_DO(fct_srx_up(&s, &setup));
	FCT_DO(fct_conn_up(&s.l, &s.conn[0]));
	if (fct_is_server()) {
		FCT_CALL(fi_recv(s.srx, fct_srx_part(&s, 5), 10, s.m.desc, 0, &s.ctx[5]));
		FCT_DO(fct_srx_post(&s, 0));
	}
	FCT_DO(fct_barrier("posted"));
	if (fct_is_client()) {
		FCT_CALL(fi_send(s.conn[0].ep, fct_srx_part(&s, 0), 100, s.m.desc, 0,
				 &s.ctx[0]));
	} else {
		FCT_DO(fct_comp_err(s.l.rxcq, &err, "the truncated message"));
		FCT_TRUE(err.op_context == &s.ctx[5]);
		/* Which one it is depends on the device: rdma_rxe calls its own queue
		 * wrong. */
		FCT_TRUE(err.err > 0);
		fct_note("the receiver saw %d (%s)", err.err, fi_strerror(err.err));
	}
	FCT_DO(fct_barrier("truncated"));
	if (fct_is_client()) {
		FCT_DO(fct_conn_close(&s.l, &s.conn[0]));
		drain(s.l.txcq);
		FCT_DO(fct_srx_send(&s, &s.l.c, 20, 3));
	} else {
		FCT_DO(fct_srx_take(&s, s.l.rxcq, 0, 20, 3));
	}
	return 0;
}

FCT_CASE(unbound, "an endpoint made for a shared context needs one")
{
	FCT_AUTO(fct_link_end) struct srx_side s = {0};
	FCT_AUTO(fct_info_end) struct fi_info *info = NULL;
	FCT_AUTO(fct_fid_end) struct fid_ep *ep = NULL;
	struct fct_setup setup = fct_srx_setup();

	FCT_DO(fct_srx_up(&s, &setup));
	info = fi_dupinfo(s.l.info);
	FCT_TRUE(info);
	info->handle = NULL;
	FCT_CALL(fi_endpoint(s.l.domain, info, &ep, NULL));
	FCT_CALL(fi_ep_bind(ep, &s.l.eq->fid, 0));
	FCT_CALL(fi_ep_bind(ep, &s.l.txcq->fid, FI_TRANSMIT | FI_RECV));
	FCT_REFUSED(fi_enable(ep));
	return 0;
}

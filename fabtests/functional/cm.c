/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the cases. */
#include "cm.h"

int fct_cm_quiet(struct fct *t, struct fid_eq *eq, const char *when)
{
	uint8_t room[sizeof(struct fi_eq_cm_entry) + FCT_CM_DATA_MAX];
	uint32_t event = 0;
	ssize_t n;

	fct_progress(t);
	n = fi_eq_read(eq, &event, room, sizeof(room), 0);
	if (n == -FI_EAGAIN)
		return 0;
	if (n < 0)
		return fct_fail_at(t, NULL, 0, "%s: fi_eq_read returned %zd (%s)", when,
				   n, fi_strerror((int)-n));
	return fct_fail_at(t, NULL, 0, "%s: unexpected event %s", when,
			   fi_tostr(&event, FI_TYPE_EQ_EVENT));
}

int fct_cm_message(struct fct_link *l, struct fct_conn *c, uint64_t seed)
{
	struct fid_cq *txcq = c->txcq ? c->txcq : l->txcq,
		      *rxcq = c->rxcq ? c->rxcq : l->rxcq;
	struct fct *t = l->t;
	struct fi_cq_data_entry e;
	struct fct_mem m;
	struct fct_ctx ctx;
	int ret;

	FCT_DO(fct_mem_alloc(l, &m, 256, FI_SEND | FI_RECV));
	if (fct_is_server(t))
		FCT_POST(t, rxcq, fi_recv(c->ep, m.buf, m.len, m.desc, 0, &ctx));
	FCT_DO(fct_barrier(t, "receive posted"));
	if (fct_is_client(t)) {
		fct_fill(m.buf, m.len, seed);
		FCT_POST(t, txcq, fi_send(c->ep, m.buf, m.len, m.desc, 0, &ctx));
		FCT_DO(fct_comp(t, txcq, &ctx, FI_SEND | FI_MSG, &e,
				"the send of a test message"));
	} else {
		FCT_DO(fct_comp(t, rxcq, &ctx, FI_RECV | FI_MSG, &e,
				"the receive of a test message"));
		FCT_DATA(t, m.buf, m.len, seed);
	}
	FCT_DO(fct_barrier(t, "message done"));
	FCT_DO(fct_mem_unreg(l, &m));
out:
	return ret;
}

int fct_cm_end(struct fct_link *l, struct fct_conn *c)
{
	struct fct *t = l->t;
	struct fct_event e;
	int ret;

	if (fct_is_server(t))
		FCT_DO(fct_eq_expect(t, l->eq, FI_SHUTDOWN, &c->ep->fid, &e));
	FCT_DO(fct_conn_close(l, c));
	ret = fct_barrier(t, "closed");
out:
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the cases. */
#include "cm.h"

int fct_cm_quiet(struct fid_eq *eq, const char *when)
{
	uint8_t room[sizeof(struct fi_eq_cm_entry) + FCT_CM_DATA_MAX];
	uint32_t event = 0;
	ssize_t n;

	fct_progress();
	n = fi_eq_read(eq, &event, room, sizeof(room), 0);
	if (n == -FI_EAGAIN)
		return 0;
	if (n < 0)
		return fct_fail("%s: fi_eq_read returned %zd (%s)", when, n,
				fi_strerror((int)-n));
	return fct_fail("%s: unexpected event %s", when,
			fi_tostr(&event, FI_TYPE_EQ_EVENT));
}

int fct_cm_message(struct fct_link *l, struct fct_conn *c, uint64_t seed)
{
	struct fid_cq *txcq = c->txcq ? c->txcq : l->txcq,
		      *rxcq = c->rxcq ? c->rxcq : l->rxcq;
	struct fi_cq_data_entry e;
	struct fct_mem m;
	struct fct_ctx ctx;

	FCT_DO(fct_mem_alloc(l, &m, 256, FI_SEND | FI_RECV));
	if (fct_is_server())
		FCT_POST(rxcq, fi_recv(c->ep, m.buf, m.len, m.desc, 0, &ctx));
	FCT_DO(fct_barrier("receive posted"));
	if (fct_is_client()) {
		fct_fill(m.buf, m.len, seed);
		FCT_POST(txcq, fi_send(c->ep, m.buf, m.len, m.desc, 0, &ctx));
		FCT_DO(fct_comp(txcq, &ctx, FI_SEND | FI_MSG, &e,
				"the send of a test message"));
	} else {
		FCT_DO(fct_comp(rxcq, &ctx, FI_RECV | FI_MSG, &e,
				"the receive of a test message"));
		FCT_DATA(m.buf, m.len, seed);
	}
	FCT_DO(fct_barrier("message done"));
	return fct_mem_unreg(l, &m);
}

int fct_cm_end(struct fct_link *l, struct fct_conn *c)
{
	struct fct_event e;

	if (fct_is_server())
		FCT_DO(fct_eq_expect(l->eq, FI_SHUTDOWN, &c->ep->fid, &e));
	FCT_DO(fct_conn_close(l, c));
	return fct_barrier("closed");
}

FCT_PROGRAM(.name = "fi_cairn_cm",
	    .what = "Connection management of FI_EP_MSG endpoints.")

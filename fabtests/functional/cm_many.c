/* SPDX-License-Identifier: BSD-2-Clause */
/* Several connections over one passive endpoint. */
#include "cm.h"

#define MANY 8u

static int start_all(struct fct_link *l, struct fct_conn *c)
{
	uint32_t i;

	for (i = 0; i < MANY; i++)
		FCT_DO(fct_conn_ask(l, &c[i], &i, sizeof(i)));
	return 0;
}

/* Requests may arrive in any order; their data says which is which. */
static int accept_all(struct fct_link *l, struct fct_conn *c)
{
	struct fct_event e;
	uint32_t n, i;

	for (n = 0; n < MANY; n++) {
		FCT_DO(fct_eq_next(l->eq, &e, "all connection requests"));
		if (e.event == FI_CONNECTED) {
			n--;
			continue;
		}
		FCT_EQ(e.event, FI_CONNREQ);
		FCT_TRUE(e.len >= sizeof(i));
		memcpy(&i, e.cm.data, sizeof(i));
		FCT_TRUE(i < MANY && !c[i].ep);
		FCT_DO(fct_conn_take(l, &c[i], e.cm.info));
		FCT_CALL(fi_accept(c[i].ep, NULL, 0));
	}
	return 0;
}

static int await_connected(struct fct_link *l, struct fct_conn *c)
{
	bool seen[MANY] = {false};
	struct fct_event e;
	uint32_t n, i;

	for (n = 0; n < MANY; n++) {
		FCT_DO(fct_eq_expect(l->eq, FI_CONNECTED, NULL, &e));
		for (i = 0; i < MANY && e.cm.fid != &c[i].ep->fid; i++)
			;
		FCT_TRUE(i < MANY && !seen[i]);
		seen[i] = true;
	}
	return 0;
}

FCT_CASE(many, "several connections at once over one passive endpoint")
{
	struct fct_setup s = {
		.caps = FI_MSG, .tx_size = 16, .rx_size = 16, .cq_size = 1024};
	struct fct_conn c[MANY] = {{.info = NULL}};
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	uint32_t i;

	FCT_DO(fct_link_open(&l, &s));
	if (fct_is_client()) {
		FCT_DO(start_all(&l, c));
		FCT_DO(await_connected(&l, c));
	} else {
		FCT_DO(accept_all(&l, c));
	}
	FCT_DO(fct_barrier("connected"));
	for (i = 0; i < MANY; i++)
		FCT_DO(fct_conn_message(&l, &c[i], i));
	return 0;
}

FCT_CASE(other_cq, "connections of one passive endpoint with CQs of their own")
{
	struct fct_setup s = {.caps = FI_MSG, .split_cq = true};
	struct fct_conn c[2] = {{.info = NULL}};
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	int i;

	FCT_DO(fct_link_open(&l, &s));
	for (i = 0; i < 2; i++) {
		FCT_DO(fct_cq_open(&l, 1024, FI_CQ_FORMAT_DATA, FI_WAIT_NONE,
				   &c[i].txcq));
		FCT_DO(fct_cq_open(&l, 1024, FI_CQ_FORMAT_DATA, FI_WAIT_NONE,
				   &c[i].rxcq));
		FCT_DO(fct_conn_up(&l, &c[i]));
	}
	FCT_DO(fct_conn_up(&l, &l.c));
	FCT_DO(fct_conn_message(&l, &c[1], 1));
	FCT_DO(fct_conn_message(&l, &l.c, 2));
	FCT_DO(fct_conn_message(&l, &c[0], 3));
	for (i = 0; i < 2; i++) {
		FCT_DO(fct_cq_quiet(c[i].txcq, "after all messages"));
		FCT_DO(fct_cq_quiet(c[i].rxcq, "after all messages"));
	}
	return 0;
}

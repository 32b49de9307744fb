/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the cases: connections with counters. */
#include "cntr.h"

struct fct_setup fct_cntr_setup(void)
{
	return (struct fct_setup){.caps = FI_MSG | FI_RMA,
				  .msg_order = FI_ORDER_SAW | FI_ORDER_SAS,
				  .tx_bind = FI_SELECTIVE_COMPLETION,
				  .rx_bind = FI_SELECTIVE_COMPLETION};
}

static int open_one(struct cntr_side *s, struct fid_cntr **cntr)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = s->wait};
	int ret;

	ret = fi_cntr_open(s->l.domain, &attr, cntr, s);
	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP)
		return fct_skip("fi_cntr_open: %s", fi_strerror(-ret));
	FCT_CALL(ret);
	return fct_keep(&s->l, &(*cntr)->fid);
}

static int open_both(struct fct_link *l)
{
	struct cntr_side *s = (struct cntr_side *)l;

	return open_one(s, &s->tx) || open_one(s, &s->rx) ? -1 : 0;
}

static int bind_both(struct fct_link *l, struct fct_conn *c)
{
	struct cntr_side *s = (struct cntr_side *)l;
	uint64_t tx = s->tx_flags ? s->tx_flags : FI_SEND | FI_READ | FI_WRITE;

	FCT_CALL(fi_ep_bind(c->ep, &s->tx->fid, tx));
	FCT_CALL(fi_ep_bind(c->ep, &s->rx->fid, FI_RECV));
	return 0;
}

int fct_cntr_up(struct cntr_side *s, const struct fct_setup *setup)
{
	struct fct_setup with = *setup;
	with.open = open_both;
	with.bind = bind_both;
	FCT_DO(fct_link_up(&s->l, &with));
	FCT_DO(fct_mem_alloc(&s->l, &s->local, CNTR_COUNT * CNTR_LEN,
			     FI_SEND | FI_RECV | FI_READ | FI_WRITE));
	return fct_mem_expose(&s->l, &s->exposed, CNTR_COUNT * CNTR_LEN,
			      FI_REMOTE_READ | FI_REMOTE_WRITE, &s->peer);
}

int fct_cntr_post_recv(struct cntr_side *s, unsigned int slot)
{
	FCT_POST(s->l.rxcq, fi_recv(s->l.c.ep, s->local.buf + (size_t)slot * CNTR_LEN,
				    CNTR_LEN, s->local.desc, 0, &s->ctx[slot]));
	return 0;
}

int fct_cntr_post_recvs(struct cntr_side *s, unsigned int count)
{
	unsigned int i;

	for (i = 0; fct_is_server() && i < count; i++)
		FCT_DO(fct_cntr_post_recv(s, i));
	return fct_barrier("receives posted");
}

int fct_cntr_post_send(struct cntr_side *s, unsigned int slot)
{
	FCT_POST(s->l.txcq, fi_send(s->l.c.ep, s->local.buf + (size_t)slot * CNTR_LEN,
				    CNTR_LEN, s->local.desc, 0, &s->ctx[slot]));
	return 0;
}

int fct_cntr_reaches(struct cntr_side *s, struct fid_cntr *cntr, uint64_t value,
		     const char *what)
{
	struct fct_wait w;
	uint64_t have;

	fct_wait_init(&w, what);
	while ((have = fi_cntr_read(cntr)) < value) {
		FCT_EQ(fi_cntr_readerr(cntr), 0);
		FCT_DO(fct_wait_again(&w));
	}
	FCT_EQ(have, value);
	FCT_EQ(fi_cntr_readerr(cntr), 0);
	return 0;
}

FCT_PROGRAM(.name = "fi_cairn_cntr", .what = "Counters.")

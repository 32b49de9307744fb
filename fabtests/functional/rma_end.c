/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections beside one that is closed while the data of a read arrives, and after it.
 */
#include "rma.h"

#define BIG (4u << 20) /* more than arrives between two looks */
#define LEN 4096u
#define READS 8u
#define LOOKS 200 /* turns of progress in which the closed endpoint may report */

/* A read of everything, until its first bytes are there. */
static int begin_read(struct rma *r, struct fct_conn *c)
{
	const volatile uint8_t *first = r->local.buf;
	struct fct_wait w;

	memset(r->local.buf, 0x11, BIG);
	FCT_POST(r->l.txcq, fi_read(c->ep, r->local.buf, BIG, r->local.desc, 0,
				    r->peer.addr, r->peer.key, &r->ctx));
	fct_wait_init(&w, "the first bytes of a read");
	while (*first == 0x11) {
		fct_progress();
		FCT_DO(fct_wait_again(&w));
	}
	return 0;
}

/* The read of the closed endpoint is reported once, with or without an error, or never.
 */
static int at_most_once(struct rma *r)
{
	struct fi_cq_data_entry e;
	int i, ret, err, reported = 0;

	for (i = 0; i < LOOKS; i++) {
		FCT_GET(ret, fct_cq_look(r->l.txcq, &e, &err));
		if (!ret)
			continue;
		FCT_TRUE(e.op_context == &r->ctx);
		FCT_EQ(++reported, 1);
	}
	return 0;
}

/* Reads of different lengths, all at once. */
static int read_some(struct rma *r, struct fid_ep *ep)
{
	struct fct_ctx ctx[READS];
	struct fi_cq_data_entry e;
	unsigned int i;

	memset(r->local.buf, 0x11, READS * LEN);
	for (i = 0; i < READS; i++)
		FCT_POST(r->l.txcq,
			 fi_read(ep, r->local.buf + (size_t)i * LEN, LEN - i,
				 r->local.desc, 0, r->peer.addr, r->peer.key, &ctx[i]));
	for (i = 0; i < READS; i++) {
		FCT_DO(fct_comp(r->l.txcq, &ctx[i], FI_RMA | FI_READ, &e,
				"a read of a connection that goes on"));
		FCT_TRUE(fct_all(r->local.buf + (size_t)i * LEN, LEN - i, 0x22));
	}
	return 0;
}

FCT_CASE(closed_reading,
	 "an endpoint closed while a read arrives: another connection goes on")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	struct fct_conn c = {0};
	struct fct_event e;

	s.cq_size = 1024; /* for both connections */
	FCT_DO(fct_rma_up(&r, &s, BIG, 0));
	memset(r.exposed.buf, 0x22, BIG);
	FCT_DO(fct_conn_up(&r.l, &c));
	FCT_DO(fct_barrier("target ready"));
	if (fct_is_client()) {
		FCT_DO(begin_read(&r, &c));
		FCT_DO(fct_conn_close(&r.l, &c));
		FCT_DO(at_most_once(&r));
		FCT_DO(read_some(&r, r.l.c.ep));
	} else {
		FCT_DO(fct_eq_expect(r.l.eq, FI_SHUTDOWN, &c.ep->fid, &e));
		FCT_DO(fct_conn_close(&r.l, &c));
	}
	FCT_DO(fct_barrier("closed"));
	FCT_DO(fct_conn_up(&r.l, &c));
	if (fct_is_client()) {
		FCT_DO(read_some(&r, c.ep));
		FCT_DO(read_some(&r, r.l.c.ep));
	}
	return fct_barrier("read");
}

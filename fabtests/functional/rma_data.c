/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes that carry remote CQ data. */
#include "rma.h"

#define LEN 1000u
#define ROUNDS 8u
#define TARGET             \
	(FI_REMOTE_WRITE | \
	 FI_REMOTE_CQ_DATA) /* FI_RMA may be there: see writedata_flags */

static uint64_t round_data(const struct rma *r, unsigned int i)
{
	size_t size = r->l.info->domain_attr->cq_data_size;

	if (r->l.peer.cq_data_size < size)
		size = r->l.peer.cq_data_size;
	return (0xF1E2D3C4B5A69788u + i) &
	       (size >= 8 ? UINT64_MAX : (1ull << (8 * size)) - 1);
}

/* One write of that form. */
static int write_data(struct rma *r, enum fct_form form, size_t len, uint64_t data)
{
	struct fct_op op = fct_rma_op(r, form, 0, 0, len);

	op.data = data;
	op.flags = FI_REMOTE_CQ_DATA;
	return fct_op_do(r->l.c.ep, r->l.txcq, &op);
}

static int client(struct rma *r, enum fct_form form)
{
	size_t len = LEN;
	unsigned int i;

	if (!fct_forms[form].done && len > r->l.c.info->tx_attr->inject_size)
		len = r->l.c.info->tx_attr->inject_size;
	for (i = 0; i < ROUNDS; i++) {
		fct_fill(r->local.buf, LEN, i);
		FCT_DO(fct_barrier("target ready"));
		FCT_DO(write_data(r, form, len, round_data(r, i)));
		FCT_DO(fct_tell("length", &len, sizeof(len)));
		FCT_DO(fct_barrier("checked"));
	}
	return fct_cq_quiet(r->l.txcq, "after the writes with data");
}

/* consumes: the provider takes a posted receive for each (FI_RX_CQ_DATA). */
static int server(struct rma *r, bool consumes, bool posted)
{
	struct fi_cq_data_entry e;
	unsigned int i;
	size_t len;

	for (i = 0; i < ROUNDS; i++) {
		memset(r->exposed.buf, 0, LEN);
		if (consumes)
			FCT_POST(r->l.rxcq, fi_recv(r->l.c.ep, r->flag.buf, 8,
						    r->flag.desc, 0, &r->ctx));
		FCT_DO(fct_barrier("target ready"));
		FCT_DO(fct_comp_any(r->l.rxcq, &e,
				    "the target's completion of a write with data"));
		FCT_EQ(e.flags & ~FI_RMA, TARGET);
		FCT_EQ(e.data, round_data(r, i));
		if (consumes)
			FCT_TRUE(e.op_context == &r->ctx);
		else if (posted)
			FCT_TRUE(e.op_context != &r->flag_ctx);
		FCT_DO(fct_hear("length", &len, sizeof(len)));
		FCT_DATA(r->exposed.buf, len, i);
		FCT_DO(fct_barrier("checked"));
	}
	return fct_cq_quiet(r->l.rxcq, "after the writes with data");
}

static int with_data(enum fct_form form)
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	bool consumes;

	s.mode = FI_RX_CQ_DATA;
	s.cq_data_size = 4;
	FCT_DO(fct_rma_up(&r, &s, 4096, 0));
	consumes = (r.l.c.info->mode | r.l.c.info->rx_attr->mode | r.l.info->mode |
		    r.l.info->rx_attr->mode) &
		   FI_RX_CQ_DATA;
	fct_note("remote CQ data %s a receive",
		 consumes ? "consumes" : "does not consume");
	return fct_is_client() ? client(&r, form) : server(&r, consumes, false);
}

FCT_CASE_CALL(writedata, "fi_writedata: the target sees the data after the write",
	      with_data(FCT_WRITEDATA))

FCT_CASE_CALL(writemsg_data, "fi_writemsg with FI_REMOTE_CQ_DATA",
	      with_data(FCT_WRITEMSG))

FCT_CASE_CALL(inject_writedata, "fi_inject_writedata", with_data(FCT_INJECT_WRITEDATA))

#define MODE_RECVS 8
#define MODE_WRITES 100

/* A target that knows of no mode but the info's: it posts a receive in the place of the
 * one that a completion took when that mode says so. */
static int mode_server(struct rma *r, struct fct_ctx *ctx)
{
	const bool consumes = r->l.c.info->mode & FI_RX_CQ_DATA;
	struct fi_cq_data_entry e;
	unsigned int i;

	for (i = 0; i < MODE_RECVS; i++)
		FCT_POST(r->l.rxcq,
			 fi_recv(r->l.c.ep, r->flag.buf, 8, r->flag.desc, 0, &ctx[i]));
	FCT_DO(fct_barrier("receives posted"));
	for (i = 0; i < MODE_WRITES; i++) {
		FCT_DO(fct_comp_any(r->l.rxcq, &e,
				    "the target's completion of a write with data"));
		FCT_EQ(e.data, round_data(r, i));
		if (!consumes)
			continue;
		FCT_POST(r->l.rxcq, fi_recv(r->l.c.ep, r->flag.buf, 8, r->flag.desc, 0,
					    &ctx[i % MODE_RECVS]));
	}
	return fct_barrier("written");
}

static int mode_client(struct rma *r)
{
	unsigned int i;

	FCT_DO(fct_barrier("receives posted"));
	for (i = 0; i < MODE_WRITES; i++)
		FCT_DO(write_data(r, FCT_WRITEDATA, 64, round_data(r, i)));
	return fct_barrier("written");
}

FCT_CASE(writedata_mode, "info->mode alone says whether remote CQ data takes receives")
{
	struct fct_setup s = fct_rma_setup();
	struct fct_ctx ctx[MODE_RECVS];
	FCT_AUTO(fct_link_end) struct rma r = {0};

	s.mode = FI_RX_CQ_DATA;
	s.cq_data_size = 4;
	FCT_DO(fct_rma_up(&r, &s, 4096, 0));
	return fct_is_client() ? mode_client(&r) : mode_server(&r, ctx);
}

/* A receive is posted and must be left for the message that comes last. */
FCT_CASE(writedata_unposted, "without FI_RX_CQ_DATA remote CQ data needs no receive")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	int32_t mine, theirs;

	s.cq_data_size = 4;
	FCT_DO(fct_rma_up(&r, &s, 4096, 0));
	mine = !!((r.l.info->mode | r.l.info->rx_attr->mode | r.l.c.info->rx_attr->mode) &
		  FI_RX_CQ_DATA);
	FCT_DO(fct_exchange("mode", &mine, &theirs, sizeof(mine)));
	if (fct_is_server() ? mine : theirs)
		return fct_skip("remote CQ data consumes receives (FI_RX_CQ_DATA)");
	if (fct_is_server()) {
		FCT_DO(fct_rma_arm(&r));
		FCT_DO(server(&r, false, true));
		FCT_DO(fct_rma_await(&r));
	} else {
		FCT_DO(client(&r, FCT_WRITEDATA));
		FCT_DO(fct_rma_flag(&r));
	}
	return 0;
}

/* Programs that switch on exact flags, ofi_rxm among them, want FI_RMA too. */
FCT_CASE(writedata_flags, "flags of the target's completion, exactly")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	struct fi_cq_data_entry e;

	s.mode = FI_RX_CQ_DATA;
	s.cq_data_size = 4;
	FCT_DO(fct_rma_up(&r, &s, 4096, 0));
	if (fct_is_server())
		FCT_POST(r.l.rxcq,
			 fi_recv(r.l.c.ep, r.flag.buf, 8, r.flag.desc, 0, &r.ctx));
	FCT_DO(fct_barrier("receive posted"));
	if (fct_is_client()) {
		FCT_DO(write_data(&r, FCT_WRITEDATA, 64, 1));
	} else {
		FCT_DO(fct_comp_any(r.l.rxcq, &e,
				    "the target's completion of a write with data"));
		FCT_EQ(e.flags, TARGET | FI_RMA);
	}
	return 0;
}

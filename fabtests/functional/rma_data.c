/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes that carry remote CQ data. */
#include "rma.h"

#define LEN 1000u
#define ROUNDS 8u
#define TARGET             \
	(FI_REMOTE_WRITE | \
	 FI_REMOTE_CQ_DATA) /* FI_RMA may be there: see fct_rma_writedata_flags */

typedef ssize_t (*post_fn)(struct rma *r, size_t len, uint64_t data);

static ssize_t post_writedata(struct rma *r, size_t len, uint64_t data)
{
	return fi_writedata(r->l.c.ep, r->local.buf, len, r->local.desc, data, 0,
			    r->peer.addr, r->peer.key, &r->ctx);
}

static ssize_t post_writemsg(struct rma *r, size_t len, uint64_t data)
{
	struct iovec iov = {.iov_base = r->local.buf, .iov_len = len};
	struct fi_rma_iov rma_iov = fct_rma_piece(r, 0, len);
	struct fi_msg_rma msg = {.msg_iov = &iov,
				 .desc = &r->local.desc,
				 .iov_count = 1,
				 .rma_iov = &rma_iov,
				 .rma_iov_count = 1,
				 .context = &r->ctx,
				 .data = data};

	return fi_writemsg(r->l.c.ep, &msg, FI_REMOTE_CQ_DATA);
}

static ssize_t post_inject(struct rma *r, size_t len, uint64_t data)
{
	return fi_inject_writedata(r->l.c.ep, r->local.buf, len, data, 0, r->peer.addr,
				   r->peer.key);
}

static uint64_t round_data(const struct rma *r, unsigned int i)
{
	size_t size = r->l.info->domain_attr->cq_data_size;

	if (r->l.peer.cq_data_size < size)
		size = r->l.peer.cq_data_size;
	return (0xF1E2D3C4B5A69788u + i) &
	       (size >= 8 ? UINT64_MAX : (1ull << (8 * size)) - 1);
}

static int client(struct rma *r, post_fn post, bool inject)
{
	size_t len = LEN;
	struct fi_cq_data_entry e;
	unsigned int i;

	if (inject && len > r->l.c.info->tx_attr->inject_size)
		len = r->l.c.info->tx_attr->inject_size;
	for (i = 0; i < ROUNDS; i++) {
		fct_fill(r->local.buf, LEN, i);
		FCT_DO(fct_barrier("target ready"));
		FCT_POST(r->l.txcq, post(r, len, round_data(r, i)));
		if (!inject)
			FCT_DO(fct_comp(r->l.txcq, &r->ctx, FI_RMA | FI_WRITE, &e,
					"the write with data"));
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

static int with_data(post_fn post, bool inject)
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
	return fct_is_client() ? client(&r, post, inject) : server(&r, consumes, false);
}

FCT_CASE_CALL(writedata, "fi_writedata: the target sees the data after the write",
	      with_data(post_writedata, false))

FCT_CASE_CALL(writemsg_data, "fi_writemsg with FI_REMOTE_CQ_DATA",
	      with_data(post_writemsg, false))

FCT_CASE_CALL(inject_writedata, "fi_inject_writedata", with_data(post_inject, true))

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
	struct fi_cq_data_entry e;
	unsigned int i;

	FCT_DO(fct_barrier("receives posted"));
	for (i = 0; i < MODE_WRITES; i++) {
		FCT_POST(r->l.txcq, post_writedata(r, 64, round_data(r, i)));
		FCT_DO(fct_comp(r->l.txcq, &r->ctx, FI_RMA | FI_WRITE, &e,
				"the write with data"));
	}
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
		FCT_DO(client(&r, post_writedata, false));
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
		FCT_POST(r.l.txcq, post_writedata(&r, 64, 1));
		FCT_DO(fct_comp(r.l.txcq, &r.ctx, FI_RMA | FI_WRITE, &e,
				"the write with data"));
	} else {
		FCT_DO(fct_comp_any(r.l.rxcq, &e,
				    "the target's completion of a write with data"));
		FCT_EQ(e.flags, TARGET | FI_RMA);
	}
	return 0;
}

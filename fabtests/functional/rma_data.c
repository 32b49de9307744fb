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
	struct fct *t = r->l.t;
	struct fi_cq_data_entry e;
	unsigned int i;
	int ret = 0;

	if (inject && len > r->l.c.info->tx_attr->inject_size)
		len = r->l.c.info->tx_attr->inject_size;
	for (i = 0; i < ROUNDS; i++) {
		fct_fill(r->local.buf, LEN, i);
		FCT_DO(fct_barrier(t, "target ready"));
		FCT_POST(t, r->l.txcq, post(r, len, round_data(r, i)));
		if (!inject)
			FCT_DO(fct_comp(t, r->l.txcq, &r->ctx, FI_RMA | FI_WRITE, &e,
					"the write with data"));
		FCT_DO(fct_tell(t, "length", &len, sizeof(len)));
		FCT_DO(fct_barrier(t, "checked"));
	}
	ret = fct_cq_quiet(t, r->l.txcq, "after the writes with data");
out:
	return ret;
}

/* consumes: the provider takes a posted receive for each (FI_RX_CQ_DATA). */
static int server(struct rma *r, bool consumes, bool posted)
{
	struct fct *t = r->l.t;
	struct fi_cq_data_entry e;
	unsigned int i;
	size_t len;
	int ret = 0;

	for (i = 0; i < ROUNDS; i++) {
		memset(r->exposed.buf, 0, LEN);
		if (consumes)
			FCT_POST(t, r->l.rxcq,
				 fi_recv(r->l.c.ep, r->flag.buf, 8, r->flag.desc, 0,
					 &r->ctx));
		FCT_DO(fct_barrier(t, "target ready"));
		FCT_DO(fct_comp_any(t, r->l.rxcq, &e,
				    "the target's completion of a write with data"));
		FCT_EQ(t, e.flags & ~FI_RMA, TARGET);
		FCT_EQ(t, e.data, round_data(r, i));
		if (consumes)
			FCT_TRUE(t, e.op_context == &r->ctx);
		else if (posted)
			FCT_TRUE(t, e.op_context != &r->flag_ctx);
		FCT_DO(fct_hear(t, "length", &len, sizeof(len)));
		FCT_DATA(t, r->exposed.buf, len, i);
		FCT_DO(fct_barrier(t, "checked"));
	}
	ret = fct_cq_quiet(t, r->l.rxcq, "after the writes with data");
out:
	return ret;
}

static int with_data(struct fct *t, post_fn post, bool inject)
{
	struct fct_setup s = fct_rma_setup();
	struct rma r = {.l.t = t};
	bool consumes;
	int ret;

	s.mode = FI_RX_CQ_DATA;
	s.cq_data_size = 4;
	FCT_DO(fct_rma_up(&r, t, &s, 4096, 0));
	consumes = (r.l.c.info->mode | r.l.c.info->rx_attr->mode | r.l.info->mode |
		    r.l.info->rx_attr->mode) &
		   FI_RX_CQ_DATA;
	fct_note(t, "remote CQ data %s a receive",
		 consumes ? "consumes" : "does not consume");
	ret = fct_is_client(t) ? client(&r, post, inject) : server(&r, consumes, false);
out:
	return fct_link_down(&r.l, ret);
}

int fct_rma_writedata(struct fct *t)
{
	return with_data(t, post_writedata, false);
}

int fct_rma_writemsg_data(struct fct *t)
{
	return with_data(t, post_writemsg, false);
}

int fct_rma_inject_writedata(struct fct *t)
{
	return with_data(t, post_inject, true);
}

#define MODE_RECVS 8
#define MODE_WRITES 100

/* A target that knows of no mode but the info's: it posts a receive in the place of the
 * one that a completion took when that mode says so. */
static int mode_server(struct rma *r, struct fct_ctx *ctx)
{
	const bool consumes = r->l.c.info->mode & FI_RX_CQ_DATA;
	struct fct *t = r->l.t;
	struct fi_cq_data_entry e;
	unsigned int i;
	int ret;

	for (i = 0; i < MODE_RECVS; i++)
		FCT_POST(t, r->l.rxcq,
			 fi_recv(r->l.c.ep, r->flag.buf, 8, r->flag.desc, 0, &ctx[i]));
	FCT_DO(fct_barrier(t, "receives posted"));
	for (i = 0; i < MODE_WRITES; i++) {
		FCT_DO(fct_comp_any(t, r->l.rxcq, &e,
				    "the target's completion of a write with data"));
		FCT_EQ(t, e.data, round_data(r, i));
		if (!consumes)
			continue;
		FCT_POST(t, r->l.rxcq,
			 fi_recv(r->l.c.ep, r->flag.buf, 8, r->flag.desc, 0,
				 &ctx[i % MODE_RECVS]));
	}
	ret = fct_barrier(t, "written");
out:
	return ret;
}

static int mode_client(struct rma *r)
{
	struct fct *t = r->l.t;
	struct fi_cq_data_entry e;
	unsigned int i;
	int ret;

	FCT_DO(fct_barrier(t, "receives posted"));
	for (i = 0; i < MODE_WRITES; i++) {
		FCT_POST(t, r->l.txcq, post_writedata(r, 64, round_data(r, i)));
		FCT_DO(fct_comp(t, r->l.txcq, &r->ctx, FI_RMA | FI_WRITE, &e,
				"the write with data"));
	}
	ret = fct_barrier(t, "written");
out:
	return ret;
}

int fct_rma_writedata_mode(struct fct *t)
{
	struct fct_setup s = fct_rma_setup();
	struct fct_ctx ctx[MODE_RECVS];
	struct rma r = {.l.t = t};
	int ret;

	s.mode = FI_RX_CQ_DATA;
	s.cq_data_size = 4;
	FCT_DO(fct_rma_up(&r, t, &s, 4096, 0));
	ret = fct_is_client(t) ? mode_client(&r) : mode_server(&r, ctx);
out:
	return fct_link_down(&r.l, ret);
}

/* A receive is posted and must be left for the message that comes last. */
int fct_rma_writedata_unposted(struct fct *t)
{
	struct fct_setup s = fct_rma_setup();
	struct rma r = {.l.t = t};
	int32_t mine, theirs;
	int ret;

	s.cq_data_size = 4;
	FCT_DO(fct_rma_up(&r, t, &s, 4096, 0));
	mine = !!((r.l.info->mode | r.l.info->rx_attr->mode | r.l.c.info->rx_attr->mode) &
		  FI_RX_CQ_DATA);
	FCT_DO(fct_exchange(t, "mode", &mine, &theirs, sizeof(mine)));
	if (fct_is_server(t) ? mine : theirs) {
		ret = fct_skip(t, "remote CQ data consumes receives (FI_RX_CQ_DATA)");
		goto out;
	}
	if (fct_is_server(t)) {
		FCT_DO(fct_rma_arm(&r));
		FCT_DO(server(&r, false, true));
		FCT_DO(fct_rma_await(&r));
	} else {
		FCT_DO(client(&r, post_writedata, false));
		FCT_DO(fct_rma_flag(&r));
	}
out:
	return fct_link_down(&r.l, ret);
}

/* Programs that switch on exact flags, ofi_rxm among them, want FI_RMA too. */
int fct_rma_writedata_flags(struct fct *t)
{
	struct fct_setup s = fct_rma_setup();
	struct rma r = {.l.t = t};
	struct fi_cq_data_entry e;
	int ret;

	s.mode = FI_RX_CQ_DATA;
	s.cq_data_size = 4;
	FCT_DO(fct_rma_up(&r, t, &s, 4096, 0));
	if (fct_is_server(t))
		FCT_POST(t, r.l.rxcq,
			 fi_recv(r.l.c.ep, r.flag.buf, 8, r.flag.desc, 0, &r.ctx));
	FCT_DO(fct_barrier(t, "receive posted"));
	if (fct_is_client(t)) {
		FCT_POST(t, r.l.txcq, post_writedata(&r, 64, 1));
		FCT_DO(fct_comp(t, r.l.txcq, &r.ctx, FI_RMA | FI_WRITE, &e,
				"the write with data"));
	} else {
		FCT_DO(fct_comp_any(t, r.l.rxcq, &e,
				    "the target's completion of a write with data"));
		FCT_EQ(t, e.flags, TARGET | FI_RMA);
	}
out:
	return fct_link_down(&r.l, ret);
}

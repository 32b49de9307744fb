/* SPDX-License-Identifier: BSD-2-Clause */
/* One transfer at a time, in every form and size, in both directions. */
#include "rma.h"

#define GUARD 32u
#define GUARD_BYTE 0xA5
#define AT 64u /* where in the region, so that both ends can be watched */

struct form {
	ssize_t (*post)(struct rma *r, size_t len);
	bool read;
	bool inject; /* the buffer is free once posted; len is limited to inject_size */
	bool silent; /* success makes no completion */
};

/* Uneven pieces of [buf, buf + len); at least one, at most limit. */
static size_t pieces(struct iovec *iov, void **desc, void *d, size_t limit, uint8_t *buf,
		     size_t len)
{
	size_t n, piece, at = 0;

	if (limit > RMA_MAX_IOV)
		limit = RMA_MAX_IOV;
	for (n = 0; n + 1 < limit && at + n + 1 < len; n++) {
		piece = n % 2 ? (len - at) / 2 : n + 1;
		iov[n] = (struct iovec){.iov_base = buf + at, .iov_len = piece};
		desc[n] = d;
		at += piece;
	}
	iov[n] = (struct iovec){.iov_base = buf + at, .iov_len = len - at};
	desc[n] = d;
	return n + 1;
}

static ssize_t post_write(struct rma *r, size_t len)
{
	return fi_write(r->l.c.ep, r->local.buf + AT, len, r->local.desc, 0,
			r->peer.addr + AT, r->peer.key, &r->ctx);
}

static ssize_t post_writev(struct rma *r, size_t len)
{
	struct iovec iov[RMA_MAX_IOV];
	void *desc[RMA_MAX_IOV];
	size_t n = pieces(iov, desc, r->local.desc, r->l.c.info->tx_attr->iov_limit,
			  r->local.buf + AT, len);

	return fi_writev(r->l.c.ep, iov, desc, n, 0, r->peer.addr + AT, r->peer.key,
			 &r->ctx);
}

static ssize_t post_msg(struct rma *r, size_t len, uint64_t flags, bool read)
{
	struct iovec iov[RMA_MAX_IOV];
	void *desc[RMA_MAX_IOV];
	struct fi_rma_iov rma_iov = fct_rma_piece(r, AT, len);
	struct fi_msg_rma msg = {.msg_iov = iov,
				 .desc = desc,
				 .rma_iov = &rma_iov,
				 .rma_iov_count = 1,
				 .context = &r->ctx};

	msg.iov_count = pieces(iov, desc, r->local.desc, r->l.c.info->tx_attr->iov_limit,
			       r->local.buf + AT, len);
	return read ? fi_readmsg(r->l.c.ep, &msg, flags)
		    : fi_writemsg(r->l.c.ep, &msg, flags);
}

static ssize_t post_writemsg(struct rma *r, size_t len)
{
	return post_msg(r, len, 0, false);
}

static ssize_t post_writemsg_inject(struct rma *r, size_t len)
{
	return post_msg(r, len, FI_INJECT, false);
}

static ssize_t post_inject(struct rma *r, size_t len)
{
	return fi_inject_write(r->l.c.ep, r->local.buf + AT, len, 0, r->peer.addr + AT,
			       r->peer.key);
}

static ssize_t post_read(struct rma *r, size_t len)
{
	return fi_read(r->l.c.ep, r->local.buf + AT, len, r->local.desc, 0,
		       r->peer.addr + AT, r->peer.key, &r->ctx);
}

static ssize_t post_readv(struct rma *r, size_t len)
{
	struct iovec iov[RMA_MAX_IOV];
	void *desc[RMA_MAX_IOV];
	size_t n = pieces(iov, desc, r->local.desc, r->l.c.info->tx_attr->iov_limit,
			  r->local.buf + AT, len);

	return fi_readv(r->l.c.ep, iov, desc, n, 0, r->peer.addr + AT, r->peer.key,
			&r->ctx);
}

static ssize_t post_readmsg(struct rma *r, size_t len)
{
	return post_msg(r, len, 0, true);
}

static int initiate(struct rma *r, const struct form *f, size_t len, uint64_t seed)
{
	struct fi_cq_data_entry e;

	memset(r->local.buf, GUARD_BYTE, len + 2 * AT);
	if (!f->read)
		fct_fill(r->local.buf + AT, len, seed);
	FCT_DO(fct_barrier("target ready"));
	FCT_POST(r->l.txcq, f->post(r, len));
	if (f->inject)
		memset(r->local.buf, 0xEE, len + 2 * AT);
	if (!f->silent)
		FCT_DO(fct_comp(r->l.txcq, &r->ctx,
				FI_RMA | (f->read ? FI_READ : FI_WRITE), &e,
				f->read ? "the read" : "the write"));
	if (f->read) {
		FCT_DATA(r->local.buf + AT, len, seed);
		FCT_TRUE(fct_all(r->local.buf, AT, GUARD_BYTE));
		FCT_TRUE(fct_all(r->local.buf + AT + len, GUARD, GUARD_BYTE));
	}
	FCT_DO(fct_rma_flag(r));
	FCT_DO(fct_barrier("checked"));
	return fct_cq_quiet(r->l.txcq, "after the transfer");
}

static int be_target(struct rma *r, const struct form *f, size_t len, uint64_t seed)
{
	uint8_t *buf = r->exposed.buf;

	memset(buf, GUARD_BYTE, len + 2 * AT);
	if (f->read)
		fct_fill(buf + AT, len, seed);
	FCT_DO(fct_rma_arm(r));
	FCT_DO(fct_barrier("target ready"));
	FCT_DO(fct_rma_await(r));
	FCT_DATA(buf + AT, len, seed);
	FCT_TRUE(fct_all(buf, AT, GUARD_BYTE));
	FCT_TRUE(fct_all(buf + AT + len, GUARD, GUARD_BYTE));
	FCT_DO(fct_barrier("checked"));
	return fct_cq_quiet(r->l.rxcq, "at the target, after the transfer");
}

static int run_form(const struct form *f)
{
	static const size_t fixed[] = {1,    7,	   64,	  511,		4095,
				       4096, 4097, 65536, RMA_LEN - 128};
	size_t sizes[16], inject, theirs, i, n = 0;
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	uint64_t seed = 1;
	int dir;

	FCT_DO(fct_rma_up(&r, &s, RMA_LEN + 2 * AT, 0));
	inject = r.l.c.info->tx_attr->inject_size;
	FCT_DO(fct_exchange("inject size", &inject, &theirs, sizeof(inject)));
	if (theirs < inject)
		inject = theirs;
	if (f->inject && !inject)
		return fct_skip("inject_size is 0");
	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (!f->inject || fixed[i] <= inject)
			sizes[n++] = fixed[i];
	if (inject > 1)
		sizes[n++] = inject - 1;
	if (inject)
		sizes[n++] = inject;
	if (!f->inject)
		sizes[n++] = inject + 1;
	for (i = 0; i < n; i++) {
		for (dir = 0; dir < 2; dir++, seed++) {
			fct_note("%zu bytes, by the %s", sizes[i],
				 dir ? "server" : "client");
			if ((dir == 0) == fct_is_client())
				FCT_DO(initiate(&r, f, sizes[i], seed));
			else
				FCT_DO(be_target(&r, f, sizes[i], seed));
		}
	}
	return 0;
}

FCT_CASE_CALL(write, "fi_write, all sizes, both directions",
	      run_form(&(struct form){.post = post_write}))

FCT_CASE_CALL(writev, "fi_writev from up to iov_limit pieces",
	      run_form(&(struct form){.post = post_writev}))

FCT_CASE_CALL(writemsg, "fi_writemsg", run_form(&(struct form){.post = post_writemsg}))

FCT_CASE_CALL(
	inject, "fi_inject_write: no completion, buffer free at once",
	run_form(&(struct form){.post = post_inject, .inject = true, .silent = true}))

FCT_CASE_CALL(writemsg_inject, "fi_writemsg with FI_INJECT",
	      run_form(&(struct form){.post = post_writemsg_inject, .inject = true}))

FCT_CASE_CALL(read, "fi_read, all sizes, both directions",
	      run_form(&(struct form){.post = post_read, .read = true}))

FCT_CASE_CALL(readv, "fi_readv into up to iov_limit pieces",
	      run_form(&(struct form){.post = post_readv, .read = true}))

FCT_CASE_CALL(readmsg, "fi_readmsg",
	      run_form(&(struct form){.post = post_readmsg, .read = true}))

FCT_CASE(zero, "transfers of no bytes complete")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	struct fi_cq_data_entry e;

	FCT_DO(fct_rma_up(&r, &s, 4096, 0));
	memset(r.exposed.buf, GUARD_BYTE, 4096);
	if (fct_is_server())
		FCT_DO(fct_rma_arm(&r));
	FCT_DO(fct_barrier("target ready"));
	if (fct_is_client()) {
		FCT_POST(r.l.txcq, post_write(&r, 0));
		FCT_DO(fct_comp(r.l.txcq, &r.ctx, FI_RMA | FI_WRITE, &e,
				"a write of nothing"));
		FCT_POST(r.l.txcq, post_read(&r, 0));
		FCT_DO(fct_comp(r.l.txcq, &r.ctx, FI_RMA | FI_READ, &e,
				"a read of nothing"));
		FCT_DO(fct_rma_flag(&r));
	} else {
		FCT_DO(fct_rma_await(&r));
		FCT_TRUE(fct_all(r.exposed.buf, 4096, GUARD_BYTE));
	}
	return 0;
}

/* Remote pieces with holes between them. */
static int scatter_client(struct rma *r, size_t n, bool read)
{
	struct fi_rma_iov rma_iov[RMA_MAX_IOV];
	struct iovec iov = {.iov_base = r->local.buf, .iov_len = n * 100};
	struct fi_msg_rma msg = {.msg_iov = &iov,
				 .desc = &r->local.desc,
				 .iov_count = 1,
				 .rma_iov = rma_iov,
				 .rma_iov_count = n,
				 .context = &r->ctx};
	struct fi_cq_data_entry e;
	size_t i;

	for (i = 0; i < n; i++)
		rma_iov[i] = fct_rma_piece(r, 200 * i, 100);
	if (!read)
		fct_fill(r->local.buf, n * 100, n);
	else
		memset(r->local.buf, 0, n * 100);
	if (read)
		FCT_POST(r->l.txcq, fi_readmsg(r->l.c.ep, &msg, 0));
	else
		FCT_POST(r->l.txcq, fi_writemsg(r->l.c.ep, &msg, 0));
	FCT_DO(fct_comp(r->l.txcq, &r->ctx, FI_RMA | (read ? FI_READ : FI_WRITE), &e,
			"a transfer of several remote pieces"));
	if (read)
		FCT_DATA(r->local.buf, n * 100, n);
	return 0;
}

FCT_CASE(scatter, "several remote pieces, up to rma_iov_limit")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};
	uint64_t mine, theirs;
	size_t n, i;

	FCT_DO(fct_rma_up(&r, &s, 200 * RMA_MAX_IOV, 0));
	mine = r.l.c.info->tx_attr->rma_iov_limit;
	FCT_DO(fct_exchange("rma_iov_limit", &mine, &theirs, sizeof(mine)));
	n = fct_is_client() ? mine : theirs;
	if (n < 2)
		return fct_skip("rma_iov_limit is %zu", n);
	if (n > RMA_MAX_IOV)
		n = RMA_MAX_IOV;
	memset(r.exposed.buf, GUARD_BYTE, r.exposed.len);
	if (fct_is_server())
		FCT_DO(fct_rma_arm(&r));
	FCT_DO(fct_barrier("target ready"));
	if (fct_is_client()) {
		FCT_DO(scatter_client(&r, n, false));
		FCT_DO(fct_rma_flag(&r));
	} else {
		FCT_DO(fct_rma_await(&r));
		for (i = 0; i < n; i++) {
			FCT_DO(fct_compare(r.exposed.buf + 200 * i, 100, n, 100 * i,
					   "a remote piece"));
			FCT_TRUE(fct_all(r.exposed.buf + 200 * i + 100, 100, GUARD_BYTE));
		}
	}
	FCT_DO(fct_barrier("written"));
	if (fct_is_client())
		FCT_DO(scatter_client(&r, n, true));
	return 0;
}

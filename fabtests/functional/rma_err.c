/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transfers the target must refuse: an error of that operation, and no byte moved. Each
 * on its own connection.
 */
#include "rma.h"

#define LEN 4096u

static int expect_refusal(struct rma *r, bool read, uint64_t addr, size_t len,
			  uint64_t key)
{
	struct fi_cq_err_entry err;
	struct fct *t = r->l.t;
	int ret;

	memset(r->local.buf, 0x11, LEN);
	if (read)
		FCT_POST(t, r->l.txcq,
			 fi_read(r->l.c.ep, r->local.buf, len, r->local.desc, 0, addr,
				 key, &r->ctx));
	else
		FCT_POST(t, r->l.txcq,
			 fi_write(r->l.c.ep, r->local.buf, len, r->local.desc, 0, addr,
				  key, &r->ctx));
	FCT_DO(fct_comp_err(t, r->l.txcq, &err,
			    "an error for a transfer the target must refuse"));
	FCT_TRUE(t, err.op_context == &r->ctx);
	FCT_TRUE(t, err.err > 0);
	fct_note(t, "%d (%s; provider: %s)", err.err, fi_strerror(err.err),
		 fi_cq_strerror(r->l.txcq, err.prov_errno, err.err_data, NULL, 0));
	if (read)
		FCT_TRUE(t, fct_all(r->local.buf, LEN, 0x11));
out:
	return ret;
}

/* Runs the refusal by the client and looks at the server's memory. */
static int refuse(struct fct *t, uint64_t access, bool read, bool bad_key, size_t beyond)
{
	struct fct_setup s = fct_rma_setup();
	struct rma r = {.l.t = t};
	int ret;

	FCT_DO(fct_rma_up(&r, t, &s, LEN, access));
	memset(r.exposed.buf, 0x22, LEN);
	FCT_DO(fct_barrier(t, "target ready"));
	if (fct_is_client(t))
		FCT_DO(expect_refusal(&r, read, r.peer.addr + beyond, LEN,
				      bad_key ? r.peer.key ^ 0x5a5a5a : r.peer.key));
	FCT_DO(fct_barrier(t, "refused"));
	FCT_TRUE(t, fct_all(r.exposed.buf, LEN, 0x22));
out:
	return fct_link_down(&r.l, ret);
}

static int both(struct fct *t, uint64_t access, bool bad_key, size_t beyond)
{
	if (refuse(t, access, false, bad_key, beyond))
		return -1;
	return refuse(t, access, true, bad_key, beyond);
}

int fct_rma_bad_key(struct fct *t)
{
	return both(t, 0, true, 0);
}

int fct_rma_out_of_bounds(struct fct *t)
{
	return both(t, 0, false, 64);
}

int fct_rma_write_forbidden(struct fct *t)
{
	return refuse(t, FI_REMOTE_READ, false, false, 0);
}

int fct_rma_read_forbidden(struct fct *t)
{
	return refuse(t, FI_REMOTE_WRITE, true, false, 0);
}

int fct_rma_closed_region(struct fct *t)
{
	struct fct_setup s = fct_rma_setup();
	struct rma r = {.l.t = t};
	int ret;

	FCT_DO(fct_rma_up(&r, t, &s, LEN, 0));
	memset(r.exposed.buf, 0x22, LEN);
	if (fct_is_server(t)) {
		FCT_CALL(t, fi_close(&r.exposed.mr->fid));
		r.exposed.mr = NULL;
	}
	FCT_DO(fct_barrier(t, "region closed"));
	if (fct_is_client(t))
		FCT_DO(expect_refusal(&r, false, r.peer.addr, LEN, r.peer.key));
	FCT_DO(fct_barrier(t, "refused"));
	if (fct_is_server(t))
		FCT_TRUE(t, fct_all(r.exposed.buf, LEN, 0x22));
out:
	return fct_link_down(&r.l, ret);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transfers the target must refuse: an error of that operation, and no byte moved. Each
 * on its own connection.
 */
#include "rma.h"

#define LEN 4096u

/* beyond: how far from the region's begin; key: what is wrong with its key. */
static int expect_refusal(struct rma *r, bool read, size_t beyond, uint64_t key)
{
	struct fct_op op = fct_rma_op(r, read ? FCT_READ : FCT_WRITE, 0, beyond, LEN);
	struct fi_cq_err_entry err;

	memset(r->local.buf, 0x11, LEN);
	op.key ^= key;
	FCT_POST(r->l.txcq, fct_op_post(r->l.c.ep, &op));
	FCT_DO(fct_comp_err(r->l.txcq, &err,
			    "an error for a transfer the target must refuse"));
	FCT_TRUE(err.op_context == &r->ctx);
	FCT_TRUE(err.err > 0);
	fct_note("%d (%s; provider: %s)", err.err, fi_strerror(err.err),
		 fi_cq_strerror(r->l.txcq, err.prov_errno, err.err_data, NULL, 0));
	if (read)
		FCT_TRUE(fct_all(r->local.buf, LEN, 0x11));
	return 0;
}

/* Runs the refusal by the client and looks at the server's memory. */
static int refuse(uint64_t access, bool read, bool bad_key, size_t beyond)
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};

	FCT_DO(fct_rma_up(&r, &s, LEN, access));
	memset(r.exposed.buf, 0x22, LEN);
	FCT_DO(fct_barrier("target ready"));
	if (fct_is_client())
		FCT_DO(expect_refusal(&r, read, beyond, bad_key ? 0x5a5a5a : 0));
	FCT_DO(fct_barrier("refused"));
	FCT_TRUE(fct_all(r.exposed.buf, LEN, 0x22));
	return 0;
}

static int both(uint64_t access, bool bad_key, size_t beyond)
{
	if (refuse(access, false, bad_key, beyond))
		return -1;
	return refuse(access, true, bad_key, beyond);
}

FCT_CASE_CALL(bad_key, "an unknown key is an error of the initiator's operation",
	      both(0, true, 0))

FCT_CASE_CALL(out_of_bounds, "so is a range beyond the region", both(0, false, 64))

FCT_CASE_CALL(write_forbidden, "so is a write without FI_REMOTE_WRITE",
	      refuse(FI_REMOTE_READ, false, false, 0))

FCT_CASE_CALL(read_forbidden, "so is a read without FI_REMOTE_READ",
	      refuse(FI_REMOTE_WRITE, true, false, 0))

FCT_CASE(closed_region, "so is the key of a closed region")
{
	struct fct_setup s = fct_rma_setup();
	FCT_AUTO(fct_link_end) struct rma r = {0};

	FCT_DO(fct_rma_up(&r, &s, LEN, 0));
	memset(r.exposed.buf, 0x22, LEN);
	if (fct_is_server()) {
		FCT_CALL(fi_close(&r.exposed.mr->fid));
		r.exposed.mr = NULL;
	}
	FCT_DO(fct_barrier("region closed"));
	if (fct_is_client())
		FCT_DO(expect_refusal(&r, false, 0, 0));
	FCT_DO(fct_barrier("refused"));
	if (fct_is_server())
		FCT_TRUE(fct_all(r.exposed.buf, LEN, 0x22));
	return 0;
}

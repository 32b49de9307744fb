/* SPDX-License-Identifier: BSD-2-Clause */
/* One transfer at a time, in every form and size, in both directions. */
#include "forms.h"
#include "rma.h"

#define GUARD_BYTE 0xA5

FCT_CASE_CALL(write, "fi_write, all sizes, both directions",
	      fct_form_case(&(struct form){.form = FCT_WRITE}))

FCT_CASE_CALL(writev, "fi_writev from up to iov_limit pieces",
	      fct_form_case(&(struct form){.form = FCT_WRITEV}))

FCT_CASE_CALL(writemsg, "fi_writemsg",
	      fct_form_case(&(struct form){.form = FCT_WRITEMSG}))

FCT_CASE_CALL(inject, "fi_inject_write: no completion, buffer free at once",
	      fct_form_case(&(struct form){.form = FCT_INJECT_WRITE}))

FCT_CASE_CALL(writemsg_inject, "fi_writemsg with FI_INJECT",
	      fct_form_case(&(struct form){.form = FCT_WRITEMSG, .flags = FI_INJECT}))

FCT_CASE_CALL(read, "fi_read, all sizes, both directions",
	      fct_form_case(&(struct form){.form = FCT_READ}))

FCT_CASE_CALL(readv, "fi_readv into up to iov_limit pieces",
	      fct_form_case(&(struct form){.form = FCT_READV}))

FCT_CASE_CALL(readmsg, "fi_readmsg", fct_form_case(&(struct form){.form = FCT_READMSG}))

/* Remote pieces with holes between them. */
static int scatter_client(struct rma *r, size_t n, bool read)
{
	struct fi_rma_iov rma_iov[FCT_OP_PIECES];
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
		rma_iov[i] =
			(struct fi_rma_iov){r->peer.addr + 200 * i, 100, r->peer.key};
	if (read)
		memset(r->local.buf, 0, n * 100);
	else
		fct_fill(r->local.buf, n * 100, n);
	FCT_POST(r->l.txcq,
		 read ? fi_readmsg(r->l.c.ep, &msg, 0) : fi_writemsg(r->l.c.ep, &msg, 0));
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

	FCT_DO(fct_rma_up(&r, &s, 200 * FCT_OP_PIECES, 0));
	mine = r.l.c.info->tx_attr->rma_iov_limit;
	FCT_DO(fct_exchange("rma_iov_limit", &mine, &theirs, sizeof(mine)));
	n = fct_is_client() ? mine : theirs;
	if (n < 2)
		return fct_skip("rma_iov_limit is %zu", n);
	if (n > FCT_OP_PIECES)
		n = FCT_OP_PIECES;
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* An operation that cannot be durable fails, once. */
#include "durable.h"

FCT_CASE(unknown_key, "a damaged key is refused when it is posted")
{
	struct fct_setup s = fct_durable_setup();
	FCT_AUTO(fct_durable_end) struct durable d = {0};
	uint64_t key;
	int bit;

	FCT_DO(fct_durable_up(&d, &s));
	fct_fill(d.local.buf, 64, 2);
	key = d.peer.key;
	for (bit = 32; fct_is_client() && bit < 64; bit++) {
		d.peer.key = key ^ 1ull << bit;
		FCT_REFUSED(fct_durable_post(&d, 0, 64,
					     FI_COMMIT_COMPLETE | FI_COMPLETION,
					     &d.ctx[0]));
	}
	d.peer.key = key;
	if (fct_is_client())
		FCT_DO(fct_durable_write(&d, 0, 64, FI_COMMIT_COMPLETE));
	return fct_durable_check(&d, 64, 2);
}

FCT_CASE(closed_region, "a region that is gone ends the write with an error")
{
	struct fct_setup s = fct_durable_setup();
	struct fi_cq_err_entry err = {0};
	FCT_AUTO(fct_durable_end) struct durable d = {0};

	FCT_DO(fct_durable_up(&d, &s));
	if (fct_is_server()) {
		FCT_CALL(fi_close(&d.mr->fid));
		d.mr = NULL;
	}
	FCT_DO(fct_barrier("closed"));
	if (fct_is_client()) {
		FCT_POST(d.l.txcq,
			 fct_durable_post(&d, 0, 64, FI_COMMIT_COMPLETE | FI_COMPLETION,
					  &d.ctx[0]));
		FCT_DO(fct_comp_err(d.l.txcq, &err, "a write to a closed region"));
		FCT_TRUE(err.op_context == &d.ctx[0]);
		FCT_TRUE(err.err > 0);
		FCT_DO(fct_cq_quiet(d.l.txcq, "after the error"));
	}
	return fct_barrier("done");
}

/* Each of these contexts ends once, well or not. */
static int end_once(struct durable *d, int count)
{
	struct fi_cq_data_entry e;
	struct fct_wait w;
	int i = 0, ret, err;

	fct_wait_init(&w, "an end");
	while (i < count) {
		FCT_GET(ret, fct_cq_look(d->l.txcq, &e, &err));
		if (ret)
			FCT_TRUE(e.op_context == &d->ctx[i++]);
		else
			FCT_DO(fct_wait_again(&w));
	}
	return fct_cq_quiet(d->l.txcq, "after each has ended");
}

FCT_CASE(closed_endpoint, "each ends once when the endpoint is closed")
{
	struct fct_setup s = fct_durable_setup();
	FCT_AUTO(fct_durable_end) struct durable d = {0};
	int i;

	s.tx_size = 64;
	FCT_DO(fct_durable_up(&d, &s));
	for (i = 0; fct_is_client() && i < 10; i++)
		FCT_POST(d.l.txcq,
			 fct_durable_post(&d, (size_t)i * 4096, 4096,
					  FI_COMMIT_COMPLETE | FI_COMPLETION, &d.ctx[i]));
	if (fct_is_client()) {
		FCT_DO(fct_conn_close(&d.l, &d.l.c));
		FCT_DO(end_once(&d, 10));
	}
	return fct_barrier("done");
}

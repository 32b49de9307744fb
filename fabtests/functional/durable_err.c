/* SPDX-License-Identifier: BSD-2-Clause */
/* An operation that cannot be durable fails, once. */
#include "durable.h"

int fct_durable_volatile(struct fct *t)
{
	struct fct_setup s = fct_durable_setup();
	struct fct_target mine = {0}, peer;
	struct fct_mem plain = {0};
	struct durable d;
	int ret;

	FCT_DO(fct_durable_up(&d, t, &s));
	if (fct_is_server(t)) {
		FCT_DO(fct_mem_alloc(&d.l, &plain, 4096,
				     FI_REMOTE_READ | FI_REMOTE_WRITE));
		mine = fct_mem_target(&d.l, &plain);
	}
	FCT_DO(fct_exchange(t, "volatile region", &mine, &peer, sizeof(mine)));
	fct_fill(d.local.buf, 64, 1);
	if (fct_is_client(t)) {
		const struct fct_target pmem = d.peer;

		d.peer = peer;
		FCT_REFUSED(t, fct_durable_post(&d, 0, 64,
						FI_COMMIT_COMPLETE | FI_COMPLETION,
						&d.ctx[0]));
		FCT_DO(fct_cq_quiet(t, d.l.txcq, "after a refused write"));
		FCT_DO(fct_durable_write(&d, 0, 64, 0));
		d.peer = pmem;
		FCT_DO(fct_durable_write(&d, 0, 64, FI_COMMIT_COMPLETE));
	}
	FCT_DO(fct_durable_check(&d, 64, 1));
	if (fct_is_server(t))
		FCT_DATA(t, plain.buf, 64, 1);
out:
	return fct_durable_down(&d, ret);
}

int fct_durable_unknown_key(struct fct *t)
{
	struct fct_setup s = fct_durable_setup();
	struct durable d;
	uint64_t key;
	int bit, ret;

	FCT_DO(fct_durable_up(&d, t, &s));
	fct_fill(d.local.buf, 64, 2);
	key = d.peer.key;
	for (bit = 32; fct_is_client(t) && bit < 64; bit++) {
		d.peer.key = key ^ 1ull << bit;
		FCT_REFUSED(t, fct_durable_post(&d, 0, 64,
						FI_COMMIT_COMPLETE | FI_COMPLETION,
						&d.ctx[0]));
	}
	d.peer.key = key;
	if (fct_is_client(t))
		FCT_DO(fct_durable_write(&d, 0, 64, FI_COMMIT_COMPLETE));
	FCT_DO(fct_durable_check(&d, 64, 2));
out:
	return fct_durable_down(&d, ret);
}

int fct_durable_closed_region(struct fct *t)
{
	struct fct_setup s = fct_durable_setup();
	struct fi_cq_err_entry err = {0};
	struct durable d;
	int ret;

	FCT_DO(fct_durable_up(&d, t, &s));
	if (fct_is_server(t)) {
		FCT_CALL(t, fi_close(&d.mr->fid));
		d.mr = NULL;
	}
	FCT_DO(fct_barrier(t, "closed"));
	if (fct_is_client(t)) {
		FCT_POST(t, d.l.txcq,
			 fct_durable_post(&d, 0, 64, FI_COMMIT_COMPLETE | FI_COMPLETION,
					  &d.ctx[0]));
		FCT_DO(fct_comp_err(t, d.l.txcq, &err, "a write to a closed region"));
		FCT_TRUE(t, err.op_context == &d.ctx[0]);
		FCT_TRUE(t, err.err > 0);
		FCT_DO(fct_cq_quiet(t, d.l.txcq, "after the error"));
	}
	ret = fct_barrier(t, "done");
out:
	return fct_durable_down(&d, ret);
}

/* Each of these contexts ends once, well or not. */
static int end_once(struct durable *d, int count)
{
	struct fct *t = d->l.t;
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry e;
	int i, ended, ret = 0;

	for (i = 0; i < count; i++) {
		ended = fct_cq_next(t, d->l.txcq, &e, "an end");
		if (ended == 1) {
			FCT_EQ(t, fi_cq_readerr(d->l.txcq, &err, 0), 1);
			e.op_context = err.op_context;
		} else {
			FCT_DO(ended);
		}
		FCT_TRUE(t, e.op_context == &d->ctx[i]);
	}
	ret = fct_cq_quiet(t, d->l.txcq, "after each has ended");
out:
	return ret;
}

int fct_durable_closed_endpoint(struct fct *t)
{
	struct fct_setup s = fct_durable_setup();
	struct durable d;
	int i, ret;

	s.tx_size = 64;
	FCT_DO(fct_durable_up(&d, t, &s));
	for (i = 0; fct_is_client(t) && i < 10; i++)
		FCT_POST(t, d.l.txcq,
			 fct_durable_post(&d, (size_t)i * 4096, 4096,
					  FI_COMMIT_COMPLETE | FI_COMPLETION, &d.ctx[i]));
	if (fct_is_client(t)) {
		FCT_DO(fct_conn_close(&d.l, &d.l.c));
		FCT_DO(end_once(&d, 10));
	}
	ret = fct_barrier(t, "done");
out:
	return fct_durable_down(&d, ret);
}

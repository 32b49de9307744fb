/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is not persistent: what cannot be durable there fails, at its call or as
 * its completion, as the provider learns of it, and nothing has been written.
 */
#include "durable.h"

struct other {
	struct durable d;
	struct fct_target pmem, plain; /* of the server's, as the client sees it */
	struct fct_mem mem;	       /* server: the plain one */
};

static int up(struct other *o, struct fct *t)
{
	struct fct_setup s = fct_durable_setup();
	struct fct_target mine = {0};
	int ret;

	*o = (struct other){0};
	FCT_DO(fct_durable_up(&o->d, t, &s));
	if (fct_is_server(t)) {
		FCT_DO(fct_mem_alloc(&o->d.l, &o->mem, 65536,
				     FI_REMOTE_READ | FI_REMOTE_WRITE));
		memset(o->mem.buf, 0, 65536);
		mine = fct_mem_target(&o->d.l, &o->mem);
	}
	FCT_DO(fct_exchange(t, "ordinary region", &mine, &o->plain, sizeof(mine)));
	o->pmem = o->d.peer;
	fct_fill(o->d.local.buf, DURABLE_MAX, 1);
out:
	return ret;
}

static int fails(struct durable *d, size_t len, uint64_t flags)
{
	struct fct *t = d->l.t;
	struct fi_cq_err_entry err;
	ssize_t n;
	int ret = 0;

	n = fct_durable_post(d, 0, len, flags | FI_COMPLETION, &d->ctx[1]);
	if (!n) {
		FCT_DO(fct_comp_err(t, d->l.txcq, &err, "what cannot be durable"));
		FCT_TRUE(t, err.op_context == &d->ctx[1]);
		FCT_EQ(t, err.err, FI_EOPNOTSUPP);
	} else {
		FCT_EQ(t, n, -FI_EOPNOTSUPP);
	}
	ret = fct_cq_quiet(t, d->l.txcq, "after it has failed");
out:
	return ret;
}

static int untouched(struct other *o, const uint8_t *mem, size_t len)
{
	struct fct *t = o->d.l.t;
	size_t i;
	int ret;

	FCT_DO(fct_barrier(t, "it has failed"));
	for (i = 0; fct_is_server(t) && i < len; i++)
		FCT_EQ(t, mem[i], 0);
	ret = fct_barrier(t, "looked at");
out:
	return ret;
}

static int ordinary(struct fct *t, size_t len)
{
	struct other o;
	int ret;

	FCT_DO(up(&o, t));
	o.d.peer = o.plain;
	if (fct_is_client(t))
		FCT_DO(fails(&o.d, len, FI_COMMIT_COMPLETE));
	FCT_DO(untouched(&o, o.mem.buf, 65536));
out:
	return fct_durable_down(&o.d, ret);
}

int fct_durable_ordinary(struct fct *t)
{
	const int ret = ordinary(t, 64);

	return ret ? ret : ordinary(t, 65536);
}

int fct_durable_fence_ordinary(struct fct *t)
{
	struct other o;
	int ret;

	FCT_DO(up(&o, t));
	if (fct_is_client(t)) {
		o.d.peer = o.plain;
		FCT_DO(fct_durable_write(&o.d, 0, 64, 0));
		o.d.peer = o.pmem;
		FCT_DO(fct_durable_write(&o.d, 4096, 64, FI_COMMIT_COMPLETE));
		FCT_DO(fails(&o.d, 64, FI_COMMIT_COMPLETE | FI_FENCE));
	}
	FCT_DO(untouched(&o, o.d.mem, 64));
out:
	return fct_durable_down(&o.d, ret);
}

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

static int up(struct other *o)
{
	struct fct_setup s = fct_durable_setup();
	struct fct_target mine = {0};

	*o = (struct other){0};
	FCT_DO(fct_durable_up(&o->d, &s));
	if (fct_is_server()) {
		FCT_DO(fct_mem_alloc(&o->d.l, &o->mem, 65536,
				     FI_REMOTE_READ | FI_REMOTE_WRITE));
		mine = fct_mem_target(&o->d.l, &o->mem);
	}
	FCT_DO(fct_exchange("ordinary region", &mine, &o->plain, sizeof(mine)));
	o->pmem = o->d.peer;
	fct_fill(o->d.local.buf, DURABLE_MAX, 1);
	return 0;
}

static int fails(struct durable *d, size_t len, uint64_t flags)
{
	struct fi_cq_err_entry err;
	ssize_t n;

	n = fct_durable_post(d, 0, len, flags | FI_COMPLETION, &d->ctx[1]);
	if (!n) {
		FCT_DO(fct_comp_err(d->l.txcq, &err, "what cannot be durable"));
		FCT_TRUE(err.op_context == &d->ctx[1]);
		FCT_EQ(err.err, FI_EOPNOTSUPP);
	} else {
		FCT_EQ(n, -FI_EOPNOTSUPP);
	}
	return fct_cq_quiet(d->l.txcq, "after it has failed");
}

static int untouched(struct other *o, const uint8_t *mem, size_t len)
{
	FCT_DO(fct_barrier("it has failed"));
	FCT_TRUE(fct_is_client() || fct_all(mem, len, 0));
	return fct_barrier("looked at");
}

static int ordinary(size_t len)
{
	FCT_AUTO(fct_durable_end) struct other o = {0};

	FCT_DO(up(&o));
	o.d.peer = o.plain;
	if (fct_is_client())
		FCT_DO(fails(&o.d, len, FI_COMMIT_COMPLETE));
	FCT_DO(untouched(&o, o.mem.buf, 65536));
	return 0;
}

FCT_CASE(ordinary, "other memory is refused, and nothing of it written")
{
	const int ret = ordinary(64);

	return ret ? ret : ordinary(65536);
}

FCT_CASE(fence_ordinary, "a fence fails behind a write to other memory")
{
	FCT_AUTO(fct_durable_end) struct other o = {0};

	FCT_DO(up(&o));
	if (fct_is_client()) {
		o.d.peer = o.plain;
		FCT_DO(fct_durable_write(&o.d, 0, 64, 0));
		o.d.peer = o.pmem;
		FCT_DO(fct_durable_write(&o.d, 4096, 64, FI_COMMIT_COMPLETE));
		FCT_DO(fails(&o.d, 64, FI_COMMIT_COMPLETE | FI_FENCE));
	}
	return untouched(&o, o.d.mem, 64);
}

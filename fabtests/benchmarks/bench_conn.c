/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections: made and closed, one after the other. */
#include "bench.h"

/* The client's end is closed first, and the next request says that it is. */
static int one(struct bench *b)
{
	struct fct_conn c = {.ep = NULL};
	int ret = fct_conn_open(&b->l, &c);

	if (!ret)
		ret = fct_conn_finish(&b->l, &c);
	if (fct_conn_close(&b->l, &c))
		ret = -1;
	return ret;
}

static int server_one(struct bench *b)
{
	struct fct_conn c = {.ep = NULL};
	struct fct_link *l = &b->l;
	struct fct *t = l->t;
	struct fct_event e;
	int ret;

	FCT_DO(fct_conn_open(l, &c));
	FCT_DO(fct_conn_finish(l, &c));
	FCT_DO(fct_eq_expect(t, l->eq, FI_SHUTDOWN, &c.ep->fid, &e));
out:
	if (fct_conn_close(l, &c))
		ret = -1;
	return ret;
}

static int some(struct bench *b, uint64_t count)
{
	int ret = 0;

	for (; count && !ret; count--)
		ret = fct_is_client(b->l.t) ? one(b) : server_one(b);
	return ret;
}

int bench_connect(struct bench *b)
{
	struct fct *t = b->l.t;
	uint64_t start;
	int ret;

	FCT_DO(some(b, b->job.warmup));
	start = fct_now_ns();
	FCT_DO(some(b, b->job.iterations));
	if (fct_is_client(t))
		printf("connect provider=%s iterations=%llu per_s=%.1f\n",
		       b->l.c.info->fabric_attr->prov_name,
		       (unsigned long long)b->job.iterations,
		       (double)b->job.iterations * 1e9 / (double)(fct_now_ns() - start));
out:
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections: made and closed by the client, one after the other. */
#include <stdlib.h>

#include "bench.h"

#define DOZE_MS 100

/* Who connects sleeps until there is news; what it is, the next call reads. */
static void doze(struct bench *b)
{
	struct fi_eq_cm_entry entry;
	uint32_t event;

	(void)fi_eq_sread(b->l.eq, &event, &entry, sizeof(entry), DOZE_MS, FI_PEEK);
}

static int connect_one(struct bench *b)
{
	struct fct_conn c = {.ep = NULL};
	int ret = fct_conn_open(&b->l, &c);

	if (!ret) {
		doze(b);
		ret = fct_conn_finish(&b->l, &c);
	}
	if (fct_conn_close(&b->l, &c))
		ret = -1;
	return ret;
}

static int close_ended(struct fct_link *l, fid_t fid)
{
	struct fct_conn *c;

	for (c = l->conns; c && &c->ep->fid != fid; c = c->next)
		;
	return c ? fct_conn_close(l, c) : 0;
}

/*
 * A connection's end may be told after the next one's request, and by some providers
 * later still: fct_link_down closes who is left.
 */
static int serve(struct bench *b, struct fct_conn *conns, uint64_t count)
{
	uint64_t asked = 0, connected = 0;
	struct fct_link *l = &b->l;
	struct fct_event e;
	int ret = 0;

	while (connected < count) {
		doze(b);
		ret = fct_eq_next(l->eq, &e, "the next connection");
		if (ret)
			FCT_FAIL("a connection failed");
		if (e.event == FI_CONNREQ) {
			FCT_TRUE(asked < count);
			conns[asked].info = e.cm.info;
			FCT_DO(fct_ep_open(l, &conns[asked], e.cm.info));
			FCT_CALL(fi_accept(conns[asked++].ep, NULL, 0));
		} else if (e.event == FI_SHUTDOWN) {
			FCT_DO(close_ended(l, e.cm.fid));
		} else {
			connected++;
		}
	}
	return 0;
}

static int some(struct bench *b, struct fct_conn *conns, uint64_t count)
{
	int ret = 0;

	if (fct_is_server())
		return serve(b, conns, count);
	for (; count && !ret; count--)
		ret = connect_one(b);
	return ret;
}

int bench_connect(struct bench *b)
{
	struct fct_conn *conns =
		calloc(b->job.warmup + b->job.iterations, sizeof(*conns));
	uint64_t start;

	FCT_TRUE(conns);
	b->conns = conns;
	FCT_DO(some(b, conns, b->job.warmup));
	start = fct_now_ns();
	FCT_DO(some(b, conns + b->job.warmup, b->job.iterations));
	if (fct_is_client())
		printf("connect provider=%s iterations=%llu per_s=%.1f\n",
		       b->l.c.info->fabric_attr->prov_name,
		       (unsigned long long)b->job.iterations,
		       (double)b->job.iterations * 1e9 / (double)(fct_now_ns() - start));
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Registered memory in transfers. */
#include <sys/mman.h>
#include <stdlib.h>

#include "fct_op.h"

#define LEN 8192u

static struct fct_setup rma(void)
{
	return (struct fct_setup){.caps = FI_MSG | FI_RMA,
				  .msg_order = FI_ORDER_SAW | FI_ORDER_SAS};
}

FCT_CASE(read_only, "read-only memory can be sent from")
{
	struct fct_setup s = {.caps = FI_MSG};
	struct fi_cq_data_entry e;
	struct fct_ctx ctx;
	struct fct_mem m;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	/* Stays mapped: the link's region lasts as long as the link. */
	void *page = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	FCT_TRUE(page != MAP_FAILED);
	fct_fill(page, LEN, 3);
	if (fct_is_client())
		mprotect(page, LEN, PROT_READ);
	FCT_DO(fct_link_up(&l, &s));
	FCT_DO(fct_mem_reg(&l, &m, page, LEN, fct_is_client() ? FI_SEND : FI_RECV));
	if (fct_is_server()) {
		memset(page, 0, LEN);
		FCT_POST(l.rxcq, fi_recv(l.c.ep, page, LEN, m.desc, 0, &ctx));
	}
	FCT_DO(fct_barrier("receive posted"));
	if (fct_is_client()) {
		FCT_POST(l.txcq, fi_send(l.c.ep, page, LEN, m.desc, 0, &ctx));
		FCT_DO(fct_comp(l.txcq, &ctx, FI_SEND | FI_MSG, &e,
				"a send from read-only memory"));
	} else {
		FCT_DO(fct_comp(l.rxcq, &ctx, FI_RECV | FI_MSG, &e, "the receive"));
		FCT_DATA(page, LEN, 3);
	}
	return 0;
}

static struct fct_op op_at(const struct fct_mem *local, size_t from, size_t len,
			   const struct fct_target *peer, size_t at)
{
	return (struct fct_op){.buf = local->buf + from,
			       .len = len,
			       .desc = local->desc,
			       .addr = peer->addr + at,
			       .key = peer->key};
}

static int move(struct fct_link *l, enum fct_form form, struct fct_op op)
{
	struct fct_ctx ctx;

	op.form = form;
	op.ctx = &ctx;
	return fct_op_do(l->c.ep, l->txcq, &op);
}

/* The region itself begins at an odd address; single bytes and short runs in it. */
FCT_CASE(odd, "RMA to odd addresses within a region")
{
	FCT_AUTO(fct_free_end) uint8_t *buf = calloc(1, LEN);
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct fct_setup s = rma();
	struct fct_target mine = {0}, peer;
	struct fct_mem region, local;
	size_t at, len;

	FCT_TRUE(buf);
	FCT_DO(fct_link_up(&l, &s));
	FCT_DO(fct_mem_reg(&l, &region, buf + 13, LEN - 13,
			   FI_REMOTE_READ | FI_REMOTE_WRITE));
	FCT_DO(fct_mem_alloc(&l, &local, LEN, FI_READ | FI_WRITE));
	mine = fct_mem_target(&l, &region);
	FCT_DO(fct_exchange("region", &mine, &peer, sizeof(mine)));
	for (at = 1; fct_is_client() && at < 4000; at = at * 3 + 1) {
		len = at % 97 + 1;
		fct_fill(local.buf + 1, len, at);
		FCT_DO(move(&l, FCT_WRITE, op_at(&local, 1, len, &peer, at)));
		memset(local.buf, 0, LEN);
		FCT_DO(move(&l, FCT_READ, op_at(&local, 3, len, &peer, at)));
		FCT_DATA(local.buf + 3, len, at);
	}
	return 0;
}

FCT_CASE(overlap, "closing one of two regions on the same memory leaves the other")
{
	struct fct_setup s = rma();
	struct fct_mem region, twin, local;
	struct fct_target peer;
	FCT_AUTO(fct_link_end) struct fct_link l = {0};

	FCT_DO(fct_link_up(&l, &s));
	FCT_DO(fct_mem_expose(&l, &region, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE, &peer));
	FCT_DO(fct_mem_alloc(&l, &local, LEN, FI_READ | FI_WRITE));
	FCT_DO(fct_mem_reg(&l, &twin, region.buf, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE));
	FCT_DO(fct_mem_unreg(&l, &twin));
	fct_fill(region.buf, LEN, 4);
	FCT_DO(fct_barrier("one region closed"));
	if (fct_is_client()) {
		FCT_DO(move(&l, FCT_READ, op_at(&local, 0, LEN, &peer, 0)));
		FCT_DATA(local.buf, LEN, 4);
	}
	return 0;
}

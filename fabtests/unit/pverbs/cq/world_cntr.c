/* SPDX-License-Identifier: BSD-2-Clause */
#include "world_cntr.h"

const struct world_opts selective = {.cq_flags = FI_SELECTIVE_COMPLETION,
				     .tx_size = 16,
				     .inject_size = 16};

static const uint64_t sides[] = {FI_SEND, FI_READ, FI_WRITE, FI_RECV};

bool counted_open(struct counted *c, const struct world_opts *opts,
		  enum fi_wait_obj wait_obj)
{
	struct fi_cntr_attr attr = {.wait_obj = wait_obj};
	struct world *w = &c->w;

	counted_close(c);
	world_reset();
	if (!world_open_domain(w, opts))
		return false;
	CT_EXPECT_EQ(fi_endpoint(w->domain, w->info, &w->ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->cq->fid,
				FI_TRANSMIT | FI_RECV | (opts ? opts->cq_flags : 0)),
		     0);
	for (int i = 0; i < 4; i++) {
		CT_EXPECT_EQ(fi_cntr_open(w->domain, &attr, &c->cntr[i], NUMBER(i)), 0);
		CT_EXPECT_EQ(fi_ep_bind(w->ep, &c->cntr[i]->fid, sides[i]), 0);
	}
	if (ct_failed())
		return false;
	CT_EXPECT_EQ(fi_enable(w->ep), 0);
	w->qp = qp_of(w->ep);
	return world_connect(w, w->ep);
}

void counted_start(struct counted *c)
{
	CT_ASSERT_TRUE(counted_open(c, &selective, FI_WAIT_NONE));
}

void counted_close(struct counted *c)
{
	world_close_ep(&c->w);
	for (int i = 0; i < 4; i++)
		close_object(c->cntr[i]);
	world_close(&c->w);
}

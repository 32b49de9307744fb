/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/providers/fi_prov.h>
#include "cairn_test.h"
#include "ep_world.h"

static struct fi_provider prov = {.name = "test"};

void ep_world_open(struct ep_world *w, enum fi_ep_type type, uint64_t caps)
{
	struct fi_cq_attr cq_attr = {.size = 16, .format = FI_CQ_FORMAT_TAGGED};
	struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
	struct fi_info *info = fi_allocinfo();

	ep_world_close(w);
	memset(w, 0, sizeof(*w));
	info->caps = caps;
	info->ep_attr->type = type;
	info->tx_attr->size = EP_TX_SIZE;
	info->tx_attr->op_flags = FI_COMPLETION;
	info->rx_attr->size = EP_RX_SIZE;
	info->rx_attr->op_flags = FI_MULTI_RECV;
	crn_ep_init(&w->ep, &w->fabric, &w->domain, info);
	fi_freeinfo(info);
	CT_EXPECT_EQ(crn_cq_init(&w->cq, &w->domain, &cq_attr, true, NULL), 0);
	CT_EXPECT_EQ(crn_cntr_init(&w->cntr, NULL, NULL, NULL), 0);
	w->cntr.domain = &w->domain;
	CT_EXPECT_EQ(crn_eq_init(&w->eq, &prov, NULL, NULL, NULL), 0);
	w->eq.fabric = &w->fabric;
	CT_EXPECT_EQ(crn_av_init(&w->av, &w->domain, &av_attr, FI_SOCKADDR_IN, true,
				 NULL),
		     0);
}

void ep_world_close(struct ep_world *w)
{
	if (!w->av.fid.fid.fclass)
		return;
	crn_ep_fini(&w->ep);
	CT_EXPECT_EQ(fi_close(&w->cq.fid.fid), 0);
	CT_EXPECT_EQ(fi_close(&w->cntr.fid.fid), 0);
	CT_EXPECT_EQ(fi_close(&w->eq.fid.fid), 0);
	CT_EXPECT_EQ(fi_close(&w->av.fid.fid), 0);
}

int bind_cq(struct ep_world *w, uint64_t flags)
{
	return crn_ep_bind(&w->ep, &w->cq.fid.fid, flags);
}

int bind_cntr(struct ep_world *w, uint64_t flags)
{
	return crn_ep_bind(&w->ep, &w->cntr.fid.fid, flags);
}

int bind_eq(struct ep_world *w, uint64_t flags)
{
	return crn_ep_bind(&w->ep, &w->eq.fid.fid, flags);
}

int bind_av(struct ep_world *w, uint64_t flags)
{
	return crn_ep_bind(&w->ep, &w->av.fid.fid, flags);
}

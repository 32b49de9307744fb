/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <rdma/fi_ext_cairn.h>
#include "world.h"

static const struct pvb_params default_params = {
	.tx_size = 256,
	.rx_size = 256,
	.inject_size = 64,
	.resolve_timeout = 2000,
	.join_timeout = 20000,
	.retry_count = 6,
	.rnr_retry_count = 7,
	.close_timeout = 2000,
	.gid_index = -1,
	.traffic_class = -1,
	.fence = PVB_FENCE_AUTO,
	.ack_timeout = -1,
	.rnr_timer = -1,
};

void world_fresh(struct world *w)
{
	world_reset();
}

void world_renew(struct world *w)
{
	world_close(w);
	world_reset();
}

bool world_reopen_domain(struct world *w, const struct world_opts *opts)
{
	world_renew(w);
	return world_open_domain(w, opts);
}

bool world_reopen(struct world *w, const struct world_opts *opts)
{
	world_renew(w);
	return world_open(w, opts);
}

bool world_reopen_connected(struct world *w, const struct world_opts *opts)
{
	world_renew(w);
	return world_open_connected(w, opts);
}

void world_start(struct world *w)
{
	world_reset();
	CT_ASSERT_TRUE(world_open(w, NULL));
}

void world_start_domain(struct world *w)
{
	world_reset();
	CT_ASSERT_TRUE(world_open_domain(w, NULL));
}

void world_start_connected(struct world *w)
{
	world_reset();
	CT_ASSERT_TRUE(world_open_connected(w, NULL));
}

void world_reset(void)
{
	fake_call_reset();
	fake_verbs_reset();
	fake_cm_reset();
	pvb_params = default_params;
	fake_add_addr(WORLD_ADDR, &fake_devices[0], 1, IFF_UP);
	fake_add_route(WORLD_PEER, WORLD_ADDR);
}

static void pass_a_millisecond(void *arg)
{
	ct_time_pass(1);
}

void world_polls_take_time(void)
{
	ct_time_stop();
	fake_devices[0].poll_hook = pass_a_millisecond;
}

struct pvb_ep *ep_of(struct fid_ep *ep)
{
	return crn_container_of(ep, struct pvb_ep, fid);
}

struct pvb_cq *cq_of(struct fid_cq *cq)
{
	return crn_container_of(cq, struct pvb_cq, fid);
}

struct fake_qp *qp_of(struct fid_ep *ep)
{
	return crn_container_of(ep_of(ep)->qp.ibv, struct fake_qp, ibv);
}

enum pvb_conn_state state_of(struct fid_ep *ep)
{
	return ep_of(ep)->conn.state;
}

struct fi_info *world_info(uint32_t api_version, const struct world_opts *opts)
{
	static const struct world_opts none;
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	opts = opts ? opts : &none;
	hints->caps = opts->caps ? opts->caps : FI_MSG | FI_RMA;
	hints->mode = CRN_LOCAL_MR | FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_VERSION_LT(api_version, FI_VERSION(1, 5))
					      ? CRN_MR_BASIC
					      : FI_MR_LOCAL | FI_MR_ALLOCATED |
							FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->domain_attr->threading = opts->threading;
	hints->tx_attr->size = opts->tx_size ? opts->tx_size : 8;
	hints->rx_attr->size = opts->rx_size ? opts->rx_size : 8;
	hints->tx_attr->inject_size = opts->inject_size;
	hints->tx_attr->op_flags = opts->tx_op_flags;
	hints->rx_attr->op_flags = opts->rx_op_flags;
	hints->tx_attr->msg_order = opts->msg_order;
	CT_EXPECT_EQ(pvb_getinfo(api_version, WORLD_PEER, "7471", 0, hints, &info), 0);
	fi_freeinfo(hints);
	return info;
}

bool world_open_domain(struct world *w, const struct world_opts *opts)
{
	static const struct world_opts none;
	struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_DATA};
	uint32_t version;

	opts = opts ? opts : &none;
	version = opts->api_version ? opts->api_version : FI_VERSION(1, 17);
	*w = (struct world){.tx_size = opts->tx_size ? opts->tx_size : 8,
			    .rx_size = opts->rx_size ? opts->rx_size : 8};
	w->info = world_info(version, opts);
	if (!w->info)
		return false;
	if (opts->format)
		cq_attr.format = opts->format;
	cq_attr.wait_obj = opts->wait_obj;
	cq_attr.size = opts->cq_size;
	CT_EXPECT_EQ(pvb_fabric_open(w->info->fabric_attr, &w->fabric, NULL), 0);
	CT_EXPECT_EQ(fi_domain(w->fabric, w->info, &w->domain, NULL), 0);
	CT_EXPECT_EQ(fi_eq_open(w->fabric, NULL, &w->eq, NULL), 0);
	if (w->domain)
		CT_EXPECT_EQ(fi_cq_open(w->domain, &cq_attr, &w->cq, NULL), 0);
	return !ct_failed();
}

bool world_swap_eq(struct world *w, struct fi_eq_attr *attr)
{
	CT_EXPECT_EQ(fi_close(&w->eq->fid), 0);
	w->eq = NULL;
	CT_EXPECT_EQ(fi_eq_open(w->fabric, attr, &w->eq, NULL), 0);
	return !ct_failed();
}

bool world_swap_cq(struct world *w, struct fi_cq_attr *attr)
{
	CT_EXPECT_EQ(fi_close(&w->cq->fid), 0);
	w->cq = NULL;
	CT_EXPECT_EQ(fi_cq_open(w->domain, attr, &w->cq, NULL), 0);
	return !ct_failed();
}

bool world_new_ep(struct world *w, struct fid_ep **ep)
{
	*ep = NULL;
	CT_EXPECT_EQ(fi_endpoint(w->domain, w->info, ep, NULL), 0);
	if (!*ep)
		return false;
	CT_EXPECT_EQ(fi_ep_bind(*ep, &w->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(*ep, &w->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	return !ct_failed();
}

void world_forget_src(struct world *w)
{
	free(w->info->src_addr);
	w->info->src_addr = NULL;
	w->info->src_addrlen = 0;
}

void world_forget_dest(struct world *w)
{
	free(w->info->dest_addr);
	w->info->dest_addr = NULL;
	w->info->dest_addrlen = 0;
}

bool world_add_ep(struct world *w, const struct world_opts *opts, struct fid_ep **ep)
{
	uint64_t flags = FI_TRANSMIT | FI_RECV | (opts ? opts->cq_flags : 0);

	*ep = NULL;
	CT_EXPECT_EQ(fi_endpoint(w->domain, w->info, ep, NULL), 0);
	if (!*ep)
		return false;
	CT_EXPECT_EQ(fi_ep_bind(*ep, &w->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(*ep, &w->cq->fid, flags), 0);
	CT_EXPECT_EQ(fi_enable(*ep), 0);
	return !ct_failed();
}

bool world_open(struct world *w, const struct world_opts *opts)
{
	if (!world_open_domain(w, opts) || !world_add_ep(w, opts, &w->ep))
		return false;
	w->qp = qp_of(w->ep);
	return true;
}

bool world_connect(struct world *w, struct fid_ep *ep)
{
	struct rdma_cm_id *id;

	CT_EXPECT_EQ(fi_connect(ep, NULL, NULL, 0), 0);
	id = ep_of(ep)->conn.id;
	if (!id)
		return false;
	fake_id_device(id, &fake_devices[0]);
	fake_event(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	fake_event(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	fake_event(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, NULL, 0);
	expect_event(w->eq, FI_CONNECTED, &ep->fid, NULL, 0);
	return !ct_failed();
}

bool world_open_connected(struct world *w, const struct world_opts *opts)
{
	if (!world_open(w, opts) || !world_connect(w, w->ep))
		return false;
	w->id = ep_of(w->ep)->conn.id;
	return true;
}

void world_close_ep(struct world *w)
{
	close_object(w->ep);
	w->qp = NULL;
}

void world_close(struct world *w)
{
	world_close_ep(w);
	close_object(w->pep);
	close_object(w->cq);
	close_object(w->eq);
	close_object(w->domain);
	close_object(w->fabric);
	fi_freeinfo(w->info);
	w->info = NULL;
	fi_freeinfo(w->request);
	w->request = NULL;
	CT_EXPECT_EQ(fake_objects, 0);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <net/if.h>
#include "world_dgram.h"

static const uint8_t own_gid[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1};

void dgram_reset(bool ib)
{
	struct fake_device *device = &fake_devices[0];

	world_reset();
	memcpy(device->gid[1].gid.raw, own_gid, sizeof(own_gid));
	device->gid[1].gid_type = ib ? IBV_GID_TYPE_IB : IBV_GID_TYPE_ROCE_V2;
	device->pkey[0] = 0xffff;
	for (int i = 0; i < FAKE_PORTS; i++) {
		device->port[i].active_mtu = IBV_MTU_1024;
		device->port[i].gid_tbl_len = FAKE_GIDS;
		device->port[i].pkey_tbl_len = FAKE_PKEYS;
		if (!ib)
			continue;
		device->port[i].link_layer = IBV_LINK_LAYER_INFINIBAND;
		device->port[i].lid = DGRAM_LID;
	}
}

struct fi_info *dgram_info(const struct dgram_opts *opts)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->caps = opts->caps ? opts->caps : FI_MSG;
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->domain_attr->mr_mode = FI_MR_LOCAL;
	hints->tx_attr->size = opts->tx_size ? opts->tx_size : 8;
	hints->rx_attr->size = 8;
	hints->tx_attr->inject_size = opts->inject_size;
	hints->mode = opts->prefix ? FI_MSG_PREFIX : 0;
	hints->ep_attr->msg_prefix_size = opts->prefix;
	if (opts->shared)
		hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), 0);
	fi_freeinfo(hints);
	return info;
}

bool dgram_open_domain(struct dgram_world *w, const struct dgram_opts *opts)
{
	static const struct dgram_opts none;
	struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_DATA};
	struct fi_av_attr av_attr = {.type = FI_AV_TABLE};

	opts = opts ? opts : &none;
	dgram_close(w);
	dgram_reset(opts->ib);
	w->info = dgram_info(opts);
	if (!w->info)
		return false;
	if (opts->arrange)
		opts->arrange();
	CT_EXPECT_EQ(pvb_fabric_open(w->info->fabric_attr, &w->fabric, NULL), 0);
	CT_EXPECT_EQ(fi_domain(w->fabric, w->info, &w->domain, NULL), 0);
	if (!w->domain)
		return false;
	CT_EXPECT_EQ(fi_av_open(w->domain, &av_attr, &w->av, NULL), 0);
	CT_EXPECT_EQ(fi_cq_open(w->domain, &cq_attr, &w->cq, NULL), 0);
	if (opts->shared)
		CT_EXPECT_EQ(fi_srx_context(w->domain, w->info->rx_attr, &w->srx, NULL),
			     0);
	w->peer = dgram_insert(w, 1);
	return !ct_failed();
}

static bool new_ep(struct dgram_world *w, uint64_t flags)
{
	CT_EXPECT_EQ(fi_endpoint(w->domain, w->info, &w->ep, NULL), 0);
	if (!w->ep)
		return false;
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->cq->fid, FI_TRANSMIT | FI_RECV | flags), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->av->fid, 0), 0);
	return !ct_failed();
}

bool dgram_new_ep(struct dgram_world *w)
{
	return new_ep(w, 0);
}

bool dgram_open(struct dgram_world *w, const struct dgram_opts *opts)
{
	if (!dgram_open_domain(w, opts) || !new_ep(w, opts ? opts->cq_flags : 0))
		return false;
	if (w->srx)
		CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->srx->fid, 0), 0);
	CT_EXPECT_EQ(fi_enable(w->ep), 0);
	if (!ct_failed())
		w->qp = qp_of(w->ep);
	return !ct_failed();
}

void dgram_start(struct dgram_world *w)
{
	CT_ASSERT_TRUE(dgram_open(w, NULL));
}

void dgram_start_domain(struct dgram_world *w)
{
	CT_ASSERT_TRUE(dgram_open_domain(w, NULL));
}

void dgram_close_ep(struct dgram_world *w)
{
	close_object(w->ep);
	w->qp = NULL;
}

void dgram_close(struct dgram_world *w)
{
	dgram_close_ep(w);
	close_object(w->srx);
	close_object(w->cq);
	close_object(w->av);
	close_object(w->domain);
	close_object(w->fabric);
	fi_freeinfo(w->info);
	w->info = NULL;
	CT_EXPECT_EQ(fake_objects, 0);
}

struct pvb_ud_addr dgram_addr(const struct dgram_world *w, unsigned int number)
{
	struct pvb_ud_addr addr = {
		.gid = {[10] = 0xff,
			0xff,
			10,
			0,
			(uint8_t)(1 + (number >> 8)),
			(uint8_t)number},
		.qpn = 0x500 + number,
		.pkey = 0xffff,
	};

	if (fake_devices[0].port[0].link_layer == IBV_LINK_LAYER_INFINIBAND)
		addr.lid = (uint16_t)(0x100 + number);
	return addr;
}

fi_addr_t dgram_insert(struct dgram_world *w, unsigned int number)
{
	const struct pvb_ud_addr addr = dgram_addr(w, number);
	fi_addr_t fi_addr = FI_ADDR_NOTAVAIL;

	CT_EXPECT_EQ(fi_av_insert(w->av, &addr, 1, &fi_addr, 0, NULL), 1);
	return fi_addr;
}

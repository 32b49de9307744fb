/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/attr.h>
#include <cairn/compat.h>
#include "attr_world.h"

static const struct fi_provider prov = {.name = "test"};

static const uint64_t msg_caps = FI_MSG | FI_SEND | FI_RECV;
static const uint64_t rma_caps =
	FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
static const uint64_t comm_caps = FI_LOCAL_COMM | FI_REMOTE_COMM;

static struct fi_info *make_offer(void)
{
	struct fi_info *info = fi_allocinfo();

	info->caps = msg_caps | rma_caps | comm_caps | FI_FENCE;
	info->addr_format = FI_SOCKADDR_IN;

	info->tx_attr->caps = FI_MSG | FI_SEND | FI_RMA | FI_READ | FI_WRITE | FI_FENCE;
	info->tx_attr->op_flags = FI_COMPLETION | FI_INJECT | FI_TRANSMIT_COMPLETE;
	info->tx_attr->msg_order =
		FI_ORDER_SAS | FI_ORDER_RAW | FI_ORDER_WAW | FI_ORDER_RMA_WAW;
	info->tx_attr->comp_order = CRN_ORDER_STRICT;
	info->tx_attr->inject_size = 101;
	info->tx_attr->size = 102;
	info->tx_attr->iov_limit = 103;
	info->tx_attr->rma_iov_limit = 104;

	info->rx_attr->caps =
		FI_MSG | FI_RECV | FI_RMA | FI_REMOTE_READ | FI_REMOTE_WRITE;
	info->rx_attr->mode = FI_RX_CQ_DATA;
	info->rx_attr->op_flags = FI_COMPLETION;
	info->rx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_WAW;
	info->rx_attr->comp_order = CRN_ORDER_STRICT | CRN_ORDER_DATA;
	info->rx_attr->size = 201;
	info->rx_attr->iov_limit = 202;

	info->ep_attr->type = FI_EP_MSG;
	info->ep_attr->protocol = FI_PROTO_RDMA_CM_IB_RC;
	info->ep_attr->protocol_version = 3;
	info->ep_attr->max_msg_size = 301;
	info->ep_attr->msg_prefix_size = 40;
	info->ep_attr->max_order_raw_size = 302;
	info->ep_attr->max_order_war_size = 303;
	info->ep_attr->max_order_waw_size = 304;
	info->ep_attr->tx_ctx_cnt = 1;
	info->ep_attr->rx_ctx_cnt = 1;

	info->domain_attr->name = strdup("device0");
	info->domain_attr->threading = FI_THREAD_SAFE;
	info->domain_attr->control_progress = FI_PROGRESS_AUTO;
	info->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	info->domain_attr->resource_mgmt = FI_RM_ENABLED;
	info->domain_attr->av_type = FI_AV_UNSPEC;
	info->domain_attr->mr_key_size = 8;
	info->domain_attr->cq_data_size = 4;
	info->domain_attr->cq_cnt = 401;
	info->domain_attr->ep_cnt = 402;
	info->domain_attr->tx_ctx_cnt = 403;
	info->domain_attr->rx_ctx_cnt = 404;
	info->domain_attr->max_ep_tx_ctx = 5;
	info->domain_attr->max_ep_rx_ctx = 6;
	info->domain_attr->max_ep_stx_ctx = 0;
	info->domain_attr->max_ep_srx_ctx = 7;
	info->domain_attr->cntr_cnt = 405;
	info->domain_attr->mr_iov_limit = 9;
	info->domain_attr->caps = comm_caps;
	info->domain_attr->max_err_data = 406;
	info->domain_attr->mr_cnt = 407;

	info->fabric_attr->name = strdup("fabric0");
	return info;
}

void attr_begin(struct attr_scene *s)
{
	attr_end(s);
	s->offer = make_offer();
	s->hints = fi_allocinfo();
}

void attr_end(struct attr_scene *s)
{
	fi_freeinfo(s->offer);
	fi_freeinfo(s->hints);
	fi_freeinfo(s->answer);
	memset(s, 0, sizeof(*s));
}

int ask_with(struct attr_scene *s, const struct fi_info *hints)
{
	int ret = crn_attr_check(&prov, ATTR_API, s->offer, hints);
	struct fi_info *before = s->answer;

	s->answer = NULL;
	if (!ret) {
		s->answer = fi_dupinfo(s->offer);
		crn_attr_apply(s->answer, ATTR_API, hints, 0);
	}
	fi_freeinfo(before);
	return ret;
}

int ask(struct attr_scene *s)
{
	return ask_with(s, s->hints);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_getinfo of the scripted provider: one offer, which the test may change. */
#include <stdlib.h>
#include <string.h>
#include <cairn/attr.h>
#include "cairn_test.h"
#include "world.h"

#define SCR_CAPS                                                                 \
	(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_RECV | FI_READ | \
	 FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_RMA_EVENT)
#define SCR_ORDER                                                                   \
	(FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | FI_ORDER_WAR | FI_ORDER_WAW | \
	 FI_ORDER_WAS | FI_ORDER_SAR | FI_ORDER_SAW | FI_ORDER_SAS)
#define SCR_MOST 1024 /* objects of a kind */

static struct fi_info *offer;
static size_t cm_data_size;

static void offer_directions(struct fi_info *info)
{
	*info->tx_attr = (struct fi_tx_attr){
		.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_READ |
			FI_WRITE,
		.op_flags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE |
			    FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE,
		.msg_order = SCR_ORDER,
		.comp_order = CRN_ORDER_STRICT,
		.inject_size = 64,
		.size = 256,
		.iov_limit = SCR_IOV_LIMIT,
		.rma_iov_limit = 1,
	};
	*info->rx_attr = (struct fi_rx_attr){
		.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RECV |
			FI_REMOTE_READ | FI_REMOTE_WRITE | FI_RMA_EVENT,
		.op_flags = FI_COMPLETION,
		.msg_order = SCR_ORDER,
		.comp_order = CRN_ORDER_STRICT | CRN_ORDER_DATA,
		.size = 256,
		.iov_limit = SCR_IOV_LIMIT,
	};
}

static void offer_limits(struct fi_info *info)
{
	struct fi_domain_attr *domain = info->domain_attr;
	struct fi_ep_attr *ep = info->ep_attr;

	ep->type = FI_EP_MSG;
	ep->protocol = FI_PROTO_UNSPEC;
	ep->protocol_version = 1;
	ep->max_msg_size = 1 << 30;
	ep->max_order_raw_size = ep->max_msg_size;
	ep->max_order_war_size = ep->max_msg_size;
	ep->max_order_waw_size = ep->max_msg_size;
	ep->tx_ctx_cnt = 1;
	ep->rx_ctx_cnt = 1;

	domain->threading = FI_THREAD_SAFE;
	domain->control_progress = FI_PROGRESS_AUTO;
	domain->data_progress = FI_PROGRESS_AUTO;
	domain->resource_mgmt = FI_RM_ENABLED;
	domain->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	domain->mr_key_size = sizeof(uint64_t);
	domain->cq_data_size = sizeof(uint64_t);
	domain->cq_cnt = domain->cntr_cnt = domain->ep_cnt = SCR_MOST;
	domain->tx_ctx_cnt = domain->rx_ctx_cnt = SCR_MOST;
	domain->max_ep_tx_ctx = domain->max_ep_rx_ctx = 1;
	domain->max_ep_srx_ctx = SCR_MOST;
	domain->mr_iov_limit = 1;
	domain->mr_cnt = SCR_MOST;
	domain->caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
}

void scr_offer_reset(void)
{
	struct fi_info *info = fi_allocinfo();

	CT_ASSERT_NE(info, NULL);
	info->caps = SCR_CAPS | FI_LOCAL_COMM | FI_REMOTE_COMM;
	info->addr_format = FI_SOCKADDR_IN;
	offer_directions(info);
	offer_limits(info);
	info->fabric_attr->name = strdup(SCR_FABRIC_NAME);
	info->domain_attr->name = strdup(SCR_DOMAIN_NAME);
	info->fabric_attr->prov_version = scr_prov.version;
	scr_lock();
	if (offer)
		fi_freeinfo(offer);
	offer = info;
	cm_data_size = 32;
	scr_unlock();
}

__attribute__((destructor)) static void offer_end(void)
{
	if (offer)
		fi_freeinfo(offer);
	offer = NULL;
}

struct fi_info *scr_offer(void)
{
	return offer;
}

void scr_cm_data_size(size_t size)
{
	scr_lock();
	cm_data_size = CRN_MIN(size, (size_t)SCR_CM_DATA_MAX);
	scr_unlock();
}

size_t scr_cm_data_limit(void)
{
	size_t size;

	scr_lock();
	size = cm_data_size;
	scr_unlock();
	return size;
}

/* A copy of addr, or, if it is NULL, of the one address of this world with any port. */
static int set_addr(void **to, size_t *len, const void *addr)
{
	struct sockaddr_in home = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	*to = crn_addr_dup(addr ? addr : (const void *)&home);
	*len = sizeof(struct sockaddr_in);
	return *to ? 0 : -FI_ENOMEM;
}

static int set_addrs(struct fi_info *info, const char *node, const char *service,
		     uint64_t flags, const struct fi_info *hints)
{
	const bool source = flags & FI_SOURCE;
	const void *src = hints ? hints->src_addr : NULL;
	const void *dest = hints ? hints->dest_addr : NULL;
	union crn_addr asked;
	int ret;

	if (node || service) {
		ret = crn_addr_resolve(node, service, AF_INET, source, true, &asked);
		if (ret)
			return ret;
		if (source)
			src = &asked;
		else
			dest = &asked;
	}
	ret = set_addr(&info->src_addr, &info->src_addrlen, src);
	if (!ret && dest)
		ret = set_addr(&info->dest_addr, &info->dest_addrlen, dest);
	return ret;
}

int scr_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **result)
{
	const int *hinted =
		hints && hints->domain_attr ? &hints->domain_attr->mr_mode : NULL;
	struct fi_info *info = NULL;
	int ret = scr_enter(&(struct scr_record){.call = SCR_GETINFO, .flags = flags});
	int mr_mode;

	if (ret)
		return ret;
	scr_lock();
	if (offer)
		info = fi_dupinfo(offer);
	scr_unlock();
	if (!info)
		return offer ? -FI_ENOMEM : -FI_ENODATA;
	ret = crn_attr_check(&scr_prov, version, info, hints);
	if (!ret)
		ret = crn_attr_mr_mode(version, hinted, hints ? hints->mode : 0,
				       crn_attr_mr_required(info->domain_attr->mr_mode,
							    crn_attr_caps(info, hints)),
				       &mr_mode);
	if (!ret) {
		crn_attr_apply(info, version, hints, mr_mode);
		ret = set_addrs(info, node, service, flags, hints);
	}
	if (ret) {
		fi_freeinfo(info);
		return ret;
	}
	*result = info;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_getinfo(3): what of the lower provider passes, what the layer uses up, and what is
 * its own. The rpc mode is an info with a protocol of its own.
 */
#include <stdlib.h>
#include <string.h>
#include "objects.h"

#define INFO_MSG (FI_MSG | FI_SEND | FI_RECV)
#define INFO_RMA (FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)

#define INFO_RMA_ORDER                                                              \
	(FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | FI_ORDER_WAR | FI_ORDER_WAW | \
	 FI_ORDER_WAS | FI_ORDER_SAR | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW |        \
	 FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW)
/* A Reply is behind the RDMA Writes of its results, and messages are in order. */
#define INFO_ORDER (FI_ORDER_SAS | FI_ORDER_SAW)

#define INFO_OP_FLAGS                                                            \
	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
	 FI_DELIVERY_COMPLETE | FI_MORE)

/* Without FI_MR_ENDPOINT: no endpoint of the layer's can be bound to a region. */
#define INFO_MR_MODE                                                                  \
	(CRN_MR_BASIC | CRN_MR_SCALABLE | FI_MR_LOCAL | FI_MR_RAW | FI_MR_VIRT_ADDR | \
	 FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_MMU_NOTIFY | FI_MR_HMEM)

/* Rows whose value is a parameter are filled in by rpr_info_setup. */
enum {
	ROW_MAX_MSG_SIZE,
	ROW_LOWER_RX_SIZE,
	ROW_PARAMETERS,
};

static struct crn_lower_row info_table[] = {
	[ROW_MAX_MSG_SIZE] = {CRN_LOWER_MAX_MSG_SIZE, CRN_LOWER_OWN, 0},
	/* A receive for each Call of the peer and each Reply. */
	[ROW_LOWER_RX_SIZE] = {CRN_LOWER_RX_SIZE, CRN_LOWER_NEED, 0},
	{CRN_LOWER_TX_SIZE, CRN_LOWER_OWN, RPR_SIZE_MAX},
	{CRN_LOWER_RX_SIZE, CRN_LOWER_OWN, RPR_SIZE_MAX},
	{CRN_LOWER_CAPS, CRN_LOWER_PASS,
	 INFO_MSG | INFO_RMA | FI_RMA_PMEM | FI_LOCAL_COMM | FI_REMOTE_COMM},
	{CRN_LOWER_CAPS, CRN_LOWER_NEED, INFO_MSG | INFO_RMA},
	{CRN_LOWER_MODE, CRN_LOWER_PASS, CRN_LOCAL_MR},
	/* Data for completion queues travel in Calls. */
	{CRN_LOWER_MODE, CRN_LOWER_NEED, FI_RX_CQ_DATA},
	{CRN_LOWER_OP_FLAGS, CRN_LOWER_OWN, INFO_OP_FLAGS},
	{CRN_LOWER_MSG_ORDER, CRN_LOWER_PASS, INFO_ORDER | INFO_RMA_ORDER},
	{CRN_LOWER_MSG_ORDER, CRN_LOWER_NEED, INFO_ORDER},
	{CRN_LOWER_MR_MODE, CRN_LOWER_PASS, INFO_MR_MODE},
	{CRN_LOWER_INJECT_SIZE, CRN_LOWER_OWN, RPR_INJECT_SIZE},
	{CRN_LOWER_CQ_DATA_SIZE, CRN_LOWER_OWN, 8},
};

struct crn_lower_layer rpr_layer = {
	.prov = &rpr_prov,
	.lower = &rpr_params.lower,
	.table = info_table,
	.rows = CRN_COUNT(info_table),
	/* Over pverbs there are 20 bytes of connection data, and ofi_rxm needs 24. */
	.rdm_hint =
		"put ofi_rxm above the lower provider for FI_EP_RDM, not above rpcrdma",
};

void rpr_info_setup(void)
{
	info_table[ROW_MAX_MSG_SIZE].value =
		CRN_MAX(rpr_params.max_wrap, rpr_params.max_rpc);
	info_table[ROW_LOWER_RX_SIZE].value = 2 * rpr_params.credits + 2;
}

enum rpr_mode rpr_info_mode(const struct fi_info *info)
{
	return info->ep_attr->protocol == FI_PROTO_CAIRN_RPC ? RPR_MODE_RPC
							     : RPR_MODE_WRAP;
}

/* What the hints are about; 0: nothing that the provider has. */
static enum rpr_mode info_wished(const struct fi_info *hints)
{
	const uint32_t protocol =
		hints && hints->ep_attr ? hints->ep_attr->protocol : FI_PROTO_UNSPEC;

	if (protocol == FI_PROTO_CAIRN_RPC)
		return rpr_params.mode == RPR_WORD_WRAP ? 0 : RPR_MODE_RPC;
	if (protocol != FI_PROTO_UNSPEC)
		return rpr_params.mode == RPR_WORD_RPC ? 0 : RPR_MODE_WRAP;
	return rpr_params.mode == RPR_WORD_RPC ? RPR_MODE_RPC : RPR_MODE_WRAP;
}

/* An answer of wrap mode, which crn_lower gives, becomes one of rpc mode. */
static void info_rpc(struct fi_info *info)
{
	info->caps &= ~(INFO_RMA | FI_RMA_PMEM);
	info->tx_attr->caps &= ~(INFO_RMA | FI_RMA_PMEM);
	info->rx_attr->caps &= ~(INFO_RMA | FI_RMA_PMEM);
	info->tx_attr->msg_order = 0;
	info->rx_attr->msg_order = 0;
	info->ep_attr->protocol = FI_PROTO_CAIRN_RPC;
	info->ep_attr->protocol_version = RPR_VERSION;
	info->ep_attr->max_msg_size =
		CRN_MIN(info->ep_attr->max_msg_size, rpr_params.max_rpc);
	info->domain_attr->cq_data_size = 0;
	/* Calls outstanding. */
	info->tx_attr->size = CRN_MIN(info->tx_attr->size, rpr_params.credits);
}

static void info_wrap(struct fi_info *info)
{
	info->ep_attr->max_msg_size =
		CRN_MIN(info->ep_attr->max_msg_size, rpr_params.max_wrap);
}

void rpr_info_request(struct fi_info *info, enum rpr_mode mode)
{
	info->tx_attr->iov_limit =
		CRN_MIN(info->tx_attr->iov_limit, (size_t)RPR_IOV_LIMIT);
	info->rx_attr->iov_limit =
		CRN_MIN(info->rx_attr->iov_limit, (size_t)RPR_IOV_LIMIT);
	if (mode == RPR_MODE_RPC)
		info_rpc(info);
	else
		info_wrap(info);
}

static bool info_rpc_can(const struct fi_info *hints)
{
	if (!hints)
		return true;
	return !(hints->caps & (INFO_RMA | FI_RMA_PMEM)) &&
	       (!hints->ep_attr || hints->ep_attr->max_msg_size <= rpr_params.max_rpc) &&
	       (!hints->tx_attr || !hints->tx_attr->msg_order) &&
	       (!hints->rx_attr || !hints->rx_attr->msg_order);
}

/* Hints without the protocol, which is the layer's own, and with its name: who asks for
 * the protocol asks for it. NULL: no memory. */
static struct fi_info *info_hints(const struct fi_info *hints)
{
	struct fi_info *copy = fi_dupinfo(hints);

	if (!copy)
		return NULL;
	copy->ep_attr->protocol = FI_PROTO_UNSPEC;
	copy->ep_attr->protocol_version = 0;
	/* The lower provider's are not asked for one mode of the layer's. */
	copy->handle = hints->handle;
	if (!copy->fabric_attr)
		copy->fabric_attr = calloc(1, sizeof(*copy->fabric_attr));
	if (copy->fabric_attr && !copy->fabric_attr->prov_name)
		copy->fabric_attr->prov_name = strdup(RPR_NAME);
	if (copy->fabric_attr && copy->fabric_attr->prov_name)
		return copy;
	fi_freeinfo(copy);
	return NULL;
}

static int info_ask(uint32_t version, const char *node, const char *service,
		    uint64_t flags, const struct fi_info *hints, struct fi_info **info)
{
	struct fi_info *own;
	int ret;

	if (!hints || !hints->ep_attr || hints->ep_attr->protocol != FI_PROTO_CAIRN_RPC)
		return crn_lower_getinfo(&rpr_layer, version, node, service, flags, hints,
					 info);
	own = info_hints(hints);
	if (!own)
		return -FI_ENOMEM;
	ret = crn_lower_getinfo(&rpr_layer, version, node, service, flags, own, info);
	fi_freeinfo(own);
	return ret;
}

/* No wish is a size that does for most. */
static void info_sizes(struct fi_info *info, const struct fi_info *hints)
{
	if (!hints || !hints->tx_attr || !hints->tx_attr->size)
		info->tx_attr->size = RPR_SIZE;
	if (!hints || !hints->rx_attr || !hints->rx_attr->size)
		info->rx_attr->size = RPR_SIZE;
}

/* With orders that the layer needs, and the program did not ask for, others may go. */
static bool info_order_sizes(const struct fi_info *info, const struct fi_info *hints)
{
	const struct fi_ep_attr *has = info->ep_attr, *asked;

	if (!hints || !hints->ep_attr)
		return true;
	asked = hints->ep_attr;
	return asked->max_order_raw_size <= has->max_order_raw_size &&
	       asked->max_order_war_size <= has->max_order_war_size &&
	       asked->max_order_waw_size <= has->max_order_waw_size;
}

int rpr_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info)
{
	const enum rpr_mode mode = info_wished(hints);
	struct fi_info *one;
	int ret;

	*info = NULL;
	if (!mode || (mode == RPR_MODE_RPC && !info_rpc_can(hints)))
		return -FI_ENODATA;
	ret = info_ask(version, node, service, flags, hints, info);
	for (one = *info; !ret && one; one = one->next) {
		info_sizes(one, hints);
		rpr_info_request(one, mode);
		ret = info_order_sizes(one, hints) ? 0 : -FI_ENODATA;
	}
	if (ret && *info) {
		fi_freeinfo(*info);
		*info = NULL;
	}
	return ret;
}

int rpr_info_down(struct rpr_fabric *fabric, const struct fi_info *info,
		  struct fi_info **lower)
{
	struct fi_info *plain = fi_dupinfo(info);
	int ret;

	if (!plain)
		return -FI_ENOMEM;
	/* Receives are the layer's, shared or not; so is the protocol of rpc mode. */
	plain->ep_attr->rx_ctx_cnt = 0;
	if (plain->ep_attr->protocol == FI_PROTO_CAIRN_RPC) {
		plain->ep_attr->protocol = FI_PROTO_UNSPEC;
		plain->ep_attr->protocol_version = 0;
	}
	ret = crn_lower_info(&fabric->lower, plain, lower);
	fi_freeinfo(plain);
	return ret;
}

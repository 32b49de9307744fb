/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_getinfo(3): one answer for each routable device of the configuration. */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <cairn/attr.h>
#include <cairn/lower.h>
#include "addr/addr.h"
#include "info.h"
#include "xfer/xfer.h"

#define INFO_TX_CAPS (FI_MSG | FI_RMA | FI_SEND | FI_READ | FI_WRITE | FI_FENCE)
#define INFO_RX_CAPS (FI_MSG | FI_RMA | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define INFO_CAPS (INFO_TX_CAPS | INFO_RX_CAPS | FI_LOCAL_COMM | FI_REMOTE_COMM)

#define INFO_OP_FLAGS                                                            \
	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
	 FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE)

/*
 * Requests arrive in the order of their lane, and each is placed whole before the next.
 * What a read answers is taken from memory later: writes behind it may be faster.
 */
#define INFO_ORDER                                                                  \
	(FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | FI_ORDER_WAW | FI_ORDER_WAS | \
	 FI_ORDER_SAW | FI_ORDER_SAS | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW |        \
	 FI_ORDER_RMA_WAW)

/* Of whatever is only memory. */
#define INFO_MANY 65536u

struct info_question {
	uint32_t version;
	const struct fi_info *hints;
	const char *node, *service;
	uint64_t flags;
	const struct rte_config *config;
};

/* ---- the configuration ---- */

static int config_refused(const char *path, const struct rte_config_errors *errors)
{
	const struct rte_config_error *error = errors->error;

	if (!errors->count)
		RTE_INFO(FI_LOG_CORE, "FI_ROUTE_CONFIG: %s cannot be used\n", path);
	else
		RTE_INFO(FI_LOG_CORE,
			 "FI_ROUTE_CONFIG: %s:%u: %s%s%s; %u errors in all, which "
			 "\"fi_routectl check\" shows\n",
			 path, error->line, error->text, *error->hint ? ": " : "",
			 error->hint, errors->errors);
	return -FI_ENODATA;
}

int rte_info_config(struct rte_config **config)
{
	struct rte_config_errors *errors;
	int ret;

	*config = NULL;
	if (!rte_params.config || !*rte_params.config) {
		RTE_INFO(FI_LOG_CORE,
			 "FI_ROUTE_CONFIG names no configuration: see fi_route(7)\n");
		return -FI_ENODATA;
	}
	errors = calloc(1, sizeof(*errors));
	if (!errors)
		return -FI_ENOMEM;
	ret = rte_config_read(rte_params.config, config, errors);
	if (ret && ret != -FI_ENOMEM)
		ret = config_refused(rte_params.config, errors);
	free(errors);
	return ret;
}

/* ---- what a device offers ---- */

static void offer_queues(struct fi_info *info)
{
	*info->tx_attr = (struct fi_tx_attr){
		.caps = INFO_TX_CAPS,
		.op_flags = INFO_OP_FLAGS,
		.msg_order = INFO_ORDER,
		.comp_order = CRN_ORDER_STRICT,
		.inject_size = RTE_INJECT_SIZE,
		.size = RTE_SIZE_MAX,
		.iov_limit = RTE_VC_IOV,
		.rma_iov_limit = 1,
	};
	*info->rx_attr = (struct fi_rx_attr){
		.caps = INFO_RX_CAPS,
		.mode = FI_RX_CQ_DATA,
		.op_flags = FI_COMPLETION,
		.msg_order = INFO_ORDER,
		.comp_order = CRN_ORDER_STRICT | CRN_ORDER_DATA,
		.size = RTE_SIZE_MAX,
		.iov_limit = RTE_VC_IOV,
	};
}

static void offer_limits(struct fi_info *info)
{
	struct fi_ep_attr *ep = info->ep_attr;
	struct fi_domain_attr *domain = info->domain_attr;

	ep->type = FI_EP_MSG;
	ep->protocol = FI_PROTO_UNSPEC;
	ep->protocol_version = RTE_MAJOR;
	ep->max_msg_size = RTE_VC_MSG_MAX;
	ep->max_order_raw_size = RTE_VC_MSG_MAX;
	ep->max_order_waw_size = RTE_VC_MSG_MAX;
	ep->tx_ctx_cnt = 1;
	ep->rx_ctx_cnt = 1;
	domain->threading = FI_THREAD_SAFE;
	domain->control_progress = FI_PROGRESS_MANUAL;
	domain->data_progress = FI_PROGRESS_MANUAL;
	domain->resource_mgmt = FI_RM_ENABLED;
	domain->mr_key_size = sizeof(uint64_t);
	domain->cq_data_size = sizeof(uint64_t);
	domain->cq_cnt = INFO_MANY;
	domain->cntr_cnt = INFO_MANY;
	domain->ep_cnt = INFO_MANY;
	domain->tx_ctx_cnt = INFO_MANY;
	domain->rx_ctx_cnt = INFO_MANY;
	domain->max_ep_tx_ctx = 1;
	domain->max_ep_rx_ctx = 1;
	domain->mr_iov_limit = 1;
	domain->mr_cnt = INFO_MANY;
	domain->caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
}

/*
 * Keys of the provider's own, which nobody guesses, for who can do with them. Regions
 * begin at 0, but for programs that know only addresses (fi_mr(3): FI_MR_BASIC).
 */
static int offer_mr_mode(const struct info_question *question, const struct rte_net *net)
{
	const struct fi_info *hints = question->hints;
	const int hinted = hints && hints->domain_attr ? hints->domain_attr->mr_mode
						       : FI_MR_PROV_KEY;
	const bool old = FI_VERSION_LT(question->version, FI_VERSION(1, 5));
	const int local = net->info->domain_attr->mr_mode & FI_MR_LOCAL;

	if (hinted == CRN_MR_BASIC || (old && hinted != CRN_MR_SCALABLE))
		return local | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	return hinted == CRN_MR_SCALABLE ? local : local | (hinted & FI_MR_PROV_KEY);
}

/*
 * FI_RMA_PMEM (fi_getinfo(3)) is a secondary capability that belongs to FI_RMA: offered
 * only if the hints ask for both.
 */
static uint64_t offer_pmem(const struct fi_info *hints)
{
	const uint64_t both = FI_RMA | FI_RMA_PMEM;

	return hints && (hints->caps & both) == both ? FI_RMA_PMEM : 0;
}

static struct fi_info *offer_make(const struct info_question *question,
				  const struct rte_net *net)
{
	struct fi_info *info = fi_allocinfo();

	if (!info)
		return NULL;
	info->caps = INFO_CAPS | offer_pmem(question->hints);
	info->addr_format = FI_SOCKADDR_IN6;
	offer_queues(info);
	offer_limits(info);
	info->domain_attr->mr_mode = offer_mr_mode(question, net);
	info->fabric_attr->prov_version = RTE_PROV_VERSION;
	info->fabric_attr->name = strdup(RTE_NAME);
	info->domain_attr->name = strdup(net->device->name);
	if (info->fabric_attr->name && info->domain_attr->name)
		return info;
	fi_freeinfo(info);
	return NULL;
}

/*
 * A write with data takes a receive, whether the program expects that or not. One whose
 * hints have the mode, in the info or in rx_attr, gets it in both; others in rx_attr
 * alone: an info has no mode bit that the hints lack (fi_getinfo(3)).
 */
static void offer_cq_data(struct fi_info *info, const struct fi_info *hints)
{
	uint64_t able = hints ? hints->mode : FI_RX_CQ_DATA;

	if (hints && hints->rx_attr)
		able |= hints->rx_attr->mode;
	info->rx_attr->mode = 0;
	if (!(info->caps & FI_REMOTE_WRITE))
		return;
	info->rx_attr->mode = FI_RX_CQ_DATA;
	info->mode |= able & FI_RX_CQ_DATA;
}

/* Sizes that the hints leave open get small defaults. */
static void offer_defaults(struct fi_info *info, const struct fi_info *hints)
{
	if (!hints || !hints->tx_attr || !hints->tx_attr->size)
		info->tx_attr->size = RTE_SIZE;
	if (!hints || !hints->rx_attr || !hints->rx_attr->size)
		info->rx_attr->size = RTE_SIZE;
	if (!hints || !hints->tx_attr || !hints->tx_attr->op_flags)
		info->tx_attr->op_flags = FI_TRANSMIT_COMPLETE;
	offer_cq_data(info, hints);
}

/* ---- addresses ---- */

struct info_ends {
	struct rte_end src, dest;
	bool has_dest;
};

/* A source has to be an address of the device. */
static int ends_source(const struct rte_addr_view *view, const struct sockaddr *addr,
		       struct rte_end *end)
{
	char text[CRN_ADDR_STRLEN];

	if (rte_addr_own(view, addr, end))
		return 0;
	RTE_INFO(FI_LOG_CORE, "%s is no address of the device on %u:%u\n",
		 crn_addr_str(addr, text), view->own.as, view->own.subnet);
	return -FI_ENODATA;
}

/* An address of the hints: a sockaddr, or text. */
static int ends_hint(const struct rte_addr_view *view, const void *addr, size_t len,
		     uint32_t format, struct rte_end *end, bool source)
{
	const char *text = addr;

	if (format == FI_ADDR_STR) {
		if (!memchr(text, 0, len))
			return -FI_EINVAL;
		return rte_addr_text(view, text, end);
	}
	if (!crn_addr_valid(addr, len, format))
		return -FI_EINVAL;
	if (source)
		return ends_source(view, addr, end);
	return rte_addr_place(view, addr, end);
}

/* Names have IPv4 addresses first: others can be no endpoint's. */
static int ends_resolve(const struct info_question *question, bool source,
			union crn_addr *addr)
{
	const bool numeric = question->flags & FI_NUMERICHOST;
	int ret = crn_addr_resolve(question->node, question->service, AF_INET, source,
				   numeric, addr);

	if (ret == -FI_ENODATA)
		ret = crn_addr_resolve(question->node, question->service, AF_INET6,
				       source, numeric, addr);
	if (ret == -FI_ENODATA)
		RTE_INFO(FI_LOG_CORE, "%s%s%s does not resolve to an address\n",
			 question->node ? question->node : "",
			 question->service ? ":" : "",
			 question->service ? question->service : "");
	return ret;
}

static int ends_node(const struct info_question *question,
		     const struct rte_addr_view *view, struct info_ends *ends)
{
	const bool source = question->flags & FI_SOURCE;
	struct rte_end *end = source ? &ends->src : &ends->dest;
	union crn_addr addr;
	int ret;

	if (!question->node && !question->service)
		return 0;
	ends->has_dest = ends->has_dest || !source;
	if (question->node && strstr(question->node, "://"))
		return rte_addr_text(view, question->node, end);
	ret = ends_resolve(question, source, &addr);
	if (ret)
		return ret;
	if (source)
		return ends_source(view, &addr.sa, end);
	return rte_addr_place(view, &addr.sa, end);
}

/* By the rules of fi_getinfo(3): node and service before the hints. */
static int ends_find(const struct info_question *question,
		     const struct rte_addr_view *view, struct info_ends *ends)
{
	const struct fi_info *hints = question->hints;
	const bool named = question->node || question->service;
	const bool source = question->flags & FI_SOURCE;
	int ret = 0;

	ends->src = view->own;
	ends->has_dest = false;
	if (hints && hints->src_addr && hints->src_addrlen && !(source && named))
		ret = ends_hint(view, hints->src_addr, hints->src_addrlen,
				hints->addr_format, &ends->src, true);
	if (!ret && hints && hints->dest_addr && hints->dest_addrlen &&
	    (source || !named)) {
		ret = ends_hint(view, hints->dest_addr, hints->dest_addrlen,
				hints->addr_format, &ends->dest, false);
		ends->has_dest = true;
	}
	return ret ? ret : ends_node(question, view, ends);
}

static int ends_set(const struct rte_end *end, void **addr, size_t *len)
{
	struct sockaddr_in6 *in6 = malloc(sizeof(*in6));

	if (!in6)
		return -FI_ENOMEM;
	rte_addr_pack(end, in6);
	*addr = in6;
	*len = sizeof(*in6);
	return 0;
}

/* ---- answers ---- */

/* The format of the hints says what is in them, not what the answer has: format_fits. */
static int answer_check(const struct info_question *question, const struct fi_info *offer)
{
	struct fi_info hints;

	if (!question->hints)
		return 0;
	hints = *question->hints;
	hints.addr_format = FI_FORMAT_UNSPEC;
	return crn_attr_check(&rte_prov, question->version, offer, &hints);
}

/* Durable by default is only what has persistent memory to go to. */
static bool durable_fits(const struct fi_info *info, const struct fi_info *hints)
{
	return !hints || !hints->tx_attr || (info->caps & FI_RMA_PMEM) ||
	       !(hints->tx_attr->op_flags & FI_COMMIT_COMPLETE);
}

/* -FI_ENODATA: the device does not have what is asked for. */
static int answer_make(const struct info_question *question, const struct rte_net *net,
		       const struct info_ends *ends, struct fi_info **out)
{
	const struct fi_info *hints = question->hints;
	const int *hinted =
		hints && hints->domain_attr ? &hints->domain_attr->mr_mode : NULL;
	struct fi_info *info = offer_make(question, net);
	int mode, ret = -FI_ENOMEM;

	if (!info)
		return ret;
	ret = answer_check(question, info);
	if (!ret && !durable_fits(info, hints))
		ret = -FI_ENODATA;
	if (!ret)
		ret = crn_attr_mr_mode(question->version, hinted, hints ? hints->mode : 0,
				       crn_attr_mr_required(info->domain_attr->mr_mode,
							    crn_attr_caps(info, hints)),
				       &mode);
	if (!ret) {
		crn_attr_apply(info, question->version, hints, mode);
		offer_defaults(info, hints);
		ret = ends_set(&ends->src, &info->src_addr, &info->src_addrlen);
	}
	if (!ret && ends->has_dest)
		ret = ends_set(&ends->dest, &info->dest_addr, &info->dest_addrlen);
	if (ret)
		fi_freeinfo(info);
	else
		*out = info;
	return ret;
}

/* The lower provider is asked by fi_getinfo, which must not end here again. */
static _Thread_local bool info_asking;

static int answer_net(const struct rte_config_device *device, struct rte_net **net)
{
	char why[256];
	int ret;

	info_asking = true;
	ret = rte_net_open(device, rte_params.lower, net, why);
	info_asking = false;
	if (ret)
		RTE_INFO(FI_LOG_CORE, "device %s: %s\n", device->name, why);
	return ret;
}

/* What people have to change. */
static void answer_nowhere(const struct info_question *question,
			   const struct rte_config_device *device, int ret)
{
	if (ret == -FI_EHOSTUNREACH)
		RTE_INFO(FI_LOG_CORE,
			 "device %s: no \"prefix\" of FI_ROUTE_CONFIG says where %s is\n",
			 device->name, question->node ? question->node : "the target");
	else if (ret == -FI_EADDRNOTAVAIL)
		RTE_INFO(FI_LOG_CORE, "device %s: %s has no IPv4 address\n", device->name,
			 question->node ? question->node : "the target");
	else if (ret == -FI_EINVAL)
		RTE_INFO(FI_LOG_CORE,
			 "device %s: %s is no address that fi_route(7) lists\n",
			 device->name, question->node ? question->node : "the hints'");
}

static int answer_device(const struct info_question *question,
			 const struct rte_config_device *device, struct fi_info **info,
			 bool *near)
{
	struct rte_addr_view view;
	struct info_ends ends;
	struct rte_net *net;
	int ret = answer_net(device, &net);

	if (ret)
		return ret;
	ret = rte_addr_see(question->config, net, &view);
	if (ret)
		RTE_INFO(FI_LOG_CORE,
			 "device %s has no IPv4 address towards its first router: give "
			 "its interface one, or name another with domain\n",
			 device->name);
	else
		ret = ends_find(question, &view, &ends);
	answer_nowhere(question, device, ret);
	if (!ret)
		ret = answer_make(question, net, &ends, info);
	if (!ret)
		*near = !ends.has_dest || rte_addr_near(&ends.dest, &view.own);
	rte_net_close(net);
	return ret;
}

static struct fi_info **answer_end(struct fi_info **list)
{
	while (*list)
		list = &(*list)->next;
	return list;
}

/* Devices that are on the target's subnet come first. */
static int answer_all(const struct info_question *question, struct fi_info **list)
{
	struct fi_info *close = NULL, *far = NULL, *info;
	bool near;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < question->config->devices && ret != -FI_ENOMEM; i++) {
		if (!question->config->device[i].routable)
			continue;
		ret = answer_device(question, &question->config->device[i], &info, &near);
		if (!ret)
			*answer_end(near ? &close : &far) = info;
	}
	*answer_end(&close) = far;
	*list = close;
	if (close)
		return 0;
	return ret == -FI_ENOMEM ? ret : -FI_ENODATA;
}

/* ---- questions ---- */

/* Hints that ask for answers of another format than there is; of addresses in the hints
 * themselves, the format only says what they are. */
static bool format_fits(const struct fi_info *hints)
{
	switch (hints->addr_format) {
	case FI_FORMAT_UNSPEC:
	case FI_SOCKADDR:
	case FI_SOCKADDR_IN6:
		return true;
	case FI_SOCKADDR_IN:
	case FI_ADDR_STR:
		return hints->src_addr || hints->dest_addr;
	default:
		return false;
	}
}

static bool question_is_msg(const struct fi_info *hints)
{
	return !hints || !hints->ep_attr || hints->ep_attr->type == FI_EP_UNSPEC ||
	       hints->ep_attr->type == FI_EP_MSG;
}

int rte_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info)
{
	const struct fi_fabric_attr *fabric = hints ? hints->fabric_attr : NULL;
	struct info_question question = {
		.version = version,
		.node = node,
		.service = service,
		.flags = flags,
		.hints = hints,
	};
	struct rte_config *config;
	int ret;

	*info = NULL;
	if (info_asking || !crn_lower_named(&rte_prov, fabric ? fabric->prov_name : NULL))
		return -FI_ENODATA;
	if (!question_is_msg(hints) || (hints && !format_fits(hints)))
		return -FI_ENODATA;
	ret = rte_info_config(&config);
	if (ret)
		return ret;
	question.config = config;
	ret = answer_all(&question, info);
	rte_config_free(config);
	return ret;
}

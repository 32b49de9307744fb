/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_getinfo(3): one offer for each device, port and address, reduced to what the hints
 * ask for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cairn/attr.h>
#include "device/device.h"
#include "dgram/dgram.h"
#include "flags.h"
#include "objects/objects.h"

#define PVB_CAPS                                                                     \
	(FI_MSG | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | \
	 FI_REMOTE_WRITE | FI_FENCE | FI_LOCAL_COMM | FI_REMOTE_COMM)
#define PVB_TX_CAPS (FI_MSG | FI_RMA | FI_SEND | FI_READ | FI_WRITE | FI_FENCE)
#define PVB_RX_CAPS (FI_MSG | FI_RMA | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE)

/*
 * A reliable connection executes requests in the order posted; only a read may still be
 * fetching its data while a later write or send arrives (IB specification 1.7, table 79:
 * "fence needed"). With WAR or SAR asked for, later writes and sends carry the fence.
 */
#define PVB_ORDER_FENCED (FI_ORDER_WAR | FI_ORDER_SAR | FI_ORDER_RMA_WAR)
#define PVB_ORDER                                                                   \
	(FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | FI_ORDER_WAW | FI_ORDER_WAS | \
	 FI_ORDER_SAW | FI_ORDER_SAS | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW |        \
	 FI_ORDER_RMA_WAW | PVB_ORDER_FENCED)

/* A device executes atomics in the order posted, among themselves and with writes and
 * sends (IB specification 1.7, section 9.5). */
#define PVB_ORDER_ATOMIC                                                   \
	(FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | \
	 FI_ORDER_ATOMIC_WAW)

#define PVB_MR_MODE (FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR)

#define PVB_IOV_DEFAULT 4

/* The addresses that the caller of fi_getinfo gave. */
struct pvb_query {
	union crn_addr src, dest;
	bool have_src, have_dest;
};

static int pvb_offer_names(struct fi_info *info, const struct pvb_device_addr *entry)
{
	char name[sizeof(PVB_NAME) + 24];

	if (entry->port_attr.link_layer == IBV_LINK_LAYER_ETHERNET || entry->iwarp)
		snprintf(name, sizeof(name), PVB_NAME "-eth");
	else
		snprintf(name, sizeof(name), PVB_NAME "-ib-%016llx",
			 (unsigned long long)entry->subnet_prefix);
	info->fabric_attr->name = strdup(name);
	info->domain_attr->name = strdup(entry->device);
	return info->fabric_attr->name && info->domain_attr->name ? 0 : -FI_ENOMEM;
}

/* An endpoint's send and receive queues may share one device completion queue. */
static size_t pvb_offer_depth(const struct ibv_device_attr *attr)
{
	return (size_t)CRN_MIN(attr->max_qp_wr, attr->max_cqe / 2) - 1;
}

static void pvb_offer_queues(struct fi_info *info, const struct ibv_device_attr *attr)
{
	size_t depth = pvb_offer_depth(attr);
	size_t iov = (size_t)CRN_MIN(attr->max_sge, PVB_IOV_LIMIT);

	*info->tx_attr = (struct fi_tx_attr){
		.caps = PVB_TX_CAPS,
		.op_flags = PVB_TX_OP_FLAGS,
		.msg_order = PVB_ORDER,
		.comp_order = CRN_ORDER_STRICT,
		.inject_size = PVB_INJECT_LIMIT,
		.size = depth,
		.iov_limit = iov,
		.rma_iov_limit = 1,
	};
	*info->rx_attr = (struct fi_rx_attr){
		.caps = PVB_RX_CAPS,
		.mode = FI_RX_CQ_DATA,
		.op_flags = PVB_RX_OP_FLAGS,
		.msg_order = PVB_ORDER,
		.comp_order = CRN_ORDER_STRICT | CRN_ORDER_DATA,
		.size = depth,
		.iov_limit = iov,
	};
}

static void pvb_offer_limits(struct fi_info *info, const struct pvb_device_addr *entry)
{
	struct fi_ep_attr *ep = info->ep_attr;
	struct fi_domain_attr *domain = info->domain_attr;
	const struct ibv_device_attr *attr = &entry->attr;

	ep->type = FI_EP_MSG;
	ep->protocol = entry->iwarp ? FI_PROTO_IWARP : FI_PROTO_RDMA_CM_IB_RC;
	ep->protocol_version = 1;
	ep->max_msg_size = entry->port_attr.max_msg_sz;
	ep->max_order_raw_size = ep->max_msg_size;
	ep->max_order_war_size = ep->max_msg_size;
	ep->max_order_waw_size = ep->max_msg_size;
	ep->tx_ctx_cnt = 1;
	ep->rx_ctx_cnt = 1;

	domain->threading = FI_THREAD_SAFE;
	domain->control_progress = FI_PROGRESS_AUTO;
	domain->data_progress = FI_PROGRESS_AUTO;
	domain->resource_mgmt = FI_RM_ENABLED;
	domain->mr_mode = PVB_MR_MODE;
	domain->mr_key_size = sizeof(uint64_t);
	domain->cq_data_size =
		entry->quirks & PVB_QUIRK_NO_IMMEDIATE ? 0 : sizeof(uint32_t);
	domain->cq_cnt = (size_t)attr->max_cq;
	domain->cntr_cnt = (size_t)attr->max_qp;
	domain->ep_cnt = (size_t)attr->max_qp;
	domain->tx_ctx_cnt = (size_t)attr->max_qp;
	domain->rx_ctx_cnt = (size_t)attr->max_qp;
	domain->max_ep_tx_ctx = 1;
	domain->max_ep_rx_ctx = 1;
	domain->max_ep_srx_ctx = (size_t)attr->max_srq;
	domain->mr_iov_limit = 1;
	domain->mr_cnt = (size_t)attr->max_mr;
	domain->caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
}

static void pvb_offer_atomics(struct fi_info *info)
{
	info->caps |= FI_ATOMIC;
	info->tx_attr->caps |= FI_ATOMIC;
	info->rx_attr->caps |= FI_ATOMIC;
	info->tx_attr->msg_order |= PVB_ORDER_ATOMIC;
	info->rx_attr->msg_order |= PVB_ORDER_ATOMIC;
}

/*
 * FI_RMA_PMEM (fi_getinfo(3)) is a secondary capability that belongs to FI_RMA: offered
 * only if the hints ask for both, so that a program that does not know of it never sees
 * keys with attributes.
 */
static bool pvb_offer_pmem(const struct fi_info *hints)
{
	const uint64_t both = FI_RMA | FI_RMA_PMEM;

	return hints && (hints->caps & both) == both;
}

/* Everything the device can do at this address, or NULL. */
static struct fi_info *pvb_offer(const struct pvb_device_addr *entry,
				 const struct fi_info *hints)
{
	struct fi_info *info = fi_allocinfo();

	if (!info)
		return NULL;
	info->caps = PVB_CAPS;
	info->addr_format = crn_addr_format(&entry->addr.sa);
	pvb_offer_queues(info, &entry->attr);
	pvb_offer_limits(info, entry);
	if (pvb_atomic_device(&entry->attr, entry->quirks))
		pvb_offer_atomics(info);
	if (pvb_offer_pmem(hints))
		info->caps |= FI_RMA_PMEM;
	info->fabric_attr->prov_version = PVB_VERSION;
	info->nic = pvb_nic(entry);
	if (!info->nic || pvb_offer_names(info, entry)) {
		fi_freeinfo(info);
		return NULL;
	}
	return info;
}

/*
 * A write with data consumes a receive (FI_RX_CQ_DATA) whether the program expects that
 * or not. A program whose hints set the mode, in the info or in rx_attr, gets it in
 * both: rx_attr's mode is a subset of the info's (fi_endpoint(3)). An info must not
 * have a mode bit that the hints lack (fi_getinfo(3)); so other programs get it in
 * rx_attr only, instead of -FI_ENODATA.
 */
static void pvb_info_cq_data(struct fi_info *info, const struct fi_info *hints)
{
	uint64_t able = hints ? hints->mode : FI_RX_CQ_DATA;

	if (hints && hints->rx_attr)
		able |= hints->rx_attr->mode;
	info->rx_attr->mode &= ~FI_RX_CQ_DATA;
	if (!(info->caps & FI_REMOTE_WRITE))
		return;
	info->rx_attr->mode |= FI_RX_CQ_DATA;
	info->mode |= able & FI_RX_CQ_DATA;
}

/*
 * Offers are as large as the device allows; sizes that the hints leave open get small
 * defaults. depth: entries of a send queue. -FI_ENODATA if the hints give a size for an
 * order that they do not request, or more operations than fit.
 */
static int pvb_info_defaults(struct fi_info *info, const struct fi_info *hints,
			     size_t depth)
{
	const struct fi_tx_attr *tx = hints ? hints->tx_attr : NULL;
	const struct fi_rx_attr *rx = hints ? hints->rx_attr : NULL;
	const size_t iov = PVB_IOV_DEFAULT;
	const size_t most = depth / pvb_tx_entries(info->caps, info->tx_attr->op_flags);

	if (!tx || !tx->size)
		info->tx_attr->size = CRN_MIN(most, pvb_params.tx_size);
	if (info->tx_attr->size > most)
		return -FI_ENODATA;
	if (!tx || !tx->inject_size)
		info->tx_attr->inject_size = pvb_params.inject_size;
	if (!tx || !tx->iov_limit)
		info->tx_attr->iov_limit = CRN_MIN(info->tx_attr->iov_limit, iov);
	if (!tx || !tx->op_flags)
		info->tx_attr->op_flags = FI_TRANSMIT_COMPLETE;
	if ((info->tx_attr->op_flags & FI_COMMIT_COMPLETE) && !(info->caps & FI_RMA_PMEM))
		return -FI_ENODATA;
	if (!tx || !tx->msg_order)
		info->tx_attr->msg_order &= ~PVB_ORDER_FENCED;
	if (!rx || !rx->size)
		info->rx_attr->size = CRN_MIN(info->rx_attr->size, pvb_params.rx_size);
	if (!rx || !rx->iov_limit)
		info->rx_attr->iov_limit = CRN_MIN(info->rx_attr->iov_limit, iov);
	if (!rx || !rx->msg_order)
		info->rx_attr->msg_order &= ~PVB_ORDER_FENCED;
	pvb_info_cq_data(info, hints);
	if (info->tx_attr->msg_order & (FI_ORDER_WAR | FI_ORDER_RMA_WAR))
		return 0;
	info->ep_attr->max_order_war_size = 0;
	return hints && hints->ep_attr && hints->ep_attr->max_order_war_size ? -FI_ENODATA
									     : 0;
}

static int pvb_info_addr(void **addr, size_t *len, const struct sockaddr *sa)
{
	free(*addr);
	*addr = crn_addr_dup(sa);
	*len = *addr ? crn_addr_len(sa) : 0;
	return *addr ? 0 : -FI_ENOMEM;
}

/* The addresses of an answer: 0 or -FI_ENOMEM. */
static int pvb_info_addrs(const struct pvb_device_addr *entry,
			  const struct pvb_query *query, struct fi_info *answer)
{
	union crn_addr src = entry->addr, dest = query->dest;

	if (query->have_src)
		crn_addr_set_port(&src.sa, crn_addr_port(&query->src.sa));
	if (pvb_info_addr(&answer->src_addr, &answer->src_addrlen, &src.sa))
		return -FI_ENOMEM;
	if (!query->have_dest)
		return 0;
	/* No device has the loopback address: this host is our own address. */
	if (crn_addr_is_loopback(&dest.sa) || crn_addr_is_any(&dest.sa)) {
		dest = entry->addr;
		crn_addr_set_port(&dest.sa, crn_addr_port(&query->dest.sa));
	}
	return pvb_info_addr(&answer->dest_addr, &answer->dest_addrlen, &dest.sa);
}

/*
 * The answer for one address but for its addresses, or NULL in *info when it does not
 * satisfy the hints. Only out of memory is an error.
 */
static int pvb_info_build(uint32_t version, const struct pvb_device_addr *entry,
			  const struct fi_info *hints, enum fi_ep_type type,
			  bool multicast, struct fi_info **info)
{
	struct fi_info *answer = pvb_offer(entry, hints);
	const int *mr_hint =
		hints && hints->domain_attr ? &hints->domain_attr->mr_mode : NULL;
	int mr_mode;

	*info = NULL;
	if (!answer)
		return -FI_ENOMEM;
	if (type == FI_EP_DGRAM)
		pvb_ud_offer(answer, entry, hints, multicast);
	if (crn_attr_check(&pvb_prov, version, answer, hints) ||
	    crn_attr_mr_mode(version, mr_hint, hints ? hints->mode : 0,
			     crn_attr_mr_required(PVB_MR_MODE,
						  crn_attr_caps(answer, hints)),
			     &mr_mode))
		goto none;
	crn_attr_apply(answer, version, hints, mr_mode);
	if (pvb_info_defaults(answer, hints, pvb_offer_depth(&entry->attr)))
		goto none;
	*info = answer;
	return 0;
none:
	fi_freeinfo(answer);
	return 0;
}

static bool pvb_query_match(const struct pvb_query *query,
			    const struct pvb_device_addr *entry)
{
	if (query->have_dest && query->dest.sa.sa_family != entry->addr.sa.sa_family)
		return false;
	if (!query->have_src)
		return true;
	if (query->src.sa.sa_family != entry->addr.sa.sa_family)
		return crn_addr_is_any(&query->src.sa) && !query->have_dest;
	return crn_addr_is_any(&query->src.sa) || crn_addr_is_loopback(&query->src.sa) ||
	       crn_addr_same_host(&query->src.sa, &entry->addr.sa);
}

static int pvb_query_hint(const void *addr, size_t len, uint32_t format,
			  union crn_addr *out, bool *have)
{
	if (!addr || !len)
		return 0;
	if (!crn_addr_valid(addr, len, format)) {
		PVB_INFO(FI_LOG_CORE,
			 "an address in the hints is neither IPv4 nor IPv6\n");
		return -FI_ENODATA;
	}
	memcpy(out, addr, crn_addr_len(addr));
	*have = true;
	return 0;
}

static int pvb_query_family(const struct fi_info *hints)
{
	if (hints && hints->addr_format == FI_SOCKADDR_IN)
		return AF_INET;
	if (hints && hints->addr_format == FI_SOCKADDR_IN6)
		return AF_INET6;
	return AF_UNSPEC;
}

/* The address from which the route to the destination leaves; a port that is given stays.
 */
static int pvb_query_route(struct pvb_query *query)
{
	uint16_t port = query->have_src ? crn_addr_port(&query->src.sa) : 0;

	if (crn_addr_source(&query->dest.sa, &query->src)) {
		PVB_INFO(FI_LOG_CORE, "no route to the destination\n");
		return -FI_ENODATA;
	}
	crn_addr_set_port(&query->src.sa, port);
	query->have_src = true;
	return 0;
}

/* Finds source and destination address by the rules of fi_getinfo(3). */
static int pvb_query_init(struct pvb_query *query, const char *node, const char *service,
			  uint64_t flags, const struct fi_info *hints)
{
	bool source = flags & FI_SOURCE;
	int ret;

	memset(query, 0, sizeof(*query));
	if (hints && (source || !(node || service))) {
		ret = pvb_query_hint(hints->dest_addr, hints->dest_addrlen,
				     hints->addr_format, &query->dest, &query->have_dest);
		if (ret)
			return ret;
	}
	if (hints && !(source && (node || service))) {
		ret = pvb_query_hint(hints->src_addr, hints->src_addrlen,
				     hints->addr_format, &query->src, &query->have_src);
		if (ret)
			return ret;
	}
	if (node || service) {
		ret = crn_addr_resolve(node, service, pvb_query_family(hints), source,
				       flags & FI_NUMERICHOST,
				       source ? &query->src : &query->dest);
		if (ret)
			return ret;
		if (source)
			query->have_src = true;
		else
			query->have_dest = true;
	}
	if (query->have_dest && !crn_addr_is_loopback(&query->dest.sa) &&
	    (!query->have_src || crn_addr_is_any(&query->src.sa)))
		return pvb_query_route(query);
	return 0;
}

/* What pvb_getinfo was asked, and the addresses that there are. */
struct pvb_ask {
	uint32_t version;
	const char *node, *service;
	uint64_t flags;
	const struct fi_info *hints;
	const struct pvb_device_addr *list;
	size_t count;
};

/* Appends at *tail, which moves, what is offered for connections: 0, or a negative code.
 */
static int pvb_getinfo_msg(const struct pvb_ask *ask, struct fi_info ***tail)
{
	struct pvb_query query;
	size_t i;
	int ret = pvb_query_init(&query, ask->node, ask->service, ask->flags, ask->hints);

	for (i = 0; !ret && i < ask->count; i++) {
		if (!pvb_query_match(&query, &ask->list[i]))
			continue;
		ret = pvb_info_build(ask->version, &ask->list[i], ask->hints, FI_EP_MSG,
				     false, *tail);
		if (!**tail)
			continue;
		ret = pvb_info_addrs(&ask->list[i], &query, **tail);
		*tail = &(**tail)->next;
	}
	return ret;
}

/* What is offered for datagrams at one GID: without groups and with them. */
static int pvb_getinfo_gid(const struct pvb_ask *ask, const struct pvb_ud_query *query,
			   const struct pvb_device_addr *entry, struct fi_info ***tail)
{
	int multicast, ret = 0;

	for (multicast = 0; !ret && multicast <= 1; multicast++) {
		if (!pvb_ud_wants(ask->hints, entry, multicast))
			continue;
		ret = pvb_info_build(ask->version, entry, ask->hints, FI_EP_DGRAM,
				     multicast, *tail);
		if (!**tail)
			continue;
		ret = pvb_ud_query_addrs(query, entry, **tail);
		*tail = &(**tail)->next;
	}
	return ret;
}

/* The same for datagrams: one for each GID, of ports without addresses too. */
static int pvb_getinfo_dgram(const struct pvb_ask *ask, struct fi_info ***tail)
{
	const struct pvb_device_addr *entry, *last = NULL;
	struct pvb_ud_query query;
	size_t i;
	int ret = pvb_ud_query_init(&query, ask->node, ask->service, ask->flags,
				    ask->hints);

	for (i = 0; !ret && i < ask->count; i++) {
		entry = &ask->list[i];
		if (!pvb_ud_query_match(&query, entry) ||
		    (last && pvb_ud_same_source(last, entry)))
			continue;
		last = entry;
		ret = pvb_getinfo_gid(ask, &query, entry, tail);
	}
	return ret;
}

static bool pvb_info_wanted(const struct fi_info *hints, enum fi_ep_type type)
{
	return !hints || !hints->ep_attr || hints->ep_attr->type == FI_EP_UNSPEC ||
	       hints->ep_attr->type == type;
}

int pvb_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info)
{
	struct pvb_ask ask = {
		.version = version,
		.node = node,
		.service = service,
		.flags = flags,
		.hints = hints,
	};
	struct pvb_device_addr *list = NULL;
	struct fi_info **tail = info;
	int ret;

	*info = NULL;
	ret = pvb_flags_check(PVB_FLAGS_GETINFO, flags);
	if (ret)
		return ret;
	ret = pvb_device_addrs(&list, &ask.count);
	ask.list = list;
	if (!ret && pvb_info_wanted(hints, FI_EP_MSG))
		ret = pvb_getinfo_msg(&ask, &tail);
	/* What one of them has not, the other may have. */
	if ((!ret || ret == -FI_ENODATA) && pvb_info_wanted(hints, FI_EP_DGRAM)) {
		ret = pvb_ud_add_ports(&list, &ask.count);
		ask.list = list;
		if (!ret)
			ret = pvb_getinfo_dgram(&ask, &tail);
	}
	if (ret == -FI_ENODATA)
		ret = 0;
	free(list);
	if (ret) {
		fi_freeinfo(*info);
		*info = NULL;
		return ret;
	}
	return *info ? 0 : -FI_ENODATA;
}

/*
 * A request normally arrives at the listener's device; at a wildcard listener, at any
 * device.
 */
static int pvb_info_other_device(const struct fi_info *pep, const char *device,
				 const struct sockaddr *src, struct fi_info **info)
{
	struct fi_info *hints = fi_dupinfo(pep);
	char *name = strdup(device);
	int ret = -FI_ENOMEM;

	if (hints && name) {
		free(hints->domain_attr->name);
		hints->domain_attr->name = name;
		name = NULL;
		free(hints->fabric_attr->name);
		hints->fabric_attr->name = NULL;
		hints->handle = NULL;
		ret = pvb_info_addr(&hints->src_addr, &hints->src_addrlen, src);
		if (!ret)
			ret = pvb_getinfo(pep->fabric_attr->api_version, NULL, NULL, 0,
					  hints, info);
	}
	free(name);
	fi_freeinfo(hints);
	return ret;
}

int pvb_info_connreq(const struct fi_info *pep, const char *device,
		     const struct sockaddr *src, const struct sockaddr *peer,
		     struct fi_info **info)
{
	int ret;

	if (!strcmp(pep->domain_attr->name, device)) {
		*info = fi_dupinfo(pep);
		ret = *info ? 0 : -FI_ENOMEM;
	} else {
		ret = pvb_info_other_device(pep, device, src, info);
	}
	if (ret)
		return ret;
	ret = pvb_info_addr(&(*info)->src_addr, &(*info)->src_addrlen, src);
	if (!ret)
		ret = pvb_info_addr(&(*info)->dest_addr, &(*info)->dest_addrlen, peer);
	if (ret)
		fi_freeinfo(*info);
	return ret;
}

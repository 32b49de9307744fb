/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams in fi_getinfo(3): what is offered at an address of a device, and which one
 * the caller means. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "device/device.h"
#include "dgram.h"

#define UD_TX_OP_FLAGS \
	(FI_INJECT | FI_COMPLETION | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE)
#define UD_MTU_MIN 256u
/* The destination of all multicast (IB specification 1.7, section 10.5.2). */
#define UD_QPN_GROUPS 0xffffffu

/*
 * FI_SOURCE_ERR (fi_getinfo(3)) must be paired with FI_SOURCE, and turns receives into
 * errors: offered only if the hints ask for both.
 */
static uint64_t ud_source_caps(const struct fi_info *hints)
{
	const uint64_t both = FI_SOURCE | FI_SOURCE_ERR;

	return hints && (hints->caps & both) == both ? both : FI_SOURCE;
}

static uint32_t ud_mtu(const struct ibv_port_attr *port)
{
	return port->active_mtu ? 128u << port->active_mtu : UD_MTU_MIN;
}

/*
 * Only who says that there is room for it has a prefix: it is of no use to others. It is
 * one of receives alone, as with the stock provider: the device writes it, and what is
 * sent has none.
 */
static void ud_offer_prefix(struct fi_info *info, const struct fi_info *hints)
{
	if (!hints || !(hints->mode & FI_MSG_PREFIX) || !hints->ep_attr ||
	    !hints->ep_attr->msg_prefix_size)
		return;
	info->mode |= FI_MSG_PREFIX;
	info->rx_attr->mode |= FI_MSG_PREFIX;
	info->ep_attr->msg_prefix_size = PVB_GRH_SIZE;
}

bool pvb_ud_wants(const struct fi_info *hints, const struct pvb_device_addr *entry,
		  bool multicast)
{
	if (multicast && !entry->addr.sa.sa_family &&
	    entry->port_attr.link_layer == IBV_LINK_LAYER_ETHERNET)
		return false;
	return !hints || !hints->caps || !(hints->caps & FI_MULTICAST) == !multicast;
}

static void ud_offer_multicast(struct fi_info *info)
{
	info->caps |= FI_MULTICAST;
	info->tx_attr->caps |= FI_MULTICAST;
	info->tx_attr->op_flags |= FI_MULTICAST;
}

void pvb_ud_offer(struct fi_info *info, const struct pvb_device_addr *entry,
		  const struct fi_info *hints, bool multicast)
{
	const uint64_t source = ud_source_caps(hints);
	struct fi_ep_attr *ep = info->ep_attr;

	info->caps = FI_MSG | FI_SEND | FI_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM | source;
	info->addr_format = FI_ADDR_IB_UD;
	info->tx_attr->caps = FI_MSG | FI_SEND;
	info->tx_attr->op_flags = UD_TX_OP_FLAGS;
	info->tx_attr->msg_order = 0;
	info->tx_attr->rma_iov_limit = 0;
	info->tx_attr->inject_size =
		CRN_MIN(info->tx_attr->inject_size, (size_t)ud_mtu(&entry->port_attr));
	info->rx_attr->caps = FI_MSG | FI_RECV | source;
	info->rx_attr->mode = 0;
	info->rx_attr->msg_order = 0;
	info->rx_attr->comp_order = 0;
	info->rx_attr->iov_limit =
		(size_t)CRN_MIN(entry->attr.max_sge - PVB_UD_SGES, PVB_IOV_LIMIT);
	ep->type = FI_EP_DGRAM;
	ep->protocol = FI_PROTO_IB_UD;
	ep->max_msg_size = ud_mtu(&entry->port_attr);
	ep->max_order_raw_size = 0;
	ep->max_order_war_size = 0;
	ep->max_order_waw_size = 0;
	info->domain_attr->max_err_data = sizeof(struct pvb_ud_addr);
	if (entry->attr.max_srq_sge <= PVB_UD_SGES)
		info->domain_attr->max_ep_srx_ctx = 0;
	ud_offer_prefix(info, hints);
	if (multicast)
		ud_offer_multicast(info);
}

/* An address in the hints: 0, or -FI_ENODATA if it is of another format. */
static int ud_query_hint(const struct fi_info *hints, const void *addr, size_t len,
			 struct pvb_ud_addr *out, bool *have)
{
	if (!addr || !len)
		return 0;
	if (len != sizeof(*out) || (hints->addr_format != FI_ADDR_IB_UD &&
				    hints->addr_format != FI_FORMAT_UNSPEC))
		return -FI_ENODATA;
	memcpy(out, addr, sizeof(*out));
	*have = true;
	return 0;
}

static int ud_query_hints(struct pvb_ud_query *query, const struct fi_info *hints,
			  bool source, bool named)
{
	int ret = 0;

	if (hints && (source || !named))
		ret = ud_query_hint(hints, hints->dest_addr, hints->dest_addrlen,
				    &query->dest, &query->have_dest);
	if (!ret && hints && !(source && named))
		ret = ud_query_hint(hints, hints->src_addr, hints->src_addrlen,
				    &query->src, &query->have_src);
	return ret;
}

/* A decimal, octal or hexadecimal number up to most; 0 or -FI_ENODATA. */
static int ud_query_number(const char *text, unsigned long most, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 0);
	return errno || end == text || *end || *text == '-' || *value > most ? -FI_ENODATA
									     : 0;
}

static int ud_query_source(struct pvb_ud_query *query, const char *node,
			   const char *service, bool numeric)
{
	unsigned long number = 0;
	int ret = 0;

	query->have_src = true;
	if (service)
		ret = ud_query_number(service, UINT16_MAX, &number);
	if (!ret && node && !pvb_ud_parse(node, &query->src))
		query->src.qpn = 0;
	else if (!ret && node)
		ret = crn_addr_resolve(node, NULL, AF_UNSPEC, true, numeric,
				       &query->host);
	if (service)
		query->src.service = (uint16_t)number;
	return ret;
}

/* A literal of a group: on InfiniBand its GID, on RoCE an IPv4 address. */
static bool ud_query_group(struct pvb_ud_query *query, const union crn_addr *addr)
{
	uint8_t gid[16];

	pvb_gid_of_addr(&addr->sa, gid);
	if (!pvb_ud_group_gid(gid))
		return false;
	memcpy(query->dest.gid, gid, sizeof(gid));
	query->dest.qpn = UD_QPN_GROUPS;
	query->dest_group = true;
	return true;
}

/* A text of FI_ADDR_STR names a whole address; a host's is known on RoCE, with the queue
 * pair number as the service. */
static int ud_query_dest(struct pvb_ud_query *query, const char *node,
			 const char *service, bool numeric)
{
	unsigned long qpn = 0;
	int ret = 0;

	query->have_dest = true;
	if (service)
		ret = ud_query_number(service, 0xffffff, &qpn);
	if (ret || (node && !pvb_ud_parse(node, &query->dest)))
		goto out;
	ret = crn_addr_resolve(node ? node : "127.0.0.1", NULL, AF_UNSPEC, false, numeric,
			       &query->peer);
	if (!ret && ud_query_group(query, &query->peer))
		return 0;
	query->dest_host = true;
	if (!ret && !query->have_src && !crn_addr_is_loopback(&query->peer.sa))
		ret = crn_addr_source(&query->peer.sa, &query->host) ? -FI_ENODATA : 0;
out:
	if (service)
		query->dest.qpn = (uint32_t)qpn;
	return ret;
}

int pvb_ud_query_init(struct pvb_ud_query *query, const char *node, const char *service,
		      uint64_t flags, const struct fi_info *hints)
{
	const bool source = flags & FI_SOURCE, numeric = flags & FI_NUMERICHOST;
	int ret;

	memset(query, 0, sizeof(*query));
	ret = ud_query_hints(query, hints, source, node || service);
	if (ret || !(node || service))
		return ret;
	return source ? ud_query_source(query, node, service, numeric)
		      : ud_query_dest(query, node, service, numeric);
}

static bool ud_host_matches(const union crn_addr *host,
			    const struct pvb_device_addr *entry)
{
	uint8_t gid[16];

	if (!host->sa.sa_family || crn_addr_is_any(&host->sa) ||
	    crn_addr_is_loopback(&host->sa) ||
	    crn_addr_same_host(&host->sa, &entry->addr.sa))
		return true;
	/* A GID is written as an IPv6 address. */
	pvb_gid_of_addr(&host->sa, gid);
	return host->sa.sa_family == AF_INET6 && !memcmp(gid, entry->gid, sizeof(gid));
}

bool pvb_ud_device_fits(const char *device, int max_sge, enum fi_log_level level)
{
	if (max_sge > PVB_UD_SGES)
		return true;
	FI_LOG(&pvb_prov, level, FI_LOG_FABRIC,
	       "%s takes no datagrams: a receive needs %d scatter entries, for data, GRH "
	       "and excess, and the device has %d (max_sge)\n",
	       device, PVB_UD_SGES + 1, max_sge);
	return false;
}

bool pvb_ud_query_match(const struct pvb_ud_query *query,
			const struct pvb_device_addr *entry)
{
	const bool ethernet = entry->port_attr.link_layer == IBV_LINK_LAYER_ETHERNET;

	if (entry->iwarp || entry->port_attr.state != IBV_PORT_ACTIVE)
		return false;
	if (!pvb_ud_device_fits(entry->device, entry->attr.max_sge, FI_LOG_INFO))
		return false;
	if (!pvb_ud_no_gid(&query->src) &&
	    memcmp(query->src.gid, entry->gid, sizeof(entry->gid)) != 0)
		return false;
	/* The other kind has no such groups, or rdma_cm decides on their GID. */
	if (query->dest_group && ethernet == (query->dest.gid[0] != 0))
		return false;
	/* The LID of a host on InfiniBand is not known, but for our own. */
	if (query->dest_host && !ethernet && !crn_addr_is_loopback(&query->peer.sa))
		return false;
	if (query->have_dest && !query->dest_host && !pvb_ud_group_gid(query->dest.gid) &&
	    !pvb_ud_reachable(&query->dest, ethernet))
		return false;
	return ud_host_matches(&query->host, entry);
}

bool pvb_ud_same_source(const struct pvb_device_addr *a, const struct pvb_device_addr *b)
{
	return a->port == b->port && !strcmp(a->device, b->device) &&
	       !memcmp(a->gid, b->gid, sizeof(a->gid));
}

static int ud_info_addr(void **out, size_t *len, const struct pvb_ud_addr *addr)
{
	*out = malloc(sizeof(*addr));
	if (!*out)
		return -FI_ENOMEM;
	memcpy(*out, addr, sizeof(*addr));
	*len = sizeof(*addr);
	return 0;
}

int pvb_ud_query_addrs(const struct pvb_ud_query *query,
		       const struct pvb_device_addr *entry, struct fi_info *info)
{
	struct pvb_ud_addr src = {.pkey = entry->pkey, .service = query->src.service};
	struct pvb_ud_addr dest = query->dest;
	int ret;

	memcpy(src.gid, entry->gid, sizeof(src.gid));
	if (entry->port_attr.link_layer != IBV_LINK_LAYER_ETHERNET)
		src.lid = entry->port_attr.lid;
	ret = ud_info_addr(&info->src_addr, &info->src_addrlen, &src);
	if (ret || !query->have_dest)
		return ret;
	if (query->dest_host && crn_addr_is_loopback(&query->peer.sa)) {
		dest = src;
		dest.qpn = query->dest.qpn;
	} else if (query->dest_host) {
		pvb_gid_of_addr(&query->peer.sa, dest.gid);
		dest.pkey = src.pkey;
	} else if (query->dest_group) {
		dest.pkey = src.pkey;
	}
	return ud_info_addr(&info->dest_addr, &info->dest_addrlen, &dest);
}

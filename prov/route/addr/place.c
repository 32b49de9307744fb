/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <rdma/fi_errno.h>
#include "addr.h"

/* IPv4, also inside IPv6. False: it is neither. */
static bool place_host(const struct sockaddr *addr, uint32_t *host)
{
	const union crn_addr *any = (const union crn_addr *)addr;
	uint32_t word;

	if (addr->sa_family == AF_INET) {
		*host = ntohl(any->in.sin_addr.s_addr);
		return true;
	}
	if (addr->sa_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&any->in6.sin6_addr))
		return false;
	memcpy(&word, any->in6.sin6_addr.s6_addr + 12, sizeof(word));
	*host = ntohl(word);
	return true;
}

/* ---- what a device sees ---- */

static int view_source(const struct rte_net *net, union crn_addr *source)
{
	const struct fi_info *info = net->info;
	union crn_addr router;
	int ret;

	if (info->src_addr &&
	    crn_addr_valid(info->src_addr, info->src_addrlen, info->addr_format) &&
	    !crn_addr_is_any(info->src_addr)) {
		memcpy(source, info->src_addr, crn_addr_len(info->src_addr));
		return 0;
	}
	if (!net->device->routers)
		return -FI_ENODATA;
	ret = rte_net_resolve(net, &net->device->router[0].uri, &router);
	return ret ? ret : crn_addr_source(&router.sa, source);
}

/* Of the interface with that address; all ones: there is none. */
static struct in_addr view_mask(uint32_t host)
{
	struct in_addr mask = {.s_addr = INADDR_NONE};
	const struct sockaddr_in *in;
	struct ifaddrs *list, *one;

	if (getifaddrs(&list))
		return mask;
	for (one = list; one; one = one->ifa_next) {
		in = (const struct sockaddr_in *)(const void *)one->ifa_addr;
		if (!in || in->sin_family != AF_INET || !one->ifa_netmask ||
		    ntohl(in->sin_addr.s_addr) != host)
			continue;
		in = (const struct sockaddr_in *)(const void *)one->ifa_netmask;
		mask = in->sin_addr;
		break;
	}
	freeifaddrs(list);
	return mask;
}

int rte_addr_see(const struct rte_config *config, const struct rte_net *net,
		 struct rte_addr_view *view)
{
	const struct rte_config_device *device = net->device;
	union crn_addr source;

	memset(view, 0, sizeof(*view));
	view->config = config;
	view->own.as = device->at.as;
	view->own.subnet = device->at.subnet;
	view->own.transport = (uint8_t)device->transport;
	if (view_source(net, &source) || !place_host(&source.sa, &view->own.host))
		return -FI_ENODATA;
	view->mask = view_mask(view->own.host);
	return 0;
}

/* ---- where an address is ---- */

static bool place_in_network(const struct rte_addr_view *view, uint32_t host)
{
	const uint32_t mask = ntohl(view->mask.s_addr);

	return (host & mask) == (view->own.host & mask);
}

static int place_plain(const struct rte_addr_view *view, const struct sockaddr *addr,
		       struct rte_end *end)
{
	const struct rte_config_prefix *prefix;
	uint32_t host;

	/* This host, by whatever address it calls itself. */
	if (addr->sa_family == AF_INET6 &&
	    (crn_addr_is_any(addr) || crn_addr_is_loopback(addr))) {
		end->host = view->own.host;
		return 0;
	}
	if (!place_host(addr, &host))
		return -FI_EADDRNOTAVAIL;
	prefix = rte_config_prefix_find(view->config, addr);
	if (prefix) {
		end->as = prefix->to.as;
		end->subnet = prefix->to.subnet;
		end->host = host;
		return 0;
	}
	if (place_in_network(view, host))
		end->host = host;
	else if (crn_addr_is_any(addr) || crn_addr_is_loopback(addr))
		end->host = view->own.host;
	else
		return -FI_EHOSTUNREACH;
	return 0;
}

int rte_addr_place(const struct rte_addr_view *view, const struct sockaddr *addr,
		   struct rte_end *end)
{
	if (rte_addr_parse(addr, end))
		return 0;
	*end = view->own;
	end->port = crn_addr_port(addr);
	return place_plain(view, addr, end);
}

int rte_addr_text(const struct rte_addr_view *view, const char *text, struct rte_end *end)
{
	union crn_addr addr = {0};
	struct rte_uri uri;
	const char *why;
	uint32_t host;
	int ret;

	if (rte_uri_parse(text, &uri, &why))
		return -FI_EINVAL;
	ret = crn_addr_resolve(uri.host, NULL, AF_UNSPEC, false,
			       uri.kind != RTE_HOST_NAME, &addr);
	if (ret)
		return ret;
	crn_addr_set_port(&addr.sa, uri.port);
	if (!uri.routed)
		return rte_addr_place(view, &addr.sa, end);
	if (!place_host(&addr.sa, &host))
		return -FI_EADDRNOTAVAIL;
	*end = (struct rte_end){
		.as = uri.as,
		.subnet = uri.subnet,
		.host = host,
		.port = uri.port,
		.transport = (uint8_t)uri.transport,
	};
	return 0;
}

bool rte_addr_own(const struct rte_addr_view *view, const struct sockaddr *addr,
		  struct rte_end *end)
{
	struct rte_end named;
	uint32_t host;

	*end = view->own;
	end->port = crn_addr_port(addr);
	if (rte_addr_parse(addr, &named))
		return rte_addr_near(&named, &view->own) &&
		       (named.host == view->own.host || !named.host);
	if (crn_addr_is_any(addr) || crn_addr_is_loopback(addr))
		return true;
	return place_host(addr, &host) && host == view->own.host;
}

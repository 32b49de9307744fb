/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "inside.h"

/*
 * Flags of fi_getinfo that libfabric's utility providers use, the same in 1.17 and 2.x:
 * core providers only, and those too that FI_PROVIDER hides.
 */
#define NET_CORE_ONLY (1ULL << 59)
#define NET_HIDDEN (1ULL << 60)

#define NET_CAPS                                                                     \
	(FI_MSG | FI_SEND | FI_RECV | FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | \
	 FI_REMOTE_WRITE)

static struct fi_info *net_hints(const struct rte_config_device *device, const char *prov,
				 uint64_t order)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return NULL;
	hints->caps = NET_CAPS;
	hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	/* All of a port's objects are guarded by one lock of its owner's. */
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->tx_attr->msg_order = order;
	hints->rx_attr->msg_order = order;
	hints->fabric_attr->prov_name = strdup(prov);
	if (device->fabric)
		hints->fabric_attr->name = strdup(device->fabric);
	if (device->domain)
		hints->domain_attr->name = strdup(device->domain);
	if (!hints->fabric_attr->prov_name ||
	    (device->fabric && !hints->fabric_attr->name) ||
	    (device->domain && !hints->domain_attr->name)) {
		fi_freeinfo(hints);
		return NULL;
	}
	return hints;
}

/* Where to look: an address of the device itself, or whom it has to reach. */
static const struct rte_uri *net_node(const struct rte_config_device *device,
				      uint64_t *flags)
{
	if (device->uri.text) {
		*flags |= FI_SOURCE;
		return &device->uri.uri;
	}
	return device->routers ? &device->router[0].uri : NULL;
}

static int net_ask_for(const struct rte_config_device *device, const char *prov,
		       uint64_t order, struct fi_info **info)
{
	uint64_t flags = NET_HIDDEN;
	const struct rte_uri *node = net_node(device, &flags);
	struct fi_info *hints = net_hints(device, prov, order);
	char service[8];
	int ret;

	if (!hints)
		return -FI_ENOMEM;
	if (!strchr(prov, ';'))
		flags |= NET_CORE_ONLY;
	if (node)
		snprintf(service, sizeof(service), "%u", node->port);
	ret = fi_getinfo(FI_VERSION(1, 17), node ? node->host : NULL,
			 node ? service : NULL, flags, hints, info);
	fi_freeinfo(hints);
	return ret;
}

/* All of the order, or that a message follows what was written into its slot. */
static int net_ask(const struct rte_config_device *device, const char *prov,
		   struct fi_info **info)
{
	const int ret = net_ask_for(device, prov, RTE_NET_ORDER, info);

	return ret == -FI_ENODATA
		       ? net_ask_for(device, prov, FI_ORDER_SAS | FI_ORDER_SAW, info)
		       : ret;
}

/* Whether the name that providers were asked for, if it is one, has an address. */
static bool net_resolves(const struct rte_config_device *device)
{
	uint64_t flags = 0;
	const struct rte_uri *node = net_node(device, &flags);
	union crn_addr addr;

	return !node || node->kind != RTE_HOST_NAME ||
	       !crn_addr_resolve(node->host, NULL, AF_UNSPEC, false, false, &addr);
}

static int net_find(const struct rte_config_device *device, const char *lower,
		    struct fi_info **info, char why[256])
{
	const struct rte_transport_attr *attr = rte_transport_attr(device->transport);
	const char *names[RTE_LOWER_MAX] = {NULL};
	int i, ret = -FI_ENODATA;

	if (!lower)
		lower = device->provider;
	names[0] = lower;
	if (!lower)
		memcpy(names, attr->lower, sizeof(names));
	for (i = 0; i < RTE_LOWER_MAX && names[i] && ret; i++)
		ret = net_ask(device, names[i], info);
	if (ret && !net_resolves(device))
		snprintf(why, 256,
			 "the name in %.200s does not resolve: see /etc/hosts and DNS",
			 device->uri.text ? device->uri.text : device->router[0].text);
	else if (ret)
		snprintf(why, 256,
			 "no provider%s%s for transport %s (fi_info -l lists them): %s",
			 lower ? " " : "", lower ? lower : "", attr->name,
			 fi_strerror(-ret));
	return ret;
}

/* What is opened from it has no destination yet, and no port. */
static struct fi_info *net_template(const struct fi_info *answer)
{
	struct fi_info *info = fi_dupinfo(answer);

	if (!info)
		return NULL;
	free(info->dest_addr);
	info->dest_addr = NULL;
	info->dest_addrlen = 0;
	if (info->src_addr)
		crn_addr_set_port(info->src_addr, 0);
	info->tx_attr->op_flags = 0;
	info->rx_attr->op_flags = 0;
	return info;
}

static bool net_named(const char *wanted, const char *name)
{
	return !wanted || (name && !strcmp(wanted, name));
}

/* Providers may pass over the names of hints, as tcp does that of a domain. */
static const struct fi_info *net_pick(const struct rte_config_device *device,
				      const struct fi_info *answers)
{
	while (answers && !(net_named(device->fabric, answers->fabric_attr->name) &&
			    net_named(device->domain, answers->domain_attr->name)))
		answers = answers->next;
	return answers;
}

int rte_net_open(const struct rte_config_device *device, const char *lower,
		 struct rte_net **out, char why[256])
{
	struct rte_net *net = calloc(1, sizeof(*net));
	struct fi_info *answer = NULL;
	const struct fi_info *picked;
	int ret;

	*why = 0;
	if (!net)
		return -FI_ENOMEM;
	net->device = device;
	ret = net_find(device, lower, &answer, why);
	if (ret)
		goto err;
	picked = net_pick(device, answer);
	if (!picked) {
		snprintf(why, 256, "%s has no domain of the names that it should have",
			 answer->fabric_attr->prov_name);
		fi_freeinfo(answer);
		ret = -FI_ENODATA;
		goto err;
	}
	snprintf(net->prov, sizeof(net->prov), "%s", picked->fabric_attr->prov_name);
	net->info = net_template(picked);
	ret = net->info ? fi_fabric(net->info->fabric_attr, &net->fabric, NULL)
			: -FI_ENOMEM;
	fi_freeinfo(answer);
	if (ret) {
		snprintf(why, 256, "fabric of %s: %s", net->prov, fi_strerror(-ret));
		goto err;
	}
	*out = net;
	return 0;
err:
	fi_freeinfo(net->info);
	free(net);
	return ret;
}

void rte_net_close(struct rte_net *net)
{
	fi_close(&net->fabric->fid);
	fi_freeinfo(net->info);
	free(net);
}

static int family_of(const struct rte_net *net)
{
	switch (net->info->addr_format) {
	case FI_SOCKADDR_IN:
		return AF_INET;
	case FI_SOCKADDR_IN6:
		return AF_INET6;
	default:
		return AF_UNSPEC;
	}
}

int rte_net_resolve(const struct rte_net *net, const struct rte_uri *uri,
		    union crn_addr *addr)
{
	char service[8];

	snprintf(service, sizeof(service), "%u", uri->port);
	return crn_addr_resolve(uri->host, service, family_of(net), false,
				uri->kind != RTE_HOST_NAME, addr);
}

uint32_t rte_net_resolve_all(const struct rte_net *net, const struct rte_uri *uri,
			     union crn_addr addr[RTE_NET_TURNS])
{
	char service[8];
	int ret;

	if (uri->kind != RTE_HOST_NAME)
		return !rte_net_resolve(net, uri, &addr[0]);
	snprintf(service, sizeof(service), "%u", uri->port);
	ret = crn_addr_resolve_all(uri->host, service, family_of(net), addr,
				   RTE_NET_TURNS);
	return ret < 0 ? 0 : (uint32_t)ret;
}

int rte_net_resolve_turn(const struct rte_net *net, const struct rte_uri *uri,
			 uint32_t turn, union crn_addr *addr)
{
	union crn_addr all[RTE_NET_TURNS];

	if (turn >= rte_net_resolve_all(net, uri, all))
		return -FI_ENODATA;
	*addr = all[turn];
	return 0;
}

void rte_net_uri(const struct rte_net *net, const struct sockaddr *addr,
		 struct rte_uri *uri)
{
	const union crn_addr *any = (const union crn_addr *)addr;

	memset(uri, 0, sizeof(*uri));
	uri->transport = net->device->transport;
	uri->port = crn_addr_port(addr);
	if (addr->sa_family == AF_INET6) {
		uri->kind = RTE_HOST_IN6;
		memcpy(uri->addr, &any->in6.sin6_addr, 16);
		inet_ntop(AF_INET6, uri->addr, uri->host, sizeof(uri->host));
	} else {
		uri->kind = RTE_HOST_IN;
		memcpy(uri->addr, &any->in.sin_addr, 4);
		inet_ntop(AF_INET, uri->addr, uri->host, sizeof(uri->host));
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "rpc.h"

int lnk_rpc_open(struct lnk *link, const struct lnk_rpc *wish, const char *provider,
		 const char *host, const char *port, uint64_t flags)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	if (!hints)
		return lnk_failed(link, "fi_allocinfo", -FI_ENOMEM);
	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_MSG;
	hints->ep_attr->protocol = FI_PROTO_CAIRN_RPC;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->tx_attr->size = wish->calls;
	hints->rx_attr->size = wish->receives;
	hints->fabric_attr->prov_name = strdup(provider);
	ret = fi_getinfo(fi_version(), host, port, flags, hints, &link->info);
	fi_freeinfo(hints);
	if (!ret)
		return lnk_open(link);
	return lnk_fail(link, ret,
			"no way to %s with provider \"%s\": %s; "
			"FI_LOG_LEVEL=warn may tell why",
			host ? host : "any address", provider, fi_strerror(-ret));
}

static int option(struct lnk *link, int name, const size_t *value)
{
	if (!*value)
		return 0;
	return fi_setopt(&link->ep->fid, FI_OPT_ENDPOINT, name, value, sizeof(*value));
}

int lnk_rpc_endpoint(struct lnk *link, struct fi_info *info, const struct lnk_rpc *wish,
		     struct fi_cairn_rpc_limits *limits)
{
	struct fi_cq_attr attr = {
		.format = FI_CQ_FORMAT_DATA,
		.wait_obj = FI_WAIT_UNSPEC,
		.size = wish->entries,
	};
	int ret;

	/* That of a connection request has the provider's defaults. */
	if (wish->calls)
		info->tx_attr->size = wish->calls;
	if (wish->receives)
		info->rx_attr->size = wish->receives;
	ret = lnk_endpoint(link, info, &attr, 0);
	if (ret)
		return ret;
	ret = option(link, FI_OPT_CAIRN_RPC_CALLS, &wish->calls);
	if (!ret)
		ret = option(link, FI_OPT_CAIRN_RPC_GRANT, &wish->grant);
	if (!ret)
		ret = fi_enable(link->ep);
	if (ret)
		return lnk_failed(link, "cannot open an endpoint", ret);
	return lnk_rpc_limits(link, limits);
}

int lnk_rpc_limits(struct lnk *link, struct fi_cairn_rpc_limits *limits)
{
	size_t len = sizeof(*limits);

	return lnk_failed(link, "fi_getopt",
			  fi_getopt(&link->ep->fid, FI_OPT_ENDPOINT,
				    FI_OPT_CAIRN_RPC_LIMITS, limits, &len));
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "failover.h"

static int said(const char *what, int ret)
{
	if (ret)
		fprintf(stderr, "%s: %s\n", what, fi_strerror(-ret));
	return ret;
}

static struct fi_info *find(const char *node, const char *port, uint64_t flags)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;
	int ret = -FI_ENOMEM;

	if (hints) {
		hints->caps = FI_MSG | FI_RMA;
		hints->mode = FI_CONTEXT | FI_CONTEXT2;
		hints->ep_attr->type = FI_EP_MSG;
		hints->domain_attr->mr_mode =
			FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
		hints->fabric_attr->prov_name = strdup("route");
		ret = fi_getinfo(FI_VERSION(1, 14), node, port, flags, hints, &info);
	}
	fi_freeinfo(hints);
	said("fi_getinfo", ret);
	return info;
}

int fvo_link_open(struct fvo_link *link, const char *node, const char *port, bool listens)
{
	struct fi_eq_attr eq = {.wait_obj = FI_WAIT_NONE};
	struct fi_cq_attr cq = {
		.size = FVO_CONNS * (FVO_WINDOW + FVO_RECEIVES) * 2,
		.format = FI_CQ_FORMAT_DATA,
		.wait_obj = FI_WAIT_NONE,
	};
	int ret;

	memset(link, 0, sizeof(*link));
	link->info = find(node, port, listens ? FI_SOURCE : 0);
	if (!link->info)
		return -FI_ENODATA;
	ret = fi_fabric(link->info->fabric_attr, &link->fabric, NULL);
	if (!ret)
		ret = fi_domain(link->fabric, link->info, &link->domain, NULL);
	if (!ret)
		ret = fi_eq_open(link->fabric, &eq, &link->eq, NULL);
	if (!ret)
		ret = fi_cq_open(link->domain, &cq, &link->cq, NULL);
	return said("the objects of libfabric", ret);
}

void fvo_link_close(struct fvo_link *link)
{
	if (link->cq)
		said("fi_close of the completion queue", fi_close(&link->cq->fid));
	if (link->domain)
		said("fi_close of the domain", fi_close(&link->domain->fid));
	if (link->eq)
		said("fi_close of the event queue", fi_close(&link->eq->fid));
	if (link->fabric)
		said("fi_close of the fabric", fi_close(&link->fabric->fid));
	fi_freeinfo(link->info);
}

int fvo_endpoint(const struct fvo_link *link, struct fi_info *info, void *context,
		 struct fid_ep **ep)
{
	int ret = fi_endpoint(link->domain, info, ep, context);

	if (ret) {
		*ep = NULL;
		return said("fi_endpoint", ret);
	}
	ret = fi_ep_bind(*ep, &link->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(*ep, &link->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_enable(*ep);
	return said("an endpoint", ret);
}

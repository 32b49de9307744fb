/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rdma/fi_ext_cairn.h>
#include "link.h"

#define ENTRIES 1024

uint64_t nfc_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

int nfc_fail(struct nfc_link *link, int ret, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(link->why, sizeof(link->why), format, args);
	va_end(args);
	return ret;
}

int nfc_failed(struct nfc_link *link, const char *what, ssize_t ret)
{
	if (!ret)
		return 0;
	return nfc_fail(link, (int)ret, "%s: %s", what, fi_strerror((int)-ret));
}

static int find(struct nfc_link *link)
{
	const struct nfc_where *where = link->where;
	struct fi_info *hints = fi_allocinfo();
	int ret;

	if (!hints)
		return nfc_failed(link, "fi_allocinfo", -FI_ENOMEM);
	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_MSG;
	hints->ep_attr->protocol = FI_PROTO_CAIRN_RPC;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->fabric_attr->prov_name = strdup(where->provider);
	ret = fi_getinfo(fi_version(), where->host, where->port, 0, hints, &link->info);
	fi_freeinfo(hints);
	if (!ret)
		return 0;
	return nfc_fail(link, ret,
			"no way to %s with provider \"%s\": %s; "
			"FI_LOG_LEVEL=warn may tell why",
			where->host, where->provider, fi_strerror(-ret));
}

int nfc_link_open(struct nfc_link *link, const struct nfc_where *where)
{
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_UNSPEC};
	int ret;

	*link = (struct nfc_link){.where = where};
	ret = find(link);
	if (ret)
		return ret;
	ret = fi_fabric(link->info->fabric_attr, &link->fabric, NULL);
	if (!ret)
		ret = fi_eq_open(link->fabric, &eq_attr, &link->eq, NULL);
	if (!ret)
		ret = fi_domain(link->fabric, link->info, &link->domain, NULL);
	return nfc_failed(link, "cannot open the device", ret);
}

static void close_one(void *fid)
{
	if (fid)
		fi_close(fid);
}

void nfc_link_hang_up(struct nfc_link *link)
{
	close_one(link->ep);
	close_one(link->cq);
	link->ep = NULL;
	link->cq = NULL;
}

void nfc_link_close(struct nfc_link *link)
{
	nfc_link_hang_up(link);
	close_one(link->domain);
	close_one(link->eq);
	close_one(link->fabric);
	fi_freeinfo(link->info);
}

int nfc_link_endpoint(struct nfc_link *link)
{
	struct fi_cq_attr attr = {
		.format = FI_CQ_FORMAT_DATA,
		.wait_obj = FI_WAIT_UNSPEC,
		.size = ENTRIES,
	};
	struct fi_cairn_rpc_limits limits;
	size_t len = sizeof(limits);
	int ret;

	ret = fi_cq_open(link->domain, &attr, &link->cq, NULL);
	if (!ret)
		ret = fi_endpoint(link->domain, link->info, &link->ep, NULL);
	if (!ret)
		ret = fi_ep_bind(link->ep, &link->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(link->ep, &link->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_enable(link->ep);
	if (!ret)
		ret = fi_getopt(&link->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RPC_LIMITS,
				&limits, &len);
	if (ret)
		return nfc_failed(link, "cannot open an endpoint", ret);
	link->inline_bytes = limits.recv_inline;
	return 0;
}

static int event_error(struct nfc_link *link)
{
	struct fi_eq_err_entry error = {0};

	fi_eq_readerr(link->eq, &error, 0);
	if (!error.err)
		error.err = FI_EOTHER;
	return nfc_fail(link, -error.err, "no connection to %s, port %s: %s",
			link->where->host, link->where->port,
			error.err == FI_ECONNREFUSED ? "no NFS over RDMA there"
						     : fi_strerror(error.err));
}

/* Events of an endpoint that is closed may come before. */
int nfc_link_connect(struct nfc_link *link)
{
	const uint64_t deadline = nfc_now() + 1000u * (unsigned)link->where->timeout;
	struct fi_eq_cm_entry entry;
	uint64_t now;
	uint32_t event;
	ssize_t ret;

	ret = fi_connect(link->ep, link->info->dest_addr, NULL, 0);
	if (ret)
		return nfc_failed(link, "fi_connect", ret);
	while ((now = nfc_now()) < deadline) {
		ret = fi_eq_sread(link->eq, &event, &entry, sizeof(entry),
				  (int)(deadline - now), 0);
		if (ret == -FI_EAVAIL)
			return event_error(link);
		if (ret == -FI_EINTR || ret == -FI_EAGAIN || ret == -FI_ETIMEDOUT)
			continue;
		if (ret < 0)
			return nfc_failed(link, "fi_eq_sread", ret);
		if (entry.fid != &link->ep->fid)
			continue;
		if (event == FI_CONNECTED)
			return 0;
		return nfc_fail(link, -FI_ECONNRESET, "%s ended the connection",
				link->where->host);
	}
	return nfc_fail(link, -FI_ETIMEDOUT, "no connection to %s, port %s, in %d s",
			link->where->host, link->where->port, link->where->timeout);
}

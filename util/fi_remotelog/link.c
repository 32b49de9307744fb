/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "link.h"
#include "link/loopback.h"

/* A look at the event queue costs more than one at the completion queue. */
#define RLG_IDLE 1024u

uint64_t rlg_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void rlg_say(const char *format, ...)
{
	va_list args;

	fputs("fi_remotelog: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

int rlg_failed(const char *what, ssize_t ret)
{
	if (ret)
		rlg_say("%s: %s", what, fi_strerror((int)-ret));
	return (int)ret;
}

/* --- opening */

static struct fi_info *rlg_hints(const struct rlg_options *options, bool durable)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return NULL;
	hints->caps = FI_MSG | FI_RMA | (durable ? FI_RMA_PMEM : 0);
	hints->mode = FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	/* Everything is polled by the one thread. */
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
	hints->tx_attr->size = RLG_ACTS * options->depth + 16;
	hints->tx_attr->inject_size = 96;
	hints->rx_attr->size = RLG_RECEIVES;
	hints->fabric_attr->prov_name = strdup(options->provider);
	return hints;
}

/* Without persistent memory's capability the methods by hand can still be tried. */
static int rlg_link_info(struct rlg_link *link, bool listens)
{
	const struct rlg_options *options = link->options;
	const char *port = options->port ? options->port_text : NULL;
	const uint64_t flags = listens ? FI_SOURCE : 0;
	struct fi_info *hints;
	int durable, ret = -FI_ENODATA;

	for (durable = 1; durable >= 0 && ret; durable--) {
		hints = rlg_hints(options, durable);
		if (!hints)
			return rlg_failed("fi_allocinfo", -FI_ENOMEM);
		ret = fi_getinfo(FI_VERSION(1, 17), options->address, port, flags, hints,
				 &link->info);
		fi_freeinfo(hints);
		link->durable = durable;
	}
	if (ret)
		rlg_say("no device of provider %s%s%s does it: %s; FI_LOG_LEVEL=info "
			"tells why",
			options->provider, options->address ? " for " : "",
			options->address ? options->address : "", fi_strerror(-ret));
	return ret;
}

static int rlg_link_listen(struct rlg_link *link)
{
	const char *address = link->options->address;
	int ret;

	if (lnk_name_is_loopback(link->info, address))
		rlg_say("%s is a loopback address in /etc/hosts: no other host can "
			"connect; name an address of the network",
			address);
	ret = fi_passive_ep(link->fabric, link->info, &link->pep, NULL);
	if (!ret)
		ret = fi_pep_bind(link->pep, &link->eq->fid, 0);
	if (!ret)
		ret = fi_listen(link->pep);
	return rlg_failed("cannot listen", ret);
}

int rlg_link_open(struct rlg_link *link, const struct rlg_options *options, bool listens)
{
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_UNSPEC};
	int ret;

	*link = (struct rlg_link){.options = options};
	ret = rlg_link_info(link, listens);
	if (ret)
		return ret;
	ret = fi_fabric(link->info->fabric_attr, &link->fabric, NULL);
	if (!ret)
		ret = fi_eq_open(link->fabric, &eq_attr, &link->eq, NULL);
	if (!ret)
		ret = fi_domain(link->fabric, link->info, &link->domain, NULL);
	if (ret)
		return rlg_failed("cannot open the device", ret);
	return listens ? rlg_link_listen(link) : 0;
}

static void rlg_close(void *fid)
{
	if (fid)
		fi_close(fid);
}

void rlg_link_hang_up(struct rlg_link *link)
{
	rlg_close(link->ep);
	rlg_close(link->cq);
	link->ep = NULL;
	link->cq = NULL;
}

void rlg_link_close(struct rlg_link *link)
{
	rlg_link_hang_up(link);
	rlg_close(link->pep);
	rlg_close(link->domain);
	rlg_close(link->eq);
	rlg_close(link->fabric);
	fi_freeinfo(link->info);
}

union rlg_name {
	struct sockaddr_storage any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

int rlg_link_port(struct rlg_link *link, unsigned int *port)
{
	union rlg_name name;
	size_t len = sizeof(name);
	int ret;

	ret = fi_getname(&link->pep->fid, &name, &len);
	if (ret)
		return rlg_failed("fi_getname", ret);
	*port = ntohs(name.any.ss_family == AF_INET6 ? name.in6.sin6_port
						     : name.in.sin_port);
	return 0;
}

int rlg_link_address(struct rlg_link *link, char *text)
{
	union rlg_name name;
	size_t len = sizeof(name);
	int ret;

	ret = fi_getname(&link->ep->fid, &name, &len);
	if (ret)
		return rlg_failed("fi_getname", ret);
	if (name.any.ss_family == AF_INET6)
		inet_ntop(AF_INET6, &name.in6.sin6_addr, text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET, &name.in.sin_addr, text, INET6_ADDRSTRLEN);
	return 0;
}

/* --- connecting */

/* What one connection leaves in its queue is no business of the next. */
int rlg_link_endpoint(struct rlg_link *link, struct fi_info *info)
{
	struct fi_cq_attr attr = {
		.format = FI_CQ_FORMAT_DATA,
		.wait_obj = FI_WAIT_NONE,
		.size = RLG_RECEIVES + info->tx_attr->size,
	};
	int ret;

	ret = fi_cq_open(link->domain, &attr, &link->cq, NULL);
	if (!ret)
		ret = fi_endpoint(link->domain, info, &link->ep, NULL);
	if (!ret)
		ret = fi_ep_bind(link->ep, &link->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(link->ep, &link->cq->fid,
				 FI_TRANSMIT | FI_SELECTIVE_COMPLETION);
	if (!ret)
		ret = fi_ep_bind(link->ep, &link->cq->fid, FI_RECV);
	if (!ret)
		ret = fi_enable(link->ep);
	return rlg_failed("cannot open an endpoint", ret);
}

static int rlg_event_error(struct rlg_link *link)
{
	struct fi_eq_err_entry error = {0};

	fi_eq_readerr(link->eq, &error, 0);
	rlg_say("no connection%s%s: %s", link->options->address ? " to " : "",
		link->options->address ? link->options->address : "",
		error.err == FI_ECONNREFUSED ? "nobody listens there"
					     : fi_strerror(error.err));
	return error.err ? -error.err : -FI_EOTHER;
}

/* The next event, or an error; timeout in ms, -1: none. */
static int rlg_event(struct rlg_link *link, uint32_t wanted, int timeout,
		     struct fi_eq_cm_entry *entry)
{
	uint32_t event;
	ssize_t ret;

	do {
		ret = fi_eq_sread(link->eq, &event, entry, sizeof(*entry), timeout, 0);
	} while (ret == -FI_EINTR || (ret == -FI_EAGAIN && timeout < 0));
	if (ret == -FI_EAVAIL)
		return rlg_event_error(link);
	if (ret == -FI_EAGAIN || ret == -FI_ETIMEDOUT)
		return rlg_failed("no answer", -FI_ETIMEDOUT);
	if (ret < 0)
		return rlg_failed("fi_eq_sread", ret);
	if (event == wanted)
		return 0;
	if (event != FI_SHUTDOWN)
		rlg_say("event %u instead of %u", event, wanted);
	return -FI_ESHUTDOWN;
}

int rlg_link_request(struct rlg_link *link, struct fi_info **info)
{
	struct fi_eq_cm_entry entry;
	int ret;

	/* What remains of an earlier connection is no request. */
	do {
		ret = rlg_event(link, FI_CONNREQ, -1, &entry);
	} while (ret == -FI_ESHUTDOWN);
	if (!ret)
		*info = entry.info;
	return ret;
}

int rlg_link_connect(struct rlg_link *link)
{
	struct fi_eq_cm_entry entry;
	int ret;

	ret = fi_connect(link->ep, link->info->dest_addr, NULL, 0);
	if (ret)
		return rlg_failed("fi_connect", ret);
	ret = rlg_event(link, FI_CONNECTED, link->options->timeout * 1000, &entry);
	if (ret == -FI_ESHUTDOWN)
		rlg_say("the server has gone");
	return ret;
}

int rlg_link_accept(struct rlg_link *link)
{
	struct fi_eq_cm_entry entry;
	int ret;

	ret = fi_accept(link->ep, NULL, 0);
	if (ret)
		return rlg_failed("fi_accept", ret);
	return rlg_event(link, FI_CONNECTED, link->options->timeout * 1000, &entry);
}

/* --- memory */

int rlg_memory_open(struct rlg_link *link, struct rlg_memory *memory, uint8_t *at,
		    size_t size, uint64_t access, bool pm)
{
	static uint64_t next_key;
	int ret;

	memory->at = at;
	memory->size = size;
	ret = fi_mr_reg(link->domain, at, size, access, 0, ++next_key,
			pm ? FI_RMA_PMEM : 0, &memory->mr, NULL);
	if (!ret)
		memory->desc = fi_mr_desc(memory->mr);
	return ret;
}

void rlg_memory_close(struct rlg_memory *memory)
{
	rlg_close(memory->mr);
	memory->mr = NULL;
}

/* --- completions */

void rlg_link_wait(struct rlg_link *link)
{
	link->deadline = rlg_now() + (uint64_t)link->options->timeout * 1000000000u;
}

static int rlg_completion_error(struct rlg_link *link)
{
	struct fi_cq_err_entry error = {0};
	const char *reason;

	if (fi_cq_readerr(link->cq, &error, 0) < 1)
		return -FI_EOTHER;
	if (error.err == FI_ECANCELED || error.err == FI_ESHUTDOWN)
		return -FI_ESHUTDOWN;
	reason = fi_cq_strerror(link->cq, error.prov_errno, error.err_data, NULL, 0);
	rlg_say("an operation failed: %s (%s)", fi_strerror(error.err),
		reason ? reason : "");
	return error.err == FI_ETIMEDOUT ? -FI_ESHUTDOWN : -error.err;
}

/* Nothing has completed for a while: is the peer still there? */
static int rlg_link_idle(struct rlg_link *link)
{
	struct fi_eq_cm_entry entry;
	uint32_t event;
	ssize_t ret;

	ret = fi_eq_read(link->eq, &event, &entry, sizeof(entry), 0);
	if (ret > 0 && event == FI_SHUTDOWN && entry.fid == &link->ep->fid)
		return -FI_ESHUTDOWN;
	if (ret > 0 && event == FI_CONNREQ) {
		rlg_say("a second client is refused");
		fi_reject(link->pep, entry.info->handle, NULL, 0);
		fi_freeinfo(entry.info);
	}
	if (ret == -FI_EAVAIL)
		return rlg_event_error(link);
	if (link->deadline && rlg_now() > link->deadline) {
		rlg_say("nothing has completed for %d s: see --timeout",
			link->options->timeout);
		return -FI_ETIMEDOUT;
	}
	return 0;
}

int rlg_link_poll(struct rlg_link *link, struct fi_cq_data_entry *entry, size_t room)
{
	const ssize_t ret = fi_cq_read(link->cq, entry, room);

	if (ret > 0) {
		link->idle = 0;
		return (int)ret;
	}
	if (ret == -FI_EAVAIL)
		return rlg_completion_error(link);
	if (ret != -FI_EAGAIN)
		return rlg_failed("fi_cq_read", ret);
	return ++link->idle % RLG_IDLE ? 0 : rlg_link_idle(link);
}

/* --- messages */

int rlg_link_recv(struct rlg_link *link, uint8_t *at, size_t len, void *desc,
		  void *context)
{
	const ssize_t ret = fi_recv(link->ep, at, len, desc, 0, context);

	return ret == -FI_ESHUTDOWN ? (int)ret : rlg_failed("fi_recv", ret);
}

int rlg_link_inject(struct rlg_link *link, const uint8_t *bytes, size_t len,
		    int (*seen)(void *arg, const struct fi_cq_data_entry *entry),
		    void *arg)
{
	struct fi_cq_data_entry entry;
	ssize_t ret;
	int got;

	rlg_link_wait(link);
	while ((ret = fi_inject(link->ep, bytes, len, 0)) == -FI_EAGAIN) {
		got = rlg_link_poll(link, &entry, 1);
		if (got > 0)
			got = seen(arg, &entry);
		if (got < 0)
			return got;
	}
	return ret == -FI_ESHUTDOWN || ret == -FI_ENOTCONN ? -FI_ESHUTDOWN
							   : rlg_failed("fi_inject", ret);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "link.h"

uint64_t lnk_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t lnk_now_ms(void)
{
	return lnk_now() / 1000000u;
}

int lnk_fail(struct lnk *link, int ret, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(link->why, sizeof(link->why), format, args);
	va_end(args);
	return ret;
}

int lnk_failed(struct lnk *link, const char *what, ssize_t ret)
{
	if (!ret)
		return 0;
	return lnk_fail(link, (int)ret, "%s: %s", what, fi_strerror((int)-ret));
}

/* --- opening */

int lnk_open(struct lnk *link)
{
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_UNSPEC};
	int ret;

	ret = fi_fabric(link->info->fabric_attr, &link->fabric, NULL);
	if (!ret)
		ret = fi_eq_open(link->fabric, &eq_attr, &link->eq, NULL);
	if (!ret)
		ret = fi_domain(link->fabric, link->info, &link->domain, NULL);
	return lnk_failed(link, "cannot open the device", ret);
}

static void close_one(void *fid)
{
	if (fid)
		fi_close(fid);
}

void lnk_hang_up(struct lnk *link)
{
	close_one(link->ep);
	close_one(link->cq);
	link->ep = NULL;
	link->cq = NULL;
}

void lnk_close(struct lnk *link)
{
	lnk_hang_up(link);
	close_one(link->pep);
	close_one(link->domain);
	close_one(link->eq);
	close_one(link->fabric);
	fi_freeinfo(link->info);
}

int lnk_listen(struct lnk *link)
{
	int ret;

	ret = fi_passive_ep(link->fabric, link->info, &link->pep, NULL);
	if (!ret)
		ret = fi_pep_bind(link->pep, &link->eq->fid, 0);
	if (!ret)
		ret = fi_listen(link->pep);
	return lnk_failed(link, "cannot listen", ret);
}

int lnk_port(struct lnk *link, unsigned int *port)
{
	union {
		struct sockaddr_storage any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} name;
	size_t len = sizeof(name);
	int ret;

	ret = fi_getname(&link->pep->fid, &name, &len);
	if (!ret)
		*port = ntohs(name.any.ss_family == AF_INET6 ? name.in6.sin6_port
							     : name.in.sin_port);
	return lnk_failed(link, "fi_getname", ret);
}

/* What one connection leaves in its queue is no business of the next. */
int lnk_endpoint(struct lnk *link, struct fi_info *info, struct fi_cq_attr *attr,
		 uint64_t sends)
{
	int ret;

	ret = fi_cq_open(link->domain, attr, &link->cq, NULL);
	if (!ret)
		ret = fi_endpoint(link->domain, info, &link->ep, NULL);
	if (!ret)
		ret = fi_ep_bind(link->ep, &link->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(link->ep, &link->cq->fid, FI_TRANSMIT | sends);
	if (!ret)
		ret = fi_ep_bind(link->ep, &link->cq->fid, FI_RECV);
	return lnk_failed(link, "cannot open an endpoint", ret);
}

/* --- connecting */

static bool ours(const struct lnk *link, const struct fid *fid)
{
	return (link->ep && fid == &link->ep->fid) ||
	       (link->pep && fid == &link->pep->fid);
}

/* -FI_EAGAIN: it is about an endpoint that is closed. */
static int event_error(struct lnk *link)
{
	struct fi_eq_err_entry error = {0};

	if (fi_eq_readerr(link->eq, &error, 0) <= 0 ||
	    (error.fid && !ours(link, error.fid)))
		return -FI_EAGAIN;
	if (!error.err)
		error.err = FI_EOTHER;
	return lnk_fail(link, -error.err, "no connection%s%s: %s",
			*link->peer ? " to " : "", link->peer,
			error.err == FI_ECONNREFUSED ? link->refused
						     : fi_strerror(error.err));
}

void lnk_reject(struct lnk *link, struct fi_info *request)
{
	fi_reject(link->pep, request->handle, NULL, 0);
	fi_freeinfo(request);
}

/* One look, -FI_EAGAIN: not what is wanted. Who asks while another is answered is told.
 */
static int event_once(struct lnk *link, uint32_t wanted, int timeout,
		      struct fi_eq_cm_entry *entry)
{
	uint32_t event;
	ssize_t ret;

	ret = fi_eq_sread(link->eq, &event, entry, sizeof(*entry), timeout, 0);
	if (ret == -FI_EAVAIL)
		return event_error(link);
	if (ret == -FI_EINTR || ret == -FI_EAGAIN || ret == -FI_ETIMEDOUT)
		return -FI_EAGAIN;
	if (ret < 0)
		return lnk_failed(link, "fi_eq_sread", ret);
	if (event == wanted && (event == FI_CONNREQ || ours(link, entry->fid)))
		return 0;
	if (event == FI_CONNREQ)
		lnk_reject(link, entry->info);
	if (event == FI_SHUTDOWN && ours(link, entry->fid))
		return lnk_fail(link, -FI_ESHUTDOWN, "%s ended the connection",
				*link->peer ? link->peer : "the peer");
	return -FI_EAGAIN;
}

int lnk_event(struct lnk *link, uint32_t wanted, int timeout,
	      struct fi_eq_cm_entry *entry)
{
	const uint64_t begin = lnk_now_ms();
	uint64_t passed = 0;
	int ret;

	do {
		ret = event_once(link, wanted, timeout < 0 ? -1 : timeout - (int)passed,
				 entry);
		passed = lnk_now_ms() - begin;
	} while (ret == -FI_EAGAIN && (timeout < 0 || passed < (unsigned int)timeout));
	return ret;
}

static int connected(struct lnk *link, int timeout)
{
	struct fi_eq_cm_entry entry;
	const int ret = lnk_event(link, FI_CONNECTED, timeout * 1000, &entry);

	if (ret != -FI_EAGAIN)
		return ret;
	return lnk_fail(link, -FI_ETIMEDOUT, "no connection%s%s in %d s",
			*link->peer ? " to " : "", link->peer, timeout);
}

int lnk_connect(struct lnk *link, int timeout)
{
	const int ret = fi_connect(link->ep, link->info->dest_addr, NULL, 0);

	return ret ? lnk_failed(link, "fi_connect", ret) : connected(link, timeout);
}

int lnk_accept(struct lnk *link, int timeout)
{
	const int ret = fi_accept(link->ep, NULL, 0);

	return ret ? lnk_failed(link, "fi_accept", ret) : connected(link, timeout);
}

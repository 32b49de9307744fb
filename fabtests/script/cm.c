/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections between endpoints; a port is all of an address that counts. */
#include <stdlib.h>
#include <string.h>
#include "world.h"

#define SCR_FIRST_PORT 20000

static struct crn_list requests = {&requests, &requests};
static uint16_t last_port = SCR_FIRST_PORT;

static struct scr_ep *ep_of(struct fid_ep *fid)
{
	return crn_container_of(fid, struct scr_ep, fid);
}

static struct scr_eq *eq_of(struct scr_ep *ep)
{
	return crn_container_of(ep->ep.eq, struct scr_eq, eq);
}

void scr_port_choose(struct fi_info *info)
{
	scr_lock();
	if (!crn_addr_port(info->src_addr))
		crn_addr_set_port(info->src_addr, ++last_port);
	scr_unlock();
}

struct scr_request *scr_request_find(const struct fid *handle)
{
	struct scr_request *request;
	struct crn_list *pos;

	crn_list_for_each (pos, &requests) {
		request = crn_container_of(pos, struct scr_request, entry);
		if (&request->fid == handle && request->pep)
			return request;
	}
	return NULL;
}

static void request_free(struct scr_request *request)
{
	if (request->from)
		request->from->asked = NULL;
	crn_list_del(&request->entry);
	free(request);
}

int scr_request_refuse(struct scr_request *request, const void *data, size_t len)
{
	struct scr_ep *from = request->from;
	struct scr_event *event = NULL;

	if (from) {
		event = scr_event_new(eq_of(from), &from->fid.fid, 0, FI_ECONNREFUSED,
				      ECONNREFUSED, NULL, data, len);
		if (!event)
			return -FI_ENOMEM;
		from->state = SCR_SHUT;
		scr_event_send(event);
	}
	request_free(request);
	return 0;
}

void scr_requests_refuse(struct scr_pep *pep)
{
	struct crn_list *pos, *next;
	struct scr_request *request;

	crn_list_for_each_safe (pos, next, &requests) {
		request = crn_container_of(pos, struct scr_request, entry);
		if (request->pep == pep && scr_request_refuse(request, NULL, 0))
			request_free(request);
	}
}

/* The one who listens has a request to answer. */
static int request_send(struct scr_ep *ep, struct scr_pep *pep, const void *data,
			size_t len)
{
	struct scr_request *request = calloc(1, sizeof(*request));
	struct fi_info *info = request ? fi_dupinfo(pep->info) : NULL;
	struct scr_event *event;

	if (!info)
		goto err;
	request->fid.fclass = FI_CLASS_CONNREQ;
	info->handle = &request->fid;
	free(info->dest_addr);
	info->dest_addr = crn_addr_dup(ep->info->src_addr);
	info->dest_addrlen = ep->info->src_addrlen;
	if (!info->dest_addr)
		goto err;
	event = scr_event_new(pep->eq, &pep->fid.fid, FI_CONNREQ, 0, 0, info, data, len);
	if (!event)
		goto err;
	request->pep = pep;
	request->from = ep;
	crn_list_add_tail(&requests, &request->entry);
	ep->asked = request;
	scr_event_send(event);
	return 0;
err:
	if (info)
		fi_freeinfo(info);
	free(request);
	return -FI_ENOMEM;
}

static int connect_to(struct scr_ep *ep, const void *addr, const void *data, size_t len)
{
	struct scr_pep *pep = scr_pep_find(addr);
	struct scr_event *event;
	void *dest;
	int ret;

	if (ep->state != SCR_IDLE || ep->request)
		return -FI_EOPBADSTATE;
	dest = crn_addr_dup(addr);
	if (!dest)
		return -FI_ENOMEM;
	if (pep) {
		ret = request_send(ep, pep, data, len);
	} else {
		event = scr_event_new(eq_of(ep), &ep->fid.fid, 0, FI_ECONNREFUSED,
				      ECONNREFUSED, NULL, NULL, 0);
		ret = event ? 0 : -FI_ENOMEM;
		if (event)
			scr_event_send(event);
	}
	if (ret) {
		free(dest);
		return ret;
	}
	free(ep->info->dest_addr);
	ep->info->dest_addr = dest;
	ep->info->dest_addrlen = crn_addr_len(dest);
	ep->state = pep ? SCR_CONNECTING : SCR_SHUT;
	return 0;
}

static int ep_connect(struct fid_ep *fid, const void *addr, const void *param,
		      size_t paramlen)
{
	struct scr_ep *ep = ep_of(fid);
	struct scr_record record = {.call = SCR_CONNECT,
				    .fid = &fid->fid,
				    .len = paramlen};
	int ret = scr_enter(&record);

	if (ret)
		return ret;
	if (!addr || paramlen > scr_cm_data_limit())
		return -FI_EINVAL;
	ret = crn_ep_enable(&ep->ep);
	if (ret)
		return ret;
	scr_lock();
	ret = connect_to(ep, addr, param, paramlen);
	scr_unlock();
	return ret;
}

static struct scr_event *plain_event(struct scr_ep *ep, uint32_t number, const void *data,
				     size_t len)
{
	return scr_event_new(eq_of(ep), &ep->fid.fid, number, 0, 0, NULL, data, len);
}

static void join(struct scr_ep *ep, struct scr_ep *peer, struct scr_event *farewell)
{
	ep->peer = peer;
	ep->state = SCR_CONNECTED;
	scr_event_free(ep->farewell);
	ep->farewell = farewell;
}

static int accept_request(struct scr_ep *ep, const void *data, size_t len)
{
	struct scr_ep *from = ep->request ? ep->request->from : NULL;
	struct scr_event *events[4];
	int i, ret = 0;

	if (!ep->request)
		return -FI_EOPBADSTATE;
	if (!from)
		return -FI_ECONNABORTED;
	events[0] = plain_event(from, FI_CONNECTED, data, len);
	events[1] = plain_event(ep, FI_CONNECTED, NULL, 0);
	events[2] = plain_event(from, FI_SHUTDOWN, NULL, 0);
	events[3] = plain_event(ep, FI_SHUTDOWN, NULL, 0);
	for (i = 0; i < 4; i++)
		if (!events[i])
			ret = -FI_ENOMEM;
	if (ret) {
		for (i = 0; i < 4; i++)
			scr_event_free(events[i]);
		return ret;
	}
	request_free(ep->request);
	ep->request = NULL;
	join(from, ep, events[2]);
	join(ep, from, events[3]);
	scr_event_send(events[0]);
	scr_event_send(events[1]);
	return 0;
}

static int ep_accept(struct fid_ep *fid, const void *param, size_t paramlen)
{
	struct scr_ep *ep = ep_of(fid);
	struct scr_record record = {.call = SCR_ACCEPT,
				    .fid = &fid->fid,
				    .len = paramlen};
	int ret = scr_enter(&record);

	if (ret)
		return ret;
	if (paramlen > scr_cm_data_limit())
		return -FI_EINVAL;
	ret = crn_ep_enable(&ep->ep);
	if (ret)
		return ret;
	scr_lock();
	ret = accept_request(ep, param, paramlen);
	scr_unlock();
	return ret;
}

static void part(struct scr_ep *ep, bool tell)
{
	ep->peer = NULL;
	ep->state = SCR_SHUT;
	scr_work_flush(ep, false);
	if (tell && ep->farewell) {
		scr_event_send(ep->farewell);
		ep->farewell = NULL;
	}
}

void scr_cm_leave(struct scr_ep *ep, bool tell_self)
{
	struct scr_ep *peer = ep->peer;

	if (ep->request && scr_request_refuse(ep->request, NULL, 0))
		request_free(ep->request);
	ep->request = NULL;
	if (ep->asked)
		ep->asked->from = NULL;
	ep->asked = NULL;
	if (!peer)
		return;
	part(ep, tell_self);
	part(peer, true);
}

static int ep_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct scr_ep *ep = ep_of(fid);
	int ret = scr_enter(&(struct scr_record){.call = SCR_SHUTDOWN, .fid = &fid->fid});

	if (ret)
		return ret;
	scr_lock();
	if (ep->peer)
		scr_cm_leave(ep, true);
	else if (ep->state != SCR_SHUT)
		ret = -FI_ENOTCONN;
	scr_unlock();
	return ret;
}

void scr_break(struct fid *fid)
{
	scr_lock();
	scr_cm_leave(crn_container_of(fid, struct scr_ep, fid.fid), true);
	scr_unlock();
}

static int ep_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct scr_ep *ep = crn_container_of(fid, struct scr_ep, fid.fid);
	int ret = scr_enter(&(struct scr_record){.call = SCR_SETNAME, .fid = fid});

	if (ret)
		return ret;
	if (!crn_addr_valid(addr, addrlen, FI_SOCKADDR_IN))
		return -FI_EINVAL;
	memcpy(ep->info->src_addr, addr, sizeof(struct sockaddr_in));
	return 0;
}

static int ep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct scr_ep *ep = crn_container_of(fid, struct scr_ep, fid.fid);
	int ret = scr_enter(&(struct scr_record){.call = SCR_GETNAME, .fid = fid});

	return ret ? ret : crn_addr_copy_out(ep->info->src_addr, addr, addrlen);
}

static int ep_getpeer(struct fid_ep *fid, void *addr, size_t *addrlen)
{
	struct scr_ep *ep = ep_of(fid);
	int ret = scr_enter(&(struct scr_record){.call = SCR_GETPEER, .fid = &fid->fid});

	if (ret)
		return ret;
	if (!ep->info->dest_addr)
		return -FI_ENOTCONN;
	return crn_addr_copy_out(ep->info->dest_addr, addr, addrlen);
}

struct fi_ops_cm scr_ep_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = ep_setname,
	.getname = ep_getname,
	.getpeer = ep_getpeer,
	.connect = ep_connect,
	.listen = crn_nosys_listen,
	.accept = ep_accept,
	.reject = crn_nosys_reject,
	.shutdown = ep_shutdown,
	.join = crn_nosys_join,
};

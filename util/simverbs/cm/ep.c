/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_getaddrinfo and rdma_create_ep: an id that is ready to connect or to listen. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include "cm.h"

/* ms, as librdmacm */
#define SVB_EP_PATIENCE 2000

static int svb_ep_passive(struct svb_cm_id *id, struct rdma_addrinfo *res,
			  struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
	int ret = rdma_bind_addr(&id->id, res->ai_src_addr);

	if (ret || !attr)
		return ret;
	id->qp_attr = malloc(sizeof(*attr));
	if (!id->qp_attr)
		return svb_cm_result(ENOMEM);
	*id->qp_attr = *attr;
	id->qp_attr->qp_type = res->ai_qp_type;
	id->id.pd = pd ? pd : id->id.pd;
	return 0;
}

static int svb_ep_active(struct svb_cm_id *id, struct rdma_addrinfo *res,
			 struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	int ret = rdma_resolve_addr(&id->id, res->ai_src_addr, res->ai_dst_addr,
				    SVB_EP_PATIENCE);

	if (!ret)
		ret = rdma_resolve_route(&id->id, SVB_EP_PATIENCE);
	if (!ret && attr) {
		attr->qp_type = res->ai_qp_type;
		ret = rdma_create_qp(&id->id, pd, attr);
	}
	if (ret || !res->ai_connect_len)
		return ret;
	id->connect = malloc(res->ai_connect_len);
	if (!id->connect)
		return svb_cm_result(ENOMEM);
	memcpy(id->connect, res->ai_connect, res->ai_connect_len);
	id->connect_len = res->ai_connect_len;
	return 0;
}

SVB_API int rdma_create_ep(struct rdma_cm_id **out, struct rdma_addrinfo *res,
			   struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct rdma_cm_id *id;
	int ret, err;

	ret = rdma_create_id(NULL, &id, NULL, res->ai_port_space);
	if (ret)
		return ret;
	if (res->ai_flags & RAI_PASSIVE)
		ret = svb_ep_passive(svb_cm_id(id), res, pd, attr);
	else
		ret = svb_ep_active(svb_cm_id(id), res, pd, attr);
	if (ret) {
		err = errno;
		rdma_destroy_ep(id);
		return svb_cm_result(err);
	}
	*out = id;
	return 0;
}

SVB_API void rdma_destroy_ep(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	if (id->srq)
		rdma_destroy_srq(id);
	rdma_destroy_id(id);
}

SVB_API int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **out)
{
	struct svb_cm_id *id = svb_cm_id(listen);
	struct ibv_qp_init_attr attr;
	struct rdma_cm_event *event;
	int err = 0;

	if (!id->sync)
		return svb_cm_result(EINVAL);
	if (listen->event) {
		rdma_ack_cm_event(listen->event);
		listen->event = NULL;
	}
	if (rdma_get_cm_event(listen->channel, &event))
		return -1;
	if (event->status)
		err = event->status < 0 ? -event->status : event->status;
	else if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		err = EINVAL;
	if (!err && id->qp_attr) {
		attr = *id->qp_attr;
		if (rdma_create_qp(event->id, listen->pd, &attr))
			err = errno;
	}
	if (err) {
		listen->event = event;
		return svb_cm_result(err);
	}
	*out = event->id;
	(*out)->event = event;
	return 0;
}

SVB_API void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	struct rdma_addrinfo *next;

	for (; res; res = next) {
		next = res->ai_next;
		free(res->ai_src_addr);
		free(res->ai_dst_addr);
		free(res->ai_src_canonname);
		free(res->ai_dst_canonname);
		free(res->ai_route);
		free(res->ai_connect);
		free(res);
	}
}

static bool svb_info_copy(struct sockaddr **to, socklen_t *to_len,
			  const struct sockaddr *from, socklen_t len)
{
	if (!from || !len)
		return true;
	*to = malloc(len);
	if (*to) {
		memcpy(*to, from, len);
		*to_len = len;
	}
	return *to;
}

static bool svb_info_fill(struct rdma_addrinfo *info, const struct addrinfo *found,
			  const struct rdma_addrinfo *hints)
{
	bool passive = hints && hints->ai_flags & RAI_PASSIVE;
	bool ok;

	info->ai_flags = hints ? hints->ai_flags : 0;
	info->ai_family = found->ai_family;
	info->ai_port_space =
		hints && hints->ai_port_space ? hints->ai_port_space : RDMA_PS_TCP;
	info->ai_qp_type = hints && hints->ai_qp_type		? hints->ai_qp_type
			   : info->ai_port_space == RDMA_PS_UDP ? IBV_QPT_UD
								: IBV_QPT_RC;
	if (info->ai_qp_type == IBV_QPT_UD && !(hints && hints->ai_port_space))
		info->ai_port_space = RDMA_PS_UDP;
	if (passive)
		return svb_info_copy(&info->ai_src_addr, &info->ai_src_len,
				     found->ai_addr, found->ai_addrlen);
	ok = svb_info_copy(&info->ai_dst_addr, &info->ai_dst_len, found->ai_addr,
			   found->ai_addrlen);
	return ok && (!hints || svb_info_copy(&info->ai_src_addr, &info->ai_src_len,
					      hints->ai_src_addr, hints->ai_src_len));
}

/*
 * AF_IB: node is a GID, or an address or a name of one, whose GID it becomes as ibacm
 * does it; service is the low part of a service ID.
 */
static int svb_info_gid(const char *node, const struct rdma_addrinfo *hints,
			union ibv_gid *gid)
{
	struct rdma_addrinfo ip = *hints, *found;
	const struct svb_port *port;
	uint32_t index;
	int ret;

	if (!node)
		return hints->ai_flags & RAI_PASSIVE ? 0 : EINVAL;
	if (inet_pton(AF_INET6, node, gid) == 1 &&
	    (svb_gid_is_group(gid) || svb_port_of_gid(gid)))
		return 0;
	ip.ai_flags &= ~RAI_FAMILY;
	ip.ai_flags |= RAI_PASSIVE;
	if (rdma_getaddrinfo(node, NULL, &ip, &found))
		return errno;
	port = svb_cm_addr_find(found->ai_src_addr, &index);
	ret = port ? 0 : ENODATA;
	if (port)
		*gid = port->gid[index];
	rdma_freeaddrinfo(found);
	return ret;
}

static bool svb_info_service(const char *service, uint16_t *number)
{
	char *end;
	unsigned long value = service ? strtoul(service, &end, 0) : 0;

	*number = (uint16_t)value;
	return !service || (end != service && !*end && value <= 0xffff);
}

static int svb_info_ib(struct rdma_addrinfo *info, const char *node, const char *service,
		       const struct rdma_addrinfo *hints)
{
	const struct svb_port *port;
	struct addrinfo found = {.ai_family = AF_IB,
				 .ai_addrlen = sizeof(struct sockaddr_ib)};
	union ibv_gid gid = {0};
	struct sockaddr_ib ib;
	uint16_t number;
	int ret = svb_join();

	if (!ret && svb_self.settings.link != SVB_LINK_IB)
		ret = EAFNOSUPPORT;
	if (!ret && !svb_info_service(service, &number))
		ret = EINVAL;
	if (!ret)
		ret = svb_info_gid(node, hints, &gid);
	if (ret)
		return ret;
	port = svb_port_by_index(0);
	svb_cm_addr_ib(&ib, gid.raw, port->pkey[0]);
	found.ai_addr = (struct sockaddr *)&ib;
	if (!svb_info_fill(info, &found, hints))
		return ENOMEM;
	found.ai_addr =
		hints->ai_flags & RAI_PASSIVE ? info->ai_src_addr : info->ai_dst_addr;
	svb_cm_addr_space(found.ai_addr, info->ai_port_space);
	svb_cm_addr_set_port(found.ai_addr, number);
	return 0;
}

/* Without a name: what the hints have, either address or both, and nothing else, as
 * librdmacm does. */
static int svb_info_of_hints(struct rdma_addrinfo *info,
			     const struct rdma_addrinfo *hints)
{
	info->ai_flags = hints->ai_flags;
	info->ai_family = hints->ai_family;
	info->ai_qp_type = hints->ai_qp_type;
	info->ai_port_space = hints->ai_port_space;
	return svb_info_copy(&info->ai_dst_addr, &info->ai_dst_len, hints->ai_dst_addr,
			     hints->ai_dst_len) &&
			       svb_info_copy(&info->ai_src_addr, &info->ai_src_len,
					     hints->ai_src_addr, hints->ai_src_len)
		       ? 0
		       : ENOMEM;
}

/* The errno that librdmacm makes of an answer of getaddrinfo. */
static int svb_info_errno(int code)
{
	switch (code) {
	case 0:
		return 0;
	case EAI_MEMORY:
		return ENOMEM;
	case EAI_AGAIN:
		return EAGAIN;
	case EAI_FAMILY:
	case EAI_ADDRFAMILY:
		return EAFNOSUPPORT;
	case EAI_SYSTEM:
		return errno;
	case EAI_BADFLAGS:
	case EAI_SERVICE:
	case EAI_SOCKTYPE:
		return EINVAL;
	default:
		return ENODATA;
	}
}

static int svb_info_lookup(struct rdma_addrinfo *info, const char *node,
			   const char *service, const struct rdma_addrinfo *hints)
{
	struct addrinfo want = {.ai_socktype = SOCK_STREAM}, *found;
	int ret;

	if (hints) {
		want.ai_flags = (hints->ai_flags & RAI_PASSIVE ? AI_PASSIVE : 0) |
				(hints->ai_flags & RAI_NUMERICHOST ? AI_NUMERICHOST : 0);
		want.ai_family =
			hints->ai_flags & RAI_FAMILY ? hints->ai_family : AF_UNSPEC;
	}
	ret = svb_info_errno(getaddrinfo(node, service, &want, &found));
	if (ret)
		return ret;
	ret = svb_info_fill(info, found, hints) ? 0 : ENOMEM;
	freeaddrinfo(found);
	return ret;
}

SVB_API int rdma_getaddrinfo(const char *node, const char *service,
			     const struct rdma_addrinfo *hints,
			     struct rdma_addrinfo **res)
{
	struct rdma_addrinfo *info;
	int ret;

	if (!node && !service && !hints)
		return svb_cm_result(EINVAL);
	info = calloc(1, sizeof(*info));
	if (!info)
		return svb_cm_result(ENOMEM);
	if ((node || service) && hints && hints->ai_flags & RAI_FAMILY &&
	    hints->ai_family == AF_IB)
		ret = svb_info_ib(info, node, service, hints);
	else if (node || service)
		ret = svb_info_lookup(info, node, service, hints);
	else
		ret = svb_info_of_hints(info, hints);
	if (ret) {
		rdma_freeaddrinfo(info);
		return svb_cm_result(ret);
	}
	*res = info;
	return 0;
}

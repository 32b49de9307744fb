/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_cm(3): calls of the program. */
#include <string.h>
#include <sys/random.h>
#include <cairn/nosys.h>
#include "cm.h"

static struct rte_pep *pep_of(struct fid_pep *pep)
{
	return crn_container_of(pep, struct rte_pep, fid);
}

/* ---- names ---- */

static int name_out(const struct rte_end *end, void *addr, size_t *addrlen)
{
	struct sockaddr_in6 in6;

	rte_addr_pack(end, &in6);
	return crn_addr_copy_out((struct sockaddr *)&in6, addr, addrlen);
}

static int ep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct rte_ep *ep = crn_container_of(fid, struct rte_ep, fid.fid);
	int ret;

	crn_lock(rte_lock_of(ep));
	ret = name_out(&ep->self, addr, addrlen);
	crn_unlock(rte_lock_of(ep));
	return ret;
}

static int ep_getpeer(struct fid_ep *fid, void *addr, size_t *addrlen)
{
	struct rte_ep *ep = rte_ep_of(fid);
	int ret = -FI_ENOTCONN;

	crn_lock(rte_lock_of(ep));
	if (ep->state >= RTE_EP_UP && ep->has_other)
		ret = name_out(&ep->other, addr, addrlen);
	crn_unlock(rte_lock_of(ep));
	return ret;
}

/* Who connects has no port of its own. */
static int ep_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct rte_ep *ep = crn_container_of(fid, struct rte_ep, fid.fid);
	struct rte_end end;
	int ret = 0;

	if (!crn_addr_valid(addr, addrlen, FI_FORMAT_UNSPEC) ||
	    !rte_addr_own(&ep->device->view, addr, &end))
		return -FI_EINVAL;
	crn_lock(rte_lock_of(ep));
	if (ep->state > RTE_EP_ENABLED)
		ret = -FI_EOPBADSTATE;
	else
		ep->self = end;
	crn_unlock(rte_lock_of(ep));
	return ret;
}

static int pep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct rte_pep *pep = crn_container_of(fid, struct rte_pep, fid.fid);

	return name_out(&pep->name, addr, addrlen);
}

static int pep_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct rte_pep *pep = crn_container_of(fid, struct rte_pep, fid.fid);
	struct rte_end end;

	if (pep->listener)
		return -FI_EOPBADSTATE;
	if (!crn_addr_valid(addr, addrlen, FI_FORMAT_UNSPEC) ||
	    !rte_addr_own(&pep->device->view, addr, &end))
		return -FI_EINVAL;
	pep->name = end;
	return 0;
}

/* ---- connecting ---- */

/* An address of any kind. */
static int connect_target(struct rte_ep *ep, const void *addr, struct rte_end *end)
{
	const struct sockaddr *sa = addr;

	if (!sa || (sa->sa_family != AF_INET && sa->sa_family != AF_INET6))
		return -FI_EINVAL;
	return rte_addr_place(&ep->device->view, sa, end);
}

static void connect_random(void *to, size_t len)
{
	if (getrandom(to, len, 0) != (ssize_t)len)
		memcpy(to, &(uint64_t){crn_now_ms()}, CRN_MIN(len, sizeof(uint64_t)));
}

/* Nobody can connect to an endpoint that connects; programs that print its address, or
 * tell connections apart by it, expect a port. From those of RFC 6335 section 6. */
static uint16_t connect_port(const uint8_t id[RTE_CONN_ID_LEN])
{
	return (uint16_t)(0xc000 | id[0] << 8 | id[1]);
}

static void connect_begin(struct rte_ep *ep, const struct rte_end *target)
{
	const struct rte_failure nobody = {
		.err = FI_EHOSTUNREACH,
		.why = "no router has an address",
	};

	ep->due = crn_now_ms() + ep->device->fabric->config->routing.connect_timeout;
	ep->other = *target;
	ep->has_other = true;
	connect_random(ep->id, sizeof(ep->id));
	if (!ep->self.port)
		ep->self.port = connect_port(ep->id);
	connect_random(&ep->router, sizeof(ep->router));
	if (ep->device->config->routers)
		ep->router %= ep->device->config->routers;
	ep->tried = 0;
	ep->asked = 0;
	ep->redirected = 0;
	rte_conn_wait(ep, ep->due);
	rte_conn_try(ep, &nobody);
}

static void keep_param(struct rte_ep *ep, const void *param, size_t len)
{
	ep->param_len = len;
	if (len)
		memcpy(ep->param, param, len);
}

/* Programs do without fi_enable. */
static int ep_prepare(struct rte_ep *ep, size_t paramlen)
{
	if (paramlen > RTE_PARAM_MAX)
		return -FI_EINVAL;
	return fi_enable(&ep->fid);
}

static int ep_connect(struct fid_ep *fid, const void *addr, const void *param,
		      size_t paramlen)
{
	struct rte_ep *ep = rte_ep_of(fid);
	struct rte_end target;
	int ret = connect_target(ep, addr, &target);

	if (!ret)
		ret = ep_prepare(ep, paramlen);
	if (ret)
		return ret;
	crn_lock(rte_lock_of(ep));
	if (ep->state != RTE_EP_ENABLED || ep->incoming) {
		ret = -FI_EOPBADSTATE;
	} else {
		keep_param(ep, param, paramlen);
		connect_begin(ep, &target);
	}
	crn_unlock(rte_lock_of(ep));
	return ret;
}

/* ---- accepting ---- */

static void accept_begin(struct rte_ep *ep)
{
	struct rte_incoming *incoming = ep->incoming;
	const struct rte_conn_req *req = &incoming->req;

	ep->peer = incoming->peer;
	ep->peer->ops = &rte_conn_ops;
	ep->peer->user = ep;
	ep->other = req->source;
	ep->has_other = true;
	memcpy(ep->id, req->id, sizeof(ep->id));
	ep->path = (struct rte_vc_path){
		.frag = CRN_MIN(req->frag, ep->device->config->frag),
		.eager = CRN_MIN(req->eager, RTE_EAGER),
		.direct = ep->peer->remote.role == RTE_CLIENT,
		.commit = req->features & RTE_FEATURE_COMMIT,
	};
	rte_conn_bypass(ep, req->features);
	ep->incoming = NULL;
	rte_incoming_taken(incoming);
	ep->state = RTE_EP_ACCEPTING;
	ep->due = crn_now_ms() + ep->device->fabric->config->routing.connect_timeout;
	rte_conn_wait(ep, ep->due);
	ep->say = RTE_SAY_CONN_REP;
	rte_conn_speak(ep);
}

static int ep_accept(struct fid_ep *fid, const void *param, size_t paramlen)
{
	struct rte_ep *ep = rte_ep_of(fid);
	int ret = ep_prepare(ep, paramlen);

	if (ret)
		return ret;
	crn_lock(rte_lock_of(ep));
	if (ep->state != RTE_EP_ENABLED || !ep->incoming) {
		ret = -FI_EOPBADSTATE;
	} else if (!ep->incoming->peer) {
		ret = -FI_ECONNABORTED;
	} else {
		keep_param(ep, param, paramlen);
		accept_begin(ep);
	}
	crn_unlock(rte_lock_of(ep));
	return ret;
}

static int ep_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct rte_ep *ep = rte_ep_of(fid);
	int ret;

	crn_lock(rte_lock_of(ep));
	ret = rte_conn_shutdown(ep);
	crn_unlock(rte_lock_of(ep));
	return ret;
}

struct fi_ops_cm rte_ep_cm = {
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

/* ---- listening ---- */

static int listen_at(struct rte_pep *pep, uint16_t port)
{
	struct rte_end end = pep->name;
	union crn_addr addr;
	int ret;

	end.port = port;
	rte_addr_lower(&end, &addr);
	ret = rte_listen(pep->device->port, &addr.sa, rte_incoming_request, pep,
			 &pep->listener);
	if (!ret)
		ret = rte_listener_name(pep->listener, &addr);
	if (!ret)
		pep->name.port = crn_addr_port(&addr.sa);
	return ret;
}

/* The program's port, or the first of those to listen on that is free. */
static int listen_anywhere(struct rte_pep *pep)
{
	const struct rte_config_routing *routing = &pep->fabric->config->routing;
	uint32_t port = routing->port_first;
	int ret;

	if (pep->name.port || !port)
		return listen_at(pep, pep->name.port);
	do
		ret = listen_at(pep, (uint16_t)port);
	while (ret && ++port <= routing->port_last);
	if (ret)
		RTE_WARN(FI_LOG_EP_CTRL,
			 "cannot listen at any of the ports %u to %u: %s; allow more of "
			 "them with ports in [routing]\n",
			 routing->port_first, routing->port_last, fi_strerror(-ret));
	return ret;
}

static int pep_listen(struct fid_pep *fid)
{
	struct rte_pep *pep = pep_of(fid);
	int ret;

	if (!pep->eq)
		return -FI_ENOEQ;
	crn_lock(&pep->device->lock);
	ret = pep->listener ? -FI_EOPBADSTATE : listen_anywhere(pep);
	crn_unlock(&pep->device->lock);
	return ret;
}

static int pep_reject(struct fid_pep *fid, fid_t handle, const void *param,
		      size_t paramlen)
{
	struct rte_pep *pep = pep_of(fid);
	struct rte_incoming *incoming;
	int ret = -FI_EINVAL;

	if (paramlen > RTE_PARAM_MAX)
		return -FI_EINVAL;
	crn_lock(&pep->device->lock);
	incoming = rte_incoming_find(pep->device, handle);
	if (incoming && incoming->state == RTE_INCOMING_ASKED && !incoming->taken) {
		rte_incoming_refuse(incoming, RTE_REJECTED, FI_ECONNREFUSED, param,
				    paramlen);
		ret = 0;
	}
	crn_unlock(&pep->device->lock);
	return ret;
}

struct fi_ops_cm rte_pep_cm = {
	.size = sizeof(struct fi_ops_cm),
	.setname = pep_setname,
	.getname = pep_getname,
	.getpeer = crn_nosys_getpeer,
	.connect = crn_nosys_connect,
	.listen = pep_listen,
	.accept = crn_nosys_accept,
	.reject = pep_reject,
	.shutdown = crn_nosys_shutdown,
	.join = crn_nosys_join,
};

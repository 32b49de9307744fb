/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_cm(3) of endpoints. */
#include <stdlib.h>
#include <cairn/nosys.h>
#include "cm.h"
#include "flags.h"
#include "internal.h"

void pvb_cm_forget(struct pvb_ep *ep)
{
	free(ep->attr.src);
	free(ep->attr.dest);
	ep->attr.src = NULL;
	ep->attr.dest = NULL;
	free(ep->conn.handshake);
	ep->conn.handshake = NULL;
}

static int pvb_ep_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct pvb_ep *ep = crn_container_of(fid, struct pvb_ep, fid.fid);

	if (ep->conn.id)
		return -FI_EOPBADSTATE;
	return pvb_copy_src(ep->attr.addr_format, addr, addrlen, &ep->attr.src);
}

static int pvb_ep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct pvb_ep *ep = crn_container_of(fid, struct pvb_ep, fid.fid);
	const struct sockaddr *name = NULL;

	if (ep->conn.id && crn_addr_len(rdma_get_local_addr(ep->conn.id)))
		name = rdma_get_local_addr(ep->conn.id);
	else
		name = ep->attr.src;
	if (!name)
		return -FI_ENODATA;
	return crn_addr_copy_out(name, addr, addrlen);
}

static int pvb_ep_getpeer(struct fid_ep *fid, void *addr, size_t *addrlen)
{
	struct pvb_ep *ep = pvb_ep_of(fid);

	if (ep->conn.state < PVB_CONN_ACCEPTED || ep->conn.state == PVB_CONN_FAILED)
		return -FI_ENOTCONN;
	return crn_addr_copy_out(rdma_get_peer_addr(ep->conn.id), addr, addrlen);
}

/* fi_endpoint(3): connecting and accepting enable an endpoint that is not yet. */
static int pvb_ep_enabled(struct pvb_ep *ep)
{
	return ep->conn.state == PVB_CONN_NEW ? fi_enable(&ep->fid) : 0;
}

static int pvb_ep_connect(struct fid_ep *fid, const void *addr, const void *param,
			  size_t paramlen)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	int ret;

	if (!addr)
		addr = ep->conn.id ? rdma_get_peer_addr(ep->conn.id) : ep->attr.dest;
	if (!addr || !crn_addr_valid(addr, crn_addr_len(addr), FI_FORMAT_UNSPEC))
		return -FI_EINVAL;
	ret = pvb_ep_enabled(ep);
	if (ret)
		return ret;
	pthread_mutex_lock(&ep->eq->cm_lock);
	ret = pvb_cm_connect(ep, addr, param, paramlen);
	pthread_mutex_unlock(&ep->eq->cm_lock);
	return ret;
}

static int pvb_ep_accept(struct fid_ep *fid, const void *param, size_t paramlen)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	int ret;

	if (!ep->conn.responder)
		return -FI_EINVAL;
	ret = pvb_ep_enabled(ep);
	if (ret)
		return ret;
	pthread_mutex_lock(&ep->eq->cm_lock);
	ret = pvb_cm_accept(ep, param, paramlen);
	pthread_mutex_unlock(&ep->eq->cm_lock);
	return ret;
}

static int pvb_ep_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	int ret = pvb_flags_check(PVB_FLAGS_SHUTDOWN, flags);

	if (ret)
		return ret;
	if (!ep->eq)
		return -FI_ENOTCONN;
	pthread_mutex_lock(&ep->eq->cm_lock);
	ret = pvb_cm_shutdown(ep);
	pthread_mutex_unlock(&ep->eq->cm_lock);
	return ret;
}

struct fi_ops_cm pvb_ep_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = pvb_ep_setname,
	.getname = pvb_ep_getname,
	.getpeer = pvb_ep_getpeer,
	.connect = pvb_ep_connect,
	.listen = crn_nosys_listen,
	.accept = pvb_ep_accept,
	.reject = crn_nosys_reject,
	.shutdown = pvb_ep_shutdown,
	.join = crn_nosys_join,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* What an endpoint has for datagrams, from fi_endpoint to its end, and its name. */
#include <stdlib.h>
#include <string.h>
#include <cairn/nosys.h>
#include "cq/cq.h"
#include "device/device.h"
#include "qp/qp.h"
#include "dgram.h"
#include "internal.h"

/* fi_endpoint(3): the source address of the info. A domain's datagrams leave from one. */
static int dgram_check_src(const struct pvb_domain *domain, const struct fi_info *info)
{
	struct pvb_ud_addr src;

	if (!info->src_addr)
		return 0;
	if (info->src_addrlen != sizeof(src))
		return -FI_EINVAL;
	memcpy(&src, info->src_addr, sizeof(src));
	if (pvb_ud_no_gid(&src) ||
	    !memcmp(src.gid, domain->ud->path.addr.gid, sizeof(src.gid)))
		return 0;
	PVB_WARN(FI_LOG_EP_CTRL,
		 "%s: datagrams of this domain leave from another address than the "
		 "endpoint's: open a domain with the endpoint's info\n",
		 pvb_domain_device(domain));
	return -FI_EADDRNOTAVAIL;
}

/* Of endpoints without a vector. */
static _Atomic(struct crn_av_peers *) dgram_no_peers = &crn_av_no_peers;

int pvb_dgram_open(struct pvb_ep *ep, const struct fi_info *info)
{
	unsigned int i;
	int ret;

	if (!ep->domain->ud)
		return -FI_EINVAL;
	ret = dgram_check_src(ep->domain, info);
	if (ret)
		return ret;
	/* Shared receives are the domain's. */
	if (ep->domain->ud->prefix != !!(info->mode & FI_MSG_PREFIX))
		return -FI_EINVAL;
	ep->dgram = calloc(1, sizeof(*ep->dgram));
	if (!ep->dgram)
		return -FI_ENOMEM;
	for (i = 0; i < PVB_MC_ATTACH_BUCKETS; i++)
		crn_list_init(&ep->dgram->mcs.attached[i]);
	ep->dgram->peers = &dgram_no_peers;
	ep->dgram->addr = ep->domain->ud->path.addr;
	if (info->src_addr)
		memcpy(&ep->dgram->addr.service,
		       (const char *)info->src_addr +
			       offsetof(struct pvb_ud_addr, service),
		       sizeof(ep->dgram->addr.service));
	ep->dgram->source = info->caps & FI_SOURCE;
	ep->dgram->source_err = info->caps & FI_SOURCE_ERR;
	ep->max_msg = CRN_MIN(ep->max_msg, (size_t)ep->domain->ud->path.mtu);
	return 0;
}

void pvb_dgram_close(struct pvb_ep *ep)
{
	struct pvb_dgram *dgram = ep->dgram;

	if (!dgram)
		return;
	/* The device may have told of a lost path until the queue pair had gone. */
	if (ep->eq) {
		crn_eq_forget(&ep->eq->eq, &ep->fid.fid);
		ep->eq->cm->part(ep);
		pvb_async_unwatch(ep->eq, ep->domain);
	}
	pvb_dgram_stop(ep);
	if (dgram->av)
		atomic_fetch_sub(&dgram->av->av.refs, 1);
	pvb_ahs_sweep(ep->domain);
	free(dgram->mcs.slots);
	free(dgram);
	ep->dgram = NULL;
}

/* A queue pair has one: with that of rdma_cm's groups, or of the link, it can join them.
 */
static uint32_t dgram_qkey(const struct pvb_ep *ep)
{
	const struct pvb_ud_link *link = &ep->domain->ud->link;

	if (pvb_params.qkey)
		return (uint32_t)pvb_params.qkey;
	if (!(ep->attr.caps & FI_MULTICAST))
		return PVB_UD_QKEY;
	return link->on ? link->qkey : PVB_UD_QKEY_GROUPS;
}

static int dgram_modify(struct pvb_ep *ep)
{
	const struct pvb_ud_path *path = &ep->domain->ud->path;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = path->port,
		.pkey_index = path->pkey_index,
		.qkey = ep->dgram->qkey,
	};
	int ret;

	ret = ibv_modify_qp(ep->qp.ibv, &attr,
			    IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY);
	attr.qp_state = IBV_QPS_RTR;
	if (!ret)
		ret = ibv_modify_qp(ep->qp.ibv, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	if (!ret)
		ret = ibv_modify_qp(ep->qp.ibv, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	return -ret;
}

/* Does on_complete only take the GRH's bytes off, if a datagram fits? */
static bool dgram_plain_grh(const struct pvb_ep *ep)
{
	return !ep->dgram->source && !ep->dgram->source_err && !ep->domain->ud->prefix &&
	       !ep->qp.rq.counted && !ep->qp.srx;
}

int pvb_dgram_start(struct pvb_ep *ep)
{
	struct pvb_dgram *dgram = ep->dgram;
	int ret;

	dgram->qkey = dgram_qkey(ep);
	dgram->addr.qkey = pvb_ud_qkey_field(dgram->qkey);
	ret = dgram_modify(ep);
	if (ret)
		return ret;
	dgram->addr.qpn = ep->qp.ibv->qp_num;
	ret = pvb_ah_get(ep->domain, &dgram->addr, &dgram->self);
	if (ret)
		return ret;
	ep->qp.rq.on_complete = pvb_dgram_received;
	ep->qp.rq.plain_grh = dgram_plain_grh(ep);
	if (dgram->source)
		atomic_store(&ep->qp.rq.cq->sources, true);
	ep->qp.was_up = true;
	return 0;
}

void pvb_dgram_stop(struct pvb_ep *ep)
{
	struct pvb_dgram *dgram = ep->dgram;

	if (dgram->self.ah)
		pvb_ah_put(ep->domain, &dgram->self);
	memset(&dgram->self, 0, sizeof(dgram->self));
	dgram->addr.qpn = 0;
}

static int dgram_setname(fid_t fid, void *addr, size_t addrlen)
{
	return -FI_EOPNOTSUPP;
}

static int dgram_getname(fid_t fid, void *addr, size_t *addrlen)
{
	const struct pvb_ud_addr *own = &pvb_ep_from(fid)->dgram->addr;
	const size_t room = *addrlen;

	if (!own->qpn)
		return -FI_EOPBADSTATE;
	*addrlen = sizeof(*own);
	if (room)
		memcpy(addr, own, CRN_MIN(room, sizeof(*own)));
	return room < sizeof(*own) ? -FI_ETOOSMALL : 0;
}

static int dgram_getpeer(struct fid_ep *fid, void *addr, size_t *addrlen)
{
	return -FI_ENOTCONN;
}

static int dgram_join(struct fid_ep *fid, const void *addr, uint64_t flags,
		      struct fid_mc **mc, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);

	return ep->eq ? ep->eq->cm->join(ep, addr, flags, mc, context) : -FI_ENOEQ;
}

struct fi_ops_cm pvb_dgram_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = dgram_setname,
	.getname = dgram_getname,
	.getpeer = dgram_getpeer,
	.connect = crn_nosys_connect,
	.listen = crn_nosys_listen,
	.accept = crn_nosys_accept,
	.reject = crn_nosys_reject,
	.shutdown = crn_nosys_shutdown,
	.join = dgram_join,
};

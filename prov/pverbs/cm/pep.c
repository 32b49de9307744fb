/* SPDX-License-Identifier: BSD-2-Clause */
/* Passive endpoints: listening for connection requests. */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_ext_cairn.h>
#include <cairn/nosys.h>
#include "device/device.h"
#include "persist/persist.h"
#include "wire/wire.h"
#include "cm.h"
#include "flags.h"
#include "internal.h"

static struct pvb_pep *pvb_pep_of(fid_t fid)
{
	return crn_container_of(fid, struct pvb_pep, fid.fid);
}

static int pvb_pep_close(struct fid *fid)
{
	struct pvb_pep *pep = pvb_pep_of(fid);

	if (pvb_inherited(pep->fabric))
		return 0;
	if (pep->eq) {
		pthread_mutex_lock(&pep->eq->cm_lock);
		if (pep->id)
			rdma_destroy_id(pep->id);
		pvb_requests_unlisten(pep);
		crn_eq_forget(&pep->eq->eq, fid);
		pthread_mutex_unlock(&pep->eq->cm_lock);
		atomic_fetch_sub(&pep->eq->refs, 1);
	}
	pvb_control_conn_unlisten(pep);
	atomic_fetch_sub(&pep->fabric->refs, 1);
	fi_freeinfo(pep->info);
	free(pep);
	return 0;
}

static int pvb_pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct pvb_pep *pep = pvb_pep_of(fid);

	int ret = pvb_flags_check(PVB_FLAGS_BIND_PEP, flags);

	if (ret)
		return ret;
	if (bfid->fclass != FI_CLASS_EQ || pep->eq)
		return -FI_EINVAL;
	pep->eq = crn_container_of(bfid, struct pvb_eq, eq.fid.fid);
	atomic_fetch_add(&pep->eq->refs, 1);
	return 0;
}

static int pvb_pep_control(struct fid *fid, int command, void *arg)
{
	struct pvb_pep *pep = pvb_pep_of(fid);

	if (command != FI_BACKLOG)
		return -FI_ENOSYS;
	if (!arg || *(int *)arg < 0)
		return -FI_EINVAL;
	pep->backlog = *(int *)arg;
	return 0;
}

static struct fi_ops pvb_pep_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = pvb_pep_close,
	.bind = pvb_pep_bind,
	.control = pvb_pep_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int pvb_pep_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	return pvb_cm_getopt(pvb_pep_of(fid)->raw_cm, level, optname, optval, optlen);
}

static int pvb_pep_setopt(fid_t fid, int level, int optname, const void *optval,
			  size_t optlen)
{
	return pvb_cm_setopt(&pvb_pep_of(fid)->raw_cm, level, optname, optval, optlen);
}

static struct fi_ops_ep pvb_pep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = crn_nosys_cancel,
	.getopt = pvb_pep_getopt,
	.setopt = pvb_pep_setopt,
	.tx_ctx = crn_nosys_tx_ctx,
	.rx_ctx = crn_nosys_rx_ctx,
	.rx_size_left = crn_nosys_rx_size_left,
	.tx_size_left = crn_nosys_tx_size_left,
};

static int pvb_pep_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct pvb_pep *pep = pvb_pep_of(fid);

	if (pep->id)
		return -FI_EOPBADSTATE;
	return pvb_set_src(pep->info, addr, addrlen);
}

static int pvb_pep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct pvb_pep *pep = pvb_pep_of(fid);
	const struct sockaddr *name =
		pep->id ? rdma_get_local_addr(pep->id) : pep->info->src_addr;

	return name ? crn_addr_copy_out(name, addr, addrlen) : -FI_ENODATA;
}

static int pvb_pep_listen(struct fid_pep *fid)
{
	struct pvb_pep *pep = crn_container_of(fid, struct pvb_pep, fid);
	struct rdma_cm_id *id;
	union crn_addr src = {0};
	char text[CRN_ADDR_STRLEN];
	int ret;

	if (!pep->eq)
		return -FI_ENOEQ;
	if (pep->id)
		return -FI_EOPBADSTATE;
	if (pep->info->src_addr)
		memcpy(&src, pep->info->src_addr, crn_addr_len(pep->info->src_addr));
	else /* every address, and a port that the system chooses */
		src.sa.sa_family =
			pep->info->addr_format == FI_SOCKADDR_IN6 ? AF_INET6 : AF_INET;
	if (rdma_create_id(pep->eq->channel, &id, &pep->fid.fid, RDMA_PS_TCP))
		return pvb_errno();
	if (!rdma_bind_addr(id, &src.sa)) {
		/* The first request may arrive before rdma_listen returns. */
		pep->id = id;
		if (!rdma_listen(id, pep->backlog))
			return 0;
	}
	ret = pvb_errno();
	PVB_WARN(FI_LOG_EP_CTRL, "cannot listen on %s: %s\n", crn_addr_str(&src.sa, text),
		 fi_strerror(-ret));
	pep->id = NULL;
	rdma_destroy_id(id);
	return ret;
}

static int pvb_pep_reject(struct fid_pep *fid, fid_t handle, const void *param,
			  size_t paramlen)
{
	struct pvb_pep *pep = crn_container_of(fid, struct pvb_pep, fid);
	uint8_t buf[PVB_CM_REQ_SIZE];
	struct pvb_connreq *req;
	size_t message;
	int ret;

	if (!pep->eq)
		return -FI_ENOEQ;
	req = pvb_request_take(pep->fabric, handle, pep);
	if (!req)
		return -FI_EINVAL;
	ret = pvb_cm_message(req->raw_cm, buf, param, paramlen, NULL, &message);
	if (ret) {
		pvb_request_give_back(pep->fabric, req);
		return ret;
	}
	if (!req->dead && rdma_reject(req->id, buf, (uint8_t)message))
		ret = pvb_errno();
	pvb_request_end(req);
	return ret;
}

static struct fi_ops_cm pvb_pep_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = pvb_pep_setname,
	.getname = pvb_pep_getname,
	.getpeer = crn_nosys_getpeer,
	.connect = crn_nosys_connect,
	.listen = pvb_pep_listen,
	.accept = crn_nosys_accept,
	.reject = pvb_pep_reject,
	.shutdown = crn_nosys_shutdown,
	.join = crn_nosys_join,
};

int pvb_passive_ep(struct fid_fabric *fabric_fid, struct fi_info *info,
		   struct fid_pep **fid, void *context)
{
	struct pvb_fabric *fabric = crn_container_of(fabric_fid, struct pvb_fabric, fid);
	struct pvb_pep *pep;

	if (!info || !info->ep_attr || info->ep_attr->type != FI_EP_MSG ||
	    !info->domain_attr || !info->fabric_attr || !info->domain_attr->name ||
	    (info->src_addr &&
	     !crn_addr_valid(info->src_addr, info->src_addrlen, info->addr_format)))
		return -FI_EINVAL;
	pep = calloc(1, sizeof(*pep));
	if (!pep)
		return -FI_ENOMEM;
	pep->info = fi_dupinfo(info);
	if (!pep->info) {
		free(pep);
		return -FI_ENOMEM;
	}
	pep->info->fabric_attr->api_version = fabric->fid.api_version;
	pep->info->handle = NULL;
	pep->fabric = fabric;
	pep->backlog = PVB_BACKLOG;
	pep->fid.fid.fclass = FI_CLASS_PEP;
	pep->fid.fid.context = context;
	pep->fid.fid.ops = &pvb_pep_fid_ops;
	pep->fid.ops = &pvb_pep_ops;
	pep->fid.cm = &pvb_pep_cm_ops;
	pvb_control_conn_listen(pep);
	atomic_fetch_add(&fabric->refs, 1);
	*fid = &pep->fid;
	return 0;
}

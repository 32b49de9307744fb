/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <cairn/nosys.h>
#include <rdma/fi_ext_cairn.h>
#include "cq/cq.h"
#include "device/device.h"
#include "dgram/dgram.h"
#include "ep/ep.h"
#include "persist/persist.h"
#include "qp/qp.h"
#include "xfer/xfer.h"
#include "flags.h"

static int pvb_domain_close(struct fid *fid)
{
	struct pvb_domain *domain = crn_container_of(fid, struct pvb_domain, fid.fid);

	if (pvb_inherited(domain->fabric))
		return 0;
	if (atomic_load(&domain->refs))
		return -FI_EBUSY;
	pvb_durable_close_domain(domain);
	pvb_ud_domain_close(domain);
	pvb_sink_close(domain);
	pvb_deliver_close(domain);
	ibv_dealloc_pd(domain->pd);
	pvb_removal_close(domain);
	ibv_close_device(domain->verbs);
	fi_freeinfo(domain->info);
	atomic_fetch_sub(&domain->fabric->refs, 1);
	free(domain);
	return 0;
}

/* ofi_rxm depends on -FI_ENOSYS for operations it asks for and we do not have. */
static int pvb_domain_ops_open(struct fid *fid, const char *name, uint64_t flags,
			       void **ops, void *context)
{
	if (strcmp(name, FI_CAIRN_REPLAY) != 0)
		return -FI_ENOSYS;
	if (flags)
		return -FI_EINVAL;
	*ops = &pvb_replay_ops;
	return 0;
}

static struct fi_ops pvb_domain_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = pvb_domain_close,
	.bind = crn_nosys_bind,
	.control = crn_nosys_control,
	.ops_open = pvb_domain_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int pvb_endpoint2(struct fid_domain *domain, struct fi_info *info,
			 struct fid_ep **ep, uint64_t flags, void *context)
{
	int ret = pvb_flags_check(PVB_FLAGS_ENDPOINT, flags);

	return ret ? ret : pvb_endpoint(domain, info, ep, context);
}

static struct fi_ops_domain pvb_domain_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = pvb_av_open,
	.cq_open = pvb_cq_open,
	.endpoint = pvb_endpoint,
	.scalable_ep = crn_nosys_scalable_ep,
	.cntr_open = pvb_cntr_open,
	.poll_open = crn_nosys_poll_open,
	.stx_ctx = crn_nosys_stx_ctx,
	.srx_ctx = pvb_srx_open,
	.query_atomic = pvb_query_atomic,
	.query_collective = crn_nosys_query_collective,
	.endpoint2 = pvb_endpoint2,
};

/* Control queue pairs cost memory: only domains that may need them create them. */
static bool pvb_domain_durable(const struct pvb_domain *domain)
{
	if (pvb_params.durable == PVB_DURABLE_AUTO)
		return domain->info->caps & FI_RMA_PMEM;
	return pvb_params.durable == PVB_DURABLE_ON;
}

static int pvb_domain_open_device(struct pvb_domain *domain, const char *name)
{
	int ret;

	ret = pvb_device_open(name, &domain->verbs);
	if (ret) {
		PVB_WARN(FI_LOG_DOMAIN, "device %s cannot be opened: %s\n", name,
			 fi_strerror(-ret));
		return ret;
	}
	domain->quirks = pvb_device_quirks(domain->verbs);
	ret = ibv_query_device(domain->verbs, &domain->attr);
	if (ret) {
		ret = -ret;
		goto err;
	}
	domain->fence_waits = pvb_fence_waits(domain->quirks);
	ret = pvb_async_init(domain->verbs);
	if (!ret)
		ret = pvb_removal_open(domain);
	if (ret)
		goto err;
	domain->pd = ibv_alloc_pd(domain->verbs);
	if (!domain->pd) {
		ret = pvb_errno();
		PVB_WARN(FI_LOG_DOMAIN, "%s gives no protection domain: %s\n", name,
			 fi_strerror(-ret));
		goto err_removal;
	}
	domain->atomics = pvb_atomic_device(&domain->attr, domain->quirks) &&
			  (domain->info->caps & FI_ATOMIC);
	ret = pvb_deliver_open(domain);
	if (ret)
		goto err_pd;
	ret = pvb_sink_open(domain);
	if (ret)
		goto err_deliver;
	/* A feature that the device lacks is not used. Peers may use FLUSH whatever
	 * this side does: the keys of regions tell them where. */
	pvb_native_offer(domain->verbs, &domain->native);
	if (domain->info->ep_attr && domain->info->ep_attr->type == FI_EP_DGRAM)
		ret = pvb_ud_domain_open(domain);
	if (ret)
		goto err_sink;
	if (!pvb_domain_durable(domain))
		return 0;
	domain->seq_atomics = pvb_atomic_device(&domain->attr, domain->quirks);
	ret = pvb_durable_open_domain(domain);
	if (!ret)
		return 0;
	pvb_ud_domain_close(domain);
err_sink:
	pvb_sink_close(domain);
err_deliver:
	pvb_deliver_close(domain);
err_pd:
	ibv_dealloc_pd(domain->pd);
err_removal:
	pvb_removal_close(domain);
err:
	ibv_close_device(domain->verbs);
	return ret;
}

int pvb_domain_open(struct fid_fabric *fabric_fid, struct fi_info *info,
		    struct fid_domain **fid, void *context)
{
	struct pvb_fabric *fabric = crn_container_of(fabric_fid, struct pvb_fabric, fid);
	struct pvb_domain *domain;
	int ret;

	if (!info || !info->domain_attr || !info->domain_attr->name)
		return -FI_EINVAL;
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return -FI_ENOMEM;
	domain->fabric = fabric;
	domain->durable = &pvb_durable;
	/* The thread that reads the event queue, which belongs to no domain, posts
	 * keep-alives. */
	domain->locked =
		info->domain_attr->threading != FI_THREAD_DOMAIN || pvb_params.keepalive;
	domain->info = fi_dupinfo(info);
	if (!domain->info) {
		ret = -FI_ENOMEM;
		goto err_free;
	}
	ret = pvb_domain_open_device(domain, info->domain_attr->name);
	if (ret)
		goto err_info;

	atomic_fetch_add(&fabric->refs, 1);
	domain->fid.fid.fclass = FI_CLASS_DOMAIN;
	domain->fid.fid.context = context;
	domain->fid.fid.ops = &pvb_domain_fid_ops;
	domain->fid.ops = &pvb_domain_ops;
	domain->fid.mr = &pvb_mr_ops;
	*fid = &domain->fid;
	return 0;
err_info:
	fi_freeinfo(domain->info);
err_free:
	free(domain);
	return ret;
}

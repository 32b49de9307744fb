/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints. */
#include <stdlib.h>
#include <string.h>
#include <cairn/opt.h>
#include "world.h"

static struct scr_ep *ep_of(fid_t fid)
{
	return crn_container_of(fid, struct scr_ep, fid.fid);
}

static int ep_close(struct fid *fid)
{
	struct scr_ep *ep = ep_of(fid);
	struct scr_domain *domain = ep->domain;
	int ret = scr_enter(&(struct scr_record){.call = SCR_CLOSE, .fid = fid});

	if (ret)
		return ret;
	scr_object_del(&ep->object);
	scr_lock();
	scr_work_flush(ep, true);
	scr_cm_leave(ep, false);
	scr_held_drop_events(fid);
	scr_event_free(ep->farewell);
	crn_list_del(&ep->srx_entry);
	scr_unlock();
	if (ep->ep.eq)
		crn_eq_forget(ep->ep.eq, fid);
	crn_ep_fini(&ep->ep);
	atomic_fetch_sub(&domain->refs, 1);
	fi_freeinfo(ep->info);
	free(ep);
	return 0;
}

static int bind_srx(struct scr_ep *ep, struct fid *bfid)
{
	struct scr_srx *srx = crn_container_of(bfid, struct scr_srx, fid.fid);

	if (ep->ep.enabled)
		return -FI_EOPBADSTATE;
	if (ep->srx || srx->domain != ep->domain)
		return -FI_EINVAL;
	scr_lock();
	ep->srx = srx;
	ep->rx = &srx->rx;
	crn_list_add_tail(&srx->eps, &ep->srx_entry);
	scr_unlock();
	return 0;
}

static int ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct scr_record record = {
		.call = SCR_BIND, .fid = fid, .other = bfid, .flags = flags};
	int ret = scr_enter(&record);

	if (ret)
		return ret;
	if (bfid->fclass == FI_CLASS_SRX_CTX)
		return bind_srx(ep_of(fid), bfid);
	return crn_ep_bind(&ep_of(fid)->ep, bfid, flags);
}

static int ep_control(struct fid *fid, int command, void *arg)
{
	struct scr_record record = {
		.call = command == FI_ENABLE ? SCR_ENABLE : SCR_CONTROL,
		.fid = fid,
		.data = (uint64_t)command,
	};
	int ret = scr_enter(&record);

	if (ret)
		return ret;
	switch (command) {
	case FI_ENABLE:
		return crn_ep_enable(&ep_of(fid)->ep);
	case FI_GETOPSFLAG:
	case FI_SETOPSFLAG:
		return crn_ep_ops_flags(&ep_of(fid)->ep, command, arg);
	default:
		return -FI_ENOSYS;
	}
}

static struct fi_ops ep_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = ep_close,
	.bind = ep_bind,
	.control = ep_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int opt_cm_data_size(void *object, void *value)
{
	*(size_t *)value = scr_cm_data_limit();
	return 0;
}

static const struct crn_opt opts[] = {
	{FI_OPT_CM_DATA_SIZE, sizeof(size_t), opt_cm_data_size, NULL},
};

int scr_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	struct scr_record record = {.call = SCR_GETOPT,
				    .fid = fid,
				    .data = (uint64_t)optname};
	int ret = scr_enter(&record);

	return ret ? ret
		   : crn_opt_get(opts, CRN_COUNT(opts), fid, level, optname, optval,
				 optlen);
}

int scr_setopt(fid_t fid, int level, int optname, const void *optval, size_t optlen)
{
	struct scr_record record = {.call = SCR_SETOPT,
				    .fid = fid,
				    .data = (uint64_t)optname};
	int ret = scr_enter(&record);

	return ret ? ret
		   : crn_opt_set(opts, CRN_COUNT(opts), fid, level, optname, optval,
				 optlen);
}

struct fi_ops_ep scr_opt_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = crn_nosys_cancel,
	.getopt = scr_getopt,
	.setopt = scr_setopt,
	.tx_ctx = crn_nosys_tx_ctx,
	.rx_ctx = crn_nosys_rx_ctx,
	.rx_size_left = crn_nosys_rx_size_left,
	.tx_size_left = crn_nosys_tx_size_left,
};

/* The oldest receive with that context. */
static ssize_t ep_cancel(fid_t fid, void *context)
{
	struct scr_record record = {.call = SCR_CANCEL, .fid = fid, .context = context};
	struct scr_ep *ep = ep_of(fid);
	int ret = scr_enter(&record);
	struct scr_work *work;
	struct crn_list *pos;

	if (ret)
		return ret;
	scr_lock();
	ret = -FI_ENOENT;
	crn_list_for_each (pos, &ep->own_rx.posted) {
		work = crn_container_of(pos, struct scr_work, entry);
		if (work->context == context) {
			crn_list_del(&work->entry);
			ep->own_rx.count--;
			work->err = FI_ECANCELED;
			scr_work_end(work);
			ret = 0;
			break;
		}
	}
	scr_unlock();
	return ret;
}

static struct fi_ops_ep ep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = ep_cancel,
	.getopt = scr_getopt,
	.setopt = scr_setopt,
	.tx_ctx = crn_nosys_tx_ctx,
	.rx_ctx = crn_nosys_rx_ctx,
	.rx_size_left = crn_nosys_rx_size_left,
	.tx_size_left = crn_nosys_tx_size_left,
};

/* An endpoint of FI_CONNREQ's info answers that request. */
static int take_request(struct scr_ep *ep, const struct fid *handle)
{
	struct scr_request *request;

	if (!handle)
		return 0;
	scr_lock();
	request = scr_request_find(handle);
	if (request)
		request->pep = NULL;
	ep->request = request;
	scr_unlock();
	return request ? 0 : -FI_EINVAL;
}

static struct scr_ep *ep_new(struct scr_domain *domain, const struct fi_info *info)
{
	struct scr_ep *ep = calloc(1, sizeof(*ep));

	if (!ep)
		return NULL;
	ep->info = fi_dupinfo(info);
	if (!ep->info) {
		free(ep);
		return NULL;
	}
	ep->fabric = domain->fabric;
	ep->domain = domain;
	ep->rx = &ep->own_rx;
	ep->own_rx.size = info->rx_attr->size;
	crn_list_init(&ep->own_rx.posted);
	crn_list_init(&ep->works);
	crn_list_init(&ep->incoming);
	crn_list_init(&ep->srx_entry);
	crn_ep_init(&ep->ep, &domain->fabric->fid, &domain->fid, info);
	ep->ep.queues[CRN_EP_TX].known_flags = FI_COMPLETION | FI_INJECT |
					       FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE |
					       FI_DELIVERY_COMPLETE;
	ep->ep.queues[CRN_EP_RX].known_flags = FI_COMPLETION;
	return ep;
}

int scr_endpoint(struct fid_domain *domain_fid, struct fi_info *info, struct fid_ep **fid,
		 void *context)
{
	struct scr_domain *domain = crn_container_of(domain_fid, struct scr_domain, fid);
	struct scr_record record = {.call = SCR_ENDPOINT,
				    .fid = &domain_fid->fid,
				    .other = info->handle,
				    .context = context};
	int ret = scr_enter(&record);
	struct scr_ep *ep;

	if (ret)
		return ret;
	if (!info->src_addr || !info->ep_attr || info->ep_attr->type != FI_EP_MSG)
		return -FI_EINVAL;
	ep = ep_new(domain, info);
	if (!ep)
		return -FI_ENOMEM;
	ret = take_request(ep, info->handle);
	if (ret) {
		fi_freeinfo(ep->info);
		free(ep);
		return ret;
	}
	scr_port_choose(ep->info);
	ep->fid.fid.fclass = FI_CLASS_EP;
	ep->fid.fid.context = context;
	ep->fid.fid.ops = &ep_fid_ops;
	ep->fid.ops = &ep_ops;
	ep->fid.cm = &scr_ep_cm_ops;
	ep->fid.msg = &scr_ep_msg_ops;
	ep->fid.rma = &scr_ep_rma_ops;
	ep->fid.tagged = &scr_ep_tagged_ops;
	ep->fid.atomic = &scr_ep_atomic_ops;
	ep->fid.collective = &crn_nosys_collective;
	atomic_fetch_add(&domain->refs, 1);
	scr_object_add(&ep->object, &ep->fid.fid);
	*fid = &ep->fid;
	return 0;
}

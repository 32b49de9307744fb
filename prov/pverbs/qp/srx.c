/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive contexts: fi_srx_context of fi_endpoint(3). */
#include <sched.h>
#include <stdlib.h>
#include <cairn/nosys.h>
#include "cq/cq.h"
#include "device/device.h"
#include "flags.h"
#include "internal.h"
#include "qp.h"

/*
 * How long a device may take to say that a queue pair in ERR has left the shared queue
 * (IBV_EVENT_QP_LAST_WQE_REACHED) while it has never said it. rdma_rxe of older kernels
 * never does, and closing many endpoints must not cost that much each: half as long each
 * time it was in vain, at least a millisecond. A device that once said it always will.
 */
#define PVB_LAST_WQE_MS 100u
#define PVB_LAST_WQE_HALVINGS 6u

/* Called with the lock held. */
static struct pvb_srx_cq *pvb_srx_cq(struct pvb_srx *srx, const struct pvb_cq *cq)
{
	size_t i;

	crn_lock_assert_held(&srx->lock);
	for (i = 0; i < srx->cq_count; i++) {
		if (srx->cqs[i].cq == cq)
			return &srx->cqs[i];
	}
	return NULL;
}

/* Called with the lock held. */
static int pvb_srx_cq_new(struct pvb_srx *srx, struct pvb_cq *cq, struct pvb_srx_cq **out)
{
	struct pvb_srx_cq *list;
	int ret;

	crn_lock_assert_held(&srx->lock);
	list = realloc(srx->cqs, (srx->cq_count + 1) * sizeof(*list));
	if (!list)
		return -FI_ENOMEM;
	srx->cqs = list;
	*out = &list[srx->cq_count];
	**out = (struct pvb_srx_cq){.cq = cq};
	ret = pvb_cq_reserve(cq, srx->wq.depth, &(*out)->hw);
	if (!ret)
		srx->cq_count++;
	return ret;
}

int pvb_srx_attach(struct pvb_srx *srx, struct pvb_cq *cq, struct pvb_hwcq **hw)
{
	struct pvb_srx_cq *entry;
	int ret = 0;

	crn_lock(&srx->lock);
	entry = pvb_srx_cq(srx, cq);
	if (!entry)
		ret = pvb_srx_cq_new(srx, cq, &entry);
	if (!ret) {
		entry->uses++;
		*hw = entry->hw;
	}
	crn_unlock(&srx->lock);
	return ret;
}

void pvb_srx_detach(struct pvb_srx *srx, struct pvb_cq *cq)
{
	struct pvb_srx_cq *entry;

	crn_lock(&srx->lock);
	entry = pvb_srx_cq(srx, cq);
	if (!--entry->uses) {
		pvb_cq_release(cq, entry->hw, srx->wq.depth);
		*entry = srx->cqs[--srx->cq_count];
	}
	crn_unlock(&srx->lock);
}

/* ms */
static uint64_t pvb_srx_patience(const struct pvb_domain *domain)
{
	return PVB_LAST_WQE_MS >>
	       CRN_MIN(atomic_load(&domain->last_wqe_missed), PVB_LAST_WQE_HALVINGS);
}

/*
 * What the queue pair has taken from the shared queue may be flushed only later; a device
 * drops completions of a queue pair that is destroyed, and their slots would be lost.
 */
void pvb_srx_drain(struct pvb_qp *qp, uint64_t deadline_ms)
{
	struct pvb_domain *domain = qp->domain;
	const uint64_t last_wqe_due = crn_now_ms() + pvb_srx_patience(domain);

	pvb_async_progress(domain);
	while (qp->was_up && !qp->last_wqe && !pvb_removed(domain)) {
		if (crn_now_ms() >= deadline_ms ||
		    (!domain->last_wqe_heard && crn_now_ms() >= last_wqe_due)) {
			PVB_INFO(FI_LOG_EP_CTRL,
				 "%s does not say that a queue pair has left a shared "
				 "receive queue\n",
				 pvb_domain_device(domain));
			domain->last_wqe_missed++;
			break;
		}
		sched_yield();
		pvb_async_progress(domain);
	}
	pvb_cq_drain_present(qp->rq.cq);
}

static int pvb_srx_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct pvb_srx *srx = crn_container_of(fid, struct pvb_srx, fid.fid);
	struct pvb_cq *cq = crn_container_of(bfid, struct pvb_cq, fid.fid);

	int ret;

	if (bfid->fclass != FI_CLASS_CQ)
		return -FI_ENOSYS;
	ret = pvb_flags_check(PVB_FLAGS_BIND_SRX, flags);
	if (ret)
		return ret;
	if (srx->flush_cq)
		return -FI_EINVAL;
	if (cq->domain != srx->domain)
		return -FI_EDOMAIN;
	atomic_fetch_add(&cq->refs, 1);
	srx->flush_cq = cq;
	return 0;
}

static int pvb_srx_control(struct fid *fid, int command, void *arg)
{
	return command == FI_ENABLE ? 0 : -FI_ENOSYS;
}

/* Finds the slots that are still posted: all others are in one of the two lists. */
static void pvb_srx_mark_free(struct pvb_srx *srx)
{
	struct pvb_slot *slot;

	crn_lock(&srx->lock);
	while ((slot = pvb_srx_get(srx)))
		slot->flags = 0;
	crn_unlock(&srx->lock);
}

static int pvb_srx_close(struct fid *fid)
{
	struct pvb_srx *srx = crn_container_of(fid, struct pvb_srx, fid.fid);
	struct pvb_domain *domain = srx->domain;
	int ret;

	if (pvb_inherited(domain->fabric))
		return 0;
	if (atomic_load(&srx->refs))
		return -FI_EBUSY;
	ret = pvb_removal_destroyed(domain, ibv_destroy_srq(srx->srq));
	if (ret)
		return -ret;
	pvb_removal_del_srx(srx);
	pvb_srx_mark_free(srx);
	if (srx->flush_cq) {
		pvb_cq_cancel(srx->flush_cq, &srx->wq);
		atomic_fetch_sub(&srx->flush_cq->refs, 1);
	}
	crn_lock_fini(&srx->lock);
	free(srx->wq.slots);
	pvb_grhs_free(&srx->wq.grhs);
	domain->durable->recv_close(&srx->wq);
	free(srx->cqs);
	free(srx);
	atomic_fetch_sub(&domain->refs, 1);
	return 0;
}

static struct fi_ops pvb_srx_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = pvb_srx_close,
	.bind = pvb_srx_bind,
	.control = pvb_srx_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int pvb_srx_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	return -FI_ENOPROTOOPT;
}

static int pvb_srx_setopt(fid_t fid, int level, int optname, const void *optval,
			  size_t optlen)
{
	return -FI_ENOPROTOOPT;
}

static struct fi_ops_ep pvb_srx_ep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = crn_nosys_cancel,
	.getopt = pvb_srx_getopt,
	.setopt = pvb_srx_setopt,
	.tx_ctx = crn_nosys_tx_ctx,
	.rx_ctx = crn_nosys_rx_ctx,
	.rx_size_left = crn_nosys_rx_size_left,
	.tx_size_left = crn_nosys_tx_size_left,
};

static int pvb_srx_slots(struct pvb_srx *srx, uint32_t depth)
{
	struct pvb_slot *slots = calloc(depth, sizeof(*slots));
	uint32_t i;

	if (!slots)
		return -FI_ENOMEM;
	for (i = 0; i < depth; i++) {
		slots[i].wq = &srx->wq;
		slots[i].context = i + 1 < depth ? &slots[i + 1] : NULL;
	}
	srx->free = slots;
	srx->wq.slots = slots;
	srx->wq.depth = depth;
	srx->wq.srx = srx;
	srx->wq.on_complete = pvb_cq_complete_shared;
	return 0;
}

static int pvb_srx_create(struct pvb_srx *srx, const struct fi_rx_attr *rx)
{
	const struct ibv_device_attr *device = &srx->domain->attr;
	const size_t most = (size_t)CRN_MIN(device->max_srq_wr, device->max_cqe);
	const bool datagrams = srx->domain->ud;
	const int own_sges = datagrams ? PVB_UD_SGES : 0;
	const size_t iov_most =
		(size_t)CRN_MIN(device->max_srq_sge - own_sges, PVB_IOV_LIMIT);
	struct ibv_srq_init_attr attr = {.srq_context = srx};
	size_t size = rx && rx->size ? rx->size : CRN_MIN(pvb_params.rx_size, most);
	int ret;

	if (!device->max_srq || device->max_srq_sge <= own_sges)
		return -FI_ENOSYS;
	srx->iov_limit = rx && rx->iov_limit ? rx->iov_limit : 1;
	srx->flags = rx ? rx->op_flags : 0;
	if (size > most || srx->iov_limit > iov_most ||
	    (srx->flags & ~(uint64_t)PVB_RX_OP_FLAGS))
		return -FI_EINVAL;
	ret = pvb_srx_slots(srx, (uint32_t)size);
	if (ret)
		return ret;
	if (srx->domain->control && !datagrams)
		ret = srx->domain->durable->recv_open(&srx->wq, size, srx->iov_limit);
	srx->wq.datagrams = datagrams;
	if (!ret && datagrams)
		ret = pvb_grhs_make(srx->domain, &srx->wq.grhs, size);
	if (ret)
		goto err;
	attr.attr.max_wr = (uint32_t)size;
	attr.attr.max_sge = (uint32_t)srx->iov_limit + (uint32_t)own_sges;
	srx->srq = ibv_create_srq(srx->domain->pd, &attr);
	if (srx->srq)
		return 0;
	ret = pvb_errno();
	PVB_WARN(FI_LOG_EP_CTRL, "%s makes no shared receive queue of %zu: %s\n",
		 pvb_domain_device(srx->domain), size, fi_strerror(-ret));
err:
	free(srx->wq.slots);
	pvb_grhs_free(&srx->wq.grhs);
	srx->domain->durable->recv_close(&srx->wq);
	return ret;
}

int pvb_srx_open(struct fid_domain *domain_fid, struct fi_rx_attr *attr,
		 struct fid_ep **fid, void *context)
{
	struct pvb_domain *domain = crn_container_of(domain_fid, struct pvb_domain, fid);
	struct pvb_srx *srx;
	int ret;

	if (pvb_removed(domain))
		return -FI_ENODEV;
	srx = calloc(1, sizeof(*srx));
	if (!srx)
		return -FI_ENOMEM;
	srx->domain = domain;
	ret = crn_lock_init(&srx->lock, domain->locked);
	if (ret)
		goto err_free;
	ret = pvb_srx_create(srx, attr);
	if (ret)
		goto err_lock;
	srx->fid.fid.fclass = FI_CLASS_SRX_CTX;
	srx->fid.fid.context = context;
	srx->fid.fid.ops = &pvb_srx_fid_ops;
	srx->fid.ops = &pvb_srx_ep_ops;
	srx->fid.cm = &crn_nosys_cm;
	pvb_srx_msg_init(srx);
	pvb_removal_add_srx(srx);
	srx->fid.rma = &crn_nosys_rma;
	srx->fid.tagged = &crn_nosys_tagged;
	srx->fid.atomic = &crn_nosys_atomic;
	srx->fid.collective = &crn_nosys_collective;
	atomic_fetch_add(&domain->refs, 1);
	*fid = &srx->fid;
	return 0;
err_lock:
	crn_lock_fini(&srx->lock);
err_free:
	free(srx);
	return pvb_removal_ret(domain, ret);
}

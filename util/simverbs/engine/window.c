/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows: binding and invalidation by work requests. */
#include "engine.h"

/* Kernel: RXE_ACCESS_SUPPORTED_MW. Local rights and optional ones change nothing. */
#define SVB_MW_ACCESS                                                   \
	((uint32_t)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |  \
		    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
		    IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED) |       \
	 SVB_ACCESS_FLUSH_GLOBAL | SVB_ACCESS_FLUSH_PERSISTENT |        \
	 (uint32_t)IBV_ACCESS_OPTIONAL_RANGE)

void svb_mw_unbind(struct svb_seg *seg, struct svb_mr_sh *mw)
{
	struct svb_mr_sh *region = svb_seg_mr_try(seg, mw->parent);

	if (!__atomic_exchange_n(&mw->key, 0, __ATOMIC_ACQ_REL))
		return;
	if (region)
		__atomic_sub_fetch(&region->windows, 1, __ATOMIC_ACQ_REL);
}

/* IBA 10.6.7.2.1, and the checks of the kernel's rxe_check_bind_mw. */
enum ibv_wc_status svb_mw_bind(struct svb_seg *seg, struct svb_qp_sh *qp,
			       const struct svb_bind *bind)
{
	struct svb_mr_sh *mw = svb_seg_mr_try(seg, bind->window >> 8), *region;
	uint64_t offset;

	if (!mw || !(mw->flags & SVB_MR_WINDOW) || mw->key || mw->pd != qp->pd ||
	    bind->window >> 8 != bind->key >> 8 || bind->access & ~SVB_MW_ACCESS)
		return IBV_WC_MW_BIND_ERR;
	/* The tag must change: a peer may still hold the old key. */
	if ((bind->key & 0xff) == (mw->tag & 0xff))
		return IBV_WC_MW_BIND_ERR;
	region = svb_seg_mr_try(seg, bind->region >> 8);
	if (!bind->length || !region || region->key != bind->region ||
	    region->pd != mw->pd || !(region->access & IBV_ACCESS_MW_BIND))
		return IBV_WC_MW_BIND_ERR;
	if (bind->access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
	    !(region->access & IBV_ACCESS_LOCAL_WRITE))
		return IBV_WC_MW_BIND_ERR;
	offset = bind->addr - region->iova;
	if (offset > region->length || bind->length > region->length - offset)
		return IBV_WC_MW_BIND_ERR;
	__atomic_add_fetch(&region->windows, 1, __ATOMIC_ACQ_REL);
	mw->parent = bind->region >> 8;
	mw->access = bind->access;
	mw->qpn = qp->qpn;
	mw->iova = bind->access & IBV_ACCESS_ZERO_BASED ? 0 : bind->addr;
	mw->addr = region->addr + offset;
	mw->length = bind->length;
	mw->tag = bind->key & 0xff;
	__atomic_store_n(&mw->key, bind->key, __ATOMIC_RELEASE);
	return IBV_WC_SUCCESS;
}

bool svb_mw_invalidate(struct svb_seg *seg, struct svb_qp_sh *qp, uint32_t key)
{
	struct svb_mr_sh *mw = svb_seg_mr_try(seg, key >> 8);

	if (!mw || !key || mw->key != key || !(mw->flags & SVB_MR_WINDOW) ||
	    mw->qpn != qp->qpn)
		return false;
	svb_mw_unbind(seg, mw);
	return true;
}

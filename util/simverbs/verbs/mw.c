/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows of type 2: engine/window.c binds and invalidates them. */
#include <errno.h>
#include <stdlib.h>
#include "verbs.h"

struct ibv_mw *svb_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct svb_mw *mw;
	int64_t slot;

	/* As adapters without type 1 windows answer. */
	if (type != IBV_MW_TYPE_2) {
		errno = type == IBV_MW_TYPE_1 ? EOPNOTSUPP : EINVAL;
		return NULL;
	}
	if (svb_removed_ctx(pd->context))
		return NULL;
	mw = calloc(1, sizeof(*mw));
	slot = mw ? svb_slot_alloc(SVB_TAB_MR) : -1;
	if (slot < 0) {
		free(mw);
		errno = ENOMEM;
		return NULL;
	}
	mw->sh = svb_seg_mr(svb_self.seg, (uint32_t)slot);
	mw->sh->flags = SVB_MR_USED | SVB_MR_WINDOW;
	mw->sh->pd = pd->handle;
	mw->sh->tag = svb_key_tag(mw->sh->tag);
	svb_pd_hold(pd);
	mw->ibv.context = pd->context;
	mw->ibv.pd = pd;
	mw->ibv.type = type;
	mw->ibv.handle = (uint32_t)slot;
	mw->ibv.rkey = (uint32_t)slot << 8 | mw->sh->tag;
	return &mw->ibv;
}

int svb_dealloc_mw(struct ibv_mw *ibmw)
{
	struct svb_mw *mw = (struct svb_mw *)ibmw;

	svb_mw_unbind(svb_self.seg, mw->sh);
	svb_engine_quiesce();
	mw->sh->flags = 0;
	svb_pd_drop(ibmw->pd);
	svb_slot_free(SVB_TAB_MR, ibmw->handle);
	free(mw);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains; thread domains and parent domains, which change nothing here. */
#include <errno.h>
#include <stdlib.h>
#include "verbs.h"

SVB_API struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx)
{
	struct svb_pd *pd;

	if (svb_removed_ctx(ctx))
		return NULL;
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->ibv.context = ctx;
	pd->ibv.handle = __atomic_add_fetch(&svb_self.next_pd, 1, __ATOMIC_RELAXED);
	return &pd->ibv;
}

SVB_API int ibv_dealloc_pd(struct ibv_pd *ibpd)
{
	struct svb_pd *pd = (struct svb_pd *)ibpd;

	if (__atomic_load_n(&pd->users, __ATOMIC_RELAXED))
		return EBUSY;
	if (pd->parent)
		svb_pd_drop(&pd->parent->ibv);
	free(pd);
	return 0;
}

struct ibv_td *svb_alloc_td(struct ibv_context *ctx, struct ibv_td_init_attr *attr)
{
	struct ibv_td *td;

	if (attr->comp_mask) {
		errno = EINVAL;
		return NULL;
	}
	if (svb_removed_ctx(ctx))
		return NULL;
	td = calloc(1, sizeof(*td));
	if (td)
		td->context = ctx;
	return td;
}

int svb_dealloc_td(struct ibv_td *td)
{
	free(td);
	return 0;
}

/* Objects of either domain work together: both carry the same handle. */
struct ibv_pd *svb_alloc_parent_domain(struct ibv_context *ctx,
				       struct ibv_parent_domain_init_attr *attr)
{
	struct svb_pd *pd;

	if (!attr->pd || attr->comp_mask) {
		errno = attr->comp_mask ? EOPNOTSUPP : EINVAL;
		return NULL;
	}
	if (svb_removed_ctx(ctx))
		return NULL;
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->ibv = *attr->pd;
	pd->parent = (struct svb_pd *)attr->pd;
	svb_pd_hold(attr->pd);
	return &pd->ibv;
}

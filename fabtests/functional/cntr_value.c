/* SPDX-License-Identifier: BSD-2-Clause */
/* A counter by itself: its values, its wait object, what it can be bound to. */
#include "cntr.h"

static int open_domain(struct fct_link *l, struct fct *t)
{
	return fct_link_open(l, t, &(struct fct_setup){.caps = FI_MSG | FI_RMA});
}

static int open_cntr(struct fct_link *l, enum fi_wait_obj wait, struct fid_cntr **cntr)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = wait};
	struct fct *t = l->t;
	int ret;

	ret = fi_cntr_open(l->domain, &attr, cntr, l);
	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP)
		return fct_skip(t, "fi_cntr_open: %s", fi_strerror(-ret));
	FCT_CALL(t, ret);
	FCT_DO(fct_keep(l, &(*cntr)->fid));
	FCT_TRUE(t, (*cntr)->fid.context == l);
	FCT_EQ(t, (*cntr)->fid.fclass, FI_CLASS_CNTR);
out:
	return ret;
}

int fct_cntr_wait_objects(struct fct *t)
{
	struct fct_link l = {.t = t};
	struct fid_cntr *cntr;
	int fd = -1, ret;

	FCT_DO(open_domain(&l, t));
	FCT_DO(open_cntr(&l, FI_WAIT_NONE, &cntr));
	FCT_REFUSED(t, fi_cntr_wait(cntr, 1, 0));
	FCT_DO(open_cntr(&l, FI_WAIT_UNSPEC, &cntr));
	FCT_CALL(t, fi_cntr_set(cntr, 5));
	FCT_CALL(t, fi_cntr_wait(cntr, 5, 0));
	FCT_CALL(t, fi_cntr_wait(cntr, 5, -1));
	FCT_DO(open_cntr(&l, FI_WAIT_FD, &cntr));
	FCT_CALL(t, fi_control(&cntr->fid, FI_GETWAIT, &fd));
	FCT_TRUE(t, fd >= 0);
out:
	return fct_link_down(&l, ret);
}

static int bare_ep(struct fct_link *l, struct fid_ep **ep)
{
	struct fi_info *info;
	struct fct *t = l->t;
	int ret;

	*ep = NULL;
	info = fi_dupinfo(l->info);
	FCT_TRUE(t, info);
	info->handle = NULL;
	FCT_CALL(t, fi_endpoint(l->domain, info, ep, NULL));
	ret = 0;
out:
	fi_freeinfo(info);
	return ret;
}

int fct_cntr_bind_remote(struct fct *t)
{
	struct fct_link l = {.t = t};
	struct fid_ep *ep = NULL;
	struct fid_cntr *cntr;
	int ret;

	FCT_DO(open_domain(&l, t));
	FCT_DO(open_cntr(&l, FI_WAIT_NONE, &cntr));
	FCT_DO(bare_ep(&l, &ep));
	FCT_REFUSED(t, fi_ep_bind(ep, &cntr->fid, FI_REMOTE_WRITE));
	FCT_REFUSED(t, fi_ep_bind(ep, &cntr->fid, FI_REMOTE_READ));
out:
	if (ep)
		fi_close(&ep->fid);
	return fct_link_down(&l, ret);
}

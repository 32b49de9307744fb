/* SPDX-License-Identifier: BSD-2-Clause */
/* A counter by itself: its values, its wait object, what it can be bound to. */
#include "cntr.h"

static int open_domain(struct fct_link *l)
{
	return fct_link_open(l, &(struct fct_setup){.caps = FI_MSG | FI_RMA});
}

static int open_cntr(struct fct_link *l, enum fi_wait_obj wait, struct fid_cntr **cntr)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = wait};
	int ret;

	ret = fi_cntr_open(l->domain, &attr, cntr, l);
	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP)
		return fct_skip("fi_cntr_open: %s", fi_strerror(-ret));
	FCT_CALL(ret);
	FCT_DO(fct_keep(l, &(*cntr)->fid));
	FCT_TRUE((*cntr)->fid.context == l);
	FCT_EQ((*cntr)->fid.fclass, FI_CLASS_CNTR);
	return 0;
}

FCT_CASE(wait_objects, "wait objects, and waiting without one")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	struct fid_cntr *cntr;
	int fd = -1;

	FCT_DO(open_domain(&l));
	FCT_DO(open_cntr(&l, FI_WAIT_NONE, &cntr));
	FCT_REFUSED(fi_cntr_wait(cntr, 1, 0));
	FCT_DO(open_cntr(&l, FI_WAIT_UNSPEC, &cntr));
	FCT_CALL(fi_cntr_set(cntr, 5));
	FCT_CALL(fi_cntr_wait(cntr, 5, 0));
	FCT_CALL(fi_cntr_wait(cntr, 5, -1));
	FCT_DO(open_cntr(&l, FI_WAIT_FD, &cntr));
	FCT_CALL(fi_control(&cntr->fid, FI_GETWAIT, &fd));
	FCT_TRUE(fd >= 0);
	return 0;
}

static int bare_ep(struct fct_link *l, struct fid_ep **ep)
{
	FCT_AUTO(fct_info_end) struct fi_info *info = NULL;

	*ep = NULL;
	info = fi_dupinfo(l->info);
	FCT_TRUE(info);
	info->handle = NULL;
	FCT_CALL(fi_endpoint(l->domain, info, ep, NULL));
	return 0;
}

FCT_CASE(bind_remote, "what a peer does is counted only with FI_RMA_EVENT")
{
	FCT_AUTO(fct_link_end) struct fct_link l = {0};
	FCT_AUTO(fct_fid_end) struct fid_ep *ep = NULL;
	struct fid_cntr *cntr;

	FCT_DO(open_domain(&l));
	FCT_DO(open_cntr(&l, FI_WAIT_NONE, &cntr));
	FCT_DO(bare_ep(&l, &ep));
	FCT_REFUSED(fi_ep_bind(ep, &cntr->fid, FI_REMOTE_WRITE));
	FCT_REFUSED(fi_ep_bind(ep, &cntr->fid, FI_REMOTE_READ));
	return 0;
}

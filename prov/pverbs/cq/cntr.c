/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters: fi_cntr(3). A counter moves when a completion is taken from the device, by
 * any thread. Reading or waiting for a counter polls the completion queues of all
 * endpoints bound to it; completions for the program stay in those queues.
 */
#include <stdlib.h>
#include <cairn/nosys.h>
#include "cq.h"
#include "internal.h"

static struct pvb_cntr *pvb_cntr_of(struct crn_cntr *cntr)
{
	return crn_container_of(cntr, struct pvb_cntr, cntr);
}

static int pvb_cntr_take(struct pvb_cntr *cntr, bool arm)
{
	struct pvb_control *control = cntr->domain->control;
	int ret = 0;
	size_t i;

	crn_lock(&cntr->lock);
	/*
	 * The control's descriptors must wake the sleeping thread although no queue
	 * arms them.
	 */
	if (arm && !cntr->feed_count) {
		pvb_async_progress(cntr->domain);
		ret = pvb_removed(cntr->domain) ? -FI_ENODEV : 0;
	}
	if (arm && control && !cntr->feed_count && !ret)
		ret = cntr->domain->durable->arm(control);
	for (i = 0; i < cntr->feed_count && !ret; i++)
		ret = pvb_cq_feed(cntr->feeds[i].cq, arm);
	crn_unlock(&cntr->lock);
	return ret;
}

static void pvb_cntr_progress(struct crn_cntr *cntr)
{
	pvb_cntr_take(pvb_cntr_of(cntr), false);
}

static int pvb_cntr_arm(struct crn_cntr *cntr)
{
	return pvb_cntr_take(pvb_cntr_of(cntr), true);
}

/* Called with the lock held. */
static struct pvb_feed *pvb_cntr_feed(struct pvb_cntr *cntr, const struct pvb_cq *cq)
{
	size_t i;

	crn_lock_assert_held(&cntr->lock);
	for (i = 0; i < cntr->feed_count; i++) {
		if (cntr->feeds[i].cq == cq)
			return &cntr->feeds[i];
	}
	return NULL;
}

/* Called with the lock held. */
static int pvb_cntr_feed_new(struct pvb_cntr *cntr, struct pvb_cq *cq)
{
	struct pvb_feed *feeds;
	int ret;

	crn_lock_assert_held(&cntr->lock);
	feeds = realloc(cntr->feeds, (cntr->feed_count + 1) * sizeof(*feeds));
	if (!feeds)
		return -FI_ENOMEM;
	cntr->feeds = feeds;
	if (cntr->cntr.wait.obj != FI_WAIT_NONE) {
		ret = pvb_cq_need_channel(cq);
		if (!ret)
			ret = crn_wait_add_fd(&cntr->cntr.wait, cq->channel->fd);
		if (ret)
			return ret;
	}
	feeds[cntr->feed_count++] = (struct pvb_feed){.cq = cq, .uses = 1};
	return 0;
}

static int pvb_cntr_feed_add(struct pvb_cntr *cntr, struct pvb_cq *cq)
{
	struct pvb_feed *feed;
	int ret = 0;

	crn_lock(&cntr->lock);
	feed = pvb_cntr_feed(cntr, cq);
	if (feed)
		feed->uses++;
	else
		ret = pvb_cntr_feed_new(cntr, cq);
	crn_unlock(&cntr->lock);
	return ret;
}

static void pvb_cntr_feed_del(struct pvb_cntr *cntr, struct pvb_cq *cq)
{
	struct pvb_feed *feed;

	crn_lock(&cntr->lock);
	feed = pvb_cntr_feed(cntr, cq);
	if (!--feed->uses) {
		if (cntr->cntr.wait.obj != FI_WAIT_NONE)
			crn_wait_del_fd(&cntr->cntr.wait, cq->channel->fd);
		*feed = cntr->feeds[--cntr->feed_count];
	}
	crn_unlock(&cntr->lock);
}

int pvb_cntr_attach(struct pvb_wq *wq)
{
	int i, ret;

	for (i = 0; i < PVB_COUNTS; i++) {
		ret = wq->cntr[i] ? pvb_cntr_feed_add(wq->cntr[i], wq->cq) : 0;
		if (ret)
			goto err;
	}
	return 0;
err:
	while (i-- > 0) {
		if (wq->cntr[i])
			pvb_cntr_feed_del(wq->cntr[i], wq->cq);
	}
	return ret;
}

void pvb_cntr_detach(struct pvb_wq *wq)
{
	int i;

	for (i = 0; i < PVB_COUNTS; i++) {
		if (wq->cntr[i])
			pvb_cntr_feed_del(wq->cntr[i], wq->cq);
	}
}

void pvb_cntr_wake(struct pvb_wq *wq)
{
	int i;

	for (i = 0; i < PVB_COUNTS; i++) {
		if (wq->cntr[i])
			crn_cntr_wake(&wq->cntr[i]->cntr);
	}
}

static int pvb_cntr_close(struct fid *fid)
{
	struct pvb_cntr *cntr = crn_container_of(fid, struct pvb_cntr, cntr.fid.fid);
	struct pvb_domain *domain = cntr->domain;

	if (pvb_inherited(domain->fabric))
		return 0;
	if (atomic_load(&cntr->refs))
		return -FI_EBUSY;
	crn_cntr_fini(&cntr->cntr);
	crn_lock_fini(&cntr->lock);
	free(cntr->feeds);
	free(cntr);
	atomic_fetch_sub(&domain->refs, 1);
	return 0;
}

static struct fi_ops pvb_cntr_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = pvb_cntr_close,
	.bind = crn_nosys_bind,
	.control = crn_cntr_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

int pvb_cntr_open(struct fid_domain *domain_fid, struct fi_cntr_attr *attr,
		  struct fid_cntr **fid, void *context)
{
	struct pvb_domain *domain = crn_container_of(domain_fid, struct pvb_domain, fid);
	struct pvb_cntr *cntr;
	int ret;

	if (pvb_removed(domain))
		return -FI_ENODEV;
	cntr = calloc(1, sizeof(*cntr));
	if (!cntr)
		return -FI_ENOMEM;
	ret = crn_lock_init(&cntr->lock, domain->locked);
	if (ret)
		goto err_free;
	ret = crn_cntr_init(&cntr->cntr, attr, context, pvb_cntr_progress);
	if (ret)
		goto err_lock;
	ret = pvb_removal_watch(domain, &cntr->cntr.wait);
	if (!ret)
		ret = domain->durable->watch(domain->control, &cntr->cntr.wait);
	if (ret)
		goto err_cntr;
	cntr->cntr.arm = pvb_cntr_arm;
	cntr->cntr.fid.fid.ops = &pvb_cntr_fid_ops;
	cntr->domain = domain;
	atomic_fetch_add(&domain->refs, 1);
	*fid = &cntr->cntr.fid;
	return 0;
err_cntr:
	crn_cntr_fini(&cntr->cntr);
err_lock:
	crn_lock_fini(&cntr->lock);
err_free:
	free(cntr);
	return ret;
}

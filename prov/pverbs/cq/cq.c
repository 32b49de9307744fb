/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues as objects: opened, waited for, closed; fi_cq(3). Reading is in
 * read.c. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <cairn/nosys.h>
#include "device/device.h"
#include "cq.h"
#include "flags.h"
#include "internal.h"

#define PVB_CQ_SIZE_DEFAULT 1024

static struct pvb_cq *pvb_cq_from(struct fid *fid)
{
	return crn_container_of(fid, struct pvb_cq, fid.fid);
}

/* Arms every device queue. Called with the lock held. */
static int pvb_cq_arm(struct pvb_cq *cq)
{
	uint32_t i;
	int ret;

	crn_lock_assert_held(&cq->lock);
	for (i = 0; i < cq->hw_count; i++) {
		ret = cq->hw[i]->cq->channel ? ibv_req_notify_cq(cq->hw[i]->cq, 0) : 0;
		if (ret)
			return -ret;
	}
	return 0;
}

static void pvb_cq_drain_channel(struct pvb_cq *cq)
{
	struct ibv_cq *ibv;
	void *context;

	while (!ibv_get_cq_event(cq->channel, &ibv, &context))
		ibv_ack_cq_events(ibv, 1);
}

/*
 * fi_cq_signal: is a signal pending? It stays until a thread in fi_cq_sread takes it.
 * fi_trywait reports it once: a thread that never calls fi_cq_sread would find it again
 * and again.
 */
static bool pvb_cq_told(struct pvb_cq *cq)
{
	return atomic_load(&cq->signaled) &&
	       (atomic_load(&cq->sreaders) || !atomic_exchange(&cq->told, true));
}

int pvb_cq_trywait(struct pvb_cq *cq)
{
	struct pvb_control *control = cq->domain->control;
	int ret = 0;
	bool gone;

	if (cq->wait.obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	pvb_async_progress(cq->domain);
	gone = pvb_removal_end(cq);
	/* Without the queue's lock, because it may flush memory for a peer. */
	if (control && !gone)
		ret = cq->domain->durable->arm(control);
	if (ret)
		return ret;
	ret = -FI_EAGAIN;
	crn_lock(&cq->lock);
	if (cq->stash_count)
		goto out;
	/* Nothing will come that is worth waiting for. */
	if (gone) {
		ret = -FI_ENODEV;
		goto out;
	}
	/* Before the look at the signal: one that comes later is not cleared. */
	crn_wait_clear(&cq->wait);
	if (pvb_cq_told(cq)) {
		crn_wait_signal(&cq->wait);
		goto out;
	}
	pvb_cq_drain_channel(cq);
	ret = pvb_cq_arm(cq);
	/* Completions from before the arming raise no event: poll once more. */
	if (!ret && pvb_cq_fetch(cq)) {
		/* There may be more completions than this thread reads, and other
		 * threads may wait. */
		crn_wait_signal(&cq->wait);
		ret = -FI_EAGAIN;
	}
out:
	crn_unlock(&cq->lock);
	return ret;
}

int pvb_cq_feed(struct pvb_cq *cq, bool arm)
{
	struct pvb_control *control = cq->domain->control;
	uint32_t before, i;
	int ret = 0;

	if (arm)
		pvb_async_progress(cq->domain);
	if (pvb_removal_end(cq))
		return arm ? -FI_ENODEV : 0;
	if (control && arm)
		ret = cq->domain->durable->arm(control);
	else if (control)
		cq->domain->durable->progress(control);
	crn_lock(&cq->lock);
	before = cq->stash_count;
	if (!ret && arm && cq->channel) {
		pvb_cq_drain_channel(cq);
		ret = pvb_cq_arm(cq);
	}
	pvb_cq_undefer(cq);
	for (i = 0; i < cq->hw_count; i++) {
		while (cq->stash_size - cq->stash_count >= PVB_POLL_BATCH &&
		       pvb_cq_stash_batch(cq, cq->hw[i]))
			;
	}
	/* Threads that wait for the queue itself share the channel. */
	if (cq->stash_count != before)
		crn_wait_signal(&cq->wait);
	crn_unlock(&cq->lock);
	cq->domain->durable->look(cq);
	return ret;
}

static ssize_t pvb_cq_wait_read(struct pvb_cq *cq, void *buf, size_t count,
				fi_addr_t *src_addr, const void *cond, int timeout)
{
	struct fid_cq *fid = &cq->fid;
	const uint64_t start = crn_now_ms();
	size_t want = 1, done = 0;
	ssize_t ret;

	if (cq->wait_cond == FI_CQ_COND_THRESHOLD && cond)
		want = CRN_MAX(CRN_MIN((size_t)(uintptr_t)cond, count), (size_t)1);
	for (;;) {
		ret = fi_cq_readfrom(fid, (char *)buf + done * cq->entry_size,
				     count - done, src_addr ? src_addr + done : NULL);
		if (ret > 0)
			done += (size_t)ret;
		if (done >= want || (ret < 0 && ret != -FI_EAGAIN))
			break;
		if (atomic_exchange(&cq->signaled, false)) {
			ret = -FI_EAGAIN;
			break;
		}
		ret = pvb_cq_trywait(cq);
		if (ret == -FI_EAGAIN)
			continue;
		if (!ret)
			ret = crn_wait_poll(&cq->wait, crn_timeout_left(start, timeout));
		if (ret == -FI_ETIMEDOUT || ret == -FI_EINTR)
			ret = -FI_EAGAIN;
		if (ret)
			break;
	}
	return done ? (ssize_t)done : ret;
}

static ssize_t pvb_cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count,
				fi_addr_t *src_addr, const void *cond, int timeout)
{
	struct pvb_cq *cq = crn_container_of(fid, struct pvb_cq, fid);
	ssize_t ret;

	if (cq->wait.obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	if (!count)
		return pvb_cq_read(fid, buf, 0);
	atomic_fetch_add(&cq->sreaders, 1);
	ret = pvb_cq_wait_read(cq, buf, count, src_addr, cond, timeout);
	atomic_fetch_sub(&cq->sreaders, 1);
	return ret;
}

static ssize_t pvb_cq_sread(struct fid_cq *fid, void *buf, size_t count, const void *cond,
			    int timeout)
{
	return pvb_cq_sreadfrom(fid, buf, count, NULL, cond, timeout);
}

static int pvb_cq_signal(struct fid_cq *fid)
{
	struct pvb_cq *cq = crn_container_of(fid, struct pvb_cq, fid);

	if (cq->wait.obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	atomic_store(&cq->told, false);
	atomic_store(&cq->signaled, true);
	crn_wait_signal(&cq->wait);
	return 0;
}

static const char *pvb_cq_strerror(struct fid_cq *fid, int prov_errno,
				   const void *err_data, char *buf, size_t len)
{
	const char *text;

	/* fi_pverbs(7): a status, or the negative errno of a post that was refused. */
	if (prov_errno < 0)
		text = fi_strerror(prov_errno < -INT_MAX ? INT_MAX : -prov_errno);
	else
		text = ibv_wc_status_str(prov_errno);

	if (buf && len) {
		strncpy(buf, text, len - 1);
		buf[len - 1] = '\0';
		return buf;
	}
	return text;
}

static struct fi_ops_cq pvb_cq_ops = {
	.size = sizeof(struct fi_ops_cq),
	.read = pvb_cq_read,
	.readfrom = pvb_cq_readfrom,
	.readerr = pvb_cq_readerr,
	.sread = pvb_cq_sread,
	.sreadfrom = pvb_cq_sreadfrom,
	.signal = pvb_cq_signal,
	.strerror = pvb_cq_strerror,
};

static void pvb_cq_free(struct pvb_cq *cq)
{
	uint32_t i;

	for (i = 0; i < cq->hw_count + cq->hw_gone; i++) {
		ibv_destroy_cq(cq->hw[i]->cq);
		free(cq->hw[i]);
	}
	free(cq->hw);
	if (cq->channel)
		ibv_destroy_comp_channel(cq->channel);
	crn_wait_fini(&cq->wait);
	crn_lock_fini(&cq->lock);
	free(cq->stash);
	free(cq->unknown.addrs);
	free(cq->shared);
	free(cq);
}

static int pvb_cq_close(struct fid *fid)
{
	struct pvb_cq *cq = pvb_cq_from(fid);
	struct pvb_domain *domain = cq->domain;

	if (pvb_inherited(domain->fabric))
		return 0;
	if (atomic_load(&cq->refs))
		return -FI_EBUSY;
	pvb_cq_free(cq);
	atomic_fetch_sub(&domain->refs, 1);
	return 0;
}

static int pvb_cq_control(struct fid *fid, int command, void *arg)
{
	return crn_wait_control(&pvb_cq_from(fid)->wait, command, arg);
}

static struct fi_ops pvb_cq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = pvb_cq_close,
	.bind = crn_nosys_bind,
	.control = pvb_cq_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int pvb_cq_channel_open(struct pvb_cq *cq)
{
	int flags, ret;

	cq->channel = ibv_create_comp_channel(cq->domain->verbs);
	if (!cq->channel)
		return pvb_errno();
	flags = fcntl(cq->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(cq->channel->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		ret = pvb_errno();
	else
		ret = crn_wait_add_fd(&cq->wait, cq->channel->fd);
	if (ret) {
		ibv_destroy_comp_channel(cq->channel);
		cq->channel = NULL;
	}
	return ret;
}

int pvb_cq_need_channel(struct pvb_cq *cq)
{
	int ret;

	crn_lock(&cq->lock);
	ret = cq->channel ? 0 : pvb_cq_channel_open(cq);
	crn_unlock(&cq->lock);
	return ret;
}

int pvb_cq_open(struct fid_domain *domain_fid, struct fi_cq_attr *attr,
		struct fid_cq **fid, void *context)
{
	struct pvb_domain *domain = crn_container_of(domain_fid, struct pvb_domain, fid);
	struct pvb_cq *cq;
	int ret;

	if (!attr || attr->wait_cond > FI_CQ_COND_THRESHOLD)
		return -FI_EINVAL;
	ret = pvb_flags_check(PVB_FLAGS_CQ, attr->flags);
	if (ret)
		return ret;
	if (pvb_removed(domain))
		return -FI_ENODEV;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -FI_ENOMEM;
	cq->domain = domain;
	cq->wait_cond = attr->wait_cond;
	cq->size_hint = attr->size ? attr->size : PVB_CQ_SIZE_DEFAULT;
	if (attr->flags & FI_AFFINITY)
		cq->vector =
			(int)((unsigned int)attr->signaling_vector %
			      (unsigned int)CRN_MAX(domain->verbs->num_comp_vectors, 1));
	ret = pvb_cq_set_format(cq, attr->format);
	if (ret)
		goto err_free;
	ret = crn_lock_init(&cq->lock, domain->locked);
	if (ret)
		goto err_free;
	ret = crn_wait_init(&cq->wait, attr->wait_obj);
	if (ret)
		goto err_lock;
	crn_list_init(&cq->deferring);
	ret = cq->wait.obj == FI_WAIT_NONE ? 0 : pvb_cq_channel_open(cq);
	if (!ret)
		ret = pvb_removal_watch(domain, &cq->wait);
	if (!ret)
		ret = domain->durable->watch(domain->control, &cq->wait);
	if (ret)
		goto err_channel;
	cq->fid.fid.fclass = FI_CLASS_CQ;
	cq->fid.fid.context = context;
	cq->fid.fid.ops = &pvb_cq_fid_ops;
	cq->fid.ops = &pvb_cq_ops;
	atomic_fetch_add(&domain->refs, 1);
	*fid = &cq->fid;
	return 0;
err_channel:
	if (cq->channel)
		ibv_destroy_comp_channel(cq->channel);
	crn_wait_fini(&cq->wait);
err_lock:
	crn_lock_fini(&cq->lock);
err_free:
	free(cq);
	return pvb_removal_ret(domain, ret);
}

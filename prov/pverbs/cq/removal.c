/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include "device/device.h"
#include "cq.h"
#include "internal.h"

int pvb_removal_open(struct pvb_domain *domain)
{
	int ret = -pthread_mutex_init(&domain->qps_lock, NULL);

	if (ret)
		return ret;
	crn_list_init(&domain->qps);
	crn_list_init(&domain->srxs);
	domain->gone_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (domain->gone_fd >= 0)
		return 0;
	ret = pvb_errno();
	pthread_mutex_destroy(&domain->qps_lock);
	return ret;
}

void pvb_removal_close(struct pvb_domain *domain)
{
	close(domain->gone_fd);
	pthread_mutex_destroy(&domain->qps_lock);
}

int pvb_removal_watch(const struct pvb_domain *domain, struct crn_wait *wait)
{
	int ret = crn_wait_add_fd(wait, domain->gone_fd);

	return ret ? ret : crn_wait_add_fd(wait, domain->verbs->async_fd);
}

void pvb_removal_add(struct pvb_qp *qp)
{
	struct pvb_domain *domain = qp->domain;

	pthread_mutex_lock(&domain->qps_lock);
	crn_list_add_tail(&domain->qps, &qp->entry);
	pthread_mutex_unlock(&domain->qps_lock);
}

void pvb_removal_del(struct pvb_qp *qp)
{
	struct pvb_domain *domain = qp->domain;

	pthread_mutex_lock(&domain->qps_lock);
	crn_list_del(&qp->entry);
	pthread_mutex_unlock(&domain->qps_lock);
}

void pvb_removal_add_srx(struct pvb_srx *srx)
{
	pthread_mutex_lock(&srx->domain->qps_lock);
	crn_list_add_tail(&srx->domain->srxs, &srx->entry);
	if (pvb_removed(srx->domain))
		srx->end(srx);
	pthread_mutex_unlock(&srx->domain->qps_lock);
}

void pvb_removal_del_srx(struct pvb_srx *srx)
{
	pthread_mutex_lock(&srx->domain->qps_lock);
	crn_list_del(&srx->entry);
	pthread_mutex_unlock(&srx->domain->qps_lock);
}

/* Stops posting, except by threads that are in the middle of a post. */
static void pvb_removal_shut(struct pvb_qp *qp)
{
	crn_ring_set_size(&qp->sq.ring, 0);
	crn_ring_set_size(&qp->rq.ring, 0);
	if (qp->control_qp)
		qp->domain->durable->lose(qp->control_qp);
}

void pvb_removal_noticed(struct pvb_domain *domain)
{
	struct crn_list *entry;
	struct pvb_srx *srx;

	if (atomic_exchange(&domain->gone, true))
		return;
	PVB_WARN(FI_LOG_DOMAIN,
		 "device %s was removed: all that was posted ends; what was made of it "
		 "can only be closed\n",
		 pvb_domain_device(domain));
	pthread_mutex_lock(&domain->qps_lock);
	crn_list_for_each (entry, &domain->qps)
		pvb_removal_shut(crn_container_of(entry, struct pvb_qp, entry));
	crn_list_for_each (entry, &domain->srxs) {
		srx = crn_container_of(entry, struct pvb_srx, entry);
		srx->end(srx);
	}
	pthread_mutex_unlock(&domain->qps_lock);
	eventfd_write(domain->gone_fd, 1);
}

int pvb_removal_ret(struct pvb_domain *domain, int ret)
{
	if (!ret)
		return 0;
	pvb_async_progress(domain);
	return pvb_removed(domain) ? -FI_ENODEV : ret;
}

int pvb_removal_destroyed(struct pvb_domain *domain, int err)
{
	return err == EIO && pvb_removal_ret(domain, -err) == -FI_ENODEV ? 0 : err;
}

/* Waits for whoever is posting; what FI_MORE held back is not posted any more. */
static void pvb_removal_settle(struct pvb_qp *qp)
{
	crn_lock(&qp->tx_lock);
	pvb_removal_shut(qp);
	qp->chained = 0;
	crn_unlock(&qp->tx_lock);
	crn_lock(&qp->rx_lock);
	crn_unlock(&qp->rx_lock);
}

/* What the device has completed is taken as it is. False without memory for it. */
static bool pvb_removal_drain(struct pvb_cq *cq)
{
	uint32_t i;

	for (i = 0; i < cq->hw_count; i++) {
		do {
			if (pvb_cq_stash_grow(cq, cq->reserved + PVB_POLL_BATCH))
				return false;
		} while (pvb_cq_stash_batch(cq, cq->hw[i]));
	}
	return !pvb_cq_stash_grow(cq, cq->reserved + PVB_POLL_BATCH);
}

/* With its lock held and its posting settled. */
static void pvb_removal_cancel(struct pvb_cq *cq, struct pvb_qp *qp)
{
	crn_lock_assert_held(&cq->lock);
	if (qp->sq.cq == cq) {
		qp->domain->durable->give_up_sends(qp);
		pvb_cq_drain_rest(cq, &qp->sq);
	}
	if (qp->rq.cq == cq) {
		qp->domain->durable->give_up_receives(cq, qp);
		pvb_cq_drain_rest(cq, &qp->rq);
	}
}

static bool pvb_removal_uses(const struct pvb_qp *qp, const struct pvb_cq *cq)
{
	return qp->sq.cq == cq || qp->rq.cq == cq;
}

/* With qps_lock held. */
static void pvb_removal_end_locked(struct pvb_cq *cq)
{
	struct crn_list *entry;
	struct pvb_qp *qp;

	crn_mutex_assert_held(&cq->domain->qps_lock);
	crn_list_for_each (entry, &cq->domain->qps) {
		qp = crn_container_of(entry, struct pvb_qp, entry);
		if (!pvb_removal_uses(qp, cq))
			continue;
		pvb_removal_settle(qp);
		/* Of a group nothing more becomes durable. */
		crn_lock(&cq->lock);
		if (qp->sq.cq == cq)
			qp->domain->durable->break_off(qp);
		crn_unlock(&cq->lock);
	}
	crn_lock(&cq->lock);
	/* Without memory the next read tries again. */
	if (!pvb_removal_drain(cq))
		goto out;
	crn_list_for_each (entry, &cq->domain->qps)
		pvb_removal_cancel(cq, crn_container_of(entry, struct pvb_qp, entry));
	/*
	 * Later completions of the device belong to operations that were reported
	 * already.
	 */
	cq->ended = true;
	cq->hw_gone = cq->hw_count;
	cq->hw_count = 0;
	cq->single = NULL;
	crn_wait_signal(&cq->wait);
out:
	crn_unlock(&cq->lock);
}

bool pvb_removal_end(struct pvb_cq *cq)
{
	struct pvb_domain *domain = cq->domain;

	if (!pvb_removed(domain))
		return false;
	pthread_mutex_lock(&domain->qps_lock);
	if (!cq->ended)
		pvb_removal_end_locked(cq);
	pthread_mutex_unlock(&domain->qps_lock);
	return true;
}

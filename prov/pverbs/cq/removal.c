/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include "device/device.h"
#include "persist/persist.h"
#include "cq.h"
#include "internal.h"

int pvb_removal_open(struct pvb_domain *domain)
{
	int ret = -pthread_mutex_init(&domain->conns_lock, NULL);

	if (ret)
		return ret;
	crn_list_init(&domain->conns);
	crn_list_init(&domain->srxs);
	domain->gone_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (domain->gone_fd >= 0)
		return 0;
	ret = pvb_errno();
	pthread_mutex_destroy(&domain->conns_lock);
	return ret;
}

void pvb_removal_close(struct pvb_domain *domain)
{
	close(domain->gone_fd);
	pthread_mutex_destroy(&domain->conns_lock);
}

int pvb_removal_watch(const struct pvb_domain *domain, struct crn_wait *wait)
{
	int ret = crn_wait_add_fd(wait, domain->gone_fd);

	return ret ? ret : crn_wait_add_fd(wait, domain->verbs->async_fd);
}

void pvb_removal_add(struct pvb_conn *conn)
{
	struct pvb_domain *domain = pvb_conn_ep(conn)->domain;

	pthread_mutex_lock(&domain->conns_lock);
	crn_list_add_tail(&domain->conns, &conn->entry);
	pthread_mutex_unlock(&domain->conns_lock);
}

void pvb_removal_del(struct pvb_conn *conn)
{
	struct pvb_domain *domain = pvb_conn_ep(conn)->domain;

	pthread_mutex_lock(&domain->conns_lock);
	crn_list_del(&conn->entry);
	pthread_mutex_unlock(&domain->conns_lock);
}

void pvb_removal_add_srx(struct pvb_srx *srx)
{
	pthread_mutex_lock(&srx->domain->conns_lock);
	crn_list_add_tail(&srx->domain->srxs, &srx->entry);
	if (pvb_removed(srx->domain))
		srx->end(srx);
	pthread_mutex_unlock(&srx->domain->conns_lock);
}

void pvb_removal_del_srx(struct pvb_srx *srx)
{
	pthread_mutex_lock(&srx->domain->conns_lock);
	crn_list_del(&srx->entry);
	pthread_mutex_unlock(&srx->domain->conns_lock);
}

/* Nothing is posted that is not on its way already. */
static void pvb_removal_shut(struct pvb_conn *conn)
{
	crn_ring_set_size(&conn->sq.ring, 0);
	crn_ring_set_size(&conn->rq.ring, 0);
	if (conn->control_qp)
		pvb_control_qp_lose(conn->control_qp, "the device was removed");
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
	pthread_mutex_lock(&domain->conns_lock);
	crn_list_for_each (entry, &domain->conns)
		pvb_removal_shut(crn_container_of(entry, struct pvb_conn, entry));
	crn_list_for_each (entry, &domain->srxs) {
		srx = crn_container_of(entry, struct pvb_srx, entry);
		srx->end(srx);
	}
	pthread_mutex_unlock(&domain->conns_lock);
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
static void pvb_removal_settle(struct pvb_conn *conn)
{
	crn_lock(&conn->tx_lock);
	pvb_removal_shut(conn);
	conn->chained = 0;
	crn_unlock(&conn->tx_lock);
	crn_lock(&conn->rx_lock);
	crn_unlock(&conn->rx_lock);
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
static void pvb_removal_cancel(struct pvb_cq *cq, struct pvb_conn *conn)
{
	if (conn->sq.cq == cq) {
		pvb_defer_forget(conn);
		pvb_cq_drain_rest(cq, &conn->sq);
	}
	if (conn->rq.cq == cq) {
		pvb_arrival_abandon(cq, conn);
		pvb_cq_drain_rest(cq, &conn->rq);
	}
}

static bool pvb_removal_uses(const struct pvb_conn *conn, const struct pvb_cq *cq)
{
	return conn->sq.cq == cq || conn->rq.cq == cq;
}

/* With conns_lock held. */
static void pvb_removal_end_locked(struct pvb_cq *cq)
{
	struct crn_list *entry;
	struct pvb_conn *conn;

	crn_list_for_each (entry, &cq->domain->conns) {
		conn = crn_container_of(entry, struct pvb_conn, entry);
		if (!pvb_removal_uses(conn, cq))
			continue;
		pvb_removal_settle(conn);
		/* Of a group nothing more becomes durable. */
		crn_lock(&cq->lock);
		conn->defer.broken |= conn->sq.cq == cq;
		crn_unlock(&cq->lock);
	}
	crn_lock(&cq->lock);
	/* Without memory the next read tries again. */
	if (!pvb_removal_drain(cq))
		goto out;
	crn_list_for_each (entry, &cq->domain->conns)
		pvb_removal_cancel(cq, crn_container_of(entry, struct pvb_conn, entry));
	/* What the device may still say is of operations that have ended. */
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
	pthread_mutex_lock(&domain->conns_lock);
	if (!cq->ended)
		pvb_removal_end_locked(cq);
	pthread_mutex_unlock(&domain->conns_lock);
	return true;
}

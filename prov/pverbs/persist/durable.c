/* SPDX-License-Identifier: BSD-2-Clause */
/* Durable operations: the functions that other rooms call, and the table of hooks. */
#include <rdma/fi_ext_cairn.h>
#include "control/control.h"
#include "initiator/initiator.h"
#include "target/target.h"
#include "persist.h"

static void pvb_target_open(struct pvb_control_qp *cqp)
{
	cqp->turn.run = pvb_respond_turn;
	pvb_arrivals_init(cqp);
	cqp->qp->rq.on_complete = pvb_arrival;
}

static const struct pvb_target pvb_target = {
	.open = pvb_target_open,
	.request = pvb_respond_begin,
	.retry = pvb_respond_retry,
	.end = pvb_respond_end,
	.replay = pvb_replay_learn,
};

int pvb_durable_open_domain(struct pvb_domain *domain)
{
	return pvb_control_open(domain, &pvb_target);
}

void pvb_durable_close_domain(struct pvb_domain *domain)
{
	if (domain->control)
		pvb_control_close(domain->control);
}

/* A peer that asked for a connection without a control queue pair gets none. */
static bool pvb_durable_wants_control_qp(const struct pvb_ep *ep)
{
	const struct pvb_domain *domain = ep->domain;

	if (!domain->control || ep->raw_cm)
		return false;
	if (!ep->conn.responder)
		return true;
	return pvb_quirk(domain, PVB_QUIRK_KERNEL_CONNECTS)
		       ? ep->conn.req->data.control_conn
		       : ep->conn.req->data.control.qp_num != 0;
}

int pvb_durable_open(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;

	/* What is posted before the first durable operation counts. */
	qp->tracked = ep->domain->control || (ep->attr.caps & FI_RMA_PMEM);
	return pvb_durable_wants_control_qp(ep) ? pvb_control_qp_open(qp) : 0;
}

void pvb_durable_close(struct pvb_qp *qp)
{
	crn_lock(&qp->sq.cq->lock);
	pvb_defer_forget(qp);
	crn_unlock(&qp->sq.cq->lock);
	crn_lock(&qp->rq.cq->lock);
	pvb_arrivals_close(qp->rq.cq, qp);
	crn_unlock(&qp->rq.cq->lock);
	pvb_control_qp_close(qp);
	pvb_commit_close(qp);
}

void pvb_durable_free(struct pvb_qp *qp)
{
	pvb_bufs_close(&qp->rq);
}

void pvb_durable_stats(const struct pvb_qp *qp, struct fi_cairn_stats *stats)
{
	static const uint64_t none[PVB_COMMIT_COUNTS];
	const uint64_t *counts = qp->commit ? qp->commit->counts : none;

	crn_lock_assert_held(&qp->tx_lock);
	stats->commit_arrived = counts[PVB_COMMIT_ARRIVED];
	stats->commit_read = counts[PVB_COMMIT_READ];
	stats->commit_flush = counts[PVB_COMMIT_FLUSH];
	stats->commit_request = counts[PVB_COMMIT_REQUEST];
	stats->commit_message = counts[PVB_COMMIT_MESSAGE];
	stats->commit_later = counts[PVB_COMMIT_LATER];
	stats->commit_upgrades = counts[PVB_COMMIT_UPGRADES];
}

static void pvb_durable_end_more(struct pvb_ep *ep)
{
	if (pvb_group_open(&ep->qp))
		pvb_group_close(ep);
}

static void pvb_durable_unposted(struct pvb_qp *qp, uint32_t messages)
{
	qp->commit->messages -= messages;
}

static void pvb_durable_lose(struct pvb_control_qp *cqp)
{
	pvb_control_qp_lose(cqp, "the device was removed");
}

static void pvb_durable_break_off(struct pvb_qp *qp)
{
	if (qp->commit)
		qp->commit->defer.broken = true;
}

const struct pvb_durable pvb_durable = {
	.commit = pvb_tx_committed,
	.track = pvb_tx_tracked,
	.end_more = pvb_durable_end_more,
	.unposted = pvb_durable_unposted,
	.recv_open = pvb_bufs_open,
	.recv_close = pvb_bufs_close,
	.recv_note = pvb_bufs_note,
	.lose = pvb_durable_lose,
	.break_off = pvb_durable_break_off,
	.give_up_sends = pvb_defer_forget,
	.give_up_receives = pvb_arrival_abandon,
	.look = pvb_defer_look,
	.progress = pvb_control_progress,
	.arm = pvb_control_arm,
	.watch = pvb_control_watch,
};

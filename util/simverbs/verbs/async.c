/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asynchronous events. Each object keeps the set of those not read yet; the context's
 * bell says that there is one.
 */
#include <errno.h>
#include "verbs.h"

void svb_async_port(struct svb_context *ctx, uint32_t port, enum ibv_event_type type)
{
	svb_async_raise(&ctx->events[port - 1], ctx->bell, type);
}

/* Takes one event out of a set; with event NULL only tells whether there is one. */
static bool svb_async_take(uint32_t *events, struct ibv_async_event *event,
			   uint32_t *given)
{
	uint32_t set = __atomic_load_n(events, __ATOMIC_ACQUIRE);

	if (!set || !event)
		return set;
	event->event_type = (enum ibv_event_type)__builtin_ctz(set);
	__atomic_and_fetch(events, ~(1u << event->event_type), __ATOMIC_ACQ_REL);
	++*given;
	return true;
}

static bool svb_async_qp(struct svb_context *ctx, struct ibv_async_event *event)
{
	struct svb_qp *qp;
	uint32_t i;

	for (i = 0; i < svb_self.seg->limit[SVB_TAB_QP]; i++) {
		qp = svb_self.qp[i];
		if (!qp || qp->sh->async != ctx->bell ||
		    !svb_async_take(&qp->sh->events, event, &qp->given))
			continue;
		if (event)
			event->element.qp = &qp->ibv;
		return true;
	}
	return false;
}

static bool svb_async_cq(struct svb_context *ctx, struct ibv_async_event *event)
{
	struct svb_cq *cq;
	uint32_t i;

	for (i = 0; i < svb_self.seg->limit[SVB_TAB_CQ]; i++) {
		cq = svb_self.cq[i];
		if (!cq || cq->sh->async != ctx->bell ||
		    !svb_async_take(&cq->sh->asyncs, event, &cq->async_given))
			continue;
		if (event)
			event->element.cq = &cq->ibv;
		return true;
	}
	return false;
}

static bool svb_async_srq(struct svb_context *ctx, struct ibv_async_event *event)
{
	struct svb_srq *srq;
	uint32_t i;

	for (i = 0; i < svb_self.seg->limit[SVB_TAB_SRQ]; i++) {
		srq = svb_self.srq[i];
		if (!srq || srq->sh->async != ctx->bell ||
		    !svb_async_take(&srq->sh->events, event, &srq->given))
			continue;
		if (event)
			event->element.srq = &srq->ibv;
		return true;
	}
	return false;
}

static bool svb_async_ports(struct svb_context *ctx, struct ibv_async_event *event)
{
	uint32_t given = 0;
	int i;

	for (i = 0; i < SVB_MAX_PORTS; i++) {
		if (!svb_async_take(&ctx->events[i], event, &given))
			continue;
		if (event)
			event->element.port_num = i + 1;
		return true;
	}
	return false;
}

static bool svb_async_next(struct svb_context *ctx, struct ibv_async_event *event)
{
	return svb_async_qp(ctx, event) || svb_async_cq(ctx, event) ||
	       svb_async_srq(ctx, event) || svb_async_ports(ctx, event);
}

SVB_API int ibv_get_async_event(struct ibv_context *ibctx, struct ibv_async_event *event)
{
	struct svb_context *ctx = svb_context(ibctx);
	bool found = false, more = false;

	while (!found) {
		errno = svb_bell_take(ibctx->async_fd);
		if (errno)
			return -1;
		pthread_mutex_lock(&svb_self.mutex);
		found = svb_async_next(ctx, event);
		more = svb_async_next(ctx, NULL);
		pthread_mutex_unlock(&svb_self.mutex);
		if (!found && svb_removed_ctx(ibctx))
			return -1;
	}
	/* A ring may have been lost to a full queue. */
	if (more)
		svb_bell_keep(ibctx->async_fd, ctx->bell);
	return 0;
}

static void svb_acked(pthread_mutex_t *lock, pthread_cond_t *cond, uint32_t *acked)
{
	pthread_mutex_lock(lock);
	++*acked;
	pthread_cond_signal(cond);
	pthread_mutex_unlock(lock);
}

SVB_API void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct ibv_qp *qp = event->element.qp;
	struct ibv_cq *cq = event->element.cq;
	struct ibv_srq *srq = event->element.srq;

	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		svb_acked(&cq->mutex, &cq->cond, &cq->async_events_completed);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		svb_acked(&qp->mutex, &qp->cond, &qp->events_completed);
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		svb_acked(&srq->mutex, &srq->cond, &srq->events_completed);
		break;
	default:
		break;
	}
}

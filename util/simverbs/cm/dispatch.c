/* SPDX-License-Identifier: BSD-2-Clause */
/* Dispatches messages, timers, and the end of other processes. */
#include <errno.h>
#include "cm.h"

typedef void (*svb_cm_handler)(struct svb_cm_id *id, const struct svb_cm_msg *msg);

static const struct {
	svb_cm_handler handle;
	/* The answer when the id is gone, so that the sender need not wait; 0: none. */
	enum svb_cm_type absent;
	uint32_t reason;
} svb_cm_handlers[SVB_CM_TYPES] = {
	[SVB_CM_REQ] = {svb_cm_on_req, SVB_CM_REJ, SVB_CM_REJ_NOBODY},
	[SVB_CM_REP] = {svb_cm_on_rep, SVB_CM_REJ, SVB_CM_REJ_TIMEOUT},
	[SVB_CM_RTU] = {svb_cm_on_rtu, SVB_CM_DREQ, 0},
	[SVB_CM_REJ] = {svb_cm_on_rej, 0, 0},
	[SVB_CM_DREQ] = {svb_cm_on_dreq, SVB_CM_DREP, 0},
	[SVB_CM_DREP] = {svb_cm_on_drep, 0, 0},
	[SVB_CM_SIDR_REQ] = {svb_cm_on_req, SVB_CM_SIDR_REP, SVB_CM_SIDR_NOBODY},
	[SVB_CM_SIDR_REP] = {svb_cm_on_sidr_rep, 0, 0},
};

bool svb_cm_is_answered(enum svb_cm_type type)
{
	return svb_cm_handlers[type].absent;
}

struct svb_cm_search {
	const struct svb_cm_msg *msg;
	struct svb_cm_id *found;
};

static void svb_cm_is_from(struct svb_cm_id *id, void *arg)
{
	struct svb_cm_search *search = arg;

	if (id->state == SVB_CM_REQ_RCVD && id->peer == search->msg->from &&
	    id->peer_id == search->msg->from_id)
		search->found = id;
}

/* A requester that takes its request back knows only who listened. */
static struct svb_cm_id *svb_cm_addressee(const struct svb_cm_msg *msg)
{
	struct svb_cm_search search = {.msg = msg, .found = svb_cm_find(msg->to_id)};

	if (msg->type == SVB_CM_REJ && search.found &&
	    search.found->state == SVB_CM_LISTEN)
		svb_cm_each(svb_cm_is_from, &search);
	return search.found;
}

void svb_cm_handle(const struct svb_cm_msg *msg)
{
	struct svb_cm_id *id = svb_cm_addressee(msg);

	if (msg->data_len > svb_cm_data_max(msg->type, svb_cm_iwarp()))
		return;
	if (id)
		svb_cm_handlers[msg->type].handle(id, msg);
	else if (svb_cm_handlers[msg->type].absent)
		svb_cm_answer(msg, svb_cm_handlers[msg->type].absent,
			      svb_cm_handlers[msg->type].reason);
}

void svb_cm_expired(struct svb_cm_id *id)
{
	if (id->held) {
		svb_cm_release(id);
		return;
	}
	switch (id->state) {
	case SVB_CM_REQ_SENT:
	case SVB_CM_REP_SENT:
		id->state = SVB_CM_OVER;
		svb_cm_report(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
		break;
	case SVB_CM_DREQ_SENT:
		id->state = SVB_CM_OVER;
		svb_cm_disconnected(id, -ETIMEDOUT);
		break;
	case SVB_CM_DREQ_RCVD:
	case SVB_CM_OVER:
		svb_cm_report(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
		break;
	default:
		break;
	}
}

static void svb_cm_alone(struct svb_cm_id *id, void *arg)
{
	const uint32_t *token = arg;
	enum svb_cm_state state = id->state;

	if (id->peer != *token)
		return;
	id->peer = 0;
	if (id->id.qp_type == IBV_QPT_UD && state != SVB_CM_REQ_SENT)
		return;
	if (state > SVB_CM_LISTEN)
		id->state = SVB_CM_OVER;
	svb_cm_set_timer(id, 0);
	switch (state) {
	case SVB_CM_REQ_SENT:
	case SVB_CM_REP_SENT:
		svb_cm_report(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
		break;
	case SVB_CM_REQ_RCVD:
		svb_cm_report(id, RDMA_CM_EVENT_REJECTED, SVB_CM_REJ_TIMEOUT);
		break;
	case SVB_CM_REP_RCVD:
		svb_cm_report(id, RDMA_CM_EVENT_CONNECT_ERROR, -ECONNRESET);
		break;
	case SVB_CM_STANDS:
	case SVB_CM_DREQ_SENT:
		svb_cm_disconnected(id, 0);
		break;
	default:
		break;
	}
}

void svb_cm_peer_died(uint32_t token)
{
	svb_cm_each(svb_cm_alone, &token);
}

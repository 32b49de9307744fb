/* SPDX-License-Identifier: BSD-2-Clause */
/* What libtirpc asks of an SVCXPRT while it dispatches. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "svc.h"

static struct crpc_svc *svc_of(SVCXPRT *xprt)
{
	return xprt->xp_p1;
}

bool crpc_svc_busy(const struct crpc_svc *svc)
{
	return svc->top && !pthread_equal(svc->thread, pthread_self());
}

void crpc_svc_push(struct crpc_svc *svc, struct crpc_frame *frame)
{
	frame->below = svc->top;
	frame->verf = svc->xprt.xp_verf;
	frame->auth = svc->ext.xp_auth;
	svc->top = frame;
	svc->thread = pthread_self();
}

/* A Call that is never answered would keep one of the peer's credits for good. */
void crpc_svc_pop(struct crpc_svc *svc)
{
	struct crpc_frame *frame = svc->top;
	struct fi_rpc *conn = svc->conn;

	if (!frame->answered)
		crpc_reject(conn, frame->call, frame->unanswered);
	svc->xprt.xp_verf = frame->verf;
	svc->ext.xp_auth = frame->auth;
	svc->top = frame->below;
	xdr_destroy(&frame->args);
	crpc_buf_put(conn, frame->call);
	free(frame);
	if (!svc->top)
		crpc_wake(conn);
	crpc_svc_ring(conn);
}

static struct crpc_frame *svc_take(struct crpc_svc *svc)
{
	struct fi_rpc *conn = svc->conn;
	struct crpc_frame *frame;
	struct crpc_buf *buf = conn->queue;

	frame = buf ? calloc(1, sizeof(*frame)) : NULL;
	if (!frame)
		return NULL;
	conn->queue = buf->next;
	buf->next = NULL;
	frame->call = buf;
	frame->unanswered = SYSTEM_ERR;
	xdrmem_create(&frame->args, (char *)buf->bytes, (u_int)buf->len, XDR_DECODE);
	return frame;
}

static bool_t svc_fi_recv(SVCXPRT *xprt, struct rpc_msg *msg)
{
	struct crpc_svc *svc = svc_of(xprt);
	struct fi_rpc *conn = svc->conn;
	struct crpc_frame *frame = NULL;
	bool_t ret = FALSE;

	pthread_mutex_lock(&conn->lock);
	crpc_progress(conn);
	if (!crpc_svc_busy(svc)) {
		frame = svc_take(svc);
		svc->idle = !frame;
	}
	if (frame) {
		crpc_svc_push(svc, frame);
		crpc_svc_ring(conn);
		ret = xdr_callmsg(&frame->args, msg);
		frame->xid = msg->rm_xid;
		if (!ret)
			frame->unanswered = GARBAGE_ARGS;
	}
	pthread_mutex_unlock(&conn->lock);
	return ret;
}

/* libtirpc asks this once after each svc_fi_recv, when the Call has been dispatched. */
static enum xprt_stat svc_fi_stat(SVCXPRT *xprt)
{
	struct crpc_svc *svc = svc_of(xprt);
	struct fi_rpc *conn = svc->conn;
	enum xprt_stat stat = XPRT_IDLE;

	pthread_mutex_lock(&conn->lock);
	if (!crpc_svc_busy(svc)) {
		if (!svc->idle && svc->top)
			crpc_svc_pop(svc);
		svc->idle = false;
		if (!svc->top && !svc->lent &&
		    (svc->destroyed || (conn->state == CRPC_DOWN && !conn->queue)))
			stat = XPRT_DIED;
	}
	pthread_mutex_unlock(&conn->lock);
	return stat;
}

static bool_t svc_fi_getargs(SVCXPRT *xprt, xdrproc_t xargs, void *args)
{
	struct crpc_svc *svc = svc_of(xprt);

	return svc->top &&
	       SVCAUTH_UNWRAP(&SVC_XP_AUTH(xprt), &svc->top->args, xargs, args);
}

static bool_t svc_fi_freeargs(SVCXPRT *xprt, xdrproc_t xargs, void *args)
{
	xdr_free(xargs, args);
	return TRUE;
}

struct reply_fill {
	SVCXPRT *xprt;
	struct rpc_msg *msg;
	xdrproc_t results; /* NULL: there are none */
	caddr_t where;
};

static bool reply_fill(XDR *xdrs, void *arg)
{
	const struct reply_fill *fill = arg;

	return xdr_replymsg(xdrs, fill->msg) &&
	       (!fill->results ||
		SVCAUTH_WRAP(&SVC_XP_AUTH(fill->xprt), xdrs, fill->results, fill->where));
}

/* The results go through what protects them. */
static uint8_t *reply_encode(SVCXPRT *xprt, struct rpc_msg *msg, size_t most, size_t *len)
{
	struct reply_fill fill = {.xprt = xprt, .msg = msg};

	if (msg->rm_reply.rp_stat == MSG_ACCEPTED &&
	    msg->rm_reply.rp_acpt.ar_stat == SUCCESS) {
		fill.results = msg->acpted_rply.ar_results.proc;
		fill.where = msg->acpted_rply.ar_results.where;
		msg->acpted_rply.ar_results.proc = crpc_xdr_nothing;
		msg->acpted_rply.ar_results.where = NULL;
	}
	return crpc_encode(reply_fill, &fill, most, len);
}

/* False, and the Call not answered yet, if the results do not fit or are wrong. */
static bool_t svc_fi_reply(SVCXPRT *xprt, struct rpc_msg *msg)
{
	struct crpc_svc *svc = svc_of(xprt);
	struct fi_rpc *conn = svc->conn;
	struct crpc_frame *frame = svc->top;
	size_t len = 0;
	uint8_t *buf;
	int ret;

	if (!frame || frame->answered)
		return FALSE;
	msg->rm_xid = frame->xid;
	buf = reply_encode(xprt, msg, conn->max_msg, &len);
	if (!buf)
		return FALSE;
	pthread_mutex_lock(&conn->lock);
	ret = crpc_reply_send(conn, buf, len);
	frame->answered = !ret;
	pthread_mutex_unlock(&conn->lock);
	return !ret;
}

static bool_t svc_fi_control(SVCXPRT *xprt, const u_int request, void *info)
{
	return FALSE;
}

const struct xp_ops crpc_xp_ops = {
	.xp_recv = svc_fi_recv,
	.xp_stat = svc_fi_stat,
	.xp_getargs = svc_fi_getargs,
	.xp_reply = svc_fi_reply,
	.xp_freeargs = svc_fi_freeargs,
	.xp_destroy = crpc_svc_destroy,
};

const struct xp_ops2 crpc_xp_ops2 = {.xp_control = svc_fi_control};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of this end. One whose caller has given up keeps its memory and its credit until
 * it is answered: a Reply that comes late finds the chunks that it was offered, and is
 * dropped.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "conn.h"

/* RFC 8166 section 4.3: the header of a Reply without chunks. */
#define HEADER_MIN 28

static struct crpc_call *call_find(struct fi_rpc *conn, uint64_t xid)
{
	struct crpc_call *call;

	for (call = conn->calls; call && call->xid != xid; call = call->next)
		;
	return call;
}

uint32_t crpc_xid(struct fi_rpc *conn)
{
	while (call_find(conn, conn->next_xid))
		conn->next_xid++;
	return conn->next_xid++;
}

static void call_free(struct crpc_call *call)
{
	free(call->msg);
	free(call->reply);
	free(call);
}

static void call_free_unused(struct fi_rpc *conn, struct crpc_call *call)
{
	struct crpc_call **at = &conn->calls;

	if (!call->abandoned || !call->answered || call->sending || call->exposed)
		return;
	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	call_free(call);
}

static void call_answered(struct crpc_call *call, int err)
{
	if (call->answered)
		return;
	call->answered = true;
	call->err = err;
}

static void call_sent(struct fi_rpc *conn, struct crpc_op *op,
		      const struct crpc_done *done)
{
	struct crpc_call *call = crpc_container_of(op, struct crpc_call, sent);

	call->sending = false;
	if (done->err)
		call_answered(call, done->err);
	call_free_unused(conn, call);
}

static void call_replied(struct fi_rpc *conn, struct crpc_op *op,
			 const struct crpc_done *done)
{
	struct crpc_call *call = crpc_container_of(op, struct crpc_call, replied);

	call->exposed = false;
	call->reply->len = done->len;
	call_answered(call, done->err);
	call_free_unused(conn, call);
}

struct crpc_call *crpc_call_new(struct fi_rpc *conn, uint32_t xid)
{
	struct crpc_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->xid = xid;
	call->sent.done = call_sent;
	call->replied.done = call_replied;
	call->next = conn->calls;
	conn->calls = call;
	return call;
}

void crpc_call_abandon(struct fi_rpc *conn, struct crpc_call *call)
{
	call->abandoned = true;
	call_free_unused(conn, call);
}

void crpc_call_reply(struct fi_rpc *conn, struct crpc_buf *reply)
{
	struct crpc_call *call;
	uint32_t xid;

	memcpy(&xid, reply->bytes, sizeof(xid));
	call = call_find(conn, ntohl(xid));
	if (!call || call->answered || call->exposed) {
		free(reply);
		return;
	}
	free(call->reply);
	call->reply = reply;
	call_answered(call, 0);
	call_free_unused(conn, call);
}

void crpc_call_lost(struct fi_rpc *conn, uint64_t xid, int err)
{
	struct crpc_call *call = call_find(conn, xid);

	if (!call)
		return;
	call_answered(call, err);
	call_free_unused(conn, call);
}

void crpc_call_free_all(struct fi_rpc *conn)
{
	struct crpc_call *call, *next;

	for (call = conn->calls; call; call = next) {
		next = call->next;
		call_free(call);
	}
}

/* Memory for a Reply that may be too long to be inline. */
static ssize_t call_expose(struct fi_rpc *conn, struct crpc_call *call, size_t reply_size)
{
	struct iovec iov;
	struct fi_msg msg = {.msg_iov = &iov,
			     .iov_count = 1,
			     .context = &call->replied,
			     .data = call->xid};
	ssize_t ret;

	if (call->exposed || reply_size + HEADER_MIN <= conn->recv_inline)
		return 0;
	if (!call->reply)
		call->reply = crpc_buf_alloc(reply_size);
	if (!call->reply)
		return -FI_ENOMEM;
	iov.iov_base = call->reply->bytes;
	iov.iov_len = call->reply->room;
	ret = fi_recvmsg(conn->ep, &msg, FI_CAIRN_RPC_REPLY);
	call->exposed = !ret;
	/* Without chunks there are short Replies alone. */
	return ret == -FI_EOPNOTSUPP ? 0 : ret;
}

struct call_try {
	struct crpc_call *call;
	size_t reply_size;
	ssize_t ret;
};

static bool call_try(struct fi_rpc *conn, void *arg)
{
	struct call_try *try = arg;
	struct crpc_call *call = try->call;
	const struct iovec iov = {.iov_base = call->msg, .iov_len = call->len};
	const struct fi_msg msg = {.msg_iov = &iov,
				   .iov_count = 1,
				   .context = &call->sent};

	if (conn->state == CRPC_CONNECTING)
		return false;
	try->ret = -FI_ENOTCONN;
	if (conn->state == CRPC_DOWN)
		return true;
	try->ret = call_expose(conn, call, try->reply_size);
	if (!try->ret)
		try->ret = fi_sendmsg(conn->ep, &msg, FI_DELIVERY_COMPLETE);
	call->sending = !try->ret;
	return try->ret != -FI_EAGAIN;
}

int crpc_call_send(struct fi_rpc *conn, struct crpc_call *call, size_t reply_size,
		   const struct timespec *until)
{
	struct call_try try = {.call = call, .reply_size = reply_size, .ret = -FI_EAGAIN};

	if (!crpc_wait(conn, call_try, &try, until, true))
		try.ret = -FI_ETIMEDOUT;
	if (try.ret) {
		call_answered(call, (int)-try.ret);
		if (call->exposed)
			fi_cancel(&conn->ep->fid, &call->replied);
	}
	crpc_progress(conn);
	return (int)try.ret;
}

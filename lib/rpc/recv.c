/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives. A few for Calls and a few for Replies are posted, and each that is used is
 * replaced at once: what has no receive waits in the provider. One for Calls is as large
 * as the largest message; the system gives memory to what is touched only.
 */
#include <stdlib.h>
#include <arpa/inet.h>
#include <string.h>
#include "conn.h"

#define RECEIVES 4 /* of each kind */

struct crpc_buf *crpc_buf_alloc(size_t room)
{
	struct crpc_buf *buf = malloc(sizeof(*buf) + room);

	if (buf) {
		buf->next = NULL;
		buf->len = 0;
		buf->room = room;
	}
	return buf;
}

static void recv_forget(struct fi_rpc *conn, struct crpc_buf *buf)
{
	struct crpc_buf **at = &conn->posted;

	while (*at != buf)
		at = &(*at)->next;
	*at = buf->next;
	buf->next = NULL;
}

static int recv_kind(struct fi_rpc *conn, int kind)
{
	int ret = 0;

	if (conn->recv_kind != kind)
		ret = fi_setopt(&conn->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RPC_RECV,
				&kind, sizeof(kind));
	if (!ret)
		conn->recv_kind = kind;
	return ret;
}

static int recv_post(struct fi_rpc *conn, struct crpc_buf *buf, int kind)
{
	ssize_t ret = recv_kind(conn, kind);

	if (!ret)
		ret = fi_recv(conn->ep, buf->bytes, buf->room, NULL, 0, &buf->op);
	if (ret) {
		free(buf);
		return (int)ret;
	}
	buf->next = conn->posted;
	conn->posted = buf;
	return 0;
}

/* A connection that takes no more messages is of no use. */
static void recv_again(struct fi_rpc *conn, struct crpc_buf *buf, int kind)
{
	int ret = buf ? recv_post(conn, buf, kind) : -FI_ENOMEM;

	if (ret && conn->state != CRPC_DOWN) {
		fi_shutdown(conn->ep, 0);
		crpc_down(conn, -ret);
	}
}

static struct crpc_buf *recv_like(struct fi_rpc *conn, const struct crpc_buf *buf)
{
	struct crpc_buf *other = conn->spare;

	if (other && other->room == buf->room) {
		conn->spare = other->next;
		other->next = NULL;
	} else {
		other = crpc_buf_alloc(buf->room);
	}
	if (other)
		other->op = buf->op;
	return other;
}

static void recv_call(struct fi_rpc *conn, struct crpc_op *op,
		      const struct crpc_done *done)
{
	struct crpc_buf *buf = crpc_container_of(op, struct crpc_buf, op), **at;

	recv_forget(conn, buf);
	if (done->err || done->len < CRPC_XID_LEN) {
		recv_again(conn, buf, FI_CAIRN_RPC_RECV_CALLS);
		return;
	}
	buf->len = done->len;
	for (at = &conn->queue; *at; at = &(*at)->next)
		;
	*at = buf;
	recv_again(conn, recv_like(conn, buf), FI_CAIRN_RPC_RECV_CALLS);
}

static void recv_reply(struct fi_rpc *conn, struct crpc_op *op,
		       const struct crpc_done *done)
{
	struct crpc_buf *buf = crpc_container_of(op, struct crpc_buf, op), *other = buf;

	recv_forget(conn, buf);
	if (done->err) {
		crpc_call_lost(conn, done->xid, done->err);
	} else if (done->len >= CRPC_XID_LEN) {
		buf->len = done->len;
		other = recv_like(conn, buf);
		crpc_call_reply(conn, buf);
	}
	recv_again(conn, other, FI_CAIRN_RPC_RECV_REPLIES);
}

static int recv_some(struct fi_rpc *conn, size_t room, int kind,
		     void (*done)(struct fi_rpc *, struct crpc_op *,
				  const struct crpc_done *))
{
	struct crpc_buf *buf;
	int i, ret = 0;

	for (i = 0; !ret && i < RECEIVES; i++) {
		buf = crpc_buf_alloc(room);
		if (!buf)
			return -FI_ENOMEM;
		buf->op.done = done;
		ret = recv_post(conn, buf, kind);
	}
	return ret;
}

int crpc_recv_start(struct fi_rpc *conn)
{
	struct fi_cairn_rpc_limits limits;
	size_t len = sizeof(limits), offered, offered_len = sizeof(offered);
	int ret;

	ret = fi_getopt(&conn->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RPC_LIMITS, &limits,
			&len);
	if (!ret)
		ret = fi_getopt(&conn->ep->fid, FI_OPT_ENDPOINT,
				FI_OPT_CAIRN_RPC_REPLY_SIZE, &offered, &offered_len);
	if (ret)
		return ret;
	conn->recv_inline = limits.recv_inline;
	ret = recv_some(conn, offered > limits.recv_inline ? offered : limits.recv_inline,
			FI_CAIRN_RPC_RECV_REPLIES, recv_reply);
	return ret ? ret
		   : recv_some(conn, conn->max_msg, FI_CAIRN_RPC_RECV_CALLS, recv_call);
}

/* Those for Calls are kept, as many as are posted at a time. */
void crpc_buf_put(struct fi_rpc *conn, struct crpc_buf *buf)
{
	struct crpc_buf *other;
	int count = 0;

	for (other = conn->spare; other; other = other->next)
		count++;
	if (buf->room != conn->max_msg || count >= RECEIVES) {
		free(buf);
		return;
	}
	buf->next = conn->spare;
	conn->spare = buf;
}

static void recv_free(struct crpc_buf *buf)
{
	struct crpc_buf *next;

	for (; buf; buf = next) {
		next = buf->next;
		free(buf);
	}
}

void crpc_recv_free(struct fi_rpc *conn)
{
	recv_free(conn->posted);
	recv_free(conn->queue);
	recv_free(conn->spare);
}

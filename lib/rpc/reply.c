/* SPDX-License-Identifier: BSD-2-Clause */
/* Replies of this end. */
#include <stdlib.h>
#include "conn.h"

/* A Reply waits for a slot of the send queue, never for the peer's program. */
#define PATIENCE_MS 30000

struct crpc_reply {
	struct crpc_reply *next;
	struct crpc_op sent;
	uint8_t *msg;
	size_t len;
	ssize_t ret;
};

static void reply_free(struct fi_rpc *conn, struct crpc_reply *reply)
{
	struct crpc_reply **at = &conn->replies;

	while (*at != reply)
		at = &(*at)->next;
	*at = reply->next;
	free(reply->msg);
	free(reply);
}

static void reply_sent(struct fi_rpc *conn, struct crpc_op *op,
		       const struct crpc_done *done)
{
	reply_free(conn, crpc_container_of(op, struct crpc_reply, sent));
}

static bool reply_try(struct fi_rpc *conn, void *arg)
{
	struct crpc_reply *reply = arg;

	reply->ret = -FI_ENOTCONN;
	if (conn->state == CRPC_DOWN)
		return true;
	reply->ret = fi_send(conn->ep, reply->msg, reply->len, NULL, 0, &reply->sent);
	return reply->ret != -FI_EAGAIN;
}

int crpc_reply_send(struct fi_rpc *conn, uint8_t *msg, size_t len)
{
	struct crpc_reply *reply = calloc(1, sizeof(*reply));
	struct timespec until;
	ssize_t ret;

	if (!reply) {
		free(msg);
		return -FI_ENOMEM;
	}
	reply->sent.done = reply_sent;
	reply->msg = msg;
	reply->len = len;
	reply->next = conn->replies;
	conn->replies = reply;
	crpc_deadline(&until, PATIENCE_MS);
	crpc_wait(conn, reply_try, reply, &until, false);
	ret = reply->ret;
	if (ret)
		reply_free(conn, reply);
	crpc_progress(conn);
	return (int)ret;
}

void crpc_reply_free_all(struct fi_rpc *conn)
{
	while (conn->replies)
		reply_free(conn, conn->replies);
}

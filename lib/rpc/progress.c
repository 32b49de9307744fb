/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What has happened at a connection. Each way out of the library ends here, with the
 * queues empty and armed (fi_trywait): poll(2) on a descriptor then returns when there is
 * more, for a program that knows nothing of it.
 */
#include <string.h>
#include "conn.h"

#define BATCH 16

static void progress_done(struct fi_rpc *conn, void *context,
			  const struct crpc_done *done)
{
	struct crpc_op *op = context;

	op->done(conn, op, done);
}

static void progress_error(struct fi_rpc *conn)
{
	struct fi_cq_err_entry err = {.err = 0};
	struct crpc_done done = {.len = 0};

	if (fi_cq_readerr(conn->cq, &err, 0) <= 0)
		return;
	done.err = err.err ? err.err : FI_EIO;
	done.xid = err.data;
	progress_done(conn, err.op_context, &done);
}

static bool progress_cq(struct fi_rpc *conn)
{
	bool moved = false;
	struct fi_cq_msg_entry entries[BATCH];
	struct crpc_done done = {.err = 0};
	ssize_t i, got;

	for (;; moved = true) {
		got = fi_cq_read(conn->cq, entries, BATCH);
		if (got == -FI_EAVAIL) {
			progress_error(conn);
			continue;
		}
		if (got <= 0)
			return moved;
		for (i = 0; i < got; i++) {
			done.len = entries[i].len;
			progress_done(conn, entries[i].op_context, &done);
		}
	}
}

static void progress_up(struct fi_rpc *conn)
{
	struct fi_cairn_rpc_limits limits;
	size_t len = sizeof(limits);

	if (conn->state != CRPC_CONNECTING)
		return;
	conn->state = CRPC_UP;
	if (!fi_getopt(&conn->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RPC_LIMITS, &limits,
		       &len))
		conn->recv_inline = limits.recv_inline;
}

/* An error event of a connection that is up is about one Call. */
static void progress_eq_error(struct fi_rpc *conn)
{
	struct fi_eq_err_entry err = {.err = 0};

	if (fi_eq_readerr(conn->eq, &err, 0) <= 0)
		return;
	if (conn->state == CRPC_UP)
		crpc_call_lost(conn, err.data, err.err);
	else
		crpc_down(conn, err.err);
}

static bool progress_eq(struct fi_rpc *conn)
{
	bool moved = false;
	struct fi_eq_cm_entry entry;
	uint32_t event;
	ssize_t got;

	for (;; moved = true) {
		got = fi_eq_read(conn->eq, &event, &entry, sizeof(entry), 0);
		if (got == -FI_EAVAIL) {
			progress_eq_error(conn);
			continue;
		}
		if (got < 0)
			return moved;
		if (event == FI_CONNECTED)
			progress_up(conn);
		else if (event == FI_SHUTDOWN)
			crpc_down(conn, FI_ECONNRESET);
	}
}

void crpc_down(struct fi_rpc *conn, int err)
{
	if (conn->state == CRPC_DOWN)
		return;
	conn->state = CRPC_DOWN;
	conn->err = err;
	crpc_svc_ring(conn);
	crpc_wake(conn);
}

void crpc_progress(struct fi_rpc *conn)
{
	struct fid *fids[] = {&conn->cq->fid, &conn->eq->fid};
	bool moved = false;

	/* Events first: what came before the end of the connection is read before it
	 * counts. */
	do {
		moved |= progress_eq(conn);
		moved |= progress_cq(conn);
	} while (fi_trywait(conn->fabric->fabric, fids, 2) == -FI_EAGAIN);
	crpc_svc_ring(conn);
	if (moved)
		crpc_wake(conn);
}

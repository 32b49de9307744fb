/* SPDX-License-Identifier: BSD-2-Clause */
/* What completes on a connection: Replies, the server's Calls, the end. */
#include <string.h>

#include "conn.h"

#define BATCH 16

static struct nfc_call *call_of(struct nfc_conn *conn, uint32_t xid)
{
	size_t i;

	for (i = 0; i < NFC_CALLS; i++)
		if (conn->calls[i].state == NFC_SENT && conn->calls[i].xid == xid)
			return &conn->calls[i];
	return NULL;
}

static ssize_t send_pending(struct nfc_conn *conn)
{
	ssize_t ret;

	if (!conn->pending_len || conn->lost)
		return 0;
	ret = fi_inject(conn->link.ep, conn->pending, conn->pending_len, 0);
	if (ret == -FI_EAGAIN)
		return 0;
	conn->pending_len = 0;
	return ret == -FI_ENOTCONN ? 0 : ret;
}

static int arrived(struct nfc_conn *conn, const uint8_t *bytes, size_t len)
{
	struct nfc_call *call;
	uint32_t xid;
	bool is_call;

	if (!rpm_peek(bytes, len, &xid, &is_call))
		return 0;
	if (is_call) {
		if (!conn->serve || conn->pending_len)
			return 0;
		conn->pending_len = conn->serve(conn->serve_arg, bytes, len,
						conn->pending, sizeof(conn->pending));
		/* At once: the next Call may be in the same batch. */
		return lnk_failed(&conn->link, "cannot answer the server",
				  send_pending(conn));
	}
	call = call_of(conn, xid);
	if (!call)
		return 0;
	memcpy(call->own, bytes, len);
	call->answer_len = len;
	call->state = NFC_ANSWERED;
	return 0;
}

static int completed(struct nfc_conn *conn, const struct fi_cq_data_entry *entry)
{
	struct nfc_mark *mark = entry->op_context;
	struct nfc_call *call = mark->of;
	int ret;

	switch (mark->use) {
	case NFC_RECEIVE:
		ret = arrived(conn, mark->of, entry->len);
		return ret ? ret : nfc_conn_receive(conn, mark);
	case NFC_SEND:
		call->sending = false;
		break;
	case NFC_RESULT:
		call->result_posted = false;
		call->result_len = entry->len;
		break;
	case NFC_OWN_REPLY:
		call->reply_posted = false;
		call->answer_len = entry->len;
		call->state = NFC_ANSWERED;
		break;
	}
	return 0;
}

/* RDMA_ERROR ends each operation of its Call, and one receive names the Call. */
static int refused(struct nfc_conn *conn, struct nfc_mark *mark, uint32_t xid)
{
	struct nfc_call *call;

	if (mark && mark->use != NFC_RECEIVE) {
		call = mark->of;
		call->sending &= mark->use != NFC_SEND;
		call->result_posted &= mark->use != NFC_RESULT;
		call->reply_posted &= mark->use != NFC_OWN_REPLY;
	} else {
		call = call_of(conn, xid);
	}
	if (call && call->state == NFC_SENT)
		call->state = NFC_REFUSED;
	return mark && mark->use == NFC_RECEIVE ? nfc_conn_receive(conn, mark) : 0;
}

/* RDMA_ERROR is about one Call; anything else means that the connection has ended. */
static int completed_badly(struct nfc_conn *conn)
{
	struct fi_cq_err_entry error = {0};

	if (fi_cq_readerr(conn->link.cq, &error, 0) < 1)
		return lnk_failed(&conn->link, "fi_cq_readerr", -FI_EOTHER);
	if (error.err != FI_EREMOTEIO) {
		if (error.err != FI_ECANCELED && error.err != FI_ESHUTDOWN)
			lnk_fail(&conn->link, -error.err, "an operation failed: %s",
				 fi_strerror(error.err));
		nfc_conn_lose(conn);
		return 0;
	}
	return refused(conn, error.op_context, (uint32_t)error.data);
}

int nfc_conn_turn(struct nfc_conn *conn, int timeout_ms)
{
	struct fi_cq_data_entry entries[BATCH];
	ssize_t i, ret;

	lnk_rpc_show(&conn->link);
	ret = send_pending(conn);
	if (ret)
		return lnk_failed(&conn->link, "cannot answer the server", ret);
	ret = fi_cq_sread(conn->link.cq, entries, BATCH, NULL,
			  conn->pending_len ? 1 : timeout_ms);
	if (ret == -FI_EAVAIL)
		return completed_badly(conn);
	if (ret == -FI_EAGAIN || ret == -FI_EINTR || ret == -FI_ETIMEDOUT)
		return 0;
	if (ret < 0)
		return lnk_failed(&conn->link, "fi_cq_sread", ret);
	for (i = 0; i < ret; i++) {
		const int failed = completed(conn, &entries[i]);

		if (failed)
			return failed;
	}
	return 0;
}

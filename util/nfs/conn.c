/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conn.h"

static const struct lnk_rpc nfc_wish = {.entries = 1024};

int nfc_conn_open(struct nfc_conn *conn, const struct nfc_where *where)
{
	struct timespec now;
	int ret;

	memset(conn, 0, sizeof(*conn));
	conn->where = where;
	conn->link.refused = "no NFS over RDMA there";
	snprintf(conn->link.peer, sizeof(conn->link.peer), "%s, port %s", where->host,
		 where->port);
	ret = lnk_rpc_open(&conn->link, &nfc_wish, where->provider, where->host,
			   where->port, 0);
	if (ret)
		return ret;
	/* XIDs that an earlier process of this host has not used lately. */
	clock_gettime(CLOCK_REALTIME, &now);
	conn->next_xid = (uint32_t)now.tv_sec ^ (uint32_t)now.tv_nsec;
	conn->lost = true;
	return 0;
}

void nfc_conn_close(struct nfc_conn *conn)
{
	lnk_close(&conn->link);
	free(conn->memory);
	conn->memory = NULL;
}

int nfc_conn_receive(struct nfc_conn *conn, struct nfc_mark *mark)
{
	const ssize_t ret =
		fi_recv(conn->link.ep, mark->of, conn->inline_bytes, NULL, 0, mark);

	return ret == -FI_ENOTCONN ? 0 : lnk_failed(&conn->link, "fi_recv", ret);
}

static int make_memory(struct nfc_conn *conn)
{
	const size_t bytes = conn->inline_bytes;
	uint8_t *at;
	size_t i;

	if (!conn->memory)
		conn->memory = malloc((NFC_CALLS + NFC_RECEIVES) * bytes);
	if (!conn->memory)
		return lnk_failed(&conn->link, "memory", -FI_ENOMEM);
	at = conn->memory;
	for (i = 0; i < NFC_CALLS; i++, at += bytes)
		conn->calls[i].own = at;
	for (i = 0; i < NFC_RECEIVES; i++, at += bytes)
		conn->receives[i] = (struct nfc_mark){.use = NFC_RECEIVE, .of = at};
	return 0;
}

void nfc_conn_lose(struct nfc_conn *conn)
{
	size_t i;

	conn->lost = true;
	for (i = 0; i < NFC_CALLS; i++) {
		struct nfc_call *call = &conn->calls[i];

		if (call->state == NFC_SENT)
			call->state = NFC_LOST;
		call->sending = call->result_posted = call->reply_posted = false;
	}
}

int nfc_conn_connect(struct nfc_conn *conn)
{
	struct fi_cairn_rpc_limits limits = {0};
	size_t i;
	int ret;

	lnk_hang_up(&conn->link);
	nfc_conn_lose(conn);
	conn->pending_len = 0;
	ret = lnk_rpc_endpoint(&conn->link, conn->link.info, &nfc_wish, &limits);
	conn->inline_bytes = limits.recv_inline;
	if (!ret)
		ret = make_memory(conn);
	for (i = 0; !ret && i < NFC_RECEIVES; i++)
		ret = nfc_conn_receive(conn, &conn->receives[i]);
	if (!ret)
		ret = lnk_connect(&conn->link, conn->where->timeout);
	conn->lost = ret != 0;
	conn->silent = false;
	conn->connections += !ret;
	return ret;
}

/* ---- sending ---- */

uint32_t nfc_conn_xid(struct nfc_conn *conn)
{
	return conn->next_xid++;
}

static ssize_t post_place(struct nfc_conn *conn, struct nfc_call *call, void *at,
			  size_t room, struct nfc_mark *mark, uint64_t flag)
{
	const struct iovec iov = {.iov_base = at, .iov_len = room};
	const struct fi_msg msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.context = mark,
		.data = call->xid,
	};

	return fi_recvmsg(conn->link.ep, &msg, FI_COMPLETION | flag);
}

static ssize_t post_places(struct nfc_conn *conn, struct nfc_call *call)
{
	ssize_t ret = 0;

	if (call->result_at && !call->result_posted) {
		call->result = (struct nfc_mark){.use = NFC_RESULT, .of = call};
		ret = post_place(conn, call, call->result_at, call->result_room,
				 &call->result, FI_CAIRN_RPC_RESULT);
		call->result_posted = !ret;
	}
	if (!ret && call->answer && !call->reply_posted) {
		call->reply = (struct nfc_mark){.use = NFC_OWN_REPLY, .of = call};
		ret = post_place(conn, call, call->answer, call->answer_room,
				 &call->reply, FI_CAIRN_RPC_REPLY);
		call->reply_posted = !ret;
	}
	return ret;
}

/* The pieces of a Call; the data are the second. */
static size_t pieces(const struct nfc_call *call, struct iovec *iov)
{
	static uint8_t zeros[4];
	size_t count = 0;

	if (!call->data) {
		iov[count++] = (struct iovec){(void *)call->bytes, call->len};
		return count;
	}
	iov[count++] = (struct iovec){(void *)call->bytes, call->data_at};
	iov[count++] = (struct iovec){(void *)call->data, call->data_len};
	/* XDR's pad, which the provider adds to what may leave the message. */
	if (call->whole && call->data_len % 4)
		iov[count++] = (struct iovec){zeros, 4 - call->data_len % 4};
	if (call->data_at < call->len)
		iov[count++] = (struct iovec){(void *)(call->bytes + call->data_at),
					      call->len - call->data_at};
	return count;
}

static ssize_t post_call(struct nfc_conn *conn, struct nfc_call *call)
{
	const bool item = call->data && !call->whole;
	struct iovec iov[4];
	const struct fi_msg msg = {
		.msg_iov = iov,
		.iov_count = pieces(call, iov),
		.context = &call->send,
		.data = 1 << 1,
	};
	ssize_t ret = post_places(conn, call);

	if (ret)
		return ret;
	return fi_sendmsg(conn->link.ep, &msg,
			  FI_COMPLETION | (item ? FI_CAIRN_RPC_DDP : 0));
}

static int timed_out(struct nfc_conn *conn, const char *what)
{
	conn->silent = true;
	return lnk_fail(&conn->link, -FI_ETIMEDOUT, "%s of %s in %d s", what,
			conn->where->host, conn->where->timeout);
}

/* Without a credit, or room: when something has completed there may be. */
int nfc_conn_send(struct nfc_conn *conn, struct nfc_call *call)
{
	const uint64_t end = lnk_now_ms() + 1000u * (unsigned)conn->where->timeout;
	ssize_t ret = 0;

	call->result_len = call->answer_len = 0;
	call->send = (struct nfc_mark){.use = NFC_SEND, .of = call};
	while (!conn->lost && (ret = post_call(conn, call)) == -FI_EAGAIN) {
		if (lnk_now_ms() > end)
			return timed_out(conn, "no credit");
		ret = nfc_conn_turn(conn, 20);
		if (ret)
			return (int)ret;
	}
	if (conn->lost || ret == -FI_ENOTCONN) {
		call->state = NFC_LOST;
		conn->lost = true;
		return 0;
	}
	if (ret)
		return lnk_failed(&conn->link, "cannot send", ret);
	call->state = NFC_SENT;
	call->sending = true;
	return 0;
}

/* The send, too: its bytes are the provider's until it has completed. */
int nfc_conn_wait(struct nfc_conn *conn, struct nfc_call *call)
{
	const uint64_t end = lnk_now_ms() + 1000u * (unsigned)conn->where->timeout;
	uint64_t now;
	int ret;

	while (call->state == NFC_SENT || (call->sending && !conn->lost)) {
		now = lnk_now_ms();
		if (now >= end)
			return timed_out(conn, "no answer");
		ret = nfc_conn_turn(conn, (int)(end - now));
		if (ret)
			return ret;
	}
	if (call->state == NFC_LOST)
		return lnk_fail(&conn->link, -FI_ECONNRESET, "%s ended the connection",
				conn->where->host);
	if (call->state == NFC_REFUSED)
		return lnk_fail(&conn->link, -FI_EREMOTEIO,
				"the server cannot take the request apart: RDMA_ERROR");
	return 0;
}

int nfc_conn_rest(struct nfc_conn *conn, int ms)
{
	const uint64_t end = lnk_now_ms() + (unsigned)ms;
	uint64_t now;
	int ret = 0;

	while (!ret && !conn->lost && (now = lnk_now_ms()) < end)
		ret = nfc_conn_turn(conn, (int)(end - now));
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers to Calls that no dispatch function has answered (RFC 5531 section 9). */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "conn.h"

#define VERSION_AT 8 /* rpcvers of a Call */

static bool reject_fill(XDR *xdrs, void *arg)
{
	return xdr_replymsg(xdrs, arg);
}

static uint32_t reject_word(const struct crpc_buf *call, size_t at)
{
	uint32_t word = 0;

	if (at + sizeof(word) <= call->len)
		memcpy(&word, call->bytes + at, sizeof(word));
	return ntohl(word);
}

void crpc_reject(struct fi_rpc *conn, const struct crpc_buf *call, enum accept_stat stat)
{
	struct rpc_msg msg = {.rm_direction = REPLY};
	size_t len = 0;
	uint8_t *buf;

	msg.rm_xid = reject_word(call, 0);
	if (reject_word(call, VERSION_AT) != RPC_MSG_VERSION) {
		msg.rm_reply.rp_stat = MSG_DENIED;
		msg.rjcted_rply.rj_stat = RPC_MISMATCH;
		msg.rjcted_rply.rj_vers.low = RPC_MSG_VERSION;
		msg.rjcted_rply.rj_vers.high = RPC_MSG_VERSION;
	} else {
		msg.rm_reply.rp_stat = MSG_ACCEPTED;
		msg.acpted_rply.ar_verf = _null_auth;
		msg.acpted_rply.ar_stat = stat;
	}
	buf = crpc_encode(reject_fill, &msg, conn->max_msg, &len);
	if (buf)
		crpc_reply_send(conn, buf, len);
}

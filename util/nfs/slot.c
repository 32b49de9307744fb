/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slots of a session (RFC 8881 section 2.10.6): each has at most one compound
 * outstanding, and a number that tells a new compound from one that is sent again.
 */
#include <string.h>

#include "session.h"
#include "status.h"

#define MOST_LOSSES 3 /* connections in a row that end before a compound succeeds */
#define REST_MS 50

void nfc_begin(struct nfc_session *session, struct nfc_compound *compound, bool kept)
{
	SEQUENCE4args *args;

	compound->count = compound->data_after = 0;
	args = &nfc_add(compound, OP_SEQUENCE)->nfs_argop4_u.sequence;
	memcpy(args->sessionid, session->id, sizeof(args->sessionid));
	args->highest_slotid = session->count - 1;
	args->cachethis = kept;
}

struct nfc_call *nfc_slot_call(struct nfc_session *session, unsigned int slot)
{
	struct nfc_call *call = &session->conn.calls[slot];

	call->data = NULL;
	call->whole = false;
	call->result_at = NULL;
	call->answer = NULL;
	return call;
}

/* 0: all of them. */
static size_t bytes_before_data(struct nfc_call *call, struct nfc_compound *compound)
{
	const unsigned int count = compound->count;
	size_t len = 0;

	if (compound->data_after) {
		compound->count = compound->data_after;
		len = nfc_pack_call(call->bytes, sizeof(call->bytes), call->xid,
				    compound);
		compound->count = count;
	}
	return len;
}

int nfc_submit(struct nfc_session *session, unsigned int slot,
	       struct nfc_compound *compound)
{
	SEQUENCE4args *args = &compound->ops[0].nfs_argop4_u.sequence;
	struct nfc_call *call = &session->conn.calls[slot];

	args->slotid = slot;
	args->sequenceid = session->slots[slot].sequence + 1;
	call->xid = nfc_conn_xid(&session->conn);
	call->data_at = bytes_before_data(call, compound);
	call->len = nfc_pack_call(call->bytes, sizeof(call->bytes), call->xid, compound);
	if (!call->data_at)
		call->data_at = call->len;
	if (!call->len)
		return lnk_fail(&session->conn.link, -FI_EMSGSIZE,
				"the request is too long");
	session->slots[slot].busy = true;
	return nfc_conn_send(&session->conn, call);
}

/* Until there is a Reply, over as many connections as it takes. */
static int wait_reply(struct nfc_session *session, unsigned int slot)
{
	struct nfc_call *call = &session->conn.calls[slot];
	int ret;

	while ((ret = nfc_conn_wait(&session->conn, call)) == -FI_ECONNRESET) {
		if (session->losses == MOST_LOSSES)
			return ret;
		ret = nfc_session_reconnect(session);
		if (ret)
			return ret;
	}
	return ret;
}

/*
 * Nothing of the compound was executed: the sentence is about SEQUENCE, whatever the
 * caller has asked for. A server may forget which connections belong to a session: the
 * connection is bound again (RFC 8881 section 2.10.3.1), and the compound sent again.
 */
static int refused(struct nfc_session *session, uint32_t status)
{
	const bool over = status == NFC_BADSESSION || status == NFC_DEADSESSION;
	int ret = 0;

	if (status == NFC_CONN_NOT_BOUND)
		ret = nfc_session_bind(session);
	if (ret)
		return ret;
	if (nfc_again((int)status))
		return (int)status;
	nfc_said(session, (int)status, over ? "the session is lost" : "SEQUENCE");
	return -FI_EREMOTEIO;
}

/* SEQUENCE says what becomes of the slot. */
static int check_sequence(struct nfc_session *session, unsigned int slot,
			  const COMPOUND4res *res)
{
	const SEQUENCE4res *sequence = &res->ops.ops_val[0].nfs_resop4_u.sequence;
	const SEQUENCE4resok *ok = &sequence->SEQUENCE4res_u.ok;

	if (!res->ops.ops_len || res->ops.ops_val[0].op != OP_SEQUENCE)
		return res->status ? (int)res->status : -FI_EIO;
	if (sequence->status == NFC_RETRY_UNCACHED_REP)
		session->slots[slot].sequence++;
	if (sequence->status)
		return refused(session, sequence->status);
	if (ok->slotid != slot || ok->sequenceid != session->slots[slot].sequence + 1 ||
	    memcmp(ok->sessionid, session->id, sizeof(session->id)) != 0)
		return -FI_EIO;
	session->slots[slot].sequence++;
	session->status_flags = ok->status_flags;
	return (int)res->status;
}

int nfc_finish(struct nfc_session *session, unsigned int slot, COMPOUND4res *res)
{
	struct nfc_call *call = &session->conn.calls[slot];
	const uint8_t *bytes;
	int ret;

	ret = wait_reply(session, slot);
	session->slots[slot].busy = false;
	if (ret)
		return ret;
	bytes = call->answer ? call->answer : call->own;
	ret = nfc_parse_reply(bytes, call->answer_len, res, session->conn.link.why);
	if (ret)
		return ret;
	ret = check_sequence(session, slot, res);
	if (ret == -FI_EIO)
		lnk_fail(&session->conn.link, ret, "the reply is of another slot");
	if (ret)
		nfc_free_reply(res);
	else
		session->losses = 0;
	return ret;
}

int nfc_settle(struct nfc_session *session)
{
	COMPOUND4res res;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < session->count && ret >= 0; i++) {
		if (session->conn.lost || session->conn.silent)
			return -FI_ENOTCONN;
		if (!session->slots[i].busy)
			continue;
		ret = nfc_finish(session, i, &res);
		if (!ret)
			nfc_free_reply(&res);
	}
	return ret < 0 ? ret : 0;
}

bool nfc_again(int status)
{
	return status == NFC_DELAY || status == NFC_GRACE ||
	       status == NFC_RETRY_UNCACHED_REP || status == NFC_CONN_NOT_BOUND;
}

int nfc_run(struct nfc_session *session, struct nfc_compound *compound, COMPOUND4res *res)
{
	const uint64_t end =
		lnk_now_ms() + 1000u * (unsigned)session->conn.where->timeout;
	int ret;

	for (;;) {
		ret = nfc_submit(session, 0, compound);
		if (!ret)
			ret = nfc_finish(session, 0, res);
		if (!nfc_again(ret) || session->conn.where->once || lnk_now_ms() > end)
			return ret;
		ret = nfc_conn_rest(&session->conn, REST_MS);
		if (ret)
			return ret;
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same Call again, with its XID (RFC 8167 section 5.4): the session's slot keeps the
 * Reply, and the server executes the Call once (RFC 8881 section 2.10.6.2).
 */

#include "case.h"
#include "ops.h"
#include "status.h"

static struct nfc_session session;

/* The Call of slot 0 as it was; the status of its COMPOUND. */
static int once_more(void)
{
	struct nfc_call *call = &session.conn.calls[0];
	COMPOUND4res res;
	int ret = nfc_conn_send(&session.conn, call);

	if (!ret)
		ret = nfc_conn_wait(&session.conn, call);
	if (!ret)
		ret = nfc_parse_reply(call->own, call->answer_len, &res,
				      session.conn.link.why);
	if (ret)
		return ret;
	ret = (int)res.status;
	if (!ret && !nfc_result(&res, 2, OP_CLOSE))
		ret = -FI_EIO;
	nfc_free_reply(&res);
	return ret;
}

/* A CLOSE can succeed once. */
static int close_file(const struct nfc_file *file)
{
	struct nfc_compound compound;
	COMPOUND4res res;
	int ret;

	nfc_begin(&session, &compound, true);
	nfc_add_putfh(&compound, &file->handle);
	nfc_add(&compound, OP_CLOSE)->nfs_argop4_u.close.stateid = file->stateid;
	nfc_slot_call(&session, 0);
	ret = nfc_submit(&session, 0, &compound);
	if (!ret)
		ret = nfc_finish(&session, 0, &res);
	if (!ret)
		nfc_free_reply(&res);
	return nfc_said(&session, ret, "CLOSE");
}

static enum nfs_verdict again(struct nfs_place *place, const struct nfc_file *file)
{
	const uint32_t xid = session.conn.calls[0].xid;
	uint32_t dir;
	int ret = once_more();

	if (ret)
		return nfs_failed(place, "on the same connection: %d", ret);
	fi_shutdown(session.conn.link.ep, 0);
	if (nfc_session_reconnect(&session))
		return nfs_failed_in(place, &session, "connect again");
	ret = once_more();
	if (ret)
		return nfs_failed(place, "on another connection: %d", ret);
	if (session.conn.calls[0].xid != xid)
		return nfs_failed(place, "it had another XID");
	/* What tells that none of them was executed. */
	ret = close_file(file);
	if (ret <= 0)
		return nfs_failed(place, "the file can be closed once more");
	/* The binding is there already (RFC 8881 section 18.34.3). */
	if (nfc_bind(&session, &session.conn, CDFC4_FORE_OR_BOTH, &dir) ||
	    dir != CDFS4_BOTH)
		return nfs_failed_in(place, &session, "bind what is bound");
	return NFS_PASSED;
}

enum nfs_verdict nfs_case_again(struct nfs_place *place)
{
	enum nfs_verdict verdict;
	struct nfc_file file;

	if (nfc_session_open(&session, &place->where))
		verdict = nfs_failed_in(place, &session, "session");
	else if (nfc_open(&session, nfs_path(place, "again"),
			  OPEN4_SHARE_ACCESS_WRITE | NFC_CREATE, &file))
		verdict = nfs_failed_in(place, &session, "open");
	else if (close_file(&file))
		verdict = nfs_failed_in(place, &session, "close");
	else
		verdict = again(place, &file);
	nfc_session_close(&session);
	return verdict;
}

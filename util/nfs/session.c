/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "session.h"
#include "status.h"

/* Of a READ or WRITE of 1 MiB, and what is around the data. */
#define MOST_BYTES ((1u << 20) + 4096u)
#define CACHED_BYTES 2048u
/* Of the back channel: what is inline besides the transport header. */
#define BACK_BYTES 4068u
#define PAUSE_MS 200 /* between connections */
#define REST_MS 50   /* before a request comes again */

int nfc_said(struct nfc_session *session, int ret, const char *what)
{
	char text[LNK_WHY / 2];

	if (ret > 0)
		lnk_fail(&session->conn.link, ret, "%s: %s", what,
			 nfc_status_text((uint32_t)ret, text, sizeof(text)));
	return ret;
}

/* ---- operations outside of a session ---- */

/* One operation in one compound; 0, its status or an error. */
static int alone_once(struct nfc_conn *conn, struct nfc_compound *compound,
		      COMPOUND4res *res)
{
	struct nfc_call *call = &conn->calls[NFC_SLOTS];
	int ret;

	call->xid = nfc_conn_xid(conn);
	call->len = nfc_pack_call(call->bytes, sizeof(call->bytes), call->xid, compound);
	call->data = NULL;
	call->whole = false;
	call->result_at = NULL;
	call->answer = NULL;
	ret = nfc_conn_send(conn, call);
	if (!ret)
		ret = nfc_conn_wait(conn, call);
	if (!ret)
		ret = nfc_parse_reply(call->own, call->answer_len, res, conn->link.why);
	if (ret)
		return ret;
	ret = (int)res->status;
	if (!ret &&
	    (res->ops.ops_len != 1 || res->ops.ops_val[0].op != compound->ops[0].op))
		ret = lnk_fail(&conn->link, -FI_EIO, "the reply is to another request");
	if (ret)
		nfc_free_reply(res);
	return ret;
}

/* As long as the server asks to try again later: the sequence number of CREATE_SESSION
 * remains (RFC 8881 section 18.36.4). */
static int alone(struct nfc_conn *conn, struct nfc_compound *compound, COMPOUND4res *res)
{
	const uint64_t end = lnk_now_ms() + 1000u * (unsigned)conn->where->timeout;
	int ret;

	while (nfc_again(ret = alone_once(conn, compound, res)) && lnk_now_ms() <= end) {
		ret = nfc_conn_rest(conn, REST_MS);
		if (ret)
			return ret;
	}
	return ret;
}

static int exchange_id(struct nfc_session *session)
{
	struct nfc_compound compound = {.count = 0};
	EXCHANGE_ID4args *args =
		&nfc_add(&compound, OP_EXCHANGE_ID)->nfs_argop4_u.exchange_id;
	char host[64] = "", name[128];
	EXCHANGE_ID4resok *ok;
	struct timespec now;
	COMPOUND4res res;
	int ret;

	clock_gettime(CLOCK_REALTIME, &now);
	gethostname(host, sizeof(host) - 1);
	snprintf(name, sizeof(name), "cairn %s %d %lld.%09ld", host, (int)getpid(),
		 (long long)now.tv_sec, now.tv_nsec);
	memcpy(args->owner.verifier, &now.tv_nsec, sizeof(args->owner.verifier));
	args->owner.ownerid = nfc_text(name);
	ret = alone(&session->conn, &compound, &res);
	if (ret)
		return nfc_said(session, ret, "EXCHANGE_ID");
	ok = &res.ops.ops_val[0].nfs_resop4_u.exchange_id.EXCHANGE_ID4res_u.ok;
	session->clientid = ok->clientid;
	session->create_sequence = ok->sequenceid;
	session->named = true;
	nfc_free_reply(&res);
	return 0;
}

static void take_session(struct nfc_session *session, const CREATE_SESSION4resok *ok)
{
	memcpy(session->id, ok->sessionid, sizeof(session->id));
	memcpy(session->callbacks.sessionid, ok->sessionid, sizeof(session->id));
	session->back = ok->flags & CREATE_SESSION4_FLAG_CONN_BACK_CHAN;
	session->request = ok->fore.maxrequestsize;
	session->response = ok->fore.maxresponsesize;
	if (session->count > ok->fore.maxrequests)
		session->count = ok->fore.maxrequests;
	session->lasts = true;
}

static int create_session(struct nfc_session *session)
{
	struct nfc_compound compound = {.count = 0};
	CREATE_SESSION4args *args =
		&nfc_add(&compound, OP_CREATE_SESSION)->nfs_argop4_u.create_session;
	callback_sec4 none = {.flavor = RPM_AUTH_NONE};
	COMPOUND4res res;
	int ret;

	args->clientid = session->clientid;
	args->sequence = session->create_sequence;
	args->flags = CREATE_SESSION4_FLAG_CONN_BACK_CHAN;
	args->fore = (channel_attrs4){
		.maxrequestsize = MOST_BYTES,
		.maxresponsesize = MOST_BYTES,
		.maxresponsesize_cached = CACHED_BYTES,
		.maxoperations = NFS4_OPS_MAX,
		.maxrequests = session->count,
	};
	args->back = (channel_attrs4){
		.maxrequestsize = BACK_BYTES,
		.maxresponsesize = BACK_BYTES,
		.maxoperations = 2,
		.maxrequests = 1,
	};
	args->cb_program = NFS4_CALLBACK;
	args->sec.sec_len = 1;
	args->sec.sec_val = &none;
	ret = alone(&session->conn, &compound, &res);
	if (ret)
		return nfc_said(session, ret, "CREATE_SESSION");
	take_session(
		session,
		&res.ops.ops_val[0].nfs_resop4_u.create_session.CREATE_SESSION4res_u.ok);
	nfc_free_reply(&res);
	if (!session->count || session->response < CACHED_BYTES)
		return lnk_fail(&session->conn.link, -FI_EIO,
				"the server's session has no room for a request");
	return 0;
}

static int reclaim_complete(struct nfc_session *session)
{
	struct nfc_compound compound;
	COMPOUND4res res;
	int ret;

	nfc_begin(session, &compound, true);
	nfc_add(&compound, OP_RECLAIM_COMPLETE);
	ret = nfc_run(session, &compound, &res);
	if (!ret)
		nfc_free_reply(&res);
	return nfc_said(session, ret, "RECLAIM_COMPLETE");
}

/* ---- open and close ---- */

/* Receives for the server's Calls are posted before CREATE_SESSION (RFC 8167 section 6).
 */
int nfc_session_open(struct nfc_session *session, const struct nfc_where *where)
{
	int ret;

	memset(session, 0, sizeof(*session));
	session->dir = CDFC4_FORE_OR_BOTH;
	session->count = where->slots < NFC_SLOTS ? where->slots : NFC_SLOTS;
	ret = nfc_conn_open(&session->conn, where);
	if (ret)
		return ret;
	session->conn.serve = nfc_callback_serve;
	session->conn.serve_arg = &session->callbacks;
	ret = nfc_conn_connect(&session->conn);
	if (!ret)
		ret = exchange_id(session);
	if (!ret)
		ret = create_session(session);
	return ret ? ret : reclaim_complete(session);
}

/* Of an error nobody would know what to do; the lease ends what is left. */
static void end_at_server(struct nfc_session *session)
{
	struct nfc_compound compound = {.count = 0};
	nfs_argop4 *arg;
	COMPOUND4res res;

	if (session->lasts) {
		arg = nfc_add(&compound, OP_DESTROY_SESSION);
		memcpy(arg->nfs_argop4_u.destroy_session, session->id,
		       sizeof(session->id));
		if (alone_once(&session->conn, &compound, &res))
			return;
		nfc_free_reply(&res);
	}
	compound.count = 0;
	arg = nfc_add(&compound, OP_DESTROY_CLIENTID);
	arg->nfs_argop4_u.destroy_clientid = session->clientid;
	if (!alone_once(&session->conn, &compound, &res))
		nfc_free_reply(&res);
}

void nfc_session_close(struct nfc_session *session)
{
	char why[LNK_WHY];

	memcpy(why, session->conn.link.why, sizeof(why));
	if (session->named && !session->conn.lost && !session->conn.silent)
		end_at_server(session);
	nfc_conn_close(&session->conn);
	memcpy(session->conn.link.why, why, sizeof(why));
}

/* ---- another connection ---- */

int nfc_bind(struct nfc_session *session, struct nfc_conn *conn, uint32_t dir,
	     uint32_t *got)
{
	struct nfc_compound compound = {.count = 0};
	conn_to_session4 *args =
		&nfc_add(&compound, OP_BIND_CONN_TO_SESSION)->nfs_argop4_u.bind;
	COMPOUND4res res;
	int ret;

	memcpy(args->sessionid, session->id, sizeof(session->id));
	args->dir = dir;
	ret = alone(conn, &compound, &res);
	if (ret < 0 && conn != &session->conn)
		lnk_fail(&session->conn.link, ret, "%s", conn->link.why);
	if (ret)
		return nfc_said(session, ret, "BIND_CONN_TO_SESSION");
	*got = res.ops.ops_val[0].nfs_resop4_u.bind.BIND_CONN_TO_SESSION4res_u.ok.dir;
	nfc_free_reply(&res);
	return 0;
}

int nfc_session_bind(struct nfc_session *session)
{
	uint32_t dir = 0;
	int ret;

	ret = nfc_bind(session, &session->conn, session->dir, &dir);
	if (ret > 0) {
		nfc_said(session, ret, "the session is lost");
		return -FI_EREMOTEIO;
	}
	session->back = dir & CDFS4_BACK;
	return ret;
}

static bool lost_again(int ret)
{
	return ret == -FI_ECONNRESET || ret == -FI_ECONNREFUSED ||
	       ret == -FI_ECONNABORTED || ret == -FI_ENOTCONN;
}

static int send_again(struct nfc_session *session)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < session->count; i++) {
		if (!session->slots[i].busy || session->conn.calls[i].state != NFC_LOST)
			continue;
		ret = nfc_conn_send(&session->conn, &session->conn.calls[i]);
	}
	return ret;
}

int nfc_session_reconnect(struct nfc_session *session)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
	const uint64_t end =
		lnk_now_ms() + 1000u * (unsigned)session->conn.where->timeout;
	int ret;

	for (;;) {
		ret = nfc_conn_connect(&session->conn);
		if (!ret)
			ret = nfc_session_bind(session);
		if (!lost_again(ret) || lnk_now_ms() > end)
			break;
		nanosleep(&pause, NULL);
	}
	session->losses++;
	return ret ? ret : send_again(session);
}

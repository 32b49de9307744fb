/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A delegation that the server wants back: CB_SEQUENCE and CB_RECALL in reverse, on the
 * connection that made the session, on one that was bound to it after a loss, and after
 * a long silence.
 */
#include "contest.h"

static struct nfs_contest contest;

static enum nfs_verdict lose(struct nfs_place *place)
{
	enum nfs_verdict verdict = nfs_lose(place, &contest.keeper, &contest.kept);

	if (!verdict && !contest.keeper.back)
		verdict = nfs_failed(place, "no back channel after the loss");
	return verdict;
}

static enum nfs_verdict recall(struct nfs_place *place, const char *name,
			       enum nfs_verdict (*before)(struct nfs_place *place))
{
	enum nfs_verdict verdict = nfs_contest_open(place, &contest, name);

	if (!verdict && before)
		verdict = before(place);
	if (!verdict)
		verdict = nfs_contest_recall(place, &contest);
	nfs_contest_close(&contest);
	return verdict;
}

enum nfs_verdict nfs_case_recall(struct nfs_place *place)
{
	return recall(place, "recalled", NULL);
}

enum nfs_verdict nfs_case_recall_reconnected(struct nfs_place *place)
{
	return recall(place, "recalled-reconnected", lose);
}

/* ---- silence ---- */

static int renew(struct nfc_session *session)
{
	struct nfc_compound compound;
	COMPOUND4res res;
	int ret;

	nfc_begin(session, &compound, false);
	ret = nfc_run(session, &compound, &res);
	if (!ret)
		nfc_free_reply(&res);
	return nfc_said(session, ret, "SEQUENCE");
}

/*
 * Without any Call but what keeps the lease: the connection has to be there when the
 * server needs it (RFC 8167 section 5.4).
 */
static enum nfs_verdict idle(struct nfs_place *place)
{
	struct nfc_session *const both[] = {&contest.keeper, &contest.writer};
	const uint64_t end = lnk_now_ms() + 1000u * place->idle;
	const int slice_ms = (int)place->lease * 1000 / 3;
	int left;

	while ((left = (int)(end - lnk_now_ms())) > 0) {
		if (nfc_conn_rest(&contest.keeper.conn,
				  left < slice_ms ? left : slice_ms))
			return nfs_failed_in(place, &contest.keeper, "idle");
		for (size_t i = 0; i < 2; i++)
			if (renew(both[i]))
				return nfs_failed_in(place, both[i], "idle");
	}
	if (contest.keeper.conn.connections != 1)
		return nfs_failed(place, "%u connections: the idle one was lost",
				  contest.keeper.conn.connections);
	return NFS_PASSED;
}

enum nfs_verdict nfs_case_recall_idle(struct nfs_place *place)
{
	return recall(place, "recalled-idle", idle);
}

/* ---- losses alone ---- */

enum nfs_verdict nfs_case_reconnect(struct nfs_place *place)
{
	static struct nfc_session session;
	enum nfs_verdict verdict = NFS_PASSED;
	struct nfc_file file;

	if (nfc_session_open(&session, &place->where))
		verdict = nfs_failed_in(place, &session, "session");
	else if (nfc_open(&session, nfs_path(place, "written"), OPEN4_SHARE_ACCESS_READ,
			  &file))
		verdict = nfs_failed_in(place, &session, "open");
	for (unsigned int i = 0; i < place->losses && !verdict; i++)
		verdict = nfs_lose(place, &session, &file);
	if (!verdict && !session.back)
		verdict = nfs_failed(place, "no back channel after the losses");
	if (!verdict && nfc_close(&session, &file))
		verdict = nfs_failed_in(place, &session, "close");
	nfc_session_close(&session);
	return verdict;
}

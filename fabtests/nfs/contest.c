/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "contest.h"
#include "status.h"

#define TRIES 40
#define TURN_MS 250

enum nfs_verdict nfs_contest_open(struct nfs_place *place, struct nfs_contest *contest,
				  const char *name)
{
	struct nfc_session *keeper = &contest->keeper, *writer = &contest->writer;
	struct nfc_file *kept = &contest->kept;

	memset(contest, 0, sizeof(*contest));
	snprintf(contest->name, sizeof(contest->name), "%s-%d", name, (int)getpid());
	/* A delayed OPEN comes back at once, for the keeper's turn. */
	contest->quick = place->where;
	contest->quick.once = true;
	if (nfc_session_open(keeper, &place->where))
		return nfs_failed_in(place, keeper, "session");
	if (nfc_session_open(writer, &place->where))
		return nfs_failed_in(place, writer, "session");
	if (nfc_open(writer, nfs_path(place, contest->name),
		     OPEN4_SHARE_ACCESS_WRITE | NFC_CREATE, kept) ||
	    nfc_close(writer, kept))
		return nfs_failed_in(place, writer, "make the file");
	if (nfc_open(keeper, nfs_path(place, contest->name), OPEN4_SHARE_ACCESS_READ,
		     kept))
		return nfs_failed_in(place, keeper, "open");
	if (kept->delegation == OPEN_DELEGATE_READ)
		return NFS_PASSED;
	nfs_failed(place, "the server gives no delegation");
	return NFS_SKIPPED;
}

static int rest(struct nfs_contest *contest)
{
	return contest->rest ? contest->rest(contest->arg, TURN_MS)
			     : nfc_conn_rest(&contest->keeper.conn, TURN_MS);
}

static enum nfs_verdict give_back(struct nfs_place *place, struct nfs_contest *contest,
				  const stateid4 *wanted)
{
	struct nfc_file *kept = &contest->kept;

	if (memcmp(wanted->other, kept->delegated.other, sizeof(wanted->other)) != 0)
		return nfs_failed(place, "another delegation is recalled");
	kept->delegation = OPEN_DELEGATE_NONE;
	if (nfc_delegreturn(&contest->keeper, &kept->handle, wanted))
		return nfs_failed_in(place, &contest->keeper, "return");
	return NFS_PASSED;
}

enum nfs_verdict nfs_contest_recall(struct nfs_place *place, struct nfs_contest *contest)
{
	struct nfc_session *keeper = &contest->keeper, *writer = &contest->writer;
	bool returned = false;
	struct nfc_file file;
	stateid4 wanted;
	int i, ret = NFC_DELAY;

	writer->conn.where = &contest->quick;
	for (i = 0; i < TRIES && ret == NFC_DELAY; i++) {
		ret = nfc_open(writer, nfs_path(place, contest->name),
			       OPEN4_SHARE_ACCESS_WRITE, &file);
		if (ret != NFC_DELAY || returned)
			continue;
		if (rest(contest))
			return nfs_failed_in(place, keeper, "serve");
		if (!nfc_callback_recall(&keeper->callbacks, &wanted))
			continue;
		if (give_back(place, contest, &wanted))
			return NFS_FAILED;
		returned = true;
	}
	if (ret)
		return nfs_failed_in(place, writer, "open for writing");
	nfc_close(writer, &file);
	return returned ? NFS_PASSED : nfs_failed(place, "there was no recall");
}

void nfs_contest_close(struct nfs_contest *contest)
{
	if (contest->kept.handle.len && !contest->keeper.conn.lost)
		nfc_close(&contest->keeper, &contest->kept);
	nfc_session_close(&contest->writer);
	nfc_session_close(&contest->keeper);
}

enum nfs_verdict nfs_lose(struct nfs_place *place, struct nfc_session *session,
			  const struct nfc_file *file)
{
	const unsigned int before = session->conn.connections;
	struct nfc_attrs attrs;

	fi_shutdown(session->conn.link.ep, 0);
	if (nfc_attrs(session, &file->handle, &attrs))
		return nfs_failed_in(place, session, "after the loss");
	if (session->conn.connections != before + 1)
		return nfs_failed(place, "%u connections instead of another one",
				  session->conn.connections - before);
	return NFS_PASSED;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A delegation that the server wants back: CB_SEQUENCE and CB_RECALL in reverse, on the
 * connection that made the session, and on one that was bound to it after a loss.
 */
#include <string.h>

#include "case.h"
#include "status.h"

#define TRIES 40
#define TURN_MS 250

static struct nfc_session keeper, writer;
static struct nfc_where quick;
/* Linux gives no delegation of a file again soon after it was recalled. */
static const char *name;

/* Ends the connection, and needs another one at once. */
static enum nfs_verdict lose(struct nfs_place *place, struct nfc_session *session,
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
	if (!session->back)
		return nfs_failed(place, "no back channel after the loss");
	return NFS_PASSED;
}

/* The writer's OPEN is delayed until the keeper has answered and returned. */
static enum nfs_verdict contend(struct nfs_place *place, struct nfc_file *kept)
{
	bool returned = false;
	struct nfc_file file;
	stateid4 wanted;
	int i, ret = NFC_DELAY;

	for (i = 0; i < TRIES && ret == NFC_DELAY; i++) {
		ret = nfc_open(&writer, nfs_path(place, name), OPEN4_SHARE_ACCESS_WRITE,
			       &file);
		if (ret != NFC_DELAY || returned)
			continue;
		if (nfc_conn_rest(&keeper.conn, TURN_MS))
			return nfs_failed_in(place, &keeper, "serve");
		if (!nfc_callback_recall(&keeper.callbacks, &wanted))
			continue;
		if (memcmp(wanted.other, kept->delegated.other, sizeof(wanted.other)))
			return nfs_failed(place, "another delegation is recalled");
		kept->delegation = OPEN_DELEGATE_NONE;
		if (nfc_delegreturn(&keeper, &kept->handle, &wanted))
			return nfs_failed_in(place, &keeper, "return");
		returned = true;
	}
	if (ret)
		return nfs_failed_in(place, &writer, "open for writing");
	nfc_close(&writer, &file);
	return returned ? NFS_PASSED : nfs_failed(place, "there was no recall");
}

static enum nfs_verdict recall(struct nfs_place *place, bool lost)
{
	enum nfs_verdict verdict = NFS_PASSED;
	struct nfc_file kept;

	if (nfc_open(&writer, nfs_path(place, name),
		     OPEN4_SHARE_ACCESS_WRITE | NFC_CREATE, &kept) ||
	    nfc_close(&writer, &kept))
		return nfs_failed_in(place, &writer, "make the file");
	if (nfc_open(&keeper, nfs_path(place, name), OPEN4_SHARE_ACCESS_READ, &kept))
		return nfs_failed_in(place, &keeper, "open");
	if (kept.delegation != OPEN_DELEGATE_READ) {
		nfc_close(&keeper, &kept);
		nfs_failed(place, "the server gives no delegation");
		return NFS_SKIPPED;
	}
	writer.conn.link.where = &quick;
	if (lost)
		verdict = lose(place, &keeper, &kept);
	if (!verdict)
		verdict = contend(place, &kept);
	if (nfc_close(&keeper, &kept) && !verdict)
		verdict = nfs_failed_in(place, &keeper, "close");
	return verdict;
}

/* A delayed OPEN comes back after a second, for the keeper's turn. */
static enum nfs_verdict both(struct nfs_place *place, bool lost)
{
	enum nfs_verdict verdict;

	quick = place->where;
	quick.timeout = 1;
	memset(&writer, 0, sizeof(writer));
	if (nfc_session_open(&keeper, &place->where))
		verdict = nfs_failed_in(place, &keeper, "session");
	else if (nfc_session_open(&writer, &place->where))
		verdict = nfs_failed_in(place, &writer, "session");
	else {
		verdict = recall(place, lost);
	}
	nfc_session_close(&writer);
	nfc_session_close(&keeper);
	return verdict;
}

enum nfs_verdict nfs_case_recall(struct nfs_place *place)
{
	name = "recalled";
	return both(place, false);
}

enum nfs_verdict nfs_case_recall_reconnected(struct nfs_place *place)
{
	name = "recalled-reconnected";
	return both(place, true);
}

enum nfs_verdict nfs_case_reconnect(struct nfs_place *place)
{
	enum nfs_verdict verdict = NFS_PASSED;
	struct nfc_file file;
	int i;

	if (nfc_session_open(&keeper, &place->where))
		verdict = nfs_failed_in(place, &keeper, "session");
	else if (nfc_open(&keeper, nfs_path(place, "written"), OPEN4_SHARE_ACCESS_READ,
			  &file))
		verdict = nfs_failed_in(place, &keeper, "open");
	for (i = 0; i < 10 && !verdict; i++)
		verdict = lose(place, &keeper, &file);
	if (!verdict && nfc_close(&keeper, &file))
		verdict = nfs_failed_in(place, &keeper, "close");
	nfc_session_close(&keeper);
	return verdict;
}

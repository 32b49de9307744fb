/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A WRITE that the server cannot answer for now: Calls of the server are answered
 * meanwhile, in reverse on the same connection; and it is sent again, with its XID, after
 * the connection was lost. On a server of this host, the file system of the WRITE is
 * frozen; fi_cairn_nfsd holds the Reply back by itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "contest.h"
#include "status.h"

#define SLOT 1u /* the other ones are for what goes on meanwhile */
#define LEN 5001u
#define SETTLE_MS 300

static struct nfs_contest contest;
static uint8_t sent[LEN], got[LEN];

static bool freeze(struct nfs_place *place, unsigned long request)
{
	int fd, ret;

	if (!place->frozen_at)
		return true;
	fd = open(place->frozen_at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ret = fd < 0 ? -1 : ioctl(fd, request, 0);
	if (ret)
		nfs_failed(place, "%s: %s", place->frozen_at, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret == 0;
}

static const char *blocked_path(const struct nfs_place *place, const char *name)
{
	struct nfs_place there = *place;

	if (place->frozen_folder)
		there.folder = place->frozen_folder;
	return nfs_path(&there, name);
}

/* The WRITE is outstanding afterwards. */
static enum nfs_verdict block(struct nfs_place *place, struct nfc_session *session,
			      const struct nfc_file *file)
{
	if (!freeze(place, FIFREEZE))
		return NFS_FAILED;
	nfs_fill(sent, LEN, LEN);
	if (nfc_write_start(session, SLOT, file, 0, sent, LEN, false) ||
	    nfc_conn_rest(&session->conn, SETTLE_MS))
		return nfs_failed_in(place, session, "write");
	if (session->conn.calls[SLOT].state == NFC_SENT)
		return NFS_PASSED;
	nfs_failed(place, "nothing blocks a WRITE of this server");
	return place->frozen_at ? NFS_FAILED : NFS_SKIPPED;
}

/* As long as the server executes what came before the loss, it is sent again and again.
 */
static int finish(struct nfs_place *place, struct nfc_session *session, uint32_t *done)
{
	const uint64_t end = lnk_now_ms() + 1000u * (unsigned)place->where.timeout;
	struct nfc_call *call = &session->conn.calls[SLOT];
	int ret = nfc_write_finish(session, SLOT, done);

	while (ret == NFC_DELAY && lnk_now_ms() < end) {
		nfc_conn_rest(&session->conn, SETTLE_MS);
		call->data = sent;
		ret = nfc_conn_send(&session->conn, call);
		if (!ret)
			ret = nfc_write_finish(session, SLOT, done);
	}
	return ret;
}

/* Its Reply comes, and its data are there. */
static enum nfs_verdict unblock(struct nfs_place *place, struct nfc_session *session,
				const struct nfc_file *file)
{
	const uint32_t xid = session->conn.calls[SLOT].xid;
	uint32_t done, back;
	bool eof;

	if (!freeze(place, FITHAW))
		return NFS_FAILED;
	if (finish(place, session, &done))
		return nfs_failed_in(place, session, "the blocked write");
	if (session->conn.calls[SLOT].xid != xid)
		return nfs_failed(place, "the blocked write had another XID");
	memset(got, 0, LEN);
	if (nfs_read_once(session, file, 0, got, LEN, &back, &eof))
		return nfs_failed_in(place, session, "read");
	if (done != LEN || back != LEN || memcmp(sent, got, LEN) != 0)
		return nfs_failed(place, "%u bytes written, %u read, or others", done,
				  back);
	return NFS_PASSED;
}

/* fi_cairn_nfsd answers the WRITE when it has the Reply to its own Call. */
static enum nfs_verdict recall(struct nfs_place *place, const struct nfc_file *file)
{
	struct nfc_call *call = &contest.keeper.conn.calls[SLOT];

	if (nfs_contest_recall(place, &contest))
		return NFS_FAILED;
	if (contest.keeper.conn.connections != 1)
		return nfs_failed(place, "the connection was lost");
	if (!place->frozen_at)
		return NFS_PASSED;
	if (call->state != NFC_SENT)
		return nfs_failed(place, "the WRITE did not stay blocked");
	/* Without a loss there is nothing to send again. */
	if (nfc_conn_send(&contest.keeper.conn, call) != -FI_EALREADY)
		return nfs_failed(place, "the XID of an outstanding Call is sent again");
	return NFS_PASSED;
}

static enum nfs_verdict lose(struct nfs_place *place, const struct nfc_file *file)
{
	return nfs_lose(place, &contest.keeper, file);
}

static enum nfs_verdict during(struct nfs_place *place, const char *name,
			       enum nfs_verdict (*what)(struct nfs_place *place,
							const struct nfc_file *file))
{
	enum nfs_verdict verdict = nfs_contest_open(place, &contest, name);
	char why[sizeof(place->why)];
	enum nfs_verdict after;
	struct nfc_file file;

	if (!verdict &&
	    nfc_open(&contest.keeper, blocked_path(place, "blocked"),
		     OPEN4_SHARE_ACCESS_READ | OPEN4_SHARE_ACCESS_WRITE | NFC_CREATE,
		     &file))
		verdict = nfs_failed_in(place, &contest.keeper, "open");
	if (!verdict) {
		verdict = block(place, &contest.keeper, &file);
		if (!verdict)
			verdict = what(place, &file);
		/* Thawed in any case; the first reason is the one to tell. */
		memcpy(why, place->why, sizeof(why));
		after = unblock(place, &contest.keeper, &file);
		if (verdict)
			memcpy(place->why, why, sizeof(why));
		else
			verdict = after;
		nfc_close(&contest.keeper, &file);
	}
	nfs_contest_close(&contest);
	return verdict;
}

enum nfs_verdict nfs_case_blocked_recall(struct nfs_place *place)
{
	return during(place, "recalled-blocked", recall);
}

enum nfs_verdict nfs_case_blocked_lost(struct nfs_place *place)
{
	return during(place, "lost-blocked", lose);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that one session keeps by a delegation and another one wants to write: the
 * server asks for it back with CB_RECALL, in the keeper's back channel.
 */
#ifndef NFS_CONTEST_H
#define NFS_CONTEST_H

#include "case.h"

struct nfs_contest {
	struct nfc_session keeper, writer;
	struct nfc_where quick;
	/* Of the file, each run's own: Linux gives no delegation again soon after a
	 * recall. */
	char name[64];
	struct nfc_file kept;
	/* Serves the keeper's back channel for that long; NULL: it is its connection. */
	int (*rest)(void *arg, int ms);
	void *arg;
};

/* NFS_SKIPPED: the server gives no delegation. It is to be closed in any case. */
enum nfs_verdict nfs_contest_open(struct nfs_place *place, struct nfs_contest *contest,
				  const char *name);
/* The writer opens the file, the recall arrives, the keeper answers and returns it. */
enum nfs_verdict nfs_contest_recall(struct nfs_place *place, struct nfs_contest *contest);
void nfs_contest_close(struct nfs_contest *contest);

/* Ends the session's connection, and needs another one at once. */
enum nfs_verdict nfs_lose(struct nfs_place *place, struct nfc_session *session,
			  const struct nfc_file *file);

#endif

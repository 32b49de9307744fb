/* SPDX-License-Identifier: BSD-2-Clause */
/* What the cases of fi_cairn_nfs share. */
#ifndef NFS_CASE_H
#define NFS_CASE_H

#include "file.h"

enum nfs_verdict { NFS_PASSED, NFS_FAILED, NFS_SKIPPED };

struct nfs_place {
	struct nfc_where where;
	const char *folder;   /* on the server */
	const char *tcp_port; /* of the server, without RDMA */
	/* A file system of the server that may be frozen: where it is on this host, NULL:
	 * there is none, and its folder on the server. */
	const char *frozen_at, *frozen_folder;
	unsigned int idle, lease; /* s, of recall_idle */
	unsigned int calls, losses;
	char why[LNK_WHY + 64];
};

typedef enum nfs_verdict nfs_case(struct nfs_place *place);
nfs_case nfs_case_write, nfs_case_read, nfs_case_list, nfs_case_list_chunk,
	nfs_case_long_call, nfs_case_long_item, nfs_case_calls, nfs_case_recall,
	nfs_case_reconnect, nfs_case_recall_reconnected, nfs_case_recall_idle,
	nfs_case_blocked_recall, nfs_case_blocked_lost, nfs_case_again,
	nfs_case_bind_back, nfs_case_bind_both, nfs_case_bind_tcp;

/* Says why, and is NFS_FAILED. */
enum nfs_verdict nfs_failed(struct nfs_place *place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* WHAT: the sentence of the session. */
enum nfs_verdict nfs_failed_in(struct nfs_place *place, const struct nfc_session *session,
			       const char *what);
/* The path of a file of the folder, in a buffer of its own. */
const char *nfs_path(const struct nfs_place *place, const char *name);
/* Writes all of it to a file of the folder, from offset on. 0 or as nfc_write. */
int nfs_write_all(struct nfc_session *session, const struct nfc_file *file,
		  uint64_t offset, const uint8_t *bytes, size_t len);
/* And reads it, len bytes at most: *got of them. */
int nfs_read_once(struct nfc_session *session, const struct nfc_file *file,
		  uint64_t offset, void *buf, uint32_t len, uint32_t *got, bool *eof);
/* Opens a session and a file of the folder, and closes them after the use of them. Flags:
 * of nfc_open. */
typedef enum nfs_verdict nfs_use(struct nfs_place *place, struct nfc_session *session,
				 struct nfc_file *file);
enum nfs_verdict nfs_with_file(struct nfs_place *place, const char *name, uint32_t flags,
			       nfs_use *use);
void nfs_fill(uint8_t *bytes, size_t len, uint32_t seed);

#endif

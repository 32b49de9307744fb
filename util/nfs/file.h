/* SPDX-License-Identifier: BSD-2-Clause */
/* Files and directories of a session's server. Functions return what session.h says. */
#ifndef NFC_FILE_H
#define NFC_FILE_H

#include "session.h"

struct nfc_handle {
	u_int len;
	char bytes[NFS4_FHSIZE];
};

struct nfc_attrs {
	uint32_t type;
	uint64_t change, size, fileid;
};

struct nfc_file {
	struct nfc_handle handle;
	stateid4 stateid;
	struct nfc_attrs attrs; /* when it was opened */
	uint32_t delegation;	/* OPEN_DELEGATE_* */
	stateid4 delegated;
};

/* For nfc_open: a file that is not there is made. */
#define NFC_CREATE (1u << 31)

/* The handle of path, "/" and "" being the root of what the server exports. */
int nfc_walk(struct nfc_session *session, const char *path, struct nfc_handle *handle);
/* access: OPEN4_SHARE_ACCESS_*, | NFC_CREATE. */
int nfc_open(struct nfc_session *session, const char *path, uint32_t access,
	     struct nfc_file *file);
int nfc_attrs(struct nfc_session *session, const struct nfc_handle *handle,
	      struct nfc_attrs *attrs);
/* A delegation that came with the file goes back, too. */
int nfc_close(struct nfc_session *session, struct nfc_file *file);
int nfc_delegreturn(struct nfc_session *session, const struct nfc_handle *handle,
		    const stateid4 *stateid);

/*
 * READ of one slot, by a Write chunk at buf, in two halves: finished are *got bytes and
 * whether the file ends behind them. After a status of nfc_again it is to be started
 * again.
 */
int nfc_read_start(struct nfc_session *session, unsigned int slot,
		   const struct nfc_file *file, uint64_t offset, void *buf, uint32_t len);
int nfc_read_finish(struct nfc_session *session, unsigned int slot, uint32_t *got,
		    bool *eof);
/* WRITE of up to len bytes, by a Read chunk; they are stable when it returns. */
int nfc_write(struct nfc_session *session, const struct nfc_file *file, uint64_t offset,
	      const void *buf, uint32_t len, uint32_t *done);
/*
 * The same in two halves, as of READ. whole: the data stay in the message; what is then
 * too long for an inline one is a Long Call.
 */
int nfc_write_start(struct nfc_session *session, unsigned int slot,
		    const struct nfc_file *file, uint64_t offset, const void *buf,
		    uint32_t len, bool whole);
int nfc_write_finish(struct nfc_session *session, unsigned int slot, uint32_t *done);

/*
 * Calls each with the names of a directory, as long as it returns 0, whose value is
 * returned otherwise. room: bytes of the Reply chunk.
 */
int nfc_list(struct nfc_session *session, const struct nfc_handle *dir, uint32_t room,
	     int (*each)(void *arg, const char *name, size_t len), void *arg);

#endif

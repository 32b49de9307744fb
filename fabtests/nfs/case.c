/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "case.h"

enum nfs_verdict nfs_failed(struct nfs_place *place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(place->why, sizeof(place->why), format, args);
	va_end(args);
	return NFS_FAILED;
}

enum nfs_verdict nfs_failed_in(struct nfs_place *place, const struct nfc_session *session,
			       const char *what)
{
	return nfs_failed(place, "%s: %s", what, session->conn.link.why);
}

const char *nfs_path(const struct nfs_place *place, const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", place->folder, name);
	return path;
}

int nfs_write_all(struct nfc_session *session, const struct nfc_file *file,
		  uint64_t offset, const uint8_t *bytes, size_t len)
{
	uint32_t done;
	int ret;

	do {
		ret = nfc_write(session, file, offset, bytes, (uint32_t)len, &done);
		if (ret)
			return ret;
		offset += done;
		bytes += done;
		len -= done;
	} while (len && done);
	return len ? -FI_EIO : 0;
}

int nfs_read_once(struct nfc_session *session, const struct nfc_file *file,
		  uint64_t offset, void *buf, uint32_t len, uint32_t *got, bool *eof)
{
	const int ret = nfc_read_start(session, 0, file, offset, buf, len);

	return ret ? ret : nfc_read_finish(session, 0, got, eof);
}

enum nfs_verdict nfs_with_file(struct nfs_place *place, const char *name, uint32_t flags,
			       nfs_use *use)
{
	static struct nfc_session session;
	enum nfs_verdict verdict;
	struct nfc_file file;

	if (nfc_session_open(&session, &place->where))
		verdict = nfs_failed_in(place, &session, "session");
	else if (nfc_open(&session, nfs_path(place, name), flags, &file))
		verdict = nfs_failed_in(place, &session, "open");
	else {
		verdict = use(place, &session, &file);
		if (nfc_close(&session, &file) && !verdict)
			verdict = nfs_failed_in(place, &session, "close");
	}
	nfc_session_close(&session);
	return verdict;
}

void nfs_fill(uint8_t *bytes, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++) {
		seed = seed * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(seed >> 24);
	}
}

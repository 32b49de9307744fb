/* SPDX-License-Identifier: BSD-2-Clause */
/* WRITE by Read chunks and READ by Write chunks, of lengths with every XDR pad. */
#include <string.h>

#include "case.h"

#define MOST (1u << 20)
#define GUARD 0xee

static uint8_t sent[MOST], got[MOST + 1];

static enum nfs_verdict write_one(struct nfs_place *place, struct nfc_session *session,
				  struct nfc_file *file, uint64_t offset, uint32_t len)
{
	struct nfc_attrs attrs;
	uint32_t back;
	bool eof;

	nfs_fill(sent, len, len);
	if (nfs_write_all(session, file, offset, sent, len))
		return nfs_failed_in(place, session, "write");
	if (nfc_attrs(session, &file->handle, &attrs))
		return nfs_failed_in(place, session, "attributes");
	if (len && attrs.size < offset + len)
		return nfs_failed(place, "%u bytes at %llu: the size is %llu", len,
				  (unsigned long long)offset,
				  (unsigned long long)attrs.size);
	memset(got, GUARD, sizeof(got));
	if (len && nfs_read_once(session, file, offset, got, len, &back, &eof))
		return nfs_failed_in(place, session, "read");
	if (len && (back != len || memcmp(sent, got, len) != 0))
		return nfs_failed(place, "%u bytes at %llu: %u others come back", len,
				  (unsigned long long)offset, back);
	return got[len] == GUARD ? NFS_PASSED
				 : nfs_failed(place, "%u bytes: one more", len);
}

static enum nfs_verdict write_lengths(struct nfs_place *place,
				      struct nfc_session *session, struct nfc_file *file)
{
	static const uint32_t lengths[] = {0, 1,    2,	  3,	4,     5,	    6,
					   7, 1021, 4093, 4096, 65537, MOST - 4096, MOST};
	enum nfs_verdict verdict = NFS_PASSED;
	uint64_t offset = 0;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]) && !verdict; i++) {
		verdict = write_one(place, session, file, offset, lengths[i]);
		offset += lengths[i] + i % 3;
	}
	return verdict;
}

enum nfs_verdict nfs_case_write(struct nfs_place *place)
{
	return nfs_with_file(place, "written",
			     OPEN4_SHARE_ACCESS_READ | OPEN4_SHARE_ACCESS_WRITE |
				     NFC_CREATE,
			     write_lengths);
}

/* At the end of the file: short, empty, and a Write chunk that stays unused. */
static enum nfs_verdict read_end(struct nfs_place *place, struct nfc_session *session,
				 struct nfc_file *file)
{
	const uint64_t size = file->attrs.size;
	stateid4 bad = {.seqid = 77};
	struct nfc_file other = *file;
	uint32_t back;
	bool eof;

	if (nfs_read_once(session, file, size - 3, got, 4096, &back, &eof))
		return nfs_failed_in(place, session, "read the last bytes");
	if (back != 3 || !eof)
		return nfs_failed(place, "3 bytes before the end: %u, end %d", back, eof);
	if (nfs_read_once(session, file, size + 5, got, 4096, &back, &eof))
		return nfs_failed_in(place, session, "read behind the end");
	if (back || !eof)
		return nfs_failed(place, "behind the end: %u bytes, end %d", back, eof);
	memset(&bad.other, 0x5a, sizeof(bad.other));
	other.stateid = bad;
	memset(got, GUARD, 4096);
	if (nfs_read_once(session, &other, 0, got, 4096, &back, &eof) <= 0)
		return nfs_failed(place, "a wrong stateid is no error of the server");
	return got[0] == GUARD ? NFS_PASSED : nfs_failed(place, "a failed READ writes");
}

enum nfs_verdict nfs_case_read(struct nfs_place *place)
{
	return nfs_with_file(place, "written", OPEN4_SHARE_ACCESS_READ, read_end);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* READDIR of more names than one Reply has, inline and in a Reply chunk. */
#include <stdio.h>
#include <string.h>

#include "case.h"

#define NAMES 100
#define NAME "a-file-of-the-case-list-with-number-%03d"

static unsigned int seen[NAMES];

static int each(void *arg, const char *name, size_t len)
{
	char text[64] = "";
	int i;

	if (len >= sizeof(text))
		return 0;
	memcpy(text, name, len);
	if (sscanf(text, NAME, &i) == 1 && i >= 0 && i < NAMES)
		seen[i]++;
	return 0;
}

static enum nfs_verdict make(struct nfs_place *place, struct nfc_session *session)
{
	struct nfc_file file;
	char name[64];

	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), NAME, i);
		if (nfc_open(session, nfs_path(place, name),
			     OPEN4_SHARE_ACCESS_WRITE | NFC_CREATE, &file) ||
		    nfc_close(session, &file))
			return nfs_failed_in(place, session, "make a file");
	}
	return NFS_PASSED;
}

static enum nfs_verdict list(struct nfs_place *place, uint32_t room)
{
	static struct nfc_session session;
	enum nfs_verdict verdict;
	struct nfc_handle dir;

	memset(seen, 0, sizeof(seen));
	if (nfc_session_open(&session, &place->where))
		verdict = nfs_failed_in(place, &session, "session");
	else
		verdict = make(place, &session);
	if (!verdict && (nfc_walk(&session, place->folder, &dir) ||
			 nfc_list(&session, &dir, room, each, NULL)))
		verdict = nfs_failed_in(place, &session, "list");
	for (int i = 0; i < NAMES && !verdict; i++)
		if (seen[i] != 1)
			verdict = nfs_failed(place, "name %d comes %u times", i, seen[i]);
	nfc_session_close(&session);
	return verdict;
}

enum nfs_verdict nfs_case_list(struct nfs_place *place)
{
	return list(place, 2048);
}

enum nfs_verdict nfs_case_list_chunk(struct nfs_place *place)
{
	return list(place, 32768);
}

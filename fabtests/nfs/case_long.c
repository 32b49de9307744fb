/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long Calls (RFC 8166 section 3.5.3): a WRITE whose data stay in the message, which is
 * then a position-zero Read chunk as a whole.
 */
#include <string.h>

#include "case.h"
#include "ops.h"
#include "status.h"

#define ACCESS (OPEN4_SHARE_ACCESS_READ | OPEN4_SHARE_ACCESS_WRITE | NFC_CREATE)
#define NAME_BYTES 255
#define STEPS 17    /* such names in one Call */
#define MOST 60000u /* less than what rpcrdma copies of a Long Call */

static uint8_t sent[MOST], got[MOST + 1];

/* The pad is in the message, too: lengths with each of them. */
static enum nfs_verdict write_whole(struct nfs_place *place, struct nfc_session *session,
				    struct nfc_file *file, uint64_t offset, uint32_t len)
{
	uint32_t done, back;
	bool eof;
	int ret;

	nfs_fill(sent, len, len + 1);
	do {
		ret = nfc_write_start(session, 0, file, offset, sent, len, true);
		if (!ret)
			ret = nfc_write_finish(session, 0, &done);
	} while (nfc_again(ret));
	if (ret)
		return nfs_failed_in(place, session, "write");
	if (done != len)
		return nfs_failed(place, "%u bytes of %u were written", done, len);
	if (nfs_read_once(session, file, offset, got, len, &back, &eof))
		return nfs_failed_in(place, session, "read");
	if (back != len || memcmp(sent, got, len) != 0)
		return nfs_failed(place, "%u bytes: %u others come back", len, back);
	return NFS_PASSED;
}

static enum nfs_verdict write_all(struct nfs_place *place, struct nfc_session *session,
				  struct nfc_file *file)
{
	static const uint32_t lengths[] = {100,	 4096, 4097,  4098,
					   4099, 8192, 32771, MOST};
	enum nfs_verdict verdict = NFS_PASSED;
	uint64_t offset = 0;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]) && !verdict; i++) {
		verdict = write_whole(place, session, file, offset, lengths[i]);
		offset += lengths[i];
	}
	return verdict;
}

/*
 * The data are an item that may have a Read chunk of its own, but what is around them is
 * too long, too, for the Call walks to one file again and again. Linux overlooks such a
 * chunk beside a Long Call: all has to travel in one. And it writes other bytes if those
 * of a WRITE begin behind the first page of the message, so they come first.
 */
static int write_far(struct nfc_session *session, const struct nfc_handle *dir,
		     const char *name, struct nfc_file *file, uint32_t len)
{
	struct nfc_compound compound;
	WRITE4args *args;
	COMPOUND4res res;
	int ret;

	nfc_begin(session, &compound, true);
	nfc_add_putfh(&compound, &file->handle);
	args = &nfc_add(&compound, OP_WRITE)->nfs_argop4_u.write;
	*args = (WRITE4args){.stateid = file->stateid,
			     .stable = FILE_SYNC4,
			     .length = len};
	compound.data_after = compound.count;
	for (int i = 0; i < STEPS; i++) {
		nfc_add_putfh(&compound, dir);
		nfc_add(&compound, OP_LOOKUP)->nfs_argop4_u.lookup = nfc_text(name);
	}
	nfc_slot_call(session, 0)->data = sent;
	session->conn.calls[0].data_len = len;
	ret = nfc_run(session, &compound, &res);
	if (!ret)
		nfc_free_reply(&res);
	return nfc_said(session, ret, "WRITE");
}

static enum nfs_verdict write_beside(struct nfs_place *place, struct nfc_session *session,
				     struct nfc_file *file)
{
	static char name[NAME_BYTES + 1];
	struct nfc_handle dir;
	struct nfc_file far;
	uint32_t back;
	bool eof;

	memset(name, 'n', NAME_BYTES);
	if (nfc_walk(session, place->folder, &dir) ||
	    nfc_open(session, nfs_path(place, name),
		     OPEN4_SHARE_ACCESS_WRITE | NFC_CREATE, &far) ||
	    nfc_close(session, &far))
		return nfs_failed_in(place, session, "make the other file");
	for (uint32_t len = 5000; len < 5004; len++) {
		nfs_fill(sent, len, len);
		if (write_far(session, &dir, name, file, len))
			return nfs_failed_in(place, session, "write");
		if (nfs_read_once(session, file, 0, got, len, &back, &eof))
			return nfs_failed_in(place, session, "read");
		if (back != len || memcmp(sent, got, len) != 0)
			return nfs_failed(place, "%u bytes: %u others come back", len,
					  back);
	}
	return NFS_PASSED;
}

enum nfs_verdict nfs_case_long_call(struct nfs_place *place)
{
	return nfs_with_file(place, "long", ACCESS, write_all);
}

enum nfs_verdict nfs_case_long_item(struct nfs_place *place)
{
	return nfs_with_file(place, "long", ACCESS, write_beside);
}

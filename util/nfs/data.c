/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * READ and WRITE (RFC 8881 sections 18.22, 18.32), whose data are chunks (RFC 8267
 * section 4.3).
 */
#include <string.h>

#include "file.h"
#include "ops.h"

/* What the head of a READ's Reply may take of the session's largest reply. */
#define AROUND 512u

int nfc_read_start(struct nfc_session *session, unsigned int slot,
		   const struct nfc_file *file, uint64_t offset, void *buf, uint32_t len)
{
	struct nfc_call *call = nfc_slot_call(session, slot);
	struct nfc_compound compound;
	READ4args *args;

	if (len > session->response - AROUND)
		len = session->response - AROUND;
	nfc_begin(session, &compound, false);
	nfc_add_putfh(&compound, &file->handle);
	args = &nfc_add(&compound, OP_READ)->nfs_argop4_u.read;
	*args = (READ4args){.stateid = file->stateid, .offset = offset, .count = len};
	call->result_at = buf;
	call->result_room = len;
	return nfc_submit(session, slot, &compound);
}

int nfc_read_finish(struct nfc_session *session, unsigned int slot, uint32_t *got,
		    bool *eof)
{
	struct nfc_call *call = &session->conn.calls[slot];
	const READ4resok *ok;
	nfs_resop4 *result;
	COMPOUND4res res;
	int ret;

	ret = nfc_finish(session, slot, &res);
	call->result_at = NULL;
	if (ret)
		return nfc_said(session, ret, "READ");
	result = nfc_result(&res, 2, OP_READ);
	if (!result)
		return nfc_lacks(session, &res);
	ok = &result->nfs_resop4_u.read.READ4res_u.ok;
	*got = ok->length;
	*eof = ok->eof;
	nfc_free_reply(&res);
	if (*got != call->result_len)
		return lnk_fail(&session->conn.link, -FI_EIO,
				"READ says %u bytes and wrote %zu", *got,
				call->result_len);
	return 0;
}

static void begin_write(struct nfc_session *session, struct nfc_compound *compound,
			const struct nfc_file *file, uint64_t offset, uint32_t len)
{
	WRITE4args *args;

	nfc_begin(session, compound, true);
	nfc_add_putfh(compound, &file->handle);
	args = &nfc_add(compound, OP_WRITE)->nfs_argop4_u.write;
	*args = (WRITE4args){
		.stateid = file->stateid,
		.offset = offset,
		.stable = FILE_SYNC4,
		.length = len,
	};
}

/* ret: of the compound, *res as nfc_finish left it. */
static int end_write(struct nfc_session *session, int ret, COMPOUND4res *res,
		     uint32_t len, uint32_t *done)
{
	nfs_resop4 *result;

	if (ret)
		return nfc_said(session, ret, "WRITE");
	result = nfc_result(res, 2, OP_WRITE);
	if (!result)
		return nfc_lacks(session, res);
	*done = result->nfs_resop4_u.write.WRITE4res_u.ok.count;
	nfc_free_reply(res);
	return *done <= len ? 0
			    : lnk_fail(&session->conn.link, -FI_EIO,
				       "the server wrote more than it got");
}

int nfc_write(struct nfc_session *session, const struct nfc_file *file, uint64_t offset,
	      const void *buf, uint32_t len, uint32_t *done)
{
	struct nfc_call *call = nfc_slot_call(session, 0);
	struct nfc_compound compound;
	COMPOUND4res res;
	int ret;

	if (len > session->request - AROUND)
		len = session->request - AROUND;
	begin_write(session, &compound, file, offset, len);
	call->data = len ? buf : NULL;
	call->data_len = len;
	ret = nfc_run(session, &compound, &res);
	call->data = NULL;
	return end_write(session, ret, &res, len, done);
}

int nfc_write_start(struct nfc_session *session, unsigned int slot,
		    const struct nfc_file *file, uint64_t offset, const void *buf,
		    uint32_t len, bool whole)
{
	struct nfc_call *call = nfc_slot_call(session, slot);
	struct nfc_compound compound;

	begin_write(session, &compound, file, offset, len);
	call->data = len ? buf : NULL;
	call->data_len = len;
	call->whole = whole;
	return nfc_submit(session, slot, &compound);
}

int nfc_write_finish(struct nfc_session *session, unsigned int slot, uint32_t *done)
{
	struct nfc_call *call = &session->conn.calls[slot];
	COMPOUND4res res;
	int ret;

	ret = nfc_finish(session, slot, &res);
	call->data = NULL;
	return end_write(session, ret, &res, (uint32_t)call->data_len, done);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Many Calls, as many at a time as the session has slots. */
#include "case.h"
#include "ops.h"

static int start(struct nfc_session *session, unsigned int slot,
		 const struct nfc_handle *handle)
{
	struct nfc_compound compound;

	nfc_begin(session, &compound, false);
	nfc_add_putfh(&compound, handle);
	nfc_add_getattr(&compound);
	nfc_slot_call(session, slot);
	return nfc_submit(session, slot, &compound);
}

static int finish(struct nfc_session *session, unsigned int slot, struct nfc_attrs *attrs)
{
	nfs_resop4 *result;
	COMPOUND4res res;
	int ret = nfc_finish(session, slot, &res);

	if (ret)
		return nfc_said(session, ret, "GETATTR");
	result = nfc_result(&res, 2, OP_GETATTR);
	if (!result)
		return nfc_lacks(session, &res);
	ret = nfc_take_attrs(session, &result->nfs_resop4_u.getattr.GETATTR4res_u.ok,
			     attrs);
	nfc_free_reply(&res);
	return ret;
}

static enum nfs_verdict call(struct nfs_place *place, struct nfc_session *session,
			     struct nfc_file *file)
{
	unsigned int sent = 0, answered = 0;
	struct nfc_attrs attrs;

	while (answered < place->calls) {
		for (; sent < place->calls && sent - answered < session->count; sent++)
			if (start(session, sent % session->count, &file->handle))
				return nfs_failed_in(place, session, "send");
		if (finish(session, answered % session->count, &attrs))
			return nfs_failed_in(place, session, "Call");
		answered++;
		if (attrs.fileid != file->attrs.fileid)
			return nfs_failed(place, "Call %u is answered for another file",
					  answered);
	}
	return session->conn.connections == 1
		       ? NFS_PASSED
		       : nfs_failed(place, "a connection was lost");
}

enum nfs_verdict nfs_case_calls(struct nfs_place *place)
{
	const unsigned int slots = place->where.slots;
	enum nfs_verdict verdict;

	place->where.slots = NFC_SLOTS;
	verdict = nfs_with_file(place, "called", OPEN4_SHARE_ACCESS_WRITE | NFC_CREATE,
				call);
	place->where.slots = slots;
	return verdict;
}

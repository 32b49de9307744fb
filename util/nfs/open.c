/* SPDX-License-Identifier: BSD-2-Clause */
/* OPEN, CLOSE, DELEGRETURN (RFC 8881 sections 18.16, 18.2, 18.6). */
#include <stdio.h>
#include <string.h>

#include "file.h"
#include "ops.h"
#include "status.h"

#define OWNER "cairn"

static void fill(struct nfc_session *session, OPEN4args *args, uint32_t access,
		 const char *name)
{
	args->share_access = access & ~NFC_CREATE;
	args->owner.clientid = session->clientid;
	args->owner.owner = nfc_text(OWNER);
	args->openhow.create = access & NFC_CREATE ? 1 : 0;
	args->claim.open_claim4_u.file = nfc_text(name);
}

static int take(struct nfc_session *session, COMPOUND4res *res, struct nfc_file *file)
{
	nfs_resop4 *open = nfc_result(res, 2, OP_OPEN);
	nfs_resop4 *handle = nfc_result(res, 3, OP_GETFH);
	nfs_resop4 *attrs = nfc_result(res, 4, OP_GETATTR);
	const OPEN4resok *ok;
	int ret;

	if (!open || !handle || !attrs)
		return nfc_lacks(session, res);
	ok = &open->nfs_resop4_u.open.OPEN4res_u.ok;
	file->stateid = ok->stateid;
	file->delegation = ok->delegation.type;
	if (file->delegation == OPEN_DELEGATE_READ)
		file->delegated = ok->delegation.open_delegation4_u.read.stateid;
	else if (file->delegation == OPEN_DELEGATE_WRITE)
		file->delegated = ok->delegation.open_delegation4_u.write.stateid;
	nfc_take_handle(&file->handle, &handle->nfs_resop4_u.getfh.GETFH4res_u.ok);
	ret = nfc_take_attrs(session, &attrs->nfs_resop4_u.getattr.GETATTR4res_u.ok,
			     &file->attrs);
	nfc_free_reply(res);
	return ret;
}

int nfc_open(struct nfc_session *session, const char *path, uint32_t access,
	     struct nfc_file *file)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char folder[4096], what[LNK_WHY / 2];
	struct nfc_compound compound;
	struct nfc_handle dir;
	COMPOUND4res res;
	int ret;

	memset(file, 0, sizeof(*file));
	if (!*name || strlen(name) > NFS4_OPAQUE_LIMIT || strlen(path) > sizeof(folder))
		return lnk_fail(&session->conn.link, -FI_EINVAL,
				"\"%.200s\" is no path of a file", path);
	snprintf(folder, sizeof(folder), "%.*s", (int)(name - path), path);
	ret = nfc_walk(session, folder, &dir);
	if (ret)
		return ret;
	nfc_begin(session, &compound, true);
	nfc_add_putfh(&compound, &dir);
	fill(session, &nfc_add(&compound, OP_OPEN)->nfs_argop4_u.open, access, name);
	nfc_add(&compound, OP_GETFH);
	nfc_add_getattr(&compound);
	ret = nfc_run(session, &compound, &res);
	if (!ret)
		return take(session, &res, file);
	snprintf(what, sizeof(what), "\"%.100s\"", name);
	return nfc_said(session, ret, what);
}

int nfc_close(struct nfc_session *session, struct nfc_file *file)
{
	struct nfc_compound compound;
	COMPOUND4res res;
	int ret;

	nfc_begin(session, &compound, true);
	nfc_add_putfh(&compound, &file->handle);
	nfc_add(&compound, OP_CLOSE)->nfs_argop4_u.close.stateid = file->stateid;
	ret = nfc_run(session, &compound, &res);
	if (ret)
		return nfc_said(session, ret, "CLOSE");
	nfc_free_reply(&res);
	if (file->delegation != OPEN_DELEGATE_READ &&
	    file->delegation != OPEN_DELEGATE_WRITE)
		return 0;
	return nfc_delegreturn(session, &file->handle, &file->delegated);
}

int nfc_delegreturn(struct nfc_session *session, const struct nfc_handle *handle,
		    const stateid4 *stateid)
{
	struct nfc_compound compound;
	COMPOUND4res res;
	int ret;

	nfc_begin(session, &compound, true);
	nfc_add_putfh(&compound, handle);
	nfc_add(&compound, OP_DELEGRETURN)->nfs_argop4_u.delegreturn = *stateid;
	ret = nfc_run(session, &compound, &res);
	if (!ret)
		nfc_free_reply(&res);
	return nfc_said(session, ret, "DELEGRETURN");
}

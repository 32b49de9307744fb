/* SPDX-License-Identifier: BSD-2-Clause */
/* From names to handles and attributes. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "file.h"
#include "ops.h"
#include "status.h"

static u_int wanted_bits[] = {
	1u << FATTR4_TYPE | 1u << FATTR4_CHANGE | 1u << FATTR4_SIZE | 1u << FATTR4_FILEID,
};

void nfc_add_getattr(struct nfc_compound *compound)
{
	bitmap4 *mask = &nfc_add(compound, OP_GETATTR)->nfs_argop4_u.getattr;

	mask->bitmap4_len = 1;
	mask->bitmap4_val = wanted_bits;
}

/* Values come in the order of their bits (RFC 8881 section 5.6). */
int nfc_take_attrs(struct nfc_session *session, const fattr4 *from,
		   struct nfc_attrs *attrs)
{
	u_quad_t change, size, fileid;
	u_int type;
	XDR xdr;

	xdrmem_create(&xdr, from->values.values_val, from->values.values_len, XDR_DECODE);
	if (!from->mask.bitmap4_len || from->mask.bitmap4_val[0] != wanted_bits[0] ||
	    !xdr_u_int(&xdr, &type) || !xdr_u_quad_t(&xdr, &change) ||
	    !xdr_u_quad_t(&xdr, &size) || !xdr_u_quad_t(&xdr, &fileid))
		return lnk_fail(&session->conn.link, -FI_EIO,
				"the server does not say type, change, size and number "
				"of the file");
	*attrs = (struct nfc_attrs){
		.type = type, .change = change, .size = size, .fileid = fileid};
	return 0;
}

void nfc_take_handle(struct nfc_handle *handle, const nfs_fh4 *from)
{
	handle->len = from->data.data_len;
	if (handle->len)
		memcpy(handle->bytes, from->data.data_val, handle->len);
}

void nfc_add_putfh(struct nfc_compound *compound, const struct nfc_handle *handle)
{
	nfs_fh4 *to = &nfc_add(compound, OP_PUTFH)->nfs_argop4_u.putfh;

	to->data.data_len = handle->len;
	to->data.data_val = (char *)handle->bytes;
}

nfs_resop4 *nfc_result(COMPOUND4res *res, unsigned int index, unsigned int op)
{
	if (index >= res->ops.ops_len || res->ops.ops_val[index].op != op)
		return NULL;
	return &res->ops.ops_val[index];
}

int nfc_lacks(struct nfc_session *session, COMPOUND4res *res)
{
	nfc_free_reply(res);
	return lnk_fail(&session->conn.link, -FI_EIO,
			"the reply lacks an operation's result");
}

/* One step: the root (name NULL), or name in *handle; *handle is the result. */
static int step(struct nfc_session *session, struct nfc_handle *handle, const char *name,
		size_t len)
{
	struct nfc_compound compound;
	nfs_resop4 *result;
	COMPOUND4res res;
	text4 *component;
	int ret;

	nfc_begin(session, &compound, false);
	if (name) {
		nfc_add_putfh(&compound, handle);
		component = &nfc_add(&compound, OP_LOOKUP)->nfs_argop4_u.lookup;
		component->text4_len = (u_int)len;
		component->text4_val = (char *)name;
	} else {
		nfc_add(&compound, OP_PUTROOTFH);
	}
	nfc_add(&compound, OP_GETFH);
	ret = nfc_run(session, &compound, &res);
	if (ret)
		return ret;
	result = nfc_result(&res, compound.count - 1, OP_GETFH);
	if (!result)
		return nfc_lacks(session, &res);
	nfc_take_handle(handle, &result->nfs_resop4_u.getfh.GETFH4res_u.ok);
	nfc_free_reply(&res);
	return 0;
}

int nfc_walk(struct nfc_session *session, const char *path, struct nfc_handle *handle)
{
	char what[LNK_WHY / 2];
	size_t len;
	int ret;

	ret = nfc_said(session, step(session, handle, NULL, 0), "/");
	for (path += strspn(path, "/"); !ret && *path; path += strspn(path, "/")) {
		len = strcspn(path, "/");
		if (len > NFS4_OPAQUE_LIMIT)
			return lnk_fail(&session->conn.link, -FI_EINVAL,
					"a name of the path is too long");
		snprintf(what, sizeof(what), "\"%.*s\"", (int)len, path);
		ret = nfc_said(session, step(session, handle, path, len), what);
		path += len;
	}
	return ret;
}

int nfc_attrs(struct nfc_session *session, const struct nfc_handle *handle,
	      struct nfc_attrs *attrs)
{
	struct nfc_compound compound;
	nfs_resop4 *result;
	COMPOUND4res res;
	int ret;

	nfc_begin(session, &compound, false);
	nfc_add_putfh(&compound, handle);
	nfc_add_getattr(&compound);
	ret = nfc_run(session, &compound, &res);
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

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rdma/fi_errno.h>
#include "message.h"

#define GIDS 16

text4 nfc_text(const char *text)
{
	return (text4){.text4_len = (u_int)strlen(text), .text4_val = (char *)text};
}

nfs_argop4 *nfc_add(struct nfc_compound *compound, unsigned int op)
{
	nfs_argop4 *arg = &compound->ops[compound->count++];

	memset(arg, 0, sizeof(*arg));
	arg->op = op;
	return arg;
}

/* RFC 5531 appendix A. False: no room. */
static bool pack_auth_sys(XDR *xdr)
{
	char machine[256] = "", body[400];
	u_int gids[GIDS];
	gid_t groups[1024];
	msg_unix unix_auth = {.machine = machine, .uid = geteuid(), .gid = getegid()};
	msg_auth auth = {.flavor = RPM_AUTH_SYS};
	int i, count = getgroups(1024, groups);
	XDR inner;

	gethostname(machine, sizeof(machine) - 1);
	for (i = 0; i < count && i < GIDS; i++)
		gids[i] = groups[i];
	unix_auth.gids.gids_len = (u_int)i;
	unix_auth.gids.gids_val = gids;
	xdrmem_create(&inner, body, sizeof(body), XDR_ENCODE);
	if (!xdr_msg_unix(&inner, &unix_auth))
		return false;
	auth.body.body_len = xdr_getpos(&inner);
	auth.body.body_val = body;
	return xdr_msg_auth(xdr, &auth);
}

size_t nfc_pack_call(uint8_t *at, size_t room, uint32_t xid,
		     struct nfc_compound *compound)
{
	u_int head[] = {
		xid, RPM_CALL, RPM_VERSION, NFS4_PROGRAM, NFS4_VERSION, NFC_PROC_COMPOUND,
	};
	COMPOUND4args args = {.minorversion = 1};
	msg_auth verf = {.flavor = RPM_AUTH_NONE};
	size_t i;
	XDR xdr;

	args.ops.ops_len = compound->count;
	args.ops.ops_val = compound->ops;
	xdrmem_create(&xdr, (char *)at, (u_int)room, XDR_ENCODE);
	for (i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		if (!xdr_u_int(&xdr, &head[i]))
			return 0;
	if (!pack_auth_sys(&xdr) || !xdr_msg_auth(&xdr, &verf) ||
	    !xdr_COMPOUND4args(&xdr, &args))
		return 0;
	return xdr_getpos(&xdr);
}

int nfc_parse_reply(const uint8_t *bytes, size_t len, COMPOUND4res *res, char *why)
{
	XDR xdr;
	int ret;

	memset(res, 0, sizeof(*res));
	xdrmem_create(&xdr, (char *)bytes, (u_int)len, XDR_DECODE);
	ret = rpm_take_reply(&xdr, why, LNK_WHY);
	if (ret)
		return ret;
	if (!xdr_COMPOUND4res(&xdr, res)) {
		nfc_free_reply(res);
		snprintf(why, LNK_WHY, "the reply is malformed");
		return -FI_EIO;
	}
	return 0;
}

void nfc_free_reply(COMPOUND4res *res)
{
	xdr_free((xdrproc_t)xdr_COMPOUND4res, res);
	memset(res, 0, sizeof(*res));
}

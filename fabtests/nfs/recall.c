/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "nfd.h"

#define FIRST_XID 0x5e000000
#define FIRST_NULL 0x5f000000

static uint32_t nulls, nulls_answered;

/* What the client wants to see, if it does not want AUTH_NONE. */
static msg_auth root(char *body, u_int room)
{
	msg_unix unix_auth = {.machine = ""};
	msg_auth auth = {.flavor = RPM_AUTH_SYS};
	XDR xdr;

	xdrmem_create(&xdr, body, room, XDR_ENCODE);
	if (!xdr_msg_unix(&xdr, &unix_auth))
		abort();
	auth.body.body_len = xdr_getpos(&xdr);
	auth.body.body_val = body;
	return auth;
}

static void call_back(struct nfd_peer *peer, msg_call *call, CB_COMPOUND4args *args)
{
	uint8_t bytes[1024];
	XDR xdr;

	call->rpcvers = RPM_VERSION;
	call->prog = NFS4_CALLBACK;
	call->vers = 1;
	xdrmem_create(&xdr, (char *)bytes, sizeof(bytes), XDR_ENCODE);
	if (!xdr_msg_call(&xdr, call) || (args && !xdr_CB_COMPOUND4args(&xdr, args)))
		abort();
	nfd_send(peer, bytes, xdr_getpos(&xdr), NULL, 0);
}

void nfd_callbacks(struct nfd_peer *peer, uint32_t count)
{
	while (count--) {
		msg_call call = {.xid = FIRST_NULL + nulls++, .proc = RPM_PROC_NULL};

		call_back(peer, &call, NULL);
	}
}

bool nfd_callbacks_over(void)
{
	return nulls_answered == nulls;
}

void nfd_recall(struct nfd_session *session, const stateid4 *stateid, const nfs_fh4 *fh)
{
	static uint32_t xid = FIRST_XID;
	nfs_cb_argop4 ops[2] = {{.op = OP_CB_SEQUENCE}, {.op = OP_CB_RECALL}};
	CB_SEQUENCE4args *sequence = &ops[0].nfs_cb_argop4_u.sequence;
	CB_COMPOUND4args args = {.minorversion = 1};
	msg_call call = {.xid = xid++, .proc = NFC_PROC_COMPOUND};
	char unix_auth[20];

	if (!session->peer)
		return;
	if (session->back_flavor == RPM_AUTH_SYS)
		call.cred = root(unix_auth, sizeof(unix_auth));
	memcpy(sequence->sessionid, session->id, sizeof(sequence->sessionid));
	sequence->sequenceid = ++session->back_sequence;
	ops[1].nfs_cb_argop4_u.recall.stateid = *stateid;
	ops[1].nfs_cb_argop4_u.recall.fh = *fh;
	args.ops.ops_len = 2;
	args.ops.ops_val = ops;
	call_back(session->peer, &call, &args);
	nfd_counts.callbacks++;
}

void nfd_recalled(const uint8_t *bytes, size_t len)
{
	msg_reply reply = {0};
	CB_COMPOUND4res res = {0};
	XDR xdr;

	xdrmem_create(&xdr, (char *)bytes, (u_int)len, XDR_DECODE);
	if (xdr_msg_reply(&xdr, &reply) && !reply.body.stat &&
	    !reply.body.msg_reply_body_u.accepted.body.stat) {
		if (reply.xid >= FIRST_NULL)
			nulls_answered++;
		else if (xdr_CB_COMPOUND4res(&xdr, &res) && !res.status)
			nfd_counts.callbacks_answered++;
	}
	xdr_free((xdrproc_t)xdr_msg_reply, &reply);
	xdr_free((xdrproc_t)xdr_CB_COMPOUND4res, &res);
}

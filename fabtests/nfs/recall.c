/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "nfd.h"

#define FIRST_XID 0x5e000000

void nfd_recall(struct nfd_session *session, const stateid4 *stateid, const nfs_fh4 *fh)
{
	static uint32_t xid = FIRST_XID;
	nfs_cb_argop4 ops[2] = {{.op = OP_CB_SEQUENCE}, {.op = OP_CB_RECALL}};
	CB_SEQUENCE4args *sequence = &ops[0].nfs_cb_argop4_u.sequence;
	CB_COMPOUND4args args = {.minorversion = 1};
	msg_call call = {
		.xid = xid++,
		.rpcvers = NFC_RPC_VERSION,
		.prog = NFS4_CALLBACK,
		.vers = 1,
		.proc = NFC_PROC_COMPOUND,
	};
	uint8_t bytes[1024];
	XDR xdr;

	if (!session->peer)
		return;
	memcpy(sequence->sessionid, session->id, sizeof(sequence->sessionid));
	sequence->sequenceid = ++session->back_sequence;
	ops[1].nfs_cb_argop4_u.recall.stateid = *stateid;
	ops[1].nfs_cb_argop4_u.recall.fh = *fh;
	args.ops.ops_len = 2;
	args.ops.ops_val = ops;
	xdrmem_create(&xdr, (char *)bytes, sizeof(bytes), XDR_ENCODE);
	if (!xdr_msg_call(&xdr, &call) || !xdr_CB_COMPOUND4args(&xdr, &args))
		abort();
	nfd_send(session->peer, bytes, xdr_getpos(&xdr), NULL, 0);
}

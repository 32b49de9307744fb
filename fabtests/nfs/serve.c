/* SPDX-License-Identifier: BSD-2-Clause */
/* One Call: its COMPOUND operation by operation, and the Reply. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "nfd.h"

#define PROG_UNAVAIL 1u
#define GARBAGE_ARGS 4u
#define SYSTEM_ERR 5u
#define AUTH_TOOWEAK 5u

static bool in_session(unsigned int op)
{
	return op != OP_EXCHANGE_ID && op != OP_CREATE_SESSION &&
	       op != OP_BIND_CONN_TO_SESSION && op != OP_DESTROY_SESSION &&
	       op != OP_DESTROY_CLIENTID && op != OP_SEQUENCE;
}

static bool needs_handle(unsigned int op)
{
	return in_session(op) && op != OP_PUTROOTFH && op != OP_PUTFH &&
	       op != OP_RECLAIM_COMPLETE;
}

static uint32_t execute(struct nfd_request *request, const nfs_argop4 *arg,
			nfs_resop4 *res)
{
	switch (arg->op) {
	case OP_OPEN:
	case OP_CLOSE:
	case OP_DELEGRETURN:
		return nfd_state_op(request, arg, res);
	case OP_ACCESS:
	case OP_LOOKUP:
	case OP_PUTFH:
	case OP_PUTROOTFH:
	case OP_GETFH:
	case OP_GETATTR:
	case OP_READ:
	case OP_READDIR:
	case OP_WRITE:
		return nfd_file_op(request, arg, res);
	default:
		return nfd_session_op(request, arg, res);
	}
}

/* What a fault leaves of an operation. True: it is over, with *status. */
static bool faulty(struct nfd_request *request, const nfs_argop4 *arg, uint32_t *status)
{
	uint32_t value = 0;
	const enum nfd_fault fault = nfd_fault_at(arg->op, &value);

	switch (fault) {
	case NFD_NONE:
		return false;
	case NFD_STATUS:
		*status = value;
		return true;
	case NFD_CHANGE:
		request->node->changes++;
		return false;
	case NFD_CALLBACKS:
		nfd_callbacks(request->peer, value);
		return false;
	case NFD_EOF:
		request->fault = fault;
		request->most = value;
		return false;
	case NFD_SHORT:
		request->most = value;
		return false;
	default:
		request->fault = fault;
		*status = NFC_OK;
		return false;
	}
}

/* The status is the first word of every result. */
static uint32_t one(struct nfd_request *request, bool first, const nfs_argop4 *arg,
		    nfs_resop4 *res)
{
	uint32_t status;

	res->op = arg->op;
	if (!nfd_op_count(arg->op))
		status = NFC_NOTSUPP;
	else if (arg->op == OP_SEQUENCE && !first)
		status = NFC_SEQUENCE_POS;
	else if (in_session(arg->op) && !request->session)
		status = NFC_OP_NOT_IN_SESSION;
	else if (needs_handle(arg->op) && !request->node)
		status = NFC_INVAL;
	else if (!faulty(request, arg, &status))
		status = execute(request, arg, res);
	res->nfs_resop4_u.status = status;
	return status;
}

/* Data of a WRITE are where the XDR stands; what follows is behind them and their pad. */
static bool take_data(struct nfd_request *request, XDR *xdr, const nfs_argop4 *arg)
{
	const u_int at = xdr_getpos(xdr);

	if (arg->op != OP_WRITE)
		return true;
	request->behind = request->bytes + at;
	request->behind_len = request->len - at;
	return arg->nfs_argop4_u.write.length <= request->behind_len &&
	       xdr_setpos(xdr, at + RNDUP(arg->nfs_argop4_u.write.length));
}

/*
 * Each operation is decoded when those before it have succeeded: behind one that is not
 * known nobody could tell where the next one begins.
 */
static void run(struct nfd_request *request, XDR *xdr, u_int count, COMPOUND4res *res)
{
	nfs_argop4 arg;
	u_int i;

	for (i = 0; i < count && !res->status && !request->replay; i++) {
		nfs_resop4 *to = &res->ops.ops_val[i];

		memset(&arg, 0, sizeof(arg));
		if (!xdr_nfs_argop4(xdr, &arg) || !take_data(request, xdr, &arg)) {
			to->op = arg.op;
			to->nfs_resop4_u.status = res->status = NFC_BADXDR;
		} else {
			res->status = one(request, i == 0, &arg, to);
		}
		res->ops.ops_len++;
		xdr_free((xdrproc_t)xdr_nfs_argop4, &arg);
	}
}

/* ---- the Reply ---- */

/* An RPC error, without a result. */
static void refuse(struct nfd_peer *peer, uint32_t xid, unsigned int stat, bool denied)
{
	msg_reply reply = {.xid = xid, .mtype = RPM_REPLY};
	char bytes[64];
	XDR xdr;

	if (denied) {
		reply.body.stat = 1;
		reply.body.msg_reply_body_u.rejected.stat = 1;
		reply.body.msg_reply_body_u.rejected.msg_rejected_u.why = stat;
	} else {
		reply.body.msg_reply_body_u.accepted.body.stat = stat;
	}
	xdrmem_create(&xdr, bytes, sizeof(bytes), XDR_ENCODE);
	if (xdr_msg_reply(&xdr, &reply))
		nfd_send(peer, (uint8_t *)bytes, xdr_getpos(&xdr), NULL, 0);
}

static void keep(struct nfd_request *request, const uint8_t *bytes, size_t len)
{
	if (!request->slot || !request->kept || request->data || len > NFD_CACHED)
		return;
	memcpy(request->slot->cached, bytes, len);
	request->slot->cached_len = (uint32_t)len;
}

static void reply_again(struct nfd_request *request, uint32_t xid)
{
	xid = htonl(xid);
	memcpy(request->slot->cached, &xid, sizeof(xid));
	nfd_send(request->peer, request->slot->cached, request->slot->cached_len, NULL,
		 0);
}

static void reply_with(struct nfd_request *request, uint32_t xid, COMPOUND4res *res)
{
	static uint8_t bytes[NFD_HEAD];
	size_t len;
	XDR xdr;

	xdrmem_create(&xdr, (char *)bytes, sizeof(bytes), XDR_ENCODE);
	if (!rpm_put_reply(&xdr, xid, 0) || !xdr_COMPOUND4res(&xdr, res)) {
		refuse(request->peer, xid, SYSTEM_ERR, false);
		return;
	}
	len = xdr_getpos(&xdr);
	keep(request, bytes, len);
	if (request->fault == NFD_GARBAGE)
		memset(bytes + 24, 0xa5, len - 24);
	if (request->fault == NFD_HOLD) {
		nfd_hold(request->peer, bytes, len);
		return;
	}
	nfd_send(request->peer, bytes, len, request->data, request->data_len);
	request->data = NULL;
}

static void answer(struct nfd_request *request, uint32_t xid, COMPOUND4res *res)
{
	switch (request->fault) {
	case NFD_MUTE:
		break;
	case NFD_DROP:
		nfd_drop(request->peer);
		break;
	case NFD_SYSTEM_ERR:
		refuse(request->peer, xid, SYSTEM_ERR, false);
		break;
	case NFD_DENIED:
		refuse(request->peer, xid, AUTH_TOOWEAK, true);
		break;
	default:
		if (request->replay)
			reply_again(request, xid);
		else
			reply_with(request, xid, res);
	}
}

static void free_entries(entry4 *entry)
{
	if (entry)
		xdr_free((xdrproc_t)xdr_entry4, entry);
	free(entry);
}

static void compound(struct nfd_request *request, uint32_t xid, XDR *xdr)
{
	nfs_resop4 ops[NFS4_OPS_MAX] = {0};
	COMPOUND4res res = {.ops.ops_val = ops};
	u_int minor, count;

	if (!xdr_text4(xdr, &res.tag) || !xdr_u_int(xdr, &minor) ||
	    !xdr_u_int(xdr, &count) || count > NFS4_OPS_MAX) {
		refuse(request->peer, xid, GARBAGE_ARGS, false);
	} else {
		run(request, xdr, count, &res);
		answer(request, xid, &res);
	}
	free_entries(request->entries);
	free(request->data);
	xdr_free((xdrproc_t)xdr_text4, &res.tag);
}

void nfd_serve(struct nfd_peer *peer, const uint8_t *bytes, size_t len)
{
	struct nfd_request request = {
		.peer = peer, .most = UINT32_MAX, .bytes = bytes, .len = len};
	msg_call call = {0};
	XDR xdr;

	xdrmem_create(&xdr, (char *)bytes, (u_int)len, XDR_DECODE);
	if (!xdr_msg_call(&xdr, &call)) {
		nfd_drop(peer);
	} else if (call.prog != NFS4_PROGRAM || call.vers != NFS4_VERSION) {
		refuse(peer, call.xid, PROG_UNAVAIL, false);
	} else if (call.proc == RPM_PROC_NULL) {
		nfd_counts.null++;
		refuse(peer, call.xid, 0, false);
	} else {
		compound(&request, call.xid, &xdr);
	}
	xdr_free((xdrproc_t)xdr_msg_call, &call);
}

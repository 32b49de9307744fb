/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <string.h>

#include "callback.h"
#include "status.h"

#define PROC_UNAVAIL 3u
#define GARBAGE_ARGS 4u
#define PROG_UNAVAIL 1u

bool nfc_callback_recall(struct nfc_callbacks *callbacks, stateid4 *stateid)
{
	if (!callbacks->recalled)
		return false;
	*stateid = callbacks->recalls[--callbacks->recalled];
	return true;
}

/* A Reply's head; res NULL: without a COMPOUND. */
static size_t answer_with(uint8_t *at, size_t room, uint32_t xid, unsigned int stat,
			  CB_COMPOUND4res *res)
{
	XDR xdr;

	xdrmem_create(&xdr, (char *)at, (u_int)room, XDR_ENCODE);
	if (!rpm_put_reply(&xdr, xid, stat) || (res && !xdr_CB_COMPOUND4res(&xdr, res)))
		return 0;
	return xdr_getpos(&xdr);
}

/* RFC 8881 section 20.9. One slot: the next number, or the last one again. */
static uint32_t sequence(struct nfc_callbacks *callbacks, const CB_SEQUENCE4args *args,
			 CB_SEQUENCE4resok *ok)
{
	if (memcmp(args->sessionid, callbacks->sessionid, sizeof(args->sessionid)) != 0)
		return NFC_BADSESSION;
	if (args->slotid)
		return NFC_BADSLOT;
	if (args->sequenceid != callbacks->sequence + 1)
		return NFC_SEQ_MISORDERED;
	callbacks->sequence = args->sequenceid;
	memcpy(ok->sessionid, args->sessionid, sizeof(ok->sessionid));
	ok->sequenceid = args->sequenceid;
	return NFC_OK;
}

static uint32_t recall(struct nfc_callbacks *callbacks, const CB_RECALL4args *args)
{
	if (callbacks->recalled == NFC_RECALLS)
		return NFC_DELAY;
	callbacks->recalls[callbacks->recalled++] = args->stateid;
	return NFC_OK;
}

static uint32_t one(struct nfc_callbacks *callbacks, bool first, const nfs_cb_argop4 *arg,
		    nfs_cb_resop4 *res)
{
	res->op = arg->op;
	if (arg->op == OP_CB_SEQUENCE) {
		CB_SEQUENCE4res *to = &res->nfs_cb_resop4_u.sequence;

		to->status = first ? sequence(callbacks, &arg->nfs_cb_argop4_u.sequence,
					      &to->CB_SEQUENCE4res_u.ok)
				   : NFC_SEQUENCE_POS;
		return to->status;
	}
	if (first)
		res->nfs_cb_resop4_u.status = NFC_OP_NOT_IN_SESSION;
	else if (arg->op == OP_CB_RECALL)
		res->nfs_cb_resop4_u.status =
			recall(callbacks, &arg->nfs_cb_argop4_u.recall);
	else
		res->nfs_cb_resop4_u.status = NFC_OP_ILLEGAL;
	return res->nfs_cb_resop4_u.status;
}

static size_t compound(struct nfc_callbacks *callbacks, uint32_t xid,
		       const CB_COMPOUND4args *args, uint8_t *answer, size_t room)
{
	nfs_cb_resop4 ops[NFS4_OPS_MAX] = {0};
	CB_COMPOUND4res res = {.ops.ops_val = ops};
	u_int i;

	for (i = 0; i < args->ops.ops_len && !res.status; i++) {
		res.status = one(callbacks, i == 0, &args->ops.ops_val[i], &ops[i]);
		res.ops.ops_len++;
	}
	callbacks->served++;
	return answer_with(answer, room, xid, 0, &res);
}

/* The Reply that was sent last, to the Call with this XID. */
static size_t answer_again(const struct nfc_callbacks *callbacks, uint32_t xid,
			   uint8_t *answer)
{
	memcpy(answer, callbacks->last, callbacks->last_len);
	xid = htonl(xid);
	memcpy(answer, &xid, sizeof(xid));
	return callbacks->last_len;
}

/* The Call that was answered last comes again after a loss (section 2.10.6.1). */
static bool again(const struct nfc_callbacks *callbacks, const CB_COMPOUND4args *args)
{
	const nfs_cb_argop4 *first = args->ops.ops_val;
	const CB_SEQUENCE4args *sequence;

	if (!callbacks->last_len || !args->ops.ops_len || first->op != OP_CB_SEQUENCE)
		return false;
	sequence = &first->nfs_cb_argop4_u.sequence;
	return sequence->sequenceid == callbacks->sequence && !sequence->slotid &&
	       !memcmp(sequence->sessionid, callbacks->sessionid,
		       sizeof(sequence->sessionid));
}

/* Its Reply is kept if the slot has executed it. */
static size_t execute(struct nfc_callbacks *callbacks, uint32_t xid,
		      const CB_COMPOUND4args *args, uint8_t *answer, size_t room)
{
	const uint32_t before = callbacks->sequence;
	const size_t len = compound(callbacks, xid, args, answer, room);

	if (callbacks->sequence != before) {
		callbacks->last_len = len <= sizeof(callbacks->last) ? len : 0;
		memcpy(callbacks->last, answer, callbacks->last_len);
	}
	return len;
}

size_t nfc_callback_serve(void *arg, const uint8_t *bytes, size_t len, uint8_t *answer,
			  size_t room)
{
	struct nfc_callbacks *callbacks = arg;
	CB_COMPOUND4args args = {0};
	msg_call call = {0};
	size_t got;
	XDR xdr;

	xdrmem_create(&xdr, (char *)bytes, (u_int)len, XDR_DECODE);
	if (!xdr_msg_call(&xdr, &call))
		got = 0;
	else if (call.prog != NFS4_CALLBACK)
		got = answer_with(answer, room, call.xid, PROG_UNAVAIL, NULL);
	else if (call.proc == RPM_PROC_NULL)
		got = answer_with(answer, room, call.xid, 0, NULL);
	else if (call.proc != NFC_PROC_COMPOUND)
		got = answer_with(answer, room, call.xid, PROC_UNAVAIL, NULL);
	else if (!xdr_CB_COMPOUND4args(&xdr, &args))
		got = answer_with(answer, room, call.xid, GARBAGE_ARGS, NULL);
	else if (again(callbacks, &args) && callbacks->last_len <= room)
		got = answer_again(callbacks, call.xid, answer);
	else
		got = execute(callbacks, call.xid, &args, answer, room);
	xdr_free((xdrproc_t)xdr_msg_call, &call);
	xdr_free((xdrproc_t)xdr_CB_COMPOUND4args, &args);
	return got;
}

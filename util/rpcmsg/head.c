/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <rdma/fi_errno.h>
#include "head.h"

bool rpm_peek(const uint8_t *bytes, size_t len, uint32_t *xid, bool *call)
{
	uint32_t words[2];

	if (len < sizeof(words))
		return false;
	memcpy(words, bytes, sizeof(words));
	*xid = ntohl(words[0]);
	*call = ntohl(words[1]) == RPM_CALL;
	return ntohl(words[1]) <= RPM_REPLY;
}

bool rpm_put_reply(XDR *xdr, uint32_t xid, unsigned int stat)
{
	msg_reply reply = {.xid = xid, .mtype = RPM_REPLY};

	reply.body.msg_reply_body_u.accepted.body.stat = stat;
	return xdr_msg_reply(xdr, &reply);
}

bool rpm_put_mismatch(XDR *xdr, uint32_t xid, unsigned int low, unsigned int high)
{
	msg_reply reply = {.xid = xid, .mtype = RPM_REPLY};
	msg_accepted *body = &reply.body.msg_reply_body_u.accepted.body;

	body->stat = PROG_MISMATCH;
	body->msg_accepted_u.mismatch = (msg_range){.low = low, .high = high};
	return xdr_msg_reply(xdr, &reply);
}

/* ---- what comes in place of a result ---- */

static const char *accept_text(uint32_t stat)
{
	static const char *const texts[] = {
		"success",
		"the server does not have the program (PROG_UNAVAIL)",
		"the server does not have that version of the program (PROG_MISMATCH)",
		"the server does not know the procedure (PROC_UNAVAIL)",
		"the server cannot decode the request (GARBAGE_ARGS)",
		"the server has failed (SYSTEM_ERR)",
	};

	return stat < sizeof(texts) / sizeof(texts[0]) ? texts[stat]
						       : "an unknown RPC status";
}

static const char *auth_text(uint32_t stat)
{
	static const char *const texts[] = {
		"no reason given (AUTH_OK)",
		"bad credentials (AUTH_BADCRED)",
		"rejected credentials (AUTH_REJECTEDCRED)",
		"bad verifier (AUTH_BADVERF)",
		"rejected verifier (AUTH_REJECTEDVERF)",
		"the server wants a stronger flavor (AUTH_TOOWEAK)",
	};

	return stat < sizeof(texts) / sizeof(texts[0]) ? texts[stat]
						       : "an unknown reason";
}

static int refused(const msg_reply *reply, char *why, size_t room)
{
	const msg_rejected *rejected = &reply->body.msg_reply_body_u.rejected;
	const msg_accepted *accepted = &reply->body.msg_reply_body_u.accepted.body;

	if (reply->body.stat == 0 && accepted->stat == PROG_MISMATCH) {
		snprintf(why, room, "%s: it has %u to %u", accept_text(accepted->stat),
			 accepted->msg_accepted_u.mismatch.low,
			 accepted->msg_accepted_u.mismatch.high);
		return -FI_EIO;
	}
	if (reply->body.stat == 0) {
		snprintf(why, room, "%s", accept_text(accepted->stat));
		return -FI_EIO;
	}
	if (rejected->stat == 0) {
		snprintf(why, room, "the server wants another version of RPC");
		return -FI_EIO;
	}
	snprintf(why, room, "the server denies access: %s",
		 auth_text(rejected->msg_rejected_u.why));
	return -FI_EACCES;
}

int rpm_take_reply(XDR *xdr, char *why, size_t room)
{
	msg_reply reply = {0};
	int ret = 0;

	if (!xdr_msg_reply(xdr, &reply) || reply.mtype != RPM_REPLY) {
		snprintf(why, room, "the reply is no RPC reply");
		ret = -FI_EIO;
	} else if (reply.body.stat || reply.body.msg_reply_body_u.accepted.body.stat) {
		ret = refused(&reply, why, room);
	}
	xdr_free((xdrproc_t)xdr_msg_reply, &reply);
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of the peer. */
#include <limits.h>

#include "end.h"

bool png_answer_head(struct png_receive *receive, XDR *xdr, uint32_t xid,
		     unsigned int stat)
{
	xdrmem_create(xdr, (char *)receive->head, sizeof(receive->head), XDR_ENCODE);
	receive->data_len = 0;
	return stat == PROG_MISMATCH
		       ? rpm_put_mismatch(xdr, xid, PNG_VERSION, PNG_VERSION)
		       : rpm_put_reply(xdr, xid, stat);
}

/* -FI_EAGAIN is no error: it is sent later. */
int png_answer_send(struct png_end *end, struct png_receive *receive)
{
	ssize_t ret;

	receive->replied = (struct png_mark){.use = PNG_REPLIED, .of = receive};
	ret = png_send(end, receive->head, receive->head_len, receive->data_len,
		       &receive->replied);
	end->due += (uint32_t)(ret == -FI_EAGAIN) - (uint32_t)receive->due;
	receive->due = ret == -FI_EAGAIN;
	if (receive->due || ret == -FI_ENOTCONN)
		return 0;
	return lnk_failed(&end->link, "cannot send a Reply", ret);
}

static unsigned int ping(struct png_end *end, XDR *args, size_t len,
			 struct png_receive *receive, XDR *results)
{
	struct ping_length length;
	struct ping_head head;

	if (!xdr_ping_head(args, &head) || !end->serves || head.size != end->plan.size ||
	    head.reply_size != end->plan.reply_size ||
	    len - xdr_getpos(args) != ((head.size + 3) & ~3u))
		return GARBAGE_ARGS;
	length.size = head.reply_size;
	if (!xdr_ping_length(results, &length))
		return SYSTEM_ERR;
	receive->data_len = head.reply_size;
	return SUCCESS;
}

int png_answer(struct png_end *end, struct png_receive *receive, size_t len)
{
	unsigned int stat = SUCCESS;
	msg_call call = {0};
	XDR args, results;
	bool good;

	xdrmem_create(&args, (char *)receive->bytes, (u_int)len, XDR_DECODE);
	good = xdr_msg_call(&args, &call);
	if (!good || !png_answer_head(receive, &results, call.xid, SUCCESS))
		stat = UINT_MAX;
	else if (call.prog != PNG_PROGRAM)
		stat = PROG_UNAVAIL;
	else if (call.vers != PNG_VERSION)
		stat = PROG_MISMATCH;
	else if (call.proc == PNG_PING)
		stat = ping(end, &args, len, receive, &results);
	else if (call.proc != RPM_PROC_NULL)
		stat = end->serve ? end->serve(end, call.proc, &args, receive, &results)
				  : PROC_UNAVAIL;
	receive->head_len = good ? xdr_getpos(&results) : 0;
	xdr_free((xdrproc_t)xdr_msg_call, &call);
	if (!good)
		return lnk_fail(&end->link, -FI_EIO, "%s: a malformed Call",
				end->link.peer);
	if (stat == UINT_MAX)
		return 0;
	if (stat != SUCCESS) {
		png_answer_head(receive, &results, call.xid, stat);
		receive->head_len = xdr_getpos(&results);
	}
	return png_answer_send(end, receive);
}

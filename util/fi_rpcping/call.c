/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of this end. */
#include <arpa/inet.h>
#include <string.h>

#include "end.h"

/* An XID has the number of its call below a sequence. */
#define NUMBER_BITS 11
#define NUMBER_MASK ((1u << NUMBER_BITS) - 1)

static uint32_t slots(const struct png_end *end)
{
	return end->call ? end->plan.depth + 1 : 0;
}

static void put_xid(struct png_end *end, struct png_call *call)
{
	uint32_t word;

	call->xid = end->sequence++ << NUMBER_BITS | (uint32_t)(call - end->call);
	word = htonl(call->xid);
	memcpy(call->head, &word, sizeof(word));
}

static int put_head(struct png_end *end, struct png_call *call, uint32_t proc,
		    xdrproc_t put, void *args)
{
	msg_call head = {
		.mtype = RPM_CALL,
		.rpcvers = RPM_VERSION,
		.prog = end->options->program,
		.vers = end->options->version,
		.proc = proc,
	};
	XDR xdr;

	xdrmem_create(&xdr, (char *)call->head, sizeof(call->head), XDR_ENCODE);
	if (!xdr_msg_call(&xdr, &head) || (put && !put(&xdr, args)))
		return lnk_fail(&end->link, -FI_EOTHER, "a Call cannot be encoded");
	call->head_len = xdr_getpos(&xdr);
	put_xid(end, call);
	return 0;
}

/* A PING's head is made once: each time it has another XID. */
static int put_ping(struct png_end *end, struct png_call *call)
{
	struct ping_head args = {.reply_size = end->plan.reply_size,
				 .size = end->plan.size};

	if (call->head_len) {
		put_xid(end, call);
		return 0;
	}
	if (end->options->foreign)
		return put_head(end, call, RPM_PROC_NULL, NULL, NULL);
	return put_head(end, call, PNG_PING, (xdrproc_t)xdr_ping_head, &args);
}

static ssize_t post_result(struct png_end *end, struct png_call *call)
{
	const struct iovec iov = {.iov_base = call->into,
				  .iov_len = end->plan.reply_size};
	const struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &end->desc,
		.iov_count = 1,
		.context = &call->result,
		.data = call->xid,
	};

	call->result = (struct png_mark){.use = PNG_RESULT, .of = call};
	call->written = 0;
	return fi_recvmsg(end->link.ep, &msg, FI_COMPLETION | FI_CAIRN_RPC_RESULT);
}

/* -FI_EAGAIN, or an error that is said. */
static int start(struct png_end *end, struct png_call *call, size_t size, bool result)
{
	ssize_t ret = 0;

	call->began = lnk_now();
	if (result && !call->result_posted) {
		ret = post_result(end, call);
		call->result_posted = !ret;
	}
	if (!ret) {
		call->called = (struct png_mark){.use = PNG_CALLED, .of = call};
		ret = png_send(end, call->head, call->head_len, size, &call->called);
	}
	if (ret == -FI_EAGAIN)
		return -FI_EAGAIN;
	if (ret == -FI_ENOTCONN)
		return lnk_fail(&end->link, -FI_ESHUTDOWN, "%s ended the connection",
				end->link.peer);
	if (ret)
		return lnk_failed(&end->link, "cannot send a Call", ret);
	call->answered = false;
	call->sending = true;
	end->outstanding++;
	return 0;
}

/* A call that was not sent keeps its XID, for which there may be memory already. */
int png_ping(struct png_end *end)
{
	const bool foreign = end->options->foreign;
	struct png_call *call;
	int ret = 0;

	if (!end->spare_count)
		return 0;
	call = &end->call[end->spare[end->spare_count - 1]];
	if (!call->result_posted)
		ret = put_ping(end, call);
	if (!ret)
		ret = start(end, call, foreign ? 0 : end->plan.size,
			    !foreign && png_in_chunk(end, end->plan.reply_size));
	if (ret == -FI_EAGAIN) {
		end->stalls++;
		return 0;
	}
	if (ret)
		return ret;
	end->spare_count--;
	if (!end->first)
		end->first = call->began;
	return 1;
}

/* Free as soon as nothing of it is the provider's. */
void png_call_settle(struct png_end *end, struct png_call *call)
{
	const uint32_t number = (uint32_t)(call - end->call);

	if (call->answered && !call->sending && !call->result_posted &&
	    number < end->plan.depth)
		end->spare[end->spare_count++] = number;
}

int png_request(struct png_end *end, uint32_t proc, xdrproc_t put, void *args,
		xdrproc_t take, void *results)
{
	struct png_call *call = &end->call[end->plan.depth];
	char why[LNK_WHY / 2];
	int ret;
	XDR xdr;

	ret = put_head(end, call, proc, put, args);
	while (!ret && (ret = start(end, call, 0, false)) == -FI_EAGAIN)
		ret = png_turn(end);
	while (!ret && (!call->answered || call->sending))
		ret = png_stops > 1 ? lnk_failed(&end->link, "stopped", -FI_EINTR)
				    : png_turn(end);
	if (ret)
		return ret;
	xdrmem_create(&xdr, (char *)end->answer, (u_int)end->answer_len, XDR_DECODE);
	ret = rpm_take_reply(&xdr, why, sizeof(why));
	if (ret)
		return lnk_fail(&end->link, ret, "%s: %s%s", end->link.peer, why,
				end->options->foreign ? ""
						      : "; is it fi_rpcping? --program "
							"calls others");
	if (take && !take(&xdr, results))
		return lnk_fail(&end->link, -FI_EIO, "%s: the reply is malformed",
				end->link.peer);
	return 0;
}

/* Of a measured Call: nothing but success. */
static int check(struct png_end *end, const struct png_call *call, const uint8_t *bytes,
		 size_t len)
{
	struct ping_length length = {0};
	char why[LNK_WHY / 2];
	size_t head;
	int ret;
	XDR xdr;

	xdrmem_create(&xdr, (char *)bytes, (u_int)len, XDR_DECODE);
	ret = rpm_take_reply(&xdr, why, sizeof(why));
	if (ret)
		return lnk_fail(&end->link, ret, "%s: %s", end->link.peer, why);
	if (end->options->foreign)
		return 0;
	if (!xdr_ping_length(&xdr, &length) || length.size != end->plan.reply_size)
		return lnk_fail(&end->link, -FI_EIO, "%s: a reply of another size",
				end->link.peer);
	/* All of it is in the chunk, or behind the head. */
	head = xdr_getpos(&xdr);
	if (call->written ? call->written != length.size || len != head
			  : len - head != ((length.size + 3) & ~3u))
		return lnk_fail(&end->link, -FI_EIO, "%s: a reply without its data",
				end->link.peer);
	return 0;
}

int png_reply(struct png_end *end, const uint8_t *bytes, size_t len, uint64_t now)
{
	struct png_call *call;
	uint32_t xid, number;
	bool is_call;

	rpm_peek(bytes, len, &xid, &is_call);
	number = xid & NUMBER_MASK;
	call = number < slots(end) ? &end->call[number] : NULL;
	if (!call || call->answered || call->xid != xid)
		return lnk_fail(&end->link, -FI_EIO, "%s: a reply to no Call",
				end->link.peer);
	call->answered = true;
	end->outstanding--;
	if (number == end->plan.depth) {
		end->answer_len = len < sizeof(end->answer) ? len : sizeof(end->answer);
		memcpy(end->answer, bytes, end->answer_len);
		return 0;
	}
	png_histogram_add(&end->times, now - call->began);
	end->last = now;
	png_call_settle(end, call);
	return check(end, call, bytes, len);
}

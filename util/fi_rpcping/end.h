/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One end of a connection: Calls of its own, several outstanding, and answers to those of
 * the peer. Functions return 0 or a negative FI_E* code, and the sentence is in
 * link.why. One thread.
 */
#ifndef PNG_END_H
#define PNG_END_H

#include <signal.h>

#include "fi_rpcping/ping.h"
#include "histogram.h"
#include "link/rpc.h"
#include "options.h"
#include "rpcmsg/head.h"

#define PNG_CONTROL 256u /* bytes of a message other than PING, at most */
#define PNG_CALL_HEAD 48u
#define PNG_REPLY_HEAD 28u

/* What an operation's context points to. */
struct png_mark {
	enum { PNG_RECEIVED, PNG_REPLIED, PNG_CALLED, PNG_RESULT } use;
	void *of; /* the receive, or the call */
};

/* A receive, and the answer if it is a Call that came. */
struct png_receive {
	struct png_mark received, replied;
	uint8_t *bytes; /* end->room of them; NULL: it is not posted again */
	uint8_t head[PNG_CONTROL];
	size_t head_len;
	uint32_t data_len; /* behind the head */
	bool due;	   /* the answer found no room yet */
};

struct png_call {
	struct png_mark called, result;
	bool answered;	    /* or not sent at all */
	bool sending;	    /* head and data are the provider's */
	bool result_posted; /* into is */
	uint32_t xid;
	uint64_t began; /* ns */
	uint8_t head[PNG_CONTROL];
	size_t head_len;
	uint8_t *into;	/* a Write chunk's memory */
	size_t written; /* bytes of it */
};

struct png_end {
	const struct png_options *options;
	struct lnk link;
	struct fi_cairn_rpc_limits limits;
	struct ping_start plan; /* sizes of both ends */
	bool calls, serves;	/* PING */
	/* Memory of messages. */
	uint8_t *memory, *data; /* data: what Calls and Replies carry */
	struct fid_mr *mr;
	void *desc;
	struct png_receive *receives;
	uint32_t receive_count, due;
	size_t room;
	/* Calls; the last one is for other procedures than PING. */
	struct png_call *call;
	uint32_t *spare, spare_count; /* numbers of those that are free */
	uint32_t sequence, outstanding;
	uint8_t answer[PNG_CONTROL]; /* to the last one */
	size_t answer_len;
	/* What is measured; ns. */
	struct png_histogram times;
	uint64_t stalls, first, last;
	/* Waiting. */
	uint64_t moved; /* when something completed, ns */
	unsigned int turns;
	/* A Call of another procedure than NULL and PING: an accept_stat, and the results
	 * in receive->head. Or UINT_MAX: the answer comes later. */
	unsigned int (*serve)(struct png_end *end, uint32_t proc, XDR *args,
			      struct png_receive *receive, XDR *results);
};

/* How often the user asked to stop. */
extern volatile sig_atomic_t png_stops;

/* end.c: memory and receives, as plan, calls and serves say. The endpoint is enabled. */
int png_end_prepare(struct png_end *end);
/* The endpoint may not use any of it. */
void png_end_release(struct png_end *end);
/* Do so many bytes of data travel in a chunk? */
bool png_in_chunk(const struct png_end *end, size_t size);
int png_receive(struct png_end *end, struct png_receive *receive);
/* fi_sendmsg of a head and so many bytes of data. */
ssize_t png_send(struct png_end *end, uint8_t *head, size_t head_len, size_t size,
		 struct png_mark *mark);
struct ping_figures png_figures(const struct png_end *end);

/* call.c: starts a measured Call. 1: it has; 0: there is no room or credit for it. */
int png_ping(struct png_end *end);
/* Another procedure, until its Reply has come. */
int png_request(struct png_end *end, uint32_t proc, xdrproc_t put, void *args,
		xdrproc_t take, void *results);
/* A Reply arrived. */
int png_reply(struct png_end *end, const uint8_t *bytes, size_t len, uint64_t now);
void png_call_settle(struct png_end *end, struct png_call *call);

/* answer.c: a Call arrived. */
int png_answer(struct png_end *end, struct png_receive *receive, size_t len);
/* Its answer is in receive->head. */
int png_answer_send(struct png_end *end, struct png_receive *receive);
/* The head of the answer, up to its results. */
bool png_answer_head(struct png_receive *receive, XDR *xdr, uint32_t xid,
		     unsigned int stat);

/* turn.c: what has completed. -FI_ESHUTDOWN: the connection has ended. */
int png_turn(struct png_end *end);

#endif

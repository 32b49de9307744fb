/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wrap mode: messages of any program in RPCs of the provider's own.
 *
 * Each message is the argument of a Call, or, if it is short and there is one, the result
 * of a Reply that is due. A Reply that says nothing else is put off until there is
 * nothing better to do, half of the peer's credits are used up, or the Call says that it
 * is waited for. Messages are in order: what has to wait for a credit makes those behind
 * it wait.
 *
 * The Call (RFC 5531): program 0x20435250, version 1, AUTH_NONE, and a procedure, to
 * which WRAP_URGENT is added when the Reply is waited for:
 *
 *	1 WRAP_SEND	  opaque message<>
 *	2 WRAP_SEND_DATA  hyper cq_data; opaque message<>
 *	3 WRAP_WRITE_DATA hyper cq_data; unsigned length: an RMA write that is over
 *
 * The Reply is accepted, and has nothing or an opaque message<>. A message that is too
 * long to be inline is a Read chunk.
 */
#ifndef RPR_WRAP_H
#define RPR_WRAP_H

#include <cairn/bytes.h>
#include "objects.h"

extern const struct rpr_mode_ops rpr_wrap_mode;
extern struct fi_ops_msg rpr_wrap_msg;
extern struct fi_ops_rma rpr_wrap_rma;

/* ---- format.c ---- */

#define WRAP_PROGRAM 0x20435250
#define WRAP_SEND 1
#define WRAP_SEND_DATA 2
#define WRAP_WRITE_DATA 3
#define WRAP_URGENT 0x100

/* Bytes of a Call before the argument, and of a Reply before the result. */
#define WRAP_CALL_LEN 40
#define WRAP_REPLY_LEN 24

/* A Call's begin, up to its procedure's arguments. */
void rpr_wrap_pack_call(struct crn_pack *pack, uint32_t xid, uint32_t proc);
void rpr_wrap_pack_reply(struct crn_pack *pack, uint32_t xid);
/* What a Call of the peer says: its arrival's skip, len, flags and data. */
bool rpr_wrap_parse_call(struct rpr_serve *serve);
enum rpr_taken rpr_wrap_parse_reply(struct rpr_arrival *arrival);

/* ---- reply.c ---- */

/* Can a message of len bytes travel in a Reply that is due? */
bool rpr_wrap_reply_takes(const struct rpr_ep *ep, size_t len);
/* The oldest of those. */
struct rpr_serve *rpr_wrap_reply_due(struct rpr_ep *ep);
/* Sends it with the message, which is copied. What the program waits for is in serve. */
void rpr_wrap_reply_with(struct rpr_serve *serve, const struct iovec *iov, size_t count,
			 size_t len);
void rpr_wrap_delivered(struct rpr_ep *ep, struct rpr_serve *serve);
/* All Replies that are due. */
void rpr_wrap_reply_all(struct rpr_ep *ep);

/* ---- send.c ---- */

/* A Call's slot with an XID that is not in use; NULL: -FI_EAGAIN. */
struct rpr_call *rpr_wrap_call_take(struct rpr_ep *ep);
/* Is the Reply to a Call that is sent now to be waited for? */
bool rpr_wrap_urgent(const struct rpr_ep *ep);
/* Bytes of an iov; copying it. */
size_t rpr_wrap_iov_len(const struct iovec *iov, size_t count);
void rpr_wrap_pack_iov(struct crn_pack *pack, const struct iovec *iov, size_t count,
		       size_t len);

/* ---- rma.c ---- */

/* The endpoint is closed: RMA operations without a completion. */
void rpr_wrap_rma_lost(struct rpr_ep *ep);
/* rpr_mode_ops.told */
void rpr_wrap_rma_told(struct rpr_call *call, int err, int prov_errno);

#endif

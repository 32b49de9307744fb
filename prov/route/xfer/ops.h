/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this room share. */
#ifndef RTE_XFER_OPS_H
#define RTE_XFER_OPS_H

#include <assert.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "vc.h"

/* --- Operations, in order (tx.c) --- */

CRN_INLINE struct rte_vc_op *rte_vc_op(const struct rte_vc *vc, uint64_t seq)
{
	return &vc->ops[seq & vc->mask];
}

/* It is sent as far as possible now. */
void rte_vc_op_post(struct rte_vc *vc, struct rte_vc_op *op);
/* The local buffer. 0 and *len, or -FI_EINVAL, -FI_EMSGSIZE. */
ssize_t rte_vc_iov_len(const struct rte_vc *vc, const struct iovec *iov, size_t count,
		       uint64_t *len);
void rte_vc_op_iov(struct rte_vc_op *op, const struct iovec *iov, void *const *desc,
		   size_t count);
/* 0, or why a call with these flags is refused. */
ssize_t rte_vc_flags(uint64_t flags, uint64_t known);
/* Is there a counter of these operations? */
CRN_INLINE bool rte_vc_counted(const struct rte_vc *vc, uint64_t flags)
{
	return vc->attr.ep->cntrs[__builtin_ctzll(flags & CRN_EP_COUNTED) -
				  __builtin_ctzll(CRN_EP_COUNTED)];
}

/* Ends all that has come to its end, oldest first. */
void rte_vc_retire(struct rte_vc *vc);

/* The end of each function of vc.h, and of callbacks of the lower provider: does what has
 * become possible. */
void rte_vc_settle(struct rte_vc *vc);

/* --- Buffers of several parts (iov.c) --- */

/* Copies the next bytes of it out, or into it. */
void rte_vc_gather(struct rte_vc_op *op, uint8_t *to, size_t len);
void rte_vc_scatter(struct rte_vc_op *op, const uint8_t *from, size_t len);
/* The next bytes that lie in one part. */
size_t rte_vc_part(struct rte_vc_op *op, uint8_t **at, void **desc);
void rte_vc_skip(struct rte_vc_op *op, size_t len);
/* Copies to the bytes from at on, as far as there are. */
void rte_vc_recv_copy(const struct rte_vc_recv *recv, uint64_t at, const uint8_t *from,
		      size_t len);

/* --- The short way (quick.c) --- */

/* Has it gone that way? Else nothing has happened. */
bool rte_vc_quick_rma(struct rte_vc *vc, bool reads, const struct fi_msg_rma *msg,
		      uint64_t flags);
bool rte_vc_quick_send(struct rte_vc *vc, const struct fi_msg *msg, uint64_t flags);

/* --- Fragments (send.c) --- */

/* Sends of what waits as much as can be. */
void rte_vc_pump(struct rte_vc *vc);
/* The next operation, a message of one fragment from buf: with no data for the
 * completion, and no ACK to carry. False: there is no credit or memory for it now. */
bool rte_vc_whole_send(struct rte_vc *vc, struct rte_vc_op *op, uint64_t seq,
		       const void *buf);
/* tx is waited for by the operation. */
void rte_vc_follow(struct rte_vc *vc, struct rte_vc_op *op, uint64_t seq,
		   struct rte_tx *tx);

/* --- The bypass (direct.c, lend.c) --- */

/* How the next operation, one of RMA, goes. */
enum rte_vc_way {
	RTE_VC_FRAMED,	 /* as a message */
	RTE_VC_STRAIGHT, /* the lower provider has it */
	RTE_VC_LATER,	 /* straight, once acknowledgements have come */
};
enum rte_vc_way rte_vc_direct(struct rte_vc *vc, struct rte_vc_op *op, uint64_t seq);
/* Messages about keys. NULL, or what is wrong. */
const char *rte_vc_informed(struct rte_vc *vc, const struct rte_mr_info *info);
const char *rte_vc_recalled(struct rte_vc *vc, const struct rte_mr_inval *inval);
const char *rte_vc_resolve(struct rte_vc *vc, uint64_t key);
const char *rte_vc_returned(struct rte_vc *vc, const struct rte_mr_inval *inval);
/* Sends MR_INVAL for keys that were recalled, MR_INFO for vc.untold, as far as possible.
 */
void rte_vc_return(struct rte_vc *vc);
void rte_vc_lend(struct rte_vc *vc);
/* The connection is over. */
void rte_vc_lend_stop(struct rte_vc *vc);

/* --- Receives (recv.c) --- */

/* The oldest that is posted; NULL: there is none. */
struct rte_vc_recv *rte_vc_recv_take(struct rte_vc *vc);
/* The connection is over: nothing comes for those that are left (vc.c). */
void rte_vc_receives_end(struct rte_vc *vc);
void rte_vc_recv_done(struct rte_vc *vc, struct rte_vc_recv *recv, uint64_t len,
		      uint64_t flags, uint64_t data);
/* len: bytes in the buffer; olen: those that were too many. */
void rte_vc_recv_failed(struct rte_vc *vc, struct rte_vc_recv *recv, int err, size_t len,
			size_t olen);

/* --- What arrives (arrive.c, place.c, serve.c, read.c, ack.c) --- */

/* Ends the connection because of the message, which is put back. */
void rte_vc_bad(struct rte_vc *vc, struct rte_rx *rx, const char *what);
/* Takes requests of the other end that wait, while they can be. False: none. */
bool rte_vc_drain(struct rte_vc *vc);
/* The connection is over: of requests that wait, those stay that need a receive. */
void rte_vc_keep(struct rte_vc *vc);
/* Can it be taken now? Then it is, but for rte_rx_put. */
bool rte_vc_place(struct rte_vc *vc, const struct rte_rx *rx,
		  const struct rte_write *write);
bool rte_vc_serve_take(struct rte_vc *vc, const struct rte_rx *rx,
		       const struct rte_read_req *req);
/* Answers reads as far as possible. */
void rte_vc_serve(struct rte_vc *vc);
/* Messages of lane RESPONSES. NULL, or what is wrong. */
const char *rte_vc_answer(struct rte_vc *vc, const struct rte_rx *rx);
const char *rte_vc_acked(struct rte_vc *vc, uint64_t seq);
const char *rte_vc_nacked(struct rte_vc *vc, const struct rte_nack *nack);

/* --- What the other end is told (ack.c) --- */

/* Header of a message to be packed. rides: with the ACK that is due, if there is one and
 * nothing may hold the message up; rte_vc_rode once it is posted. */
void rte_vc_head(const struct rte_vc *vc, struct rte_packet *packet, uint8_t type,
		 uint64_t seq, bool rides);
void rte_vc_rode(struct rte_vc *vc, const struct rte_packet *packet);
/* Sends what is due. */
void rte_vc_tell(struct rte_vc *vc);
/* Refuses a request of the other end: it gets a NACK, and nothing behind it is taken. */
void rte_vc_refuse(struct rte_vc *vc, uint64_t seq, int status);

#endif

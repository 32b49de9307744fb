/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One request under execution: what the pieces of the engine ask of each other, and what
 * model/ asks of them, which runs queues in the engine's place.
 */
#ifndef SVB_ENGINE_OP_H
#define SVB_ENGINE_OP_H

#include "handles.h"
#include "memory.h"
#include "wqe.h"

/* Status of a request that cannot be answered now: the queue waits. */
#define SVB_STAYS 0x100

/* A request under execution and who responds. */
struct svb_op {
	struct svb_seg *seg; /* the requester's */
	struct svb_qp_sh *qp;
	struct svb_wqe *wqe;
	struct svb_seg *rseg; /* the responder's */
	struct svb_qp_sh *rqp;
};

/* A receive that an incoming message uses. */
struct svb_recv {
	struct svb_seg *seg;
	struct svb_qp_sh *qp;
	struct svb_rwqe *rwqe;
	struct {
		struct svb_rwqe head;
		struct ibv_sge sge[SVB_MAX_SGE];
	} copy; /* of one from a shared queue */
};

/* The queue pair that this one is connected to, in *seg; NULL when it is not there. */
struct svb_qp_sh *svb_qp_peer(const struct svb_qp_sh *qp, struct svb_seg **seg);
/* Each returns enum ibv_wc_status or SVB_STAYS. */
int svb_rc_execute(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe);
int svb_ud_execute(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe);
/* No receive is posted; nobody answers. */
int svb_engine_rnr(struct svb_op *op);
int svb_engine_unanswered(struct svb_seg *seg, struct svb_qp_sh *qp);
/* Stops the send queue for that reason until that time (0: no limit). Returns
 * SVB_STAYS. */
int svb_engine_wait(struct svb_seg *seg, struct svb_sq *sq, enum svb_wait why,
		    uint64_t deadline);
/* Wakes the process of that segment, which runs its queues. */
void svb_engine_wake(struct svb_seg *seg);
/* The bytes a request sends. False: a key forbids it. */
bool svb_engine_source(struct svb_op *op, struct svb_span *span);
/* The status for the requester when moving bytes failed with an errno. */
int svb_engine_moved(struct svb_op *op, int err);

/*
 * engine/iwarp.c. begin and end stand around a run of a send queue: begin is false in a
 * process that is not the requester's. execute: a request of the queue. no_buffer: no
 * receive is posted. close: the queue pair is reset or destroyed, what is under way
 * arrives before.
 */
bool svb_iwarp_begin(struct svb_seg *seg, struct svb_qp_sh *qp);
void svb_iwarp_end(struct svb_seg *seg, struct svb_qp_sh *qp);
int svb_iwarp_execute(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe);
int svb_iwarp_no_buffer(struct svb_op *op);
void svb_iwarp_close(struct svb_qp *qp);
/* For model/model.c, which runs queues in the engine's place: the steps of it. */
int svb_engine_execute(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe);
void svb_engine_complete(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe,
			 int status);
/* Makes the owner of a queue look again at that time (ns). */
void svb_engine_deadline(struct svb_seg *seg, uint64_t deadline);
/* Finds who responds; false: nobody. */
bool svb_rc_responder(struct svb_op *op);
/* What the receiver learns of a message. */
void svb_rc_wc(struct svb_op *op, struct ibv_wc *wc, enum ibv_wc_opcode opcode);
/* Delivers a message into a receive that was taken. Returns a status. */
int svb_rc_deliver(struct svb_op *op, struct svb_recv *recv, struct svb_span *from);

/*
 * Validates what the segment of another process says of a queue pair. As one that
 * receives, one that sends, and the next request of the latter.
 */
bool svb_sane_receiver(struct svb_seg *seg, const struct svb_qp_sh *qp);
bool svb_sane_sender(struct svb_seg *seg, const struct svb_qp_sh *qp);
bool svb_sane_wqe(const struct svb_qp_sh *qp, const struct svb_wqe *wqe);

/* Takes the next receive; false when there is none, and then the sender is called back.
 */
bool svb_recv_take(struct svb_recv *recv, struct svb_seg *seg, struct svb_qp_sh *qp);
/* Completes it. wc: everything but wr_id and qp_num. */
void svb_recv_complete(struct svb_recv *recv, struct ibv_wc *wc, bool solicited);
/*
 * Its memory for len bytes, or all there is; false when a key forbids it. Adapters do not
 * look at a buffer that the message does not reach, nor does this.
 */
bool svb_recv_span(struct svb_recv *recv, struct svb_span *span, uint64_t len);
/*
 * Completes a receive that was taken some time ago. wc: everything. own: it was of the
 * queue pair's own queue, where it has that counter.
 */
void svb_recv_report(struct svb_seg *seg, struct svb_qp_sh *qp, const struct ibv_wc *wc,
		     bool own, uint32_t counter, bool solicited);
/* The first message to a queue pair that is ready to receive only: its event. */
void svb_recv_established(struct svb_qp_sh *qp);

/* Lets go of the region it is bound to; the key is not valid any more. */
void svb_mw_unbind(struct svb_seg *seg, struct svb_mr_sh *mw);
/* Executes a bind or a local or remote invalidation. Returns enum ibv_wc_status. */
enum ibv_wc_status svb_mw_bind(struct svb_seg *seg, struct svb_qp_sh *qp,
			       const struct svb_bind *bind);
bool svb_mw_invalidate(struct svb_seg *seg, struct svb_qp_sh *qp, uint32_t key);

/* As the kernel's rdma_is_multicast_addr: of RoCE version 2 also ::ffff:224.0.0.0/100. */
bool svb_gid_is_group(const union ibv_gid *gid);
/* Calls fn for every queue pair of the user that is attached to a group. */
void svb_mcast_each(const union ibv_gid *gid, uint32_t lid,
		    void (*fn)(struct svb_seg *seg, struct svb_qp_sh *qp, void *arg),
		    void *arg);
/* Is that slot an attachment to the group? */
bool svb_mcast_is(const struct svb_mcast_sh *at, const union ibv_gid *gid);

#endif

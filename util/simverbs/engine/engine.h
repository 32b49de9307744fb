/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine executes the requests of a send queue in order, in the thread that calls it,
 * for as long as nothing stands in the way. It belongs to no process: who posts runs its
 * own queue; who posts a receive that a sender waits for runs the sender's.
 */
#ifndef SVB_ENGINE_ENGINE_H
#define SVB_ENGINE_ENGINE_H

#include "memory.h"
#include "shared/segment.h"

/* Bytes of a request before its sges or inline data. */
#define SVB_WQE_HEAD 128
/* No request is longer: the most inline data that can be set, and the head. */
#define SVB_WQE_MOST (4096 + SVB_WQE_HEAD)

struct svb_av {
	uint32_t qpn;
	uint32_t qkey;
	struct ibv_ah_attr ah;
};

struct svb_bind {
	uint32_t window; /* key of the window before */
	uint32_t key;	 /* and after */
	uint32_t region; /* key of the region; 0: unbind */
	uint32_t access;
	uint64_t addr;
	uint64_t length;
};

/* A request in the ring. */
struct svb_wqe {
	uint64_t wr_id;
	uint16_t opcode; /* enum ibv_wr_opcode, SVB_WR_* */
	uint16_t num_sge;
	uint32_t flags;	 /* enum ibv_send_flags */
	uint32_t length; /* bytes, of all sges or inline */
	uint32_t imm;	 /* immediate data as given, or the key to invalidate */
	uint32_t rkey;
	uint32_t error; /* enum ibv_wc_status found while posting, 0: none */
	uint64_t remote;
	uint64_t due; /* ns; 0: at once */
	union {
		struct {
			uint64_t operand; /* swap, add, or the value to write */
			uint64_t compare;
		} atomic;
		struct {
			uint64_t length;
			uint8_t type;
			uint8_t level;
		} flush;
		struct svb_av ud;
		struct svb_bind bind;
	};
	/* sges, or inline data when IBV_SEND_INLINE is set */
	struct ibv_sge sge[] __attribute__((aligned(64)));
};

_Static_assert(offsetof(struct svb_wqe, sge) == SVB_WQE_HEAD, "SVB_WQE_HEAD");

/* A receive in the ring. */
struct svb_rwqe {
	uint64_t wr_id;
	uint32_t num_sge;
	uint32_t unused;
	struct ibv_sge sge[];
};

static inline struct svb_wqe *svb_sq_at(struct svb_seg *seg, struct svb_sq *sq,
					uint32_t counter)
{
	return (struct svb_wqe *)svb_seg_at(seg,
					    sq->ring + (uint64_t)(counter & sq->mask) *
							       sq->stride);
}

static inline struct svb_rwqe *svb_rq_at(struct svb_seg *seg, struct svb_rq *rq,
					 uint32_t counter)
{
	return (struct svb_rwqe *)svb_seg_at(seg,
					     rq->ring + (uint64_t)(counter & rq->mask) *
								rq->stride);
}

#define SVB_ANSWERS \
	(1u << IBV_QPS_RTR | 1u << IBV_QPS_RTS | 1u << IBV_QPS_SQD | 1u << IBV_QPS_SQE)

/* Is peer at the port that qp sends to, in a state that answers? One destroyed is in
 * none. */
SVB_INLINE bool svb_rc_answers(const struct svb_qp_sh *qp, const struct svb_qp_sh *peer)
{
	return svb_get(peer->port) == svb_get(qp->dest_port) &&
	       1u << (__atomic_load_n(&peer->state, __ATOMIC_ACQUIRE) & 31) & SVB_ANSWERS;
}

/*
 * Will peer, found by its number, answer qp? What comes from one not connected back, or
 * numbered otherwise than expected, is dropped, as when not ready. Only an RC queue pair
 * has a destination.
 */
SVB_INLINE bool svb_rc_connected(const struct svb_qp_sh *qp, const struct svb_qp_sh *peer)
{
	return svb_get(peer->expects) == qp->sends && svb_rc_answers(qp, peer);
}

/* Runs a send queue whose lock the caller holds. */
void svb_engine_run_locked(struct svb_seg *seg, struct svb_qp_sh *qp);

/* Takes the lock, runs, and then flushes those that went to the error state meanwhile. */
void svb_engine_run(struct svb_seg *seg, struct svb_qp_sh *qp);

/*
 * Runs the send queue of the queue pair connected to this one, if it waits for it. For
 * who posted a receive or became ready to receive. No lock may be held.
 */
void svb_engine_run_peer(struct svb_qp_sh *qp);

/* Runs what is due in the own process. Cheap when nothing is. Called by polling. */
void svb_engine_timers(void);

/*
 * Moves a queue pair to the error state and completes everything in its queues as
 * flushed. No lock may be held. The first also tells why (enum ibv_event_type, -1:
 * nothing).
 */
void svb_qp_fail(struct svb_seg *seg, struct svb_qp_sh *qp, int event);
void svb_qp_flush(struct svb_seg *seg, struct svb_qp_sh *qp);

/* The same while holding a send queue's lock: only marks; svb_engine_flush_marked does
 * it. */
void svb_qp_fail_later(struct svb_seg *seg, struct svb_qp_sh *qp, int event);
void svb_engine_flush_marked(void);

/*
 * Returns when no request that began before touches memory of this process any more: for
 * who takes a region away.
 */
void svb_engine_quiesce(void);

/* The same for requests of or to one queue pair: for who resets or destroys it. */
void svb_engine_quiesce_qp(struct svb_qp_sh *qp);

#endif

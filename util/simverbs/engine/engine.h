/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine executes the requests of a send queue in order, in the thread that calls
 * it, for as long as nothing stands in the way. Any process can run it: a thread that
 * posts runs its own send queue; one that posts a receive that a sender waits for runs
 * the sender's.
 */
#ifndef SVB_ENGINE_ENGINE_H
#define SVB_ENGINE_ENGINE_H

#include "grh.h"
#include "handles.h"
#include "memory.h"
#include "op.h"
#include "relay.h"
#include "service.h"
#include "settings/settings.h"
#include "shared/shared.h"
#include "ud.h"
#include "wqe.h"

#define SVB_ANSWERS \
	(1u << IBV_QPS_RTR | 1u << IBV_QPS_RTS | 1u << IBV_QPS_SQD | 1u << IBV_QPS_SQE)

/* Is peer a full member, at the port that qp, a limited member, sends to? */
SVB_INLINE bool svb_rc_limited(const struct svb_qp_sh *qp, const struct svb_qp_sh *peer)
{
	return svb_get(qp->dest_partition) == SVB_PARTITION_FULL &&
	       svb_get(peer->port) == svb_get(qp->dest_port) &&
	       svb_pkeys_match(svb_get(qp->pkey), svb_get(peer->pkey));
}

/*
 * Is peer at the port that qp sends to, in its partition, in a state that answers? One
 * destroyed is in none.
 */
SVB_INLINE bool svb_rc_answers(const struct svb_qp_sh *qp, const struct svb_qp_sh *peer)
{
	return (svb_likely(svb_get(peer->place) == svb_get(qp->dest_place)) ||
		svb_rc_limited(qp, peer)) &&
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
 * Runs the send queue of the queue pair connected to this one, if it waits for it. Call
 * it after posting a receive or becoming ready to receive. No lock may be held.
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
 * Returns when no request that began before accesses memory of this process any more:
 * before deregistration.
 */
void svb_engine_quiesce(void);

/* The same for requests of or to one queue pair: before it is reset or destroyed. */
void svb_engine_quiesce_qp(struct svb_qp_sh *qp);

/*
 * What happens in the engine's place where a machine is modelled (svb_self.model). run:
 * in that of svb_engine_run_locked; false: the queue goes to no modelled machine. settle:
 * requests of a queue pair, or 0: of all, are placed, executed, delivered. tick: a
 * deadline has passed.
 */
struct svb_detour {
	bool (*run)(struct svb_seg *seg, struct svb_qp_sh *qp);
	void (*settle)(uint32_t qpn);
	void (*tick)(void);
};

/* Adds a completion, with the event that an armed queue owes. */
void svb_cq_push(struct svb_seg *seg, struct svb_cq_sh *cq, const struct svb_cqe *cqe,
		 bool solicited);

#endif

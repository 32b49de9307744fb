/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests and receives as they lie in the rings of queues. */
#ifndef SVB_ENGINE_WQE_H
#define SVB_ENGINE_WQE_H

#include "shared/shared.h"

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

/* In svb_wqe.flags, beside enum ibv_send_flags: a datagram that does not arrive. */
#define SVB_SEND_LOST (1u << 16)
/* And a request that the machine executed while nobody answered: model/model.c. */
#define SVB_SEND_AGAIN (1u << 17)

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

#endif

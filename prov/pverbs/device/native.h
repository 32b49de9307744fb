/* SPDX-License-Identifier: BSD-2-Clause */
/* FLUSH and ATOMIC WRITE of the device. */
#ifndef PVB_DEVICE_NATIVE_H
#define PVB_DEVICE_NATIVE_H

#include <stdbool.h>
#include "verbs56.h"

/* What a device says it can do. A queue pair or a region may still be refused. */
struct pvb_native {
	bool flush_global;
	bool flush_persistent;
	bool atomic_write;
};

/* 0, or a negative code and nothing offered. */
int pvb_native_offer(struct ibv_context *verbs, struct pvb_native *native);

/* What ibv_qp_init_attr_ex.send_ops_flags asks for, beside the other operations. */
uint32_t pvb_native_ops(const struct pvb_native *native);

/* What registering persistent memory asks for; 0: the device has no FLUSH for it. */
unsigned int pvb_native_access(const struct pvb_native *native);

static inline const struct pvb_qp_ex_tail *pvb_native_tail(const struct ibv_qp_ex *qp)
{
	return (const void *)((const char *)qp + PVB_QP_EX_TAIL_AT);
}

/*
 * These two add a work request between ibv_wr_start and ibv_wr_complete, after wr_id and
 * wr_flags were set, to a queue pair that ibv_create_qp_ex made with PVB_QP_EX_WITH_*.
 *
 * A FLUSH of len bytes that makes them durable: it executes after the requests before it,
 * and later sends and writes may pass it.
 */
static inline void pvb_native_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr,
				    size_t len)
{
	pvb_native_tail(qp)->wr_flush(qp, rkey, addr, len, PVB_FLUSH_PERSISTENT,
				      PVB_FLUSH_RANGE);
}

/* 8 bytes to an address that is a multiple of 8, after everything before it, a FLUSH too.
 */
static inline void pvb_native_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr,
				    const void *data)
{
	pvb_native_tail(qp)->wr_atomic_write(qp, rkey, addr, data);
}

/*
 * Adds any work request between ibv_wr_start and ibv_wr_complete, FLUSH and ATOMIC WRITE
 * among them. Data in one piece and not IBV_SEND_INLINE: the extended interface of
 * rdma-core 56 for rdma_rxe writes nothing of inline data and wrong bytes of several
 * pieces (seen), and nothing fails.
 * The two are described by
 *
 *	FLUSH:        opcode PVB_WR_FLUSH, wr.atomic.remote_addr and .rkey,
 *	              wr.atomic.compare_add the number of bytes
 *	ATOMIC WRITE: opcode PVB_WR_ATOMIC_WRITE, the same, wr.atomic.swap the eight bytes
 */
void pvb_native_add(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rdma-core 56 has and rdma-core 44 lacks, by value, so that one binary serves
 * programs built with either: infiniband/verbs.h of both versions.
 */
#ifndef SVB_COMPAT56_H
#define SVB_COMPAT56_H

#include <infiniband/verbs.h>

/* enum ibv_wr_opcode, enum ibv_wc_opcode, enum ibv_qp_create_send_ops_flags */
#define SVB_WR_FLUSH 14
#define SVB_WR_ATOMIC_WRITE 15
#define SVB_WC_FLUSH 8
#define SVB_WC_ATOMIC_WRITE 9
#define SVB_QP_EX_WITH_FLUSH (1u << 11)
#define SVB_QP_EX_WITH_ATOMIC_WRITE (1u << 12)

/* enum ibv_access_flags */
#define SVB_ACCESS_FLUSH_GLOBAL (1u << 8)
#define SVB_ACCESS_FLUSH_PERSISTENT (1u << 9)

/* enum ibv_placement_type, enum ibv_selectivity_level */
#define SVB_FLUSH_GLOBAL 1u
#define SVB_FLUSH_PERSISTENT 2u
#define SVB_FLUSH_RANGE 0u
#define SVB_FLUSH_MR 1u

/* struct ibv_device_attr_ex, device_cap_flags_ex (the kernel's ib_device_cap_flags) */
#define SVB_DEVICE_FLUSH_GLOBAL (1ull << 38)
#define SVB_DEVICE_FLUSH_PERSISTENT (1ull << 39)
#define SVB_DEVICE_ATOMIC_WRITE (1ull << 40)

/* struct ibv_qp_ex as 56 has it: all of 44, then wr_flush. */
struct svb_qp_ex56 {
	char upto_atomic_write[offsetof(struct ibv_qp_ex, wr_atomic_write)];
	void (*wr_atomic_write)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
				const void *atomic_wr);
	void (*wr_flush)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			 size_t len, uint8_t type, uint8_t level);
};

#endif

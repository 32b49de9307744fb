/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FLUSH and ATOMIC WRITE as rdma-core 56 declares them, by value: a provider built with
 * the headers of version 44, which has no FLUSH, uses both where the library that it runs
 * with has them. The numbers are part of the library's and the kernel's interface
 * (infiniband/verbs.h, rdma/ib_user_verbs.h) and never change.
 *
 * A queue pair has the functions only when ibv_create_qp_ex took PVB_QP_EX_WITH_*; in an
 * older library other things are at that place: never look there to find out.
 */
#ifndef PVB_DEVICE_VERBS56_H
#define PVB_DEVICE_VERBS56_H

#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

/* enum ibv_wr_opcode, enum ibv_wc_opcode */
#define PVB_WR_FLUSH 14
#define PVB_WR_ATOMIC_WRITE 15
#define PVB_WC_FLUSH 8
#define PVB_WC_ATOMIC_WRITE 9

/* enum ibv_qp_create_send_ops_flags */
#define PVB_QP_EX_WITH_FLUSH (1u << 11)
#define PVB_QP_EX_WITH_ATOMIC_WRITE (1u << 12)

/* enum ibv_access_flags, of regions and of queue pairs */
#define PVB_ACCESS_FLUSH_GLOBAL (1u << 8)
#define PVB_ACCESS_FLUSH_PERSISTENT (1u << 9)

/* enum ibv_placement_type, enum ibv_selectivity_level */
#define PVB_FLUSH_GLOBAL 1u
#define PVB_FLUSH_PERSISTENT 2u
#define PVB_FLUSH_RANGE 0u
#define PVB_FLUSH_MR 1u

/* struct ibv_device_attr_ex, device_cap_flags_ex */
#define PVB_DEVICE_FLUSH_GLOBAL (1ull << 38)
#define PVB_DEVICE_FLUSH_PERSISTENT (1ull << 39)
#define PVB_DEVICE_ATOMIC_WRITE (1ull << 40)

/* The end of struct ibv_qp_ex, from wr_atomic_write on. */
struct pvb_qp_ex_tail {
	void (*wr_atomic_write)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
				const void *atomic_wr);
	void (*wr_flush)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			 size_t len, uint8_t type, uint8_t level);
};

#define PVB_QP_EX_TAIL_AT offsetof(struct ibv_qp_ex, wr_atomic_write)

/* In version 44 the structure ends with wr_atomic_write. */
_Static_assert(sizeof(struct ibv_qp_ex) == PVB_QP_EX_TAIL_AT + sizeof(void *) ||
		       sizeof(struct ibv_qp_ex) ==
			       PVB_QP_EX_TAIL_AT + sizeof(struct pvb_qp_ex_tail),
	       "struct ibv_qp_ex is neither that of rdma-core 44 nor that of 56");

#ifdef HAVE_STRUCT_IBV_QP_EX_WR_FLUSH
_Static_assert(offsetof(struct ibv_qp_ex, wr_flush) ==
		       PVB_QP_EX_TAIL_AT + offsetof(struct pvb_qp_ex_tail, wr_flush),
	       "wr_flush is somewhere else");
_Static_assert(IBV_WR_FLUSH == PVB_WR_FLUSH &&
		       IBV_WR_ATOMIC_WRITE == PVB_WR_ATOMIC_WRITE &&
		       IBV_WC_FLUSH == PVB_WC_FLUSH &&
		       IBV_WC_ATOMIC_WRITE == PVB_WC_ATOMIC_WRITE,
	       "operations");
_Static_assert(IBV_QP_EX_WITH_FLUSH == PVB_QP_EX_WITH_FLUSH &&
		       IBV_QP_EX_WITH_ATOMIC_WRITE == PVB_QP_EX_WITH_ATOMIC_WRITE,
	       "what a queue pair is made for");
_Static_assert(IBV_ACCESS_FLUSH_GLOBAL == PVB_ACCESS_FLUSH_GLOBAL &&
		       IBV_ACCESS_FLUSH_PERSISTENT == PVB_ACCESS_FLUSH_PERSISTENT,
	       "rights");
_Static_assert(IBV_FLUSH_GLOBAL == PVB_FLUSH_GLOBAL &&
		       IBV_FLUSH_PERSISTENT == PVB_FLUSH_PERSISTENT &&
		       IBV_FLUSH_RANGE == PVB_FLUSH_RANGE && IBV_FLUSH_MR == PVB_FLUSH_MR,
	       "arguments of a flush");
#endif

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <string.h>
#include "native.h"

int pvb_native_offer(struct ibv_context *verbs, struct pvb_native *native)
{
	struct ibv_device_attr_ex attr;
	int err;

	memset(native, 0, sizeof(*native));
	memset(&attr, 0, sizeof(attr));
	err = ibv_query_device_ex(verbs, NULL, &attr);
	if (err)
		return -err;
	native->flush_global = attr.device_cap_flags_ex & PVB_DEVICE_FLUSH_GLOBAL;
	native->flush_persistent = attr.device_cap_flags_ex & PVB_DEVICE_FLUSH_PERSISTENT;
	native->atomic_write = attr.device_cap_flags_ex & PVB_DEVICE_ATOMIC_WRITE;
	return 0;
}

uint32_t pvb_native_ops(const struct pvb_native *native)
{
	uint32_t ops = 0;

	if (native->flush_persistent)
		ops |= PVB_QP_EX_WITH_FLUSH;
	if (native->atomic_write)
		ops |= PVB_QP_EX_WITH_ATOMIC_WRITE;
	return ops;
}

unsigned int pvb_native_access(const struct pvb_native *native)
{
	if (!native->flush_persistent)
		return 0;
	return PVB_ACCESS_FLUSH_PERSISTENT |
	       (native->flush_global ? PVB_ACCESS_FLUSH_GLOBAL : 0);
}

static void pvb_native_atomic(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr)
{
	const uint64_t addr = wr->wr.atomic.remote_addr;
	const uint32_t rkey = wr->wr.atomic.rkey;

	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		ibv_wr_atomic_fetch_add(qp, rkey, addr, wr->wr.atomic.compare_add);
	else
		ibv_wr_atomic_cmp_swp(qp, rkey, addr, wr->wr.atomic.compare_add,
				      wr->wr.atomic.swap);
}

/* Sets the data of an operation that has buffers. */
static void pvb_native_data(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(qp);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qp, wr->imm_data);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr,
				      wr->imm_data);
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	default:
		pvb_native_atomic(qp, wr);
		break;
	}
	ibv_wr_set_sge_list(qp, (size_t)wr->num_sge, wr->sg_list);
}

void pvb_native_add(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr)
{
	qp->wr_id = wr->wr_id;
	qp->wr_flags = wr->send_flags;
	if ((int)wr->opcode == PVB_WR_FLUSH)
		pvb_native_flush(qp, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
				 wr->wr.atomic.compare_add);
	else if ((int)wr->opcode == PVB_WR_ATOMIC_WRITE)
		pvb_native_write(qp, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
				 &wr->wr.atomic.swap);
	else
		pvb_native_data(qp, wr);
}

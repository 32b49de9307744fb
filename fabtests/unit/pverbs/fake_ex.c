/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "device/verbs56.h"
#include "fake_ex.h"

struct fake_ex fake_ex;

static void ex_start(struct ibv_qp_ex *qp)
{
	CT_EXPECT_EQ(qp, &fake_ex.qp);
	fake_ex.count = 0;
	fake_ex.starts++;
	memset(fake_ex.kinds, 0, sizeof(fake_ex.kinds));
}

static struct fake_ex_wr *ex_add(struct ibv_qp_ex *qp, char kind, uint32_t rkey,
				 uint64_t addr)
{
	static struct fake_ex_wr more;
	struct fake_ex_wr *wr = &more;

	CT_EXPECT_EQ(qp, &fake_ex.qp);
	CT_EXPECT_LT(fake_ex.count, FAKE_EX_MOST);
	if (fake_ex.count < FAKE_EX_MOST) {
		fake_ex.kinds[fake_ex.count] = kind;
		wr = &fake_ex.wr[fake_ex.count++];
	}
	*wr = (struct fake_ex_wr){
		.kind = kind,
		.wr_id = qp->wr_id,
		.flags = qp->wr_flags,
		.rkey = rkey,
		.addr = addr,
	};
	return wr;
}

static void ex_send(struct ibv_qp_ex *qp)
{
	ex_add(qp, 'S', 0, 0);
}

static void ex_send_imm(struct ibv_qp_ex *qp, __be32 imm)
{
	ex_add(qp, 's', 0, 0)->imm = imm;
}

static void ex_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	ex_add(qp, 'W', rkey, addr);
}

static void ex_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, __be32 imm)
{
	ex_add(qp, 'w', rkey, addr)->imm = imm;
}

static void ex_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	ex_add(qp, 'R', rkey, addr);
}

static void ex_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t add)
{
	ex_add(qp, '+', rkey, addr)->compare_add = add;
}

static void ex_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr,
		       uint64_t compare, uint64_t swap)
{
	struct fake_ex_wr *wr = ex_add(qp, '?', rkey, addr);

	wr->compare_add = compare;
	wr->swap = swap;
}

static void ex_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, size_t len,
		     uint8_t type, uint8_t level)
{
	struct fake_ex_wr *wr = ex_add(qp, 'F', rkey, addr);

	wr->len = len;
	wr->type = type;
	wr->level = level;
}

static void ex_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr,
			    const void *data)
{
	memcpy(&ex_add(qp, 'A', rkey, addr)->swap, data, sizeof(uint64_t));
}

static void ex_set_sge_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_sge *sge)
{
	struct fake_ex_wr *wr = &fake_ex.wr[fake_ex.count - 1];

	CT_EXPECT_EQ(qp, &fake_ex.qp);
	CT_EXPECT_LE(count, CRN_COUNT(wr->sge));
	wr->num_sge = CRN_MIN(count, CRN_COUNT(wr->sge));
	if (wr->num_sge)
		memcpy(wr->sge, sge, wr->num_sge * sizeof(*sge));
}

static void ex_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	const struct ibv_sge sge = {addr, length, lkey};

	ex_set_sge_list(qp, 1, &sge);
}

static int ex_complete(struct ibv_qp_ex *qp)
{
	struct ibv_send_wr wr[FAKE_EX_MOST] = {0}, *bad;
	unsigned int i;

	CT_EXPECT_EQ(qp, &fake_ex.qp);
	if (fake_ex.refused || !fake_ex.to || !fake_ex.count)
		return fake_ex.refused;
	for (i = 0; i < fake_ex.count; i++) {
		wr[i] = (struct ibv_send_wr){
			.wr_id = fake_ex.wr[i].wr_id,
			.send_flags = fake_ex.wr[i].flags,
			.opcode = fake_ex.kinds[i] == 'R' ? IBV_WR_RDMA_READ
							  : IBV_WR_RDMA_WRITE,
			.wr.rdma = {fake_ex.wr[i].addr, fake_ex.wr[i].rkey},
			.sg_list = fake_ex.wr[i].sge,
			.num_sge = (int)fake_ex.wr[i].num_sge,
			.next = i + 1 < fake_ex.count ? &wr[i + 1] : NULL,
		};
	}
	return ibv_post_send(fake_ex.to, wr, &bad);
}

void fake_ex_reset(struct ibv_qp *to)
{
	const struct pvb_qp_ex_tail tail = {ex_atomic_write, ex_flush};

	memset(&fake_ex, 0, sizeof(fake_ex));
	fake_ex.qp.wr_start = ex_start;
	fake_ex.qp.wr_complete = ex_complete;
	fake_ex.qp.wr_send = ex_send;
	fake_ex.qp.wr_send_imm = ex_send_imm;
	fake_ex.qp.wr_rdma_write = ex_write;
	fake_ex.qp.wr_rdma_write_imm = ex_write_imm;
	fake_ex.qp.wr_rdma_read = ex_read;
	fake_ex.qp.wr_atomic_fetch_add = ex_fetch_add;
	fake_ex.qp.wr_atomic_cmp_swp = ex_cmp_swp;
	fake_ex.qp.wr_set_sge = ex_set_sge;
	fake_ex.qp.wr_set_sge_list = ex_set_sge_list;
	memcpy(fake_ex.bytes + offsetof(struct ibv_qp_ex, wr_atomic_write), &tail,
	       sizeof(tail));
	fake_ex.to = to;
}

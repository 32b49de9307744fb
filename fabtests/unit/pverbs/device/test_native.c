/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "device/native.h"
#include "../fake_ex.h"

static uint64_t caps;
static int query_err;

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	attr->device_cap_flags_ex = caps;
	return query_err;
}

/* A device whose attributes are as given. */
static int offer(uint64_t flags, int err, struct pvb_native *native)
{
	struct verbs_context verbs = {
		.query_device_ex = query_device_ex,
		.sz = sizeof(verbs),
		.context = {.abi_compat = (void *)UINTPTR_MAX},
	};

	caps = flags;
	query_err = err;
	memset(native, 0xff, sizeof(*native));
	return pvb_native_offer(&verbs.context, native);
}

CT_TEST(native, the_device_says_what_it_can_do)
{
	static const struct {
		uint64_t caps;
		struct pvb_native native;
		uint32_t ops;
		unsigned int access;
	} rows[] = {
		{0, {0}, 0, 0},
		{~(7ull << 38), {0}, 0, 0},
		{1ull << 38, {.flush_global = true}, 0, 0},
		{1ull << 39, {.flush_persistent = true}, 1u << 11, 1u << 9},
		{1ull << 40, {.atomic_write = true}, 1u << 12, 0},
		{3ull << 38,
		 {.flush_global = true, .flush_persistent = true},
		 1u << 11,
		 3u << 8},
		{7ull << 38, {true, true, true}, 3u << 11, 3u << 8},
	};
	struct pvb_native native;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_ASSERT_EQ(offer(rows[i].caps, 0, &native), 0);
		CT_EXPECT_EQ(native.flush_global, rows[i].native.flush_global);
		CT_EXPECT_EQ(native.flush_persistent, rows[i].native.flush_persistent);
		CT_EXPECT_EQ(native.atomic_write, rows[i].native.atomic_write);
		CT_EXPECT_EQ(pvb_native_ops(&native), rows[i].ops);
		CT_EXPECT_EQ(pvb_native_access(&native), rows[i].access);
	}
}

CT_TEST(native, a_device_that_does_not_answer_offers_nothing)
{
	struct pvb_native native;

	CT_EXPECT_EQ(offer(7ull << 38, EIO, &native), -EIO);
	CT_EXPECT_FALSE(native.flush_persistent || native.flush_global ||
			native.atomic_write);
}

/* The structure as a library of version 56 has it, longer than that of our headers. */
static struct {
	union {
		struct ibv_qp_ex qp;
		char bytes[sizeof(struct ibv_qp_ex) + 64];
	};
	uint32_t rkey;
	uint64_t addr, len;
	unsigned int type, level;
	const void *data;
} called;

static void wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, size_t len,
		     uint8_t type, uint8_t level)
{
	CT_EXPECT_EQ(qp, &called.qp);
	called.rkey = rkey;
	called.addr = addr;
	called.len = len;
	called.type = type;
	called.level = level;
}

static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr,
			    const void *data)
{
	CT_EXPECT_EQ(qp, &called.qp);
	called.rkey = rkey;
	called.addr = addr;
	called.data = data;
}

CT_TEST(native, requests_go_through_the_functions_at_the_end_of_the_queue_pair)
{
	const struct pvb_qp_ex_tail tail = {wr_atomic_write, wr_flush};
	uint64_t word = 7;

	memset(&called, 0, sizeof(called));
	memcpy(called.bytes + offsetof(struct ibv_qp_ex, wr_atomic_write), &tail,
	       sizeof(tail));
	pvb_native_flush(&called.qp, 0x12, 0x1000, 77);
	CT_EXPECT_EQ(called.rkey, 0x12);
	CT_EXPECT_EQ(called.addr, 0x1000);
	CT_EXPECT_EQ(called.len, 77);
	CT_EXPECT_EQ(called.type, 2);
	CT_EXPECT_EQ(called.level, 0);

	pvb_native_write(&called.qp, 0x13, 0x2000, &word);
	CT_EXPECT_EQ(called.rkey, 0x13);
	CT_EXPECT_EQ(called.addr, 0x2000);
	CT_EXPECT_EQ(called.data, &word);
}

static int post(const struct ibv_send_wr *wr)
{
	ibv_wr_start(&fake_ex.qp);
	for (; wr; wr = wr->next)
		pvb_native_add(&fake_ex.qp, wr);
	return ibv_wr_complete(&fake_ex.qp);
}

CT_TEST(native, what_is_posted_at_once_goes_through_in_its_order)
{
	struct ibv_sge sge[] = {{0x10, 3, 1}, {0x20, 4, 2}};
	struct ibv_send_wr wr[] = {
		{.opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = 2},
		{.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = 7},
		{.opcode = IBV_WR_RDMA_WRITE, .wr.rdma = {0x100, 1}, .num_sge = 1},
		{.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		 .wr.rdma = {0x200, 2},
		 .imm_data = 8},
		{.opcode = IBV_WR_RDMA_READ, .wr.rdma = {0x300, 3}},
		{.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .wr.atomic = {0x400, 5, 0, 4}},
		{.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .wr.atomic = {0x500, 6, 7, 5}},
		{.opcode = (enum ibv_wr_opcode)PVB_WR_FLUSH,
		 .wr.atomic = {0x600, 77, 0, 6}},
		{.opcode = (enum ibv_wr_opcode)PVB_WR_ATOMIC_WRITE,
		 .wr.atomic = {0x700, 8, 99, 7}},
	};
	const struct fake_ex_wr *got = fake_ex.wr;
	uint32_t rkey;

	fake_ex_reset(NULL);
	for (size_t i = 0; i < CRN_COUNT(wr); i++) {
		wr[i].wr_id = 100 + i;
		wr[i].send_flags = i % 2 ? IBV_SEND_SIGNALED : IBV_SEND_FENCE;
		wr[i].next = i + 1 < CRN_COUNT(wr) ? &wr[i + 1] : NULL;
		wr[i].sg_list = sge;
	}
	CT_EXPECT_EQ(post(wr), 0);
	CT_EXPECT_EQ(fake_ex.starts, 1);
	CT_EXPECT_STREQ(fake_ex.kinds, "SsWwR+?FA");
	for (size_t i = 0; i < CRN_COUNT(wr); i++) {
		CT_NOTE("request %zu", i);
		rkey = i < 2 ? 0 : (uint32_t)i - 1;
		CT_EXPECT_EQ(got[i].wr_id, 100 + i);
		CT_EXPECT_EQ(got[i].flags, wr[i].send_flags);
		CT_EXPECT_EQ(got[i].rkey, rkey);
		CT_EXPECT_EQ(got[i].addr, 0x100 * rkey);
		CT_EXPECT_EQ(got[i].num_sge, (size_t)wr[i].num_sge);
	}
	CT_EXPECT_MEMEQ(got[0].sge, sge, sizeof(sge));
	CT_EXPECT_EQ(got[1].imm, 7);
	CT_EXPECT_EQ(got[3].imm, 8);
	CT_EXPECT_EQ(got[5].compare_add, 5);
	CT_EXPECT_EQ(got[6].compare_add, 6);
	CT_EXPECT_EQ(got[6].swap, 7);
	CT_EXPECT_EQ(got[7].len, 77);
	CT_EXPECT_EQ(got[7].type, PVB_FLUSH_PERSISTENT);
	CT_EXPECT_EQ(got[7].level, PVB_FLUSH_RANGE);
	CT_EXPECT_EQ(got[8].swap, 99);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Call forms of fi_rma(3): what each makes of its arguments. */
#include <errno.h>
#include "../world.h"

#define ADDR 0x1122334455667788
#define KEY 0x99aabbcc

static char a[100], b[100];
static struct iovec iov[] = {{a, 100}, {b, 50}};
static void *desc[] = {NUMBER(11), NUMBER(22)};
static struct fi_rma_iov range = {.addr = ADDR, .len = 150, .key = KEY};
static const struct fi_msg_rma message = {
	.msg_iov = iov,
	.desc = desc,
	.iov_count = 2,
	.rma_iov = &range,
	.rma_iov_count = 1,
	.context = NUMBER(7),
	.data = 0x11223344,
};

static ssize_t call_read(struct fid_ep *ep)
{
	return fi_read(ep, a, 100, desc[0], 0, ADDR, KEY, NUMBER(7));
}

static ssize_t call_readv(struct fid_ep *ep)
{
	return fi_readv(ep, iov, desc, 2, 0, ADDR, KEY, NUMBER(7));
}

static ssize_t call_readmsg(struct fid_ep *ep)
{
	return fi_readmsg(ep, &message, 0);
}

static ssize_t call_write(struct fid_ep *ep)
{
	return fi_write(ep, a, 100, desc[0], 0, ADDR, KEY, NUMBER(7));
}

static ssize_t call_writev(struct fid_ep *ep)
{
	return fi_writev(ep, iov, desc, 2, 0, ADDR, KEY, NUMBER(7));
}

static ssize_t call_writemsg(struct fid_ep *ep)
{
	return fi_writemsg(ep, &message, FI_COMPLETION);
}

static ssize_t call_writemsg_data(struct fid_ep *ep)
{
	return fi_writemsg(ep, &message, FI_REMOTE_CQ_DATA);
}

static ssize_t call_writedata(struct fid_ep *ep)
{
	return fi_writedata(ep, a, 100, desc[0], 0x11223344, 0, ADDR, KEY, NUMBER(7));
}

static const struct {
	const char *name;
	ssize_t (*call)(struct fid_ep *ep);
	enum ibv_wr_opcode opcode;
	int pieces;
} forms[] = {
	{"read", call_read, IBV_WR_RDMA_READ, 1},
	{"readv", call_readv, IBV_WR_RDMA_READ, 2},
	{"readmsg", call_readmsg, IBV_WR_RDMA_READ, 2},
	{"write", call_write, IBV_WR_RDMA_WRITE, 1},
	{"writev", call_writev, IBV_WR_RDMA_WRITE, 2},
	{"writemsg", call_writemsg, IBV_WR_RDMA_WRITE, 2},
	{"writemsg with data", call_writemsg_data, IBV_WR_RDMA_WRITE_WITH_IMM, 2},
	{"writedata", call_writedata, IBV_WR_RDMA_WRITE_WITH_IMM, 1},
};

CT_FIXTURE(rma_options, struct world, world_fresh, world_close);

CT_TEST_F(rma_options, every_call_form_names_its_buffers_and_the_range)
{
	const struct fake_wr *wr;
	uint64_t direction;

	for (size_t i = 0; i < CRN_COUNT(forms); i++) {
		CT_NOTE("%s", forms[i].name);
		world_reset();
		CT_ASSERT_TRUE(world_open_connected(t, NULL));
		CT_EXPECT_EQ(forms[i].call(t->ep), 0);
		wr = fake_newest(&t->qp->sq);
		CT_EXPECT_EQ(wr->opcode, forms[i].opcode);
		CT_EXPECT_EQ(wr->flags, IBV_SEND_SIGNALED);
		CT_EXPECT_EQ(wr->remote_addr, ADDR);
		CT_EXPECT_EQ(wr->rkey, KEY);
		CT_EXPECT_EQ(wr->imm, forms[i].opcode == IBV_WR_RDMA_WRITE_WITH_IMM
					      ? 0x11223344
					      : 0);
		CT_ASSERT_EQ(wr->num_sge, forms[i].pieces);
		CT_EXPECT_EQ(wr->sge[0].addr, (uintptr_t)a);
		CT_EXPECT_EQ(wr->sge[0].length, 100);
		CT_EXPECT_EQ(wr->sge[0].lkey, 11);
		if (forms[i].pieces == 2) {
			CT_EXPECT_EQ(wr->sge[1].addr, (uintptr_t)b);
			CT_EXPECT_EQ(wr->sge[1].length, 50);
			CT_EXPECT_EQ(wr->sge[1].lkey, 22);
		}
		fake_complete_all(t->qp);
		direction = forms[i].opcode == IBV_WR_RDMA_READ ? FI_READ : FI_WRITE;
		expect_comp(t->cq, NUMBER(7), FI_RMA | direction, 0, 0);
		expect_no_comp(t->cq);
		world_close(t);
	}
}

CT_FIXTURE(rma, struct world, world_start_connected, world_close);

CT_TEST_F(rma, injected_writes_copy_their_data_and_give_no_completion)
{
	const struct fake_wr *wr;

	CT_EXPECT_EQ(fi_inject_write(t->ep, "plain", 6, 0, ADDR, KEY), 0);
	CT_EXPECT_EQ(fi_inject_writedata(t->ep, "data", 5, 77, 0, ADDR, KEY), 0);
	CT_EXPECT_EQ(fi_inject_write(t->ep, a, 65, 0, ADDR, KEY), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_inject_writedata(t->ep, a, 65, 0, 0, ADDR, KEY), -FI_EMSGSIZE);
	wr = fake_wr(&t->qp->sq, 0);
	CT_EXPECT_EQ(wr->opcode, IBV_WR_RDMA_WRITE);
	CT_EXPECT_EQ(wr->remote_addr, ADDR);
	CT_EXPECT_EQ(wr->rkey, KEY);
	CT_EXPECT_STREQ((const char *)wr->inline_data, "plain");
	wr = fake_wr(&t->qp->sq, 1);
	CT_EXPECT_EQ(wr->opcode, IBV_WR_RDMA_WRITE_WITH_IMM);
	CT_EXPECT_EQ(wr->imm, 77);
	CT_EXPECT_STREQ((const char *)wr->inline_data, "data");
	fake_complete_all(t->qp);
	expect_no_comp(t->cq);
}

CT_TEST_F(rma, a_read_is_never_inline)
{
	CT_EXPECT_EQ(fi_read(t->ep, a, 8, NULL, 0, ADDR, KEY, NULL), 0);
	CT_EXPECT_FALSE(fake_newest(&t->qp->sq)->flags & IBV_SEND_INLINE);
	CT_EXPECT_EQ(fi_write(t->ep, a, 8, NULL, 0, ADDR, KEY, NULL), 0);
	CT_EXPECT_TRUE(fake_newest(&t->qp->sq)->flags & IBV_SEND_INLINE);
}

CT_TEST_F(rma_options, a_default_of_inject_does_not_limit_reads)
{
	struct world_opts opts = {.tx_op_flags = FI_INJECT};

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_EXPECT_EQ(fi_read(t->ep, a, 100, NULL, 0, ADDR, KEY, NULL), 0);
	CT_EXPECT_EQ(fi_readv(t->ep, iov, desc, 2, 0, ADDR, KEY, NULL), 0);
	CT_EXPECT_EQ(fi_write(t->ep, a, 100, NULL, 0, ADDR, KEY, NULL), -FI_EMSGSIZE);
}

CT_TEST_F(rma, one_range_of_the_length_of_the_buffers_is_taken)
{
	struct fi_rma_iov ranges[] = {{ADDR, 100, KEY}, {ADDR + 100, 50, KEY}};
	struct fi_msg_rma msg = message;

	msg.rma_iov = ranges;
	msg.rma_iov_count = 2;
	CT_EXPECT_EQ(fi_writemsg(t->ep, &msg, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_readmsg(t->ep, &msg, 0), -FI_EINVAL);
	ranges[0].len = 150;
	CT_EXPECT_EQ(fi_writemsg(t->ep, &msg, 0), -FI_EINVAL);
	ranges[0].len = 100;
	msg.rma_iov_count = 1;
	CT_EXPECT_EQ(fi_writemsg(t->ep, &msg, 0), -FI_EINVAL);
	ranges[0].len = 151;
	CT_EXPECT_EQ(fi_readmsg(t->ep, &msg, 0), -FI_EINVAL);
	ranges[0].len = 150;
	CT_EXPECT_EQ(fi_readmsg(t->ep, &msg, 0), 0);
}

CT_TEST_F(rma, a_write_of_nothing_may_carry_data)
{
	struct fi_msg_rma msg = {.data = 5, .context = NUMBER(1)};

	CT_EXPECT_EQ(fi_writemsg(t->ep, &msg, FI_REMOTE_CQ_DATA), 0);
	CT_EXPECT_EQ(fake_newest(&t->qp->sq)->num_sge, 0);
	CT_EXPECT_EQ(fake_newest(&t->qp->sq)->imm, 5);
	CT_EXPECT_EQ(fi_writedata(t->ep, NULL, 0, NULL, 6, 0, 0, 0, NULL), 0);
	CT_EXPECT_EQ(fake_newest(&t->qp->sq)->imm, 6);
}

CT_TEST_F(rma, more_pieces_than_iov_limit_or_bytes_than_max_msg_size_are_refused)
{
	struct iovec many[5] = {{a, 1}, {a, 1}, {a, 1}, {a, 1}, {a, 1}};
	struct iovec over[] = {{a, UINT32_MAX}, {b, 1}};
	struct fi_rma_iov five = {.addr = ADDR, .len = 5, .key = KEY};
	struct fi_msg_rma msg = {
		.msg_iov = many, .iov_count = 5, .rma_iov = &five, .rma_iov_count = 1};
	const size_t beyond = (1u << 31) + 1u;

	CT_EXPECT_EQ(fi_readv(t->ep, many, NULL, 5, 0, ADDR, KEY, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(fi_writev(t->ep, many, NULL, 5, 0, ADDR, KEY, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(fi_readmsg(t->ep, &msg, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_writemsg(t->ep, &msg, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_read(t->ep, a, beyond, NULL, 0, ADDR, KEY, NULL), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_write(t->ep, a, beyond, NULL, 0, ADDR, KEY, NULL), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_readv(t->ep, over, NULL, 2, 0, ADDR, KEY, NULL), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_writev(t->ep, over, NULL, 2, 0, ADDR, KEY, NULL), -FI_EMSGSIZE);
	CT_EXPECT_EQ(t->qp->sq.posted, 0);
}

CT_TEST_F(rma_options, flags_that_are_not_offered_are_refused)
{
	static const struct {
		uint64_t flags;
		ssize_t read, write;
	} rows[] = {
		{FI_COMPLETION, 0, 0},
		{FI_MORE, 0, 0},
		{FI_FENCE, 0, 0},
		{FI_INJECT_COMPLETE, 0, 0},
		{FI_TRANSMIT_COMPLETE, 0, 0},
		{FI_INJECT, -FI_EBADFLAGS, 0},
		{FI_REMOTE_CQ_DATA, -FI_EBADFLAGS, 0},
		{FI_DELIVERY_COMPLETE, 0, -FI_EOPNOTSUPP},
		{FI_COMMIT_COMPLETE, -FI_EOPNOTSUPP, -FI_EOPNOTSUPP},
		{FI_MULTI_RECV, -FI_EBADFLAGS, -FI_EBADFLAGS},
	};
	struct fi_msg_rma msg = {0};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("flags 0x%llx", (unsigned long long)rows[i].flags);
		world_reset();
		CT_ASSERT_TRUE(world_open_connected(t, NULL));
		CT_EXPECT_EQ(fi_readmsg(t->ep, &msg, rows[i].flags), rows[i].read);
		CT_EXPECT_EQ(fi_writemsg(t->ep, &msg, rows[i].flags), rows[i].write);
		world_close(t);
	}
}

/* A later write must not overtake the data of an earlier read. */
CT_TEST_F(rma_options, ordering_after_reads_fences_writes_and_sends)
{
	static const struct {
		uint64_t order;
		bool fenced;
	} rows[] = {{FI_ORDER_WAR, true},
		    {FI_ORDER_SAR, true},
		    {FI_ORDER_RMA_WAR, true},
		    {FI_ORDER_WAW | FI_ORDER_RAW, false},
		    {0, false}};
	struct world_opts opts = {0};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("order 0x%llx", (unsigned long long)rows[i].order);
		world_reset();
		opts.msg_order = rows[i].order;
		CT_ASSERT_TRUE(world_open_connected(t, &opts));
		for (size_t n = 0; n < CRN_COUNT(forms); n++) {
			bool read = forms[n].opcode == IBV_WR_RDMA_READ;

			CT_EXPECT_EQ(forms[n].call(t->ep), 0);
			CT_EXPECT_EQ(!!(fake_newest(&t->qp->sq)->flags & IBV_SEND_FENCE),
				     rows[i].fenced && !read);
		}
		fake_complete_all(t->qp);
		while (fi_cq_read(t->cq, (struct fi_cq_data_entry[8]){{0}}, 8) > 0)
			;
		CT_EXPECT_EQ(send_number(t->ep, 1), 0);
		CT_EXPECT_EQ(!!(fake_newest(&t->qp->sq)->flags & IBV_SEND_FENCE),
			     rows[i].fenced);
		world_close(t);
	}
}

CT_TEST_F(rma, a_fence_of_the_call_stands_for_itself)
{
	struct fi_msg_rma msg = {0};

	CT_EXPECT_EQ(fi_readmsg(t->ep, &msg, FI_FENCE), 0);
	CT_EXPECT_TRUE(fake_newest(&t->qp->sq)->flags & IBV_SEND_FENCE);
	CT_EXPECT_EQ(fi_writemsg(t->ep, &msg, 0), 0);
	CT_EXPECT_FALSE(fake_newest(&t->qp->sq)->flags & IBV_SEND_FENCE);
}

CT_TEST_F(rma_options, selective_completion_rules_reads_and_writes_too)
{
	struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION};
	struct fi_msg_rma msg = {.context = NUMBER(3)};

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_EXPECT_EQ(call_read(t->ep), 0);
	CT_EXPECT_EQ(call_write(t->ep), 0);
	CT_EXPECT_EQ(fi_readmsg(t->ep, &msg, FI_COMPLETION), 0);
	CT_EXPECT_EQ(fi_writemsg(t->ep, &msg, FI_COMPLETION), 0);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(3), FI_RMA | FI_READ, 0, 0);
	expect_comp(t->cq, NUMBER(3), FI_RMA | FI_WRITE, 0, 0);
	expect_no_comp(t->cq);
}

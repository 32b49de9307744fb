/* SPDX-License-Identifier: BSD-2-Clause */
/* Call forms of fi_msg(3): what each makes of its arguments. */
#include <errno.h>
#include "../world.h"

static char a[100], b[100];
static struct iovec iov[] = {{a, 100}, {b, 50}};
static void *desc[] = {NUMBER(11), NUMBER(22)};

/* The send that a call made: opcode, pieces, immediate data. */
static void check_send(struct world *w, enum ibv_wr_opcode opcode, int pieces,
		       uint32_t imm)
{
	const struct fake_wr *wr = fake_newest(&w->qp->sq);

	CT_EXPECT_EQ(w->qp->sq.posted, 1);
	CT_EXPECT_EQ(wr->opcode, opcode);
	CT_EXPECT_EQ(wr->imm, imm);
	CT_ASSERT_EQ(wr->num_sge, pieces);
	CT_EXPECT_EQ(wr->sge[0].addr, (uintptr_t)a);
	CT_EXPECT_EQ(wr->sge[0].length, 100);
	CT_EXPECT_EQ(wr->sge[0].lkey, 11);
	CT_EXPECT_EQ(wr->flags, IBV_SEND_SIGNALED);
	if (pieces == 2) {
		CT_EXPECT_EQ(wr->sge[1].addr, (uintptr_t)b);
		CT_EXPECT_EQ(wr->sge[1].length, 50);
		CT_EXPECT_EQ(wr->sge[1].lkey, 22);
	}
	fake_complete_all(w->qp);
	expect_comp(w->cq, NUMBER(7), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(w->cq);
	world_close(w);
}

CT_FIXTURE(msg, struct world, world_start_connected, world_close);

CT_TEST_F(msg, send)
{
	CT_EXPECT_EQ(fi_send(t->ep, a, 100, NUMBER(11), 0, NUMBER(7)), 0);
	check_send(t, IBV_WR_SEND, 1, 0);
}

CT_TEST_F(msg, sendv)
{
	CT_EXPECT_EQ(fi_sendv(t->ep, iov, desc, 2, 0, NUMBER(7)), 0);
	check_send(t, IBV_WR_SEND, 2, 0);
}

CT_TEST_F(msg, sendmsg)
{
	struct fi_msg msg = {.msg_iov = iov,
			     .desc = desc,
			     .iov_count = 2,
			     .context = NUMBER(7),
			     .data = 99};

	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_COMPLETION), 0);
	check_send(t, IBV_WR_SEND, 2, 0);
}

CT_TEST_F(msg, sendmsg_with_data)
{
	struct fi_msg msg = {.msg_iov = iov,
			     .desc = desc,
			     .iov_count = 2,
			     .context = NUMBER(7),
			     .data = 0x11223344};

	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_REMOTE_CQ_DATA), 0);
	check_send(t, IBV_WR_SEND_WITH_IMM, 2, 0x11223344);
}

CT_TEST_F(msg, senddata)
{
	CT_EXPECT_EQ(fi_senddata(t->ep, a, 100, NUMBER(11), 0xaabbccdd, 0, NUMBER(7)), 0);
	check_send(t, IBV_WR_SEND_WITH_IMM, 1, 0xaabbccdd);
}

CT_TEST_F(msg, inject_and_injectdata)
{
	const struct fake_wr *wr;

	CT_EXPECT_EQ(fi_inject(t->ep, "plain", 6, 0), 0);
	CT_EXPECT_EQ(fi_injectdata(t->ep, "data", 5, 77, 0), 0);
	wr = fake_wr(&t->qp->sq, 0);
	CT_EXPECT_EQ(wr->opcode, IBV_WR_SEND);
	CT_EXPECT_STREQ((const char *)wr->inline_data, "plain");
	wr = fake_wr(&t->qp->sq, 1);
	CT_EXPECT_EQ(wr->opcode, IBV_WR_SEND_WITH_IMM);
	CT_EXPECT_EQ(wr->imm, 77);
	CT_EXPECT_STREQ((const char *)wr->inline_data, "data");
	fake_complete_all(t->qp);
	expect_no_comp(t->cq);
}

CT_TEST_F(msg, an_empty_message_has_no_pieces)
{
	struct fi_msg msg = {0};

	CT_EXPECT_EQ(fi_send(t->ep, NULL, 0, NULL, 0, NULL), 0);
	CT_EXPECT_EQ(fi_sendv(t->ep, NULL, NULL, 0, 0, NULL), 0);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, 0), 0);
	CT_EXPECT_EQ(fi_inject(t->ep, NULL, 0, 0), 0);
	for (unsigned int i = 0; i < 4; i++)
		CT_EXPECT_EQ(fake_wr(&t->qp->sq, i)->num_sge, 0);
}

CT_TEST_F(msg, more_pieces_than_iov_limit_are_refused)
{
	struct iovec many[6] = {{a, 1}, {a, 1}, {a, 1}, {a, 1}, {a, 1}, {a, 1}};
	struct fi_msg msg = {.msg_iov = many, .iov_count = 5};

	CT_EXPECT_EQ(t->info->tx_attr->iov_limit, 4);
	CT_EXPECT_EQ(fi_sendv(t->ep, many, NULL, 4, 0, NULL), 0);
	CT_EXPECT_EQ(fi_sendv(t->ep, many, NULL, 5, 0, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_recvv(t->ep, many, NULL, 4, 0, NULL), 0);
	CT_EXPECT_EQ(fi_recvv(t->ep, many, NULL, 5, 0, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(fi_recvmsg(t->ep, &msg, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_sendv(t->ep, many, NULL, SIZE_MAX, 0, NULL), -FI_EINVAL);
}

CT_TEST_F(msg, a_message_beyond_max_msg_size_is_refused)
{
	const size_t most = 1u << 31;
	struct iovec two[] = {{a, most}, {b, 1}};
	struct iovec over[] = {{a, UINT32_MAX}, {b, 1}};

	CT_EXPECT_EQ(fi_send(t->ep, a, most, NULL, 0, NULL), 0);
	CT_EXPECT_EQ(fi_send(t->ep, a, most + 1, NULL, 0, NULL), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_send(t->ep, a, SIZE_MAX, NULL, 0, NULL), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_sendv(t->ep, two, NULL, 2, 0, NULL), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_sendv(t->ep, over, NULL, 2, 0, NULL), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_senddata(t->ep, a, most + 1, NULL, 0, 0, NULL), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_recv(t->ep, a, (size_t)UINT32_MAX + 1, NULL, 0, NULL),
		     -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_recvv(t->ep, over, NULL, 2, 0, NULL), -FI_EMSGSIZE);
	CT_EXPECT_EQ(t->qp->sq.posted, 1);
}

CT_TEST_F(msg, an_injected_message_beyond_inject_size_is_refused)
{
	struct iovec two[] = {{a, 60}, {b, 5}};
	struct fi_msg msg = {.msg_iov = two, .iov_count = 2};

	CT_EXPECT_EQ(fi_inject(t->ep, a, 64, 0), 0);
	CT_EXPECT_EQ(fi_inject(t->ep, a, 65, 0), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_injectdata(t->ep, a, 65, 0, 0), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_INJECT), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, 0), 0);
}

CT_FIXTURE(msg_options, struct world, world_fresh, world_close);

CT_TEST_F(msg_options, flags_that_are_not_offered_are_refused)
{
	static const struct {
		uint64_t flags;
		ssize_t send, recv;
	} rows[] = {
		{FI_COMPLETION, 0, 0},
		{FI_MORE, 0, 0},
		{FI_INJECT_COMPLETE, 0, -FI_EBADFLAGS},
		{FI_TRANSMIT_COMPLETE, 0, -FI_EBADFLAGS},
		{FI_FENCE, 0, -FI_EBADFLAGS},
		{FI_INJECT, 0, -FI_EBADFLAGS},
		{FI_REMOTE_CQ_DATA, 0, -FI_EBADFLAGS},
		{FI_DELIVERY_COMPLETE, -FI_EOPNOTSUPP, -FI_EBADFLAGS},
		{FI_COMMIT_COMPLETE, -FI_EOPNOTSUPP, -FI_EBADFLAGS},
		{FI_MULTI_RECV, -FI_EBADFLAGS, -FI_EBADFLAGS},
		{1ULL << 63, -FI_EBADFLAGS, -FI_EBADFLAGS},
	};
	struct fi_msg msg = {0};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("flags 0x%llx", (unsigned long long)rows[i].flags);
		world_reset();
		CT_ASSERT_TRUE(world_open_connected(t, NULL));
		CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, rows[i].flags), rows[i].send);
		CT_EXPECT_EQ(fi_recvmsg(t->ep, &msg, rows[i].flags), rows[i].recv);
		world_close(t);
	}
}

CT_TEST_F(msg_options, op_flags_of_the_endpoint_are_the_default_of_calls_without_flags)
{
	struct world_opts opts = {.tx_op_flags = FI_INJECT | FI_COMPLETION,
				  .cq_flags = FI_SELECTIVE_COMPLETION};
	struct fi_msg msg = {0};

	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	CT_EXPECT_EQ(fi_send(t->ep, a, 65, NULL, 0, NULL), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_send(t->ep, a, 64, NULL, 0, NUMBER(1)), 0);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, 0), 0);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(t->cq);
}

CT_TEST_F(msg, a_fence_waits_for_reads)
{
	struct fi_msg msg = {0};

	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_FENCE), 0);
	CT_EXPECT_TRUE(fake_newest(&t->qp->sq)->flags & IBV_SEND_FENCE);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, 0), 0);
	CT_EXPECT_FALSE(fake_newest(&t->qp->sq)->flags & IBV_SEND_FENCE);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_msg(3) of datagram endpoints: what is posted, and what is refused. */
#include <errno.h>
#include "world_dgram.h"

static char buffer[4096];

static const struct fake_wr *newest(const struct dgram_world *w)
{
	return fake_newest(&w->qp->sq);
}

static void expect_datagram(const struct dgram_world *w, enum ibv_wr_opcode opcode,
			    unsigned int flags, uint32_t imm)
{
	const struct fake_wr *wr = newest(w);

	CT_EXPECT_EQ(wr->opcode, opcode);
	CT_EXPECT_EQ(wr->flags, flags);
	CT_EXPECT_EQ(wr->imm, imm);
	CT_EXPECT_EQ(wr->remote_qpn, 0x501);
	CT_EXPECT_EQ(wr->remote_qkey, PVB_UD_QKEY);
	CT_EXPECT_EQ(wr->ah->attr.grh.dgid.raw[15], 1);
	CT_EXPECT_EQ(wr->ah->attr.grh.dgid.raw[14], 1);
}

CT_FIXTURE(dgram_msg, struct dgram_world, dgram_start, dgram_close);

CT_TEST_F(dgram_msg, each_form_of_a_send_posts_a_datagram)
{
	const struct iovec iov[] = {{buffer, 300}, {buffer + 300, 100}};
	struct fi_msg msg = {.msg_iov = iov, .iov_count = 2, .data = 0x77};
	const unsigned int small = IBV_SEND_INLINE | IBV_SEND_SIGNALED;

	msg.addr = t->peer;
	CT_EXPECT_EQ(fi_send(t->ep, buffer, 9, NULL, t->peer, NULL), 0);
	expect_datagram(t, IBV_WR_SEND, small, 0);
	CT_EXPECT_EQ(fi_sendv(t->ep, iov, NULL, 2, t->peer, NULL), 0);
	expect_datagram(t, IBV_WR_SEND, IBV_SEND_SIGNALED, 0);
	CT_EXPECT_EQ(newest(t)->num_sge, 2);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_REMOTE_CQ_DATA), 0);
	expect_datagram(t, IBV_WR_SEND_WITH_IMM, IBV_SEND_SIGNALED, 0x77);
	CT_EXPECT_EQ(fi_senddata(t->ep, buffer, 9, NULL, 0x78, t->peer, NULL), 0);
	expect_datagram(t, IBV_WR_SEND_WITH_IMM, small, 0x78);
	CT_EXPECT_EQ(fi_inject(t->ep, buffer, 9, t->peer), 0);
	expect_datagram(t, IBV_WR_SEND, IBV_SEND_INLINE, 0);
	CT_EXPECT_EQ(fi_injectdata(t->ep, buffer, 9, 0x79, t->peer), 0);
	CT_EXPECT_EQ(newest(t)->imm, 0x79);
	CT_EXPECT_EQ(fi_send(t->ep, NULL, 0, NULL, t->peer, NULL), 0);
	CT_EXPECT_EQ(newest(t)->num_sge, 0);
}

CT_TEST_F(dgram_msg, what_cannot_be_sent_is_refused)
{
	const struct iovec iov[PVB_IOV_LIMIT + 1] = {{buffer, 1}};
	struct fi_msg msg = {.msg_iov = iov, .iov_count = 1};

	msg.addr = t->peer;
	CT_EXPECT_EQ(fi_send(t->ep, buffer, DGRAM_MTU, NULL, t->peer, NULL), 0);
	CT_EXPECT_EQ(fi_send(t->ep, buffer, DGRAM_MTU + 1, NULL, t->peer, NULL),
		     -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_inject(t->ep, buffer, 65, t->peer), -FI_EMSGSIZE);
	CT_EXPECT_EQ(fi_send(t->ep, buffer, 1, NULL, t->peer + 1, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(fi_send(t->ep, buffer, 1, NULL, FI_ADDR_UNSPEC, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(fi_sendv(t->ep, iov, NULL, t->info->tx_attr->iov_limit + 1, t->peer,
			      NULL),
		     -FI_EINVAL);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_DELIVERY_COMPLETE), -FI_EBADFLAGS);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_FENCE), -FI_EBADFLAGS);
	CT_EXPECT_EQ(fi_recvmsg(t->ep, &msg, FI_PEEK), -FI_EBADFLAGS);
	/* It is an address of the vector, and no group's. */
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_MULTICAST), -FI_EINVAL);
	CT_EXPECT_EQ(t->qp->sq.posted, 1);
}

CT_TEST_F(dgram_msg, a_full_queue_takes_more_once_it_was_read)
{
	struct fi_cq_data_entry entry;
	int i;

	for (i = 0; i < 8; i++)
		CT_EXPECT_EQ(fi_send(t->ep, buffer, 9, NULL, t->peer, NULL), 0);
	CT_EXPECT_EQ(fi_send(t->ep, buffer, 9, NULL, t->peer, NULL), -FI_EAGAIN);
	fake_complete(t->qp, 1);
	CT_EXPECT_EQ(fi_cq_read(t->cq, &entry, 1), 1);
	CT_EXPECT_EQ(fi_send(t->ep, buffer, 9, NULL, t->peer, NULL), 0);
	for (i = 0; i < 8; i++)
		CT_EXPECT_EQ(fi_recv(t->ep, buffer, 9, NULL, FI_ADDR_UNSPEC, NULL), 0);
	CT_EXPECT_EQ(fi_recv(t->ep, buffer, 9, NULL, FI_ADDR_UNSPEC, NULL), -FI_EAGAIN);
}

/* More than the device takes inline: 256 bytes. */
CT_TEST_F(dgram_msg, what_is_injected_may_be_reused_at_once)
{
	CT_ASSERT_TRUE(dgram_open(t, &(struct dgram_opts){.inject_size = 300}));
	memset(buffer, 'a', 300);
	fake_devices[0].max_inline = 256;
	CT_EXPECT_EQ(fi_inject(t->ep, buffer, 300, t->peer), 0);
	memset(buffer, 'b', 300);
	CT_EXPECT_EQ(newest(t)->num_sge, 1);
	CT_EXPECT_EQ(((char *)(uintptr_t)newest(t)->sge[0].addr)[299], 'a');
	fake_complete_all(t->qp);
	expect_no_comp(t->cq);
}

CT_TEST_F(dgram_msg, what_more_follows_is_posted_together)
{
	const struct iovec iov = {buffer, 9};
	struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1};

	msg.addr = dgram_insert(t, 2);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_MORE), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 0);
	msg.addr = t->peer;
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, 0), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 2);
	CT_EXPECT_EQ(t->qp->sq.calls, 1);
	CT_EXPECT_EQ(fake_wr(&t->qp->sq, 0)->remote_qpn, 0x502);
	CT_EXPECT_EQ(newest(t)->remote_qpn, 0x501);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_MORE), 0);
	CT_EXPECT_EQ(fi_send(t->ep, buffer, 1, NULL, FI_ADDR_UNSPEC, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(t->qp->sq.posted, 3);
}

/* It is copied, and memory for that is of one that is posted. */
CT_TEST_F(dgram_msg, FI_INJECT_is_posted_at_once_and_no_longer_than_inject_size)
{
	const struct iovec iov[] = {{buffer, 9}, {buffer, 65}};
	struct fi_msg msg = {.msg_iov = &iov[0], .iov_count = 1};

	msg.addr = t->peer;
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_MORE | FI_INJECT), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 1);
	msg.msg_iov = &iov[1];
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_INJECT), -FI_EMSGSIZE);
	CT_EXPECT_EQ(t->qp->sq.posted, 1);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, 0), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 2);
}

CT_TEST_F(dgram_msg, receives_have_as_many_entries_as_was_offered)
{
	const struct iovec iov[PVB_IOV_LIMIT + 1] = {{buffer, 1}};
	const struct fi_msg msg = {.msg_iov = iov, .iov_count = PVB_IOV_LIMIT + 1};
	size_t limit;

	limit = t->info->rx_attr->iov_limit;
	CT_EXPECT_EQ(fi_recvv(t->ep, iov, NULL, limit, FI_ADDR_UNSPEC, NULL), 0);
	CT_EXPECT_EQ(fi_recvv(t->ep, iov, NULL, limit + 1, FI_ADDR_UNSPEC, NULL),
		     -FI_EINVAL);
	CT_EXPECT_EQ(fi_recvmsg(t->ep, &msg, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_recv(t->ep, buffer, (size_t)UINT32_MAX + 1, NULL, FI_ADDR_UNSPEC,
			     NULL),
		     -FI_EMSGSIZE);
	CT_EXPECT_EQ(t->qp->rq.posted, 1);
}

/* Errors are reported whatever was asked for. */
CT_TEST_F(dgram_msg, selective_completion_reports_one_that_is_too_long)
{
	const struct ibv_wc from = {.src_qp = 0x501};

	CT_ASSERT_TRUE(
		dgram_open(t, &(struct dgram_opts){.cq_flags = FI_SELECTIVE_COMPLETION}));
	CT_EXPECT_EQ(fi_recv(t->ep, buffer, 9, NULL, FI_ADDR_UNSPEC, NUMBER(1)), 0);
	CT_EXPECT_EQ(fi_recv(t->ep, buffer, 9, NULL, FI_ADDR_UNSPEC, NUMBER(2)), 0);
	fake_receive_datagram(t->qp, 9, &from, NULL);
	fake_receive_datagram(t->qp, 10, &from, NULL);
	expect_cq_error(t->cq, NUMBER(2), FI_RECV | FI_MSG, FI_ETRUNC);
	expect_no_comp(t->cq);
}

CT_TEST_F(dgram_msg, selective_completion_reports_what_asks_for_it)
{
	const struct iovec iov = {buffer, 9};
	struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1};
	const struct ibv_wc from = {.src_qp = 0x501};

	CT_ASSERT_TRUE(
		dgram_open(t, &(struct dgram_opts){.cq_flags = FI_SELECTIVE_COMPLETION}));
	msg.addr = t->peer;
	CT_EXPECT_EQ(fi_send(t->ep, buffer, 9, NULL, t->peer, NUMBER(1)), 0);
	msg.context = NUMBER(2);
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_COMPLETION), 0);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(2), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(t->cq);
	CT_EXPECT_EQ(fi_recv(t->ep, buffer, 9, NULL, FI_ADDR_UNSPEC, NUMBER(3)), 0);
	msg.context = NUMBER(4);
	CT_EXPECT_EQ(fi_recvmsg(t->ep, &msg, FI_COMPLETION), 0);
	fake_receive_datagram(t->qp, 5, &from, NULL);
	fake_receive_datagram(t->qp, 5, &from, NULL);
	expect_comp(t->cq, NUMBER(4), FI_RECV | FI_MSG, 5, 0);
	expect_no_comp(t->cq);
}

/* The device writes 40 bytes before each datagram. */
CT_TEST_F(dgram_msg, the_grh_is_not_the_programs)
{
	const struct iovec iov[] = {{buffer, 100}, {buffer + 100, 60}};
	const struct fi_msg msg = {.msg_iov = iov, .iov_count = 2};
	const struct ibv_wc from = {.src_qp = 0x501,
				    .wc_flags = IBV_WC_WITH_IMM,
				    .imm_data = htonl(0x55)};
	const struct fake_wr *wr;

	CT_EXPECT_EQ(fi_recv(t->ep, buffer, 200, NUMBER(3), FI_ADDR_UNSPEC, NUMBER(1)),
		     0);
	wr = fake_newest(&t->qp->rq);
	CT_EXPECT_EQ(wr->num_sge, 3);
	CT_EXPECT_EQ(wr->sge[0].length, 40);
	CT_EXPECT_EQ(wr->sge[1].addr, (uintptr_t)buffer);
	CT_EXPECT_EQ(wr->sge[1].lkey, 3);
	CT_EXPECT_EQ(fi_recvv(t->ep, iov, NULL, 2, FI_ADDR_UNSPEC, NUMBER(2)), 0);
	CT_EXPECT_EQ(fake_newest(&t->qp->rq)->num_sge, 4);
	/* Nobody reads it. */
	CT_EXPECT_EQ(fake_newest(&t->qp->rq)->sge[0].addr, wr->sge[0].addr);
	CT_EXPECT_EQ(fi_recvmsg(t->ep, &msg, 0), 0);
	CT_EXPECT_EQ(fi_recv(t->ep, NULL, 0, NULL, FI_ADDR_UNSPEC, NUMBER(4)), 0);
	CT_EXPECT_EQ(fake_newest(&t->qp->rq)->num_sge, 2);
	fake_receive_datagram(t->qp, 123, &from, NULL);
	expect_comp(t->cq, NUMBER(1), FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA, 123, 0x55);
}

CT_TEST_F(dgram_msg, each_receive_has_its_own_if_senders_are_read_from_it)
{
	const struct fi_msg msg = {.iov_count = 0};
	uint64_t at[3];
	size_t i;

	CT_ASSERT_TRUE(dgram_open(t, &(struct dgram_opts){.caps = FI_MSG | FI_SOURCE}));
	CT_EXPECT_EQ(fi_recv(t->ep, buffer, 200, NULL, FI_ADDR_UNSPEC, NUMBER(1)), 0);
	CT_EXPECT_EQ(fi_recv(t->ep, NULL, 0, NULL, FI_ADDR_UNSPEC, NUMBER(2)), 0);
	CT_EXPECT_EQ(fi_recvmsg(t->ep, &msg, 0), 0);
	for (i = 0; i < 3; i++) {
		at[i] = fake_wr(&t->qp->rq, i)->sge[0].addr;
		CT_EXPECT_EQ(fake_wr(&t->qp->rq, i)->sge[0].length, 40);
	}
	CT_EXPECT_NE(at[0], at[1]);
	CT_EXPECT_NE(at[1], at[2]);
	CT_EXPECT_NE(at[0], at[2]);
}

CT_TEST_F(dgram_msg, shared_receives_have_room_for_it_too)
{
	const struct iovec iov[] = {{buffer, 100}, {buffer + 100, 60}};
	const struct fi_msg msg = {.msg_iov = iov, .iov_count = 2, .context = NUMBER(3)};
	const struct ibv_wc from = {.src_qp = 0x501};
	const struct fake_srq *srq;
	size_t i;

	CT_ASSERT_TRUE(dgram_open(t, &(struct dgram_opts){.shared = true}));
	srq = (const struct fake_srq *)t->qp->ibv.srq;
	CT_EXPECT_EQ(fi_recv(t->srx, buffer, 100, NULL, FI_ADDR_UNSPEC, NUMBER(1)), 0);
	CT_EXPECT_EQ(fi_recvv(t->srx, iov, NULL, 2, FI_ADDR_UNSPEC, NUMBER(2)), 0);
	CT_EXPECT_EQ(fi_recvmsg(t->srx, &msg, 0), 0);
	CT_EXPECT_EQ(fake_wr(&srq->rq, 0)->num_sge, 3);
	CT_EXPECT_EQ(fake_wr(&srq->rq, 1)->num_sge, 4);
	CT_EXPECT_EQ(fake_wr(&srq->rq, 2)->sge[0].length, 40);
	for (i = 1; i <= 3; i++) {
		fake_receive_datagram(t->qp, (uint32_t)(10 * i), &from, NULL);
		expect_comp(t->cq, NUMBER(i), FI_RECV | FI_MSG, 10 * i, 0);
	}
}

/* A device would end the queue pair of a receive that is too short. */
CT_TEST_F(dgram_msg, a_datagram_that_is_too_long_is_an_error_and_nothing_more)
{
	static char large[DGRAM_MTU];
	const struct ibv_wc from = {.src_qp = 0x501};
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err = {0};
	const struct fake_wr *wr;
	struct dgram_opts opts = {0};
	struct fid_ep *rx;
	int turn;

	for (turn = 0; turn < 2; turn++) {
		CT_NOTE("turn %d", turn);
		opts.shared = turn;
		CT_ASSERT_TRUE(dgram_open(t, &opts));
		rx = turn ? t->srx : t->ep;
		CT_EXPECT_EQ(fi_recv(rx, buffer, 100, NULL, FI_ADDR_UNSPEC, NUMBER(1)),
			     0);
		CT_EXPECT_EQ(fi_recv(rx, large, sizeof(large), NULL, FI_ADDR_UNSPEC,
				     NUMBER(2)),
			     0);
		wr = fake_wr(turn ? &((struct fake_srq *)t->qp->ibv.srq)->rq : &t->qp->rq,
			     0);
		CT_EXPECT_EQ(wr->num_sge, 3);
		CT_EXPECT_EQ(wr->sge[2].length, DGRAM_MTU - 100);
		/* One that has room for the longest needs nothing more. */
		CT_EXPECT_EQ((wr + 1)->num_sge, 2);
		fake_receive_datagram(t->qp, 101, &from, NULL);
		fake_receive_datagram(t->qp, DGRAM_MTU, &from, NULL);
		CT_EXPECT_EQ(fi_cq_read(t->cq, &entry, 1), -FI_EAVAIL);
		CT_EXPECT_EQ(fi_cq_readerr(t->cq, &err, 0), 1);
		CT_EXPECT_EQ(err.err, FI_ETRUNC);
		CT_EXPECT_EQ(err.op_context, NUMBER(1));
		CT_EXPECT_EQ(err.len, 100);
		CT_EXPECT_EQ(err.olen, 1);
		CT_EXPECT_EQ(err.err_data_size, 0);
		expect_comp(t->cq, NUMBER(2), FI_RECV | FI_MSG, DGRAM_MTU, 0);
		CT_EXPECT_EQ(t->qp->ibv.state, IBV_QPS_RTS);
	}
}

/* One call that reads several: those that fit, a send's, and what comes behind an error.
 */
CT_TEST_F(dgram_msg, several_are_read_at_once_up_to_one_that_is_too_long)
{
	static const uint32_t lens[] = {100, 0, 1, 101, 99};
	const struct ibv_wc from = {.src_qp = 0x501};
	struct fi_cq_data_entry entries[8];
	struct fi_cq_err_entry err = {0};
	size_t i;

	for (i = 0; i < 5; i++)
		CT_EXPECT_EQ(fi_recv(t->ep, buffer, 100, NULL, FI_ADDR_UNSPEC, NUMBER(i)),
			     0);
	CT_EXPECT_EQ(fi_send(t->ep, buffer, 9, NULL, t->peer, NUMBER(9)), 0);
	fake_complete_all(t->qp);
	for (i = 0; i < 5; i++)
		fake_receive_datagram(t->qp, lens[i], &from, NULL);
	CT_ASSERT_EQ(fi_cq_read(t->cq, entries, 8), 4);
	CT_EXPECT_EQ(entries[0].op_context, NUMBER(9));
	for (i = 0; i < 3; i++) {
		CT_EXPECT_EQ(entries[1 + i].op_context, NUMBER(i));
		CT_EXPECT_EQ(entries[1 + i].flags, FI_RECV | FI_MSG);
		CT_EXPECT_EQ(entries[1 + i].len, lens[i]);
	}
	CT_EXPECT_EQ(fi_cq_read(t->cq, entries, 8), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_cq_readerr(t->cq, &err, 0), 1);
	CT_EXPECT_EQ(err.op_context, NUMBER(3));
	CT_EXPECT_EQ(err.err, FI_ETRUNC);
	expect_comp(t->cq, NUMBER(4), FI_RECV | FI_MSG, 99, 0);
	expect_no_comp(t->cq);
}

CT_TEST_F(dgram_msg, one_that_is_too_long_is_counted_as_an_error)
{
	const struct ibv_wc from = {.src_qp = 0x501};
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry entry;
	struct fid_cntr *received;

	CT_ASSERT_TRUE(dgram_open_domain(t, NULL));
	CT_EXPECT_EQ(fi_cntr_open(t->domain, NULL, &received, NULL), 0);
	CT_ASSERT_TRUE(dgram_new_ep(t));
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &received->fid, FI_RECV), 0);
	CT_EXPECT_EQ(fi_enable(t->ep), 0);
	t->qp = qp_of(t->ep);
	CT_EXPECT_EQ(fi_recv(t->ep, buffer, 9, NULL, FI_ADDR_UNSPEC, NULL), 0);
	fake_receive_datagram(t->qp, 10, &from, NULL);
	CT_EXPECT_EQ(fi_cq_read(t->cq, &entry, 1), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_cq_readerr(t->cq, &err, 0), 1);
	CT_EXPECT_EQ(err.err, FI_ETRUNC);
	CT_EXPECT_EQ(fi_cntr_read(received), 0);
	CT_EXPECT_EQ(fi_cntr_readerr(received), 1);
	dgram_close_ep(t);
	CT_EXPECT_EQ(fi_close(&received->fid), 0);
}

/* Its own send queue stops, and goes on; what was behind it is flushed. */
CT_TEST_F(dgram_msg, a_send_that_fails_does_not_end_the_endpoint)
{
	CT_EXPECT_EQ(fi_send(t->ep, buffer, 9, NULL, t->peer, NUMBER(1)), 0);
	CT_EXPECT_EQ(fi_send(t->ep, buffer, 9, NULL, t->peer, NUMBER(2)), 0);
	fake_send_error(t->qp, IBV_WC_LOC_PROT_ERR);
	expect_cq_error(t->cq, NUMBER(1), FI_SEND | FI_MSG, FI_EFAULT);
	expect_cq_error(t->cq, NUMBER(2), FI_SEND | FI_MSG, FI_ECANCELED);
	CT_EXPECT_EQ(t->qp->ibv.state, IBV_QPS_RTS);
	CT_EXPECT_EQ(fi_send(t->ep, buffer, 9, NULL, t->peer, NUMBER(3)), 0);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(3), FI_SEND | FI_MSG, 0, 0);
	CT_EXPECT_EQ(fi_inject(t->ep, buffer, 9, t->peer), 0);
	fake_send_error(t->qp, IBV_WC_LOC_QP_OP_ERR);
	expect_no_comp(t->cq);
	CT_EXPECT_EQ(t->qp->ibv.state, IBV_QPS_RTS);
}

CT_TEST_F(dgram_msg, counters_count_datagrams)
{
	const struct ibv_wc from = {.src_qp = 0x501};
	struct fi_cq_data_entry entries[4];
	struct fid_cntr *sent, *received;

	CT_ASSERT_TRUE(dgram_open_domain(t, NULL));
	CT_EXPECT_EQ(fi_cntr_open(t->domain, NULL, &sent, NULL), 0);
	CT_EXPECT_EQ(fi_cntr_open(t->domain, NULL, &received, NULL), 0);
	CT_ASSERT_TRUE(dgram_new_ep(t));
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &sent->fid, FI_SEND), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &received->fid, FI_RECV), 0);
	CT_EXPECT_EQ(fi_enable(t->ep), 0);
	t->qp = qp_of(t->ep);
	CT_EXPECT_EQ(fi_send(t->ep, buffer, 9, NULL, t->peer, NUMBER(1)), 0);
	CT_EXPECT_EQ(fi_inject(t->ep, buffer, 9, t->peer), 0);
	CT_EXPECT_EQ(fi_recv(t->ep, buffer, 9, NULL, FI_ADDR_UNSPEC, NUMBER(1)), 0);
	fake_complete_all(t->qp);
	fake_receive_datagram(t->qp, 4, &from, NULL);
	CT_EXPECT_EQ(fi_cq_read(t->cq, entries, 4), 2);
	CT_EXPECT_EQ(fi_cntr_read(sent), 2);
	CT_EXPECT_EQ(fi_cntr_read(received), 1);
	CT_EXPECT_EQ(fi_inject(t->ep, buffer, 9, t->peer), 0);
	fake_send_error(t->qp, IBV_WC_LOC_PROT_ERR);
	CT_EXPECT_EQ(fi_cntr_readerr(sent), 1);
	dgram_close_ep(t);
	CT_EXPECT_EQ(fi_close(&sent->fid), 0);
	CT_EXPECT_EQ(fi_close(&received->fid), 0);
}

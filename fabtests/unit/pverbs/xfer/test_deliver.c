/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_DELIVERY_COMPLETE: a read of the peer's word behind the operation. */
#include <errno.h>
#include "../persist/durable.h"

#define WORD_ADDR 0x1122334455667788u
#define WORD_RKEY 0x99aabbccu

static const struct pvb_cm_offer peers_word = {.word = {WORD_ADDR, WORD_RKEY}};

/* As world_open_connected, with a peer that answers so; NULL: nothing. */
static bool connected(struct world *w, const struct world_opts *opts,
		      const struct pvb_cm_offer *offer)
{
	return world_open(w, opts) && durable_connect_to(w, offer);
}

static ssize_t send_delivered(struct fid_ep *ep, uintptr_t number, uint64_t flags)
{
	const struct fi_msg msg = {.context = NUMBER(number)};

	return fi_sendmsg(ep, &msg, flags | FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

CT_FIXTURE(deliver_options, struct world, world_fresh, world_close);

CT_TEST_F(deliver_options, peers_are_told_of_the_domains_word)
{
	struct pvb_domain *domain;
	struct pvb_cm_data data;

	CT_ASSERT_TRUE(connected(t, NULL, NULL));
	domain = ep_of(t->ep)->domain;
	pvb_cm_parse(&data, fake_connect.data, fake_connect.len);
	CT_EXPECT_EQ(data.flags, PVB_CM_WORD);
	CT_EXPECT_EQ(data.word.addr, (uintptr_t)domain->words);
	CT_EXPECT_EQ(data.word.rkey, domain->words_mr->rkey);
	CT_EXPECT_EQ(*(uint64_t *)domain->words, 0);
	CT_EXPECT_TRUE(((struct fake_mr *)domain->words_mr)->access &
		       IBV_ACCESS_REMOTE_READ);
	CT_EXPECT_FALSE(((struct fake_mr *)domain->words_mr)->access &
			(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC));
}

static void start(struct world *t)
{
	world_reset();
	CT_ASSERT_TRUE(connected(t, NULL, &peers_word));
}

CT_FIXTURE(deliver, struct world, start, world_close);

CT_TEST_F(deliver, an_operation_is_followed_by_a_read_that_completes_it)
{
	const struct fake_wr *wr;

	CT_EXPECT_EQ(send_delivered(t->ep, 1, 0), 0);
	CT_ASSERT_EQ(t->qp->sq.posted, 2);
	CT_EXPECT_EQ(t->qp->sq.calls, 1);
	CT_EXPECT_EQ(fake_wr(&t->qp->sq, 0)->opcode, IBV_WR_SEND);
	CT_EXPECT_FALSE(fake_wr(&t->qp->sq, 0)->flags & IBV_SEND_SIGNALED);
	wr = fake_wr(&t->qp->sq, 1);
	CT_EXPECT_EQ(wr->opcode, IBV_WR_RDMA_READ);
	CT_EXPECT_EQ(wr->remote_addr, WORD_ADDR);
	CT_EXPECT_EQ(wr->rkey, WORD_RKEY);
	CT_ASSERT_EQ(wr->num_sge, 1);
	CT_EXPECT_EQ(wr->sge[0].length, 8);
	CT_EXPECT_EQ(wr->sge[0].lkey, ep_of(t->ep)->domain->words_mr->lkey);
	CT_EXPECT_NE(wr->sge[0].addr, (uintptr_t)ep_of(t->ep)->domain->words);
	fake_complete(t->qp, 1);
	expect_no_comp(t->cq);
	fake_complete(t->qp, 1);
	expect_comp(t->cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(t->cq);
	CT_EXPECT_EQ(crn_ring_used(&ep_of(t->ep)->qp.sq.ring), 0);
}

CT_TEST_F(deliver_options, default_flags_hold_for_calls_without_flags)
{
	const struct world_opts opts = {.tx_op_flags = FI_DELIVERY_COMPLETE};

	CT_ASSERT_TRUE(connected(t, &opts, &peers_word));
	CT_EXPECT_EQ(fi_write(t->ep, NULL, 0, NULL, 0, 64, 5, NUMBER(1)), 0);
	CT_ASSERT_EQ(t->qp->sq.posted, 2);
	CT_EXPECT_EQ(fake_wr(&t->qp->sq, 0)->opcode, IBV_WR_RDMA_WRITE);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(1), FI_RMA | FI_WRITE, 0, 0);
}

CT_TEST_F(deliver_options, what_needs_no_tail_has_none)
{
	struct world_opts opts = {.tx_op_flags = FI_DELIVERY_COMPLETE,
				  .cq_flags = FI_SELECTIVE_COMPLETION};
	struct fi_rma_iov range = {.addr = 64, .key = 5};
	struct fi_msg_rma read = {.rma_iov = &range, .rma_iov_count = 1};

	CT_ASSERT_TRUE(connected(t, &opts, &peers_word));
	CT_EXPECT_EQ(fi_read(t->ep, NULL, 0, NULL, 0, 64, 5, NULL), 0);
	CT_EXPECT_EQ(fi_readmsg(t->ep, &read, FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 2);
	CT_EXPECT_EQ(fi_inject(t->ep, "x", 1, 0), 0);
	CT_EXPECT_EQ(send_quietly(t->ep, 1), 0);
	CT_EXPECT_EQ(fi_send(t->ep, NULL, 0, NULL, 0, NULL), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 5);
}

CT_TEST_F(deliver_options, a_peer_without_a_word_is_refused_and_others_go_on)
{
	CT_ASSERT_TRUE(connected(t, NULL, NULL));
	CT_EXPECT_EQ(send_more(t->ep, 9), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 0);
	CT_EXPECT_EQ(send_delivered(t->ep, 1, 0), -FI_EOPNOTSUPP);
	/* Nothing of it, but what FI_MORE held back. */
	CT_EXPECT_EQ(t->qp->sq.posted, 1);
	CT_EXPECT_EQ(send_number(t->ep, 2), 0);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(9), FI_SEND | FI_MSG, 0, 0);
	expect_comp(t->cq, NUMBER(2), FI_SEND | FI_MSG, 0, 0);
}

CT_TEST_F(deliver_options, not_connected_and_full_are_told_as_for_any_operation)
{
	const struct world_opts opts = {.tx_size = 3};

	CT_ASSERT_TRUE(world_open(t, &opts));
	CT_EXPECT_EQ(send_delivered(t->ep, 1, 0), -FI_ENOTCONN);
	world_close(t);

	world_reset();
	CT_ASSERT_TRUE(connected(t, &opts, &peers_word));
	CT_EXPECT_EQ(send_delivered(t->ep, 1, 0), 0);
	CT_EXPECT_EQ(send_delivered(t->ep, 2, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(send_number(t->ep, 3), 0);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_comp(t->cq, NUMBER(3), FI_SEND | FI_MSG, 0, 0);
	CT_EXPECT_EQ(send_delivered(t->ep, 2, 0), 0);
}

CT_TEST_F(deliver_options, the_smallest_queue_has_room_for_it)
{
	const struct world_opts opts = {.tx_size = 1};

	CT_ASSERT_TRUE(connected(t, &opts, &peers_word));
	CT_EXPECT_EQ(send_delivered(t->ep, 1, 0), 0);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
}

CT_TEST_F(deliver, it_goes_behind_what_was_held_back)
{
	static const enum ibv_wr_opcode wanted[] = {IBV_WR_SEND, IBV_WR_SEND,
						    IBV_WR_RDMA_READ};

	CT_EXPECT_EQ(send_more(t->ep, 1), 0);
	CT_EXPECT_EQ(send_delivered(t->ep, 2, FI_MORE), 0);
	CT_ASSERT_EQ(t->qp->sq.posted, CRN_COUNT(wanted));
	CT_EXPECT_EQ(t->qp->sq.calls, 1);
	for (unsigned int i = 0; i < CRN_COUNT(wanted); i++)
		CT_EXPECT_EQ(fake_wr(&t->qp->sq, i)->opcode, wanted[i]);
	fake_complete_all(t->qp);
	expect_comp(t->cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_comp(t->cq, NUMBER(2), FI_SEND | FI_MSG, 0, 0);
}

CT_TEST_F(deliver_options, injected_data_may_change_at_once)
{
	char text[] = "text";
	struct iovec iov = {text, sizeof(text)};
	const struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1};

	fake_devices[0].max_inline = 0;
	CT_ASSERT_TRUE(connected(t, NULL, &peers_word));
	CT_EXPECT_EQ(fi_sendmsg(t->ep, &msg, FI_INJECT | FI_DELIVERY_COMPLETE), 0);
	memset(text, 0, sizeof(text));
	CT_EXPECT_STREQ((char *)(uintptr_t)fake_wr(&t->qp->sq, 0)->sge[0].addr, "text");
}

CT_TEST_F(deliver, an_operation_that_fails_is_reported_once)
{
	CT_EXPECT_EQ(send_delivered(t->ep, 1, 0), 0);
	CT_EXPECT_EQ(send_delivered(t->ep, 2, 0), 0);
	fake_send_error(t->qp, IBV_WC_RETRY_EXC_ERR);
	expect_cq_error(t->cq, NUMBER(1), FI_SEND | FI_MSG,
			pvb_wc_error(IBV_WC_RETRY_EXC_ERR, true));
	expect_cq_error(t->cq, NUMBER(2), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->cq);
	CT_EXPECT_EQ(crn_ring_used(&ep_of(t->ep)->qp.sq.ring), 0);
}

CT_TEST_F(deliver, a_read_that_fails_is_the_failure_of_its_operation)
{
	CT_EXPECT_EQ(send_delivered(t->ep, 1, 0), 0);
	fake_complete(t->qp, 1);
	fake_send_error(t->qp, IBV_WC_REM_ACCESS_ERR);
	expect_cq_error(t->cq, NUMBER(1), FI_SEND | FI_MSG,
			pvb_wc_error(IBV_WC_REM_ACCESS_ERR, true));
	expect_no_comp(t->cq);
}

CT_TEST_F(deliver, the_device_refuses_the_operation)
{
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CT_EXPECT_EQ(send_delivered(t->ep, 1, 0), -FI_EINVAL);
	CT_EXPECT_EQ(crn_ring_used(&ep_of(t->ep)->qp.sq.ring), 0);
	expect_no_comp(t->cq);
}

CT_TEST_F(deliver_options, the_device_refuses_the_read_behind_it)
{
	const struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION};

	CT_ASSERT_TRUE(connected(t, &opts, &peers_word));
	fake_fail(FAKE_POST_SEND, 2, EINVAL);
	CT_EXPECT_EQ(send_delivered(t->ep, 1, 0), 0);
	expect_cq_reason(t->cq, NUMBER(1), FI_EINVAL, -EINVAL);
	expect_no_comp(t->cq);
	/* The operation itself gives no completion: the next one retires it. */
	CT_EXPECT_EQ(send_quietly(t->ep, 2), 0);
	CT_EXPECT_TRUE(fake_newest(&t->qp->sq)->flags & IBV_SEND_SIGNALED);
	fake_complete_all(t->qp);
	expect_no_comp(t->cq);
	CT_EXPECT_EQ(crn_ring_used(&ep_of(t->ep)->qp.sq.ring), 0);
}

CT_TEST_F(deliver_options, closing_cancels_each_once)
{
	unsigned int errors;

	for (int silent = 0; silent < 2; silent++) {
		CT_NOTE("a device that %s", silent ? "says nothing" : "flushes");
		world_reset();
		fake_devices[0].no_flush = silent;
		pvb_params.close_timeout = 0;
		CT_ASSERT_TRUE(connected(t, NULL, &peers_word));
		CT_EXPECT_EQ(send_delivered(t->ep, 1, 0), 0);
		CT_EXPECT_EQ(send_delivered(t->ep, 2, 0), 0);
		world_close_ep(t);
		expect_cq_error(t->cq, NUMBER(1), FI_SEND | FI_MSG, FI_ECANCELED);
		CT_EXPECT_EQ(read_all_comps(t->cq, &errors), 1);
		CT_EXPECT_EQ(errors, 1);
		world_close(t);
	}
}

CT_TEST_F(deliver_options, closing_after_a_failure_adds_nothing)
{
	fake_devices[0].no_flush = true;
	pvb_params.close_timeout = 0;
	CT_ASSERT_TRUE(connected(t, NULL, &peers_word));
	CT_EXPECT_EQ(send_delivered(t->ep, 1, 0), 0);
	fake_send_error(t->qp, IBV_WC_RETRY_EXC_ERR);
	expect_cq_error(t->cq, NUMBER(1), FI_SEND | FI_MSG,
			pvb_wc_error(IBV_WC_RETRY_EXC_ERR, true));
	world_close_ep(t);
	expect_no_comp(t->cq);
}

/* Connected to a peer with a word; a counter is bound with these flags. */
static bool counted(struct world *w, const struct world_opts *opts, uint64_t flags,
		    struct fid_cntr **cntr)
{
	if (!world_open_domain(w, opts))
		return false;
	CT_EXPECT_EQ(fi_cntr_open(w->domain, NULL, cntr, NULL), 0);
	CT_EXPECT_EQ(fi_endpoint(w->domain, w->info, &w->ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->cq->fid,
				FI_TRANSMIT | FI_RECV | opts->cq_flags),
		     0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &(*cntr)->fid, flags), 0);
	CT_EXPECT_TRUE(durable_connect_to(w, &peers_word));
	w->qp = qp_of(w->ep);
	return !ct_failed();
}

CT_TEST_F(deliver_options, a_counter_moves_when_it_is_delivered)
{
	const struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION,
					.tx_op_flags = FI_DELIVERY_COMPLETE};
	struct fid_cntr *cntr;

	CT_ASSERT_TRUE(counted(t, &opts, FI_WRITE, &cntr));
	CT_EXPECT_EQ(fi_write(t->ep, NULL, 0, NULL, 0, 64, 5, NULL), 0);
	CT_ASSERT_EQ(t->qp->sq.posted, 2);
	fake_complete(t->qp, 1);
	CT_EXPECT_EQ(fi_cntr_read(cntr), 0);
	fake_complete(t->qp, 1);
	CT_EXPECT_EQ(fi_cntr_read(cntr), 1);
	CT_EXPECT_EQ(fi_write(t->ep, NULL, 0, NULL, 0, 64, 5, NULL), 0);
	fake_send_error(t->qp, IBV_WC_RETRY_EXC_ERR);
	CT_EXPECT_EQ(fi_cntr_readerr(cntr), 1);
	world_close_ep(t);
	CT_EXPECT_EQ(fi_cntr_readerr(cntr), 1);
	CT_EXPECT_EQ(fi_close(&cntr->fid), 0);
}

/* fi_cntr(3): an inject has no completion, but a counter waits as one would. */
CT_TEST_F(deliver_options, an_inject_is_counted_when_it_is_delivered)
{
	struct world_opts opts = {.tx_op_flags = FI_DELIVERY_COMPLETE, .inject_size = 8};
	struct fid_cntr *cntr;

	CT_ASSERT_TRUE(counted(t, &opts, FI_SEND | FI_WRITE, &cntr));
	CT_EXPECT_EQ(fi_inject(t->ep, "12345678", 8, 0), 0);
	CT_EXPECT_EQ(fi_inject_write(t->ep, "12345678", 8, 0, 0, 0), 0);
	CT_ASSERT_EQ(t->qp->sq.posted, 4);
	for (unsigned int i = 0; i < 2; i++) {
		CT_EXPECT_EQ(fake_wr(&t->qp->sq, 2 * i + 1)->opcode, IBV_WR_RDMA_READ);
		fake_complete(t->qp, 1);
		CT_EXPECT_EQ(fi_cntr_read(cntr), i);
		fake_complete(t->qp, 1);
		CT_EXPECT_EQ(fi_cntr_read(cntr), i + 1);
	}
	CT_EXPECT_EQ(fi_inject(t->ep, "1", 1, 0), 0);
	fake_send_error(t->qp, IBV_WC_RETRY_EXC_ERR);
	CT_EXPECT_EQ(fi_cntr_readerr(cntr), 1);
	expect_no_comp(t->cq);
	world_close_ep(t);
	CT_EXPECT_EQ(fi_cntr_readerr(cntr), 1);
	CT_EXPECT_EQ(fi_close(&cntr->fid), 0);
}

CT_TEST_F(deliver_options, what_a_silent_device_does_not_return_is_counted_once)
{
	struct world_opts opts = {.tx_op_flags = FI_DELIVERY_COMPLETE, .inject_size = 8};
	struct fid_cntr *cntr;
	unsigned int errors;

	CT_ASSERT_TRUE(counted(t, &opts, FI_SEND | FI_WRITE, &cntr));
	fake_devices[0].no_flush = true;
	pvb_params.close_timeout = 1;
	CT_EXPECT_EQ(send_delivered(t->ep, 1, 0), 0);
	CT_EXPECT_EQ(fi_inject(t->ep, "1", 1, 0), 0);
	world_close_ep(t);
	CT_EXPECT_EQ(fi_cntr_readerr(cntr), 2);
	CT_EXPECT_EQ(read_all_comps(t->cq, &errors), 1);
	CT_EXPECT_EQ(errors, 1);
	CT_EXPECT_EQ(fi_close(&cntr->fid), 0);
}

CT_TEST_F(deliver_options,
	  an_endpoint_that_always_asks_for_it_has_room_for_as_many_operations)
{
	struct world_opts opts = {.tx_op_flags = FI_DELIVERY_COMPLETE};

	CT_ASSERT_TRUE(connected(t, &opts, &peers_word));
	for (uintptr_t i = 0; i < t->tx_size; i++)
		CT_EXPECT_EQ(send_number(t->ep, i), 0);
	CT_EXPECT_EQ(t->qp->sq.posted, 2 * t->tx_size);
	CT_EXPECT_EQ(send_number(t->ep, 99), -FI_EAGAIN);
}

CT_TEST(deliver, sizes_are_halved_where_it_is_the_default)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	world_reset();
	fake_devices[0].attr.max_qp_wr = 101;
	pvb_params.tx_size = 4096;
	CT_ASSERT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, NULL, &info), 0);
	CT_EXPECT_EQ(info->tx_attr->size, 100);
	fi_freeinfo(info);
	hints->caps = FI_MSG;
	hints->domain_attr->mr_mode = FI_MR_LOCAL;
	hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	CT_ASSERT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), 0);
	CT_EXPECT_EQ(info->tx_attr->size, 50);
	fi_freeinfo(info);
	hints->tx_attr->size = 51;
	CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info),
		     -FI_ENODATA);
	hints->tx_attr->op_flags = FI_TRANSMIT_COMPLETE;
	CT_ASSERT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), 0);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_DELIVERY_COMPLETE: a read of the peer's word behind the operation. */
#include <errno.h>
#include "../world.h"

#define WORD_ADDR 0x1122334455667788u
#define WORD_RKEY 0x99aabbccu

static const struct pvb_cm_offer peers_word = {.word = {WORD_ADDR, WORD_RKEY}};

/* As world_open_connected, with a peer that answers so; NULL: nothing. */
static bool connected(struct world *w, const struct world_opts *opts,
		      const struct pvb_cm_offer *offer)
{
	uint8_t answer[PVB_CM_REQ_SIZE];

	pvb_cm_pack(answer, NULL, 0, offer);
	if (!world_open(w, opts))
		return false;
	CT_EXPECT_EQ(fi_connect(w->ep, NULL, NULL, 0), 0);
	w->id = ep_of(w->ep)->conn.id;
	fake_id_device(w->id, &fake_devices[0]);
	fake_event(w->id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	fake_event(w->id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	fake_event(w->id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, answer, sizeof(answer));
	expect_event(w->eq, FI_CONNECTED, &w->ep->fid, NULL, 0);
	return !ct_failed();
}

static ssize_t send_delivered(struct fid_ep *ep, uintptr_t number, uint64_t flags)
{
	const struct fi_msg msg = {.context = NUMBER(number)};

	return fi_sendmsg(ep, &msg, flags | FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

CT_TEST(deliver, peers_are_told_of_the_domains_word)
{
	struct pvb_domain *domain;
	struct pvb_cm_data data;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(connected(&w, NULL, NULL));
	domain = ep_of(w.ep)->domain;
	pvb_cm_parse(&data, fake_connect.data, fake_connect.len);
	CT_EXPECT_EQ(data.flags, PVB_CM_WORD);
	CT_EXPECT_EQ(data.word.addr, (uintptr_t)domain->words);
	CT_EXPECT_EQ(data.word.rkey, domain->words_mr->rkey);
	CT_EXPECT_EQ(*(uint64_t *)domain->words, 0);
	CT_EXPECT_TRUE(((struct fake_mr *)domain->words_mr)->access &
		       IBV_ACCESS_REMOTE_READ);
	CT_EXPECT_FALSE(((struct fake_mr *)domain->words_mr)->access &
			(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC));
	world_close(&w);
}

CT_TEST(deliver, an_operation_is_followed_by_a_read_that_completes_it)
{
	const struct fake_wr *wr;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(connected(&w, NULL, &peers_word));
	CT_EXPECT_EQ(send_delivered(w.ep, 1, 0), 0);
	CT_ASSERT_EQ(w.qp->sq.posted, 2);
	CT_EXPECT_EQ(w.qp->sq.calls, 1);
	CT_EXPECT_EQ(fake_wr(&w.qp->sq, 0)->opcode, IBV_WR_SEND);
	CT_EXPECT_FALSE(fake_wr(&w.qp->sq, 0)->flags & IBV_SEND_SIGNALED);
	wr = fake_wr(&w.qp->sq, 1);
	CT_EXPECT_EQ(wr->opcode, IBV_WR_RDMA_READ);
	CT_EXPECT_EQ(wr->remote_addr, WORD_ADDR);
	CT_EXPECT_EQ(wr->rkey, WORD_RKEY);
	CT_ASSERT_EQ(wr->num_sge, 1);
	CT_EXPECT_EQ(wr->sge[0].length, 8);
	CT_EXPECT_EQ(wr->sge[0].lkey, ep_of(w.ep)->domain->words_mr->lkey);
	CT_EXPECT_NE(wr->sge[0].addr, (uintptr_t)ep_of(w.ep)->domain->words);
	fake_complete(w.qp, 1);
	expect_no_comp(w.cq);
	fake_complete(w.qp, 1);
	expect_comp(w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_no_comp(w.cq);
	CT_EXPECT_EQ(crn_ring_used(&ep_of(w.ep)->qp.sq.ring), 0);
	world_close(&w);
}

CT_TEST(deliver, default_flags_hold_for_calls_without_flags)
{
	const struct world_opts opts = {.tx_op_flags = FI_DELIVERY_COMPLETE};
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(connected(&w, &opts, &peers_word));
	CT_EXPECT_EQ(fi_write(w.ep, NULL, 0, NULL, 0, 64, 5, NUMBER(1)), 0);
	CT_ASSERT_EQ(w.qp->sq.posted, 2);
	CT_EXPECT_EQ(fake_wr(&w.qp->sq, 0)->opcode, IBV_WR_RDMA_WRITE);
	fake_complete_all(w.qp);
	expect_comp(w.cq, NUMBER(1), FI_RMA | FI_WRITE, 0, 0);
	world_close(&w);
}

CT_TEST(deliver, what_needs_no_tail_has_none)
{
	struct world_opts opts = {.tx_op_flags = FI_DELIVERY_COMPLETE,
				  .cq_flags = FI_SELECTIVE_COMPLETION};
	struct fi_rma_iov range = {.addr = 64, .key = 5};
	struct fi_msg_rma read = {.rma_iov = &range, .rma_iov_count = 1};
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(connected(&w, &opts, &peers_word));
	CT_EXPECT_EQ(fi_read(w.ep, NULL, 0, NULL, 0, 64, 5, NULL), 0);
	CT_EXPECT_EQ(fi_readmsg(w.ep, &read, FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
	CT_EXPECT_EQ(w.qp->sq.posted, 2);
	CT_EXPECT_EQ(fi_inject(w.ep, "x", 1, 0), 0);
	CT_EXPECT_EQ(send_quietly(w.ep, 1), 0);
	CT_EXPECT_EQ(fi_send(w.ep, NULL, 0, NULL, 0, NULL), 0);
	CT_EXPECT_EQ(w.qp->sq.posted, 5);
	world_close(&w);
}

CT_TEST(deliver, a_peer_without_a_word_is_refused_and_others_go_on)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(connected(&w, NULL, NULL));
	CT_EXPECT_EQ(send_more(w.ep, 9), 0);
	CT_EXPECT_EQ(w.qp->sq.posted, 0);
	CT_EXPECT_EQ(send_delivered(w.ep, 1, 0), -FI_EOPNOTSUPP);
	/* Nothing of it, but what FI_MORE held back. */
	CT_EXPECT_EQ(w.qp->sq.posted, 1);
	CT_EXPECT_EQ(send_number(w.ep, 2), 0);
	fake_complete_all(w.qp);
	expect_comp(w.cq, NUMBER(9), FI_SEND | FI_MSG, 0, 0);
	expect_comp(w.cq, NUMBER(2), FI_SEND | FI_MSG, 0, 0);
	world_close(&w);
}

CT_TEST(deliver, not_connected_and_full_are_told_as_for_any_operation)
{
	const struct world_opts opts = {.tx_size = 3};
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open(&w, &opts));
	CT_EXPECT_EQ(send_delivered(w.ep, 1, 0), -FI_ENOTCONN);
	world_close(&w);

	world_reset();
	CT_ASSERT_TRUE(connected(&w, &opts, &peers_word));
	CT_EXPECT_EQ(send_delivered(w.ep, 1, 0), 0);
	CT_EXPECT_EQ(send_delivered(w.ep, 2, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(send_number(w.ep, 3), 0);
	fake_complete_all(w.qp);
	expect_comp(w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_comp(w.cq, NUMBER(3), FI_SEND | FI_MSG, 0, 0);
	CT_EXPECT_EQ(send_delivered(w.ep, 2, 0), 0);
	world_close(&w);
}

CT_TEST(deliver, the_smallest_queue_has_room_for_it)
{
	const struct world_opts opts = {.tx_size = 1};
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(connected(&w, &opts, &peers_word));
	CT_EXPECT_EQ(send_delivered(w.ep, 1, 0), 0);
	fake_complete_all(w.qp);
	expect_comp(w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	world_close(&w);
}

CT_TEST(deliver, it_goes_behind_what_was_held_back)
{
	static const enum ibv_wr_opcode wanted[] = {IBV_WR_SEND, IBV_WR_SEND,
						    IBV_WR_RDMA_READ};
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(connected(&w, NULL, &peers_word));
	CT_EXPECT_EQ(send_more(w.ep, 1), 0);
	CT_EXPECT_EQ(send_delivered(w.ep, 2, FI_MORE), 0);
	CT_ASSERT_EQ(w.qp->sq.posted, CRN_COUNT(wanted));
	CT_EXPECT_EQ(w.qp->sq.calls, 1);
	for (unsigned int i = 0; i < CRN_COUNT(wanted); i++)
		CT_EXPECT_EQ(fake_wr(&w.qp->sq, i)->opcode, wanted[i]);
	fake_complete_all(w.qp);
	expect_comp(w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_comp(w.cq, NUMBER(2), FI_SEND | FI_MSG, 0, 0);
	world_close(&w);
}

CT_TEST(deliver, injected_data_may_change_at_once)
{
	char text[] = "text";
	struct iovec iov = {text, sizeof(text)};
	const struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1};
	struct world w;

	world_reset();
	fake_devices[0].max_inline = 0;
	CT_ASSERT_TRUE(connected(&w, NULL, &peers_word));
	CT_EXPECT_EQ(fi_sendmsg(w.ep, &msg, FI_INJECT | FI_DELIVERY_COMPLETE), 0);
	memset(text, 0, sizeof(text));
	CT_EXPECT_STREQ((char *)(uintptr_t)fake_wr(&w.qp->sq, 0)->sge[0].addr, "text");
	world_close(&w);
}

CT_TEST(deliver, an_operation_that_fails_is_reported_once)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(connected(&w, NULL, &peers_word));
	CT_EXPECT_EQ(send_delivered(w.ep, 1, 0), 0);
	CT_EXPECT_EQ(send_delivered(w.ep, 2, 0), 0);
	fake_send_error(w.qp, IBV_WC_RETRY_EXC_ERR);
	expect_cq_error(w.cq, NUMBER(1), FI_SEND | FI_MSG,
			pvb_wc_error(IBV_WC_RETRY_EXC_ERR, true));
	expect_cq_error(w.cq, NUMBER(2), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_no_comp(w.cq);
	CT_EXPECT_EQ(crn_ring_used(&ep_of(w.ep)->qp.sq.ring), 0);
	world_close(&w);
}

CT_TEST(deliver, a_read_that_fails_is_the_failure_of_its_operation)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(connected(&w, NULL, &peers_word));
	CT_EXPECT_EQ(send_delivered(w.ep, 1, 0), 0);
	fake_complete(w.qp, 1);
	fake_send_error(w.qp, IBV_WC_REM_ACCESS_ERR);
	expect_cq_error(w.cq, NUMBER(1), FI_SEND | FI_MSG,
			pvb_wc_error(IBV_WC_REM_ACCESS_ERR, true));
	expect_no_comp(w.cq);
	world_close(&w);
}

CT_TEST(deliver, the_device_refuses_the_operation)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(connected(&w, NULL, &peers_word));
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CT_EXPECT_EQ(send_delivered(w.ep, 1, 0), -FI_EINVAL);
	CT_EXPECT_EQ(crn_ring_used(&ep_of(w.ep)->qp.sq.ring), 0);
	expect_no_comp(w.cq);
	world_close(&w);
}

CT_TEST(deliver, the_device_refuses_the_read_behind_it)
{
	const struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION};
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(connected(&w, &opts, &peers_word));
	fake_fail(FAKE_POST_SEND, 2, EINVAL);
	CT_EXPECT_EQ(send_delivered(w.ep, 1, 0), 0);
	expect_cq_reason(w.cq, NUMBER(1), FI_EINVAL, -EINVAL);
	expect_no_comp(w.cq);
	/* The operation itself gives no completion: the next one retires it. */
	CT_EXPECT_EQ(send_quietly(w.ep, 2), 0);
	CT_EXPECT_TRUE(fake_newest(&w.qp->sq)->flags & IBV_SEND_SIGNALED);
	fake_complete_all(w.qp);
	expect_no_comp(w.cq);
	CT_EXPECT_EQ(crn_ring_used(&ep_of(w.ep)->qp.sq.ring), 0);
	world_close(&w);
}

CT_TEST(deliver, closing_cancels_each_once)
{
	unsigned int errors;
	struct world w;

	for (int silent = 0; silent < 2; silent++) {
		CT_NOTE("a device that %s", silent ? "says nothing" : "flushes");
		world_reset();
		fake_devices[0].no_flush = silent;
		pvb_params.close_timeout = 0;
		CT_ASSERT_TRUE(connected(&w, NULL, &peers_word));
		CT_EXPECT_EQ(send_delivered(w.ep, 1, 0), 0);
		CT_EXPECT_EQ(send_delivered(w.ep, 2, 0), 0);
		world_close_ep(&w);
		expect_cq_error(w.cq, NUMBER(1), FI_SEND | FI_MSG, FI_ECANCELED);
		CT_EXPECT_EQ(read_all_comps(w.cq, &errors), 1);
		CT_EXPECT_EQ(errors, 1);
		world_close(&w);
	}
}

CT_TEST(deliver, closing_after_a_failure_adds_nothing)
{
	struct world w;

	world_reset();
	fake_devices[0].no_flush = true;
	pvb_params.close_timeout = 0;
	CT_ASSERT_TRUE(connected(&w, NULL, &peers_word));
	CT_EXPECT_EQ(send_delivered(w.ep, 1, 0), 0);
	fake_send_error(w.qp, IBV_WC_RETRY_EXC_ERR);
	expect_cq_error(w.cq, NUMBER(1), FI_SEND | FI_MSG,
			pvb_wc_error(IBV_WC_RETRY_EXC_ERR, true));
	world_close_ep(&w);
	expect_no_comp(w.cq);
	world_close(&w);
}

CT_TEST(deliver, a_counter_moves_when_it_is_delivered)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP,
				    .wait_obj = FI_WAIT_NONE};
	const struct world_opts opts = {.cq_flags = FI_SELECTIVE_COMPLETION,
					.tx_op_flags = FI_DELIVERY_COMPLETE};
	uint8_t answer[PVB_CM_REQ_SIZE];
	struct fid_cntr *cntr;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, &opts));
	CT_ASSERT_EQ(fi_cntr_open(w.domain, &attr, &cntr, NULL), 0);
	CT_ASSERT_EQ(fi_endpoint(w.domain, w.info, &w.ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(w.ep, &w.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(w.ep, &w.cq->fid,
				FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION),
		     0);
	CT_EXPECT_EQ(fi_ep_bind(w.ep, &cntr->fid, FI_WRITE), 0);
	CT_EXPECT_EQ(fi_enable(w.ep), 0);
	w.qp = qp_of(w.ep);
	pvb_cm_pack(answer, NULL, 0, &peers_word);
	CT_EXPECT_EQ(fi_connect(w.ep, NULL, NULL, 0), 0);
	w.id = ep_of(w.ep)->conn.id;
	fake_id_device(w.id, &fake_devices[0]);
	fake_event(w.id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	fake_event(w.id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	fake_event(w.id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, answer, sizeof(answer));
	expect_event(w.eq, FI_CONNECTED, &w.ep->fid, NULL, 0);
	CT_EXPECT_EQ(fi_write(w.ep, NULL, 0, NULL, 0, 64, 5, NULL), 0);
	CT_ASSERT_EQ(w.qp->sq.posted, 2);
	fake_complete(w.qp, 1);
	CT_EXPECT_EQ(fi_cntr_read(cntr), 0);
	fake_complete(w.qp, 1);
	CT_EXPECT_EQ(fi_cntr_read(cntr), 1);
	CT_EXPECT_EQ(fi_write(w.ep, NULL, 0, NULL, 0, 64, 5, NULL), 0);
	fake_send_error(w.qp, IBV_WC_RETRY_EXC_ERR);
	CT_EXPECT_EQ(fi_cntr_readerr(cntr), 1);
	world_close_ep(&w);
	CT_EXPECT_EQ(fi_cntr_readerr(cntr), 1);
	CT_EXPECT_EQ(fi_close(&cntr->fid), 0);
	world_close(&w);
}

/* A connected endpoint whose sends and writes are counted. */
static bool counted(struct world *w, const struct world_opts *opts,
		    struct fid_cntr **cntr)
{
	uint8_t answer[PVB_CM_REQ_SIZE];
	struct rdma_cm_id *id;

	world_reset();
	pvb_cm_pack(answer, NULL, 0, &peers_word);
	if (!world_open_domain(w, opts))
		return false;
	CT_EXPECT_EQ(fi_cntr_open(w->domain, NULL, cntr, NULL), 0);
	CT_EXPECT_EQ(fi_endpoint(w->domain, w->info, &w->ep, NULL), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &w->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_ep_bind(w->ep, &(*cntr)->fid, FI_SEND | FI_WRITE), 0);
	CT_EXPECT_EQ(fi_connect(w->ep, NULL, NULL, 0), 0);
	if (ct_failed())
		return false;
	w->qp = qp_of(w->ep);
	id = ep_of(w->ep)->conn.id;
	fake_id_device(id, &fake_devices[0]);
	fake_event(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	fake_event(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	fake_event(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, answer, sizeof(answer));
	expect_event(w->eq, FI_CONNECTED, &w->ep->fid, NULL, 0);
	return !ct_failed();
}

/* fi_cntr(3): an inject has no completion, but a counter waits as one would. */
CT_TEST(deliver, an_inject_is_counted_when_it_is_delivered)
{
	struct world_opts opts = {.tx_op_flags = FI_DELIVERY_COMPLETE, .inject_size = 8};
	struct fid_cntr *cntr;
	struct world w;

	CT_ASSERT_TRUE(counted(&w, &opts, &cntr));
	CT_EXPECT_EQ(fi_inject(w.ep, "12345678", 8, 0), 0);
	CT_EXPECT_EQ(fi_inject_write(w.ep, "12345678", 8, 0, 0, 0), 0);
	CT_ASSERT_EQ(w.qp->sq.posted, 4);
	for (unsigned int i = 0; i < 2; i++) {
		CT_EXPECT_EQ(fake_wr(&w.qp->sq, 2 * i + 1)->opcode, IBV_WR_RDMA_READ);
		fake_complete(w.qp, 1);
		CT_EXPECT_EQ(fi_cntr_read(cntr), i);
		fake_complete(w.qp, 1);
		CT_EXPECT_EQ(fi_cntr_read(cntr), i + 1);
	}
	CT_EXPECT_EQ(fi_inject(w.ep, "1", 1, 0), 0);
	fake_send_error(w.qp, IBV_WC_RETRY_EXC_ERR);
	CT_EXPECT_EQ(fi_cntr_readerr(cntr), 1);
	expect_no_comp(w.cq);
	world_close_ep(&w);
	CT_EXPECT_EQ(fi_cntr_readerr(cntr), 1);
	CT_EXPECT_EQ(fi_close(&cntr->fid), 0);
	world_close(&w);
}

CT_TEST(deliver, what_a_silent_device_does_not_return_is_counted_once)
{
	struct world_opts opts = {.tx_op_flags = FI_DELIVERY_COMPLETE, .inject_size = 8};
	struct fid_cntr *cntr;
	unsigned int errors;
	struct world w;

	CT_ASSERT_TRUE(counted(&w, &opts, &cntr));
	fake_devices[0].no_flush = true;
	pvb_params.close_timeout = 1;
	CT_EXPECT_EQ(send_delivered(w.ep, 1, 0), 0);
	CT_EXPECT_EQ(fi_inject(w.ep, "1", 1, 0), 0);
	world_close_ep(&w);
	CT_EXPECT_EQ(fi_cntr_readerr(cntr), 2);
	CT_EXPECT_EQ(read_all_comps(w.cq, &errors), 1);
	CT_EXPECT_EQ(errors, 1);
	CT_EXPECT_EQ(fi_close(&cntr->fid), 0);
	world_close(&w);
}

CT_TEST(deliver, an_endpoint_that_always_asks_for_it_has_room_for_as_many_operations)
{
	struct world_opts opts = {.tx_op_flags = FI_DELIVERY_COMPLETE};
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(connected(&w, &opts, &peers_word));
	for (uintptr_t i = 0; i < w.tx_size; i++)
		CT_EXPECT_EQ(send_number(w.ep, i), 0);
	CT_EXPECT_EQ(w.qp->sq.posted, 2 * w.tx_size);
	CT_EXPECT_EQ(send_number(w.ep, 99), -FI_EAGAIN);
	world_close(&w);
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

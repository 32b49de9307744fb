/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include "../durable.h"

#define WRITE (FI_RMA | FI_WRITE)

CT_TEST(control_qp, peers_are_told_of_control_queue_pair_area_and_seq_word)
{
	struct pvb_cm_data data;
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	pvb_cm_parse(&data, fake_connect.data, fake_connect.len);
	CT_EXPECT_EQ(data.flags, PVB_CM_WORD | PVB_CM_CONTROL | PVB_CM_SEQ_WORD);
	CT_EXPECT_EQ(data.control.qp_num, d.control->ibv.qp_num);
	CT_EXPECT_EQ(data.control.psn, d.control_qp->psn);
	CT_EXPECT_EQ(data.word.addr, (uintptr_t)d.control_qp->area);
	CT_EXPECT_TRUE(((struct fake_mr *)d.control_qp->area_mr)->access &
		       IBV_ACCESS_REMOTE_ATOMIC);
	durable_close(&d);
}

CT_TEST(control_qp, it_leads_to_the_peers_control_queue_pair)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	CT_EXPECT_TRUE(d.control_qp->up);
	CT_EXPECT_EQ(d.control->ibv.state, IBV_QPS_RTS);
	CT_EXPECT_EQ(d.control->attr[IBV_QPS_RTR].dest_qp_num, 0x123);
	CT_EXPECT_EQ(d.control->attr[IBV_QPS_RTR].rq_psn, 0x456);
	CT_EXPECT_EQ(d.control->attr[IBV_QPS_RTS].sq_psn, d.control_qp->psn);
	/* Nobody reaches memory through it. */
	CT_EXPECT_EQ(d.control->attr[IBV_QPS_INIT].qp_access_flags, 0);
	CT_EXPECT_EQ(fake_outstanding(&d.control->rq), PVB_CONTROL_MESSAGES);
	durable_close(&d);
}

CT_TEST(control_qp, a_peer_without_one_leaves_it_unused)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open_without(&d, NULL));
	CT_EXPECT_FALSE(d.control_qp->up);
	CT_EXPECT_EQ(d.control->ibv.state, IBV_QPS_INIT);
	CT_EXPECT_EQ(send_number(d.w.ep, 1), 0);
	fake_complete_all(d.w.qp);
	expect_comp(d.w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	durable_close(&d);
}

CT_TEST(control_qp, without_atomics_there_is_no_seq_word_and_requests_follow_a_read)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	ep_of(d.w.ep)->domain->seq_atomics = false;
	CT_EXPECT_EQ(durable_write(&d, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(fake_newest(&d.w.qp->sq)->opcode, IBV_WR_RDMA_READ);
	expect_no_comp(d.w.cq);
	CT_EXPECT_EQ(d.control->sq.posted, 0);
	durable_complete(&d);
	expect_no_comp(d.w.cq);
	CT_EXPECT_EQ(d.control->sq.posted, 1);
	CT_EXPECT_EQ(durable_sent(&d, 0).number, 1);
	CT_EXPECT_EQ(durable_sent(&d, 0).seq_word, 0);
	fake_complete_all(d.control);
	durable_answer(&d, 0);
	expect_no_comp(d.w.cq);
	expect_comp(d.w.cq, NUMBER(1), WRITE, 0, 0);
	durable_close(&d);
}

/* What is fenced waits for it, as the request itself waits for a read. */
CT_TEST(control_qp, without_a_seq_word_earlier_writes_are_upgraded_and_waited_for)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	ep_of(d.w.ep)->domain->seq_atomics = false;
	CT_EXPECT_EQ(plain_write(&d, 1, 0, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(durable_write(&d, 2, 64, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(d.w.qp->sq.posted, 2);
	CT_EXPECT_EQ(fake_newest(&d.w.qp->sq)->opcode, IBV_WR_RDMA_READ);
	CT_EXPECT_EQ(d.control->sq.posted, 0);
	/* Once. */
	CT_EXPECT_EQ(durable_write(&d, 2, 64, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(d.w.qp->sq.posted, 2);
	durable_complete(&d);
	expect_comp(d.w.cq, NUMBER(1), WRITE, 0, 0);
	expect_no_comp(d.w.cq);
	CT_EXPECT_EQ(d.control->sq.posted, 1);
	CT_EXPECT_EQ(durable_sent(&d, 0).range[0].addr, DURABLE_ADDR);
	CT_EXPECT_EQ(durable_write(&d, 2, 64, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	fake_complete_all(d.control);
	durable_answer(&d, 0);
	expect_no_comp(d.w.cq);
	expect_no_comp(d.w.cq);
	CT_EXPECT_EQ(durable_write(&d, 2, 64, 8, KEY_REQUESTS, FI_FENCE), 0);
	durable_complete(&d);
	expect_no_comp(d.w.cq);
	CT_EXPECT_EQ(durable_sent(&d, 1).number, 2);
	fake_complete_all(d.control);
	durable_answer(&d, 0);
	expect_no_comp(d.w.cq);
	expect_comp(d.w.cq, NUMBER(2), WRITE, 0, 0);
	durable_close(&d);
}

CT_TEST(control_qp, an_upgrade_that_never_follows_leaves_nothing)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	ep_of(d.w.ep)->domain->seq_atomics = false;
	CT_EXPECT_EQ(plain_write(&d, 1, 0, 8, KEY_REQUESTS, 0), 0);
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(durable_write(&d, 2, 64, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(d.w.qp->sq.posted, 1);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(durable_write(&d, 2, 64, 8, KEY_REQUESTS, FI_FENCE), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(d.control_qp->requests[PVB_REQUEST_CONTROL].posted, 0);
	/* One outstanding while the endpoint is closed. */
	CT_EXPECT_EQ(durable_write(&d, 2, 64, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(d.w.qp->sq.posted, 2);
	durable_close(&d);
}

CT_TEST(control_qp, a_request_that_never_follows_leaves_nothing)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	ep_of(d.w.ep)->domain->seq_atomics = false;
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(durable_write(&d, 1, 0, 8, KEY_REQUESTS, 0), -FI_EAGAIN);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(durable_write(&d, 1, 0, 8, KEY_REQUESTS, 0), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	/* One outstanding while the endpoint is closed. */
	CT_EXPECT_EQ(durable_write(&d, 1, 0, 8, KEY_REQUESTS, 0), 0);
	durable_close(&d);
}

CT_TEST(control_qp, messages_that_find_no_place_are_not_sent)
{
	const struct pvb_wire_message answer = {.kind = PVB_WIRE_ANSWER};
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	for (unsigned int i = 0; i < PVB_CONTROL_MESSAGES; i++)
		CT_EXPECT_TRUE(pvb_control_qp_send(d.control_qp, &answer));
	CT_EXPECT_FALSE(pvb_control_qp_send(d.control_qp, &answer));
	CT_EXPECT_FALSE(d.control_qp->lost);
	fake_complete_all(d.control);
	expect_no_comp(d.w.cq);
	CT_EXPECT_TRUE(pvb_control_qp_send(d.control_qp, &answer));
	durable_close(&d);
}

/* Also when there is a place again that nobody has used for them yet. */
CT_TEST(control_qp, answers_that_are_owed_come_first)
{
	const struct pvb_wire_message other = {.kind = PVB_WIRE_ANSWER};
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	for (unsigned int i = 0; i < PVB_CONTROL_MESSAGES; i++)
		CT_EXPECT_TRUE(pvb_control_qp_send(d.control_qp, &other));
	CT_EXPECT_TRUE(pvb_control_qp_answer(d.control_qp, 1, 0));
	atomic_fetch_add(&d.control_qp->sent, 1);
	CT_EXPECT_TRUE(pvb_control_qp_answer(d.control_qp, 2, 0));
	CT_EXPECT_EQ(d.control->sq.posted, PVB_CONTROL_MESSAGES);
	atomic_fetch_sub(&d.control_qp->sent, 1);
	fake_complete_all(d.control);
	expect_no_comp(d.w.cq);
	CT_EXPECT_EQ(d.control->sq.posted, PVB_CONTROL_MESSAGES + 2);
	CT_EXPECT_EQ(durable_sent(&d, PVB_CONTROL_MESSAGES).number, 1);
	CT_EXPECT_EQ(durable_sent(&d, PVB_CONTROL_MESSAGES + 1).number, 2);
	durable_close(&d);
}

CT_TEST(control_qp, a_place_that_is_kept_is_nobody_elses)
{
	const struct pvb_wire_message answer = {.kind = PVB_WIRE_ANSWER};
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	CT_EXPECT_TRUE(pvb_control_qp_keep(d.control_qp));
	for (unsigned int i = 1; i < PVB_CONTROL_MESSAGES; i++)
		CT_EXPECT_TRUE(pvb_control_qp_send(d.control_qp, &answer));
	CT_EXPECT_FALSE(pvb_control_qp_keep(d.control_qp));
	CT_EXPECT_FALSE(pvb_control_qp_send(d.control_qp, &answer));
	CT_EXPECT_TRUE(pvb_control_qp_send_kept(d.control_qp, &answer));
	CT_EXPECT_EQ(d.control->sq.posted, PVB_CONTROL_MESSAGES);
	CT_EXPECT_FALSE(pvb_control_qp_keep(d.control_qp));
	fake_complete_all(d.control);
	expect_no_comp(d.w.cq);
	CT_EXPECT_TRUE(pvb_control_qp_keep(d.control_qp));
	/* One whose message the device refuses is free again, and the control queue pair
	 * is lost. */
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CT_EXPECT_FALSE(pvb_control_qp_send_kept(d.control_qp, &answer));
	CT_EXPECT_EQ(d.control_qp->kept, 0);
	CT_EXPECT_TRUE(d.control_qp->lost);
	durable_close(&d);
}

CT_TEST(control_qp, memory_to_send_from_is_made_with_the_first_message)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	CT_EXPECT_EQ(d.control_qp->sends_mr, NULL);
	CT_EXPECT_EQ(durable_write(&d, 1, 0, 8, KEY_READS, 0), 0);
	CT_EXPECT_EQ(d.control_qp->sends_mr, NULL);
	CT_EXPECT_EQ(durable_write(&d, 2, 8, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_NE(d.control_qp->sends_mr, NULL);
	durable_close(&d);
}

CT_TEST(control_qp, a_request_without_memory_to_send_from_never_begins)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	fake_fail(FAKE_REG_MR, 1, ENOMEM);
	CT_EXPECT_EQ(durable_write(&d, 1, 0, 8, KEY_REQUESTS, 0), -FI_ENOMEM);
	CT_EXPECT_EQ(d.w.qp->sq.posted, 0);
	CT_EXPECT_FALSE(d.control_qp->lost);
	CT_EXPECT_EQ(durable_write(&d, 2, 0, 8, KEY_REQUESTS, 0), 0);
	durable_complete(&d);
	durable_answer(&d, 0);
	expect_no_comp(d.w.cq);
	expect_comp(d.w.cq, NUMBER(2), WRITE, 0, 0);
	durable_close(&d);
}

CT_TEST(control_qp, one_that_has_no_memory_to_answer_from_is_lost)
{
	const struct pvb_wire_message answer = {.kind = PVB_WIRE_ANSWER};
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	fake_fail(FAKE_REG_MR, 1, ENOMEM);
	CT_EXPECT_FALSE(pvb_control_qp_send(d.control_qp, &answer));
	CT_EXPECT_TRUE(d.control_qp->lost);
	durable_close(&d);
}

CT_TEST(control_qp, a_device_that_returns_nothing_is_not_waited_for_for_ever)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	world_polls_take_time();
	fake_devices[0].no_flush = true;
	CT_EXPECT_EQ(durable_write(&d, 1, 0, 8, KEY_REQUESTS, 0), 0);
	world_close_ep(&d.w);
	expect_cq_error(d.w.cq, NUMBER(1), WRITE, FI_ECANCELED);
	expect_no_comp(d.w.cq);
	durable_close(&d);
}

CT_TEST(control_qp, one_that_cannot_be_connected_does_not_keep_the_connection_from_it)
{
	const struct pvb_cm_offer offer = {.word = {DURABLE_WORD, 0x5000},
					   .control = {0x123, 0x456, true}};
	uint8_t answer[PVB_CM_REQ_SIZE];
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	world_close_ep(&d.w);
	CT_ASSERT_TRUE(world_add_ep(&d.w, NULL, &d.w.ep));
	d.qp = &ep_of(d.w.ep)->qp;
	pvb_cm_pack(answer, NULL, 0, &offer);
	CT_EXPECT_EQ(fi_connect(d.w.ep, NULL, NULL, 0), 0);
	fake_id_device(ep_of(d.w.ep)->conn.id, &fake_devices[0]);
	fake_event(ep_of(d.w.ep)->conn.id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	fake_event(ep_of(d.w.ep)->conn.id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	fake_event(ep_of(d.w.ep)->conn.id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, answer,
		   sizeof(answer));
	/* Three transitions of the queue pair, then those of the control queue pair. */
	fake_fail(FAKE_MODIFY_QP, 5, EINVAL);
	expect_event(d.w.eq, FI_CONNECTED, &d.w.ep->fid, NULL, 0);
	CT_EXPECT_FALSE(d.qp->control_qp->up);
	CT_EXPECT_EQ(durable_write(&d, 1, 0, 8, KEY_REQUESTS, 0), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(durable_write(&d, 1, 0, 8, KEY_READS, 0), 0);
	durable_close(&d);
}

/* Of the endpoints that enable makes; NULL: receives are their own. */
static struct fid_ep *shared;

static int enable(struct world *w, struct fid **fid)
{
	struct fid_ep *ep;
	int ret;

	ret = fi_endpoint(w->domain, w->info, &ep, NULL);
	if (ret)
		return ret;
	ret = fi_ep_bind(ep, &w->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(ep, &w->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret && shared)
		ret = fi_ep_bind(ep, &shared->fid, 0);
	if (!ret)
		ret = fi_enable(ep);
	*fid = &ep->fid;
	if (ret)
		CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	return ret;
}

static void expect_nothing_left(bool shares)
{
	struct fid *fid = NULL;
	unsigned int nth;
	struct durable d;
	int objects, ret;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	shared = NULL;
	if (shares)
		CT_EXPECT_EQ(fi_srx_context(d.w.domain, NULL, &shared, NULL), 0);
	/* A queue grows, and stays. */
	CT_EXPECT_EQ(enable(&d.w, &fid), 0);
	CT_EXPECT_EQ(fi_close(fid), 0);
	objects = fake_objects;
	for (nth = 1; nth < 100; nth++) {
		CT_NOTE("allocation %u", nth);
		ct_fail_alloc(nth);
		ret = enable(&d.w, &fid);
		/* A queue pair is asked for once more, with fewer wishes. */
		if (!ret)
			CT_EXPECT_EQ(fi_close(fid), 0);
		else
			CT_EXPECT_EQ(ret, -FI_ENOMEM);
		CT_EXPECT_EQ(fake_objects, objects);
		if (!ct_alloc_failed())
			break;
	}
	CT_EXPECT_EQ(ret, 0);
	CT_EXPECT_GE(nth, 10);
	if (shared)
		CT_EXPECT_EQ(fi_close(&shared->fid), 0);
	shared = NULL;
	durable_close(&d);
}

CT_TEST(control_qp, nothing_is_left_of_an_endpoint_without_memory_for_it)
{
	expect_nothing_left(false);
}

CT_TEST(control_qp, nor_of_one_with_shared_receives)
{
	expect_nothing_left(true);
}

CT_TEST(control_qp, what_the_device_refuses_for_it_is_the_error_of_fi_enable)
{
	static const struct {
		enum fake_call call;
		unsigned int nth;
	} rows[] = {{FAKE_REG_MR, 1},	 {FAKE_REG_MR, 2},    {FAKE_CREATE_QP, 2},
		    {FAKE_MODIFY_QP, 2}, {FAKE_POST_RECV, 1}, {FAKE_POST_RECV, 48}};
	struct fid *fid;
	struct durable d;
	int objects;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	/* A queue grows, and stays. */
	CT_EXPECT_EQ(enable(&d.w, &fid), 0);
	CT_EXPECT_EQ(fi_close(fid), 0);
	objects = fake_objects;
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		fake_fail(rows[i].call, rows[i].nth, EPERM);
		CT_EXPECT_EQ(enable(&d.w, &fid), -FI_EPERM);
		CT_EXPECT_EQ(fake_objects, objects);
	}
	durable_close(&d);
}

static int open_domain(struct world *w, struct fid **fid)
{
	struct fid_domain *domain = NULL;
	int ret = fi_domain(w->fabric, w->info, &domain, NULL);

	*fid = domain ? &domain->fid : NULL;
	return ret;
}

CT_TEST(control_qp, a_domain_without_memory_or_descriptors_for_it_is_not_opened)
{
	struct durable d;

	CT_ASSERT_TRUE(durable_open(&d, NULL));
	expect_survives_enomem(&d.w, open_domain);
	durable_close(&d);
}

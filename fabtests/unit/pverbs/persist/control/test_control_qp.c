/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include "../durable.h"

#define WRITE (FI_RMA | FI_WRITE)

CT_FIXTURE(control_qp, struct durable, durable_start, durable_close);

CT_TEST_F(control_qp, peers_are_told_of_control_queue_pair_area_and_seq_word)
{
	struct pvb_cm_data data;

	pvb_cm_parse(&data, fake_connect.data, fake_connect.len);
	CT_EXPECT_EQ(data.flags, PVB_CM_WORD | PVB_CM_CONTROL | PVB_CM_SEQ_WORD);
	CT_EXPECT_EQ(data.control.qp_num, t->control->ibv.qp_num);
	CT_EXPECT_EQ(data.control.psn, t->control_qp->psn);
	CT_EXPECT_EQ(data.word.addr, (uintptr_t)t->control_qp->area);
	CT_EXPECT_TRUE(((struct fake_mr *)t->control_qp->area_mr)->access &
		       IBV_ACCESS_REMOTE_ATOMIC);
}

CT_TEST_F(control_qp, it_leads_to_the_peers_control_queue_pair)
{
	CT_EXPECT_TRUE(t->control_qp->up);
	CT_EXPECT_EQ(t->control->ibv.state, IBV_QPS_RTS);
	CT_EXPECT_EQ(t->control->attr[IBV_QPS_RTR].dest_qp_num, 0x123);
	CT_EXPECT_EQ(t->control->attr[IBV_QPS_RTR].rq_psn, 0x456);
	CT_EXPECT_EQ(t->control->attr[IBV_QPS_RTS].sq_psn, t->control_qp->psn);
	/* Nobody reaches memory through it. */
	CT_EXPECT_EQ(t->control->attr[IBV_QPS_INIT].qp_access_flags, 0);
	CT_EXPECT_EQ(fake_outstanding(&t->control->rq), PVB_CONTROL_MESSAGES);
}

CT_TEST_F(control_qp, a_peer_without_one_leaves_it_unused)
{
	CT_ASSERT_TRUE(durable_open_without(t, NULL));
	CT_EXPECT_FALSE(t->control_qp->up);
	CT_EXPECT_EQ(t->control->ibv.state, IBV_QPS_INIT);
	CT_EXPECT_EQ(send_number(t->w.ep, 1), 0);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
}

CT_TEST_F(control_qp, without_atomics_there_is_no_seq_word_and_requests_follow_a_read)
{
	ep_of(t->w.ep)->domain->seq_atomics = false;
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(fake_newest(&t->w.qp->sq)->opcode, IBV_WR_RDMA_READ);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(t->control->sq.posted, 0);
	durable_complete(t);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(t->control->sq.posted, 1);
	CT_EXPECT_EQ(durable_sent(t, 0).number, 1);
	CT_EXPECT_EQ(durable_sent(t, 0).seq_word, 0);
	fake_complete_all(t->control);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
}

/* What is fenced waits for it, as the request itself waits for a read. */
CT_TEST_F(control_qp, without_a_seq_word_earlier_writes_are_upgraded_and_waited_for)
{
	ep_of(t->w.ep)->domain->seq_atomics = false;
	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 64, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 2);
	CT_EXPECT_EQ(fake_newest(&t->w.qp->sq)->opcode, IBV_WR_RDMA_READ);
	CT_EXPECT_EQ(t->control->sq.posted, 0);
	/* Once. */
	CT_EXPECT_EQ(durable_write(t, 2, 64, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 2);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(t->control->sq.posted, 1);
	CT_EXPECT_EQ(durable_sent(t, 0).range[0].addr, DURABLE_ADDR);
	CT_EXPECT_EQ(durable_write(t, 2, 64, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	fake_complete_all(t->control);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(durable_write(t, 2, 64, 8, KEY_REQUESTS, FI_FENCE), 0);
	durable_complete(t);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(durable_sent(t, 1).number, 2);
	fake_complete_all(t->control);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
}

CT_TEST_F(control_qp, an_upgrade_that_never_follows_leaves_nothing)
{
	ep_of(t->w.ep)->domain->seq_atomics = false;
	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(durable_write(t, 2, 64, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 1);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(durable_write(t, 2, 64, 8, KEY_REQUESTS, FI_FENCE), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(t->control_qp->requests[PVB_REQUEST_CONTROL].posted, 0);
	/* One outstanding while the endpoint is closed. */
	CT_EXPECT_EQ(durable_write(t, 2, 64, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 2);
}

CT_TEST_F(control_qp, a_request_that_never_follows_leaves_nothing)
{
	ep_of(t->w.ep)->domain->seq_atomics = false;
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), -FI_EAGAIN);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	/* One outstanding while the endpoint is closed. */
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
}

CT_TEST_F(control_qp, messages_that_find_no_place_are_not_sent)
{
	const struct pvb_wire_message answer = {.kind = PVB_WIRE_ANSWER};

	for (unsigned int i = 0; i < PVB_CONTROL_MESSAGES; i++)
		CT_EXPECT_TRUE(pvb_control_qp_send(t->control_qp, &answer));
	CT_EXPECT_FALSE(pvb_control_qp_send(t->control_qp, &answer));
	CT_EXPECT_FALSE(t->control_qp->lost);
	fake_complete_all(t->control);
	expect_no_comp(t->w.cq);
	CT_EXPECT_TRUE(pvb_control_qp_send(t->control_qp, &answer));
}

/* Also when there is a place again that nobody has used for them yet. */
CT_TEST_F(control_qp, answers_that_are_owed_come_first)
{
	const struct pvb_wire_message other = {.kind = PVB_WIRE_ANSWER};

	for (unsigned int i = 0; i < PVB_CONTROL_MESSAGES; i++)
		CT_EXPECT_TRUE(pvb_control_qp_send(t->control_qp, &other));
	CT_EXPECT_TRUE(pvb_control_qp_answer(t->control_qp, 1, 0));
	atomic_fetch_add(&t->control_qp->sent, 1);
	CT_EXPECT_TRUE(pvb_control_qp_answer(t->control_qp, 2, 0));
	CT_EXPECT_EQ(t->control->sq.posted, PVB_CONTROL_MESSAGES);
	atomic_fetch_sub(&t->control_qp->sent, 1);
	fake_complete_all(t->control);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(t->control->sq.posted, PVB_CONTROL_MESSAGES + 2);
	CT_EXPECT_EQ(durable_sent(t, PVB_CONTROL_MESSAGES).number, 1);
	CT_EXPECT_EQ(durable_sent(t, PVB_CONTROL_MESSAGES + 1).number, 2);
}

CT_TEST_F(control_qp, a_place_that_is_kept_is_nobody_elses)
{
	const struct pvb_wire_message answer = {.kind = PVB_WIRE_ANSWER};

	CT_EXPECT_TRUE(pvb_control_qp_keep(t->control_qp));
	for (unsigned int i = 1; i < PVB_CONTROL_MESSAGES; i++)
		CT_EXPECT_TRUE(pvb_control_qp_send(t->control_qp, &answer));
	CT_EXPECT_FALSE(pvb_control_qp_keep(t->control_qp));
	CT_EXPECT_FALSE(pvb_control_qp_send(t->control_qp, &answer));
	CT_EXPECT_TRUE(pvb_control_qp_send_kept(t->control_qp, &answer));
	CT_EXPECT_EQ(t->control->sq.posted, PVB_CONTROL_MESSAGES);
	CT_EXPECT_FALSE(pvb_control_qp_keep(t->control_qp));
	fake_complete_all(t->control);
	expect_no_comp(t->w.cq);
	CT_EXPECT_TRUE(pvb_control_qp_keep(t->control_qp));
	/* One whose message the device refuses is free again, and the control queue pair
	 * is lost. */
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CT_EXPECT_FALSE(pvb_control_qp_send_kept(t->control_qp, &answer));
	CT_EXPECT_EQ(t->control_qp->kept, 0);
	CT_EXPECT_TRUE(t->control_qp->lost);
}

CT_TEST_F(control_qp, memory_to_send_from_is_made_with_the_first_message)
{
	CT_EXPECT_EQ(t->control_qp->sends_mr, NULL);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_READS, 0), 0);
	CT_EXPECT_EQ(t->control_qp->sends_mr, NULL);
	CT_EXPECT_EQ(durable_write(t, 2, 8, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_NE(t->control_qp->sends_mr, NULL);
}

CT_TEST_F(control_qp, a_request_without_memory_to_send_from_never_begins)
{
	fake_fail(FAKE_REG_MR, 1, ENOMEM);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), -FI_ENOMEM);
	CT_EXPECT_EQ(t->w.qp->sq.posted, 0);
	CT_EXPECT_FALSE(t->control_qp->lost);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_REQUESTS, 0), 0);
	durable_complete(t);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
}

CT_TEST_F(control_qp, one_that_has_no_memory_to_answer_from_is_lost)
{
	const struct pvb_wire_message answer = {.kind = PVB_WIRE_ANSWER};

	fake_fail(FAKE_REG_MR, 1, ENOMEM);
	CT_EXPECT_FALSE(pvb_control_qp_send(t->control_qp, &answer));
	CT_EXPECT_TRUE(t->control_qp->lost);
}

CT_TEST_F(control_qp, a_device_that_returns_nothing_is_not_waited_for_for_ever)
{
	world_polls_take_time();
	fake_devices[0].no_flush = true;
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	world_close_ep(&t->w);
	expect_cq_error(t->w.cq, NUMBER(1), WRITE, FI_ECANCELED);
	expect_no_comp(t->w.cq);
}

CT_TEST_F(control_qp, one_that_cannot_be_connected_does_not_keep_the_connection_from_it)
{
	world_close_ep(&t->w);
	CT_ASSERT_TRUE(world_add_ep(&t->w, NULL, &t->w.ep));
	/* Three transitions of the queue pair, then those of the control queue pair. */
	fake_fail(FAKE_MODIFY_QP, 5, EINVAL);
	CT_ASSERT_TRUE(durable_connect(t));
	CT_EXPECT_FALSE(t->qp->control_qp->up);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_READS, 0), 0);
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

static void expect_nothing_left(struct durable *t, bool shares)
{
	struct fid *fid = NULL;
	unsigned int nth;
	int objects, ret;

	shared = NULL;
	if (shares)
		CT_EXPECT_EQ(fi_srx_context(t->w.domain, NULL, &shared, NULL), 0);
	/* A queue grows, and stays. */
	CT_EXPECT_EQ(enable(&t->w, &fid), 0);
	CT_EXPECT_EQ(fi_close(fid), 0);
	objects = fake_objects;
	for (nth = 1; nth < 100; nth++) {
		CT_NOTE("allocation %u", nth);
		ct_fail_alloc(nth);
		ret = enable(&t->w, &fid);
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
}

CT_TEST_F(control_qp, nothing_is_left_of_an_endpoint_without_memory_for_it)
{
	expect_nothing_left(t, false);
}

CT_TEST_F(control_qp, nor_of_one_with_shared_receives)
{
	expect_nothing_left(t, true);
}

CT_TEST_F(control_qp, what_the_device_refuses_for_it_is_the_error_of_fi_enable)
{
	static const struct {
		enum fake_call call;
		unsigned int nth;
	} rows[] = {{FAKE_REG_MR, 1},	 {FAKE_REG_MR, 2},    {FAKE_CREATE_QP, 2},
		    {FAKE_MODIFY_QP, 2}, {FAKE_POST_RECV, 1}, {FAKE_POST_RECV, 48}};
	struct fid *fid;
	int objects;

	/* A queue grows, and stays. */
	CT_EXPECT_EQ(enable(&t->w, &fid), 0);
	CT_EXPECT_EQ(fi_close(fid), 0);
	objects = fake_objects;
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		fake_fail(rows[i].call, rows[i].nth, EPERM);
		CT_EXPECT_EQ(enable(&t->w, &fid), -FI_EPERM);
		CT_EXPECT_EQ(fake_objects, objects);
	}
}

static int open_domain(struct world *w, struct fid **fid)
{
	struct fid_domain *domain = NULL;
	int ret = fi_domain(w->fabric, w->info, &domain, NULL);

	*fid = domain ? &domain->fid : NULL;
	return ret;
}

CT_TEST_F(control_qp, a_domain_without_memory_or_descriptors_for_it_is_not_opened)
{
	expect_survives_enomem(&t->w, open_domain);
}

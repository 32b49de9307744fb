/* SPDX-License-Identifier: BSD-2-Clause */
/* The responder: endpoints made of requests, accepted. */
#include <errno.h>
#include "../world_cm.h"
#include "xfer/xfer.h"

static void start_taken(struct world *w)
{
	world_reset();
	CT_ASSERT_TRUE(state_open(w, STATE_TAKEN));
}

CT_FIXTURE(cm_accept, struct world, start_taken, world_close);

CT_TEST_F(cm_accept, the_answer_names_the_queue_pair_and_carries_data)
{
	uint8_t wanted[PVB_CM_REQ_SIZE];
	struct pvb_cm_offer offer = {0};

	pvb_params.rnr_retry_count = 2;
	CT_EXPECT_EQ(fi_accept(t->ep, "yes", 3), 0);
	CT_EXPECT_EQ(fake_message.call, FAKE_ACCEPT);
	CT_EXPECT_EQ(fake_message.param.qp_num, qp_of(t->ep)->ibv.qp_num);
	CT_EXPECT_EQ(fake_message.param.rnr_retry_count, 2);
	CT_EXPECT_EQ(fake_message.param.flow_control, 1);
	offer.word = pvb_deliver_word(ep_of(t->ep)->domain);
	CT_EXPECT_EQ(fake_message.len, pvb_cm_pack(wanted, "yes", 3, &offer));
	CT_EXPECT_MEMEQ(fake_message.data, wanted, sizeof(wanted));
	CT_EXPECT_EQ(qp_of(t->ep)->ibv.state, IBV_QPS_RTS);
}

CT_TEST_F(cm_accept, an_accepted_request_is_freed)
{
	struct pvb_eq *eq;

	eq = ep_of(t->ep)->eq;
	CT_EXPECT_NE(ep_of(t->ep)->conn.req, NULL);
	CT_EXPECT_EQ(atomic_load(&eq->refs), 3); /* listener, endpoint, request */
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), 0);
	CT_EXPECT_EQ(ep_of(t->ep)->conn.req, NULL);
	CT_EXPECT_EQ(atomic_load(&eq->refs), 2);
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), -FI_EISCONN);
	close_object(t->ep);
	close_object(t->pep);
	CT_EXPECT_EQ(atomic_load(&eq->refs), 0);
}

/* An enabled endpoint of a request that came with these depths. */
static bool open_taken(struct world *w, uint8_t resources, uint8_t depth)
{
	const struct fake_request request = {
		.device = &fake_devices[0],
		.src = fake_addr(WORLD_ADDR, 7471),
		.peer = fake_addr(WORLD_PEER, 5555),
		.responder_resources = resources,
		.initiator_depth = depth,
	};

	world_renew(w);
	if (!world_open_domain(w, NULL) || !world_listen(w, &w->pep))
		return false;
	w->id = fake_request(listen_id(w->pep), &request);
	w->request = read_request(w, w->pep, NULL, 0);
	return w->request && world_take_request(w);
}

/* Reads in flight: the requester's wish within this device's limits, 16 and 8. */
CT_TEST_F(cm_accept, the_depths_are_those_of_the_request_within_the_devices)
{
	static const struct {
		uint8_t resources, depth, wanted_resources, wanted_depth;
	} rows[] = {{4, 20, 4, 8}, {100, 3, 16, 3}, {16, 8, 16, 8}, {0, 0, 0, 0}};
	const struct fake_qp *qp;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_ASSERT_TRUE(open_taken(t, rows[i].resources, rows[i].depth));
		CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), 0);
		CT_EXPECT_EQ(fake_message.param.responder_resources,
			     rows[i].wanted_resources);
		CT_EXPECT_EQ(fake_message.param.initiator_depth, rows[i].wanted_depth);
		qp = qp_of(t->ep);
		/* With 0 in the message, rdma_cm's own numbers stay: 3 and 5. */
		CT_EXPECT_EQ(qp->attr[IBV_QPS_RTR].max_dest_rd_atomic,
			     rows[i].wanted_resources ? rows[i].wanted_resources : 3);
		CT_EXPECT_EQ(qp->attr[IBV_QPS_RTS].max_rd_atomic,
			     rows[i].wanted_depth ? rows[i].wanted_depth : 5);
	}
}

/* Events are the request's as long as the endpoint may lack its queue: another thread
 * reads them. */
CT_TEST_F(cm_accept, a_requester_leaves_before_the_endpoint_is_bound)
{
	const struct fid *about;

	world_close(t);
	world_start_listening(t);
	request_arrives(t->pep, NULL, 0);
	t->request = read_request(t, t->pep, NULL, 0);
	CT_ASSERT_NE(t->request, NULL);
	CT_ASSERT_EQ(fi_endpoint(t->domain, t->request, &t->ep, NULL), 0);
	about = ep_of(t->ep)->conn.id->context;
	CT_EXPECT_EQ(about->fclass, FI_CLASS_CONNREQ);
	fake_event(ep_of(t->ep)->conn.id, RDMA_CM_EVENT_REJECTED, 0, NULL, 0);
	expect_no_event(t->eq);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), -FI_ECONNABORTED);
}

/* rdma_cm has no code of its own for that; of other refusals the code stands. */
CT_TEST_F(cm_accept, an_answer_to_a_requester_that_has_gone_unread)
{
	for (int gone = 0; gone < 2; gone++) {
		CT_NOTE("gone %d", gone);
		CT_ASSERT_TRUE(open_taken(t, 1, 1));
		if (gone)
			fake_event(t->id, RDMA_CM_EVENT_REJECTED, 0, NULL, 0);
		fake_fail(FAKE_ACCEPT, 1, EINVAL);
		CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0),
			     gone ? -FI_ECONNABORTED : -FI_EINVAL);
	}
}

CT_TEST_F(cm_accept, what_the_requester_is_stays_known)
{
	uint8_t message[PVB_CM_REQ_SIZE];

	world_close(t);
	world_start_listening(t);
	request_arrives(t->pep, message, pvb_cm_pack(message, "pverbs", 6, NULL));
	t->request = read_request(t, t->pep, "pverbs", 6);
	CT_ASSERT_TRUE(t->request && world_take_request(t));
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), 0);
	CT_EXPECT_TRUE(ep_of(t->ep)->conn.peer.trailer);
	CT_EXPECT_EQ(ep_of(t->ep)->conn.peer.app, NULL);
}

CT_TEST_F(cm_accept, an_accepted_connection_may_send_before_the_requester_confirms)
{
	CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ENOTCONN);
	CT_EXPECT_EQ(recv_number(t->ep, 2), 0);
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), 0);
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
}

CT_TEST_F(cm_accept, the_requester_has_an_address_once_accepted)
{
	union crn_addr addr, peer = fake_addr(WORLD_PEER, 5555);
	size_t len = sizeof(addr);

	CT_EXPECT_EQ(fi_getpeer(t->ep, &addr, &len), -FI_ENOTCONN);
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), 0);
	CT_EXPECT_EQ(fi_getpeer(t->ep, &addr, &len), 0);
	CT_EXPECT_MEMEQ(&addr, &peer, sizeof(peer.in));
}

CT_TEST_F(cm_accept, a_request_is_accepted_once)
{
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), 0);
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), -FI_EISCONN);
	CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), -FI_EISCONN);
	CT_EXPECT_EQ(fake_count(FAKE_ACCEPT), 1);
}

CT_TEST_F(cm_accept, an_endpoint_of_a_request_cannot_connect)
{
	CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), -FI_EISCONN);
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), 0);
}

CT_TEST_F(cm_accept, too_much_data_is_refused_and_changes_nothing)
{
	uint8_t data[PVB_CM_REQ_SIZE + 1] = {0};

	CT_EXPECT_EQ(fi_accept(t->ep, data, PVB_CM_APP_SIZE + 1), -FI_EINVAL);
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 1), -FI_EINVAL);
	set_raw(&t->ep->fid);
	CT_EXPECT_EQ(fi_accept(t->ep, data, PVB_CM_REQ_SIZE + 1), -FI_EINVAL);
	CT_EXPECT_EQ(fi_accept(t->ep, data, PVB_CM_REQ_SIZE), 0);
	CT_EXPECT_EQ(fake_message.len, PVB_CM_REQ_SIZE);
	CT_EXPECT_MEMEQ(fake_message.data, data, PVB_CM_REQ_SIZE);
}

CT_TEST_F(cm_accept, what_fails_is_the_error_of_the_call)
{
	static const struct {
		enum fake_call call;
		unsigned int nth;
	} rows[] = {{FAKE_INIT_QP_ATTR, 1}, {FAKE_INIT_QP_ATTR, 2},
		    {FAKE_INIT_QP_ATTR, 3}, {FAKE_MODIFY_QP, 1},
		    {FAKE_MODIFY_QP, 2},    {FAKE_MODIFY_QP, 3},
		    {FAKE_ACCEPT, 1}};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_ASSERT_TRUE(state_open(t, STATE_TAKEN));
		fake_fail(rows[i].call, rows[i].nth, ENOBUFS);
		CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), -FI_ENOBUFS);
		expect_no_event(t->eq);
		CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ENOTCONN);
	}
}

CT_TEST_F(cm_accept, accepting_enables_an_endpoint)
{
	world_close(t);
	world_start_requested(t);
	CT_ASSERT_EQ(fi_endpoint(t->domain, t->request, &t->ep, NULL), 0);
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), -FI_ENOEQ);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), 0);
	CT_EXPECT_EQ(state_of(t->ep), PVB_CONN_ACCEPTED);
}

CT_TEST_F(cm_accept, an_endpoint_that_never_accepts_ends_the_request)
{
	const unsigned int ids = fake_count(FAKE_DESTROY_ID);

	close_object(t->ep);
	CT_EXPECT_EQ(fake_count(FAKE_DESTROY_ID), ids + 1);
}

CT_TEST_F(cm_accept, a_connection_outlives_its_listener)
{
	close_object(t->pep);
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), 0);
	fake_event(t->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(t->eq, FI_CONNECTED, &t->ep->fid, NULL, 0);
	CT_EXPECT_EQ(fi_close(&t->eq->fid), -FI_EBUSY);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The responder: endpoints made of requests, accepted. */
#include <errno.h>
#include <rdma/fi_ext_cairn.h>
#include "../world_cm.h"
#include "xfer/xfer.h"

/* An enabled endpoint of a request that came with these depths. */
static bool taken(struct world *w, uint8_t resources, uint8_t depth, struct state *state)
{
	const struct fake_request request = {
		.device = &fake_devices[0],
		.src = fake_addr(WORLD_ADDR, 7471),
		.peer = fake_addr(WORLD_PEER, 5555),
		.responder_resources = resources,
		.initiator_depth = depth,
	};
	struct fi_info *info;

	*state = (struct state){0};
	world_reset();
	if (!world_open_domain(w, NULL) || !world_listen(w, &state->pep))
		return false;
	state->id = fake_request(listen_id(state->pep), &request);
	info = read_request(w, state->pep, NULL, 0);
	return info && take_request(w, info, &state->ep);
}

CT_TEST(cm_accept, the_answer_names_the_queue_pair_and_carries_data)
{
	uint8_t wanted[PVB_CM_REQ_SIZE];
	struct pvb_cm_offer offer = {0};
	struct state state;
	struct world w;

	CT_ASSERT_TRUE(taken(&w, 4, 20, &state));
	pvb_params.rnr_retry_count = 2;
	CT_EXPECT_EQ(fi_accept(state.ep, "yes", 3), 0);
	CT_EXPECT_EQ(fake_message.call, FAKE_ACCEPT);
	CT_EXPECT_EQ(fake_message.param.qp_num, qp_of(state.ep)->ibv.qp_num);
	CT_EXPECT_EQ(fake_message.param.rnr_retry_count, 2);
	CT_EXPECT_EQ(fake_message.param.flow_control, 1);
	offer.word = pvb_deliver_word(ep_of(state.ep)->domain);
	CT_EXPECT_EQ(fake_message.len, pvb_cm_pack(wanted, "yes", 3, &offer));
	CT_EXPECT_MEMEQ(fake_message.data, wanted, sizeof(wanted));
	CT_EXPECT_EQ(qp_of(state.ep)->ibv.state, IBV_QPS_RTS);
	state_close(&state);
	world_close(&w);
}

CT_TEST(cm_accept, an_accepted_request_is_freed)
{
	struct state state;
	struct world w;
	struct pvb_eq *eq;

	CT_ASSERT_TRUE(taken(&w, 4, 4, &state));
	eq = ep_of(state.ep)->eq;
	CT_EXPECT_NE(ep_of(state.ep)->conn.req, NULL);
	CT_EXPECT_EQ(atomic_load(&eq->refs), 3); /* listener, endpoint, request */
	CT_EXPECT_EQ(fi_accept(state.ep, NULL, 0), 0);
	CT_EXPECT_EQ(ep_of(state.ep)->conn.req, NULL);
	CT_EXPECT_EQ(atomic_load(&eq->refs), 2);
	CT_EXPECT_EQ(fi_accept(state.ep, NULL, 0), -FI_EISCONN);
	state_close(&state);
	CT_EXPECT_EQ(atomic_load(&eq->refs), 0);
	world_close(&w);
}

/* Reads in flight: the requester's wish within this device's limits, 16 and 8. */
CT_TEST(cm_accept, the_depths_are_those_of_the_request_within_the_devices)
{
	static const struct {
		uint8_t resources, depth, wanted_resources, wanted_depth;
	} rows[] = {{4, 20, 4, 8}, {100, 3, 16, 3}, {16, 8, 16, 8}, {0, 0, 0, 0}};
	const struct fake_qp *qp;
	struct state state;
	struct world w;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_ASSERT_TRUE(taken(&w, rows[i].resources, rows[i].depth, &state));
		CT_EXPECT_EQ(fi_accept(state.ep, NULL, 0), 0);
		CT_EXPECT_EQ(fake_message.param.responder_resources,
			     rows[i].wanted_resources);
		CT_EXPECT_EQ(fake_message.param.initiator_depth, rows[i].wanted_depth);
		qp = qp_of(state.ep);
		/* With 0 in the message, rdma_cm's own numbers stay: 3 and 5. */
		CT_EXPECT_EQ(qp->attr[IBV_QPS_RTR].max_dest_rd_atomic,
			     rows[i].wanted_resources ? rows[i].wanted_resources : 3);
		CT_EXPECT_EQ(qp->attr[IBV_QPS_RTS].max_rd_atomic,
			     rows[i].wanted_depth ? rows[i].wanted_depth : 5);
		state_close(&state);
		world_close(&w);
	}
}

CT_TEST(cm_accept, what_the_requester_is_stays_known)
{
	uint8_t message[PVB_CM_REQ_SIZE];
	struct fi_info *info;
	struct fid_pep *pep;
	struct fid_ep *ep;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_ASSERT_TRUE(world_listen(&w, &pep));
	request_arrives(pep, message, pvb_cm_pack(message, "pverbs", 6, NULL));
	info = read_request(&w, pep, "pverbs", 6);
	CT_ASSERT_NE(info, NULL);
	CT_ASSERT_TRUE(take_request(&w, info, &ep));
	CT_EXPECT_EQ(fi_accept(ep, NULL, 0), 0);
	CT_EXPECT_TRUE(ep_of(ep)->conn.peer.trailer);
	CT_EXPECT_EQ(ep_of(ep)->conn.peer.app, NULL);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	world_close(&w);
}

CT_TEST(cm_accept, an_accepted_connection_may_send_before_the_requester_confirms)
{
	struct state state;
	struct world w;

	CT_ASSERT_TRUE(taken(&w, 4, 4, &state));
	CT_EXPECT_EQ(send_number(state.ep, 1), -FI_ENOTCONN);
	CT_EXPECT_EQ(recv_number(state.ep, 2), 0);
	CT_EXPECT_EQ(fi_accept(state.ep, NULL, 0), 0);
	CT_EXPECT_EQ(send_number(state.ep, 1), 0);
	state_close(&state);
	world_close(&w);
}

CT_TEST(cm_accept, the_requester_has_an_address_once_accepted)
{
	union crn_addr addr, peer = fake_addr(WORLD_PEER, 5555);
	size_t len = sizeof(addr);
	struct state state;
	struct world w;

	CT_ASSERT_TRUE(taken(&w, 4, 4, &state));
	CT_EXPECT_EQ(fi_getpeer(state.ep, &addr, &len), -FI_ENOTCONN);
	CT_EXPECT_EQ(fi_accept(state.ep, NULL, 0), 0);
	CT_EXPECT_EQ(fi_getpeer(state.ep, &addr, &len), 0);
	CT_EXPECT_MEMEQ(&addr, &peer, sizeof(peer.in));
	state_close(&state);
	world_close(&w);
}

CT_TEST(cm_accept, a_request_is_accepted_once)
{
	struct state state;
	struct world w;

	CT_ASSERT_TRUE(taken(&w, 4, 4, &state));
	CT_EXPECT_EQ(fi_accept(state.ep, NULL, 0), 0);
	CT_EXPECT_EQ(fi_accept(state.ep, NULL, 0), -FI_EISCONN);
	CT_EXPECT_EQ(fi_connect(state.ep, NULL, NULL, 0), -FI_EISCONN);
	CT_EXPECT_EQ(fake_count(FAKE_ACCEPT), 1);
	state_close(&state);
	world_close(&w);
}

CT_TEST(cm_accept, an_endpoint_of_a_request_cannot_connect)
{
	struct state state;
	struct world w;

	CT_ASSERT_TRUE(taken(&w, 4, 4, &state));
	CT_EXPECT_EQ(fi_connect(state.ep, NULL, NULL, 0), -FI_EISCONN);
	CT_EXPECT_EQ(fi_accept(state.ep, NULL, 0), 0);
	state_close(&state);
	world_close(&w);
}

CT_TEST(cm_accept, too_much_data_is_refused_and_changes_nothing)
{
	uint8_t data[PVB_CM_REQ_SIZE + 1] = {0};
	struct state state;
	struct world w;
	int on = 1;

	CT_ASSERT_TRUE(taken(&w, 4, 4, &state));
	CT_EXPECT_EQ(fi_accept(state.ep, data, PVB_CM_APP_SIZE + 1), -FI_EINVAL);
	CT_EXPECT_EQ(fi_accept(state.ep, NULL, 1), -FI_EINVAL);
	CT_EXPECT_EQ(fi_setopt(&state.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RAW_CM_DATA,
			       &on, sizeof(on)),
		     0);
	CT_EXPECT_EQ(fi_accept(state.ep, data, PVB_CM_REQ_SIZE + 1), -FI_EINVAL);
	CT_EXPECT_EQ(fi_accept(state.ep, data, PVB_CM_REQ_SIZE), 0);
	CT_EXPECT_EQ(fake_message.len, PVB_CM_REQ_SIZE);
	CT_EXPECT_MEMEQ(fake_message.data, data, PVB_CM_REQ_SIZE);
	state_close(&state);
	world_close(&w);
}

CT_TEST(cm_accept, what_fails_is_the_error_of_the_call)
{
	static const struct {
		enum fake_call call;
		unsigned int nth;
	} rows[] = {{FAKE_INIT_QP_ATTR, 1}, {FAKE_INIT_QP_ATTR, 2},
		    {FAKE_INIT_QP_ATTR, 3}, {FAKE_MODIFY_QP, 1},
		    {FAKE_MODIFY_QP, 2},    {FAKE_MODIFY_QP, 3},
		    {FAKE_ACCEPT, 1}};
	struct state state;
	struct world w;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_ASSERT_TRUE(taken(&w, 4, 4, &state));
		fake_fail(rows[i].call, rows[i].nth, ENOBUFS);
		CT_EXPECT_EQ(fi_accept(state.ep, NULL, 0), -FI_ENOBUFS);
		expect_no_event(w.eq);
		CT_EXPECT_EQ(send_number(state.ep, 1), -FI_ENOTCONN);
		state_close(&state);
		world_close(&w);
	}
}

CT_TEST(cm_accept, accepting_enables_an_endpoint)
{
	struct rdma_cm_id *id;
	struct fi_info *info;
	struct fid_pep *pep;
	struct fid_ep *ep;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_ASSERT_TRUE(world_listen(&w, &pep));
	info = next_request(&w, pep, &id);
	CT_ASSERT_NE(info, NULL);
	CT_ASSERT_EQ(fi_endpoint(w.domain, info, &ep, NULL), 0);
	CT_EXPECT_EQ(fi_accept(ep, NULL, 0), -FI_ENOEQ);
	CT_EXPECT_EQ(fi_ep_bind(ep, &w.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(ep, &w.cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_accept(ep, NULL, 0), 0);
	CT_EXPECT_EQ(state_of(ep), PVB_CONN_ACCEPTED);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	fi_freeinfo(info);
	world_close(&w);
}

CT_TEST(cm_accept, an_endpoint_that_never_accepts_ends_the_request)
{
	struct state state;
	unsigned int ids;
	struct world w;

	CT_ASSERT_TRUE(taken(&w, 4, 4, &state));
	ids = fake_count(FAKE_DESTROY_ID);
	CT_EXPECT_EQ(fi_close(&state.ep->fid), 0);
	CT_EXPECT_EQ(fake_count(FAKE_DESTROY_ID), ids + 1);
	CT_EXPECT_EQ(fi_close(&state.pep->fid), 0);
	world_close(&w);
}

CT_TEST(cm_accept, a_connection_outlives_its_listener)
{
	struct state state;
	struct world w;

	CT_ASSERT_TRUE(taken(&w, 4, 4, &state));
	CT_EXPECT_EQ(fi_close(&state.pep->fid), 0);
	state.pep = NULL;
	CT_EXPECT_EQ(fi_accept(state.ep, NULL, 0), 0);
	fake_event(state.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(w.eq, FI_CONNECTED, &state.ep->fid, NULL, 0);
	CT_EXPECT_EQ(fi_close(&w.eq->fid), -FI_EBUSY);
	state_close(&state);
	world_close(&w);
}

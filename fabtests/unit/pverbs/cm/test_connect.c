/* SPDX-License-Identifier: BSD-2-Clause */
/* What connecting and accepting say to rdma_cm and to the peer; what may go wrong. */
#include <errno.h>
#include <stdlib.h>
#include "../world_cm.h"
#include "xfer/xfer.h"

/* Moves a requester on to the next state without looking at anything. */
static void advance(struct world *w, enum rdma_cm_event_type event)
{
	uint8_t buf[512];
	uint32_t type;

	fake_event(ep_of(w->ep)->conn.id, event, 0, NULL, 0);
	fi_eq_read(w->eq, &type, buf, sizeof(buf), 0);
}

static void resolve(struct world *w)
{
	advance(w, RDMA_CM_EVENT_ADDR_RESOLVED);
	advance(w, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static bool start(struct world *w, const void *data, size_t len)
{
	CT_EXPECT_EQ(fi_connect(w->ep, NULL, data, len), 0);
	w->id = ep_of(w->ep)->conn.id;
	if (!w->id)
		return false;
	fake_id_device(w->id, &fake_devices[0]);
	return !ct_failed();
}

CT_FIXTURE(cm_connect, struct world, world_start, world_close);

CT_TEST_F(cm_connect, the_address_the_route_then_the_request)
{
	uint8_t wanted[PVB_CM_REQ_SIZE];
	struct pvb_cm_offer offer = {0};
	union crn_addr addr;

	world_renew(t);
	pvb_params.resolve_timeout = 1234;
	pvb_params.retry_count = 3;
	pvb_params.rnr_retry_count = 5;
	CT_ASSERT_TRUE(world_open(t, NULL));
	CT_ASSERT_TRUE(start(t, "hello", 5));
	CT_EXPECT_EQ(fake_message.call, FAKE_RESOLVE_ADDR);
	addr = fake_addr(WORLD_ADDR, 0);
	CT_EXPECT_MEMEQ(&fake_message.src, &addr, sizeof(addr.in));
	addr = fake_addr(WORLD_PEER, 7471);
	CT_EXPECT_MEMEQ(&fake_message.dest, &addr, sizeof(addr.in));
	CT_EXPECT_EQ(fake_message.timeout_ms, 1234);

	advance(t, RDMA_CM_EVENT_ADDR_RESOLVED);
	CT_EXPECT_EQ(fake_message.call, FAKE_RESOLVE_ROUTE);
	CT_EXPECT_EQ(fake_message.timeout_ms, 1234);

	advance(t, RDMA_CM_EVENT_ROUTE_RESOLVED);
	CT_EXPECT_EQ(fake_message.call, FAKE_CONNECT);
	CT_EXPECT_EQ(fake_message.param.qp_num, t->qp->ibv.qp_num);
	CT_EXPECT_EQ(fake_message.param.responder_resources, 16);
	CT_EXPECT_EQ(fake_message.param.initiator_depth, 8);
	CT_EXPECT_EQ(fake_message.param.retry_count, 3);
	CT_EXPECT_EQ(fake_message.param.rnr_retry_count, 5);
	CT_EXPECT_EQ(fake_message.param.flow_control, 1);
	offer.word = pvb_deliver_word(ep_of(t->ep)->domain);
	CT_EXPECT_EQ(fake_message.len, pvb_cm_pack(wanted, "hello", 5, &offer));
	CT_EXPECT_MEMEQ(fake_message.data, wanted, sizeof(wanted));
}

CT_TEST_F(cm_connect, the_answer_leads_to_rts_with_the_depths_of_the_messages)
{
	CT_ASSERT_TRUE(start(t, NULL, 0));
	t->id->port_num = 2;
	resolve(t);
	CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ENOTCONN);
	advance(t, RDMA_CM_EVENT_CONNECT_RESPONSE);
	CT_EXPECT_EQ(fake_message.call, FAKE_ESTABLISH);
	CT_EXPECT_EQ(t->qp->ibv.state, IBV_QPS_RTS);
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_INIT].port_num, 2);
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_INIT].pkey_index, 9);
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_RTR].max_dest_rd_atomic, 3);
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_RTS].max_rd_atomic, 5);
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
}

CT_TEST_F(cm_connect, what_only_connecting_needs_is_freed_with_connected)
{
	struct pvb_ep *ep;

	ep = ep_of(t->ep);
	CT_ASSERT_TRUE(start(t, "hello", 5));
	CT_EXPECT_NE(ep->conn.handshake, NULL);
	CT_EXPECT_NE(ep->attr.src, NULL);
	resolve(t);
	advance(t, RDMA_CM_EVENT_CONNECT_RESPONSE);
	CT_EXPECT_EQ(ep->conn.state, PVB_CONN_CONNECTED);
	CT_EXPECT_EQ(ep->conn.handshake, NULL);
	CT_EXPECT_EQ(ep->attr.src, NULL);
	CT_EXPECT_EQ(ep->attr.dest, NULL);
	/* Not the default's, which is forgotten, but not for want of an address. */
	CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), -FI_EISCONN);
}

CT_TEST_F(cm_connect, data_of_the_responder_arrives_with_connected)
{
	uint8_t answer[PVB_CM_REQ_SIZE];

	CT_ASSERT_TRUE(start(t, NULL, 0));
	resolve(t);
	pvb_cm_pack(answer, "welcome", 7, NULL);
	fake_event(t->id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, answer, sizeof(answer));
	expect_event(t->eq, FI_CONNECTED, &t->ep->fid, "welcome", 7);
	CT_EXPECT_TRUE(ep_of(t->ep)->conn.peer.trailer);
	CT_EXPECT_EQ(ep_of(t->ep)->conn.peer.version, PVB_CM_VERSION);
}

CT_TEST_F(cm_connect, data_of_a_refusal_arrives_with_the_error)
{
	static const struct {
		bool raw;
		const char *sent;
		size_t sent_len, len;
		const char *wanted;
	} rows[] = {{false, "\4busy...", 8, 4, "busy"},
		    {false, NULL, 0, 0, ""},
		    {true, "\4busy", 5, 5, "\4busy"}};
	struct fi_eq_err_entry error;
	uint8_t buf[512], data[64];
	uint32_t event;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_ASSERT_TRUE(world_reopen(t, NULL));
		if (rows[i].raw)
			set_raw(&t->ep->fid);
		CT_ASSERT_TRUE(start(t, NULL, 0));
		resolve(t);
		fake_event(t->id, RDMA_CM_EVENT_REJECTED, 28, rows[i].sent,
			   rows[i].sent_len);
		CT_EXPECT_EQ(fi_eq_read(t->eq, &event, buf, sizeof(buf), 0), -FI_EAVAIL);
		error = (struct fi_eq_err_entry){.err_data = data,
						 .err_data_size = sizeof(data)};
		CT_EXPECT_EQ(fi_eq_readerr(t->eq, &error, 0), sizeof(error));
		CT_EXPECT_EQ(error.fid, &t->ep->fid);
		CT_EXPECT_EQ(error.err, FI_ECONNREFUSED);
		CT_EXPECT_EQ(error.prov_errno, 28);
		CT_EXPECT_EQ(error.err_data_size, rows[i].len);
		CT_EXPECT_MEMEQ(data, rows[i].wanted, rows[i].len);
	}
}

/* Interfaces before 1.5 did not define err_data_size for the caller. */
CT_TEST_F(cm_connect, an_old_program_gets_the_data_of_a_refusal_in_the_queues_memory)
{
	struct world_opts opts = {.api_version = FI_VERSION(1, 4)};
	struct fi_eq_err_entry error = {.err_data = NUMBER(1), .err_data_size = 1};
	uint8_t buf[512];
	uint32_t event;

	CT_ASSERT_TRUE(world_reopen(t, &opts));
	CT_ASSERT_TRUE(start(t, NULL, 0));
	fake_event(t->id, RDMA_CM_EVENT_REJECTED, 28, "\4busy", 5);
	CT_EXPECT_EQ(fi_eq_read(t->eq, &event, buf, sizeof(buf), 0), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_eq_readerr(t->eq, &error, 0), sizeof(error));
	CT_ASSERT_EQ(error.err_data_size, 4);
	CT_EXPECT_MEMEQ(error.err_data, "busy", 4);
}

CT_TEST_F(cm_connect, raw_data_is_sent_and_given_byte_for_byte)
{
	uint8_t all[PVB_CM_REQ_SIZE + 1];

	memset(all, 0xab, sizeof(all));
	CT_ASSERT_TRUE(world_reopen(t, NULL));
	set_raw(&t->ep->fid);
	CT_EXPECT_EQ(fi_connect(t->ep, NULL, all, sizeof(all)), -FI_EINVAL);
	CT_ASSERT_TRUE(start(t, all, PVB_CM_REQ_SIZE));
	resolve(t);
	CT_EXPECT_EQ(fake_message.len, PVB_CM_REQ_SIZE);
	CT_EXPECT_MEMEQ(fake_message.data, all, PVB_CM_REQ_SIZE);
	fake_event(t->id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, "\5raw", 4);
	expect_event(t->eq, FI_CONNECTED, &t->ep->fid, "\5raw", 4);
}

CT_TEST_F(cm_connect, raw_and_empty_sends_nothing)
{
	set_raw(&t->ep->fid);
	CT_ASSERT_TRUE(start(t, NULL, 0));
	resolve(t);
	CT_EXPECT_EQ(fake_message.call, FAKE_CONNECT);
	CT_EXPECT_EQ(fake_message.len, 0);
}

CT_TEST_F(cm_connect, a_call_that_makes_no_sense_is_refused)
{
	union crn_addr unix_addr = {.sa.sa_family = AF_UNIX};
	uint8_t data[PVB_CM_APP_SIZE + 1] = {0};

	CT_EXPECT_EQ(fi_connect(t->ep, NULL, data, sizeof(data)), -FI_EINVAL);
	CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 1), -FI_EINVAL);
	CT_EXPECT_EQ(fi_connect(t->ep, &unix_addr, NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fake_count(FAKE_CREATE_ID), fake_count(FAKE_DESTROY_ID));
	CT_ASSERT_TRUE(start(t, data, PVB_CM_APP_SIZE));
	CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), -FI_EISCONN);
}

CT_TEST_F(cm_connect, an_endpoint_without_destination_needs_one_in_the_call)
{
	union crn_addr dest;

	CT_ASSERT_TRUE(world_reopen_domain(t, NULL));
	dest = fake_addr("10.0.0.77", 99);
	world_forget_dest(t);
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &t->ep));
	CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_connect(t->ep, &dest, NULL, 0), 0);
	CT_EXPECT_MEMEQ(&fake_message.dest, &dest, sizeof(dest.in));
}

CT_TEST_F(cm_connect, connecting_enables_an_endpoint)
{
	CT_ASSERT_TRUE(world_reopen_domain(t, NULL));
	CT_ASSERT_EQ(fi_endpoint(t->domain, t->info, &t->ep, NULL), 0);
	CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), -FI_ENOEQ);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), -FI_ENOCQ);
	CT_EXPECT_EQ(fi_ep_bind(t->ep, &t->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), 0);
	CT_EXPECT_EQ(state_of(t->ep), PVB_CONN_ADDR);
}

CT_TEST_F(cm_connect, a_failure_to_begin_leaves_the_endpoint_as_it_was)
{
	static const enum fake_call calls[] = {FAKE_CREATE_ID, FAKE_RESOLVE_ADDR};

	for (size_t i = 0; i < CRN_COUNT(calls); i++) {
		CT_NOTE("call %zu", i);
		CT_ASSERT_TRUE(world_reopen(t, NULL));
		fake_fail(calls[i], 1, ENETDOWN);
		CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), -FI_ENETDOWN);
		CT_EXPECT_EQ(ep_of(t->ep)->conn.id, NULL);
		CT_EXPECT_EQ(state_of(t->ep), PVB_CONN_ENABLED);
		expect_no_event(t->eq);
		CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), 0);
	}
}

CT_TEST_F(cm_connect, a_failure_on_the_way_is_one_error_event)
{
	static const struct {
		enum fake_call call;
		unsigned int nth;
		unsigned int steps; /* events until it happens */
	} rows[] = {
		{FAKE_RESOLVE_ROUTE, 1, 1}, {FAKE_CONNECT, 1, 2},
		{FAKE_INIT_QP_ATTR, 1, 3},  {FAKE_INIT_QP_ATTR, 2, 3},
		{FAKE_INIT_QP_ATTR, 3, 3},  {FAKE_MODIFY_QP, 1, 3},
		{FAKE_MODIFY_QP, 2, 3},	    {FAKE_MODIFY_QP, 3, 3},
		{FAKE_ESTABLISH, 1, 3},
	};
	static const enum rdma_cm_event_type events[] = {RDMA_CM_EVENT_ADDR_RESOLVED,
							 RDMA_CM_EVENT_ROUTE_RESOLVED,
							 RDMA_CM_EVENT_CONNECT_RESPONSE};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_ASSERT_TRUE(world_reopen(t, NULL));
		CT_ASSERT_TRUE(start(t, NULL, 0));
		fake_fail(rows[i].call, rows[i].nth, ENOBUFS);
		for (unsigned int n = 0; n < rows[i].steps; n++)
			fake_event(t->id, events[n], 0, NULL, 0);
		expect_eq_error(t->eq, &t->ep->fid, FI_ENOBUFS, ENOBUFS);
		expect_no_event(t->eq);
		CT_EXPECT_EQ(state_of(t->ep), PVB_CONN_FAILED);
		CT_EXPECT_EQ(t->qp->ibv.state, IBV_QPS_ERR);
		/* A responder that answered has to know. */
		CT_EXPECT_EQ(fake_count(FAKE_REJECT), rows[i].steps == 3);
	}
}

CT_TEST_F(cm_connect, a_way_over_another_device_is_no_way)
{
	CT_ASSERT_TRUE(start(t, NULL, 0));
	fake_id_device(t->id, &fake_devices[1]);
	fake_event(t->id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	expect_eq_error(t->eq, &t->ep->fid, FI_EHOSTUNREACH, 0);
	CT_EXPECT_EQ(fake_count(FAKE_RESOLVE_ROUTE), 0);
	CT_EXPECT_WARNED("fake1");
}

CT_TEST_F(cm_connect, a_device_that_takes_many_reads_is_asked_for_what_fits_a_byte)
{
	world_renew(t);
	fake_devices[0].attr.max_qp_rd_atom = 1000;
	fake_devices[0].attr.max_qp_init_rd_atom = 256;
	CT_ASSERT_TRUE(world_open(t, NULL));
	CT_ASSERT_TRUE(start(t, NULL, 0));
	resolve(t);
	CT_EXPECT_EQ(fake_message.param.responder_resources, 254);
	CT_EXPECT_EQ(fake_message.param.initiator_depth, 254);
}

CT_TEST_F(cm_connect, the_peer_and_own_address_are_known_once_connected)
{
	union crn_addr addr, wanted = fake_addr(WORLD_PEER, 7471);
	size_t len = sizeof(addr);

	CT_EXPECT_EQ(fi_getpeer(t->ep, &addr, &len), -FI_ENOTCONN);
	CT_ASSERT_TRUE(world_connect(t, t->ep));
	CT_EXPECT_EQ(fi_getpeer(t->ep, &addr, &len), 0);
	CT_EXPECT_EQ(len, sizeof(addr.in));
	CT_EXPECT_MEMEQ(&addr, &wanted, sizeof(addr.in));
	len = 4;
	CT_EXPECT_EQ(fi_getpeer(t->ep, &addr, &len), -FI_ETOOSMALL);
	CT_EXPECT_EQ(len, sizeof(addr.in));

	wanted = fake_addr("10.0.0.9", 1111);
	memcpy(&ep_of(t->ep)->conn.id->route.addr.src_sin, &wanted, sizeof(wanted.in));
	len = sizeof(addr);
	CT_EXPECT_EQ(fi_getname(&t->ep->fid, &addr, &len), 0);
	CT_EXPECT_MEMEQ(&addr, &wanted, sizeof(addr.in));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The control connection of iWARP: every event in every state, and what may happen
 * instead of it. */
#include <errno.h>
#include "control_conn.h"

static const char *const names[] = {"NONE",	 "EXPECTED", "ADDR", "ROUTE",
				    "REQUESTED", "ACCEPTED", "UP",   "GONE"};

static const enum pvb_control_conn_state states[] = {
	PVB_CONTROL_CONN_ADDR,	   PVB_CONTROL_CONN_ROUTE, PVB_CONTROL_CONN_REQUESTED,
	PVB_CONTROL_CONN_ACCEPTED, PVB_CONTROL_CONN_UP,
};

static const enum rdma_cm_event_type events[] = {
	RDMA_CM_EVENT_ADDR_RESOLVED,	RDMA_CM_EVENT_ADDR_ERROR,
	RDMA_CM_EVENT_ROUTE_RESOLVED,	RDMA_CM_EVENT_ROUTE_ERROR,
	RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_CONNECT_ERROR,
	RDMA_CM_EVENT_UNREACHABLE,	RDMA_CM_EVENT_REJECTED,
	RDMA_CM_EVENT_ESTABLISHED,	RDMA_CM_EVENT_DISCONNECTED,
	RDMA_CM_EVENT_DEVICE_REMOVAL,	RDMA_CM_EVENT_MULTICAST_JOIN,
	RDMA_CM_EVENT_MULTICAST_ERROR,	RDMA_CM_EVENT_ADDR_CHANGE,
	RDMA_CM_EVENT_TIMEWAIT_EXIT,
};

static bool ends(enum rdma_cm_event_type event)
{
	switch (event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return true;
	default:
		return false;
	}
}

/* Everything that neither ends it nor stands here is ignored. */
static enum pvb_control_conn_state after(enum pvb_control_conn_state from,
					 enum rdma_cm_event_type event)
{
	static const struct {
		enum pvb_control_conn_state from;
		enum rdma_cm_event_type event;
		enum pvb_control_conn_state to;
	} rows[] = {
		{PVB_CONTROL_CONN_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED,
		 PVB_CONTROL_CONN_ROUTE},
		{PVB_CONTROL_CONN_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED,
		 PVB_CONTROL_CONN_REQUESTED},
		{PVB_CONTROL_CONN_REQUESTED, RDMA_CM_EVENT_ESTABLISHED,
		 PVB_CONTROL_CONN_UP},
		{PVB_CONTROL_CONN_ACCEPTED, RDMA_CM_EVENT_ESTABLISHED,
		 PVB_CONTROL_CONN_UP},
	};

	if (ends(event))
		return from == PVB_CONTROL_CONN_UP ? PVB_CONTROL_CONN_UP
						   : PVB_CONTROL_CONN_NONE;
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		if (rows[i].from == from && rows[i].event == event)
			return rows[i].to;
	}
	return from;
}

static void check_event(enum pvb_control_conn_state from, enum rdma_cm_event_type event)
{
	const enum pvb_control_conn_state to = after(from, event);
	struct control_conn_world s;

	if (!control_conn_open(&s, from))
		return;
	fake_event(s.control_conn->id, event, -ETIMEDOUT, NULL, 0);
	if (from == PVB_CONTROL_CONN_UP) {
		expect_no_event(s.w.eq);
		CT_EXPECT_EQ(s.qp->control_qp->lost, ends(event));
		CT_EXPECT_EQ(ep_of(s.ep)->conn.state, PVB_CONN_CONNECTED);
	} else if (to == PVB_CONTROL_CONN_NONE) {
		expect_without(&s);
	} else if (to == PVB_CONTROL_CONN_UP) {
		expect_connected(&s);
		CT_EXPECT_TRUE(s.qp->control_qp->up);
	} else {
		expect_no_event(s.w.eq);
	}
	CT_EXPECT_EQ(s.control_conn->state, to);
	control_conn_end(&s);
}

CT_TEST(control_conn, every_event_in_every_state_has_its_outcome)
{
	for (size_t s = 0; s < CRN_COUNT(states); s++) {
		for (size_t e = 0; e < CRN_COUNT(events); e++) {
			CT_NOTE("%s in state %s", rdma_event_str(events[e]),
				names[states[s]]);
			check_event(states[s], events[e]);
		}
	}
}

/* What becomes of the first connection while the second one is made. */
static void check_first(enum pvb_control_conn_state from, enum rdma_cm_event_type event)
{
	struct control_conn_world s;

	if (!control_conn_open(&s, from))
		return;
	fake_event(s.id, event, 28, NULL, 0);
	if (event == RDMA_CM_EVENT_DISCONNECTED) {
		expect_connected(&s);
		expect_event(s.w.eq, FI_SHUTDOWN, &s.ep->fid, NULL, 0);
		CT_EXPECT_EQ(ep_of(s.ep)->conn.state, PVB_CONN_SHUTDOWN);
	} else if (ends(event)) {
		expect_eq_error(s.w.eq, &s.ep->fid,
				event == RDMA_CM_EVENT_REJECTED		? FI_ECONNREFUSED
				: event == RDMA_CM_EVENT_DEVICE_REMOVAL ? FI_ENODEV
									: FI_EHOSTUNREACH,
				28);
		CT_EXPECT_EQ(ep_of(s.ep)->conn.state, PVB_CONN_FAILED);
	} else {
		CT_EXPECT_EQ(s.control_conn->state, from);
	}
	expect_no_event(s.w.eq);
	if (ends(event)) {
		CT_EXPECT_EQ(s.control_conn->state, PVB_CONTROL_CONN_NONE);
		CT_EXPECT_EQ(s.control_conn->id, NULL);
		CT_EXPECT_TRUE(crn_list_empty(&ep_of(s.ep)->domain->fabric->expected));
	}
	control_conn_end(&s);
}
CT_TEST(control_conn, the_end_of_the_first_connection_is_its_end)
{
	static const enum pvb_control_conn_state rows[] = {PVB_CONTROL_CONN_EXPECTED,
							   PVB_CONTROL_CONN_ADDR,
							   PVB_CONTROL_CONN_ROUTE,
							   PVB_CONTROL_CONN_REQUESTED,
							   PVB_CONTROL_CONN_ACCEPTED};

	for (size_t s = 0; s < CRN_COUNT(rows); s++) {
		for (size_t e = 0; e < CRN_COUNT(events); e++) {
			CT_NOTE("%s in state %s", rdma_event_str(events[e]),
				names[rows[s]]);
			check_first(rows[s], events[e]);
		}
	}
}

CT_TEST(control_conn, an_endpoint_is_closed_in_any_state)
{
	struct control_conn_world s;

	for (enum pvb_control_conn_state i = PVB_CONTROL_CONN_EXPECTED;
	     i <= PVB_CONTROL_CONN_UP; i++) {
		CT_NOTE("state %s", names[i]);
		CT_ASSERT_TRUE(control_conn_open(&s, i));
		if (s.control_conn->id)
			fake_event(s.control_conn->id, RDMA_CM_EVENT_DISCONNECTED, 0,
				   NULL, 0);
		control_conn_end(&s);
	}
}

CT_TEST(control_conn, shutting_down_waits_until_it_is_connected)
{
	struct control_conn_world s;

	CT_ASSERT_TRUE(control_conn_open(&s, PVB_CONTROL_CONN_EXPECTED));
	CT_EXPECT_EQ(fi_shutdown(s.ep, 0), -FI_ENOTCONN);
	ct_time_pass(PATIENCE);
	expect_without(&s);
	CT_EXPECT_EQ(fi_shutdown(s.ep, 0), 0);
	control_conn_end(&s);
}

CT_TEST(control_conn, it_is_offered_and_not_a_queue_pair_that_nobody_could_reach)
{
	struct pvb_cm_data data;
	struct control_conn_world s;
	unsigned int ids;

	CT_ASSERT_TRUE(control_conn_requester(&s, 0));
	ids = fake_count(FAKE_CREATE_ID);
	CT_EXPECT_EQ(fake_message.call, FAKE_CONNECT);
	pvb_cm_parse(&data, fake_message.data, fake_message.len);
	CT_EXPECT_EQ(data.flags, PVB_CM_WORD | PVB_CM_CONTROL_CONN);
	CT_EXPECT_TRUE(data.control_conn);
	CT_EXPECT_EQ(data.cookie, 0);
	CT_EXPECT_EQ(data.word.addr, (uintptr_t)s.qp->control_qp->area);
	CT_EXPECT_FALSE(((struct fake_mr *)s.qp->control_qp->area_mr)->access &
			IBV_ACCESS_REMOTE_ATOMIC);
	/* The peer did not take the offer. */
	expect_without(&s);
	CT_EXPECT_EQ(fake_count(FAKE_CREATE_ID), ids);
	control_conn_end(&s);
}

CT_TEST(control_conn, it_goes_where_the_first_one_went_and_sends_the_cookie)
{
	const union crn_addr from = fake_addr(WORLD_ADDR, 0);
	struct pvb_cm_data data;
	struct control_conn_world s;

	CT_ASSERT_TRUE(control_conn_requester(&s, COOKIE));
	control_conn_progress(&s);
	CT_EXPECT_EQ(fake_message.call, FAKE_RESOLVE_ADDR);
	CT_EXPECT_MEMEQ(&fake_message.src.in, &from.in, sizeof(from.in));
	CT_EXPECT_MEMEQ(&fake_message.dest, rdma_get_peer_addr(s.id),
			sizeof(fake_message.dest.in));
	fake_id_device(s.control_conn->id, &fake_devices[0]);
	fake_event(s.control_conn->id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	fake_event(s.control_conn->id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	control_conn_progress(&s);
	CT_EXPECT_EQ(fake_message.call, FAKE_CONNECT);
	CT_EXPECT_EQ(fake_message.param.qp_num, s.qp->control_qp->ibv->qp_num);
	pvb_cm_parse(&data, fake_message.data, fake_message.len);
	CT_EXPECT_TRUE(data.shows);
	CT_EXPECT_EQ(data.cookie, COOKIE);
	control_conn_end(&s);
}

CT_TEST(control_conn, one_that_takes_too_long_is_done_without)
{
	static const enum pvb_control_conn_state rows[] = {PVB_CONTROL_CONN_EXPECTED,
							   PVB_CONTROL_CONN_ADDR,
							   PVB_CONTROL_CONN_ROUTE,
							   PVB_CONTROL_CONN_REQUESTED,
							   PVB_CONTROL_CONN_ACCEPTED};
	struct control_conn_world s;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("state %s", names[rows[i]]);
		CT_ASSERT_TRUE(control_conn_open(&s, rows[i]));
		ct_time_pass(PATIENCE - 1);
		control_conn_progress(&s);
		ct_log_reset();
		ct_time_pass(1);
		expect_without(&s);
		CT_EXPECT_WARNED(WORLD_PEER);
		/* It may come all the same. */
		if (s.pep) {
			cookie_shown(s.pep, s.control_conn->cookie);
			control_conn_progress(&s);
			CT_EXPECT_EQ(fake_count(FAKE_REJECT), 1);
		}
		control_conn_end(&s);
	}
}

CT_TEST(control_conn, what_rdma_cm_refuses_costs_the_control_qp_only)
{
	static const struct {
		enum pvb_control_conn_state from;
		enum rdma_cm_event_type event;
		enum fake_call call;
	} rows[] = {
		{PVB_CONTROL_CONN_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED, FAKE_RESOLVE_ROUTE},
		{PVB_CONTROL_CONN_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED, FAKE_CONNECT},
	};
	struct control_conn_world s;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_ASSERT_TRUE(control_conn_open(&s, rows[i].from));
		fake_fail(rows[i].call, 1, EIO);
		fake_event(s.control_conn->id, rows[i].event, 0, NULL, 0);
		expect_without(&s);
		control_conn_end(&s);
	}
	CT_ASSERT_TRUE(control_conn_requester(&s, COOKIE));
	fake_fail(FAKE_CREATE_ID, 1, ENODEV);
	expect_without(&s);
	control_conn_end(&s);
	CT_ASSERT_TRUE(control_conn_requester(&s, COOKIE));
	fake_fail(FAKE_RESOLVE_ADDR, 1, EADDRNOTAVAIL);
	expect_without(&s);
	control_conn_end(&s);
	CT_ASSERT_TRUE(control_conn_open(&s, PVB_CONTROL_CONN_EXPECTED));
	fake_fail(FAKE_ACCEPT, 1, EINVAL);
	cookie_shown(s.pep, s.control_conn->cookie);
	expect_without(&s);
	control_conn_end(&s);
}

CT_TEST(control_conn, without_descriptors_for_its_timer_there_is_none)
{
	struct control_conn_world s;
	struct fi_info *info = control_conn_requested(&s);

	CT_ASSERT_NE(info, NULL);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	ct_fds_left(0);
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), 0);
	ct_fds_restore();
	CT_EXPECT_EQ(cookie_given(), 0);
	control_conn_end(&s);

	CT_ASSERT_TRUE(control_conn_requester(&s, COOKIE));
	ct_fds_left(0);
	expect_without(&s);
	ct_fds_restore();
	control_conn_end(&s);
}

CT_TEST(control_conn, infiniband_has_none_whatever_a_peer_says)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];
	struct control_conn_world s;

	CT_ASSERT_TRUE(control_conn_world(&s));
	world_close(&s.w);
	fake_devices[0].ibv.transport_type = IBV_TRANSPORT_IB;
	CT_ASSERT_TRUE(world_open_domain(&s.w, NULL));
	CT_ASSERT_TRUE(world_add_ep(&s.w, NULL, &s.ep));
	CT_EXPECT_EQ(fi_connect(s.ep, NULL, NULL, 0), 0);
	control_conn_of_ep(&s);
	fake_id_device(s.id, &fake_devices[0]);
	fake_event(s.id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	fake_event(s.id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	control_conn_answer(bytes, COOKIE);
	fake_event(s.id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, bytes, sizeof(bytes));
	expect_without(&s);
	control_conn_end(&s);
}

CT_TEST(control_conn, what_only_the_targets_processor_can_do_needs_it)
{
	struct fi_rma_iov range = {DURABLE_ADDR, 8, KEY_REQUESTS};
	struct iovec iov = {(char[8]){0}, 8};
	struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.rma_iov = &range,
		.rma_iov_count = 1,
	};
	struct control_conn_world s;

	CT_ASSERT_TRUE(control_conn_open(&s, PVB_CONTROL_CONN_UP));
	CT_EXPECT_EQ(fi_writemsg(s.ep, &msg, FI_COMMIT_COMPLETE), 0);
	CT_EXPECT_EQ(fake_newest(&qp_of(s.ep)->sq)->opcode, IBV_WR_RDMA_READ);
	control_conn_end(&s);

	CT_ASSERT_TRUE(control_conn_open(&s, PVB_CONTROL_CONN_REQUESTED));
	fake_event(s.control_conn->id, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED, NULL, 0);
	expect_without(&s);
	CT_EXPECT_EQ(fi_writemsg(s.ep, &msg, FI_COMMIT_COMPLETE), -FI_EOPNOTSUPP);
	range.key = KEY_VISIBLE;
	CT_EXPECT_EQ(fi_writemsg(s.ep, &msg, FI_COMMIT_COMPLETE), 0);
	control_conn_end(&s);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Every rdma_cm event in every state of a connection. */
#include <errno.h>
#include "cm/cm.h"
#include "cm/internal.h"
#include "../world_cm.h"

static const enum pvb_conn_state states[] = {
	PVB_CONN_ADDR,	    PVB_CONN_ROUTE,    PVB_CONN_REQUESTED, PVB_CONN_ACCEPTED,
	PVB_CONN_CONNECTED, PVB_CONN_SHUTDOWN, PVB_CONN_FAILED,
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

/* What an event does: the next state, the event (or the error) that is reported. */
struct outcome {
	enum pvb_conn_state from;
	enum rdma_cm_event_type event;
	enum pvb_conn_state to;
	uint32_t reported; /* 0: nothing */
	int err;	   /* instead: an error */
};

/* Events that mean the same before a connection stands. */
#define FAILS(from)                                                                     \
	{from, RDMA_CM_EVENT_ADDR_ERROR, PVB_CONN_FAILED, 0, FI_EHOSTUNREACH},          \
		{from, RDMA_CM_EVENT_ROUTE_ERROR, PVB_CONN_FAILED, 0, FI_EHOSTUNREACH}, \
		{from, RDMA_CM_EVENT_CONNECT_ERROR, PVB_CONN_FAILED, 0,                 \
		 FI_EHOSTUNREACH},                                                      \
		{from, RDMA_CM_EVENT_UNREACHABLE, PVB_CONN_FAILED, 0, FI_EHOSTUNREACH}, \
		{from, RDMA_CM_EVENT_REJECTED, PVB_CONN_FAILED, 0, FI_ECONNREFUSED},    \
	{                                                                               \
		from, RDMA_CM_EVENT_DEVICE_REMOVAL, PVB_CONN_FAILED, 0, FI_ENODEV       \
	}

/* Everything else is ignored. */
static const struct outcome outcomes[] = {
	FAILS(PVB_CONN_ADDR),
	FAILS(PVB_CONN_ROUTE),
	FAILS(PVB_CONN_REQUESTED),
	FAILS(PVB_CONN_ACCEPTED),
	{PVB_CONN_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED, PVB_CONN_ROUTE, 0, 0},
	{PVB_CONN_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED, PVB_CONN_REQUESTED, 0, 0},
	{PVB_CONN_REQUESTED, RDMA_CM_EVENT_CONNECT_RESPONSE, PVB_CONN_CONNECTED,
	 FI_CONNECTED, 0},
	{PVB_CONN_REQUESTED, RDMA_CM_EVENT_ESTABLISHED, PVB_CONN_CONNECTED, FI_CONNECTED,
	 0},
	{PVB_CONN_ACCEPTED, RDMA_CM_EVENT_ESTABLISHED, PVB_CONN_CONNECTED, FI_CONNECTED,
	 0},
	{PVB_CONN_ACCEPTED, RDMA_CM_EVENT_DISCONNECTED, PVB_CONN_FAILED, 0,
	 FI_ECONNABORTED},
	{PVB_CONN_CONNECTED, RDMA_CM_EVENT_DISCONNECTED, PVB_CONN_SHUTDOWN, FI_SHUTDOWN,
	 0},
	{PVB_CONN_CONNECTED, RDMA_CM_EVENT_DEVICE_REMOVAL, PVB_CONN_SHUTDOWN, FI_SHUTDOWN,
	 0},
};

static struct outcome outcome_of(enum pvb_conn_state from, enum rdma_cm_event_type event)
{
	for (size_t i = 0; i < CRN_COUNT(outcomes); i++) {
		if (outcomes[i].from == from && outcomes[i].event == event)
			return outcomes[i];
	}
	return (struct outcome){from, event, from, 0, 0};
}

static bool ended(enum pvb_conn_state state)
{
	return state == PVB_CONN_SHUTDOWN || state == PVB_CONN_FAILED;
}

static void check_event(const struct outcome *wanted)
{
	struct state state;
	struct world w;
	enum ibv_qp_state qp_state;

	world_reset();
	if (!world_open_domain(&w, NULL) || !state_open(&w, wanted->from, &state))
		return;
	qp_state = qp_of(state.ep)->ibv.state;
	fake_event(state.id, wanted->event, 28, NULL, 0);
	if (wanted->reported)
		expect_event(w.eq, wanted->reported, &state.ep->fid, NULL, 0);
	else if (wanted->err)
		expect_eq_error(w.eq, &state.ep->fid, wanted->err, 28);
	expect_no_event(w.eq);
	CT_EXPECT_EQ(state_of(state.ep), wanted->to);
	if (ended(wanted->to))
		CT_EXPECT_EQ(qp_of(state.ep)->ibv.state, IBV_QPS_ERR);
	else if (wanted->to == wanted->from)
		CT_EXPECT_EQ(qp_of(state.ep)->ibv.state, qp_state);
	state_close(&state);
	world_close(&w);
}

CT_TEST(cm_state, every_event_in_every_state_has_its_outcome)
{
	struct outcome wanted;

	for (size_t s = 0; s < CRN_COUNT(states); s++) {
		for (size_t e = 0; e < CRN_COUNT(events); e++) {
			CT_NOTE("%s in state %s", rdma_event_str(events[e]),
				state_name(states[s]));
			wanted = outcome_of(states[s], events[e]);
			check_event(&wanted);
		}
	}
}

CT_TEST(cm_state, a_kernel_error_is_the_error_reported)
{
	struct state state;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_ASSERT_TRUE(state_open(&w, PVB_CONN_REQUESTED, &state));
	fake_event(state.id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
	expect_eq_error(w.eq, &state.ep->fid, FI_ETIMEDOUT, -ETIMEDOUT);
	state_close(&state);
	world_close(&w);
}

CT_TEST(cm_state, what_happens_to_a_request_before_it_is_accepted_is_told_by_accept)
{
	struct state state;
	struct world w;

	for (size_t e = 0; e < CRN_COUNT(events); e++) {
		CT_NOTE("%s", rdma_event_str(events[e]));
		world_reset();
		CT_ASSERT_TRUE(world_open_domain(&w, NULL));
		CT_ASSERT_TRUE(state_open(&w, STATE_TAKEN, &state));
		fake_event(state.id, events[e], 0, NULL, 0);
		expect_no_event(w.eq);
		CT_EXPECT_EQ(fi_accept(state.ep, NULL, 0),
			     events[e] == RDMA_CM_EVENT_DEVICE_REMOVAL
				     ? -FI_ENODEV
				     : -FI_ECONNABORTED);
		CT_EXPECT_EQ(fake_count(FAKE_ACCEPT), 0);
		state_close(&state);
		world_close(&w);
	}
}

CT_TEST(cm_state, a_peer_that_disconnects_is_answered)
{
	static const enum pvb_conn_state rows[] = {PVB_CONN_CONNECTED, PVB_CONN_ACCEPTED};
	struct state state;
	uint8_t buf[512];
	uint32_t event;
	struct world w;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		world_reset();
		CT_ASSERT_TRUE(world_open_domain(&w, NULL));
		CT_ASSERT_TRUE(state_open(&w, rows[i], &state));
		fake_event(state.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
		CT_EXPECT_NE(fi_eq_read(w.eq, &event, buf, sizeof(buf), 0), -FI_EAGAIN);
		CT_EXPECT_EQ(fake_count(FAKE_DISCONNECT), 1);
		state_close(&state);
		world_close(&w);
	}
}

CT_TEST(cm_state, a_responder_is_connected_when_the_requester_confirms)
{
	struct state state;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_ASSERT_TRUE(state_open(&w, PVB_CONN_ACCEPTED, &state));
	CT_EXPECT_EQ(qp_of(state.ep)->ibv.state, IBV_QPS_RTS);
	expect_no_event(w.eq);
	fake_event(state.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(w.eq, FI_CONNECTED, &state.ep->fid, NULL, 0);
	CT_EXPECT_EQ(send_number(state.ep, 1), 0);
	state_close(&state);
	world_close(&w);
}

/* The kernel moves the queue pair of iWARP; ESTABLISHED carries the answer. */
CT_TEST(cm_state, an_iwarp_requester_may_send_once_established)
{
	struct state state;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_ASSERT_TRUE(state_open(&w, PVB_CONN_REQUESTED, &state));
	qp_of(state.ep)->ibv.state = IBV_QPS_RTS;
	fake_event(state.id, RDMA_CM_EVENT_ESTABLISHED, 0, "\3abc", 4);
	expect_event(w.eq, FI_CONNECTED, &state.ep->fid, "abc", 3);
	CT_EXPECT_EQ(fake_count(FAKE_ESTABLISH), 0);
	CT_EXPECT_EQ(send_number(state.ep, 1), 0);
	state_close(&state);
	world_close(&w);
}

CT_TEST(cm_state, shutting_down_works_once_connected_only)
{
	static const struct {
		enum pvb_conn_state state;
		int wanted;
	} rows[] = {
		{STATE_TAKEN, -FI_ENOTCONN},
		{PVB_CONN_ADDR, -FI_ENOTCONN},
		{PVB_CONN_ROUTE, -FI_ENOTCONN},
		{PVB_CONN_REQUESTED, -FI_ENOTCONN},
		{PVB_CONN_ACCEPTED, -FI_ENOTCONN},
		{PVB_CONN_CONNECTED, 0},
		{PVB_CONN_SHUTDOWN, 0},
		{PVB_CONN_FAILED, -FI_ENOTCONN},
	};
	struct state state;
	struct world w;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("state %s", state_name(rows[i].state));
		world_reset();
		CT_ASSERT_TRUE(world_open_domain(&w, NULL));
		CT_ASSERT_TRUE(state_open(&w, rows[i].state, &state));
		CT_EXPECT_EQ(fi_shutdown(state.ep, 1), -FI_EINVAL);
		CT_EXPECT_EQ(fi_shutdown(state.ep, 0), rows[i].wanted);
		state_close(&state);
		world_close(&w);
	}
}

CT_TEST(cm_state, shutting_down_flushes_at_once_and_is_reported_when_the_peer_answers)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	CT_EXPECT_EQ(send_number(w.ep, 1), 0);
	CT_EXPECT_EQ(fi_shutdown(w.ep, 0), 0);
	CT_EXPECT_EQ(fake_message.call, FAKE_DISCONNECT);
	expect_cq_error(w.cq, NUMBER(1), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_no_event(w.eq);
	fake_event(w.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	expect_event(w.eq, FI_SHUTDOWN, &w.ep->fid, NULL, 0);
	CT_EXPECT_EQ(fi_shutdown(w.ep, 0), 0);
	expect_no_event(w.eq);
	world_close(&w);
}

CT_TEST(cm_state, a_shutdown_that_rdma_cm_refuses_is_an_error)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	fake_fail(FAKE_DISCONNECT, 1, EINVAL);
	CT_EXPECT_EQ(fi_shutdown(w.ep, 0), -FI_EINVAL);
	world_close(&w);
}

/* A queue that another thread fills between a look and an event. */
static bool open_full(struct world *w, enum pvb_conn_state wanted, struct state *state)
{
	struct fi_eq_attr attr = {.flags = FI_WRITE};
	struct fi_eq_entry entry = {0};

	world_reset();
	if (!world_open_domain(w, NULL) || !world_swap_eq(w, &attr) ||
	    !state_open(w, wanted, state))
		return false;
	while (fi_eq_write(w->eq, FI_NOTIFY, &entry, sizeof(entry), 0) > 0)
		;
	return true;
}

/* The program would wait for FI_CONNECTED, and the peer for data. */
CT_TEST(cm_state, a_connection_nobody_can_be_told_of_does_not_stand)
{
	const struct pvb_cm_event event = {.type = RDMA_CM_EVENT_CONNECT_RESPONSE};
	struct state state;
	struct world w;

	CT_ASSERT_TRUE(open_full(&w, PVB_CONN_REQUESTED, &state));
	pthread_mutex_lock(&ep_of(state.ep)->eq->cm_lock);
	pvb_cm_ep_event(ep_of(state.ep), &event);
	pthread_mutex_unlock(&ep_of(state.ep)->eq->cm_lock);
	CT_EXPECT_EQ(fake_message.call, FAKE_DISCONNECT);
	CT_EXPECT_EQ(qp_of(state.ep)->ibv.state, IBV_QPS_ERR);
	CT_EXPECT_EQ(send_number(state.ep, 1), -FI_ESHUTDOWN);
	CT_EXPECT_STRSTR(ct_log_last(), "lost");
	state_close(&state);
	world_close(&w);
}

CT_TEST(cm_state, a_failure_nobody_can_be_told_of_fails_all_the_same)
{
	const struct pvb_cm_event event = {.type = RDMA_CM_EVENT_ROUTE_ERROR,
					   .status = -ENODEV};
	struct state state;
	struct world w;

	CT_ASSERT_TRUE(open_full(&w, PVB_CONN_ROUTE, &state));
	pthread_mutex_lock(&ep_of(state.ep)->eq->cm_lock);
	pvb_cm_ep_event(ep_of(state.ep), &event);
	pthread_mutex_unlock(&ep_of(state.ep)->eq->cm_lock);
	CT_EXPECT_EQ(state_of(state.ep), PVB_CONN_FAILED);
	CT_EXPECT_STRSTR(ct_log_last(), "lost");
	state_close(&state);
	world_close(&w);
}

CT_TEST(cm_state, an_endpoint_without_event_queue_has_no_connection)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	CT_ASSERT_EQ(fi_endpoint(w.domain, w.info, &w.ep, NULL), 0);
	CT_EXPECT_EQ(fi_shutdown(w.ep, 0), -FI_ENOTCONN);
	world_close(&w);
}

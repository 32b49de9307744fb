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

static void check_event(struct world *w, const struct outcome *wanted)
{
	enum ibv_qp_state qp_state;

	CT_ASSERT_TRUE(state_open(w, wanted->from));
	qp_state = qp_of(w->ep)->ibv.state;
	fake_event(w->id, wanted->event, 28, NULL, 0);
	if (wanted->reported)
		expect_event(w->eq, wanted->reported, &w->ep->fid, NULL, 0);
	else if (wanted->err)
		expect_eq_error(w->eq, &w->ep->fid, wanted->err, 28);
	expect_no_event(w->eq);
	CT_EXPECT_EQ(state_of(w->ep), wanted->to);
	if (ended(wanted->to))
		CT_EXPECT_EQ(qp_of(w->ep)->ibv.state, IBV_QPS_ERR);
	else if (wanted->to == wanted->from)
		CT_EXPECT_EQ(qp_of(w->ep)->ibv.state, qp_state);
}

CT_FIXTURE(cm_state, struct world, world_start_domain, world_close);

CT_TEST_F(cm_state, every_event_in_every_state_has_its_outcome)
{
	struct outcome wanted;

	for (size_t s = 0; s < CRN_COUNT(states); s++) {
		for (size_t e = 0; e < CRN_COUNT(events); e++) {
			CT_NOTE("%s in state %s", rdma_event_str(events[e]),
				state_name(states[s]));
			wanted = outcome_of(states[s], events[e]);
			check_event(t, &wanted);
		}
	}
}

CT_TEST_F(cm_state, a_kernel_error_is_the_error_reported)
{
	CT_ASSERT_TRUE(state_reach(t, PVB_CONN_REQUESTED));
	fake_event(t->id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
	expect_eq_error(t->eq, &t->ep->fid, FI_ETIMEDOUT, -ETIMEDOUT);
}

CT_TEST_F(cm_state, what_happens_to_a_request_before_it_is_accepted_is_told_by_accept)
{
	for (size_t e = 0; e < CRN_COUNT(events); e++) {
		CT_NOTE("%s", rdma_event_str(events[e]));
		CT_ASSERT_TRUE(state_open(t, STATE_TAKEN));
		fake_event(t->id, events[e], 0, NULL, 0);
		expect_no_event(t->eq);
		CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0),
			     events[e] == RDMA_CM_EVENT_DEVICE_REMOVAL
				     ? -FI_ENODEV
				     : -FI_ECONNABORTED);
		CT_EXPECT_EQ(fake_count(FAKE_ACCEPT), 0);
	}
}

CT_TEST_F(cm_state, a_peer_that_disconnects_is_answered)
{
	static const enum pvb_conn_state rows[] = {PVB_CONN_CONNECTED, PVB_CONN_ACCEPTED};
	uint8_t buf[512];
	uint32_t event;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_ASSERT_TRUE(state_open(t, rows[i]));
		fake_event(t->id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
		CT_EXPECT_NE(fi_eq_read(t->eq, &event, buf, sizeof(buf), 0), -FI_EAGAIN);
		CT_EXPECT_EQ(fake_count(FAKE_DISCONNECT), 1);
	}
}

CT_TEST_F(cm_state, a_responder_is_connected_when_the_requester_confirms)
{
	CT_ASSERT_TRUE(state_reach(t, PVB_CONN_ACCEPTED));
	CT_EXPECT_EQ(qp_of(t->ep)->ibv.state, IBV_QPS_RTS);
	expect_no_event(t->eq);
	fake_event(t->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(t->eq, FI_CONNECTED, &t->ep->fid, NULL, 0);
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
}

/* The kernel moves the queue pair of iWARP; ESTABLISHED carries the answer. */
CT_TEST_F(cm_state, an_iwarp_requester_may_send_once_established)
{
	CT_ASSERT_TRUE(state_reach(t, PVB_CONN_REQUESTED));
	qp_of(t->ep)->ibv.state = IBV_QPS_RTS;
	fake_event(t->id, RDMA_CM_EVENT_ESTABLISHED, 0, "\3abc", 4);
	expect_event(t->eq, FI_CONNECTED, &t->ep->fid, "abc", 3);
	CT_EXPECT_EQ(fake_count(FAKE_ESTABLISH), 0);
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
}

CT_TEST_F(cm_state, shutting_down_works_once_connected_only)
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

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("state %s", state_name(rows[i].state));
		CT_ASSERT_TRUE(state_open(t, rows[i].state));
		CT_EXPECT_EQ(fi_shutdown(t->ep, 1), -FI_EINVAL);
		CT_EXPECT_EQ(fi_shutdown(t->ep, 0), rows[i].wanted);
	}
}

CT_TEST_F(cm_state, shutting_down_flushes_at_once_and_is_reported_when_the_peer_answers)
{
	CT_ASSERT_TRUE(world_reopen_connected(t, NULL));
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	CT_EXPECT_EQ(fi_shutdown(t->ep, 0), 0);
	CT_EXPECT_EQ(fake_message.call, FAKE_DISCONNECT);
	expect_cq_error(t->cq, NUMBER(1), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_no_event(t->eq);
	fake_event(t->id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	expect_event(t->eq, FI_SHUTDOWN, &t->ep->fid, NULL, 0);
	CT_EXPECT_EQ(fi_shutdown(t->ep, 0), 0);
	expect_no_event(t->eq);
}

CT_TEST_F(cm_state, a_shutdown_that_rdma_cm_refuses_is_an_error)
{
	CT_ASSERT_TRUE(world_reopen_connected(t, NULL));
	fake_fail(FAKE_DISCONNECT, 1, EINVAL);
	CT_EXPECT_EQ(fi_shutdown(t->ep, 0), -FI_EINVAL);
}

/* A queue that another thread fills between a look and an event. */
static bool open_full(struct world *w, enum pvb_conn_state wanted)
{
	struct fi_eq_attr attr = {.flags = FI_WRITE};
	struct fi_eq_entry entry = {0};

	if (!world_swap_eq(w, &attr) || !state_reach(w, wanted))
		return false;
	while (fi_eq_write(w->eq, FI_NOTIFY, &entry, sizeof(entry), 0) > 0)
		;
	return true;
}

static void event_arrives(struct fid_ep *ep, const struct pvb_cm_event *event)
{
	pthread_mutex_lock(&ep_of(ep)->eq->cm_lock);
	pvb_cm_ep_event(ep_of(ep), event);
	pthread_mutex_unlock(&ep_of(ep)->eq->cm_lock);
}

/* The program would wait for FI_CONNECTED, and the peer for data. */
CT_TEST_F(cm_state, a_connection_nobody_can_be_told_of_does_not_stand)
{
	const struct pvb_cm_event event = {.type = RDMA_CM_EVENT_CONNECT_RESPONSE};

	CT_ASSERT_TRUE(open_full(t, PVB_CONN_REQUESTED));
	event_arrives(t->ep, &event);
	CT_EXPECT_EQ(fake_message.call, FAKE_DISCONNECT);
	CT_EXPECT_EQ(qp_of(t->ep)->ibv.state, IBV_QPS_ERR);
	CT_EXPECT_EQ(send_number(t->ep, 1), -FI_ESHUTDOWN);
	CT_EXPECT_DATA(ct_log_warning(), fi_strerror(FI_EAGAIN));
}

CT_TEST_F(cm_state, a_failure_nobody_can_be_told_of_fails_all_the_same)
{
	const struct pvb_cm_event event = {.type = RDMA_CM_EVENT_ROUTE_ERROR,
					   .status = -ENODEV};

	CT_ASSERT_TRUE(open_full(t, PVB_CONN_ROUTE));
	event_arrives(t->ep, &event);
	CT_EXPECT_EQ(state_of(t->ep), PVB_CONN_FAILED);
	CT_EXPECT_DATA(ct_log_warning(), fi_strerror(FI_EAGAIN));
}

CT_TEST_F(cm_state, an_endpoint_without_event_queue_has_no_connection)
{
	CT_ASSERT_EQ(fi_endpoint(t->domain, t->info, &t->ep, NULL), 0);
	CT_EXPECT_EQ(fi_shutdown(t->ep, 0), -FI_ENOTCONN);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The second connection of iWARP: both sides, every event in every state, and what may
 * happen instead of it.
 */
#include <errno.h>
#include <rdma/fi_ext_cairn.h>
#include "../world_cm.h"
#include "durable.h"

#define TICKET 0x123456abcdefu
#define PATIENCE 2000 /* FI_PVERBS_RESOLVE_TIMEOUT, ms */

struct second_world {
	struct world w;
	struct fid_pep *pep; /* of a responder */
	struct fid_ep *ep;
	struct pvb_conn *conn;
	struct pvb_second *second;
	struct rdma_cm_id *id; /* the first connection's */
};

static bool world_iwarp(struct second_world *s)
{
	*s = (struct second_world){0};
	world_reset();
	ct_time_stop();
	pvb_params.durable = PVB_DURABLE_ON;
	pvb_params.resolve_timeout = PATIENCE;
	fake_devices[0].ibv.transport_type = IBV_TRANSPORT_IWARP;
	return world_open_domain(&s->w, NULL);
}

static void end(struct second_world *s)
{
	if (s->ep)
		CT_EXPECT_EQ(fi_close(&s->ep->fid), 0);
	if (s->pep)
		CT_EXPECT_EQ(fi_close(&s->pep->fid), 0);
	world_close(&s->w);
}

static void of_ep(struct second_world *s)
{
	s->conn = &ep_of(s->ep)->conn;
	s->second = &s->conn->lane->second;
	s->id = s->conn->id;
}

/* What a responder's answer says: ticket 0, that there will be no second one. */
static void answer(uint8_t out[PVB_CM_REQ_SIZE], uint64_t ticket)
{
	const struct pvb_cm_offer offer = {
		.word = {DURABLE_WORD, 0x5000},
		.second = ticket,
		.ticket = ticket,
	};

	pvb_cm_pack(out, "abc", 3, &offer);
}

/* A requester whose first connection is about to be reported as standing. */
static bool requester(struct second_world *s, uint64_t ticket)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];

	if (!world_iwarp(s) || !world_add_ep(&s->w, NULL, &s->ep))
		return false;
	CT_EXPECT_EQ(fi_connect(s->ep, NULL, NULL, 0), 0);
	of_ep(s);
	fake_id_device(s->id, &fake_devices[0]);
	s->id->route.addr.src_storage = *(struct sockaddr_storage *)&(union crn_addr){
		.in = fake_addr(WORLD_ADDR, 3333).in};
	fake_event(s->id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	fake_event(s->id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	expect_no_event(s->w.eq);
	answer(bytes, ticket);
	/* The kernel moves it. */
	qp_of(s->ep)->ibv.state = IBV_QPS_RTS;
	fake_event(s->id, RDMA_CM_EVENT_ESTABLISHED, 0, bytes, sizeof(bytes));
	return !ct_failed();
}

/* What a requester with a lane sends. */
static void request(uint8_t out[PVB_CM_REQ_SIZE])
{
	const struct pvb_cm_offer offer = {
		.word = {DURABLE_WORD, 0x5000},
		.second = true,
	};

	pvb_cm_pack(out, NULL, 0, &offer);
}

/* A request that offers one is there. */
static struct fi_info *requested(struct second_world *s)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];

	if (!world_iwarp(s) || !world_listen(&s->w, &s->pep))
		return NULL;
	request(bytes);
	s->id = request_arrives(s->pep, bytes, sizeof(bytes));
	return read_request(&s->w, s->pep, NULL, 0);
}

/* A responder that has answered. */
static bool responder(struct second_world *s)
{
	struct fi_info *info = requested(s);

	if (!info || !take_request(&s->w, info, &s->ep))
		return false;
	CT_EXPECT_EQ(fi_accept(s->ep, NULL, 0), 0);
	of_ep(s);
	return !ct_failed();
}

/* The ticket that the newest answer gave; 0: none. */
static uint64_t given(void)
{
	struct pvb_cm_data data;

	CT_EXPECT_EQ(fake_message.call, FAKE_ACCEPT);
	pvb_cm_parse(&data, fake_message.data, fake_message.len);
	return data.second ? data.ticket : 0;
}

static struct rdma_cm_id *shown(struct fid_pep *pep, uint64_t ticket)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];

	pvb_cm_pack_ticket(bytes, ticket);
	return request_arrives(pep, bytes, sizeof(bytes));
}

static const char *const names[] = {"NONE",	 "EXPECTED", "ADDR", "ROUTE",
				    "REQUESTED", "ACCEPTED", "UP",   "GONE"};

static void progress(struct second_world *s)
{
	expect_no_event(s->w.eq);
}

/* Leads to a state; the first connection stands. */
static bool second_open(struct second_world *s, enum pvb_second_state wanted)
{
	const bool responds =
		wanted == PVB_SECOND_EXPECTED || wanted == PVB_SECOND_ACCEPTED;
	uint64_t ticket;

	if (responds) {
		if (!responder(s))
			return false;
		ticket = given();
		fake_event(s->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
		if (wanted == PVB_SECOND_ACCEPTED)
			shown(s->pep, ticket);
		progress(s);
	} else {
		if (!requester(s, TICKET))
			return false;
		progress(s);
		if (s->second->id)
			fake_id_device(s->second->id, &fake_devices[0]);
		if (wanted > PVB_SECOND_ADDR)
			fake_event(s->second->id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL,
				   0);
		if (wanted > PVB_SECOND_ROUTE)
			fake_event(s->second->id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL,
				   0);
		progress(s);
		if (wanted > PVB_SECOND_ACCEPTED) {
			fake_event(s->second->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
			expect_event(s->w.eq, FI_CONNECTED, &s->ep->fid, "abc", 3);
		}
	}
	CT_EXPECT_EQ(s->second->state, wanted);
	CT_EXPECT_EQ(s->conn->state,
		     wanted == PVB_SECOND_UP ? PVB_CONN_CONNECTED : PVB_CONN_SECOND);
	return !ct_failed();
}

static void expect_connected(struct second_world *s)
{
	if (s->pep)
		expect_event(s->w.eq, FI_CONNECTED, &s->ep->fid, NULL, 0);
	else
		expect_event(s->w.eq, FI_CONNECTED, &s->ep->fid, "abc", 3);
}

/* Connected, and without a lane. */
static void expect_without(struct second_world *s)
{
	expect_connected(s);
	expect_no_event(s->w.eq);
	CT_EXPECT_EQ(s->conn->state, PVB_CONN_CONNECTED);
	CT_EXPECT_EQ(s->second->state, PVB_SECOND_NONE);
	CT_EXPECT_EQ(s->second->id, NULL);
	CT_EXPECT_FALSE(s->conn->lane->up);
	CT_EXPECT_EQ(send_number(s->ep, 1), 0);
}

static const enum pvb_second_state states[] = {
	PVB_SECOND_ADDR,     PVB_SECOND_ROUTE, PVB_SECOND_REQUESTED,
	PVB_SECOND_ACCEPTED, PVB_SECOND_UP,
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
static enum pvb_second_state after(enum pvb_second_state from,
				   enum rdma_cm_event_type event)
{
	static const struct {
		enum pvb_second_state from;
		enum rdma_cm_event_type event;
		enum pvb_second_state to;
	} rows[] = {
		{PVB_SECOND_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED, PVB_SECOND_ROUTE},
		{PVB_SECOND_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED, PVB_SECOND_REQUESTED},
		{PVB_SECOND_REQUESTED, RDMA_CM_EVENT_ESTABLISHED, PVB_SECOND_UP},
		{PVB_SECOND_ACCEPTED, RDMA_CM_EVENT_ESTABLISHED, PVB_SECOND_UP},
	};

	if (ends(event))
		return from == PVB_SECOND_UP ? PVB_SECOND_UP : PVB_SECOND_NONE;
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		if (rows[i].from == from && rows[i].event == event)
			return rows[i].to;
	}
	return from;
}

static void check_event(enum pvb_second_state from, enum rdma_cm_event_type event)
{
	const enum pvb_second_state to = after(from, event);
	struct second_world s;

	if (!second_open(&s, from))
		return;
	fake_event(s.second->id, event, -ETIMEDOUT, NULL, 0);
	if (from == PVB_SECOND_UP) {
		expect_no_event(s.w.eq);
		CT_EXPECT_EQ(s.conn->lane->lost, ends(event));
		CT_EXPECT_EQ(s.conn->state, PVB_CONN_CONNECTED);
	} else if (to == PVB_SECOND_NONE) {
		expect_without(&s);
	} else if (to == PVB_SECOND_UP) {
		expect_connected(&s);
		CT_EXPECT_TRUE(s.conn->lane->up);
	} else {
		expect_no_event(s.w.eq);
	}
	CT_EXPECT_EQ(s.second->state, to);
	end(&s);
}

CT_TEST(second, every_event_in_every_state_has_its_outcome)
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
static void check_first(enum pvb_second_state from, enum rdma_cm_event_type event)
{
	struct second_world s;

	if (!second_open(&s, from))
		return;
	fake_event(s.id, event, 28, NULL, 0);
	if (event == RDMA_CM_EVENT_DISCONNECTED) {
		expect_connected(&s);
		expect_event(s.w.eq, FI_SHUTDOWN, &s.ep->fid, NULL, 0);
		CT_EXPECT_EQ(s.conn->state, PVB_CONN_SHUTDOWN);
	} else if (ends(event)) {
		expect_eq_error(s.w.eq, &s.ep->fid,
				event == RDMA_CM_EVENT_REJECTED		? FI_ECONNREFUSED
				: event == RDMA_CM_EVENT_DEVICE_REMOVAL ? FI_ENODEV
									: FI_EHOSTUNREACH,
				28);
		CT_EXPECT_EQ(s.conn->state, PVB_CONN_FAILED);
	} else {
		CT_EXPECT_EQ(s.second->state, from);
	}
	expect_no_event(s.w.eq);
	if (ends(event)) {
		CT_EXPECT_EQ(s.second->state, PVB_SECOND_NONE);
		CT_EXPECT_EQ(s.second->id, NULL);
		CT_EXPECT_TRUE(crn_list_empty(&ep_of(s.ep)->domain->fabric->expected));
	}
	end(&s);
}

CT_TEST(second, the_end_of_the_first_connection_is_its_end)
{
	static const enum pvb_second_state rows[] = {PVB_SECOND_EXPECTED, PVB_SECOND_ADDR,
						     PVB_SECOND_ROUTE,
						     PVB_SECOND_REQUESTED,
						     PVB_SECOND_ACCEPTED};

	for (size_t s = 0; s < CRN_COUNT(rows); s++) {
		for (size_t e = 0; e < CRN_COUNT(events); e++) {
			CT_NOTE("%s in state %s", rdma_event_str(events[e]),
				names[rows[s]]);
			check_first(rows[s], events[e]);
		}
	}
}

CT_TEST(second, an_endpoint_is_closed_in_any_state)
{
	struct second_world s;

	for (enum pvb_second_state i = PVB_SECOND_EXPECTED; i <= PVB_SECOND_UP; i++) {
		CT_NOTE("state %s", names[i]);
		CT_ASSERT_TRUE(second_open(&s, i));
		if (s.second->id)
			fake_event(s.second->id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
		end(&s);
	}
}

CT_TEST(second, shutting_down_waits_until_it_is_connected)
{
	struct second_world s;

	CT_ASSERT_TRUE(second_open(&s, PVB_SECOND_EXPECTED));
	CT_EXPECT_EQ(fi_shutdown(s.ep, 0), -FI_ENOTCONN);
	ct_time_pass(PATIENCE);
	expect_without(&s);
	CT_EXPECT_EQ(fi_shutdown(s.ep, 0), 0);
	end(&s);
}

CT_TEST(second, it_is_offered_and_not_a_queue_pair_that_nobody_could_reach)
{
	struct pvb_cm_data data;
	struct second_world s;
	unsigned int ids;

	CT_ASSERT_TRUE(requester(&s, 0));
	ids = fake_count(FAKE_CREATE_ID);
	CT_EXPECT_EQ(fake_message.call, FAKE_CONNECT);
	pvb_cm_parse(&data, fake_message.data, fake_message.len);
	CT_EXPECT_EQ(data.flags, PVB_CM_WORD | PVB_CM_SECOND);
	CT_EXPECT_TRUE(data.second);
	CT_EXPECT_EQ(data.ticket, 0);
	CT_EXPECT_EQ(data.word.addr, (uintptr_t)s.conn->lane->area);
	CT_EXPECT_FALSE(((struct fake_mr *)s.conn->lane->area_mr)->access &
			IBV_ACCESS_REMOTE_ATOMIC);
	/* The peer did not take the offer. */
	expect_without(&s);
	CT_EXPECT_EQ(fake_count(FAKE_CREATE_ID), ids);
	end(&s);
}

CT_TEST(second, it_goes_where_the_first_one_went_and_shows_the_ticket)
{
	const union crn_addr from = fake_addr(WORLD_ADDR, 0);
	struct pvb_cm_data data;
	struct second_world s;

	CT_ASSERT_TRUE(requester(&s, TICKET));
	progress(&s);
	CT_EXPECT_EQ(fake_message.call, FAKE_RESOLVE_ADDR);
	CT_EXPECT_MEMEQ(&fake_message.src.in, &from.in, sizeof(from.in));
	CT_EXPECT_MEMEQ(&fake_message.dest, rdma_get_peer_addr(s.id),
			sizeof(fake_message.dest.in));
	fake_id_device(s.second->id, &fake_devices[0]);
	fake_event(s.second->id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	fake_event(s.second->id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	progress(&s);
	CT_EXPECT_EQ(fake_message.call, FAKE_CONNECT);
	CT_EXPECT_EQ(fake_message.param.qp_num, s.conn->lane->qp->qp_num);
	pvb_cm_parse(&data, fake_message.data, fake_message.len);
	CT_EXPECT_TRUE(data.shows);
	CT_EXPECT_EQ(data.ticket, TICKET);
	end(&s);
}

CT_TEST(second, a_responder_gives_tickets_and_accepts_who_shows_them)
{
	struct rdma_cm_id *id;
	struct second_world s;
	uint64_t ticket;

	CT_ASSERT_TRUE(responder(&s));
	ticket = given();
	CT_EXPECT_NE(ticket, 0);
	id = shown(s.pep, ticket);
	/* It may be faster than the first one's confirmation. */
	progress(&s);
	CT_EXPECT_EQ(fake_message.call, FAKE_ACCEPT);
	CT_EXPECT_EQ(fake_message.param.qp_num, s.conn->lane->qp->qp_num);
	CT_EXPECT_EQ(s.second->id, id);
	fake_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	progress(&s);
	CT_EXPECT_TRUE(s.conn->lane->up);
	fake_event(s.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(s.w.eq, FI_CONNECTED, &s.ep->fid, NULL, 0);
	end(&s);
}

CT_TEST(second, what_is_not_expected_is_refused_and_no_program_sees_it)
{
	struct second_world s;
	uint64_t ticket;

	CT_ASSERT_TRUE(responder(&s));
	ticket = given();
	shown(s.pep, ticket ^ 1);
	shown(s.pep, 0);
	progress(&s);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 2);
	CT_EXPECT_EQ(s.second->state, PVB_SECOND_EXPECTED);
	/* A ticket is good for one. */
	shown(s.pep, ticket);
	shown(s.pep, ticket);
	progress(&s);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 3);
	CT_EXPECT_EQ(s.second->state, PVB_SECOND_ACCEPTED);
	end(&s);
}

CT_TEST(second, one_on_another_device_is_refused)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];
	struct fake_request other;
	struct second_world s;

	CT_ASSERT_TRUE(second_open(&s, PVB_SECOND_EXPECTED));
	pvb_cm_pack_ticket(bytes, s.second->ticket);
	other = (struct fake_request){.device = &fake_devices[1],
				      .data = bytes,
				      .len = sizeof(bytes)};
	fake_request(listen_id(s.pep), &other);
	other.device = NULL;
	fake_request(listen_id(s.pep), &other);
	progress(&s);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 2);
	CT_EXPECT_EQ(s.second->state, PVB_SECOND_EXPECTED);
	end(&s);

	CT_ASSERT_TRUE(requester(&s, TICKET));
	progress(&s);
	fake_id_device(s.second->id, &fake_devices[1]);
	fake_event(s.second->id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	expect_without(&s);
	end(&s);
}

CT_TEST(second, two_connections_at_once_have_their_own)
{
	struct pvb_second *second[2];
	uint8_t bytes[PVB_CM_REQ_SIZE];
	struct second_world s;
	struct fid_ep *ep;
	uint64_t ticket[2];

	CT_ASSERT_TRUE(responder(&s));
	ticket[0] = given();
	request(bytes);
	request_arrives(s.pep, bytes, sizeof(bytes));
	CT_ASSERT_TRUE(take_request(&s.w, read_request(&s.w, s.pep, NULL, 0), &ep));
	CT_EXPECT_EQ(fi_accept(ep, NULL, 0), 0);
	ticket[1] = given();
	CT_EXPECT_NE(ticket[0], ticket[1]);
	second[0] = s.second;
	second[1] = &ep_of(ep)->conn.lane->second;
	/* The later one's comes first. */
	for (int i = 1; i >= 0; i--) {
		shown(s.pep, ticket[i]);
		progress(&s);
		CT_EXPECT_EQ(second[i]->state, PVB_SECOND_ACCEPTED);
	}
	fake_event(ep_of(ep)->conn.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	fake_event(second[1]->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(s.w.eq, FI_CONNECTED, &ep->fid, NULL, 0);
	CT_EXPECT_EQ(second[0]->state, PVB_SECOND_ACCEPTED);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	end(&s);
}

CT_TEST(second, one_that_takes_too_long_is_done_without)
{
	static const enum pvb_second_state rows[] = {PVB_SECOND_EXPECTED, PVB_SECOND_ADDR,
						     PVB_SECOND_ROUTE,
						     PVB_SECOND_REQUESTED,
						     PVB_SECOND_ACCEPTED};
	struct second_world s;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("state %s", names[rows[i]]);
		CT_ASSERT_TRUE(second_open(&s, rows[i]));
		ct_time_pass(PATIENCE - 1);
		progress(&s);
		ct_log_reset();
		ct_time_pass(1);
		expect_without(&s);
		CT_EXPECT_EQ(ct_log_count(), 1);
		CT_EXPECT_STRSTR(ct_log_last(), "it took too long");
		/* It may come all the same. */
		if (s.pep) {
			shown(s.pep, s.second->ticket);
			progress(&s);
			CT_EXPECT_EQ(fake_count(FAKE_REJECT), 1);
		}
		end(&s);
	}
}

CT_TEST(second, a_listener_that_is_closed_meanwhile_leaves_the_connection)
{
	struct second_world s;

	CT_ASSERT_TRUE(second_open(&s, PVB_SECOND_EXPECTED));
	CT_EXPECT_EQ(fi_close(&s.pep->fid), 0);
	expect_event(s.w.eq, FI_CONNECTED, &s.ep->fid, NULL, 0);
	CT_EXPECT_STRSTR(ct_log_last(), "the listener was closed");
	CT_EXPECT_EQ(s.second->state, PVB_SECOND_NONE);
	s.pep = NULL;
	end(&s);
}

CT_TEST(second, without_a_listener_there_is_no_ticket)
{
	struct second_world s;
	struct fi_info *info = requested(&s);

	CT_ASSERT_NE(info, NULL);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(fi_close(&s.pep->fid), 0);
	s.pep = NULL;
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), 0);
	of_ep(&s);
	CT_EXPECT_EQ(given(), 0);
	fake_event(s.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(s.w.eq, FI_CONNECTED, &s.ep->fid, NULL, 0);
	end(&s);
}

CT_TEST(second, a_requester_without_gets_none)
{
	struct second_world s;
	struct fi_info *info;

	CT_ASSERT_TRUE(world_iwarp(&s));
	CT_ASSERT_TRUE(world_listen(&s.w, &s.pep));
	info = next_request(&s.w, s.pep, &s.id);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(ep_of(s.ep)->conn.lane, NULL);
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), 0);
	CT_EXPECT_EQ(given(), 0);
	fake_event(s.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(s.w.eq, FI_CONNECTED, &s.ep->fid, NULL, 0);
	end(&s);
}

CT_TEST(second, a_raw_listener_knows_of_none)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];
	struct second_world s;
	struct fi_info *info;
	int on = 1;

	CT_ASSERT_TRUE(world_iwarp(&s));
	CT_ASSERT_TRUE(world_listen(&s.w, &s.pep));
	CT_EXPECT_EQ(fi_setopt(&s.pep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RAW_CM_DATA,
			       &on, sizeof(on)),
		     0);
	pvb_cm_pack_ticket(bytes, TICKET);
	request_arrives(s.pep, bytes, sizeof(bytes));
	info = read_request(&s.w, s.pep, bytes, sizeof(bytes));
	CT_ASSERT_NE(info, NULL);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(ep_of(s.ep)->conn.lane, NULL);
	end(&s);
}

CT_TEST(second, it_comes_to_the_listeners_queue_and_belongs_to_the_endpoints)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_UNSPEC};
	struct second_world s;
	struct fid_eq *listens, *own;
	struct fi_info *info = requested(&s);
	uint64_t ticket;

	CT_ASSERT_NE(info, NULL);
	listens = s.w.eq;
	CT_ASSERT_EQ(fi_eq_open(s.w.fabric, &attr, &own, NULL), 0);
	s.w.eq = own;
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), 0);
	of_ep(&s);
	ticket = given();
	fake_event(s.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_no_event(own);
	shown(s.pep, ticket);
	expect_no_event(listens);
	CT_EXPECT_EQ(fake_count(FAKE_MIGRATE), 2);
	CT_EXPECT_EQ(s.second->state, PVB_SECOND_EXPECTED);
	expect_no_event(own);
	CT_EXPECT_EQ(s.second->state, PVB_SECOND_ACCEPTED);
	fake_event(s.second->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(own, FI_CONNECTED, &s.ep->fid, NULL, 0);
	CT_EXPECT_EQ(fi_close(&s.pep->fid), 0);
	s.pep = NULL;
	CT_EXPECT_EQ(fi_close(&listens->fid), 0);
	end(&s);
}

/* Another thread reads the listener's queue than the endpoint's. */
CT_TEST(second, what_came_and_was_not_looked_at_ends_with_the_endpoint)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_NONE};
	struct second_world s;
	struct fid_eq *listens;
	struct fi_info *info = requested(&s);

	CT_ASSERT_NE(info, NULL);
	listens = s.w.eq;
	CT_ASSERT_EQ(fi_eq_open(s.w.fabric, &attr, &s.w.eq, NULL), 0);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), 0);
	/* Where it cannot move it is refused, and the ticket is good for the next. */
	fake_fail(FAKE_MIGRATE, 1, EIO);
	shown(s.pep, given());
	expect_no_event(listens);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 1);
	shown(s.pep, ep_of(s.ep)->conn.lane->second.ticket);
	expect_no_event(listens);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 1);
	CT_EXPECT_EQ(fi_close(&s.ep->fid), 0);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 2);
	s.ep = NULL;
	CT_EXPECT_EQ(fi_close(&s.pep->fid), 0);
	s.pep = NULL;
	CT_EXPECT_EQ(fi_close(&listens->fid), 0);
	end(&s);
}

CT_TEST(second, what_rdma_cm_refuses_costs_the_lane_only)
{
	static const struct {
		enum pvb_second_state from;
		enum rdma_cm_event_type event;
		enum fake_call call;
	} rows[] = {
		{PVB_SECOND_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED, FAKE_RESOLVE_ROUTE},
		{PVB_SECOND_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED, FAKE_CONNECT},
	};
	struct second_world s;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_ASSERT_TRUE(second_open(&s, rows[i].from));
		fake_fail(rows[i].call, 1, EIO);
		fake_event(s.second->id, rows[i].event, 0, NULL, 0);
		expect_without(&s);
		end(&s);
	}
	CT_ASSERT_TRUE(requester(&s, TICKET));
	fake_fail(FAKE_CREATE_ID, 1, ENODEV);
	expect_without(&s);
	end(&s);
	CT_ASSERT_TRUE(requester(&s, TICKET));
	fake_fail(FAKE_RESOLVE_ADDR, 1, EADDRNOTAVAIL);
	expect_without(&s);
	end(&s);
	CT_ASSERT_TRUE(second_open(&s, PVB_SECOND_EXPECTED));
	fake_fail(FAKE_ACCEPT, 1, EINVAL);
	shown(s.pep, s.second->ticket);
	expect_without(&s);
	end(&s);
}

CT_TEST(second, without_descriptors_for_its_timer_there_is_none)
{
	struct second_world s;
	struct fi_info *info = requested(&s);

	CT_ASSERT_NE(info, NULL);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	ct_fds_left(0);
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), 0);
	ct_fds_restore();
	CT_EXPECT_EQ(given(), 0);
	end(&s);

	CT_ASSERT_TRUE(requester(&s, TICKET));
	ct_fds_left(0);
	expect_without(&s);
	ct_fds_restore();
	end(&s);
}

CT_TEST(second, an_answer_that_cannot_be_sent_leaves_nobody_expected)
{
	struct second_world s;
	struct fi_info *info = requested(&s);
	uint8_t much[PVB_CM_APP_SIZE + 1] = {0};

	CT_ASSERT_NE(info, NULL);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(fi_accept(s.ep, much, sizeof(much)), -FI_EINVAL);
	CT_EXPECT_TRUE(crn_list_empty(&ep_of(s.ep)->domain->fabric->expected));
	fake_fail(FAKE_ACCEPT, 1, EIO);
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), -FI_EIO);
	CT_EXPECT_TRUE(crn_list_empty(&ep_of(s.ep)->domain->fabric->expected));
	end(&s);
}

CT_TEST(second, infiniband_has_none_whatever_a_peer_says)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];
	struct second_world s;

	CT_ASSERT_TRUE(world_iwarp(&s));
	world_close(&s.w);
	fake_devices[0].ibv.transport_type = IBV_TRANSPORT_IB;
	CT_ASSERT_TRUE(world_open_domain(&s.w, NULL));
	CT_ASSERT_TRUE(world_add_ep(&s.w, NULL, &s.ep));
	CT_EXPECT_EQ(fi_connect(s.ep, NULL, NULL, 0), 0);
	of_ep(&s);
	fake_id_device(s.id, &fake_devices[0]);
	fake_event(s.id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	fake_event(s.id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	answer(bytes, TICKET);
	fake_event(s.id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, bytes, sizeof(bytes));
	expect_without(&s);
	end(&s);
}

CT_TEST(second, what_only_the_targets_processor_can_do_needs_it)
{
	struct fi_rma_iov range = {DURABLE_ADDR, 8, KEY_ASKS};
	struct iovec iov = {(char[8]){0}, 8};
	struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.rma_iov = &range,
		.rma_iov_count = 1,
	};
	struct second_world s;

	CT_ASSERT_TRUE(second_open(&s, PVB_SECOND_UP));
	CT_EXPECT_EQ(fi_writemsg(s.ep, &msg, FI_COMMIT_COMPLETE), 0);
	CT_EXPECT_EQ(fake_newest(&qp_of(s.ep)->sq)->opcode, IBV_WR_RDMA_READ);
	end(&s);

	CT_ASSERT_TRUE(second_open(&s, PVB_SECOND_REQUESTED));
	fake_event(s.second->id, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED, NULL, 0);
	expect_without(&s);
	CT_EXPECT_EQ(fi_writemsg(s.ep, &msg, FI_COMMIT_COMPLETE), -FI_EOPNOTSUPP);
	range.key = KEY_VISIBLE;
	CT_EXPECT_EQ(fi_writemsg(s.ep, &msg, FI_COMMIT_COMPLETE), 0);
	end(&s);
}

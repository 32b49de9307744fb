/* SPDX-License-Identifier: BSD-2-Clause */
/* How a listener finds what the request of a second connection is for. */
#include <errno.h>
#include <poll.h>
#include <rdma/fi_ext_cairn.h>
#include "control_conn.h"

CT_TEST(ticket, a_responder_gives_tickets_and_accepts_who_shows_them)
{
	struct rdma_cm_id *id;
	struct second_world s;
	uint64_t ticket;

	CT_ASSERT_TRUE(second_responder(&s));
	ticket = second_given();
	CT_EXPECT_NE(ticket, 0);
	id = second_shown(s.pep, ticket);
	/* It may be faster than the first one's confirmation. */
	second_progress(&s);
	CT_EXPECT_EQ(fake_message.call, FAKE_ACCEPT);
	CT_EXPECT_EQ(fake_message.param.qp_num, s.conn->lane->qp->qp_num);
	CT_EXPECT_EQ(s.second->id, id);
	fake_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	second_progress(&s);
	CT_EXPECT_TRUE(s.conn->lane->up);
	fake_event(s.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(s.w.eq, FI_CONNECTED, &s.ep->fid, NULL, 0);
	second_end(&s);
}

CT_TEST(ticket, what_is_not_expected_is_refused_and_no_program_sees_it)
{
	struct second_world s;
	uint64_t ticket;

	CT_ASSERT_TRUE(second_responder(&s));
	ticket = second_given();
	second_shown(s.pep, ticket ^ 1);
	second_shown(s.pep, 0);
	second_progress(&s);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 2);
	CT_EXPECT_EQ(s.second->state, PVB_SECOND_EXPECTED);
	/* A ticket is good for one. */
	second_shown(s.pep, ticket);
	second_shown(s.pep, ticket);
	second_progress(&s);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 3);
	CT_EXPECT_EQ(s.second->state, PVB_SECOND_ACCEPTED);
	second_end(&s);
}

CT_TEST(ticket, one_on_another_device_is_refused)
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
	second_progress(&s);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 2);
	CT_EXPECT_EQ(s.second->state, PVB_SECOND_EXPECTED);
	second_end(&s);

	CT_ASSERT_TRUE(second_requester(&s, TICKET));
	second_progress(&s);
	fake_id_device(s.second->id, &fake_devices[1]);
	fake_event(s.second->id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	expect_without(&s);
	second_end(&s);
}

CT_TEST(ticket, two_connections_at_once_have_their_own)
{
	struct pvb_second *second[2];
	uint8_t bytes[PVB_CM_REQ_SIZE];
	struct second_world s;
	struct fid_ep *ep;
	uint64_t ticket[2];

	CT_ASSERT_TRUE(second_responder(&s));
	ticket[0] = second_given();
	second_offer(bytes);
	request_arrives(s.pep, bytes, sizeof(bytes));
	CT_ASSERT_TRUE(take_request(&s.w, read_request(&s.w, s.pep, NULL, 0), &ep));
	CT_EXPECT_EQ(fi_accept(ep, NULL, 0), 0);
	ticket[1] = second_given();
	CT_EXPECT_NE(ticket[0], ticket[1]);
	second[0] = s.second;
	second[1] = &ep_of(ep)->conn.lane->second;
	/* The later one's comes first. */
	for (int i = 1; i >= 0; i--) {
		second_shown(s.pep, ticket[i]);
		second_progress(&s);
		CT_EXPECT_EQ(second[i]->state, PVB_SECOND_ACCEPTED);
	}
	fake_event(ep_of(ep)->conn.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	fake_event(second[1]->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(s.w.eq, FI_CONNECTED, &ep->fid, NULL, 0);
	CT_EXPECT_EQ(second[0]->state, PVB_SECOND_ACCEPTED);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	second_end(&s);
}

CT_TEST(ticket, a_listener_that_is_closed_meanwhile_leaves_the_connection)
{
	struct second_world s;

	CT_ASSERT_TRUE(second_open(&s, PVB_SECOND_EXPECTED));
	CT_EXPECT_EQ(fi_close(&s.pep->fid), 0);
	expect_event(s.w.eq, FI_CONNECTED, &s.ep->fid, NULL, 0);
	CT_EXPECT_STRSTR(ct_log_last(), "the listener was closed");
	CT_EXPECT_EQ(s.second->state, PVB_SECOND_NONE);
	s.pep = NULL;
	second_end(&s);
}

CT_TEST(ticket, without_a_listener_there_is_no_ticket)
{
	struct second_world s;
	struct fi_info *info = second_requested(&s);

	CT_ASSERT_NE(info, NULL);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(fi_close(&s.pep->fid), 0);
	s.pep = NULL;
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), 0);
	second_of_ep(&s);
	CT_EXPECT_EQ(second_given(), 0);
	fake_event(s.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(s.w.eq, FI_CONNECTED, &s.ep->fid, NULL, 0);
	second_end(&s);
}

CT_TEST(ticket, a_requester_without_gets_none)
{
	struct second_world s;
	struct fi_info *info;

	CT_ASSERT_TRUE(second_world(&s));
	CT_ASSERT_TRUE(world_listen(&s.w, &s.pep));
	info = next_request(&s.w, s.pep, &s.id);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(ep_of(s.ep)->conn.lane, NULL);
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), 0);
	CT_EXPECT_EQ(second_given(), 0);
	fake_event(s.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(s.w.eq, FI_CONNECTED, &s.ep->fid, NULL, 0);
	second_end(&s);
}

CT_TEST(ticket, a_raw_listener_knows_of_none)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];
	struct second_world s;
	struct fi_info *info;
	int on = 1;

	CT_ASSERT_TRUE(second_world(&s));
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
	second_end(&s);
}

CT_TEST(ticket, it_comes_to_the_listeners_queue_and_belongs_to_the_endpoints)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct pollfd poller = {.events = POLLIN};
	unsigned int looks = 1000000; /* the timer's interrupt may take its time */
	struct second_world s;
	struct fid_eq *listens, *own;
	struct fi_info *info = second_requested(&s);
	uint64_t ticket;

	CT_ASSERT_NE(info, NULL);
	listens = s.w.eq;
	CT_ASSERT_EQ(fi_eq_open(s.w.fabric, &attr, &own, NULL), 0);
	s.w.eq = own;
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), 0);
	second_of_ep(&s);
	ticket = second_given();
	/* Not by its own time, which is the system's for a descriptor. */
	pvb_params.resolve_timeout = 3600000;
	fake_event(s.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_no_event(own);
	second_shown(s.pep, ticket);
	CT_EXPECT_EQ(fi_control(&own->fid, FI_GETWAIT, &poller.fd), 0);
	CT_EXPECT_EQ(poll(&poller, 1, 0), 0);
	expect_no_event(listens);
	CT_EXPECT_EQ(fake_count(FAKE_MIGRATE), 2);
	/* Who sleeps there is woken, although nothing is in its channel. */
	while (looks && !poll(&poller, 1, 0))
		looks--;
	CT_EXPECT_GT(looks, 0);
	CT_EXPECT_EQ(s.second->state, PVB_SECOND_EXPECTED);
	expect_no_event(own);
	CT_EXPECT_EQ(s.second->state, PVB_SECOND_ACCEPTED);
	fake_event(s.second->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(own, FI_CONNECTED, &s.ep->fid, NULL, 0);
	CT_EXPECT_EQ(fi_close(&s.pep->fid), 0);
	s.pep = NULL;
	CT_EXPECT_EQ(fi_close(&listens->fid), 0);
	second_end(&s);
}

/* Another thread reads the listener's queue than the endpoint's. */
CT_TEST(ticket, what_came_and_was_not_looked_at_ends_with_the_endpoint)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_NONE};
	struct second_world s;
	struct fid_eq *listens;
	struct fi_info *info = second_requested(&s);

	CT_ASSERT_NE(info, NULL);
	listens = s.w.eq;
	CT_ASSERT_EQ(fi_eq_open(s.w.fabric, &attr, &s.w.eq, NULL), 0);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), 0);
	/* Where it cannot move it is refused, and the ticket is good for the next. */
	fake_fail(FAKE_MIGRATE, 1, EIO);
	second_shown(s.pep, second_given());
	expect_no_event(listens);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 1);
	second_shown(s.pep, ep_of(s.ep)->conn.lane->second.ticket);
	expect_no_event(listens);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 1);
	CT_EXPECT_EQ(fi_close(&s.ep->fid), 0);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 2);
	s.ep = NULL;
	CT_EXPECT_EQ(fi_close(&s.pep->fid), 0);
	s.pep = NULL;
	CT_EXPECT_EQ(fi_close(&listens->fid), 0);
	second_end(&s);
}

CT_TEST(ticket, an_answer_that_cannot_be_sent_leaves_nobody_expected)
{
	struct second_world s;
	struct fi_info *info = second_requested(&s);
	uint8_t much[PVB_CM_APP_SIZE + 1] = {0};

	CT_ASSERT_NE(info, NULL);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(fi_accept(s.ep, much, sizeof(much)), -FI_EINVAL);
	CT_EXPECT_TRUE(crn_list_empty(&ep_of(s.ep)->domain->fabric->expected));
	fake_fail(FAKE_ACCEPT, 1, EIO);
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), -FI_EIO);
	CT_EXPECT_TRUE(crn_list_empty(&ep_of(s.ep)->domain->fabric->expected));
	second_end(&s);
}

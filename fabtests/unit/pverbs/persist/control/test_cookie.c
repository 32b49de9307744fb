/* SPDX-License-Identifier: BSD-2-Clause */
/* How a listener finds what the request of a control connection is for. */
#include <errno.h>
#include <poll.h>
#include <rdma/fi_ext_cairn.h>
#include "control_conn.h"

CT_TEST(cookie, a_responder_gives_cookies_and_accepts_who_sends_them)
{
	struct rdma_cm_id *id;
	struct control_conn_world s;
	uint64_t cookie;

	CT_ASSERT_TRUE(control_conn_responder(&s));
	cookie = cookie_given();
	CT_EXPECT_NE(cookie, 0);
	id = cookie_shown(s.pep, cookie);
	/* It may be faster than the first one's confirmation. */
	control_conn_progress(&s);
	CT_EXPECT_EQ(fake_message.call, FAKE_ACCEPT);
	CT_EXPECT_EQ(fake_message.param.qp_num, s.qp->control_qp->ibv->qp_num);
	CT_EXPECT_EQ(s.control_conn->id, id);
	fake_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	control_conn_progress(&s);
	CT_EXPECT_TRUE(s.qp->control_qp->up);
	fake_event(s.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(s.w.eq, FI_CONNECTED, &s.ep->fid, NULL, 0);
	control_conn_end(&s);
}

CT_TEST(cookie, what_is_not_expected_is_refused_and_no_program_sees_it)
{
	struct control_conn_world s;
	uint64_t cookie;

	CT_ASSERT_TRUE(control_conn_responder(&s));
	cookie = cookie_given();
	cookie_shown(s.pep, cookie ^ 1);
	cookie_shown(s.pep, 0);
	control_conn_progress(&s);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 2);
	CT_EXPECT_EQ(s.control_conn->state, PVB_CONTROL_CONN_EXPECTED);
	/* A cookie is good for one. */
	cookie_shown(s.pep, cookie);
	cookie_shown(s.pep, cookie);
	control_conn_progress(&s);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 3);
	CT_EXPECT_EQ(s.control_conn->state, PVB_CONTROL_CONN_ACCEPTED);
	control_conn_end(&s);
}

CT_TEST(cookie, one_on_another_device_is_refused)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];
	struct fake_request other;
	struct control_conn_world s;

	CT_ASSERT_TRUE(control_conn_open(&s, PVB_CONTROL_CONN_EXPECTED));
	pvb_cm_pack_cookie(bytes, s.control_conn->cookie);
	other = (struct fake_request){.device = &fake_devices[1],
				      .data = bytes,
				      .len = sizeof(bytes)};
	fake_request(listen_id(s.pep), &other);
	other.device = NULL;
	fake_request(listen_id(s.pep), &other);
	control_conn_progress(&s);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 2);
	CT_EXPECT_EQ(s.control_conn->state, PVB_CONTROL_CONN_EXPECTED);
	control_conn_end(&s);

	CT_ASSERT_TRUE(control_conn_requester(&s, COOKIE));
	control_conn_progress(&s);
	fake_id_device(s.control_conn->id, &fake_devices[1]);
	fake_event(s.control_conn->id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
	expect_without(&s);
	control_conn_end(&s);
}

CT_TEST(cookie, two_connections_at_once_have_their_own)
{
	struct pvb_control_conn *control_conn[2];
	uint8_t bytes[PVB_CM_REQ_SIZE];
	struct control_conn_world s;
	struct fid_ep *ep;
	uint64_t cookie[2];

	CT_ASSERT_TRUE(control_conn_responder(&s));
	cookie[0] = cookie_given();
	control_conn_offer(bytes);
	request_arrives(s.pep, bytes, sizeof(bytes));
	CT_ASSERT_TRUE(take_request(&s.w, read_request(&s.w, s.pep, NULL, 0), &ep));
	CT_EXPECT_EQ(fi_accept(ep, NULL, 0), 0);
	cookie[1] = cookie_given();
	CT_EXPECT_NE(cookie[0], cookie[1]);
	control_conn[0] = s.control_conn;
	control_conn[1] = &ep_of(ep)->qp.control_qp->control_conn;
	/* The later one's comes first. */
	for (int i = 1; i >= 0; i--) {
		cookie_shown(s.pep, cookie[i]);
		control_conn_progress(&s);
		CT_EXPECT_EQ(control_conn[i]->state, PVB_CONTROL_CONN_ACCEPTED);
	}
	fake_event(ep_of(ep)->conn.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	fake_event(control_conn[1]->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(s.w.eq, FI_CONNECTED, &ep->fid, NULL, 0);
	CT_EXPECT_EQ(control_conn[0]->state, PVB_CONTROL_CONN_ACCEPTED);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	control_conn_end(&s);
}

CT_TEST(cookie, a_listener_that_is_closed_meanwhile_leaves_the_connection)
{
	struct control_conn_world s;

	CT_ASSERT_TRUE(control_conn_open(&s, PVB_CONTROL_CONN_EXPECTED));
	CT_EXPECT_EQ(fi_close(&s.pep->fid), 0);
	expect_event(s.w.eq, FI_CONNECTED, &s.ep->fid, NULL, 0);
	CT_EXPECT_WARNED(WORLD_PEER);
	CT_EXPECT_EQ(s.control_conn->state, PVB_CONTROL_CONN_NONE);
	s.pep = NULL;
	control_conn_end(&s);
}

CT_TEST(cookie, without_a_listener_there_is_no_cookie)
{
	struct control_conn_world s;
	struct fi_info *info = control_conn_requested(&s);

	CT_ASSERT_NE(info, NULL);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(fi_close(&s.pep->fid), 0);
	s.pep = NULL;
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), 0);
	control_conn_of_ep(&s);
	CT_EXPECT_EQ(cookie_given(), 0);
	fake_event(s.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(s.w.eq, FI_CONNECTED, &s.ep->fid, NULL, 0);
	control_conn_end(&s);
}

CT_TEST(cookie, a_requester_without_gets_none)
{
	struct control_conn_world s;
	struct fi_info *info;

	CT_ASSERT_TRUE(control_conn_world(&s));
	CT_ASSERT_TRUE(world_listen(&s.w, &s.pep));
	info = next_request(&s.w, s.pep, &s.id);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(ep_of(s.ep)->qp.control_qp, NULL);
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), 0);
	CT_EXPECT_EQ(cookie_given(), 0);
	fake_event(s.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(s.w.eq, FI_CONNECTED, &s.ep->fid, NULL, 0);
	control_conn_end(&s);
}

CT_TEST(cookie, a_raw_listener_knows_of_none)
{
	uint8_t bytes[PVB_CM_REQ_SIZE];
	struct control_conn_world s;
	struct fi_info *info;
	int on = 1;

	CT_ASSERT_TRUE(control_conn_world(&s));
	CT_ASSERT_TRUE(world_listen(&s.w, &s.pep));
	CT_EXPECT_EQ(fi_setopt(&s.pep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RAW_CM_DATA,
			       &on, sizeof(on)),
		     0);
	pvb_cm_pack_cookie(bytes, COOKIE);
	request_arrives(s.pep, bytes, sizeof(bytes));
	info = read_request(&s.w, s.pep, bytes, sizeof(bytes));
	CT_ASSERT_NE(info, NULL);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(ep_of(s.ep)->qp.control_qp, NULL);
	control_conn_end(&s);
}

CT_TEST(cookie, it_comes_to_the_listeners_queue_and_belongs_to_the_endpoints)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct pollfd poller = {.events = POLLIN};
	unsigned int looks = 1000000; /* the timer's interrupt may take its time */
	struct control_conn_world s;
	struct fid_eq *listens, *own;
	struct fi_info *info = control_conn_requested(&s);
	uint64_t cookie;

	CT_ASSERT_NE(info, NULL);
	listens = s.w.eq;
	CT_ASSERT_EQ(fi_eq_open(s.w.fabric, &attr, &own, NULL), 0);
	s.w.eq = own;
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), 0);
	control_conn_of_ep(&s);
	cookie = cookie_given();
	/* Not by its own time, which is the system's for a descriptor. */
	pvb_params.resolve_timeout = 3600000;
	fake_event(s.id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_no_event(own);
	cookie_shown(s.pep, cookie);
	CT_EXPECT_EQ(fi_control(&own->fid, FI_GETWAIT, &poller.fd), 0);
	CT_EXPECT_EQ(poll(&poller, 1, 0), 0);
	expect_no_event(listens);
	CT_EXPECT_EQ(fake_count(FAKE_MIGRATE), 2);
	/* Who sleeps there is woken, although nothing is in its channel. */
	while (looks && !poll(&poller, 1, 0))
		looks--;
	CT_EXPECT_GT(looks, 0);
	CT_EXPECT_EQ(s.control_conn->state, PVB_CONTROL_CONN_EXPECTED);
	expect_no_event(own);
	CT_EXPECT_EQ(s.control_conn->state, PVB_CONTROL_CONN_ACCEPTED);
	fake_event(s.control_conn->id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	expect_event(own, FI_CONNECTED, &s.ep->fid, NULL, 0);
	CT_EXPECT_EQ(fi_close(&s.pep->fid), 0);
	s.pep = NULL;
	CT_EXPECT_EQ(fi_close(&listens->fid), 0);
	control_conn_end(&s);
}

/* Another thread reads the listener's queue than the endpoint's. */
CT_TEST(cookie, what_came_and_was_not_looked_at_ends_with_the_endpoint)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_NONE};
	struct control_conn_world s;
	struct fid_eq *listens;
	struct fi_info *info = control_conn_requested(&s);

	CT_ASSERT_NE(info, NULL);
	listens = s.w.eq;
	CT_ASSERT_EQ(fi_eq_open(s.w.fabric, &attr, &s.w.eq, NULL), 0);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), 0);
	/* Where it cannot move it is refused, and the cookie is good for the next. */
	fake_fail(FAKE_MIGRATE, 1, EIO);
	cookie_shown(s.pep, cookie_given());
	expect_no_event(listens);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 1);
	cookie_shown(s.pep, ep_of(s.ep)->qp.control_qp->control_conn.cookie);
	expect_no_event(listens);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 1);
	CT_EXPECT_EQ(fi_close(&s.ep->fid), 0);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 2);
	s.ep = NULL;
	CT_EXPECT_EQ(fi_close(&s.pep->fid), 0);
	s.pep = NULL;
	CT_EXPECT_EQ(fi_close(&listens->fid), 0);
	control_conn_end(&s);
}

CT_TEST(cookie, an_answer_that_cannot_be_sent_leaves_nobody_expected)
{
	struct control_conn_world s;
	struct fi_info *info = control_conn_requested(&s);
	uint8_t much[PVB_CM_APP_SIZE + 1] = {0};

	CT_ASSERT_NE(info, NULL);
	CT_ASSERT_TRUE(take_request(&s.w, info, &s.ep));
	CT_EXPECT_EQ(fi_accept(s.ep, much, sizeof(much)), -FI_EINVAL);
	CT_EXPECT_TRUE(crn_list_empty(&ep_of(s.ep)->domain->fabric->expected));
	fake_fail(FAKE_ACCEPT, 1, EIO);
	CT_EXPECT_EQ(fi_accept(s.ep, NULL, 0), -FI_EIO);
	CT_EXPECT_TRUE(crn_list_empty(&ep_of(s.ep)->domain->fabric->expected));
	control_conn_end(&s);
}

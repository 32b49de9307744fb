/* SPDX-License-Identifier: BSD-2-Clause */
/* What the test holds back, reorders and makes fail. */
#include "scene.h"

static char at[8]; /* contexts */

static void recv_at(struct pair_end *end, size_t offset, void *context)
{
	CT_EXPECT_EQ(fi_recv(end->ep, end->buf + offset, 16, end->desc, 0, context), 0);
}

static void send_at(struct pair_end *end, size_t offset, void *context)
{
	CT_EXPECT_EQ(fi_send(end->ep, end->buf + offset, 16, end->desc, 0, context), 0);
}

CT_FIXTURE(hold, struct pair, scene_up, pair_down);

CT_TEST_F(hold, an_arrival_reads_the_buffer_when_it_is_let_go)
{
	struct scr_held_item item;

	recv_at(&t->server, 0, &at[0]);
	strcpy(t->client.buf, "too early");
	scr_hold(SCR_ARRIVALS);
	send_at(&t->client, 0, &at[1]);
	pair_nothing(t->server.cq);
	pair_nothing(t->client.cq);
	CT_ASSERT_EQ(scr_held(), 1);
	CT_ASSERT_TRUE(scr_held_at(0, &item));
	CT_EXPECT_EQ(item.what, SCR_ARRIVALS);
	CT_EXPECT_EQ(item.op, SCR_SEND);
	CT_EXPECT_EQ(item.context, &at[1]);
	CT_EXPECT_EQ(item.fid, &t->client.ep->fid);
	CT_EXPECT_EQ(item.len, 16);
	strcpy(t->client.buf, "in time");
	CT_EXPECT_TRUE(scr_let_go(0));
	CT_EXPECT_FALSE(scr_let_go(0));
	pair_done(t->server.cq, &at[0], FI_RECV | FI_MSG);
	pair_done(t->client.cq, &at[1], FI_SEND | FI_MSG);
	CT_EXPECT_STREQ(t->server.buf, "in time");
}

CT_TEST_F(hold, completions_come_in_the_order_that_the_test_likes)
{
	recv_at(&t->server, 0, &at[0]);
	recv_at(&t->server, 100, &at[1]);
	scr_hold(SCR_COMPLETIONS);
	send_at(&t->client, 0, &at[2]);
	send_at(&t->client, 0, &at[3]);
	CT_ASSERT_EQ(scr_held(), 4);
	pair_nothing(t->server.cq);
	scr_let_go(3);
	scr_let_go(1);
	pair_done(t->client.cq, &at[3], FI_SEND | FI_MSG);
	pair_done(t->client.cq, &at[2], FI_SEND | FI_MSG);
	scr_let_go(1);
	pair_done(t->server.cq, &at[1], FI_RECV | FI_MSG);
	scr_let_all_go();
	pair_done(t->server.cq, &at[0], FI_RECV | FI_MSG);
}

CT_TEST_F(hold, arrivals_overtake_each_other)
{
	recv_at(&t->server, 0, NULL);
	recv_at(&t->server, 100, NULL);
	strcpy(t->client.buf, "one");
	strcpy(t->client.buf + 100, "two");
	scr_hold(SCR_ARRIVALS);
	send_at(&t->client, 0, NULL);
	send_at(&t->client, 100, NULL);
	scr_let_go(1);
	scr_let_go(0);
	CT_EXPECT_STREQ(t->server.buf, "two");
	CT_EXPECT_STREQ(t->server.buf + 100, "one");
}

CT_TEST_F(hold, what_is_held_fails_with_any_code_and_data)
{
	char data[8] = {0};
	struct fi_cq_err_entry entry = {.err_data = data, .err_data_size = sizeof(data)};

	scr_hold(SCR_ARRIVALS);
	send_at(&t->client, 0, &at[0]);
	send_at(&t->client, 0, &at[1]);
	CT_EXPECT_TRUE(scr_fail_held(1, FI_EIO, 5, "because", 8));
	CT_EXPECT_EQ(fi_cq_readerr(t->client.cq, &entry, 0), 1);
	CT_EXPECT_EQ(entry.op_context, &at[1]);
	CT_EXPECT_EQ(entry.err, FI_EIO);
	CT_EXPECT_EQ(entry.prov_errno, 5);
	CT_EXPECT_STREQ(data, "because");
	CT_EXPECT_EQ(scr_held(), 1);
	pair_down(t);
	CT_EXPECT_EQ(scr_held(), 0);
}

CT_TEST(hold, events_wait_and_go_with_their_endpoint)
{
	struct pair_event event;
	struct scr_held_item item;
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_open(&p, SCR_NAME), 0);
	CT_ASSERT_EQ(pair_client(&p), 0);
	CT_ASSERT_EQ(pair_request(&p), 0);
	scr_hold(SCR_EVENTS);
	CT_ASSERT_EQ(fi_accept(p.server.ep, NULL, 0), 0);
	CT_ASSERT_EQ(scr_held(), 2);
	CT_ASSERT_TRUE(scr_held_at(0, &item));
	CT_EXPECT_EQ(item.event, FI_CONNECTED);
	CT_EXPECT_EQ(item.fid, &p.client.ep->fid);
	/* Data may come before FI_CONNECTED is read. */
	recv_at(&p.client, 0, &at[0]);
	send_at(&p.server, 0, NULL);
	pair_done(p.client.cq, &at[0], FI_RECV | FI_MSG);
	scr_let_go(0);
	pair_expect(p.client.eq, FI_CONNECTED, &event);
	pair_down(&p);
	CT_EXPECT_EQ(scr_held(), 0);
}

CT_TEST_F(hold, a_broken_connection_ends_what_had_not_arrived)
{
	struct pair_event event;

	recv_at(&t->client, 0, &at[0]);
	scr_hold(SCR_ARRIVALS);
	send_at(&t->client, 0, &at[1]);
	scr_break(&t->server.ep->fid);
	pair_failed(t->client.cq, &at[0], FI_ECANCELED);
	pair_failed(t->client.cq, &at[1], FI_ECANCELED);
	pair_expect(t->client.eq, FI_SHUTDOWN, &event);
	pair_expect(t->server.eq, FI_SHUTDOWN, &event);
	CT_EXPECT_EQ(fi_send(t->client.ep, t->client.buf, 1, t->client.desc, 0, NULL),
		     -FI_ESHUTDOWN);
}

CT_TEST_F(hold, closing_reports_everything_at_once)
{
	recv_at(&t->server, 0, &at[0]);
	scr_hold(SCR_COMPLETIONS);
	send_at(&t->client, 0, &at[1]);
	send_at(&t->client, 0, &at[2]);
	CT_EXPECT_EQ(fi_close(&t->client.ep->fid), 0);
	t->client.ep = NULL;
	pair_failed(t->client.cq, &at[1], FI_ECANCELED);
	pair_failed(t->client.cq, &at[2], FI_ECANCELED);
	scr_let_all_go();
	pair_done(t->server.cq, &at[0], FI_RECV | FI_MSG);
}

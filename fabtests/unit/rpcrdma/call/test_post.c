/* SPDX-License-Identifier: BSD-2-Clause */
/* What the lower provider has no room for waits, in order; what it refuses is the end. */
#include "ends.h"

/* The lower provider copies messages of so many bytes. */
static void start_with(struct ends *e, size_t inject_size)
{
	ends_begin();
	scr_offer()->tx_attr->inject_size = inject_size;
	CT_ASSERT_EQ(ends_up(e, RPR_MODE_WRAP), 0);
	ends_message(&e->client, &e->server);
}

static void start(struct ends *e)
{
	start_with(e, 64);
}

CT_FIXTURE(rpcrdma_post, struct ends, start, ends_close);

static void refuse(enum scr_call call, unsigned int times, int ret)
{
	const struct scr_rule rule = {.call = call, .times = times, .ret = ret};

	scr_refuse(&rule);
}

/* Both ends read until the server has a message, which begins with that byte. */
static void expect_byte(struct ends *e, char byte)
{
	struct fi_cq_data_entry entry;

	e->server.got[0][0] = 0;
	ends_recv(&e->server, 0);
	for (int turns = 0; turns < 20 && fi_cq_read(e->server.cq, &entry, 1) != 1;
	     turns++)
		fi_cq_read(e->client.cq, &entry, 1);
	CT_EXPECT_EQ(e->server.got[0][0], byte);
}

CT_TEST_F(rpcrdma_post, sends_without_room_go_in_order)
{
	refuse(SCR_SEND, 1, -FI_EAGAIN);
	ends_byte(&t->client, 'a');
	ends_byte(&t->client, 'b');
	ends_byte(&t->client, 'c');
	expect_byte(t, 'a');
	expect_byte(t, 'b');
	expect_byte(t, 'c');
}

CT_TEST_F(rpcrdma_post, copies_without_room_go_in_order_with_sends)
{
	start_with(t, 256);
	refuse(SCR_INJECT, 1, -FI_EAGAIN);
	ends_byte(&t->client, 'a');
	t->client.sent[0] = 'b';
	ends_send(&t->client, ENDS_SHORT);
	ends_byte(&t->client, 'c');
	expect_byte(t, 'a');
	expect_byte(t, 'b');
	expect_byte(t, 'c');
}

CT_TEST_F(rpcrdma_post, what_nobody_waits_for_is_copied_by_the_lower_provider)
{
	unsigned int sends, copies;

	start_with(t, 256);
	sends = scr_count(SCR_SEND);
	copies = scr_count(SCR_INJECT);
	ends_byte(&t->client, 'a');
	CT_EXPECT_EQ(scr_count(SCR_INJECT), copies + 1);
	expect_byte(t, 'a');
	/* Nor is the Reply waited for, which the server sends when it finds no more. */
	pair_nothing(t->server.cq);
	CT_EXPECT_EQ(scr_count(SCR_INJECT), copies + 2);
	CT_EXPECT_EQ(scr_count(SCR_SEND), sends);
	ends_send(&t->client, ENDS_SHORT);
	CT_EXPECT_EQ(scr_count(SCR_SEND), sends + 1);
}

CT_TEST_F(rpcrdma_post, what_the_lower_provider_does_not_copy_is_sent)
{
	start_with(t, 8);
	ends_byte(&t->client, 'a');
	expect_byte(t, 'a');
	pair_nothing(t->server.cq);
	CT_EXPECT_EQ(scr_count(SCR_INJECT), 0);
}

CT_TEST_F(rpcrdma_post, a_read_without_room_is_made_later)
{
	t->client.sent[0] = 'a';
	ends_send(&t->client, ENDS_LONG);
	refuse(SCR_READ, 2, -FI_EAGAIN);
	expect_byte(t, 'a');
	CT_EXPECT_EQ(scr_count(SCR_READ), 3);
}

/* None is lost: there are as many as before when each was refused. */
CT_TEST_F(rpcrdma_post, receives_without_room_are_posted_later)
{
	const unsigned int all = 200;

	refuse(SCR_RECV, all, -FI_EAGAIN);
	for (unsigned int i = 0; i < 2 * all && !ct_failed(); i++) {
		ends_byte(&t->client, (char)(i | 1));
		expect_byte(t, (char)(i | 1));
	}
}

CT_TEST_F(rpcrdma_post, a_send_that_is_refused_ends_the_connection)
{
	struct pair_event event;

	ends_recv(&t->client, 0);
	refuse(SCR_SEND, 0, -FI_EIO);
	ends_send(&t->client, ENDS_SHORT);
	pair_failed(t->client.cq, &t->client, FI_EIO);
	pair_failed(t->client.cq, t->client.got[0], FI_ECANCELED);
	pair_nothing(t->client.cq);
	pair_expect(t->client.eq, FI_SHUTDOWN, &event);
	pair_expect(t->server.eq, FI_SHUTDOWN, &event);
	ends_no_event(t->client.eq);
}

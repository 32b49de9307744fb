/* SPDX-License-Identifier: BSD-2-Clause */
/* What the lower provider has no room for waits, in order; what it refuses is the end. */
#include "ends.h"

static struct ends e;

/* The lower provider copies messages of so many bytes. */
static void start_with(size_t inject_size)
{
	ends_begin();
	scr_offer()->tx_attr->inject_size = inject_size;
	CT_EXPECT_EQ(ends_up(&e, RPR_MODE_WRAP), 0);
	ends_message(&e.client, &e.server);
}

static void start(void)
{
	start_with(64);
}

static void refuse(enum scr_call call, unsigned int times, int ret)
{
	const struct scr_rule rule = {.call = call, .times = times, .ret = ret};

	scr_refuse(&rule);
}

static void send_of(size_t len)
{
	CT_EXPECT_EQ(fi_send(e.client.ep, e.client.sent, len, NULL, 0, &e.client), 0);
}

/* Without a completion. */
static void send_byte(char byte)
{
	e.client.sent[0] = byte;
	CT_EXPECT_EQ(fi_inject(e.client.ep, e.client.sent, ENDS_SHORT, 0), 0);
}

/* Both ends read until the server has a message, which begins with that byte. */
static void expect_byte(char byte)
{
	struct fi_cq_data_entry entry;
	int turns;

	e.server.got[0][0] = 0;
	ends_recv(&e.server, 0);
	for (turns = 0; turns < 20 && fi_cq_read(e.server.cq, &entry, 1) != 1; turns++)
		fi_cq_read(e.client.cq, &entry, 1);
	CT_EXPECT_EQ(e.server.got[0][0], byte);
}

CT_TEST(rpcrdma_post, sends_without_room_go_in_order)
{
	start();
	refuse(SCR_SEND, 1, -FI_EAGAIN);
	send_byte('a');
	send_byte('b');
	send_byte('c');
	expect_byte('a');
	expect_byte('b');
	expect_byte('c');
	ends_close(&e);
}

CT_TEST(rpcrdma_post, copies_without_room_go_in_order_with_sends)
{
	start_with(256);
	refuse(SCR_INJECT, 1, -FI_EAGAIN);
	send_byte('a');
	e.client.sent[0] = 'b';
	send_of(ENDS_SHORT);
	send_byte('c');
	expect_byte('a');
	expect_byte('b');
	expect_byte('c');
	ends_close(&e);
}

CT_TEST(rpcrdma_post, what_nobody_waits_for_is_copied_by_the_lower_provider)
{
	unsigned int sends, copies;

	start_with(256);
	sends = scr_count(SCR_SEND);
	copies = scr_count(SCR_INJECT);
	send_byte('a');
	CT_EXPECT_EQ(scr_count(SCR_INJECT), copies + 1);
	expect_byte('a');
	/* Nor is the Reply waited for, which the server sends when it finds no more. */
	pair_nothing(e.server.cq);
	CT_EXPECT_EQ(scr_count(SCR_INJECT), copies + 2);
	CT_EXPECT_EQ(scr_count(SCR_SEND), sends);
	send_of(ENDS_SHORT);
	CT_EXPECT_EQ(scr_count(SCR_SEND), sends + 1);
	ends_close(&e);
}

CT_TEST(rpcrdma_post, what_the_lower_provider_does_not_copy_is_sent)
{
	start_with(8);
	send_byte('a');
	expect_byte('a');
	pair_nothing(e.server.cq);
	CT_EXPECT_EQ(scr_count(SCR_INJECT), 0);
	ends_close(&e);
}

CT_TEST(rpcrdma_post, a_read_without_room_is_made_later)
{
	start();
	e.client.sent[0] = 'a';
	send_of(ENDS_LONG);
	refuse(SCR_READ, 2, -FI_EAGAIN);
	expect_byte('a');
	CT_EXPECT_EQ(scr_count(SCR_READ), 3);
	ends_close(&e);
}

/* None is lost: there are as many as before when each was refused. */
CT_TEST(rpcrdma_post, receives_without_room_are_posted_later)
{
	const unsigned int all = 200;
	unsigned int i;

	start();
	refuse(SCR_RECV, all, -FI_EAGAIN);
	for (i = 0; i < 2 * all && !ct_failed(); i++) {
		send_byte((char)(i | 1));
		expect_byte((char)(i | 1));
	}
	ends_close(&e);
}

CT_TEST(rpcrdma_post, a_send_that_is_refused_ends_the_connection)
{
	struct pair_event event;

	start();
	ends_recv(&e.client, 0);
	refuse(SCR_SEND, 0, -FI_EIO);
	send_of(ENDS_SHORT);
	pair_failed(e.client.cq, &e.client, FI_EIO);
	pair_failed(e.client.cq, e.client.got[0], FI_ECANCELED);
	pair_nothing(e.client.cq);
	pair_expect(e.client.eq, FI_SHUTDOWN, &event);
	pair_expect(e.server.eq, FI_SHUTDOWN, &event);
	CT_EXPECT_EQ(fi_eq_read(e.client.eq, &(uint32_t){0}, &event, sizeof(event), 0),
		     -FI_EAGAIN);
	ends_close(&e);
}

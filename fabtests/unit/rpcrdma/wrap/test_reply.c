/* SPDX-License-Identifier: BSD-2-Clause */
/* Wrap mode: a short message takes the next Reply that is due, and stays in order. */
#include "ends.h"

static struct ends e;

static void start(void)
{
	ends_begin();
	CT_EXPECT_EQ(ends_up(&e, RPR_MODE_WRAP), 0);
	ends_message(&e.client, &e.server);
}

/* Both ends gave the lower provider so many: it copies those that nobody waits for. */
static unsigned int messages(void)
{
	return scr_count(SCR_SEND) + scr_count(SCR_INJECT);
}

/* The client's message is the server's, which owes it a Reply from then on. */
static void owe_reply(void)
{
	ends_recv(&e.server, 0);
	CT_EXPECT_EQ(fi_inject(e.client.ep, e.client.sent, ENDS_SHORT, 0), 0);
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
}

/* The server sends a message that begins with this byte. */
static void send_byte(char byte)
{
	e.server.sent[0] = byte;
	CT_EXPECT_EQ(fi_inject(e.server.ep, e.server.sent, ENDS_SHORT, 0), 0);
}

/* The client's next message. */
static void expect_byte(char byte)
{
	int turns;
	struct fi_cq_data_entry entry;

	e.client.got[0][0] = 0;
	ends_recv(&e.client, 0);
	for (turns = 0; turns < 10 && fi_cq_read(e.client.cq, &entry, 1) != 1; turns++)
		pair_nothing(e.server.cq);
	CT_EXPECT_EQ(e.client.got[0][0], byte);
}

CT_TEST(rpcrdma_reply, a_message_travels_in_the_reply_that_is_due)
{
	unsigned int sends;

	start();
	owe_reply();
	sends = messages();
	send_byte('a');
	pair_nothing(e.server.cq);
	CT_EXPECT_EQ(messages(), sends + 1);
	expect_byte('a');
	/* It had no Reply of its own. */
	pair_nothing(e.client.cq);
	CT_EXPECT_EQ(messages(), sends + 1);
	ends_close(&e);
}

CT_TEST(rpcrdma_reply, a_read_that_finds_nothing_sends_the_reply_without_one)
{
	unsigned int sends;

	start();
	owe_reply();
	sends = messages();
	pair_nothing(e.server.cq);
	CT_EXPECT_EQ(messages(), sends + 1);
	send_byte('a');
	CT_EXPECT_EQ(messages(), sends + 2);
	expect_byte('a');
	ends_close(&e);
}

/* The server has one credit: its second message waits, and the third behind it. */
CT_TEST(rpcrdma_reply, a_message_does_not_overtake_those_that_wait_for_a_credit)
{
	unsigned int sends;

	start();
	send_byte('a');
	send_byte('b');
	owe_reply();
	sends = messages();
	send_byte('c');
	CT_EXPECT_EQ(messages(), sends);
	expect_byte('a');
	expect_byte('b');
	expect_byte('c');
	ends_close(&e);
}

/* The peer reads it from the program's memory, while the next is in the Reply. */
CT_TEST(rpcrdma_reply, a_message_that_does_not_fit_is_a_call)
{
	static char long_one[ENDS_LONG] = "a";

	start();
	owe_reply();
	CT_EXPECT_EQ(fi_send(e.server.ep, long_one, ENDS_LONG, NULL, 0, long_one), 0);
	send_byte('b');
	expect_byte('a');
	expect_byte('b');
	pair_done(e.server.cq, long_one, FI_SEND | FI_MSG);
	ends_close(&e);
}

static size_t server_grant(void)
{
	size_t grant = 0, len = sizeof(grant);

	CT_EXPECT_EQ(fi_getopt(&e.server.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RPC_GRANT,
			       &grant, &len),
		     0);
	return grant;
}

/* The peer would wait for a credit while the server reads one message after the other. */
CT_TEST(rpcrdma_reply, half_of_the_credits_are_not_held_back)
{
	unsigned int sends;
	size_t half, i;

	start();
	half = server_grant() / 2;
	CT_ASSERT_GT(half, 2);
	for (i = 0; i < half; i++)
		ends_recv(&e.server, 0);
	for (i = 0; i < half; i++)
		CT_EXPECT_EQ(fi_inject(e.client.ep, e.client.sent, ENDS_SHORT, 0), 0);
	sends = messages();
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(messages(), sends + (unsigned int)half);
	for (i = 1; i < half; i++)
		pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	/* One less are: the program may have a message for them. */
	for (i = 1; i < half; i++)
		ends_recv(&e.server, 0);
	pair_nothing(e.client.cq);
	for (i = 1; i < half; i++)
		CT_EXPECT_EQ(fi_inject(e.client.ep, e.client.sent, ENDS_SHORT, 0), 0);
	sends = messages();
	for (i = 1; i < half; i++)
		pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(messages(), sends);
	pair_nothing(e.server.cq);
	CT_EXPECT_EQ(messages(), sends + (unsigned int)half - 1);
	ends_close(&e);
}

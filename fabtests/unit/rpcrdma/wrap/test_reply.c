/* SPDX-License-Identifier: BSD-2-Clause */
/* Wrap mode: a short message takes the next Reply that is due, and stays in order. */
#include "ends.h"

static void start(struct ends *e)
{
	ends_begin();
	CT_ASSERT_EQ(ends_up(e, RPR_MODE_WRAP), 0);
	ends_message(&e->client, &e->server);
}

CT_FIXTURE(rpcrdma_reply, struct ends, start, ends_close);

/* Both ends gave the lower provider so many: it copies those that nobody waits for. */
static unsigned int messages(void)
{
	return scr_count(SCR_SEND) + scr_count(SCR_INJECT);
}

/* The client's message is the server's, which owes it a Reply from then on. */
static void owe_reply(struct ends *e)
{
	ends_recv(&e->server, 0);
	CT_EXPECT_EQ(fi_inject(e->client.ep, e->client.sent, ENDS_SHORT, 0), 0);
	pair_done(e->server.cq, e->server.got[0], FI_RECV | FI_MSG);
}

/* The client's next message. */
static void expect_byte(struct ends *e, char byte)
{
	struct fi_cq_data_entry entry;

	e->client.got[0][0] = 0;
	ends_recv(&e->client, 0);
	for (int turns = 0; turns < 10 && fi_cq_read(e->client.cq, &entry, 1) != 1;
	     turns++)
		pair_nothing(e->server.cq);
	CT_EXPECT_EQ(e->client.got[0][0], byte);
}

CT_TEST_F(rpcrdma_reply, a_message_travels_in_the_reply_that_is_due)
{
	unsigned int sends;

	owe_reply(t);
	sends = messages();
	ends_byte(&t->server, 'a');
	pair_nothing(t->server.cq);
	CT_EXPECT_EQ(messages(), sends + 1);
	expect_byte(t, 'a');
	/* It had no Reply of its own. */
	pair_nothing(t->client.cq);
	CT_EXPECT_EQ(messages(), sends + 1);
}

CT_TEST_F(rpcrdma_reply, a_read_that_finds_nothing_sends_the_reply_without_one)
{
	unsigned int sends;

	owe_reply(t);
	sends = messages();
	pair_nothing(t->server.cq);
	CT_EXPECT_EQ(messages(), sends + 1);
	ends_byte(&t->server, 'a');
	CT_EXPECT_EQ(messages(), sends + 2);
	expect_byte(t, 'a');
}

/* The server has one credit: its second message waits, and the third behind it. */
CT_TEST_F(rpcrdma_reply, a_message_does_not_overtake_those_that_wait_for_a_credit)
{
	unsigned int sends;

	ends_byte(&t->server, 'a');
	ends_byte(&t->server, 'b');
	owe_reply(t);
	sends = messages();
	ends_byte(&t->server, 'c');
	CT_EXPECT_EQ(messages(), sends);
	expect_byte(t, 'a');
	expect_byte(t, 'b');
	expect_byte(t, 'c');
}

/* The peer reads it from the program's memory, while the next is in the Reply. */
CT_TEST_F(rpcrdma_reply, a_message_that_does_not_fit_is_a_call)
{
	static char long_one[ENDS_LONG] = "a";

	owe_reply(t);
	CT_EXPECT_EQ(fi_send(t->server.ep, long_one, ENDS_LONG, NULL, 0, long_one), 0);
	ends_byte(&t->server, 'b');
	expect_byte(t, 'a');
	expect_byte(t, 'b');
	pair_done(t->server.cq, long_one, FI_SEND | FI_MSG);
}

static size_t server_grant(struct ends *e)
{
	size_t grant = 0, len = sizeof(grant);

	CT_EXPECT_EQ(fi_getopt(&e->server.ep->fid, FI_OPT_ENDPOINT,
			       FI_OPT_CAIRN_RPC_GRANT, &grant, &len),
		     0);
	return grant;
}

/* The peer would wait for a credit while the server reads one message after the other. */
CT_TEST_F(rpcrdma_reply, half_of_the_credits_are_not_held_back)
{
	unsigned int sends;
	size_t half = server_grant(t) / 2;

	CT_ASSERT_GT(half, 2);
	for (size_t i = 0; i < half; i++)
		ends_recv(&t->server, 0);
	for (size_t i = 0; i < half; i++)
		CT_EXPECT_EQ(fi_inject(t->client.ep, t->client.sent, ENDS_SHORT, 0), 0);
	sends = messages();
	pair_done(t->server.cq, t->server.got[0], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(messages(), sends + (unsigned int)half);
	for (size_t i = 1; i < half; i++)
		pair_done(t->server.cq, t->server.got[0], FI_RECV | FI_MSG);
	/* One less are: the program may have a message for them. */
	for (size_t i = 1; i < half; i++)
		ends_recv(&t->server, 0);
	pair_nothing(t->client.cq);
	for (size_t i = 1; i < half; i++)
		CT_EXPECT_EQ(fi_inject(t->client.ep, t->client.sent, ENDS_SHORT, 0), 0);
	sends = messages();
	for (size_t i = 1; i < half; i++)
		pair_done(t->server.cq, t->server.got[0], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(messages(), sends);
	pair_nothing(t->server.cq);
	CT_EXPECT_EQ(messages(), sends + (unsigned int)half - 1);
}

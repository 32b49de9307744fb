/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each message takes a receive of the lower provider, which is posted again, whatever the
 * message was: with one less after each of a kind, the peer would end with
 * "receiver not ready".
 */
#include "ends.h"

#define LEN 40u

/* Messages that were sent, and receives that were posted, at both ends. */
struct counts {
	unsigned int sent, posted;
};

static struct counts counts(void)
{
	return (struct counts){.sent = scr_count(SCR_SEND) + scr_count(SCR_INJECT),
			       .posted = scr_count(SCR_RECV)};
}

/* So many messages since then, and each has its receive back. */
#define expect_posted(before, messages)                                \
	do {                                                           \
		const struct counts now_ = counts();                   \
                                                                       \
		CT_EXPECT_EQ(now_.sent - (before).sent, messages);     \
		CT_EXPECT_EQ(now_.posted - (before).posted, messages); \
	} while (0)

static void start_rpc(struct ends *e)
{
	ends_begin();
	CT_ASSERT_EQ(ends_up(e, RPR_MODE_RPC), 0);
}

CT_FIXTURE(rpcrdma_receives, struct ends, start_rpc, ends_close);

static void call(struct ends *e, uint32_t xid, size_t len, void *context)
{
	ends_rpc(&e->client, xid, false);
	CT_EXPECT_EQ(fi_send(e->client.ep, e->client.sent, len, NULL, 0, context), 0);
}

static void expect_call(struct ends *e, bool is_long)
{
	ends_recv(&e->server, 0);
	/* The RDMA Read. */
	if (is_long)
		pair_nothing(e->server.cq);
	pair_done(e->server.cq, e->server.got[0], FI_RECV | FI_MSG);
	pair_done(e->client.cq, NULL, FI_SEND | FI_MSG);
}

static void reply(struct ends *e, uint32_t xid, size_t len)
{
	ends_rpc(&e->server, xid, true);
	ends_send(&e->server, len);
	pair_done(e->server.cq, &e->server, FI_SEND | FI_MSG);
}

static void expect_reply(struct ends *e)
{
	pair_done(e->client.cq, e->client.got[0], FI_RECV | FI_MSG);
	pair_nothing(e->client.cq);
}

/* A Call that is inline, one in a Read chunk, and one longer than its receive. */
CT_TEST_F(rpcrdma_receives, those_of_calls_and_replies_are_posted_again)
{
	static const size_t lens[] = {LEN, ENDS_LONG};
	const struct counts before = counts();

	for (uint32_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		call(t, i, lens[i], NULL);
		expect_call(t, lens[i] == ENDS_LONG);
		ends_recv(&t->client, 0);
		reply(t, i, LEN);
		expect_reply(t);
	}
	expect_posted(before, 4);
	CT_EXPECT_EQ(fi_recv(t->server.ep, t->server.got[0], 8, NULL, 0, NULL), 0);
	call(t, 7, LEN, NULL);
	pair_failed(t->server.cq, NULL, FI_ETRUNC);
	expect_posted(before, 5);
}

CT_TEST_F(rpcrdma_receives, those_of_replies_in_a_chunk_are_posted_again)
{
	const struct iovec iov = {.iov_base = t->client.got[0], .iov_len = ENDS_LONG};
	const struct fi_msg msg = {
		.msg_iov = &iov, .iov_count = 1, .context = t->client.got[0], .data = 7};
	const struct counts before = counts();

	CT_EXPECT_EQ(fi_recvmsg(t->client.ep, &msg, FI_CAIRN_RPC_REPLY), 0);
	call(t, 7, LEN, NULL);
	expect_call(t, false);
	reply(t, 7, ENDS_LONG);
	expect_reply(t);
	expect_posted(before, 2);
}

CT_TEST_F(rpcrdma_receives, those_of_late_replies_are_posted_again)
{
	const struct counts before = counts();

	call(t, 7, LEN, NULL);
	expect_call(t, false);
	CT_EXPECT_EQ(fi_cancel(&t->client.ep->fid, NULL), 0);
	reply(t, 7, LEN);
	pair_nothing(t->client.cq);
	expect_posted(before, 2);
}

/* A Call that there is no memory to read is answered with RDMA_ERROR. */
CT_TEST_F(rpcrdma_receives,
	  those_of_calls_that_are_refused_and_of_errors_are_posted_again)
{
	const struct counts before = counts();

	ends_recv(&t->client, 0);
	call(t, 7, ENDS_LONG, NULL);
	pair_nothing(t->server.cq);
	ct_fail_alloc(1);
	ends_recv(&t->server, 0);
	CT_EXPECT_TRUE(ct_alloc_failed());
	pair_done(t->client.cq, NULL, FI_SEND | FI_MSG);
	pair_failed(t->client.cq, t->client.got[0], FI_EREMOTEIO);
	expect_posted(before, 2);
}

/* A message of wrap mode is a Call, which is answered. */
CT_TEST_F(rpcrdma_receives, those_of_wrap_mode_are_posted_again)
{
	struct counts before;

	ends_begin();
	CT_ASSERT_EQ(ends_up(t, RPR_MODE_WRAP), 0);
	before = counts();
	ends_message(&t->client, &t->server);
	expect_posted(before, 2);
	ends_recv(&t->server, 0);
	ends_send(&t->client, ENDS_LONG);
	pair_nothing(t->server.cq);
	pair_done(t->server.cq, t->server.got[0], FI_RECV | FI_MSG);
	pair_nothing(t->server.cq);
	pair_done(t->client.cq, &t->client, FI_SEND | FI_MSG);
	pair_nothing(t->client.cq);
	expect_posted(before, 4);
}

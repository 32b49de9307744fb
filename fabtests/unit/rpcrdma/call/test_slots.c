/* SPDX-License-Identifier: BSD-2-Clause */
/* A buffer is used again once the lower provider is done with it, and a Reply is complete
 * once its RDMA Writes are. */
#include "ends.h"

#define LEN 40u

static void start(struct ends *e)
{
	ends_begin();
	CT_ASSERT_EQ(ends_up(e, RPR_MODE_RPC), 0);
}

CT_FIXTURE(rpcrdma_slots, struct ends, start, ends_close);

static void call(struct ends *e, uint32_t xid, void *context)
{
	ends_rpc(&e->client, xid, false);
	CT_EXPECT_EQ(fi_send(e->client.ep, e->client.sent, LEN, NULL, 0, context), 0);
}

static void expect_call(struct ends *e, uint32_t xid)
{
	ends_recv(&e->server, 0);
	pair_done(e->server.cq, e->server.got[0], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(e->server.got[0][3], (char)xid);
}

static void reply(struct ends *e, uint32_t xid, size_t len)
{
	ends_rpc(&e->server, xid, true);
	ends_send(&e->server, len);
}

/* The Reply brings credits for more than one Call. */
static void exchange(struct ends *e)
{
	call(e, 1, NULL);
	expect_call(e, 1);
	pair_done(e->client.cq, NULL, FI_SEND | FI_MSG);
	ends_recv(&e->client, 0);
	reply(e, 1, LEN);
	pair_done(e->server.cq, &e->server, FI_SEND | FI_MSG);
	pair_done(e->client.cq, e->client.got[0], FI_RECV | FI_MSG);
}

/* Its Send has not left yet. */
CT_TEST_F(rpcrdma_slots, the_buffer_of_a_cancelled_call_is_not_used_while_it_is_posted)
{
	int context[2];

	exchange(t);
	scr_hold(SCR_ARRIVALS);
	call(t, 2, &context[0]);
	CT_EXPECT_EQ(fi_cancel(&t->client.ep->fid, &context[0]), 0);
	pair_failed(t->client.cq, &context[0], FI_ECANCELED);
	call(t, 3, &context[1]);
	CT_EXPECT_EQ(scr_held(), 2);
	scr_let_all_go();
	expect_call(t, 2);
	expect_call(t, 3);
	pair_done(t->client.cq, &context[1], FI_SEND | FI_MSG);
}

/* A Call whose Reply goes to a Reply chunk. */
static void call_for_long_reply(struct ends *e, uint32_t xid)
{
	const struct iovec iov = {.iov_base = e->client.got[0], .iov_len = ENDS_LONG};
	const struct fi_msg msg = {.msg_iov = &iov,
				   .iov_count = 1,
				   .context = e->client.got[0],
				   .data = xid};

	CT_EXPECT_EQ(fi_recvmsg(e->client.ep, &msg, FI_CAIRN_RPC_REPLY), 0);
	call(e, xid, NULL);
	expect_call(e, xid);
	pair_done(e->client.cq, NULL, FI_SEND | FI_MSG);
}

CT_TEST_F(rpcrdma_slots, a_reply_is_complete_when_its_writes_are)
{
	struct scr_held_item item = {.what = 0};
	unsigned int send;

	for (send = 0; send < 2; send++) {
		CT_NOTE("the Send completes %s", send ? "last" : "first");
		start(t);
		call_for_long_reply(t, 1);
		scr_hold(SCR_COMPLETIONS);
		reply(t, 1, ENDS_LONG);
		scr_hold(0);
		/* RDMA Write, Send, and the client's receive. */
		CT_EXPECT_EQ(scr_held(), 3);
		CT_EXPECT_TRUE(scr_held_at(0, &item));
		CT_EXPECT_EQ(item.op, SCR_WRITE);
		for (unsigned int i = 1; i < 3; i++)
			if (scr_held_at(i, &item) && item.op == SCR_RECV)
				CT_EXPECT_TRUE(scr_let_go(i));
		CT_EXPECT_TRUE(scr_let_go(send ? 0 : 1));
		pair_nothing(t->server.cq);
		CT_EXPECT_TRUE(scr_let_go(0));
		pair_done(t->server.cq, &t->server, FI_SEND | FI_MSG);
		pair_done(t->client.cq, t->client.got[0], FI_RECV | FI_MSG);
		ends_close(t);
	}
}

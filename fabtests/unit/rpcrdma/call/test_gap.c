/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wrap mode: messages are in order and none is missing. Behind one that could not be read
 * from the sender's memory the program gets none.
 */
#include "ends.h"

static void start(struct ends *e)
{
	ends_begin();
	CT_ASSERT_EQ(ends_up(e, RPR_MODE_WRAP), 0);
	ends_message(&e->client, &e->server);
}

CT_FIXTURE(rpcrdma_gap, struct ends, start, ends_close);

/* The server's program reads; an RDMA Read that follows does not arrive. */
static void read_begins(struct ends *e)
{
	ends_hold(&e->server);
	CT_EXPECT_EQ(scr_count(SCR_READ), 1);
	CT_EXPECT_EQ(scr_held(), 1);
}

/* It fails, or the sender is gone. */
static void read_fails(bool gone)
{
	if (gone)
		scr_break(scr_fid(FI_CLASS_EP, 0));
	else
		CT_EXPECT_TRUE(scr_fail_held(0, FI_EIO, 0, NULL, 0));
}

/* Nothing but the ends of so many receives, and of the connection. */
static void expect_end(struct ends *e, unsigned int receives)
{
	struct pair_event event;

	for (unsigned int i = 0; i < receives; i++)
		pair_failed(e->server.cq, e->server.got[i], FI_ECANCELED);
	pair_nothing(e->server.cq);
	CT_EXPECT_EQ(fi_recv(e->server.ep, e->server.got[0], ENDS_LONG, NULL, 0, NULL),
		     -FI_ENOTCONN);
	pair_nothing(e->server.cq);
	pair_expect(e->server.eq, FI_SHUTDOWN, &event);
	ends_no_event(e->server.eq);
}

CT_TEST_F(rpcrdma_gap, a_message_that_has_its_receive_is_not_delivered)
{
	for (int gone = 0; gone < 2; gone++) {
		CT_NOTE("the sender %s", gone ? "is gone" : "has closed its memory");
		start(t);
		ends_recv(&t->server, 0);
		ends_recv(&t->server, 1);
		ends_send(&t->client, ENDS_LONG);
		ends_send(&t->client, ENDS_SHORT);
		read_begins(t);
		read_fails(gone);
		expect_end(t, 2);
	}
}

CT_TEST_F(rpcrdma_gap, a_message_that_waits_for_a_receive_is_not_delivered)
{
	for (int gone = 0; gone < 2; gone++) {
		CT_NOTE("the sender %s", gone ? "is gone" : "has closed its memory");
		start(t);
		ends_recv(&t->server, 0);
		ends_send(&t->client, ENDS_LONG);
		ends_send(&t->client, ENDS_SHORT);
		read_begins(t);
		read_fails(gone);
		expect_end(t, 1);
	}
}

/* In the queue it is behind the Read's failure. */
CT_TEST_F(rpcrdma_gap, a_message_that_comes_later_is_not_delivered)
{
	ends_recv(&t->server, 0);
	ends_recv(&t->server, 1);
	ends_send(&t->client, ENDS_LONG);
	read_begins(t);
	read_fails(false);
	ends_send(&t->client, ENDS_SHORT);
	expect_end(t, 2);
}

/* It has been read by then. */
CT_TEST_F(rpcrdma_gap, a_long_message_behind_a_long_one_is_not_delivered)
{
	ends_recv(&t->server, 0);
	ends_recv(&t->server, 1);
	ends_send(&t->client, ENDS_LONG);
	ends_send(&t->client, ENDS_LONG);
	ends_hold(&t->server);
	CT_EXPECT_EQ(scr_held(), 2);
	read_fails(false);
	CT_EXPECT_TRUE(scr_let_go(0));
	expect_end(t, 2);
}

CT_TEST_F(rpcrdma_gap, messages_before_it_are_delivered)
{
	ends_recv(&t->server, 0);
	ends_recv(&t->server, 1);
	ends_send(&t->client, ENDS_SHORT);
	ends_send(&t->client, ENDS_LONG);
	scr_hold(SCR_ARRIVALS);
	pair_done(t->server.cq, t->server.got[0], FI_RECV | FI_MSG);
	pair_nothing(t->server.cq);
	scr_hold(0);
	read_fails(false);
	pair_failed(t->server.cq, t->server.got[1], FI_ECANCELED);
	pair_nothing(t->server.cq);
}

/*
 * Without memory to read a message, it takes those behind it with it, while the walk over
 * them is under way. What needs no receive is what could still be delivered then.
 */
CT_TEST_F(rpcrdma_gap, a_message_that_there_is_no_memory_to_read_is_the_last)
{
	char target[ENDS_SHORT] = {0};
	struct fid_mr *mr;

	CT_ASSERT_EQ(fi_mr_reg(t->server.domain, target, sizeof(target), FI_REMOTE_WRITE,
			       0, 0, 0, &mr, NULL),
		     0);
	ends_send(&t->client, ENDS_LONG);
	CT_EXPECT_EQ(fi_inject_writedata(t->client.ep, t->client.sent, ENDS_SHORT, 7, 0,
					 (uintptr_t)target, fi_mr_key(mr)),
		     0);
	pair_nothing(t->server.cq);
	ct_fail_alloc(1);
	ends_recv(&t->server, 0);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(scr_count(SCR_READ), 0);
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
	expect_end(t, 1);
}

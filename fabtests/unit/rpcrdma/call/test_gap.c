/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wrap mode: messages are in order and none is missing. Behind one that could not be read
 * from the sender's memory the program gets none.
 */
#include <string.h>
#include "ends.h"

static struct ends e;

static void start(void)
{
	ends_begin();
	CT_EXPECT_EQ(ends_up(&e, RPR_MODE_WRAP), 0);
	ends_message(&e.client, &e.server);
}

static void send_of(size_t len)
{
	CT_EXPECT_EQ(fi_send(e.client.ep, e.client.sent, len, NULL, 0, &e.client), 0);
}

/* The server's program reads; an RDMA Read that follows does not arrive. */
static void read_begins(void)
{
	scr_hold(SCR_ARRIVALS);
	pair_nothing(e.server.cq);
	scr_hold(0);
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
static void expect_end(unsigned int receives)
{
	struct pair_event event;
	unsigned int i;

	for (i = 0; i < receives; i++)
		pair_failed(e.server.cq, e.server.got[i], FI_ECANCELED);
	pair_nothing(e.server.cq);
	CT_EXPECT_EQ(fi_recv(e.server.ep, e.server.got[0], ENDS_LONG, NULL, 0, NULL),
		     -FI_ENOTCONN);
	pair_nothing(e.server.cq);
	pair_expect(e.server.eq, FI_SHUTDOWN, &event);
	CT_EXPECT_EQ(fi_eq_read(e.server.eq, &(uint32_t){0}, &event, sizeof(event), 0),
		     -FI_EAGAIN);
	ends_close(&e);
}

CT_TEST(rpcrdma_gap, a_message_that_has_its_receive_is_not_delivered)
{
	int gone;

	for (gone = 0; gone < 2; gone++) {
		CT_NOTE("the sender %s", gone ? "is gone" : "has closed its memory");
		start();
		ends_recv(&e.server, 0);
		ends_recv(&e.server, 1);
		send_of(ENDS_LONG);
		send_of(ENDS_SHORT);
		read_begins();
		read_fails(gone);
		expect_end(2);
	}
}

CT_TEST(rpcrdma_gap, a_message_that_waits_for_a_receive_is_not_delivered)
{
	int gone;

	for (gone = 0; gone < 2; gone++) {
		CT_NOTE("the sender %s", gone ? "is gone" : "has closed its memory");
		start();
		ends_recv(&e.server, 0);
		send_of(ENDS_LONG);
		send_of(ENDS_SHORT);
		read_begins();
		read_fails(gone);
		expect_end(1);
	}
}

/* In the queue it is behind the Read's failure. */
CT_TEST(rpcrdma_gap, a_message_that_comes_later_is_not_delivered)
{
	start();
	ends_recv(&e.server, 0);
	ends_recv(&e.server, 1);
	send_of(ENDS_LONG);
	read_begins();
	read_fails(false);
	send_of(ENDS_SHORT);
	expect_end(2);
}

/* It has been read by then. */
CT_TEST(rpcrdma_gap, a_long_message_behind_a_long_one_is_not_delivered)
{
	start();
	ends_recv(&e.server, 0);
	ends_recv(&e.server, 1);
	send_of(ENDS_LONG);
	send_of(ENDS_LONG);
	scr_hold(SCR_ARRIVALS);
	pair_nothing(e.server.cq);
	scr_hold(0);
	CT_EXPECT_EQ(scr_held(), 2);
	read_fails(false);
	CT_EXPECT_TRUE(scr_let_go(0));
	expect_end(2);
}

CT_TEST(rpcrdma_gap, messages_before_it_are_delivered)
{
	start();
	ends_recv(&e.server, 0);
	ends_recv(&e.server, 1);
	send_of(ENDS_SHORT);
	send_of(ENDS_LONG);
	scr_hold(SCR_ARRIVALS);
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	pair_nothing(e.server.cq);
	scr_hold(0);
	read_fails(false);
	pair_failed(e.server.cq, e.server.got[1], FI_ECANCELED);
	pair_nothing(e.server.cq);
	ends_close(&e);
}

/*
 * Without memory to read a message, it takes those behind it with it, while the walk over
 * them is under way. What needs no receive is what could still be delivered then.
 */
CT_TEST(rpcrdma_gap, a_message_that_there_is_no_memory_to_read_is_the_last)
{
	char target[ENDS_SHORT];
	struct fid_mr *mr;

	start();
	CT_ASSERT_EQ(fi_mr_reg(e.server.domain, target, sizeof(target), FI_REMOTE_WRITE,
			       0, 0, 0, &mr, NULL),
		     0);
	send_of(ENDS_LONG);
	CT_EXPECT_EQ(fi_inject_writedata(e.client.ep, e.client.sent, ENDS_SHORT, 7, 0,
					 (uintptr_t)target, fi_mr_key(mr)),
		     0);
	pair_nothing(e.server.cq);
	ct_fail_alloc(1);
	ends_recv(&e.server, 0);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(scr_count(SCR_READ), 0);
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
	expect_end(1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection ends. Who reads completions alone learns it by them; memory that a
 * message is read into is the program's again when the lower provider has said that the
 * RDMA Read is over, and not before.
 */
#include <string.h>
#include <cairn/wait.h>
#include "ends.h"

static struct ends e;

/* A long message for the first of two receives, whose RDMA Read is under way, when the
 * lower provider says that the connection is gone. */
static void down_while_reading(void)
{
	struct pair_event event;

	ends_begin();
	CT_EXPECT_EQ(ends_up(&e, RPR_MODE_WRAP), 0);
	ends_message(&e.client, &e.server);
	ends_recv(&e.server, 0);
	ends_recv(&e.server, 1);
	memset(e.client.sent, 'm', ENDS_LONG);
	CT_EXPECT_EQ(fi_send(e.client.ep, e.client.sent, ENDS_LONG, NULL, 0, &e.client),
		     0);
	scr_hold(SCR_ARRIVALS);
	pair_nothing(e.server.cq);
	scr_hold(0);
	CT_EXPECT_EQ(scr_held(), 1);
	CT_EXPECT_EQ(scr_event(scr_fid(FI_CLASS_EP, 1), FI_SHUTDOWN, NULL, 0), 0);
	CT_EXPECT_EQ(pair_expect(e.server.eq, FI_SHUTDOWN, &event), 0);
	/* Nothing will come for the other one. */
	pair_failed(e.server.cq, e.server.got[1], FI_ECANCELED);
	pair_nothing(e.server.cq);
}

CT_TEST(rpcrdma_down, a_receive_ends_when_its_rdma_read_has_ended)
{
	down_while_reading();
	CT_EXPECT_TRUE(scr_fail_held(0, FI_ECANCELED, 0, NULL, 0));
	pair_failed(e.server.cq, e.server.got[0], FI_ECANCELED);
	pair_nothing(e.server.cq);
	ends_close(&e);
}

CT_TEST(rpcrdma_down, a_message_that_was_read_all_the_same_is_delivered)
{
	down_while_reading();
	CT_EXPECT_TRUE(scr_let_go(0));
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	CT_EXPECT_MEMEQ(e.server.got[0], e.client.sent, ENDS_LONG);
	pair_nothing(e.server.cq);
	ends_close(&e);
}

/* Of a lower provider that never says so, fi_close is the end. */
CT_TEST(rpcrdma_down, an_rdma_read_that_never_ends_keeps_nothing_open)
{
	down_while_reading();
	ends_close(&e);
}

CT_TEST(rpcrdma_down, who_reads_no_event_learns_it_by_the_completions)
{
	struct fi_cq_data_entry done;
	struct pair_event event;
	uint64_t start;

	ends_begin();
	CT_EXPECT_EQ(ends_up(&e, RPR_MODE_WRAP), 0);
	ends_recv(&e.server, 0);
	pair_nothing(e.server.cq);
	CT_EXPECT_EQ(scr_event(scr_fid(FI_CLASS_EP, 1), FI_SHUTDOWN, NULL, 0), 0);
	start = crn_now_ms();
	while (fi_cq_read(e.server.cq, &done, 1) == -FI_EAGAIN &&
	       crn_timeout_left(start, 10000))
		;
	pair_failed(e.server.cq, e.server.got[0], FI_ECANCELED);
	CT_EXPECT_EQ(pair_expect(e.server.eq, FI_SHUTDOWN, &event), 0);
	ends_close(&e);
}

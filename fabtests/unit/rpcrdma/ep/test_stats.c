/* SPDX-License-Identifier: BSD-2-Clause */
/* What the text of a connection's state says of the peer's Calls. */
#include <string.h>
#include "ends.h"

static struct ends e;

/* The server's state has that line of the peer's Calls, count times. */
static void expect_calls(const char *state, unsigned int count)
{
	struct fi_cairn_ops_rpc_stats *ops;
	char text[4096], *at = text;
	unsigned int seen = 0;

	CT_ASSERT_EQ(fi_open_ops(&e.server.ep->fid, FI_CAIRN_RPC_STATS, 0, (void **)&ops,
				 NULL),
		     0);
	CT_ASSERT_TRUE(ops->dump(e.server.ep, text, sizeof(text)) > 0);
	for (; (at = strstr(at, state)); at++)
		seen++;
	CT_NOTE("%s", text);
	CT_EXPECT_EQ(seen, count);
}

/* A long message whose RDMA Read is under way, a short one behind it, and one more for
 * which there is no receive. */
CT_TEST(rpcrdma_stats, calls_that_are_not_delivered_say_why)
{
	unsigned int i;

	ends_begin();
	CT_ASSERT_EQ(ends_up(&e, RPR_MODE_WRAP), 0);
	ends_message(&e.client, &e.server);
	ends_recv(&e.server, 0);
	ends_recv(&e.server, 1);
	for (i = 0; i < 3; i++)
		CT_EXPECT_EQ(fi_send(e.client.ep, e.client.sent,
				     i ? ENDS_SHORT : ENDS_LONG, NULL, 0, &e.client),
			     0);
	scr_hold(SCR_ARRIVALS);
	pair_nothing(e.server.cq);
	expect_calls(": is being read\n", 1);
	expect_calls("waits for one that is being read\n", 1);
	expect_calls("waits for a receive\n", 1);
	scr_let_all_go();
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	pair_done(e.server.cq, e.server.got[1], FI_RECV | FI_MSG);
	pair_nothing(e.server.cq);
	ends_close(&e);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8167 section 6: the end that connects says whether it takes Calls. */
#include "ends.h"

static struct ends e;

static void open_client(size_t grant)
{
	CT_EXPECT_EQ(fi_endpoint(e.client.domain, e.info, &e.client.ep, NULL), 0);
	CT_EXPECT_EQ(fi_setopt(&e.client.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RPC_GRANT,
			       &grant, sizeof(grant)),
		     0);
	CT_EXPECT_EQ(ends_bind(&e.client), 0);
}

static void connect_ends(void)
{
	struct pair_event event;

	CT_EXPECT_EQ(ends_connect(&e), 0);
	pair_expect(e.server.eq, FI_CONNREQ, &event);
	CT_EXPECT_EQ(ends_accept(&e, event.entry.info), 0);
	fi_freeinfo(event.entry.info);
	ends_connected(&e);
}

/* A Call (RFC 5531) of the server. */
static ssize_t call(void)
{
	ends_rpc(&e.server, 7, false);
	return fi_send(e.server.ep, e.server.sent, 40, NULL, 0, NULL);
}

static void run(size_t grant, ssize_t wanted)
{
	CT_NOTE("%zu are granted", grant);
	ends_begin();
	CT_ASSERT_EQ(ends_open(&e, RPR_MODE_RPC), 0);
	open_client(grant);
	connect_ends();
	CT_EXPECT_EQ(call(), wanted);
	ends_close(&e);
}

CT_TEST(rpcrdma_ready, the_end_that_listens_calls_who_grants_calls)
{
	run(1, 0);
	run(0, -FI_EOPNOTSUPP);
}

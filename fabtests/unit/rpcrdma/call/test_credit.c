/* SPDX-License-Identifier: BSD-2-Clause */
/* Credits (RFC 8166 section 3.3.1): of Calls that are cancelled, and a grant that shrinks
 * while Calls are outstanding. */
#include "ends.h"
#include "objects.h"

#define LEN 40u

static struct ends e;

static ssize_t call(uint32_t xid, void *context)
{
	ends_rpc(&e.client, xid, false);
	return fi_send(e.client.ep, e.client.sent, LEN, NULL, 0, context);
}

/* The server's program gets the Call. */
static void call_arrives(uint32_t xid, void *context)
{
	ends_recv(&e.server, 0);
	CT_EXPECT_EQ(call(xid, context), 0);
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(e.server.got[0][3], (char)xid);
	pair_done(e.client.cq, context, FI_SEND | FI_MSG);
}

static void reply(uint32_t xid)
{
	ends_rpc(&e.server, xid, true);
	ends_send(&e.server, LEN);
	pair_done(e.server.cq, &e.server, FI_SEND | FI_MSG);
}

static void reply_arrives(uint32_t xid)
{
	ends_recv(&e.client, 0);
	reply(xid);
	pair_done(e.client.cq, e.client.got[0], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(e.client.got[0][3], (char)xid);
}

/* The client has that many credits, which came with a Reply. */
static void start(size_t grant)
{
	struct fi_info *request;

	ends_begin();
	CT_ASSERT_EQ(ends_open(&e, RPR_MODE_RPC), 0);
	request = ends_request(&e);
	request->rx_attr->size = grant;
	CT_EXPECT_EQ(ends_accept(&e, request), 0);
	fi_freeinfo(request);
	ends_connected(&e);
	call_arrives(1, NULL);
	reply_arrives(1);
}

CT_TEST(rpcrdma_credit, a_grant_that_shrinks_counts_the_calls_that_are_outstanding)
{
	start(4);
	for (uint32_t xid = 2; xid <= 4; xid++)
		call_arrives(xid, NULL);
	rpr_ep_of(e.server.ep)->grant = 1;
	for (uint32_t xid = 2; xid <= 3; xid++) {
		reply_arrives(xid);
		CT_EXPECT_EQ(call(5, NULL), -FI_EAGAIN);
	}
	reply_arrives(4);
	call_arrives(5, NULL);
	CT_EXPECT_EQ(call(6, NULL), -FI_EAGAIN);
	rpr_ep_of(e.server.ep)->grant = 4;
	reply_arrives(5);
	for (uint32_t xid = 6; xid <= 9; xid++)
		call_arrives(xid, NULL);
	CT_EXPECT_EQ(call(10, NULL), -FI_EAGAIN);
	ends_no_event(e.server.eq);
	ends_close(&e);
}

/* The peer has the credit until it answers; the answer is for no program. */
CT_TEST(rpcrdma_credit, a_cancelled_call_has_its_credit_until_its_reply_arrives)
{
	int cancelled;

	start(2);
	call_arrives(2, &cancelled);
	CT_EXPECT_EQ(fi_cancel(&e.client.ep->fid, &cancelled), 0);
	call_arrives(3, NULL);
	CT_EXPECT_EQ(call(4, NULL), -FI_EAGAIN);
	reply(2);
	pair_nothing(e.client.cq);
	call_arrives(4, NULL);
	CT_EXPECT_EQ(call(5, NULL), -FI_EAGAIN);
	reply_arrives(3);
	reply_arrives(4);
	ends_no_event(e.server.eq);
	ends_close(&e);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc mode: messages that are longer than their receive, or are for other receives. */
#include <string.h>
#include "ends.h"

#define XID 0x1234u
#define LEN 64u
#define ROOM 32u

static void start(struct ends *e)
{
	ends_begin();
	CT_ASSERT_EQ(ends_up(e, RPR_MODE_RPC), 0);
}

CT_FIXTURE(rpcrdma_truncated, struct ends, start, ends_close);

/* A receive of ROOM bytes. */
static void recv_short(struct end *end)
{
	CT_EXPECT_EQ(fi_recv(end->ep, end->got[0], ROOM, NULL, 0, end->got[0]), 0);
}

static void send_rpc(struct end *from, bool reply, size_t len)
{
	ends_rpc(from, XID, reply);
	ends_send(from, len);
}

static void expect_truncated(struct end *end, size_t len, size_t olen)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err = {.err = 0};

	CT_EXPECT_EQ(fi_cq_read(end->cq, &entry, 1), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_cq_readerr(end->cq, &err, 0), 1);
	CT_EXPECT_EQ(err.err, FI_ETRUNC);
	CT_EXPECT_EQ(err.op_context, end->got[0]);
	CT_EXPECT_EQ(err.data, XID);
	CT_EXPECT_EQ(err.len, len);
	CT_EXPECT_EQ(err.olen, olen);
}

static void expect_answered(struct ends *e)
{
	ends_recv(&e->client, 1);
	send_rpc(&e->server, true, LEN);
	pair_done(e->client.cq, e->client.got[1], FI_RECV | FI_MSG);
}

CT_TEST_F(rpcrdma_truncated, a_call_can_be_answered_by_the_xid_of_its_error)
{
	recv_short(&t->server);
	send_rpc(&t->client, false, LEN);
	expect_truncated(&t->server, ROOM, LEN - ROOM);
	pair_done(t->client.cq, &t->client, FI_SEND | FI_MSG);
	expect_answered(t);
}

/* None of it is read: there is nothing but the XID. */
CT_TEST_F(rpcrdma_truncated, a_call_in_chunks_can_be_answered_as_well)
{
	recv_short(&t->server);
	send_rpc(&t->client, false, ENDS_LONG);
	expect_truncated(&t->server, 0, ENDS_LONG - ROOM);
	pair_done(t->client.cq, &t->client, FI_SEND | FI_MSG);
	expect_answered(t);
}

CT_TEST_F(rpcrdma_truncated, a_reply_says_whose_it_is)
{
	ends_recv(&t->server, 0);
	recv_short(&t->client);
	send_rpc(&t->client, false, LEN);
	pair_done(t->client.cq, &t->client, FI_SEND | FI_MSG);
	pair_done(t->server.cq, t->server.got[0], FI_RECV | FI_MSG);
	send_rpc(&t->server, true, LEN);
	expect_truncated(&t->client, ROOM, LEN - ROOM);
}

static void recv_kind(struct end *end, unsigned int i, int kind)
{
	CT_EXPECT_EQ(fi_setopt(&end->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RPC_RECV,
			       &kind, sizeof(kind)),
		     0);
	ends_recv(end, i);
}

/* A Call waits for a receive of its kind: those of the other end all the same. */
CT_TEST_F(rpcrdma_truncated, receives_of_the_other_kind_end_with_the_connection)
{
	struct pair_event event;

	recv_kind(&t->server, 0, FI_CAIRN_RPC_RECV_REPLIES);
	send_rpc(&t->client, false, LEN);
	pair_nothing(t->server.cq);
	CT_EXPECT_EQ(fi_shutdown(t->client.ep, 0), 0);
	CT_EXPECT_EQ(pair_expect(t->server.eq, FI_SHUTDOWN, &event), 0);
	pair_failed(t->server.cq, t->server.got[0], FI_ECANCELED);
	/* One that is posted now ends at once; one that takes it gets it. */
	ends_recv(&t->server, 0);
	pair_failed(t->server.cq, t->server.got[0], FI_ECANCELED);
	recv_kind(&t->server, 1, FI_CAIRN_RPC_RECV_CALLS);
	pair_done(t->server.cq, t->server.got[1], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(fi_recv(t->server.ep, t->server.got[0], ROOM, NULL, 0, NULL),
		     -FI_ENOTCONN);
}

static struct fi_cairn_rpc_limits limits_of(struct end *end)
{
	struct fi_cairn_rpc_limits limits = {0};
	size_t len = sizeof(limits);

	CT_EXPECT_EQ(fi_getopt(&end->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RPC_LIMITS,
			       &limits, &len),
		     0);
	return limits;
}

/* Programs size the receives that they post before they connect by it. */
CT_TEST_F(rpcrdma_truncated, the_limit_of_receives_is_there_before_the_connection)
{
	struct fi_cairn_rpc_limits before, after = limits_of(&t->client);
	struct end *end = &t->client;

	CT_EXPECT_EQ(fi_close(&end->ep->fid), 0);
	end->ep = NULL;
	CT_ASSERT_EQ(ends_endpoint(end, t->info), 0);
	before = limits_of(end);
	CT_EXPECT_EQ(before.recv_inline, after.recv_inline);
	CT_EXPECT_EQ(before.recv_inline, 4096);
	CT_EXPECT_EQ(before.send_inline, 1024);
}

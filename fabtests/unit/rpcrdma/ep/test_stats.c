/* SPDX-License-Identifier: BSD-2-Clause */
/* What the text of a connection's state says. */
#include <string.h>
#include "ends.h"
#include "objects.h"

#define XID 0x700u
#define ARGUMENT 128u /* bytes of an item that leaves the Call */
#define RESULT 64u

static size_t dump(struct end *end, char *text, size_t size)
{
	struct fi_cairn_ops_rpc_stats *ops = NULL;
	ssize_t len;

	CT_EXPECT_EQ(fi_open_ops(&end->ep->fid, FI_CAIRN_RPC_STATS, 0, (void **)&ops,
				 NULL),
		     0);
	len = ops->dump(end->ep, text, size);
	CT_EXPECT_TRUE(len > 0);
	return (size_t)len;
}

/* The state has that text, count times. */
static void expect_text(struct end *end, const char *wanted, unsigned int count)
{
	char text[4096], *at = text;
	unsigned int seen = 0;

	CT_EXPECT_TRUE(dump(end, text, sizeof(text)) < sizeof(text));
	for (; (at = strstr(at, wanted)); at++)
		seen++;
	CT_NOTE("%s in %s", wanted, text);
	CT_EXPECT_EQ(seen, count);
}

static void expect_calls(struct ends *e, const char *state, unsigned int count)
{
	expect_text(&e->server, state, count);
}

static void set_up(struct ends *e)
{
	ends_begin();
}

CT_FIXTURE(rpcrdma_stats, struct ends, set_up, ends_close);

/* A long message whose RDMA Read is under way, a short one behind it, and one more for
 * which there is no receive. */
CT_TEST_F(rpcrdma_stats, calls_that_are_not_delivered_say_why)
{
	CT_ASSERT_EQ(ends_up(t, RPR_MODE_WRAP), 0);
	ends_message(&t->client, &t->server);
	ends_recv(&t->server, 0);
	ends_recv(&t->server, 1);
	ends_send(&t->client, ENDS_LONG);
	ends_send(&t->client, ENDS_SHORT);
	ends_send(&t->client, ENDS_SHORT);
	scr_hold(SCR_ARRIVALS);
	pair_nothing(t->server.cq);
	expect_calls(t, ": is being read, ", 1);
	expect_calls(t, "waits for one that is being read, ", 1);
	expect_calls(t, "waits for a receive, ", 1);
	scr_let_all_go();
	pair_done(t->server.cq, t->server.got[0], FI_RECV | FI_MSG);
	pair_done(t->server.cq, t->server.got[1], FI_RECV | FI_MSG);
	pair_nothing(t->server.cq);
}

/* A Call with an item in a Read chunk and a Write chunk for its result. */
static void call_with_chunks(struct ends *e)
{
	const struct iovec result = {e->client.got[1], RESULT};
	const struct iovec call[] = {{e->client.sent, 40},
				     {e->client.sent + 40, ARGUMENT}};
	struct fi_msg msg = {.msg_iov = &result, .iov_count = 1, .data = XID};

	ends_rpc(&e->client, XID, false);
	CT_EXPECT_EQ(fi_recvmsg(e->client.ep, &msg, FI_CAIRN_RPC_RESULT | FI_COMPLETION),
		     0);
	ends_recv(&e->client, 0);
	msg = (struct fi_msg){.msg_iov = call, .iov_count = 2, .data = 1 << 1};
	CT_EXPECT_EQ(fi_sendmsg(e->client.ep, &msg, FI_CAIRN_RPC_DDP | FI_COMPLETION), 0);
}

/* RFC 8166 section 4.3: chunks of a Call, as both ends see them. */
CT_TEST_F(rpcrdma_stats, a_call_shows_its_chunks)
{
	CT_ASSERT_EQ(ends_up(t, RPR_MODE_RPC), 0);
	ends_recv(&t->server, 0);
	call_with_chunks(t);
	expect_text(&t->client, "Call 0x00000700: waits for its Reply, 0.", 1);
	expect_text(&t->client, " s, Read chunk 128, Write chunk 64\n", 1);
	expect_text(&t->client, "Calls: 1 of ", 1);
	scr_hold(SCR_ARRIVALS);
	pair_nothing(t->server.cq);
	expect_text(&t->server, " s, Read chunk 128, Write chunk 64\n", 1);
	scr_let_all_go();
	pair_done(t->server.cq, t->server.got[0], FI_RECV | FI_MSG);
	expect_text(&t->server, "peer's Call 0x00000700: is to be answered, 0.", 1);
	expect_text(&t->server, " s, Write chunk 64\n", 1);
}

CT_TEST_F(rpcrdma_stats, a_call_shows_its_age)
{
	struct rpr_ep *client, *server;

	CT_ASSERT_EQ(ends_up(t, RPR_MODE_RPC), 0);
	ends_recv(&t->server, 0);
	call_with_chunks(t);
	pair_nothing(t->server.cq);
	pair_done(t->server.cq, t->server.got[0], FI_RECV | FI_MSG);
	client = rpr_ep_of(t->client.ep);
	server = rpr_ep_of(t->server.ep);
	for (size_t i = 0; i < client->call_slots; i++)
		client->calls[i].began -= 61000;
	for (size_t i = 0; i < server->serve_slots; i++)
		server->serves[i].began -= 62000;
	expect_text(&t->client, "Call 0x00000700: waits for its Reply, 61.", 1);
	expect_text(&t->server, "peer's Call 0x00000700: is to be answered, 62.", 1);
}

/* Those that are 0 are left out. */
CT_TEST_F(rpcrdma_stats, counters_are_shown_by_name)
{
	CT_ASSERT_EQ(ends_up(t, RPR_MODE_RPC), 0);
	expect_text(&t->client, "counters", 0);
	ends_recv(&t->server, 0);
	call_with_chunks(t);
	pair_nothing(t->server.cq);
	pair_done(t->server.cq, t->server.got[0], FI_RECV | FI_MSG);
	expect_text(&t->client, "\ncounters: calls_sent 1\n", 1);
	expect_text(&t->server, "\ncounters: calls_received 1, read_bytes 128\n", 1);
	rpr_ep_of(t->client.ep)->stats.drop_xid = 3;
	rpr_ep_of(t->client.ep)->stats.closed = 1;
	expect_text(&t->client, "\ncounters: calls_sent 1, drop_xid 3, closed 1\n", 1);
}

/* As snprintf(3): what does not fit is counted, and nothing is written behind the room.
 */
CT_TEST_F(rpcrdma_stats, a_text_ends_where_its_room_does)
{
	char whole[4096], part[64];
	size_t len;

	CT_ASSERT_EQ(ends_up(t, RPR_MODE_RPC), 0);
	len = dump(&t->client, whole, sizeof(whole));
	CT_EXPECT_EQ(strlen(whole), len);
	CT_EXPECT_EQ(dump(&t->client, NULL, 0), len);
	for (size_t size = 1; size < sizeof(part); size++) {
		memset(part, 'x', sizeof(part));
		CT_EXPECT_EQ(dump(&t->client, part, size), len);
		CT_EXPECT_EQ(strlen(part), size - 1);
		CT_EXPECT_MEMEQ(part, whole, size - 1);
		CT_EXPECT_EQ(part[size], 'x');
	}
}

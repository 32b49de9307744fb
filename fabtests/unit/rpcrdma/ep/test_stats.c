/* SPDX-License-Identifier: BSD-2-Clause */
/* What the text of a connection's state says. */
#include <string.h>
#include "ends.h"
#include "objects.h"

#define XID 0x700u
#define ARGUMENT 128u /* bytes of an item that leaves the Call */
#define RESULT 64u

static struct ends e;

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

static void expect_calls(const char *state, unsigned int count)
{
	expect_text(&e.server, state, count);
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
	expect_calls(": is being read, ", 1);
	expect_calls("waits for one that is being read, ", 1);
	expect_calls("waits for a receive, ", 1);
	scr_let_all_go();
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	pair_done(e.server.cq, e.server.got[1], FI_RECV | FI_MSG);
	pair_nothing(e.server.cq);
	ends_close(&e);
}

/* A Call with an item in a Read chunk and a Write chunk for its result. */
static void call_with_chunks(void)
{
	static const uint8_t head[12] = {0, 0, XID >> 8, XID & 255, 0, 0,
					 0, 0, 0,	 0,	    0, 2};
	const struct iovec result = {e.client.got[1], RESULT};
	const struct iovec call[] = {{e.client.sent, 40}, {e.client.sent + 40, ARGUMENT}};
	struct fi_msg msg = {.msg_iov = &result, .iov_count = 1, .data = XID};

	memcpy(e.client.sent, head, sizeof(head));
	CT_EXPECT_EQ(fi_recvmsg(e.client.ep, &msg, FI_CAIRN_RPC_RESULT | FI_COMPLETION),
		     0);
	ends_recv(&e.client, 0);
	msg = (struct fi_msg){.msg_iov = call, .iov_count = 2, .data = 1 << 1};
	CT_EXPECT_EQ(fi_sendmsg(e.client.ep, &msg, FI_CAIRN_RPC_DDP | FI_COMPLETION), 0);
}

/* RFC 8166 section 4.3: chunks of a Call, as both ends see them. */
CT_TEST(rpcrdma_stats, a_call_shows_its_chunks)
{
	ends_begin();
	CT_ASSERT_EQ(ends_up(&e, RPR_MODE_RPC), 0);
	ends_recv(&e.server, 0);
	call_with_chunks();
	expect_text(&e.client, "Call 0x00000700: waits for its Reply, 0.", 1);
	expect_text(&e.client, " s, Read chunk 128, Write chunk 64\n", 1);
	expect_text(&e.client, "Calls: 1 of ", 1);
	scr_hold(SCR_ARRIVALS);
	pair_nothing(e.server.cq);
	expect_text(&e.server, " s, Read chunk 128, Write chunk 64\n", 1);
	scr_let_all_go();
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	expect_text(&e.server, "peer's Call 0x00000700: is to be answered, 0.", 1);
	expect_text(&e.server, " s, Write chunk 64\n", 1);
	ends_close(&e);
}

CT_TEST(rpcrdma_stats, a_call_shows_its_age)
{
	struct rpr_ep *client, *server;
	size_t i;

	ends_begin();
	CT_ASSERT_EQ(ends_up(&e, RPR_MODE_RPC), 0);
	ends_recv(&e.server, 0);
	call_with_chunks();
	pair_nothing(e.server.cq);
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	client = rpr_ep_of(e.client.ep);
	server = rpr_ep_of(e.server.ep);
	for (i = 0; i < client->call_slots; i++)
		client->calls[i].began -= 61000;
	for (i = 0; i < server->serve_slots; i++)
		server->serves[i].began -= 62000;
	expect_text(&e.client, "Call 0x00000700: waits for its Reply, 61.", 1);
	expect_text(&e.server, "peer's Call 0x00000700: is to be answered, 62.", 1);
	ends_close(&e);
}

/* Those that are 0 are left out. */
CT_TEST(rpcrdma_stats, counters_are_shown_by_name)
{
	ends_begin();
	CT_ASSERT_EQ(ends_up(&e, RPR_MODE_RPC), 0);
	expect_text(&e.client, "counters", 0);
	ends_recv(&e.server, 0);
	call_with_chunks();
	pair_nothing(e.server.cq);
	pair_done(e.server.cq, e.server.got[0], FI_RECV | FI_MSG);
	expect_text(&e.client, "\ncounters: calls_sent 1\n", 1);
	expect_text(&e.server, "\ncounters: calls_received 1, read_bytes 128\n", 1);
	rpr_ep_of(e.client.ep)->stats.drop_xid = 3;
	rpr_ep_of(e.client.ep)->stats.closed = 1;
	expect_text(&e.client, "\ncounters: calls_sent 1, drop_xid 3, closed 1\n", 1);
	ends_close(&e);
}

/* As snprintf(3): what does not fit is counted, and nothing is written behind the room.
 */
CT_TEST(rpcrdma_stats, a_text_ends_where_its_room_does)
{
	char whole[4096], part[64];
	size_t len, size;

	ends_begin();
	CT_ASSERT_EQ(ends_up(&e, RPR_MODE_RPC), 0);
	len = dump(&e.client, whole, sizeof(whole));
	CT_EXPECT_EQ(strlen(whole), len);
	CT_EXPECT_EQ(dump(&e.client, NULL, 0), len);
	for (size = 1; size < sizeof(part); size++) {
		memset(part, 'x', sizeof(part));
		CT_EXPECT_EQ(dump(&e.client, part, size), len);
		CT_EXPECT_EQ(strlen(part), size - 1);
		CT_EXPECT_MEMEQ(part, whole, size - 1);
		CT_EXPECT_EQ(part[size], 'x');
	}
	ends_close(&e);
}

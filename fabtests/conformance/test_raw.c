/* SPDX-License-Identifier: BSD-2-Clause */
/* The raw peer by itself: two of them, which need no layer. */
#include <string.h>
#include "lower.h"
#include "raw.h"
#include "pump.h"

/* They are connected. */
struct raw_pair {
	struct raw client, server;
};

static void pair_up(struct raw_pair *p)
{
	raw_open(&p->server);
	raw_open(&p->client);
	raw_listen(&p->server);
	raw_connect(&p->client, side_name(&p->server.side), "please", 6);
	ASSERT_SOON(p->server.side.request != NULL);
	CT_EXPECT_MEMEQ(p->server.side.private, "please", 6);
	raw_accept(&p->server, "yes", 3);
	ASSERT_SOON(p->client.side.connected && p->server.side.connected);
	CT_EXPECT_MEMEQ(p->client.side.private, "yes", 3);
}

static void pair_down(struct raw_pair *p)
{
	raw_close(&p->client);
	raw_close(&p->server);
}

CT_FIXTURE(raw, struct raw_pair, pair_up, pair_down);

/* More than there are receives for at a time. */
CT_TEST_F(raw, shows_messages_in_their_order)
{
	struct rpr_header header = {.vers = RPR_VERSION, .credit = 1, .proc = RPR_MSG};
	const struct raw_message *message;

	for (uint32_t xid = 1; xid <= 600 && !ct_failed(); xid++) {
		header.xid = xid;
		raw_say(&t->client, &header, "payload", 7);
		message = raw_take(&t->server);
		CT_EXPECT_EQ(message->bad, RPR_OK);
		CT_EXPECT_EQ(message->header.xid, xid);
		CT_EXPECT_EQ(message->payload_len, 7);
		CT_EXPECT_MEMEQ(message->payload, "payload", 7);
	}
	CT_EXPECT_EQ(t->server.arrived, 600);
	CT_EXPECT_EQ(t->client.failed, 0);
}

CT_TEST_F(raw, sends_any_bytes)
{
	const struct raw_message *message;

	raw_send(&t->client, "\1\2\3", 3);
	message = raw_take(&t->server);
	CT_EXPECT_EQ(message->bad, RPR_BAD_SHORT);
	CT_EXPECT_EQ(message->len, 3);
	CT_EXPECT_MEMEQ(message->bytes, "\1\2\3", 3);
}

CT_TEST_F(raw, reaches_exposed_memory)
{
	char memory[100] = "the peer's", got[100];
	struct rpr_seg seg = raw_expose(&t->server, memory, sizeof(memory));

	CT_EXPECT_EQ(raw_read(&t->client, &seg, got), 0);
	CT_EXPECT_MEMEQ(got, memory, sizeof(got));
	memset(got, 'x', sizeof(got));
	seg.offset += 10;
	seg.length = 5;
	CT_EXPECT_EQ(raw_write(&t->client, &seg, got), 0);
	CT_EXPECT_MEMEQ(memory, "the peer'sxxxxx\0", 16);
}

CT_TEST_F(raw, learns_that_memory_is_hidden)
{
	char memory[100] = "secret", got[100] = "";
	struct rpr_seg seg;

	if (!strcmp(lower_name(), "verbs"))
		CT_SKIP("libfabric's verbs keeps closed regions registered");
	seg = raw_expose(&t->server, memory, sizeof(memory));
	raw_hide(&t->server, &seg);
	CT_EXPECT_NE(raw_read(&t->client, &seg, got), 0);
	CT_EXPECT_EQ(got[0], 0);
}

CT_TEST_F(raw, learns_that_memory_is_no_longer_than_it_is)
{
	char memory[100] = "secret", got[101] = "";
	struct rpr_seg seg = raw_expose(&t->server, memory, sizeof(memory));

	seg.length++;
	CT_EXPECT_NE(raw_read(&t->client, &seg, got), 0);
	EXPECT_SOON(t->client.dead);
}

CT_TEST_F(raw, sees_that_the_peer_left)
{
	raw_drop(&t->client);
	EXPECT_SOON(t->server.dead);
}

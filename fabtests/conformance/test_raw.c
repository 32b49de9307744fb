/* SPDX-License-Identifier: BSD-2-Clause */
/* The raw peer by itself: two of them, which need no layer. */
#include <stdlib.h>
#include <string.h>
#include "lower.h"
#include "raw.h"
#include "pump.h"

static struct raw client, server;

static void pair_up(void)
{
	raw_open(&server);
	raw_open(&client);
	raw_listen(&server);
	raw_connect(&client, raw_name(&server), "please", 6);
	ASSERT_SOON(server.request != NULL);
	CT_EXPECT_MEMEQ(server.private, "please", 6);
	raw_accept(&server, "yes", 3);
	ASSERT_SOON(client.connected && server.connected);
	CT_EXPECT_MEMEQ(client.private, "yes", 3);
}

static void pair_down(void)
{
	raw_close(&client);
	raw_close(&server);
}

/* More than there are receives for at a time. */
CT_TEST(raw, shows_messages_in_their_order)
{
	struct rpr_header header = {.vers = RPR_VERSION, .credit = 1, .proc = RPR_MSG};
	const struct raw_message *message;
	uint32_t xid;

	pair_up();
	for (xid = 1; xid <= 600 && !ct_failed(); xid++) {
		header.xid = xid;
		raw_say(&client, &header, "payload", 7);
		message = raw_take(&server);
		CT_EXPECT_EQ(message->bad, RPR_OK);
		CT_EXPECT_EQ(message->header.xid, xid);
		CT_EXPECT_EQ(message->payload_len, 7);
		CT_EXPECT_MEMEQ(message->payload, "payload", 7);
	}
	CT_EXPECT_EQ(server.arrived, 600);
	CT_EXPECT_EQ(client.failed, 0);
	pair_down();
}

CT_TEST(raw, sends_any_bytes)
{
	const struct raw_message *message;

	pair_up();
	raw_send(&client, "\1\2\3", 3);
	message = raw_take(&server);
	CT_EXPECT_EQ(message->bad, RPR_BAD_SHORT);
	CT_EXPECT_EQ(message->len, 3);
	CT_EXPECT_MEMEQ(message->bytes, "\1\2\3", 3);
	pair_down();
}

CT_TEST(raw, reaches_exposed_memory)
{
	char memory[100] = "the peer's", got[100];
	struct rpr_seg seg;

	pair_up();
	seg = raw_expose(&server, memory, sizeof(memory));
	CT_EXPECT_EQ(raw_read(&client, &seg, got), 0);
	CT_EXPECT_MEMEQ(got, memory, sizeof(got));
	memset(got, 'x', sizeof(got));
	seg.offset += 10;
	seg.length = 5;
	CT_EXPECT_EQ(raw_write(&client, &seg, got), 0);
	CT_EXPECT_MEMEQ(memory, "the peer'sxxxxx\0", 16);
	pair_down();
}

CT_TEST(raw, learns_that_memory_is_hidden)
{
	char memory[100] = "secret", got[100] = "";
	struct rpr_seg seg;

	if (!strcmp(lower_name(), "verbs"))
		CT_SKIP("libfabric's verbs keeps closed regions registered");
	pair_up();
	seg = raw_expose(&server, memory, sizeof(memory));
	raw_hide(&server, &seg);
	CT_EXPECT_NE(raw_read(&client, &seg, got), 0);
	CT_EXPECT_EQ(got[0], 0);
	pair_down();
}

CT_TEST(raw, learns_that_memory_is_no_longer_than_it_is)
{
	char memory[100] = "secret", got[101] = "";
	struct rpr_seg seg;

	pair_up();
	seg = raw_expose(&server, memory, sizeof(memory));
	seg.length++;
	CT_EXPECT_NE(raw_read(&client, &seg, got), 0);
	EXPECT_SOON(client.dead);
	pair_down();
}

CT_TEST(raw, sees_that_the_peer_left)
{
	pair_up();
	raw_drop(&client);
	EXPECT_SOON(server.dead);
	pair_down();
}

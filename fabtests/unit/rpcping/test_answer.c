/* SPDX-License-Identifier: BSD-2-Clause */
/* The Reply to each Call that a peer may make. */
#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "end.h"

#define XID 0x01020304u
#define SIZE 5u
#define REPLY_SIZE 9u

static struct png_receive receive;
static uint8_t call[128];
static size_t call_len;
static int sent, full; /* full: so often there is no room */
static size_t sent_data;

/* In place of a connection. */
ssize_t png_send(struct png_end *end, uint8_t *head, size_t head_len, size_t size,
		 struct png_mark *mark)
{
	if (full) {
		full--;
		return -FI_EAGAIN;
	}
	sent++;
	sent_data = size;
	return 0;
}

/* Nothing completes here. */
int png_receive(struct png_end *end, struct png_receive *again)
{
	return 0;
}

int png_reply(struct png_end *end, const uint8_t *bytes, size_t len, uint64_t now)
{
	return 0;
}

void png_call_settle(struct png_end *end, struct png_call *settled)
{
}

static ssize_t nothing(struct fid_cq *cq, void *buf, size_t count)
{
	return -FI_EAGAIN;
}

static void put(uint32_t word)
{
	word = htonl(word);
	memcpy(call + call_len, &word, sizeof(word));
	call_len += sizeof(word);
}

static void begin(uint32_t program, uint32_t version, uint32_t proc)
{
	const uint32_t head[] = {XID, 0, 2, program, version, proc, 0, 0, 0, 0};

	call_len = 0;
	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		put(head[i]);
}

/* size: of the data, which are there with their pad. */
static void begin_ping(uint32_t reply_size, uint32_t size)
{
	begin(PNG_PROGRAM, PNG_VERSION, PNG_PING);
	put(reply_size);
	put(size);
	for (uint32_t i = 0; i < size; i += 4)
		put(0);
}

static int answer(bool serves)
{
	struct png_end end = {.plan = {.size = SIZE, .reply_size = REPLY_SIZE},
			      .serves = serves};

	sent = 0;
	receive = (struct png_receive){.bytes = call};
	return png_answer(&end, &receive, call_len);
}

/* One Reply of those words behind XID, REPLY, MSG_ACCEPTED and AUTH_NONE. */
static void answered(const uint32_t *words, size_t count)
{
	const uint32_t head[] = {XID, 1, 0, 0, 0};
	uint32_t found;

	CT_EXPECT_EQ(sent, 1);
	CT_ASSERT_EQ(receive.head_len, sizeof(head) + count * sizeof(*words));
	for (size_t i = 0; i < 5 + count; i++) {
		memcpy(&found, receive.head + i * sizeof(found), sizeof(found));
		CT_EXPECT_EQ(ntohl(found), i < 5 ? head[i] : words[i - 5]);
	}
}

#define ANSWERED(...)                             \
	answered((const uint32_t[]){__VA_ARGS__}, \
		 sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

CT_TEST(rpcping_answer, a_ping_gets_the_data_of_its_size)
{
	begin_ping(REPLY_SIZE, SIZE);
	CT_EXPECT_EQ(answer(true), 0);
	ANSWERED(0, REPLY_SIZE);
	CT_EXPECT_EQ(sent_data, REPLY_SIZE);
}

CT_TEST(rpcping_answer, a_ping_of_another_size_is_refused)
{
	begin_ping(REPLY_SIZE, SIZE + 4);
	CT_EXPECT_EQ(answer(true), 0);
	ANSWERED(4);
	CT_EXPECT_EQ(sent_data, 0);
	begin_ping(REPLY_SIZE + 1, SIZE);
	CT_EXPECT_EQ(answer(true), 0);
	ANSWERED(4);
}

CT_TEST(rpcping_answer, a_ping_with_more_or_less_data_than_it_says_is_refused)
{
	begin_ping(REPLY_SIZE, SIZE);
	call_len -= 4;
	CT_EXPECT_EQ(answer(true), 0);
	ANSWERED(4);
	begin_ping(REPLY_SIZE, SIZE);
	put(0);
	CT_EXPECT_EQ(answer(true), 0);
	ANSWERED(4);
	begin(PNG_PROGRAM, PNG_VERSION, PNG_PING);
	put(REPLY_SIZE);
	CT_EXPECT_EQ(answer(true), 0);
	ANSWERED(4);
}

CT_TEST(rpcping_answer, who_does_not_serve_refuses_a_ping)
{
	begin_ping(REPLY_SIZE, SIZE);
	CT_EXPECT_EQ(answer(false), 0);
	ANSWERED(4);
}

CT_TEST(rpcping_answer, what_is_not_there_is_named)
{
	begin(PNG_PROGRAM + 1, PNG_VERSION, RPM_PROC_NULL);
	CT_EXPECT_EQ(answer(true), 0);
	ANSWERED(1);
	begin(PNG_PROGRAM, PNG_VERSION + 1, RPM_PROC_NULL);
	CT_EXPECT_EQ(answer(true), 0);
	ANSWERED(2, PNG_VERSION, PNG_VERSION);
	begin(PNG_PROGRAM, PNG_VERSION, 77);
	CT_EXPECT_EQ(answer(true), 0);
	ANSWERED(3);
	begin(PNG_PROGRAM, PNG_VERSION, RPM_PROC_NULL);
	CT_EXPECT_EQ(answer(true), 0);
	ANSWERED(0);
}

/* It has no XID to answer to, or none that can be relied on. */
CT_TEST(rpcping_answer, what_is_no_call_ends_the_connection)
{
	begin(PNG_PROGRAM, PNG_VERSION, RPM_PROC_NULL);
	call_len -= 4;
	CT_EXPECT_EQ(answer(true), -FI_EIO);
	CT_EXPECT_EQ(sent, 0);
}

CT_TEST(rpcping_answer, a_reply_that_finds_no_room_is_sent_later)
{
	const struct png_options options = {.timeout = 10};
	struct fi_ops_cq ops = {.size = sizeof(ops), .read = nothing};
	struct fid_cq cq = {.ops = &ops};
	struct png_end end = {.options = &options,
			      .link.cq = &cq,
			      .plan = {.size = SIZE, .reply_size = REPLY_SIZE},
			      .serves = true,
			      .receives = &receive,
			      .receive_count = 1};

	begin_ping(REPLY_SIZE, SIZE);
	receive = (struct png_receive){.bytes = call};
	sent = 0;
	full = 2;
	CT_EXPECT_EQ(png_answer(&end, &receive, call_len), 0);
	CT_EXPECT_EQ(end.due, 1);
	CT_EXPECT_EQ(png_turn(&end), 0);
	CT_EXPECT_EQ(sent, 0);
	CT_EXPECT_EQ(png_turn(&end), 0);
	ANSWERED(0, REPLY_SIZE);
	CT_EXPECT_EQ(end.due, 0);
	CT_EXPECT_EQ(png_turn(&end), 0);
	CT_EXPECT_EQ(sent, 1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* What the raw peer does in a row, and what it gets. */
#include <stdlib.h>
#include "row.h"

struct rpr_header raw_header(uint32_t xid, enum rpr_proc proc)
{
	return (struct rpr_header){
		.xid = xid, .vers = RPR_VERSION, .credit = w.set.credit, .proc = proc};
}

static void say_with(const struct rpr_header *header, size_t len,
		     void (*make)(void *buf, uint32_t xid, size_t len))
{
	uint8_t *message = malloc(len ? len : 1);

	make(message, header->xid, len);
	raw_say(&w.raw, header, message, len);
	free(message);
}

void raw_call_with(const struct rpr_header *header, size_t len)
{
	say_with(header, len, say_call);
}

void raw_reply_with(const struct rpr_header *header, size_t len)
{
	say_with(header, len, say_reply);
}

void raw_call_of(uint32_t xid, size_t len)
{
	const struct rpr_header header = raw_header(xid, RPR_MSG);

	raw_call_with(&header, len);
}

void raw_reply_of(uint32_t xid, size_t len)
{
	const struct rpr_header header = raw_header(xid, RPR_MSG);

	raw_reply_with(&header, len);
}

void raw_call(uint32_t xid)
{
	raw_call_of(xid, SAY_CALL_MIN);
}

void raw_reply(uint32_t xid)
{
	raw_reply_of(xid, SAY_REPLY_MIN);
}

void raw_reply_grants(uint32_t xid, uint32_t credit)
{
	struct rpr_header header = raw_header(xid, RPR_MSG);

	header.credit = credit;
	raw_reply_with(&header, SAY_REPLY_MIN);
}

void raw_call_asks(uint32_t xid, uint32_t credit)
{
	struct rpr_header header = raw_header(xid, RPR_MSG);

	header.credit = credit;
	raw_call_with(&header, SAY_CALL_MIN);
}

void raw_words(const uint32_t *words, size_t count)
{
	uint8_t bytes[4 * 256];

	CT_ASSERT_LE(count, sizeof(bytes) / 4);
	for (size_t i = 0; i < count; i++)
		say_word(bytes, i, words[i]);
	raw_send(&w.raw, bytes, count * 4);
}

const struct raw_message *raw_got(uint32_t xid, enum rpr_proc proc)
{
	const struct raw_message *message = raw_take(&w.raw);

	CT_EXPECT_EQ(message->bad, RPR_OK);
	CT_EXPECT_EQ(message->header.xid, xid);
	CT_EXPECT_EQ(message->header.vers, RPR_VERSION);
	CT_EXPECT_EQ(message->header.proc, proc);
	CT_EXPECT_LE(message->len, layer_inline());
	return message;
}

static const struct raw_message *got_short(uint32_t xid, size_t len,
					   bool (*is)(const void *bytes, uint32_t xid,
						      size_t len))
{
	const struct raw_message *message = raw_got(xid, RPR_MSG);

	CT_EXPECT_EQ(message->payload_len, len);
	if (message->payload_len == len)
		CT_EXPECT_TRUE(is(message->payload, xid, len));
	CT_EXPECT_EQ(message->header.read_count, 0);
	return message;
}

const struct raw_message *raw_got_call(uint32_t xid, size_t len)
{
	return got_short(xid, len, say_is_call);
}

const struct raw_message *raw_got_reply(uint32_t xid, size_t len)
{
	return got_short(xid, len, say_is_reply);
}

void raw_got_err_chunk(uint32_t xid)
{
	const struct raw_message *message = raw_got(xid, RPR_ERROR);

	CT_EXPECT_EQ(message->header.err, RPR_ERR_CHUNK);
	/* RFC 8166 section 3.3.1: a grant, as that of any answer. */
	CT_EXPECT_EQ(message->header.credit, w.set.end.grant);
	CT_EXPECT_EQ(message->len, RPR_ERR_CHUNK_LEN);
}

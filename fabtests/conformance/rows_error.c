/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8166 sections 4.3.1, 4.5 and 4.6: what is malformed, and RDMA_ERROR. */
#include <string.h>
#include "lower.h"
#include "row.h"
#include "row_chunk.h"

#define XID 0x800

/* The header says another version than 1: ERR_VERS, with both as they were. */
ROW_BOTH(RFC8166_4_5_1_version)
{
	static const uint32_t versions[] = {0, 2, 3, 0xffffffff};
	const struct raw_message *message;

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		RAW_WORDS(XID, versions[i], 8, RPR_MSG, 0, 0, 0, XID, RPR_CALL, 2);
		message = raw_take(&w.raw);
		CT_EXPECT_EQ(message->len, RPR_ERR_VERS_LEN);
		CT_EXPECT_EQ(say_read(message->bytes, 0), XID);
		CT_EXPECT_EQ(say_read(message->bytes, 1), versions[i]);
		CT_EXPECT_EQ(say_read(message->bytes, 2), w.set.end.grant);
		CT_EXPECT_EQ(say_read(message->bytes, 3), RPR_ERROR);
		CT_EXPECT_EQ(say_read(message->bytes, 4), RPR_ERR_VERS);
		CT_EXPECT_EQ(say_read(message->bytes, 5), 1);
		CT_EXPECT_EQ(say_read(message->bytes, 6), 1);
	}
	CT_EXPECT_EQ(stats().err_vers_sent, 4);
	CT_EXPECT_EQ(w.end.received, NULL);
	settle();
}

/* Fewer than 28 bytes are no header, and not even their XID means anything. */
ROW_BOTH(RFC8166_4_5_2_short)
{
	uint8_t bytes[RPR_HEADER_MIN] = {0};

	say_word(bytes, 0, XID);
	say_word(bytes, 1, RPR_VERSION);
	say_word(bytes, 2, 8);
	for (size_t len = 1; len < RPR_HEADER_MIN; len++) {
		raw_send(&w.raw, bytes, len);
		EXPECT_SOON(stats().drop_short == len);
	}
	settle();
}

/* The one message that is shorter. */
ROW_BOTH(RFC8166_4_5_2_short_error)
{
	uint8_t bytes[20];

	layer_asks(XID);
	say_word(bytes, 0, XID);
	say_word(bytes, 1, RPR_VERSION);
	say_word(bytes, 2, 8);
	say_word(bytes, 3, RPR_ERROR);
	say_word(bytes, 4, RPR_ERR_CHUNK);
	for (size_t len = 16; len < 20; len++)
		raw_send(&w.raw, bytes, len);
	EXPECT_SOON(stats().drop_short == 4);
	raw_send(&w.raw, bytes, 20);
	layer_got_error(XID, FI_EREMOTEIO, RPR_ERR_CHUNK);
	CT_EXPECT_EQ(stats().err_received, 1);
	settle();
}

/* Lists of a Call that nobody can read. */
ROW_BOTH(RFC8166_4_5_2_garbled)
{
	uint32_t rounds = 0;

	/* A discriminator that is neither 0 nor 1: of each list. */
	RAW_WORDS(XID, 1, 8, RPR_MSG, 2, 0, 0, XID, RPR_CALL, 2);
	raw_got_err_chunk(XID), rounds++;
	RAW_WORDS(XID, 1, 8, RPR_MSG, 0, 0xffffffff, 0, XID, RPR_CALL, 2);
	raw_got_err_chunk(XID), rounds++;
	RAW_WORDS(XID, 1, 8, RPR_MSG, 0, 0, 0x80000000, XID, RPR_CALL, 2);
	raw_got_err_chunk(XID), rounds++;
	/* Each list ends too early. */
	RAW_WORDS(XID, 1, 8, RPR_MSG, 1, 0, 0);
	raw_got_err_chunk(XID), rounds++;
	RAW_WORDS(XID, 1, 8, RPR_MSG, 0, 1, 1, 2, 3, 4);
	raw_got_err_chunk(XID), rounds++;
	RAW_WORDS(XID, 1, 8, RPR_MSG, 0, 0, 1, 2, 1, 1, 1, 1, 1);
	raw_got_err_chunk(XID), rounds++;
	/* There is nothing behind the lists. */
	RAW_WORDS(XID, 1, 8, RPR_MSG, 0, 0, 0);
	raw_got_err_chunk(XID), rounds++;
	CT_EXPECT_EQ(stats().err_chunk_sent, rounds);
	CT_EXPECT_EQ(w.end.received, NULL);
	settle();
}

ROW_BOTH(RFC8166_4_5_2_nomsg)
{
	RAW_WORDS(XID, 1, 8, RPR_NOMSG, 0, 0, 0);
	raw_got_err_chunk(XID);
	/* A Write list has a result's place, and no message. */
	RAW_WORDS(XID, 1, 8, RPR_NOMSG, 0, 1, 1, 0x1234, 100, 0, 0, 0, 0);
	raw_got_err_chunk(XID);
	/* A Reply chunk holds no Call either. */
	RAW_WORDS(XID, 1, 8, RPR_NOMSG, 0, 0, 1, 1, 0x1234, 100, 0, 0);
	raw_got_err_chunk(XID);
	settle();
}

/* A Reply with such a header is dropped, and its Call waits on. */
ROW_BOTH(RFC8166_4_5_2_reply)
{
	layer_asks(XID);
	RAW_WORDS(XID, 1, 8, RPR_MSG, 2, 0, 0, XID, RPR_REPLY, 0);
	RAW_WORDS(XID, 1, 8, RPR_MSG, 0, 1, 1, 2, 3, 4);
	RAW_WORDS(XID, 1, 8, RPR_NOMSG, 0, 0, 0);
	RAW_WORDS(XID, 2, 8, RPR_MSG, 0, 0, 0, XID, RPR_REPLY, 0);
	EXPECT_SOON(stats().drop_reply >= 3);
	settle();
	CT_EXPECT_EQ(stats().err_chunk_sent + stats().err_vers_sent, 0);
	layer_gets(XID);
}

/* RDMA_ERROR ends the Call that it names, for good. */
ROW_BOTH(RFC8166_4_5_error)
{
	layer_asks(XID);
	RAW_WORDS(XID, 1, 8, RPR_ERROR, RPR_ERR_VERS, 1, 1);
	layer_got_error(XID, FI_EREMOTEIO, RPR_ERR_VERS);
	layer_asks(XID);
	RAW_WORDS(XID, 1, 8, RPR_ERROR, RPR_ERR_CHUNK);
	layer_got_error(XID, FI_EREMOTEIO, RPR_ERR_CHUNK);
	CT_EXPECT_EQ(stats().err_received, 2);
	/* Nobody waits for this one any more. */
	raw_reply(XID);
	EXPECT_SOON(stats().drop_xid == 1);
	layer_asks_and_gets(XID, 8);
	settle();
}

/* One that says nothing that is known is dropped. */
ROW_BOTH(RFC8166_4_5_error_garbled)
{
	layer_asks(XID);
	RAW_WORDS(XID, 1, 8, RPR_ERROR, 0, 0, 0);
	RAW_WORDS(XID, 1, 8, RPR_ERROR, 3, 0, 0);
	RAW_WORDS(XID, 1, 8, RPR_ERROR, 0xffffffff, 0, 0);
	settle();
	CT_EXPECT_EQ(stats().err_received, 0);
	layer_gets(XID);
}

/* With no receive for it, it is an event. */
ROW_BOTH(RFC8166_4_5_error_event)
{
	w.set.end.receives = 0;
	RECONNECT();
	layer_asks(XID);
	RAW_WORDS(XID, 1, 8, RPR_ERROR, RPR_ERR_CHUNK);
	EXPECT_SOON(w.end.side.eq_errors == 1);
	CT_EXPECT_EQ(w.end.side.eq_error.err, FI_EREMOTEIO);
	CT_EXPECT_EQ(w.end.side.eq_error.prov_errno, RPR_ERR_CHUNK);
	CT_EXPECT_EQ(w.end.side.eq_error.data, XID);
}

/* As a program sees it that knows nothing but RPC. */
ROW_BOTH(RFC8166_4_5_error_system)
{
	struct op *op;

	w.set.end.system_err = 1;
	RECONNECT();
	layer_asks(XID);
	RAW_WORDS(XID, 1, 8, RPR_ERROR, RPR_ERR_CHUNK);
	op = end_take(&w.end);
	CT_EXPECT_EQ(op->err, 0);
	CT_EXPECT_EQ(op->len, SAY_REPLY_MIN);
	CT_EXPECT_EQ(say_read(op->buf, 0), XID);
	CT_EXPECT_EQ(say_read(op->buf, 1), RPR_REPLY);
	CT_EXPECT_EQ(say_read(op->buf, 2), 0);
	CT_EXPECT_EQ(say_read(op->buf, 5), 5); /* SYSTEM_ERR of RFC 5531 section 9 */
}

/*
 * The Call kills the connection, for its chunk is nobody's memory. On the next one it is
 * answered with ERR_CHUNK, so that it does not kill that one, too.
 */
ROW_BOTH(RFC8166_4_5_3_reconnect)
{
	uint8_t memory[4096];
	struct rpr_header header = raw_header(XID, RPR_NOMSG);
	struct rpr_seg seg;

	if (!strcmp(lower_name(), "tcp"))
		CT_SKIP("tcp does not say which operation ended a connection");
	raw_asks_and_gets(1);
	say_call(memory, XID, sizeof(memory));
	seg = raw_expose(&w.raw, memory, sizeof(memory));
	raw_hide(&w.raw, &seg);
	head_read(&header, 0, seg);
	raw_say(&w.raw, &header, NULL, 0);
	EXPECT_SOON(w.raw.dead);
	CT_EXPECT_FALSE(end_got_message(&w.end));
	RECONNECT();
	raw_say(&w.raw, &header, NULL, 0);
	raw_got_err_chunk(XID);
	settle();
}

/* The Reply does not fit what the peer offers for it. */
ROW_BOTH(RFC8166_4_5_3_reply_chunk)
{
	uint8_t *memory = raw_call_offers_reply(XID, 8000, 2);

	layer_got_call(XID, SAY_CALL_MIN);
	CT_EXPECT_EQ(layer_reply(XID, 8001), -FI_EMSGSIZE);
	CT_EXPECT_EQ(memory[0], 0);
	layer_replies(XID, 8000);
	raw_got(XID, RPR_NOMSG);
	CT_EXPECT_TRUE(say_is_reply(memory, XID, 8000));
	settle();
}

/* A Reply that cannot be made, for its chunk is nobody's memory: the connection ends. */
ROW_BOTH(RFC8166_4_5_4_close)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);
	struct op *reply;
	struct rpr_seg seg;
	uint8_t memory[9000];

	raw_asks_and_gets(1);
	seg = raw_expose(&w.raw, memory, sizeof(memory));
	raw_hide(&w.raw, &seg);
	chunk_add(head_reply(&header), seg);
	raw_asks_with(&header);
	reply = layer_replies(XID, sizeof(memory));
	EXPECT_SOON(reply->done);
	/* On tcp all of it has left before the peer refuses it. */
	if (strcmp(lower_name(), "tcp"))
		CT_EXPECT_NE(reply->err, 0);
	EXPECT_SOON(w.end.side.shutdowns == 1);
	EXPECT_SOON(w.raw.dead);
}

ROW_BOTH(RFC8166_4_6_1_msgp)
{
	RAW_WORDS(XID, 1, 8, RPR_MSGP, 4, 8, 0, 0, 0, XID, RPR_CALL, 2);
	raw_got_err_chunk(XID);
	CT_EXPECT_EQ(w.end.received, NULL);
	settle();
}

ROW_BOTH(RFC8166_4_6_1_msgp_reply)
{
	layer_asks(XID);
	RAW_WORDS(XID, 1, 8, RPR_MSGP, 4, 8, 0, 0, 0, XID, RPR_REPLY, 0);
	EXPECT_SOON(stats().drop_proc == 1);
	settle();
	layer_gets(XID);
}

ROW_BOTH(RFC8166_4_6_2_done)
{
	layer_asks(XID);
	RAW_WORDS(XID, 1, 8, RPR_DONE, 0, 0, 0);
	RAW_WORDS(0x900, 1, 8, RPR_DONE, 0, 0, 0);
	EXPECT_SOON(stats().drop_proc == 2);
	settle();
	layer_gets(XID);
}

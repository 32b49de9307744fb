/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8166 sections 4.4 and 8.1: who may reach which memory, and how much of it. */
#include <string.h>
#include "row.h"
#include "row_chunk.h"

#define XID 0xd00

/* What a Call of the layer offers: its arguments, a result, its Reply. */
struct offer {
	struct rpr_header header;
	struct op *call, *result, *reply;
};

static bool offers(struct offer *offer, uint32_t xid)
{
	offer->result = layer_result(xid, 3000);
	offer->reply = layer_reply_buffer(xid, 9000);
	offer->call = layer_calls_item(xid, 5000, 0);
	offer->header = raw_got(xid, RPR_MSG)->header;
	CT_EXPECT_EQ(offer->header.write_count, 1);
	CT_EXPECT_TRUE(offer->header.has_reply);
	CT_EXPECT_NE(offer->header.read_count, 0);
	return !ct_failed();
}

/* The Reply comes inline, and nothing was written. */
static void answers(struct offer *offer)
{
	struct rpr_header header = offer->header;

	header.read_count = 0;
	for (uint32_t i = 0; i < header.write[0].count; i++)
		header.write[0].seg[i].length = 0;
	for (uint32_t i = 0; i < header.reply.count; i++)
		header.reply.seg[i].length = 0;
	raw_reply_with(&header, SAY_REPLY_MIN);
	ASSERT_SOON(offer->reply->done);
	CT_EXPECT_EQ(offer->reply->err, 0);
}

enum what { THE_READ, THE_WRITE, THE_REPLY };

/* The program has its buffers back: the peer does not reach them. */
static void is_fenced(struct offer *offer, enum what what)
{
	switch (what) {
	case THE_READ:
		raw_read_is_refused(&offer->header.read[0].seg);
		break;
	case THE_WRITE:
		raw_write_is_refused(&offer->header.write[0].seg[0]);
		CT_EXPECT_EQ(offer->result->buf[0], 0);
		break;
	case THE_REPLY:
		raw_write_is_refused(&offer->header.reply.seg[0]);
		CT_EXPECT_NE(offer->reply->buf[0], 0xee);
		break;
	}
}

static void fenced_after_success(enum what what)
{
	struct offer offer;

	CT_OR_RETURN(offers(&offer, XID));
	answers(&offer);
	if (!ct_failed())
		is_fenced(&offer, what);
}

ROW_BOTH_IS(RFC8166_4_4_1_read, fenced_after_success(THE_READ))
ROW_BOTH_IS(RFC8166_4_4_1_write, fenced_after_success(THE_WRITE))
ROW_BOTH_IS(RFC8166_4_4_1_reply, fenced_after_success(THE_REPLY))

/* A send that is complete leaves its buffer to the program, although the Reply is not
 * there and the peer has read nothing yet. */
ROW_BOTH(RFC8166_4_4_1_sent)
{
	struct rpr_header header;
	uint8_t *wanted, got[5000];
	struct op *op;
	size_t len;

	wanted = item_call(XID, sizeof(got), 0, &len);
	op = layer_calls_item(XID, sizeof(got), 0);
	header = raw_got(XID, RPR_MSG)->header;
	settle();
	if (op->done)
		memset(op->buf, 0xdd, op->size);
	raw_reads(&header, ITEM_AT, got, sizeof(got));
	CT_EXPECT_MEMEQ(got, wanted + ITEM_AT, sizeof(got));
	layer_gets(XID);
	EXPECT_SOON(op->done);
}

/* Too long to be copied: read where it is, and complete with the Reply. */
ROW_BOTH(RFC8166_4_4_1_in_place)
{
	struct rpr_header header;
	uint8_t got[9000];
	struct op *op;

	w.set.end.copy = 8999;
	RECONNECT();
	CT_EXPECT_EQ(layer_call(XID, sizeof(got)), -FI_EMSGSIZE);
	op = end_op(&w.end, sizeof(got));
	say_call(op->buf, XID, sizeof(got));
	CT_EXPECT_EQ(end_send(&w.end, op, sizeof(got), FI_DELIVERY_COMPLETE), 0);
	header = raw_got(XID, RPR_NOMSG)->header;
	settle();
	CT_EXPECT_FALSE(op->done);
	raw_reads(&header, 0, got, sizeof(got));
	CT_EXPECT_TRUE(say_is_call(got, XID, sizeof(got)));
	layer_gets(XID);
	EXPECT_SOON(op->done);
	raw_read_is_refused(&header.read[0].seg);
}

/* While the Call is outstanding a chunk has the right that it is for, and no other. */
static void has_one_right(enum what what)
{
	struct offer offer;

	CT_OR_RETURN(offers(&offer, XID));
	if (what == THE_READ)
		raw_write_is_refused(&offer.header.read[0].seg);
	else if (what == THE_WRITE)
		raw_read_is_refused(&offer.header.write[0].seg[0]);
	else
		raw_read_is_refused(&offer.header.reply.seg[0]);
	CT_EXPECT_NE(offer.call->buf[ITEM_AT], 0xee);
}

ROW_BOTH_IS(RFC8166_8_1_3_rights_read, has_one_right(THE_READ))
ROW_BOTH_IS(RFC8166_8_1_3_rights_write, has_one_right(THE_WRITE))
ROW_BOTH_IS(RFC8166_8_1_3_rights_reply, has_one_right(THE_REPLY))

/* Nor does it reach further than the segment. */
ROW_BOTH(RFC8166_8_1_3_bounds)
{
	struct offer offer;
	struct rpr_seg seg;

	CT_OR_RETURN(offers(&offer, XID));
	seg = offer.header.read[0].seg;
	CT_EXPECT_EQ(seg.length, 5000);
	seg.length += 8192;
	raw_read_is_refused(&seg);
}

/* A Call that RDMA_ERROR ends. */
static void fenced_after_error(enum what what)
{
	struct offer offer;

	CT_OR_RETURN(offers(&offer, XID));
	RAW_WORDS(XID, 1, 8, RPR_ERROR, RPR_ERR_CHUNK);
	ASSERT_SOON(offer.reply->done && offer.result->done);
	CT_EXPECT_EQ(offer.reply->err, FI_EREMOTEIO);
	CT_EXPECT_NE(offer.result->err, 0);
	is_fenced(&offer, what);
}

/* One that the program gives up. */
static void fenced_after_cancel(enum what what)
{
	struct offer offer;

	CT_OR_RETURN(offers(&offer, XID));
	CT_EXPECT_EQ(fi_cancel(&w.end.side.ep->fid, offer.call), 0);
	ASSERT_SOON(offer.result->done && offer.reply->done);
	CT_EXPECT_EQ(offer.result->err, FI_ECANCELED);
	CT_EXPECT_EQ(offer.reply->err, FI_ECANCELED);
	is_fenced(&offer, what);
}

/* One whose connection is lost; the memory is not to be reached over the next one. */
static void fenced_after_loss(enum what what)
{
	struct offer offer;
	struct rpr_header header;

	CT_OR_RETURN(offers(&offer, XID));
	header = offer.header;
	raw_drop(&w.raw);
	ASSERT_SOON(offer.result->done && offer.reply->done);
	CT_EXPECT_EQ(offer.result->err, FI_ECANCELED);
	CT_EXPECT_EQ(offer.reply->err, FI_ECANCELED);
	RECONNECT();
	if (what == THE_READ)
		raw_read_is_refused(&header.read[0].seg);
	else if (what == THE_WRITE)
		raw_write_is_refused(&header.write[0].seg[0]);
	else
		raw_write_is_refused(&header.reply.seg[0]);
}

static void each(void (*fenced)(enum what what))
{
	enum what what;

	for (what = THE_READ; what <= THE_REPLY && !ct_failed(); what++) {
		fenced(what);
		RECONNECT();
	}
}

ROW_BOTH_IS(RFC8166_8_1_3_error, each(fenced_after_error))
ROW_BOTH_IS(RFC8166_8_1_3_cancel, each(fenced_after_cancel))
ROW_BOTH_IS(RFC8166_8_1_3_disconnect, each(fenced_after_loss))

/* Long messages that the layer copies are exposed no longer than the program's own. */
ROW_BOTH(RFC8166_8_1_3_copies)
{
	struct rpr_header header;

	layer_calls(XID, 9000);
	header = raw_got(XID, RPR_NOMSG)->header;
	layer_gets(XID);
	raw_read_is_refused(&header.read[0].seg);
}

/* The handle of one connection is nothing to a peer of another domain's. */
ROW_CLIENT(RFC8166_8_1_1_domains)
{
	static struct end other;
	static struct raw stranger;
	struct offer offer;

	offers(&offer, XID);
	raw_open(&stranger);
	end_open(&other);
	if (!ct_failed()) {
		raw_listen(&stranger);
		end_connect(&other, &w.set.end, side_name(&stranger.side), "");
		EXPECT_SOON(stranger.side.request != NULL);
	}
	if (!ct_failed()) {
		raw_accept(&stranger, "", 0);
		EXPECT_SOON(other.side.connected && stranger.side.connected);
	}
	if (!ct_failed()) {
		uint8_t *got = row_memory(5000);

		CT_EXPECT_NE(raw_read(&stranger, &offer.header.read[0].seg, got), 0);
		answers(&offer);
	}
	end_close(&other);
	raw_close(&stranger);
}

/* What was offered once is not offered again. */
ROW_BOTH(RFC8166_8_1_2_handles)
{
	uint32_t before[16];
	struct offer offer;

	for (int i = 0; i < 16; i++) {
		CT_OR_RETURN(offers(&offer, XID + (uint32_t)i));
		before[i] = offer.header.read[0].seg.handle;
		for (int k = 0; k < i; k++)
			CT_EXPECT_NE(before[i], before[k]);
		CT_EXPECT_NE(offer.header.write[0].seg[0].handle, before[i]);
		answers(&offer);
	}
}

/* A Read list as long as is accepted, one longer, and one that does not end. */
ROW_BOTH(RFC8166_8_1_4_read_list)
{
	uint32_t words[256] = {XID, 1, 8, RPR_NOMSG};
	uint8_t *message = row_memory(4096);
	struct rpr_header header;

	raw_asks_and_gets(1);
	say_call(message, XID, 4096);
	header = raw_header(XID, RPR_NOMSG);
	read_expose(&header, 0, message, 4096, RPR_CHUNK_SEGS);
	CT_EXPECT_EQ(header.read_count, 16);
	raw_say(&w.raw, &header, NULL, 0);
	layer_got_call(XID, 4096);
	raw_gets(XID);
	header = raw_header(XID, RPR_NOMSG);
	for (uint32_t i = 0; i < RPR_READ_SEGS; i++)
		head_read(&header, 0, raw_expose(&w.raw, message + i * 128, 128));
	raw_say(&w.raw, &header, NULL, 0);
	layer_got_call(XID, 4096);
	raw_gets(XID);
	for (uint32_t i = 0; i < RPR_READ_SEGS + 1; i++) {
		words[4 + i * 6] = 1;
		words[4 + i * 6 + 3] = 128;
	}
	raw_words(words, 4 + (RPR_READ_SEGS + 1) * 6 + 3);
	raw_got_err_chunk(XID);
	for (uint32_t i = 0; i < 256 / 6; i++)
		words[4 + i * 6 > 255 ? 255 : 4 + i * 6] = 1;
	raw_words(words, 256);
	raw_got_err_chunk(XID);
	settle();
}

ROW_BOTH(RFC8166_8_1_4_write_segments)
{
	uint32_t words[7 + 1 + 4 * (RPR_CHUNK_SEGS + 1) + 10] = {XID,	  1, 8,
								 RPR_MSG, 0, 1};
	uint8_t *memory;

	raw_asks_and_gets(1);
	memory = raw_call_offers_write(XID, 4096, RPR_CHUNK_SEGS);
	layer_got_call(XID, SAY_CALL_MIN);
	layer_replies_item(XID, 4096, 0);
	raw_got(XID, RPR_MSG);
	CT_EXPECT_EQ(memory[4095], say_byte(XID, ITEM_AT + 4095));
	words[6] = RPR_CHUNK_SEGS + 1;
	raw_words(words, sizeof(words) / 4);
	raw_got_err_chunk(XID);
	words[6] = 0xffffffff;
	raw_words(words, sizeof(words) / 4);
	raw_got_err_chunk(XID);
	/* The same of a Reply chunk. */
	words[5] = 0;
	words[6] = 1;
	words[7] = RPR_CHUNK_SEGS + 1;
	raw_words(words, sizeof(words) / 4);
	raw_got_err_chunk(XID);
	words[7] = 0xffffffff;
	raw_words(words, sizeof(words) / 4);
	raw_got_err_chunk(XID);
	settle();
}

ROW_BOTH(RFC8166_8_1_4_write_chunks)
{
	uint32_t words[5 + 6 * (RPR_WRITE_CHUNKS + 1) + 2 + 10] = {XID, 1, 8, RPR_MSG, 0};
	struct rpr_header header = raw_header(XID, RPR_MSG);

	raw_asks_and_gets(1);
	for (uint32_t i = 0; i < RPR_WRITE_CHUNKS; i++)
		chunk_expose(head_write(&header), 100, 1);
	raw_asks_with(&header);
	layer_replies(XID, SAY_REPLY_MIN);
	CT_EXPECT_EQ(raw_got_reply(XID, SAY_REPLY_MIN)->header.write_count,
		     RPR_WRITE_CHUNKS);
	for (uint32_t i = 0; i < RPR_WRITE_CHUNKS + 1; i++) {
		words[5 + i * 6] = 1;
		words[5 + i * 6 + 1] = 1;
	}
	raw_words(words, sizeof(words) / 4);
	raw_got_err_chunk(XID);
	settle();
}

/* A Long Call as long as a message may be, one longer, and lengths that add up to any. */
ROW_BOTH(RFC8166_8_1_4_read_length)
{
	static const uint32_t lengths[] = {0x7fffffff, 0x80000000, 0xfffffffc,
					   0xffffffff};
	struct rpr_header header;
	struct rpr_seg seg;
	uint8_t *message;
	size_t most;

	w.set.end.receives = 2;
	w.set.end.receive_size = 4U << 20;
	RECONNECT();
	raw_asks_and_gets(1);
	most = w.end.side.info->ep_attr->max_msg_size;
	CT_ASSERT_LE(most, w.set.end.receive_size - 8);
	raw_call_long(XID, most, 4);
	layer_got_call(XID, most);
	raw_gets(XID);
	raw_call_long(XID, most + 1, 4);
	raw_got_err_chunk(XID);
	message = row_memory(100);
	seg = raw_expose(&w.raw, message, 100);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		header = raw_header(XID, RPR_NOMSG);
		seg.length = lengths[i];
		head_read(&header, 0, seg);
		raw_say(&w.raw, &header, NULL, 0);
		raw_got_err_chunk(XID);
		/* The sum is 98 in 32 bits. */
		head_read(&header, 0, seg);
		header.read[1].seg.length = 98 - lengths[i];
		raw_say(&w.raw, &header, NULL, 0);
		raw_got_err_chunk(XID);
	}
	settle();
}

/* Segments of length 0 are nothing; a chunk of nothing is no message. */
ROW_BOTH(RFC8166_8_1_4_read_nothing)
{
	struct rpr_header header = raw_header(XID, RPR_NOMSG);
	uint8_t *memory = row_memory(100);
	struct rpr_seg seg;

	raw_asks_and_gets(1);
	seg = raw_expose(&w.raw, memory, 100);
	seg.length = 0;
	head_read(&header, 0, seg);
	raw_say(&w.raw, &header, NULL, 0);
	raw_got_err_chunk(XID);
	settle();
}

/* Room without end is no reason to write more than there is. */
ROW_BOTH(RFC8166_8_1_4_write_length)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);
	const struct raw_message *message;
	uint8_t *memory = row_memory(4096), *wanted;
	size_t len;
	struct rpr_seg seg = raw_expose(&w.raw, memory, 4096);

	seg.length = 0xffffffff;
	chunk_add(head_write(&header), seg);
	chunk_add(&header.write[0], seg);
	chunk_add(head_reply(&header), seg);
	raw_asks_with(&header);
	wanted = item_reply(XID, 4001, 8, &len);
	layer_replies_item(XID, 4001, 8);
	message = raw_got(XID, RPR_MSG);
	chunk_echoes(&message->header.write[0], &header.write[0], 4001);
	CT_EXPECT_MEMEQ(memory, wanted + ITEM_AT, 4001);
	settle();
}

/* A peer whose chunk is nobody's memory hurts its own connection: another lives on. */
ROW_CLIENT(RFC8166_8_1_4_own_connection)
{
	struct rpr_header header = raw_header(XID, RPR_NOMSG);
	static struct end second;
	static struct raw liar;
	uint8_t memory[4096];
	struct rpr_seg seg;

	layer_asks_and_gets(1, 8);
	layer_asks(2);
	raw_open(&liar);
	end_open_in(&second, &w.end);
	raw_listen(&liar);
	end_connect(&second, &w.set.end, side_name(&liar.side), "");
	EXPECT_SOON(liar.side.request != NULL);
	if (liar.side.request)
		raw_accept(&liar, "", 0);
	EXPECT_SOON(second.side.connected && liar.side.connected);
	if (!ct_failed()) {
		seg = raw_expose(&liar, memory, sizeof(memory));
		raw_hide(&liar, &seg);
		head_read(&header, 0, seg);
		raw_say(&liar, &header, NULL, 0);
		EXPECT_SOON(second.side.shutdowns == 1);
		CT_EXPECT_FALSE(end_got_message(&second));
		layer_gets(2);
		settle();
	}
	end_close(&second);
	raw_close(&liar);
}

/* One that never replies holds its Calls, and nothing else. */
ROW_BOTH(RFC8166_8_1_4_never_replies)
{
	layer_asks_and_gets(1, 8);
	for (uint32_t i = 0; i < 8; i++)
		layer_asks(XID + i);
	CT_EXPECT_EQ(layer_call(XID + 8, SAY_CALL_MIN), -FI_EAGAIN);
	for (uint32_t i = 0; i < 100; i++)
		raw_asks_and_gets(2 + i);
	raw_drop(&w.raw);
	layer_got_errors(XID, 8, FI_ECANCELED);
	EXPECT_SOON(w.end.side.shutdowns == 1);
}

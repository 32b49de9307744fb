/* SPDX-License-Identifier: BSD-2-Clause */
/* The figures and examples of RFC 8166, 8167 and 8797, byte by byte. */
#include <cairn/compat.h>
#include "headers.h"

#define XID 0x0a0b0c0d
#define FIXED(proc) W(XID), W(1), W(32), W(proc)
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
/* The handle, length and offset of a segment, as bytes and as a struct. */
#define S1 0x11121314, 0x15161718, 0x191a1b1c1d1e1f10
#define S2 0x21222324, 0x25262728, 0x292a2b2c2d2e2f20
#define S3 0x31323334, 0x35363738, 0x393a3b3c3d3e3f30
#define S4 0x41424344, 0, 0x494a4b4c4d4e4f40
#define HLOO(seg) SEG(seg)
#define HEADER(proc_) .xid = XID, .vers = 1, .credit = 32, .proc = (proc_)

static const struct {
	const char *name;
	const uint8_t *bytes;
	size_t len;
	struct rpr_header header;
} examples[] = {
	{"section 4.7, no chunks", BYTES(FIXED(0), W(0), W(0), W(0)), {HEADER(RPR_MSG)}},
	{"section 4.7, a Read chunk: 1 PHLOO 1 PHLOO 1 PHLOO 0",
	 BYTES(FIXED(0), W(1), W(100), HLOO(S1), W(1), W(100), HLOO(S2), W(1), W(100),
	       HLOO(S3), W(0), W(0), W(0)),
	 {HEADER(RPR_MSG), .read_count = 3,
	  .read = {{100, {S1}}, {100, {S2}}, {100, {S3}}}}},
	{"section 4.7, a Read list: the positions vary, one is zero",
	 BYTES(FIXED(1), W(1), W(0), HLOO(S1), W(1), W(0x04030200), HLOO(S2), W(0), W(0),
	       W(0)),
	 {HEADER(RPR_NOMSG), .read_count = 2, .read = {{0, {S1}}, {0x04030200, {S2}}}}},
	{"section 4.7, a Write list: 1 3 HLOO HLOO HLOO 1 2 HLOO HLOO 0",
	 BYTES(FIXED(0), W(0), W(1), W(3), HLOO(S1), HLOO(S2), HLOO(S3), W(1), W(2),
	       HLOO(S2), HLOO(S1), W(0), W(0)),
	 {HEADER(RPR_MSG), .write_count = 2,
	  .write = {{3, {{S1}, {S2}, {S3}}}, {2, {{S2}, {S1}}}}}},
	{"section 4.7, a Reply chunk: 1 2 HLOO HLOO",
	 BYTES(FIXED(1), W(0), W(0), W(1), W(2), HLOO(S1), HLOO(S2)),
	 {HEADER(RPR_NOMSG), .has_reply = true, .reply = {2, {{S1}, {S2}}}}},
	{"all three",
	 BYTES(FIXED(0), W(1), W(8), HLOO(S1), W(0), W(1), W(1), HLOO(S2), W(0), W(1),
	       W(1), HLOO(S3)),
	 {HEADER(RPR_MSG), .read_count = 1, .read = {{8, {S1}}}, .write_count = 1,
	  .write = {{1, {{S2}}}}, .has_reply = true, .reply = {1, {{S3}}}}},
	{"section 4.3.2.2, an unused Write chunk: its segment is empty",
	 BYTES(FIXED(0), W(0), W(1), W(1), HLOO(S4), W(0), W(0)),
	 {HEADER(RPR_MSG), .write_count = 1, .write = {{1, {{S4}}}}}},
	{"section 4.3.2.3, an empty Write chunk before another",
	 BYTES(FIXED(0), W(0), W(1), W(0), W(1), W(1), HLOO(S1), W(0), W(0)),
	 {HEADER(RPR_MSG), .write_count = 2, .write = {{0}, {1, {{S1}}}}}},
	{"section 4.5.1, ERR_VERS",
	 BYTES(FIXED(4), W(1), W(0x01020304), W(0x05060708)),
	 {HEADER(RPR_ERROR), .err = RPR_ERR_VERS, .vers_low = 0x01020304,
	  .vers_high = 0x05060708}},
	{"section 4.5.2, ERR_CHUNK",
	 BYTES(FIXED(4), W(2)),
	 {HEADER(RPR_ERROR), .err = RPR_ERR_CHUNK}},
};

CT_TEST(rpr_examples, parse_as_what_they_show)
{
	struct rpr_header header;
	size_t used;

	for (size_t i = 0; i < CRN_COUNT(examples); i++) {
		CT_NOTE("%s", examples[i].name);
		memset(&header, 0xa5, sizeof(header));
		CT_ASSERT_EQ(fence_parse(&header, examples[i].bytes, examples[i].len,
					 &used),
			     RPR_OK);
		CT_EXPECT_EQ(used, examples[i].len);
		expect_same(&header, &examples[i].header);
	}
}

CT_TEST(rpr_examples, are_what_is_packed)
{
	uint8_t buf[256];

	for (size_t i = 0; i < CRN_COUNT(examples); i++) {
		CT_NOTE("%s", examples[i].name);
		CT_EXPECT_EQ(rpr_header_len(&examples[i].header), examples[i].len);
		CT_ASSERT_EQ(rpr_header_pack(&examples[i].header, buf, sizeof(buf)),
			     examples[i].len);
		CT_EXPECT_MEMEQ(buf, examples[i].bytes, examples[i].len);
	}
}

/* RFC 8167 sections 5.1 and 5.2: a Call with a fresh XID and the credits requested, its
 * Reply with the same XID and the credits granted; the message begins with both words. */
CT_TEST(rpr_examples, a_reverse_call_and_its_reply)
{
	static const uint8_t call[] = {W(0x80000001), W(1), W(2), W(0), W(0), W(0), W(0),
				       /* RFC 5531: XID, CALL, version, CB_COMPOUND */
				       W(0x80000001), W(0), W(2), W(0x40000000), W(1),
				       W(1)};
	static const uint8_t reply[] = {W(0x80000001), W(1), W(16), W(0), W(0), W(0),
					W(0),
					/* XID, REPLY, MSG_ACCEPTED */
					W(0x80000001), W(1), W(0)};
	static const struct {
		const uint8_t *bytes;
		size_t len;
		uint32_t credit;
		enum rpr_direction direction;
	} rows[] = {{call, sizeof(call), 2, RPR_CALL},
		    {reply, sizeof(reply), 16, RPR_REPLY}};
	struct rpr_header header;
	enum rpr_direction direction;
	uint32_t xid, credit;
	uint8_t buf[RPR_HEADER_MIN];
	size_t used;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_ASSERT_EQ(fence_parse(&header, rows[i].bytes, rows[i].len, &used),
			     RPR_OK);
		CT_EXPECT_EQ(header.xid, 0x80000001);
		CT_EXPECT_EQ(header.credit, rows[i].credit);
		CT_ASSERT_EQ(used, RPR_HEADER_MIN);
		CT_ASSERT_TRUE(rpr_message_parse(rows[i].bytes + used, rows[i].len - used,
						 &xid, &direction));
		CT_EXPECT_EQ(xid, header.xid);
		CT_EXPECT_EQ(direction, rows[i].direction);
		CT_EXPECT_TRUE(
			rpr_header_is_short(rows[i].bytes, rows[i].len, &xid, &credit));
		CT_EXPECT_EQ(xid, header.xid);
		CT_EXPECT_EQ(credit, rows[i].credit);
		rpr_header_pack_short(buf, 0x80000001, rows[i].credit);
		CT_EXPECT_MEMEQ(buf, rows[i].bytes, RPR_HEADER_MIN);
	}
}

/* RFC 8797 section 4: the figure, for 4096 bytes sent and 8192 received. */
CT_TEST(rpr_examples, private_data)
{
	static const uint8_t bytes[] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 7};
	struct rpr_private priv = {true, 4096, 8192};
	uint8_t buf[RPR_PRIVATE_LEN];

	rpr_private_pack(&priv, buf);
	CT_EXPECT_MEMEQ(buf, bytes, sizeof(bytes));
	memset(&priv, 0, sizeof(priv));
	CT_EXPECT_EQ(rpr_private_find(&priv, bytes, sizeof(bytes), false), 8);
	CT_EXPECT_TRUE(priv.remote_invalidate);
	CT_EXPECT_EQ(priv.send_size, 4096);
	CT_EXPECT_EQ(priv.recv_size, 8192);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* What holds for all messages and for all bytes, tried on many; the same in every run. */
#include <cairn/compat.h>
#include "golden.h"

#define MESSAGES 20000
#define MUTATIONS 40000

static struct any a, b;
static uint8_t bytes[65536], again[65536];
static uint64_t state;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1d;
}

static uint32_t below(uint32_t limit)
{
	return (uint32_t)(draw() >> 32) % limit;
}

/* From 0 to most: the ends as often as all between them. */
static uint32_t up_to(uint32_t most)
{
	const uint32_t kind = below(4);

	return kind == 0 ? 0 : kind == 1 ? most : below(most + 1);
}

static void draw_bytes(void *to, size_t len)
{
	uint8_t *at = to;

	while (len--)
		*at++ = (uint8_t)draw();
}

/* A text of printable characters, somewhere in a pool. */
static const char *draw_text(void)
{
	static char pool[8][RTE_TEXT_MAX + 1];
	static unsigned int next;
	char *text = pool[next++ % 8];
	uint32_t len = 1 + up_to(RTE_TEXT_MAX - 1), i;

	for (i = 0; i < len; i++)
		text[i] = (char)(' ' + below(95));
	text[len] = 0;
	return text;
}

static void draw_options(struct rte_options *options, uint32_t allowed)
{
	options->present = (uint32_t)draw() & allowed;
	options->ack = draw();
	options->hops = 1 + up_to(RTE_TTL_MAX - 1);
	draw_bytes(options->hop, sizeof(options->hop));
	for (uint32_t i = 0; i < RTE_TLVS; i++)
		options->text[i] = draw_text();
	draw_bytes(&options->probe, sizeof(options->probe));
}

/* Ascending keys from random ones. */
static uint64_t later(uint64_t before)
{
	return before + 1 + below(1000);
}

static void draw_part(uint32_t *slot, uint64_t *length, uint64_t *offset, uint32_t *flags)
{
	uint32_t *plen = &a.packet.head.plen;

	*slot = below(2) ? RTE_SLOT_NONE : below(RTE_SLOTS_MAX);
	*plen = 1 + up_to((*slot == RTE_SLOT_NONE ? 1000 : RTE_FRAG_MAX) - 1);
	*offset = below(2) ? 0 : draw() >> 1;
	*length = *offset + *plen + (below(2) ? 0 : draw() >> 2);
	if (!below(10))
		*length = *offset = *plen = 0;
	*flags = (*offset ? 0 : RTE_FIRST) | (*offset + *plen == *length ? RTE_LAST : 0);
	a.packet.payload = *slot == RTE_SLOT_NONE ? again : NULL;
}

static uint32_t draw_level(void)
{
	const uint32_t flags = below(256) & (RTE_CQDATA | RTE_CRC);

	return flags | (below(2) ? RTE_ACKREQ | (below(4) * RTE_COMMIT) : 0);
}

static void draw_data(uint8_t type)
{
	uint32_t slot, flags;
	uint64_t length, offset;

	draw_part(&slot, &length, &offset, &flags);
	switch (type) {
	case RTE_MSG:
		a.body.msg =
			(struct rte_msg){slot, (uint32_t)draw(), length, offset, draw()};
		flags |= draw_level();
		break;
	case RTE_WRITE:
		a.body.write =
			(struct rte_write){slot,   offset ? 1 : 2,	length, offset,
					   draw(), UINT64_MAX - length, draw()};
		flags |= draw_level();
		break;
	default:
		a.body.read_frag = (struct rte_read_frag){slot, (uint32_t)draw(), length,
							  offset, draw()};
	}
	a.packet.head.flags = (uint8_t)flags;
}

static void draw_param(void)
{
	a.packet.head.plen = up_to(RTE_PARAM_MAX);
	a.packet.payload = again;
}

static uint32_t draw_status(void)
{
	const uint32_t status = below(2) ? 0 : 1 + up_to(RTE_STATUS_MAX - 1);

	a.packet.head.flags = status ? RTE_ERR : 0;
	return status;
}

static void draw_list(uint8_t type)
{
	uint64_t key = draw() >> 32;

	switch (type) {
	case RTE_DIGEST:
	case RTE_LSREQ:
		a.body.lsa_keys.count = up_to(RTE_LSA_KEYS_MAX);
		for (uint32_t i = 0; i < a.body.lsa_keys.count; i++) {
			a.body.lsa_keys.key[i].as = 5 + i / 7;
			a.body.lsa_keys.key[i].router = key = later(key);
		}
		return;
	case RTE_AS_REACH:
		a.body.reach.as |= 1;
		a.body.reach.router |= 1;
		a.body.reach.count = up_to(RTE_REACH_MAX);
		return;
	default:
		a.body.grant.lane = (uint8_t)below(RTE_LANES);
		a.body.grant.count = up_to(RTE_GRANT_MAX);
		for (uint32_t i = 0; i < a.body.grant.count; i++)
			a.body.grant.slot[i] =
				(struct rte_grant_slot){draw() >> 1, draw(),
							below(RTE_SLOTS_MAX),
							1 + up_to(RTE_FRAG_MAX - 1)};
	}
}

static void draw_hello(uint8_t type)
{
	struct rte_hello *hello = &a.body.hello;

	hello->frag_max = RTE_FRAG_MIN + up_to(RTE_FRAG_MAX - RTE_FRAG_MIN);
	hello->eager_max = up_to(RTE_EAGER_MAX);
	for (int i = 0; i < RTE_LANES; i++) {
		hello->recv_slots[i] = (uint16_t)up_to(RTE_SLOTS_MAX);
		hello->land_slots[i] = (uint16_t)up_to(RTE_SLOTS_MAX);
	}
	hello->hb_ms = up_to(RTE_TIME_MAX);
	hello->status = type == RTE_HELLO_ACK ? draw_status() : 0;
}

static void draw_conn(uint8_t type)
{
	struct rte_conn_req *req = &a.body.conn_req;
	struct rte_conn_rep *rep = &a.body.conn_rep;

	draw_param();
	if (type == RTE_CONN_REQ) {
		req->ttl = (uint8_t)up_to(RTE_TTL_MAX);
		req->frag = RTE_FRAG_MIN + up_to(RTE_FRAG_MAX - RTE_FRAG_MIN);
		req->eager = up_to(RTE_EAGER_MAX);
		req->timeout = up_to(RTE_TIME_MAX);
		return;
	}
	rep->verdict = (uint8_t)(RTE_ACCEPTED + below(4));
	rep->status = rep->verdict == RTE_ACCEPTED ? 0 : 1 + below(RTE_STATUS_MAX);
	a.packet.head.flags = rep->status ? RTE_ERR : 0;
	rep->frag = RTE_FRAG_MIN + up_to(RTE_FRAG_MAX - RTE_FRAG_MIN);
	rep->eager = up_to(RTE_EAGER_MAX);
	a.packet.options.present &= ~(1u << RTE_TLV_URI);
	if (rep->verdict == RTE_REDIRECT)
		a.packet.options.present |= 1 << RTE_TLV_URI;
}

static void draw_piece(void)
{
	struct rte_lsa_piece *piece = &a.body.lsa_piece;
	uint32_t *plen = &a.packet.head.plen;

	piece->as |= 1;
	piece->router |= 1;
	piece->lifetime = up_to(RTE_LIFETIME_MAX);
	piece->links = (uint16_t)up_to(RTE_LINKS_MAX);
	piece->total = up_to(RTE_LSA_LIST_MAX);
	piece->offset = !piece->total || below(2) ? 0 : below(piece->total);
	*plen = piece->total ? 1 + up_to(piece->total - piece->offset - 1) : 0;
	if (*plen > 4096)
		*plen = 4096;
	a.packet.head.flags =
		(uint8_t)((piece->offset ? 0 : RTE_FIRST) |
			  (piece->offset + *plen == piece->total ? RTE_LAST : 0));
	a.packet.payload = again;
}

static void draw_rest(uint8_t type)
{
	switch (type) {
	case RTE_AUTH:
		a.body.auth_proof.step = (uint8_t)(1 + below(2));
		break;
	case RTE_BYE:
		a.body.bye.status = draw_status();
		break;
	case RTE_CONN_ACK:
		a.body.conn_ack.status = draw_status();
		break;
	case RTE_SHUTDOWN:
		a.body.shutdown.status = draw_status();
		break;
	case RTE_READ_REQ:
		a.body.read_req.length |= 1;
		a.body.read_req.addr = UINT64_MAX - a.body.read_req.length;
		a.body.read_req.window = 1 + up_to(RTE_SLOTS_MAX - 1);
		a.body.read_req.frag = 1 + up_to(RTE_FRAG_MAX - 1);
		break;
	case RTE_NACK:
		a.body.nack.status = 1 + up_to(RTE_STATUS_MAX - 1);
		a.packet.head.flags = RTE_ERR;
		break;
	case RTE_RECEIVES:
		a.body.receives.lane = (uint8_t)below(RTE_LANES);
		a.body.receives.given = (uint8_t)below(2);
		a.body.receives.more = (uint16_t)up_to(RTE_SLOTS_MAX);
		a.body.receives.asked = (uint16_t)up_to(RTE_SLOTS_MAX);
		break;
	case RTE_MR_INFO:
		a.body.mr_info.base = UINT64_MAX - a.body.mr_info.length;
		a.body.mr_info.persist = (uint8_t)below(3);
		a.body.mr_info.status = draw_status();
		break;
	default:
		break;
	}
}

/* TLVs by hand, as the comments of messages.h say. */
static uint32_t tlvs_of(uint8_t type)
{
	switch (type) {
	case RTE_HELLO:
	case RTE_HELLO_ACK:
		return 1 << RTE_TLV_URI | 1 << RTE_TLV_NAME | 1 << RTE_TLV_WHY;
	case RTE_BYE:
	case RTE_SHUTDOWN:
	case RTE_NACK:
		return 1 << RTE_TLV_WHY;
	case RTE_CONN_REQ:
		return 1 << RTE_TLV_PATH | 1 << RTE_TLV_SOURCE | 1 << RTE_TLV_TARGET;
	case RTE_CONN_REP:
		return 1 << RTE_TLV_PATH | 1 << RTE_TLV_URI | 1 << RTE_TLV_WHY |
		       1 << RTE_TLV_PROBE;
	case RTE_MSG:
	case RTE_WRITE:
	case RTE_READ_REQ:
	case RTE_READ_FRAG:
		return 1 << RTE_TLV_ACK;
	default:
		return 0;
	}
}

/* A message that may be sent, of random values. */
static void draw_message(uint8_t type)
{
	draw_bytes(&a.body, sizeof(a.body));
	memset(&a.packet, 0, sizeof(a.packet));
	a.packet.head = (struct rte_head){.type = type,
					  .credit = {(uint8_t)draw(), (uint8_t)draw()},
					  .vc = (uint32_t)draw(),
					  .seq = draw()};
	draw_options(&a.packet.options, tlvs_of(type));
	if (type == RTE_HELLO || type == RTE_HELLO_ACK)
		draw_hello(type);
	else if (type == RTE_MSG || type == RTE_WRITE || type == RTE_READ_FRAG)
		draw_data(type);
	else if (type == RTE_CONN_REQ || type == RTE_CONN_REP)
		draw_conn(type);
	else if (type == RTE_LSA)
		draw_piece();
	else if (any_kind(type)->entry)
		draw_list(type);
	else
		draw_rest(type);
	if (type == RTE_DIGEST)
		a.packet.head.flags = below(2) ? RTE_LAST : 0;
}

static size_t pack(void)
{
	const ssize_t len = any_pack_all(&a, bytes, sizeof(bytes));

	CT_EXPECT_GT(len, 0);
	return len < 0 ? 0 : (size_t)len;
}

CT_TEST(wire_random, what_is_packed_is_what_is_parsed)
{
	const unsigned int messages = ct_rounds(MESSAGES);
	const char *field;
	size_t len;

	state = 1;
	draw_bytes(again, sizeof(again));
	for (unsigned int i = 0; i < messages && !ct_failed(); i++) {
		draw_message(any_kinds[below((uint32_t)any_kind_count)].type);
		CT_NOTE("message %u, %s", i, rte_message_name(a.packet.head.type));
		len = pack();
		memset(&b, 0xa5, sizeof(b));
		CT_ASSERT_EQ(any_parse(&b, ct_fence_copy(bytes, len), len), RTE_OK);
		CT_EXPECT_EQ(b.packet.head.hlen % 8, 0);
		/* Set by pack. */
		a.packet.head.hlen = b.packet.head.hlen;
		if (any_kind(a.packet.head.type)->entry)
			a.packet.head.plen = b.packet.head.plen;
		field = any_differ(&a, &b);
		CT_EXPECT_STREQ(field ? field : "", "");
	}
}

/* A number that is likely to matter, somewhere; or a byte; or another length. */
static size_t mutate(size_t len)
{
	static const uint32_t words[] = {0,	     1,		 2,	    3,
					 7,	     8,		 0xff,	    0x100,
					 0xfff,	     0x1000,	 0xffff,    0x8000,
					 0x7fffffff, 0x80000000, UINT32_MAX};
	const uint32_t value = words[below(CRN_COUNT(words))];
	const size_t at = below((uint32_t)CRN_MIN(len, 256u)), size = 1u << below(3);

	switch (below(4)) {
	case 0:
		bytes[at] = (uint8_t)draw();
		return len;
	case 1:
		return at + 1;
	default:
		for (size_t i = 0; i < size; i++)
			bytes[at + i] = (uint8_t)(value >> 8 * i);
		return len;
	}
}

/* What is understood can be said, and means the same. */
CT_TEST(wire_random, bytes_are_understood_as_what_they_are)
{
	unsigned int seen[RTE_BADS] = {0}, i, k;
	const char *field;
	enum rte_bad bad;
	size_t len;
	ssize_t packed;

	state = 2;
	for (i = 0; i < MUTATIONS && !ct_failed(); i++) {
		draw_message(any_kinds[below((uint32_t)any_kind_count)].type);
		len = pack();
		for (k = below(3); len && k < 3; k++)
			len = mutate(len);
		CT_NOTE("message %u", i);
		bad = any_parse(&a, ct_fence_copy(bytes, len), len);
		CT_ASSERT_LT(bad, RTE_BADS);
		seen[bad]++;
		if (bad != RTE_OK)
			continue;
		packed = any_pack_all(&a, bytes, sizeof(bytes));
		CT_ASSERT_GT(packed, 0);
		CT_ASSERT_EQ(any_parse(&b, bytes, (size_t)packed), RTE_OK);
		/* Unknown TLVs are gone. */
		CT_EXPECT_LE(b.packet.head.hlen, a.packet.head.hlen);
		a.packet.head.hlen = b.packet.head.hlen;
		field = any_differ(&a, &b);
		CT_EXPECT_STREQ(field ? field : "", "");
	}
	/* Otherwise it was not worth the time. */
	for (i = 0; i < RTE_BADS; i++)
		if (i != RTE_MORE && i != RTE_BAD_MAJOR && i != RTE_BAD_PIECE) {
			CT_NOTE("%s", rte_bad_text((enum rte_bad)i));
			CT_EXPECT_GT(seen[i], 20);
		}
}

CT_TEST(wire_random, nothing_is_too_strange)
{
	static struct rte_lsa_room room;
	struct rte_preamble preamble;
	struct rte_lsa_piece piece;
	uint8_t *at;
	size_t len;

	state = 3;
	for (unsigned int round = 0; round < MUTATIONS; round++) {
		len = below(400);
		at = ct_fence_room(len);
		/* Mostly zeros, or numbers would be beyond all bounds at once. */
		for (size_t i = 0; i < len; i++)
			at[i] = below(4) ? 0 : (uint8_t)below(8);
		if (len > 2 && below(8)) {
			at[0] = 0xc9;
			at[1] = 0;
			at[2] = any_kinds[below((uint32_t)any_kind_count)].type;
		}
		if (len > 4 && below(8))
			at[4] = (uint8_t)(8 * below(16));
		CT_EXPECT_LT(any_parse(&a, at, len), RTE_BADS);
		CT_EXPECT_LT(rte_preamble_parse(&preamble, at, len), RTE_BADS);
		piece = (struct rte_lsa_piece){.total = (uint32_t)len,
					       .links = (uint16_t)below(4)};
		CT_EXPECT_LT(rte_lsa_parse(&room, &piece, at, len), RTE_BADS);
	}
}

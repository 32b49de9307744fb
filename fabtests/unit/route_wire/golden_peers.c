/* SPDX-License-Identifier: BSD-2-Clause */
/* What two ends of a lower connection say, and routers to each other. */
#include <cairn/compat.h>
#include "golden.h"

/* clang-format off */
static const uint8_t hello_bytes[] = {
	HEAD(0x01, 0, 104, 0),
	/* 24 */ 0x0f, 0, 0, 0, 0, 0, 0, 0x80,
	/* 32 */ 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
	/* 40 */ 0x00, 0x00, 0x04, 0x00,
	/* 44 */ 0x00, 0x20, 0x00, 0x00,
	/* 48 */ 0x40, 0x00, 0x41, 0x00, 0x08, 0x01, 0x09, 0x01,
	/* 56 */ 0xe8, 0x03, 0x00, 0x00,
	/* 60 */ ZERO4,
	/* URI, critical, 21 bytes: fills 32 */
	0x03, 0x80, 21, 0, 't', 'c', 'p', ':', '/', '/', '1', '9', '2', '.', '0', '.', '2',
	'.', '1', ':', '7', '0', '0', '1', 0, 0, 0, 0, 0, 0, 0, 0,
	/* NAME, 4 bytes */
	0x04, 0x00, 4, 0, 'r', '1', 'a', 0,
};

static const uint8_t hello_ack_bytes[] = {
	HEAD(0x02, 0x10, 80, 0),
	0x01, 0, 0, 0, 0, 0, 0, 0,
	0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
	0x00, 0x10, 0x00, 0x00,
	0x00, 0x00, 0x01, 0x00,
	0x00, 0x10, 0x01, 0x00, 0x02, 0x00, 0x03, 0x00,
	ZERO4,
	/* FI_EACCES */ 13, 0, 0, 0,
	/* WHY, 10 bytes: fills 16 */
	0x05, 0x00, 10, 0, 'w', 'r', 'o', 'n', 'g', ' ', 'k', 'e', 'y', 0, 0, 0,
};

static const uint8_t auth_bytes[] = {
	HEAD(0x03, 0, 64, 0),
	0x54, 0x53, 0x52, 0x51, 0x02, 0, 0, 0,
	0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d,
	0x8e, 0x8f, 0x90, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0x9b,
	0x9c, 0x9d, 0x9e, 0x9f,
};

static const uint8_t digest_bytes[] = {
	HEAD(0x10, 0x02, 32, 64),
	0x02, 0, 0, 0, ZERO4,
	0x03, 0, 0, 0, ZERO4, 0xff, 0, 0, 0, 0, 0, 0, 0x70,
	0x31, 0, 0, 0, 0, 0, 0, 0x71, 0x32, 0, 0, 0, 0, 0, 0, 0x72,
	0x00, 0x01, 0, 0, ZERO4, 0x01, 0, 0, 0, 0, 0, 0, 0,
	0x33, 0, 0, 0, 0, 0, 0, 0x73, 0x34, 0, 0, 0, 0, 0, 0, 0x74,
};

static const uint8_t lsreq_bytes[] = {
	HEAD(0x11, 0, 32, 64),
	0x02, 0, 0, 0, ZERO4,
	0x03, 0, 0, 0, ZERO4, 0x07, 0, 0, 0, 0, 0, 0, 0,
	0x31, 0, 0, 0, 0, 0, 0, 0x71, 0x32, 0, 0, 0, 0, 0, 0, 0x72,
	0x03, 0, 0, 0, ZERO4, 0x00, 0x07, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};

/* Two links, one of them without anything. */
static const uint8_t lsa_bytes[] = {
	HEAD(0x12, 0x03, 80, 136),
	0x03, 0, 0, 0, 0x03, 0, 0, 0,
	0x48, 0x47, 0x46, 0x45, 0x44, 0x43, 0x42, 0x41,
	0x58, 0x57, 0x56, 0x55, 0x54, 0x53, 0x52, 0x51,
	0x68, 0x67, 0x66, 0x65, 0x64, 0x63, 0x62, 0x61,
	0x30, 0x75, 0, 0, 0x05, 0, 0, 0,
	/* 64: total, offset */ 136, 0, 0, 0, ZERO4,
	/* 72: links */ 2, 0, 0, 0, ZERO4,
	/* 80 */
	0x7e, 0, 0, 0, 0x03, 0, 0, 0,
	0x00, 0xe4, 0x0b, 0x54, 0x02, 0, 0, 0,
	0xd0, 0x07, 0, 0, 0x99, 0, 0, 0,
	0x00, 0x00, 0x10, 0x00, 0x07, 0x80, 1, 0,
	2, 0, 12, 0, 72, 0, 0, 0,
	0x09, 0, 0, 0, 0, 0, 0, 0, 0x0a, 0, 0, 0, 0, 0, 0, 0x01,
	'g', 'n', 'i', ':', '/', '/', '1', '0', '.', '1', '.', '5', 0, 0, 0, 0,
	/* 152 */
	0x01, 0, 0, 0, ZERO4,
	0x01, 0, 0, 0, 0, 0, 0, 0x10,
	ZERO4, ZERO4,
	ZERO4, 0, 0, 0, 0,
	0, 0, 0, 0, 64, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0,
	/* 200: a TLV that nobody knows */ 0x77, 0x00, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0,
};

/* The same, from byte 64 of the list on. */
static const uint8_t lsa_piece_bytes[] = {
	HEAD(0x12, 0x02, 80, 8),
	0x03, 0, 0, 0, 0x01, 0, 0, 0,
	0x48, 0x47, 0x46, 0x45, 0x44, 0x43, 0x42, 0x41,
	0x58, 0x57, 0x56, 0x55, 0x54, 0x53, 0x52, 0x51,
	0x68, 0x67, 0x66, 0x65, 0x64, 0x63, 0x62, 0x61,
	0x30, 0x75, 0, 0, 0x05, 0, 0, 0,
	72, 0, 0, 0, 64, 0, 0, 0,
	1, 0, 0, 0, ZERO4,
	1, 2, 3, 4, 5, 6, 7, 8,
};

static const uint8_t reach_bytes[] = {
	HEAD(0x13, 0, 56, 48),
	0x03, 0, 0, 0, 0x02, 0, 0, 0,
	0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
	0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
	0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
	0x04, 0, 0, 0, 0x01, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0x03, 0, 0, 0, ZERO4,
	ZERO4, 0x04, 0x01, 0, 0, 0xd8, 0x47, 0x03, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, ZERO4,
};

static const uint8_t heartbeat_bytes[] = {
	HEAD(0x14, 0, 56, 0),
	0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
	0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
	0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
	0x34, 0x33, 0x32, 0x31, 0x44, 0x43, 0x42, 0x41,
};

static const uint8_t bye_bytes[] = {
	HEAD(0x15, 0x10, 40, 0),
	/* FI_ETIMEDOUT */ 110, 0, 0, 0, ZERO4,
	0x05, 0x00, 3, 0, 'n', 'o', 0, 0,
};
/* clang-format on */

static void fill_hello(struct any *any)
{
	any->body.hello = (struct rte_hello){.features = 0x800000000000000f,
					     .epoch = 0x1112131415161718,
					     .frag_max = 262144,
					     .eager_max = 8192,
					     .recv_slots = {64, 65},
					     .land_slots = {264, 265},
					     .hb_ms = 1000};
	any->packet.options.present = 1 << RTE_TLV_URI | 1 << RTE_TLV_NAME;
	any->packet.options.text[RTE_TLV_URI] = "tcp://192.0.2.1:7001";
	any->packet.options.text[RTE_TLV_NAME] = "r1a";
}

static void fill_hello_ack(struct any *any)
{
	any->body.hello = (struct rte_hello){.features = 1,
					     .epoch = 0x2122232425262728,
					     .frag_max = 4096,
					     .eager_max = 65536,
					     .recv_slots = {4096, 1},
					     .land_slots = {2, 3},
					     .status = 13};
	any->packet.options.present = 1 << RTE_TLV_WHY;
	any->packet.options.text[RTE_TLV_WHY] = "wrong key";
}

static void fill_auth(struct any *any)
{
	any->body.auth_proof = (struct rte_auth_proof){.key_id = 0x51525354, .step = 2};
	for (uint8_t i = 0; i < 32; i++)
		any->body.auth_proof.hmac[i] = 0x80 + i;
}

static void fill_digest(struct any *any)
{
	struct rte_lsa_keys *keys = &any->body.lsa_keys;

	keys->count = 2;
	keys->key[0] = (struct rte_lsa_key){3, 0x70000000000000ff, 0x7100000000000031,
					    0x7200000000000032};
	keys->key[1] =
		(struct rte_lsa_key){256, 1, 0x7300000000000033, 0x7400000000000034};
}

static void fill_lsreq(struct any *any)
{
	struct rte_lsa_keys *keys = &any->body.lsa_keys;

	keys->count = 2;
	keys->key[0] = (struct rte_lsa_key){3, 7, 0x7100000000000031, 0x7200000000000032};
	keys->key[1] = (struct rte_lsa_key){.as = 3, .router = 0x700};
}

static const struct rte_lsa_piece piece = {.as = 3,
					   .flags = RTE_LSA_DRAIN,
					   .router = 0x4142434445464748,
					   .epoch = 0x5152535455565758,
					   .seq = 0x6162636465666768,
					   .lifetime = 30000,
					   .load = 5,
					   .links = 1};

static void fill_lsa(struct any *any)
{
	any->body.lsa_piece = piece;
	any->body.lsa_piece.flags = RTE_LSA_DRAIN | RTE_LSA_BORDER;
	any->body.lsa_piece.links = 2;
	any->body.lsa_piece.total = 136;
	any->packet.payload = lsa_bytes + 80;
}

static void fill_lsa_piece(struct any *any)
{
	any->body.lsa_piece = piece;
	any->body.lsa_piece.total = 72;
	any->body.lsa_piece.offset = 64;
	any->packet.payload = lsa_piece_bytes + 80;
}

static void fill_reach(struct any *any)
{
	struct rte_reach *reach = &any->body.reach;

	*reach = (struct rte_reach){.as = 3,
				    .router = 0x0102030405060708,
				    .epoch = 0x1112131415161718,
				    .seq = 0x2122232425262728,
				    .count = 2};
	reach->entry[0] = (struct rte_reach_entry){4, 1, RTE_REACH_NONE, 3};
	reach->entry[1] = (struct rte_reach_entry){RTE_AS_WAN, 260, 215000, 2};
}

static void fill_heartbeat(struct any *any)
{
	any->body.heartbeat = (struct rte_heartbeat){.hash = 0x0102030405060708,
						     .stamp = 0x1112131415161718,
						     .echo = 0x2122232425262728,
						     .held = 0x31323334,
						     .count = 0x41424344};
}

static void fill_bye(struct any *any)
{
	any->body.bye.status = 110;
	any->packet.options.present = 1 << RTE_TLV_WHY;
	any->packet.options.text[RTE_TLV_WHY] = "no";
}

const struct golden golden_peers[] = {
	GOLDEN(hello, 0, 0),
	GOLDEN(hello_ack, RTE_ERR, 0),
	GOLDEN(auth, 0, 0),
	GOLDEN(digest, RTE_LAST, 64),
	GOLDEN(lsreq, 0, 64),
	GOLDEN(lsa, RTE_FIRST | RTE_LAST, 136),
	GOLDEN(lsa_piece, RTE_LAST, 8),
	GOLDEN(reach, 0, 48),
	GOLDEN(heartbeat, 0, 0),
	GOLDEN(bye, RTE_ERR, 0),
};

const size_t golden_peers_count = CRN_COUNT(golden_peers);

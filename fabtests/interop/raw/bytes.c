/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "raw.h"

uint64_t raw_seed = 1;

uint64_t raw_random(void)
{
	raw_seed ^= raw_seed << 13;
	raw_seed ^= raw_seed >> 7;
	raw_seed ^= raw_seed << 17;
	return raw_seed;
}

uint32_t raw_below(uint32_t bound)
{
	return (uint32_t)(raw_random() >> 16) % bound;
}

void put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
}

void put32(uint8_t *at, uint32_t value)
{
	put16(at, (uint16_t)value);
	put16(at + 2, (uint16_t)(value >> 16));
}

void put64(uint8_t *at, uint64_t value)
{
	put32(at, (uint32_t)value);
	put32(at + 4, (uint32_t)(value >> 32));
}

uint32_t get32(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

uint64_t get64(const uint8_t *at)
{
	return get32(at) | (uint64_t)get32(at + 4) << 32;
}

void raw_preamble(uint8_t at[32], unsigned int role, uint64_t node,
		  const struct raw_place *on)
{
	memset(at, 0, 32);
	memcpy(at, "FRT1", 4);
	at[4] = 1;
	at[6] = (uint8_t)role;
	put64(at + 8, node);
	put64(at + 16, raw_random() | 1);
	put32(at + 24, on->as);
	put32(at + 28, on->subnet);
}

/* Bytes in front of TLVs. */
static size_t body_end(unsigned int type)
{
	switch (type) {
	case HELLO:
	case HELLO_ACK:
	case AUTH:
		return 64;
	case CONN_REQ:
		return 112;
	case CONN_REP:
	case MR_INFO:
		return 88;
	case CONN_ACK:
	case NACK:
		return 48;
	case SHUTDOWN:
	case HEARTBEAT:
	case MSG:
	case READ_REQ:
	case READ_FRAG:
	case AS_REACH:
		return 56;
	case WRITE:
		return 72;
	case LSA:
		return 80;
	case KEEPALIVE:
	case MR_INVAL:
		return 40;
	default:
		return 32;
	}
}

void raw_head(struct raw_bytes *bytes, unsigned int type, unsigned int flags)
{
	bytes->len = body_end(type);
	memset(bytes->at, 0, bytes->len);
	bytes->at[0] = 0xc9;
	bytes->at[2] = (uint8_t)type;
	bytes->at[3] = (uint8_t)flags;
	put16(bytes->at + 4, (uint16_t)bytes->len);
	put32(bytes->at + 8, type >= CONN_REQ);
}

/* TLVs come before the payload. */
void raw_tlv(struct raw_bytes *bytes, unsigned int type, const void *value, size_t len)
{
	const size_t all = (len + 4 + 7) & ~(size_t)7;
	uint8_t *at = bytes->at + bytes->len;

	memset(at, 0, all);
	put16(at, (uint16_t)type);
	put16(at + 2, (uint16_t)len);
	memcpy(at + 4, value, len);
	bytes->len += all;
	put16(bytes->at + 4, (uint16_t)bytes->len);
}

void raw_payload(struct raw_bytes *bytes, const void *payload, size_t len)
{
	if (payload)
		memcpy(bytes->at + bytes->len, payload, len);
	else
		memset(bytes->at + bytes->len, 0x5a, len);
	put32(bytes->at + 12, (uint32_t)len);
	bytes->len += len;
}

void raw_hello(struct raw_bytes *bytes, unsigned int type)
{
	raw_head(bytes, type, 0);
	put64(bytes->at + 24, 8);
	put64(bytes->at + 32, 1);
	put32(bytes->at + 40, 262144);
	put32(bytes->at + 44, 8192);
	put16(bytes->at + 48, 12);
	put16(bytes->at + 50, 12);
	put16(bytes->at + 52, 8);
	put16(bytes->at + 54, 8);
	put32(bytes->at + 56, 1000);
}

static void put_place(uint8_t *at, const struct raw_place *place)
{
	put32(at, place->as);
	put32(at + 4, place->subnet);
	put32(at + 8, place->host);
	put16(at + 12, place->port);
}

void raw_conn_req(struct raw_bytes *bytes, const uint8_t id[16],
		  const struct raw_place *from, const struct raw_place *to)
{
	raw_head(bytes, CONN_REQ, 0);
	memcpy(bytes->at + 24, id, 16);
	put_place(bytes->at + 40, from);
	put_place(bytes->at + 56, to);
	bytes->at[72] = 16;
	put32(bytes->at + 76, 262144);
	put32(bytes->at + 80, 8192);
	put32(bytes->at + 84, 2000);
	put64(bytes->at + 88, 9);
}

void raw_conn_rep(struct raw_bytes *bytes, const uint8_t id[16], unsigned int verdict,
		  unsigned int status)
{
	raw_head(bytes, CONN_REP, status ? ERR : 0);
	memcpy(bytes->at + 24, id, 16);
	put32(bytes->at + 40, status);
	bytes->at[44] = (uint8_t)verdict;
	put64(bytes->at + 56, 9);
	put32(bytes->at + 76, 262144);
	put32(bytes->at + 80, 8192);
}

void raw_named(struct raw_bytes *bytes, unsigned int type, const uint8_t id[16])
{
	raw_head(bytes, type, 0);
	memcpy(bytes->at + 24, id, 16);
}

void raw_part(struct raw_bytes *bytes, unsigned int type, uint64_t seq, uint64_t length,
	      uint64_t offset, size_t len)
{
	raw_head(bytes, type, (offset ? 0 : FIRST) | (offset + len == length ? LAST : 0));
	put64(bytes->at + 16, seq);
	put32(bytes->at + 24, UINT32_MAX);
	put64(bytes->at + 32, length);
	put64(bytes->at + 40, offset);
	if (type == READ_FRAG)
		put64(bytes->at + 48, seq);
	if (type == WRITE)
		put64(bytes->at + 64, RAW_KEY);
	raw_payload(bytes, NULL, len);
}

void raw_read(struct raw_bytes *bytes, uint64_t seq, uint64_t addr, uint64_t length)
{
	raw_head(bytes, READ_REQ, 0);
	put64(bytes->at + 16, seq);
	put64(bytes->at + 24, length);
	put64(bytes->at + 32, addr);
	put64(bytes->at + 40, RAW_KEY);
	put32(bytes->at + 48, 64);
	put32(bytes->at + 52, 262144);
}

void raw_lsa(struct raw_bytes *bytes, uint32_t as, uint64_t router, uint64_t epoch,
	     uint64_t seq)
{
	uint8_t link[56] = {0};

	raw_head(bytes, LSA, FIRST | LAST);
	put32(bytes->at + 24, as);
	put64(bytes->at + 32, router);
	put64(bytes->at + 40, epoch);
	put64(bytes->at + 48, seq);
	put32(bytes->at + 56, 60000);
	put32(bytes->at + 64, sizeof(link));
	put16(bytes->at + 72, 1);
	put32(link, 77);
	put32(link + 4, as);
	put64(link + 8, 1000000000);
	put32(link + 24, 4096);
	link[30] = 1;
	put32(link + 36, sizeof(link));
	raw_payload(bytes, link, sizeof(link));
}

/* --- Mutations --- */

static uint64_t extreme(void)
{
	static const uint64_t values[] = {
		0,	    1,
		2,	    7,
		8,	    15,
		16,	    17,
		127,	    255,
		256,	    4095,
		4096,	    4097,
		8192,	    8193,
		65535,	    65536,
		65537,	    262144,
		262145,	    16777216,
		16777217,   INT32_MAX,
		UINT32_MAX, (uint64_t)UINT32_MAX + 1,
		INT64_MAX,  UINT64_MAX - 1,
		UINT64_MAX,
	};

	return values[raw_below(sizeof(values) / sizeof(values[0]))];
}

static void mutate_number(struct raw_bytes *bytes)
{
	const uint32_t words = (uint32_t)(bytes->len / 8);
	const uint64_t value = extreme();
	uint8_t *at;

	if (!words)
		return;
	at = bytes->at + (size_t)8 * raw_below(words > 16 ? 16 : words);
	switch (raw_below(4)) {
	case 0:
		put64(at, value);
		break;
	case 1:
		put32(at + 4 * raw_below(2), (uint32_t)value);
		break;
	case 2:
		put16(at + 2 * raw_below(4), (uint16_t)value);
		break;
	default:
		at[raw_below(8)] = (uint8_t)value;
		break;
	}
}

void raw_mutate(struct raw_bytes *bytes)
{
	size_t len;

	switch (raw_below(6)) {
	case 0:
		if (bytes->len)
			bytes->at[raw_below((uint32_t)bytes->len)] ^=
				(uint8_t)(1u << raw_below(8));
		break;
	case 1: /* cut */
		bytes->len = raw_below((uint32_t)bytes->len + 1);
		break;
	case 2: /* with something behind it */
		len = raw_below(300);
		if (bytes->len + len < 9728) {
			memset(bytes->at + bytes->len, (int)raw_below(256), len);
			bytes->len += len;
		}
		break;
	case 3: /* of another type */
		bytes->at[2] = (uint8_t)raw_below(0x42);
		break;
	default:
		mutate_number(bytes);
		break;
	}
}

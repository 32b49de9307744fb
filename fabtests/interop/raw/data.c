/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done to who listens on a connection that is open. */
#include <stdlib.h>
#include <string.h>
#include "steps.h"

/* --- Credits and slots --- */

void raw_credits(struct raw_attack *attack)
{
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		conn = i < 2 ? step_greeted(attack) : step_opened(attack);
		if (!conn)
			continue;
		raw_head(&bytes, KEEPALIVE, 0);
		bytes.at[6 + i % 2] = 255;
		step_tell(conn, &bytes);
	}
	/* More than there are receives, without waiting. */
	conn = step_opened(attack);
	for (i = 1; conn && i < 2000; i++) {
		raw_part(&bytes, MSG, i, 8, 0, 8);
		bytes.at[3] |= ACKREQ;
		if (!raw_send(conn, &bytes))
			break;
	}
	step_end(conn);
	conn = step_opened(attack);
	raw_head(&bytes, KEEPALIVE, ACKREQ);
	for (i = 0; conn && i < 2000 && raw_send(conn, &bytes); i++)
		;
	step_end(conn);
}

/* Until it is granted. */
static bool granted(struct raw_conn *conn)
{
	const uint64_t until = raw_now() + 500;

	while (!conn->slots && !conn->over && raw_now() < until)
		raw_progress(conn->raw);
	return conn->slots;
}

static struct raw_conn *with_slot(struct raw_attack *attack, struct raw_bytes *bytes)
{
	struct raw_conn *conn = step_opened(attack);

	if (!conn)
		return NULL;
	raw_part(bytes, MSG, 1, 1000000, 0, 8000);
	raw_send(conn, bytes);
	granted(conn);
	return conn;
}

static void slot_part(struct raw_bytes *bytes, uint32_t slot, uint32_t plen,
		      uint64_t length)
{
	raw_part(bytes, MSG, 1, length, 8000, 0);
	bytes->at[3] = 8000 + (uint64_t)plen == length ? LAST : 0;
	put32(bytes->at + 24, slot);
	put32(bytes->at + 12, plen);
}

void raw_slots(struct raw_attack *attack)
{
	static const uint32_t never[] = {0, 1, 7, 8, 15, 16, 4095, 4096, UINT32_MAX - 1};
	struct raw_bytes bytes;
	struct raw_conn *conn;
	uint32_t len;
	unsigned int i;

	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		slot_part(&bytes, never[i], 1000, 1000000);
		step_tell(step_opened(attack), &bytes);
	}
	/* Twice, and longer than they are: the memory is there again afterwards. */
	for (i = 0; i < 60; i++) {
		conn = with_slot(attack, &bytes);
		if (!conn)
			continue;
		len = conn->slots ? conn->slot[0].len : 4096;
		if (i % 3 && conn->slots)
			raw_write(conn, &conn->slot[0], len);
		slot_part(&bytes, conn->slots ? conn->slot[0].id : 0,
			  i % 3 == 1 ? len : len + 1 + raw_below(1000), 1000000);
		if (i % 3 == 1)
			raw_send(conn, &bytes);
		step_tell(conn, &bytes);
	}
	/* Written beyond its end, and at its key elsewhere. */
	for (i = 0; i < 4; i++) {
		conn = with_slot(attack, &bytes);
		if (conn && conn->slots) {
			conn->slot[0].addr += i % 2 ? 2u << 20 : UINT64_MAX / 2;
			conn->slot[0].key += i / 2;
			raw_write(conn, &conn->slot[0], 4096);
			raw_flush(conn);
		}
		step_end(conn);
	}
}

/* What the other end would grant. */
void raw_grants(struct raw_attack *attack)
{
	struct raw_bytes bytes;
	struct raw_conn *conn;
	uint8_t list[24 * 65];
	unsigned int i, k;

	for (i = 0; i < 16; i++) {
		conn = step_opened(attack);
		if (!conn)
			continue;
		for (k = 0; k < 65; k++) {
			put64(list + k * 24, raw_random());
			put64(list + k * 24 + 8, raw_random());
			put32(list + k * 24 + 16, raw_below(i % 2 ? 16 : 5000));
			put32(list + k * 24 + 20, i % 4 ? 1 + raw_below(65536) : 1);
		}
		raw_head(&bytes, GRANT, 0);
		bytes.at[28] = i % 3;
		k = i < 14 ? i * 4 : 65;
		put32(bytes.at + 24, k);
		raw_payload(&bytes, list, (size_t)24 * k);
		raw_send(conn, &bytes);
		/* Its answer is written there. */
		raw_read(&bytes, 1, 0, RAW_REGION);
		raw_send(conn, &bytes);
		raw_await_end(conn, 50);
		raw_end(conn);
	}
}

/* --- Data --- */

void raw_fragments(struct raw_attack *attack)
{
	static const struct {
		uint64_t seq, length, offset;
		uint32_t len;
		int flags; /* -1: those that are right */
	} parts[][3] = {
		{{1, 3000, 0, 1000, -1}, {1, 3000, 2000, 1000, -1}, {0}},
		{{1, 3000, 1000, 1000, -1}, {0}, {0}},
		{{1, 3000, 0, 1000, -1}, {1, 3000, 0, 1000, -1}, {0}},
		{{1, 3000, 0, 1000, -1}, {2, 100, 0, 100, -1}, {0}},
		{{2, 100, 0, 100, -1}, {0}, {0}},
		{{0, 100, 0, 100, -1}, {0}, {0}},
		{{UINT64_MAX, 100, 0, 100, -1}, {0}, {0}},
		{{1, UINT64_MAX, 0, 8000, -1}, {1, UINT64_MAX, 8000, 8000, -1}, {0}},
		{{1, 100, 0, 1000, -1}, {0}, {0}},
		{{1, 3000, 0, 1000, FIRST | LAST}, {0}, {0}},
		{{1, 3000, 0, 1000, 0}, {0}, {0}},
		{{1, 3000, 0, 1000, -1}, {1, 4000, 1000, 1000, -1}, {0}},
		{{1, 0, 0, 0, -1}, {1, 0, 0, 0, -1}, {2, 5, 0, 0, -1}},
		{{1, 100, 0, 100, 255}, {2, 100, 0, 100, 255}, {3, 100, 0, 100, 255}},
		{{1, 400000, 0, 8192, -1}, {1, 400000, 8192, 8192, -1}, {0}},
	};
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int i, k;

	for (i = 0; i < 2 * sizeof(parts) / sizeof(parts[0]); i++) {
		conn = step_opened(attack);
		for (k = 0; conn && k < 3; k++) {
			if (!parts[i / 2][k].length && !parts[i / 2][k].seq)
				break;
			raw_part(&bytes, i % 2 ? MSG : WRITE, parts[i / 2][k].seq,
				 parts[i / 2][k].length, parts[i / 2][k].offset,
				 parts[i / 2][k].len);
			if (parts[i / 2][k].flags >= 0)
				bytes.at[3] = (uint8_t)parts[i / 2][k].flags;
			raw_send(conn, &bytes);
		}
		if (conn) {
			raw_flush(conn);
			raw_await_end(conn, 30);
		}
		step_end(conn);
	}
}

void raw_writes(struct raw_attack *attack)
{
	static const uint64_t addrs[] = {0,	     RAW_REGION - 1, RAW_REGION,
					 UINT32_MAX, UINT64_MAX - 8, UINT64_MAX};
	struct raw_bytes bytes;
	unsigned int i;

	for (i = 0; i < 12; i++) {
		raw_part(&bytes, WRITE, 1, 8, 0, 8);
		put64(bytes.at + 56, addrs[i % 6]);
		put64(bytes.at + 64, i < 6 ? RAW_KEY : raw_random());
		bytes.at[3] |= ACKREQ;
		step_tell(step_opened(attack), &bytes);
		raw_read(&bytes, 1, addrs[i % 6], i % 2 ? 8 : UINT64_MAX - 8);
		if (i >= 6)
			put64(bytes.at + 40, raw_random());
		step_tell(step_opened(attack), &bytes);
	}
}

void raw_reads(struct raw_attack *attack)
{
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int i, k;

	for (k = 0; k < 4; k++) {
		conn = step_opened(attack);
		for (i = 1; conn && i <= 10000 && !conn->over; i++) {
			raw_read(&bytes, i, 0, k % 2 ? RAW_REGION : 64);
			if (k > 1) {
				put32(bytes.at + 48, 1);
				put32(bytes.at + 52, 1);
			}
			/* Nobody reads the answers: after a while there is no room. */
			if (conn->flying > 200)
				break;
			raw_send(conn, &bytes);
		}
		if (attack->meanwhile)
			attack->meanwhile();
		step_end(conn);
	}
}

void raw_answers(struct raw_attack *attack)
{
	static const uint64_t seqs[] = {0, 1, 2, 1000, UINT64_MAX};
	struct raw_bytes bytes;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		raw_head(&bytes, ACK, 0);
		put64(bytes.at + 24, seqs[i]);
		step_tell(step_opened(attack), &bytes);
		raw_head(&bytes, NACK, ERR);
		put64(bytes.at + 24, seqs[i]);
		put32(bytes.at + 40, i ? 5 : 4096);
		step_tell(step_opened(attack), &bytes);
		raw_part(&bytes, READ_FRAG, seqs[i], 100, 0, 100);
		step_tell(step_opened(attack), &bytes);
		raw_head(&bytes, MSG, FIRST | LAST);
		put64(bytes.at + 16, 1);
		put32(bytes.at + 24, UINT32_MAX);
		raw_tlv(&bytes, 0x8001, &seqs[i], 8);
		step_tell(step_opened(attack), &bytes);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done to who listens: a router's device, or a program's passive endpoint. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "raw.h"

#define NODE 0x7777u
#define HALF_OPEN 900
#define CONN 4u /* flag of a preamble: a connection follows, and no adjacency */

/* --- The steps of a good conversation --- */

/* flags: of the preamble. */
static struct raw_conn *connected_with(struct raw_attack *attack, unsigned int role,
				       uint64_t node, unsigned int flags)
{
	uint8_t preamble[32];

	raw_preamble(preamble, role, node, &attack->from);
	preamble[7] = (uint8_t)flags;
	return raw_connect(&attack->raw, &attack->at, preamble, sizeof(preamble), true);
}

static struct raw_conn *connected_as(struct raw_attack *attack, unsigned int role,
				     uint64_t node)
{
	return connected_with(attack, role, node, 0);
}

static struct raw_conn *greeted_as(struct raw_attack *attack, unsigned int role,
				   uint64_t node)
{
	struct raw_conn *conn = connected_as(attack, role, node);
	struct raw_bytes bytes, *answer;

	if (!conn)
		return NULL;
	raw_hello(&bytes, HELLO);
	raw_send(conn, &bytes);
	answer = raw_await(conn, HELLO_ACK, RAW_WAIT);
	free(answer);
	if (answer)
		return conn;
	raw_end(conn);
	return NULL;
}

static struct raw_conn *greeted(struct raw_attack *attack)
{
	return greeted_as(attack, RAW_CLIENT, NODE);
}

static void ask(struct raw_attack *attack, struct raw_conn *conn)
{
	struct raw_bytes bytes;

	raw_conn_req(&bytes, conn->id, &attack->from, &attack->to);
	raw_send(conn, &bytes);
}

static struct raw_conn *answered(struct raw_attack *attack)
{
	struct raw_conn *conn = greeted(attack);
	struct raw_bytes *answer;

	if (!conn)
		return NULL;
	ask(attack, conn);
	answer = raw_await(conn, CONN_REP, RAW_WAIT);
	free(answer);
	return conn;
}

static void say(struct raw_conn *conn, unsigned int type)
{
	struct raw_bytes bytes;

	raw_named(&bytes, type, conn->id);
	raw_send(conn, &bytes);
}

/* Open; NULL: it did not come about, which the honest ones will notice. */
static struct raw_conn *opened(struct raw_attack *attack)
{
	struct raw_conn *conn = answered(attack);

	if (conn)
		say(conn, CONN_ACK);
	return conn;
}

static void end(struct raw_conn *conn)
{
	if (conn)
		raw_end(conn);
}

/* That message, and what comes of it. */
static void tell(struct raw_conn *conn, const struct raw_bytes *bytes)
{
	if (!conn)
		return;
	raw_send(conn, bytes);
	raw_flush(conn);
	raw_await_end(conn, 30);
	raw_end(conn);
}

/* --- Before there is a peer --- */

static void tcp_garbage(struct raw_attack *attack)
{
	struct timeval wait = {.tv_usec = 1000};
	uint8_t bytes[600];
	int i, fd;
	size_t k;

	for (i = 0; i < 200; i++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		for (k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)raw_random();
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
		if (!connect(fd, (const struct sockaddr *)&attack->at,
			     sizeof(attack->at))) {
			send(fd, bytes, raw_below(sizeof(bytes)), MSG_NOSIGNAL);
			if (i % 2)
				recv(fd, bytes, sizeof(bytes), 0);
		}
		close(fd);
	}
}

/*
 * What libfabric's tcp sends first: 32 bytes, and so many more as the bytes at 2 say, of
 * which some come, and the socket stays open.
 */
static void half_sent(struct raw_attack *attack)
{
	static const struct {
		uint16_t says;
		size_t sends;
	} parts[] = {{32, 32}, {32, 33}, {32, 16}, {65535, 32}, {65535, 320}, {0, 32}};
	uint8_t bytes[512] = {3}; /* its version; a request */
	int fd[12];
	size_t i;

	for (i = 0; i < 12; i++) {
		bytes[2] = (uint8_t)(parts[i % 6].says >> 8);
		bytes[3] = (uint8_t)parts[i % 6].says;
		fd[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (!connect(fd[i], (const struct sockaddr *)&attack->at,
			     sizeof(attack->at)))
			send(fd[i], bytes, parts[i % 6].sends, MSG_NOSIGNAL);
	}
	if (attack->meanwhile)
		attack->meanwhile();
	for (i = 0; i < 12; i++)
		close(fd[i]);
}

static void preambles(struct raw_attack *attack)
{
	uint8_t bytes[256];
	unsigned int i;
	size_t k;

	for (i = 0; i < 100; i++) {
		for (k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)raw_random();
		if (i % 3)
			raw_preamble(bytes, i % 5, i % 7, &attack->from);
		if (i % 3 == 2)
			bytes[raw_below(32)] ^= (uint8_t)raw_random();
		end(raw_connect(&attack->raw, &attack->at, bytes,
				i % 3 ? 32 : raw_below(sizeof(bytes)), true));
	}
}

static void garbage(struct raw_attack *attack)
{
	struct raw_bytes bytes;
	unsigned int i;
	size_t k;

	for (i = 0; i < 40; i++) {
		bytes.len = 1 + raw_below(i % 2 ? 64 : 9000);
		for (k = 0; k < bytes.len; k++)
			bytes.at[k] = (uint8_t)raw_random();
		if (i % 4 > 1)
			bytes.at[0] = 0xc9;
		tell(i % 8 > 3 ? greeted(attack) : connected_as(attack, RAW_CLIENT, NODE),
		     &bytes);
	}
	/* Longer than a receive. */
	bytes.len = RAW_ROOM;
	tell(greeted(attack), &bytes);
}

/* --- HELLO --- */

static void hellos(struct raw_attack *attack)
{
	static const struct {
		unsigned int at, size;
	} fields[] = {{24, 8}, {32, 8}, {40, 4}, {44, 4}, {48, 2},
		      {50, 2}, {52, 2}, {54, 2}, {56, 4}, {60, 4}};
	static const uint64_t values[] = {0, 1, 255, 4096, 65536, UINT64_MAX};
	const unsigned int all = sizeof(fields) / sizeof(fields[0]);
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int i, k;

	for (i = 0; i < all * 6; i++) {
		conn = connected_as(attack, RAW_CLIENT, NODE);
		if (!conn)
			continue;
		raw_hello(&bytes, HELLO);
		for (k = 0; k < fields[i / 6].size; k++)
			bytes.at[fields[i / 6].at + k] =
				(uint8_t)(values[i % 6] >> (8 * k));
		raw_send(conn, &bytes);
		free(raw_await(conn, HELLO_ACK, 30));
		ask(attack, conn);
		free(raw_await(conn, CONN_REP, 30));
		say(conn, CONN_ACK);
		raw_part(&bytes, MSG, 1, 5000, 0, 5000);
		bytes.at[3] |= ACKREQ | DELIVER;
		tell(conn, &bytes);
	}
	raw_hello(&bytes, HELLO);
	tell(greeted(attack), &bytes);
	tell(opened(attack), &bytes);
	raw_hello(&bytes, HELLO_ACK);
	tell(connected_as(attack, RAW_CLIENT, NODE), &bytes);
}

static void plausible(struct raw_conn *conn, unsigned int type, struct raw_bytes *bytes)
{
	switch (type) {
	case MSG:
	case WRITE:
	case READ_FRAG:
		raw_part(bytes, type, 1, 8, 0, 8);
		return;
	case READ_REQ:
		raw_read(bytes, 1, 0, 100);
		return;
	case LSA:
		raw_lsa(bytes, 1, NODE, 2, 3);
		return;
	case HELLO:
	case HELLO_ACK:
		raw_hello(bytes, type);
		return;
	case CONN_REP:
		raw_conn_rep(bytes, conn->id, 1, 0);
		return;
	case CONN_ACK:
	case SHUTDOWN:
		raw_named(bytes, type, conn->id);
		return;
	default:
		raw_head(bytes, type, 0);
		put64(bytes->at + 24, 1);
		return;
	}
}

/* Who says beforehand what follows, and then something else comes: routers of a
 * connection, clients of an adjacency. */
static void flags(struct raw_attack *attack)
{
	static const unsigned int types[] = {CONN_REQ, DIGEST, LSA, HEARTBEAT, MSG};
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int i;

	for (i = 0; i < 3 * 8 * 5; i++) {
		conn = connected_with(attack, 1 + i % 3, i % 2 ? NODE : 1, i / 3 % 8);
		if (!conn)
			continue;
		raw_hello(&bytes, HELLO);
		raw_send(conn, &bytes);
		free(raw_await(conn, HELLO_ACK, 30));
		if (types[i / 24] == CONN_REQ)
			raw_conn_req(&bytes, conn->id, &attack->from, &attack->to);
		else
			plausible(conn, types[i / 24], &bytes);
		raw_send(conn, &bytes);
		free(raw_await(conn, CONN_REP, 10));
		say(conn, CONN_ACK);
		raw_part(&bytes, MSG, 1, 5000, 0, 5000);
		tell(conn, &bytes);
	}
}

/* Messages of every type where they do not belong. */
static void out_of_place(struct raw_attack *attack)
{
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int type, step;

	for (step = 0; step < 5; step++) {
		for (type = 0; type < 0x42; type++) {
			if (step == 0)
				conn = connected_as(attack, RAW_CLIENT, NODE);
			else if (step == 1)
				conn = greeted(attack);
			else if (step == 2)
				conn = greeted_as(attack, RAW_ROUTER, NODE);
			else if (step == 3)
				conn = answered(attack);
			else
				conn = opened(attack);
			if (!conn)
				continue;
			plausible(conn, type, &bytes);
			raw_send(conn, &bytes);
			raw_flush(conn);
			raw_await_end(conn, 2);
			raw_end(conn);
		}
	}
}

/* --- CONN_REQ --- */

static void requests(struct raw_attack *attack)
{
	static const uint8_t at[] = {40, 44, 48, 52, 56, 60, 64, 68,
				     72, 76, 80, 84, 88, 96, 104};
	static const uint64_t values[] = {0, 1, 4096, UINT32_MAX};
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int i;

	for (i = 0; i < sizeof(at) * 4; i++) {
		conn = i % 8 > 5 ? greeted_as(attack, RAW_ROUTER, NODE) : greeted(attack);
		if (!conn)
			continue;
		raw_conn_req(&bytes, conn->id, &attack->from, &attack->to);
		if (at[i / 4] == 72)
			bytes.at[72] = (uint8_t)values[i % 4];
		else if (at[i / 4] == 52 || at[i / 4] == 68)
			put16(bytes.at + at[i / 4], (uint16_t)values[i % 4]);
		else
			put32(bytes.at + at[i / 4], (uint32_t)values[i % 4]);
		tell(conn, &bytes);
	}
	for (i = 0; i < 4; i++) {
		conn = i < 3 ? greeted(attack) : opened(attack);
		if (!conn)
			continue;
		ask(attack, conn);
		raw_conn_req(&bytes, conn->id, &attack->from, &attack->to);
		tell(conn, &bytes);
	}
	for (i = 1023; i < 1026; i++) {
		conn = greeted(attack);
		if (!conn)
			continue;
		raw_conn_req(&bytes, conn->id, &attack->from, &attack->to);
		raw_payload(&bytes, NULL, i);
		tell(conn, &bytes);
	}
}

/* Paths with loops, and texts. */
static void paths(struct raw_attack *attack)
{
	uint8_t hops[17 * 16] = {0};
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int i, k;
	char text[300];

	for (i = 0; i < 36; i++) {
		conn = greeted_as(attack, i % 2 ? RAW_ROUTER : RAW_CLIENT, NODE);
		if (!conn)
			continue;
		for (k = 0; k < 17; k++) {
			put64(hops + k * 16, i % 3 ? 1 : raw_below(4));
			put32(hops + k * 16 + 8, 1);
			put32(hops + k * 16 + 12, i % 3 ? 2 : raw_below(4));
		}
		raw_conn_req(&bytes, conn->id, &attack->from, &attack->to);
		raw_tlv(&bytes, 0x8002, hops, (size_t)16 * (i / 2));
		tell(conn, &bytes);
	}
	for (i = 0; i < 12; i++) {
		conn = greeted(attack);
		if (!conn)
			continue;
		memset(text, i < 4 ? 'x' : '%', sizeof(text));
		text[i % 4 ? i * 24 : 0] = 0;
		raw_conn_req(&bytes, conn->id, &attack->from, &attack->to);
		raw_tlv(&bytes, 0x8006 + i % 2, text, i % 4 ? i * 24 + 1 : 280);
		tell(conn, &bytes);
	}
}

/* --- Credits and slots --- */

static void credits(struct raw_attack *attack)
{
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		conn = i < 2 ? greeted(attack) : opened(attack);
		if (!conn)
			continue;
		raw_head(&bytes, KEEPALIVE, 0);
		bytes.at[6 + i % 2] = 255;
		tell(conn, &bytes);
	}
	/* More than there are receives, without waiting. */
	conn = opened(attack);
	for (i = 1; conn && i < 2000; i++) {
		raw_part(&bytes, MSG, i, 8, 0, 8);
		bytes.at[3] |= ACKREQ;
		if (!raw_send(conn, &bytes))
			break;
	}
	end(conn);
	conn = opened(attack);
	raw_head(&bytes, KEEPALIVE, ACKREQ);
	for (i = 0; conn && i < 2000 && raw_send(conn, &bytes); i++)
		;
	end(conn);
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
	struct raw_conn *conn = opened(attack);

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

static void slots(struct raw_attack *attack)
{
	static const uint32_t never[] = {0, 1, 7, 8, 15, 16, 4095, 4096, UINT32_MAX - 1};
	struct raw_bytes bytes;
	struct raw_conn *conn;
	uint32_t len;
	unsigned int i;

	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		slot_part(&bytes, never[i], 1000, 1000000);
		tell(opened(attack), &bytes);
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
		tell(conn, &bytes);
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
		end(conn);
	}
}

/* What the other end would grant. */
static void grants(struct raw_attack *attack)
{
	struct raw_bytes bytes;
	struct raw_conn *conn;
	uint8_t list[24 * 65];
	unsigned int i, k;

	for (i = 0; i < 16; i++) {
		conn = opened(attack);
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

static void fragments(struct raw_attack *attack)
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
		conn = opened(attack);
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
		end(conn);
	}
}

static void writes(struct raw_attack *attack)
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
		tell(opened(attack), &bytes);
		raw_read(&bytes, 1, addrs[i % 6], i % 2 ? 8 : UINT64_MAX - 8);
		if (i >= 6)
			put64(bytes.at + 40, raw_random());
		tell(opened(attack), &bytes);
	}
}

static void reads(struct raw_attack *attack)
{
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int i, k;

	for (k = 0; k < 4; k++) {
		conn = opened(attack);
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
		end(conn);
	}
}

static void answers(struct raw_attack *attack)
{
	static const uint64_t seqs[] = {0, 1, 2, 1000, UINT64_MAX};
	struct raw_bytes bytes;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		raw_head(&bytes, ACK, 0);
		put64(bytes.at + 24, seqs[i]);
		tell(opened(attack), &bytes);
		raw_head(&bytes, NACK, ERR);
		put64(bytes.at + 24, seqs[i]);
		put32(bytes.at + 40, i ? 5 : 4096);
		tell(opened(attack), &bytes);
		raw_part(&bytes, READ_FRAG, seqs[i], 100, 0, 100);
		tell(opened(attack), &bytes);
		raw_head(&bytes, MSG, FIRST | LAST);
		put64(bytes.at + 16, 1);
		put32(bytes.at + 24, UINT32_MAX);
		raw_tlv(&bytes, 0x8001, &seqs[i], 8);
		tell(opened(attack), &bytes);
	}
}

/* --- Link states --- */

static void link_states(struct raw_attack *attack)
{
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int i, role;

	for (role = RAW_CLIENT; role <= RAW_ROUTER; role++) {
		/* In its own name, that of the other and those of many others. */
		conn = greeted_as(attack, role, NODE);
		for (i = 0; conn && i < 600 && !conn->over; i++) {
			raw_lsa(&bytes, 1, i < 4 ? i : 1000 + i,
				i % 5 ? 5 : UINT64_MAX - 1, i % 7 ? i : UINT64_MAX - 1);
			raw_send(conn, &bytes);
		}
		end(conn);
		for (i = 0; i < 60; i++) {
			conn = greeted_as(attack, role, i % 6 ? NODE + i : 1);
			raw_lsa(&bytes, i % 3 ? 1 : 2, NODE, i, i);
			if (i % 4 == 1)
				raw_head(&bytes, i % 8 == 1 ? DIGEST : LSREQ, 0);
			if (i % 4 == 2)
				raw_head(&bytes, i % 8 == 2 ? HEARTBEAT : AS_REACH, 0);
			else
				raw_mutate(&bytes);
			tell(conn, &bytes);
		}
	}
}

/* --- Ends --- */

static void ends(struct raw_attack *attack)
{
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int step, how;

	for (step = 0; step < 6; step++) {
		for (how = 0; how < 5; how++) {
			conn = step == 0   ? connected_as(attack, RAW_CLIENT, NODE)
			       : step == 1 ? greeted(attack)
			       : step == 2 ? greeted(attack)
			       : step == 3 ? answered(attack)
					   : opened(attack);
			if (!conn)
				continue;
			if (step == 2)
				ask(attack, conn);
			if (step == 5) {
				raw_part(&bytes, MSG, 1, 1000000, 0, 8000);
				raw_send(conn, &bytes);
			}
			if (how == 1 || how == 3)
				say(conn, SHUTDOWN);
			if (how == 2 || how == 3) {
				raw_head(&bytes, BYE, 0);
				raw_send(conn, &bytes);
			}
			if (how == 4) {
				say(conn, SHUTDOWN);
				say(conn, SHUTDOWN);
				say(conn, CONN_ACK);
				raw_flush(conn);
				raw_await_end(conn, 50);
			}
			raw_end(conn);
		}
	}
}

static void half_open(struct raw_attack *attack)
{
	static struct raw_conn *conn[HALF_OPEN];
	struct sockaddr_in at = attack->at;
	int fd[100], i;

	for (i = 0; i < 100; i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fd[i], (struct sockaddr *)&at, sizeof(at));
	}
	/* Until there is no room for more. */
	for (i = 0; i < HALF_OPEN; i++) {
		conn[i] = connected_with(attack, i % 3 ? RAW_CLIENT : RAW_ROUTER, NODE,
					 i % 2 ? CONN : 0);
		if (!conn[i])
			break;
	}
	if (attack->meanwhile)
		attack->meanwhile();
	for (i = 0; i < HALF_OPEN; i++)
		end(conn[i]);
	for (i = 0; i < 100; i++)
		close(fd[i]);
}

/* --- A good conversation, parts of which are different --- */

static size_t good(struct raw_attack *attack, const uint8_t id[16],
		   struct raw_bytes steps[12])
{
	size_t n = 0, i;

	raw_hello(&steps[n++], HELLO);
	raw_conn_req(&steps[n++], id, &attack->from, &attack->to);
	raw_named(&steps[n++], CONN_ACK, id);
	raw_part(&steps[n], MSG, 1, 100, 0, 100);
	steps[n++].at[3] |= ACKREQ;
	for (i = 0; i < 2; i++)
		raw_part(&steps[n++], MSG, 2, 12000, i * 6000, 6000);
	raw_part(&steps[n], WRITE, 3, 4000, 0, 4000);
	steps[n++].at[3] |= ACKREQ;
	raw_read(&steps[n++], 4, 0, 20000);
	raw_head(&steps[n], KEEPALIVE, ACKREQ);
	steps[n++].at[7] = 2;
	raw_named(&steps[n++], SHUTDOWN, id);
	raw_head(&steps[n++], BYE, 0);
	return n;
}

static void mutated(struct raw_attack *attack)
{
	static struct raw_bytes steps[12];
	struct raw_conn *conn;
	unsigned int round, rate;
	size_t n, i;

	for (round = 0; round < attack->rounds; round++) {
		conn = connected_as(attack, raw_below(8) ? RAW_CLIENT : RAW_ROUTER, NODE);
		if (!conn)
			continue;
		n = good(attack, conn->id, steps);
		rate = 3 + raw_below(12);
		for (i = 0; i < n && !conn->over; i++) {
			if (!raw_below(rate))
				raw_mutate(&steps[i]);
			if (!raw_below(30))
				continue;
			raw_send(conn, &steps[i]);
			if (i == 1)
				free(raw_await(conn, CONN_REP, 20));
			if (!raw_below(30))
				raw_send(conn, &steps[raw_below((uint32_t)n)]);
		}
		raw_await_end(conn, (int)raw_below(5));
		raw_end(conn);
	}
}

const struct raw_case raw_cases[] = {
	{"tcp_garbage", tcp_garbage},
	{"half_sent", half_sent},
	{"preambles", preambles},
	{"garbage", garbage},
	{"hellos", hellos},
	{"flags", flags},
	{"out_of_place", out_of_place},
	{"requests", requests},
	{"paths", paths},
	{"credits", credits},
	{"receives", raw_receives},
	{"slots", slots},
	{"grants", grants},
	{"fragments", fragments},
	{"writes", writes},
	{"reads", reads},
	{"answers", answers},
	{"link_states", link_states},
	{"ends", ends},
	{"half_open", half_open},
	{"mutated", mutated},
};
const size_t raw_cases_count = sizeof(raw_cases) / sizeof(raw_cases[0]);

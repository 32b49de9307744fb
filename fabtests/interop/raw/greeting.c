/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done to who listens until a connection is open. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "steps.h"

/* --- Before there is a peer --- */

void raw_tcp_garbage(struct raw_attack *attack)
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
void raw_half_sent(struct raw_attack *attack)
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

void raw_preambles(struct raw_attack *attack)
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
		step_end(raw_connect(&attack->raw, &attack->at, bytes,
				     i % 3 ? 32 : raw_below(sizeof(bytes)), true));
	}
}

void raw_garbage(struct raw_attack *attack)
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
		step_tell(i % 8 > 3 ? step_greeted(attack)
				    : step_connected_as(attack, RAW_CLIENT, NODE),
			  &bytes);
	}
	/* Longer than a receive. */
	bytes.len = RAW_ROOM;
	step_tell(step_greeted(attack), &bytes);
}

/* --- HELLO --- */

void raw_hellos(struct raw_attack *attack)
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
		conn = step_connected_as(attack, RAW_CLIENT, NODE);
		if (!conn)
			continue;
		raw_hello(&bytes, HELLO);
		for (k = 0; k < fields[i / 6].size; k++)
			bytes.at[fields[i / 6].at + k] =
				(uint8_t)(values[i % 6] >> (8 * k));
		raw_send(conn, &bytes);
		free(raw_await(conn, HELLO_ACK, 30));
		step_ask(attack, conn);
		free(raw_await(conn, CONN_REP, 30));
		step_say(conn, CONN_ACK);
		raw_part(&bytes, MSG, 1, 5000, 0, 5000);
		bytes.at[3] |= ACKREQ | DELIVER;
		step_tell(conn, &bytes);
	}
	raw_hello(&bytes, HELLO);
	step_tell(step_greeted(attack), &bytes);
	step_tell(step_opened(attack), &bytes);
	raw_hello(&bytes, HELLO_ACK);
	step_tell(step_connected_as(attack, RAW_CLIENT, NODE), &bytes);
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
void raw_flags(struct raw_attack *attack)
{
	static const unsigned int types[] = {CONN_REQ, DIGEST, LSA, HEARTBEAT, MSG};
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int i;

	for (i = 0; i < 3 * 8 * 5; i++) {
		conn = step_connected_with(attack, 1 + i % 3, i % 2 ? NODE : 1,
					   i / 3 % 8);
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
		step_say(conn, CONN_ACK);
		raw_part(&bytes, MSG, 1, 5000, 0, 5000);
		step_tell(conn, &bytes);
	}
}

/* Messages of every type where they do not belong. */
void raw_out_of_place(struct raw_attack *attack)
{
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int type, step;

	for (step = 0; step < 5; step++) {
		for (type = 0; type < 0x42; type++) {
			if (step == 0)
				conn = step_connected_as(attack, RAW_CLIENT, NODE);
			else if (step == 1)
				conn = step_greeted(attack);
			else if (step == 2)
				conn = step_greeted_as(attack, RAW_ROUTER, NODE);
			else if (step == 3)
				conn = step_answered(attack);
			else
				conn = step_opened(attack);
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

void raw_requests(struct raw_attack *attack)
{
	static const uint8_t at[] = {40, 44, 48, 52, 56, 60, 64, 68,
				     72, 76, 80, 84, 88, 96, 104};
	static const uint64_t values[] = {0, 1, 4096, UINT32_MAX};
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int i;

	for (i = 0; i < sizeof(at) * 4; i++) {
		conn = i % 8 > 5 ? step_greeted_as(attack, RAW_ROUTER, NODE)
				 : step_greeted(attack);
		if (!conn)
			continue;
		raw_conn_req(&bytes, conn->id, &attack->from, &attack->to);
		if (at[i / 4] == 72)
			bytes.at[72] = (uint8_t)values[i % 4];
		else if (at[i / 4] == 52 || at[i / 4] == 68)
			put16(bytes.at + at[i / 4], (uint16_t)values[i % 4]);
		else
			put32(bytes.at + at[i / 4], (uint32_t)values[i % 4]);
		step_tell(conn, &bytes);
	}
	for (i = 0; i < 4; i++) {
		conn = i < 3 ? step_greeted(attack) : step_opened(attack);
		if (!conn)
			continue;
		step_ask(attack, conn);
		raw_conn_req(&bytes, conn->id, &attack->from, &attack->to);
		step_tell(conn, &bytes);
	}
	for (i = 1023; i < 1026; i++) {
		conn = step_greeted(attack);
		if (!conn)
			continue;
		raw_conn_req(&bytes, conn->id, &attack->from, &attack->to);
		raw_payload(&bytes, NULL, i);
		step_tell(conn, &bytes);
	}
}

/* Paths with loops, and texts. */
void raw_paths(struct raw_attack *attack)
{
	uint8_t hops[17 * 16] = {0};
	struct raw_bytes bytes;
	struct raw_conn *conn;
	unsigned int i, k;
	char text[300];

	for (i = 0; i < 36; i++) {
		conn = step_greeted_as(attack, i % 2 ? RAW_ROUTER : RAW_CLIENT, NODE);
		if (!conn)
			continue;
		for (k = 0; k < 17; k++) {
			put64(hops + k * 16, i % 3 ? 1 : raw_below(4));
			put32(hops + k * 16 + 8, 1);
			put32(hops + k * 16 + 12, i % 3 ? 2 : raw_below(4));
		}
		raw_conn_req(&bytes, conn->id, &attack->from, &attack->to);
		raw_tlv(&bytes, 0x8002, hops, (size_t)16 * (i / 2));
		step_tell(conn, &bytes);
	}
	for (i = 0; i < 12; i++) {
		conn = step_greeted(attack);
		if (!conn)
			continue;
		memset(text, i < 4 ? 'x' : '%', sizeof(text));
		text[i % 4 ? i * 24 : 0] = 0;
		raw_conn_req(&bytes, conn->id, &attack->from, &attack->to);
		raw_tlv(&bytes, 0x8006 + i % 2, text, i % 4 ? i * 24 + 1 : 280);
		step_tell(conn, &bytes);
	}
}

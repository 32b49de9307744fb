/* SPDX-License-Identifier: BSD-2-Clause */
/* A router that is none: it answers, and what it says is as its seed has it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "raw.h"

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

static void send_often_wrong(struct raw_conn *conn, struct raw_bytes *bytes,
			     unsigned int rate)
{
	if (!raw_below(rate))
		raw_mutate(bytes);
	raw_send(conn, bytes);
}

static void redirect(struct raw_bytes *rep, const uint8_t *id)
{
	static const char *const uris[] = {"tcp://10.0.1.101:7000", "tcp://10.0.1.77:1",
					   "sock://10.0.1.101:7000", "x", "sock://"};
	const char *uri = uris[raw_below(5)];

	raw_conn_rep(rep, id, 4, 113);
	raw_tlv(rep, 0x8003, uri, strlen(uri) + 1);
}

static void answer(struct raw_conn *conn, const struct raw_bytes *req,
		   struct raw_bytes *rep)
{
	const uint8_t *id = req->at + 24;
	const uint32_t how = raw_below(8);

	if (!how)
		redirect(rep, id);
	else if (how == 1)
		raw_conn_rep(rep, id, 2 + raw_below(2), 1 + raw_below(4095));
	else
		raw_conn_rep(rep, id, 1, 0);
	if (how == 2)
		put32(rep->at + 80, 1 + raw_below(3));
	if (how == 3)
		raw_payload(rep, NULL, raw_below(1025));
	memcpy(conn->id, id, 16);
}

static void grant(struct raw_bytes *bytes)
{
	uint8_t list[24 * 8];
	unsigned int i;

	for (i = 0; i < 8; i++) {
		put64(list + (size_t)i * 24, raw_random());
		put64(list + (size_t)i * 24 + 8, raw_random());
		put32(list + (size_t)i * 24 + 16, i);
		put32(list + (size_t)i * 24 + 20, 1 + raw_below(300000));
	}
	raw_head(bytes, GRANT, 0);
	bytes->at[28] = (uint8_t)raw_below(2);
	put32(bytes->at + 24, 8);
	raw_payload(bytes, list, sizeof(list));
}

/* Something a router could say of an open connection, were it its turn. */
static void anything(struct raw_conn *conn, struct raw_bytes *bytes)
{
	const uint64_t seq = raw_below(8) ? raw_below(4) : raw_random();

	switch (raw_below(11)) {
	case 0:
		raw_part(bytes, MSG, seq, 100, 0, 100);
		break;
	case 1:
		raw_part(bytes, READ_FRAG, seq, 100000, 0, 8000);
		break;
	case 2:
		raw_head(bytes, ACK, 0);
		put64(bytes->at + 24, seq);
		break;
	case 3:
		raw_head(bytes, NACK, ERR);
		put64(bytes->at + 24, seq);
		put64(bytes->at + 32, raw_random());
		put32(bytes->at + 40, 1 + raw_below(200));
		break;
	case 4:
		grant(bytes);
		break;
	case 5:
		raw_read(bytes, seq, raw_random() % 100000, 1 + raw_below(100000));
		put64(bytes->at + 40, raw_below(3));
		break;
	case 6:
		raw_part(bytes, WRITE, seq, 100, 0, 100);
		put64(bytes->at + 64, raw_below(3));
		break;
	case 7:
		raw_head(bytes, KEEPALIVE, ACKREQ);
		bytes->at[6] = (uint8_t)raw_below(4);
		bytes->at[7] = (uint8_t)raw_below(4);
		break;
	case 8:
		raw_named(bytes, SHUTDOWN, conn->id);
		break;
	case 9:
		raw_head(bytes, BYE, 0);
		break;
	default:
		raw_part(bytes, MSG, 1, 1000000, 0, 8000);
		put32(bytes->at + 24, raw_below(20));
		bytes->len = 56;
		break;
	}
}

static void talk(struct raw_conn *conn)
{
	const unsigned int rate = 4 + raw_below(30);
	struct raw_bytes bytes, *came;
	unsigned int i;

	free(raw_await(conn, HELLO, 1000));
	raw_hello(&bytes, HELLO_ACK);
	if (!raw_below(4))
		put32(bytes.at + 44, raw_below(3));
	send_often_wrong(conn, &bytes, rate);
	came = raw_await(conn, CONN_REQ, 300);
	if (!came)
		return;
	answer(conn, came, &bytes);
	free(came);
	send_often_wrong(conn, &bytes, rate);
	for (i = 0; i < 30 && !conn->over; i++) {
		if (raw_below(3))
			free(raw_await(conn, 0, (int)raw_below(10)));
		anything(conn, &bytes);
		send_often_wrong(conn, &bytes, rate);
	}
	raw_flush(conn);
}

int raw_evil(const struct sockaddr_in *at, const struct raw_place *on)
{
	struct raw_conn *conn;
	uint8_t preamble[32];
	unsigned int count = 0;
	struct raw raw;
	int ret = raw_open(&raw, at);

	if (ret) {
		fprintf(stderr, "cannot listen: %s\n", fi_strerror(-ret));
		return 1;
	}
	signal(SIGTERM, on_term);
	puts("serves");
	fflush(stdout);
	while (!stop) {
		raw_progress(&raw);
		if (!raw.asks)
			continue;
		raw_preamble(preamble, raw_below(10) ? RAW_ROUTER : raw_below(5), 1, on);
		if (!raw_below(20))
			preamble[raw_below(32)] ^= (uint8_t)raw_random();
		conn = raw_accept(&raw, preamble, sizeof(preamble));
		if (!conn)
			continue;
		count++;
		talk(conn);
		raw_end(conn);
	}
	printf("%u conversations\n", count);
	raw_close(&raw);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target that lends its region to the last router, and does with it what its seed has
 * it do: it tells what was not asked, or something else, recalls at any moment or twice,
 * acknowledges what nobody has sent, or stops saying anything.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "raw.h"

#define LASTHOP (1u << 6) /* of a CONN_REP's features */
#define EPOCH 3u
#define RECEIVES 12u /* of raw_hello */

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

struct lender {
	struct raw_conn *conn;
	struct fid_mr *mr;
	uint64_t lower; /* key of the lower provider */
	uint64_t base;
	unsigned int credits; /* to be returned */
	bool dumb;	      /* it says nothing any more */
	bool lent;
	bool over; /* the other end has said so */
};

static void say(struct lender *lender, struct raw_bytes *bytes)
{
	if (lender->dumb)
		return;
	bytes->at[6] = (uint8_t)lender->credits;
	lender->credits = 0;
	raw_send(lender->conn, bytes);
}

static void say_info(struct lender *lender, uint64_t key, uint64_t lower, uint64_t base,
		     uint64_t length)
{
	struct raw_bytes bytes;
	const unsigned int status = raw_below(10) ? 0 : 1 + raw_below(200);

	raw_head(&bytes, MR_INFO, status ? ERR : 0);
	put64(bytes.at + 32, key);
	put64(bytes.at + 40, lower);
	put64(bytes.at + 48, base);
	put64(bytes.at + 56, length);
	put64(bytes.at + 64, EPOCH);
	put32(bytes.at + 72, 3);
	put32(bytes.at + 80, status);
	say(lender, &bytes);
	lender->lent = !status;
}

static void say_inval(struct lender *lender, uint64_t epoch)
{
	struct raw_bytes bytes;

	raw_head(&bytes, MR_INVAL, ACKREQ);
	put64(bytes.at + 24, RAW_KEY);
	put64(bytes.at + 32, epoch);
	say(lender, &bytes);
}

static void say_ack(struct lender *lender, uint64_t request)
{
	struct raw_bytes bytes;

	raw_head(&bytes, ACK, 0);
	put64(bytes.at + 24, request);
	say(lender, &bytes);
}

/* Most of what is lent is there; some is not, or is longer than it. */
static void lend(struct lender *lender, uint64_t key)
{
	switch (raw_below(8)) {
	case 0:
		say_info(lender, key, raw_random(), lender->base, RAW_REGION);
		break;
	case 1:
		say_info(lender, key, lender->lower, 0, UINT64_MAX);
		break;
	case 2:
		say_info(lender, key, lender->lower, UINT64_MAX - 16, 16);
		break;
	case 3:
		say_info(lender, key, lender->lower, lender->base, raw_below(200000));
		break;
	default:
		say_info(lender, key, lender->lower, lender->base, RAW_REGION);
		break;
	}
}

/* What nobody has asked for. */
static void anything(struct lender *lender)
{
	struct raw_bytes bytes;

	switch (raw_below(9)) {
	case 0:
		say_info(lender, RAW_KEY, lender->lower, lender->base, RAW_REGION);
		break;
	case 1:
		say_info(lender, raw_random(), raw_random(), raw_random() >> 1, 100);
		break;
	case 2:
		say_inval(lender, raw_random());
		break;
	case 3:
		say_inval(lender, EPOCH);
		say_inval(lender, EPOCH);
		break;
	case 4:
		say_ack(lender, raw_below(2) ? UINT64_MAX : raw_below(100));
		break;
	case 5:
		raw_head(&bytes, NACK, ERR);
		put64(bytes.at + 24, raw_below(40));
		put32(bytes.at + 40, 1 + raw_below(200));
		say(lender, &bytes);
		break;
	case 6:
		raw_head(&bytes, MR_RESOLVE, 0);
		put64(bytes.at + 24, raw_random());
		say(lender, &bytes);
		break;
	case 7:
		raw_head(&bytes, MR_INFO, 0);
		put64(bytes.at + 32, RAW_KEY);
		raw_mutate(&bytes);
		say(lender, &bytes);
		break;
	default:
		lender->dumb = true;
		break;
	}
}

/* wrong: one in so many messages is followed by what does not belong there. */
static void hear(struct lender *lender, const struct raw_bytes *came, unsigned int wrong)
{
	struct raw_bytes bytes;

	if (came->at[2] == MSG || came->at[2] == WRITE || came->at[2] == READ_REQ)
		lender->credits++;
	lender->over |= came->at[2] == BYE || came->at[2] == SHUTDOWN;
	if (came->at[2] == MR_RESOLVE)
		lend(lender, get64(came->at + 24));
	else if (came->at[2] == WRITE && (came->at[3] & ACKREQ))
		say_ack(lender, get64(came->at + 16));
	if (!raw_below(wrong))
		anything(lender);
	if (lender->credits > RECEIVES / 3) {
		raw_head(&bytes, KEEPALIVE, 0);
		say(lender, &bytes);
	}
}

static void serve(struct lender *lender)
{
	const unsigned int wrong = 4 + raw_below(40);
	const uint64_t recall = raw_now() + raw_below(60);
	const uint64_t end = raw_now() + 2000;
	struct raw_bytes *came;
	bool recalled = false;

	while (!lender->conn->over && !lender->over && raw_now() < end && !stop) {
		came = raw_await(lender->conn, 0, 1);
		if (came)
			hear(lender, came, wrong);
		free(came);
		if (recalled || !lender->lent || raw_now() < recall)
			continue;
		recalled = true;
		say_inval(lender, EPOCH);
	}
}

static void talk(struct lender *lender)
{
	struct raw_conn *conn = lender->conn;
	struct raw_bytes bytes, *came;

	free(raw_await(conn, HELLO, 1000));
	raw_hello(&bytes, HELLO_ACK);
	raw_send(conn, &bytes);
	came = raw_await(conn, CONN_REQ, 300);
	if (!came)
		return;
	memcpy(conn->id, came->at + 24, 16);
	free(came);
	raw_conn_rep(&bytes, conn->id, 1, 0);
	put64(bytes.at + 56, 9 | LASTHOP);
	raw_send(conn, &bytes);
	free(raw_await(conn, CONN_ACK, 1000));
	serve(lender);
	raw_flush(conn);
}

static int region(struct raw *raw, uint8_t *memory, struct lender *lender)
{
	const int ret = fi_mr_reg(raw->domain, memory, RAW_REGION, FI_REMOTE_WRITE, 0, 77,
				  0, &lender->mr, NULL);

	if (ret)
		return ret;
	lender->lower = fi_mr_key(lender->mr);
	if (raw->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		lender->base = (uintptr_t)memory;
	return 0;
}

static void conversations(struct raw *raw, const struct lender *model,
			  const struct raw_place *on)
{
	struct lender lender;
	uint8_t preamble[32];

	while (!stop) {
		raw_progress(raw);
		if (!raw->asks)
			continue;
		raw_preamble(preamble, RAW_TARGET, 1, on);
		lender = *model;
		lender.conn = raw_accept(raw, preamble, sizeof(preamble));
		if (!lender.conn)
			continue;
		talk(&lender);
		raw_end(lender.conn);
	}
}

int raw_lend(const struct sockaddr_in *at, const struct raw_place *on)
{
	static uint8_t memory[RAW_REGION];
	struct lender lender = {0};
	struct raw raw;
	int ret = raw_open(&raw, at);

	if (!ret)
		ret = region(&raw, memory, &lender);
	if (ret) {
		fprintf(stderr, "cannot lend: %s\n", fi_strerror(-ret));
		return 1;
	}
	signal(SIGTERM, on_term);
	puts("serves");
	fflush(stdout);
	conversations(&raw, &lender, on);
	fi_close(&lender.mr->fid);
	raw_close(&raw);
	return 0;
}

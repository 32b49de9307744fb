/* SPDX-License-Identifier: BSD-2-Clause */
/* A message in chunks is reported when all of its RDMA Reads are over, whatever their
 * order. */
#include <string.h>
#include "ends.h"

#define PARTS 3u
#define PART 2000u

static void start(struct ends *e)
{
	ends_begin();
	CT_ASSERT_EQ(ends_up(e, RPR_MODE_WRAP), 0);
	ends_message(&e->client, &e->server);
}

CT_FIXTURE(rpcrdma_read, struct ends, start, ends_close);

/* A long message for a receive of several parts: an RDMA Read for each. */
static void send_for_parts(struct ends *e)
{
	struct iovec iov[PARTS];

	memset(e->server.got[0], 0, ENDS_LONG);
	for (unsigned int i = 0; i < PARTS; i++) {
		iov[i].iov_base = e->server.got[0] + i * PART;
		iov[i].iov_len = PART;
		memset(e->client.sent + i * PART, 'a' + (int)i, PART);
	}
	CT_EXPECT_EQ(fi_recvv(e->server.ep, iov, NULL, PARTS, 0, e->server.got[0]), 0);
	ends_send(&e->client, PARTS * PART);
	ends_hold(&e->server);
	CT_EXPECT_EQ(scr_count(SCR_READ), PARTS);
	CT_EXPECT_EQ(scr_held(), PARTS);
}

static void expect_message(struct ends *e)
{
	pair_done(e->server.cq, e->server.got[0], FI_RECV | FI_MSG);
	CT_EXPECT_EQ(memcmp(e->server.got[0], e->client.sent, PARTS * PART), 0);
	pair_nothing(e->server.cq);
	pair_done(e->client.cq, &e->client, FI_SEND | FI_MSG);
}

/* The newest goes first, or the oldest. */
CT_TEST_F(rpcrdma_read, a_message_is_reported_behind_the_last_of_its_reads)
{
	for (int newest = 0; newest < 2; newest++) {
		CT_NOTE("the %s Read arrives first", newest ? "newest" : "oldest");
		start(t);
		send_for_parts(t);
		for (unsigned int left = PARTS; left; left--) {
			pair_nothing(t->server.cq);
			pair_nothing(t->client.cq);
			CT_EXPECT_TRUE(scr_let_go(newest ? left - 1 : 0));
		}
		expect_message(t);
	}
}

/* One of the Reads fails; the receive ends when the others are over. */
CT_TEST_F(rpcrdma_read, a_message_fails_behind_the_last_of_its_reads)
{
	send_for_parts(t);
	CT_EXPECT_TRUE(scr_fail_held(1, FI_EIO, 0, NULL, 0));
	pair_nothing(t->server.cq);
	CT_EXPECT_TRUE(scr_let_go(0));
	pair_nothing(t->server.cq);
	CT_EXPECT_TRUE(scr_let_go(0));
	pair_failed(t->server.cq, t->server.got[0], FI_ECANCELED);
	pair_nothing(t->server.cq);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/wait.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "over.h"

#define KEY 5

static struct over over;
static uint8_t from[OVER_MAX], into[OVER_MAX];
static struct over_end *const a = &over.end[PAIR_A], *const b = &over.end[PAIR_B];

static void pattern(uint8_t *bytes, size_t len, unsigned int seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		bytes[i] = (uint8_t)(i * 3 + (i >> 8) * 5 + (i >> 16) * 7 + seed);
}

static const size_t sizes[] = {0,     1,     RTE_EAGER - 1, RTE_EAGER, RTE_EAGER + 1,
			       65536, 65537, 300000,	    OVER_MAX};
static const uint32_t lands[] = {0, 2, 32};

CT_TEST(data, messages_of_all_sizes)
{
	unsigned int l, i;

	for (l = 0; l < CRN_COUNT(lands); l++) {
		over_open(&over, lands[l]);
		pattern(from, sizeof(from), l);
		for (i = 0; i < CRN_COUNT(sizes); i++) {
			CT_NOTE("%zu bytes, %u landing slots", sizes[i], lands[l]);
			memset(into, 0, sizeof(into));
			CT_EXPECT_EQ(over_recv(b, into, sizeof(into)), 0);
			CT_EXPECT_EQ(over_send(a, from, sizes[i],
					       i % 2 ? FI_DELIVERY_COMPLETE : 0),
				     0);
			OVER_UNTIL(&over, a->sent == i + 1 && b->received == i + 1);
			CT_EXPECT_MEMEQ(into, from, sizes[i]);
		}
		over_close(&over);
	}
}

CT_TEST(data, writes_and_reads_of_all_sizes)
{
	struct crn_mr mr = {.buf = into, .len = sizeof(into)};
	unsigned int l, i;

	mr.access = FI_REMOTE_READ | FI_REMOTE_WRITE;
	for (l = 0; l < CRN_COUNT(lands); l++) {
		over_open(&over, lands[l]);
		CT_EXPECT_EQ(crn_mr_add(&b->map, &mr, KEY), 0);
		for (i = 0; i < CRN_COUNT(sizes); i++) {
			CT_NOTE("%zu bytes, %u landing slots", sizes[i], lands[l]);
			pattern(from, sizeof(from), l + i);
			memset(into, 0, sizeof(into));
			CT_EXPECT_EQ(over_rma(a, false, from, sizes[i], 0, KEY), 0);
			OVER_UNTIL(&over, a->sent == 2 * i + 1);
			CT_EXPECT_MEMEQ(into, from, sizes[i]);
			memset(from, 0, sizeof(from));
			CT_EXPECT_EQ(over_rma(a, true, from, sizes[i], 0, KEY), 0);
			OVER_UNTIL(&over, a->sent == 2 * i + 2);
			CT_EXPECT_MEMEQ(into, from, sizes[i]);
		}
		CT_EXPECT_EQ(a->failed, 0);
		crn_mr_remove(&b->map, &mr);
		over_close(&over);
	}
}

/* More than all queues and credits hold. */
CT_TEST(data, a_stream_in_both_directions)
{
	enum { COUNT = 3000 };
	const uint64_t deadline = crn_now_ms() + 60000;
	unsigned int posted[PAIR_ENDS] = {0}, expected[PAIR_ENDS] = {0};
	int i;

	over_open(&over, 8);
	pattern(from, sizeof(from), 1);
	while (a->received < COUNT || b->received < COUNT || a->sent < COUNT ||
	       b->sent < COUNT) {
		for (i = 0; i < PAIR_ENDS; i++) {
			while (posted[i] < COUNT &&
			       !over_send(&over.end[i], from,
					  posted[i] % 50 ? posted[i] % 9000 : 100000, 0))
				posted[i]++;
			while (expected[i] < COUNT &&
			       !over_recv(&over.end[i], into + (size_t)i * 200000,
					  200000))
				expected[i]++;
		}
		over_turn(&over);
		CT_ASSERT_EQ(a->failed + b->failed + a->cancelled + b->cancelled, 0);
		CT_ASSERT_LT(crn_now_ms(), deadline);
	}
	CT_EXPECT_EQ(a->bytes, b->bytes);
	over_close(&over);
}

/* Nothing is received, and the sender learns of it: its queue is full. */
CT_TEST(data, a_target_without_receives_stops_the_sender)
{
	unsigned int posted = 0, i;

	over_open(&over, 8);
	for (i = 0; i < 2000; i++) {
		posted += !over_send(a, from, 5000, 0);
		over_turn(&over);
	}
	CT_EXPECT_EQ(over_send(a, from, 5000, 0), -FI_EAGAIN);
	CT_EXPECT_LT(a->sent, posted);
	for (i = 0; i < posted; i++) {
		CT_EXPECT_EQ(over_recv(b, into, 5000), 0);
		OVER_UNTIL(&over, b->received == i + 1);
	}
	OVER_UNTIL(&over, a->sent == posted);
	over_close(&over);
}

/* Reads are answered all the same. */
CT_TEST(data, a_read_while_the_other_direction_has_no_receives)
{
	struct crn_mr mr = {.buf = into, .len = 100000, .access = FI_REMOTE_READ};
	unsigned int posted = 0, i;

	over_open(&over, 8);
	pattern(into, 100000, 1);
	CT_EXPECT_EQ(crn_mr_add(&b->map, &mr, KEY), 0);
	for (i = 0; i < 500; i++) {
		posted += !over_send(b, from, 5000, 0);
		over_turn(&over);
	}
	CT_EXPECT_EQ(over_rma(a, true, from, 100000, 0, KEY), 0);
	OVER_UNTIL(&over, a->sent == 1);
	CT_EXPECT_MEMEQ(from, into, 100000);
	crn_mr_remove(&b->map, &mr);
	over_close(&over);
}

CT_TEST(data, a_peer_that_goes_away_under_load)
{
	unsigned int posted, received, turn, i;

	for (turn = 0; turn < 20; turn++) {
		over_open(&over, 4);
		for (received = 0; received < 40; received++)
			CT_EXPECT_EQ(over_recv(b, into, 100000), 0);
		for (posted = 0; posted < 60; posted++)
			CT_EXPECT_EQ(over_send(a, from, 3000 * posted % 100000, 0), 0);
		for (i = 0; i < turn; i++)
			over_turn(&over);
		rte_vc_stop(&b->vc, FI_ECANCELED, 0);
		rte_peer_close(over.pair.end[PAIR_B].peer, 0);
		over.pair.end[PAIR_B].peer = NULL;
		OVER_UNTIL(&over, a->vc.state == RTE_VC_STOPPED);
		rte_peer_close(over.pair.end[PAIR_A].peer, 0);
		over.pair.end[PAIR_A].peer = NULL;
		over_turn(&over);
		CT_EXPECT_EQ(a->sent + a->failed, posted);
		CT_EXPECT_EQ(b->received + b->cancelled, received);
		CT_EXPECT_TRUE(!a->failed || a->err == FI_ECONNABORTED);
		over_close(&over);
	}
}

/* What the peer says is no message of this connection. */
CT_TEST(data, a_peer_that_breaks_the_rules)
{
	const struct pair_message message = {
		.seq = 2, .data = from, .len = 1, .piece = 1};

	over_open(&over, 0);
	CT_EXPECT_EQ(over_recv(b, into, 10), 0);
	CT_EXPECT_TRUE(pair_send(&over.pair.end[PAIR_A], &message, NULL, NULL));
	OVER_UNTIL(&over, b->vc.state == RTE_VC_STOPPED);
	OVER_UNTIL(&over, b->cancelled == 1);
	CT_EXPECT_EQ(over.pair.end[PAIR_B].lines, 1);
	over_close(&over);
}

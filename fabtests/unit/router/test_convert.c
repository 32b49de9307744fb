/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/convert.c: what was said is what is heard. */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "convert.h"

static struct frt_heard heard;
static struct rte_join join;
static struct frt_stamps said, there;
static uint64_t now = 1000000000;

/* What has been heard of a digest in several messages. */
static struct {
	uint32_t messages, entries, lasts;
	size_t longest;
	enum rte_bad bad;
	bool whole; /* the last message was complete */
	struct rte_lsa *lsa;
	int fails;
} got;

static int put(void *context, const void *bytes, size_t len)
{
	struct rte_packet packet;

	(void)context;
	if (got.fails)
		return got.fails;
	got.messages++;
	if (len > got.longest)
		got.longest = len;
	CT_EXPECT_EQ(rte_packet_parse(&packet, bytes, len), RTE_OK);
	got.bad = frt_hear(&heard, &join, &there, now, &packet);
	got.whole = got.bad == RTE_OK;
	if (got.whole && packet.head.type == RTE_DIGEST) {
		got.entries += heard.message.list.count;
		got.lasts += !heard.message.list.more;
	}
	if (got.whole && packet.head.type == RTE_LSA)
		got.lsa = rte_lsa_copy(heard.message.lsa);
	return 0;
}

static int say(const struct rte_sync_message *message, size_t room)
{
	free(got.lsa);
	memset(&got, 0, sizeof(got));
	return frt_say(message, &said, now, room, put, NULL);
}

CT_TEST(convert, digests_and_requests_arrive)
{
	const struct rte_sync_entry entry[] = {{3, 1, 7, 8}, {3, 2, 9, UINT64_MAX - 1}};
	struct rte_sync_message message = {.type = RTE_SYNC_DIGEST,
					   .list = {.entry = entry, .count = 2}};

	CT_EXPECT_EQ(say(&message, 9000), 0);
	CT_EXPECT_EQ(got.messages, 1);
	CT_ASSERT_EQ(heard.message.type, RTE_SYNC_DIGEST);
	CT_ASSERT_EQ(heard.message.list.count, 2);
	CT_EXPECT_FALSE(heard.message.list.more);
	CT_EXPECT_EQ(heard.message.list.entry[1].router, 2);
	CT_EXPECT_EQ(heard.message.list.entry[1].epoch, 9);
	CT_EXPECT_EQ(heard.message.list.entry[1].seq, UINT64_MAX - 1);
	message.list.more = true;
	CT_EXPECT_EQ(say(&message, 9000), 0);
	CT_EXPECT_TRUE(heard.message.list.more);
	message.type = RTE_SYNC_LSREQ;
	message.list.more = false;
	CT_EXPECT_EQ(say(&message, 9000), 0);
	CT_EXPECT_EQ(heard.message.type, RTE_SYNC_LSREQ);
	CT_EXPECT_EQ(heard.message.list.count, 2);
	/* One with nothing in it says so. */
	message.type = RTE_SYNC_DIGEST;
	message.list.count = 0;
	CT_EXPECT_EQ(say(&message, 9000), 0);
	CT_EXPECT_EQ(got.messages, 1);
	CT_EXPECT_EQ(got.lasts, 1);
}

CT_TEST(convert, a_list_that_is_too_long_for_a_receive_goes_in_several)
{
	struct rte_sync_entry entry[RTE_SYNC_ENTRIES_MAX];
	struct rte_sync_message message = {.type = RTE_SYNC_DIGEST,
					   .list = {.entry = entry,
						    .count = RTE_SYNC_ENTRIES_MAX}};
	uint32_t i;

	for (i = 0; i < RTE_SYNC_ENTRIES_MAX; i++)
		entry[i] = (struct rte_sync_entry){3, i + 1, 1, 1};
	CT_EXPECT_EQ(say(&message, 1024), 0);
	CT_EXPECT_EQ(got.entries, RTE_SYNC_ENTRIES_MAX);
	CT_EXPECT_EQ(got.lasts, 1);
	CT_EXPECT_GE(got.messages, 9);
	CT_EXPECT_LE(got.longest, 1024);
	CT_EXPECT_EQ(say(&message, 100), -FI_ETOOSMALL);
	/* What put returns ends it. */
	memset(&got, 0, sizeof(got));
	got.fails = -FI_ENOBUFS;
	CT_EXPECT_EQ(frt_say(&message, &said, now, 1024, put, NULL), -FI_ENOBUFS);
	CT_EXPECT_EQ(got.messages, 0);
}

static void fill(struct rte_lsa *lsa, struct rte_link *link, uint32_t links,
		 const uint64_t *neighbour, uint16_t neighbours)
{
	uint32_t i;

	*lsa = (struct rte_lsa){.as = 3,
				.flags = RTE_LSA_BORDER,
				.router = 5,
				.epoch = 6,
				.seq = 7,
				.lifetime = 30000,
				.load = 8,
				.links = links,
				.link = link};
	for (i = 0; i < links; i++)
		link[i] = (struct rte_link){.subnet = i + 1,
					    .scope_as = 3,
					    .rate = 1000 + i,
					    .latency = 9,
					    .frag_max = 262144,
					    .up = true,
					    .neighbours = neighbours,
					    .neighbour = neighbour,
					    .uri = "tcp://10.0.0.1:7000"};
}

CT_TEST(convert, an_lsa_arrives_whole_or_in_pieces)
{
	struct rte_sync_message message = {.type = RTE_SYNC_LSA};
	static struct rte_link link[RTE_LINKS_MAX];
	static uint64_t neighbour[400];
	struct rte_lsa lsa;
	uint32_t i;

	for (i = 0; i < 400; i++)
		neighbour[i] = i + 10;
	message.lsa = &lsa;
	fill(&lsa, link, 2, neighbour, 3);
	CT_EXPECT_EQ(say(&message, 9000), 0);
	CT_EXPECT_EQ(got.messages, 1);
	CT_ASSERT_TRUE(got.whole);
	CT_EXPECT_EQ(rte_lsa_compare(got.lsa, &lsa), 0);
	/* The longest: 64 links of 400 neighbours. */
	fill(&lsa, link, RTE_LINKS_MAX, neighbour, 400);
	CT_EXPECT_EQ(say(&message, 4000), 0);
	CT_EXPECT_GT(got.messages, 40);
	CT_EXPECT_LE(got.longest, 4000);
	CT_ASSERT_TRUE(got.whole);
	CT_EXPECT_EQ(got.lsa->links, RTE_LINKS_MAX);
	CT_EXPECT_EQ(rte_lsa_compare(got.lsa, &lsa), 0);
	CT_EXPECT_STREQ(got.lsa->link[63].uri, "tcp://10.0.0.1:7000");
	CT_EXPECT_EQ(got.lsa->link[63].neighbour[399], 409);
	/* Memory that was there for a shorter one grows. */
	frt_join_end(&join);
	fill(&lsa, link, 4, neighbour, 400);
	CT_EXPECT_EQ(say(&message, 4000), 0);
	fill(&lsa, link, 32, neighbour, 400);
	CT_EXPECT_EQ(say(&message, 4000), 0);
	CT_EXPECT_TRUE(got.whole);
	frt_join_end(&join);
	CT_EXPECT_EQ(join.list, NULL);
	free(got.lsa);
	got.lsa = NULL;
}

CT_TEST(convert, an_lsa_for_which_there_is_no_memory_is_refused)
{
	struct rte_sync_message message = {.type = RTE_SYNC_LSA};
	static struct rte_link link[RTE_LINKS_MAX];
	static uint64_t neighbour[400];
	struct rte_lsa lsa;
	uint32_t i;

	for (i = 0; i < 400; i++)
		neighbour[i] = i + 10;
	message.lsa = &lsa;
	fill(&lsa, link, 8, neighbour, 400);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(say(&message, 4000), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	ct_fail_alloc(2);
	CT_EXPECT_EQ(say(&message, 4000), 0);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_FALSE(got.whole);
	frt_join_end(&join);
}

CT_TEST(convert, what_borders_say_arrives)
{
	const struct rte_sync_reach link[] = {{0, 7, 1000, 1}, {4, 40, UINT64_MAX, 2}};
	const struct rte_sync_message message = {
		.type = RTE_SYNC_AS_REACH,
		.reach = {.key = {3, 1, 5, 6}, .count = 2, .link = link}};

	CT_EXPECT_EQ(say(&message, 9000), 0);
	CT_ASSERT_EQ(heard.message.type, RTE_SYNC_AS_REACH);
	CT_EXPECT_EQ(heard.message.reach.key.router, 1);
	CT_EXPECT_EQ(heard.message.reach.key.seq, 6);
	CT_ASSERT_EQ(heard.message.reach.count, 2);
	CT_EXPECT_EQ(heard.message.reach.link[1].scope_as, 4);
	CT_EXPECT_EQ(heard.message.reach.link[1].cost, UINT64_MAX);
	CT_EXPECT_EQ(heard.message.reach.link[0].subnet, 7);
}

CT_TEST(convert, heartbeats_measure_the_round_trip)
{
	const struct rte_sync_message message = {.type = RTE_SYNC_HEARTBEAT,
						 .heartbeat = {.hash = 0xabcd,
							       .count = 3}};

	memset(&said, 0, sizeof(said));
	memset(&there, 0, sizeof(there));
	CT_EXPECT_EQ(say(&message, 9000), 0);
	CT_EXPECT_EQ(heard.message.heartbeat.hash, 0xabcd);
	CT_EXPECT_EQ(heard.message.heartbeat.count, 3);
	CT_EXPECT_EQ(there.theirs, now);
	CT_EXPECT_EQ(there.trip, 0);
	/* The answer comes 5 ms later, of which 2 ms were spent there. */
	said.theirs = now;
	said.theirs_at = now + 1000000;
	now += 3000000;
	memset(&got, 0, sizeof(got));
	memset(&there, 0, sizeof(there));
	CT_EXPECT_EQ(say(&message, 9000), 0);
	CT_EXPECT_EQ(there.trip, 1000000);
	/* What cannot be says nothing. */
	said.theirs = now + 1;
	there.trip = 0;
	CT_EXPECT_EQ(say(&message, 9000), 0);
	CT_EXPECT_EQ(there.trip, 0);
}

CT_TEST(convert, what_is_wrong_is_named)
{
	const struct rte_sync_message bye = {.type = RTE_SYNC_BYE};
	struct rte_packet packet = {.head.type = RTE_ACK};

	CT_EXPECT_EQ(say(&bye, 9000), -FI_EINVAL);
	CT_EXPECT_EQ(frt_hear(&heard, &join, &there, now, &packet), RTE_BAD_TYPE);
}

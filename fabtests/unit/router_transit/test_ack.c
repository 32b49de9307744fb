/* SPDX-License-Identifier: BSD-2-Clause */
/* The last router acknowledges what has been sent to an end. */
#include <rdma/fi_errno.h>

#include "world.h"

#define WHOLE (RTE_FIRST | RTE_LAST)
#define ASKS (WHOLE | RTE_ACKREQ)
#define DELIVERS (ASKS | RTE_DELIVER)

static void open_ends(enum rte_role in, enum rte_role out)
{
	world_begin();
	world_open(in, out);
	fake_credit(world.in, RTE_REQUESTS, 9);
	fake_credit(world.in, RTE_RESPONSES, 9);
	fake_credit(world.out, RTE_REQUESTS, 9);
	fake_credit(world.out, RTE_RESPONSES, 9);
}

static void shut(void)
{
	world_shut();
	world_end();
}

static void say(struct rte_peer *peer, uint8_t type, uint64_t seq, uint8_t flags)
{
	const struct piece piece = {.type = type, .flags = flags, .seq = seq, .len = 10};

	world_say(peer, &piece);
}

static void expect(struct rte_peer *peer, uint8_t type, uint64_t seq, uint8_t flags)
{
	const struct piece piece = {.type = type, .flags = flags, .seq = seq, .len = 10};

	world_expect(peer, &piece);
}

CT_TEST(ack, what_has_left_for_the_target_is_acknowledged)
{
	open_ends(RTE_CLIENT, RTE_TARGET);
	say(world.in, RTE_MSG, 1, ASKS);
	/* The target does not acknowledge it again. */
	expect(world.out, RTE_MSG, 1, WHOLE);
	world_expect_nothing(world.in);
	fake_done(world.out, 1, 0);
	world_expect_ack(world.in, 1);
	shut();
}

CT_TEST(ack, what_was_not_sent_is_not_acknowledged)
{
	open_ends(RTE_CLIENT, RTE_TARGET);
	say(world.in, RTE_MSG, 1, ASKS);
	fake_done(world.out, 1, FI_EIO);
	world_expect_nothing(world.in);
	shut();
}

CT_TEST(ack, and_what_has_left_for_the_client)
{
	open_ends(RTE_CLIENT, RTE_ROUTER);
	say(world.out, RTE_MSG, 1, ASKS);
	expect(world.in, RTE_MSG, 1, WHOLE);
	fake_done(world.in, 1, 0);
	world_expect_ack(world.out, 1);
	/* The other way there is another router. */
	say(world.in, RTE_MSG, 1, ASKS);
	expect(world.out, RTE_MSG, 1, ASKS);
	fake_done(world.out, 2, 0);
	world_expect_nothing(world.in);
	shut();
}

CT_TEST(ack, the_last_piece_decides)
{
	struct piece piece = {.flags = ASKS, .seq = 4, .len = 2000, .slot = true};

	open_ends(RTE_CLIENT, RTE_TARGET);
	world_say(world.in, &piece);
	piece = (struct piece){.flags = RTE_FIRST, .seq = 4, .len = 1000, .length = 2000};
	world_expect(world.out, &piece);
	piece = (struct piece){
		.flags = RTE_LAST, .seq = 4, .len = 1000, .length = 2000, .offset = 1000};
	world_expect(world.out, &piece);
	fake_done(world.out, 1, 0);
	world_expect_nothing(world.in);
	fake_done(world.out, 1, 0);
	world_expect_ack(world.in, 4);
	shut();
}

CT_TEST(ack, what_is_not_the_last_asks_for_nothing)
{
	const struct piece piece = {
		.flags = RTE_FIRST | RTE_ACKREQ, .seq = 4, .len = 10, .length = 20};

	open_ends(RTE_CLIENT, RTE_TARGET);
	world_say(world.in, &piece);
	fake_done(world.out, 1, 0);
	world_expect_nothing(world.in);
	shut();
}

CT_TEST(ack, delivery_and_writes_are_the_targets_to_acknowledge)
{
	open_ends(RTE_CLIENT, RTE_TARGET);
	say(world.in, RTE_MSG, 1, DELIVERS);
	expect(world.out, RTE_MSG, 1, DELIVERS);
	say(world.in, RTE_WRITE, 2, ASKS);
	expect(world.out, RTE_WRITE, 2, ASKS);
	fake_done(world.out, 2, 0);
	world_expect_nothing(world.in);
	world_say_ack(world.out, 2);
	world_expect_ack(world.in, 2);
	shut();
}

/* ACK{3} would say that 2 has been written. */
CT_TEST(ack, none_overtakes_what_the_target_owes)
{
	open_ends(RTE_CLIENT, RTE_TARGET);
	say(world.in, RTE_MSG, 1, ASKS);
	say(world.in, RTE_WRITE, 2, ASKS);
	say(world.in, RTE_MSG, 3, ASKS);
	fake_done(world.out, 3, 0);
	world_expect_ack(world.in, 1);
	world_expect_nothing(world.in);
	/* What it says and what it allows are one message. */
	world_say_ack(world.out, 2);
	world_expect_ack(world.in, 3);
	world_expect_nothing(world.in);
	shut();
}

CT_TEST(ack, a_refusal_is_an_answer)
{
	const struct piece nack = {.type = RTE_NACK, .flags = RTE_ERR, .seq = 1};

	open_ends(RTE_CLIENT, RTE_TARGET);
	say(world.in, RTE_WRITE, 1, ASKS);
	say(world.in, RTE_MSG, 2, ASKS);
	fake_done(world.out, 2, 0);
	world_expect_nothing(world.in);
	world_say(world.out, &nack);
	world_expect(world.in, &nack);
	world_expect_ack(world.in, 2);
	shut();
}

/* A write that nobody asks about may never be acknowledged by itself. */
CT_TEST(ack, behind_a_write_that_is_not_asked_about_the_target_is)
{
	open_ends(RTE_CLIENT, RTE_TARGET);
	say(world.in, RTE_WRITE, 1, WHOLE);
	say(world.in, RTE_MSG, 2, ASKS);
	expect(world.out, RTE_WRITE, 1, WHOLE);
	expect(world.out, RTE_MSG, 2, DELIVERS);
	fake_done(world.out, 2, 0);
	world_expect_nothing(world.in);
	world_say_ack(world.out, 2);
	world_expect_ack(world.in, 2);
	shut();
}

CT_TEST(ack, reads_are_answered_by_their_data)
{
	open_ends(RTE_CLIENT, RTE_TARGET);
	say(world.in, RTE_MSG, 2, ASKS);
	fake_done(world.out, 1, 0);
	world_expect_ack(world.in, 2);
	shut();
}

CT_TEST(ack, it_rides_on_what_goes_back_anyway)
{
	struct piece piece = {.flags = WHOLE, .seq = 1, .len = 10};

	open_ends(RTE_CLIENT, RTE_TARGET);
	/* No credit: the ACK cannot go at once. */
	world.in->in->credit[RTE_RESPONSES] = 0;
	say(world.in, RTE_MSG, 1, ASKS);
	say(world.in, RTE_MSG, 2, ASKS);
	fake_done(world.out, 2, 0);
	world_expect_nothing(world.in);
	world_say(world.out, &piece);
	piece.ack = 2;
	world_expect(world.in, &piece);
	/* It has been said. */
	fake_credit(world.in, RTE_RESPONSES, 1);
	world_expect_nothing(world.in);
	shut();
}

CT_TEST(ack, it_goes_once_there_is_credit)
{
	open_ends(RTE_CLIENT, RTE_TARGET);
	world.in->in->credit[RTE_RESPONSES] = 0;
	say(world.in, RTE_MSG, 1, ASKS);
	fake_done(world.out, 1, 0);
	world_expect_nothing(world.in);
	fake_credit(world.in, RTE_RESPONSES, 1);
	world_expect_ack(world.in, 1);
	shut();
}

CT_TEST(ack, what_the_target_says_with_a_message_is_handed_on)
{
	const struct piece piece = {.flags = WHOLE, .seq = 1, .len = 10, .ack = 1};

	open_ends(RTE_CLIENT, RTE_TARGET);
	say(world.in, RTE_WRITE, 1, ASKS);
	world_say(world.out, &piece);
	world_expect(world.in, &piece);
	fake_done(world.out, 1, 0);
	shut();
}

CT_TEST(ack, between_routers_all_is_handed_on)
{
	open_ends(RTE_ROUTER, RTE_ROUTER);
	say(world.in, RTE_MSG, 1, ASKS);
	expect(world.out, RTE_MSG, 1, ASKS);
	fake_done(world.out, 1, 0);
	world_expect_nothing(world.in);
	world_say_ack(world.out, 1);
	world_expect_ack(world.in, 1);
	shut();
}

/* --- The rule alone --- */

CT_TEST(ack, numbers)
{
	struct frt_ack ack;

	frt_ack_open(&ack);
	CT_EXPECT_EQ(frt_ack_due(&ack), 0);
	CT_EXPECT_FALSE(frt_ack_stuck(&ack));
	ack.sent = 4;
	CT_EXPECT_EQ(frt_ack_due(&ack), 4);
	ack.told = 4;
	CT_EXPECT_EQ(frt_ack_due(&ack), 0);
	frt_ack_owed(&ack, 5, true);
	frt_ack_owed(&ack, 8, false);
	CT_EXPECT_TRUE(frt_ack_stuck(&ack));
	ack.sent = 9;
	CT_EXPECT_EQ(frt_ack_due(&ack), 0);
	/* There may be more that it owes up to 8. */
	frt_ack_answered(&ack, 5, true);
	CT_EXPECT_EQ(frt_ack_due(&ack), 0);
	frt_ack_answered(&ack, 8, false);
	CT_EXPECT_EQ(frt_ack_due(&ack), 9);
	CT_EXPECT_FALSE(frt_ack_stuck(&ack));
	/* A refusal does not tell of those before it. */
	frt_ack_open(&ack);
	frt_ack_owed(&ack, 2, true);
	frt_ack_answered(&ack, 2, false);
	ack.sent = 1;
	CT_EXPECT_EQ(frt_ack_due(&ack), 1);
	/* Nonsense ends nothing but its own connection's acknowledgements. */
	frt_ack_answered(&ack, UINT64_MAX, true);
	CT_EXPECT_EQ(frt_ack_due(&ack), 0);
}

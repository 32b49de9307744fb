/* SPDX-License-Identifier: BSD-2-Clause */
/* The last router acknowledges what has been sent to an end. */
#include <rdma/fi_errno.h>

#include "world.h"

#define WHOLE (RTE_FIRST | RTE_LAST)
#define ASKS (WHOLE | RTE_ACKREQ)
#define DELIVERS (ASKS | RTE_DELIVER)

static void open_ends(enum rte_role in, enum rte_role out)
{
	world_tear_down_open(NULL);
	world_start(in, out);
	world_credit(9);
}

static void set_up(struct world **t)
{
	open_ends(RTE_CLIENT, RTE_TARGET);
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

CT_FIXTURE(ack, struct world *, set_up, world_tear_down_open);

CT_TEST_F(ack, what_has_left_for_the_target_is_acknowledged)
{
	say(world.in, RTE_MSG, 1, ASKS);
	/* The target does not acknowledge it again. */
	expect(world.out, RTE_MSG, 1, WHOLE);
	world_expect_nothing(world.in);
	fake_done(world.out, 1, 0);
	world_expect_ack(world.in, 1);
}

CT_TEST_F(ack, one_tells_of_all_that_have_left_at_once)
{
	say(world.in, RTE_MSG, 1, ASKS);
	say(world.in, RTE_MSG, 2, ASKS);
	say(world.in, RTE_MSG, 3, ASKS);
	world.out->port->more = 1;
	fake_done(world.out, 2, 0);
	world_expect_nothing(world.in);
	world.out->port->more = 0;
	fake_done(world.out, 1, 0);
	world_expect_ack(world.in, 3);
	world_expect_nothing(world.in);
	/* What is behind it may be another one's: then it is told at the end. */
	say(world.in, RTE_MSG, 4, ASKS);
	world.out->port->more = 1;
	fake_done(world.out, 1, 0);
	world_expect_nothing(world.in);
	world.out->port->more = 0;
	fake_credit(world.out, RTE_REQUESTS, 1);
	world_expect_ack(world.in, 4);
}

CT_TEST_F(ack, what_was_not_sent_is_not_acknowledged)
{
	say(world.in, RTE_MSG, 1, ASKS);
	fake_done(world.out, 1, FI_EIO);
	world_expect_nothing(world.in);
}

CT_TEST_F(ack, and_what_has_left_for_the_client)
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
}

CT_TEST_F(ack, the_last_piece_decides)
{
	struct piece piece = {.flags = ASKS, .seq = 4, .len = 2000, .slot = true};

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
}

CT_TEST_F(ack, what_is_not_the_last_asks_for_nothing)
{
	const struct piece piece = {
		.flags = RTE_FIRST | RTE_ACKREQ, .seq = 4, .len = 10, .length = 20};

	world_say(world.in, &piece);
	fake_done(world.out, 1, 0);
	world_expect_nothing(world.in);
}

CT_TEST_F(ack, delivery_and_writes_are_the_targets_to_acknowledge)
{
	say(world.in, RTE_MSG, 1, DELIVERS);
	expect(world.out, RTE_MSG, 1, DELIVERS);
	say(world.in, RTE_WRITE, 2, ASKS);
	expect(world.out, RTE_WRITE, 2, ASKS);
	fake_done(world.out, 2, 0);
	world_expect_nothing(world.in);
	world_say_ack(world.out, 2);
	world_expect_ack(world.in, 2);
}

/* Who asked knows which are whose. */
CT_TEST_F(ack, neither_waits_for_the_others_or_speaks_for_them)
{
	say(world.in, RTE_WRITE, 1, ASKS);
	say(world.in, RTE_MSG, 2, ASKS);
	say(world.in, RTE_MSG, 3, DELIVERS);
	world.in->in->credit[RTE_RESPONSES] = 0;
	fake_done(world.out, 3, 0);
	world_say_ack(world.out, 1);
	fake_credit(world.in, RTE_RESPONSES, 3);
	world_expect_ack(world.in, 1);
	world_expect_ack(world.in, 2);
	world_expect_nothing(world.in);
	world_say_ack(world.out, 3);
	world_expect_ack(world.in, 3);
}

CT_TEST_F(ack, a_refusal_goes_on)
{
	const struct piece nack = {.type = RTE_NACK, .flags = RTE_ERR, .seq = 1};

	say(world.in, RTE_WRITE, 1, ASKS);
	fake_done(world.out, 1, 0);
	world_say(world.out, &nack);
	world_expect(world.in, &nack);
}

CT_TEST_F(ack, it_rides_on_what_goes_back_anyway)
{
	struct piece piece = {.flags = WHOLE, .seq = 1, .len = 10};

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
}

CT_TEST_F(ack, it_goes_once_there_is_credit)
{
	world.in->in->credit[RTE_RESPONSES] = 0;
	say(world.in, RTE_MSG, 1, ASKS);
	fake_done(world.out, 1, 0);
	world_expect_nothing(world.in);
	fake_credit(world.in, RTE_RESPONSES, 1);
	world_expect_ack(world.in, 1);
}

CT_TEST_F(ack, what_the_target_says_with_a_message_is_handed_on)
{
	const struct piece piece = {.flags = WHOLE, .seq = 1, .len = 10, .ack = 1};

	say(world.in, RTE_WRITE, 1, ASKS);
	world_say(world.out, &piece);
	world_expect(world.in, &piece);
	fake_done(world.out, 1, 0);
}

CT_TEST_F(ack, between_routers_all_is_handed_on)
{
	open_ends(RTE_ROUTER, RTE_ROUTER);
	say(world.in, RTE_MSG, 1, ASKS);
	expect(world.out, RTE_MSG, 1, ASKS);
	fake_done(world.out, 1, 0);
	world_expect_nothing(world.in);
	world_say_ack(world.out, 1);
	world_expect_ack(world.in, 1);
}

/* Requests wait for receives, which the application may post only once it knows. */
CT_TEST_F(ack, it_does_not_ride_on_what_may_have_to_wait)
{
	const struct piece message = {.flags = WHOLE, .seq = 1, .len = 10};
	struct piece data = {.type = RTE_READ_FRAG, .flags = WHOLE, .seq = 1, .len = 10};

	open_ends(RTE_ROUTER, RTE_TARGET);
	world.in->in->credit[RTE_RESPONSES] = 0;
	say(world.in, RTE_MSG, 1, ASKS);
	fake_done(world.out, 1, 0);
	world_say(world.out, &message);
	world_expect(world.in, &message);
	world_say(world.out, &data);
	fake_credit(world.in, RTE_RESPONSES, 1);
	data.ack = 1;
	world_expect(world.in, &data);
}

CT_TEST_F(ack, what_the_target_says_with_a_message_stays)
{
	const struct piece piece = {.flags = WHOLE, .seq = 1, .len = 10, .ack = 1};

	world.in->in->credit[RTE_RESPONSES] = 0;
	say(world.in, RTE_WRITE, 1, ASKS);
	say(world.in, RTE_MSG, 2, ASKS);
	fake_done(world.out, 2, 0);
	world_say(world.out, &piece);
	world_expect(world.in, &piece);
	fake_credit(world.in, RTE_RESPONSES, 1);
	world_expect_ack(world.in, 2);
}

/* The target has closed, and what was sent to it before is known to have been. */
CT_TEST_F(ack, it_is_told_before_the_end)
{
	say(world.in, RTE_MSG, 1, ASKS);
	say(world.in, RTE_MSG, 2, ASKS);
	world_shutdown(world.out, 0);
	world_expect_nothing(world.in);
	fake_done(world.out, 1, 0);
	world_expect_ack(world.in, 1);
	world.in->in->credit[RTE_RESPONSES] = 0;
	fake_done(world.out, 1, 0);
	world_expect_nothing(world.in);
	fake_credit(world.in, RTE_RESPONSES, 1);
	world_expect_ack(world.in, 2);
	world_expect_shutdown(world.in, 0, 0);
	world_end();

	/* Or its lower connection has ended. */
	open_ends(RTE_CLIENT, RTE_TARGET);
	say(world.in, RTE_MSG, 1, ASKS);
	say(world.in, RTE_MSG, 2, ASKS);
	fake_down(world.out, FI_ECONNRESET);
	world_expect_nothing(world.in);
	fake_done(world.out, 1, 0);
	fake_done(world.out, 1, FI_ECANCELED);
	world_expect_ack(world.in, 1);
	world_expect_shutdown(world.in, FI_ECONNRESET, 0);
	world_end();
}

CT_TEST_F(ack, of_which_requests)
{
	static const struct {
		uint8_t type, flags;
		bool mine;
	} rows[] = {
		{RTE_MSG, ASKS, true},
		{RTE_MSG, RTE_LAST | RTE_ACKREQ | RTE_CQDATA, true},
		{RTE_MSG, RTE_FIRST | RTE_ACKREQ, false},
		{RTE_MSG, WHOLE, false},
		{RTE_MSG, DELIVERS, false},
		{RTE_MSG, ASKS | RTE_COMMIT, false},
		{RTE_WRITE, ASKS, false},
		{RTE_READ_REQ, 0, false},
	};
	struct rte_head head = {.seq = 1};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		CT_NOTE("row %zu", i);
		head.type = rows[i].type;
		head.flags = rows[i].flags;
		CT_EXPECT_EQ(frt_ack_mine(&head), rows[i].mine);
	}
	head = (struct rte_head){.type = RTE_MSG, .flags = ASKS};
	CT_EXPECT_FALSE(frt_ack_mine(&head));
}

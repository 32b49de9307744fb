/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes that the last router executes, and which of them. */
#include "hop.h"

CT_FIXTURE(lasthop, struct world *, hop_set_up, world_tear_down_open);

CT_TEST_F(lasthop, an_end_that_does_not_lend_is_not_asked)
{
	uint64_t seq;

	world_shut();
	world_begin();
	world.port[0].lower_rma = 1u << 20;
	world_open(RTE_CLIENT, RTE_TARGET);
	fake_credit(world.out, RTE_REQUESTS, 99);
	fake_credit(world.out, RTE_RESPONSES, 99);
	for (seq = 1; seq <= 6; seq++)
		hop_framed(RTE_WRITE, seq, HOP_ASKS);
	world_expect_nothing(world.out);
}

CT_TEST_F(lasthop, only_the_last_router_asks)
{
	uint64_t seq;

	hop_open_roles(RTE_CLIENT, RTE_ROUTER);
	for (seq = 1; seq <= 6; seq++)
		hop_framed(RTE_WRITE, seq, HOP_ASKS);
	world_expect_nothing(world.out);
}

/* Towards the client this router is the last one. */
CT_TEST_F(lasthop, and_writes_of_the_target_go_into_the_clients_regions)
{
	struct piece placed = {.addr = HOP_BASE, .key = HOP_LOWER, .len = 10};
	struct piece piece = hop_write(1, HOP_ASKS);

	hop_open_roles(RTE_CLIENT, RTE_ROUTER);
	for (; piece.seq <= 4; piece.seq++) {
		world_say(world.out, &piece);
		world_expect(world.in, &piece);
	}
	world_next(world.in, RTE_MR_RESOLVE);
	hop_info(world.in, 0, RTE_ACCESS_WRITE);
	world_say_ack(world.in, 4);
	world_expect_ack(world.out, 4);
	piece.flags = RTE_FIRST;
	piece.length = 20;
	world_say(world.out, &piece);
	world_expect_placed(world.in, &placed, false);
	piece.flags = RTE_LAST | RTE_ACKREQ;
	piece.offset = placed.offset = 10;
	placed.addr += 10;
	world_say(world.out, &piece);
	world_expect_placed(world.in, &placed, true);
	world_done(world.in);
	world_expect_ack(world.out, 5);
}

CT_TEST_F(lasthop, what_has_to_be_refused_goes_to_the_target)
{
	struct piece piece = hop_write(HOP_NEXT, HOP_ASKS);

	hop_open();
	hop_ask();
	hop_info(world.out, 0, RTE_ACCESS_READ);
	hop_first_framed(HOP_NEXT);

	hop_learned();
	piece.addr = HOP_REGION - 9;
	world_say(world.in, &piece);
	world_expect(world.out, &piece);

	hop_learned();
	piece = hop_write(HOP_NEXT, HOP_ASKS);
	piece.addr = UINT64_MAX - 4;
	piece.len = 4;
	world_say(world.in, &piece);
	world_expect(world.out, &piece);
}

CT_TEST_F(lasthop, what_the_lower_provider_cannot_do_goes_to_the_target)
{
	static const uint8_t flags[] = {HOP_ASKS | RTE_CQDATA, HOP_ASKS | RTE_COMMIT,
					HOP_ASKS | RTE_COMMIT | RTE_DELIVER,
					HOP_ASKS | RTE_CRC};
	size_t i;

	for (i = 0; i < sizeof(flags); i++) {
		hop_learned();
		hop_framed(RTE_WRITE, HOP_NEXT, flags[i]);
	}
}

CT_TEST_F(lasthop, each_piece_goes_to_its_place_and_the_last_one_is_waited_for)
{
	struct piece piece = hop_write(HOP_NEXT, RTE_FIRST);
	struct piece placed = {.addr = HOP_BASE + 30, .key = HOP_LOWER, .len = 2000};

	piece.len = 2000;
	piece.length = 4000;
	piece.addr = 30;
	piece.slot = true;
	world_say(world.in, &piece);
	world_expect_placed(world.out, &placed, false);
	world_done(world.out);
	world_expect_nothing(world.in);
	piece.flags = RTE_LAST | RTE_ACKREQ;
	piece.offset = 2000;
	world_say(world.in, &piece);
	placed.offset = 2000;
	placed.addr += 2000;
	world_expect_placed(world.out, &placed, true);
	world_expect_nothing(world.in);
	fake_done(world.out, 1, 0);
	world_expect_ack(world.in, HOP_NEXT);
	/* A new one begins. */
	hop_placed(HOP_NEXT + 1);
}

CT_TEST_F(lasthop, pieces_that_do_not_go_on_end_the_connection)
{
	/* type, flags, seq, length, offset */
	static const struct piece wrong[] = {
		{RTE_MSG, HOP_WHOLE, HOP_NEXT + 1, .len = 10},
		{RTE_MSG, RTE_LAST, HOP_NEXT, 20, 10, .len = 10},
		{RTE_WRITE, HOP_ASKS, HOP_NEXT + 1, .len = 10, .key = HOP_KEY},
		{RTE_WRITE, RTE_LAST, HOP_NEXT + 1, 20, 10, .len = 10, .key = HOP_KEY},
		{RTE_WRITE, RTE_LAST, HOP_NEXT, 20, 11, .len = 9, .key = HOP_KEY},
		{RTE_WRITE, RTE_LAST, HOP_NEXT, 20, 10, .len = 10, .key = HOP_KEY + 1},
		{RTE_WRITE, RTE_LAST, HOP_NEXT, 20, 10, .len = 10, .key = HOP_KEY,
		 .addr = HOP_REGION},
		{RTE_WRITE, 0, HOP_NEXT, HOP_REGION * 2, 10, .len = 10, .key = HOP_KEY},
	};
	struct piece piece = hop_write(HOP_NEXT, RTE_FIRST);
	size_t i;

	piece.length = 20;
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		hop_learned();
		world_say(world.in, &piece);
		CT_EXPECT_TRUE(fake_next(world.out)->placed);
		world_say(world.in, &wrong[i]);
		world_done(world.out);
		CT_EXPECT_TRUE(world.in->in->closed);
		world_expect_shutdown(world.out, EPROTO, WORLD_ID);
		world_pass(FRT_END_MS);
		world_end();
	}
}

CT_TEST_F(lasthop, behind_a_message_that_may_wait_it_is_a_message)
{
	hop_say(RTE_MSG, HOP_NEXT, HOP_ASKS);
	hop_expect_framed(RTE_MSG, HOP_NEXT, HOP_WHOLE);
	hop_first_framed(HOP_NEXT + 1);
	hop_say_second(HOP_NEXT + 1);
	world_next(world.out, RTE_WRITE);
	/* The last router's own says nothing of where it is. */
	world_done(world.out);
	hop_framed(RTE_WRITE, HOP_NEXT + 2, HOP_ASKS);
	world_say_ack(world.out, HOP_NEXT + 2);
	hop_first_placed(HOP_NEXT + 3);
	hop_say_second(HOP_NEXT + 3);
}

CT_TEST_F(lasthop, a_message_that_has_left_its_receive_is_in_nobodys_way)
{
	hop_say(RTE_MSG, HOP_NEXT, HOP_ASKS);
	hop_expect_framed(RTE_MSG, HOP_NEXT, HOP_WHOLE);
	world.out->in->idle = true;
	hop_placed(HOP_NEXT + 1);
}

/* Otherwise the ACK of the write would be taken for that of the message. */
CT_TEST_F(lasthop, but_one_that_the_target_acknowledges_is)
{
	hop_framed(RTE_MSG, HOP_NEXT, HOP_DELIVERS);
	world.out->in->idle = true;
	hop_framed(RTE_WRITE, HOP_NEXT + 1, HOP_ASKS);
	world_say_ack(world.out, HOP_NEXT + 1);
	hop_first_placed(HOP_NEXT + 2);
	hop_say_second(HOP_NEXT + 2);
}

CT_TEST_F(lasthop, a_write_waits_for_room)
{
	fake_memory(world.out, false);
	hop_say(RTE_WRITE, HOP_NEXT, HOP_ASKS);
	world_expect_nothing(world.out);
	fake_memory(world.out, true);
	hop_expect_placed();
}

CT_TEST_F(lasthop, those_that_come_one_upon_the_other_are_messages)
{
	int i;

	hop_placed(HOP_NEXT);
	for (i = 1; i <= 3; i++)
		hop_framed(RTE_WRITE, HOP_NEXT + (uint64_t)i, HOP_ASKS);
	world_done(world.out);
	world_expect_ack(world.in, HOP_NEXT);
	world_say_ack(world.out, HOP_NEXT + 3);
	world_expect_ack(world.in, HOP_NEXT + 3);
	/* One by one again, but not for long enough. */
	hop_framed(RTE_WRITE, HOP_NEXT + 4, HOP_ASKS);
}

CT_TEST_F(lasthop, and_those_between_larger_ones_are_not)
{
	hop_first_placed(HOP_NEXT);
	hop_say_second(HOP_NEXT);
	CT_EXPECT_TRUE(fake_next(world.out)->placed);
	hop_placed(HOP_NEXT + 1);
	/* The one before was short. */
	hop_framed(RTE_WRITE, HOP_NEXT + 2, HOP_ASKS);
}

CT_TEST_F(lasthop, behind_what_takes_a_receive_or_is_not_acknowledged_it_is_a_message)
{
	static const uint8_t flags[] = {HOP_ASKS | RTE_CQDATA, HOP_WHOLE};
	size_t i;

	for (i = 0; i < sizeof(flags); i++) {
		hop_learned();
		hop_say(RTE_WRITE, HOP_NEXT, flags[i]);
		CT_EXPECT_TRUE(fake_next(world.out) != NULL);
		hop_say_first(HOP_NEXT + 1);
		hop_say_second(HOP_NEXT + 1);
		/* One that goes by the lower provider already has another number. */
		if (flags[i] & RTE_CQDATA)
			hop_expect_first_framed(HOP_NEXT + 1);
		else
			hop_expect_first();
	}
	hop_open();
	hop_ask();
	hop_info(world.out, 0, RTE_ACCESS_WRITE);
	hop_framed(RTE_WRITE, HOP_NEXT, HOP_WHOLE);
	hop_first_framed(HOP_NEXT + 1);
}

CT_TEST_F(lasthop, a_region_is_written_to_its_last_byte)
{
	struct piece piece = hop_write(HOP_NEXT, RTE_FIRST);
	struct piece placed = {.addr = HOP_BASE + HOP_REGION - 20,
			       .key = HOP_LOWER,
			       .len = 10};

	piece.length = 20;
	piece.addr = HOP_REGION - 20;
	world_say(world.in, &piece);
	world_expect_placed(world.out, &placed, false);
}

CT_TEST_F(lasthop, a_piece_that_nobody_began_goes_to_the_target)
{
	struct piece piece = hop_write(HOP_NEXT, RTE_LAST | RTE_ACKREQ);

	piece.length = 20;
	piece.offset = 10;
	world_say(world.in, &piece);
	world_expect(world.out, &piece);
}

/* It costs no more as a message than it would after waiting. */
CT_TEST_F(lasthop, a_short_one_between_larger_ones_waits_for_nothing)
{
	hop_first_placed(HOP_NEXT);
	hop_say_second(HOP_NEXT);
	CT_EXPECT_TRUE(fake_next(world.out)->placed);
	hop_pass_key(HOP_NEXT + 1, HOP_BESIDE);
	hop_framed(RTE_WRITE, HOP_NEXT + 2, HOP_ASKS);
}

CT_TEST_F(lasthop, a_write_has_as_many_pieces_as_it_needs)
{
	struct piece piece = hop_write(HOP_NEXT, RTE_FIRST);
	struct piece placed = {.addr = HOP_BASE, .key = HOP_LOWER, .len = 10};

	for (piece.length = 40; piece.offset < 40; piece.offset += 10) {
		if (piece.offset == 30)
			piece.flags = RTE_LAST | RTE_ACKREQ;
		world_say(world.in, &piece);
		world_expect_placed(world.out, &placed, piece.offset == 30);
		piece.flags = 0;
		placed.addr += 10;
		placed.offset += 10;
	}
}

/* Nothing is promised of a write behind a read. */
CT_TEST_F(lasthop, a_read_is_not_waited_for)
{
	world_say(world.in, &(struct piece){.type = RTE_READ_REQ, .seq = HOP_NEXT});
	world_next(world.out, RTE_READ_REQ);
	hop_first_placed(HOP_NEXT + 1);
	hop_say_second(HOP_NEXT + 1);
}

/* Its receive may be posted only after what is behind it. */
CT_TEST_F(lasthop, nor_a_message_that_the_target_acknowledges)
{
	hop_framed(RTE_MSG, HOP_NEXT, HOP_DELIVERS);
	hop_first_framed(HOP_NEXT + 1);
}

/* Of reads of the target. */
CT_TEST_F(lasthop, nor_is_what_the_client_answers)
{
	hop_placed(HOP_NEXT);
	world_say(world.in, &(struct piece){.type = RTE_READ_FRAG, .flags = HOP_WHOLE});
	world_next(world.out, RTE_READ_FRAG);
	hop_first_placed(HOP_NEXT + 1);
	hop_say_second(HOP_NEXT + 1);
}

/* The first half of its first piece went while a message could wait before it. */
CT_TEST_F(lasthop, what_has_begun_as_a_message_ends_as_one)
{
	struct piece piece = hop_write(HOP_NEXT + 1, RTE_FIRST);

	hop_say(RTE_MSG, HOP_NEXT, HOP_ASKS);
	hop_expect_framed(RTE_MSG, HOP_NEXT, HOP_WHOLE);
	world.out->in->credit[RTE_REQUESTS] = 1;
	piece.len = 2 * WORLD_EAGER;
	piece.length = 2 * piece.len;
	piece.slot = true;
	world_say(world.in, &piece);
	piece.len = WORLD_EAGER;
	piece.slot = false;
	world_expect(world.out, &piece);
	world.out->in->idle = true;
	fake_credit(world.out, RTE_REQUESTS, 1);
	piece.flags = 0;
	piece.offset = WORLD_EAGER;
	world_expect(world.out, &piece);
}

CT_TEST_F(lasthop, what_is_out_of_order_goes_to_the_target)
{
	struct piece piece = hop_write(HOP_NEXT, RTE_FIRST);

	hop_first_framed(HOP_NEXT - 1);

	/* Between the pieces of another one. */
	hop_learned();
	piece.length = 20;
	piece.key = 8;
	world_say(world.in, &piece);
	world_next(world.out, RTE_WRITE);
	world_say_ack(world.out, HOP_NEXT);
	hop_first_framed(HOP_NEXT + 1);
}

CT_TEST_F(lasthop, what_is_too_long_for_the_lower_provider_goes_to_the_target)
{
	/* It is the second piece that may be. */
	world.port[1].lower_rma = 19;
	hop_first_framed(HOP_NEXT);

	hop_learned();
	world.port[1].lower_rma = 20;
	hop_first_placed(HOP_NEXT);
	hop_say_second(HOP_NEXT);
}

/* No piece is longer than the way's frag. */
CT_TEST_F(lasthop, and_what_comes_in_shorter_pieces_does_not)
{
	struct piece piece = hop_write(HOP_NEXT, RTE_FIRST);

	hop_open_with(RTE_FRAG_MIN, RTE_FRAG_MIN, RTE_CLIENT, RTE_TARGET);
	hop_learn();
	piece.length = HOP_REGION;
	world_say(world.in, &piece);
	hop_expect_first();
}

CT_TEST_F(lasthop, fi_routectl_sees_what_was_placed_and_what_waits)
{
	const struct frt_lane *lane;

	lane = world_lane(FRT_IN, RTE_REQUESTS);
	CT_EXPECT_EQ(lane->placed, 0);
	hop_say_first(HOP_NEXT);
	hop_say_second(HOP_NEXT);
	CT_EXPECT_EQ(lane->placed, 2);
	CT_EXPECT_EQ(lane->pieces, HOP_NEXT - 1 + 2);
	CT_EXPECT_EQ(lane->bytes, 10 * (HOP_NEXT - 1 + 2));
	hop_say_key(HOP_NEXT + 1, HOP_BESIDE);
	hop_say_first(HOP_NEXT + 2);
	CT_EXPECT_EQ(lane->stalls, 1);
	CT_EXPECT_EQ(lane->queued, 1);
	world_say_ack(world.out, HOP_NEXT + 1);
	CT_EXPECT_EQ(lane->placed, 3);
	CT_EXPECT_EQ(lane->stall_at, 0);
	hop_say_second(HOP_NEXT + 2);
}

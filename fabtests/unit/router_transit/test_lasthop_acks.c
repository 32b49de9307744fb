/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes that the last router executes: what is acknowledged, and when it ends. */
#include <rdma/fi_errno.h>

#include "hop.h"

CT_FIXTURE(lasthop, struct world *, hop_set_up, world_tear_down_open);

CT_TEST_F(lasthop, a_write_waits_until_those_before_it_are_acknowledged)
{
	/* A key that is not known. */
	hop_pass_key(HOP_NEXT, 8);
	hop_say_first(HOP_NEXT + 1);
	world_expect_nothing(world.out);
	world_say_ack(world.out, HOP_NEXT);
	hop_expect_first();
	hop_say_second(HOP_NEXT + 1);
}

CT_TEST_F(lasthop, acks_of_messages_and_of_writes_are_two)
{
	world.out->in->idle = true;
	hop_say(RTE_WRITE, HOP_NEXT, HOP_ASKS);
	hop_say(RTE_MSG, HOP_NEXT + 1, HOP_ASKS);
	world_done(world.out);
	world_expect_ack(world.in, HOP_NEXT);
	world_expect_ack(world.in, HOP_NEXT + 1);
}

CT_TEST_F(lasthop, one_that_is_lost_is_not_acknowledged_and_none_behind_it)
{
	hop_say(RTE_WRITE, HOP_NEXT, HOP_ASKS);
	hop_say(RTE_WRITE, HOP_NEXT + 1, HOP_ASKS);
	fake_done(world.out, world.out->in->posted - 1, FI_EIO);
	fake_done(world.out, 1, 0);
	world_expect_nothing(world.in);
	fake_down(world.out, FI_EIO);
	world_expect_shutdown(world.in, FI_EIO, 0);
	world_pass(FRT_END_MS);
	world_end();
}

/* What would wait for the target goes as a message. */
CT_TEST_F(lasthop, of_a_client_that_is_gone_all_goes_on)
{
	struct piece piece = hop_write(HOP_NEXT + 2, RTE_FIRST);

	hop_framed(RTE_WRITE, HOP_NEXT, HOP_ASKS | RTE_CQDATA);
	world_say_ack(world.out, HOP_NEXT);
	hop_pass_key(HOP_NEXT + 1, 8);
	hop_say_first(HOP_NEXT + 2);
	hop_say_second(HOP_NEXT + 2);
	world_expect_nothing(world.out);
	world_shutdown(world.in, 0);
	piece.length = 20;
	world_expect(world.out, &piece);
	piece.flags = RTE_LAST | RTE_ACKREQ;
	piece.offset = 10;
	world_expect(world.out, &piece);
	world_expect_shutdown(world.out, 0, 0);
	world_pass(FRT_END_MS);
	world_end();
}

CT_TEST_F(lasthop, after_one_that_is_lost_longer_ones_are_not_acknowledged_either)
{
	hop_placed(HOP_NEXT);
	hop_first_placed(HOP_NEXT + 1);
	hop_say_second(HOP_NEXT + 1);
	fake_done(world.out, world.out->in->posted - 2, FI_EIO);
	fake_done(world.out, 2, 0);
	world_expect_nothing(world.in);
	fake_down(world.out, FI_EIO);
	world_expect_shutdown(world.in, FI_EIO, 0);
	world_pass(FRT_END_MS);
	world_end();
}

CT_TEST_F(lasthop, what_does_not_ask_is_not_acknowledged)
{
	const struct piece placed = {.addr = HOP_BASE, .key = HOP_LOWER, .len = 10};
	struct piece piece = hop_write(HOP_NEXT, RTE_FIRST | RTE_ACKREQ);

	hop_say(RTE_WRITE, HOP_NEXT, HOP_WHOLE);
	world_expect_placed(world.out, &placed, false);
	world_done(world.out);
	world_expect_nothing(world.in);

	/* It is the last piece that asks. */
	hop_learned();
	piece.length = 20;
	world_say(world.in, &piece);
	world_expect_placed(world.out, &placed, false);
	world_done(world.out);
	world_expect_nothing(world.in);
}

CT_TEST_F(lasthop, what_was_placed_before_the_target_was_lost_is_acknowledged)
{
	hop_say(RTE_WRITE, HOP_NEXT, HOP_ASKS);
	fake_down(world.out, FI_EIO);
	world_done(world.out);
	world_expect_ack(world.in, HOP_NEXT);
	world_expect_shutdown(world.in, FI_EIO, 0);
	world_pass(FRT_END_MS);
	world_end();
}

CT_TEST_F(lasthop, a_client_hears_of_its_writes_before_the_targets_end)
{
	hop_placed(HOP_NEXT);
	world_shutdown(world.out, 0);
	world_expect_nothing(world.in);
	world_done(world.out);
	world_expect_ack(world.in, HOP_NEXT);
	world_expect_shutdown(world.in, 0, 0);
	world_pass(FRT_END_MS);
	world_end();
}

CT_TEST_F(lasthop, the_target_is_not_left_before_all_is_there)
{
	world_done(world.out);
	world_done(world.in);
	hop_placed(HOP_NEXT);
	world_shutdown(world.in, 0);
	world_expect_shutdown(world.out, 0, 0);
	CT_ASSERT_EQ(world.out->in->posted, 2);
	fake_done(world.out, 1, 0);
	CT_EXPECT_FALSE(world.out->in->closed);
	fake_done(world.out, 1, 0);
	world_done(world.in);
	world_end();
}

CT_TEST_F(lasthop, an_ack_takes_back_nothing)
{
	world_say_ack(world.out, HOP_NEXT - 2);
	hop_first_placed(HOP_NEXT);
	hop_say_second(HOP_NEXT);
}

CT_TEST_F(lasthop, an_ack_may_come_with_something_else)
{
	hop_pass_key(HOP_NEXT, 8);
	hop_say_first(HOP_NEXT + 1);
	world_expect_nothing(world.out);
	world_say(world.out, &(struct piece){.type = RTE_READ_FRAG,
					     .flags = HOP_WHOLE,
					     .len = 10,
					     .ack = HOP_NEXT});
	hop_expect_first();
	hop_say_second(HOP_NEXT + 1);
}

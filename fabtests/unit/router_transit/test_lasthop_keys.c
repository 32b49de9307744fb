/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes that the last router executes: what it knows of the target's keys. */
#include <errno.h>
#include <rdma/fi_errno.h>

#include "hop.h"

static void expect_nack(uint64_t request, int status)
{
	const struct fake_message *message = world_next(world.in, RTE_NACK);
	struct rte_nack nack;

	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_nack_parse(&nack, &message->packet), RTE_OK);
	CT_EXPECT_EQ(nack.request, request);
	CT_EXPECT_EQ(nack.status, status);
	CT_EXPECT_EQ(nack.router, 0);
}

CT_FIXTURE(lasthop, struct world *, hop_set_up, world_tear_down_open);

CT_TEST_F(lasthop, a_key_that_is_used_again_is_asked_for_and_then_used)
{
	/* The client hears nothing of it. */
	world_expect_nothing(world.in);
	hop_placed(HOP_NEXT);
	CT_EXPECT_EQ(world.in->in->receives, 1);
	world_expect_nothing(world.in);
	world_done(world.out);
	CT_EXPECT_EQ(world.in->in->receives, 0);
	world_expect_ack(world.in, HOP_NEXT);
	world_expect_nothing(world.out);
}

CT_TEST_F(lasthop, what_the_target_refuses_to_lend_is_not_asked_for_again)
{
	uint64_t seq;

	hop_open();
	hop_ask();
	hop_info(world.out, FI_EOPNOTSUPP, RTE_ACCESS_WRITE);
	for (seq = 5; seq <= 12; seq++)
		hop_framed(RTE_WRITE, seq, HOP_ASKS);
	world_say_ack(world.out, 12);
	hop_first_framed(13);
	world_expect_nothing(world.out);
}

CT_TEST_F(lasthop, a_key_that_is_recalled_is_returned_and_used_no_more)
{
	hop_placed(HOP_NEXT);
	hop_inval(HOP_EPOCH);
	/* Behind what was written. */
	hop_expect_returned();
	hop_framed(RTE_WRITE, HOP_NEXT + 1, HOP_ASKS);
}

CT_TEST_F(lasthop, and_asked_for_again_when_a_new_region_has_it)
{
	uint64_t seq;

	hop_inval(HOP_EPOCH);
	hop_expect_returned();
	for (seq = HOP_NEXT; seq < HOP_NEXT + 4; seq++)
		hop_framed(RTE_WRITE, seq, HOP_ASKS);
	world_next(world.out, RTE_MR_RESOLVE);
}

CT_TEST_F(lasthop, several_keys_are_remembered)
{
	uint64_t seq;

	hop_open();
	hop_ask();
	for (seq = 5; seq <= 8; seq++)
		hop_say_key(seq, HOP_KEY + 1);
	for (seq = 5; seq <= 8; seq++)
		world_next(world.out, RTE_WRITE);
	world_next(world.out, RTE_MR_RESOLVE);
}

CT_TEST_F(lasthop, it_is_returned_when_there_is_room_to_say_so)
{
	fake_memory(world.out, false);
	hop_inval(HOP_EPOCH);
	world_expect_nothing(world.out);
	fake_memory(world.out, true);
	hop_expect_returned();
}

CT_TEST_F(lasthop, the_rest_of_a_write_is_refused_when_its_region_goes)
{
	struct piece piece = hop_write(HOP_NEXT, RTE_FIRST);

	piece.length = 20;
	world_say(world.in, &piece);
	CT_EXPECT_TRUE(fake_next(world.out)->placed);
	hop_inval(HOP_EPOCH);
	hop_expect_returned();
	piece.flags = RTE_LAST | RTE_ACKREQ;
	piece.offset = 10;
	fake_memory(world.in, false);
	world_say(world.in, &piece);
	world_expect_nothing(world.in);
	fake_memory(world.in, true);
	expect_nack(HOP_NEXT, FI_EKEYREJECTED);
	/* Nothing behind it reaches the target. */
	hop_say(RTE_MSG, HOP_NEXT + 1, HOP_ASKS);
	world_say(world.in, &(struct piece){.type = RTE_READ_REQ, .seq = HOP_NEXT + 2});
	world_expect_nothing(world.out);
	world_done(world.out);
	world_expect_nothing(world.in);
}

static void expect_left(void)
{
	world_expect_shutdown(world.in, EPROTO, WORLD_ID);
	world_pass(FRT_END_MS);
	world_end();
}

CT_TEST_F(lasthop, an_end_that_tells_of_what_was_not_asked_is_left)
{
	hop_open();
	hop_info(world.out, 0, RTE_ACCESS_WRITE);
	expect_left();

	hop_open();
	hop_ask();
	hop_info_key(world.out, HOP_BESIDE, 0, RTE_ACCESS_WRITE);
	expect_left();

	hop_open();
	hop_ask();
	hop_info(world.out, 0, RTE_ACCESS_WRITE);
	hop_info(world.out, 0, RTE_ACCESS_WRITE);
	expect_left();
}

CT_TEST_F(lasthop, nor_may_it_recall_what_it_has_not_told)
{
	hop_inval(HOP_EPOCH + 1);
	expect_left();

	/* It is this router that answers. */
	hop_learned();
	hop_inval_flags(HOP_EPOCH, 0);
	expect_left();

	/* Twice. */
	hop_learned();
	world.out->in->credit[RTE_RESPONSES] = 0;
	hop_inval(HOP_EPOCH);
	hop_inval(HOP_EPOCH);
	expect_left();
}

static void end_drained(void)
{
	world_expect_shutdown(world.out, 0, 0);
	world_pass(FRT_END_MS);
	world_end();
}

/* Its region could not close otherwise until all of that has gone on. */
CT_TEST_F(lasthop, a_key_is_returned_while_what_a_client_has_left_goes_on)
{
	world.out->in->credit[RTE_REQUESTS] = 0;
	hop_say(RTE_MSG, HOP_NEXT, HOP_WHOLE);
	world_shutdown(world.in, 0);
	hop_inval(HOP_EPOCH);
	hop_expect_returned();
	world_expect_nothing(world.out);
	fake_credit(world.out, RTE_REQUESTS, 1);
	hop_expect_framed(RTE_MSG, HOP_NEXT, HOP_WHOLE);
	end_drained();

	/* It was recalled before. */
	hop_learned();
	world.out->in->credit[RTE_REQUESTS] = world.out->in->credit[RTE_RESPONSES] = 0;
	hop_say(RTE_MSG, HOP_NEXT, HOP_WHOLE);
	hop_inval(HOP_EPOCH);
	world_shutdown(world.in, 0);
	fake_credit(world.out, RTE_RESPONSES, 1);
	hop_expect_returned();
	fake_credit(world.out, RTE_REQUESTS, 1);
	hop_expect_framed(RTE_MSG, HOP_NEXT, HOP_WHOLE);
	end_drained();
}

/* Who is over has no regions any more that anybody writes to. */
CT_TEST_F(lasthop, nothing_is_taken_of_an_end_that_is_over)
{
	world.in->in->credit[RTE_RESPONSES] = 0;
	world_say(world.out, &(struct piece){.type = RTE_READ_FRAG, .flags = HOP_WHOLE});
	world_shutdown(world.out, 0);
	hop_inval(HOP_EPOCH);
	world_expect_nothing(world.out);
	fake_credit(world.in, RTE_RESPONSES, 1);
	world_next(world.in, RTE_READ_FRAG);
	world_expect_shutdown(world.in, 0, 0);
	world_pass(FRT_END_MS);
	world_end();
}

CT_TEST_F(lasthop, a_key_is_not_taken_for_the_one_in_its_place)
{
	hop_acked(HOP_NEXT, HOP_BESIDE, 10);
}

CT_TEST_F(lasthop, nor_counted_for_it)
{
	uint64_t seq;

	hop_open();
	for (seq = 1; seq <= 8; seq++)
		hop_acked(seq, seq % 4 ? HOP_KEY : HOP_BESIDE, 10);
	world_expect_nothing(world.out);
}

CT_TEST_F(lasthop, one_that_cannot_be_used_leaves_its_place)
{
	uint64_t seq;

	hop_open();
	hop_ask();
	hop_info(world.out, FI_EOPNOTSUPP, 0);
	for (seq = 5; seq <= 7; seq++)
		hop_acked(seq, HOP_BESIDE, 10);
	hop_pass_key(8, HOP_BESIDE);
	world_next(world.out, RTE_MR_RESOLVE);
}

CT_TEST_F(lasthop, writes_of_nothing_count_for_no_key)
{
	uint64_t seq;

	hop_open();
	for (seq = 1; seq <= 5; seq++)
		hop_acked(seq, HOP_KEY, 0);
	world_expect_nothing(world.out);

	hop_learned();
	hop_acked(HOP_NEXT, HOP_KEY, 0);
}

/* The answer waits for room, of which requests have enough. */
CT_TEST_F(lasthop, a_key_is_not_used_between_recall_and_answer)
{
	world.out->in->credit[RTE_RESPONSES] = 0;
	hop_inval(HOP_EPOCH);
	hop_first_framed(HOP_NEXT);
	fake_credit(world.out, RTE_RESPONSES, 1);
	hop_expect_returned();
}

CT_TEST_F(lasthop, and_is_counted_once)
{
	uint64_t seq;

	hop_open();
	for (seq = 1; seq <= 3; seq++) {
		hop_first_framed(seq);
		hop_say_second(seq);
		world_next(world.out, RTE_WRITE);
	}
	world_expect_nothing(world.out);
}

/* --- Quotas of a client --- */

static struct frt_client *the_client(void)
{
	return crn_container_of(world.node.clients.next, struct frt_client, entry);
}

CT_TEST_F(lasthop, keys_are_asked_for_as_many_as_a_client_may_have)
{
	uint64_t seq;

	hop_open();
	atomic_store(&the_client()->resolves.limit, 1);
	hop_learn();
	CT_EXPECT_EQ(atomic_load(&the_client()->resolves.used), 1);
	for (seq = HOP_NEXT; seq < HOP_NEXT + 6; seq++)
		hop_acked(seq, HOP_KEY + 1, 10);
	world_expect_nothing(world.out);
	CT_EXPECT_GT(atomic_load(&the_client()->resolves.reached), 0);
	hop_inval(HOP_EPOCH);
	hop_expect_returned();
	CT_EXPECT_EQ(atomic_load(&the_client()->resolves.used), 0);
	hop_acked(seq, HOP_KEY + 1, 10);
	world_next(world.out, RTE_MR_RESOLVE);
}

CT_TEST_F(lasthop, what_is_refused_counts_for_nothing)
{
	hop_open();
	hop_ask();
	CT_EXPECT_EQ(atomic_load(&the_client()->resolves.used), 1);
	hop_info(world.out, FI_EOPNOTSUPP, RTE_ACCESS_WRITE);
	CT_EXPECT_EQ(atomic_load(&the_client()->resolves.used), 0);
}

/* Slots of both sides are the client's; those of a router's connections are nobody's. */
CT_TEST_F(lasthop, both_sides_have_the_clients_quota_while_they_are_open)
{
	hop_open();
	CT_EXPECT_TRUE(world.in->in->quota == &the_client()->slots);
	CT_EXPECT_TRUE(world.out->in->quota == &the_client()->slots);
	CT_EXPECT_EQ(atomic_load(&the_client()->slots.limit), 256);
	world_shut();
	CT_EXPECT_TRUE(!world.in->in->quota && !world.out->in->quota);
	world_end();
	hop_open_roles(RTE_ROUTER, RTE_TARGET);
	CT_EXPECT_TRUE(!world.in->in->quota && !world.out->in->quota);
}

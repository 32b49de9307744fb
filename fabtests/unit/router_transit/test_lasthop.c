/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes that the last router executes, and which of them. */
#include <errno.h>
#include <rdma/fi_errno.h>

#include "world.h"

#define WHOLE (RTE_FIRST | RTE_LAST)
#define ASKS (WHOLE | RTE_ACKREQ)
#define DELIVERS (ASKS | RTE_DELIVER)

#define KEY 7u
#define BESIDE 41u /* a key that is remembered in the same place */
#define LOWER 0x1007u
#define BASE 0x40000u
#define REGION 5000u
#define EPOCH 3u

/* After learn. */
#define NEXT 9u

/* lower: bytes of the lower providers' own operations at most. */
static void open_with(uint32_t frag, size_t lower, enum rte_role in, enum rte_role out)
{
	world_begin();
	world.config_device[1].frag = frag;
	world.port[0].lower_rma = world.port[1].lower_rma = lower;
	world_open(in, out);
	fake_credit(world.in, RTE_REQUESTS, 99);
	fake_credit(world.in, RTE_RESPONSES, 99);
	fake_credit(world.out, RTE_REQUESTS, 99);
	fake_credit(world.out, RTE_RESPONSES, 99);
}

static void open_roles(enum rte_role in, enum rte_role out)
{
	open_with(65536, 1u << 20, in, out);
}

static void open_ends(void)
{
	open_roles(RTE_CLIENT, RTE_TARGET);
}

static void shut(void)
{
	world_shut();
	world_end();
}

static struct piece write_of(uint64_t seq, uint8_t flags)
{
	return (struct piece){
		.type = RTE_WRITE, .seq = seq, .flags = flags, .len = 10, .key = KEY};
}

static void say(uint8_t type, uint64_t seq, uint8_t flags)
{
	struct piece piece = write_of(seq, flags);

	piece.type = type;
	world_say(world.in, &piece);
}

static void expect_framed(uint8_t type, uint64_t seq, uint8_t flags)
{
	struct piece piece = write_of(seq, flags);

	piece.type = type;
	world_expect(world.out, &piece);
}

/* Behind the region's first byte. */
static void expect_placed(void)
{
	const struct piece piece = {.addr = BASE, .key = LOWER, .len = 10};

	world_expect_placed(world.out, &piece, true);
}

/* The first piece of a write of two. */
static void say_first(uint64_t seq)
{
	struct piece piece = write_of(seq, RTE_FIRST);

	piece.length = 20;
	world_say(world.in, &piece);
}

static void say_second(uint64_t seq)
{
	struct piece piece = write_of(seq, RTE_LAST | RTE_ACKREQ);

	piece.length = 20;
	piece.offset = 10;
	world_say(world.in, &piece);
}

static void expect_first_framed(uint64_t seq)
{
	struct piece piece = write_of(seq, RTE_FIRST);

	piece.length = 20;
	world_expect(world.out, &piece);
}

static void expect_first(void)
{
	const struct piece piece = {.addr = BASE, .key = LOWER, .len = 10};

	world_expect_placed(world.out, &piece, false);
}

static void info_key(struct rte_peer *peer, uint64_t key, int status, uint32_t access)
{
	struct rte_packet packet = {
		.head = {.type = RTE_MR_INFO, .flags = status ? RTE_ERR : 0}};
	const struct rte_mr_info info = {
		.key = key,
		.lower_key = LOWER,
		.base = BASE,
		.length = REGION,
		.epoch = EPOCH,
		.access = access,
		.status = (uint32_t)status,
	};
	uint8_t buf[128];

	fake_say(peer, buf, (size_t)rte_mr_info_pack(&packet, &info, buf, sizeof(buf)),
		 NULL);
}

static void info_of(struct rte_peer *peer, int status, uint32_t access)
{
	info_key(peer, KEY, status, access);
}

static void inval_flags(uint64_t epoch, uint8_t flags)
{
	struct rte_packet packet = {.head = {.type = RTE_MR_INVAL, .flags = flags}};
	const struct rte_mr_inval inval = {.key = KEY, .epoch = epoch};
	uint8_t buf[64];

	fake_say(world.out, buf,
		 (size_t)rte_mr_inval_pack(&packet, &inval, buf, sizeof(buf)), NULL);
}

static void inval(uint64_t epoch)
{
	inval_flags(epoch, RTE_ACKREQ);
}

static void expect_returned(void)
{
	const struct fake_message *message = world_next(world.out, RTE_MR_INVAL);
	struct rte_mr_inval inval;

	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_mr_inval_parse(&inval, &message->packet), RTE_OK);
	CT_EXPECT_EQ(message->packet.head.flags, 0);
	CT_EXPECT_EQ(inval.key, KEY);
	CT_EXPECT_EQ(inval.epoch, EPOCH);
}

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

/* Writes 1 to 4 go as messages, the last of them with a question, and are acknowledged.
 */
static void ask(void)
{
	uint64_t seq;

	for (seq = 1; seq <= 4; seq++) {
		say(RTE_WRITE, seq, ASKS);
		expect_framed(RTE_WRITE, seq, ASKS);
	}
	CT_EXPECT_TRUE(world_next(world.out, RTE_MR_RESOLVE) != NULL);
	world_say_ack(world.out, 4);
	world_expect_ack(world.in, 4);
}

/* Writes that come one by one. */
static void learn(void)
{
	uint64_t seq;

	ask();
	info_of(world.out, 0, RTE_ACCESS_READ | RTE_ACCESS_WRITE);
	for (seq = 5; seq < NEXT; seq++) {
		say(RTE_WRITE, seq, ASKS);
		expect_framed(RTE_WRITE, seq, ASKS);
		world_say_ack(world.out, seq);
		world_expect_ack(world.in, seq);
	}
}

CT_TEST(lasthop, a_key_that_is_used_again_is_asked_for_and_then_used)
{
	open_ends();
	learn();
	/* The client hears nothing of it. */
	world_expect_nothing(world.in);
	say(RTE_WRITE, NEXT, ASKS);
	expect_placed();
	CT_EXPECT_EQ(world.in->in->receives, 1);
	world_expect_nothing(world.in);
	fake_done(world.out, world.out->in->posted, 0);
	CT_EXPECT_EQ(world.in->in->receives, 0);
	world_expect_ack(world.in, NEXT);
	world_expect_nothing(world.out);
	shut();
}

CT_TEST(lasthop, an_end_that_does_not_lend_is_not_asked)
{
	uint64_t seq;

	world_begin();
	world.port[0].lower_rma = 1u << 20;
	world_open(RTE_CLIENT, RTE_TARGET);
	fake_credit(world.out, RTE_REQUESTS, 99);
	fake_credit(world.out, RTE_RESPONSES, 99);
	for (seq = 1; seq <= 6; seq++) {
		say(RTE_WRITE, seq, ASKS);
		expect_framed(RTE_WRITE, seq, ASKS);
	}
	world_expect_nothing(world.out);
	shut();
}

CT_TEST(lasthop, only_the_last_router_asks)
{
	uint64_t seq;

	open_roles(RTE_CLIENT, RTE_ROUTER);
	for (seq = 1; seq <= 6; seq++) {
		say(RTE_WRITE, seq, ASKS);
		expect_framed(RTE_WRITE, seq, ASKS);
	}
	world_expect_nothing(world.out);
	shut();
}

/* Towards the client this router is the last one. */
CT_TEST(lasthop, and_writes_of_the_target_go_into_the_clients_regions)
{
	struct piece placed = {.addr = BASE, .key = LOWER, .len = 10};
	struct piece piece = write_of(1, ASKS);

	open_roles(RTE_CLIENT, RTE_ROUTER);
	for (; piece.seq <= 4; piece.seq++) {
		world_say(world.out, &piece);
		world_expect(world.in, &piece);
	}
	CT_EXPECT_TRUE(world_next(world.in, RTE_MR_RESOLVE) != NULL);
	info_of(world.in, 0, RTE_ACCESS_WRITE);
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
	fake_done(world.in, world.in->in->posted, 0);
	world_expect_ack(world.out, 5);
	shut();
}

CT_TEST(lasthop, what_the_target_refuses_to_lend_is_not_asked_for_again)
{
	uint64_t seq;

	open_ends();
	ask();
	info_of(world.out, FI_EOPNOTSUPP, RTE_ACCESS_WRITE);
	for (seq = 5; seq <= 12; seq++) {
		say(RTE_WRITE, seq, ASKS);
		expect_framed(RTE_WRITE, seq, ASKS);
	}
	world_say_ack(world.out, 12);
	say_first(13);
	expect_first_framed(13);
	world_expect_nothing(world.out);
	shut();
}

CT_TEST(lasthop, what_has_to_be_refused_goes_to_the_target)
{
	struct piece piece = write_of(NEXT, ASKS);

	open_ends();
	ask();
	info_of(world.out, 0, RTE_ACCESS_READ);
	say_first(NEXT);
	expect_first_framed(NEXT);
	shut();

	open_ends();
	learn();
	piece.addr = REGION - 9;
	world_say(world.in, &piece);
	world_expect(world.out, &piece);
	shut();

	open_ends();
	learn();
	piece = write_of(NEXT, ASKS);
	piece.addr = UINT64_MAX - 4;
	piece.len = 4;
	world_say(world.in, &piece);
	world_expect(world.out, &piece);
	shut();
}

CT_TEST(lasthop, what_the_lower_provider_cannot_do_goes_to_the_target)
{
	static const uint8_t flags[] = {ASKS | RTE_CQDATA, ASKS | RTE_COMMIT,
					ASKS | RTE_COMMIT | RTE_DELIVER, ASKS | RTE_CRC};
	size_t i;

	for (i = 0; i < sizeof(flags); i++) {
		open_ends();
		learn();
		say(RTE_WRITE, NEXT, flags[i]);
		expect_framed(RTE_WRITE, NEXT, flags[i]);
		shut();
	}
}

CT_TEST(lasthop, each_piece_goes_to_its_place_and_the_last_one_is_waited_for)
{
	struct piece piece = write_of(NEXT, RTE_FIRST);
	struct piece placed = {.addr = BASE + 30, .key = LOWER, .len = 2000};

	open_ends();
	learn();
	piece.len = 2000;
	piece.length = 4000;
	piece.addr = 30;
	piece.slot = true;
	world_say(world.in, &piece);
	world_expect_placed(world.out, &placed, false);
	fake_done(world.out, world.out->in->posted, 0);
	world_expect_nothing(world.in);
	piece.flags = RTE_LAST | RTE_ACKREQ;
	piece.offset = 2000;
	world_say(world.in, &piece);
	placed.offset = 2000;
	placed.addr += 2000;
	world_expect_placed(world.out, &placed, true);
	world_expect_nothing(world.in);
	fake_done(world.out, 1, 0);
	world_expect_ack(world.in, NEXT);
	/* A new one begins. */
	say(RTE_WRITE, NEXT + 1, ASKS);
	expect_placed();
	shut();
}

CT_TEST(lasthop, pieces_that_do_not_go_on_end_the_connection)
{
	static const struct piece wrong[] = {
		{.type = RTE_MSG, .flags = WHOLE, .seq = NEXT + 1, .len = 10},
		{.type = RTE_MSG,
		 .flags = RTE_LAST,
		 .seq = NEXT,
		 .len = 10,
		 .length = 20,
		 .offset = 10},
		{.type = RTE_WRITE,
		 .flags = ASKS,
		 .seq = NEXT + 1,
		 .len = 10,
		 .key = KEY},
		{.type = RTE_WRITE,
		 .flags = RTE_LAST,
		 .seq = NEXT + 1,
		 .len = 10,
		 .length = 20,
		 .offset = 10,
		 .key = KEY},
		{.type = RTE_WRITE,
		 .flags = RTE_LAST,
		 .seq = NEXT,
		 .len = 9,
		 .length = 20,
		 .offset = 11,
		 .key = KEY},
		{.type = RTE_WRITE,
		 .flags = RTE_LAST,
		 .seq = NEXT,
		 .len = 10,
		 .length = 20,
		 .offset = 10,
		 .key = KEY + 1},
		{.type = RTE_WRITE,
		 .flags = RTE_LAST,
		 .seq = NEXT,
		 .len = 10,
		 .length = 20,
		 .offset = 10,
		 .key = KEY,
		 .addr = REGION},
		{.type = RTE_WRITE,
		 .flags = 0,
		 .seq = NEXT,
		 .len = 10,
		 .length = REGION * 2,
		 .offset = 10,
		 .key = KEY},
	};
	struct piece piece = write_of(NEXT, RTE_FIRST);
	size_t i;

	piece.length = 20;
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		open_ends();
		learn();
		world_say(world.in, &piece);
		CT_EXPECT_TRUE(fake_next(world.out)->placed);
		world_say(world.in, &wrong[i]);
		fake_done(world.out, world.out->in->posted, 0);
		CT_EXPECT_TRUE(world.in->in->closed);
		world_expect_shutdown(world.out, EPROTO, WORLD_ID);
		world_pass(FRT_END_MS);
		world_expect_closed();
		world_end();
	}
}

CT_TEST(lasthop, a_write_waits_until_those_before_it_are_acknowledged)
{
	open_ends();
	learn();
	/* A key that is not known. */
	world_say(world.in, &(struct piece){.type = RTE_WRITE,
					    .flags = ASKS,
					    .seq = NEXT,
					    .len = 10,
					    .key = 8});
	CT_EXPECT_TRUE(world_next(world.out, RTE_WRITE) != NULL);
	say_first(NEXT + 1);
	world_expect_nothing(world.out);
	world_say_ack(world.out, NEXT);
	expect_first();
	say_second(NEXT + 1);
	shut();
}

CT_TEST(lasthop, behind_a_message_that_may_wait_it_is_a_message)
{
	open_ends();
	learn();
	say(RTE_MSG, NEXT, ASKS);
	expect_framed(RTE_MSG, NEXT, WHOLE);
	say_first(NEXT + 1);
	expect_first_framed(NEXT + 1);
	say_second(NEXT + 1);
	CT_EXPECT_TRUE(world_next(world.out, RTE_WRITE) != NULL);
	/* The last router's own says nothing of where it is. */
	fake_done(world.out, world.out->in->posted, 0);
	say(RTE_WRITE, NEXT + 2, ASKS);
	expect_framed(RTE_WRITE, NEXT + 2, ASKS);
	world_say_ack(world.out, NEXT + 2);
	say_first(NEXT + 3);
	expect_first();
	say_second(NEXT + 3);
	shut();
}

CT_TEST(lasthop, a_message_that_has_left_its_receive_is_in_nobodys_way)
{
	open_ends();
	learn();
	say(RTE_MSG, NEXT, ASKS);
	expect_framed(RTE_MSG, NEXT, WHOLE);
	world.out->in->idle = true;
	say(RTE_WRITE, NEXT + 1, ASKS);
	expect_placed();
	shut();
}

/* Otherwise the ACK of the write would be taken for that of the message. */
CT_TEST(lasthop, but_one_that_the_target_acknowledges_is)
{
	open_ends();
	learn();
	say(RTE_MSG, NEXT, DELIVERS);
	expect_framed(RTE_MSG, NEXT, DELIVERS);
	world.out->in->idle = true;
	say(RTE_WRITE, NEXT + 1, ASKS);
	expect_framed(RTE_WRITE, NEXT + 1, ASKS);
	world_say_ack(world.out, NEXT + 1);
	say_first(NEXT + 2);
	expect_first();
	say_second(NEXT + 2);
	shut();
}

CT_TEST(lasthop, acks_of_messages_and_of_writes_are_two)
{
	open_ends();
	learn();
	world.out->in->idle = true;
	say(RTE_WRITE, NEXT, ASKS);
	say(RTE_MSG, NEXT + 1, ASKS);
	fake_done(world.out, world.out->in->posted, 0);
	world_expect_ack(world.in, NEXT);
	world_expect_ack(world.in, NEXT + 1);
	shut();
}

CT_TEST(lasthop, one_that_is_lost_is_not_acknowledged_and_none_behind_it)
{
	open_ends();
	learn();
	say(RTE_WRITE, NEXT, ASKS);
	say(RTE_WRITE, NEXT + 1, ASKS);
	fake_done(world.out, world.out->in->posted - 1, FI_EIO);
	fake_done(world.out, 1, 0);
	world_expect_nothing(world.in);
	fake_down(world.out, FI_EIO);
	world_expect_shutdown(world.in, FI_EIO, WORLD_ID);
	world_pass(FRT_END_MS);
	world_expect_closed();
	world_end();
}

CT_TEST(lasthop, a_key_that_is_recalled_is_returned_and_used_no_more)
{
	open_ends();
	learn();
	say(RTE_WRITE, NEXT, ASKS);
	expect_placed();
	inval(EPOCH);
	/* Behind what was written. */
	expect_returned();
	say(RTE_WRITE, NEXT + 1, ASKS);
	expect_framed(RTE_WRITE, NEXT + 1, ASKS);
	shut();
}

CT_TEST(lasthop, it_is_returned_when_there_is_room_to_say_so)
{
	open_ends();
	learn();
	fake_memory(world.out, false);
	inval(EPOCH);
	world_expect_nothing(world.out);
	fake_memory(world.out, true);
	expect_returned();
	shut();
}

CT_TEST(lasthop, the_rest_of_a_write_is_refused_when_its_region_goes)
{
	struct piece piece = write_of(NEXT, RTE_FIRST);

	open_ends();
	learn();
	piece.length = 20;
	world_say(world.in, &piece);
	CT_EXPECT_TRUE(fake_next(world.out)->placed);
	inval(EPOCH);
	expect_returned();
	piece.flags = RTE_LAST | RTE_ACKREQ;
	piece.offset = 10;
	fake_memory(world.in, false);
	world_say(world.in, &piece);
	world_expect_nothing(world.in);
	fake_memory(world.in, true);
	expect_nack(NEXT, FI_EKEYREJECTED);
	/* Nothing behind it reaches the target. */
	say(RTE_MSG, NEXT + 1, ASKS);
	world_say(world.in, &(struct piece){.type = RTE_READ_REQ, .seq = NEXT + 2});
	world_expect_nothing(world.out);
	fake_done(world.out, world.out->in->posted, 0);
	world_expect_nothing(world.in);
	shut();
}

static void expect_left(void)
{
	world_expect_shutdown(world.in, EPROTO, WORLD_ID);
	world_pass(FRT_END_MS);
	world_expect_closed();
	world_end();
}

CT_TEST(lasthop, an_end_that_tells_of_what_was_not_asked_is_left)
{
	open_ends();
	info_of(world.out, 0, RTE_ACCESS_WRITE);
	expect_left();

	open_ends();
	ask();
	info_key(world.out, BESIDE, 0, RTE_ACCESS_WRITE);
	expect_left();

	open_ends();
	ask();
	info_of(world.out, 0, RTE_ACCESS_WRITE);
	info_of(world.out, 0, RTE_ACCESS_WRITE);
	expect_left();
}

CT_TEST(lasthop, nor_may_it_recall_what_it_has_not_told)
{
	open_ends();
	learn();
	inval(EPOCH + 1);
	expect_left();

	/* It is this router that answers. */
	open_ends();
	learn();
	inval_flags(EPOCH, 0);
	expect_left();

	/* Twice. */
	open_ends();
	learn();
	world.out->in->credit[RTE_RESPONSES] = 0;
	inval(EPOCH);
	inval(EPOCH);
	expect_left();
}

CT_TEST(lasthop, a_write_waits_for_room)
{
	open_ends();
	learn();
	fake_memory(world.out, false);
	say(RTE_WRITE, NEXT, ASKS);
	world_expect_nothing(world.out);
	fake_memory(world.out, true);
	expect_placed();
	shut();
}

/* What would wait for the target goes as a message. */
CT_TEST(lasthop, of_a_client_that_is_gone_all_goes_on)
{
	struct piece piece = write_of(NEXT + 2, RTE_FIRST);

	open_ends();
	learn();
	say(RTE_WRITE, NEXT, ASKS | RTE_CQDATA);
	expect_framed(RTE_WRITE, NEXT, ASKS | RTE_CQDATA);
	world_say_ack(world.out, NEXT);
	world_say(world.in, &(struct piece){.type = RTE_WRITE,
					    .flags = ASKS,
					    .seq = NEXT + 1,
					    .len = 10,
					    .key = 8});
	CT_EXPECT_TRUE(world_next(world.out, RTE_WRITE) != NULL);
	say_first(NEXT + 2);
	say_second(NEXT + 2);
	world_expect_nothing(world.out);
	world_shutdown(world.in, 0);
	piece.length = 20;
	world_expect(world.out, &piece);
	piece.flags = RTE_LAST | RTE_ACKREQ;
	piece.offset = 10;
	world_expect(world.out, &piece);
	world_expect_shutdown(world.out, 0, 0);
	world_pass(FRT_END_MS);
	world_expect_closed();
	world_end();
}

static void end_drained(void)
{
	world_expect_shutdown(world.out, 0, 0);
	world_pass(FRT_END_MS);
	world_expect_closed();
	world_end();
}

/* Its region could not close otherwise until all of that has gone on. */
CT_TEST(lasthop, a_key_is_returned_while_what_a_client_has_left_goes_on)
{
	open_ends();
	learn();
	world.out->in->credit[RTE_REQUESTS] = 0;
	say(RTE_MSG, NEXT, WHOLE);
	world_shutdown(world.in, 0);
	inval(EPOCH);
	expect_returned();
	world_expect_nothing(world.out);
	fake_credit(world.out, RTE_REQUESTS, 1);
	expect_framed(RTE_MSG, NEXT, WHOLE);
	end_drained();

	/* It was recalled before. */
	open_ends();
	learn();
	world.out->in->credit[RTE_REQUESTS] = world.out->in->credit[RTE_RESPONSES] = 0;
	say(RTE_MSG, NEXT, WHOLE);
	inval(EPOCH);
	world_shutdown(world.in, 0);
	fake_credit(world.out, RTE_RESPONSES, 1);
	expect_returned();
	fake_credit(world.out, RTE_REQUESTS, 1);
	expect_framed(RTE_MSG, NEXT, WHOLE);
	end_drained();
}

/* Who is over has no regions any more that anybody writes to. */
CT_TEST(lasthop, nothing_is_taken_of_an_end_that_is_over)
{
	open_ends();
	learn();
	world.in->in->credit[RTE_RESPONSES] = 0;
	world_say(world.out, &(struct piece){.type = RTE_READ_FRAG, .flags = WHOLE});
	world_shutdown(world.out, 0);
	inval(EPOCH);
	world_expect_nothing(world.out);
	fake_credit(world.in, RTE_RESPONSES, 1);
	CT_EXPECT_TRUE(world_next(world.in, RTE_READ_FRAG) != NULL);
	world_expect_shutdown(world.in, 0, 0);
	world_pass(FRT_END_MS);
	world_expect_closed();
	world_end();
}

CT_TEST(lasthop, those_that_come_one_upon_the_other_are_messages)
{
	int i;

	open_ends();
	learn();
	say(RTE_WRITE, NEXT, ASKS);
	expect_placed();
	for (i = 1; i <= 3; i++) {
		say(RTE_WRITE, NEXT + (uint64_t)i, ASKS);
		expect_framed(RTE_WRITE, NEXT + (uint64_t)i, ASKS);
	}
	fake_done(world.out, world.out->in->posted, 0);
	world_expect_ack(world.in, NEXT);
	world_say_ack(world.out, NEXT + 3);
	world_expect_ack(world.in, NEXT + 3);
	/* One by one again, but not for long enough. */
	say(RTE_WRITE, NEXT + 4, ASKS);
	expect_framed(RTE_WRITE, NEXT + 4, ASKS);
	shut();
}

CT_TEST(lasthop, and_those_between_larger_ones_are_not)
{
	open_ends();
	learn();
	say_first(NEXT);
	expect_first();
	say_second(NEXT);
	CT_EXPECT_TRUE(fake_next(world.out)->placed);
	say(RTE_WRITE, NEXT + 1, ASKS);
	expect_placed();
	/* The one before was short. */
	say(RTE_WRITE, NEXT + 2, ASKS);
	expect_framed(RTE_WRITE, NEXT + 2, ASKS);
	shut();
}

CT_TEST(lasthop, behind_what_takes_a_receive_or_is_not_acknowledged_it_is_a_message)
{
	static const uint8_t flags[] = {ASKS | RTE_CQDATA, WHOLE};
	size_t i;

	for (i = 0; i < sizeof(flags); i++) {
		open_ends();
		learn();
		say(RTE_WRITE, NEXT, flags[i]);
		CT_EXPECT_TRUE(fake_next(world.out) != NULL);
		say_first(NEXT + 1);
		say_second(NEXT + 1);
		/* One that goes by the lower provider already has another number. */
		if (flags[i] & RTE_CQDATA)
			expect_first_framed(NEXT + 1);
		else
			expect_first();
		shut();
	}
	open_ends();
	ask();
	info_of(world.out, 0, RTE_ACCESS_WRITE);
	say(RTE_WRITE, NEXT, WHOLE);
	expect_framed(RTE_WRITE, NEXT, WHOLE);
	say_first(NEXT + 1);
	expect_first_framed(NEXT + 1);
	shut();
}

static void say_key(uint64_t seq, uint64_t key, uint32_t len)
{
	struct piece piece = write_of(seq, ASKS);

	piece.key = key;
	piece.len = len;
	world_say(world.in, &piece);
	world_expect(world.out, &piece);
	world_say_ack(world.out, seq);
	world_expect_ack(world.in, seq);
}

CT_TEST(lasthop, a_key_is_not_taken_for_the_one_in_its_place)
{
	open_ends();
	learn();
	say_key(NEXT, BESIDE, 10);
	shut();
}

CT_TEST(lasthop, nor_counted_for_it)
{
	uint64_t seq;

	open_ends();
	for (seq = 1; seq <= 8; seq++)
		say_key(seq, seq % 4 ? KEY : BESIDE, 10);
	world_expect_nothing(world.out);
	shut();
}

CT_TEST(lasthop, one_that_cannot_be_used_leaves_its_place)
{
	uint64_t seq;

	open_ends();
	ask();
	info_of(world.out, FI_EOPNOTSUPP, 0);
	for (seq = 5; seq <= 7; seq++)
		say_key(seq, BESIDE, 10);
	world_say(world.in, &(struct piece){.type = RTE_WRITE,
					    .flags = ASKS,
					    .seq = 8,
					    .len = 10,
					    .key = BESIDE});
	CT_EXPECT_TRUE(world_next(world.out, RTE_WRITE) != NULL);
	CT_EXPECT_TRUE(world_next(world.out, RTE_MR_RESOLVE) != NULL);
	shut();
}

CT_TEST(lasthop, writes_of_nothing_count_for_no_key)
{
	uint64_t seq;

	open_ends();
	for (seq = 1; seq <= 5; seq++)
		say_key(seq, KEY, 0);
	world_expect_nothing(world.out);
	shut();

	open_ends();
	learn();
	say_key(NEXT, KEY, 0);
	shut();
}

CT_TEST(lasthop, a_region_is_written_to_its_last_byte)
{
	struct piece piece = write_of(NEXT, RTE_FIRST);
	struct piece placed = {.addr = BASE + REGION - 20, .key = LOWER, .len = 10};

	open_ends();
	learn();
	piece.length = 20;
	piece.addr = REGION - 20;
	world_say(world.in, &piece);
	world_expect_placed(world.out, &placed, false);
	shut();
}

CT_TEST(lasthop, a_piece_that_nobody_began_goes_to_the_target)
{
	struct piece piece = write_of(NEXT, RTE_LAST | RTE_ACKREQ);

	open_ends();
	learn();
	piece.length = 20;
	piece.offset = 10;
	world_say(world.in, &piece);
	world_expect(world.out, &piece);
	shut();
}

/* The answer waits for room, of which requests have enough. */
CT_TEST(lasthop, a_key_is_not_used_between_recall_and_answer)
{
	open_ends();
	learn();
	world.out->in->credit[RTE_RESPONSES] = 0;
	inval(EPOCH);
	say_first(NEXT);
	expect_first_framed(NEXT);
	fake_credit(world.out, RTE_RESPONSES, 1);
	expect_returned();
	shut();
}

CT_TEST(lasthop, after_one_that_is_lost_longer_ones_are_not_acknowledged_either)
{
	open_ends();
	learn();
	say(RTE_WRITE, NEXT, ASKS);
	expect_placed();
	say_first(NEXT + 1);
	expect_first();
	say_second(NEXT + 1);
	fake_done(world.out, world.out->in->posted - 2, FI_EIO);
	fake_done(world.out, 2, 0);
	world_expect_nothing(world.in);
	fake_down(world.out, FI_EIO);
	world_expect_shutdown(world.in, FI_EIO, WORLD_ID);
	world_pass(FRT_END_MS);
	world_expect_closed();
	world_end();
}

/* It costs no more as a message than it would after waiting. */
CT_TEST(lasthop, a_short_one_between_larger_ones_waits_for_nothing)
{
	open_ends();
	learn();
	say_first(NEXT);
	expect_first();
	say_second(NEXT);
	CT_EXPECT_TRUE(fake_next(world.out)->placed);
	world_say(world.in, &(struct piece){.type = RTE_WRITE,
					    .flags = ASKS,
					    .seq = NEXT + 1,
					    .len = 10,
					    .key = BESIDE});
	CT_EXPECT_TRUE(world_next(world.out, RTE_WRITE) != NULL);
	say(RTE_WRITE, NEXT + 2, ASKS);
	expect_framed(RTE_WRITE, NEXT + 2, ASKS);
	shut();
}

CT_TEST(lasthop, what_does_not_ask_is_not_acknowledged)
{
	const struct piece placed = {.addr = BASE, .key = LOWER, .len = 10};
	struct piece piece = write_of(NEXT, RTE_FIRST | RTE_ACKREQ);

	open_ends();
	learn();
	say(RTE_WRITE, NEXT, WHOLE);
	world_expect_placed(world.out, &placed, false);
	fake_done(world.out, world.out->in->posted, 0);
	world_expect_nothing(world.in);
	shut();

	/* It is the last piece that asks. */
	open_ends();
	learn();
	piece.length = 20;
	world_say(world.in, &piece);
	world_expect_placed(world.out, &placed, false);
	fake_done(world.out, world.out->in->posted, 0);
	world_expect_nothing(world.in);
	shut();
}

CT_TEST(lasthop, what_was_placed_before_the_target_was_lost_is_acknowledged)
{
	open_ends();
	learn();
	say(RTE_WRITE, NEXT, ASKS);
	fake_down(world.out, FI_EIO);
	fake_done(world.out, world.out->in->posted, 0);
	world_expect_ack(world.in, NEXT);
	world_expect_shutdown(world.in, FI_EIO, WORLD_ID);
	world_pass(FRT_END_MS);
	world_expect_closed();
	world_end();
}

CT_TEST(lasthop, the_target_is_not_left_before_all_is_there)
{
	open_ends();
	learn();
	fake_done(world.out, world.out->in->posted, 0);
	fake_done(world.in, world.in->in->posted, 0);
	say(RTE_WRITE, NEXT, ASKS);
	expect_placed();
	world_shutdown(world.in, 0);
	world_expect_shutdown(world.out, 0, 0);
	CT_ASSERT_EQ(world.out->in->posted, 2);
	fake_done(world.out, 1, 0);
	CT_EXPECT_FALSE(world.out->in->closed);
	fake_done(world.out, 1, 0);
	fake_done(world.in, world.in->in->posted, 0);
	world_expect_closed();
	world_end();
}

CT_TEST(lasthop, a_write_has_as_many_pieces_as_it_needs)
{
	struct piece piece = write_of(NEXT, RTE_FIRST);
	struct piece placed = {.addr = BASE, .key = LOWER, .len = 10};

	open_ends();
	learn();
	for (piece.length = 40; piece.offset < 40; piece.offset += 10) {
		if (piece.offset == 30)
			piece.flags = RTE_LAST | RTE_ACKREQ;
		world_say(world.in, &piece);
		world_expect_placed(world.out, &placed, piece.offset == 30);
		piece.flags = 0;
		placed.addr += 10;
		placed.offset += 10;
	}
	shut();
}

CT_TEST(lasthop, and_is_counted_once)
{
	uint64_t seq;

	open_ends();
	for (seq = 1; seq <= 3; seq++) {
		say_first(seq);
		expect_first_framed(seq);
		say_second(seq);
		CT_EXPECT_TRUE(world_next(world.out, RTE_WRITE) != NULL);
	}
	world_expect_nothing(world.out);
	shut();
}

/* Nothing is promised of a write behind a read. */
CT_TEST(lasthop, a_read_is_not_waited_for)
{
	open_ends();
	learn();
	world_say(world.in, &(struct piece){.type = RTE_READ_REQ, .seq = NEXT});
	CT_EXPECT_TRUE(world_next(world.out, RTE_READ_REQ) != NULL);
	say_first(NEXT + 1);
	expect_first();
	say_second(NEXT + 1);
	shut();
}

/* Its receive may be posted only after what is behind it. */
CT_TEST(lasthop, nor_a_message_that_the_target_acknowledges)
{
	open_ends();
	learn();
	say(RTE_MSG, NEXT, DELIVERS);
	expect_framed(RTE_MSG, NEXT, DELIVERS);
	say_first(NEXT + 1);
	expect_first_framed(NEXT + 1);
	shut();
}

CT_TEST(lasthop, an_ack_takes_back_nothing)
{
	open_ends();
	learn();
	world_say_ack(world.out, NEXT - 2);
	say_first(NEXT);
	expect_first();
	say_second(NEXT);
	shut();
}

CT_TEST(lasthop, what_is_out_of_order_goes_to_the_target)
{
	struct piece piece = write_of(NEXT, RTE_FIRST);

	open_ends();
	learn();
	say_first(NEXT - 1);
	expect_first_framed(NEXT - 1);
	shut();

	/* Between the pieces of another one. */
	open_ends();
	learn();
	piece.length = 20;
	piece.key = 8;
	world_say(world.in, &piece);
	CT_EXPECT_TRUE(world_next(world.out, RTE_WRITE) != NULL);
	world_say_ack(world.out, NEXT);
	say_first(NEXT + 1);
	expect_first_framed(NEXT + 1);
	shut();
}

CT_TEST(lasthop, what_is_too_long_for_the_lower_provider_goes_to_the_target)
{
	open_ends();
	learn();
	/* It is the second piece that may be. */
	world.port[1].lower_rma = 19;
	say_first(NEXT);
	expect_first_framed(NEXT);
	shut();

	open_ends();
	learn();
	world.port[1].lower_rma = 20;
	say_first(NEXT);
	expect_first();
	say_second(NEXT);
	shut();
}

/* No piece is longer than the way's frag. */
CT_TEST(lasthop, and_what_comes_in_shorter_pieces_does_not)
{
	struct piece piece = write_of(NEXT, RTE_FIRST);

	open_with(RTE_FRAG_MIN, RTE_FRAG_MIN, RTE_CLIENT, RTE_TARGET);
	learn();
	piece.length = REGION;
	world_say(world.in, &piece);
	expect_first();
	shut();
}

CT_TEST(lasthop, an_ack_may_come_with_something_else)
{
	open_ends();
	learn();
	world_say(world.in, &(struct piece){.type = RTE_WRITE,
					    .flags = ASKS,
					    .seq = NEXT,
					    .len = 10,
					    .key = 8});
	CT_EXPECT_TRUE(world_next(world.out, RTE_WRITE) != NULL);
	say_first(NEXT + 1);
	world_expect_nothing(world.out);
	world_say(world.out, &(struct piece){.type = RTE_READ_FRAG,
					     .flags = WHOLE,
					     .len = 10,
					     .ack = NEXT});
	expect_first();
	say_second(NEXT + 1);
	shut();
}

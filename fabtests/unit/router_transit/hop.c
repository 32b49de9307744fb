/* SPDX-License-Identifier: BSD-2-Clause */
#include "hop.h"

void hop_open_with(uint32_t frag, size_t lower, enum rte_role in, enum rte_role out)
{
	world_tear_down_open(NULL);
	world_begin();
	world.config_device[1].frag = frag;
	world.port[0].lower_rma = world.port[1].lower_rma = lower;
	world_open(in, out);
	world_credit(99);
}

void hop_open_roles(enum rte_role in, enum rte_role out)
{
	hop_open_with(65536, 1u << 20, in, out);
}

void hop_open(void)
{
	hop_open_roles(RTE_CLIENT, RTE_TARGET);
}

void hop_learned(void)
{
	hop_open();
	hop_learn();
}

void hop_set_up(struct world **t)
{
	*t = &world;
	hop_learned();
}

struct piece hop_write(uint64_t seq, uint8_t flags)
{
	return (struct piece){
		.type = RTE_WRITE, .seq = seq, .flags = flags, .len = 10, .key = HOP_KEY};
}

void hop_say(uint8_t type, uint64_t seq, uint8_t flags)
{
	struct piece piece = hop_write(seq, flags);

	piece.type = type;
	world_say(world.in, &piece);
}

void hop_expect_framed(uint8_t type, uint64_t seq, uint8_t flags)
{
	struct piece piece = hop_write(seq, flags);

	piece.type = type;
	world_expect(world.out, &piece);
}

void hop_expect_placed(void)
{
	const struct piece piece = {.addr = HOP_BASE, .key = HOP_LOWER, .len = 10};

	world_expect_placed(world.out, &piece, true);
}

void hop_say_first(uint64_t seq)
{
	struct piece piece = hop_write(seq, RTE_FIRST);

	piece.length = 20;
	world_say(world.in, &piece);
}

void hop_say_second(uint64_t seq)
{
	struct piece piece = hop_write(seq, RTE_LAST | RTE_ACKREQ);

	piece.length = 20;
	piece.offset = 10;
	world_say(world.in, &piece);
}

void hop_expect_first_framed(uint64_t seq)
{
	struct piece piece = hop_write(seq, RTE_FIRST);

	piece.length = 20;
	world_expect(world.out, &piece);
}

void hop_expect_first(void)
{
	const struct piece piece = {.addr = HOP_BASE, .key = HOP_LOWER, .len = 10};

	world_expect_placed(world.out, &piece, false);
}

void hop_framed(uint8_t type, uint64_t seq, uint8_t flags)
{
	hop_say(type, seq, flags);
	hop_expect_framed(type, seq, flags);
}

void hop_placed(uint64_t seq)
{
	hop_say(RTE_WRITE, seq, HOP_ASKS);
	hop_expect_placed();
}

void hop_first_framed(uint64_t seq)
{
	hop_say_first(seq);
	hop_expect_first_framed(seq);
}

void hop_first_placed(uint64_t seq)
{
	hop_say_first(seq);
	hop_expect_first();
}

void hop_say_key(uint64_t seq, uint64_t key)
{
	struct piece piece = hop_write(seq, HOP_ASKS);

	piece.key = key;
	world_say(world.in, &piece);
}

void hop_pass_key(uint64_t seq, uint64_t key)
{
	hop_say_key(seq, key);
	world_next(world.out, RTE_WRITE);
}

void hop_info_key(struct rte_peer *peer, uint64_t key, int status, uint32_t access)
{
	struct rte_packet packet = {
		.head = {.type = RTE_MR_INFO, .flags = status ? RTE_ERR : 0}};
	const struct rte_mr_info info = {
		.key = key,
		.lower_key = HOP_LOWER,
		.base = HOP_BASE,
		.length = HOP_REGION,
		.epoch = HOP_EPOCH,
		.access = access,
		.status = (uint32_t)status,
	};
	uint8_t buf[128];

	fake_say(peer, buf, (size_t)rte_mr_info_pack(&packet, &info, buf, sizeof(buf)),
		 NULL);
}

void hop_info(struct rte_peer *peer, int status, uint32_t access)
{
	hop_info_key(peer, HOP_KEY, status, access);
}

void hop_inval_flags(uint64_t epoch, uint8_t flags)
{
	struct rte_packet packet = {.head = {.type = RTE_MR_INVAL, .flags = flags}};
	const struct rte_mr_inval inval = {.key = HOP_KEY, .epoch = epoch};
	uint8_t buf[64];

	fake_say(world.out, buf,
		 (size_t)rte_mr_inval_pack(&packet, &inval, buf, sizeof(buf)), NULL);
}

void hop_inval(uint64_t epoch)
{
	hop_inval_flags(epoch, RTE_ACKREQ);
}

void hop_expect_returned(void)
{
	const struct fake_message *message = world_next(world.out, RTE_MR_INVAL);
	struct rte_mr_inval inval;

	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_mr_inval_parse(&inval, &message->packet), RTE_OK);
	CT_EXPECT_EQ(message->packet.head.flags, 0);
	CT_EXPECT_EQ(inval.key, HOP_KEY);
	CT_EXPECT_EQ(inval.epoch, HOP_EPOCH);
}

void hop_ask(void)
{
	uint64_t seq;

	for (seq = 1; seq <= 4; seq++) {
		hop_framed(RTE_WRITE, seq, HOP_ASKS);
	}
	CT_EXPECT_TRUE(world_next(world.out, RTE_MR_RESOLVE) != NULL);
	world_say_ack(world.out, 4);
	world_expect_ack(world.in, 4);
}

void hop_learn(void)
{
	uint64_t seq;

	hop_ask();
	hop_info(world.out, 0, RTE_ACCESS_READ | RTE_ACCESS_WRITE);
	for (seq = 5; seq < HOP_NEXT; seq++) {
		hop_framed(RTE_WRITE, seq, HOP_ASKS);
		world_say_ack(world.out, seq);
		world_expect_ack(world.in, seq);
	}
}

void hop_acked(uint64_t seq, uint64_t key, uint32_t len)
{
	struct piece piece = hop_write(seq, HOP_ASKS);

	piece.key = key;
	piece.len = len;
	world_say(world.in, &piece);
	world_expect(world.out, &piece);
	world_say_ack(world.out, seq);
	world_expect_ack(world.in, seq);
}

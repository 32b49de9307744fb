/* SPDX-License-Identifier: BSD-2-Clause */
/* What is received in a lane goes on in that lane. */
#include <errno.h>
#include <rdma/fi_errno.h>

#include "transit/forward.h"
#include "world.h"

#define WHOLE (RTE_FIRST | RTE_LAST)

CT_FIXTURE(forward, struct world *, world_set_up_routers, world_tear_down_open);

CT_TEST_F(forward, a_small_payload_is_copied_and_its_receive_is_free_at_once)
{
	const struct piece piece = {.flags = WHOLE | RTE_CQDATA,
				    .seq = 1,
				    .len = FRT_COPY};

	fake_credit(world.out, RTE_REQUESTS, 1);
	world_say(world.in, &piece);
	CT_EXPECT_EQ(world.in->in->receives, 0);
	world_expect(world.out, &piece);
	fake_done(world.out, 1, 0);
}

CT_TEST_F(forward, a_larger_one_is_sent_from_where_it_was_received)
{
	const struct piece piece = {.flags = WHOLE, .seq = 1, .len = FRT_COPY + 1};
	struct fake_message *message;

	world.port[1].index = 1;
	fake_credit(world.out, RTE_REQUESTS, 1);
	world_say(world.in, &piece);
	CT_EXPECT_EQ(world.in->in->receives, 1);
	message = fake_next(world.out);
	CT_ASSERT_NE(message, NULL);
	CT_EXPECT_EQ(message->tx->data_len, FRT_COPY + 1);
	/* For the port that sends it. */
	CT_EXPECT_EQ((uintptr_t)message->tx->desc & 1, 1);
	world.out->in->read--;
	world_expect(world.out, &piece);
	fake_done(world.out, 1, 0);
	CT_EXPECT_EQ(world.in->in->receives, 0);
}

CT_TEST_F(forward, both_ways)
{
	static const struct piece pieces[] = {
		{.flags = WHOLE, .seq = 1},
		{.type = RTE_WRITE, .flags = WHOLE | RTE_ACKREQ, .seq = 2, .len = 700},
		{.type = RTE_READ_REQ, .seq = 3},
		{.type = RTE_READ_FRAG, .flags = WHOLE, .seq = 1, .len = 800},
		{.type = RTE_NACK, .flags = RTE_ERR, .seq = 2},
	};
	size_t i;

	fake_credit(world.out, RTE_REQUESTS, 5);
	fake_credit(world.out, RTE_RESPONSES, 5);
	fake_credit(world.in, RTE_REQUESTS, 5);
	fake_credit(world.in, RTE_RESPONSES, 5);
	for (i = 0; i < 5; i++) {
		CT_NOTE("row %zu", i);
		world_say(world.in, &pieces[i]);
		world_expect(world.out, &pieces[i]);
		world_say(world.out, &pieces[i]);
		world_expect(world.in, &pieces[i]);
	}
	/* Data that were asked for. */
	CT_EXPECT_EQ(world.out->in->expected, 99);
	CT_EXPECT_EQ(world.in->in->expected, 99);
	fake_done(world.out, 5, 0);
	fake_done(world.in, 5, 0);
}

CT_TEST_F(forward, a_landing_slot_goes_into_a_landing_slot)
{
	const struct piece piece = {
		.flags = WHOLE | RTE_CRC, .seq = 1, .len = 65536, .slot = true};

	world.out->in->slot_len = 65536;
	world.out->in->slots[RTE_REQUESTS] = 1;
	fake_credit(world.out, RTE_REQUESTS, 1);
	world_say(world.in, &piece);
	world_expect(world.out, &piece);
	CT_EXPECT_EQ(world.in->in->receives, 1);
	fake_done(world.out, 1, 0);
	CT_EXPECT_EQ(world.in->in->receives, 0);
}

CT_TEST_F(forward, what_a_send_holds_needs_no_slot)
{
	struct piece piece = {.flags = WHOLE, .seq = 1, .len = WORLD_EAGER, .slot = true};

	world.out->in->slot_len = 65536;
	world.out->in->slots[RTE_REQUESTS] = 1;
	fake_credit(world.out, RTE_REQUESTS, 1);
	world_say(world.in, &piece);
	piece.slot = false;
	world_expect(world.out, &piece);
	CT_EXPECT_EQ(world.out->in->slots[RTE_REQUESTS], 1);
	fake_done(world.out, 1, 0);
}

/* Each piece says which part it is; only the last one asks. */
CT_TEST_F(forward, without_a_slot_it_is_cut)
{
	const uint64_t length = 70000, from = 10000;
	struct piece piece = {.type = RTE_WRITE,
			      .flags = RTE_LAST | RTE_ACKREQ | RTE_CRC | RTE_CQDATA,
			      .seq = 7,
			      .len = 60000,
			      .length = length,
			      .offset = from,
			      .slot = true};
	uint32_t i;

	fake_credit(world.out, RTE_REQUESTS, 100);
	world_say(world.in, &piece);
	for (i = 0; i < 60; i++) {
		CT_NOTE("piece %u", i);
		piece = (struct piece){.type = RTE_WRITE,
				       .flags = RTE_CQDATA,
				       .seq = 7,
				       .len = WORLD_EAGER,
				       .length = length,
				       .offset = from + i * WORLD_EAGER};
		if (i == 59)
			piece.flags |= RTE_LAST | RTE_ACKREQ;
		world_expect(world.out, &piece);
	}
	world_expect_nothing(world.out);
	fake_done(world.out, 59, 0);
	CT_EXPECT_EQ(world.in->in->receives, 1);
	fake_done(world.out, 1, 0);
	CT_EXPECT_EQ(world.in->in->receives, 0);
	CT_EXPECT_EQ(world_lane(FRT_IN, RTE_REQUESTS)->pieces, 60);
	CT_EXPECT_EQ(world_lane(FRT_IN, RTE_REQUESTS)->bytes, 60000);
	CT_EXPECT_EQ(world_lane(FRT_IN, RTE_REQUESTS)->messages, 1);
}

/* The target refuses it before any of it is there. */
CT_TEST_F(forward, each_piece_of_a_durable_write_says_that_it_is_one)
{
	const uint8_t durable = RTE_ACKREQ | RTE_COMMIT;
	struct piece piece = {.type = RTE_WRITE,
			      .flags = WHOLE | durable,
			      .seq = 7,
			      .len = 3 * WORLD_EAGER,
			      .slot = true};
	uint32_t i;

	fake_credit(world.out, RTE_REQUESTS, 3);
	world_say(world.in, &piece);
	for (i = 0; i < 3; i++) {
		CT_NOTE("piece %u", i);
		piece = (struct piece){.type = RTE_WRITE,
				       .flags = durable | (i ? 0 : RTE_FIRST) |
						(i == 2 ? RTE_LAST : 0),
				       .seq = 7,
				       .len = WORLD_EAGER,
				       .length = 3 * WORLD_EAGER,
				       .offset = i * WORLD_EAGER};
		world_expect(world.out, &piece);
	}
	/* The last router says nothing of it when the last of it has been sent. */
	fake_done(world.out, 3, 0);
	world_expect_nothing(world.in);
}

CT_TEST_F(forward, the_first_piece_is_the_first)
{
	struct piece piece = {.flags = WHOLE | RTE_ACKREQ | RTE_DELIVER,
			      .seq = 7,
			      .len = 1500,
			      .slot = true,
			      .ack = 9};

	fake_credit(world.out, RTE_REQUESTS, 2);
	world_say(world.in, &piece);
	piece = (struct piece){
		.flags = RTE_FIRST, .seq = 7, .len = 1000, .length = 1500, .ack = 9};
	world_expect(world.out, &piece);
	piece = (struct piece){.flags = RTE_LAST | RTE_ACKREQ | RTE_DELIVER,
			       .seq = 7,
			       .len = 500,
			       .length = 1500,
			       .offset = 1000};
	world_expect(world.out, &piece);
	/* The last was copied, but the first was not. */
	CT_EXPECT_EQ(world.in->in->receives, 1);
	fake_done(world.out, 1, 0);
	CT_EXPECT_EQ(world.in->in->receives, 0);
	fake_done(world.out, 1, 0);
}

CT_TEST_F(forward, slots_that_are_too_short_take_what_they_hold)
{
	struct piece piece = {.flags = WHOLE, .seq = 1, .len = 10000, .slot = true};

	world.out->in->slot_len = 6000;
	world.out->in->slots[RTE_REQUESTS] = 2;
	fake_credit(world.out, RTE_REQUESTS, 2);
	world_say(world.in, &piece);
	piece = (struct piece){
		.flags = RTE_FIRST, .seq = 1, .len = 6000, .length = 10000, .slot = true};
	world_expect(world.out, &piece);
	piece = (struct piece){.flags = RTE_LAST,
			       .seq = 1,
			       .len = 4000,
			       .length = 10000,
			       .offset = 6000,
			       .slot = true};
	world_expect(world.out, &piece);
	fake_done(world.out, 2, 0);
}

CT_TEST_F(forward, slots_below_a_send_are_left_alone)
{
	struct piece piece = {.flags = WHOLE, .seq = 1, .len = 1500, .slot = true};

	world.out->in->slot_len = 10;
	world.out->in->slots[RTE_REQUESTS] = 2;
	fake_credit(world.out, RTE_REQUESTS, 2);
	world_say(world.in, &piece);
	piece = (struct piece){.flags = RTE_FIRST, .seq = 1, .len = 1000, .length = 1500};
	world_expect(world.out, &piece);
	piece = (struct piece){
		.flags = RTE_LAST, .seq = 1, .len = 500, .length = 1500, .offset = 1000};
	world_expect(world.out, &piece);
	CT_EXPECT_EQ(world.out->in->slots[RTE_REQUESTS], 2);
	fake_done(world.out, 2, 0);
}

CT_TEST_F(forward, pieces_wait_for_credit_one_by_one)
{
	struct piece piece = {.flags = WHOLE, .seq = 1, .len = 2500, .slot = true};
	uint32_t i;

	world_say(world.in, &piece);
	for (i = 0; i < 3; i++) {
		world_expect_nothing(world.out);
		fake_credit(world.out, RTE_REQUESTS, 1);
		world_next(world.out, RTE_MSG);
	}
	CT_EXPECT_EQ(world.in->in->receives, 1);
	fake_done(world.out, 3, 0);
	CT_EXPECT_EQ(world.in->in->receives, 0);
}

/* In a lane all goes in order, and what waits is in its receive. */
CT_TEST_F(forward, a_lane_keeps_its_order)
{
	struct piece piece = {.flags = WHOLE, .len = 100};
	uint32_t i;

	for (i = 1; i <= 10; i++) {
		piece.seq = i;
		world_say(world.in, &piece);
	}
	CT_EXPECT_EQ(world.in->in->receives, 10);
	CT_EXPECT_EQ(world_lane(FRT_IN, RTE_REQUESTS)->queued, 10);
	fake_credit(world.out, RTE_REQUESTS, 4);
	CT_EXPECT_EQ(world.in->in->receives, 6);
	fake_credit(world.out, RTE_REQUESTS, 6);
	for (i = 1; i <= 10; i++) {
		piece.seq = i;
		world_expect(world.out, &piece);
	}
	fake_done(world.out, 10, 0);
}

CT_TEST_F(forward, lanes_do_not_wait_for_each_other)
{
	const struct piece request = {.flags = WHOLE, .seq = 1, .len = 100};
	const struct piece response = {
		.type = RTE_READ_FRAG, .flags = WHOLE, .seq = 1, .len = 100};

	world_say(world.in, &request);
	fake_credit(world.out, RTE_RESPONSES, 1);
	world_say(world.in, &response);
	world_expect(world.out, &response);
	/* And the other way round. */
	world_say(world.in, &response);
	fake_credit(world.out, RTE_REQUESTS, 1);
	world_expect(world.out, &request);
	CT_EXPECT_EQ(world_lane(FRT_IN, RTE_RESPONSES)->queued, 1);
	fake_done(world.out, 2, 0);
}

CT_TEST_F(forward, who_waits_and_for_how_long_is_counted)
{
	const struct piece piece = {.flags = WHOLE, .seq = 1, .len = 100};
	uint64_t now;
	const struct frt_lane *lane = world_lane(FRT_OUT, RTE_REQUESTS);

	world_say(world.out, &piece);
	CT_EXPECT_EQ(lane->stalls, 1);
	ct_time_pass(20);
	now = lane->stall_at + 20000000;
	CT_EXPECT_EQ(lane->stall_ns, 0);
	CT_EXPECT_EQ(frt_lane_stalled(lane, now), 20000000);
	/* Another one waits with it. */
	world_say(world.out, &piece);
	fake_credit(world.in, RTE_REQUESTS, 2);
	CT_EXPECT_EQ(lane->stall_ns, 20000000);
	CT_EXPECT_EQ(frt_lane_stalled(lane, now + 1), 20000000);
	CT_EXPECT_EQ(lane->stalls, 1);
	/* The other way nobody has waited. */
	CT_EXPECT_EQ(world_lane(FRT_IN, RTE_REQUESTS)->stalls, 0);
	fake_done(world.in, 2, 0);
}

CT_TEST_F(forward, a_malformed_message_is_its_connections_end_alone)
{
	struct piece piece = {.flags = WHOLE, .seq = 1, .len = 100};
	uint8_t buf[256];
	struct rte_packet packet = {.head = {.type = RTE_MSG, .flags = WHOLE, .plen = 8}};
	struct rte_msg msg = {.slot = RTE_SLOT_NONE, .length = 8};
	ssize_t len;

	fake_credit(world.out, RTE_REQUESTS, 2);
	world_say(world.in, &piece);
	world_expect(world.out, &piece);
	len = rte_msg_pack(&packet, &msg, buf, sizeof(buf));
	buf[32] = 99; /* length: but it has RTE_LAST */
	fake_say(world.in, buf, (size_t)len + 8, NULL);
	CT_EXPECT_EQ(world.in->in->status, EPROTO);
	world_expect_shutdown(world.out, EPROTO, WORLD_ID);
	world_end();
}

CT_TEST_F(forward, no_message_allocates)
{
	const struct piece small = {.flags = WHOLE, .seq = 1, .len = 100};
	uint32_t i;

	for (i = 0; i < 4; i++)
		world_say(world.in, &small);
	/* The fake takes two for each message, and nobody else one. */
	ct_fail_alloc(9);
	fake_credit(world.out, RTE_REQUESTS, 4);
	CT_EXPECT_FALSE(ct_alloc_failed());
	fake_done(world.out, 4, 0);
}

/* What a piece is made of, without a payload of 4 GiB. */
static ssize_t pack(const struct rte_packet *packet, const union frt_body *body,
		    uint32_t gone, uint32_t len, uint8_t *buf, size_t size)
{
	const struct frt_piece piece = {
		.flags = packet->head.flags,
		.gone = gone,
		.len = len,
	};

	return frt_piece_pack(&piece, packet, body, buf, size);
}

CT_TEST_F(forward, a_piece_behind_4_gib_stays_there)
{
	const uint64_t at = (UINT64_C(1) << 32) - 10;
	const struct rte_packet packet = {
		.head = {.type = RTE_MSG, .flags = RTE_LAST, .seq = 1, .plen = 30}};
	const union frt_body body = {
		.msg = {.slot = RTE_SLOT_NONE, .length = at + 30, .offset = at}};
	struct rte_packet out;
	struct rte_msg msg;
	uint8_t buf[256] = {0};
	const ssize_t len = pack(&packet, &body, 20, 10, buf, sizeof(buf));

	CT_ASSERT_GT(len, 0);
	CT_ASSERT_EQ(rte_packet_parse(&out, buf, (size_t)len + 10), RTE_OK);
	CT_ASSERT_EQ(rte_msg_parse(&msg, &out), RTE_OK);
	CT_EXPECT_EQ(msg.offset, at + 20);
	CT_EXPECT_EQ(msg.length, at + 30);
}

CT_TEST_F(forward, why_it_was_refused_goes_on)
{
	struct rte_packet packet = {
		.head = {.type = RTE_NACK, .flags = RTE_ERR},
		.options = {.present = 1u << RTE_TLV_WHY},
	};
	const union frt_body body = {.nack = {.request = 1, .status = FI_EIO}};
	struct rte_packet out;
	uint8_t buf[RTE_HLEN_MAX] = {0};
	ssize_t len;

	packet.options.text[RTE_TLV_WHY] = "no such region";
	len = pack(&packet, &body, 0, 0, buf, sizeof(buf));
	CT_ASSERT_GT(len, 0);
	CT_ASSERT_EQ(rte_packet_parse(&out, buf, (size_t)len), RTE_OK);
	CT_EXPECT_STREQ(out.options.text[RTE_TLV_WHY], "no such region");
}

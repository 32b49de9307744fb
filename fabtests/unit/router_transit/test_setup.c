/* SPDX-License-Identifier: BSD-2-Clause */
/* How connections come about. */
#include <errno.h>
#include <rdma/fi_errno.h>

#include "world.h"

CT_TEST(setup, a_request_goes_on_with_what_this_router_knows)
{
	struct fake_message *message;
	struct rte_conn_req req;

	world_begin();
	world_ask(RTE_CLIENT);
	CT_EXPECT_EQ(world.node.load, 1);
	CT_EXPECT_EQ(crn_addr_port(&fake.connected.sa), 7);
	ct_time_pass(300);
	world.out->eager_max = 5000;
	world.out->frag_max = 32768;
	fake_up(world.out, RTE_TARGET, 3);
	message = world_next(world.out, RTE_CONN_REQ);
	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_conn_req_parse(&req, &message->packet), RTE_OK);
	CT_EXPECT_MEMEQ(req.id, world.req.id, sizeof(req.id));
	/* A router less may follow where a router follows alone. */
	CT_EXPECT_EQ(req.ttl, 9);
	CT_EXPECT_EQ(req.source.as, 1);
	CT_EXPECT_EQ(req.source.host, 0x0a000001);
	CT_EXPECT_EQ(req.target.port, 7);
	CT_EXPECT_EQ(req.timeout, 700);
	CT_EXPECT_EQ(req.frag, 32768);
	CT_EXPECT_EQ(req.eager, 5000);
	CT_EXPECT_EQ(req.rate, 10000000000);
	CT_EXPECT_EQ(req.latency, 2000);
	CT_EXPECT_EQ(req.features,
		     RTE_FEATURE_RMA | RTE_FEATURE_COMMIT | RTE_FEATURE_DELIVER);
	CT_EXPECT_EQ(message->packet.options.present, 1u << RTE_TLV_PATH);
	CT_EXPECT_EQ(message->packet.options.hops, 1);
	CT_EXPECT_EQ(message->packet.options.hop[0].router, WORLD_ID);
	CT_EXPECT_EQ(message->packet.head.plen, 5);
	CT_EXPECT_MEMEQ(message->packet.payload, "hello", 5);
	/* Its receive is free again. */
	CT_EXPECT_EQ(world.in->in->receives, 0);
	fake_down(world.in, FI_ECONNABORTED);
	world_end();
}

CT_TEST(setup, a_router_more_takes_one_from_the_ttl)
{
	struct fake_message *message;
	struct rte_conn_req req;

	world_begin();
	world.answer.what = FRT_FORWARD;
	world.answer.router = WORLD_NEXT;
	world.req.rate = 1000000000;
	world.req.latency = 5;
	world_reach(RTE_ROUTER);
	message = world_next(world.out, RTE_CONN_REQ);
	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_conn_req_parse(&req, &message->packet), RTE_OK);
	CT_EXPECT_EQ(req.ttl, 8);
	CT_EXPECT_EQ(req.rate, 1000000000);
	CT_EXPECT_EQ(req.latency, 2005);
	fake_down(world.in, FI_ECONNABORTED);
	world_end();
}

CT_TEST(setup, the_own_device_bounds_a_piece)
{
	struct fake_message *message;
	struct rte_conn_req req;

	world_begin();
	world.config_device[0].frag = 8192;
	world_ask(RTE_CLIENT);
	world.in->eager_max = world.out->eager_max = 60000;
	fake_up(world.out, RTE_TARGET, 3);
	message = world_next(world.out, RTE_CONN_REQ);
	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_conn_req_parse(&req, &message->packet), RTE_OK);
	CT_EXPECT_EQ(req.frag, 8192);
	CT_EXPECT_EQ(req.eager, RTE_EAGER);
	fake_down(world.in, FI_ECONNABORTED);
	world_end();
}

CT_TEST(setup, a_client_without_an_ipv4_address_goes_as_text)
{
	struct fake_message *message;

	world_begin();
	world_ask(RTE_CLIENT);
	world.in->address.in6 =
		(struct sockaddr_in6){.sin6_family = AF_INET6,
				      .sin6_addr = {{{0x20, 1, [15] = 7}}}};
	fake_up(world.out, RTE_TARGET, 3);
	message = world_next(world.out, RTE_CONN_REQ);
	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_TRUE(message->packet.options.present & 1u << RTE_TLV_SOURCE);
	CT_EXPECT_STREQ(message->packet.options.text[RTE_TLV_SOURCE], "2001::7");
	fake_down(world.in, FI_ECONNABORTED);
	world_end();
}

CT_TEST(setup, the_answer_comes_back_and_then_it_is_open)
{
	struct fake_message *message;
	struct rte_conn_rep rep;

	world_begin();
	world_reach(RTE_CLIENT);
	world_rep(RTE_ACCEPTED, 0);
	message = world_next(world.in, RTE_CONN_REP);
	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_conn_rep_parse(&rep, &message->packet), RTE_OK);
	CT_EXPECT_EQ(rep.verdict, RTE_ACCEPTED);
	CT_EXPECT_EQ(rep.frag, 65536);
	CT_EXPECT_EQ(rep.eager, RTE_EAGER);
	CT_EXPECT_EQ(rep.features,
		     RTE_FEATURE_RMA | RTE_FEATURE_COMMIT | RTE_FEATURE_DELIVER);
	CT_EXPECT_EQ(message->packet.options.hops, 1);
	CT_EXPECT_MEMEQ(message->packet.payload, "yes", 3);
	CT_EXPECT_EQ(world.out->in->receives, 0);
	world_ack(0);
	world_next(world.out, RTE_CONN_REQ);
	CT_EXPECT_TRUE(world_next(world.out, RTE_CONN_ACK) != NULL);
	/* No deadline is left. */
	ct_time_pass(100000);
	crn_deadlines_run(&world.node.deadlines);
	CT_EXPECT_EQ(frt_transit_count(&world.node), 1);
	world_shut();
	world_end();
}

CT_TEST(setup, the_application_refuses)
{
	struct fake_message *message;
	struct rte_conn_rep rep;

	world_begin();
	world_reach(RTE_CLIENT);
	world_rep(RTE_REJECTED, FI_ECONNREFUSED);
	message = world_next(world.in, RTE_CONN_REP);
	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_conn_rep_parse(&rep, &message->packet), RTE_OK);
	CT_EXPECT_EQ(rep.verdict, RTE_REJECTED);
	CT_EXPECT_EQ(rep.status, FI_ECONNREFUSED);
	CT_EXPECT_EQ(rep.router, 0);
	CT_EXPECT_MEMEQ(message->packet.payload, "yes", 3);
	world_expect_closed();
	world_end();
}

CT_TEST(setup, what_the_way_does_not_allow_is_answered_at_once)
{
	world_begin();
	world.answer.what = FRT_REFUSE;
	world.answer.status = FI_EACCES;
	snprintf(world.answer.text, sizeof(world.answer.text), "no acl allows it");
	world_ask(RTE_CLIENT);
	world_expect_failed(FI_EACCES, WORLD_ID, "no acl allows it");
	CT_EXPECT_TRUE(world.out == NULL);
	world_expect_closed();
	world_end();
}

CT_TEST(setup, a_better_router_is_named)
{
	struct fake_message *message;
	struct rte_conn_rep rep;

	world_begin();
	world.answer.what = FRT_REDIRECT;
	snprintf(world.answer.uri, sizeof(world.answer.uri), "tcp://r2:7");
	world_ask(RTE_CLIENT);
	message = world_next(world.in, RTE_CONN_REP);
	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_conn_rep_parse(&rep, &message->packet), RTE_OK);
	CT_EXPECT_EQ(rep.verdict, RTE_REDIRECT);
	CT_EXPECT_STREQ(message->packet.options.text[RTE_TLV_URI], "tcp://r2:7");
	world_expect_closed();
	world_end();
}

/* Who asked is on another subnet than the one that is named. */
CT_TEST(setup, a_redirect_of_another_router_is_no_way)
{
	world_begin();
	world.answer.what = FRT_FORWARD;
	world.answer.router = WORLD_NEXT;
	world_reach(RTE_CLIENT);
	world_rep(RTE_REDIRECT, FI_EHOSTUNREACH);
	world_expect_failed(FI_EHOSTUNREACH, WORLD_NEXT, NULL);
	world_expect_closed();
	world_end();
}

static const struct {
	bool forward;
	int err, status;
	uint64_t router;
} losses[] = {
	/* Nobody listens there. */
	{false, FI_ECONNREFUSED, FI_ECONNREFUSED, WORLD_ID},
	{false, FI_ETIMEDOUT, FI_ETIMEDOUT, WORLD_ID},
	{false, FI_ECONNABORTED, FI_EHOSTUNREACH, WORLD_ID},
	{true, FI_ECONNREFUSED, FI_EHOSTUNREACH, WORLD_NEXT},
	{true, FI_ETIMEDOUT, FI_EHOSTUNREACH, WORLD_NEXT},
};

CT_TEST(setup, who_cannot_be_reached_is_told_with_the_router_that_failed)
{
	size_t i, asked;

	for (i = 0; i < sizeof(losses) / sizeof(*losses); i++) {
		for (asked = 0; asked < 2; asked++) {
			CT_NOTE("row %zu, asked %zu", i, asked);
			world_begin();
			if (losses[i].forward) {
				world.answer.what = FRT_FORWARD;
				world.answer.router = WORLD_NEXT;
			}
			if (asked)
				world_reach(RTE_CLIENT);
			else
				world_ask(RTE_CLIENT);
			fake_down(world.out, losses[i].err);
			world_expect_failed(losses[i].status, losses[i].router, NULL);
			world_expect_closed();
			world_end();
		}
	}
}

CT_TEST(setup, somebody_else_at_the_address_is_not_asked)
{
	static const struct {
		bool forward;
		enum rte_role role;
		uint64_t node;
	} rows[] = {
		{false, RTE_ROUTER, 3},
		{true, RTE_TARGET, WORLD_NEXT},
		{true, RTE_ROUTER, 5},
	};
	size_t i;

	for (i = 0; i < 3; i++) {
		CT_NOTE("row %zu", i);
		world_begin();
		if (rows[i].forward) {
			world.answer.what = FRT_FORWARD;
			world.answer.router = WORLD_NEXT;
		}
		world_ask(RTE_CLIENT);
		fake_up(world.out, rows[i].role, rows[i].node);
		world_expect_nothing(world.out);
		world_expect_failed(FI_EHOSTUNREACH,
				    rows[i].forward ? WORLD_NEXT : WORLD_ID,
				    "somebody else");
		world_expect_closed();
		world_end();
	}
}

CT_TEST(setup, a_neighbour_that_takes_next_to_nothing_is_refused)
{
	world_begin();
	world_ask(RTE_CLIENT);
	world.out->eager_max = FRT_EAGER_MIN - 1;
	fake_up(world.out, RTE_TARGET, 3);
	world_expect_failed(EPROTO, WORLD_ID, NULL);
	world_expect_closed();
	world_end();
	/* So is a client that does. */
	world_begin();
	world_ask(RTE_CLIENT);
	world.in->eager_max = FRT_EAGER_MIN - 1;
	fake_up(world.out, RTE_TARGET, 3);
	world_expect_failed(EPROTO, WORLD_ID, NULL);
	world_expect_closed();
	world_end();
}

static void pass(unsigned int ms)
{
	ct_time_pass(ms);
	crn_deadlines_run(&world.node.deadlines);
}

CT_TEST(setup, it_ends_when_the_requests_time_is_over)
{
	world_begin();
	world_ask(RTE_CLIENT);
	pass(999);
	CT_EXPECT_EQ(frt_transit_count(&world.node), 1);
	pass(1);
	world_expect_failed(FI_ETIMEDOUT, WORLD_ID, NULL);
	world_expect_closed();
	world_end();
}

static void expect_given_up(int status)
{
	struct fake_message *message = world_next(world.out, RTE_CONN_ACK);
	struct rte_conn_ack ack;

	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_conn_ack_parse(&ack, &message->packet), RTE_OK);
	CT_EXPECT_EQ(ack.status, status);
	CT_EXPECT_MEMEQ(ack.id, world.req.id, sizeof(ack.id));
}

CT_TEST(setup, a_target_that_was_asked_hears_that_nobody_waits_any_more)
{
	world_begin();
	world_reach(RTE_CLIENT);
	CT_EXPECT_TRUE(world_next(world.out, RTE_CONN_REQ) != NULL);
	pass(1000);
	expect_given_up(FI_ETIMEDOUT);
	world_expect_failed(FI_ETIMEDOUT, WORLD_ID, NULL);
	world_expect_closed();
	world_end();
}

CT_TEST(setup, a_client_that_never_confirms_is_let_go)
{
	world_begin();
	world_reach(RTE_CLIENT);
	world_rep(RTE_ACCEPTED, 0);
	world_next(world.out, RTE_CONN_REQ);
	world_next(world.in, RTE_CONN_REP);
	pass(1000);
	expect_given_up(FI_ETIMEDOUT);
	world_expect_shutdown(world.in, FI_ETIMEDOUT, WORLD_ID);
	world_expect_closed();
	world_end();
}

/* How a client leaves: its connection ends, SHUTDOWN, CONN_ACK with a status. */
static int leave(size_t how)
{
	switch (how) {
	case 0:
		fake_down(world.in, FI_ECONNRESET);
		return FI_ECONNRESET;
	case 1:
		world_shutdown(world.in, 0);
		return FI_ECONNABORTED;
	default:
		world_ack(FI_ECANCELED);
		return FI_ECANCELED;
	}
}

CT_TEST(setup, a_client_that_leaves_takes_the_target_with_it)
{
	size_t how;
	int status;

	for (how = 0; how < 3; how++) {
		CT_NOTE("way %zu", how);
		world_begin();
		world_ask(RTE_CLIENT);
		leave(how);
		world_expect_nothing(world.out);
		world_expect_closed();
		world_end();

		world_begin();
		world_reach(RTE_CLIENT);
		world_next(world.out, RTE_CONN_REQ);
		status = leave(how);
		expect_given_up(status);
		world_expect_closed();
		world_end();

		world_begin();
		world_reach(RTE_CLIENT);
		world_rep(RTE_ACCEPTED, 0);
		world_next(world.out, RTE_CONN_REQ);
		status = leave(how);
		expect_given_up(status);
		world_expect_closed();
		world_end();
	}
}

CT_TEST(setup, a_target_that_is_lost_after_its_answer_ends_it)
{
	world_begin();
	world_reach(RTE_CLIENT);
	world_rep(RTE_ACCEPTED, 0);
	world_next(world.in, RTE_CONN_REP);
	fake_down(world.out, FI_ECONNRESET);
	world_expect_shutdown(world.in, FI_ECONNRESET, WORLD_ID);
	world_expect_closed();
	world_end();
}

CT_TEST(setup, messages_that_come_too_early_break_the_protocol)
{
	const struct piece piece = {.flags = RTE_FIRST | RTE_LAST, .seq = 1, .len = 3};

	/* CONN_ACK before CONN_REP. */
	world_begin();
	world_reach(RTE_CLIENT);
	world_ack(0);
	CT_EXPECT_EQ(world.in->in->status, EPROTO);
	world_end();
	/* Data before CONN_ACK. */
	world_begin();
	world_reach(RTE_CLIENT);
	world_rep(RTE_ACCEPTED, 0);
	world_say(world.in, &piece);
	CT_EXPECT_EQ(world.in->in->status, EPROTO);
	world_end();
	/* CONN_REP twice. */
	world_begin();
	world_reach(RTE_CLIENT);
	world_rep(RTE_ACCEPTED, 0);
	world_rep(RTE_ACCEPTED, 0);
	CT_EXPECT_EQ(world.out->in->status, EPROTO);
	world_end();
	/* A CONN_REP to who did not ask that. */
	world_begin();
	world_reach(RTE_CLIENT);
	world.req.id[0] ^= 1;
	world_rep(RTE_ACCEPTED, 0);
	CT_EXPECT_EQ(world.out->in->status, EPROTO);
	world.req.id[0] ^= 1;
	world_expect_failed(EPROTO, WORLD_ID, NULL);
	world_end();
}

CT_TEST(setup, what_there_is_no_memory_for_is_said_later)
{
	world_begin();
	world_ask(RTE_CLIENT);
	world.out->in->no_memory = true;
	fake_up(world.out, RTE_TARGET, 3);
	world_expect_nothing(world.out);
	CT_EXPECT_EQ(world.in->in->receives, 1);
	fake_memory(world.out, true);
	CT_EXPECT_TRUE(world_next(world.out, RTE_CONN_REQ) != NULL);
	world.in->in->no_memory = true;
	world_rep(RTE_ACCEPTED, 0);
	world_expect_nothing(world.in);
	CT_EXPECT_EQ(world.out->in->receives, 1);
	fake_memory(world.in, true);
	CT_EXPECT_TRUE(world_next(world.in, RTE_CONN_REP) != NULL);
	world_ack(0);
	world_shut();
	world_end();
}

CT_TEST(setup, a_failure_is_told_when_there_is_memory_but_not_for_ever)
{
	world_begin();
	world_ask(RTE_CLIENT);
	world.in->in->no_memory = true;
	fake_down(world.out, FI_ECONNREFUSED);
	CT_EXPECT_FALSE(world.in->in->closed);
	fake_memory(world.in, true);
	world_expect_failed(FI_ECONNREFUSED, WORLD_ID, NULL);
	world_expect_closed();
	world_end();

	world_begin();
	world.req.timeout = 60000;
	world_ask(RTE_CLIENT);
	world.in->in->no_memory = true;
	fake_down(world.out, FI_ECONNREFUSED);
	pass(FRT_END_MS);
	world_expect_closed();
	world_end();
}

CT_TEST(setup, so_is_a_client_that_leaves)
{
	world_begin();
	world.req.timeout = 60000;
	world_reach(RTE_CLIENT);
	world_next(world.out, RTE_CONN_REQ);
	world.out->in->no_memory = true;
	fake_down(world.in, FI_ECONNRESET);
	CT_EXPECT_FALSE(world.out->in->closed);
	fake_memory(world.out, true);
	expect_given_up(FI_ECONNRESET);
	world_expect_closed();
	world_end();

	world_begin();
	world.req.timeout = 60000;
	world_reach(RTE_CLIENT);
	world.out->in->no_memory = true;
	fake_down(world.in, FI_ECONNRESET);
	pass(FRT_END_MS);
	world_expect_closed();
	world_end();
}

/* Nobody is told of what he was not asked. */
CT_TEST(setup, a_request_that_was_never_said_is_not_taken_back)
{
	world_begin();
	world_ask(RTE_CLIENT);
	world.out->in->no_memory = true;
	fake_up(world.out, RTE_TARGET, 3);
	fake_down(world.in, FI_ECONNRESET);
	world_expect_closed();
	world_expect_nothing(world.out);
	world_end();

	world_begin();
	world_ask(RTE_CLIENT);
	world.out->in->no_memory = true;
	fake_up(world.out, RTE_TARGET, 3);
	pass(1000);
	world_expect_failed(FI_ETIMEDOUT, WORLD_ID, NULL);
	world_expect_closed();
	world_expect_nothing(world.out);
	world_end();
}

CT_TEST(setup, a_target_that_closes_in_place_of_an_answer)
{
	world_begin();
	world_reach(RTE_CLIENT);
	world_shutdown(world.out, 0);
	world_expect_failed(FI_ECONNABORTED, 0, NULL);
	world_expect_closed();
	world_end();
}

CT_TEST(setup, data_wait_for_the_confirmation)
{
	const struct piece piece = {.flags = RTE_FIRST | RTE_LAST, .seq = 1, .len = 3};

	world_begin();
	world_reach(RTE_CLIENT);
	world_rep(RTE_ACCEPTED, 0);
	world_next(world.out, RTE_CONN_REQ);
	fake_credit(world.out, RTE_REQUESTS, 1);
	world.out->in->no_words = true;
	world_ack(0);
	world_say(world.in, &piece);
	world_expect_nothing(world.out);
	fake_memory(world.out, true);
	CT_EXPECT_TRUE(world_next(world.out, RTE_CONN_ACK) != NULL);
	world_expect(world.out, &piece);
	world_shut();
	world_end();
}

CT_TEST(setup, no_room_is_enobufs)
{
	static const int rets[] = {-FI_ENOMEM, -FI_EAGAIN};
	size_t i;

	for (i = 0; i < 2; i++) {
		world_begin();
		fake.connect_ret = rets[i];
		world_ask(RTE_CLIENT);
		world_expect_failed(FI_ENOBUFS, WORLD_ID, NULL);
		world_expect_closed();
		world_end();
	}
	world_begin();
	fake.connect_ret = -FI_EADDRNOTAVAIL;
	world_ask(RTE_CLIENT);
	world_expect_failed(FI_EHOSTUNREACH, WORLD_ID, NULL);
	world_end();
}

static void fail_alloc(struct rte_peer *peer, struct rte_rx *rx)
{
	ct_fail_alloc(1);
	frt_transit_ops.request(&world.node, &world.device[0], peer, NULL, rx);
	CT_EXPECT_TRUE(ct_alloc_failed());
}

CT_TEST(setup, no_memory_is_enobufs)
{
	static const struct rte_peer_ops ops = {.message = fail_alloc};
	struct rte_packet packet = {.head = {.type = RTE_CONN_REQ}};
	uint8_t buf[RTE_SEND_ROOM];
	ssize_t len;

	world_begin();
	len = rte_conn_req_pack(&packet, &world.req, buf, sizeof(buf));
	world.in = fake_peer(&world.port[0], RTE_ROUTER, 1);
	world.in->ops = &ops;
	fake_say(world.in, buf, (size_t)len, NULL);
	world_expect_failed(FI_ENOBUFS, WORLD_ID, NULL);
	CT_EXPECT_EQ(world.in->in->status, FI_ENOBUFS);
	world_expect_closed();
	world_end();
}

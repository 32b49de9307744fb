/* SPDX-License-Identifier: BSD-2-Clause */
/* How connections come about. */
#include <errno.h>
#include <rdma/fi_errno.h>

#include "world.h"

CT_FIXTURE(setup, struct world *, world_set_up, world_tear_down_open);

CT_TEST_F(setup, a_request_goes_on_with_what_this_router_knows)
{
	struct fake_message *message;
	struct rte_conn_req req;

	world_ask(RTE_CLIENT);
	CT_EXPECT_EQ(world.node.load, 1);
	CT_EXPECT_EQ(crn_addr_port(&fakes.connected.sa), 7);
	CT_EXPECT_EQ(world.out->local.flags, RTE_PREAMBLE_CONN);
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
}

CT_TEST_F(setup, one_that_does_as_the_first_version_offers_what_that_did)
{
	struct fake_message *message;
	struct rte_conn_req req;
	struct rte_conn_rep rep;

	world.node.early = true;
	world.port[0].lower_rma = world.port[1].lower_rma = 1u << 20;
	world_reach(RTE_CLIENT);
	CT_EXPECT_EQ(world.out->local.flags, 0);
	message = world_next(world.out, RTE_CONN_REQ);
	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_conn_req_parse(&req, &message->packet), RTE_OK);
	CT_EXPECT_EQ(req.features, RTE_FEATURE_RMA | RTE_FEATURE_DELIVER);
	world_rep(RTE_ACCEPTED, 0);
	message = world_next(world.in, RTE_CONN_REP);
	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_conn_rep_parse(&rep, &message->packet), RTE_OK);
	CT_EXPECT_EQ(rep.features, RTE_FEATURE_RMA | RTE_FEATURE_DELIVER);
}

CT_TEST_F(setup, a_router_more_takes_one_from_the_ttl)
{
	const struct rte_conn_req *req;

	world.answer.what = FRT_FORWARD;
	world.answer.router = WORLD_NEXT;
	world.req.rate = 1000000000;
	world.req.latency = 5;
	world_reach(RTE_ROUTER);
	req = world_next_req();
	CT_EXPECT_EQ(req->ttl, 8);
	CT_EXPECT_EQ(req->rate, 1000000000);
	CT_EXPECT_EQ(req->latency, 2005);
}

CT_TEST_F(setup, the_own_device_bounds_a_piece)
{
	const struct rte_conn_req *req;

	world.config_device[0].frag = 8192;
	world_ask(RTE_CLIENT);
	world.in->eager_max = world.out->eager_max = 60000;
	fake_up(world.out, RTE_TARGET, 3);
	req = world_next_req();
	CT_EXPECT_EQ(req->frag, 8192);
	CT_EXPECT_EQ(req->eager, RTE_EAGER);
}

CT_TEST_F(setup, a_client_without_an_ipv4_address_goes_as_text)
{
	struct fake_message *message;

	world_ask(RTE_CLIENT);
	world.in->address.in6 =
		(struct sockaddr_in6){.sin6_family = AF_INET6,
				      .sin6_addr = {{{0x20, 1, [15] = 7}}}};
	fake_up(world.out, RTE_TARGET, 3);
	message = world_next(world.out, RTE_CONN_REQ);
	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_TRUE(message->packet.options.present & 1u << RTE_TLV_SOURCE);
	CT_EXPECT_STREQ(message->packet.options.text[RTE_TLV_SOURCE], "2001::7");
}

CT_TEST_F(setup, what_a_client_says_of_its_address_goes_no_further)
{
	struct fake_message *message;

	world.options.present = 1u << RTE_TLV_SOURCE;
	world.options.text[RTE_TLV_SOURCE] = "2001::7";
	world_ask(RTE_CLIENT);
	fake_up(world.out, RTE_TARGET, 3);
	message = world_next(world.out, RTE_CONN_REQ);
	CT_ASSERT_NE(message, NULL);
	CT_EXPECT_FALSE(message->packet.options.present & 1u << RTE_TLV_SOURCE);
}

CT_TEST_F(setup, the_answer_comes_back_and_then_it_is_open)
{
	struct fake_message *message;
	struct rte_conn_rep rep;

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
}

CT_TEST_F(setup, the_application_refuses)
{
	struct fake_message *message;
	struct rte_conn_rep rep;

	world_reach(RTE_CLIENT);
	world_rep(RTE_REJECTED, FI_ECONNREFUSED);
	message = world_next(world.in, RTE_CONN_REP);
	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_conn_rep_parse(&rep, &message->packet), RTE_OK);
	CT_EXPECT_EQ(rep.verdict, RTE_REJECTED);
	CT_EXPECT_EQ(rep.status, FI_ECONNREFUSED);
	CT_EXPECT_EQ(rep.router, 0);
	CT_EXPECT_MEMEQ(message->packet.payload, "yes", 3);
	world_end();
}

CT_TEST_F(setup, messages_that_come_too_early_break_the_protocol)
{
	const struct piece piece = {.flags = RTE_FIRST | RTE_LAST, .seq = 1, .len = 3};

	/* CONN_ACK before CONN_REP. */
	world_begin();
	world_reach(RTE_CLIENT);
	world_ack(0);
	CT_EXPECT_EQ(world.in->in->status, EPROTO);
	/* CONN_ACK of a CONN_REP that has not been sent. */
	world_begin();
	world_reach(RTE_CLIENT);
	world.in->in->no_words = true;
	world_rep(RTE_ACCEPTED, 0);
	world_ack(0);
	CT_EXPECT_EQ(world.in->in->status, EPROTO);
	/* Data before CONN_ACK. */
	world_begin();
	world_reach(RTE_CLIENT);
	world_rep(RTE_ACCEPTED, 0);
	world_say(world.in, &piece);
	CT_EXPECT_EQ(world.in->in->status, EPROTO);
	/* CONN_REP twice. */
	world_begin();
	world_reach(RTE_CLIENT);
	world_rep(RTE_ACCEPTED, 0);
	world_rep(RTE_ACCEPTED, 0);
	CT_EXPECT_EQ(world.out->in->status, EPROTO);
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

CT_TEST_F(setup, data_wait_for_the_confirmation)
{
	const struct piece piece = {.flags = RTE_FIRST | RTE_LAST, .seq = 1, .len = 3};

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
}

/* What either neighbour takes in a Send bounds all on the way. */
CT_TEST_F(setup, who_asks_bounds_a_send)
{
	const struct rte_conn_req *req;

	world_ask(RTE_CLIENT);
	world.in->eager_max = 4000;
	world.out->eager_max = 5000;
	fake_up(world.out, RTE_TARGET, 3);
	req = world_next_req();
	CT_EXPECT_EQ(req->eager, 4000);
}

/* Times add up to the longest that can be said, and not to a short one. */
CT_TEST_F(setup, a_latency_does_not_begin_anew)
{
	const struct rte_conn_req *req;

	world.req.latency = UINT32_MAX - 5;
	world_reach(RTE_ROUTER);
	req = world_next_req();
	CT_EXPECT_EQ(req->latency, UINT32_MAX);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes: those that come by, and those that this router begins. */
#include <errno.h>
#include <rdma/fi_errno.h>

#include "world.h"

static struct rte_conn_rep rep;

/* What the peer that asks is told. */
static const struct fake_message *answer(void)
{
	const struct fake_message *message = world_next(world.in, RTE_CONN_REP);

	if (message)
		CT_EXPECT_EQ(rte_conn_rep_parse(&rep, &message->packet), RTE_OK);
	return message;
}

static void set_up(struct world **t)
{
	world_set_up(t);
	world.req.features = RTE_FEATURE_PROBE;
}

CT_FIXTURE(probe, struct world *, set_up, world_tear_down);

CT_TEST_F(probe, the_router_that_would_deliver_it_answers_and_connects_nobody)
{
	const struct fake_message *message;

	world_ask(RTE_ROUTER);
	CT_EXPECT_EQ(world.out, NULL);
	message = answer();
	CT_ASSERT_NE(message, NULL);
	CT_EXPECT_EQ(rep.verdict, RTE_ACCEPTED);
	CT_EXPECT_EQ(rep.status, 0);
	CT_EXPECT_EQ(rep.router, WORLD_ID);
	CT_EXPECT_EQ(message->packet.options.present,
		     1u << RTE_TLV_PATH | 1u << RTE_TLV_PROBE);
	CT_EXPECT_EQ(message->packet.options.hop[0].router, WORLD_ID);
	CT_EXPECT_EQ(message->packet.options.probe.connections, 1);
	CT_EXPECT_EQ(message->packet.options.probe.queued, 0);
}

CT_TEST_F(probe, a_refusal_tells_how_the_router_is_and_what_the_way_would_be)
{
	const struct fake_message *message;

	world.answer.what = FRT_REFUSE;
	world.answer.status = ETIME;
	snprintf(world.answer.text, sizeof(world.answer.text), "here");
	world_ask(RTE_ROUTER);
	message = answer();
	CT_ASSERT_NE(message, NULL);
	CT_EXPECT_EQ(rep.verdict, RTE_FAILED);
	CT_EXPECT_EQ(rep.status, ETIME);
	CT_EXPECT_EQ(message->packet.options.present,
		     1u << RTE_TLV_PATH | 1u << RTE_TLV_PROBE | 1u << RTE_TLV_WHY);
}

CT_TEST_F(probe, a_refusal_of_a_connection_does_not_tell_so)
{
	const struct fake_message *message;

	world_begin();
	world.answer.what = FRT_REFUSE;
	world.answer.status = ELOOP;
	world_ask(RTE_ROUTER);
	message = answer();
	CT_ASSERT_NE(message, NULL);
	CT_EXPECT_EQ(message->packet.options.present, 0);
}

CT_TEST_F(probe, goes_on_and_the_answer_comes_back_and_that_is_its_end)
{
	struct rte_packet packet = {.head = {.type = RTE_CONN_REP},
				    .options = {.present = 1u << RTE_TLV_PROBE,
						.probe = {1, 2, 3}}};
	const struct fake_message *message;
	uint8_t buf[256];
	ssize_t len;

	world.answer.what = FRT_FORWARD;
	world.answer.router = WORLD_NEXT;
	world_reach(RTE_ROUTER);
	/* The next router's main thread answers. */
	CT_EXPECT_EQ(world.out->local.flags, 0);
	message = world_next(world.out, RTE_CONN_REQ);
	CT_ASSERT_NE(message, NULL);
	/* It is a probe to the next router, too. */
	CT_EXPECT_EQ(message->packet.bytes[88], RTE_FEATURE_PROBE);
	rep = (struct rte_conn_rep){.verdict = RTE_ACCEPTED,
				    .router = WORLD_NEXT,
				    .frag = RTE_FRAG_MIN};
	memcpy(rep.id, world.req.id, sizeof(rep.id));
	len = rte_conn_rep_pack(&packet, &rep, buf, sizeof(buf));
	CT_ASSERT_GT(len, 0);
	fake_say(world.out, buf, (size_t)len, NULL);
	message = answer();
	CT_ASSERT_NE(message, NULL);
	CT_EXPECT_EQ(rep.verdict, RTE_ACCEPTED);
	CT_EXPECT_EQ(rep.router, WORLD_NEXT);
	CT_EXPECT_EQ(message->packet.options.probe.arena, 3);
	/* No CONN_ACK is awaited. */
}

/* --- Its own --- */

static struct frt_probed told;
static struct rte_hop told_path[RTE_TTL_MAX];
static char told_why[64];
static unsigned int tellings;

static void done(void *context, const struct frt_probed *probed)
{
	(void)context;
	told = *probed;
	memcpy(told_path, probed->path, probed->hops * sizeof(*told_path));
	snprintf(told_why, sizeof(told_why), "%s", probed->why);
	tellings++;
}

static struct frt_probe *probe(uint32_t ttl)
{
	struct frt_probe_attr attr = {
		.target = {.kind = RTE_HOST_IN,
			   .routed = true,
			   .as = 1,
			   .subnet = 5,
			   .addr = {10, 0, 1, 5}},
		.ttl = ttl,
		.timeout = 100,
		.done = done,
	};

	tellings = 0;
	return frt_probe_begin(&world.node, &attr);
}

/* To the next router, with ttl 3. */
static struct frt_probe *forward(void)
{
	struct frt_probe *it;

	world_begin();
	world.answer.what = FRT_FORWARD;
	world.answer.router = WORLD_NEXT;
	it = probe(3);
	world.out = fakes.last;
	return it;
}

static void say_rep(uint8_t first)
{
	struct rte_packet packet = {.head = {.type = RTE_CONN_REP, .flags = RTE_ERR},
				    .options = {.present = 1u << RTE_TLV_PROBE |
							   1u << RTE_TLV_PATH,
						.hops = 1,
						.hop = {{.router = 9}},
						.probe = {1, 2, 3}}};
	const struct fake_message *message = world_next(world.out, RTE_CONN_REQ);
	struct rte_conn_req req;
	uint8_t buf[256];
	ssize_t len;

	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_conn_req_parse(&req, &message->packet), RTE_OK);
	CT_EXPECT_EQ(req.ttl, 2);
	CT_EXPECT_EQ(req.features, RTE_FEATURE_PROBE);
	CT_EXPECT_EQ(req.target.host, 0x0a000105);
	CT_EXPECT_EQ(req.target.port, 0);
	CT_EXPECT_EQ(req.source.host, 0x0a000001);
	CT_EXPECT_EQ(message->packet.options.hops, 1);
	rep = (struct rte_conn_rep){.status = ETIME, .verdict = RTE_FAILED, .router = 9};
	memcpy(rep.id, req.id, sizeof(rep.id));
	rep.id[0] ^= first;
	len = rte_conn_rep_pack(&packet, &rep, buf, sizeof(buf));
	CT_ASSERT_GT(len, 0);
	fake_say(world.out, buf, (size_t)len, NULL);
}

CT_TEST_F(probe, of_this_router_tells_who_has_answered_and_when)
{
	CT_ASSERT_NE(forward(), NULL);
	CT_EXPECT_EQ(world.own_ttl, 3);
	fake_up(world.out, RTE_ROUTER, WORLD_NEXT);
	ct_time_pass(7);
	say_rep(0);
	CT_EXPECT_EQ(tellings, 1);
	CT_EXPECT_EQ(told.status, ETIME);
	CT_EXPECT_EQ(told.router, 9);
	CT_EXPECT_TRUE(told.has_probe);
	CT_EXPECT_EQ(told.probe.connections, 2);
	CT_EXPECT_EQ(told_path[0].router, 9);
	CT_EXPECT_EQ(world.out->in->receives, 0);
	CT_EXPECT_TRUE(world.out->in->closed);
}

CT_TEST_F(probe, another_answer_than_that_of_the_request_is_none)
{
	CT_ASSERT_NE(forward(), NULL);
	fake_up(world.out, RTE_ROUTER, WORLD_NEXT);
	say_rep(1);
	CT_EXPECT_EQ(told.status, EPROTO);
	CT_EXPECT_EQ(told.router, WORLD_NEXT);
	CT_EXPECT_TRUE(world.out->in->closed);
}

CT_TEST_F(probe, without_an_answer_ends_in_time)
{
	CT_ASSERT_NE(forward(), NULL);
	fake_up(world.out, RTE_ROUTER, WORLD_NEXT);
	ct_time_pass(99);
	crn_deadlines_run(&world.node.deadlines);
	CT_EXPECT_EQ(tellings, 0);
	ct_time_pass(2);
	crn_deadlines_run(&world.node.deadlines);
	CT_EXPECT_EQ(tellings, 1);
	CT_EXPECT_EQ(told.status, FI_ETIMEDOUT);
	CT_EXPECT_TRUE(world.out->in->closed);
}

CT_TEST_F(probe, whose_next_router_is_somebody_else_or_gone_fails_there)
{
	CT_ASSERT_NE(forward(), NULL);
	fake_up(world.out, RTE_ROUTER, WORLD_NEXT + 1);
	CT_EXPECT_EQ(told.status, FI_EHOSTUNREACH);
	CT_EXPECT_EQ(told.router, WORLD_NEXT);

	CT_ASSERT_NE(forward(), NULL);
	fake_down(world.out, FI_ECONNREFUSED);
	CT_EXPECT_EQ(told.status, FI_EHOSTUNREACH);
	CT_EXPECT_EQ(tellings, 1);
}

CT_TEST_F(probe, ends_with_its_device_and_when_nobody_waits)
{
	struct frt_probe *it = forward();

	CT_ASSERT_NE(it, NULL);
	frt_transit_ops.device_gone(&world.node, &world.device[0], 0);
	CT_EXPECT_EQ(tellings, 0);
	frt_transit_ops.device_gone(&world.node, &world.device[1], 0);
	CT_EXPECT_EQ(told.status, FI_ESHUTDOWN);
	CT_EXPECT_TRUE(world.out->in->closed);

	it = forward();
	frt_probe_cancel(it);
	CT_EXPECT_EQ(tellings, 0);
	CT_EXPECT_TRUE(world.out->in->closed);
}

static struct rte_peer *other;

static void other_is_lost(struct rte_peer *peer)
{
	(void)peer;
	fake_down(other, FI_ECONNABORTED);
}

/* To close a peer makes progress. */
CT_TEST_F(probe, one_is_lost_while_another_ends_with_its_device)
{
	CT_ASSERT_NE(forward(), NULL);
	CT_ASSERT_NE(probe(3), NULL);
	other = fakes.last;
	fakes.at_close = other_is_lost;
	frt_transit_ops.device_gone(&world.node, &world.device[1], 0);
	CT_EXPECT_EQ(tellings, 2);
	CT_EXPECT_TRUE(world.out->in->closed);
	CT_EXPECT_TRUE(other->in->closed);
}

CT_TEST_F(probe, of_no_router_more_is_answered_here)
{
	world.answer.what = FRT_FORWARD;
	CT_EXPECT_EQ(probe(0), NULL);
	CT_EXPECT_EQ(told.status, ETIME);
	CT_EXPECT_EQ(told.router, WORLD_ID);
	world.answer.what = FRT_DELIVER;
	CT_EXPECT_EQ(probe(16), NULL);
	CT_EXPECT_EQ(told.status, 0);
	world.answer.what = FRT_REFUSE;
	world.answer.status = FI_ENETUNREACH;
	CT_EXPECT_EQ(probe(16), NULL);
	CT_EXPECT_EQ(told.status, FI_ENETUNREACH);
	CT_EXPECT_EQ(fakes.last, NULL);
}

CT_TEST_F(probe, that_waits_for_memory_is_sent_later)
{
	CT_ASSERT_NE(forward(), NULL);
	world.out->in->no_memory = true;
	fake_up(world.out, RTE_ROUTER, WORLD_NEXT);
	world_expect_nothing(world.out);
	world.out->in->no_memory = false;
	world.out->ops->ready(world.out);
	say_rep(0);
	CT_EXPECT_EQ(tellings, 1);
}

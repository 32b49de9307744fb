/* SPDX-License-Identifier: BSD-2-Clause */
/* How they do not. */
#include <errno.h>
#include <rdma/fi_errno.h>

#include "world.h"

CT_FIXTURE(refuse, struct world *, world_set_up, world_tear_down);

CT_TEST_F(refuse, what_the_way_does_not_allow_is_answered_at_once)
{
	world.answer.what = FRT_REFUSE;
	world.answer.status = FI_EACCES;
	snprintf(world.answer.text, sizeof(world.answer.text), "no acl allows it");
	world_ask(RTE_CLIENT);
	world_expect_failed(FI_EACCES, WORLD_ID, "no acl allows it");
	CT_EXPECT_TRUE(world.out == NULL);
}

CT_TEST_F(refuse, a_better_router_is_named)
{
	struct fake_message *message;
	struct rte_conn_rep rep;

	world.answer.what = FRT_REDIRECT;
	snprintf(world.answer.uri, sizeof(world.answer.uri), "tcp://r2:7");
	world_ask(RTE_CLIENT);
	message = world_next(world.in, RTE_CONN_REP);
	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_conn_rep_parse(&rep, &message->packet), RTE_OK);
	CT_EXPECT_EQ(rep.verdict, RTE_REDIRECT);
	CT_EXPECT_STREQ(message->packet.options.text[RTE_TLV_URI], "tcp://r2:7");
}

/* Who asked is on another subnet than the one that is named. */
CT_TEST_F(refuse, a_redirect_of_another_router_is_no_way)
{
	world.answer.what = FRT_FORWARD;
	world.answer.router = WORLD_NEXT;
	world_reach(RTE_CLIENT);
	world_rep(RTE_REDIRECT, FI_EHOSTUNREACH);
	world_expect_failed(FI_EHOSTUNREACH, WORLD_NEXT, NULL);
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

CT_TEST_F(refuse, who_cannot_be_reached_is_told_with_the_router_that_failed)
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
		}
	}
}

CT_TEST_F(refuse, somebody_else_at_the_address_is_not_asked)
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
				    rows[i].forward ? WORLD_NEXT : WORLD_ID, "");
	}
}

CT_TEST_F(refuse, a_neighbour_that_takes_next_to_nothing_is_refused)
{
	world_ask(RTE_CLIENT);
	world.out->eager_max = FRT_EAGER_MIN - 1;
	fake_up(world.out, RTE_TARGET, 3);
	world_expect_failed(EPROTO, WORLD_ID, NULL);
	/* So is a client that does. */
	world_begin();
	world_ask(RTE_CLIENT);
	world.in->eager_max = FRT_EAGER_MIN - 1;
	fake_up(world.out, RTE_TARGET, 3);
	world_expect_failed(EPROTO, WORLD_ID, NULL);
}

CT_TEST_F(refuse, it_ends_when_the_requests_time_is_over)
{
	world_ask(RTE_CLIENT);
	world_pass(400);
	fake_up(world.out, RTE_TARGET, 3);
	CT_EXPECT_TRUE(world_next(world.out, RTE_CONN_REQ) != NULL);
	world_pass(599);
	CT_EXPECT_EQ(frt_transit_count(&world.node), 1);
	world_pass(1);
	world_expect_given_up(FI_ETIMEDOUT);
	world_expect_failed(FI_ETIMEDOUT, WORLD_ID, NULL);
}

/* The client has time left for another router, which it asks when this one is named. */
CT_TEST_F(refuse, a_next_hop_that_does_not_answer_has_half_of_the_time)
{
	world_ask(RTE_CLIENT);
	world_pass(499);
	CT_EXPECT_EQ(frt_transit_count(&world.node), 1);
	world_pass(1);
	world_expect_failed(FI_ETIMEDOUT, WORLD_ID, "has not answered within 500 ms");
	CT_EXPECT_EQ(world.node.counters.unreached, 1);
	world_begin();
	world.answer.what = FRT_FORWARD;
	world.answer.router = WORLD_NEXT;
	world_ask(RTE_CLIENT);
	world_pass(500);
	world_expect_failed(FI_EHOSTUNREACH, WORLD_ID, "router ");
	CT_EXPECT_EQ(world.node.counters.unreached, 1);
}

CT_TEST_F(refuse, a_target_that_was_asked_hears_that_nobody_waits_any_more)
{
	world_reach(RTE_CLIENT);
	CT_EXPECT_TRUE(world_next(world.out, RTE_CONN_REQ) != NULL);
	world_pass(1000);
	world_expect_given_up(FI_ETIMEDOUT);
	world_expect_failed(FI_ETIMEDOUT, WORLD_ID, NULL);
}

CT_TEST_F(refuse, a_client_that_never_confirms_is_let_go)
{
	world_reach(RTE_CLIENT);
	world_rep(RTE_ACCEPTED, 0);
	world_next(world.out, RTE_CONN_REQ);
	world_next(world.in, RTE_CONN_REP);
	world_pass(1000);
	world_expect_given_up(FI_ETIMEDOUT);
	world_expect_shutdown(world.in, FI_ETIMEDOUT, 0);
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

CT_TEST_F(refuse, a_client_that_leaves_takes_the_target_with_it)
{
	size_t how;
	int status;

	for (how = 0; how < 3; how++) {
		CT_NOTE("way %zu", how);
		world_begin();
		world_ask(RTE_CLIENT);
		leave(how);
		world_expect_nothing(world.out);

		world_begin();
		world_reach(RTE_CLIENT);
		world_next(world.out, RTE_CONN_REQ);
		status = leave(how);
		world_expect_given_up(status);

		world_begin();
		world_reach(RTE_CLIENT);
		world_rep(RTE_ACCEPTED, 0);
		world_next(world.out, RTE_CONN_REQ);
		status = leave(how);
		world_expect_given_up(status);
	}
}

CT_TEST_F(refuse, a_target_that_is_lost_after_its_answer_ends_it)
{
	world_reach(RTE_CLIENT);
	world_rep(RTE_ACCEPTED, 0);
	world_next(world.in, RTE_CONN_REP);
	fake_down(world.out, FI_ECONNRESET);
	world_expect_shutdown(world.in, FI_ECONNRESET, 0);
}

CT_TEST_F(refuse, a_target_that_closes_in_place_of_an_answer)
{
	world_reach(RTE_CLIENT);
	world_shutdown(world.out, 0);
	world_expect_failed(FI_ECONNABORTED, 0, NULL);
}

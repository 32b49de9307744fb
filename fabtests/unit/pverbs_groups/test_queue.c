/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/groups: many groups, and what limits their requests. */
#include "world.h"

#define MANY 1000u

CT_FIXTURE(groups, bool, world_start, world_stop);

CT_TEST_F(groups, more_groups_than_requests_wait_in_their_order)
{
	unsigned int i;

	for (i = 0; i < 40; i++)
		world_join(i, true, false);
	CT_EXPECT_EQ(w.requests, PVB_GROUPS_WINDOW);
	for (i = 0; i < PVB_GROUPS_WINDOW; i++)
		CT_EXPECT_EQ(w.request[i].mcm.mgid[15], i);
	world_serve(true);
	CT_EXPECT_EQ(w.requests, PVB_GROUPS_WINDOW + 1);
	world_serve_all();
	for (i = 0; i < 40; i++)
		CT_EXPECT_EQ(w.user[i].joins, 1);
}

CT_TEST_F(groups, R23_a_thousand_absent_groups_take_two_requests_each)
{
	unsigned int i;

	for (i = 0; i < MANY; i++)
		world_join(i, true, false);
	world_serve_all();
	CT_EXPECT_EQ(w.requests, 2 * MANY);
	CT_EXPECT_EQ(w.groups.count, MANY);
	CT_EXPECT_EQ(w.groups.joins, MANY);
	for (i = 0; i < MANY; i++)
		CT_EXPECT_EQ(w.user[i].joins, 1);
	for (i = 0; i < MANY; i++)
		world_leave(&w.user[i]);
	world_serve_all();
	CT_EXPECT_EQ(w.requests, 3 * MANY);
	CT_EXPECT_EQ(w.groups.count, 0);
	CT_EXPECT_EQ(w.groups.leaves, MANY);
	CT_EXPECT_TRUE(pvb_groups_idle(&w.groups));
}

CT_TEST_F(groups, a_silent_administrator_is_asked_one_thing_at_a_time)
{
	unsigned int i, since;

	w.silent = true;
	for (i = 0; i < MANY; i++)
		world_join(i, true, false);
	CT_EXPECT_EQ(w.requests, PVB_GROUPS_WINDOW);
	world_pass(WORLD_WAIT_MS);
	since = w.requests;
	world_pass(WORLD_WAIT_MS);
	CT_EXPECT_EQ(w.requests - since, 1);
	CT_EXPECT_EQ(w.groups.outstanding, 1);
	since = w.requests;
	for (i = 0; i < 20; i++)
		world_pass(WORLD_WAIT_MS);
	CT_EXPECT_LE(w.requests - since, 20);
	/* It is as fast as before after a few answers. */
	w.silent = false;
	w.served = w.requests - 1;
	for (i = 0; i < 8; i++)
		world_serve(true);
	CT_EXPECT_EQ(w.groups.outstanding, PVB_GROUPS_WINDOW);
}

CT_TEST_F(groups, who_waits_in_the_queue_has_a_deadline_too)
{
	unsigned int i, failed = 0;

	w.silent = true;
	for (i = 0; i < MANY; i++)
		world_join(i, true, i % 2);
	for (i = 0; i < WORLD_JOIN_MS / WORLD_WAIT_MS; i++)
		world_pass(WORLD_WAIT_MS);
	for (i = 0; i < MANY; i++) {
		failed += w.user[i].failures;
		CT_EXPECT_EQ(w.user[i].err, -FI_ETIMEDOUT);
	}
	CT_EXPECT_EQ(failed, MANY);
	for (i = 0; i < 2 * WORLD_TRIES; i++)
		world_pass(WORLD_WAIT_MS);
	CT_EXPECT_EQ(w.groups.count, 0);
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), -1);
}

CT_TEST_F(groups, who_waits_for_others_has_time_while_the_administrator_answers)
{
	unsigned int i, n;

	for (i = 0; i < MANY; i++)
		world_join(i, true, i % 2);
	while (w.served < w.requests) {
		world_pass(WORLD_WAIT_MS - 1);
		for (n = 0; n < PVB_GROUPS_WINDOW && w.served < w.requests; n++)
			world_serve(true);
	}
	CT_EXPECT_GT(w.now, 2 * WORLD_JOIN_MS);
	for (i = 0; i < MANY; i++) {
		CT_EXPECT_EQ(w.user[i].failures, 0);
		CT_EXPECT_EQ(w.user[i].joins, 1);
	}
	/* From then on it says nothing. */
	w.silent = true;
	for (; i < MANY + 80; i++)
		world_join(i, true, i % 2);
	for (n = 0; n < 2 * WORLD_JOIN_MS / WORLD_WAIT_MS; n++)
		world_pass(WORLD_WAIT_MS);
	for (i = MANY; i < MANY + 80; i++)
		CT_EXPECT_EQ(w.user[i].failures, 1);
}

/* Somebody else has all places of the client. */
static void ignore(void *arg, const struct pvb_sa_answer *answer)
{
}

CT_TEST_F(groups, a_full_client_is_asked_when_it_has_room)
{
	const struct pvb_sa_request request = {.method = PVB_SA_GET,
					       .attr = PVB_SA_MCMEMBER_RECORD,
					       .wait_ms = 5,
					       .tries = 1,
					       .done = ignore};
	int i;

	for (i = 0; i < PVB_SA_OUTSTANDING; i++)
		CT_ASSERT_EQ(pvb_sa_ask(&w.client, &request, w.now), 0);
	w.served = w.requests;
	world_join(1, true, false);
	CT_EXPECT_EQ(w.served, w.requests);
	CT_EXPECT_GT(pvb_groups_timeout(&w.groups, w.now), 0);
	CT_EXPECT_LE(pvb_groups_timeout(&w.groups, w.now), 10);
	CT_EXPECT_FALSE(pvb_groups_idle(&w.groups));
	world_pass_and_serve(5);
	CT_EXPECT_EQ(w.user[1].joins, 1);
}

CT_TEST_F(groups, lost_repeated_and_late_answers_change_nothing)
{
	struct world_request request;
	struct pvb_mcm mcm;
	unsigned int i;

	world_make(world_mgid(1));
	world_join(1, true, true);
	for (i = 0; i < 30 && !w.user[1].joined; i++) {
		world_pass(WORLD_WAIT_MS);
		while (w.served < w.requests) {
			request = *world_next();
			mcm = world_find(world_mgid(1))->record;
			mcm.join_state = FULL;
			world_serve(w.served % 2);
			/* Twice, and what was said is not true any more. */
			if (w.served % 2)
				world_answer(&request, PVB_SA_NO_RESOURCES, &mcm);
		}
	}
	CT_EXPECT_EQ(w.user[1].joins + w.user[1].failures, 1);
}

/* The table, the group, and the all-router group. */
CT_TEST(groups, without_memory_nothing_is_joined)
{
	struct pvb_group_user user = {0};
	unsigned int nth;
	int ret;

	for (nth = 1; nth <= 4; nth++) {
		world_open();
		ct_fail_alloc(nth);
		ret = pvb_groups_join(&w.groups, &user, world_mgid(1), true, true, w.now);
		CT_EXPECT_EQ(ct_alloc_failed(), nth < 4);
		CT_EXPECT_EQ(ret, nth < 4 ? -FI_ENOMEM : 0);
		CT_EXPECT_EQ(w.groups.count, nth < 4 ? 0 : 2);
		w.served = w.requests;
		world_close();
	}
}

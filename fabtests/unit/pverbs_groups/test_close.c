/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/groups: calls from within calls, and the end. */
#include <stdlib.h>
#include "world.h"

CT_TEST(groups, R27_close_leaves_what_was_joined)
{
	unsigned int i, since;

	world_open();
	for (i = 0; i < 3; i++)
		world_join(i, true, i == 1);
	world_serve_all();
	/* One that is leaving, and one that is joining. */
	world_leave(&w.user[0]);
	world_join(3, true, false);
	world_serve(false);
	world_serve(true);
	since = w.requests;
	CT_EXPECT_EQ(w.request[since - 1].hdr.method, PVB_SA_SET);
	world_close();
	CT_EXPECT_EQ(w.requests - since, 4);
	CT_EXPECT_EQ(world_count(since, PVB_SA_DELETE), 4);
	for (i = 0; i < 4; i++)
		CT_EXPECT_EQ(w.user[i].user.group, NULL);
	CT_EXPECT_EQ(w.user[3].joins + w.user[3].failures, 0);
}

CT_FIXTURE(groups, bool, world_start, world_stop);

CT_TEST_F(groups, after_close_nothing_is_called_and_nothing_happens)
{
	struct world_request request;
	struct pvb_group_user user = {0};
	struct pvb_mcm mcm;

	world_join(1, true, true);
	mcm = world_make(world_mgid(1))->record;
	request = *world_next();
	pvb_groups_close(&w.groups, w.now);
	w.served = w.requests;
	world_answer(&request, 0, &mcm);
	world_report(66, world_mgid(1));
	pvb_groups_restarted(&w.groups, w.now);
	pvb_groups_subscribed(&w.groups, w.now);
	world_pass(100 * WORLD_WAIT_MS);
	CT_EXPECT_EQ(pvb_groups_join(&w.groups, &user, world_mgid(1), true, true, w.now),
		     -FI_EINVAL);
	pvb_groups_leave(&w.groups, &w.user[1].user, w.now);
	CT_EXPECT_EQ(w.user[1].joins + w.user[1].routes + w.user[1].failures, 0);
	CT_EXPECT_EQ(w.requests, w.served);
}

CT_TEST_F(groups, a_client_that_was_closed_ends_all)
{
	struct pvb_group_user user = {0};

	world_join(1, true, false);
	world_join_and_serve(2, false, true);
	world_join(3, true, true);
	world_join(4, false, true);
	pvb_sa_close(&w.client);
	CT_EXPECT_EQ(w.user[1].losses, 1);
	CT_EXPECT_EQ(w.user[1].err, -FI_ECANCELED);
	CT_EXPECT_EQ(w.user[2].losses, 1);
	CT_EXPECT_EQ(w.user[2].routes, 1);
	CT_EXPECT_EQ(w.user[3].failures, 1);
	CT_EXPECT_EQ(w.user[3].err, -FI_ECANCELED);
	CT_EXPECT_EQ(w.user[4].failures, 1);
	CT_EXPECT_EQ(pvb_groups_join(&w.groups, &user, world_mgid(5), true, true, w.now),
		     -FI_ECANCELED);
	CT_EXPECT_TRUE(pvb_groups_idle(&w.groups));
	world_leave(&w.user[1]);
}

CT_TEST_F(groups, a_client_that_was_closed_is_noticed_when_it_is_asked)
{
	world_join_and_serve(1, true, false);
	pvb_sa_close(&w.client);
	CT_EXPECT_EQ(w.user[1].losses, 0);
	world_join(2, true, false);
	CT_EXPECT_EQ(w.user[2].failures, 1);
	CT_EXPECT_EQ(w.user[2].err, -FI_ECANCELED);
	CT_EXPECT_EQ(w.user[1].losses, 1);
}

static int calls_left;

/* In one call of any kind; then there is none. */
static void close_in_call(struct world_user *user)
{
	CT_EXPECT_GE(calls_left, 0);
	if (calls_left-- == 0)
		pvb_groups_close(&w.groups, w.now);
}

/* All kinds of calls, until it is closed. */
static void live(void)
{
	unsigned int i;

	for (i = 0; i < 6; i++)
		if (w.groups.link)
			world_join_as(i, world_mgid(i / 2), i % 3, i % 3 != 1);
	world_serve_all();
	world_make(world_routers());
	world_report_and_serve(66, world_routers());
	world_restart();
	world_make(world_mgid(1))->record.qkey++;
	world_serve_all();
	world_pass_and_serve(WORLD_AGAIN_MS);
}

CT_TEST(groups, any_call_may_close)
{
	int nth;

	for (nth = 0; nth < 100; nth++) {
		world_open();
		w.within = close_in_call;
		calls_left = nth;
		live();
		if (w.groups.link)
			break;
		world_close();
	}
	CT_EXPECT_GT(nth, 15);
	CT_EXPECT_LT(nth, 100);
	w.within = NULL;
	world_close();
}

/* Memory of the caller's that goes with the call. */
static struct pvb_groups *brief;

static void free_in_call(struct world_user *user)
{
	pvb_groups_close(brief, w.now);
	free(brief);
	brief = NULL;
}

CT_TEST(groups, who_closes_in_a_call_may_free_it_there)
{
	struct world_user *user = &w.user[1];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		world_open();
		brief = malloc(sizeof(*brief));
		CT_ASSERT_NE(brief, NULL);
		CT_ASSERT_EQ(pvb_groups_open(brief, &w.link, &w.config), 0);
		w.within = free_in_call;
		if (i)
			world_make(world_mgid(1));
		CT_ASSERT_EQ(pvb_groups_join(brief, &user->user, world_mgid(1), !i, i,
					     w.now),
			     0);
		while (brief && w.served < w.requests)
			world_serve(true);
		CT_EXPECT_EQ(brief, NULL);
		CT_EXPECT_EQ(user->joins + user->routes, 1);
		w.served = w.requests;
		world_close();
	}
}

static void leave_in_call(struct world_user *user)
{
	world_leave(user);
}

CT_TEST_F(groups, any_call_may_leave)
{
	unsigned int i;

	w.within = leave_in_call;
	world_make(world_mgid(0));
	for (i = 0; i < 12; i++)
		world_join_as(i, world_mgid(i / 4), i % 3, i % 3 != 1);
	world_serve_all();
	for (i = 0; i < 12; i++)
		CT_EXPECT_EQ(w.user[i].joins + w.user[i].routes, 1);
	CT_EXPECT_EQ(w.groups.count, 0);
	CT_EXPECT_EQ(world_find(world_mgid(0))->state, 0);
	CT_EXPECT_EQ(world_find(world_mgid(1)), NULL);
}

static void leave_the_others(struct world_user *user)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		if (&w.user[i] != user)
			world_leave(&w.user[i]);
}

CT_TEST_F(groups, any_call_may_let_others_leave)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		world_join_as(i, world_mgid(1), true, i % 2);
	w.within = leave_the_others;
	world_serve_all();
	CT_EXPECT_EQ(w.user[0].joins, 1);
	for (i = 1; i < 8; i++)
		CT_EXPECT_EQ(w.user[i].joins, 0);
}

static void join_in_call(struct world_user *user)
{
	if (calls_left-- > 0)
		world_join(100 + (unsigned int)calls_left, true, true);
}

CT_TEST_F(groups, any_call_may_join)
{
	unsigned int i;

	w.within = join_in_call;
	calls_left = 50;
	world_join_and_serve(1, true, true);
	for (i = 0; i < 50; i++)
		CT_EXPECT_EQ(w.user[100 + i].joins, 1);
}

/* Who does not give up has its own pace: one attempt for each call. */
static void join_again_in_call(struct world_user *user)
{
	if (user == &w.user[1] && user->failures && calls_left-- > 0)
		world_join(1, true, true);
}

CT_TEST(groups, failed_may_join_again)
{
	world_open();
	w.within = join_again_in_call;
	calls_left = 5;
	w.refuse_method = PVB_SA_SET;
	w.refuse = PVB_SA_NO_RESOURCES;
	world_join_and_serve(1, true, true);
	CT_EXPECT_EQ(calls_left, -1);
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 6);
	CT_EXPECT_EQ(w.groups.count, 0);
	world_close();
	/* Of a group that is there and cannot be used, too. */
	world_open();
	w.within = join_again_in_call;
	calls_left = 5;
	world_make(world_mgid(1))->record.qkey++;
	world_join_as(2, world_mgid(1), true, false);
	world_join_and_serve(1, true, true);
	CT_EXPECT_EQ(calls_left, -1);
	world_close();
}

CT_TEST_F(groups, what_cannot_be_opened_is_refused)
{
	struct pvb_groups groups;
	struct pvb_groups_config config;

	config = w.config;
	config.tries = 0;
	CT_EXPECT_EQ(pvb_groups_open(&groups, &w.link, &config), -FI_EINVAL);
	config = w.config;
	config.calls = NULL;
	CT_EXPECT_EQ(pvb_groups_open(&groups, &w.link, &config), -FI_EINVAL);
	w.link.mtu = 0;
	CT_EXPECT_EQ(pvb_groups_open(&groups, &w.link, &w.config), -FI_EINVAL);
}

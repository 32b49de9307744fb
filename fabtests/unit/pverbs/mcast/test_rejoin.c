/* SPDX-License-Identifier: BSD-2-Clause */
/* When a lost membership is joined again: prov/pverbs/mcast/group.c. The clock is the
 * test's. */
#include <errno.h>
#include "world_mcast.h"

#define FIRST_PAUSE 100
#define LONGEST_PAUSE 10000
#define JOIN_TIMEOUT 7000

/* The only membership, which stands, and is lost then. */
static struct fid_mc *lose(struct mcast_world *w)
{
	struct fid_mc *mc = mcast_join(w, 0, 1, 0);

	mcast_answers(1, MCAST_QKEY);
	expect_joined(w, mc);
	fake_event(fake_join.id, RDMA_CM_EVENT_MULTICAST_ERROR, -ENETRESET, NULL, 0);
	expect_eq_error(w->eq, &mc->fid, FI_ECONNRESET, -ENETRESET);
	return mc;
}

/* The next attempt is made after so many ms, not before. */
static bool tries_after(struct mcast_world *w, unsigned int ms)
{
	const unsigned int joins = fake_count(FAKE_JOIN);

	CT_NOTE("a pause of %u ms", ms);
	ct_time_pass(ms - 1);
	expect_no_event(w->eq);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), joins);
	ct_time_pass(1);
	expect_no_event(w->eq);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), joins + 1);
	return !ct_failed();
}

/* Subnet administration refuses the newest attempt, of which nobody is told. */
static void refuse(struct mcast_world *w)
{
	fake_event(fake_join.id, RDMA_CM_EVENT_MULTICAST_ERROR, -EINVAL, NULL, 0);
	expect_no_event(w->eq);
}

CT_FIXTURE(mc_rejoin, struct mcast_world, mcast_start, mcast_close);

CT_TEST_F(mc_rejoin, each_attempt_waits_twice_as_long_until_one_succeeds)
{
	struct fid_mc *mc;
	unsigned int ms;

	ct_time_stop();
	mc = lose(t);
	for (ms = FIRST_PAUSE; ms < LONGEST_PAUSE; ms *= 2) {
		CT_ASSERT_TRUE(tries_after(t, ms));
		refuse(t);
	}
	CT_ASSERT_TRUE(tries_after(t, LONGEST_PAUSE));
	refuse(t);
	/* The call itself may fail, too. */
	fake_fail(FAKE_JOIN, 1, ENODEV);
	CT_ASSERT_TRUE(tries_after(t, LONGEST_PAUSE));
	CT_ASSERT_TRUE(tries_after(t, LONGEST_PAUSE));
	mcast_answers(1, MCAST_QKEY);
	expect_joined(t, mc);
	ct_time_pass(2 * LONGEST_PAUSE);
	expect_no_event(t->eq);
	fake_event(fake_join.id, RDMA_CM_EVENT_MULTICAST_ERROR, -ENETRESET, NULL, 0);
	expect_eq_error(t->eq, &mc->fid, FI_ECONNRESET, -ENETRESET);
	CT_ASSERT_TRUE(tries_after(t, FIRST_PAUSE));
	mcast_left(mc);
}

CT_TEST_F(mc_rejoin, an_attempt_that_nobody_answers_ends_and_is_made_again)
{
	struct fid_mc *mc;

	pvb_params.join_timeout = JOIN_TIMEOUT;
	ct_time_stop();
	mc = lose(t);
	CT_ASSERT_TRUE(tries_after(t, FIRST_PAUSE));
	CT_EXPECT_EQ(fake_count(FAKE_LEAVE), 1);
	ct_time_pass(JOIN_TIMEOUT);
	expect_no_event(t->eq);
	CT_EXPECT_EQ(fake_count(FAKE_LEAVE), 2);
	CT_ASSERT_TRUE(tries_after(t, 2 * FIRST_PAUSE));
	/* Closing ends the attempts. */
	refuse(t);
	mcast_left(mc);
	ct_time_pass(LONGEST_PAUSE);
	expect_no_event(t->eq);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 3);
}

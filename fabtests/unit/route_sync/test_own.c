/* SPDX-License-Identifier: BSD-2-Clause */
/* prov/route/sync/own.c: what a router says of itself. */
#include <errno.h>
#include <rdma/fi_errno.h>
#include "one.h"

static struct rte_lsa self_with_load(uint32_t load)
{
	static const struct rte_link link = {.subnet = ONE_SUBNET,
					     .scope_as = ONE_AS,
					     .rate = 1,
					     .up = true,
					     .uri = "a"};

	return (struct rte_lsa){.load = load, .links = 1, .link = &link};
}

static void set_load(uint32_t load)
{
	const struct rte_lsa self = self_with_load(load);

	CT_EXPECT_EQ(rte_sync_set(one.sync, &self, one.now), 0);
}

CT_FIXTURE(own, struct one *, one_set_up, one_tear_down);

CT_TEST_F(own, names_those_that_are_alive)
{
	static const struct rte_sync_peer twice = {
		.as = ONE_AS, .router = 21, .scope_as = ONE_AS, .subnet = ONE_SUBNET};
	struct rte_adjacency *again;
	const struct rte_link *link;

	CT_EXPECT_EQ(one_own(&one)->link[0].neighbours, 0);
	one_up(&one, 3);
	one_up(&one, 1);
	one_up_border(&one, 2, 4);
	CT_EXPECT_EQ(rte_sync_up(one.sync, &twice, &one.peer[4], one.now, &again), 0);
	one_run(&one, 2000, 1 << 1 | 1 << 3);
	link = one_own(&one)->link;
	CT_ASSERT_EQ(link[0].neighbours, 2);
	CT_EXPECT_EQ(link[0].neighbour[0], 21);
	CT_EXPECT_EQ(link[0].neighbour[1], 23);
	/* A border of another AS is no neighbour: its id may be another router's here. */
	CT_EXPECT_EQ(link[1].neighbours, 0);
	/* Over the other connection it is still there. */
	rte_sync_down(one.sync, one.peer[1], one.now);
	one_run(&one, 3500, 1 << 3);
	CT_EXPECT_EQ(one_own(&one)->link[0].neighbours, 2);
	rte_sync_down(one.sync, again, one.now);
	one_run(&one, 4500, 1 << 3);
	CT_EXPECT_EQ(one_own(&one)->link[0].neighbours, 1);
}

CT_TEST_F(own, changes_that_go_on_are_held_down_for_longer_and_longer)
{
	static const uint64_t at[] = {0, 50, 150, 350, 750, 1550, 2550, 3550};
	uint32_t i = 0;
	uint64_t begin, said;

	one_run(&one, 10000, 0);
	begin = one.now;
	/* The load changes each 10 ms. */
	for (said = one_own(&one)->seq; one.now < begin + 4000; one.now += 10) {
		set_load((uint32_t)one.now);
		if (rte_sync_deadline(one.sync) <= one.now)
			rte_sync_tick(one.sync, one.now);
		if (one_own(&one)->seq == said)
			continue;
		said = one_own(&one)->seq;
		CT_ASSERT_LT(i, 8);
		CT_EXPECT_EQ(one.now - begin, at[i++]);
		CT_EXPECT_EQ(one_own(&one)->load, one.now);
	}
	CT_EXPECT_EQ(i, 8);
	/* They end: what was held is said, and after a while it is at once again. */
	one_run(&one, begin + 10000, 0);
	CT_EXPECT_EQ(one_own(&one)->load, begin + 3990);
	said = one_own(&one)->seq;
	set_load(1);
	CT_EXPECT_EQ(one_own(&one)->seq, said + 1);
	set_load(2);
	CT_EXPECT_EQ(one_own(&one)->seq, said + 1);
	CT_EXPECT_EQ(rte_sync_deadline(one.sync), one.now + 50);
}

CT_TEST_F(own, the_same_again_is_no_change)
{
	uint64_t seq;

	set_load(5);
	one_run(&one, 5000, 0);
	seq = one_own(&one)->seq;
	set_load(5);
	one_run(&one, 6000, 0);
	CT_EXPECT_EQ(one_own(&one)->seq, seq);
}

CT_TEST_F(own, is_sent_again_long_before_its_life_ends)
{
	const struct rte_lsa *own;
	uint64_t seq;

	one_up(&one, 0);
	one_run(&one, 2000, 1);
	own = one_own(&one);
	seq = own->seq;
	one_forget(&one);
	one.changed = 0;
	one_run(&one, 2000 + ONE_REFRESH, 1);
	own = one_own(&one);
	CT_EXPECT_EQ(own->seq, seq + 1);
	CT_EXPECT_GE(own->lifetime, 2 * ONE_REFRESH);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_LSA), 1);
	/* It says nothing else. */
	CT_EXPECT_EQ(one.changed, 0);
}

CT_TEST_F(own, goes_above_what_an_earlier_start_has_left)
{
	uint64_t own_seq;

	one_up(&one, 0);
	one_run(&one, 2000, 1);
	one_forget(&one);
	/* The clock has been set back. */
	CT_EXPECT_EQ(one_hear(&one, 0, ONE_ID, ONE_EPOCH + 7, 40), 0);
	CT_EXPECT_EQ(one_own(&one)->epoch, ONE_EPOCH + 7);
	CT_EXPECT_EQ(one_own(&one)->seq, 41);
	CT_EXPECT_EQ(one_own(&one)->links, 2);
	CT_EXPECT_EQ(one_last(&one, 0, RTE_SYNC_LSA)->lsa->seq, 41);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->ahead, 1);
	/* Its own, which comes round, and what is older, is nothing. */
	own_seq = one_own(&one)->seq;
	one_run(&one, 4000, 1);
	CT_EXPECT_EQ(one_receive(&one, 0,
				 (struct rte_sync_message){.type = RTE_SYNC_LSA,
							   .lsa = one_own(&one)}),
		     0);
	CT_EXPECT_EQ(one_hear(&one, 0, ONE_ID, ONE_EPOCH + 7, 40), 0);
	CT_EXPECT_EQ(one_hear(&one, 0, ONE_ID, ONE_EPOCH + 6, 99), 0);
	CT_EXPECT_EQ(one_own(&one)->seq, own_seq);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->ahead, 1);
}

CT_TEST_F(own, goes_above_what_says_something_else_with_its_number)
{
	uint64_t seq;

	one_up(&one, 0);
	one_run(&one, 2000, 1);
	seq = one_own(&one)->seq;
	CT_EXPECT_EQ(one_hear(&one, 0, ONE_ID, ONE_EPOCH, seq), 0);
	CT_EXPECT_EQ(one_own(&one)->seq, seq + 1);
}

CT_TEST_F(own, at_the_end_of_its_numbers_the_next_epoch_begins)
{
	one_up(&one, 0);
	one_run(&one, 2000, 1);
	CT_EXPECT_EQ(one_hear(&one, 0, ONE_ID, ONE_EPOCH, (UINT64_C(1) << 63) - 1), 0);
	CT_EXPECT_EQ(one_own(&one)->epoch, ONE_EPOCH + 1);
	CT_EXPECT_EQ(one_own(&one)->seq, 1);
}

/* A forged LSA that nothing could be above. */
CT_TEST_F(own, is_not_removed_by_an_lsa_at_the_top_of_the_numbers)
{
	const uint64_t top = UINT64_MAX - 1;

	one_up(&one, 0);
	one_run(&one, 2000, 1);
	CT_EXPECT_EQ(one_hear(&one, 0, ONE_ID, top, top), -ERANGE);
	CT_EXPECT_EQ(one_own(&one)->epoch, ONE_EPOCH);
	CT_EXPECT_EQ(one_own(&one)->links, 2);
	CT_EXPECT_EQ(one.events[RTE_SYNC_CONTESTED], 0);
	/* One that could be is corrected, and the owner is notified. */
	CT_EXPECT_EQ(one_hear(&one, 0, ONE_ID, ONE_EPOCH + 9, 4), 0);
	CT_EXPECT_EQ(one.events[RTE_SYNC_CONTESTED], 1);
	CT_EXPECT_EQ(one.event.peer, &one.peer[0]);
	one_run(&one, 4000, 1);
	CT_EXPECT_EQ(one_own(&one)->epoch, ONE_EPOCH + 9);
	CT_EXPECT_EQ(one_own(&one)->seq, 5);
	CT_EXPECT_EQ(one_own(&one)->links, 2);
}

/* An LSA with this router's id, above its own. */
static int contest(uint64_t epoch)
{
	const struct rte_lsa *own = one_own(&one);

	return one_hear(&one, 0, ONE_ID, epoch, own->seq + 1);
}

static void contest_until_out(void)
{
	uint32_t i;

	one_up(&one, 0);
	one_up(&one, 1);
	one_run(&one, 2000, 3);
	for (i = 0; i < 10 && !rte_sync_is_out(one.sync); i++) {
		CT_EXPECT_EQ(contest(ONE_EPOCH + 9), 0);
		one_run(&one, one.now + 1500, 3);
	}
	CT_EXPECT_EQ(i, 4);
}

CT_TEST_F(own, stays_out_while_a_router_with_its_id_that_was_started_later_is_alive)
{
	uint32_t i;

	contest_until_out();
	CT_EXPECT_TRUE(rte_sync_is_out(one.sync));
	CT_EXPECT_EQ(one.events[RTE_SYNC_OUT], 1);
	CT_EXPECT_EQ(one.events[RTE_SYNC_CONTESTED], 4);
	/* The other one is what is known and forwarded; this one says nothing. */
	CT_EXPECT_EQ(one_own(&one)->links, 0);
	for (i = 0; i < 6; i++) {
		one_forget(&one);
		CT_EXPECT_EQ(contest(ONE_EPOCH + 9), 0);
		CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_LSA), 0);
		CT_EXPECT_EQ(one_count(&one, 1, RTE_SYNC_LSA), 1);
		one_run(&one, one.now + ONE_REFRESH, 3);
		CT_EXPECT_TRUE(rte_sync_is_out(one.sync));
	}
	/* Its end does not withdraw the other one. */
	one_forget(&one);
	rte_sync_bye(one.sync, one.now);
	CT_EXPECT_EQ(one_count(&one, 1, RTE_SYNC_LSA), 0);
	CT_EXPECT_EQ(one_count(&one, 1, RTE_SYNC_BYE), 1);
}

CT_TEST_F(own, comes_back_when_the_other_router_is_silent_or_withdraws)
{
	struct rte_lsa lsa;

	contest_until_out();
	one_run(&one, one.now + 3 * ONE_REFRESH, 3);
	CT_EXPECT_FALSE(rte_sync_is_out(one.sync));
	CT_EXPECT_EQ(one.events[RTE_SYNC_OUT], 2);
	CT_EXPECT_EQ(one_own(&one)->links, 2);
	CT_EXPECT_EQ(one_own(&one)->epoch, ONE_EPOCH + 9);
	one_open(&one, NULL);
	contest_until_out();
	lsa = *one_own(&one);
	lsa.seq++;
	lsa.flags = RTE_LSA_WITHDRAW;
	CT_EXPECT_EQ(one_receive(&one, 0,
				 (struct rte_sync_message){.type = RTE_SYNC_LSA,
							   .lsa = &lsa}),
		     0);
	one_run(&one, one.now + 1000, 3);
	CT_EXPECT_FALSE(rte_sync_is_out(one.sync));
	CT_EXPECT_EQ(one_own(&one)->links, 2);
}

CT_TEST_F(own, of_two_with_one_id_the_one_that_was_started_later_stays_in)
{
	uint32_t i;

	one_up(&one, 0);
	one_run(&one, 2000, 1);
	for (i = 0; i < 50; i++) {
		CT_EXPECT_EQ(contest(ONE_EPOCH), 0);
		one_run(&one, one.now + 1500, 1);
	}
	CT_EXPECT_FALSE(rte_sync_is_out(one.sync));
	CT_EXPECT_EQ(one_own(&one)->links, 2);
}

CT_TEST_F(own, is_not_out_because_of_forged_lsas_now_and_then)
{
	uint32_t i;

	one_up(&one, 0);
	one_run(&one, 2000, 1);
	for (i = 0; i < 20; i++) {
		CT_EXPECT_EQ(contest(ONE_EPOCH + 9 + i), 0);
		one_run(&one, one.now + 11000, 1);
		CT_EXPECT_EQ(one_own(&one)->links, 2);
	}
	CT_EXPECT_FALSE(rte_sync_is_out(one.sync));
}

/* Two routers with one id answer each other for ever: not more often than the hold-down
 * lets them. */
CT_TEST_F(own, a_war_about_an_id_is_slow)
{
	uint32_t i;

	one_up(&one, 0);
	one_run(&one, 2000, 1);
	one_forget(&one);
	for (i = 0; i < 1000; i++) {
		one_run(&one, 2000 + 10 * i, 1);
		one_hear(&one, 0, ONE_ID, ONE_EPOCH, one_own(&one)->seq + 1);
	}
	CT_EXPECT_LE(one_count(&one, 0, RTE_SYNC_LSA), 16);
	CT_EXPECT_GE(one_count(&one, 0, RTE_SYNC_LSA), 8);
}

CT_TEST_F(own, withdraws_and_says_goodbye)
{
	const struct rte_lsa *last;
	uint32_t sents;

	one_up(&one, 0);
	one_up_border(&one, 1, 4);
	one_run(&one, 2000, 3);
	one_forget(&one);
	rte_sync_bye(one.sync, one.now);
	last = one_last(&one, 0, RTE_SYNC_LSA)->lsa;
	CT_EXPECT_EQ(last->flags, RTE_LSA_WITHDRAW);
	CT_EXPECT_EQ(last->links, 0);
	CT_EXPECT_GT(last->lifetime, 0);
	/* After it: a lost LSA would leave the router in the graph. */
	CT_EXPECT_EQ(one.sent[0].message.type, RTE_SYNC_LSA);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_BYE), 1);
	CT_EXPECT_EQ(one_count(&one, 1, RTE_SYNC_BYE), 1);
	CT_EXPECT_EQ(one_count(&one, 1, RTE_SYNC_LSA), 0);
	/* And nothing else. */
	sents = one.sents;
	CT_EXPECT_EQ(rte_sync_deadline(one.sync), UINT64_MAX);
	one_hear(&one, 0, 30, 1, 1);
	rte_sync_tick(one.sync, one.now + 100000);
	rte_sync_bye(one.sync, one.now);
	rte_sync_down(one.sync, one.peer[0], one.now);
	CT_EXPECT_EQ(one.sents, sents);
}

CT_TEST_F(own, what_would_be_refused_is_not_said)
{
	struct rte_link links[RTE_LINKS_MAX + 1];
	struct rte_lsa self = {.links = RTE_LINKS_MAX + 1, .link = links};
	uint32_t i;

	for (i = 0; i <= RTE_LINKS_MAX; i++)
		links[i] = (struct rte_link){
			.subnet = i, .scope_as = ONE_AS, .rate = 1, .uri = ""};
	CT_EXPECT_EQ(rte_sync_set(one.sync, &self, one.now), -FI_EINVAL);
	self.links--;
	links[3].subnet = 4;
	CT_EXPECT_EQ(rte_sync_set(one.sync, &self, one.now), -FI_EINVAL);
	links[3].subnet = 3;
	self.flags = RTE_LSA_WITHDRAW;
	CT_EXPECT_EQ(rte_sync_set(one.sync, &self, one.now), -FI_EINVAL);
	CT_EXPECT_EQ(one_own(&one)->links, 2);
	self.flags = 0;
	one_run(&one, 5000, 0);
	CT_EXPECT_EQ(rte_sync_set(one.sync, &self, one.now), 0);
	CT_EXPECT_EQ(one_own(&one)->links, RTE_LINKS_MAX);
}

CT_TEST(own, options_that_contradict_each_other_are_refused)
{
	static const struct rte_sync_options good = {.as = ONE_AS,
						     .router = ONE_ID,
						     .epoch = 1};
	static const struct rte_sync_ops ops;
	struct rte_sync_options options = good;
	struct rte_sync *sync;

	options.as = RTE_AS_WAN;
	CT_EXPECT_EQ(rte_sync_open(&options, &ops, NULL, 0, &sync), -FI_EINVAL);
	options = good;
	options.router = 0;
	CT_EXPECT_EQ(rte_sync_open(&options, &ops, NULL, 0, &sync), -FI_EINVAL);
	options = good;
	options.epoch = UINT64_MAX;
	CT_EXPECT_EQ(rte_sync_open(&options, &ops, NULL, 0, &sync), -FI_EINVAL);
	options = good;
	options.refresh = RTE_LIFETIME_MAX / 3 + 1;
	CT_EXPECT_EQ(rte_sync_open(&options, &ops, NULL, 0, &sync), -FI_EINVAL);
	options = good;
	options.hold_least = 2000;
	CT_EXPECT_EQ(rte_sync_open(&options, &ops, NULL, 0, &sync), -FI_EINVAL);
	CT_EXPECT_EQ(rte_sync_open(&good, &ops, NULL, 0, &sync), 0);
	CT_EXPECT_EQ(rte_sync_deadline(sync), UINT64_MAX);
	rte_sync_close(sync);
}

/* Says it later, when there is memory again. */
CT_TEST_F(own, goes_on_without_memory)
{
	static const struct rte_sync_options options = {.as = ONE_AS,
							.router = ONE_ID,
							.epoch = 1};
	static const struct rte_sync_ops none;
	const struct rte_lsa self = self_with_load(77);
	struct rte_sync *sync;
	unsigned int nth;
	bool failed = true;

	for (nth = 1; nth <= 2; nth++) {
		ct_fail_alloc(nth);
		CT_EXPECT_EQ(rte_sync_open(&options, &none, NULL, 0, &sync), -FI_ENOMEM);
		CT_EXPECT_TRUE(ct_alloc_failed());
	}
	for (nth = 1; failed; nth++) {
		one_open(&one, NULL);
		one_run(&one, 5000, 0);
		ct_fail_alloc(nth);
		/* The caller's to say again, if it is told so. */
		CT_EXPECT_EQ(rte_sync_set(one.sync, &self, one.now),
			     nth == 1 ? -FI_ENOMEM : 0);
		failed = ct_alloc_failed();
		one_run(&one, 6000, 0);
		CT_EXPECT_EQ(one_own(&one)->load, nth == 1 ? 0 : 77);
	}
	CT_EXPECT_GT(nth, 3);
}

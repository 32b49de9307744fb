/* SPDX-License-Identifier: BSD-2-Clause */
/* A neighbour and a border that say anything: nothing of it grows beyond its bound. */
#include "one.h"

#define ROUTERS_MAX 40u

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	/* xorshift64*. */
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 0x2545f4914f6cdd1dull >> 20) % below;
}

/* Mostly small, now and then at the end of its range. */
static uint64_t number(void)
{
	static const uint64_t ends[] = {0, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 2};

	return draw(8) ? draw(100) : ends[draw(4)];
}

static uint32_t any_as(void)
{
	return draw(8) ? ONE_AS : (uint32_t)draw(5);
}

static void say_list(unsigned int from, enum rte_sync_type type)
{
	static struct rte_sync_entry list[RTE_SYNC_ENTRIES_MAX + 1];
	const uint32_t count = (uint32_t)draw(draw(8) ? 10 : RTE_SYNC_ENTRIES_MAX + 2);
	uint32_t i;

	for (i = 0; i < count; i++)
		list[i] = (struct rte_sync_entry){.as = any_as(),
						  .router = number(),
						  .epoch = number(),
						  .seq = number()};
	one_receive(&one, from,
		    (struct rte_sync_message){.type = type,
					      .list = {.entry = list, .count = count}});
}

static void say_lsa(unsigned int from)
{
	uint64_t ids[4] = {number(), number(), number(), number()};
	struct rte_link link[4];
	struct rte_lsa lsa = {.as = any_as(),
			      .router = number(),
			      .epoch = number(),
			      .seq = number(),
			      .flags = (uint32_t)draw(8),
			      .lifetime = (uint32_t)draw(2 * RTE_LIFETIME_MAX),
			      .links = (uint32_t)draw(5),
			      .link = link};
	uint32_t i;

	for (i = 0; i < 4; i++)
		link[i] = (struct rte_link){.subnet = (uint32_t)draw(9),
					    .scope_as = any_as(),
					    .rate = draw(9),
					    .up = draw(2),
					    .neighbours = (uint16_t)draw(5),
					    .neighbour = ids,
					    .uri = "x"};
	one_receive(&one, from,
		    (struct rte_sync_message){.type = RTE_SYNC_LSA, .lsa = &lsa});
}

static void say_reach(unsigned int from)
{
	struct rte_sync_reach link[4];
	struct rte_sync_message message = {
		.type = RTE_SYNC_AS_REACH,
		.reach = {.key = {.as = draw(2) ? 4 : any_as(),
				  .router = draw(2) ? 21 : number(),
				  .epoch = number(),
				  .seq = number()},
			  .link = link,
			  .count = draw(8) ? (uint32_t)draw(5) : UINT32_MAX}};
	uint32_t i;

	for (i = 0; i < 4; i++)
		link[i] = (struct rte_sync_reach){.scope_as = any_as(), .cost = number()};
	one_receive(&one, from, message);
}

static void say(unsigned int from)
{
	switch (draw(6)) {
	case 0:
		say_list(from, RTE_SYNC_DIGEST);
		break;
	case 1:
		say_list(from, RTE_SYNC_LSREQ);
		break;
	case 2:
		say_reach(from);
		break;
	case 3:
		one_receive(&one, from,
			    (struct rte_sync_message){
				    .type = draw(8) ? RTE_SYNC_HEARTBEAT
						    : (enum rte_sync_type)(0x40 +
									   draw(9)),
				    .heartbeat = {.hash = draw(3), .count = 0}});
		break;
	default:
		say_lsa(from);
	}
}

CT_FIXTURE(garbage, struct one *, one_set_up, one_tear_down);

CT_TEST_F(garbage, nothing_grows_beyond_its_bound)
{
	const struct rte_sync_options options = {
		.as = ONE_AS, .router = ONE_ID, .epoch = 50, .routers_max = ROUTERS_MAX};
	uint32_t round, i;

	for (round = 0; round < 200; round++) {
		state = round + 1;
		CT_NOTE("round %u", round);
		one_open(&one, &options);
		one_up(&one, 0);
		one_up_border(&one, 1, 4);
		for (i = 0; i < 100; i++) {
			say((unsigned int)draw(2));
			if (!draw(4))
				one_run(&one, one.now + draw(1000), 0);
			one_forget(&one);
			CT_EXPECT_LE(rte_lsdb_count(rte_sync_db(one.sync)), ROUTERS_MAX);
			CT_ASSERT_NE(one_own(&one), NULL);
			CT_EXPECT_EQ(one_own(&one)->links, 2);
			CT_EXPECT_LT(one_own(&one)->seq, UINT64_MAX);
		}
	}
}

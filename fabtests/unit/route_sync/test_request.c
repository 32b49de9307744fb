/* SPDX-License-Identifier: BSD-2-Clause */
/* prov/route/sync/request.c: the exchange of whole databases. */
#include <errno.h>
#include <rdma/fi_errno.h>
#include "one.h"

CT_FIXTURE(request, struct one *, one_set_up_two, one_tear_down);

CT_TEST_F(request, a_digest_lists_all_that_is_known)
{
	const struct rte_sync_message *digest;
	uint64_t id;

	one_open(&one, NULL);
	one_up(&one, 0);
	digest = one_last(&one, 0, RTE_SYNC_DIGEST);
	CT_ASSERT_NE(digest, NULL);
	CT_ASSERT_EQ(digest->list.count, 1);
	CT_EXPECT_EQ(digest->list.entry[0].router, ONE_ID);
	CT_EXPECT_EQ(digest->list.entry[0].epoch, ONE_EPOCH);
	CT_EXPECT_EQ(digest->list.entry[0].seq, 1);
	for (id = 50; id < 50 + RTE_SYNC_ENTRIES_MAX; id++)
		one_hear(&one, 0, id, id, 2 * id);
	one_forget(&one);
	one_up(&one, 1);
	CT_ASSERT_EQ(one_count(&one, 1, RTE_SYNC_DIGEST), 2);
	CT_EXPECT_EQ(one.sent[0].message.list.count, RTE_SYNC_ENTRIES_MAX);
	CT_EXPECT_TRUE(one.sent[0].message.list.more);
	digest = one_last(&one, 1, RTE_SYNC_DIGEST);
	CT_EXPECT_EQ(digest->list.count, 1);
	CT_EXPECT_EQ(digest->list.entry[0].router, 50 + RTE_SYNC_ENTRIES_MAX - 1);
	CT_EXPECT_FALSE(digest->list.more);
}

CT_TEST_F(request, what_is_newer_there_is_asked_for)
{
	const struct rte_sync_entry list[] = {
		{.as = ONE_AS, .router = 50, .epoch = 1, .seq = 5},
		{.as = ONE_AS, .router = 51, .epoch = 1, .seq = 5},
		{.as = ONE_AS, .router = 52, .epoch = 1, .seq = 5},
	};
	const struct rte_sync_message *asked;

	one_hear(&one, 1, 50, 1, 4);
	one_hear(&one, 1, 51, 1, 5);
	one_forget(&one);
	CT_EXPECT_EQ(one_receive(&one, 0,
				 (struct rte_sync_message){.type = RTE_SYNC_DIGEST,
							   .list = {.entry = list,
								    .count = 3}}),
		     0);
	CT_EXPECT_EQ(one.sents, 1);
	asked = one_last(&one, 0, RTE_SYNC_LSREQ);
	CT_ASSERT_NE(asked, NULL);
	CT_ASSERT_EQ(asked->list.count, 2);
	CT_EXPECT_EQ(asked->list.entry[0].router, 50);
	CT_EXPECT_EQ(asked->list.entry[1].router, 52);
}

CT_TEST_F(request, one_neighbour_is_asked)
{
	one_list(&one, 0, RTE_SYNC_DIGEST, 50, 1, 5);
	one_list(&one, 1, RTE_SYNC_DIGEST, 50, 1, 5);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_LSREQ), 1);
	CT_EXPECT_EQ(one_count(&one, 1, RTE_SYNC_LSREQ), 0);
	/* Who has something newer is. */
	one_list(&one, 1, RTE_SYNC_DIGEST, 50, 1, 6);
	CT_EXPECT_EQ(one_count(&one, 1, RTE_SYNC_LSREQ), 1);
	/* What is older than that does not end the wait. */
	one_hear(&one, 0, 50, 1, 5);
	one_forget(&one);
	one_list(&one, 0, RTE_SYNC_DIGEST, 50, 1, 6);
	CT_EXPECT_EQ(one.sents, 0);
}

CT_TEST_F(request, another_is_asked_when_there_is_no_answer)
{
	one_list(&one, 0, RTE_SYNC_DIGEST, 50, 1, 5);
	one_run(&one, one.now + 1000, 3);
	one_list(&one, 1, RTE_SYNC_DIGEST, 50, 1, 5);
	CT_EXPECT_EQ(one_count(&one, 1, RTE_SYNC_LSREQ), 1);
}

CT_TEST_F(request, another_is_asked_when_a_neighbour_is_lost)
{
	one_list(&one, 0, RTE_SYNC_DIGEST, 50, 1, 5);
	one_list(&one, 0, RTE_SYNC_DIGEST, 51, 1, 7);
	one_hear(&one, 0, 50, 1, 5);
	rte_sync_down(one.sync, one.peer[0], one.now);
	CT_ASSERT_EQ(one_count(&one, 1, RTE_SYNC_LSREQ), 1);
	CT_EXPECT_EQ(one_last(&one, 1, RTE_SYNC_LSREQ)->list.count, 1);
	CT_EXPECT_EQ(one_last(&one, 1, RTE_SYNC_LSREQ)->list.entry[0].router, 51);
	CT_EXPECT_EQ(one_last(&one, 1, RTE_SYNC_LSREQ)->list.entry[0].seq, 7);
	/* The last one has gone: nobody is asked. */
	rte_sync_down(one.sync, one.peer[1], one.now);
	one_run(&one, one.now + 5000, 0);
	one_forget(&one);
	one_up(&one, 2);
	one_list(&one, 2, RTE_SYNC_DIGEST, 51, 1, 7);
	CT_EXPECT_EQ(one_count(&one, 2, RTE_SYNC_LSREQ), 1);
}

CT_TEST_F(request, is_answered_unless_something_newer_is_on_its_way)
{
	one_hear(&one, 1, 50, 1, 5);
	one_forget(&one);
	one_list(&one, 0, RTE_SYNC_LSREQ, 50, 1, 5);
	CT_ASSERT_EQ(one_count(&one, 0, RTE_SYNC_LSA), 1);
	CT_EXPECT_EQ(one_last(&one, 0, RTE_SYNC_LSA)->lsa->seq, 5);
	one_forget(&one);
	/* The digest said 4; 5 was flooded since then. */
	one_list(&one, 0, RTE_SYNC_LSREQ, 50, 1, 4);
	CT_EXPECT_EQ(one.sents, 0);
	one_list(&one, 0, RTE_SYNC_LSREQ, 77, 1, 4);
	CT_EXPECT_EQ(one.sents, 0);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->unanswered, 2);
	/* Whatever there is. */
	one_list(&one, 0, RTE_SYNC_LSREQ, 50, 0, 0);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_LSA), 1);
}

CT_TEST_F(request, a_list_is_bounded_and_of_this_as)
{
	static struct rte_sync_entry list[RTE_SYNC_ENTRIES_MAX + 1];
	struct rte_sync_message message = {.type = RTE_SYNC_DIGEST,
					   .list = {.entry = list,
						    .count = RTE_SYNC_ENTRIES_MAX + 1}};
	uint32_t i;

	for (i = 0; i <= RTE_SYNC_ENTRIES_MAX; i++)
		list[i] = (struct rte_sync_entry){
			.as = ONE_AS, .router = 50 + i, .epoch = 1, .seq = 1};
	CT_EXPECT_EQ(one_receive(&one, 0, message), -FI_EINVAL);
	message.type = RTE_SYNC_LSREQ;
	CT_EXPECT_EQ(one_receive(&one, 0, message), -FI_EINVAL);
	message.list.count--;
	CT_EXPECT_EQ(one_receive(&one, 0, message), 0);
	message.type = RTE_SYNC_DIGEST;
	list[9].as = 4;
	CT_EXPECT_EQ(one_receive(&one, 0, message), -FI_EACCES);
	list[9].as = ONE_AS;
	list[9].router = 0;
	CT_EXPECT_EQ(one_receive(&one, 0, message), -FI_EINVAL);
	list[9].router = 59;
	list[9].seq = UINT64_MAX;
	CT_EXPECT_EQ(one_receive(&one, 0, message), -ERANGE);
	list[9].seq = 1;
	list[9].epoch = UINT64_MAX;
	CT_EXPECT_EQ(one_receive(&one, 0, message), -ERANGE);
	CT_EXPECT_EQ(one.sents, 0);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->malformed, 3);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->range, 2);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->foreign, 1);
	/* Nor is anything of a border's taken. */
	one_up_border(&one, 3, 4);
	list[9].epoch = 1;
	CT_EXPECT_EQ(one_receive(&one, 3, message), -FI_EACCES);
	CT_EXPECT_EQ(one_receive(&one, 0, message), 0);
	CT_EXPECT_EQ(one_last(&one, 0, RTE_SYNC_LSREQ)->list.count, RTE_SYNC_ENTRIES_MAX);
}

/* A peer that lists routers that there are not. */
CT_TEST_F(request, no_more_is_outstanding_than_the_database_could_take)
{
	static const struct rte_sync_options options = {
		.as = ONE_AS, .router = ONE_ID, .epoch = ONE_EPOCH, .routers_max = 40};
	uint32_t i, asked = 0;

	one_open(&one, &options);
	one_up(&one, 0);
	one_run(&one, 2500, 1);
	one_forget(&one);
	for (i = 0; i < 100; i++)
		asked += !one_list(&one, 0, RTE_SYNC_DIGEST, 50 + i, 1, 1);
	CT_EXPECT_EQ(asked, 40);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_LSREQ), 40);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->full, 60);
	/* They do not come: there is room again. */
	one_run(&one, one.now + 1000, 1);
	CT_EXPECT_EQ(one_list(&one, 0, RTE_SYNC_DIGEST, 200, 1, 1), 0);
}

CT_TEST_F(request, a_neighbour_that_lists_without_end_leaves_others_room)
{
	static const struct rte_sync_options options = {
		.as = ONE_AS, .router = ONE_ID, .epoch = ONE_EPOCH, .routers_max = 40};
	uint32_t i;

	one_open(&one, &options);
	one_up(&one, 0);
	one_up(&one, 1);
	one_run(&one, 2500, 3);
	one_forget(&one);
	for (i = 0; i < 100; i++)
		one_list(&one, 0, RTE_SYNC_DIGEST, 1000 + i, 1, 1);
	CT_EXPECT_EQ(one_list(&one, 1, RTE_SYNC_DIGEST, 50, 1, 1), 0);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_LSREQ), 40);
	CT_EXPECT_EQ(one_count(&one, 1, RTE_SYNC_LSREQ), 1);
}

CT_TEST_F(request, goes_on_without_memory)
{
	ct_fail_alloc(1);
	CT_EXPECT_EQ(one_list(&one, 0, RTE_SYNC_DIGEST, 50, 1, 5), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_LSREQ), 0);
	CT_EXPECT_EQ(one_list(&one, 0, RTE_SYNC_DIGEST, 50, 1, 5), 0);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_LSREQ), 1);
}

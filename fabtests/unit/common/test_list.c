/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/list.h>
#include "cairn_test.h"

struct item {
	int number;
	struct crn_list entry;
};

static struct item items[4] = {
	{.number = 0}, {.number = 1}, {.number = 2}, {.number = 3}};

static void fill(struct crn_list *list)
{
	crn_list_init(list);
	for (size_t i = 0; i < CRN_COUNT(items); i++)
		crn_list_add_tail(list, &items[i].entry);
}

static int number_of(struct crn_list *entry)
{
	return crn_container_of(entry, struct item, entry)->number;
}

CT_TEST(list, gives_back_in_the_order_added)
{
	struct crn_list list, *entry;
	int next = 0;

	crn_list_init(&list);
	CT_EXPECT_TRUE(crn_list_empty(&list));
	CT_EXPECT_EQ(crn_list_pop(&list), NULL);
	fill(&list);
	CT_EXPECT_FALSE(crn_list_empty(&list));
	while ((entry = crn_list_pop(&list)))
		CT_EXPECT_EQ(number_of(entry), next++);
	CT_EXPECT_EQ(next, 4);
	CT_EXPECT_TRUE(crn_list_empty(&list));
}

CT_TEST(list, an_entry_can_be_taken_from_anywhere_and_twice)
{
	struct crn_list list, *pos;
	int left[] = {0, 2}, i = 0;

	fill(&list);
	crn_list_del(&items[1].entry);
	crn_list_del(&items[1].entry);
	crn_list_del(&items[3].entry);
	CT_EXPECT_TRUE(crn_list_empty(&items[3].entry));
	crn_list_for_each (pos, &list)
		CT_EXPECT_EQ(number_of(pos), left[i++]);
	CT_EXPECT_EQ(i, 2);
}

CT_TEST(list, entries_may_be_removed_while_walking)
{
	struct crn_list list, *pos, *tmp;
	int walked = 0;

	fill(&list);
	crn_list_for_each_safe (pos, tmp, &list) {
		CT_EXPECT_EQ(number_of(pos), walked++);
		crn_list_del(pos);
	}
	CT_EXPECT_EQ(walked, 4);
	CT_EXPECT_TRUE(crn_list_empty(&list));
	crn_list_for_each_safe (pos, tmp, &list)
		walked++;
	CT_EXPECT_EQ(walked, 4);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include "world.h"

static struct world w;

static struct rte_lsa sample(void)
{
	w = (struct world){0};
	world_link(&w, 9, 1, 10);
	world_link(&w, 9, 2, 10)->uri = "verbs://192.0.2.7:7001";
	world_link(&w, 5, 1, 10);
	world_link(&w, 7, 1, 10);
	world_meet(&w);
	return world_lsa(&w.router[0]);
}

CT_TEST(lsa, a_copy_stands_alone)
{
	struct rte_lsa lsa = sample();
	struct rte_lsa *copy = rte_lsa_copy(&lsa);

	CT_EXPECT_EQ(rte_lsa_compare(&lsa, copy), 0);
	memset(&w, 0xff, sizeof(w));
	CT_EXPECT_EQ(copy->links, 2);
	CT_EXPECT_EQ(copy->link[0].neighbours, 2);
	CT_EXPECT_EQ(copy->link[0].neighbour[0], 5);
	CT_EXPECT_EQ(copy->link[0].neighbour[1], 7);
	CT_EXPECT_STREQ(copy->link[1].uri, "verbs://192.0.2.7:7001");
	free(copy);
}

CT_TEST(lsa, the_newer_has_the_later_start_and_then_the_higher_number)
{
	struct rte_lsa a = sample(), b = a;

	b.seq = 2;
	CT_EXPECT_LT(rte_lsa_compare(&a, &b), 0);
	a.epoch = 2;
	CT_EXPECT_GT(rte_lsa_compare(&a, &b), 0);
	/* What is left of its life makes nothing newer. */
	b = a;
	b.lifetime = 1;
	CT_EXPECT_EQ(rte_lsa_compare(&a, &b), 0);
}

CT_TEST(lsa, two_of_one_number_are_told_apart_by_their_contents)
{
	struct rte_lsa a = sample();
	struct rte_lsa *copy = rte_lsa_copy(&a);

	w.router[0].link[1].rate++;
	CT_EXPECT_GT(rte_lsa_compare(&a, copy), 0);
	CT_EXPECT_LT(rte_lsa_compare(copy, &a), 0);
	w.router[0].link[1].rate--;
	w.router[0].neighbour[0][1] = 8;
	CT_EXPECT_GT(rte_lsa_compare(&a, copy), 0);
	w.router[0].neighbour[0][1] = 7;
	w.router[0].link[0].uri = "tcp://192.0.2.1:7001";
	CT_EXPECT_GT(rte_lsa_compare(&a, copy), 0);
	free(copy);
}

CT_TEST(lsa, a_link_names_its_neighbours_and_nobody_else)
{
	static const uint64_t ids[] = {2, 5, 9};
	struct rte_link link = {.neighbours = 3, .neighbour = ids};
	uint64_t id;

	for (id = 0; id <= 10; id++)
		CT_EXPECT_EQ(rte_link_names(&link, id), id == 2 || id == 5 || id == 9);
	link.neighbours = 0;
	CT_EXPECT_FALSE(rte_link_names(&link, 2));
}

CT_TEST(lsa, what_breaks_a_bound_is_wrong)
{
	static char uri[RTE_URI_MAX + 2];
	struct rte_lsa lsa = sample();
	struct rte_link *link = w.router[0].link;

	CT_EXPECT_EQ(rte_lsa_check(&lsa), 0);
	lsa.as = RTE_AS_WAN;
	CT_EXPECT_EQ(rte_lsa_check(&lsa), -FI_EINVAL);
	lsa = world_lsa(&w.router[0]);
	lsa.router = 0;
	CT_EXPECT_EQ(rte_lsa_check(&lsa), -FI_EINVAL);
	lsa = world_lsa(&w.router[0]);
	lsa.lifetime = RTE_LIFETIME_MAX + 1;
	CT_EXPECT_EQ(rte_lsa_check(&lsa), -FI_EINVAL);
	lsa.lifetime = RTE_LIFETIME_MAX;
	CT_EXPECT_EQ(rte_lsa_check(&lsa), 0);
	lsa.flags = RTE_LSA_WITHDRAW;
	CT_EXPECT_EQ(rte_lsa_check(&lsa), -FI_EINVAL);
	lsa.links = 0;
	CT_EXPECT_EQ(rte_lsa_check(&lsa), 0);
	lsa = world_lsa(&w.router[0]);
	link[1].subnet = 1;
	CT_EXPECT_EQ(rte_lsa_check(&lsa), -FI_EINVAL);
	link[1].scope_as = 4;
	CT_EXPECT_EQ(rte_lsa_check(&lsa), 0);
	link[1].rate = 0;
	CT_EXPECT_EQ(rte_lsa_check(&lsa), -FI_EINVAL);
	link[1].rate = 1;
	w.router[0].neighbour[0][1] = 5;
	CT_EXPECT_EQ(rte_lsa_check(&lsa), -FI_EINVAL);
	w.router[0].neighbour[0][1] = 9;
	CT_EXPECT_EQ(rte_lsa_check(&lsa), -FI_EINVAL);
	w.router[0].neighbour[0][1] = 7;
	memset(uri, 'x', RTE_URI_MAX + 1);
	link[0].uri = uri;
	CT_EXPECT_EQ(rte_lsa_check(&lsa), -FI_EINVAL);
	uri[RTE_URI_MAX] = 0;
	CT_EXPECT_EQ(rte_lsa_check(&lsa), 0);
	lsa.links = RTE_LINKS_MAX + 1;
	CT_EXPECT_EQ(rte_lsa_check(&lsa), -FI_EINVAL);
}

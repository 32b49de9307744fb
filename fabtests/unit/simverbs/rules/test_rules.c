/* SPDX-License-Identifier: BSD-2-Clause */
/* simverbs(1), "RULES": one row, one test, in the same order. */
#include <stdio.h>
#include "rules.h"

char rule_page[8192] __attribute__((aligned(4096)));

bool ask_open(struct ask *ask)
{
	if (!world_pair(&ask->a, &ask->b))
		return false;
	ask->sge[0] = (struct ibv_sge){(uintptr_t)ask->a.memory, 8, ask->a.mr->lkey};
	ask->wr = (struct ibv_send_wr){.sg_list = ask->sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_RDMA_WRITE,
				       .wr.rdma = {(uintptr_t)ask->b.memory,
						   ask->b.mr->rkey}};
	return true;
}

void ask_close(struct ask *ask)
{
	world_pair_close(&ask->a, &ask->b);
}

int ask_post(struct ask *ask)
{
	struct ibv_send_wr *bad = NULL;
	int ret = ibv_post_send(ask->a.qp, &ask->wr, &bad);

	CT_EXPECT_EQ(bad, ret ? &ask->wr : NULL);
	return ret;
}

void ask_ends(struct ask *ask, int status)
{
	CT_EXPECT_EQ(ask_post(ask), 0);
	CT_EXPECT_EQ(world_status(ask->a.cq), status);
	ask_close(ask);
}

void ask_atomic(struct ask *ask, size_t at)
{
	ask->wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	ask->wr.wr.atomic.remote_addr = (uintptr_t)ask->b.memory + at;
	ask->wr.wr.atomic.compare_add = 1;
	ask->wr.wr.atomic.swap = 0;
	ask->wr.wr.atomic.rkey = ask->b.mr->rkey;
}

static const struct rule *const rules[] = {rules_of_objects, rules_of_requests,
					   rules_of_connections};
#define RULES (sizeof(rules) / sizeof(rules[0]))

static void enforce(const struct rule *rule)
{
	struct ask ask;

	if (rule->test) {
		rule->test();
		return;
	}
	CT_ASSERT_TRUE(ask_open(&ask));
	rule->change(&ask);
	if (!rule->err) {
		ask_ends(&ask, rule->status);
		return;
	}
	CT_EXPECT_EQ(ask_post(&ask), rule->err);
	CT_EXPECT_TRUE(world_quiet(ask.a.cq));
	ask_close(&ask);
}

CT_TEST(rules, each_is_enforced)
{
	const struct rule *rule;

	for (size_t i = 0; i < RULES; i++)
		for (rule = rules[i]; rule->name; rule++) {
			CT_NOTE("%s", rule->name);
			enforce(rule);
		}
}

/* The name in the next row of the manual's table; NULL: there is none any more. */
static char *next_row(FILE *page, bool *here, char *line, int size)
{
	char *end;

	while (fgets(line, size, page)) {
		if (line[0] == '#')
			*here = !strcmp(line, "# RULES\n");
		if (!*here || strncmp(line, "| ", 2) || !strncmp(line, "| rule ", 7))
			continue;
		end = strstr(line + 2, " |");
		if (end)
			*end = '\0';
		return line + 2;
	}
	return NULL;
}

CT_TEST(rules, the_manual_has_the_same)
{
	FILE *page = fopen(MANUAL, "re");
	const struct rule *rule;
	char line[512], *name;
	bool here = false;

	if (!page)
		CT_SKIP("the sources are not here");
	for (size_t i = 0; i < RULES; i++)
		for (rule = rules[i]; rule->name; rule++) {
			name = next_row(page, &here, line, sizeof(line));
			CT_EXPECT_STREQ(name ? name : "", rule->name);
		}
	CT_EXPECT_EQ(next_row(page, &here, line, sizeof(line)), NULL);
	fclose(page);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include "credit.h"

#define READ (CREDIT_KIND(RTE_READ_REQ))
#define ALL (READ | CREDIT_KIND(RTE_MSG) | CREDIT_KIND(RTE_WRITE))

static const struct credit_run both_ways = {.conns = CREDIT_CONNS,
					    .requests = {2, 1},
					    .kinds = ALL};
static const struct credit_run two_each = {.conns = 1, .requests = {2, 2}, .kinds = ALL};
/* The lanes of responses are full while both last routers ask for a key. */
static const uint8_t key_last[] = {RTE_MSG, RTE_MSG, RTE_WRITE};
static const struct credit_run keys = {.conns = 1,
				       .requests = {3, 3},
				       .script = key_last};
static const struct credit_run pool_round = {
	.conns = 3, .requests = {1, 0}, .pool = 1, .on_demand = true, .kinds = READ};
static const struct credit_run pool_against = {
	.conns = 2, .first = 3, .requests = {1, 0}, .pool = 1, .kinds = READ};
static const struct credit_run pool_chance = {
	.conns = CREDIT_CONNS, .requests = {3, 3}, .pool = 2, .kinds = ALL};

static const struct xrt_run runs[] = {
	{"no pool, both ways round the ring", &both_ways, 0},
	{"no pool, more requests", &two_each, 0},
	{"no pool, keys are wanted late", &keys, 0},
	{"a pool of one, round the ring", &pool_round, 0},
	{"a pool of one, against each other", &pool_against, 0},
	{"a pool of two, both ways, by chance", &pool_chance, 300},
};

static const char *const wrong[] = {"a deadlock",	 "a slot that was not granted",
				    "an answer is lost", "the pool's slots do not add up",
				    "RMA without a key", NULL};

int main(int argc, char **argv)
{
	static const struct xrt_program program = {
		.usage =
			"Usage: explore_route_credit [OPTION...]\n"
			"Searches every order in which requests and responses of routed\n"
			"connections may go round a ring of routers. See credit.h.\n",
		.wrong = wrong,
		.runs = runs,
		.count = sizeof(runs) / sizeof(runs[0]),
		.mutant = credit_mutant,
		.mutant_fits = credit_mutant_fits,
		.mutant_use = credit_mutant_use,
	};

	xpl_open(&credit_model);
	return xrt_main(&program, argc, argv);
}

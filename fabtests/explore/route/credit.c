/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include "credit.h"

#define RMA (1u << CREDIT_WRITE | 1u << CREDIT_READ)
#define ALL ((1u << CREDIT_KINDS) - 1)

static const struct credit_run both_ways = {.conns = CREDIT_CONNS,
					    .requests = {2, 1},
					    .kinds = ALL,
					    .receives = 1,
					    .parts = 1};
static const struct credit_run in_parts = {
	.conns = 1, .requests = {2, 1}, .kinds = ALL, .receives = 1, .parts = 2};
static const struct credit_run two_each = {
	.conns = 1, .requests = {2, 2}, .kinds = ALL, .receives = 1, .parts = 1};
static const struct credit_run two_receives = {
	.conns = 1, .requests = {3, 1}, .kinds = ALL, .receives = 2, .parts = 1};
static const struct credit_run many_receives = {.conns = CREDIT_CONNS,
						.requests = {9, 9},
						.kinds = ALL,
						.receives = CREDIT_RECEIVES,
						.parts = 2};
static const struct credit_run pool_round = {.conns = 4,
					     .requests = {1, 0},
					     .kinds = 1u << CREDIT_WRITE,
					     .receives = 1,
					     .parts = 2,
					     .pool = 1};
static const struct credit_run pool_against = {.conns = 2,
					       .first = 3,
					       .requests = {1, 0},
					       .kinds = RMA,
					       .receives = 1,
					       .parts = 2,
					       .pool = 1};
static const struct credit_run pool_chance = {.conns = CREDIT_CONNS,
					      .requests = {3, 3},
					      .kinds = ALL,
					      .receives = 2,
					      .parts = 2,
					      .pool = 2};

static const struct credit_run grow = {.conns = 1,
				       .requests = {1, 1},
				       .kinds = ALL,
				       .receives = 2,
				       .parts = 2,
				       .begins = 1,
				       .changes = 1};
static const struct credit_run shrink = {.conns = 1,
					 .requests = {3, 0},
					 .kinds = ALL,
					 .receives = 4,
					 .parts = 1,
					 .begins = 4,
					 .changes = 1};
static const struct credit_run elastic = {.conns = 1,
					  .requests = {9, 9},
					  .kinds = ALL,
					  .receives = CREDIT_RECEIVES,
					  .parts = 2,
					  .begins = 1,
					  .changes = 40};

static const struct xrt_run runs[] = {
	{"no pool, both ways round the ring", &both_ways, 0},
	{"no pool, requests in parts", &in_parts, 0},
	{"no pool, more requests", &two_each, 0},
	{"no pool, two receives", &two_receives, 0},
	{"no pool, four receives, by chance", &many_receives, 300},
	{"a pool of one, round the ring", &pool_round, 0},
	{"a pool of one, against each other", &pool_against, 0},
	{"a pool of two, both ways, by chance", &pool_chance, 300},
	{"receives that become more", &grow, 0},
	{"receives that become fewer", &shrink, 0},
	{"receives that come and go, by chance", &elastic, 300},
};

static const char *const wrong[31] = {"a deadlock", "a message without a receive",
				      "credits do not add up"};

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
		.mutant_use = credit_mutant_use};

	xpl_open(&credit_model);
	return xrt_main(&program, argc, argv);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include "flood.h"

#define ONE_AS                                         \
	{                                              \
		FLOOD_AS, FLOOD_AS, FLOOD_AS, FLOOD_AS \
	}
#define TRIANGLE                                                                 \
	.routers = 3, .links = 3, .end = {{0, 1}, {1, 2}, {0, 2}}, .as = ONE_AS, \
	.restarts_at = 2
#define LINE \
	.routers = 3, .links = 2, .end = {{0, 1}, {1, 2}}, .as = ONE_AS, .restarts_at = 2
/* 0 - 1 in one AS; 2 and 3 in two others. */
#define BORDERS                                                    \
	.routers = 4, .links = 3, .end = {{0, 1}, {1, 2}, {1, 3}}, \
	.as = {FLOOD_AS, FLOOD_AS, 4, 5}

static const struct flood_run whole = {TRIANGLE, .changes = 2};
static const struct flood_run change = {TRIANGLE, .changes = 2, .losses = 2,
					.doubles = 2};
static const struct flood_run restart = {TRIANGLE, .restarts = 1};
static const struct flood_run lost = {LINE, .changes = 1, .losses = 1};
static const struct flood_run line = {LINE, .changes = 1, .restarts = 1, .losses = 1,
				      .doubles = 1};
static const struct flood_run back = {LINE, .restarts = 1, .epoch_step = -1, .losses = 1};
static const struct flood_run killed = {TRIANGLE, .changes = 1, .kills = 1, .losses = 2};
static const struct flood_run bye = {TRIANGLE, .byes = 1, .losses = 1, .doubles = 1};
static const struct flood_run borders = {BORDERS, .changes = 1, .changes_at = 1,
					 .reaches = 1, .losses = 1};
static const struct flood_run border = {BORDERS, .changes = 0, .changes_at = 2,
					.reaches = 1, .losses = 1};

static const struct xrt_run runs[] = {
	{"triangle, two changes", &whole, 0},
	{"triangle, changes, losses, doubles", &change, 0},
	{"line, a change, a loss", &lost, 0},
	{"line, a change, a restart, a loss, a double", &line, 0},
	{"line, a restart with an old epoch, a loss", &back, 0},
	{"triangle, a change, a kill, losses", &killed, 0},
	{"triangle, a goodbye, a loss, a double", &bye, 0},
	{"borders, changes at one, a loss", &borders, 0},
	{"borders, a change beyond, a loss", &border, 0},
	{"triangle, a restart", &restart, 0},
};

static const char *const wrong[31] = {
	"they do not know the same in the end", "what is older replaces what is newer",
	"an LSA crosses a link too often",	"a queue is full",
	"the graph is not what routers say",	"something leaves its AS",
	"there is no silence in the end",
};

int main(int argc, char **argv)
{
	static const struct xrt_program program = {
		.usage = "Usage: explore_route_flood [OPTION...]\n"
			 "Searches every order in which messages between routers may\n"
			 "arrive, be lost and come twice, and routers may change, start\n"
			 "again and end. See flood.h.\n",
		.wrong = wrong,
		.runs = runs,
		.count = sizeof(runs) / sizeof(runs[0]),
		.mutant = flood_mutant,
		.mutant_fits = flood_mutant_fits,
		.mutant_use = flood_mutant_use};

	flood_model_open();
	return xrt_main(&program, argc, argv);
}

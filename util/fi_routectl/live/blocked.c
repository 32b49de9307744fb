/* SPDX-License-Identifier: BSD-2-Clause */
/* Who blocks whom: those that others wait for, and those that wait. */
#include <inttypes.h>
#include <stdio.h>

#include "grid.h"
#include "live.h"

static void add_ms(struct rct_grid *grid, const json_t *object, const char *member)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 " ms",
		 rct_count(object, member) / 1000000);
	rct_grid_add(grid, text);
}

static void add_number(struct rct_grid *grid, const json_t *object, const char *member)
{
	char text[32];

	rct_grid_add(grid, rct_number(object, member, text));
}

static void add_blocker(struct rct_grid *grid, const json_t *one)
{
	rct_grid_add(grid, rct_text(one, "blocker"));
	rct_grid_add(grid, rct_text(one, "device"));
	rct_grid_add(grid, rct_text(one, "subnet"));
	add_number(grid, one, "stalled");
	add_number(grid, one, "queued");
	add_ms(grid, one, "longest_ns");
	add_number(grid, one, "stalls");
	add_ms(grid, one, "stall_ns");
}

static void add_waiting(struct rct_grid *grid, const json_t *one)
{
	rct_grid_add(grid, rct_text(one, "source"));
	rct_grid_add(grid, rct_text(one, "target"));
	rct_grid_add(grid, rct_text(one, "lane"));
	rct_grid_add(grid, rct_text(one, "waits"));
	rct_grid_add(grid, rct_text(one, "blocked_by"));
	add_number(grid, one, "queued");
	add_ms(grid, one, "ns");
}

int rct_sheet_blocked(const json_t *document)
{
	static const char *const blockers[] = {
		"Blocker", "Device",  "Subnet", "Waiting",
		"Queued",  "Longest", "Stalls", "Stalled",
	};
	static const char *const waiting[] = {
		"Source", "Target", "Lane", "Waits", "Blocked by", "Queued", "For",
	};
	const json_t *list = json_object_get(document, "blockers"), *one;
	struct rct_grid grid;
	size_t i;
	int ret;

	printf("%s: %" PRIu64 " wait\n\n", rct_text(document, "name"),
	       rct_count(document, "total"));
	rct_grid_begin(&grid, sizeof(blockers) / sizeof(*blockers));
	for (i = 0; i < sizeof(blockers) / sizeof(*blockers); i++)
		rct_grid_add(&grid, blockers[i]);
	json_array_foreach(list, i, one) add_blocker(&grid, one);
	ret = rct_grid_end(&grid, stdout);
	list = json_object_get(document, "waiting");
	if (ret || !json_array_size(list))
		return ret;
	putchar('\n');
	rct_grid_begin(&grid, sizeof(waiting) / sizeof(*waiting));
	for (i = 0; i < sizeof(waiting) / sizeof(*waiting); i++)
		rct_grid_add(&grid, waiting[i]);
	json_array_foreach(list, i, one) add_waiting(&grid, one);
	return rct_grid_end(&grid, stdout);
}

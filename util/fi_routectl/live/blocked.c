/* SPDX-License-Identifier: BSD-2-Clause */
/* Who blocks whom: those that others wait for, and those that wait. */
#include <inttypes.h>
#include <stdio.h>

#include "grid/grid.h"
#include "live.h"

static void add_ms(struct grd_grid *grid, const json_t *object, const char *member)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 " ms",
		 rct_count(object, member) / 1000000);
	grd_add(grid, text);
}

static void add_number(struct grd_grid *grid, const json_t *object, const char *member)
{
	char text[32];

	grd_add(grid, rct_number(object, member, text));
}

static void add_blocker(struct grd_grid *grid, const json_t *one)
{
	grd_add(grid, rct_text(one, "blocker"));
	grd_add(grid, rct_text(one, "device"));
	grd_add(grid, rct_text(one, "subnet"));
	add_number(grid, one, "stalled");
	add_number(grid, one, "queued");
	add_ms(grid, one, "longest_ns");
	add_number(grid, one, "stalls");
	add_ms(grid, one, "stall_ns");
}

static void add_waiting(struct grd_grid *grid, const json_t *one)
{
	grd_add(grid, rct_text(one, "source"));
	grd_add(grid, rct_text(one, "target"));
	grd_add(grid, rct_text(one, "lane"));
	grd_add(grid, rct_text(one, "waits"));
	grd_add(grid, rct_text(one, "blocked_by"));
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
	struct grd_grid grid;
	size_t i;
	int ret;

	printf("%s: %" PRIu64 " wait\n\n", rct_text(document, "name"),
	       rct_count(document, "total"));
	grd_begin(&grid, sizeof(blockers) / sizeof(*blockers));
	for (i = 0; i < sizeof(blockers) / sizeof(*blockers); i++)
		grd_add(&grid, blockers[i]);
	json_array_foreach(list, i, one) add_blocker(&grid, one);
	ret = grd_end(&grid, stdout);
	list = json_object_get(document, "waiting");
	if (ret || !json_array_size(list))
		return ret;
	putchar('\n');
	grd_begin(&grid, sizeof(waiting) / sizeof(*waiting));
	for (i = 0; i < sizeof(waiting) / sizeof(*waiting); i++)
		grd_add(&grid, waiting[i]);
	json_array_foreach(list, i, one) add_waiting(&grid, one);
	return grd_end(&grid, stdout);
}

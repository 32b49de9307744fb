/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a router would lead a connection the way it would. */
#include <inttypes.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <string.h>

#include "grid/grid.h"
#include "live.h"
#include "sim.h"

/* ms that a router may say nothing. */
#define PATIENCE 10000u
#define LIST_SIZE 1024u

/* "bandwidth + 31.25": in the units of scores. */
static const char *behind_text(const json_t *way, char text[64])
{
	const char *metric = rct_text(way, "differs_in");
	const json_int_t by = json_integer_value(json_object_get(way, "by"));
	const double unit = strcmp(metric, "hops") && strcmp(metric, "native") ? 1000 : 1;

	if (!by)
		snprintf(text, 64, "%s", strcmp(metric, "ids") ? "" : "ids");
	else
		snprintf(text, 64, "%s %c %.9g", metric, by < 0 ? '-' : '+',
			 (double)(by < 0 ? -by : by) / unit);
	return text;
}

/* "3:1 100, 3:2 31.25" */
static const char *steps_text(const json_t *names, const json_t *way, char *text,
			      size_t size)
{
	const json_t *step;
	char cost[RCT_NAME_SIZE];
	size_t i, len = 0;

	*text = 0;
	json_array_foreach(json_object_get(way, "steps"), i, step)
	{
		len += (size_t)snprintf(text + len, size - len, "%s%s %s", i ? ", " : "",
					rct_text(step, "subnet"),
					rct_score(names, json_object_get(step, "cost"),
						  cost));
		if (len >= size)
			break;
	}
	return text;
}

static void add_way(struct grd_grid *grid, const json_t *names, const json_t *way,
		    const char *kind, bool first)
{
	char text[LIST_SIZE], behind[64], cost[RCT_NAME_SIZE];

	grd_add(grid, kind);
	grd_add(grid, rct_score(names, json_object_get(way, "cost"), cost));
	grd_add(grid, first ? "" : behind_text(way, behind));
	grd_add(grid, rct_list(json_object_get(way, "subnets"), text, LIST_SIZE));
	grd_add(grid, rct_list(json_object_get(way, "routers"), text, LIST_SIZE));
	grd_add(grid, steps_text(names, way, text, LIST_SIZE));
}

static bool same_way(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "subnets"), json_object_get(b, "subnets")) &&
	       json_equal(json_object_get(a, "routers"), json_object_get(b, "routers"));
}

static int print_ways(const json_t *document)
{
	static const char *const heads[] = {"",	       "Cost",	  "Behind",
					    "Subnets", "Routers", "Each subnet"};
	const json_t *names = json_object_get(document, "policy"), *way,
		     *list = json_object_get(document, "routes"),
		     *chosen = json_object_get(document, "chosen");
	struct grd_grid grid;
	size_t i;

	if (!json_array_size(list) && !json_is_object(chosen))
		return 0;
	putchar('\n');
	grd_begin(&grid, sizeof(heads) / sizeof(*heads));
	for (i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		grd_add(&grid, heads[i]);
	if (json_is_object(chosen))
		add_way(&grid, names, chosen,
			rct_true(document, "static") ? "static" : "chosen",
			same_way(chosen, json_array_get(list, 0)));
	json_array_foreach(list, i, way)
	{
		if (!same_way(way, chosen))
			add_way(&grid, names, way, "or", !i);
	}
	return grd_end(&grid, stdout);
}

static int print_excluded(const json_t *document)
{
	const json_t *list = json_object_get(document, "excluded"), *one;
	struct grd_grid grid;
	char text[32];
	size_t i;

	if (!json_array_size(list))
		return 0;
	putchar('\n');
	grd_begin(&grid, 3);
	grd_add(&grid, "Router");
	grd_add(&grid, "Subnet");
	grd_add(&grid, "Left out");
	json_array_foreach(list, i, one)
	{
		grd_add(&grid, rct_number(one, "router", text));
		grd_add(&grid, rct_text(one, "subnet"));
		grd_add(&grid, rct_text(one, "why"));
	}
	return grd_end(&grid, stdout);
}

static int print_why(const json_t *document)
{
	static const struct {
		const char *does, *text;
	} texts[] = {{"serve", "leads there"},
		     {"redirect", "sends its clients to another"}};
	const char *does = rct_text(document, "does"), *text = "refuses";
	char list[LIST_SIZE], id[32];
	size_t i;
	int ret;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!strcmp(does, texts[i].does))
			text = texts[i].text;
	rct_list(json_object_get(document, "policy"), list, sizeof(list));
	printf("%s, router %s of AS %" PRIu64 ": from %s to %s, by %s\nIt %s: %s\n",
	       rct_text(document, "name"), rct_number(document, "router", id),
	       rct_count(document, "as"), rct_text(document, "from"),
	       rct_text(document, "to"), list, text, rct_text(document, "why"));
	ret = print_ways(document);
	return ret ? ret : print_excluded(document);
}

int rct_live_why(const struct rct_live_options *options, const char *path)
{
	json_t *request =
		json_pack("{s:s, s:s}", "command", "why", "target", options->what);
	json_t *document;
	int ret;

	if (options->from)
		json_object_set_new(request, "from", json_string(options->from));
	document = rct_ask(path, request, PATIENCE);
	if (!document)
		return 1;
	if (options->json) {
		ret = json_dumpf(document, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		ret = print_why(document);
	}
	/* As trace: there is no way. */
	ret = ret || rct_count(document, "status");
	json_decref(document);
	return ret;
}

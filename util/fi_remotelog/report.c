/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "link.h"
#include "plot.h"
#include "report.h"
#include "trips.h"

/* --- round trips */

/* What the tables say of it, and what was counted: "2 2.07", "2 3.10!", or nothing. */
static bool rlg_trips_text(const struct rlg_row *row, char *text, size_t size)
{
	const unsigned int wanted = rlg_trips(&row->is);
	bool same;

	text[0] = '\0';
	if (!wanted || !row->latencies)
		return true;
	same = lround(row->latencies) == (long)wanted;
	snprintf(text, size, "%u %.2f%s", wanted, row->latencies, same ? "" : "!");
	return same;
}

static void rlg_table_row(const struct rlg_row *row, const char *trips)
{
	const struct rlg_interval *figure = row->figure;

	printf("%-6s %-4s %-5s %-9s %-9s %-8s %5u %9.2f %9.2f-%-9.2f %9.2f %9.2f %9.2f "
	       "%6.2f %6.2f  %s\n",
	       row->is.domain, row->is.ddio, row->is.flush, row->is.kind, row->is.op,
	       row->is.method, row->count, figure[RLG_P50].median, figure[RLG_P50].from,
	       figure[RLG_P50].to, figure[RLG_MEAN].median, figure[RLG_P99].median,
	       figure[RLG_P999].median, figure[RLG_READS].median,
	       figure[RLG_MESSAGES].median, trips);
}

static void rlg_table(const struct rlg_rows *rows)
{
	unsigned int counted = 0, others = 0;
	char trips[32];
	bool same;
	size_t i;

	printf("%-6s %-4s %-5s %-9s %-9s %-8s %5s %9s %19s %9s %9s %9s %6s %6s  %s\n",
	       "domain", "ddio", "flush", "kind", "op", "method", "runs", "p50 us",
	       "interval", "mean", "p99", "p99.9", "reads", "msgs", "trips");
	for (i = 0; i < rows->count; i++) {
		same = rlg_trips_text(&rows->row[i], trips, sizeof(trips));
		rlg_table_row(&rows->row[i], trips);
		counted += trips[0] != '\0';
		others += !same;
	}
	printf("Medians of the runs; the interval of p50 holds its median with 95%% "
	       "where there are six\nruns or more, else it is the smallest and the "
	       "largest. reads, msgs: p50 as a multiple of a\nread of one byte, of a "
	       "message and its answer. trips: latencies of the network that an\n"
	       "append takes by the tables (one-sided 1, a message and its answer 2), "
	       "and as counted.\n");
	if (counted)
		printf("Round trips: %u cases as in the tables, %u not%s.\n",
		       counted - others, others, others ? " (!)" : "");
}

/* --- orderings */

static void rlg_verdicts(struct rlg_rows *rows, json_t *list)
{
	const struct rlg_ordering *ordering;
	const struct rlg_row *a, *b;
	const char *verdict;
	bool both;

	printf("\nOrderings of the paper:\n");
	for (ordering = rlg_orderings; ordering->text; ordering++) {
		a = rlg_row_find(rows, &ordering->a);
		b = rlg_row_find(rows, &ordering->b);
		both = a && b && a->count && b->count;
		verdict = both ? rlg_verdict(ordering, &a->figure[RLG_P50],
					     &b->figure[RLG_P50])
			       : "not measured";
		printf("  %-12s %s", verdict, ordering->text);
		if (both)
			printf(" (%.2f, %.2f us)", a->figure[RLG_P50].median,
			       b->figure[RLG_P50].median);
		printf("\n");
		json_array_append_new(list,
				      json_pack("{s:s, s:s}", "ordering", ordering->text,
						"verdict", verdict));
	}
}

/* --- librpma */

/* Of each run, where the two were measured in turns. NULL: there is none. */
static double *rlg_ratios(const struct rlg_row *row, const struct rlg_row *peer)
{
	double *ratio = NULL;
	unsigned int i;

	if (row->count && peer->count == row->count)
		ratio = malloc(row->count * sizeof(*ratio));
	for (i = 0; ratio && i < row->count; i++)
		ratio[i] = row->value[RLG_P50][i] / peer->value[RLG_P50][i];
	return ratio;
}

static void rlg_peer(const struct rlg_rows *rows, const struct rlg_row *peer,
		     json_t *list)
{
	struct rlg_case is = peer->is;
	struct rlg_interval interval;
	const struct rlg_row *row;
	double *ratio;

	is.method = "auto";
	row = rlg_row_find(rows, &is);
	ratio = row ? rlg_ratios(row, peer) : NULL;
	if (!ratio)
		return;
	interval = rlg_interval(ratio, row->count);
	free(ratio);
	if (!json_array_size(list))
		printf("\npverbs (auto) beside librpma, p50, in the same runs; librpma's "
		       "flush says nothing under\nDMP with DDIO unless it is the "
		       "device's FLUSH:\n");
	printf("  %-4s ddio %-4s flush %-4s %-9s %8.2f against %8.2f us, ratio %.3f "
	       "(%.3f to %.3f)\n",
	       is.domain, is.ddio, is.flush, is.kind, row->figure[RLG_P50].median,
	       peer->figure[RLG_P50].median, interval.median, interval.from, interval.to);
	json_array_append_new(list,
			      json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f}", "domain",
					is.domain, "ddio", is.ddio, "flush", is.flush,
					"kind", is.kind, "ratio", interval.median, "from",
					interval.from, "to", interval.to));
}

static void rlg_peers(const struct rlg_rows *rows, json_t *list)
{
	size_t i;

	for (i = 0; i < rows->count; i++)
		if (strcmp(rows->row[i].is.method, "librpma") == 0)
			rlg_peer(rows, &rows->row[i], list);
}

/* --- all */

static json_t *rlg_row_json(const struct rlg_row *row)
{
	const struct rlg_interval *figure = row->figure;

	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
		"s:f, s:i}",
		"domain", row->is.domain, "ddio", row->is.ddio, "flush", row->is.flush,
		"kind", row->is.kind, "op", row->is.op, "method", row->is.method, "runs",
		(int)row->count, "p50_us", figure[RLG_P50].median, "from_us",
		figure[RLG_P50].from, "to_us", figure[RLG_P50].to, "confidence",
		figure[RLG_P50].confidence, "mean_us", figure[RLG_MEAN].median, "p99_us",
		figure[RLG_P99].median, "p999_us", figure[RLG_P999].median, "latencies",
		row->latencies, "latencies_by_table", (int)rlg_trips(&row->is));
}

static json_t *rlg_rows_json(const struct rlg_rows *rows)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < rows->count; i++)
		json_array_append_new(list, rlg_row_json(&rows->row[i]));
	return list;
}

static int rlg_report_write(struct rlg_rows *rows, const struct rlg_options *options)
{
	json_t *verdicts = json_array(), *peers = json_array(), *root;
	int ret = 0;

	rlg_table(rows);
	rlg_verdicts(rows, verdicts);
	rlg_peers(rows, peers);
	root = json_pack("{s:o, s:o, s:o}", "rows", rlg_rows_json(rows), "orderings",
			 verdicts, "librpma", peers);
	if (options->json && json_dump_file(root, options->json,
					    JSON_INDENT(1) | JSON_REAL_PRECISION(6))) {
		rlg_say("%s: cannot be written: %s", options->json, strerror(errno));
		ret = -1;
	}
	json_decref(root);
	return !ret && options->plot ? rlg_plot_rows(rows, options->plot) : ret;
}

int rlg_report(const struct rlg_options *options)
{
	struct rlg_rows rows;
	int ret;

	ret = rlg_rows_read(&rows, options->files, options->file_count);
	if (!ret)
		ret = rlg_report_write(&rows, options);
	rlg_rows_free(&rows);
	return ret ? 1 : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "link.h"
#include "orderings.h"
#include "report.h"

#define RLG_ROWS 4096

/* All runs of one kind. */
struct rlg_row {
	struct rlg_case is;
	double *mean, *p50, *p99, *reads, *messages;
	unsigned int count, room;
	struct rlg_interval figure; /* of p50, us */
};

struct rlg_rows {
	struct rlg_row *row;
	size_t count;
};

static int rlg_row_compare(const void *a, const void *b)
{
	const struct rlg_row *x = a, *y = b;
	const char *const *left = &x->is.domain, *const *right = &y->is.domain;
	int i, order = 0;

	for (i = 0; i < RLG_CASE_WORDS && !order; i++)
		order = strcmp(left[i], right[i]);
	return order;
}

static struct rlg_row *rlg_row_find(struct rlg_rows *rows, const struct rlg_case *is)
{
	size_t i;

	for (i = 0; i < rows->count; i++)
		if (rlg_case_same(&rows->row[i].is, is))
			return &rows->row[i];
	return NULL;
}

/* A case's words stay as long as the program. */
static struct rlg_row *rlg_row_of(struct rlg_rows *rows, const struct rlg_case *is)
{
	struct rlg_row *row = rlg_row_find(rows, is);
	const char *const *from = &is->domain;
	const char **to;
	int i;

	if (row || rows->count == RLG_ROWS)
		return row;
	row = &rows->row[rows->count++];
	to = &row->is.domain;
	for (i = 0; i < RLG_CASE_WORDS; i++)
		to[i] = strdup(from[i]);
	return row;
}

static int rlg_row_add(struct rlg_row *row, double mean, double p50, double p99,
		       double read, double message)
{
	double **const list[] = {&row->mean, &row->p50, &row->p99, &row->reads,
				 &row->messages};
	const double value[] = {mean, p50, p99, p50 / read, p50 / message};
	void *grown;
	int i;

	if (row->count == row->room) {
		row->room = row->room ? 2 * row->room : 8;
		for (i = 0; i < 5; i++) {
			grown = realloc(*list[i], row->room * sizeof(double));
			if (!grown)
				return -1;
			*list[i] = grown;
		}
	}
	for (i = 0; i < 5; i++)
		(*list[i])[row->count] = value[i];
	row->count++;
	return 0;
}

/* --- reading */

/* 0, or -1: it is no line of --json. */
static int rlg_line_add(struct rlg_rows *rows, json_t *line)
{
	double mean, p50, p99, read, message;
	struct rlg_case is = {"", "", "", "", "", ""};
	struct rlg_row *row;

	if (json_unpack(line,
			"{s:{s?s, s?s, s?s}, s:s, s:s, s:s, s:F, s:F, s:F, s:F, s:F}",
			"labels", "domain", &is.domain, "ddio", &is.ddio, "flush",
			&is.flush, "kind", &is.kind, "op", &is.op, "method", &is.method,
			"mean_us", &mean, "p50_us", &p50, "p99_us", &p99, "read_us",
			&read, "message_us", &message))
		return -1;
	row = rlg_row_of(rows, &is);
	return row ? rlg_row_add(row, mean, p50, p99, read, message) : -1;
}

/* Is there another entry? */
static bool rlg_file_goes_on(FILE *file)
{
	int byte;

	do {
		byte = fgetc(file);
	} while (byte != EOF && isspace(byte));
	return ungetc(byte, file) != EOF;
}

static int rlg_file_read(struct rlg_rows *rows, const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned int number = 0;
	json_error_t error;
	json_t *line;
	int ret = 0;

	if (!file) {
		rlg_say("%s: %s", path, strerror(errno));
		return -1;
	}
	while (!ret && rlg_file_goes_on(file)) {
		number++;
		line = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error);
		ret = line ? rlg_line_add(rows, line) : -1;
		json_decref(line);
	}
	if (ret)
		rlg_say("%s: entry %u is nothing that --json wrote", path, number);
	fclose(file);
	return ret;
}

/* --- writing */

static void rlg_row_finish(struct rlg_row *row)
{
	row->figure = rlg_interval(row->p50, row->count);
}

static double rlg_middle(double *value, unsigned int count)
{
	return rlg_interval(value, count).median;
}

static void rlg_table(const struct rlg_rows *rows)
{
	const struct rlg_row *row;
	size_t i;

	printf("%-6s %-4s %-5s %-9s %-9s %-8s %5s %9s %19s %9s %9s %6s %6s\n", "domain",
	       "ddio", "flush", "kind", "op", "method", "runs", "p50 us", "interval",
	       "mean", "p99", "reads", "msgs");
	for (i = 0; i < rows->count; i++) {
		row = &rows->row[i];
		printf("%-6s %-4s %-5s %-9s %-9s %-8s %5u %9.2f %9.2f-%9.2f %9.2f %9.2f "
		       "%6.2f %6.2f\n",
		       row->is.domain, row->is.ddio, row->is.flush, row->is.kind,
		       row->is.op, row->is.method, row->count, row->figure.median,
		       row->figure.from, row->figure.to,
		       rlg_middle(row->mean, row->count),
		       rlg_middle(row->p99, row->count),
		       rlg_middle(row->reads, row->count),
		       rlg_middle(row->messages, row->count));
	}
	printf("Medians of the runs; the interval of p50 holds its median with 95%% "
	       "where "
	       "there are six\nruns or more, else it is the smallest and the largest. "
	       "reads, "
	       "msgs: p50 as a multiple of a\nread of one byte, of a message and its "
	       "answer.\n");
}

static void rlg_verdicts(struct rlg_rows *rows, json_t *list)
{
	const struct rlg_ordering *ordering;
	const struct rlg_row *a, *b;
	const char *verdict;

	printf("\nOrderings of the paper:\n");
	for (ordering = rlg_orderings; ordering->text; ordering++) {
		a = rlg_row_find(rows, &ordering->a);
		b = rlg_row_find(rows, &ordering->b);
		verdict = a && b ? rlg_verdict(ordering, &a->figure, &b->figure)
				 : "not measured";
		printf("  %-12s %s", verdict, ordering->text);
		if (a && b)
			printf(" (%.2f, %.2f us)", a->figure.median, b->figure.median);
		printf("\n");
		json_array_append_new(list,
				      json_pack("{s:s, s:s}", "ordering", ordering->text,
						"verdict", verdict));
	}
}

static json_t *rlg_rows_json(const struct rlg_rows *rows)
{
	json_t *list = json_array();
	const struct rlg_row *row;
	size_t i;

	for (i = 0; i < rows->count; i++) {
		row = &rows->row[i];
		json_array_append_new(
			list,
			json_pack(
				"{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:f, s:f}",
				"domain", row->is.domain, "ddio", row->is.ddio, "flush",
				row->is.flush, "kind", row->is.kind, "op", row->is.op,
				"method", row->is.method, "runs", (int)row->count,
				"p50_us", row->figure.median, "from_us", row->figure.from,
				"to_us", row->figure.to, "confidence",
				row->figure.confidence));
	}
	return list;
}

/* Bars with intervals, a picture for each kind of append and domain as in the paper. */
static int rlg_plot(const struct rlg_rows *rows, const char *path)
{
	static const char *const domains[] = {"dmp", "mhp", "wsp"}, *const kinds[] = {
									    "singleton",
									    "compound"};
	FILE *file = fopen(path, "w");
	const struct rlg_row *row;
	unsigned int bars;
	size_t i, k, d;

	if (!file) {
		rlg_say("%s: %s", path, strerror(errno));
		return -1;
	}
	fprintf(file,
		"# gnuplot -p %s\nset multiplot layout 2,3\nset style fill solid 0.5\n"
		"set boxwidth 0.7\nset xtics rotate by -90 font ',7'\n"
		"set ylabel 'latency [us], median'\nset yrange [0:*]\nset key off\n",
		path);
	for (k = 0; k < 2; k++) {
		for (d = 0; d < 3; d++) {
			fprintf(file, "$d << EOD\n");
			for (i = bars = 0; i < rows->count; i++) {
				row = &rows->row[i];
				if (strcmp(row->is.kind, kinds[k]) != 0 ||
				    strcmp(row->is.domain, domains[d]) != 0)
					continue;
				fprintf(file, "%u \"%s %s ddio %s%s\" %.3f %.3f %.3f\n",
					bars++, row->is.op, row->is.method, row->is.ddio,
					strcmp(row->is.flush, "on") == 0 ? " FLUSH" : "",
					row->figure.median, row->figure.from,
					row->figure.to);
			}
			if (!bars)
				fprintf(file, "0 \"not measured\" 0 0 0\n");
			fprintf(file,
				"EOD\nset title '%s, %s'\nplot $d using 1:3:xtic(2) with "
				"boxes, $d using 1:3:4:5 with yerrorbars pt 0\n",
				kinds[k], domains[d]);
		}
	}
	fprintf(file, "unset multiplot\n");
	return fclose(file) ? -1 : 0;
}

static int rlg_report_write(struct rlg_rows *rows, const struct rlg_options *options)
{
	json_t *verdicts = json_array(), *root;
	int ret = 0;

	rlg_table(rows);
	rlg_verdicts(rows, verdicts);
	root = json_pack("{s:o, s:o}", "rows", rlg_rows_json(rows), "orderings",
			 verdicts);
	if (options->json && json_dump_file(root, options->json,
					    JSON_INDENT(1) | JSON_REAL_PRECISION(6))) {
		rlg_say("%s: cannot be written: %s", options->json, strerror(errno));
		ret = -1;
	}
	json_decref(root);
	if (!ret && options->plot)
		ret = rlg_plot(rows, options->plot);
	return ret;
}

static void rlg_rows_free(struct rlg_rows *rows)
{
	struct rlg_row *row;
	size_t i;
	int word;

	for (i = 0; i < rows->count; i++) {
		row = &rows->row[i];
		for (word = 0; word < RLG_CASE_WORDS; word++)
			free((char *)(uintptr_t)(&row->is.domain)[word]);
		free(row->mean);
		free(row->p50);
		free(row->p99);
		free(row->reads);
		free(row->messages);
	}
	free(rows->row);
}

int rlg_report(const struct rlg_options *options)
{
	struct rlg_rows rows = {.row = calloc(RLG_ROWS, sizeof(*rows.row))};
	int i, ret = rows.row ? 0 : -1;
	size_t row;

	for (i = 0; i < options->file_count && !ret; i++)
		ret = rlg_file_read(&rows, options->files[i]);
	for (row = 0; row < rows.count; row++)
		rlg_row_finish(&rows.row[row]);
	if (!ret) {
		qsort(rows.row, rows.count, sizeof(*rows.row), rlg_row_compare);
		ret = rlg_report_write(&rows, options);
	}
	rlg_rows_free(&rows);
	return ret ? 1 : 0;
}

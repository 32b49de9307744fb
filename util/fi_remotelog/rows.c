/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "link.h"
#include "rows.h"

#define RLG_ROWS 4096

static int rlg_row_compare(const void *a, const void *b)
{
	const struct rlg_row *x = a, *y = b;
	const char *const *left = &x->is.domain, *const *right = &y->is.domain;
	int i, order = 0;

	for (i = 0; i < RLG_CASE_WORDS && !order; i++)
		order = strcmp(left[i], right[i]);
	return order;
}

struct rlg_row *rlg_row_find(const struct rlg_rows *rows, const struct rlg_case *is)
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

	if (row)
		return row;
	if (rows->count == RLG_ROWS)
		return NULL;
	row = &rows->row[rows->count++];
	to = &row->is.domain;
	for (i = 0; i < RLG_CASE_WORDS; i++)
		to[i] = strdup(from[i]);
	return row;
}

static int rlg_row_add(struct rlg_row *row, const double *value)
{
	void *grown;
	int i;

	if (row->count == row->room) {
		row->room = row->room ? 2 * row->room : 8;
		for (i = 0; i < RLG_FIGURES; i++) {
			grown = realloc(row->value[i], row->room * sizeof(double));
			if (!grown)
				return -1;
			row->value[i] = grown;
		}
	}
	for (i = 0; i < RLG_FIGURES; i++)
		row->value[i][row->count] = value[i];
	row->count++;
	return 0;
}

/* --- reading */

/* A run with label "trips" is there to be counted, on a network of so many us: its
 * fastest append waited for nothing else. */
static int rlg_row_trips(struct rlg_row *row, double fastest, const char *latency)
{
	const double us = strtod(latency, NULL);

	if (!(us > 0))
		return -1;
	if (!row->latencies || fastest / us < row->latencies)
		row->latencies = fastest / us;
	return 0;
}

/* 0, or -1: it is no line of --json. */
static int rlg_line_add(struct rlg_rows *rows, json_t *line)
{
	double value[RLG_FIGURES], fastest;
	struct rlg_case is = {"", "", "", "", "", ""};
	const char *trips = NULL;
	struct rlg_row *row;

	if (json_unpack(line,
			"{s:{s?s, s?s, s?s, s?s}, s:s, s:s, s:s, s:F, s:F, s:F, s:F, "
			"s:F, s:F, s:F}",
			"labels", "domain", &is.domain, "ddio", &is.ddio, "flush",
			&is.flush, "trips", &trips, "kind", &is.kind, "op", &is.op,
			"method", &is.method, "min_us", &fastest, "mean_us",
			&value[RLG_MEAN], "p50_us", &value[RLG_P50], "p99_us",
			&value[RLG_P99], "p999_us", &value[RLG_P999], "read_us",
			&value[RLG_READS], "message_us", &value[RLG_MESSAGES]))
		return -1;
	row = rlg_row_of(rows, &is);
	if (!row)
		return -1;
	if (trips)
		return rlg_row_trips(row, fastest, trips);
	value[RLG_READS] = value[RLG_P50] / value[RLG_READS];
	value[RLG_MESSAGES] = value[RLG_P50] / value[RLG_MESSAGES];
	return rlg_row_add(row, value);
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

/* --- all */

/* The figures stay in the order of the runs: intervals sort. */
static int rlg_row_finish(struct rlg_row *row)
{
	double *sorted;
	int i;

	if (!row->count)
		return 0;
	sorted = malloc(row->count * sizeof(*sorted));
	if (!sorted)
		return -1;
	for (i = 0; i < RLG_FIGURES; i++) {
		memcpy(sorted, row->value[i], row->count * sizeof(*sorted));
		row->figure[i] = rlg_interval(sorted, row->count);
	}
	free(sorted);
	return 0;
}

int rlg_rows_read(struct rlg_rows *rows, char **files, int count)
{
	int i, ret;
	size_t row;

	*rows = (struct rlg_rows){.row = calloc(RLG_ROWS, sizeof(*rows->row))};
	ret = rows->row ? 0 : -1;
	for (i = 0; i < count && !ret; i++)
		ret = rlg_file_read(rows, files[i]);
	for (row = 0; row < rows->count && !ret; row++)
		ret = rlg_row_finish(&rows->row[row]);
	if (!ret)
		qsort(rows->row, rows->count, sizeof(*rows->row), rlg_row_compare);
	return ret;
}

void rlg_rows_free(struct rlg_rows *rows)
{
	struct rlg_row *row;
	size_t i;
	int k;

	for (i = 0; i < rows->count; i++) {
		row = &rows->row[i];
		for (k = 0; k < RLG_CASE_WORDS; k++)
			free((char *)(uintptr_t)(&row->is.domain)[k]);
		for (k = 0; k < RLG_FIGURES; k++)
			free(row->value[k]);
	}
	free(rows->row);
}

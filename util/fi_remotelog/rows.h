/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What --json wrote over many runs, by case. Failures are said on stderr. One thread.
 */
#ifndef RLG_ROWS_H
#define RLG_ROWS_H

#include <stddef.h>
#include "orderings.h"

/* Of one run; us but for the last two: p50 as a multiple of a read of one byte, and of a
 * message and its answer. */
enum rlg_figure {
	RLG_MEAN,
	RLG_P50,
	RLG_P99,
	RLG_P999,
	RLG_READS,
	RLG_MESSAGES,
	RLG_FIGURES
};

/* All runs of one kind. */
struct rlg_row {
	struct rlg_case is;
	double *value[RLG_FIGURES]; /* of each run, in their order */
	unsigned int count, room;
	struct rlg_interval figure[RLG_FIGURES];
	double latencies; /* of the network, that an append took; 0: not counted */
};

struct rlg_rows {
	struct rlg_row *row;
	size_t count;
};

/* Reads count files. Rows are sorted by their words then, and their intervals set. 0 or
 * -1; either way rlg_rows_free. */
int rlg_rows_read(struct rlg_rows *rows, char **files, int count);
void rlg_rows_free(struct rlg_rows *rows);
/* NULL: it was not measured. */
struct rlg_row *rlg_row_find(const struct rlg_rows *rows, const struct rlg_case *is);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures of rows, for gnuplot. */
#ifndef RLG_PLOT_H
#define RLG_PLOT_H

#include "rows.h"

/*
 * Six pictures, one for each kind of append and domain as in the paper: for each case
 * mean, p50 with its interval, p99 and p99.9. 0, or -1 after saying on stderr what went
 * wrong.
 */
int rlg_plot_rows(const struct rlg_rows *rows, const char *path);

#endif

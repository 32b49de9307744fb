/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RLG_REPORT_H
#define RLG_REPORT_H

#include "options.h"

/*
 * Puts the runs together that --json wrote: medians of their medians, round trips, and
 * which of the orderings named in fi_remotelog(1) hold. The program's exit status: 0; 1:
 * a file cannot be used.
 */
int rlg_report(const struct rlg_options *options);

#endif

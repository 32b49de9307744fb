/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters without a provider behind them. */
#ifndef CNTR_WORLD_H
#define CNTR_WORLD_H

#include <cairn/cntr.h>

/* close_cntr frees what open_cntr gives. */
struct crn_cntr *open_cntr(enum fi_wait_obj wait_obj);
void close_cntr(struct crn_cntr *cntr);

#endif

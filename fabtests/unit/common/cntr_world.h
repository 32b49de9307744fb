/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters without a provider behind them. */
#ifndef CNTR_WORLD_H
#define CNTR_WORLD_H

#include <cairn/cntr.h>

/* With a descriptor; the counter is zeroed. */
void open_cntr(struct crn_cntr *cntr);
/* Closes the counter and opens it with another wait object. */
void reopen_cntr(struct crn_cntr *cntr, enum fi_wait_obj wait_obj);
/* Nothing if it is not open. */
void close_cntr(struct crn_cntr *cntr);

#endif

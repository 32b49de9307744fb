/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many latencies of the network an append has to take: one for operations of one side
 * that wait for nothing, two for a message and its answer. From the tables of the
 * taxonomy (round trips of singleton and compound updates), for the plan that pverbs has.
 */
#ifndef RLG_TRIPS_H
#define RLG_TRIPS_H

#include "orderings.h"

/* 0: it depends on what is not known here. */
unsigned int rlg_trips(const struct rlg_case *is);

#endif

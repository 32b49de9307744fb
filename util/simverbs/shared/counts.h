/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened to datagrams at each port that neither side is told: a table in a file of
 * the directory, which all processes add to. Where there is no room for it nothing is
 * counted.
 */
#ifndef SVB_SHARED_COUNTS_H
#define SVB_SHARED_COUNTS_H

#include <stdint.h>

enum svb_count {
	SVB_COUNT_BAD_PKEY,   /* dropped: not the partition of the queue pair */
	SVB_COUNT_BAD_QKEY,   /* dropped: not its Q_Key */
	SVB_COUNT_NO_RECEIVE, /* dropped: it had none posted */
	SVB_COUNT_TOO_LONG,   /* for the receive, which ended with an error */
	SVB_COUNT_LOST,	      /* on request: ud_loss and so on of the settings */
	SVB_COUNT_DUPLICATED,
	SVB_COUNT_REORDERED, /* at the sender's port */
	SVB_COUNTS
};

/* Names of the files below hw_counters/, in that order. */
extern const char *const svb_count_names[SVB_COUNTS];

/* Maps the table. Returns 0. */
int svb_counts_join(void);
void svb_counts_forget(void);

/* Adds one at a port, by its index in the settings; others are ignored. */
void svb_count(uint32_t port, enum svb_count what);
uint64_t svb_counted(uint32_t port, enum svb_count what);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues without a provider behind them, and numbers as their events. */
#ifndef EQ_WORLD_H
#define EQ_WORLD_H

#include <cairn/eq.h>

extern struct fi_provider eq_prov;
/* Whom events may be about. */
extern struct fid object, other;

/* The queue is zeroed, or open: then it is closed first. Its context is &object. */
void open_eq(struct crn_eq *eq, enum fi_wait_obj wait_obj, size_t size, uint64_t flags);
/* With a descriptor; the application may write to it. */
void open_eq_usual(struct crn_eq *eq);
/* Nothing if it is not open. */
void close_eq(struct crn_eq *eq);

/* As an application writes it with fi_eq_write, as a provider inserts it. */
void write_number(struct crn_eq *eq, uint64_t number);
void insert_number(struct crn_eq *eq, fid_t fid, uint64_t number);
/* The next event is this number. */
void expect_number(struct crn_eq *eq, uint64_t number);
/* Writes or inserts the number 1 where that may fail; what the call returned. */
ssize_t write_any(struct crn_eq *eq);
int insert_any(struct crn_eq *eq);
/* Reads whatever is next. */
ssize_t read_any(struct crn_eq *eq, uint64_t flags);
ssize_t sread_any(struct crn_eq *eq, int timeout);

#endif

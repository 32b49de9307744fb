/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues without a provider behind them, and numbers as their completions. */
#ifndef CQ_WORLD_H
#define CQ_WORLD_H

#include <cairn/cq.h>

extern struct fid_domain cq_domain;

/* The queue is zeroed, or open: then it is closed first. Its context is &cq_domain. */
void open_cq(struct crn_cq *cq, enum fi_wait_obj wait_obj, size_t size); /* TAGGED */
void open_cq_attr(struct crn_cq *cq, const struct fi_cq_attr *attr, bool locked);
/* Nothing if it is not open. */
void close_cq(struct crn_cq *cq);

/* The completion that a number stands for: every field follows from it. */
struct crn_cq_comp numbered(uintptr_t number);
void *context_of(uintptr_t number);

/* A reserved place is filled: by a success, by an error. */
void complete(struct crn_cq *cq, uintptr_t number);
void fail(struct crn_cq *cq, uintptr_t number, int err);
/* The same for an operation of one call: its place is reserved before. */
void put(struct crn_cq *cq, uintptr_t number);
void put_error(struct crn_cq *cq, uintptr_t number, int err);

/* The next one to be read has this number. The queue's format is TAGGED. */
void expect_comp(struct crn_cq *cq, uintptr_t number);
void expect_error(struct crn_cq *cq, uintptr_t number, int err);
/* Reads one entry, whatever it is. */
ssize_t read_one(struct crn_cq *cq);
/* Places that can be reserved now; they are given back. */
unsigned int places(struct crn_cq *cq);

#endif

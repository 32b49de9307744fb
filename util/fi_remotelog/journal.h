/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server's log: made, opened after whatever happened to it, and consumed. What is
 * consumed was made durable before the head is moved behind it, so that nothing that a
 * client was promised is lost with it. One thread.
 */
#ifndef RLG_JOURNAL_H
#define RLG_JOURNAL_H

#include "medium.h"
#include "wire.h"

struct rlg_journal {
	struct rlg_medium medium;
	struct rlg_layout layout;
	bool there;	   /* the medium holds a log */
	uint64_t head;	   /* first record not consumed, as the medium has it */
	uint64_t consumed; /* the next one to be consumed */
};

/*
 * The log for a client: the one that is there, or a new one. Records behind the end of
 * the old one are made unreadable, for the next append would otherwise make them part of
 * the log. *next: number of the first append.
 */
enum rlg_refusal rlg_journal_open(struct rlg_journal *journal,
				  const struct rlg_hello *hello, uint64_t *next);

bool rlg_journal_holds(const struct rlg_journal *journal, uint64_t number);
/* Makes the record durable; it must be held. */
void rlg_journal_persist(struct rlg_journal *journal, uint64_t number);
void rlg_journal_persist_tail(struct rlg_journal *journal);
/* Copies a record's bytes, or stores the tail; both are durable then. */
void rlg_journal_store(struct rlg_journal *journal, uint64_t number,
		       const uint8_t *record);
void rlg_journal_store_tail(struct rlg_journal *journal, uint64_t number);

/* Takes what has become visible of the log. */
void rlg_journal_consume(struct rlg_journal *journal);
/* Moves the head once a quarter of the log is consumed. True: it has moved. */
bool rlg_journal_collect(struct rlg_journal *journal);

#endif

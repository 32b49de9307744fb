/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How an append is made: a table from kind of log, operation and method to a short
 * sequence of acts. "auto" and "message" leave durability to the provider
 * (FI_COMMIT_COMPLETE); the others do by hand, with operations that every provider has,
 * what a client without such a provider would have to do, and are correct only for some
 * targets: see fi_remotelog(1).
 */
#ifndef RLG_METHOD_H
#define RLG_METHOD_H

#include <stdbool.h>
#include "format.h"

enum rlg_op { RLG_WRITE, RLG_WRITEDATA, RLG_SEND, RLG_OPS };

enum rlg_method {
	RLG_AUTO,     /* FI_COMMIT_COMPLETE */
	RLG_FORCED,   /* the same, FI_PVERBS_COMMIT_METHOD=message */
	RLG_NONE,     /* W C: completions, which prove durability under WSP only */
	RLG_READ,     /* W F C, each update by itself */
	RLG_PIPELINE, /* W W F C */
	RLG_RPC,      /* the server's program writes back and answers */
	RLG_LIBRPMA,  /* librpma's flush and atomic write, over a connection of its own */
	RLG_METHODS
};

/* What an act does; the rest are marks on it. */
#define RLG_ACT 7u
enum rlg_act {
	RLG_ACT_END,
	RLG_ACT_RECORD,	     /* the record by the operation */
	RLG_ACT_TAIL,	     /* the tail by the operation */
	RLG_ACT_READ_RECORD, /* F: read its last byte */
	RLG_ACT_READ_TAIL,
	RLG_ACT_ASK_RECORD, /* a message that asks for it */
	RLG_ACT_ASK_TAIL,
	RLG_ACT_SEND, /* a message that brings record, and tail if there is one */
};
#define RLG_COMMIT 8u	/* FI_COMMIT_COMPLETE */
#define RLG_FENCE 16u	/* FI_FENCE */
#define RLG_WAIT 32u	/* nothing more before its completion; the last one has it */
#define RLG_ANSWER 64u	/* nothing more before the server's answer */
#define RLG_ATOMIC 128u /* an atomic write: not before what is ahead of it */

#define RLG_ACTS 5

/* RLG_ACTS acts, RLG_ACT_END after the last; NULL: there is no such method. */
const uint8_t *rlg_acts(enum rlg_kind kind, enum rlg_op op, enum rlg_method method);

/* Do messages of this method go straight into the log? */
bool rlg_receives_log(enum rlg_op op, enum rlg_method method);
/* Completions of the provider mean durable. */
bool rlg_by_provider(enum rlg_method method);

/* In the notation of the tables, such as "W F C". buf is returned. */
const char *rlg_acts_text(const uint8_t *acts, enum rlg_op op, char *buf, size_t size);

const char *rlg_op_name(enum rlg_op op);
const char *rlg_method_name(enum rlg_method method);

#endif

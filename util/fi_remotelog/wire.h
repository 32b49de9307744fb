/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between client and server: 16 bytes, u32 type, u32 value, u64 number, and
 * what belongs to the type. All integers are little-endian. A record or a tail that is
 * sent by itself (method other than "rpc", operation "send") is no message: it goes into
 * the log. Nothing here allocates, and what is read may be anything.
 */
#ifndef RLG_WIRE_H
#define RLG_WIRE_H

#include "format.h"
#include "method.h"

#define RLG_MESSAGE 16u
#define RLG_MESSAGE_MAX 96u /* of all but RLG_MSG_RECORD */
#define RLG_WIRE_VERSION 1u

enum rlg_message_type {
	RLG_MSG_PING = 1, /* client: to be sent back */
	RLG_MSG_HELLO,	  /* client: what it is going to do; struct rlg_hello */
	RLG_MSG_WELCOME,  /* server: where the log is; struct rlg_welcome */
	RLG_MSG_ASK, /* client: make record number durable (value 0), or the tail (1) */
	RLG_MSG_RECORD, /* client: the record, and the tail behind it (value 1) */
	RLG_MSG_ANSWER, /* server: it is done */
	RLG_MSG_FREE,	/* server: number is the new head */
	RLG_MSG_BYE,	/* client: it has finished */
};

struct rlg_message {
	enum rlg_message_type type;
	uint32_t value;
	uint64_t number;
};

struct rlg_hello {
	enum rlg_kind kind;
	enum rlg_op op;
	enum rlg_method method;
	uint32_t payload; /* bytes of a record */
	uint32_t depth;	  /* appends in flight */
	bool anew;	  /* a log that is there is lost */
};

enum rlg_refusal {
	RLG_ACCEPTED,
	RLG_OTHER_VERSION,
	RLG_OTHER_KIND,
	RLG_OTHER_PAYLOAD,
	RLG_TOO_SMALL,
	RLG_DAMAGED,
	RLG_TOO_DEEP,
	RLG_NO_LIBRPMA,
};

struct rlg_welcome {
	enum rlg_refusal refusal;
	struct rlg_layout layout;
	uint64_t base; /* of the file, for remote access */
	uint64_t key;
	uint64_t head, next;
	uint32_t rpma_port; /* of librpma's connection, if there is to be one */
};

/* Bytes written. */
size_t rlg_message_pack(uint8_t *to, const struct rlg_message *message);
size_t rlg_hello_pack(uint8_t *to, const struct rlg_hello *hello);
size_t rlg_welcome_pack(uint8_t *to, const struct rlg_welcome *welcome);

/* False: it is no such thing. A hello or welcome is parsed with its 16 bytes. */
bool rlg_message_parse(const uint8_t *from, size_t len, struct rlg_message *message);
bool rlg_hello_parse(const uint8_t *from, size_t len, struct rlg_hello *hello);
bool rlg_welcome_parse(const uint8_t *from, size_t len, struct rlg_welcome *welcome);

/* What a user reads. */
const char *rlg_refusal_text(enum rlg_refusal refusal);

/* What remote CQ data says: the number's lower 31 bits, and whether it is the tail. */
uint32_t rlg_imm(uint64_t number, bool tail);

#endif

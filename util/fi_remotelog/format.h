/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log file. All integers are little-endian.
 *
 *	0	header: magic "CRNRLOG1", u32 kind, u32 payload bytes of a record,
 *		u64 slots, u64 identity, 28 zero bytes, u32 CRC32C of the 60 before it
 *	64	u64 tail: number of the last record (compound logs; the client writes it)
 *	128	u64 head: number of the first record not consumed (the server writes it)
 *	2048	96 bytes for the first messages of a client: no part of the log
 *	4096	slots; record n is in slot (n - 1) modulo the number of slots
 *
 * A slot is a multiple of 64 bytes, a record: u64 number, counted from 1, u32 payload
 * bytes, u32 CRC32C of the log's identity, these 12 bytes and the payload; payload.
 * The identity is a random number that each log has of its own: what an older log left in
 * the file is no record of this one.
 *
 * Tail and head are eight aligned bytes in cache lines of their own, the most that is
 * written whole when the power fails. Where the log ends is known by the first record
 * that is not there (singleton), or from the tail (compound).
 *
 * Nothing here allocates, and what is read may be anything. Thread safe.
 */
#ifndef RLG_FORMAT_H
#define RLG_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RLG_TAIL 64u
#define RLG_HEAD 128u
#define RLG_GREETING 2048u
#define RLG_SLOTS 4096u
#define RLG_RECORD 16u /* bytes before the payload */
#define RLG_PAYLOAD_MAX 65536u

enum rlg_kind { RLG_SINGLETON = 1, RLG_COMPOUND };

struct rlg_layout {
	enum rlg_kind kind;
	uint32_t payload; /* bytes */
	uint64_t slots;
	uint64_t identity;
};

uint64_t rlg_get64(const uint8_t *from);
uint32_t rlg_get32(const uint8_t *from);
void rlg_put64(uint8_t *to, uint64_t value);
void rlg_put32(uint8_t *to, uint32_t value);

uint32_t rlg_crc32c(uint32_t before, const void *bytes, size_t len);

const char *rlg_kind_name(enum rlg_kind kind);
/* Bytes of a slot. */
size_t rlg_slot_size(uint32_t payload);
/* Slots that fit into a file; 0: it is too small for a log. */
uint64_t rlg_slots_in(size_t file_size, uint32_t payload);
/* Where record number begins in the file; number is at least 1. */
size_t rlg_slot_at(const struct rlg_layout *layout, uint64_t number);

/* The 64 bytes of the header. */
void rlg_header_pack(uint8_t *to, const struct rlg_layout *layout);
/* NULL, or why the size bytes of a file are no log; *layout is set on success only. */
const char *rlg_header_parse(const uint8_t *file, size_t size, struct rlg_layout *layout);

/* Fills a slot's first RLG_RECORD bytes; the payload follows them already. */
void rlg_record_seal(uint8_t *slot, const struct rlg_layout *layout, uint64_t number);

enum rlg_found {
	RLG_VALID,
	RLG_MISSING, /* nothing, or a whole record of an earlier lap */
	RLG_TORN,    /* part of something */
};

/* What is at the place of record number. */
enum rlg_found rlg_record_find(const uint8_t *file, const struct rlg_layout *layout,
			       uint64_t number);

struct rlg_recovery {
	uint64_t first;	     /* not consumed; next when there is none */
	uint64_t next;	     /* number after the last record of the log */
	uint64_t tail;	     /* as the file has it */
	enum rlg_found stop; /* what is at the place of next; RLG_VALID: not of the log */
	uint64_t beyond;     /* whole records behind it, which nobody was promised */
	/* NULL, or what contradicts the order of writing: head, tail and next then are
	 * what could be made of it. */
	const char *damage;
};

/*
 * Finds the records of a log. The first of them that are consumed already are not looked
 * at: their places may have been written anew. file is size bytes, layout its header.
 */
void rlg_recover(const uint8_t *file, const struct rlg_layout *layout,
		 struct rlg_recovery *found);

#endif

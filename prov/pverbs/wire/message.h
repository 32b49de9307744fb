/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What travels on a control queue pair, and the entries of a message ring, byte by byte.
 * Pure functions over byte ranges; all integers are little-endian.
 *
 * A request asks the other side's processor to make ranges durable, and after that, if
 * there are any, to copy bytes to a range and make that durable too:
 *
 *   byte 0      kind: 1
 *   byte 1      ranges, 0 to 8
 *   bytes 2-3   bytes to copy, 0 to 256
 *   bytes 4-7   number of the request: 1, 2, ...
 *   bytes 8-11  what the sequence word must show before anything is done
 *   bytes 12-15 number of a request before it: if a later one of those before it could
 *               not be done, neither is this one (FI_FENCE); its own number: not fenced
 *   24 each     ranges, and last, if there are bytes to copy, where they go:
 *               address (8), length (8), rkey (4), zero (4)
 *   then        the bytes to copy
 *
 * So does one for messages that were sent before it; it waits until the other side has
 * received them, and makes durable what they brought since the last such request:
 *
 *   byte 0      kind: 5
 *   bytes 1-3   zero
 *   bytes 4-7   number of the request, among those of kind 1
 *   bytes 8-11  as above
 *   bytes 12-15 number of the newest message (entries of the message ring, below)
 *
 * An answer says that requests up to a number are done:
 *
 *   byte 0      kind: 2; of entries of the message ring: 3
 *   byte 1      zero
 *   bytes 2-3   FI_E* code, 0: done
 *   bytes 4-7   number of the request
 *
 * A receiver of messages may say once where its buffers are, which are persistent and
 * which its recovery looks into (persist/target/replay.c):
 *
 *   byte 0      kind: 4
 *   bytes 1-7   zero
 *   bytes 8-15  address of the region
 *   bytes 16-23 its key, with attributes
 *
 * An entry of a message ring says what the target owes before it reports a message:
 *
 *   bytes 0-3   number of the message on its connection: 1, 2, ...
 *   bytes 4-7   number of the entry: 1, 2, ...
 *   bytes 8-15  address, 16-23 length of what a write with data wrote; 0, 0: of a send,
 *               whose receive buffer the target knows
 *   bytes 24-27 rkey, 28-31 zero
 */
#ifndef PVB_WIRE_MESSAGE_H
#define PVB_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PVB_WIRE_SIZE 512u   /* of a control message, at most */
#define PVB_WIRE_RANGES 8u   /* of a request, at most */
#define PVB_WIRE_INLINE 256u /* bytes that a request has to copy, at most */
#define PVB_WIRE_ENTRY 32u   /* of the message ring */

enum pvb_wire_kind {
	PVB_WIRE_REQUEST = 1,
	PVB_WIRE_ANSWER = 2,	  /* to a request */
	PVB_WIRE_RING_ANSWER = 3, /* to an entry of the message ring */
	PVB_WIRE_REPLAY = 4,	  /* where receives are */
	PVB_WIRE_MESSAGES = 5,	  /* a request, for messages sent before it */
};

struct pvb_wire_range {
	uint64_t addr;
	uint64_t len; /* bytes */
	uint32_t rkey;
};

struct pvb_wire_message {
	uint8_t kind; /* enum pvb_wire_kind */
	uint8_t ranges;
	uint16_t copy;	 /* bytes */
	uint16_t status; /* of an answer */
	uint32_t number;
	uint32_t seq_word;
	uint32_t fence;
	uint32_t messages; /* of PVB_WIRE_MESSAGES: the newest's number */
	struct pvb_wire_range range[PVB_WIRE_RANGES];
	struct pvb_wire_range to; /* with copy */
	uint64_t key;		  /* of PVB_WIRE_REPLAY, whose address is to.addr */
	const uint8_t *bytes;	  /* to copy; into the caller's memory */
};

struct pvb_wire_entry {
	uint32_t message;
	uint32_t number;
	struct pvb_wire_range range;
};

/* Returns the bytes used of out. message is within the limits above. */
size_t pvb_wire_pack(uint8_t out[PVB_WIRE_SIZE], const struct pvb_wire_message *message);
static inline bool pvb_wire_is_request(const struct pvb_wire_message *message)
{
	return message->kind == PVB_WIRE_REQUEST || message->kind == PVB_WIRE_MESSAGES;
}

/* False: not a message of ours. bytes then points into in. */
bool pvb_wire_parse(struct pvb_wire_message *message, const uint8_t *in, size_t len);

void pvb_wire_pack_entry(uint8_t out[PVB_WIRE_ENTRY], const struct pvb_wire_entry *entry);
void pvb_wire_parse_entry(struct pvb_wire_entry *entry, const uint8_t in[PVB_WIRE_ENTRY]);
/* Its number alone. */
uint32_t pvb_wire_entry_number(const uint8_t in[PVB_WIRE_ENTRY]);

#endif

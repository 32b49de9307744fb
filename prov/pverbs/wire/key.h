/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The attributes of a region, in the upper half of its 64-bit key; the lower half
 * is the rkey, so that a 32-bit field on the wire still carries what plain operations
 * need. No other exchange is needed, and it works through layers that pass keys on.
 *
 *   bits 0-31   rkey
 *   bits 32-35  version, 1
 *   bits 36-37  persistence domain: enum crn_persistence
 *   bit  38     DDIO: incoming data goes to a processor cache
 *   bit  39     the region is persistent memory
 *   bit  40     native FLUSH may be used on it
 *   bit  41     ATOMIC WRITE may be used on it
 *   bit  42     it may be read: a 1-byte read can flush
 *   bit  43     the target's device is software, which places data with the processor
 *   bits 44-55  zero
 *   bits 56-63  check over the other bits
 *
 * Regions that are no persistent memory have the rkey alone as their key. Only durable
 * operations look at the attributes.
 */
#ifndef PVB_WIRE_KEY_H
#define PVB_WIRE_KEY_H

#include <stdbool.h>
#include <stdint.h>
#include <cairn/pmem.h>

struct pvb_key_attr {
	enum crn_persistence domain;
	bool ddio;
	bool persistent;
	bool flush;
	bool atomic_write;
	bool readable;
	bool software;
};

/* The key of a region: desc NULL or not persistent: the rkey alone. Never all ones. */
uint64_t pvb_key_pack(uint32_t rkey, const struct pvb_key_attr *attr);

/*
 * Parses the attributes in a key. 0; -FI_EKEYREJECTED: an unknown version, or a wrong
 * check; -FI_EOPNOTSUPP: a key without attributes (of volatile memory, of another
 * provider, or cut to 32 bits).
 */
int pvb_key_parse(uint64_t key, struct pvb_key_attr *attr);

#endif

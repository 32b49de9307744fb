/* SPDX-License-Identifier: BSD-2-Clause */
/* Which P_Keys the ports of a device have: the table that a subnet manager would fill. */
#ifndef SVB_PKEYS_H
#define SVB_PKEYS_H

#include "settings.h"

/*
 * Fills the tables of the device with that index. Ethernet has no partitions: there the
 * default P_Key is all. Returns 0, or EINVAL after a line on stderr.
 */
int svb_pkeys_load(struct svb_device_settings *device, uint32_t index,
		   enum svb_link link);

/* Reads one P_Key; false: text is none. */
bool svb_pkey_parse(const char *text, uint16_t *pkey);

/*
 * Where the table of a port has a P_Key, or -1. As the kernel's ib_find_cached_pkey: of
 * two entries for the partition the full member's.
 */
int svb_pkey_index(const struct svb_port *port, uint16_t pkey);

/*
 * IBA 10.9.3: the same partition, and not two limited members. 0 and 0x8000 are no
 * partition's.
 */
static inline bool svb_pkeys_match(uint32_t a, uint32_t b)
{
	return (a & SVB_PKEY_BASE) == (b & SVB_PKEY_BASE) && a & SVB_PKEY_BASE &&
	       (a | b) & SVB_PKEY_FULL;
}

#endif

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

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Which addresses a device has: those that are set, or those of the machine. */
#ifndef SVB_ADDRESSES_H
#define SVB_ADDRESSES_H

#include <ifaddrs.h>
#include "settings.h"

/*
 * Adds the addresses of the device with that index, and a GID for each, to its port 1.
 * list: the interfaces of this machine, as getifaddrs(3) gives them. Returns 0, or EINVAL
 * after a line on stderr.
 */
int svb_addresses_load(struct svb_device_settings *device, uint32_t index,
		       const struct ifaddrs *list);

#endif

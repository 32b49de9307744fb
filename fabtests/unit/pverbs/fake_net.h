/* SPDX-License-Identifier: BSD-2-Clause */
/* Between fake_net.c, interfaces and routes, and fake_cm.c. */
#ifndef FAKE_NET_H
#define FAKE_NET_H

#include "fake_cm.h"

struct fake_interface {
	union crn_addr addr;
	struct fake_device *device;
	uint8_t port;
	unsigned int flags;
};

void fake_net_reset(void);
/* The one with the address of that host, or NULL. */
const struct fake_interface *fake_interface_of(const struct sockaddr *sa);

#endif
